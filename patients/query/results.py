"""What a query wants of its result: page size, order, included resources, elements."""

from __future__ import annotations

from dataclasses import dataclass

from .definitions import parameters, searchable
from .errors import Issue, SearchError, refusal, shown

DEFAULT_COUNT = 50
"""Matches a page has where the query does not say."""

SORTS = 20
"""Parameters that one search may sort by."""

INCLUDES = 100
"""Values of `_include` and `_revinclude` together."""

RESULT_NAMES = frozenset({
    "_count", "_sort", "_total", "_include", "_revinclude", "_elements", "_summary", "_format", "_pretty", "_contained",
})  # fmt: skip

SUMMARIES = ("true", "text", "data", "count", "false")


@dataclass(frozen=True, slots=True)
class Include:
    """One `_include` or `_revinclude`: the type that refers, its parameter (`*` for all), the type referred to."""

    source: str
    parameter: str
    target: str | None
    reverse: bool
    iterate: bool


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a query wants of its result."""

    count: int
    """Most matches a page may have; 0 asks for the total alone."""
    sort: tuple[tuple[str, bool], ...] = ()
    """Parameters to sort by, with whether descending."""
    includes: tuple[Include, ...] = ()
    elements: frozenset[str] | None = None
    summary: str = "false"
    kept: tuple[tuple[str, str], ...] = ()
    """What took effect, for the self link."""


def wanted_of(kinds: tuple[str, ...], pairs: list[tuple[str, str]], cap: int) -> tuple[Wanted, list[Issue]]:
    """Read the result parameters.

    Returns:
        What is wanted, and what was ignored.

    Raises:
        SearchError: A value that R4 does not know.
    """
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    _check_modifiers(values)
    for name in ("_count", "_total", "_summary", "_contained"):
        if len(values.get(name, ())) > 1:
            raise refusal("invalid", f"{name}: given more than once", name)
    issues: list[Issue] = []
    kept: list[tuple[str, str]] = []
    count = _count(values, cap, kept)
    sort = _sort(kinds, values, kept, issues)
    _one_of(values, "_total", ("none", "estimate", "accurate"), kept)
    _one_of(values, "_contained", ("false",), kept)
    summary = _one_of(values, "_summary", SUMMARIES, kept) or "false"
    elements = frozenset(name for text in values.get("_elements", ()) for name in text.split(",") if name) or None
    if elements and summary != "false":
        raise refusal("invalid", "_elements and _summary cannot be asked for together", "_elements")
    kept += [("_elements", text) for text in values.get("_elements", ()) if text.strip(",")]
    includes = _includes(pairs, kept, issues)
    if includes and summary == "text":
        raise refusal("invalid", "_summary=text cannot be combined with _include or _revinclude", "_summary")
    for name in ("_format", "_pretty"):
        kept += [(name, value) for value in values.get(name, ())]
    if summary == "count":
        count = 0
    return Wanted(count, sort, includes, elements, summary, tuple(kept)), issues


def _check_modifiers(values: dict[str, list[str]]) -> None:
    allowed = RESULT_NAMES | {
        f"{name}:{modifier}" for name in ("_include", "_revinclude") for modifier in ("iterate", "recurse")
    }
    for name in values:
        if name not in allowed:
            raise refusal("not-supported", f"{shown(name)}: no such modifier", name[:200])


def _one_of(
    values: dict[str, list[str]], name: str, allowed: tuple[str, ...], kept: list[tuple[str, str]]
) -> str | None:
    found = values.get(name)
    if not found:
        return None
    if found[0] not in allowed:
        raise refusal("value", f"{name}: {shown(found[0])} is not one of {', '.join(allowed)}", name)
    kept.append((name, found[0]))
    return found[0]


def _count(values: dict[str, list[str]], cap: int, kept: list[tuple[str, str]]) -> int:
    found = values.get("_count")
    if not found:
        return min(DEFAULT_COUNT, cap)
    text = found[0]
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise refusal("value", f"_count: {shown(text)} is not a number of matches (0 or more)", "_count")
    count = min(int(text), cap)
    kept.append(("_count", str(count)))
    return count


def _sort(
    kinds: tuple[str, ...], values: dict[str, list[str]], kept: list[tuple[str, str]], issues: list[Issue]
) -> tuple[tuple[str, bool], ...]:
    found: list[tuple[str, bool]] = []
    names = [name for text in values.get("_sort", ()) for name in text.split(",") if name]
    if len(names) > SORTS:
        raise refusal("too-costly", f"_sort: more than {SORTS} parameters", "_sort")
    for name in names:
        label = name.removeprefix("-")
        known = [parameters(kind).get(label) for kind in kinds]
        if any(parameter is None or parameter.type == "composite" for parameter in known):
            text = f"_sort: {shown(label)} is no parameter that sorts {', '.join(kinds[:5])}; it was ignored"
            issues.append(Issue("warning", "not-supported", text, "http._sort"))
        elif label not in dict(found):
            found.append((label, name.startswith("-")))
    if found:
        kept.append(("_sort", ",".join("-" * descending + label for label, descending in found)))
    return tuple(found)


def _includes(pairs: list[tuple[str, str]], kept: list[tuple[str, str]], issues: list[Issue]) -> tuple[Include, ...]:
    found: list[Include] = []
    for name, value in pairs:
        label, _, modifier = name.partition(":")
        if label not in ("_include", "_revinclude"):
            continue
        texts = value.split(",")
        if len(found) + len(texts) > INCLUDES:
            raise refusal("too-costly", f"{label}: more than {INCLUDES} includes in one search", label)
        for text in texts:
            if not text:
                issues.append(Issue("warning", "not-supported", f"{name}: no value; it was ignored", f"http.{label}"))
                continue
            found.append(_include(label, text, iterate=modifier in ("iterate", "recurse")))
        if told := ",".join(text for text in texts if text):
            kept.append((name, told))
    return tuple(dict.fromkeys(found))


def _include(name: str, text: str, *, iterate: bool) -> Include:
    reverse = name == "_revinclude"
    if text == "*" and not reverse:
        return Include("*", "*", None, reverse, iterate)
    pieces = text.split(":")
    if len(pieces) not in (2, 3) or not all(pieces):
        raise _bad(name, text, "expected Type:parameter or Type:parameter:Target")
    source, label = pieces[:2]
    if source not in searchable():
        raise _bad(name, text, f"{shown(source)} is not a stored type")
    parameter = parameters(source).get(label)
    if label != "*" and (parameter is None or parameter.type != "reference"):
        known = ", ".join(one.name for one in parameters(source).values() if one.type == "reference")
        raise _bad(name, text, f"{source} refers through {known}")
    target = pieces[2] if len(pieces) == 3 else None
    if target is not None and parameter is not None and target not in parameter.targets:
        raise _bad(name, text, f"{label} points at {', '.join(parameter.targets)}")
    if target is not None and target not in searchable():
        raise _bad(name, text, f"{shown(target)} is not a stored type")
    return Include(source, label, target, reverse, iterate)


def _bad(name: str, text: str, why: str) -> SearchError:
    return refusal("value", f"{name}: {shown(text)} names nothing to include; {why}", name)
