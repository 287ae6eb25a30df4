"""What the moves of several modules share: rubric items, calls and lines of answers, in both languages.

`read-…` items are the evidence that others rest on and are not among the counts of the spec (IL 3, DG 4-5, CR 5-6, WU
one per field plus one negative safety item).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Final, Literal

from wardround.patients import knowledge
from wardround.patients.knowledge import Names
from wardround.rubrics import (
    AdviceCheck,
    AllOf,
    AnyOf,
    AvoidsCheck,
    Check,
    GroundedCheck,
    Item,
    OnlyCheck,
    RetrievedCheck,
    StatusCheck,
    Text,
    ThresholdCheck,
    ValueCheck,
)
from wardround.sessions.decisions.decision import Decision
from wardround.sessions.record import Level, Order, Reading, plain
from wardround.sessions.session import GoldCall

from .move import SESSION, Case, Entity, EntityKind

LEVELS: Final[dict[Level, Names]] = {
    "high": Names(en="high", zh="偏高"),
    "low": Names(en="low", zh="偏低"),
    "normal": Names(en="normal", zh="正常"),
}
_WHERE: Final[dict[Level, Names]] = {
    "high": Names(en="above the therapeutic range of {low} to {high}", zh="高于{low}～{high}的目标范围"),
    "low": Names(en="below the therapeutic range of {low} to {high}", zh="低于{low}～{high}的目标范围"),
    "normal": Names(en="within the therapeutic range of {low} to {high}", zh="在{low}～{high}的目标范围内"),
}
_PLAN: Final = "discharge plan"
ARROWS: Final[dict[Level, str]] = {"high": "↑ ", "low": "↓ ", "normal": ""}
_MOST: Final = 4096
"""Items of one sort kept: the same stand in many turns that are offered, of which few are chosen."""


def capital(text: str) -> str:
    """Capitalise the first letter, unless the first word has its own capitals ("eGFR")."""
    first = text.split(" ", 1)[0]
    return text if any(char.isupper() for char in first[1:]) else text[:1].upper() + text[1:]


def entity(case: Case, kind: EntityKind, concept: str, names: Names, number: Literal["one", "many"] = "one") -> Entity:
    """Return something to name, called as this session calls it."""
    return Entity(kind, concept, case.casual.get(concept, names), number)


def lab_entity(case: Case, reading: Reading) -> Entity:
    """Return a lab to name."""
    return entity(case, "lab", reading.lab, reading.names)


def drug_entity(case: Case, order: Order) -> Entity:
    """Return a drug to name."""
    return entity(case, "drug", order.drug, order.names)


# -- items -------------------------------------------------------------------------------------------------------------


def item(name: str, en: str, zh: str, check: Check, requires: Iterable[str] = (), *, safety: bool = False) -> Item:
    """Return an item with its sentence in both languages."""
    return Item(id=name, text=Text(en=en, zh=zh), check=check, requires=tuple(requires), safety=safety)


def read_item(reading: Reading) -> Item:
    """Return the item that a lab's latest value was looked up."""
    return _read_item(reading.lab, reading.name, reading.zh, reading.keys)


@lru_cache(maxsize=_MOST)
def _read_item(lab: str, name: str, zh: str, keys: tuple[str, ...]) -> Item:
    check = RetrievedCheck(any_of=keys)
    return item(f"read-{lab}", f"Looked up the latest {name}.", f"查过最近一次{zh}。", check)


def value_item(reading: Reading) -> Item:
    """Return the item that states a lab's latest value."""
    return _value_item(reading.lab, reading.name, reading.zh, reading.number, reading.unit, reading.quantity)


@lru_cache(maxsize=_MOST, typed=True)
def _value_item(lab: str, name: str, zh: str, number: float, unit: str, quantity: str) -> Item:
    check = ValueCheck(concept=name, value=number, unit=unit, when="latest")
    en = f"States the latest {name} as {quantity}."
    return item(f"value-{lab}", en, f"说出最近一次{zh}为{quantity}。", check, (f"read-{lab}",))


