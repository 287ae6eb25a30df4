"""The gate on the physician's words: limits, types, antecedents, and that no answer can be read off a query."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from wardround.patients import knowledge
from wardround.rubrics import (
    AdviceCheck,
    Check,
    Item,
    TurnTrace,
    check_answer,
    is_guard,
    leaf_checks,
)
from wardround.sessions.wording.kinds import load_kinds
from wardround.sessions.wording.limits import faults
from wardround.sessions.wording.resting import about

from .session import Antecedent, Language, Query, Session, Turn, Wording

AE_FROM: Final = 2
"""The first turn that can look back on two others."""
_LANGUAGES: Final[tuple[Language, ...]] = ("en", "zh")
_SCANNED: Final = {"measured": frozenset({"lab", "vital"}), "drug": frozenset({"drug"})}
"""Group of entities → kinds of concepts by which its members are found in words."""
_CLAIMS: Final = frozenset({"value", "status", "advice", "trend", "threshold", "reports", "clinical_score", "because"})
"""Checks of what an answer says; a query that passes one gives the answer away."""
_ACTS: Final = frozenset({"stop", "hold", "continue", "reduce", "increase", "switch", "avoid"})


def wordings(query: Query) -> Iterator[tuple[Language, str, str]]:
    """Yield every wording of a query as (language, phrasing, words)."""
    for language, wording in zip(_LANGUAGES, (query.en, query.zh), strict=True):
        if wording is None:
            continue
        for phrasing, words in (("explicit", wording.explicit), ("implicit", wording.implicit)):
            if words is not None:
                yield language, phrasing, words


def word_faults(session: Session) -> Iterator[tuple[str, str]]:
    """Yield (rule, message) for what is wrong with the queries of a session."""
    for number, turn in enumerate(session.turns):
        for language, _, words in wordings(turn.query):
            for fault in faults(words, task=turn.task, first=number == 0, language=language):
                yield "query", f"turn {number} ({language}): {fault}: `{words}`"
        for rule, message in (*_type(number, turn), *_antecedents(session, number, turn)):
            yield rule, f"turn {number}: {message}"


# -- types -------------------------------------------------------------------------------------------------------------


def _type(number: int, turn: Turn) -> Iterator[tuple[str, str]]:
    for language, wording in zip(_LANGUAGES, (turn.query.en, turn.query.zh), strict=True):
        if wording is None:
            continue
        differs = _differ(wording)
        if turn.implicitness is None and differs:
            yield "implicitness", f"two wordings ({language}) but no type"
        if turn.implicitness is not None and not differs:
            yield "implicitness", f"{turn.implicitness}, but both wordings ({language}) are the same"
    if turn.implicitness is None:
        return
    if not turn.antecedents:
        yield "antecedents", f"{turn.implicitness} without an antecedent"
    if turn.implicitness == "AE":
        if turn.task == "IL" or number < AE_FROM:
            yield "implicitness", "AE stands on DG, CR or WU of turn 2 or 3 only"
        if len({antecedent.turn for antecedent in turn.antecedents}) < 2:
            yield "antecedents", "AE needs two grounded earlier turns"


def _differ(wording: Wording) -> bool:
    return wording.implicit is not None and wording.implicit != wording.explicit


# -- antecedents -------------------------------------------------------------------------------------------------------


def _antecedents(session: Session, number: int, turn: Turn) -> Iterator[tuple[str, str]]:
    for antecedent in turn.antecedents:
        if antecedent.turn >= number:
            continue  # said by the general rules
        earlier = session.turns[antecedent.turn]
        for language, phrasing, words in wordings(earlier.query):
            if not _named(words, antecedent, language):
                where = f"the {phrasing} query ({language}) of turn {antecedent.turn}"
                yield "antecedents", f"`{antecedent.entity}` is not named in {where}"
        yield from (("antecedents", fault) for fault in _event(session, number, turn, antecedent))
        if turn.implicitness == "NA":
            yield from (("antecedents", fault) for fault in _rivals(session, number, antecedent))
    if turn.implicitness in {"NA", "AE"} and turn.antecedents and not _rests(turn):
        yield "antecedents", "no affirmative item rests on an antecedent"


def _named(words: str, antecedent: Antecedent, language: Language) -> bool:
    kind, found, name = antecedent.entity.partition(":")
    cue = load_kinds().cues
    if antecedent.names is not None:
        called = antecedent.names.get(language)
        return bool(called) and called.casefold() in words.casefold() and _means(called, kind, name)
    if found and kind in {"ask", "event", "advice", "advised"}:
        return all(one in cue and cue[one].spoken(words, language) for one in name.split("+"))
    concept = knowledge.lexicon().resolve(antecedent.entity)
    if concept is None:
        return antecedent.entity.casefold() in words.casefold()
    return any(concept.id in mention.concepts for mention in knowledge.lexicon().scan(words))


def _means(called: str, kind: str, name: str) -> bool:
    """Tell whether a name is one of the thing: a concept that the lexicon knows is called what it is called."""
    lexicon = knowledge.lexicon()
    if kind not in {"lab", "vital", "drug"} or name not in lexicon.concepts():
        return True
    found = lexicon.resolve(called, kinds={kind})
    return found is not None and found.id == name


def _event(session: Session, number: int, turn: Turn, antecedent: Antecedent) -> Iterator[str]:
    """Yield where what is left out is a question, advice or plan that its turn cannot have held."""
    kind = antecedent.entity.partition(":")[0]
    if kind in {"advice", "advised"} and session.turns[antecedent.turn].task != "CR":
        yield f"turn {antecedent.turn} gives no advice to come back to"
    if kind == "advised" and turn.task != "WU":
        yield f"{turn.task} carries no plan out"


def _rivals(session: Session, number: int, antecedent: Antecedent) -> Iterator[str]:
    """Yield other things of the antecedent's kind that the gap could mean as well."""
    kind, _, name = antecedent.entity.partition(":")
    kinds = _SCANNED.get(load_kinds().group(kind))
    if kinds is None or antecedent.names is None:
        return
    since = range(number) if antecedent.turn < number - 1 else range(number - 1, number)
    lexicon = knowledge.lexicon()
    others = {
        mention.concept
        for earlier in since
        for _, _, words in wordings(session.turns[earlier].query)
        for mention in lexicon.scan(words, kinds=kinds)
        if name not in mention.concepts and not _aside(mention.concept)
    }
    if others:
        yield f"`{antecedent.entity}` could as well be {', '.join(sorted(others))}"


