"""Items about what is ordered and what was given of a drug: its dose, how often, what became of the last dose."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Final

from wardround.patients import DAY, format_instant, parse_instant
from wardround.patients.knowledge import Names
from wardround.rubrics import (
    AllOf,
    AnyOf,
    Check,
    Item,
    MentionCheck,
    Not,
    RetrievedCheck,
    ValueCheck,
    check_answer,
)
from wardround.sessions.common import common
from wardround.sessions.record import Order
from wardround.sessions.record_doses import Dose
from wardround.sessions.session import Language

from .move import Case
from .order_words import dose_words, frequency_words
from .parts import item

_ROUTE_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "oral": ("by mouth", "orally", "oral", "PO", "口服"),
    "subcutaneous": ("subcutaneous", "subcutaneously", "皮下"),
    "intravenous": ("intravenous", "intravenously", "IV", "静脉"),
}
"""Route, as orders are written with it → words that say so."""
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)

_SINCE: Final[Mapping[int, tuple[str, ...]]] = {
    0: ("today", "this morning", "tonight", "overnight", "今天", "今日", "今早", "今晨"),
    1: ("yesterday", "last night", "overnight", "昨天", "昨日", "昨晚", "昨夜"),
}
"""Days before the round → words for that day."""


# -- what is ordered ---------------------------------------------------------------------------------------------------


def order_items(order: Order) -> list[Item]:
    """Return the items that a drug's active order was looked up, and that its dose and how it is taken are told.

    Raises:
        AssertionError: The order has no single amount (see `askable`).
    """
    assert order.amount is not None
    name, zh, read = order.name, order.zh or order.name, f"read-order-{order.drug}"
    dose = item(
        f"dose-{order.drug}",
        f"States the {name} dose as {order.dose}.",
        f"说出{zh}的剂量为{dose_words(order.dose).zh}。",
        ValueCheck(concept=f"{name} dose", value=_number(order.amount), unit=order.unit),
        (read,),
    )
    looked_up = item(
        read, f"Looked up the active {name} order.", f"查过{zh}的现行医嘱。", RetrievedCheck(any_of=(order.key,))
    )
    often = _often_item(order, read)
    if often is not None:
        return [looked_up, dose, often]
    # the query names the drug, so its name alone says nothing: it counts with the dose that was looked up
    ordered = item(
        f"drug-{order.drug}", f"Says that {name} is ordered.", f"说明开了{zh}。", MentionCheck(concept=name), (dose.id,)
    )
    return [looked_up, ordered, dose]


def _often_item(order: Order, read: str) -> Item | None:
    """Return the item that how often is told, and no other route than the order's; None where no check can tell."""
    often, routes = frequency_words(order), common().routes
    if often is None or not _is_read(often):
        return None
    name, zh = order.name, order.zh or order.name
    checks: list[Check] = [ValueCheck(concept=f"{name} frequency", value=often.en, unit="")]
    en, words = f"Says how often {name} is ordered: {often.en}", f"说出{zh}的用法为{often.zh}"
    value, route = routes.values.get(order.route), routes.words.get(order.route)
    if value is not None and route is not None:
        checks.append(_by_no_other_route(value))
        en, words = f"{en}; by no other route than {route.en}", f"{words}，没有说成{route.zh}以外的途径"
    check = checks[0] if len(checks) == 1 else AllOf(checks=tuple(checks))
    return item(f"often-{order.drug}", f"{en}.", f"{words}。", check, (read,))


@lru_cache(maxsize=16)
def _by_no_other_route(route: str) -> Check:
    others = (word for key, told in _ROUTE_WORDS.items() if key != route for word in told)
    return Not(check=AnyOf(checks=tuple(MentionCheck(concept=word) for word in others)))


