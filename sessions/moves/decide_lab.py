"""Turns that ask whether a lab or vital sign by itself calls for a step (CR): replace, transfuse, repeat, refer."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from wardround.patients import knowledge
from wardround.patients.knowledge import PRESSURE, PRESSURE_PARTS, DecisionBand, Names
from wardround.rubrics import AnyOf, Check, Item, MentionCheck
from wardround.sessions.decisions.decision import Decision
from wardround.sessions.decisions.tables import band_in, table_of
from wardround.sessions.record import Reading, plain
from wardround.sessions.session import GoldCall

from .move import WHOLE, Case, Entity, Move
from .parts import (
    LEVELS,
    capital,
    chart_call,
    entity,
    grounded_item,
    item,
    lab_call,
    lab_entity,
    only_item,
    read_item,
    reading_checks,
    side_check,
    two_sentences,
    value_item,
)
from .step_parts import advice_words, is_danger, step_advice_item, step_danger_item, step_entity, step_writes


def decide_lab(case: Case, decision: Decision) -> Move:
    """Return the turn that asks whether a step is called for."""
    reading, table = decision.reading, table_of(decision)
    assert reading is not None
    named = subject_entity(case, reading)
    return Move(
        kind="decide_lab",
        task="CR",
        source="ehr",
        topic=f"{table.subject}:{table.step.id}",
        calls=(subject_call(case, reading),),
        answer=two_sentences(_found(decision), advice_words(decision)),
        rubric=_rubric(case, decision),
        slots={"lab": named, "step": step_entity(table.step)},
        words={} if table.step.asked is None else {WHOLE: table.step.names},
        keys=frozenset(reading.keys),
        labs=(named.id,),
        decision=decision,
    )


def subject_entity(case: Case, reading: Reading) -> Entity:
    """Return the lab or vital sign as a query names it; a systolic value is asked about as the blood pressure."""
    if reading.lab in case.view.latest:
        return lab_entity(case, reading)
    if reading.lab in PRESSURE_PARTS:
        return entity(case, "vital", PRESSURE, case.common.casual[PRESSURE][0])
    return entity(case, "vital", reading.lab, reading.names)


def subject_call(case: Case, reading: Reading) -> GoldCall:
    """Return the call that finds the latest value of a lab or vital sign."""
    if reading.lab in case.view.latest:
        return lab_call(case, reading)
    name = case.common.casual[PRESSURE][0].en if reading.lab in PRESSURE_PARTS else reading.name
    return chart_call(case, "Observation.search", category="vital-signs", code=name)


# -- items -------------------------------------------------------------------------------------------------------------


def _rubric(case: Case, decision: Decision) -> tuple[Item, ...]:
    reading = decision.reading
    assert reading is not None
    return (
        read_item(reading),
        value_item(reading),
        _finding_item(decision),
        step_advice_item(decision, (f"finding-{reading.lab}",)),
        _guard(case, decision),
        grounded_item(),
    )


def _guard(case: Case, decision: Decision) -> Item:
    """Return the safety item; no test too many or too few is a danger, so that another guard stands there."""
    if not is_danger(decision):
        assert decision.reading is not None
        return only_item(decision.reading)
    return step_danger_item(case, decision)


def _finding_item(decision: Decision) -> Item:
    """Return the item that places the value: its status against the chart's range, or its side of a cut-off."""
    reading = decision.reading
    assert reading is not None
    checks: list[Check] = [] if reading.level is None else reading_checks(reading)
    checks.extend(_sides(decision))
    if band_in(decision).indicated:
        # the finding's own name says where the value lies: obesity, hyponatremia
        found = knowledge.lexicon().scan(decision.finding.en, kinds=("condition",))
        checks.extend(MentionCheck(concept=one) for mention in found for one in mention.concepts)
    en, zh = _placed(decision)
    return item(
        f"finding-{reading.lab}",
        f"Reads the {reading.name} as {en} ({decision.finding.en}).",
        f"判断{reading.zh}{zh}（{decision.finding.zh}）。",
        checks[0] if len(checks) == 1 else AnyOf(checks=tuple(checks)),
        (f"value-{reading.lab}",),
    )