def _aside(concept: str) -> bool:
    """Tell whether a lab or vital sign of the lexicon is a report, or told by the patient, rather than a value."""
    return concept.endswith("culture") or concept == "pain_score"


def _rests(turn: Turn) -> bool:
    rubric = about(turn.rubric)
    entities = [one for one in turn.antecedents if one.names is not None]
    if not entities:
        return turn.implicitness != "NA" or any(one.names is None for one in turn.antecedents)
    return any(one.names is not None and rubric.rests_on(one.entity, (one.names.en, one.names.zh)) for one in entities)


# -- leaks -------------------------------------------------------------------------------------------------------------


def leaks(turn: Turn, earlier: tuple[Turn, ...], trace: TurnTrace, language: Language) -> Iterator[str]:
    """Yield which items a query answers by itself, once everything that the turn needs was looked up.

    Args:
        turn: A turn with gold.
        earlier: The turns before it, whose queries must not answer it either.
        trace: What its gold calls brought.
        language: Of the wordings that are read.
    """
    if turn.task == "WU":
        return  # judged by what is written, which no words of a query can bring about
    items = [item for item in turn.rubric if not is_guard(item.check) and _claims(item.check)]
    own = sorted({*_in(turn.query, language)})
    for words in own:
        yield from _given_away(words, items, language, trace)
    found = [item for item in items if not _advises(item.check)]  # "check the potassium" was no advice when it was said
    for words in sorted({words for one in earlier for words in _in(one.query, language)} - set(own)):
        yield from _given_away(words, found, language, trace)
    if turn.task == "CR":  # a question may give its answer away too: "Should we stop it?"
        acts = [item for item in items if _changes(item.check)]
        for words in own:
            if not _offers(words, language):
                yield from _given_away(_stated(words), acts, language, trace)


def _in(query: Query, language: Language) -> Iterator[str]:
    return (words for one, _, words in wordings(query) if one == language)


def _given_away(words: str, items: Sequence[Item], language: Language, trace: TurnTrace) -> Iterator[str]:
    for item in items:
        if check_answer(item.check, words, language=language, trace=trace).passed:
            yield f"`{words}` gives `{item.id}` away"
            return


def _claims(check: Check) -> bool:
    """Tell whether an item asks for a claim rather than for words, which a query may well hold."""
    return any(leaf.kind in _CLAIMS for leaf in leaf_checks(check))


def _advises(check: Check) -> bool:
    return any(isinstance(leaf, AdviceCheck) for leaf in leaf_checks(check))


def _changes(check: Check) -> bool:
    """Tell whether an item is advice on what is given already; whether a step that is named is needed stays open."""
    return all(isinstance(leaf, AdviceCheck) and leaf.act in _ACTS for leaf in leaf_checks(check))


def _offers(words: str, language: Language) -> bool:
    """Tell whether a question offers a choice, which gives nothing away."""
    return "还是" in words if language == "zh" else " or " in words.casefold()


def _stated(words: str) -> str:
    """Return a question as if it were a statement: "Should we stop it?" advises to stop it."""
    return re.sub(r"[?？]", lambda match: "." if match.group() == "?" else "。", words)