@lru_cache(maxsize=256)
def _is_read(often: Names) -> bool:
    """Tell whether our reader finds a frequency in both languages."""
    check = ValueCheck(concept="metoprolol frequency", value=often.en, unit="")
    said: tuple[tuple[Language, str], ...] = (
        ("en", f"Metoprolol 25 mg by mouth {often.en}."),
        ("zh", f"美托洛尔25 mg，口服，{often.zh}。"),
    )
    return all(check_answer(check, words, language=language).passed for language, words in said)


def _number(amount: Decimal) -> int | float:
    return int(amount) if amount == amount.to_integral_value() else float(amount)


# -- what was given ----------------------------------------------------------------------------------------------------


def given_items(case: Case, order: Order, dose: Dose) -> list[Item]:
    """Return the items that the last dose was looked up, and what became of it: given, held or refused."""
    name, zh, read = order.name, order.zh or order.name, f"read-given-{order.drug}"
    said = case.common.outcomes[dose.outcome]
    apart = (words for key, words in sorted(case.common.outcomes.items()) if _apart(key, dose.outcome))
    others = tuple(map(_any_word, (words.words for words in apart)))
    checks: list[Check] = [MentionCheck(concept=name), _any_word(said.words), *(Not(check=one) for one in others)]
    looked_up = item(
        read, f"Looked up the last {name} dose.", f"查过{zh}最近一次给药。", RetrievedCheck(any_of=(dose.key,))
    )
    became = item(
        f"given-{order.drug}",
        f"Says that the last {name} dose was {said.name.en}.",
        f"说明{zh}最近一次{said.name.zh}。",
        AllOf(checks=tuple(checks)),
        (read,),
    )
    return [looked_up, became]


def when_item(case: Case, order: Order, dose: Dose) -> Item:
    """Return the item that the day is told on which the last dose was given or due; the hour may be left out.

    How much it was need not be told; where an amount is, it is the one that was charted.
    """
    date, time = format_instant(dose.at)[:16].split("T")
    words = (*_day_words(date), *_SINCE.get(_days_ago(case, date), ()))
    checks: list[Check] = [AnyOf(checks=tuple(MentionCheck(concept=one) for one in words))]
    due = Names(en="was given", zh="给药") if dose.outcome == "given" else Names(en="was due", zh="该用")
    en, zh = f"Says on which day it {due.en}: {date} (at {time})", f"说出是哪天{due.zh}：{date}（{time}）"
    if dose.outcome == "given" and dose.amount is not None and dose.amount > 0:
        right = ValueCheck(concept=f"{order.name} dose", value=_number(dose.amount), unit=dose.unit)
        checks.append(AnyOf(checks=(right, Not(check=MentionCheck(concept=dose.unit)))))
        en, zh = f"{en}, and no other amount than {dose.text}", f"{zh}，没有说成{dose_words(dose.text).zh}以外的量"
    check = checks[0] if len(checks) == 1 else AllOf(checks=tuple(checks))
    return item(f"when-{order.drug}", f"{en}.", f"{zh}。", check, (f"given-{order.drug}",))


def _days_ago(case: Case, date: str) -> int:
    """Return how many days before the day of the round a day is."""
    return (case.anchor // DAY) - (parse_instant(date) // DAY)


def _day_words(date: str) -> tuple[str, ...]:
    """Return how answers write a day: "2030-03-08", "03-08", "3/8", "March 8", "Mar 8", 3月8日."""
    _, month, day = (int(part) for part in date.split("-"))
    name = _MONTHS[month - 1]
    return (date, date[5:], f"{month}/{day}", f"{name} {day}", f"{name[:3]} {day}", f"{month}月{day}日")


def _apart(outcome: str, true: str) -> bool:
    """Tell whether an outcome must not be told beside the true one; "not given" is told of what was held."""
    return outcome not in {true, "given"}


@lru_cache(maxsize=64)
def _any_word(words: tuple[str, ...]) -> Check:
    return AnyOf(checks=tuple(MentionCheck(concept=word) for word in words))
