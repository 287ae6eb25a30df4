"""FHIRPath for `state` checks: a linted subset, compiled once; what a rubric's author would trip over is refused.

The evaluator is fhirpathpy. It answers an unknown path with nothing, compares floats, reads `=` on several values as
false and knows functions that read a clock, the network or arbitrary patterns; each of these is an error here, found
when the rubric is loaded (`lint`), never when an episode is scored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

import orjson

from wardround.patients import UsageError, r4_elements, resource_types

MAX_CHARACTERS = 500
MAX_DEPTH = 16
MAX_NODES = 300

Node = Mapping[str, Any]


class Focus(NamedTuple):
    """What an expression stands for while it is linted."""

    types: tuple[str, ...]
    many: bool = False
    literal: bool = False


_BOOLEAN = Focus(("boolean",))
_NUMBER = Focus(("decimal",))
_STRING = Focus(("string",))
_INSTANT = re.compile(r"@\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")


@cache
def _rules() -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(files("wardround.rubrics").joinpath("data/fhirpath.json").read_bytes())
    return found


@lru_cache(maxsize=1024)
def lint(expression: str, resource_type: str) -> tuple[str, ...]:
    """Return what is wrong with an expression over resources of a type; empty if it may be used.

    Args:
        expression: FHIRPath; its root is the resource.
        resource_type: As `MedicationRequest`.
    """
    if resource_type not in resource_types():
        return (f"`{resource_type}` is no resource type that charts hold",)
    if len(expression) > MAX_CHARACTERS:
        return (f"longer than {MAX_CHARACTERS} characters; split it into several items",)
    if _depth(expression) > MAX_DEPTH:
        return (f"nested deeper than {MAX_DEPTH} brackets; split it into several items",)
    try:
        root = _parse(expression)
    except UsageError as error:
        return (str(error),)
    walker = _Linter(resource_type)
    result = walker.focus(root, Focus((resource_type,)))
    problems = list(dict.fromkeys(walker.problems))
    if not problems and result.types != ("boolean",):
        problems.append("gives no yes or no; compare it, or end with .exists(), .empty() or .all(…)")
    return tuple(problems)


def holds(expression: str, resource: bytes) -> bool:
    """Tell whether a linted expression is true of a resource (JSON; numbers are read as decimals).

    Raises:
        ArithmeticError, TypeError, ValueError: The library cannot evaluate it on this resource.
    """
    found = _compiled(expression)(_read(resource))
    return found == [True]


def _read(resource: bytes) -> Any:
    # Decimals: read as floats, `value = 0.3` is false of 0.3.
    import json

    return json.loads(resource, parse_float=Decimal)


@lru_cache(maxsize=1024)
def _compiled(expression: str) -> Callable[..., list[Any]]:
    import fhirpathpy
    from fhirpathpy.models import models

    return fhirpathpy.compile(expression, models["r4"])


def _depth(expression: str) -> int:
    deepest = depth = 0
    for mark in expression:
        depth += (mark in "([{") - (mark in ")]}")
        deepest = max(deepest, depth)
    return deepest


def _parse(expression: str) -> Node:
    try:
        from fhirpathpy.parser import parse
    except ImportError as error:
        raise UsageError("`state` checks need fhirpathpy; install it: pip install fhirpathpy") from error
    fault = _syntax(expression)
    if fault is not None:
        raise UsageError(f"is not FHIRPath: {fault}")
    found: Node = parse(expression)["children"][0]  # type: ignore[no-untyped-call]
    if _count(found) > MAX_NODES:
        raise UsageError(f"has more than {MAX_NODES} parts; split it into several items")
    return found


def _syntax(expression: str) -> str | None:
    """Return the first fault of syntax: the library's own door mends such text in silence and goes on."""
    from antlr4 import CommonTokenStream, InputStream
    from antlr4.error.ErrorListener import ErrorListener
    from fhirpathpy.parser.generated.FHIRPathLexer import FHIRPathLexer
    from fhirpathpy.parser.generated.FHIRPathParser import FHIRPathParser

    faults: list[str] = []

    class Listener(ErrorListener):  # type: ignore[misc]  # the library is not typed
        def syntaxError(self, _who: Any, _what: Any, _line: int, column: int, message: str, _error: Any) -> None:  # noqa: N802
            faults.append(f"at character {column + 1}: {message[:100]}")

    lexer = FHIRPathLexer(InputStream(expression))
    parser = FHIRPathParser(CommonTokenStream(lexer))
    for one in (lexer, parser):
        one.removeErrorListeners()
        one.addErrorListener(Listener())
    parser.entireExpression()  # type: ignore[no-untyped-call]
    return faults[0] if faults else None


