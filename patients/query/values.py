"""Values of a query, parsed: escapes, codes, dates, numbers, quantities, references."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from .amounts import EXACT
from .errors import SearchError, refusal, shown
from .extract import REFERENCE, date_span, fold_text, is_absolute, split_reference

PREFIXES = frozenset({"eq", "ne", "gt", "lt", "ge", "le", "sa", "eb", "ap"})

_ESCAPE = re.compile(r"\\([,|$\\])")
_NUMBER = re.compile(r"-?(\d{1,40})(?:\.(\d{1,40}))?(?:[eE][+-]?\d{1,3})?")
_DATE = re.compile(
    r"\d{4}(?:-\d\d(?:-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+\- ]\d\d:\d\d)?)?)?)?"
)  # fmt: skip
_ID = re.compile(r"[A-Za-z0-9.\-]{1,64}")


@dataclass(frozen=True, slots=True)
class Code:
    """`code`, `system|code`, `|code` (`system` is empty) or `system|` (`code` is None)."""

    system: str | None
    code: str | None


@dataclass(frozen=True, slots=True)
class Text:
    """A string: as it was asked, and folded."""

    raw: str
    folded: str


@dataclass(frozen=True, slots=True)
class Span:
    """A date: prefix and the half-open span it covers, in ticks."""

    prefix: str
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Number:
    """A number or quantity: prefix, value, half of its implicit precision, unit.

    `system` None asks for any unit; an empty `system` for `code` as code or unit; `code` None for any code of `system`.
    """

    prefix: str
    value: Decimal
    half: Decimal
    system: str | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """A reference: to `Type/id`, to an id of whatever type, or to a URL."""

    local: str | None = None
    id: str | None = None
    url: str | None = None


Value = Code | Text | Span | Number | Target | tuple["Value", ...]
"""What one alternative of a parameter asks; a tuple for the parts of a composite."""


def split(text: str, separator: str) -> list[str]:
    r"""Split at separators that no backslash escapes; the pieces keep their escapes.

    Examples:
        >>> split(r"a\,b,c", ",")
        ['a\\,b', 'c']
    """
    if "\\" not in text:
        return text.split(separator)
    pieces, start, at = [], 0, 0
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
        elif char == separator:
            pieces.append(text[start:at])
            start = at + 1
        at += 1
    pieces.append(text[start:])
    return pieces


def unescape(text: str) -> str:
    r"""Resolve `\,`, `\|`, `\$` and `\\`; any other backslash stands for itself."""
    return _ESCAPE.sub(r"\1", text) if "\\" in text else text


def parse_value(search: str, text: str, parameter: str, base: str) -> Value:
    """Parse one alternative of a parameter.

    Args:
        search: Kind of search: token, string, date, number, quantity, uri or reference.
        text: The alternative, escapes unresolved.
        parameter: Name to complain about.
        base: Own base URL, stripped from references.

    Raises:
        SearchError: It is no such value.
    """
    if search == "token":
        return parse_code(text, parameter)
    if search == "date":
        return _date(unescape(text), parameter)
    if search in ("number", "quantity"):
        return _quantity(text, parameter, units=search == "quantity")
    if search == "reference":
        return _target(unescape(text), parameter, base)
    raw = unescape(text)
    return Text(raw, fold_text(raw))


def parse_code(text: str, parameter: str) -> Code:
    """Parse `code`, `system|code`, `|code` or `system|`.

    Raises:
        SearchError: More than one bar, or nothing at all.
    """
    pieces = split(text, "|")
    if len(pieces) == 1:
        return Code(None, unescape(text))
    if len(pieces) > 2 or not any(pieces):
        raise _bad(parameter, text, "expected code, system|code, |code or system|")
    return Code(unescape(pieces[0]), unescape(pieces[1]) or None)


def _prefix(text: str) -> tuple[str, str]:
    return (text[:2], text[2:]) if text[:2] in PREFIXES else ("eq", text)


def _date(text: str, parameter: str) -> Span:
    prefix, rest = _prefix(text)
    if rest.isascii() and _DATE.fullmatch(rest):
        if rest[-6:-5] == " ":  # a `+` that was not percent-encoded
            rest = f"{rest[:-6]}+{rest[-5:]}"
        try:
            return Span(prefix, *date_span(rest))
        except ValueError:
            pass
    raise _bad(parameter, text, "expected a date such as 2180, 2180-05, 2180-05-06 or 2180-05-06T08:00:00Z")


def _quantity(text: str, parameter: str, *, units: bool) -> Number:
    pieces = [unescape(piece) for piece in split(text, "|")]
    expected = "expected a number" + (", number|system|code or number||unit" if units else "")
    if len(pieces) not in ((1, 3) if units else (1,)):
        raise _bad(parameter, text, expected)
    prefix, rest = _prefix(pieces[0])
    match = _NUMBER.fullmatch(rest) if rest.isascii() else None
    if match is None:
        raise _bad(parameter, text, expected)
    half = _half(rest, len(match[2] or ""))
    if len(pieces) == 1 or not any(pieces[1:]):
        return Number(prefix, Decimal(rest), half)
    return Number(prefix, Decimal(rest), half, pieces[1], pieces[2] or None)


def _half(text: str, decimals: int) -> Decimal:
    """Return half of a number's implicit precision: 5.4 → 0.05, 100 → 0.5; 1e2 → 5, as R4's own example has it."""
    exponent = text.lower().partition("e")[2]
    if not exponent:
        return Decimal((0, (5,), -decimals - 1))
    return Decimal((0, (5,), int(exponent) - decimals - 2))


def widened(value: Decimal) -> tuple[Decimal, Decimal]:
    """Return the bounds of `ap`: 10 % to either side."""
    tenth = EXACT.multiply(abs(value), Decimal("0.1"))
    return EXACT.subtract(value, tenth), EXACT.add(value, tenth)


def _target(text: str, parameter: str, base: str) -> Target:
    own = f"{base.rstrip('/')}/" if base else None
    if own and text.startswith(own):
        text = text[len(own) :]
    if REFERENCE.fullmatch(text):
        return Target(local=split_reference(text)[0])
    if _ID.fullmatch(text):
        return Target(id=text)
    if is_absolute(text):
        return Target(url=split_reference(text)[1])
    if text.startswith("#"):  # a contained resource: nothing that a search can name
        return Target()
    raise _bad(parameter, text, "expected an id, Type/id or an absolute URL")


def _bad(parameter: str, text: str, expected: str) -> SearchError:
    return refusal("value", f"{parameter}: {shown(text)} is not a value; {expected}", parameter)
