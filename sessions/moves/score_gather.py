"""Clinical scores from a record: where each input stands, what the total is, and the calls that find it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from wardround.patients import UsageError, format_instant, knowledge
from wardround.patients.knowledge import (
    PRESSURE,
    PRESSURE_PARTS,
    Meaning,
    Names,
    ScoreInputSource,
    ScoreResult,
    ScoreUse,
)
from wardround.sessions.decisions.charted import (
    adult,
    beyond_cure,
    charted,
    fresh,
    has,
    latest,
    matching,
    orders_of,
    takes,
)
from wardround.sessions.decisions.tables import is_beyond
from wardround.sessions.parsed import resources
from wardround.sessions.record import Reading
from wardround.sessions.session import GoldCall

from .move import Case
from .parts import chart_call, lab_call

Input = str | bool | tuple[Decimal, str]
SEXES: Final = {"female": Names(en="female", zh="女性"), "male": Names(en="male", zh="男性")}
_PAGE: Final = 20
"""Rows that a search shows unless more are asked for."""
_MOST: Final = 100
_WEIGHT_DAYS: Final = 30
"""How much longer than other values a weight may be used."""


@dataclass(frozen=True)
class Gathered:
    """A score of one patient."""

    use: ScoreUse
    result: ScoreResult
    total: Decimal
    meaning: Meaning
    inputs: dict[str, Input]
    readings: dict[str, Reading]
    """Input → the value it was taken from."""
    conditions: dict[str, tuple[str, ...]]
    """Input → keys of the diagnoses that make it true."""
    orders: dict[str, tuple[str, ...]]
    """Input → keys of the orders that make it true."""
    named: dict[str, Names]
    """Input → the diagnosis, as an answer names it."""


# -- gathering ---------------------------------------------------------------------------------------------------------


def computable(case: Case) -> tuple[str, ...]:
    """Return the ids of the clinical scores that make sense for a patient and that the record is enough for, sorted.

    Missing components of a point score count their least points, as `knowledge.compute` does; so few may be missing
    that the score is still worth asking for (`ScoreUse.least`).
    """
    return tuple(sorted(gathered(case)))


def gathered(case: Case) -> dict[str, Gathered]:
    """Return every computable score of a case by id, worked out once."""
    return case.memo("moves.score_gather", _gathered)


def _gathered(case: Case) -> dict[str, Gathered]:
    if not adult(case) or beyond_cure(case) or case.view.sex not in SEXES:
        return {}
    found = {}
    for name, use in sorted(knowledge.score_uses().items()):
        one = gather(case, use) if _fits(case, use) else None
        if one is not None:
            found[name] = one
    return found


def _fits(case: Case, use: ScoreUse) -> bool:
    if use.scenarios and case.scenario not in use.scenarios:
        return False
    if (use.needs and not has(case, use.needs)) or (use.needs_drugs and not takes(case, use.needs_drugs)):
        return False
    if has(case, use.unless) or any(one in case.view.latest for one in use.unless_charted):
        return False
    return not any(is_beyond(case, limit) for limit in use.unless_values)


def gather(case: Case, use: ScoreUse) -> Gathered | None:
    """Return a score of a case; None where too little is charted, an input could be argued, or its reading is open."""
    made = Gathered(use, _EMPTY, Decimal(0), use.meanings[0], {}, {}, {}, {}, {})
    known = 0
    for name, source in use.inputs.items():
        said = _input(case, use, name, source, made)
        if said is None:
            return None
        known += said
    if known < use.least:
        return None
    return _finished(made)


_EMPTY: Final = ScoreResult(None, {}, (), (), "")


def _finished(made: Gathered) -> Gathered | None:
    use = made.use
    try:
        result = knowledge.compute(use.id, made.inputs)
    except UsageError:
        return None  # a value that cannot be, or in a unit that does not convert: the chart is not good enough
    if result.total is None:
        return None
    meaning = use.meaning_of(result.total)
    points = [value for value in result.components.values() if value is not None]
    if meaning is None or (use.single is not None and meaning is use.meanings[-1] and max(points) >= use.single):
        return None
    return replace(made, result=result, total=result.total, meaning=meaning)


def with_value(found: Gathered, name: str, value: Decimal) -> Gathered | None:
    """Return a score with another value of one measured input; None where it could not be or means nothing certain."""
    inputs = {**found.inputs, name: (value, found.readings[name].unit)}
    return _finished(replace(found, inputs=inputs))


def _input(case: Case, use: ScoreUse, name: str, source: ScoreInputSource, made: Gathered) -> int | None:
    """Take one input from the record; return 1 where charted, 0 where missing, None where it could be argued."""
    if source.kind in ("lab", "vital"):
        reading = next((one for lab in source.of if (one := latest(case, lab)) is not None), None)
        if reading is None or not fresh(
            case, reading, use.fresh_hours * (_WEIGHT_DAYS if reading.lab == "weight" else 1)
        ):
            return 0
        made.inputs[name] = (reading.value, reading.unit)
        made.readings[name] = reading
        return 1
    if source.kind == "age":
        made.inputs[name] = str(charted(case).age)
        return 1
    if source.kind == "sex":
        made.inputs[name] = case.view.sex
        return 1
    if source.kind == "drug":
        made.orders[name] = tuple(orders_of(case, source.of))
        made.inputs[name] = bool(made.orders[name])
        return 1
    return _condition(case, name, source, made)


def _condition(case: Case, name: str, source: ScoreInputSource, made: Gathered) -> int | None:
    past = source.absent == "no"
    keys = tuple(matching(case, source.of, ever=past))
    if not keys or source.choice:
        if has(case, source.unclear, ever=past):
            return None
        if source.absent == "missing":
            return 0
    made.inputs[name] = bool(keys)
    if keys:
        made.conditions[name] = keys
        made.named[name] = _name(case, source.of, past)
    return 1


def _name(case: Case, concepts: Iterable[str], past: bool) -> Names:
    """Return the usual name of the concept that a diagnosis is a case of."""
    found = next(one for one in concepts if has(case, (one,), ever=past))
    name = knowledge.lexicon().concept(found).name
    return Names(en=lower(name.en), zh=name.zh)


# -- calls -------------------------------------------------------------------------------------------------------------


def single_calls(case: Case, found: Gathered) -> tuple[GoldCall, ...]:
    """Return the calls that find each input by itself."""
    calls = [*_personal(case, found), *(_value_call(case, one) for one in found.readings.values())]
    return _once(calls)


def _once(calls: Iterable[GoldCall]) -> tuple[GoldCall, ...]:
    """Drop a call that was made before: both values of a pressure come with one."""
    kept: list[GoldCall] = []
    for call in calls:
        if call not in kept:
            kept.append(call)
    return tuple(kept)


def _personal(case: Case, found: Gathered) -> Iterator[GoldCall]:
    kinds = {source.kind for source in found.use.inputs.values()}
    if kinds & {"age", "sex"}:
        yield chart_call(case, "Patient.read")
    if "condition" in kinds:
        total = case.snapshot.count("Condition")
        more = {"_count": _MOST} if total > _PAGE else {}
        yield _call(case, "Condition.search", more)
    if "drug" in kinds:
        total = sum(1 for one in resources(case.snapshot, "MedicationRequest") if one.get("status") == "active")
        yield _call(
            case, "MedicationRequest.search", {"status": "active", **({"_count": _MOST} if total > _PAGE else {})}
        )


def _call(case: Case, tool: str, arguments: Mapping[str, str | int]) -> GoldCall:
    return GoldCall(tool=tool, arguments={"subject_id": case.view.patient, **arguments})


def _value_call(case: Case, reading: Reading) -> GoldCall:
    if reading.lab in case.view.latest:
        return lab_call(case, reading)
    name = case.common.casual[PRESSURE][0].en if reading.lab in PRESSURE_PARTS else reading.name
    return chart_call(case, "Observation.search", category="vital-signs", code=name)


def joint_calls(case: Case, found: Gathered) -> tuple[GoldCall, ...]:
    """Return the fewest calls that find every input: all vital signs, and all labs, of the days by one search each."""
    labs = [one for one in found.readings.values() if one.lab in case.view.latest]
    vitals = [one for one in found.readings.values() if one.lab not in case.view.latest]
    calls = list(_personal(case, found))
    for category, readings in (("vital-signs", vitals), ("laboratory", labs)):
        if len({one.keys for one in readings}) == 1:
            calls.append(_value_call(case, readings[0]))
        elif readings:
            day = format_instant(min(one.at for one in readings))[:10]
            calls.append(_call(case, "Observation.search", {"category": category, "date_from": day, "_count": _MOST}))
    return tuple(calls)


def lower(name: str) -> str:
    """Write a name inside a sentence: a small first letter, unless the word has its own capitals."""
    first = name.split(" ", 1)[0]
    return name if any(char.isupper() for char in first[1:]) else name[:1].lower() + name[1:]
