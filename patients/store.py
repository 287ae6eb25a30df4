"""Many charts in one SQLite file, written once and then only read.

Tables: `header` (one JSON object), `charts` (index and compact rows), `frames` (the bodies, in parts), `texts` (the
full-text index of each chart, opened by its first keyword search) and `interviews`
(authored interviews, hashed apart; no tool reads them). Format 1.
"""

from __future__ import annotations

import os
import sqlite3
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson
import zstandard

from .chart import Chart
from .errors import DataError, UsageError
from .fhir import Validator
from .interview import Interview
from .outputs import check_output
from .packing import Index, PackedChart, body_hash, frame_digest, pack
from .resource import Resource
from .slotted import Sheaf
from .times import Instant
from .work_folder import WorkFolder

FORMAT = "wardround.charts/1"
_MAGIC = b"SQLite format 3\0"

PART = "charts.sqlite"
"""Name of the unfinished store in its work folder."""

CHARTS = 64
"""Charts a store keeps open; opening one more closes the one unused for longest."""

_SCHEMA = """
CREATE TABLE header (body TEXT NOT NULL);
CREATE TABLE charts (patient TEXT PRIMARY KEY, hash TEXT NOT NULL, licence TEXT NOT NULL, counts TEXT NOT NULL,
    digests BLOB NOT NULL, parts TEXT NOT NULL, "index" BLOB NOT NULL, rows BLOB NOT NULL);
CREATE TABLE frames (patient TEXT NOT NULL, number INTEGER NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (patient, number)) WITHOUT ROWID;
CREATE TABLE texts (patient TEXT PRIMARY KEY, hash TEXT NOT NULL, body BLOB NOT NULL);
CREATE TABLE interviews (patient TEXT PRIMARY KEY, hash TEXT NOT NULL, body TEXT NOT NULL);
"""


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

    def patients(self) -> tuple[str, ...]:
        """Return the patient ids, sorted."""
        if self._patients is None:
            found = self._query("SELECT patient FROM charts ORDER BY patient")
            self._patients = tuple(patient for (patient,) in found)
        return self._patients

    def __len__(self) -> int:
        return len(self.patients())

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

    def interview(self, patient_id: str) -> Interview | None:
        """Return a patient's authored interview; None where none was written.

        Raises:
            DataError: The interview is damaged.
        """
        for digest, body in self._query("SELECT hash, body FROM interviews WHERE patient = ?", patient_id):
            if frame_digest(body.encode()).hex() != digest:
                raise DataError(f"{self.path}: the interview of {patient_id} is damaged; build the store again")
            return Interview.model_validate_json(body)
        return None

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
        if not self._query("SELECT 1 FROM sqlite_master WHERE name = 'texts'"):
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


