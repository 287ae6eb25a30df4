"""What turns about a clinical score are made of: rubric items and words, in both languages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Final

from wardround.patients import knowledge
from wardround.patients.knowledge import PRESSURE, Names
from wardround.rubrics import (
    AllOf,
    AnyOf,
    Check,
    ClinicalScoreCheck,
    GroundedCheck,
    Item,
    Known,
    MentionCheck,
    Not,
    RetrievedCheck,
    StatusCheck,
    ThresholdCheck,
    ValueCheck,
)
from wardround.sessions.decisions.charted import charted
from wardround.sessions.parsed import resources
from wardround.sessions.record import Reading, plain

from .move import Case, Entity
from .parts import capital, item
from .score_gather import SEXES, Gathered, lower

_POINTS: Final = "{score}"
_COMPONENTS: Final = {
    "urea_nitrogen": ("urea",),
    "systolic_bp": ("blood_pressure", "hypertension"),
    "heart_rate": ("pulse",),
    "respiratory_rate": ("breathing",),
    "wbc": ("white_cells",),
}
"""Measured input → components of scores that it is, under another name."""


# -- items -------------------------------------------------------------------------------------------------------------


def score_entity(case: Case, found: Gathered) -> Entity:
    """Return the score as a query names it."""
    return Entity("score", found.use.id, case.casual.get(found.use.id, score_names(found)))


def score_names(found: Gathered) -> Names:
    """Return the score's name inside a sentence."""
    name = knowledge.score_of(found.use.id).name
    if found.use.names is not None:
        return found.use.names
    first = name.en.split(" ")[0]
    plain_word = first[1:].islower() and "-" not in first
    return Names(en=name.en[:1].lower() + name.en[1:] if plain_word and " " in name.en else name.en, zh=name.zh)


def read_items(case: Case, found: Gathered) -> list[Item]:
    """Return the items that everything the score is made of was looked up."""
    names = score_names(found)
    items = []
    for reading in found.readings.values():
        en, zh = f"Looked up the latest {reading.name}.", f"查过最近一次{reading.zh}。"
        items.append(item(f"read-{reading.lab}", en, zh, RetrievedCheck(any_of=reading.keys)))
    kinds = {source.kind for source in found.use.inputs.values()}
    if kinds & {"age", "sex"}:
        check = RetrievedCheck(any_of=(charted(case).person,))
        items.append(item("read-person", "Looked up age and sex.", "查过年龄和性别。", check))
    if "condition" in kinds:
        keys = list(found.conditions.values()) or [
            tuple(f"Condition/{one['id']}" for one in resources(case.snapshot, "Condition"))
        ]
        checks = tuple(RetrievedCheck(any_of=one) for one in keys if one)
        if checks:
            check_ = checks[0] if len(checks) == 1 else AllOf(checks=checks)
            en, zh = f"Looked up the diagnoses that count for {names.en}.", f"查过{names.zh}涉及的诊断。"
            items.append(item("read-conditions", en, zh, check_))
    orders = tuple(key for keys in found.orders.values() for key in keys)
    if orders:
        en, zh = f"Looked up the orders that count for {names.en}.", f"查过{names.zh}涉及的医嘱。"
        items.append(item("read-orders", en, zh, RetrievedCheck(any_of=orders)))
    return items


def total_item(found: Gathered, rests_on: Iterable[str]) -> Item:
    """Return the item that states the total."""
    names, amount = score_names(found), quantity(found)
    check = ClinicalScoreCheck(score=found.use.id, total=number(found.total))
    return item("total", f"States {names.en} as {amount.en}.", f"说出{names.zh}为{amount.zh}。", check, rests_on)


def component_items(case: Case, found: Gathered, most: int) -> list[Item]:
    """Return items for what the score is made of: values that were measured, else points of the components."""
    items = [_value_item(case, found, one) for one in shown(found)[:most]]
    if len(items) < most:
        names = score_names(found)
        parts = knowledge.score_of(found.use.id).by_component()
        for component, points in _scoring(found):
            if len(items) == most:
                break
            check = ClinicalScoreCheck(
                score=found.use.id, total=number(found.total), components={component: number(points)}
            )
            part, amount = parts[component].name, plain(points)
            en = f"Gives {lower(part.en)} {amount} of the points of {names.en}."
            items.append(item(f"points-{component}", en, f"{part.zh}计{amount}分。", check, ("total",)))
    return items


