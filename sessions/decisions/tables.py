"""What the tables of `knowledge.decisions()` say of one patient: whether a question arises, and what its answer is."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Final, cast

from wardround.patients import knowledge
from wardround.patients.knowledge import DecisionBand, DecisionTable, Step
from wardround.rubrics import Act
from wardround.sessions.moves.move import Case
from wardround.sessions.record import Reading, plain

from .charted import beyond_cure, done_within, has, in_intensive_care, latest, takes
from .decision import Decision, Hinge

_UP: Final = Decimal("1.15")
_DOWN: Final = Decimal("0.85")
_INTENSIVE: Final = "critical care"
"""Target of the steps that ask intensive care to see a patient."""


def tables(case: Case, kind: str) -> Iterable[DecisionTable]:
    """Yield the tables about labs, vitals or scores whose question arises for this patient, in a fixed order."""
    if beyond_cure(case):
        return
    for _, table in sorted(knowledge.decisions().items()):
        if table.kind == kind and arises(case, table):
            yield table


def arises(case: Case, table: DecisionTable) -> bool:
    """Tell whether a question is worth asking: it fits, nothing contests it, and it is not answered already."""
    if table.scenarios and case.scenario not in table.scenarios:
        return False
    if table.needs and not has(case, table.needs):
        return False
    if table.needs_drugs and not takes(case, table.needs_drugs):
        return False
    if table.step.target == _INTENSIVE and in_intensive_care(case):
        return False
    if has(case, table.unless) or takes(case, table.unless_drugs) or done_within(case, table.unless, 240):
        return False
    return not any(is_beyond(case, limit) for limit in table.unless_values) and not covered(case, table.step)


def covered(case: Case, step: Step) -> bool:
    """Tell whether a step was taken or ordered already."""
    return takes(case, step.covered) or done_within(case, step.covered, step.covered_hours)


def is_beyond(case: Case, limit: knowledge.Limit) -> bool:
    """Tell whether another value is such that practice differs; a value that is not charted is none."""
    reading = latest(case, limit.of)
    if reading is None:
        return False
    value = knowledge.convert(reading.value, reading.unit, limit.unit, limit.of)
    if value is None:
        return True
    low = limit.at_least is None or value >= limit.at_least
    return low and (limit.below is None or value <= limit.below)


def worth_asking(case: Case, table: DecisionTable, reading: Reading | None) -> bool:
    """Tell whether a physician would ask though nothing is needed: the value is or was off, or the patient at risk."""
    occasion = table.occasion
    if occasion is None or has(case, occasion.states) or takes(case, occasion.drugs):
        return True
    if reading is None:
        return False
    levels = {one.level for one in (*case.view.series.get(reading.lab, ()), reading)} - {"normal", None}
    return bool(levels) if occasion.level == "any" else occasion.level in levels


def band_of(case: Case, table: DecisionTable, value: Decimal) -> DecisionBand | None:
    """Return the band that a value in the table's unit lies in; None between the bands, on a bound, or if contested."""
    found = next((band for band in table.bands if _for(case, band) and band.holds(value, closed=_closed(table))), None)
    return None if found is None or has(case, found.unless) else found


def _for(case: Case, band: DecisionBand) -> bool:
    return band.sex in {None, case.view.sex}


def _closed(table: DecisionTable) -> bool:
    """Tell whether a total on a bound lies in the upper band: points of a score, "2 or more"."""
    return table.kind == "score" and table.unit == ""


# -- a decision --------------------------------------------------------------------------------------------------------


def decide(
    case: Case, kind: str, table: DecisionTable, band: DecisionBand, reading: Reading | None, hinge: Hinge
) -> Decision | None:
    """Return what is right where a value lies in a band; None where a treatment goes on that the band would not start.

    Args:
        case: Patient and record.
        kind: Of the decision, "lab" or "score".
        table: The question.
        band: Where the value lies.
        reading: The value; of a score, the one that the decision hinges on.
        hinge: What would turn it.
    """
    step = table.step
    going_on = step.carry_on is not None and takes(case, (concept_of(step.target),))
    if going_on and not band.indicated:
        return None
    act: Act = step.act if band.indicated else "continue"
    accepted: list[tuple[Act, str]]
    if band.indicated:
        accepted = [(step.act, step.target), *((one.act, one.target) for one in step.also)]
        advice = step.do
        if going_on and step.carry_on is not None:
            act, advice = "continue", step.carry_on
            accepted = [("continue", step.target)]
    else:
        accepted = [("avoid", target) for target in dict.fromkeys((step.target, *_others(step)))]
        advice = step.leave
    if step.act == "recheck":
        # whoever repeats the blood count repeats the hemoglobin
        again: Act = step.act if band.indicated else "avoid"
        accepted.extend((again, panel) for panel in case.common.panels.get(table.subject, ()))
    danger: tuple[Act, str] = (step.act, step.target)
    if band.indicated:
        danger = ("avoid", step.target) if step.danger is None else (step.danger.act, step.danger.target)
    return Decision(
        kind=kind,
        rules=(band.id,),
        subject=table.id,
        act=act,
        unchanged=not band.indicated or going_on,
        accepted=tuple(accepted),
        avoid=danger,
        finding=band.finding,
        advice=advice,
        hinge=hinge,
        reading=reading,
        severity=band.severity,
        extra={"table": table, "band": band},
    )


def _others(step: Step) -> list[str]:
    """Return the other names under which a step may be turned down: those that are concepts."""
    return [one.target for one in step.also if knowledge.lexicon().resolve(one.target) is not None]


def concept_of(target: str) -> str:
    """Return the concept that a step's target names."""
    found = knowledge.lexicon().resolve(target)
    assert found is not None  # the audit of the knowledge base says so
    return found.id


def table_of(decision: Decision) -> DecisionTable:
    """Return the table that a decision of kind lab or score comes from."""
    return cast(DecisionTable, decision.extra["table"])


def band_in(decision: Decision) -> DecisionBand:
    """Return the band that a decision of kind lab or score comes from."""
    return cast(DecisionBand, decision.extra["band"])


# -- what would turn it ------------------------------------------------------------------------------------------------


def other_values(case: Case, table: DecisionTable, band: DecisionBand) -> list[Decimal]:
    """Return values, in the table's unit, in bands with the other answer, the nearest first."""
    found = []
    for other in table.bands:
        if other.indicated == band.indicated or not _for(case, other) or has(case, other.unless):
            continue
        value = _inside(other)
        if value is not None:
            found.append(value)
    middle = _inside(band) or Decimal(0)
    return sorted(found, key=lambda value: abs(value - middle))


def _inside(band: DecisionBand) -> Decimal | None:
    if band.at_least is not None and band.below is not None:
        return (band.at_least + band.below) / 2
    if band.at_least is not None:
        return band.at_least * _UP
    return None if band.below is None else band.below * _DOWN


def charted_as(reading: Reading, value: Decimal, unit: str) -> str | None:
    """Return a value as the chart would write it beside a reading: in its unit, with its decimals."""
    own = knowledge.convert(value, unit, reading.unit, reading.lab)
    if own is None:
        return None
    return plain(round(own, len(reading.text.partition(".")[2])))
