"""JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7386) of a resource."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from .messages import Refused, refused

OPERATIONS = 200
"""Operations one patch may have."""

COPIED = 10_000
"""Values that the copies of one patch may have in all."""

MERGED = 64
"""Levels one merge may have."""

_INDEX = re.compile(r"0|[1-9][0-9]{0,5}")


def merge_patch(node: Any, patch: Any, depth: int = 0) -> Any:
    """Return `node` merged with a patch: null takes a member out, an object is merged, anything else replaces."""
    if not isinstance(patch, Mapping) or depth > MERGED:
        return patch
    found = dict(node) if isinstance(node, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = merge_patch(found.get(name), value, depth + 1)
    return found


def json_patch(resource: Mapping[str, Any], operations: Sequence[Any]) -> dict[str, Any]:
    """Return a resource after the operations of a JSON Patch; all are done or none.

    Raises:
        Refused: 400 for what is no patch, 422 where it does not fit the resource (a failed `test` included).
    """
    if len(operations) > OPERATIONS:
        raise refused(413, "too-costly", f"a patch has at most {OPERATIONS} operations")
    root: dict[str, Any] = {"": deepcopy(dict(resource))}
    left = COPIED
    for number, operation in enumerate(operations, start=1):
        try:
            left -= _apply(root, operation)
        except (KeyError, IndexError, TypeError, ValueError) as fault:
            text = f"operation {number} of the patch: {fault}"
            raise refused(422, "processing", text) from fault
        if left < 0:
            raise refused(413, "too-costly", f"a patch copies at most {COPIED} values")
    found = root.get("")
    if not isinstance(found, dict):
        raise refused(422, "processing", "the patch leaves no resource")
    return found


def _bad(text: str) -> Refused:
    return refused(400, "invalid", text)


def _apply(root: dict[str, Any], operation: Any) -> int:
    """Do one operation; return how many values it copied."""
    if not isinstance(operation, Mapping) or not isinstance(operation.get("path"), str):
        raise _bad("a patch is an array of objects with `op` and `path`")
    op, path = operation.get("op"), _steps(operation["path"])
    if op in ("add", "replace", "test") and "value" not in operation:
        raise _bad(f"`{op}` needs a `value`")
    if op in ("move", "copy") and not isinstance(operation.get("from"), str):
        raise _bad(f"`{op}` needs `from`")
    if op == "add":
        _put(root, path, deepcopy(operation["value"]), new=True)
    elif op == "replace":
        _put(root, path, deepcopy(operation["value"]), new=False)
    elif op == "remove":
        _take(root, path)
    elif op == "test":
        if not _same(_at(root, path), operation["value"]):
            raise ValueError("the value is another one")
    elif op in ("move", "copy"):
        source = _steps(operation["from"])
        if op == "move" and path[: len(source)] == source and path != source:
            raise ValueError("nothing can be moved into itself")
        value = _take(root, source) if op == "move" else _at(root, source)
        weight = _weight(value) if op == "copy" else 0  # copies of copies would double without end
        if weight <= COPIED:
            _put(root, path, value if op == "move" else deepcopy(value), new=True)
        return weight
    else:
        raise _bad(f"`op` is `{str(op)[:40]}`; one of add, copy, move, remove, replace, test")
    return 0


def _weight(value: Any) -> int:
    """Return how many values lie in a value, itself counted; counting stops beyond `COPIED`."""
    waiting, found = [value], 0
    while waiting and found <= COPIED:
        one = waiting.pop()
        found += 1
        if isinstance(one, dict | list):
            waiting.extend(one.values() if isinstance(one, dict) else one)
    return found


def _same(here: Any, there: Any) -> bool:
    """Tell whether two JSON values are the same; true is no number."""
    if isinstance(here, bool) or isinstance(there, bool):
        return here is there
    if isinstance(here, Mapping) and isinstance(there, Mapping):
        return here.keys() == there.keys() and all(_same(value, there[name]) for name, value in here.items())
    if isinstance(here, list) and isinstance(there, list):
        return len(here) == len(there) and all(_same(one, two) for one, two in zip(here, there, strict=True))
    return bool(here == there)


def _steps(path: str) -> list[str]:
    """Return the steps of a JSON pointer, from a root whose only member is the resource."""
    if path and not path.startswith("/"):
        raise _bad(f"`{path[:80]}` is no JSON pointer; it begins with `/`")
    return [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")]


def _at(root: Any, steps: Sequence[str]) -> Any:
    for step in steps:
        root = root[_index(root, step)] if isinstance(root, list) else root[step]
    return root


def _index(array: list[Any], step: str, *, end: bool = False) -> int:
    if step == "-" and end:
        return len(array)
    if _INDEX.fullmatch(step) is None:
        raise ValueError(f"`{step[:40]}` is no place in an array")
    place = int(step)
    if place > len(array) - (0 if end else 1):
        raise IndexError(f"the array has no place {place}")
    return place


def _put(root: Any, steps: Sequence[str], value: Any, *, new: bool) -> None:
    parent, last = _at(root, steps[:-1]), steps[-1]
    if isinstance(parent, list):
        place = _index(parent, last, end=new)
        parent[place : place + (0 if new else 1)] = [value]
    elif isinstance(parent, dict):
        if not new and last not in parent:
            raise KeyError(f"there is no `{last[:40]}`")
        parent[last] = value
    else:
        raise TypeError("the path leads into a value")


def _take(root: Any, steps: Sequence[str]) -> Any:
    parent, last = _at(root, steps[:-1]), steps[-1]
    if isinstance(parent, list):
        return parent.pop(_index(parent, last))
    if not isinstance(parent, dict):
        raise TypeError("the path leads into a value")
    return parent.pop(last)