def _value_item(case: Case, found: Gathered, reading: Reading) -> Item:
    name, zh, value, unit = reading.name, reading.zh, str(reading.number), reading.unit
    check = ValueCheck(concept=name, value=reading.number, unit=unit, when="latest")
    amount = reading.quantity
    pair = _pressure(found)
    if reading.lab == "systolic_bp" and pair is not None:
        words = case.common.casual[PRESSURE][0]
        name, zh, value = words.en, str(words.zh), f"{reading.text}/{pair.text}"
        check, amount = ValueCheck(concept=name, value=value, unit=unit, when="latest"), f"{value} {unit}"
    return item(
        f"value-{reading.lab}",
        f"States the latest {name} as {amount}.",
        f"说出最近一次{zh}为{amount}。",
        check,
        (f"read-{reading.lab}",),
    )


def shown(found: Gathered) -> list[Reading]:
    """Return the measured inputs, those that score points, then those out of range first; a pressure once."""
    readings = [
        one for one in found.readings.values() if one.lab != "diastolic_bp" or "systolic_bp" not in found.readings
    ]
    return sorted(readings, key=lambda one: (not _scores(found, one), one.level in {None, "normal"}))


def _scores(found: Gathered, reading: Reading) -> bool:
    """Tell whether a measured input scores points."""
    names = (reading.lab, *_COMPONENTS.get(reading.lab, ()))
    return any(found.result.components.get(one) for one in names)


def met_item(case: Case, found: Gathered) -> list[Item]:
    """Return one item for what makes the total: the measured values that score, two at most, else as for a score."""
    scoring = [one for one in shown(found) if _scores(found, one)][:2]
    if len(scoring) < 2:
        return component_items(case, found, 1)
    first, second = (_value_item(case, found, one) for one in scoring)
    check = AllOf(checks=(first.check, second.check))
    en, zh = f"{first.text.en} {second.text.en}", f"{first.text.zh}{second.text.zh}"
    return [item("values", en, zh, check, (*first.requires, *second.requires))]


def _pressure(found: Gathered) -> Reading | None:
    """Return the diastolic value that was charted together with the systolic one."""
    upper, lower = found.readings.get("systolic_bp"), found.readings.get("diastolic_bp")
    return lower if upper is not None and lower is not None and upper.at == lower.at else None


def _scoring(found: Gathered) -> list[tuple[str, Decimal]]:
    """Return the components that score, most points first."""
    points = [(name, value) for name, value in found.result.components.items() if value]
    return sorted(points, key=lambda one: -one[1])


def meaning_item(found: Gathered) -> Item:
    """Return the item that says what the total means; one that also says another meaning does not count."""
    names, say = score_names(found), found.meaning.say
    checks: list[Check] = [MentionCheck(concept=words) for words in found.meaning.said]
    level = _level(found)
    if level is not None:
        checks.append(StatusCheck.model_validate({"concept": names.en, "status": level}))
    checks.extend(_sides(found))
    against = found.meaning.against
    if against is None:
        others = {words for other in found.use.meanings if other is not found.meaning for words in other.said}
        against = tuple(sorted(others.difference(found.meaning.said)))
    right = checks[0] if len(checks) == 1 else AnyOf(checks=tuple(checks))
    check: Check = right
    if against:
        wrong = tuple(MentionCheck(concept=words) for words in against)
        check = AllOf(checks=(right, Not(check=wrong[0] if len(wrong) == 1 else AnyOf(checks=wrong))))
    return item("meaning", f"Reads {names.en} as {say.en}.", f"判断{names.zh}为{say.zh}。", check, ("total",))


def _sides(found: Gathered) -> Iterator[Check]:
    """Yield a check for each bound of the meaning that the total may be placed against."""
    names, unit = score_names(found), knowledge.score_of(found.use.id).unit
    if knowledge.lexicon().resolve(names.en, kinds={"lab", "vital"}) is None:
        return  # no measurement of its own, which is what bounds are read of
    for bound, side in ((found.meaning.at_least, "above"), (found.meaning.below, "below")):
        if bound is not None:
            own = "" if unit == _POINTS else unit
            yield ThresholdCheck.model_validate(
                {"concept": names.en, "comparator": side, "bound": number(bound), "unit": own}
            )


