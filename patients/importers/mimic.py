"""`import_mimic`: a folder of MIMIC-IV CSV files becomes a chart store. Mapping rules: docs/mimic.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from wardround.patients.errors import DataError, UsageError
from wardround.patients.resource import Resource
from wardround.patients.slotted import Sheaf
from wardround.patients.store_writer import PART, StoreWriter
from wardround.patients.times import Instant
from wardround.patients.work_folder import WorkFolder

from ._mapper import Mapped, PatientContext, TableMapper
from ._resuming import fingerprint
from ._sources import Folder, find_tables
from ._tables import Reader, Row, TableSpec, TableStream, Tell
from ._validity import Invalid, split_invalid, split_sheaf
from .registry import LEFT_OUT, MAPPERS, REQUIRED
from .report import ImportReport, Refusal, TableReport, Tally

CREDENTIALED = "credentialed"
"""Licence tag of MIMIC-shaped data whose licence was not named."""

CHECKPOINT = 20_000
"""Rows after which what is done is made to survive the end of the process."""

Progress = Callable[[int], None]
"""Called with the number of patients done."""


def import_mimic(
    folder: str | Path,
    out: str | Path,
    *,
    licence: str | None = None,
    threads: int | None = None,
    memory_limit: str = "768MB",
    progress: Progress | None = None,
    tell: Tell | None = None,
) -> ImportReport:
    """Import MIMIC-IV tables into a new chart store.

    The result does not depend on `threads`, nor on the order of rows in the files. An import that was killed or
    interrupted is taken up where it stopped when it is started again with the same files and settings.

    Args:
        folder: Holds `hosp/…`, the CSV files themselves (`.csv` or `.csv.gz`), or one folder per subject.
        out: The store to write; replaced if it exists, left alone if the import fails.
        licence: Licence tag of the data; None is `credentialed`, the strict one.
        threads: Threads for reading and sorting; None leaves it to DuckDB (all cores).
        memory_limit: What reading and sorting may take before they use disk beside `out` ("768MB").
        progress: Called after each patient.
        tell: Called with what is being done before patients come: checking and sorting tables.

    Returns:
        What was read, kept and refused, and why.

    Raises:
        UsageError: A bad argument, DuckDB is not installed, or another process is writing this store.
        DataError: The folder is not MIMIC-IV, or a file is damaged; no store is written.
    """
    if threads is not None and threads < 1:
        raise UsageError(f"`threads` must be at least 1, got {threads}")
    if licence is not None and not licence.strip():
        raise UsageError(
            "`licence` is empty; name the licence of the data, or leave it out (then it is `credentialed`)"
        )
    run = _Run(Path(folder), Path(out), licence or CREDENTIALED, progress)
    place = Path(out).absolute()
    if not place.parent.is_dir():
        raise UsageError(f"`{place.parent}` is not a folder; make it first or choose another place for the store")
    work = WorkFolder(place)
    interrupted = False
    try:
        work.clear(keep=_KEPT)
        with Reader(threads=threads, memory_limit=memory_limit, work=work, tell=tell) as reader:
            return run.run(reader, work)
    except (KeyboardInterrupt, SystemExit):
        interrupted = True
        raise
    finally:
        work.release(keep=interrupted)


_KEPT = (PART, f"{PART}-journal")
"""What an interrupted import leaves to be taken up again."""


class _Run:
    """One import."""

    def __init__(self, folder: Path, out: Path, licence: str, progress: Progress | None) -> None:
        self._folder: Folder = find_tables(folder, REQUIRED)
        self._out = out
        self._licence = licence
        self._progress = progress
        self._mappers: list[TableMapper] = [make() for make in MAPPERS]
        self._tallies: dict[str, Tally] = {}
        self._streams: dict[str, TableStream] = {}
        self._invalid = 0
        self._done: int | None = None
        """The last subject of an interrupted import that is being taken up."""
        self._since = 0
        """Rows read since the last checkpoint."""

    def run(self, reader: Reader, work: WorkFolder) -> ImportReport:
        """Read, map and write everything."""
        inputs = fingerprint(self._folder, self._licence)
        writer = self._writer(work)
        if writer.state is not None and writer.state["inputs"] != inputs:
            writer.abort()
            work.clear()
            writer = self._writer(work)
        with writer:
            if writer.state is not None:
                self._done = writer.state["subject"]
                self._invalid = writer.state["invalid"]
            self._open(reader, (writer.state or {}).get("tables", {}))
            for subject, rows in self._streams["patients"].groups():
                self._patient(writer, subject, rows)
                self._checkpoint(writer, subject, inputs)
            for stream in self._streams.values():
                stream.drain()
            if not writer.counts:
                raise DataError(f"{self._folder.root}: no patient was kept; see the columns of `patients`.")
            tables = tuple(self._table_report(spec) for spec in self._specs())
            digest = writer.close()
        known = [spec.name for spec in self._specs(missing=True)]
        return ImportReport(
            patients=writer.counts.get("Patient", 0),
            resources=dict(sorted(writer.counts.items())),
            invalid=self._invalid,
            store_hash=digest,
            licence=self._licence,
            tables=tables,
            missing_tables=tuple(sorted(name for name in known if name not in self._folder.tables)),
            unread_tables=self._folder.unread(known),
            messages=(*reader.messages, *self._left_out()),
        )

    def _left_out(self) -> Iterable[str]:
        return (f"`{name}` is not imported: {why}." for name, why in LEFT_OUT.items() if name in self._folder.tables)

    def _writer(self, work: WorkFolder) -> StoreWriter:
        return StoreWriter(self._out, self._licence, {"source": "mimic-iv"}, self._types(), work=work)

    def _checkpoint(self, writer: StoreWriter, subject: int, inputs: dict[str, Any]) -> None:
        """Make what is done so far survive the end of the process, every so many rows."""
        read = sum(tally.read for tally in self._tallies.values())
        if read - self._since < CHECKPOINT:
            return
        self._since = read
        keyed = [spec.name for spec in self._specs() if spec.keyed]
        writer.checkpoint(
            {
                "inputs": inputs,
                "subject": subject,
                "invalid": self._invalid,
                "tables": {name: self._tallies[name].state() for name in keyed},
            }
        )

    def _specs(self, *, missing: bool = False) -> Iterable[TableSpec]:
        seen: set[str] = set()
        for mapper in self._mappers:
            for spec in (*mapper.tables, *mapper.dictionaries):
                if spec.name not in seen and (missing or spec.name in self._folder.tables):
                    seen.add(spec.name)
                    yield spec

    def _types(self) -> list[str]:
        return [
            kind for mapper in self._mappers if mapper.tables[0].name in self._folder.tables for kind in mapper.types
        ]

    def _open(self, reader: Reader, accounts: dict[str, Any]) -> None:
        """Check every file of every table before anything is written, and read the dictionaries.

        Args:
            reader: Reads the tables.
            accounts: The accounts of an interrupted import, by table.
        """
        for spec in self._specs():
            tally = self._tallies[spec.name] = Tally(spec.name)
            if spec.name in accounts:
                tally.restore(accounts[spec.name])
            files = self._folder.tables[spec.name]
            self._streams[spec.name] = reader.stream(spec, files, tally, self._done)
        shared: dict[str, list[Row]] = {}
        for mapper in self._mappers:
            for spec in mapper.dictionaries:
                if spec.name in shared:
                    # its account was given when the first mapper read it
                    mapper.learn(spec.name, iter(shared[spec.name]), Tally(spec.name))
                elif spec.name in self._streams:
                    self._require_rows(spec)
                    shared[spec.name] = list(self._streams[spec.name].all())
                    mapper.learn(spec.name, iter(shared[spec.name]), self._tallies[spec.name])
        for spec in self._specs():
            if spec.keyed and self._done is None:
                self._require_rows(spec)
        self._since = sum(tally.read for tally in self._tallies.values())

    def _require_rows(self, spec: TableSpec) -> None:
        if self._streams[spec.name].empty:
            label = self._folder.tables[spec.name][0].label
            raise DataError(
                f"`{label}`, line 2: the table holds a header and no rows. Fetch it again, or leave it out."
            )

    def _patient(self, writer: StoreWriter, subject: int, rows: list[tuple[object, ...]]) -> None:
        patient = PatientContext(str(subject))
        made: list[Mapped] = []
        sheaves: list[Sheaf] = []
        for mapper in self._mappers:
            main = mapper.tables[0].name
            mine: dict[str, Any] = {}
            for spec in mapper.tables:
                if spec.name == "patients":
                    mine[spec.name] = rows
                elif spec.name in self._streams:
                    stream = self._streams[spec.name]
                    lazily = getattr(mapper, "reads_once", False)
                    mine[spec.name] = stream.each(subject) if lazily else stream.take(subject)
            if main in self._streams:
                for one in mapper.map(patient, mine, self._tallies):
                    if isinstance(one, Sheaf):
                        sheaves.append(one)
                    else:
                        made.append(one)
                continue
            for table, support in mine.items():
                self._tallies[table].note(f"read, but there is no table {main} that uses it", len(support))
        if not any(one.table == "patients" for one in made):
            for table, row in _sources_of(made, sheaves):
                self._tallies[table].refuse("the patient's own row was refused", row)
            return
        self._write(writer, patient.subject_id, made, sheaves)
        if self._progress is not None:
            self._progress(writer.counts["Patient"])

    def _write(self, writer: StoreWriter, patient_id: str, made: list[Mapped], sheaves: list[Sheaf]) -> None:
        try:
            writer.add(patient_id, _pairs(made), sheaves=sheaves)
        except DataError:
            valid, invalid = split_invalid(made)
            sound = []
            for sheaf in sheaves:
                left, wrong = split_sheaf(sheaf)
                sound.append(left)
                invalid.extend(wrong)
            if not invalid:
                raise
            self._refuse_invalid(invalid)
            writer.add(patient_id, _pairs(valid), sheaves=sound)

    def _refuse_invalid(self, invalid: list[Invalid]) -> None:
        self._invalid += len(invalid)
        for one in invalid:
            self._tallies[one.table].refuse(f"not valid FHIR R4: {one.problem}", one.row)

    def _table_report(self, spec: TableSpec) -> TableReport:
        tally, stream = self._tallies[spec.name], self._streams[spec.name]
        wanted = {row for _, row in tally.refused.values()}
        examples = stream.locate(wanted) if wanted else {}
        return TableReport(
            table=spec.name,
            read=tally.read,
            kept=tally.kept,
            refused=tuple(Refusal(reason, count, examples[row]) for reason, (count, row) in tally.refused.items()),
            notes=dict(sorted(tally.notes.items())),
            not_carried=spec.not_carried,
        )


def _pairs(made: Iterable[Mapped]) -> list[tuple[Resource, Instant]]:
    return [(one.resource, one.known) for one in made]


def _sources_of(made: Iterable[Mapped], sheaves: Iterable[Sheaf]) -> Iterator[tuple[str, int]]:
    """Yield table and row of everything that was made."""
    for one in made:
        yield one.table, one.row
    for sheaf in sheaves:
        for row in sheaf.rows:
            yield sheaf.table, row[4]
