"""`import_mimic`: a folder of MIMIC-IV CSV files becomes a chart store. Mapping rules: docs/mimic.md."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from wardround.patients.errors import DataError, UsageError
from wardround.patients.store_writer import PART, StoreWriter
from wardround.patients.work_folder import WorkFolder

from ._making import Made, Maker
from ._resuming import fingerprint
from ._sources import Folder, find_tables
from ._tables import Reader, Row, TableSpec, TableStream, Tell
from ._workers import Dictionaries, Pool
from .registry import LEFT_OUT, REQUIRED
from .report import ImportReport, Refusal, TableReport, Tally

CREDENTIALED = "credentialed"
"""Licence tag of MIMIC-shaped data whose licence was not named."""

CHECKPOINT = 20_000
"""Rows after which what is done is made to survive the end of the process."""

Progress = Callable[[int], None]
"""Called with the number of patients done."""

_Accounts = dict[str, dict[str, Any]]
"""Table → `Tally.state`."""


def import_mimic(
    folder: str | Path,
    out: str | Path,
    *,
    licence: str | None = None,
    threads: int | None = None,
    memory_limit: str = "768MB",
    workers: int = 1,
    progress: Progress | None = None,
    tell: Tell | None = None,
) -> ImportReport:
    """Import MIMIC-IV tables into a new chart store.

    The result does not depend on `threads` and `workers`, nor on the order of rows in the files. An import that was
    killed or interrupted is taken up where it stopped when it is started again with the same files and licence.

    Args:
        folder: Holds `hosp/…`, the CSV files themselves (`.csv` or `.csv.gz`), or one folder per subject.
        out: The store to write; replaced if it exists, left alone if the import fails.
        licence: Licence tag of the data; None is `credentialed`, the strict one.
        threads: Threads for reading and sorting; None leaves it to DuckDB (all cores).
        memory_limit: What reading and sorting may take before they use disk beside `out` ("768MB").
        workers: Processes that map, validate and pack; 1 does it in this one. More are started anew (spawned), so a
            script that asks for them runs below `if __name__ == "__main__":`.
        progress: Called after each patient.
        tell: Called with what is being done before patients come: checking and sorting tables.

    Returns:
        What was read, kept and refused, and why.

    Raises:
        UsageError: A bad argument, DuckDB is not installed, or another process is writing this store.
        DataError: The folder is not MIMIC-IV, a file is damaged, or a worker ended; no store is written.
    """
    if workers < 1:
        raise UsageError(f"`workers` must be at least 1, got {workers}")
    if threads is not None and threads < 1:
        raise UsageError(f"`threads` must be at least 1, got {threads}")
    if licence is not None and not licence.strip():
        raise UsageError(
            "`licence` is empty; name the licence of the data, or leave it out (then it is `credentialed`)"
        )
    run = _Run(Path(folder), Path(out), licence or CREDENTIALED, workers, progress)
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

    def __init__(self, folder: Path, out: Path, licence: str, workers: int, progress: Progress | None) -> None:
        self._folder: Folder = find_tables(folder, REQUIRED)
        self._out = out
        self._licence = licence
        self._progress = progress
        self._workers = workers
        self._maker = Maker(self._folder.tables, licence)
        self._dictionaries: Dictionaries = {}
        """What workers are to learn, until they have."""
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
            with closing(self._made()) as everyone:  # closed at once, so that no worker outlives an error
                for subject, made, read in everyone:
                    self._settle(writer, made, read)
                    self._checkpoint(writer, subject, inputs)
            for stream in self._streams.values():
                stream.drain()
            self._account(self._read())
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
        for mapper in self._maker.mappers:
            for spec in (*mapper.tables, *mapper.dictionaries):
                if spec.name not in seen and (missing or spec.name in self._folder.tables):
                    seen.add(spec.name)
                    yield spec

    def _types(self) -> list[str]:
        return [
            kind
            for mapper in self._maker.mappers
            if mapper.tables[0].name in self._folder.tables
            for kind in mapper.types
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
            self._streams[spec.name] = reader.stream(spec, files, Tally(spec.name), self._done)
        shared: Dictionaries = {}
        for mapper in self._maker.mappers:
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
        self._account(self._read())
        self._since = sum(tally.read for tally in self._tallies.values())
        if self._workers > 1:
            self._dictionaries = shared

    def _require_rows(self, spec: TableSpec) -> None:
        if self._streams[spec.name].empty:
            label = self._folder.tables[spec.name][0].label
            raise DataError(
                f"`{label}`, line 2: the table holds a header and no rows. Fetch it again, or leave it out."
            )

    def _made(self) -> Generator[tuple[int, Made, _Accounts]]:
        """Yield every patient in order: what became of it, and the account of what was read for it."""
        if self._workers == 1:
            for subject, rows in self._streams["patients"].groups():
                made = self._maker.make(subject, _StreamedRows(self._streams, subject, rows))
                yield subject, made, self._read()
            return
        with Pool(self._workers, self._streams, self._licence, self._dictionaries) as pool:
            self._dictionaries = {}
            yield from self._spread(pool)

    def _spread(self, pool: Pool) -> Iterator[tuple[int, Made, _Accounts]]:
        """As `_made`, by the workers of a pool."""
        read: deque[_Accounts] = deque()

        def settled(*, patiently: bool) -> Iterator[tuple[int, Made, _Accounts]]:
            for subject, made in pool.settled(patiently=patiently):
                yield subject, made, read.popleft()

        for subject, rows in self._streams["patients"].groups():
            while not pool.room:
                yield from settled(patiently=True)
            pool.begin(subject)
            for table in self._maker.asked():
                for some in [rows] if table == "patients" else self._streams[table].pieces(subject):
                    pool.give(table, some)
            pool.end()
            read.append(self._read())
            yield from settled(patiently=False)
        while pool.busy:
            yield from settled(patiently=True)

    def _read(self) -> _Accounts:
        """Return what the streams counted since the last call."""
        counted = {}
        for name, stream in self._streams.items():
            if not stream.tally.blank:
                counted[name] = stream.tally.state()
                stream.tally = Tally(name)
        return counted

    def _account(self, accounts: _Accounts) -> None:
        for name, account in accounts.items():
            self._tallies[name].add(account)

    def _settle(self, writer: StoreWriter, made: Made, read: _Accounts) -> None:
        """Write a patient, and take its accounts into those of the import."""
        self._account(read)
        self._account(made.accounts)
        self._invalid += made.invalid
        if made.packed is None:
            return
        writer.add_packed(made.packed, validated=made.validated)
        if self._progress is not None:
            self._progress(writer.counts["Patient"])

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


class _StreamedRows:
    """The rows of one patient, straight from the streams; a `Feed`."""

    def __init__(self, streams: Mapping[str, TableStream], subject: int, patient: list[Row]) -> None:
        self._streams = streams
        self._subject = subject
        self._patient = patient

    def take(self, table: str) -> list[Row]:
        """Return the patient's rows of a table."""
        return self._patient if table == "patients" else self._streams[table].take(self._subject)

    def each(self, table: str) -> Iterator[Row]:
        """Yield the patient's rows of a table, none of them held."""
        return self._streams[table].each(self._subject)
