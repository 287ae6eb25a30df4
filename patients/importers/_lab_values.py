"""What a laboratory result of MIMIC-IV says: its name, number, unit and mark. The rules stand in docs/mimic.md."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import NamedTuple

from wardround.patients import knowledge
from wardround.patients.resource import Resource

from . import _vocabulary as words
from ._values import MASKED, clean, compared, note_unread, number
from .report import Tally


class Value(NamedTuple):
    """A result as charted: a quantity, else words, else neither."""

    number: str | None = None
    comparator: str | None = None
    words: str | None = None
    absent: str | None = None
    """Code of data-absent-reason."""
    note: str | None = None


def lab_name(item_id: str, label: str | None, fluid: str | None) -> str:
    """Name a lab item; what is not measured in blood says so, since MIMIC-IV's labels repeat across fluids.

    Examples:
        >>> lab_name("50931", "Glucose", "Blood"), lab_name("51478", "Glucose", "Urine")
        ('Glucose', 'Glucose (Urine)')
        >>> lab_name("51082", "Creatinine, Urine", "Urine"), lab_name("51955", None, "Stool")
        ('Creatinine, Urine', 'Lab item 51955 (Stool)')
    """
    name = label or f"Lab item {item_id}"
    if fluid is None or fluid == "Blood" or fluid.lower() in name.lower():
        return name
    return f"{name} ({fluid})"


@cache
def _loinc_by_item() -> dict[int, tuple[str, ...]]:
    return {item: lab.loinc for lab in knowledge.labs().values() for item in lab.mimic_itemids if lab.loinc}


def loinc_of(item_id: int) -> str | None:
    """Return the LOINC code of a lab item that the knowledge base knows: its exception, else its concept's first."""
    known = _loinc_by_item().get(item_id)
    if known is None:
        return None
    exception = words.loinc_exceptions().get(str(item_id))
    return exception if exception in known else known[0]


def unit_of(text: str | None, item_id: str) -> Resource:
    """Return the unit of a quantity: MIMIC-IV's word, and its UCUM code where one is known for certain."""
    table = words.units()
    unit = clean(text)
    if unit is None or unit in table["absent"]:
        return {}
    code = table["lab"].get(unit) or table["lab_by_item"].get(unit, {}).get(item_id)
    return {"unit": unit, "system": words.UCUM, "code": code} if code else {"unit": unit}


def read_value(text: str | None, figure: str | None, comment: str | None, tally: Tally) -> Value:
    """Decide what a lab event says.

    The number is `valuenum`; `value` gives its digits where it is the same number (0.20 stays 0.20) and a comparator or
    other words beside it. Without a number the words of `value` are the result, else those of `comments`.
    """
    text, comment = clean(text), clean(comment)
    if comment == MASKED:
        comment = None
        tally.note("comments is `___` (de-identified); not carried")
    measured = number(figure)
    if measured is not None:
        return _measured(text, measured, comment, tally)
    note_unread(figure, tally)
    if text is not None and text != MASKED:
        limit = compared(text)
        if limit is not None:
            return Value(number=limit[1], comparator=limit[0], note=comment)
        charted = number(text)
        if charted is not None and not text.endswith("."):
            return Value(number=charted, note=comment)
        return Value(words=text, note=comment)
    if comment is not None:
        return Value(words=comment)
    if text == MASKED:
        return Value(absent="masked")
    return Value(absent="unknown")


def _measured(text: str | None, measured: str, comment: str | None, tally: Tally) -> Value:
    if text is None or text == MASKED:
        return Value(number=measured, note=comment)
    if text == measured:
        return Value(number=measured, note=comment)
    charted = number(text)
    if charted is not None and Decimal(charted) == Decimal(measured):
        return Value(number=charted, note=comment)
    limit = compared(text)
    if limit is not None and Decimal(limit[1]) == Decimal(measured):
        return Value(number=limit[1], comparator=limit[0], note=comment)
    tally.note("value and valuenum differ; valuenum is the result, value is noted")
    return Value(number=measured, note=f"Charted as {text}." + (f" {comment}" if comment else ""))


def read_bounds(low: str | None, high: str | None, tally: Tally) -> tuple[str | None, str | None, str | None]:
    """Return the bounds of a reference range as numbers, and the range in words where a bound is no number.

    Examples:
        >>> read_bounds("3.5", "5.0", Tally("labevents")), read_bounds(">=60", None, Tally("labevents"))
        (('3.5', '5.0', None), (None, None, '>=60'))
    """
    lowest, highest = number(low), number(high)
    sides = [text for text in (clean(low), clean(high)) if text is not None]
    if all(text == MASKED or number(text) is not None for text in sides):
        if MASKED in sides:
            tally.note("a bound of the reference range is `___` (de-identified); not carried")
        return lowest, highest, None
    tally.note("a bound of the reference range is not a number; the range is kept as its text too")
    return lowest, highest, " - ".join(dict.fromkeys(text for text in sides if text != MASKED))


def interpret(value: Value, low: str | None, high: str | None, flag: str | None) -> str | None:
    """Return H, L or N from both bounds, else A where the source flags the result.

    Examples:
        >>> interpret(Value(number="5.1"), "3.5", "5.0", None), interpret(Value(words="POS"), None, None, "abnormal")
        ('H', 'A')
    """
    if value.number is not None and low is not None and high is not None:
        at, lowest, highest = Decimal(value.number), Decimal(low), Decimal(high)
        above = at >= highest if value.comparator == ">" else at > highest
        below = at <= lowest if value.comparator == "<" else at < lowest
        if value.comparator not in ("<", "<=") and above:
            return "H"
        if value.comparator not in (">", ">=") and below:
            return "L"
        if value.comparator is None and flag != "abnormal":
            return "N"
    return "A" if flag == "abnormal" else None
