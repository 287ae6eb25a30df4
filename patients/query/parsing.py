"""A query string, parsed: which questions it asks of which type, and what it wants of the result.

Parsing knows no record; equal queries are parsed once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from .definitions import Parameter, parameters, searchable, value_sets
from .errors import Issue, SearchError, refusal, shown
from .extract import fold_text, target_type
from .results import RESULT_NAMES, Wanted, wanted_of
from .values import Code, Target, Text, Value, parse_code, parse_value, split, unescape

DEPTH = 6
"""Steps a chain or a nested `_has` may have."""

CHAINS = 40
"""Chains and `_has` in one query."""

ALTERNATIVES = 10_000
"""Values in one query, over all parameters."""

PARTS = 100
"""Values of one `:contains`: each is looked for in every text."""

_MODIFIERS = {
    "token": frozenset({"missing", "not", "text", "in", "not-in"}),
    "string": frozenset({"missing", "contains", "exact"}),
    "reference": frozenset({"missing", "identifier"}),
}


@dataclass(frozen=True, slots=True, eq=False)
class Ask:
    """A parameter with its modifier; any of the values may match."""

    parameter: Parameter
    modifier: str
    values: tuple[Value, ...]
    target: str | None = None
    """Type that a reference must point at (`subject:Patient`)."""


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """A question to what a reference points at: for each type it may point at, the question to that type."""

    parameter: Parameter
    inner: tuple[tuple[str, Question], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Has:
    """A question to what points here: a type, its reference parameter, and the question to that type."""

    kind: str
    parameter: Parameter
    inner: Question


Question = Ask | Chain | Has


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query."""

    kinds: tuple[str, ...]
    questions: tuple[tuple[str, tuple[tuple[str, Question], ...]], ...]
    """Each parameter as written (`name=value`), with the question it asks of each type; all must hold."""
    wanted: Wanted
    issues: tuple[Issue, ...]
    kept: tuple[tuple[str, str], ...]
    """The parameters that took effect, for the self link; those of paging are left out."""


class _UnknownError(Exception):
    """No such parameter: lenient searches ignore it."""


@dataclass(slots=True)
class _Reader:
    """State of parsing one query."""

    base: str
    budget: int = ALTERNATIVES
    chains: int = 0
    known: dict[tuple[str, str], Question | Exception] = field(default_factory=dict)


@lru_cache(maxsize=512)
def parse_query(kinds: tuple[str, ...], pairs: tuple[tuple[str, str], ...], base: str, cap: int, strict: bool) -> Query:
    """Parse the parameters of a search.

    Args:
        kinds: Types that are searched.
        pairs: Decoded names and values, in order.
        base: Own base URL.
        cap: Most matches a page may have.
        strict: Whether what is unknown is an error.

    Raises:
        SearchError: A value, modifier or combination that R4 does not know; with `strict` an unknown name, too.
    """
    reader = _Reader(base)
    questions = []
    issues: list[Issue] = []
    kept: list[tuple[str, str]] = []
    results: list[tuple[str, str]] = []
    for name, value in pairs:
        if name.partition(":")[0] in RESULT_NAMES:
            results.append((name, value))
            continue
        if not value or not any(split(value, ",")):
            issues.append(_ignored(name, f"{name}: no value; it was ignored"))
            continue
        reader.known.clear()
        try:
            asked = tuple((kind, _question(reader, kind, name, value, name, 0)) for kind in kinds)
        except _UnknownError as fault:
            issues.append(_ignored(name, str(fault)))
            continue
        questions.append((f"{name}={value}", asked))
        kept.append((name, value))
    wanted, more = wanted_of(kinds, results, cap)
    issues += more
    if strict and issues:
        raise SearchError([Issue("error", issue.code, issue.diagnostics, issue.expression) for issue in issues])
    return Query(kinds, tuple(questions), wanted, tuple(issues), (*kept, *wanted.kept))


def _ignored(name: str, text: str) -> Issue:
    return Issue("warning", "not-supported", text, f"http.{name[:200]}")


def _question(reader: _Reader, kind: str, key: str, value: str, name: str, depth: int) -> Question:
    """Parse `key` as a question to `kind`; the same question is parsed once however many chains lead to it."""
    found = reader.known.get((kind, key))
    if found is None:
        try:
            found = _parse(reader, kind, key, value, name, depth)
        except (_UnknownError, SearchError) as fault:
            found = fault
        reader.known[kind, key] = found
    if isinstance(found, Exception):
        raise found
    return found


def _parse(reader: _Reader, kind: str, key: str, value: str, name: str, depth: int) -> Question:
    if depth > DEPTH:
        raise refusal("too-costly", f"{shown(name)}: more than {DEPTH} steps", name[:200])
    if key.startswith("_has:"):
        return _has(reader, key, value, name, depth)
    head, dot, rest = key.partition(".")
    label, _, modifier = head.partition(":")
    parameter = parameters(kind).get(label)
    if parameter is None:
        raise _UnknownError(f"{shown(name)}: {kind} has no search parameter {shown(label)}; it was ignored")
    if dot:
        return _chain(reader, parameter, modifier, rest, value, name, depth)
    return _ask(reader, parameter, modifier, value, name)


def _count_chain(reader: _Reader, name: str, depth: int) -> None:
    if depth == 0:
        reader.chains += 1
        if reader.chains > CHAINS:
            raise refusal("too-costly", f"more than {CHAINS} chained parameters in one search", name[:200])


