"""Rules over all writes of a turn: what was asked for, what was not, and arguments that smuggle text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from wardround.patients import ALL_TOOLS

from .evidence import TurnTrace
from .per_spec import per_spec
from .records import WriteRecord
from .rubric import AllOf, AnyOf, Check, OrderCheck, StateCheck, TurnSpec

if TYPE_CHECKING:
    from wardround.patients import Overlay, ToolResult


def write_record(result: ToolResult, record: Overlay | None = None) -> WriteRecord | None:
    """Return what a call wrote, as traces hold it; None where it wrote nothing.

    Args:
        result: What the call did.
        record: The record as it stands after the call, for the body of what was written; None leaves bodies out.
    """
    arguments = dict(result.arguments)
    if result.file is not None:
        text = dict(record.workspace.items()).get(result.file, "") if record is not None else ""
        return WriteRecord(tool=result.tool, arguments=arguments, resource=result.file, kind="file", body=text)
    key = result.created or result.updated
    if key is None:
        return None
    entry = record.read(*key.split("/", 1)) if record is not None else None
    body = "" if entry is None else entry.body.decode()
    if result.created is not None:
        return WriteRecord(tool=result.tool, arguments=arguments, resource=key, body=body)
    target = dict(result.target or {})
    return WriteRecord(
        tool=result.tool, arguments=arguments, resource=key, kind="update", target=target, body=body
    )  # fmt: skip


def orders_in(check: Check) -> Iterator[OrderCheck]:
    """Yield the order checks a check asks for; what stands under `not` is not asked for."""
    yield from (one for one in _writes_in(check) if isinstance(one, OrderCheck))


def states_in(check: Check) -> Iterator[StateCheck]:
    """Yield the state checks a check asks for; what stands under `not` is not asked for."""
    yield from (one for one in _writes_in(check) if isinstance(one, StateCheck))


def _writes_in(check: Check) -> Iterator[OrderCheck | StateCheck]:
    if isinstance(check, OrderCheck | StateCheck):
        yield check
    elif isinstance(check, AnyOf | AllOf):
        for member in check.checks:
            yield from _writes_in(member)


@per_spec
def requested_tools(spec: TurnSpec) -> frozenset[str]:
    """Return the tools of the writes the turn asks for: those that orders name, those that write a state's type."""
    asked = {order.tool for item in spec.rubric for order in orders_in(item.check)}
    types = {
        state.type for item in spec.rubric for state in states_in(item.check) if state.type and state.count != "none"
    }
    asked.update(name for name, tool in ALL_TOOLS.items() if tool.effect == "write" and name.split(".")[0] in types)
    return frozenset(asked)


def asks_for_writes(check: Check) -> bool:
    """Tell whether a check is judged over the turn's writes on the record."""
    return any(isinstance(one, OrderCheck) or one.type is not None for one in _writes_in(check))


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
