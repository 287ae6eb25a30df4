"""What patients are told on leaving of moving and eating, by what they have."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Literal

from wardround.patients.times import Instant

from .documents import Frozen, Words, read_document
from .life import PlanItem
from .making import Making

Kind = Literal["activity", "diet"]
_GROWN = 16


class Advice(Frozen):
    """Advice for who has one of some conditions."""

    conditions: tuple[str, ...]
    unless: tuple[str, ...] = ()
    """Conditions with which it would be wrong."""
    lasting: bool = False
    """Whether it is told again to who has one of them for long, whatever brought them in."""
    say: tuple[Words, ...]


class Others(Frozen):
    """Advice for whom no group fits, and for children."""

    activity: tuple[Words, ...]
    diet: tuple[Words, ...]
    diet_limited: tuple[Words, ...]
    child_activity: tuple[Words, ...]
    child_diet: tuple[Words, ...]


class AdviceBook(Frozen):
    """The form of `data/advice.json`."""

    format_version: int
    assumption: bool
    note: str
    activity: tuple[Advice, ...]
    diet: tuple[Advice, ...]
    others: Others
    limited: tuple[str, ...]
    """Conditions whose diet is limited: nobody who has one is told to eat as they like."""


@cache
def advice_book() -> AdviceBook:
    """Return `data/advice.json`."""
    return AdviceBook.model_validate_json(read_document("advice.json"))


def advise(making: Making, key: str, at: Instant, acute: Sequence[str]) -> list[PlanItem]:
    """Return advice on moving and on eating for who leaves.

    Args:
        making: The life.
        key: Names the random streams.
        at: When the patient leaves.
        acute: Conditions that brought the patient in, the principal first.
    """
    have = [*acute, *(one.condition for one in making.ill(at) if one.condition not in acute)]
    items: list[PlanItem] = []
    for kind in ("activity", "diet"):
        found = making.stream("leaving advice", key, kind).choice(_fitting(kind, acute, have, making.age(at)))
        items.append(PlanItem(kind, found.pair()))
    return items


def _fitting(kind: Kind, acute: Sequence[str], have: Sequence[str], age: int) -> tuple[Words, ...]:
    """Return the wordings of the first group that fits; of long-standing illnesses only the diet is told again."""
    book = advice_book()
    if age < _GROWN:
        return book.others.child_activity if kind == "activity" else book.others.child_diet
    groups = book.activity if kind == "activity" else book.diet
    for condition in acute if kind == "activity" else have:
        for group in groups:
            told = condition in acute or group.lasting
            if told and condition in group.conditions and not set(have) & set(group.unless):
                return group.say
    if kind == "activity":
        return book.others.activity
    return book.others.diet_limited if set(have) & set(book.limited) else book.others.diet
