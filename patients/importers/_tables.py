"""Reading MIMIC-IV tables with DuckDB: every cell as text, grouped by subject, flat in memory however long the file."""

from __future__ import annotations

import csv
import gzip
import io
import re
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from wardround.patients.errors import DataError, UsageError

from ._sources import SourceFile
from .report import Tally

Row = tuple[Any, ...]
"""`(number in reading order, subject_id as int | None, *columns of the spec as str | None)`."""

_BATCH = 4096
_HEADER_BYTES = 65_536
_GROUP = 1 << 40
"""Row numbers of the k-th group of files start at k × this: one number names one row of one table."""


@dataclass(frozen=True, slots=True)
class TableSpec:
    """The columns of one table, in MIMIC-IV's own order."""

    name: str
    columns: tuple[str, ...]
    required: frozenset[str]
    not_carried: tuple[str, ...] = ()
    """Columns that MIMIC-IV has and the chart has no place for; named in the report."""
    keyed: bool = True
    """Whether rows belong to a subject (`subject_id`); dictionaries do not."""


@dataclass(frozen=True, slots=True)
class Header:
    """The first record of a file, matched by name."""

    columns: tuple[str, ...]
    messages: tuple[str, ...]


def read_header(source: SourceFile, spec: TableSpec) -> Header:
    """Read and check the header of a file; names match in any case and any order.

    Raises:
        DataError: The file is empty, damaged, not UTF-8, or lacks a required column.
    """
    try:
        with _opened(source) as stream:
            head = stream.read(_HEADER_BYTES)
    except (OSError, EOFError, zlib.error) as fault:
        raise _damaged(source, fault) from fault
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"`{source.label}`, line 1: UTF-16. Save the file as UTF-8 CSV, as MIMIC-IV is published.")
    text = io.StringIO(head.decode("utf-8-sig", "replace"), newline="")
    first = next(csv.reader(text), None)
    if not first:
        raise DataError(f"`{source.label}`, line 1: the file is empty. Fetch the table again from PhysioNet.")
    columns = tuple(name.strip().lower() for name in first)
    _check_columns(source, spec, columns)
    messages = []
    if columns != tuple(first):
        messages.append(f"`{source.label}`: column names are not in lower case; matched by name.")
    carried = [name for name in columns if name in spec.columns]
    if carried != [name for name in spec.columns if name in columns]:
        messages.append(f"`{source.label}`: columns stand in another order than MIMIC-IV's; matched by name.")
    absent = [name for name in spec.columns if name not in columns]
    if absent:
        messages.append(f"`{source.label}`: no column {', '.join(f'`{name}`' for name in absent)}; read as empty.")
    return Header(columns, tuple(messages))


def _check_columns(source: SourceFile, spec: TableSpec, columns: tuple[str, ...]) -> None:
    missing = sorted(spec.required - set(columns))
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        raise DataError(f"`{source.label}`, line 1: no column {names}. {_schema_hint(columns)}")
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise DataError(f"`{source.label}`, line 1: column `{twice[0]}` stands twice. Keep one of them.")


def _schema_hint(columns: tuple[str, ...]) -> str:
    if "row_id" in columns:
        return "It has `row_id`, so it looks like MIMIC-III; this importer reads MIMIC-IV 2.x and 3.x."
    if "patientunitstayid" in columns:
        return "It has `patientunitstayid`, so it looks like eICU; this importer reads MIMIC-IV 2.x and 3.x."
    if len(columns) == 1:
        return "The line holds one field only; MIMIC-IV is comma-separated."
    if any(re.search(r"\d", name) for name in columns):
        return "The first line must be the header; it looks like a row of data."
    return f"Found: {', '.join(columns)[:200]}. This importer reads MIMIC-IV 2.x and 3.x."


@contextmanager
def _opened(source: SourceFile) -> Iterator[BinaryIO]:
    with gzip.open(source.path, "rb") if source.gz else source.path.open("rb") as stream:
        yield cast(BinaryIO, stream)


def check_gzip(source: SourceFile) -> None:
    """Read a compressed file to its end: DuckDB notices a cut file but not a wrong checksum.

    Raises:
        DataError: The file is cut or damaged.
    """
    if not source.gz:
        return
    try:
        with gzip.open(source.path, "rb") as stream:
            while stream.read(1 << 20):
                pass
    except (OSError, EOFError, zlib.error) as fault:
        raise _damaged(source, fault) from fault


def _damaged(source: SourceFile, fault: Exception) -> DataError:
    return DataError(
        f"`{source.label}` cannot be read to its end ({fault}). The file is cut or damaged: fetch it again and compare "
        "it with SHA256SUMS.txt of the release."
    )