def grounded_item(found: Gathered) -> Item:
    """Return the guard that nothing is measured which was not found, the score itself aside."""
    names, score = score_names(found), knowledge.score_of(found.use.id)
    unit = "" if score.unit == _POINTS else score.unit
    # the points of a component, named after the score, read as a total of it; the total's own item tells them apart
    points = {value for value in found.result.components.values() if value is not None} if score.components else set()
    known = tuple(Known(concept=names.en, value=number(value), unit=unit) for value in sorted({found.total, *points}))
    return item(
        "grounded",
        "States no measurement that was not found or worked out.",
        "没有说出查不到或算不出的数值。",
        GroundedCheck(also=known),
    )


def _level(found: Gathered) -> str | None:
    """Return the status that a meaning is, where it is one of the measurement's own ("corrected calcium is low")."""
    if knowledge.lexicon().resolve(score_names(found).en, kinds={"lab", "vital"}) is None:
        return None
    return next((word for word in ("normal", "high", "low") if found.meaning.say.en == word), None)


# -- words -------------------------------------------------------------------------------------------------------------


def number(value: Decimal) -> int | float:
    """Return a total as JSON writes it."""
    return int(value) if value == value.to_integral_value() else float(value)


def quantity(found: Gathered) -> Names:
    """Return the total with its unit."""
    score = knowledge.score_of(found.use.id)
    amount = plain(found.total)
    if score.unit == _POINTS:
        return Names(en=amount, zh=f"{amount}分")
    known = knowledge.unit(score.unit)
    unit = known.display if known is not None else score.unit
    return Names(en=f"{amount} {unit}", zh=f"{amount} {unit}")


def total_words(found: Gathered, inside: Names | None = None) -> Names:
    """Return total and meaning, as in "NEWS2 is 1 (…), low risk", without full stop."""
    names, amount, say = score_names(found), quantity(found), found.meaning.say
    gap = " " if str(names.zh)[-1:].isascii() else ""
    aside = (f" ({inside.en})", f"（{inside.zh}）") if inside is not None else ("", "")
    return Names(
        en=f"{capital(names.en)} is {amount.en}{aside[0]}, {say.en}",
        zh=f"{names.zh}{gap}为{amount.zh}{aside[1]}，{say.zh}",
    )


def parts_words(case: Case, found: Gathered) -> Names:
    """Return what the score is made of, as one line without full stop."""
    en, zh = [], []
    pair = _pressure(found)
    for reading in found.readings.values():
        if reading.lab == "diastolic_bp" and pair is not None:
            continue
        name, name_zh, amount = reading.name, reading.zh, reading.quantity
        if reading.lab == "systolic_bp" and pair is not None:
            words = case.common.casual[PRESSURE][0]
            name, name_zh, amount = words.en, str(words.zh), f"{reading.text}/{pair.text} {reading.unit}"
        en.append(f"{name} {amount}")
        zh.append(f"{name_zh}{' ' if name_zh[-1:].isascii() else ''}{amount}")
    kinds = {source.kind for source in found.use.inputs.values()}
    if "age" in kinds:
        en.append(f"age {charted(case).age}")
        zh.append(f"年龄{charted(case).age}岁")
    if "sex" in kinds:
        en.append(SEXES[case.view.sex].en)
        zh.append(str(SEXES[case.view.sex].zh))
    for diagnosis in found.named.values():
        en.append(diagnosis.en)
        zh.append(str(diagnosis.zh))
    return Names(en=capital(", ".join(en)), zh="，".join(zh))


def points_words(found: Gathered) -> Names | None:
    """Return the components that score with their points, as in "age 2, hypertension 1"; None beside measured values.

    Beside the values themselves, "temperature 1" would read as a second temperature.
    """
    parts = knowledge.score_of(found.use.id).by_component()
    scoring = [] if len(shown(found)) > 1 else _scoring(found)
    if not scoring or not parts:
        return None
    en = ", ".join(f"{lower(parts[name].name.en)} {plain(value)}" for name, value in scoring)
    zh = "，".join(f"{parts[name].name.zh}{plain(value)}" for name, value in scoring)
    return Names(en=en, zh=zh)


def missing_words(found: Gathered) -> Names | None:
    """Return the line that names what was not charted; None where nothing was missing."""
    parts = knowledge.score_of(found.use.id).by_component()
    names = [found.use.missing_words.get(one, parts[one].name) for one in found.result.missing if one in parts]
    if not names:
        return None
    least = "least points" if any(parts[one].least for one in found.result.missing) else "no points"
    zh = "按最低分计" if least == "least points" else "未计分"
    return Names(
        en=f"Not charted and given {least}: {', '.join(lower(name.en) for name in names)}",
        zh=f"未记录、{zh}：{'、'.join(str(name.zh) for name in names)}",
    )
