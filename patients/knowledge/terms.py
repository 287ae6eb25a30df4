"""The lexicon: from words, in either language, to concepts.

Matching is leftmost-longest over folded text (see `folding.py`). Latin terms are word-bounded; short abbreviations need
their capitals; Chinese terms need no spaces. Every text position is looked at once and tries only the terms that share
its first word (Latin) or first two characters (Chinese), so scanning is linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from .folding import Folded, Folder
from .models import Ambiguity, Concept, Drug, WordRules
from .spelling import Suggester
from .variants import has_han, needs_case, surfaces

_HAN = "\u3007\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003134f"
_LETTERS = "a-z\u00df-\u024f\u0370-\u03ff\u0400-\u04ff"
_FIRST_HAN = "\u3007"
_CUE_WINDOW = 40
"""Folded characters on each side of an ambiguous term in which its cues count."""


class Mention(NamedTuple):
    """A place in a text that names a concept."""

    start: int
    end: int
    """Offsets in the original text, `text[start:end]`."""
    concepts: tuple[str, ...]
    """Concept ids; ambiguous wordings list several, the likeliest first."""

    @property
    def concept(self) -> str:
        """The likeliest concept id."""
        return self.concepts[0]


@dataclass(slots=True)
class _Entry:
    """A folded wording and what it means."""

    concepts: tuple[str, ...]
    """Everything the wording can mean, capitals aside; for whole terms."""
    loose: tuple[str, ...]
    """What it means in any capitals; empty where capitals matter."""
    exact: dict[str, tuple[str, ...]]
    """Spelling → what it means in just these capitals ("Ca", "CA")."""


@dataclass(frozen=True, slots=True)
class Clash:
    """A folded wording that several concepts claim."""

    term: str
    concepts: tuple[str, ...]


class Lexicon:
    """All wordings of all concepts. Immutable; share one (`knowledge.lexicon()`)."""

    def __init__(self, concepts: Iterable[Concept], ambiguities: Iterable[Ambiguity], rules: WordRules) -> None:
        self._concepts = {concept.id: concept for concept in concepts}
        self._folder = Folder(dict(zip(rules.traditional, rules.simplified, strict=True)))
        # An abbreviation's plural (`surfaces` derives it) is as ambiguous as the abbreviation.
        self._ambiguities = {
            self._folder.term(entry.term) + ending: entry for entry in ambiguities for ending in ("s", "")
        }
        self._entries = self._collect(rules)
        self._heads: dict[str, tuple[tuple[int, str, bool, _Entry], ...]] = {}
        self._starts = self._index()
        self._wider = {concept.id: self._ancestors(concept.id) for concept in self._concepts.values()}
        self._rules = rules
        self._suggester: Suggester | None = None

    # -- look-ups -----------------------------------------------------------------------------------------------

    def resolve(self, term: str, kinds: Collection[str] | None = None) -> Concept | None:
        """Return the concept that `term`, as a whole, names, or None.

        Args:
            term: an id, name, synonym, brand or abbreviation in English or Chinese; writing differences are folded.
            kinds: kinds that count ("lab", "vital", "drug", …); None for all.

        An ambiguous wording gives its default meaning among `kinds`.
        """
        found = self._concepts.get(term)
        if found is not None and (kinds is None or found.kind in kinds):
            return found
        entry = self._entries.get(self._folder.term(term))
        if entry is None:
            return None
        spelt = entry.exact.get(unicodedata.normalize("NFKC", term).strip(), ())
        for concept_id in (*spelt, *entry.concepts):
            concept = self._concepts[concept_id]
            if kinds is None or concept.kind in kinds:
                return concept
        return None

    def concept(self, concept_id: str) -> Concept:
        """Return the concept with this id.

        Raises:
            KeyError: no such concept.
        """
        return self._concepts[concept_id]

    def concepts(self) -> Mapping[str, Concept]:
        """Return every concept by id (a copy)."""
        return dict(self._concepts)

    def is_a(self, concept_id: str, wider: str) -> bool:
        """Tell whether `concept_id` is `wider` or a case of it (a drug of the class, a narrower diagnosis …)."""
        return concept_id == wider or wider in self._wider.get(concept_id, frozenset())

    def wider(self, concept_id: str) -> frozenset[str]:
        """Return the ids of all concepts that `concept_id` is a case of, itself excluded."""
        return self._wider.get(concept_id, frozenset())

    def fold(self, term: str) -> str:
        """Fold a term as the lexicon does, for comparing wordings."""
        return self._folder.term(term)

    def scan(self, text: str, kinds: Collection[str] | None = None) -> list[Mention]:
        """Return the mentions of concepts in `text`, in order, not overlapping.

        The longest wording of any kind wins before `kinds` is applied: "digoxin level" is a lab, never also the drug.
        """
        folded = self._folder.fold(text)
        mentions = []
        for start, end, ids in self._matches(text, folded):
            if len(ids) > 1:
                ids = self._by_cues(folded.text, start, end, ids)
            if kinds is not None:
                ids = tuple(one for one in ids if self._concepts[one].kind in kinds)
                if not ids:
                    continue
            mentions.append(Mention(*folded.span(start, end), ids))
        return mentions

    def suggest(self, term: str, kinds: Collection[str] | None = None) -> Concept | None:
        """Return the concept that `term` names once a typing error is forgiven, or None.

        Exact wordings resolve as in `resolve`. Otherwise the term needs at least five letters and one unique nearest
        wording (one error, two from eight letters on, the first letter right); real drug names that the lexicon does
        not hold and ordinary words are never corrected.
        """
        found = self.resolve(term, kinds)
        if found is not None:
            return found
        folded = self._folder.term(term)
        if folded in self._entries:
            return None  # a true name of another kind, not an error
        if self._suggester is None:
            known = {text: entry.loose for text, entry in self._entries.items() if entry.loose}
            stop = [self._folder.term(word) for word in (*self._rules.real_drug_names, *self._rules.ordinary_words)]
            self._suggester = Suggester(known, stop)
        concept_id = self._suggester.nearest(folded)
        if concept_id is None or (kinds is not None and self._concepts[concept_id].kind not in kinds):
            return None
        return self._concepts[concept_id]

    def clashes(self) -> list[Clash]:
        """Return wordings claimed by several concepts that `ambiguous.json` does not settle; empty for good data."""
        found = []
        for term, entry in self._entries.items():
            settled = self._ambiguities.get(term)
            known = frozenset(settled.concepts if settled else ())
            for ids in dict.fromkeys((entry.loose, *entry.exact.values())):
                if len(ids) > 1 and not known.issuperset(ids):
                    found.append(Clash(term, ids))
        return found

    def unused_ambiguities(self) -> list[str]:
        """Return terms of `ambiguous.json` whose concepts do not all claim them; empty for good data."""
        claimed = {term: frozenset(entry.concepts) for term, entry in self._entries.items()}
        return [
            entry.term
            for entry in {entry.term: entry for entry in self._ambiguities.values()}.values()
            if claimed.get(self._folder.term(entry.term)) != frozenset(entry.concepts)
        ]

    # -- building -----------------------------------------------------------------------------------------------

    def _collect(self, rules: WordRules) -> dict[str, _Entry]:
        loose: dict[str, dict[str, None]] = {}
        exact: dict[str, dict[str, dict[str, None]]] = {}
        capitals = frozenset(rules.case_sensitive)
        for concept in self._concepts.values():
            for wording in _wordings(concept):
                strict = needs_case(wording, capitals)
                for surface in surfaces(wording, rules.spellings, strict=strict):
                    folded = self._folder.term(surface)
                    if not folded:
                        continue
                    if strict:
                        spelling = unicodedata.normalize("NFKC", surface)
                        exact.setdefault(folded, {}).setdefault(spelling, {})[concept.id] = None
                    else:
                        loose.setdefault(folded, {})[concept.id] = None
        entries = {}
        for folded in (*loose, *(term for term in exact if term not in loose)):
            always = tuple(loose.get(folded, ()))
            spellings = {
                spelling: self._ordered(folded, (*always, *(one for one in ids if one not in always)))
                for spelling, ids in exact.get(folded, {}).items()
            }
            every = dict.fromkeys((*always, *(one for ids in spellings.values() for one in ids)))
            entries[folded] = _Entry(self._ordered(folded, tuple(every)), self._ordered(folded, always), spellings)
        return entries

    def _ordered(self, folded: str, ids: tuple[str, ...]) -> tuple[str, ...]:
        entry = self._ambiguities.get(folded)
        if entry is None:
            return ids
        return tuple(sorted(ids, key=lambda one: entry.concepts.index(one) if one in entry.concepts else len(ids)))

    def _index(self) -> re.Pattern[str]:
        """Group the terms by what they begin with, the longest first, and return the pattern of such beginnings."""
        heads: dict[str, list[str]] = {}
        singles, han_firsts, digits = set(), set(), False
        head = re.compile(f"[{_LETTERS}]+|[0-9]+")
        for term in self._entries:
            match = head.match(term)
            if match:
                key = match.group()
                digits = digits or key.isdigit()
            else:
                key = term[:2]
                han_firsts.add(term[0])
                if len(term) == 1:
                    singles.add(term)
            heads.setdefault(key, []).append(term)
        for key, terms in heads.items():
            if key[0] in singles and key not in singles:
                terms.append(key[0])
        self._heads = {
            key: tuple((len(term), term, term[-1] >= _FIRST_HAN, self._entries[term]) for term in terms)
            for key, terms in ((key, sorted(terms, key=lambda one: (-len(one), one))) for key, terms in heads.items())
        }
        parts = ["[" + "".join(re.escape(char) for char in sorted(han_firsts)) + "]"] if han_firsts else []
        parts.append(f"(?<![{_LETTERS}0-9])[{_LETTERS}]+")
        if digits:
            parts.append(f"(?<![{_LETTERS}0-9.])[0-9]+")
        return re.compile("|".join(parts))

    def _ancestors(self, concept_id: str) -> frozenset[str]:
        found: set[str] = set()
        todo = [concept_id]
        while todo:
            concept = self._concepts.get(todo.pop())
            if concept is None:
                continue
            for parent in (*concept.broader, *(concept.classes if isinstance(concept, Drug) else ())):
                if parent not in found:
                    found.add(parent)
                    todo.append(parent)
        found.discard(concept_id)
        return frozenset(found)

    # -- scanning -----------------------------------------------------------------------------------------------

    def _matches(self, original: str, folded: Folded) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        text, heads, last = folded.text, self._heads, 0
        for match in self._starts.finditer(text):
            start = match.start()
            if start < last:
                continue
            word = match.group()
            pair = text[start : start + 2] if word >= _FIRST_HAN else word
            candidates = heads.get(pair) or heads.get(word)
            if candidates is None:
                continue
            for length, term, ends_in_han, entry in candidates:
                end = start + length
                if text.startswith(term, start) and (ends_in_han or _bounded(text, end, term)):
                    ids = entry.loose
                    if entry.exact:
                        ids = entry.exact.get(_spelled(original, folded, start, end), ids)
                    if ids:
                        last = end
                        yield start, end, ids
                        break

    def _by_cues(self, text: str, start: int, end: int, ids: tuple[str, ...]) -> tuple[str, ...]:
        settled = self._ambiguities.get(text[start:end])
        if settled is None or not settled.cues:
            return ids
        around = f" {text[max(0, start - _CUE_WINDOW) : start]} | {text[end : end + _CUE_WINDOW]} "
        hits = {one: sum(_cue(around, self._folder.term(cue)) for cue in settled.cues.get(one, ())) for one in ids}
        return tuple(sorted(ids, key=lambda one: -hits[one]))  # stable: ties keep the default order


def _cue(around: str, cue: str) -> bool:
    if has_han(cue):
        return cue in around
    return re.search(f"(?<![{_LETTERS}]){re.escape(cue)}(?![{_LETTERS}])", around) is not None


def _wordings(concept: Concept) -> Iterator[str]:
    yield concept.name.en
    if concept.name.zh:
        yield concept.name.zh
    yield from concept.synonyms.en
    yield from concept.synonyms.zh
    if isinstance(concept, Drug):
        yield from concept.brands


def _bounded(text: str, end: int, term: str) -> bool:
    """Tell whether a term that ends in a letter or digit ends where a word ends.

    A number may follow at once ("INR2.5", "K5.2", "Na138"), but one digit after a short abbreviation makes another name
    ("K2", "T4", "B12").
    """
    if end >= len(text):
        return True
    following = text[end]
    if not following.isalnum() or following >= _FIRST_HAN:
        return True
    if not following.isdigit() or term[-1].isdigit() or not following.isascii():
        return False
    if len(term) - term.rfind(" ") > 3:  # the last word has at least three letters
        return True
    return bool(re.match(r"\d+\.\d|\d\d", text[end : end + 8]))


def _spelled(original: str, folded: Folded, start: int, end: int) -> str:
    first, last = folded.span(start, end)
    while last < len(original) and unicodedata.combining(original[last]):
        last += 1  # an accent written apart belongs to its letter: Ḱ is no K, composed or not
    return unicodedata.normalize("NFKC", original[first:last])
