"""Ways out: a store as FHIR R4 NDJSON, one file per type, from which the same store can be imported again.

Each resource is written in its last form. Where the clock table alone would not give its earlier forms back, it carries
`known-later` marks that do; what is never visible carries the mark `never-known`. So the export shows the whole record,
the future of every anchor included: it is for exchange, never for an agent.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

from .chart import Chart
from .clock import forms
from .errors import DataError, UsageError
from .resource import NEVER_KNOWN, Resource, dump, known_later, known_value, load
from .store import ChartStore
from .times import NEVER, Instant

SHARED = frozenset(
    {"Appointment", "Device", "Group", "Location", "Medication", "Organization", "Practitioner", "PractitionerRole"}
)
"""Types that may belong to no patient or to several: charts hold copies, the export one resource."""

_REFERENCES = re.compile(rb'"reference":"([^"\\]+)"')

_Stored = list[tuple[Instant, bytes]]
"""The forms of a resource, each with the instant from which it holds."""


@dataclass(slots=True)
class ExportReport:
    """What was written."""

    patients: int = 0
    resources: dict[str, int] = field(default_factory=dict)
    """Resources written, by type; copies of a shared resource count once."""
    copies: int = 0
    """Copies of shared resources that were not written again."""
    store_hash: str = ""
    licence: str = ""
    interviews_left_out: int = 0
    """Authored interviews of the store: they are no FHIR and stay behind."""
    truths_left_out: int = 0
    """Truths behind generated charts: they stay behind too."""

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able data."""
        return {
            "patients": self.patients,
            "resources": dict(sorted(self.resources.items())),
            "copies": self.copies,
            "store_hash": self.store_hash,
            "licence": self.licence,
            "interviews_left_out": self.interviews_left_out,
            "truths_left_out": self.truths_left_out,
        }


def export_ndjson(store: ChartStore, folder: str | Path) -> ExportReport:
    """Write a store as FHIR R4 NDJSON: `<Type>.ndjson` per type, by patient, then id.

    Args:
        store: The store. Its licence holds for the files too.
        folder: A new or empty folder; nothing is left there if the export fails.

    Raises:
        UsageError: The folder holds something already.
        DataError: The store is damaged, or a resource cannot be written so that it comes back as it is.
    """
    target = Path(folder).absolute()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"`{folder}` is there and is not an empty folder; choose another `--out`")
    if not target.parent.is_dir():
        raise UsageError(f"`{target.parent}` is not a folder; make it first or choose another `--out`")
    part = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))
    try:
        report = _write(store, part)
        part.chmod(0o755)
        if target.exists():
            target.rmdir()
        part.rename(target)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return report


def _write(store: ChartStore, folder: Path) -> ExportReport:
    report = ExportReport(store_hash=store.hash, licence=store.licence)
    shared: dict[str, bytes] = {}
    with ExitStack() as stack:
        seen = stack.enter_context(closing(sqlite3.connect("")))  # a temporary file, once it outgrows its cache
        seen.execute("CREATE TABLE keys (type TEXT, id TEXT, PRIMARY KEY (type, id)) WITHOUT ROWID")
        handles: dict[str, BinaryIO] = {}
        for patient in store.patients():
            for kind, identity, body in _resources(store.chart(patient)):
                if kind in SHARED and _is_copy(shared, f"{kind}/{identity}", body):
                    report.copies += 1
                    continue
                if not seen.execute("INSERT OR IGNORE INTO keys VALUES (?,?)", (kind, identity)).rowcount:
                    raise DataError(
                        f"{kind}/{identity} stands in two charts; give every resource of a patient an id of its own"
                    )
                if kind not in handles:
                    handles[kind] = stack.enter_context((folder / f"{kind}.ndjson").open("wb"))
                handles[kind].write(body + b"\n")
                report.resources[kind] = report.resources.get(kind, 0) + 1
            report.patients += 1
        report.interviews_left_out = store.interview_count()
        report.truths_left_out = store.header.get("truths", 0)
    return report


