"""How a value is written: digits, limits, words, flags."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from .physiology_core import CONTEXT, MICRO, Law, micro


def rounded(value: int, step: int) -> int:
    """Round millionths to a step, halves away from zero."""
    whole = (abs(value) + step // 2) // step * step
    return -whole if value < 0 else whole


def written(value: int, digits: int) -> str:
    """Write millionths with so many decimals; the value is a multiple of them already."""
    scaled = abs(value) // 10 ** (6 - digits)
    sign = "-" if value < 0 and scaled else ""
    if not digits:
        return f"{sign}{scaled}"
    whole, part = divmod(scaled, 10**digits)
    return f"{sign}{whole}.{part:0{digits}d}"


def as_text(rule: Law, value: int) -> str:
    """Write a value of a lab as reported: rounded to its step, within its limits, "<" or ">" beyond censored ones.

    What is computed exactly from other results has no limits of its own.
    """
    digits = rule.profile.digits
    value = rounded(value, rule.step)
    if rule.profile.formula and not rule.noise:
        return written(value, digits)
    if rule.least is not None and value < rule.least:
        return f"<{written(rule.least, digits)}" if rule.profile.censored else written(rule.least, digits)
    if rule.most is not None and value > rule.most:
        return f">{written(rule.most, digits)}" if rule.profile.censored else written(rule.most, digits)
    return written(value, digits)


def amount(text: str) -> int:
    """Return a reported number in millionths, a limit for what lies beyond it.

    Raises:
        ValueError: The text is no number.
    """
    number = quantity(text)
    if number is None:
        raise ValueError(f"`{text}` is no reported number")
    return micro(number)


def quantity(text: str) -> Decimal | None:
    """Return the number of a result, the limit of a censored one; None for words.

    Examples:
        >>> quantity("<0.01"), quantity("negative")
        (Decimal('0.01'), None)
    """
    try:
        number = CONTEXT.create_decimal(text.lstrip("<>"))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def flag(text: str, low: str | None, high: str | None) -> str | None:
    """Return "H", "L" or None for a result against its reference range; both ends are normal.

    Examples:
        >>> flag("5.2", "3.5", "5.1"), flag("<0.01", None, "0.01"), flag("120/80", None, None)
        ('H', None, None)
    """
    number = quantity(text)
    if number is None:
        return None
    if high is not None and (number > Decimal(high) or (text.startswith(">") and number >= Decimal(high))):
        return "H"
    if low is not None and (number < Decimal(low) or (text.startswith("<") and number <= Decimal(low))):
        return "L"
    return None


def in_words(rule: Law, severity: int, normal: str) -> str:
    """Return the words of a test that is read: of the last step reached, else the normal ones.

    Steps are the profile's, or the nearest whole number.
    """
    words = rule.profile.abnormal_text
    step = sum(severity >= one for one in rule.steps) if rule.steps else (severity + MICRO // 2) // MICRO
    return normal if step < 1 or not words else words[min(step, len(words)) - 1]
