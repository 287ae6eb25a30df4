"""Reading MIMIC-IV tables with DuckDB: every cell as text, grouped by subject, flat in memory however long the file."""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wardround.patients.errors import DataError, UsageError
from wardround.patients.work_folder import WorkFolder

from ._headers import read_header
from ._icd import MAY_HAVE_LOST, check_dictionary, doubtful, numeric_codes
from ._lines import LINE, LONG_LINE, check_whole, diagnose, find_header, locate_in
from ._repairs import Repairs, id_fault, settle, survey, survey_again
from ._sources import SourceFile
from ._tables_spec import TableSpec
from .report import Tally

__all__ = ["FileGroup", "Reader", "Row", "TableSpec", "TableStream"]

Tell = Callable[[str], None]
"""Called with what is being done, in words."""

Row = tuple[Any, ...]
"""`(number in reading order, subject_id as int | None, *columns of the spec as str | None)`."""

_BATCH = 4096
_GROUP = 1 << 40
"""Row numbers of the k-th group of files start at k × this: one number names one row of one table."""


class Reader:
    """One DuckDB database, in memory with spilling, shared by the streams of all tables.

    Args:
        threads: Threads of DuckDB (None: all cores); the rows and their order do not depend on it.
        memory_limit: DuckDB's own limit ("1GB"); sorts beyond it go to the folder's `spill`.
        work: Folder for temporary files.
        tell: Called with what is being done.
    """

    def __init__(self, *, threads: int | None, memory_limit: str, work: WorkFolder, tell: Tell | None = None) -> None:
        try:
            import duckdb
        except ImportError as fault:
            raise UsageError("Importing MIMIC-IV needs DuckDB. Install it: pip install 'wardround[mimic]'.") from fault
        self._duckdb = duckdb
        config: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": memory_limit,
            "temp_directory": str(work.path / "spill"),
            "preserve_insertion_order": True,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        if threads is not None:
            config["threads"] = threads
        self._database = duckdb.connect(":memory:", config=config)
        self._database.execute("SET enable_progress_bar_print = false")  # standard output is the caller's
        self._stack = ExitStack()
        # DuckDB treats `? * [` in a path as a pattern; links of our own with plain names cannot be mistaken.
        self._links = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="wardround-")))
        work.own(self._links)
        self._linked: dict[str, SourceFile] = {}
        self._places: dict[Path, str] = {}
        self._tell = tell
        self.messages: list[str] = []
        self.icd9: dict[str, set[str]] = {}
        """Table → its different ICD-9 codes of digits only."""

    def close(self) -> None:
        """Close the database and remove the links."""
        self._database.close()
        self._stack.close()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def stream(
        self, spec: TableSpec, files: Sequence[SourceFile], tally: Tally, after: int | None = None
    ) -> TableStream:
        """Open a table: headers, checksums and a spreadsheet's traces are looked at now, rows come when asked for.

        Args:
            spec: The table.
            files: Its files.
            tally: Its account.
            after: Only subjects above this one (an import that is taken up again).
        """
        groups = self._groups(spec, files)
        return TableStream(self, spec, groups, tally, self._rows(spec, groups, after))

    def _groups(self, spec: TableSpec, files: Sequence[SourceFile]) -> list[FileGroup]:
        groups: dict[tuple[tuple[str, ...], bool], list[SourceFile]] = {}
        controlled: set[tuple[tuple[str, ...], bool]] = set()
        with self._telling(f"checking {spec.name}"):
            for source in files:
                header = read_header(source, spec)
                if check_whole(source):
                    controlled.add((header.columns, source.gz))
                self.messages.extend(header.messages)
                groups.setdefault((header.columns, source.gz), []).append(source)
            return [
                self._surveyed(spec, key[0], tuple(sources), controls=key in controlled)
                for key, sources in groups.items()
            ]

    def _surveyed(
        self, spec: TableSpec, columns: tuple[str, ...], files: tuple[SourceFile, ...], *, controls: bool
    ) -> FileGroup:
        """Read files once for what a spreadsheet did to them, and for control characters where they hold some."""
        source = self._source(columns, files)
        counts = self._count(spec, survey(spec, columns, controls=controls), source)
        if counts["header"]:
            for one in files:
                line = find_header(one)
                if line is not None:
                    raise DataError(
                        f"`{one.label}`, line {line}: the header again, between the rows. The file was sorted or "
                        "joined by hand: fetch it again, or delete that line."
                    )
        details = self._count(spec, survey_again(columns, counts), source)
        label = files[0].label if len(files) == 1 else f"{files[0].label} and {len(files) - 1} more"
        repairs = settle(label, counts, details, one_file=len(files) == 1)
        self.messages.extend(repairs.messages)
        self._gather_codes(spec, columns, files, source)
        return FileGroup(columns, files, repairs)

    def _gather_codes(
        self, spec: TableSpec, columns: tuple[str, ...], files: tuple[SourceFile, ...], source: str
    ) -> None:
        """Remember the ICD-9 codes of digits; refuse a dictionary that lost their leading zeros."""
        query = numeric_codes(columns)
        if query is None:
            return
        try:
            found = self._database.execute(query.format(source)).fetchall()
        except self._duckdb.Error as fault:
            raise self._explain(spec, fault) from fault
        if not spec.keyed:
            check_dictionary(files, found)
        self.icd9.setdefault(spec.name, set()).update(code for version, code in found if version in ("9", "9.0"))

    def _count(self, spec: TableSpec, conditions: dict[str, str], source: str) -> dict[str, int]:
        if not conditions:
            return {}
        asked = ", ".join(f"count(*) FILTER (WHERE {condition})" for condition in conditions.values())
        try:
            found = self._database.execute(f"SELECT {asked} FROM {source}").fetchone()  # noqa: S608 (all ours)
        except self._duckdb.Error as fault:
            raise self._explain(spec, fault) from fault
        assert found is not None
        return dict(zip(conditions, found, strict=True))

    def _rows(self, spec: TableSpec, groups: Sequence[FileGroup], after: int | None) -> Iterator[list[Row]]:
        query = " UNION ALL ".join(self._select(spec, group, number * _GROUP) for number, group in enumerate(groups))
        if spec.keyed and after is not None:
            query = f"SELECT * FROM ({query}) WHERE subject > {after}"  # noqa: S608 (all ours)
        order = "subject NULLS FIRST, n" if spec.keyed else "n"
        cursor = self._database.cursor()
        cursor.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
        try:
            with self._telling(f"sorting {spec.name}", cursor):
                cursor.execute(f"{query} ORDER BY {order}")
                batch = cursor.fetchmany(_BATCH)
            while batch:
                yield batch
                batch = cursor.fetchmany(_BATCH)
        except self._duckdb.Error as fault:
            raise self._explain(spec, fault) from fault
        finally:
            cursor.close()

    @contextmanager
    def _telling(self, words: str, cursor: Any = None) -> Iterator[None]:
        """Say what is being done now, and every second how far it is: a sort gives no sign of its own."""
        if self._tell is None:
            yield
            return
        tell, over = self._tell, threading.Event()

        def watch() -> None:
            while not over.wait(1.0):
                done = cursor.query_progress() if cursor is not None else -1
                tell(f"{words}: {done:.0f} %" if done >= 0 else words)

        tell(words)
        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()

    def _source(self, columns: Sequence[str], files: Sequence[SourceFile]) -> str:
        names = ", ".join(_quoted(self._link(source)) for source in files)
        types = ", ".join(f"{_quoted(f'c{i}')}: 'VARCHAR'" for i in range(len(columns)))
        compression = "gzip" if files[0].gz else "none"
        room = f", max_line_size = {LONG_LINE}, buffer_size = {LONG_LINE}" if "text" in columns else ""
        return (
            f"read_csv([{names}], header = false, skip = 1, auto_detect = false, columns = {{{types}}}, delim = ',', "
            f"quote = '\"', escape = '\"', strict_mode = true, null_padding = false{room}, "
            f"compression = '{compression}')"
        )

    def _select(self, spec: TableSpec, group: FileGroup, base: int) -> str:
        place = {name: group.repairs.cell(name, f"c{i}") for i, name in enumerate(group.columns)}
        cells = ", ".join(f"{place.get(name, 'NULL')} AS {name}" for name in spec.columns)
        subject = "NULL"
        if spec.keyed:
            text = f"trim({place['subject_id']})"
            subject = f"CASE WHEN regexp_full_match({text}, '[0-9]{{1,18}}') THEN CAST({text} AS BIGINT) END"
        source = self._source(group.columns, group.files)
        # every name in it is ours: columns are numbered, paths are quoted links
        return f"SELECT {base} + row_number() OVER () AS n, {subject} AS subject, {cells} FROM {source}"  # noqa: S608

    def _link(self, source: SourceFile) -> str:
        known = self._places.get(source.path)
        if known is not None:
            return known
        link = self._links / f"{len(self._linked)}.csv{'.gz' if source.gz else ''}"
        link.symlink_to(source.path.resolve())
        self._linked[link.name] = source
        self._places[source.path] = str(link)
        return str(link)

    def _explain(self, spec: TableSpec, fault: Exception) -> DataError:
        """Say what DuckDB stumbled over; it counts records, so the line is looked up again."""
        text = str(fault)
        named = re.search(r"([0-9]+\.csv(?:\.gz)?)\b", text.replace(str(self._links), ""))
        source = self._linked.get(named[1]) if named else None
        found = diagnose(source, LONG_LINE if "text" in spec.columns else LINE) if source else None
        if found is not None:
            return found
        label = source.label if source else spec.name
        return DataError(f"`{label}` cannot be read: {text.splitlines()[0]}. Repair or fetch the file again.")


