"""Batch and transaction: many requests in one; those of a transaction are done wholly or not at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import orjson

from wardround.patients import Resource, SearchError, dump_resource, searchable, with_references

from .messages import Refused, Reply, Request, outcome_body, refused
from .negotiation import check_body_type
from .reading import Call
from .searching import matching
from .writing import body_of, create

ENTRIES = 200
"""Entries one bundle may have."""

_METHODS = ("DELETE", "POST", "PUT", "PATCH", "GET", "HEAD")
"""In the order in which a transaction does them."""

_CONDITIONAL = re.compile(r"([A-Z][A-Za-z]{1,60})\?(.+)", re.DOTALL)

_HEADERS = {"ifMatch": "if-match", "ifNoneMatch": "if-none-match", "ifNoneExist": "if-none-exist"}

Handle = Callable[[Request], Reply]
"""Answers one request; raises what refuses it."""


def bundle(call: Call, handle: Handle) -> Reply:
    """Answer a batch or a transaction.

    Args:
        call: The request.
        handle: What answers each entry, for the same caller.
    """
    check_body_type(call.request)
    told = body_of(call.request)
    kind = told.get("type") if isinstance(told, dict) and told.get("resourceType") == "Bundle" else None
    if kind not in ("batch", "transaction"):
        raise refused(400, "invalid", "POST here takes a Bundle of type batch or transaction")
    entries = told.get("entry", [])
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise refused(400, "structure", "Bundle.entry: an array of objects")
    if len(entries) > ENTRIES:
        raise refused(413, "too-costly", f"a bundle has at most {ENTRIES} entries")
    parts = _transaction(call, entries, handle) if kind == "transaction" else _batch(call, entries, handle)
    found = {"resourceType": "Bundle", "type": f"{kind}-response"}
    return Reply(200, orjson.dumps({**found, "entry": parts} if parts else found))


def _request(call: Call, entry: Mapping[str, Any], number: int) -> Request:
    """Return an entry as the request that it stands for.

    Raises:
        Refused: It names none.
    """
    told = entry.get("request")
    method, url = (told.get("method"), told.get("url")) if isinstance(told, Mapping) else (None, None)
    if method not in _METHODS or not isinstance(url, str):
        raise refused(400, "invalid", f"Bundle.entry[{number}].request: needs `method` and `url`")
    assert isinstance(told, Mapping)
    path, _, query = url.removeprefix(f"{call.base}/").partition("?")
    headers = {header: str(told[name]) for name, header in _HEADERS.items() if name in told}
    if "prefer" in call.request.headers:
        headers["prefer"] = call.request.headers["prefer"]
    body, resource = b"", entry.get("resource")
    if method in ("POST", "PUT", "PATCH") and isinstance(resource, dict):
        body = dump_resource(resource)
        if method == "PATCH" and resource.get("resourceType") == "Binary":
            raise refused(400, "not-supported", f"Bundle.entry[{number}]: a patch in a Binary; send it by PATCH")
    return Request(method, unquote(path).strip("/"), query, headers, body, call.base)


def _batch(call: Call, entries: list[Any], handle: Handle) -> list[dict[str, Any]]:
    found = []
    for number, entry in enumerate(entries):
        try:
            call.tick()  # what is done stays done: only the rest is refused
            found.append(_part(handle(_request(call, entry, number))))
        except Refused as fault:
            found.append(_failed(fault))
        except SearchError as fault:
            found.append(_failed(Refused(fault.status, fault.issues)))
    return found


def _transaction(call: Call, entries: list[Any], handle: Handle) -> list[dict[str, Any]]:
    """Do all entries or none: writes first, each where R4 has it; references between them become real ones."""
    requests = [_request(call, entry, number) for number, entry in enumerate(entries)]
    order = sorted(range(len(entries)), key=lambda number: (_METHODS.index(requests[number].method), number))
    found: list[dict[str, Any]] = [{} for _ in entries]
    written: set[str] = set()
    with call.records.together():
        places, names = _places(call, entries, requests)
        for number in _patients_first(order, entries):
            call.tick()
            request = requests[number]
            try:
                if request.body:
                    resource = with_references(entries[number]["resource"], lambda text: _resolved(call, text, names))
                    request = replace(request, body=dump_resource(resource))
                    if number in places:
                        found[number] = _part(_create(call, request, resource, places[number]))
                        continue
                reply = handle(request)
                if request.method in ("PUT", "PATCH"):
                    _once(reply, written)
                found[number] = _part(reply)
            except Refused as fault:
                raise _whole(fault, number) from fault
            except SearchError as fault:
                raise _whole(Refused(fault.status, fault.issues), number) from fault
    return found


def _once(reply: Reply, written: set[str]) -> None:
    """Refuse a second change of one resource in a transaction, however its entries name it (R4).

    Raises:
        Refused: 400.
    """
    key = reply.headers["Location"].partition("/_history/")[0]
    if key in written:
        raise refused(400, "duplicate", "another entry changes the same resource; put both changes into one")
    written.add(key)


def _whole(fault: Refused, number: int) -> Refused:
    """Return the refusal of a transaction for the sake of one entry."""
    issues = [replace(issue, diagnostics=f"Bundle.entry[{number}]: {issue.diagnostics}") for issue in fault.issues]
    return Refused(400 if fault.status == 404 else fault.status, issues, {})


def _create(call: Call, request: Request, resource: Resource, identity: str | None) -> Reply:
    inner = replace(call, request=request)
    kind = request.path
    if resource.get("resourceType") != kind:
        raise refused(400, "invalid", f"the resource is a {resource.get('resourceType')}; the URL says {kind}")
    reply = create(inner, kind, resource, request.header("if-none-exist"), identity)
    if reply.status == 200 and identity is not None:  # references to it were given another id already
        raise refused(
            412, "duplicate", "the condition finds what another entry of the transaction makes; leave one out"
        )
    return reply


def _places(call: Call, entries: list[Any], requests: list[Request]) -> tuple[dict[int, str | None], dict[str, str]]:
    """Return the ids of what the bundle creates, and what stands for its `fullUrl`s in references."""
    places: dict[int, str | None] = {}
    names: dict[str, str] = {}
    for number, (entry, request) in enumerate(zip(entries, requests, strict=True)):
        url = entry.get("fullUrl")
        if request.method == "POST" and request.body and "/" not in request.path and request.path.isalpha():
            kind = request.path
            condition = request.header("if-none-exist")
            hits = matching(call, kind, condition) if condition else None
            if hits is not None and hits.total == 1:
                key = hits.matches[0].key
                places[number] = None
            else:
                places[number] = call.records.allocate(kind)
                key = f"{kind}/{places[number]}"
            if isinstance(url, str) and url:
                if url in names:
                    raise refused(400, "invalid", f"Bundle.entry[{number}].fullUrl: stands twice")
                names[url] = key
        elif isinstance(url, str) and request.method in ("PUT", "PATCH") and request.path:
            names.setdefault(url, request.path)
    return places, names


def _resolved(call: Call, text: str, names: Mapping[str, str]) -> str:
    """Return what a reference of a transaction becomes: the key of an entry, or of the one that a condition finds."""
    if text in names:
        return names[text]
    match = _CONDITIONAL.fullmatch(text)
    if match is None or match[1] not in searchable():
        return text
    hits = matching(call, match[1], match[2])
    if hits.total != 1:
        raise refused(412, "multiple-matches", f"the reference `{text[:80]}` finds {hits.total} resources, not one")
    return hits.matches[0].key


def _patients_first(order: list[int], entries: list[Any]) -> list[int]:
    """Return places in the order of work: of the new resources patients come first, so that theirs have a record."""

    def rank(number: int) -> int:
        entry = entries[number]
        resource = entry.get("resource")
        is_patient = isinstance(resource, dict) and resource.get("resourceType") == "Patient"
        return 0 if is_patient and entry["request"]["method"] == "POST" else 1

    return sorted(order, key=rank)


def _part(reply: Reply) -> dict[str, Any]:
    """Return a reply as an entry of the response."""
    phrases = {200: "200 OK", 201: "201 Created", 304: "304 Not Modified"}
    response: dict[str, Any] = {"status": phrases.get(reply.status, str(reply.status))}
    for header, name in (("Location", "location"), ("ETag", "etag")):
        if header in reply.headers:
            response[name] = reply.headers[header]
    found: dict[str, Any] = {"response": response}
    if reply.body:
        found = {"resource": orjson.Fragment(reply.body), **found}
    return found


def _failed(fault: Refused) -> dict[str, Any]:
    return {"response": {"status": str(fault.status), "outcome": orjson.Fragment(outcome_body(fault.issues))}}