def _is_copy(shared: dict[str, bytes], key: str, body: bytes) -> bool:
    digest = blake2b(body, digest_size=16).digest()
    found = shared.setdefault(key, digest)
    if found is digest:
        return False
    if found != digest:
        raise DataError(f"{key} differs between charts; give resources without a patient one content for all charts")
    return True


def _resources(chart: Chart) -> Iterator[tuple[str, str, bytes]]:
    """Yield type, id and NDJSON line of every resource of a chart, by type and id."""
    stored = _stored(chart)
    firsts = {f"{kind}/{identity}": found[0][0] for (kind, identity), found in stored.items() if kind != "Patient"}
    for (kind, identity), found in sorted(stored.items()):
        yield kind, identity, _line(found, firsts)


def _stored(chart: Chart) -> dict[tuple[str, str], _Stored]:
    arrays = chart.index.arrays
    out: dict[tuple[str, str], _Stored] = {}
    for kind, (start, stop) in chart.index.spans.items():
        for place in range(start, stop):
            frame = chart.frame(int(arrays["frame"][place]))
            body = frame[int(arrays["body_at"][place]) : int(arrays["body_end"][place])]
            out.setdefault((kind, chart.index.ids[place]), []).append((int(arrays["since"][place]), body))
    for found in out.values():
        found.sort(key=lambda form: form[0])
    return out


def _line(stored: _Stored, firsts: Mapping[str, Instant]) -> bytes:
    """Return the last form, with the marks that give the earlier ones back."""
    known, body = stored[0][0], stored[-1][1]
    resource = load(body)
    late = _late(resource, known, firsts)
    if not _gives(resource, known, late, stored):
        _mark(resource, known, late, stored)
        if not _gives(resource, known, late, stored):
            name = f"{resource['resourceType']}/{resource['id']}"
            raise DataError(f"{name}: its earlier forms cannot be written as `known-later` marks; export another store")
    if known >= NEVER:
        marks = resource.setdefault("meta", {}).setdefault("extension", [])
        marks.append({"url": NEVER_KNOWN, "valueBoolean": True})
    return dump(resource)


def _late(resource: Resource, known: Instant, firsts: Mapping[str, Instant]) -> dict[str, Instant]:
    found = _REFERENCES.findall(dump(resource))
    return {key: since for ref in found if (since := firsts.get(key := ref.decode(), known)) > known}


def _gives(resource: Resource, known: Instant, late: Mapping[str, Instant], stored: _Stored) -> bool:
    return [(since, dump(form)) for since, form in forms(resource, known, late)] == stored


def _mark(resource: Resource, known: Instant, late: Mapping[str, Instant], stored: _Stored) -> None:
    """Add marks for the elements whose earlier values the clock table does not give."""
    wanted = [(since, load(body)) for since, body in stored]
    given = forms(resource, known, late)
    for path in _paths(form for _, form in wanted):
        values = [(since, _get(form, path)) for since, form in wanted]
        if values == [(since, _get(_as_of(given, since), path)) for since, _ in wanted]:
            continue
        before: Any = None
        for since, value in values:
            if value is not None and value != before:
                if before is None and since > known:
                    known_later(resource, path, since)
                known_value(resource, path, value, since)
            before = value


def _as_of(given: list[tuple[Instant, Resource]], since: Instant) -> Resource:
    return [form for moment, form in given if moment <= since][-1]


def _paths(wanted: Iterable[Resource]) -> list[str]:
    """Return the elements to compare: those of the resource itself, and the tags of its meta."""
    keys = {key for form in wanted for key in form} - {"resourceType", "id", "meta"}
    return [*sorted(keys), "meta.tag"]


def _get(form: Resource, path: str) -> Any:
    node: Any = form
    for key in path.split("."):
        node = node.get(key) if isinstance(node, dict) else None
    return node