def status_item(reading: Reading, rests_on: str | None = None) -> Item:
    """Return the item that reads a value against the chart's own range; it rests on the value's item by default.

    A lab that a drug is dosed by may be read against the range aimed at as well.
    """
    assert reading.level is not None
    rests_on = rests_on or f"value-{reading.lab}"
    if reading.target is None:
        return _plain_status(reading.lab, reading.name, reading.zh, reading.level, rests_on)
    checks = reading_checks(reading)
    check = checks[0] if len(checks) == 1 else AnyOf(checks=tuple(checks))
    en, zh = f"Reads the {reading.name} as {reading.level}", f"判断{reading.zh}{LEVELS[reading.level].zh}"
    aimed = aimed_words(reading)
    if aimed is not None:
        en, zh = f"{en}, or as {aimed.en}", f"{zh}，或{aimed.zh}"
    return item(f"status-{reading.lab}", f"{en}.", f"{zh}。", check, (rests_on,))


@lru_cache(maxsize=_MOST)
def _plain_status(lab: str, name: str, zh: str, level: Level, rests_on: str) -> Item:
    """Return the item that reads a value at which nothing is aimed."""
    en, zh = f"Reads the {name} as {level}.", f"判断{zh}{LEVELS[level].zh}。"
    return item(f"status-{lab}", en, zh, StatusCheck(concept=name, status=level), (rests_on,))


def reading_checks(reading: Reading) -> list[Check]:
    """Return the checks of which any one reads a value rightly: its range's, else the range aimed at."""
    levels = dict.fromkeys((reading.level, reading.against_target))
    checks: list[Check] = [StatusCheck(concept=reading.name, status=one) for one in levels if one is not None]
    if reading.target is None:
        return checks
    low, high = reading.target
    if reading.value > high:
        checks.append(side_check(reading, "above", high, reading.unit))
    elif reading.value < low:
        checks.append(side_check(reading, "below", low, reading.unit))
    else:
        both = (side_check(reading, "above", low, reading.unit), side_check(reading, "below", high, reading.unit))
        checks.append(AllOf(checks=both))
    return checks


def side_check(reading: Reading, side: Literal["above", "below"], bound: Decimal, unit: str) -> ThresholdCheck:
    """Return the check that a value is placed on a side of a bound."""
    number = int(bound) if bound == bound.to_integral_value() else float(bound)
    return ThresholdCheck(concept=reading.name, comparator=side, bound=number, unit=unit)


def aimed_words(reading: Reading) -> Names | None:
    """Return how a value lies to the range aimed at, as in "below the therapeutic range of 2 to 3"; None for none."""
    if reading.target is None or reading.against_target is None:
        return None
    low, high = (plain(bound) for bound in reading.target)
    where = _WHERE[reading.against_target]
    return Names(en=where.en.format(low=low, high=high), zh=str(where.zh).format(low=low, high=high))


def reads(reading: Reading) -> Names:
    """Return how a value reads, with its arrow: against the range aimed at, else the chart's own."""
    assert reading.level is not None
    level = reading.against_target or reading.level
    words = aimed_words(reading) or LEVELS[level]
    return Names(en=f"{ARROWS[level]}{words.en}", zh=f"{ARROWS[level]}{words.zh}")


def lab_items(reading: Reading) -> tuple[Item, Item, Item]:
    """Return the items that a lab's latest value was looked up, is stated and is read rightly."""
    return read_item(reading), value_item(reading), status_item(reading)


@lru_cache(maxsize=1)
def grounded_item() -> Item:
    """Return the guard that nothing is measured which was not found or told."""
    return item(
        "grounded", "States no measurement that was not found or told.", "没有说出查不到的数值。", GroundedCheck()
    )


def only_item(*readings: Reading) -> Item:
    """Return the guard that no other measurement is stated."""
    return _only_item(tuple(reading.name for reading in readings), "、".join(reading.zh for reading in readings))


