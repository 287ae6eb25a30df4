"""One answer, read once: its typed claims with spans, and look-ups by concept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property, lru_cache

from wardround.patients import knowledge

from .acts import ActReader
from .annotate import annotate
from .bounds import settled_acts
from .claims import ActClaim, Measured, MentionClaim, StatusClaim, TrendClaim
from .cues import words
from .document import Ann, Document, Sentence
from .elided import Filled, Subject, places
from .measure import Binder
from .mentions import read_mentions
from .moments import aged
from .named import named
from .scope import Scopes
from .status import StateReader
from .tables import read_row
from .trends import trends_of
from .unlisted import OWN, own_id
from .vertical import dated_line, labelled, run_down

YES = words("reading.yes")
LEVEL = words("reading.level")
PASSIVE = words("reading.subject_verbs")
MAX_CHARACTERS = 20_000
"""A longer answer is not read: every check of it is unreadable, and says so."""


class Reading:
    """What an answer claims. Made by `read`; every list is in the order of the text."""

    def __init__(self, text: str, names: tuple[str, ...] = (), understood: Filled = ()) -> None:
        self.text = text
        self._understood = understood
        self.too_long = len(text) > MAX_CHARACTERS
        self.document: Document = annotate("" if self.too_long else text, names, understood)
        self.scopes: list[Scopes] = []
        self._values: list[Measured] = []
        self._states: list[StatusClaim] = []
        self._acts: list[ActClaim] = []
        self._names: list[MentionClaim] = []
        measure: Ann | None = None
        drug: Ann | None = None
        self._down = -1
        for number, sentence in enumerate(self.document.sentences):
            self._name_level(sentence, drug)
            scopes = Scopes(self.document, sentence)
            self.scopes.append(scopes)
            self._read(number, sentence, scopes, measure, drug)
            for ann in sentence.anns:
                if Binder._owns(ann):
                    measure = ann
            drug = self._topic(number, sentence) or drug
        self._values = aged(self._values)
        self._acts = settled_acts(self.document, self._values, self._acts)

    def _read(self, number: int, sentence: Sentence, scopes: Scopes, measure: Ann | None, drug: Ann | None) -> None:
        line = measure is not None and self._in_list(number) and dated_line(self.document, sentence)
        if sentence.row:
            values, states = read_row(self.document, number, sentence, scopes, measure)
            line = any(self.document.sentences[v.sentence].row and v.time and not v.old for v in values)
        else:
            values = Binder(self.document, number, sentence, scopes).read(measure, line=line)
            states = StateReader(self.document, number, sentence, scopes, measure).read(values)
        if line and not sentence.row:
            values = [labelled(self.document, sentence, value) for value in values]
        self._down = (self._down if self._down >= 0 else len(self._values)) if line else -1
        self._values.extend(values)
        if line:
            self._values = run_down(self._values, self._down)
        self._states.extend(states)
        self._names.extend(read_mentions(self.document, number, sentence, scopes))
        reader = ActReader(self.document, number, sentence, scopes, drug)
        reader.measure = measure
        acts = reader.read()
        if not acts and number and self.document.tokens[sentence.start].key in YES:
            earlier = [a for a in self._acts if a.sentence == number - 1 and not a.advised and a.targets]
            acts = [replace(act, advised=True) for act in earlier]  # "You ask whether … . Yes, today."
        self._acts.extend(acts)

    def _name_level(self, sentence: Sentence, drug: Ann | None) -> None:
        """Read "the level" of a sentence that names no measurement as the blood level of the drug named before."""
        if drug is None or any(Binder._owns(ann) for ann in sentence.anns):
            return
        tokens = self.document.tokens
        at = next((i for i in range(sentence.start, sentence.end) if tokens[i].key in LEVEL), None)
        named_one = next((a for a in sentence.of("concept") if a.value.ids[0] == "drug_level"), None)
        own = next((a for a in sentence.of("concept") if a.value.drug), None)
        place = named_one or (Ann(at, at + 1, "concept", "concept") if at is not None else None)
        if place is None or own is not None:
            return
        level = next((lab for one in drug.value.ids if (lab := f"{one}_level") in knowledge.labs()), None)
        if level is None:
            return
        place.value = named((level,))
        if place is not named_one:
            sentence.anns.append(place)
            sentence.anns.sort(key=lambda ann: (ann.start, -ann.end, ann.layer, ann.kind))
            sentence.starts = [ann.start for ann in sentence.anns]

    def _topic(self, number: int, sentence: Sentence) -> Ann | None:
        """Return the drug that a bare act after it is about: the sentence's subject, the last acted on or named."""
        drugs = [ann for ann in sentence.of("concept") if ann.value.drug]
        first = drugs[0] if drugs else None
        if first is None:
            return None
        opens = first.start == sentence.start and first.end < sentence.end
        if opens and self.document.tokens[first.end].key in PASSIVE:
            return first  # "Metformin was held for the contrast scan."
        acted = {act.end for act in self._acts if act.sentence == number and act.targets}
        return next((ann for ann in reversed(drugs) if ann.start in acted), drugs[-1])

    def _in_list(self, number: int) -> bool:
        """Tell whether a line may continue a list: the one before is of it, or is its lead-in with no number."""
        if self._down >= 0:
            return True
        if not number:
            return False
        before = self.document.sentences[number - 1]
        named = any(Binder._owns(ann) for ann in before.anns)
        return named and not any(ann.layer == "quantity" for ann in before.anns)

    def naming(self, *names: str, mark: str = OWN) -> Reading:
        """Return the answer read again with what the knowledge base does not know, by its names.

        Args:
            names: names of measurements or, by their mark, of drugs.
            mark: what their ids begin with.
        """
        return _read(self.text, tuple(sorted(own_id(name, mark) for name in names)), self._understood)

    def about(self, subject: Subject) -> Reading:
        """Return the answer read again as one to a question about a drug, where it leaves out the drug's name."""
        understood = places(self, subject)
        return _read(self.text, (), understood) if understood else self

    @property
    def plain(self) -> Reading:
        """The answer read by its own words only."""
        return _read(self.text) if self._understood else self

    # -- everything, for checks -------------------------------------------------------------------------------------

    @property
    def values(self) -> list[Measured]:
        """Every number bound to a concept, in any role."""
        return self._values

    @property
    def states(self) -> list[StatusClaim]:
        """Every status word bound to a concept, flags and all."""
        return self._states

    @property
    def names(self) -> list[MentionClaim]:
        """Every naming of a concept, claims or not."""
        return self._names

    @property
    def advice(self) -> list[ActClaim]:
        """Every act, advised or not."""
        return self._acts

    @cached_property
    def _trends(self) -> list[TrendClaim]:
        return trends_of(self.document, self._values, self._states)

    # -- claims, for limits -------------------------------------------------------------------------------------------

    def measured(self) -> tuple[Measured, ...]:
        """Return the measurements claimed for this patient."""
        return tuple(m for m in self._values if m.role in ("measured", "range"))

    def statuses(self) -> tuple[StatusClaim, ...]:
        """Return the statuses claimed now."""
        return tuple(
            s
            for s in self._states
            if s.flags.claimed and not s.flags.negated and not (s.flags.past and not s.flags.now)
        )

    def acts(self) -> tuple[ActClaim, ...]:
        """Return the acts advised, on named targets."""
        return tuple(a for a in self._acts if a.advised and a.target and not a.implied)

    def mentions(self) -> tuple[MentionClaim, ...]:
        """Return the conditions and findings asserted or denied."""
        return tuple(n for n in self._names if n.polarity and n.kind in ("condition", "finding"))

    def trends(self) -> tuple[TrendClaim, ...]:
        """Return the movements claimed."""
        return tuple(t for t in self._trends if t.flags.claimed and not t.flags.negated)

    def values_of(self, concepts: Iterable[str]) -> Iterator[Measured]:
        """Yield the numbers of any of `concepts`."""
        wanted = set(concepts)
        return (m for m in self._values if m.concept in wanted or wanted & set(m.concepts))


def read(text: str, language: str | None = None) -> Reading:
    """Read an answer. Both languages are always read; `language` only says which one was asked for."""
    return _read(text)


@lru_cache(maxsize=256)
def _read(text: str, names: tuple[str, ...] = (), understood: Filled = ()) -> Reading:
    return Reading(text, names, understood)
