"""Many charts in one SQLite file: opened read-only, chart by chart (`store_writer.py` writes it).

The file's tables are described where they are written. Format 1.
"""

from __future__ import annotations

import os
import sqlite3
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import orjson
import zstandard

from .behind import Behind
from .chart import Chart
from .errors import DataError, UsageError
from .interview import Interview
from .markup import html_view
from .packing import Index, PackedChart, body_hash, frame_digest

if TYPE_CHECKING:
    from wardround.patients.hospital.truth import Truth

FORMAT = "wardround.charts/1"

CHARTS = 64
"""Charts a store keeps open; opening one more closes the one unused for longest."""


class ChartStore:
    """An open store. Use `ChartStore.open(path)`; it is a context manager and pickles by its path.

    A process that was forked from this one opens the file anew.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, header: dict[str, Any]) -> None:
        self.path = path
        self.header = header
        self._connection: sqlite3.Connection | None = connection
        self._process = os.getpid()
        self._charts: OrderedDict[str, Chart] = OrderedDict()
        self._patients: tuple[str, ...] | None = None
        self._last_told: tuple[str, dict[str, Interview]] | None = None
        self._last_truth: tuple[str, Truth | None] | None = None
        """Of the patient asked about last: all rounds of one follow one another."""

    @classmethod
    def open(cls, path: str | Path) -> ChartStore:
        """Open a store read-only.

        Raises:
            DataError: No such file, another kind of file, or another format version.
        """
        where = Path(path).absolute()
        connection = _connect(where)
        try:
            header = _read_header(connection, where)
        except DataError:
            connection.close()
            raise
        return cls(where, connection, header)

    @property
    def hash(self) -> str:
        """Hash of the sorted chart hashes."""
        return str(self.header["hash"])

    @property
    def licence(self) -> str:
        """Licence tag of the store (single charts may carry their own)."""
        return str(self.header["licence"])

    def licences(self) -> tuple[str, ...]:
        """Return the licence tags that its charts carry, sorted."""
        return tuple(licence for (licence,) in self._query("SELECT DISTINCT licence FROM charts ORDER BY licence"))

    def patients(self) -> tuple[str, ...]:
        """Return the patient ids, sorted."""
        if self._patients is None:
            found = self._query("SELECT patient FROM charts ORDER BY patient")
            self._patients = tuple(patient for (patient,) in found)
        return self._patients

    def __len__(self) -> int:
        return len(self.patients())

    def _repr_html_(self) -> str:
        """Show what the store is and whose charts it holds."""
        facts = [("licence", self.licence), ("hash", self.hash), ("patients", f"{len(self):,}")]
        return html_view(
            f"Charts: {self.path.name}", facts, [("Patients", ("id",), [(one,) for one in self.patients()])]
        )

    def __contains__(self, patient_id: object) -> bool:
        return patient_id in self.patients()

    def chart(self, patient_id: str) -> Chart:
        """Return a patient's chart; its index is checked now, each part of its body when it is first read.

        Raises:
            UsageError: No such patient.
            DataError: The chart is damaged.
        """
        found = self._charts.get(patient_id)
        if found is not None:
            self._charts.move_to_end(patient_id)
            return found
        row = next(
            iter(
                self._query(
                    'SELECT hash, licence, digests, parts, "index", rows FROM charts WHERE patient = ?', patient_id
                )
            ),
            None,
        )
        if row is None:
            some = ", ".join(self.patients()[:5])
            raise UsageError(f"no patient `{patient_id}` in {self.path}; it holds {len(self)} patients: {some} …")
        digest, licence, digests, check, index, rows = row
        if body_hash(digests) != digest or frame_digest(index + rows).hex() != check:
            raise DataError(f"{self.path}: chart {patient_id} is damaged (its hash differs); build the store again")
        body = _StoredBody(self, patient_id, digests)
        chart = Chart(patient_id, digest, licence, Index(index), rows, body, frozenset(self.header["imported"]))
        self._charts[patient_id] = chart
        if len(self._charts) > CHARTS:
            self._charts.popitem(last=False)
        return chart

    def interview(self, patient_id: str, encounter: str | None = None) -> Interview | None:
        """Return a patient's authored interview; None where none was written.

        Args:
            patient_id: The patient.
            encounter: The interview of this Encounter. Without it, the patient's one interview, else that of the last
                encounter.

        Raises:
            DataError: The interview is damaged.
        """
        if encounter is not None:
            return self.interviews(patient_id).get(encounter)
        for digest, body in self._query("SELECT hash, body FROM interviews WHERE patient = ?", patient_id):
            if frame_digest(body.encode()).hex() != digest:
                raise DataError(f"{self.path}: the interview of {patient_id} is damaged; build the store again")
            return Interview.model_validate_json(body)
        return next(reversed(self.interviews(patient_id, last=True).values()), None)

    def interviews(self, patient_id: str, *, last: bool = False) -> dict[str, Interview]:
        """Return the interviews of a patient's encounters, by Encounter id in their order; empty where there are none.

        Args:
            patient_id: The patient.
            last: Only that of the last encounter that has one.

        Raises:
            DataError: One is damaged.
        """
        if self._last_told is not None and self._last_told[0] == patient_id:
            told = self._last_told[1]
            return {name: told[name] for name in list(told)[-1:]} if last else dict(told)
        bodies = {encounter: (body, digest) for encounter, digest, body in self._visits(patient_id)}
        read: dict[str, Interview] = {}
        wanted = list(bodies)[-1:] if last else bodies
        found = {encounter: self._told(patient_id, encounter, bodies, read) for encounter in wanted}
        if not last:
            self._last_told = patient_id, dict(found)
        return found

    def _visits(self, patient_id: str) -> list[tuple[str, str, bytes]]:
        """Return encounter, digest and body of the interviews of a patient's encounters, in their order."""
        if not self._has("visits"):
            return []
        rows = self._query("SELECT encounter, hash, body FROM visits WHERE patient = ? ORDER BY place", patient_id)
        return [tuple(row) for row in rows]

    def interview_count(self) -> int:
        """Return how many interviews the store holds: of patients, and of encounters."""
        tables = [table for table in ("interviews", "visits") if self._has(table)]
        return sum(self._query(f"SELECT COUNT(*) FROM {table}")[0][0] for table in tables)  # noqa: S608

    def _told(
        self, patient_id: str, encounter: str, bodies: Mapping[str, tuple[bytes, str]], read: dict[str, Interview]
    ) -> Interview:  # fmt: skip
        """Return the interview of an encounter, which may be that of another; `read` keeps what was read."""
        what = f"an interview of {patient_id}"
        text = self._opened(*bodies[encounter], what)
        if text.startswith(b'"'):  # the id of the encounter that has the same (`behind.py`)
            other = orjson.loads(text)
            if other not in bodies or other == encounter:
                raise DataError(f"{self.path}: {what} is damaged (`{encounter}` has that of no encounter); build again")
            return read[other] if other in read else self._told(patient_id, other, bodies, read)
        found = read[encounter] = Interview.model_validate_json(text)
        return found

    def truth(self, patient_id: str) -> Truth | None:
        """Return what is behind a generated chart; None for any other. No tool reads it.

        Raises:
            DataError: It is damaged.
        """
        from wardround.patients.hospital.truth import Truth  # not needed to open an imported store

        if self._last_truth is None or self._last_truth[0] != patient_id:
            found = None
            for digest, body in self._truths(patient_id):
                found = Truth.model_validate_json(self._opened(body, digest, f"the truth of {patient_id}"))
            self._last_truth = patient_id, found
        return self._last_truth[1]

    def _truths(self, patient_id: str) -> list[tuple[str, bytes]]:
        """Return digest and body of the truth of a patient: one, or none."""
        if not self._has("truths"):
            return []
        return [tuple(row) for row in self._query("SELECT hash, body FROM truths WHERE patient = ?", patient_id)]

    def _has(self, table: str) -> bool:
        """Tell whether the file has a table: older stores lack some."""
        return bool(self._query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", table))

    def _opened(self, body: bytes, digest: str, what: str) -> bytes:
        """Return what a compressed body says, once it is what was hashed."""
        if frame_digest(body).hex() != digest:
            raise DataError(f"{self.path}: {what} is damaged; build the store again")
        return zstandard.ZstdDecompressor().decompress(body)

    def stored(self, patient_id: str) -> tuple[PackedChart, Behind]:
        """Return a chart and what is behind it as they are stored, to be written into another store.

        Raises:
            UsageError: No such patient.
            DataError: The chart is damaged.
        """
        self.chart(patient_id)  # raises where the chart is not there or damaged
        columns = 'hash, licence, counts, digests, parts, "index", rows'
        row = self._query(f"SELECT {columns} FROM charts WHERE patient = ?", patient_id)[0]  # noqa: S608
        digest, licence, counts, digests, check, index, rows = row
        frames = tuple(self.frame(patient_id, number) for number in range(len(digests) // 16))
        texts = self.texts(patient_id) or b""
        packed = PackedChart(
            patient_id, licence, digest, index, rows, frames, digests, orjson.loads(counts), check, texts
        )  # fmt: skip
        truth = next((body for _, body in self._truths(patient_id)), b"")
        return packed, Behind(patient_id, tuple(self._visits(patient_id)), truth)

    def frame(self, patient_id: str, number: int) -> bytes:
        """Return one compressed part of a chart's body."""
        found = self._query("SELECT body FROM frames WHERE patient = ? AND number = ?", patient_id, number)
        for (body,) in found:
            return bytes(body)
        raise DataError(f"{self.path}: chart {patient_id} lacks part {number}; build the store again")

    def texts(self, patient_id: str) -> bytes | None:
        """Return the packed full-text index of a chart; None where there is none (no notes, or an older store).

        Raises:
            DataError: It is damaged.
        """
        if not self._has("texts"):
            return None
        for digest, body in self._query("SELECT hash, body FROM texts WHERE patient = ?", patient_id):
            if frame_digest(body).hex() != digest:
                raise DataError(f"{self.path}: the text index of {patient_id} is damaged; build the store again")
            return bytes(body)
        return None

    def _query(self, statement: str, *values: Any) -> list[Any]:
        if self._connection is None or self._process != os.getpid():
            # A SQLite connection must not be used across fork; the child opens its own and leaves the parent's alone.
            self._connection = _connect(self.path)
            self._process = os.getpid()
        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.DatabaseError as fault:
            raise DataError(f"{self.path} cannot be read ({fault}); build the store again") from fault

    def close(self) -> None:
        """Close the file. Charts already opened keep what they have read."""
        if self._connection is not None and self._process == os.getpid():
            self._connection.close()
        self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return open_shared, (str(self.path), self.hash)


class _StoredBody:
    def __init__(self, store: ChartStore, patient_id: str, digests: bytes) -> None:
        self._store = store
        self._patient_id = patient_id
        self._digests = digests

    def frame(self, number: int) -> bytes:
        """Return a frame, decompressed and verified."""
        packed = self._store.frame(self._patient_id, number)
        try:
            raw = zstandard.ZstdDecompressor().decompress(packed)
        except zstandard.ZstdError:
            raw = b""
        if frame_digest(raw) != self._digests[16 * number : 16 * number + 16]:
            raise DataError(
                f"{self._store.path}: part {number} of chart {self._patient_id} is damaged; build the store again"
            )
        return raw

    def texts(self) -> bytes | None:
        """Return the packed texts, verified."""
        return self._store.texts(self._patient_id)

    def origin(self) -> tuple[Any, ...]:
        """Return how to open the chart again in another process."""
        return stored_chart, (str(self._store.path), self._store.hash, self._patient_id)


_SHARED: OrderedDict[str, ChartStore] = OrderedDict()


def open_shared(path: str, digest: str) -> ChartStore:
    """Return this process's store at `path`, checked against the hash it had when it was pickled.

    Raises:
        DataError: The file at `path` is another store now.
    """
    store = _SHARED.get(path)
    if store is None or store.hash != digest:
        store = _SHARED[path] = ChartStore.open(path)
        while len(_SHARED) > 8:
            _SHARED.popitem(last=False)
    if store.hash != digest:
        raise DataError(f"{path} holds other charts (hash {store.hash}) than expected ({digest}); use the same store")
    return store


def stored_chart(path: str, digest: str, patient_id: str) -> Chart:
    """Return a chart of this process's store at `path`."""
    return open_shared(path, digest).chart(patient_id)


def _connect(path: Path) -> sqlite3.Connection:
    if not path.is_file():
        raise DataError(f"{path}: no such charts file; make one with `wardround import`")
    uri = f"{path.as_uri()}?mode=ro&immutable=1"
    return sqlite3.connect(uri, uri=True, check_same_thread=False)


def _read_header(connection: sqlite3.Connection, path: Path) -> dict[str, Any]:
    try:
        rows = connection.execute("SELECT body FROM header").fetchall()
        header = orjson.loads(rows[0][0]) if len(rows) == 1 else None
    except (sqlite3.DatabaseError, orjson.JSONDecodeError) as fault:
        raise DataError(f"{path} is not a charts file ({fault}); make one with `wardround import`") from fault
    found = header.get("format") if isinstance(header, dict) else None
    if found != FORMAT:
        raise DataError(f"{path}: format is `{found}`, this version reads `{FORMAT}`; build the store again")
    assert isinstance(header, dict)
    return header