def _count(node: Node) -> int:
    total, waiting = 0, [node]
    while waiting:
        one = waiting.pop()
        total += 1
        waiting.extend(one.get("children", ()))
    return total


class _Linter:
    """Walks the tree, following types through the R4 element list."""

    def __init__(self, resource_type: str) -> None:
        self.resource_type = resource_type
        self.problems: list[str] = []

    def focus(self, node: Node, here: Focus) -> Focus:
        """Return what a node stands for, with problems noted."""
        kind = str(node["type"])
        children: Sequence[Node] = node.get("children", ())
        if kind in _PASSED:
            return self.focus(children[0], here)
        if kind in _WALKED:
            found: Focus = getattr(self, f"_{kind}")(node, children, here)
            return found
        if kind in ("AndExpression", "OrExpression", "ImpliesExpression"):
            for child in children:
                self._one(child, here, "`and`, `or`, `implies`")
            return _BOOLEAN
        self.problems.append(f"uses {_plain(kind)}, which is not in the subset")
        return _BOOLEAN

    # -- names -----------------------------------------------------------------------------------------------------

    def _InvocationExpression(self, _node: Node, children: Sequence[Node], here: Focus) -> Focus:  # noqa: N802
        return self._invoke(children[1], self.focus(children[0], here), here)

    def _InvocationTerm(self, _node: Node, children: Sequence[Node], here: Focus) -> Focus:  # noqa: N802
        inner = children[0]
        if inner["type"] == "MemberInvocation" and _identifier(inner) == self.resource_type:
            return Focus((self.resource_type,))
        return self._invoke(inner, here, here)

    def _invoke(self, node: Node, base: Focus, here: Focus) -> Focus:
        if node["type"] == "ThisInvocation":
            return here
        if node["type"] == "TotalInvocation":
            return _NUMBER
        if node["type"] == "MemberInvocation":
            return self._member(_identifier(node), base)
        if node["type"] == "FunctionInvocation":
            return self._function(node["children"][0], base, here)
        self.problems.append(f"uses {_plain(str(node['type']))}, which is not in the subset")
        return _BOOLEAN

    def _member(self, name: str, base: Focus) -> Focus:
        kinds: list[str] = []
        many = base.many
        for kind in base.types:
            element = r4_elements(kind).get(name)
            if element is not None:
                kinds.extend(element.types)
                many = many or element.many
        if kinds:
            return Focus(tuple(dict.fromkeys(kinds)), many)
        if base.types:  # else its own fault has been told
            self.problems.append(self._unknown(name, base))
        return Focus(())

    def _unknown(self, name: str, base: Focus) -> str:
        for kind in base.types:
            for spoken, element in r4_elements(kind).items():
                if name in element.variants:
                    held = element.types[element.variants.index(name)]
                    return f"`{name}` is JSON's name; write {spoken}.ofType({held})"
        where = " or ".join(base.types)
        known = sorted({one for kind in base.types for one in r4_elements(kind)})
        return f"`{name}` is no element of {where}" + (f"; it has {', '.join(known[:40])}" if known else "")

    # -- functions -------------------------------------------------------------------------------------------------

    def _function(self, node: Node, base: Focus, here: Focus) -> Focus:
        children: Sequence[Node] = node.get("children", ())
        name = _identifier_text(children[0])
        given: Sequence[Node] = children[1].get("children", ()) if len(children) > 1 else ()
        rules = _rules()
        if name in rules["refused"]:
            self.problems.append(f"`{name}()`: {rules['refused'][name]}")
            return _BOOLEAN
        rule = rules["functions"].get(name)
        if rule is None:
            self.problems.append(f"`{name}()` is not in the subset; it has {', '.join(sorted(rules['functions']))}")
            return _BOOLEAN
        if not rule["least"] <= len(given) <= rule["most"]:
            self.problems.append(f"`{name}()` takes {rule['least']} to {rule['most']} arguments, not {len(given)}")
            return _BOOLEAN
        if name in ("ofType", "as", "is"):
            return self._typed(name, given[0], base)
        each = Focus(base.types, many=False) if rule["each"] else here
        inner = [self.focus(one, each) for one in given]
        return self._gives(str(rule["gives"]), base, inner)

    def _gives(self, gives: str, base: Focus, inner: Sequence[Focus]) -> Focus:
        if gives == "same":
            return base
        if gives == "one":
            return Focus(base.types)
        if gives == "argument":
            return Focus(inner[-1].types, many=base.many or inner[-1].many)
        return {"boolean": _BOOLEAN, "number": _NUMBER, "string": _STRING}[gives]

    def _typed(self, name: str, argument: Node, base: Focus) -> Focus:
        wanted = _text(argument).removeprefix("FHIR.").removeprefix("System.")
        if wanted not in base.types:
            held = ", ".join(base.types) or "nothing known"
            self.problems.append(f"`{name}({wanted})`: what stands before it holds {held}")
        return _BOOLEAN if name == "is" else Focus((wanted,), base.many)

    # -- operators -------------------------------------------------------------------------------------------------

    def _compared(self, node: Node, children: Sequence[Node], here: Focus) -> Focus:
        operator = (node.get("terminalNodeText") or ["?"])[0]
        for child in children:
            self._one(child, here, f"`{operator}`")
        return _BOOLEAN

    _EqualityExpression = _compared
    _InequalityExpression = _compared

    def _one(self, child: Node, here: Focus, operator: str) -> Focus:
        found = self.focus(child, here)
        if found.many:
            self.problems.append(
                f"{operator} on `{_text(child)}`, which may hold several values and is then never true; "
                "use .where(…).exists(), .all(…) or .first()"
            )
        return found

    def _counted(self, _node: Node, children: Sequence[Node], here: Focus) -> Focus:
        for child in children:
            self._one(child, here, "arithmetic")
        return _NUMBER

    _AdditiveExpression = _counted
    _MultiplicativeExpression = _counted
    _PolarityExpression = _counted

    def _MembershipExpression(self, _node: Node, children: Sequence[Node], here: Focus) -> Focus:  # noqa: N802
        self._one(children[0], here, "`in`")
        self.focus(children[1], here)
        return _BOOLEAN

    def _UnionExpression(self, _node: Node, children: Sequence[Node], here: Focus) -> Focus:  # noqa: N802
        sides = [self.focus(child, here) for child in children]
        return Focus(tuple(dict.fromkeys(kind for side in sides for kind in side.types)), many=True)

    def _IndexerExpression(self, _node: Node, children: Sequence[Node], here: Focus) -> Focus:  # noqa: N802
        return Focus(self.focus(children[0], here).types)

    # -- literals --------------------------------------------------------------------------------------------------

    def _LiteralTerm(self, _node: Node, children: Sequence[Node], _here: Focus) -> Focus:  # noqa: N802
        kind, text = str(children[0]["type"]), _text(children[0])
        if kind == "QuantityLiteral":
            self.problems.append(f"`{text}`: quantities are not compared; compare `.value` and `.code` or `.unit`")
        elif kind in ("DateLiteral", "TimeLiteral") or (kind == "DateTimeLiteral" and not _INSTANT.fullmatch(text)):
            self.problems.append(f"`{text}`: write a full instant with its zone, as @2180-05-07T00:00:00Z")
        return {"NumberLiteral": _NUMBER, "BooleanLiteral": _BOOLEAN}.get(kind, _STRING)


_PASSED = frozenset({"TermExpression", "ParenthesizedTerm"})
_WALKED = frozenset(
    {
        "InvocationExpression", "InvocationTerm", "EqualityExpression", "InequalityExpression", "AdditiveExpression",
        "MultiplicativeExpression", "PolarityExpression", "MembershipExpression", "UnionExpression",
        "IndexerExpression", "LiteralTerm",
    }
)  # fmt: skip


def _plain(kind: str) -> str:
    known = {
        "ExternalConstantTerm": "a %variable",
        "TypeExpression": "the operator `is` or `as` (use .is(…), .ofType(…))",
    }
    return known.get(kind, kind)


def _identifier(node: Node) -> str:
    return _identifier_text(node["children"][0])


def _identifier_text(node: Node) -> str:
    return str((node.get("terminalNodeText") or [""])[0]).strip("`")


def _text(node: Node) -> str:
    text = node.get("text")
    if text:
        return str(text)
    inner = "".join(_text(child) for child in node.get("children", ()))
    return inner or "".join(node.get("terminalNodeText") or ())