class Reader:
    """One DuckDB database, in memory with spilling, shared by the streams of all tables.

    Args:
        threads: Threads of DuckDB (None: all cores); the rows and their order do not depend on it.
        memory_limit: DuckDB's own limit ("1GB"); sorts beyond it go to `spill`.
        spill: Folder for temporary files.
    """

    def __init__(self, *, threads: int | None, memory_limit: str, spill: Path) -> None:
        try:
            import duckdb
        except ImportError as fault:
            raise UsageError("Importing MIMIC-IV needs DuckDB. Install it: pip install 'wardround[mimic]'.") from fault
        self._duckdb = duckdb
        config: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": memory_limit,
            "temp_directory": str(spill),
            "preserve_insertion_order": True,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        if threads is not None:
            config["threads"] = threads
        self._database = duckdb.connect(":memory:", config=config)
        self._stack = ExitStack()
        # DuckDB treats `? * [` in a path as a pattern; links of our own with plain names cannot be mistaken.
        self._links = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="wardround-")))
        self._linked: dict[str, SourceFile] = {}
        self.messages: list[str] = []

    def close(self) -> None:
        """Close the database and remove the links."""
        self._database.close()
        self._stack.close()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def stream(self, spec: TableSpec, files: Sequence[SourceFile], tally: Tally) -> TableStream:
        """Open a table: headers and checksums are checked now, rows come when asked for."""
        groups = self._groups(spec, files)
        return TableStream(self, spec, groups, tally, self._rows(spec, groups))

    def _groups(self, spec: TableSpec, files: Sequence[SourceFile]) -> list[FileGroup]:
        groups: dict[tuple[str, ...], list[SourceFile]] = {}
        for source in files:
            header = read_header(source, spec)
            check_gzip(source)
            self.messages.extend(header.messages)
            groups.setdefault(header.columns, []).append(source)
        return [FileGroup(columns, tuple(sources)) for columns, sources in groups.items()]

    def _rows(self, spec: TableSpec, groups: Sequence[FileGroup]) -> Iterator[list[Row]]:
        parts = [self._select(spec, group, number * _GROUP) for number, group in enumerate(groups)]
        order = "subject NULLS FIRST, n" if spec.keyed else "n"
        cursor = self._database.cursor()
        try:
            cursor.execute(f"{' UNION ALL '.join(parts)} ORDER BY {order}")
            while batch := cursor.fetchmany(_BATCH):
                yield batch
        except self._duckdb.Error as fault:
            raise self._explain(spec, fault) from fault
        finally:
            cursor.close()

    def _select(self, spec: TableSpec, group: FileGroup, base: int) -> str:
        names = ", ".join(_quoted(self._link(source)) for source in group.files)
        columns = ", ".join(f"{_quoted(f'c{i}')}: 'VARCHAR'" for i in range(len(group.columns)))
        place = {name: f"c{i}" for i, name in enumerate(group.columns)}
        compression = "gzip" if group.files[0].gz else "none"
        cells = ", ".join(f"{place.get(name, 'NULL')} AS {name}" for name in spec.columns)
        subject = "NULL"
        if spec.keyed:
            text = f"trim({place['subject_id']})"
            subject = f"CASE WHEN regexp_full_match({text}, '[0-9]{{1,18}}') THEN CAST({text} AS BIGINT) END"
        return (  # every name in it is ours: columns are numbered, paths are quoted links
            f"SELECT {base} + row_number() OVER () AS n, {subject} AS subject, {cells} FROM read_csv([{names}], "  # noqa: S608
            f"header = false, skip = 1, auto_detect = false, columns = {{{columns}}}, delim = ',', quote = '\"', "
            f"escape = '\"', strict_mode = true, null_padding = false, compression = '{compression}')"
        )

    def _link(self, source: SourceFile) -> str:
        link = self._links / f"{len(self._linked)}.csv{'.gz' if source.gz else ''}"
        link.symlink_to(source.path.resolve())
        self._linked[link.name] = source
        return str(link)

    def _explain(self, spec: TableSpec, fault: Exception) -> DataError:
        """Say what DuckDB stumbled over; it counts records, so the line is looked up again."""
        text = str(fault)
        named = re.search(r"([0-9]+\.csv(?:\.gz)?)\b", text.replace(str(self._links), ""))
        source = self._linked.get(named[1]) if named else None
        found = diagnose(source) if source else None
        if found is not None:
            return found
        label = source.label if source else spec.name
        return DataError(f"`{label}` cannot be read: {text.splitlines()[0]}. Repair or fetch the file again.")