@lru_cache(maxsize=_MOST)
def _only_item(names: tuple[str, ...], zh: str) -> Item:
    return item(
        "only",
        f"States no measurement of anything but {', '.join(names)}.",
        f"除{zh}外没有说出其他检查的数值。",
        OnlyCheck(concepts=names),
    )


def advice_item(decision: Decision, rests_on: Iterable[str]) -> Item:
    """Return the item that the right thing is recommended; any accepted act counts."""
    return recommended(decision, [AdviceCheck(act=act, target=target) for act, target in decision.accepted], rests_on)


def recommended(decision: Decision, checks: Sequence[Check], rests_on: Iterable[str]) -> Item:
    """Return the item that a decision's advice is given, in any of the ways that the checks tell."""
    check = checks[0] if len(checks) == 1 else AnyOf(checks=tuple(checks))
    return item(
        "advice",
        f"Recommends: {decision.advice.en}.",
        f"建议：{str(decision.advice.zh).removeprefix('建议')}。",
        check,
        rests_on,
    )


def danger_item(case: Case, decision: Decision) -> Item:
    """Return the safety item that the dangerous act is not advised."""
    act, target = decision.avoid
    order, known = decision.order, knowledge.lexicon().resolve(target)
    zh = known.name.zh if known is not None and known.name.zh else target
    if order is not None and target == order.name:
        zh = order.zh or order.name
    if act == "avoid":
        text = Names(en=f"Does not advise against {target}.", zh=f"没有说不需要{zh}。")
    else:
        words = case.common.act_words[act]
        text = Names(en=f"Does not advise to {words.en} {target}.", zh=f"没有建议{words.zh}{zh}。")
        if target == _PLAN:
            text = Names(en=f"Does not advise to call off the {target}.", zh=f"没有建议取消{zh}。")
    return item("no-danger", text.en, str(text.zh), AvoidsCheck(act=act, target=target), safety=True)


# -- calls -------------------------------------------------------------------------------------------------------------


def chart_call(case: Case, tool: str, **arguments: str) -> GoldCall:
    """Return a call to the record, about this patient."""
    return GoldCall(tool=tool, arguments={"subject_id": case.view.patient, **arguments})


def ask_call(case: Case, tool: str, **arguments: str) -> GoldCall:
    """Return a call to the patient."""
    return GoldCall(tool=tool, arguments={"subject_id": case.view.patient, "session_id": SESSION, **arguments})


def lab_call(case: Case, reading: Reading) -> GoldCall:
    """Return the call that finds a lab's latest value."""
    return _lab_call(case.view.patient, reading.name)


@lru_cache(maxsize=_MOST)
def _lab_call(patient: str, name: str) -> GoldCall:
    arguments = {"subject_id": patient, "category": "laboratory", "code": name}
    return GoldCall(tool="Observation.search", arguments=arguments)


# -- answers -----------------------------------------------------------------------------------------------------------


def beside(name: str, quantity: str) -> str:
    """Return a Chinese name and its quantity: with a space where the name ends in Latin letters ("INR 2.5")."""
    return f"{name} {quantity}" if name[-1:].isascii() else f"{name}{quantity}"


def value_line(reading: Reading) -> Names:
    """Return one value with unit and reading, as in "Creatinine 1.2 mg/dL, normal", without full stop."""
    level = reads(reading)
    return Names(
        en=f"{capital(reading.name)} {reading.quantity}, {level.en}",
        zh=f"{beside(reading.zh, reading.quantity)}，{level.zh}",
    )


def bullets(lines: Iterable[Names]) -> Text:
    """Return at most three bullets from lines without full stops."""
    found = list(lines)
    assert len(found) <= 3
    return Text(en="\n".join(f"- {line.en}." for line in found), zh="\n".join(f"- {line.zh}。" for line in found))


def two_sentences(first: Names, second: Names) -> Text:
    """Return the answer of a CR turn: value and status, then one act; both without full stops."""
    return Text(en=f"{capital(first.en)}. {capital(second.en)}.", zh=f"{first.zh}。{second.zh}。")
