"""Results as FHIR JSON: resources cut to some of their elements, and the searchset Bundle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from wardround.patients.chart import Entry
from wardround.patients.resource import dump, load

from .definitions import Elements, elements
from .errors import Issue, outcome
from .results import Wanted

SUBSETTED = {"system": "http://terminology.hl7.org/CodeSystem/v3-ObservationValue", "code": "SUBSETTED"}

_ALWAYS = frozenset({"resourceType", "id", "meta"})


def body_of(entry: Entry, wanted: Wanted) -> bytes:
    """Return the JSON of a resource, cut as `_elements` or `_summary` want it; a cut one is tagged SUBSETTED."""
    if wanted.elements is None and wanted.summary == "false":
        return entry.body
    resource = load(entry.body)
    known = elements(entry.type)
    if wanted.summary == "data":
        kept = {name: value for name, value in resource.items() if name != "text"}
    else:
        names = _names(wanted, known)
        kept = {name: value for name, value in resource.items() if name.removeprefix("_") in names}
    meta = kept.get("meta", {})
    tags = [tag for tag in meta.get("tag", ()) if tag != SUBSETTED]
    head = {"resourceType": kept.pop("resourceType"), "id": kept.pop("id")}
    return dump({**head, **kept, "meta": {**meta, "tag": [*tags, SUBSETTED]}})


def _names(wanted: Wanted, known: Elements) -> frozenset[str]:
    if wanted.summary == "text":
        return _ALWAYS | known.mandatory | {"text"}
    if wanted.summary == "true":
        return _ALWAYS | known.mandatory | known.summary
    assert wanted.elements is not None
    choices = [key for name in wanted.elements for key in known.choices.get(name, ())]
    return _ALWAYS | known.mandatory | wanted.elements | frozenset(choices)


def bundle_of(
    total: int,
    links: Sequence[tuple[str, str]],
    entries: Sequence[tuple[str, Entry]],
    issues: Sequence[Issue],
    wanted: Wanted,
    base: str,
) -> bytes:
    """Write the searchset Bundle.

    Args:
        total: Matches over all pages.
        links: Relation and URL.
        entries: `match` or `include`, and the resource.
        issues: Told in an OperationOutcome at the end, if any.
        wanted: How resources are cut.
        base: Own base URL: with it every entry has an absolute `fullUrl`, without it none.
    """
    parts = []
    for mode, entry in entries:
        url = b'{"fullUrl":' + orjson.dumps(f"{base}/{entry.key}") + b"," if base else b"{"
        whole = mode == "include" and wanted.elements is not None  # element names are those of the type searched
        parts.append(url + b'"resource":' + (entry.body if whole else body_of(entry, wanted)) + _MODES[mode])
    if issues:
        told: dict[str, Any] = outcome(issues)
        parts.append(b'{"resource":' + orjson.dumps(told) + _MODES["outcome"])
    told_links = orjson.dumps([{"relation": relation, "url": url} for relation, url in links])
    head = b'{"resourceType":"Bundle","type":"searchset","total":%d,"link":' % total + told_links
    return head + (b',"entry":[' + b",".join(parts) + b"]}" if parts else b"}")


_MODES = {mode: b',"search":{"mode":"%s"}}' % mode.encode() for mode in ("match", "include", "outcome")}
