"""Reading: a resource, one of its versions, its history."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

import orjson

from wardround.patients import Entry, Overlay, Visibility, fhir_search, parse_period, searchable

from .messages import Reply, Request, refused
from .negotiation import names_version
from .records import Records, Tick
from .scopes import Access

IDENTITY = re.compile(r"[A-Za-z0-9\-.]{1,64}")


@dataclass(slots=True)
class Call:
    """A request together with who makes it and what it is about."""

    request: Request
    records: Records
    access: Access
    tick: Tick
    now: Callable[[], str] = str
    """Gives the time as a FHIR instant, for what is not of the record."""
    shown: list[str] = field(default_factory=list)
    """Keys of the resources that the caller was shown, for the audit log."""
    learnt: list[str] = field(default_factory=list)
    """Those of them that were shown whole: what an episode counts as read."""

    def show(self, *keys: str, whole: bool = True) -> None:
        """Take note of what the caller is shown."""
        self.shown.extend(keys)
        if whole:
            self.learnt.extend(keys)

    @property
    def base(self) -> str:
        """Base URL as the caller knows it."""
        return self.request.base

    def need(self, action: str, kind: str) -> None:
        """Refuse what no scope allows.

        Raises:
            Refused: 404 for a type that is not stored, 403 for what is not allowed.
        """
        if kind not in searchable():
            raise refused(404, "not-supported", f"`{kind[:60]}` is not a resource type that is stored here")
        if not self.access.may(action, kind):
            verb = {"c": "create", "r": "read", "u": "update", "d": "delete", "s": "search"}[action]
            raise refused(403, "forbidden", f"role `{self.access.role}` has no scope to {verb} {kind}")


def visible(record: Overlay, kind: str, identity: str, seen: Visibility) -> Entry | None:
    """Return a resource of a record if it may be seen."""
    if kind not in seen.kinds:
        return None
    if seen.queries(kind) is None:
        return record.read(kind, identity)
    found = fhir_search(record, kind, [("_id", identity)], visible=lambda _: seen).matches
    return next((entry for entry in found if entry.id == identity), None)


def find(call: Call, kind: str, identity: str, action: str) -> tuple[str, Overlay, Entry] | None:
    """Return a resource on which an action is allowed, with its record and patient; None where there is none."""
    for patient in call.records.holders(kind, identity) if IDENTITY.fullmatch(identity) else ():
        record = call.records.record(patient)
        if record is not None:
            entry = visible(record, kind, identity, call.access.visibility(action, patient))
            if entry is not None:
                return patient, record, entry
    return None


def version_of(entry: Entry) -> str:
    """Return the version of a resource; one that names none is at its first."""
    meta = orjson.loads(entry.body).get("meta", {})
    return str(meta.get("versionId", "1"))


def stamps(entry: Entry) -> dict[str, str]:
    """Return the headers that say which version an entry is."""
    meta = orjson.loads(entry.body).get("meta", {})
    found = {"ETag": f'W/"{meta.get("versionId", "1")}"'}
    if (when := http_date(meta.get("lastUpdated"))) is not None:
        found["Last-Modified"] = when
    return found


def http_date(text: Any) -> str | None:
    """Return a FHIR instant as HTTP writes it; None where there is none that can be written."""
    if not isinstance(text, str):
        return None
    try:
        seconds = parse_period(text)[0] // 1_000_000
        return format_datetime(datetime.fromtimestamp(seconds, UTC), usegmt=True)
    except (ValueError, OverflowError, OSError):
        return None


def read(call: Call, kind: str, identity: str) -> Reply:
    """Answer a read: 200, or 304 where the caller has this version."""
    call.need("r", kind)
    found = find(call, kind, identity, "r")
    if found is None:
        raise missing(kind, identity)
    entry = found[2]
    headers = stamps(entry)
    call.show(entry.key)
    if names_version(call.request.header("if-none-match"), version_of(entry)):
        return Reply(304, b"", headers)
    return Reply(200, entry.body, headers)


def missing(kind: str, identity: str) -> Exception:
    """Return the refusal of a resource that is not there, or that may not be seen."""
    shown = identity if IDENTITY.fullmatch(identity) else "…"
    return refused(404, "not-found", f"there is no {kind}/{shown}; search for it")


def versions(call: Call, kind: str, identity: str) -> list[Entry]:
    """Return the versions of a resource that the caller may see, oldest first.

    Raises:
        Refused: The resource itself may not be seen.
    """
    call.need("r", kind)
    found = find(call, kind, identity, "r")
    if found is None:
        raise missing(kind, identity)
    patient, record, entry = found
    seen = call.access.visibility("r", patient)
    shown = []
    for version in record.versions(entry.key):
        if kind in seen.kinds and seen.queries(kind) is not None:
            number = next((n for n, one in enumerate(record.writes, start=1) if one is version), 0)
            if visible(record.as_of(number), kind, identity, seen) is None:
                continue  # in this form it was out of the caller's sight
        shown.append(version)
    return shown


def read_version(call: Call, kind: str, identity: str, version: str) -> Reply:
    """Answer a read of one version."""
    for entry in versions(call, kind, identity):
        if version_of(entry) == version:
            call.show(entry.key, whole=False)
            return Reply(200, entry.body, stamps(entry))
    raise refused(404, "not-found", f"{kind}/{identity} has no version `{version[:20]}`; see its _history")


def history(call: Call, kind: str, identity: str) -> Reply:
    """Answer the history of a resource, newest first."""
    found = versions(call, kind, identity)
    call.show(*(entry.key for entry in found))
    parts = []
    for number, entry in reversed(list(enumerate(found))):
        first = number == 0
        tag = stamps(entry)["ETag"]
        request = {"method": "POST" if first else "PUT", "url": kind if first else entry.key}
        response: dict[str, Any] = {"status": "201" if first else "200", "etag": tag}
        if (when := orjson.loads(entry.body).get("meta", {}).get("lastUpdated")) is not None:
            response["lastModified"] = when
        part = {"fullUrl": f"{call.base}/{entry.key}", "resource": orjson.Fragment(entry.body),
                "request": request, "response": response}  # fmt: skip
        parts.append(part)
    link = [{"relation": "self", "url": f"{call.base}/{kind}/{identity}/_history"}]
    bundle = {"resourceType": "Bundle", "type": "history", "total": len(parts), "link": link, "entry": parts}
    return Reply(200, orjson.dumps(bundle))
