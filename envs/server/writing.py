"""Writing: create, update, patch, validate, each allowed only in the form it ends in and, for changes, begins with."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from wardround.patients import (
    DataError,
    Entry,
    InvalidResource,
    Issue,
    Resource,
    patients_named,
    read_resource,
    validate,
    with_references,
)

from .messages import Refused, Reply, Request, outcome_body, refused
from .negotiation import JSON_PATCH, MERGE_PATCH, body_type, check_body_type, names_version, preferences
from .patching import json_patch, merge_patch
from .reading import Call, find, missing, stamps, version_of, visible
from .searching import matching, pairs_of

_RESULTS = frozenset({"_format", "_pretty"})
_PATH = re.compile(r"[A-Za-z][A-Za-z0-9_.\[\]]{0,200}")


def body_of(request: Request) -> Any:
    """Return the JSON of a body.

    Raises:
        Refused: 400: it is none.
    """
    if not request.body.strip():
        raise refused(400, "invalid", "the body is empty; send a resource as JSON")
    try:
        return read_resource(request.body)
    except DataError as fault:
        raise refused(400, "structure", f"the body is {fault}") from fault


def resource_of(call: Call, kind: str) -> Resource:
    """Return the resource in a body, of the type that the URL names.

    Raises:
        Refused: 400 or 415.
    """
    check_body_type(call.request)
    resource = body_of(call.request)
    return of_kind(resource, kind)


def of_kind(resource: Any, kind: str) -> Resource:
    """Return a resource once it is of a type.

    Raises:
        Refused: 400: it is of another.
    """
    given = resource.get("resourceType") if isinstance(resource, dict) else None
    if given != kind:
        raise refused(400, "invalid", f"the body is a {str(given)[:60]}; the URL says {kind}")
    found: Resource = resource
    return found


def condition_of(call: Call) -> str:
    """Return what a create depends on: If-None-Exist, or parameters on the URL; "" for nothing."""
    header = call.request.header("if-none-exist")
    if header:
        return header
    pairs = pairs_of(call.request.query)
    return call.request.query if any(name not in _RESULTS for name, _ in pairs) else ""


def create(call: Call, kind: str, resource: Resource, condition: str = "", identity: str | None = None) -> Reply:
    """Write a new resource, unless the condition finds one.

    Args:
        call: The request.
        kind: Its type.
        resource: The resource; its id is ignored.
        condition: A search; one hit is returned instead, several are refused.
        identity: An id that was allocated for it before.
    """
    call.need("c", kind)
    if condition:
        hits = matching(call, kind, condition)
        if hits.total > 1:
            raise refused(412, "multiple-matches", f"the condition finds {hits.total} resources; nothing was written")
        if hits.total == 1:
            call.show(hits.matches[0].key)
            return _written(call, hits.matches[0], 200)
    resource = localised(call, resource)
    with call.records.together():
        patient = None if kind == "Patient" else subject_of(call, resource)
        entry = _valid(lambda: call.records.create(patient, resource, identity))
        _allowed(call, entry, patient or entry.id, "c")
    return _written(call, entry, 201)


def subject_of(call: Call, resource: Resource) -> str:
    """Return the one patient whose record a resource belongs to.

    Raises:
        Refused: 422: it is about none, about several, or about one who is not here; 403: about one in whose record
            no scope allows it.
    """
    kind = resource.get("resourceType")
    named = patients_named(resource)
    if len(named) != 1:
        text = f"{kind}: is about {len(named)} patients; it must refer to the one in whose record it belongs"
        raise Refused(422, [Issue("error", "business-rule", text, f"{kind}.subject")])
    if kind not in call.access.visibility("c", named[0]).kinds:  # nor does the refusal tell whether they are here
        raise _forbidden(call, str(kind), "c")
    if call.records.record(named[0]) is None:
        raise Refused(422, [Issue("error", "not-found", f"there is no Patient/{named[0]}", f"{kind}.subject")])
    return named[0]


def localised(call: Call, resource: Resource) -> Resource:
    """Return a resource whose references to this server are relative, as records have them."""
    start = f"{call.base}/"
    found: Resource = with_references(resource, lambda text: text.removeprefix(start) if call.base else text)
    return found


def _valid(write: Callable[[], Entry]) -> Entry:
    try:
        return write()
    except InvalidResource as fault:
        raise Refused(422, issues_of(fault.problems)) from fault


def issues_of(problems: list[str]) -> list[Issue]:
    """Return what is wrong with a resource as issues, each with the element it is about."""
    found = []
    for problem in problems:
        path, _, _ = problem.partition(":")
        expression = path if _PATH.fullmatch(path) else ""
        found.append(Issue("error", "invalid", problem, expression))
    return found


def _allowed(call: Call, entry: Entry, patient: str, action: str) -> None:
    """Refuse a write whose result no scope allows; the caller takes it back."""
    record = call.records.record(patient)
    assert record is not None  # it was just written to
    if visible(record, entry.type, entry.id, call.access.visibility(action, patient)) is None:
        raise _forbidden(call, entry.type, action)


def _forbidden(call: Call, kind: str, action: str) -> Refused:
    verb = "create" if action == "c" else "change"
    text = f"role `{call.access.role}` may not {verb} this {kind}: no scope allows it in this form"
    return refused(403, "forbidden", text)


def _written(call: Call, entry: Entry, status: int) -> Reply:
    """Return the reply to a write, as much of it as the caller prefers."""
    headers = stamps(entry)
    headers["Location"] = f"{call.base}/{entry.key}/_history/{version_of(entry)}"
    wanted = preferences(call.request).get("return", "representation")
    if wanted == "minimal":
        return Reply(status, b"", headers)
    if wanted == "OperationOutcome":
        done = "there already" if status == 200 and call.request.method == "POST" else "written"
        return Reply(status, outcome_body([Issue("information", "informational", f"{entry.key}: {done}")]), headers)
    return Reply(status, entry.body, headers)


def update(call: Call, kind: str, identity: str, resource: Resource) -> Reply:
    """Write the next version of a resource as a whole."""
    call.need("u", kind)
    if resource.get("id") != identity:
        raise refused(400, "invalid", f"the resource's id must be that of the URL, {identity[:64]}")
    return change(call, kind, identity, lambda _: localised(call, resource))


def change(call: Call, kind: str, identity: str, make: Callable[[Resource], Resource]) -> Reply:
    """Write the next version of a resource, made of its current one.

    Raises:
        Refused: It is not there (404; 405 for a PUT, which makes nothing new), may not be changed (403), or has
            another version than the caller thinks (412).
    """
    place = find(call, kind, identity, "u")
    if place is None:
        if find(call, kind, identity, "r") is not None:
            raise refused(403, "forbidden", f"role `{call.access.role}` may not change this {kind}")
        if call.request.method == "PUT":
            text = f"there is no {kind}/{identity[:64]}, and ids are given by the server: create it with POST"
            raise refused(405, "not-supported", text, {"Allow": "GET, HEAD"})
        raise missing(kind, identity)
    patient, _, entry = place
    expected, version = call.request.header("if-match"), version_of(entry)
    unexpected = names_version(call.request.header("if-none-match"), version)
    if unexpected or (expected and not names_version(expected, version)):
        raise refused(412, "conflict", f"{entry.key} is at version {version}; read it again")
    resource = make(entry.resource())
    if resource.get("resourceType") != kind or resource.get("id") != identity:
        raise refused(422, "business-rule", "a change keeps type and id")
    if kind != "Patient" and (named := patients_named(resource)) and named != (patient,):
        raise refused(422, "business-rule", f"{entry.key} is about Patient/{patient}; a change cannot move it")
    with call.records.together():
        written = _valid(lambda: call.records.replace(patient, entry.key, resource))
        _allowed(call, written, patient, "u")
    return _written(call, written, 200)


def patch(call: Call, kind: str, identity: str) -> Reply:
    """Change a resource by a JSON Patch or a merge patch."""
    call.need("u", kind)
    told = body_type(call.request)
    if told not in ("", "application/json", "application/fhir+json", JSON_PATCH, MERGE_PATCH):
        raise refused(415, "not-supported", f"Content-Type: send {JSON_PATCH} or {MERGE_PATCH}")
    changes = body_of(call.request)
    if isinstance(changes, dict) and changes.get("resourceType") == "Parameters" != kind:
        raise refused(415, "not-supported", f"FHIRPath Patch is not spoken here: send {JSON_PATCH} or {MERGE_PATCH}")
    if told == JSON_PATCH and not isinstance(changes, list):
        raise refused(400, "invalid", "a JSON Patch is an array of operations")
    if told == MERGE_PATCH and not isinstance(changes, dict):
        raise refused(400, "invalid", "a merge patch is an object")

    def make(resource: Resource) -> Resource:
        if isinstance(changes, list):
            return json_patch(resource, changes)
        merged = merge_patch(resource, changes)
        return localised(call, merged)

    return change(call, kind, identity, make)


def conditional(call: Call, kind: str) -> str | None:
    """Return the id of the one resource that a conditional update or patch is about; None where there is none."""
    hits = matching(call, kind, call.request.query)
    if hits.total > 1:
        raise refused(412, "multiple-matches", f"the condition finds {hits.total} resources; nothing was written")
    return hits.matches[0].id if hits.total else None


def update_where(call: Call, kind: str) -> Reply:
    """Update the one resource that the URL's parameters find, or create it."""
    call.need("u", kind)
    resource = resource_of(call, kind)
    identity = conditional(call, kind)
    if identity is None:
        return create(call, kind, resource)
    if resource.get("id", identity) != identity:
        raise refused(400, "invalid", f"the condition finds {kind}/{identity}; the resource has another id")
    return change(call, kind, identity, lambda _: localised(call, {**resource, "id": identity}))


def patch_where(call: Call, kind: str) -> Reply:
    """Patch the one resource that the URL's parameters find."""
    identity = conditional(call, kind)
    if identity is None:
        raise refused(404, "not-found", "the condition finds nothing to patch")
    return patch(call, kind, identity)


def validate_resource(call: Call, kind: str) -> Reply:
    """Answer $validate: always 200, with at least one issue."""
    check_body_type(call.request)
    resource = body_of(call.request)
    if isinstance(resource, dict) and resource.get("resourceType") == "Parameters":
        parts = resource.get("parameter")
        named = [
            one.get("resource") for one in parts if isinstance(one, dict) and one.get("name") == "resource"
        ] if isinstance(parts, list) else []  # fmt: skip
        resource = named[0] if named else {}
    problems = validate(resource) if isinstance(resource, dict) else ["resource: there is none"]
    if isinstance(resource, dict) and not problems and resource.get("resourceType") != kind:
        problems = [f"resourceType: is {resource.get('resourceType')}; the URL says {kind}"]
    issues = issues_of(problems) or [Issue("information", "informational", "valid FHIR R4 (4.0.1)")]
    return Reply(200, outcome_body(issues))