@dataclass(frozen=True, slots=True)
class FileGroup:
    """Files of one table with the same header, read in this order."""

    columns: tuple[str, ...]
    files: tuple[SourceFile, ...]
    repairs: Repairs


class TableStream:
    """The rows of one table in order of subject, then of the file; each row is handed out or refused once."""

    def __init__(
        self, reader: Reader, spec: TableSpec, groups: list[FileGroup], tally: Tally, batches: Iterator[list[Row]]
    ) -> None:
        self.spec = spec
        self.tally = tally
        self._reader = reader
        self._groups = groups
        broken = {name for group in groups for name in group.repairs.broken}
        self._broken = tuple((2 + place, name) for place, name in enumerate(spec.columns) if name in broken)
        """Places of a row, and their columns, where a cell may be no id."""
        coded = spec.keyed and {"icd_version", "icd_code"} <= set(spec.columns)
        self._coded = tuple(2 + spec.columns.index(name) for name in ("icd_version", "icd_code")) if coded else None
        self._doubtful: set[str] | None = None
        """ICD-9 codes that may be others; known when all tables are open."""
        self._asks = bool(self._broken or coded)
        """Whether rows are looked at one by one."""
        self._subject = 2 + spec.columns.index("subject_id") if spec.keyed else None
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
            if not self._batch:
                return None
        return self._batch[self._next]

    def take(self, subject: int) -> list[Row]:
        """Return the rows of `subject`; rows of subjects before it belong to nobody and are refused.

        Args:
            subject: Ascending from call to call.
        """
        self._pass_over(subject)
        return self._run(subject)

    def each(self, subject: int) -> Iterator[Row]:
        """Yield what `take` returns, without holding it: for tables with a million rows of one patient."""
        self._pass_over(subject)
        while (row := self._peek()) is not None and row[1] == subject:
            self._next += 1
            self.tally.read += 1
            if not self._asks or self._sound(row):
                yield row

    def pieces(self, subject: int) -> Iterator[list[Row]]:
        """Yield what `take` returns a few thousand rows at a time."""
        self._pass_over(subject)
        yield from self._runs(subject)

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
            self.tally.read += 1
            if not self._asks or self._sound(row):
                yield row

    def drain(self) -> None:
        """Refuse what is left: rows of subjects that `patients` does not have."""
        while (row := self._peek()) is not None:
            self._refuse(row)

    def _pass_over(self, subject: int) -> None:
        """Refuse the rows of subjects before this one: they belong to nobody."""
        while (row := self._peek()) is not None and (row[1] is None or row[1] < subject):
            self._refuse(row)

    def _run(self, subject: int) -> list[Row]:
        rows: list[Row] = []
        for some in self._runs(subject):
            rows += some
        return rows

    def _runs(self, subject: int) -> Iterator[list[Row]]:
        while (row := self._peek()) is not None and row[1] == subject:
            batch, start = self._batch, self._next
            end = start + 1
            while end < len(batch) and batch[end][1] == subject:
                end += 1
            self.tally.read += end - start
            self._next = end
            some = batch[start:end]
            yield [row for row in some if self._sound(row)] if self._asks else some

    def _sound(self, row: Row) -> bool:
        """Tell whether the ids of a row are ids and its code is its own; refuse it where they are not."""
        for place, name in self._broken:
            fault = id_fault(name, row[place])
            if fault is not None:
                self.tally.refuse(fault, row[0])
                return False
        if self._coded is not None:
            if self._doubtful is None:
                self._doubtful = doubtful(self.spec.name, self._reader.icd9)
            version, code = ((row[place] or "").strip() for place in self._coded)
            if version == "9" and code in self._doubtful:
                self.tally.refuse(MAY_HAVE_LOST, row[0])
                return False
        return True

    def _refuse(self, row: Row) -> None:
        reason = "subject_id is not in patients"
        if row[1] is None:
            assert self._subject is not None
            reason = id_fault("subject_id", row[self._subject]) or "subject_id is not a whole number"
        self.tally.read += 1
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
                row = locate_in(source, row, wanted, found)
                if len(found) == len(wanted):
                    return found
        return found


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
