"""Rules over all writes of a turn: what was asked for, what was not, and arguments that smuggle text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .evidence import TurnTrace
from .rubric import AllOf, AnyOf, Check, OrderCheck, TurnSpec, WriteRecord

if TYPE_CHECKING:
    from wardround.patients import ToolResult


def write_record(result: ToolResult) -> WriteRecord | None:
    """Return what a call wrote, as traces hold it; None where it wrote nothing."""
    arguments = dict(result.arguments)
    if result.created is not None:
        return WriteRecord(tool=result.tool, arguments=arguments, resource=result.created)
    if result.updated is not None:
        target = dict(result.target or {})
        return WriteRecord(tool=result.tool, arguments=arguments, resource=result.updated, kind="update", target=target)
    if result.file is not None:
        return WriteRecord(tool=result.tool, arguments=arguments, resource=result.file, kind="file")
    return None


def orders_in(check: Check) -> Iterator[OrderCheck]:
    """Yield the order checks a check asks for; what stands under `not` is not asked for."""
    if isinstance(check, OrderCheck):
        yield check
    elif isinstance(check, AnyOf | AllOf):
        for member in check.checks:
            yield from orders_in(member)


def requested_tools(spec: TurnSpec) -> frozenset[str]:
    """Return the tools of the writes the turn asks for."""
    return frozenset(order.tool for item in spec.rubric for order in orders_in(item.check))


def write_faults(trace: TurnTrace, requested: frozenset[str], limit: int, long_arguments: Iterable[str]) -> list[str]:
    """Return why the turn's order items fail as a whole; empty where they may be judged alone.

    Args:
        trace: The turn.
        requested: Tools of the writes asked for.
        limit: Characters a string argument may have.
        long_arguments: Names of arguments that may be longer (note bodies and files, by family).
    """
    faults: list[str] = []
    seen: set[str] = set()
    exempt = frozenset(long_arguments)
    for write in trace.writes:
        if write.tool not in requested:
            faults.append(f"unrequested write `{write.tool}`")
        elif write.tool in seen:
            faults.append(f"second write `{write.tool}`")
        seen.add(write.tool)
        long = [name for name, text in strings(write.arguments) if name not in exempt and len(text) > limit]
        faults.extend(f"argument `{name}` of `{write.tool}` is longer than {limit} characters" for name in long)
    return list(dict.fromkeys(faults))


def strings(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (top-level argument name, text) for every string in the arguments, nested ones too."""
    for name, value in arguments.items():
        stack = [value]
        while stack:
            current = stack.pop()
            if isinstance(current, str):
                yield name, current
            elif isinstance(current, Mapping):
                stack.extend(current.values())
            elif isinstance(current, list | tuple):
                stack.extend(current)
