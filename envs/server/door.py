"""The door: which request is answered by what; every fault becomes an OperationOutcome."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from wardround.patients import DataError, SearchError, searchable

from .bundles import bundle
from .exporting import Exports
from .journal import now_text
from .messages import Refused, Reply, Request, fault_of_ours, outcome_reply, refused
from .negotiation import check_accept
from .reading import Call, history, read, read_version
from .records import Records
from .scopes import Access
from .searching import everything, search
from .writing import (
    condition_of,
    create,
    patch,
    patch_where,
    resource_of,
    update,
    update_where,
    validate_resource,
)

SECONDS = 20.0
"""Seconds one request may take; looked at before each record and each entry of a bundle."""


class Door:
    """Answers FHIR requests from records.

    Args:
        records: What is served.
        clock: Seconds, for the time a request may take.
        now: Gives the time as a FHIR instant, for what is not of the record.
        licences: Licence tags of what is served; exports name them.
    """

    def __init__(
        self,
        records: Records,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], str] = now_text,
        licences: Sequence[str] = (),
    ) -> None:
        self.records = records
        self._clock, self._now = clock, now
        self._exports = Exports(licences)

    def handle(self, request: Request, access: Access) -> tuple[Reply, list[str]]:
        """Answer a request; never raises.

        Returns:
            The reply, and the keys of the resources that the caller was shown.
        """
        call = Call(request, self.records, access, self._deadline(), self._now)
        try:
            check_accept(request)
            reply = self._answer(call)
            self.records.seen(call.learnt)
            return reply, call.shown
        except Refused as fault:
            return outcome_reply(fault), []
        except SearchError as fault:
            return outcome_reply(Refused(fault.status, fault.issues)), []
        except DataError as fault:
            return outcome_reply(refused(422, "invalid", str(fault))), []
        except Exception:  # noqa: BLE001 - a fault of ours: the caller is told so, the server lives
            return fault_of_ours(), []

    def _deadline(self) -> Callable[[], None]:
        stop = self._clock() + SECONDS

        def tick() -> None:
            if self._clock() > stop:
                raise refused(503, "timeout", f"this took more than {SECONDS:.0f} s; name a patient, or ask for less")

        return tick

    def _answer(self, call: Call) -> Reply:
        steps = [step for step in call.request.path.split("/") if step]
        method = "GET" if call.request.method == "HEAD" else call.request.method
        if not steps or steps == ["_search"]:
            return self._root(call, method, steps)
        if steps[0].startswith("$export") or steps == ["Patient", "$export"]:
            return self._export(call, method, steps)
        if steps[0] not in searchable():
            raise refused(404, "not-supported", f"`{steps[0][:60]}` is neither a type that is stored here nor a route")
        if len(steps) == 1:
            return _type(call, method, steps[0])
        if len(steps) == 2:
            return _second(call, method, steps)
        return _deeper(call, method, steps)

    def _root(self, call: Call, method: str, steps: list[str]) -> Reply:
        if method == "GET" and not steps:
            return search(call, None)
        if method == "POST":
            return search(call, None) if steps else bundle(call, lambda request: self._entry(call, request))
        raise _wrong("GET, HEAD, POST" if not steps else "POST")

    def _export(self, call: Call, method: str, steps: list[str]) -> Reply:
        if steps[-1] == "$export":
            if method != "GET":
                raise _wrong("GET")
            return self._exports.start(call)
        if steps[0] == "$export-status" and len(steps) == 2:
            if method == "DELETE":
                return self._exports.forget(call, steps[1])
            if method != "GET":
                raise _wrong("GET, DELETE")
            return self._exports.status(call, steps[1])
        if steps[0] == "$export-file" and len(steps) == 3 and method == "GET":
            return self._exports.file(call, steps[1], steps[2])
        raise refused(404, "not-supported", "no such route; begin an export with $export")

    def _entry(self, call: Call, request: Request) -> Reply:
        if not request.path and request.method == "POST":
            raise refused(400, "invalid", "a bundle within a bundle")
        inner = replace(call, request=request)
        check_accept(request)
        return self._answer(inner)


def _type(call: Call, method: str, kind: str) -> Reply:
    if method == "GET":
        return search(call, kind)
    if method == "POST":
        call.need("c", kind)
        return create(call, kind, resource_of(call, kind), condition_of(call))
    if method == "PUT" and call.request.query:
        return update_where(call, kind)
    if method == "PATCH" and call.request.query:
        return patch_where(call, kind)
    raise _wrong("GET, HEAD, POST, PUT, PATCH")


def _second(call: Call, method: str, steps: list[str]) -> Reply:
    kind, second = steps
    if second == "_search":
        if method != "POST":
            raise _wrong("POST")
        return search(call, kind)
    if second == "$validate":
        return _validate(call, method, kind)
    if second.startswith(("$", "_")):
        raise refused(404, "not-supported", f"`{kind}/{second[:60]}` is no operation of this server; see /metadata")
    if method == "GET":
        return read(call, kind, second)
    if method == "PUT":
        call.need("u", kind)
        return update(call, kind, second, resource_of(call, kind))
    if method == "PATCH":
        return patch(call, kind, second)
    raise _wrong("GET, HEAD, PUT, PATCH")


def _deeper(call: Call, method: str, steps: list[str]) -> Reply:
    kind, identity, third = steps[:3]
    if third == "$validate" and len(steps) == 3:
        return _validate(call, method, kind)
    if (len(steps) == 3 and kind == "Patient" and third == "_search") or len(steps) > 4:
        raise refused(404, "not-supported", "no such route; see /metadata")
    if method != "GET":
        raise _wrong("GET, HEAD")
    if third == "_history":
        return history(call, kind, identity) if len(steps) == 3 else read_version(call, kind, identity, steps[3])
    if kind == "Patient" and len(steps) == 3:
        return everything(call, identity) if third == "$everything" else search(call, "/".join(steps))
    raise refused(404, "not-supported", "no such route; see /metadata")


def _validate(call: Call, method: str, kind: str) -> Reply:
    if method != "POST":
        raise _wrong("POST")
    return validate_resource(call, kind)


def _wrong(allowed: str) -> Refused:
    return refused(405, "not-supported", f"not here; allowed are {allowed}", {"Allow": allowed})
