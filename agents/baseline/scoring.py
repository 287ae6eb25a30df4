"""Clinical scores from the chart: the inputs that the knowledge base names, each looked up."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from wardround.patients import knowledge
from wardround.patients.knowledge import ScoreInputSource, ScoreResult, ScoreUse

from .rows import Value, diagnoses, drugs_of
from .speaking import amount, labelled, name_of, say
from .turn import Steps, Turn


@dataclass
class _Inputs:
    """What the chart says of a score's inputs."""

    given: dict[str, Any] = field(default_factory=dict)
    shown: list[str] = field(default_factory=list)
    """The measured ones, as an answer states them."""
    lacking: list[str] = field(default_factory=list)
    """Ids of inputs that the chart does not have."""


def score_lines(turn: Turn, score_id: str) -> Steps[list[str]]:
    """Work a score out: its inputs, its total and what that means, and what was not charted."""
    use, language = knowledge.score_uses()[score_id], turn.language
    inputs = yield from _gathered(turn, use)
    result = knowledge.compute(score_id, inputs.given)
    if result.total is None:
        names = _names_of(use, inputs.lacking, language)
        return [say(language, "no_score", name=_called(use, language), names=_joined(names, language))]
    lines = []
    if inputs.shown:
        lines.append(say(language, "score_inputs", parts=_joined(inputs.shown, language)))
    lines.append(_total(use, result, _points(use, result, language), language))
    absent = _names_of(use, [one for one in inputs.lacking if one in use.inputs], language)
    if absent:
        lines.append(say(language, "score_missing", names=_joined(absent, language)))
    return lines


def total_sentence(turn: Turn, score_id: str) -> Steps[tuple[str, Decimal | None]]:
    """Work a score out and return it as one sentence, with its total; None where the chart lacks an input."""
    use, language = knowledge.score_uses()[score_id], turn.language
    inputs = yield from _gathered(turn, use)
    result = knowledge.compute(score_id, inputs.given)
    if result.total is None:
        names = _names_of(use, inputs.lacking, language)
        return say(language, "no_score", name=_called(use, language), names=_joined(names, language)), None
    behind = _points(use, result, language)
    if inputs.shown and len(inputs.shown) > 1:
        inside = _joined((one[:1].lower() + one[1:] if one[1:2].islower() else one for one in inputs.shown), language)
        behind = f"（{inside}）" if language == "zh" else f" ({inside})"
    return _total(use, result, behind, language), result.total


def _gathered(turn: Turn, use: ScoreUse) -> Steps[_Inputs]:
    found = _Inputs()
    for name, source in use.inputs.items():
        if source.kind in {"lab", "vital"}:
            yield from _measured(turn, name, source, found)
        elif source.kind in {"age", "sex"}:
            person = yield from turn.person()
            value = person.get(source.kind)
            if value is None:
                found.lacking.append(name)
                continue
            found.given[name] = value
        elif source.kind == "condition":
            yield from _condition(turn, use, name, source, found)
        else:
            rows = yield from turn.all_orders()
            found.given[name] = _any_is_a(drugs_of(rows), source.of)
    for kind in ("age", "sex"):
        for name, source in use.inputs.items():
            if source.kind == kind and name in found.given:
                value = str(found.given[name])
                found.shown.append(say(turn.language, "age", age=value) if kind == "age" else say(turn.language, value))
    if len(found.shown) == sum(use.inputs[one].kind in {"age", "sex"} for one in found.given if one in use.inputs):
        found.shown.clear()
    return found


def _measured(turn: Turn, name: str, source: ScoreInputSource, found: _Inputs) -> Steps[None]:
    value: Value | None = None
    for lab in source.of:
        value = yield from turn.latest(lab)
        if value is not None and value.number is not None:
            break
    if value is None or value.number is None:
        found.lacking.append(name)
        return
    found.given[name] = (value.number, value.unit) if value.unit else value.number
    label = labelled(name_of(value.lab, turn.language), turn.language)
    found.shown.append(f"{label}{'' if turn.language == 'zh' else ' '}{amount(value)}")


def _condition(turn: Turn, use: ScoreUse, name: str, source: ScoreInputSource, found: _Inputs) -> Steps[None]:
    text = yield from turn.call("Condition.search", _count=100)
    active = [condition for condition, _ in diagnoses(text)]
    for condition, choice in source.choice.items():
        if _any_is_a(active, (condition,)):
            found.given[name] = choice
            return
    held = _any_is_a(active, source.of)
    if not held and source.absent == "missing":
        found.lacking.append(name)
    elif not source.choice:
        found.given[name] = held


def _any_is_a(found: list[str], wanted: tuple[str, ...]) -> bool:
    lexicon = knowledge.lexicon()
    return any(lexicon.is_a(one, wide) for one in found for wide in wanted)


# -- words -------------------------------------------------------------------------------------------------------------


def _called(use: ScoreUse, language: str) -> str:
    names = use.names if use.names is not None else knowledge.score_of(use.id).name
    return (names.zh or names.en) if language == "zh" else names.en


def _joined(parts: Any, language: str) -> str:
    return ("，" if language == "zh" else ", ").join(parts)


def _points(use: ScoreUse, result: ScoreResult, language: str) -> str:
    score = knowledge.score_of(use.id)
    named = {one.id: one.name for one in score.components}
    parts = []
    for component, points in result.components.items():
        # beside its value, "urea 1" would read as a measurement
        if points and component in named and knowledge.lexicon().resolve(named[component].en, {"lab", "vital"}) is None:
            name = named[component]
            text = (name.zh or name.en) if language == "zh" else name.en[:1].lower() + name.en[1:]
            parts.append(f"{text}{points}" if language == "zh" else f"{text} {points}")
    if not parts:
        return ""
    inside = _joined(parts, language)
    return f"（{inside}）" if language == "zh" else f" ({inside})"


def _total(use: ScoreUse, result: ScoreResult, behind: str, language: str) -> str:
    score, total = knowledge.score_of(use.id), result.total
    assert total is not None
    if score.unit == "{score}":
        shown = f"{total}分" if language == "zh" else str(total)
    else:
        unit = knowledge.unit(score.unit)
        shown = f"{total} {unit.display if unit is not None else score.unit}"
    name = _called(use, language)
    meaning = use.meaning_of(total)
    if meaning is None:
        return say(language, "score_bare", name=name, total=shown, points=behind)
    words = (meaning.say.zh or meaning.say.en) if language == "zh" else meaning.say.en
    return say(language, "score_total", name=name, total=shown, points=behind, meaning=words)


def _names_of(use: ScoreUse, inputs: list[str], language: str) -> list[str]:
    found = []
    for one in inputs:
        names = use.missing_words.get(one)
        if names is not None:
            found.append((names.zh or names.en) if language == "zh" else names.en)
        elif one in use.inputs and use.inputs[one].kind in {"lab", "vital"}:
            found.append(name_of(use.inputs[one].of[0], language))
    return found
