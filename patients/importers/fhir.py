"""`import_fhir`: FHIR R4 bundles, NDJSON or single resources become a chart store. Rules: docs/fhir-import.md."""

from __future__ import annotations

import tempfile
from pathlib import Path

from wardround.patients.errors import DataError, UsageError
from wardround.patients.fhir import types
from wardround.patients.resource import Resource, values_at
from wardround.patients.store_writer import StoreWriter
from wardround.patients.times import parse_instant

from ._mapper import Mapped
from ._validity import split_invalid
from .fhir_chart import ChartMaker, storable
from .fhir_known import is_own
from .fhir_mimic import mimic_id
from .fhir_owners import assign
from .fhir_read import Found, find_files, read_file
from .fhir_rules import is_legal, legal_id, rules
from .fhir_spill import Spill
from .mimic import CREDENTIALED, Progress
from .report import ImportReport, Refusal, TableReport, Tally

_NO_RESOURCE = "Bundle entries"
_MAX_VERSION = 1 << 62
_MIMIC = b"http://mimic.mit.edu/"
"""Stands in every resource of MIMIC-IV on FHIR: in its profile, and in its code systems."""

UNKNOWN = "unknown"
"""Licence tag of data whose licence nobody named."""

_NO_LICENCE = (
    "no licence was named, so the charts say `unknown`; import again with the licence of the data: its name "
    "(CC0-1.0, ODbL-1.0), or `credentialed` for data about people that is under an agreement"
)


def import_fhir(
    path: str | Path, out: str | Path, *, licence: str | None = None, progress: Progress | None = None
) -> ImportReport:
    """Import FHIR R4 into a new chart store.

    The result depends neither on the names and order of files nor on the order of lines and entries.

    Args:
        path: A bundle, an NDJSON file, a single resource (all plain or gz), or a folder of these.
        out: The store to write; replaced if it exists, left alone if the import fails.
        licence: Licence tag of the data; None is `credentialed` for MIMIC-IV on FHIR, else `unknown` (with a message).
        progress: Called after each patient.

    Returns:
        What was read, kept and refused, and why; one table per resource type.

    Raises:
        UsageError: A bad argument.
        DataError: A file is damaged, is not FHIR, or is FHIR of another version; no store is written.
    """
    if licence is not None and not licence.strip():
        raise UsageError(
            "`licence` is empty; name the licence of the data, or leave it out (MIMIC-IV is then `credentialed`)"
        )
    files, others = find_files(Path(path))
    parent = Path(out).absolute().parent
    if not parent.is_dir():
        raise UsageError(f"`{parent}` is not a folder; make it first or choose another place for the store")
    with tempfile.TemporaryDirectory(prefix=".wardround-", dir=parent) as folder:
        spill = Spill(Path(folder) / "spill.sqlite")
        try:
            run = _Run(spill, Path(path), licence, progress)
            run.read(files)
            return run.write(Path(out), tuple(others))
        finally:
            spill.close()