def diagnose(source: SourceFile) -> DataError | None:
    """Read a file line by line and name its first fault; None if it has none of those known here."""
    not_utf8 = _first_bad_line(source)
    if not_utf8 is not None:
        return DataError(
            f"`{source.label}`, line {not_utf8}: not UTF-8. Save the file as UTF-8 CSV, as MIMIC-IV is published."
        )
    with _text(source) as stream:
        reader = csv.reader(stream, strict=True)
        width = len(next(reader, []))
        line = reader.line_num + 1
        try:
            for record in reader:
                if record and len(record) != width:
                    return DataError(
                        f"`{source.label}`, line {line}: {len(record)} fields where the header has {width}. "
                        "Repair or fetch the file again."
                    )
                line = reader.line_num + 1
        except csv.Error:
            return DataError(
                f"`{source.label}`, line {line}: a quoted field does not end as it should. "
                "Repair or fetch the file again."
            )
    return None


def _first_bad_line(source: SourceFile) -> int | None:
    with _opened(source) as stream:
        for line, data in enumerate(stream, 1):
            try:
                data.decode("utf-8")
            except UnicodeDecodeError:
                return line
    return None


@contextmanager
def _text(source: SourceFile) -> Iterator[TextIO]:
    with _opened(source) as stream, io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
        yield text


@dataclass(frozen=True, slots=True)
class FileGroup:
    """Files of one table with the same header, read in this order."""

    columns: tuple[str, ...]
    files: tuple[SourceFile, ...]


class TableStream:
    """The rows of one table in order of subject, then of the file; each row is handed out or refused once."""

    def __init__(
        self, reader: Reader, spec: TableSpec, groups: list[FileGroup], tally: Tally, batches: Iterator[list[Row]]
    ) -> None:
        self.spec = spec
        self.tally = tally
        self._reader = reader
        self._groups = groups
        self._batches = batches
        self._batch: list[Row] = []
        self._next = 0

    @property
    def empty(self) -> bool:
        """Whether nothing is left to read."""
        return self._peek() is None

    def _peek(self) -> Row | None:
        if self._next >= len(self._batch):
            self._batch, self._next = next(self._batches, []), 0
            self.tally.read += len(self._batch)
            if not self._batch:
                return None
        return self._batch[self._next]

    def take(self, subject: int) -> list[Row]:
        """Return the rows of `subject`; rows of subjects before it belong to nobody and are refused.

        Args:
            subject: Ascending from call to call.
        """
        while (row := self._peek()) is not None and (row[1] is None or row[1] < subject):
            self._refuse(row)
        return self._run(subject)

    def groups(self) -> Iterator[tuple[int, list[Row]]]:
        """Yield every subject with its rows, ascending."""
        while (row := self._peek()) is not None:
            if row[1] is None:
                self._refuse(row)
            else:
                yield row[1], self._run(row[1])

    def all(self) -> Iterator[Row]:
        """Yield every row in the order of the file (dictionaries)."""
        while (row := self._peek()) is not None:
            self._next += 1
            yield row

    def drain(self) -> None:
        """Refuse what is left: rows of subjects that `patients` does not have."""
        while (row := self._peek()) is not None:
            self._refuse(row)

    def _run(self, subject: int) -> list[Row]:
        rows: list[Row] = []
        while (row := self._peek()) is not None and row[1] == subject:
            batch, start = self._batch, self._next
            end = start + 1
            while end < len(batch) and batch[end][1] == subject:
                end += 1
            rows += batch[start:end]
            self._next = end
        return rows

    def _refuse(self, row: Row) -> None:
        reason = "subject_id is not a whole number" if row[1] is None else "subject_id is not in patients"
        self.tally.refuse(reason, row[0])
        self._next += 1

    def locate(self, wanted: set[int]) -> dict[int, dict[str, str | int]]:
        """Find rows again in their files, by number.

        Returns:
            Number → `file`, `line` (where the row begins, 1-based) and `text` (cut at 500 characters).
        """
        found: dict[int, dict[str, str | int]] = {}
        for number, group in enumerate(self._groups):
            row = number * _GROUP
            for source in group.files:
                row = _locate_in(source, row, wanted, found)
                if len(found) == len(wanted):
                    return found
        return found


def _locate_in(source: SourceFile, row: int, wanted: set[int], found: dict[int, dict[str, str | int]]) -> int:
    with _text(source) as stream:
        reader = csv.reader(stream, strict=True)
        next(reader, None)
        line = reader.line_num + 1
        for record in reader:
            if record:
                row += 1
                if row in wanted:
                    text = ",".join(f'"{cell}"' if "," in cell or "\n" in cell else cell for cell in record)
                    found[row] = {"file": source.label, "line": line, "text": text[:500]}
            line = reader.line_num + 1
    return row


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
