"""Short phrases of checks ("stopped metformin", "falling eGFR") read into parts, and found in an answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from wardround.patients import knowledge
from wardround.rubrics.reading import ActClaim, Measured, Reading, StatusClaim, read
from wardround.rubrics.reading.annotate import implied_by
from wardround.rubrics.reading.bounds import on_side
from wardround.rubrics.reading.cues import words as word_list
from wardround.rubrics.reading.document import Ann, Sentence
from wardround.rubrics.reading.sides import side_of

from .advice import CLOSE
from .amounts import same_number
from .matching import is_a, word_of

TIMES = word_list("phrases.bare")
EXERTION = word_list("phrases.exertion")
EXERTING = word_list("phrases.exerting")
"""What one does on exertion, in everyday words."""
DECIDED = word_list("reading.subject_verbs") | {"are", "been"}
COVERING = frozenset(("concept", "implied", "event", "quantity", "time", "act", "state"))


@dataclass(frozen=True, slots=True)
class Phrase:
    """What a phrase is made of; all parts must be found."""

    names: tuple[tuple[str, ...], ...]
    """Ids of each concept named."""
    acts: tuple[ActClaim, ...]
    bare: tuple[str, ...]
    """Acts without a named target: the words must hold it."""
    values: tuple[Measured, ...]
    states: tuple[StatusClaim, ...]
    events: frozenset[str]
    negated: bool
    words: tuple[str, ...]
    """Content words that none of the above covers."""


@lru_cache(maxsize=4096)
def parse(text: str) -> Phrase:
    """Read a check's phrase."""
    reading = read(text)
    document = reading.document
    covered = [False] * len(document.tokens)
    names: list[tuple[str, ...]] = []
    acted: list[tuple[str, ...]] = []
    events: set[str] = set()
    negated = False
    stated = {(s.token, s.span.end) for s in reading.states if not s.implied}
    for sentence in document.sentences:
        for ann in sentence.anns:
            if ann.layer == "concept" and (ann.start, document.span(ann.start, ann.end).end) in stated:
                covered[ann.start : ann.end] = [True] * (ann.end - ann.start)  # the "falling" of "falling eGFR"
            elif ann.layer == "concept":
                (acted if _told(sentence, ann) else names).append(ann.value.ids)
            elif ann.layer == "event":
                events.update(_events_of(sentence, ann))
            elif ann.layer == "implied" and not _restates(sentence, ann):
                names.append((ann.value.mention or ann.value.concept,))
                negated = negated or ann.value.polarity == "absent"  # "afebrile"
            negated = negated or (ann.layer == "modifier" and ann.kind == "neg")
            if ann.layer in COVERING or (ann.layer == "modifier" and ann.kind in ("neg", "hedge")):
                covered[ann.start : ann.end] = [True] * (ann.end - ann.start)
    acts = tuple(a for a in reading.advice if a.targets and not a.implied)
    states = tuple(s for s in reading.states if not s.implied)
    values = tuple(v for v in reading.values)
    words = _rest(reading, covered)
    if not (names or acts or values or states or words):
        names = acted  # "forgetting" is a reason by itself
    if not (names or acts or values or states or events or words):
        words = _rest(reading, [False] * len(covered))  # "falls" is a word of movement too
    bare = () if acts else tuple(dict.fromkeys(a.act for a in reading.advice if not a.targets))[:1]
    return Phrase(_distinct(names), acts, bare, values, states, frozenset(events), negated, tuple(words))


def _restates(sentence: Sentence, implied: Ann) -> bool:
    """Tell whether a state is no more than what the name at its place says ("dyspnea")."""
    return not implied.value.mention and any(c.start == implied.start for c in sentence.of("concept"))


def _told(sentence: Sentence, name: Ann) -> bool:
    """Tell whether an event's words overlap a name, other than wholly inside it ("forgetting")."""
    return any(
        a.start < name.end
        and name.start < a.end
        and not (name.start <= a.start and a.end <= name.end and a.end - a.start < name.end - name.start)
        for a in sentence.of("event")
    )