class _Run:
    """One import."""

    def __init__(self, spill: Spill, root: Path, licence: str | None, progress: Progress | None) -> None:
        self._spill = spill
        self._root = root
        self._named_licence = licence
        self._mimic = False
        self._progress = progress
        self._tallies: dict[str, Tally] = {}
        self._seq = 0
        self._types = frozenset((*types(), "Binary"))

    def _tally(self, kind: str) -> Tally:
        if kind not in self._tallies:
            self._tallies[kind] = Tally(kind)
        return self._tallies[kind]

    def read(self, files: list[Path]) -> None:
        """Read every file into the spill, and give every resource its id and its patient."""
        for file in files:
            label = file.name if file == self._root else file.relative_to(self._root).as_posix()
            for found in read_file(file, label):
                self._seq += 1
                self._take(found)
        self._spill.index()
        self._choose()
        assign(self._spill, self._tally)

    def _take(self, found: Found) -> None:
        resource = found.resource
        kind = _NO_RESOURCE if resource is None else resource["resourceType"]
        tally = self._tally(kind)
        tally.read += 1
        key: tuple[str, str] | None = None
        if resource is not None and not found.reason:
            key = self._add(resource, found, tally)
        elif found.reason:
            tally.refuse(found.reason, self._seq)
        self._spill.place(self._seq, kind, key[1] if key else None, found.place)

    def _add(self, resource: Resource, found: Found, tally: Tally) -> tuple[str, str] | None:
        kind = resource["resourceType"]
        if storable(resource) is None:
            tally.refuse("holds a lone surrogate or a number beyond 64 bits; it cannot be written as JSON", self._seq)
            return None
        old = self._name(resource, tally)
        key = (kind, str(resource["id"]))
        if found.full_url is not None:
            self._spill.add_url(found.full_url, kind, old)
        if kind not in self._types:
            tally.refuse("a chart has no place for this type", self._seq)
            return key
        body = storable(resource)
        assert body is not None
        self._mimic = self._mimic or _MIMIC in body
        owners = [
            one["reference"]
            for path in rules()["owner"].get(kind, ())
            for one in values_at(resource, path)
            if isinstance(one, dict) and isinstance(one.get("reference"), str)
        ]
        self._spill.add(self._seq, key, _age(resource), body, owners)
        self._spill.add_identifiers(kind, _tokens(resource), key[1])
        return key

    def _name(self, resource: Resource, tally: Tally) -> str:
        """Give a resource the id it bears in its chart; return the legal form of the one it came with."""
        identity = resource.get("id")
        if not isinstance(identity, str) or not identity:
            body = storable({key: value for key, value in resource.items() if key != "id"}) or b""
            resource["id"] = legal_id(f"no id {body.hex()}").removeprefix("no-id-")[-40:]
            tally.note("without an id; named by a hash of its content")
        elif not is_legal(identity):
            resource["id"] = legal_id(identity)
            tally.note("its id is not legal in FHIR; its legal characters and a hash of it are kept")
        old = str(resource["id"])
        new = None if is_own(resource) else mimic_id(resource)
        if new is not None and new != old:
            self._spill.add_name(f"{resource['resourceType']}/{old}", f"{resource['resourceType']}/{new}")
            resource["id"] = new
            tally.note("called by the number MIMIC-IV gives it; the source's id is not kept")
        return old

    def _choose(self) -> None:
        """Keep one of the resources that share type and id: the latest version."""
        for rows in self._spill.doubles():
            seq, body = rows[0]
            for other, text in rows[1:]:
                kind = str(self._spill.example(seq)["text"]).partition("/")[0]
                same = "a copy of a resource that is kept" if text == body else "an earlier version of a kept resource"
                self._tally(kind).refuse(same, other)
                self._spill.drop(other)

    @property
    def _licence(self) -> str:
        return self._named_licence or (CREDENTIALED if self._mimic else UNKNOWN)

    def write(self, out: Path, others: tuple[str, ...]) -> ImportReport:
        """Make and write the charts, in order of patient id."""
        maker = ChartMaker(self._spill, self._tally)
        provenance = {"source": "fhir-r4"}
        with StoreWriter(
            out, self._licence, provenance, sorted(self._types & self._tallies.keys() - {"Binary"})
        ) as writer:
            for _, patient in self._spill.ids("Patient"):
                made = maker.chart(patient)
                if made:
                    self._write_chart(writer, patient, made, maker)
            if not writer.counts:
                raise DataError(f"`{self._root}`: no Patient was kept; charts need their Patient resources beside them")
            self._refuse_unused(maker)
            digest = writer.close()
        return ImportReport(
            patients=writer.counts.get("Patient", 0),
            resources=dict(sorted(writer.counts.items())),
            invalid=maker.invalid,
            store_hash=digest,
            licence=self._licence,
            tables=tuple(self._table(self._tallies[kind]) for kind in sorted(self._tallies)),
            unread_tables=others,
            messages=(_NO_LICENCE,) if self._licence == UNKNOWN else (),
        )

    def _write_chart(self, writer: StoreWriter, patient: str, made: list[Mapped], maker: ChartMaker) -> None:
        try:
            writer.add(patient, _pairs(made))
        except DataError:
            valid, invalid = split_invalid(made)
            if not invalid:
                raise
            for one in invalid:
                maker.refuse_invalid(one.row, one.table, one.problem)
            if not any(one.table == "Patient" for one in valid):
                for other in valid:
                    self._refuse_with_patient(other, maker)
                return
            writer.add(patient, _pairs(valid))
        if self._progress is not None:
            self._progress(writer.counts["Patient"])

    def _refuse_with_patient(self, one: Mapped, maker: ChartMaker) -> None:
        if one.table not in rules()["shared"] and one.row not in maker.refused:
            maker.refused.add(one.row)
            self._tally(one.table).refuse("the patient's own resource was refused", one.row)

    def _refuse_unused(self, maker: ChartMaker) -> None:
        for kind in (*rules()["shared"], "Binary"):
            for seq, _ in self._spill.ids(kind):
                if seq not in maker.used and seq not in maker.refused and not self._spill.is_owned(seq):
                    self._tally(kind).refuse("no chart refers to it", seq)

    def _table(self, tally: Tally) -> TableReport:
        refused = tuple(
            Refusal(reason, count, self._spill.example(seq)) for reason, (count, seq) in tally.refused.items()
        )
        return TableReport(tally.table, tally.read, tally.kept, refused, dict(sorted(tally.notes.items())))


def _pairs(made: list[Mapped]) -> list[tuple[Resource, int]]:
    return [(one.resource, one.known) for one in made if isinstance(one.resource, dict)]


def _age(resource: Resource) -> tuple[int, int]:
    """Return when a resource was last updated and its version, for choosing among versions; 0 where not stated."""
    meta = resource.get("meta")
    updated, version = (meta.get("lastUpdated"), meta.get("versionId")) if isinstance(meta, dict) else (None, None)
    try:
        instant = parse_instant(updated) if isinstance(updated, str) else 0
    except ValueError:
        instant = 0
    number = int(version) if isinstance(version, str) and version.isascii() and version.isdigit() else 0
    return instant, min(number, _MAX_VERSION)


def _tokens(resource: Resource) -> list[str]:
    marks = resource.get("identifier")
    out = []
    for mark in marks if isinstance(marks, list) else (marks,):
        if isinstance(mark, dict) and isinstance(mark.get("value"), str):
            out.append(f"{mark.get('system', '')}|{mark['value']}")
    return out
