"""What a parameter reads in a resource: nodes of JSON, and the values they mean to each kind of search.

Nothing here trusts the shape of a resource: what is not what its type says is passed over. Quantities and numbers are
read in amounts.py.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from wardround.patients.resource import period_of
from wardround.patients.times import NEVER

from .definitions import Path

SPECIAL_VALUES = "http://terminology.hl7.org/CodeSystem/special-values"
"""System that booleans imply."""

REFERENCE = re.compile(r"([A-Z][A-Za-z]{0,63})/([A-Za-z0-9.\-]{1,64})(?:/_history/[A-Za-z0-9.\-]{1,64})?")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:.*", re.DOTALL)
_HISTORY = re.compile(r"/_history/[A-Za-z0-9.\-]{1,64}$")

_PRIMITIVES = frozenset({
    "code", "boolean", "string", "id", "uri", "url", "canonical", "markdown", "date", "dateTime", "instant", "decimal",
    "integer", "positiveInt", "unsignedInt",
})  # fmt: skip
_NAME_PARTS = ("family", "given", "prefix", "suffix", "text")
_ADDRESS_PARTS = ("text", "line", "city", "district", "state", "postalCode", "country")


class Token(NamedTuple):
    """A code as a token search sees it."""

    system: str | None
    code: str


class Link(NamedTuple):
    """A reference: to `Type/id`, or to a URL that is not of that form."""

    local: str | None
    url: str | None
    identifier: Token | None


def fold_text(text: str) -> str:
    """Fold text for string searches: case, accents, width and runs of blanks.

    Examples:
        >>> fold_text(" Müller-Lüdenscheidt  Ågot ")
        'muller-ludenscheidt agot'
    """
    return _folded(text) if len(text) <= 200 else _folded.__wrapped__(text)  # long texts are not worth remembering


@lru_cache(maxsize=1 << 14)
def _folded(text: str) -> str:
    if text.isascii():
        return " ".join(text.lower().split())
    return " ".join(_bare(_bare(text).casefold()).split())


def _bare(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))


def nodes(root: Any, keys: tuple[str, ...]) -> list[Any]:
    """Return what lies at a path, through arrays; what is empty is not there."""
    if keys and isinstance(root, dict) and keys[0] not in root:  # most paths lead nowhere in most resources
        return []
    found = [root]
    for key in keys:
        below: list[Any] = []
        for node in found:
            if isinstance(node, dict):
                value = node.get(key)
                if isinstance(value, list):
                    below.extend(value)
                elif value is not None:
                    below.append(value)
        found = below
    return found


def elements_of(root: Any, path: Path) -> list[Any]:
    """Return the elements a path finds that have its type; primitives without a value are not there."""
    if path.kind == "truth":
        return [_truth(root, path.keys[0])]
    found = nodes(root, path.keys)
    if not found:
        return found
    if path.kind in _PRIMITIVES:
        return [node for node in found if isinstance(node, str | int | float | Decimal) and node != ""]
    found = [node for node in found if isinstance(node, dict) and node]
    if path.where is not None:
        field, wanted = path.where
        found = [node for node in found if node.get(field) == wanted]
    if path.resolve is not None:
        found = [node for node in found if target_type(node) == path.resolve]
    return found


def _truth(root: Any, name: str) -> bool:
    """Tell whether a choice of boolean and date is there and not `false` (Patient.deceased)."""
    if not isinstance(root, dict):
        return False
    return root.get(f"{name}Boolean") is True or isinstance(root.get(f"{name}DateTime"), str)


def target_type(reference: dict[str, Any]) -> str | None:
    """Return the type a Reference points at, from its text, else from its `type`."""
    text = reference.get("reference")
    if isinstance(text, str):
        steps = _HISTORY.sub("", text).split("/")
        if len(steps) >= 2 and REFERENCE.fullmatch("/".join(steps[-2:])):
            return steps[-2]
    told = reference.get("type")
    return told if isinstance(told, str) else None


# --- tokens -----------------------------------------------------------------------------------------------------


def tokens(node: Any, path: Path) -> Iterator[Token]:
    """Yield the codes of an element."""
    kind = path.kind
    if kind == "CodeableConcept":
        for coding in nodes(node, ("coding",)):
            yield from _coding(coding, "system", "code")
    elif kind == "Coding":
        yield from _coding(node, "system", "code")
    elif kind == "Identifier":
        yield from _coding(node, "system", "value")
    elif kind == "ContactPoint":
        yield from _coding(node, "use", "value")
    elif isinstance(node, bool):
        if kind in ("boolean", "truth"):
            yield Token(SPECIAL_VALUES, "true" if node else "false")
    elif isinstance(node, str) and kind != "boolean":
        yield Token(path.system, node)


def _coding(node: Any, system: str, code: str) -> Iterator[Token]:
    if isinstance(node, dict):
        found, where = node.get(code), node.get(system)
        if isinstance(found, str) and found:
            yield Token(where if isinstance(where, str) and where else None, found)


def token_texts(node: Any, path: Path) -> Iterator[str]:
    """Yield the words beside a code that `:text` searches."""
    found: list[Any] = []
    if path.kind == "CodeableConcept":
        found = [*nodes(node, ("text",)), *nodes(node, ("coding", "display"))]
    elif path.kind == "Coding":
        found = nodes(node, ("display",))
    elif path.kind == "Identifier":
        found = nodes(node, ("type", "text"))
    yield from (text for text in found if isinstance(text, str))


# --- strings and addresses on the web -----------------------------------------------------------------------------


def strings(node: Any, path: Path) -> Iterator[str]:
    """Yield the texts of an element, each part of a name or an address alone."""
    if path.kind in ("HumanName", "Address"):
        for part in _NAME_PARTS if path.kind == "HumanName" else _ADDRESS_PARTS:
            yield from (text for text in nodes(node, (part,)) if isinstance(text, str))
    elif isinstance(node, str):
        yield node


def uris(node: Any, path: Path) -> Iterator[str]:
    """Yield the URI of an element."""
    if isinstance(node, str):
        yield node


# --- dates --------------------------------------------------------------------------------------------------------


TICKS = 10
"""Ticks of 100 ns in a microsecond: dates are compared as finely as servers write them (seven digits)."""

_FRACTION = re.compile(r"\.(\d+)")


def date_span(text: str) -> tuple[int, int]:
    """Read a FHIR date as a half-open span of ticks; year 9999 ends where no later date can begin.

    A fraction of a second, however short, is one tick; digits beyond the seventh are cut off.

    Raises:
        ValueError: No such date.
    """
    if text in ("9999", "9999-12"):
        return period_of(text + "-01" * (3 - len(text.split("-"))))[0] * TICKS, period_of("9999-12-31")[1] * TICKS
    low, high = period_of(text)
    fraction = _FRACTION.search(text)
    if fraction is None:
        return low * TICKS, high * TICKS
    tick = low * TICKS + int(fraction[1][6:7] or 0)
    return tick, tick + 1


def spans(node: Any, path: Path) -> Iterator[tuple[int, int]]:
    """Yield the half-open spans (in ticks) of a date, Period or Timing; what cannot be read as a date has none."""
    if path.kind == "Period":
        found = _period(node)
    elif path.kind == "Timing":
        found = _timing(node)
    else:
        found = _span(node)
    if found is not None:
        yield found


def _span(node: Any) -> tuple[int, int] | None:
    if not isinstance(node, str):
        return None
    try:
        return date_span(node)
    except ValueError:
        return None


def _period(node: Any) -> tuple[int, int] | None:
    start, end = node.get("start"), node.get("end")
    if start is None and end is None:
        return None
    first = (-NEVER, -NEVER) if start is None else _span(start)
    last = (NEVER, NEVER) if end is None else _span(end)
    return None if first is None or last is None else (first[0], last[1])


def _timing(node: Any) -> tuple[int, int] | None:
    found = [span for event in nodes(node, ("event",)) if (span := _span(event)) is not None]
    for period in nodes(node, ("repeat", "boundsPeriod")):
        if isinstance(period, dict) and (span := _period(period)) is not None:
            found.append(span)
    return (min(span[0] for span in found), max(span[1] for span in found)) if found else None


# --- references ---------------------------------------------------------------------------------------------------


def links(node: Any, path: Path) -> Iterator[Link]:
    """Yield what an element refers to; contained resources (`#m`) are nothing that a search can name."""
    if isinstance(node, str):  # canonical, uri
        yield Link(None, node, None)
        base, bar, _ = node.partition("|")
        if bar and base:
            yield Link(None, base, None)
        return
    if not isinstance(node, dict):
        return
    identifier = next(iter(_coding(node.get("identifier"), "system", "value")), None)
    text = node.get("reference")
    local = url = None
    if isinstance(text, str) and text and not text.startswith("#"):
        local, url = split_reference(text)
    if local or url or identifier:
        yield Link(local, url, identifier)


def split_reference(text: str) -> tuple[str | None, str | None]:
    """Return `(Type/id, None)` for a relative reference, `(None, URL)` for another; a version is left off."""
    match = REFERENCE.fullmatch(text)
    if match:
        return f"{match[1]}/{match[2]}", None
    return None, _HISTORY.sub("", text)


def is_absolute(text: str) -> bool:
    """Tell whether a reference is a URL or URN."""
    return _ABSOLUTE.fullmatch(text) is not None
