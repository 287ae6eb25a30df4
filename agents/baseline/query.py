"""What a physician asks: a question's names, what is asked of them, and what is left out.

Every question is read alone. What it leaves out stays open (`Request.open_*`); `memory.py` may fill it in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache

from wardround.patients import knowledge

from .naming import Name, find_names, masked, squeezed
from .words import Vocabulary, first_of, has, pattern, vocabulary

_DOSE = re.compile(r"(\d{1,6}(?:\.\d{1,4})?)\s{0,2}(mg|mcg|g|units?|meq|单位)(?![a-z])")
_NUMBER = re.compile(r"\d{1,6}(?:\.\d{1,4})?")
WAYS = frozenset({"rising", "falling"})
"""States of a condition that rest on the value before the latest one."""
_CLAUSE = re.compile(r"[,:;.?!，：；。？！]")


@dataclass(frozen=True)
class Branch:
    """Look at one value; what is wanted next depends on it."""

    lab: str | None
    state: str
    """low, high or abnormal; rising or falling, against the value before."""
    told: bool
    """The value itself is asked for too."""
    then: Request
    otherwise: Request


@dataclass(frozen=True)
class Dosing:
    """An order as the question words it."""

    doses: tuple[str, ...]
    route: str | None
    frequency: str | None
    comparator: str | None = None
    """below or above, where the dose rests on a value."""
    bound: Decimal | None = None


@dataclass(frozen=True)
class Request:
    """A question, read."""

    text: str
    language: str
    intent: str
    """look, decide, branch, prescribe, request, flag or nothing."""
    names: tuple[Name, ...] = ()
    topics: tuple[Name, ...] = ()
    """Names that were said to be looked at already ("given the creatinine, …")."""
    asks: tuple[str, ...] = ()
    topic_asks: tuple[str, ...] = ()
    branch: Branch | None = None
    dosing: Dosing | None = None
    steps: tuple[str, ...] = ()
    """Decision tables that the question may be about: those whose step it names best."""
    priority: str | None = None
    points: frozenset[str] = field(default_factory=frozenset)
    """What it points back to: result, finding, drug, any."""
    asks_patient: bool = False
    """The patient is to be asked."""
    given: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What memory put in, by kind."""

    def of(self, *kinds: str, topics: bool = True) -> tuple[str, ...]:
        """Return the concepts of some kinds in the order they are named; those that memory put in follow."""
        named = [one for one in self.names if one.kind in kinds]
        if topics or not named:
            named = sorted({*named, *(one for one in self.topics if one.kind in kinds)}, key=lambda one: one.start)
        recalled = [concept for kind in kinds for concept in self.given.get(kind, ())]
        return tuple(dict.fromkeys([*(one.concept for one in named), *recalled]))

    @property
    def drugs(self) -> tuple[str, ...]:
        """Drugs named."""
        return self.of("drug", "drug_class")

    @property
    def labs(self) -> tuple[str, ...]:
        """Tests and vital signs named."""
        return self.of("lab", "vital")

    @property
    def scores(self) -> tuple[str, ...]:
        """Clinical scores named."""
        return self.of("score")

    @property
    def findings(self) -> tuple[str, ...]:
        """Symptoms named."""
        return self.of("finding")

    def wanted(self, *kinds: str) -> tuple[str, ...]:
        """Return the concepts of some kinds outside the topics, or those of the topics where there are none."""
        return self.of(*kinds, topics=False)

    def with_given(self, kind: str, *concepts: str) -> Request:
        """Return the request with what memory knows put in."""
        return replace(self, given={**self.given, kind: concepts})


def read_query(text: str, language: str) -> Request:
    """Read a question.

    Args:
        text: The physician's words.
        language: "en" or "zh".
    """
    plain, body, marked, body_at = _plain(text, language)
    words = vocabulary(language)
    if has(body, words.flag, language):
        return replace(plain, intent="flag")
    dosed = _as("prescribe", plain, body, marked, body_at)
    if dosed.dosing is not None:
        return dosed
    if plain.priority is not None:
        return replace(plain, intent="request")
    branched = _as("branch", plain, body, marked, body_at)
    if branched.branch is not None:
        return branched
    if has(squeezed(body), words.decide, language):
        return _as("decide", plain, body, marked, body_at)
    return replace(plain, intent="look" if plain.asks or plain.names else "nothing")


