"""The clock: the forms a resource takes as its later fields become known.

A resource is packed as one form per stretch of time, `[known, until)`; a read at an anchor picks the form of that
anchor, so no read can touch what was not yet known. Which fields come later is data: `data/clock.json`, and the
`known-later` marks of the resource itself (they win). A reference to a resource of the same chart that became known
later is such a field too: a result that was filed before its stay began does not name the stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import orjson

from .errors import DataError
from .resource import KNOWN_LATER, Resource, end_of, tag_derived, values_at
from .times import NEVER, Instant, parse_instant

HIDDEN = "hidden"
"""In place of a status in `clock.json`: the element is left out, nothing is known about it."""


@cache
def clock_table() -> dict[str, Any]:
    """Return the table of later-known fields (`data/clock.json`)."""
    table: dict[str, Any] = orjson.loads(files("wardround.patients").joinpath("data/clock.json").read_bytes())
    return table


@cache
def later_fields(resource_type: str) -> tuple[Mapping[str, Any], ...]:
    """Return the rules of the fields of a type that become known later."""
    table = clock_table()
    return (*table["any"], *table["types"].get(resource_type, {}).get("fields", ()))


def _applicable(resource: Resource) -> list[Mapping[str, Any]]:
    return [
        rule
        for rule in later_fields(resource["resourceType"])
        if rule["path"].partition(".")[0] in resource
        and ("where" not in rule or next(values_at(resource, rule["where"]), None) is not None)
    ]


@cache
def _status_rule(resource_type: str) -> Mapping[str, Any] | None:
    rule: Mapping[str, Any] | None = clock_table()["types"].get(resource_type, {}).get("status")
    return rule


@cache
def _watched(resource_type: str) -> frozenset[str]:
    """First keys of every rule of a type: a resource without any of them has one form only."""
    rule = _status_rule(resource_type)
    keys = {field["path"].split(".")[0] for field in later_fields(resource_type)} - {"meta"}
    return frozenset(keys | ({rule["path"]} if rule else set()))


def forms(
    resource: Resource, known: Instant, late: Mapping[str, Instant] | None = None
) -> list[tuple[Instant, Resource]]:
    """Return the forms of a resource in order of time, each with the instant from which it holds.

    Args:
        resource: The whole resource, with any `known-later` marks; not changed.
        known: When the resource itself became known.
        late: When the resources it refers to became known, by `Type/id`, where that is later than `known`.

    Returns:
        At least one form; the first holds from `known`, equal neighbours are one form.
    """
    meta = resource.get("meta", {})
    marked = "lastUpdated" in meta or any(mark.get("url") == KNOWN_LATER for mark in meta.get("extension", ()))
    late = late or {}
    if not marked and not late and _watched(resource["resourceType"]).isdisjoint(resource):
        return [(known, resource)]
    marks = _marks(resource)
    moments = (*_instants(resource, marks), *late.values())
    if not marks and _all_known(resource, known, moments):
        return [(known, resource)]
    instants = sorted({known, *(moment for moment in moments if known < moment < NEVER)})
    out: list[tuple[Instant, Resource]] = []
    for moment in instants:
        form = _as_of(resource, marks, moment)
        hidden = frozenset(ref for ref, since in late.items() if since > moment)
        if hidden:
            _drop_references(form, hidden)
        if not out or form != out[-1][1]:
            out.append((moment, form))
    return out


def _all_known(resource: Resource, known: Instant, moments: tuple[Instant, ...]) -> bool:
    """Tell whether nothing of a resource comes later: no field, and its type has no status that a rule chooses."""
    if _status_rule(resource["resourceType"]) is not None or any(moment > known for moment in moments):
        return False
    return all("each" in rule or rule["known"] is not None for rule in _applicable(resource))


Mark = tuple[Instant, str, str | None]
"""When, path, and the JSON text of the new value (None: the field is dropped before)."""


def _marks(resource: Resource) -> list[Mark]:
    out = []
    for mark in resource.get("meta", {}).get("extension", ()):
        if mark.get("url") != KNOWN_LATER:
            continue
        parts = {part["url"]: part for part in mark["extension"]}
        value = parts["value"]["valueString"] if "value" in parts else None
        out.append((parse_instant(parts["known"]["valueInstant"]), parts["path"]["valueString"], value))
    return sorted(out, key=lambda mark: (mark[0], mark[1], mark[2] or ""))


def _own_times(marks: list[Mark]) -> dict[str, Instant]:
    return {path: known for known, path, value in reversed(marks) if value is None}


def _instants(resource: Resource, marks: list[Mark]) -> Iterator[Instant]:
    for known, _, _ in marks:
        yield known
    own = _own_times(marks)
    for rule in _applicable(resource):
        if "each" in rule:
            for element in values_at(resource, rule["path"]):
                yield _time(element, rule["each"])
        elif rule["known"] == "self":
            yield from (_moment(value) for value in values_at(resource, rule["path"]))
        elif rule["known"] is not None:
            yield _known(resource, rule["known"], own)
    yield from own.values()


def _as_of(resource: Resource, marks: list[Mark], anchor: Instant) -> Resource:
    """Return a fresh copy of the resource as it was known at `anchor`."""
    form: Resource = _copy(resource)
    own = _own_times(marks)
    hidden = {path for path, known in own.items() if known > anchor}
    for known, path, value in marks:
        if value is not None and known <= anchor:
            _set(form, path, orjson.loads(value))
    given = {path for _, path, value in marks if value is not None}
    _apply_status(form, own, given, anchor)
    for rule in _applicable(form):
        path = rule["path"]
        if path in own or path in given:
            continue
        if "each" in rule:
            _keep(form, path, rule["each"], anchor)
        elif rule["known"] == "self":
            _drop_where(form, path, anchor)
        elif rule["known"] is None or _known(resource, rule["known"], own) > anchor:
            if "before" in rule:
                _replace(form, path, rule["before"])
            else:
                hidden.add(path)
    for path in sorted(hidden):
        _drop(form, path)
    _strip(form)
    return form


def _strip(form: Resource) -> None:
    meta = form.get("meta")
    if meta and "extension" in meta:
        meta["extension"] = [mark for mark in meta["extension"] if mark.get("url") != KNOWN_LATER]
        if not meta["extension"]:
            del meta["extension"]
        if not meta:
            del form["meta"]


def _apply_status(form: Resource, own: dict[str, Instant], given: set[str], anchor: Instant) -> None:
    """Set the status as it was at `anchor`, and tag it where a rule chose the word.

    An open status is always tagged: were the tag only on what ends later, it would tell the future.
    """
    rule = _status_rule(form["resourceType"])
    if rule is None or rule["path"] not in form or rule["path"] in given or rule["path"] in own:
        return
    packed = _status(form, rule["path"])
    wanted = _status_at(form, rule, own, packed, anchor)
    if wanted is None or wanted == packed != rule["open"]:
        return
    if wanted == HIDDEN:
        del form[rule["path"]]
    elif wanted != packed and "system" in rule:
        form[rule["path"]] = {"coding": [{"system": rule["system"], "code": wanted}]}
    else:
        form[rule["path"]] = wanted if wanted != packed else form[rule["path"]]
    tag_derived(form)


def _status_at(
    form: Resource, rule: Mapping[str, Any], own: dict[str, Instant], packed: str | None, anchor: Instant
) -> str | None:
    if packed != rule["open"] and packed not in rule["final"]:
        return packed
    ends = [path for path in rule["end"] if next(values_at(form, path), None) is not None]
    known = min((_known(form, path, own) for path in ends), default=NEVER)
    if known == NEVER:
        return rule["undated"] if packed in rule["final"] and rule["undated"] else packed
    start = next((value for path in rule.get("start", ()) for value in values_at(form, path)), None)
    if "reversed" in rule and start is not None and _end_before(form, ends[0], start):
        reversed_status: str = rule["reversed"]
        return reversed_status if known <= anchor else rule["open"]
    if known > anchor:
        open_status: str = rule["open"]
        return open_status
    closed: str = rule["closed"]
    return packed if packed in rule["final"] else closed


def _end_before(form: Resource, path: str, start: Any) -> bool:
    end = next(values_at(form, path))
    return isinstance(end, str) and isinstance(start, str) and end_of(end) < parse_instant(start)


def _status(form: Resource, path: str) -> str | None:
    value = form.get(path)
    if isinstance(value, dict):
        return next((coding.get("code") for coding in value.get("coding", ())), None)
    return value


def _moment(value: Any) -> Instant:
    """Return when a dated value is known; NEVER for what carries no date."""
    if not isinstance(value, str):
        return NEVER
    try:
        return end_of(value)
    except ValueError:
        return NEVER


def _time(element: Any, path: str) -> Instant:
    """Return when an array element began; elements without that date are as old as their resource."""
    value = next(values_at(element, path), None)
    return -NEVER if value is None else _moment(value)


def _known(resource: Resource, path: str | list[str], own: dict[str, Instant]) -> Instant:
    """Return when the dates at a path are all known; of several paths the first that is there decides."""
    for one in (path,) if isinstance(path, str) else path:
        if one in own:
            return own[one]
        moments = [_moment(value) for value in values_at(resource, one)]
        if moments:
            return max(moments)
    return NEVER


def _replace(form: Resource, path: str, value: Any) -> None:
    """Set the field at `path` wherever it is there, and tag the resource."""
    parents, _, last = path.rpartition(".")
    for node in values_at(form, parents):
        if isinstance(node, dict) and last in node:
            node[last] = value
            tag_derived(form)


def _drop(node: Any, path: str) -> None:
    """Remove the field at `path` everywhere, its `_twin` too, and parents that become empty."""
    key, _, rest = path.partition(".")
    for item in node if isinstance(node, list) else (node,):
        if not isinstance(item, dict):
            continue
        if not rest:
            item.pop(key, None)
            item.pop(f"_{key}", None)
        elif key in item:
            _drop(item[key], rest)
            _prune(item, key)


def _prune(item: Resource, key: str) -> None:
    value = item[key]
    if isinstance(value, list):
        value = [element for element in value if element != {}]
        item[key] = value
    if value in ({}, []):
        del item[key]


def _drop_where(node: Any, path: str, anchor: Instant) -> None:
    """Remove the dated field at `path` wherever its own date is later than `anchor`."""
    key, _, rest = path.partition(".")
    for item in node if isinstance(node, list) else (node,):
        if not isinstance(item, dict) or key not in item:
            continue
        if rest:
            _drop_where(item[key], rest, anchor)
            _prune(item, key)
        elif _moment(item[key]) > anchor:
            item.pop(key)
            item.pop(f"_{key}", None)


def _keep(form: Resource, path: str, each: str, anchor: Instant) -> None:
    elements = form.get(path)
    if isinstance(elements, list):
        form[path] = [element for element in elements if _time(element, each) <= anchor]
        if not form[path]:
            del form[path]


def _copy(node: Any) -> Any:
    """Copy JSON; many times as fast as `copy.deepcopy`. Most values are texts: no call is spent on them."""
    if isinstance(node, dict):
        return {key: _copy(value) if isinstance(value, _BRANCHES) else value for key, value in node.items()}
    if isinstance(node, list):
        return [_copy(value) if isinstance(value, _BRANCHES) else value for value in node]
    return node


_BRANCHES = (dict, list)


CARRIERS = frozenset(
    {
        "actor", "condition", "diagnosisReference", "entity", "item", "itemReference", "link", "other",
        "procedureReference", "target", "valueReference", "what", "who",
    }
)  # fmt: skip
"""Required references of array elements: without them the element itself goes."""


def _drop_references(node: Resource, hidden: frozenset[str]) -> None:
    """Remove references to hidden resources, the array elements that stand on them, and parents that become empty."""
    for key, value in list(node.items()):
        if isinstance(value, dict):
            _drop_references(value, hidden)
            if value.get("reference") in hidden:
                del node[key]
            else:
                _prune(node, key)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            node[key] = [element for element in value if not _stands_on(element, hidden)]
            for element in node[key]:
                _drop_references(element, hidden)
            _prune(node, key)


def _stands_on(element: Any, hidden: frozenset[str]) -> bool:
    if not isinstance(element, dict):
        return False
    if element.get("reference") in hidden:
        return True
    carried = (element[key] for key in CARRIERS if isinstance(element.get(key), dict))
    return any(reference.get("reference") in hidden for reference in carried)


def _set(form: Resource, path: str, value: Any) -> None:
    *parents, last = path.split(".")
    node = form
    for key in parents:
        node = node.setdefault(key, {})
        if not isinstance(node, dict):
            name = f"{form['resourceType']}/{form.get('id')}"
            raise DataError(f"{name}: `known-later` path `{path}` runs through an array; name a field outside arrays")
    node[last] = value