class StoreWriter:
    """Writes a store: in a hidden folder beside `path`, renamed by `close()`; `abort()` leaves nothing.

    As a context manager it closes on success and aborts on an exception. The folder is locked: what a killed process
    left there is removed, a living one's is respected.

    Args:
        path: Where the store is to be; replaced if it exists.
        licence: Licence tag of the data.
        provenance: What made the store, from what (JSON-able; no times, no machine paths).
        imported: Types that were imported even if no resource of them is found.
        validate: Whether resources are validated (only tests of damaged data turn it off).
        work: The folder to work in, claimed already; its owner releases it. What it holds of this writer is taken up
            where `checkpoint` left it.

    Raises:
        UsageError: The place is no good, or another process is writing there.
    """

    def __init__(
        self, path: str | Path, licence: str = "CC0-1.0", provenance: Mapping[str, Any] | None = None,
        imported: Iterable[str] = (), *, validate: bool = True, work: WorkFolder | None = None,
    ) -> None:  # fmt: skip
        self.path = Path(path).absolute()
        if not self.path.parent.is_dir():
            raise UsageError(f"{self.path.parent} is not a folder; make it first or choose another `--out`")
        check_output(self.path, _MAGIC, "a charts file")
        self.licence = licence
        self.provenance = dict(provenance or {})
        self.counts: dict[str, int] = {}
        """Resources by type so far."""
        self._imported = set(imported)
        self._hashes: list[str] = []
        self._validator = Validator() if validate else None
        self.state: dict[str, Any] | None = None
        """What the last `checkpoint` of an interrupted writer said; None where there was none."""
        self._own = WorkFolder(self.path) if work is None else None
        if self._own is not None:
            self._own.clear()
        folder = self._own if self._own is not None else work
        assert folder is not None
        self._part = folder.path / PART
        self._connection: sqlite3.Connection | None = sqlite3.connect(self._part)
        if self._own is not None:
            self._connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + _SCHEMA)
        else:
            self._take_up()

    def _take_up(self) -> None:
        """Go on where a checkpoint was made, or begin; a journal takes back what was written after it."""
        database = self._open()
        database.executescript("PRAGMA journal_mode=TRUNCATE; PRAGMA synchronous=OFF;")
        names = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
        if "checkpoint" not in names:
            if names:  # killed while it was being closed
                database.close()
                self._part.unlink()
                database = self._connection = sqlite3.connect(self._part)
                database.executescript("PRAGMA journal_mode=TRUNCATE; PRAGMA synchronous=OFF;")
            database.executescript(f"BEGIN; {_SCHEMA} CREATE TABLE checkpoint (body TEXT NOT NULL); COMMIT;")
            return
        for (body,) in database.execute("SELECT body FROM checkpoint"):
            self.state = orjson.loads(body)
        for digest, counts in database.execute("SELECT hash, counts FROM charts"):
            self._hashes.append(digest)
            for kind, count in orjson.loads(counts).items():
                self.counts[kind] = self.counts.get(kind, 0) + count

    def checkpoint(self, state: Mapping[str, Any]) -> None:
        """Make what was added so far, and `state` (JSON-able), survive the end of the process."""
        database = self._open()
        database.execute("DELETE FROM checkpoint")
        database.execute("INSERT INTO checkpoint VALUES (?)", (orjson.dumps(state).decode(),))
        database.commit()

    @property
    def validated(self) -> dict[str, int]:
        """How many forms were checked, and how many also by the R4B models."""
        return dict(self._validator.statistics) if self._validator else {}

    def add(
        self, patient_id: str, resources: Iterable[tuple[Resource, Instant]], interview: Interview | None = None,
        licence: str | None = None, sheaves: Iterable[Sheaf] = (),
    ) -> str:  # fmt: skip
        """Validate, pack and write one chart.

        Args:
            patient_id: The patient.
            resources: Resources with the instant each became known (`NEVER`: not visible). They are stamped in place.
            interview: The authored interview, if any.
            licence: Licence tag of this chart where it differs.
            sheaves: Many like resources, made from templates that were checked; a sample is checked again.

        Returns:
            The chart's hash.

        Raises:
            DataError: A resource is not valid R4; all problems are listed.
        """
        check, sheaves = self._validator, list(sheaves)
        if check is not None:
            check.statistics["by_template"] += sum(map(len, sheaves))
        return self.add_packed(pack(patient_id, resources, licence or self.licence, check, sheaves, check), interview)

    def add_packed(self, packed: PackedChart, interview: Interview | None = None) -> str:
        """Write a chart that is packed already (`ChartBuilder.packed()`, or packed in another process)."""
        database = self._open()
        counts = orjson.dumps(packed.counts).decode()
        values = (
            packed.patient_id, packed.hash, packed.licence, counts, packed.digests, packed.check, packed.index,
            packed.rows,
        )  # fmt: skip
        try:
            database.execute("INSERT INTO charts VALUES (?,?,?,?,?,?,?,?)", values)
        except sqlite3.IntegrityError as fault:
            raise DataError(f"patient {packed.patient_id} was added twice; give each patient one chart") from fault
        frames = [(packed.patient_id, number, frame) for number, frame in enumerate(packed.frames)]
        database.executemany("INSERT INTO frames VALUES (?,?,?)", frames)
        if packed.texts:
            digest = frame_digest(packed.texts).hex()
            database.execute("INSERT INTO texts VALUES (?,?,?)", (packed.patient_id, digest, packed.texts))
        if interview is not None:
            self.add_interview(packed.patient_id, interview)
        for kind, count in packed.counts.items():
            self.counts[kind] = self.counts.get(kind, 0) + count
        self._hashes.append(packed.hash)
        return packed.hash

    def add_interview(self, patient_id: str, interview: Interview) -> None:
        """Write a patient's authored interview into its own section."""
        text = interview.model_dump_json()
        values = (patient_id, frame_digest(text.encode()).hex(), text)
        self._open().execute("INSERT INTO interviews VALUES (?,?,?)", values)

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise UsageError(f"the writer of {self.path} is closed; make a new StoreWriter")
        return self._connection

    def close(self) -> str:
        """Write the header, rename the file into place and return the store's hash."""
        database = self._open()
        digest = store_hash(self._hashes)
        interviews = [row[0] for row in database.execute("SELECT hash FROM interviews ORDER BY patient")]
        header = {
            "format": FORMAT,
            "fhirVersion": "4.0.1",
            "licence": self.licence,
            "provenance": self.provenance,
            "hash": digest,
            "interviews_hash": store_hash(interviews),
            "patients": len(self._hashes),
            "resources": dict(sorted(self.counts.items())),
            "imported": sorted(self._imported | set(self.counts)),
            "validated": self.validated,
        }
        text = orjson.dumps(header, option=orjson.OPT_SORT_KEYS).decode()
        database.execute("INSERT INTO header VALUES (?)", (text,))
        database.execute("DROP TABLE IF EXISTS checkpoint")
        database.commit()
        database.execute("VACUUM")
        database.close()
        self._connection = None
        self._part.chmod(0o644)
        self._part.replace(self.path)
        if self._own is not None:
            self._own.release()
        return digest

    def abort(self) -> None:
        """Forget everything written; no file is left (in a folder of the caller's: what its last checkpoint kept)."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._own is not None:
            self._own.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self._connection is not None:
            self.close()
        else:
            self.abort()


def store_hash(chart_hashes: Iterable[str]) -> str:
    """Return the hash of a set of charts: of their sorted hashes."""
    return blake2b("\n".join(sorted(chart_hashes)).encode(), digest_size=16).hexdigest()