def read_as(text: str, language: str, intent: str) -> Request:
    """Read a question as one of a given kind, whatever its words are: for policies that choose the kind themselves.

    Args:
        text: The physician's words.
        language: "en" or "zh".
        intent: look, decide, branch, prescribe, request or flag.
    """
    return _as(intent, *_plain(text, language))


@lru_cache(maxsize=512)
def _plain(text: str, language: str) -> tuple[Request, str, str, int]:
    """Return what any question has; its words with names masked, without topics and whole; where it begins."""
    words = vocabulary(language)
    body_at = _body(text.lower(), words, language)
    names = find_names(text)
    marked = masked(text, names)
    body = " " * body_at + marked[body_at:]
    request = Request(
        text=text,
        language=language,
        intent="look",
        names=tuple(one for one in names if one.start >= body_at),
        topics=tuple(one for one in names if one.start < body_at),
        asks=_asks(body, words, language),
        topic_asks=_asks(marked[:body_at], words, language),
        priority=first_of(body, words.priorities, language),
        points=_points(body, words, language),
        asks_patient=has(squeezed(body), words.ask_patient, language),
    )
    return request, body, marked, body_at


def _as(intent: str, plain: Request, body: str, marked: str, body_at: int) -> Request:
    """Return a question with what its kind has."""
    words, language = vocabulary(plain.language), plain.language
    if intent == "prescribe":
        return replace(plain, intent=intent, dosing=_dosing(body, words, language))
    if intent == "branch":
        names = (*plain.topics, *plain.names)
        return replace(plain, intent=intent, branch=_branch(plain.text, marked, names, body_at, language))
    if intent == "decide":
        changes = bool(plain.drugs) and has(squeezed(body), words.change, language)
        return replace(plain, intent=intent, steps=() if changes else steps_of(plain, body))
    return replace(plain, intent=intent)


# -- what is asked -----------------------------------------------------------------------------------------------------


def _body(low: str, words: Vocabulary, language: str) -> int:
    """Return where the question begins, after a list of what was looked at."""
    start = _after_openers(low, words, language)
    clauses = [found.start() for found in _CLAUSE.finditer(low, start)]
    if language == "zh":
        first = clauses[0] if clauses else len(low)
        head = low[start:first]
        if clauses and (head.startswith(words.topics) or head.endswith(words.joined)):
            return first + 1
        return start
    if not any(low.startswith(f"{topic} ", start) for topic in words.topics):
        return start
    for at in clauses:
        rest = low[at + 1 :].lstrip()
        if rest and not rest.startswith(words.listed):
            return at + 1
    return start


def _after_openers(low: str, words: Vocabulary, language: str) -> int:
    found = re.compile(
        rf"(?:(?:{'|'.join(map(re.escape, sorted(words.openers, key=len, reverse=True)))})"
        + (r"[，。、]?" if language == "zh" else r"[,.]\s")
        + ")"
    ).match(low)
    return found.end() if found else 0


def _asks(body: str, words: Vocabulary, language: str) -> tuple[str, ...]:
    """Return what is asked, in the order it is asked."""
    text, found = squeezed(body), []
    for ask, cues in words.asks:
        places = [(one.start(), one.end()) for one in pattern(cues, language).finditer(text)]
        if places:
            found.append((places[0][0], ask))
        for start, end in places:
            text = text[:start] + "\x01" * (end - start) + text[end:]
    return tuple(ask for _, ask in sorted(found))


def _points(body: str, words: Vocabulary, language: str) -> frozenset[str]:
    text = squeezed(body)
    kinds = {"result": words.result, "finding": words.finding, "drug": words.drug}
    found = {kind for kind, cues in kinds.items() if has(text, cues, language)}
    if has(text, words.pointers, language):
        found.add("any")
    return frozenset(found)


