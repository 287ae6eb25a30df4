"""Bulk export ($export): everything that the caller may see, as NDJSON, a file a type.

Nothing is prepared: a job names a state of the records and what was asked, and each file is made when it is fetched.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from wardround.patients import SearchResult, fhir_search, searchable

from .messages import Reply, refused
from .negotiation import preferences
from .reading import Call
from .records import Pool
from .searching import Pairs, pairs_of

JOBS = 16
"""Jobs remembered of one token; one more forgets its oldest."""

FILE = 256 * 1024 * 1024
"""Bytes a file may have."""

NDJSON = "application/fhir+ndjson"
_FORMATS = frozenset({"application/fhir+ndjson", "application/ndjson", "ndjson"})
_ALL = 999_999_999


@dataclass(frozen=True, slots=True)
class Job:
    """One export."""

    owner: tuple[str, str]
    """Role and token mark of who asked for it; nobody else may fetch it."""
    version: int
    """State of the records that it shows."""
    kinds: tuple[str, ...]
    since: Pairs
    request: str
    time: str


class Exports:
    """The exports of one door.

    Args:
        licences: Licence tags of what is served; the manifest names them.
    """

    def __init__(self, licences: Sequence[str] = ()) -> None:
        self._licences = list(licences)
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._count = 0

    def start(self, call: Call) -> Reply:
        """Answer the request that begins an export: 202 and where to look for it.

        A chart holds what is about its patient, so that `$export` and `Patient/$export` are the same.
        """
        if "respond-async" not in preferences(call.request):
            raise refused(400, "invalid", "an export is asynchronous: send Prefer: respond-async")
        asked = pairs_of(call.request.query)
        if unknown := sorted({name for name, _ in asked} - {"_type", "_since", "_outputFormat", "_format"}):
            raise refused(400, "not-supported", f"`{unknown[0][:60]}` is no parameter of an export here")
        for value in (value for name, value in asked if name == "_outputFormat"):
            if value.replace(" ", "+") not in _FORMATS:
                raise refused(400, "not-supported", f"_outputFormat: only {NDJSON}")
        since = tuple(("_lastUpdated", f"ge{value.replace(' ', '+')}") for name, value in asked if name == "_since")
        kinds = _kinds(call, asked)
        everybody = call.records.pool(None, call.tick)
        fhir_search(
            everybody, kinds[0], (*since, ("_count", "0")), visible=lambda one: call.access.visibility("s", one)
        )
        self._count += 1
        name = str(self._count)
        url = f"{call.base}/{call.request.path}" + (f"?{call.request.query}" if call.request.query else "")
        owner = (call.access.role, call.access.mark)
        self._jobs[name] = Job(owner, everybody.version, kinds, since, url, call.now())
        own = [one for one, job in self._jobs.items() if job.owner == owner]
        for one in own[:-JOBS]:
            del self._jobs[one]
        return Reply(202, b"", {"Content-Location": f"{call.base}/$export-status/{name}"})

    def status(self, call: Call, name: str) -> Reply:
        """Answer the manifest of an export."""
        job = self._job(call, name)
        output = []
        for kind in job.kinds:
            count = self._found(call, job, kind, 0).total
            if count:
                output.append({"type": kind, "url": f"{call.base}/$export-file/{name}/{kind}.ndjson", "count": count})
        manifest = {
            "transactionTime": job.time,
            "request": job.request,
            "requiresAccessToken": True,
            "output": output,
            "error": [],
            "extension": {"licence": self._licences},
        }
        return Reply(200, orjson.dumps(manifest), kind="application/json")

    def file(self, call: Call, name: str, file: str) -> Reply:
        """Answer one file of an export."""
        job = self._job(call, name)
        kind = file.removesuffix(".ndjson")
        if kind not in job.kinds or not file.endswith(".ndjson"):
            raise refused(404, "not-found", "this export has no such file; see its status")
        lines, size = [], 0
        for entry in self._found(call, job, kind, _ALL).matches:
            call.tick()
            lines.append(entry.body)
            size += len(entry.body) + 1
            call.show(entry.key)
            if size > FILE:
                raise refused(413, "too-costly", "the file would be larger than 256 MiB; narrow it with _since")
        return Reply(200, b"".join(line + b"\n" for line in lines), kind=NDJSON)

    def forget(self, call: Call, name: str) -> Reply:
        """Answer the request that ends an export."""
        self._job(call, name)
        del self._jobs[name]
        return Reply(202)

    def _job(self, call: Call, name: str) -> Job:
        job = self._jobs.get(name)
        if job is None or job.owner != (call.access.role, call.access.mark):
            raise refused(404, "not-found", "there is no such export; begin one with $export")
        return job

    def _found(self, call: Call, job: Job, kind: str, count: int) -> SearchResult:
        now = call.records.pool(None, call.tick)
        state = Pool(job.version, lambda _: now.as_of(job.version), call.tick)
        pairs = (*job.since, ("_count", str(count)))
        return fhir_search(state, kind, pairs, cap=_ALL, visible=lambda one: call.access.visibility("s", one))


def _kinds(call: Call, asked: Pairs) -> tuple[str, ...]:
    """Return the types that are exported: those asked for, or all that the caller may see.

    Raises:
        Refused: 400 for a type that is not stored, 403 where none may be seen.
    """
    named = [kind for name, value in asked if name == "_type" for kind in value.split(",") if kind]
    for kind in named:
        if kind not in searchable():
            raise refused(400, "not-supported", f"_type: `{kind[:60]}` is not a type that is stored here")
    kinds = tuple(kind for kind in dict.fromkeys(named or searchable()) if call.access.may("s", kind))
    if not kinds:
        raise refused(403, "forbidden", f"role `{call.access.role}` may see nothing of what is asked for")
    return kinds
