"""Rubric sentences as checks: typed where a sentence fits exactly one kind with certainty, else for a judge.

A sentence is typed only if what it asks for, said as an answer, passes the check made of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import orjson

from wardround.patients import knowledge
from wardround.rubrics import (
    AdviceCheck,
    AvoidsCheck,
    Check,
    ClinicalScoreCheck,
    JudgeCheck,
    MentionCheck,
    OrderCheck,
    StatusCheck,
    Text,
    ValueCheck,
    check_answer,
)
from wardround.rubrics.reading import read

_MOST_WORDS = 5
"""A mention is certain only where hardly more than the name is said."""
_WORD = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")


class Lead(NamedTuple):
    """How a sentence begins."""

    kind: str
    """state, recommend, avoid, guard, or "" for none known."""
    rest: str


@cache
def _data() -> Mapping[str, Any]:
    text = files("wardround.sessions.interop").joinpath("data/sentences.json").read_bytes()
    found: dict[str, Any] = orjson.loads(text)
    return found


def lead_of(sentence: str) -> Lead:
    """Return how an English rubric sentence begins, and what follows."""
    folded = sentence.strip().rstrip(".")
    lower = folded.casefold()
    best = Lead("", folded)
    length = -1
    for kind, leads in _data()["leads"].items():
        for lead in leads:
            if len(lead) > length and (lower == lead or lower.startswith(f"{lead} ")):
                best, length = Lead(kind, folded[len(lead) :].strip()), len(lead)
    return best


def check_of(sentence: Text, write: tuple[str, Mapping[str, Any]] | None = None) -> Check:
    """Return the check of a rubric sentence.

    Args:
        sentence: In either language or both; the English one is typed.
        write: Tool and arguments of the turn's gold write, for a turn that has one.

    Returns:
        A typed check where the sentence fits exactly one kind with certainty, else a `judge` check of the sentence.
    """
    english = sentence.en or ""
    if write is not None:
        found = _order(english, *write)
        if found is not None:
            return found
    lead = lead_of(english)
    typed = _typed(lead)
    return typed if typed is not None else JudgeCheck(criterion=sentence, guard=_guards(sentence, lead))


def _guards(sentence: Text, lead: Lead) -> bool:
    if sentence.en:
        return lead.kind in ("guard", "avoid")
    return (sentence.zh or "").startswith(tuple(_data()["guard_starts_zh"]))


def _typed(lead: Lead) -> Check | None:
    if lead.kind == "state":
        return _stated(lead.rest)
    if lead.kind in ("recommend", "avoid") and not lead.rest.casefold().startswith("against "):
        return _advised(lead)  # "does not advise against" forbids the contrary
    return None


def _stated(rest: str) -> Check | None:
    """Return the check of something that is to be said: one value, or one reading, or one name."""
    found = read(rest)
    values = [one for one in found.values if one.role == "measured" and one.flags.claimed]
    states = [one for one in found.states if one.flags.claimed]
    if found.advice or found.trends() or len(found.values) > 1 or len(states) > 1 or len(values) + len(states) > 1:
        return None
    check: Check | None = None
    if values:
        check = _value(values[0].concept, values[0].value, values[0].unit)
    elif found.values:
        return None
    elif states and not states[0].implied and not states[0].flags.negated:
        check = StatusCheck.model_validate({"concept": states[0].concept, "status": states[0].status})
    elif not states:
        names = [one for one in found.names if one.polarity == "present" and one.flags.claimed]
        if len(found.names) == len(names) == 1 and len(_WORD.findall(rest)) <= _MOST_WORDS:
            check = MentionCheck(concept=names[0].concept)
    return check if check is not None and check_answer(check, f"{rest}.", language="en").passed else None


@cache
def _scores() -> Mapping[str, str]:
    """Return the clinical scores of points that the reader knows as something measured, by its name for them."""
    found = {}
    for score in knowledge.scores().values():
        measured = knowledge.lexicon().resolve(score.name.en, ("lab", "vital"))
        if score.unit == "{score}" and measured is not None:
            found[measured.id] = score.id
    return found


def _value(concept: str, value: str, unit: str) -> Check:
    number: float | str
    try:
        number = int(value)
    except ValueError:
        try:
            number = float(value)
        except ValueError:
            number = value
    score = _scores().get(concept)
    if score is not None and not isinstance(number, str):
        return ClinicalScoreCheck(score=score, total=number)
    return ValueCheck(concept=concept, value=number, unit=unit)


def _advised(lead: Lead) -> Check | None:
    said = _data()["advise"].format(rest=lead.rest)
    found = read(said)
    acts = [one for one in found.advice if one.advised and one.flags.claimed and not one.flags.negated]
    if len(found.advice) != 1 or len(acts) != 1 or found.values or len(acts[0].targets) != 1 or acts[0].to:
        return None
    act = AdviceCheck.model_validate({"act": acts[0].act, "target": acts[0].targets[0]})
    if not check_answer(act, said, language="en").passed:
        return None
    return act if lead.kind == "recommend" else AvoidsCheck(act=act.act, target=act.target)


def _order(sentence: str, tool: str, arguments: Mapping[str, Any]) -> Check | None:
    """Return the check of one field of the gold write: the sentence names one field and holds its value."""
    data = _data()
    words = " ".join(_WORD.findall(sentence.casefold()))
    if lead_of(sentence).kind in ("guard", "avoid"):
        return None
    named = [
        field
        for field, names in data["fields"].items()
        if data["arguments"][field] in arguments and any(f" {name} " in f" {words} " for name in names)
    ]
    held = [
        field
        for field, argument in data["arguments"].items()
        if argument in arguments and _holds(words, str(arguments[argument]))
    ]
    if len(held) != 1 or (named and named != held):
        return None
    return OrderCheck(tool=tool, fields={held[0]: str(arguments[data["arguments"][held[0]]])})


def _holds(words: str, value: str) -> bool:
    wanted = " ".join(_WORD.findall(value.casefold()))
    return bool(wanted) and f" {wanted} " in f" {words} "