def _dosing(body: str, words: Vocabulary, language: str) -> Dosing | None:
    text = squeezed(body)
    doses = tuple(f"{one.group(1)} {_unit(one.group(2))}" for one in _DOSE.finditer(text))
    route = first_of(text, words.routes, language)
    frequency = first_of(text, words.frequencies, language)
    if not doses or (route is None and frequency is None):
        return None
    comparator, bound = None, None
    for kind, cues in (("below", words.below), ("above", words.above)):
        for cue in pattern(cues, language).finditer(text):
            number = _NUMBER.match(text[cue.end() :].lstrip())
            if number is not None and bound is None:
                comparator, bound = kind, Decimal(number.group())
    return Dosing(doses, route, frequency, comparator, bound)


def _unit(unit: str) -> str:
    return "units" if unit in {"unit", "units", "单位"} else unit


def _branch(text: str, marked: str, names: tuple[Name, ...], body_at: int, language: str) -> Branch | None:
    words = vocabulary(language)
    other = pattern(words.otherwise, language).search(marked, body_at)
    condition = pattern(words.if_, language).search(marked, body_at)
    if other is None or condition is None or condition.start() > other.start():
        return None
    # "Look up the sodium; if …": in English a way is only told behind the word that makes the condition
    way_at = condition.start() if language == "en" else body_at
    places = [
        (found.start(), -found.end(), state)
        for state, cues in words.states.items()
        for found in pattern(cues, language).finditer(marked, way_at if state in WAYS else body_at, other.start())
    ]
    if not places:
        return None
    _, minus_end, state = min(places)
    end = -minus_end
    before = [one for one in names if one.kind in {"lab", "vital"} and body_at <= one.start < end]
    lab = before[0] if before else None
    told = lab is not None and _CLAUSE.search(text, lab.end, end) is not None
    return Branch(
        lab=lab.concept if lab is not None else None,
        state=state,
        told=told,
        then=_part(text, names, end, other.start(), language),
        otherwise=_part(text, names, other.end(), len(text), language),
    )


def _part(text: str, names: tuple[Name, ...], start: int, end: int, language: str) -> Request:
    """Return one arm of a branch, read for what is asked in it."""
    inside = tuple(one for one in names if start <= one.start < end)
    marked = masked(text, names)[start:end]
    return Request(
        text=text[start:end],
        language=language,
        intent="look",
        names=inside,
        asks=_asks(marked, vocabulary(language), language),
    )


# -- which step a question on one value is about -----------------------------------------------------------------------


def steps_of(request: Request, marked: str) -> tuple[str, ...]:
    """Return the decision tables that a question may be about, by the name of their step; none where it names none.

    Args:
        request: The question.
        marked: Its words in lower case, names masked.
    """
    low, language = request.text.lower(), request.language
    repeat = has(squeezed(marked), vocabulary(language).repeat, language)
    about = {*request.labs, *request.scores}
    found = {
        table.id: _step_named(table, low, language, repeat=repeat)
        for table in knowledge.decisions().values()
        if not about or about & subjects_of(table.subject)
    }
    longest = max(found.values(), default=0)
    return tuple(one for one, length in found.items() if length == longest) if longest else ()


@lru_cache(maxsize=256)
def subjects_of(subject: str) -> frozenset[str]:
    """Return what a question may call a table's subject: blood pressure for its systolic part."""
    return frozenset({subject, knowledge.charted_as_one(subject)})


def _step_named(table: knowledge.DecisionTable, low: str, language: str, *, repeat: bool) -> int:
    """Return how many characters of a question name the table's step; 0 where none do."""
    step, found = table.step, 0
    for wording in (step.names, step.asked):
        if wording is None:
            continue
        words = str(wording.zh if language == "zh" else wording.en).lower()
        for article in ("an ", "a ", "the "):
            words = words.removeprefix(article)
        if words and has(low, (words,), language):
            found = max(found, len(words))
    if not found and repeat and step.act == "recheck":
        found = 1
    return found