def _chain(
    reader: _Reader, parameter: Parameter, target: str, rest: str, value: str, name: str, depth: int
) -> Question:
    if parameter.type != "reference":
        raise refusal(
            "invalid", f"{shown(name)}: {parameter.name} is no reference, so nothing can follow it", name[:200]
        )
    _count_chain(reader, name, depth)
    if target and target not in parameter.targets:
        allowed = ", ".join(parameter.targets) or "none"
        raise refusal("value", f"{shown(name)}: {parameter.name} cannot point at {shown(target)}; it may at {allowed}")
    found = []
    faults: list[Exception] = []
    for kind in (target,) if target else parameter.targets:
        try:
            found.append((kind, _question(reader, kind, rest, value, name, depth + 1)))
        except (_UnknownError, SearchError) as fault:
            faults.append(fault)
    if not found:
        refused = [fault for fault in faults if isinstance(fault, SearchError)]
        raise (refused or faults or [_UnknownError(f"{shown(name)}: leads to no type that is stored")])[0]
    return Chain(parameter, tuple(found))


def _has(reader: _Reader, key: str, value: str, name: str, depth: int) -> Question:
    pieces = key.split(":", 3)
    if len(pieces) < 4 or not all(pieces[1:]):
        raise refusal("invalid", f"{shown(name)}: write _has:Type:reference:parameter", name[:200])
    _, kind, label, rest = pieces
    if kind not in searchable():
        raise refusal("value", f"{shown(name)}: {shown(kind)} is not a stored type", name[:200])
    parameter = parameters(kind).get(label)
    if parameter is None or parameter.type != "reference":
        raise refusal("value", f"{shown(name)}: {kind} has no reference parameter {shown(label)}", name[:200])
    _count_chain(reader, name, depth)
    return Has(kind, parameter, _question(reader, kind, rest, value, name, depth + 1))


def _ask(reader: _Reader, parameter: Parameter, modifier: str, value: str, name: str) -> Ask:
    target = None
    if parameter.type == "reference" and modifier in parameter.targets:
        target, modifier = modifier, ""
    elif modifier and modifier not in _MODIFIERS.get(parameter.type, ("missing",)):
        raise refusal(
            "not-supported", f"{shown(name)}: a {parameter.type} parameter has no modifier {shown(modifier)}", name
        )
    pieces = [piece for piece in split(value, ",") if piece]
    reader.budget -= len(pieces)
    if reader.budget < 0:
        raise refusal("too-costly", f"more than {ALTERNATIVES} values in one search; ask in several", name)
    if modifier == "contains" and len(pieces) > PARTS:
        raise refusal("too-costly", f"{shown(name)}: more than {PARTS} values; ask in several searches", name)
    read = _reading(parameter, modifier, target, name, reader.base)
    return Ask(parameter, modifier, tuple(read(piece) for piece in dict.fromkeys(pieces)), target)


def _reading(parameter: Parameter, modifier: str, target: str | None, name: str, base: str) -> Callable[[str], Value]:
    """Return what parses one alternative."""
    if modifier == "missing":
        return lambda text: _truth(text, name)
    if modifier in ("in", "not-in"):
        return lambda text: _value_set(text, name)
    if modifier == "text":
        return lambda text: Text(unescape(text), fold_text(unescape(text)))
    if modifier == "identifier":
        return lambda text: parse_code(text, name)
    if parameter.type == "composite":
        return lambda text: _composite(parameter, text, name, base)
    if target is not None:
        return lambda text: _typed(parse_value("reference", text, name, base), target)
    return lambda text: parse_value(parameter.type, text, name, base)


def _truth(text: str, name: str) -> Code:
    if text not in ("true", "false"):
        raise refusal("value", f"{name}: {shown(text)} is not a value; expected true or false", name)
    return Code(None, text)


def _value_set(text: str, name: str) -> Code:
    url = unescape(text)
    if url not in value_sets():
        known = ", ".join(sorted(value_sets()))
        raise refusal("not-supported", f"{name}: the value set {shown(url)} is not at hand; these are: {known}", name)
    return Code(None, url)


def _typed(value: Value, target: str) -> Value:
    """Narrow a reference to one type: `subject:Patient=1` is `Patient/1`."""
    assert isinstance(value, Target)
    if value.id is not None:
        return Target(local=f"{target}/{value.id}")
    text = value.local or value.url or ""
    return value if target_type({"reference": text}) == target else Target()


def _composite(parameter: Parameter, text: str, name: str, base: str) -> Value:
    pieces = split(text, "$")
    if len(pieces) != len(parameter.parts) or not all(pieces):
        shape = "$".join(parameter.parts)
        raise refusal("value", f"{name}: {shown(text)} is not a value; expected {shape}", name)
    return tuple(parse_value(search, piece, name, base) for search, piece in zip(parameter.parts, pieces, strict=True))


def kinds_named(text: str) -> tuple[str, ...]:
    """Return the types of a `_type` list.

    Raises:
        SearchError: One of them is not stored.
    """
    found = tuple(dict.fromkeys(kind for kind in text.split(",") if kind))
    for kind in found:
        if kind not in searchable():
            raise refusal("value", f"_type: {shown(kind)} is not a stored type", "_type")
    return found