def _events_of(sentence: Sentence, ann: Ann) -> frozenset[str]:
    """Return the event a word tells; a fear that is part of a name ("担心副作用" as a whole is a finding) is none."""
    inside = any(c.start <= ann.start and ann.end <= c.end for c in sentence.anns if c.layer == "concept")
    return frozenset() if ann.kind == "fear" and inside else frozenset((ann.kind,))


def _rest(reading: Reading, covered: list[bool]) -> list[str]:
    """Return the content words that nothing else covers."""
    found: list[str] = []
    for index, token in enumerate(reading.document.tokens):
        word = "" if covered[index] else word_of(token)
        if word and word not in found and token.key not in TIMES:
            found.append(word)
    return found


def _distinct(names: list[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    return tuple(dict.fromkeys(names))


def found(phrase: Phrase, reading: Reading, spans: list[tuple[int, int]], *, loose: bool = False) -> bool:
    """Tell whether every part of a phrase stands in the given token spans, asserted.

    Args:
        phrase: the parsed phrase.
        reading: the answer.
        spans: token spans, half open.
        loose: named acts count without being advised.
    """
    for act in phrase.acts:
        if not any(
            _inside(other.token, spans) or _inside(other.end, spans)
            for other in reading.advice
            if other.act in CLOSE.get(act.act, (act.act,))
            and (loose or other.advised or _decided(other, reading))
            and is_a(other.targets, act.targets)
        ):
            return False
    if "fear" in phrase.events and not any(
        ann.kind == "fear" and _inside(ann.start, spans)
        for sentence in reading.document.sentences
        if _overlaps(sentence, spans)
        for ann in sentence.of("event")
    ):
        return False
    for kind in phrase.bare:
        if not any(
            (_inside(a.token, spans) or _inside(a.end, spans))
            and a.act in CLOSE.get(kind, (kind,))
            and (loose or a.advised)
            for a in reading.advice
        ):
            return False
    if not all(_valued(value, reading, spans) for value in phrase.values):
        return False
    if not all(_stated(state, reading, spans) for state in phrase.states):
        return False
    handled = (
        {one for act in phrase.acts for one in act.targets}
        | {v.concept for v in phrase.values}
        | {s.concept for s in phrase.states}
    )
    for ids in phrase.names:
        if not set(ids) & handled and not _named(ids, reading, spans, phrase.negated):
            return False
    return words_found(phrase.words, reading, spans)


def _decided(act: ActClaim, reading: Reading) -> bool:
    """As in "Enoxaparin is held because of …": what has been decided already has its reason too."""
    tokens = reading.document.tokens
    return act.flags.claimed and act.token > 0 and tokens[act.token - 1].key in DECIDED


def words_found(words: tuple[str, ...], reading: Reading, spans: list[tuple[int, int]], *, whole: bool = False) -> bool:
    """Tell whether enough of the words stand in the spans: all of up to two, two thirds of more; `whole`: all."""
    if not words:
        return True
    tokens = reading.document.tokens
    there = {word_of(tokens[i]) for start, end in spans for i in range(start, end)}
    said = {one for name in reading.names if _inside(name.token, spans) for one in name.concepts}
    there |= {word for word in words if word not in there and (one := _finding(word)) and one in said}
    if EXERTION & set(words) and _exerting(reading, spans):
        there |= EXERTION
    hits = sum(word in there for word in words)
    if len(words) >= 4 and all("一" <= word[0] <= "鿿" for word in words):
        return hits * 2 >= len(words)
    return hits == len(words) if len(words) <= 2 else hits * 3 >= len(words) * 2


def _exerting(reading: Reading, spans: list[tuple[int, int]]) -> bool:
    """Tell whether spans say what one does on exertion ("when he climbs the stairs")."""
    document = reading.document
    keys = {document.tokens[i].key for start, end in spans for i in range(start, end)}
    if keys & EXERTING:
        return True
    texts = [document.text(start, end) for start, end in spans]
    return any(word in text for text in texts for word in EXERTING if word[0] > "z")


@lru_cache(maxsize=4096)
def _finding(word: str) -> str:
    """Return the finding that a bare word names in a phrase ("fall"), "" without one."""
    found = knowledge.lexicon().resolve(word, ("finding",))
    return found.id if found is not None else ""


def _inside(token: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= token < end for start, end in spans)


def _overlaps(sentence: Sentence, spans: list[tuple[int, int]]) -> bool:
    return any(start < sentence.end and sentence.start < end for start, end in spans)


def _valued(wanted: Measured, reading: Reading, spans: list[tuple[int, int]]) -> bool:
    for claim in reading.values:
        if not _inside(claim.token, spans) or not set(claim.concepts) & set(wanted.concepts):
            continue
        if claim.shape == wanted.shape == "one" and same_number(
            claim.value, claim.unit if claim.stated_unit else None, wanted.value, wanted.unit, claim.concept
        ):
            return True
        if claim.shape == wanted.shape and claim.value == wanted.value:
            return True
        if _beyond(claim, wanted):
            return True
    return False


def _beyond(claim: Measured, wanted: Measured) -> bool:
    """As in "eGFR 24" for "eGFR below 30": the patient's own number lies on the side of the bound that is asked for."""
    bound = wanted.role == "bound" and wanted.shape == "one" and bool(wanted.comparator)
    if not bound or claim.role != "measured" or claim.old or claim.shape != "one":
        return False
    unit = wanted.unit if wanted.stated_unit else claim.unit
    comparable = claim.unit == unit or knowledge.convert(claim.values[0], claim.unit, unit, claim.concept) is not None
    return comparable and on_side(claim, wanted, unit)


def _stated(wanted: StatusClaim, reading: Reading, spans: list[tuple[int, int]]) -> bool:
    """The same state of the concept, or a number of it with no other state."""
    same = [
        s
        for s in reading.states
        if _inside(s.token, spans) and set(s.concepts) & set(wanted.concepts) and not s.flags.negated
    ]
    if any(s.status == wanted.status for s in same):
        return True
    if any(t.direction == wanted.status and set(t.concepts) & set(wanted.concepts) for t in reading.trends()):
        return True
    return not same and any(_inside(v.token, spans) and set(v.concepts) & set(wanted.concepts) for v in reading.values)


def _named(ids: tuple[str, ...], reading: Reading, spans: list[tuple[int, int]], negated: bool) -> bool:
    for name in reading.names:
        if not (_inside(name.token, spans) or _inside(name.end - 1, spans)) or name.flags.hypothetical:
            continue
        if name.polarity == "absent" and not negated and not name.flags.patient:
            continue
        if set(name.concepts) & set(ids) or is_a(name.concepts, ids) or is_a(ids, name.concepts):
            return True
    for state in reading.states:
        if _inside(state.token, spans) and state.implied and state.concept in ids and not state.flags.negated:
            return True
    return _measured(ids, reading, spans)


def _measured(ids: tuple[str, ...], reading: Reading, spans: list[tuple[int, int]]) -> bool:
    """Tell whether a diagnosis that is a state of a measurement is said by that state, or by its number."""
    meant = implied_by(ids)
    if meant is None:
        return False
    for state in reading.states:
        if _inside(state.token, spans) and meant.concept in state.concepts and not state.flags.negated:
            return state.status == meant.status
    for value in reading.values:
        same = meant.concept in value.concepts or any(is_a((one,), (meant.concept,)) for one in value.concepts)
        if same and _inside(value.token, spans) and value.role == "measured" and side_of(value) == meant.status:
            return True
    return False