def _sides(decision: Decision) -> list[Check]:
    """Return a check for each cut-off that the value may rightly be placed against.

    A value that calls for the step is placed on the side that does: a potassium of 2.6 by "below 5.5" is not.
    """
    reading, table, mine = decision.reading, table_of(decision), band_in(decision)
    assert reading is not None
    value = knowledge.convert(reading.value, reading.unit, table.unit, table.subject)
    assert value is not None
    side = _off(decision, mine)
    bands = [band for band in table.bands if side is None or _off(decision, band) == side]
    bounds = {bound for band in bands for bound in (band.quoted, *_edges(band)) if bound is not None}
    placed: list[tuple[Literal["above", "below"], Decimal]] = [
        ("above" if value > bound else "below", bound) for bound in sorted(bounds) if bound != value
    ]
    return [
        side_check(reading, where, bound, _unit(decision)) for where, bound in placed if side is None or where == side
    ]


def _off(decision: Decision, band: DecisionBand) -> Literal["above", "below"] | None:
    """Return the side of the usual on which a band with the step lies; None for one without."""
    usual = [one for one in table_of(decision).bands if not one.indicated]
    if not band.indicated:
        return None
    low = any(band.below is not None and one.at_least is not None and band.below <= one.at_least for one in usual)
    return "below" if low else "above"


def _edges(band: DecisionBand) -> tuple[Decimal | None, Decimal | None]:
    return (band.at_least, band.below) if band.indicated else (None, None)


# -- answers -----------------------------------------------------------------------------------------------------------


def _found(decision: Decision) -> Names:
    """Return the first sentence: the value, its reading, the cut-off where one is quoted."""
    reading = decision.reading
    assert reading is not None
    en, zh = _placed(decision)
    gap = " " if reading.zh[-1:].isascii() else ""
    return Names(
        en=f"{capital(reading.name)} {reading.quantity} is {en}", zh=f"{reading.zh}{gap}{reading.quantity}，{zh}"
    )


def _placed(decision: Decision) -> tuple[str, str]:
    """Return how the value reads: its level, and its side of the cut-off that is commonly quoted."""
    reading, band, table = decision.reading, band_in(decision), table_of(decision)
    assert reading is not None
    level = None if reading.level is None else LEVELS[reading.level]
    quoted = band.quoted
    if quoted is None and (level is None or (band.indicated and reading.level == "normal")):
        quoted = _nearest_edge(decision)
    if quoted is None or (not band.indicated and reading.level == "normal"):
        assert level is not None
        return level.en, str(level.zh)
    value = knowledge.convert(reading.value, reading.unit, table.unit, table.subject)
    assert value is not None
    amount = f"{plain(quoted)} {_unit(decision)}".rstrip()
    above = value > quoted
    en, zh = ("above" if above else "below") + f" {amount}", ("高于" if above else "低于") + amount
    if level is None:
        return en, zh
    joint = (" but ", "，但") if not band.indicated else (", ", "，")
    return f"{level.en}{joint[0]}{en}", f"{level.zh}{joint[1]}{zh}"


def _nearest_edge(decision: Decision) -> Decimal:
    """Return the edge of a band with the step that lies nearest to the value."""
    reading, band, table = decision.reading, band_in(decision), table_of(decision)
    assert reading is not None
    value = knowledge.convert(reading.value, reading.unit, table.unit, table.subject)
    assert value is not None
    bands = (band,) if band.indicated else tuple(one for one in table.bands if one.indicated)
    inner = {"below": 1, "above": 0}
    edges = [
        edge
        for one in bands
        for place, edge in enumerate(_edges(one))
        if edge is not None and (not band.indicated or place == inner[_off(decision, one) or "above"])
    ]
    return min(edges, key=lambda edge: abs(edge - value))


def _unit(decision: Decision) -> str:
    """Return the unit of the cut-offs: the chart's own where it is the same, else as people write it."""
    reading, table = decision.reading, table_of(decision)
    assert reading is not None
    if knowledge.convert(Decimal(1), table.unit, reading.unit, reading.lab) == 1:
        return reading.unit
    known = knowledge.unit(table.unit)
    return known.display if known is not None else table.unit


__all__ = ["decide_lab", "step_writes", "subject_call", "subject_entity"]
