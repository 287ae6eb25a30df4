"""Packing a chart: resources become one body of JSON bytes in frames, compact rows, and a numeric index.

Every form of a resource (`clock.forms`) is one row of the index, valid from `since` to `until`. Rows are sorted by
type, then newest first, then rank, then id, so that a search is a mask over arrays and its result is already in order.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
import orjson
import zstandard

from .clock import forms
from .elements import tail, text_of
from .errors import DataError
from .resource import ALWAYS, Resource, dump, instant_text, load, period_of, place_of, stamp
from .rows import compact_row
from .times import NEVER, Instant

FRAME_BYTES = 64 * 1024
"""Raw bytes after which a frame closes; part of the format, as the chart hash is taken over frames."""

ARRAYS = (
    ("since", "<i8"), ("until", "<i8"), ("first", "<i8"), ("last", "<i8"), ("concept", "<i4"), ("encounter", "<i4"),
    ("status", "<i4"), ("category", "<i4"), ("frame", "<i4"), ("body_at", "<i4"), ("body_end", "<i4"),
    ("row_end", "<i8"),
)  # fmt: skip
"""The arrays of the index, in order, with their little-endian types."""

UNDATED = -NEVER

Check = Callable[[Resource], list[str]]
"""Returns the problems of a resource."""


@dataclass(frozen=True, slots=True)
class PackedChart:
    """A packed chart, ready to be stored or opened."""

    patient_id: str
    licence: str
    hash: str
    """Hash of the body: BLAKE2b over the digests of its frames."""
    index: bytes
    """Compressed index: names as JSON, then the arrays."""
    rows: bytes
    """Compressed compact rows, end to end."""
    frames: tuple[bytes, ...]
    """Compressed frames of the body; each opens alone."""
    digests: bytes
    """16-byte digests of the raw frames, end to end; `hash` is their hash."""
    counts: dict[str, int]
    """Resources (not forms) by type."""
    check: str
    """Digest of `index` and `rows` as compressed."""


class Attributes(NamedTuple):
    """What a search can ask of one form of a resource."""

    time: str | None
    """Text of the date that sorts it."""
    first: Instant
    last: Instant
    """The half-open span of its date; `UNDATED` and `NEVER` for open ends."""
    encounter: str | None
    status: str | None
    categories: tuple[str, ...]
    concept: tuple[str, tuple[str, ...], tuple[str, ...]]
    """Name to show, folded names, codes (bare, and `system|code`)."""


@cache
def _paths(resource_type: str) -> dict[str, tuple[str, ...]]:
    table = orjson.loads(files("wardround.patients").joinpath("data/search.json").read_bytes())["types"]
    found = table.get(resource_type, {})
    return {key: tuple(found.get(key, ())) for key in ("date", "encounter", "status", "category", "names")}


@lru_cache(maxsize=1 << 16)
def fold(text: str) -> str:
    """Fold a name for comparison: NFKC, case, runs of spaces and hyphens.

    Examples:
        >>> fold("  Urea-Nitrogen ")
        'urea nitrogen'
    """
    if text.isascii():
        return " ".join(text.casefold().replace("-", " ").split())
    return " ".join(unicodedata.normalize("NFKC", text).casefold().replace("-", " ").split())


def attributes(resource: Resource) -> Attributes:
    """Find what searches ask of a resource, by the paths of `data/search.json`."""
    paths = _paths(resource["resourceType"])
    time, first, last = _dates(resource, paths["date"])
    encounter = None
    for path in paths["encounter"]:
        encounter = resource.get("id") if path == "#id" else tail(_at(resource, path))
    status = _code(resource.get(paths["status"][0])) if paths["status"] else None
    categories = tuple(word for path in paths["category"] for word in _words(resource.get(path)))
    return Attributes(time, first, last, encounter, status, categories, _concept(resource, paths["names"]))


def _at(node: Any, path: str) -> Any:
    for key in path.split("."):
        if isinstance(node, list):
            node = node[0] if node else None
        if not isinstance(node, dict):
            return None
        node = node.get(key)
    return node


def _dates(resource: Resource, paths: tuple[str, ...]) -> tuple[str | None, Instant, Instant]:
    for path in paths:
        value = _at(resource, path)
        if isinstance(value, str):
            return (value, *period_of(value))
        if isinstance(value, dict) and ("start" in value or "end" in value):
            start, end = value.get("start"), value.get("end")
            first = period_of(start)[0] if start else UNDATED
            return start or end, first, period_of(end)[1] if end else NEVER
    return None, UNDATED, UNDATED


def _code(node: Any) -> str | None:
    if isinstance(node, dict):
        return next((coding.get("code") for coding in node.get("coding", ())), None)
    return node if isinstance(node, str) else None


def _words(node: Any) -> Iterator[str]:
    """Yield folded codes and words of a CodeableConcept, Coding or code, or an array of them."""
    if isinstance(node, list):
        for element in node:
            yield from _words(element)
    elif isinstance(node, str):
        yield fold(node)
    elif isinstance(node, dict):
        for key in ("code", "display", "text"):
            if isinstance(node.get(key), str):
                yield fold(node[key])
        yield from _words(node.get("coding"))


def _concept(resource: Resource, paths: tuple[str, ...]) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    names: dict[str, None] = {}
    codes: dict[str, None] = {}
    shown = None
    for path in paths:
        node = _at(resource, path)
        shown = shown or text_of(node)
        for element in node if isinstance(node, list) else (node,):
            _collect(element, names, codes)
    return shown or "", tuple(names), tuple(codes)


def _collect(node: Any, names: dict[str, None], codes: dict[str, None]) -> None:
    if isinstance(node, str):
        names[fold(node)] = None
    if not isinstance(node, dict):
        return
    for key in ("text", "display", "family"):
        if isinstance(node.get(key), str):
            names[fold(node[key])] = None
    for coding in node.get("coding", ()):
        if isinstance(coding.get("display"), str):
            names[fold(coding["display"])] = None
        if isinstance(coding.get("code"), str):
            codes[coding["code"]] = None
            codes[f"{coding.get('system', '')}|{coding['code']}"] = None


class Form(NamedTuple):
    """One form of a resource, ready to be packed; importers of millions of like rows make them from templates."""

    type: str
    id: str
    since: Instant
    until: Instant
    rank: int
    attributes: Attributes
    body: bytes
    row: bytes


def pack(
    patient_id: str,
    resources: Iterable[tuple[Resource, Instant]],
    licence: str,
    check: Check | None = None,
    ready: Iterable[Form] = (),
    check_ready: Callable[[bytes], list[str]] | None = None,
) -> PackedChart:
    """Pack resources with their `known_at`.

    Args:
        patient_id: The patient the chart is about.
        resources: Resources and when each became known; `NEVER` for one that is never visible (it still counts).
            They are stamped in place.
        licence: Licence tag of the data.
        check: Called with every form of every resource; returns its problems. None packs unchecked.
        ready: Resources with a single form that are made already, stamp and row included.
        check_ready: Called with the body of each of them; returns its problems.

    Raises:
        DataError: Two resources share type and id, or `check` found problems (the first ten are listed).
    """
    packed: list[Form] = []
    resources = list(resources)
    names = _medication_names(resource for resource, _ in resources)
    others = {
        f"{resource.get('resourceType')}/{resource.get('id')}".encode(): known
        for resource, known in resources
        if resource.get("resourceType") != "Patient"  # the subject is named from the start, whenever it was recorded
    }
    ready = list(ready)
    others.update((f"{form.type}/{form.id}".encode(), form.since) for form in ready)
    problems: list[str] = []
    counts: dict[str, int] = {}
    seen: set[str] = set()
    for resource, known in resources:
        key = f"{resource.get('resourceType')}/{resource.get('id')}"
        if key in seen:
            raise DataError(f"chart {patient_id}: two resources are called {key}; give every resource its own id")
        seen.add(key)
        counts[key.partition("/")[0]] = counts.get(key.partition("/")[0], 0) + 1
        packed.extend(_forms(resource, known, (names, others), check, problems))
    for form in ready:
        key = f"{form.type}/{form.id}"
        if key in seen:
            raise DataError(f"chart {patient_id}: two resources are called {key}; give every resource its own id")
        seen.add(key)
        counts[form.type] = counts.get(form.type, 0) + 1
        if check_ready is not None:
            problems.extend(f"{key}: {problem}" for problem in check_ready(form.body))
    packed.extend(ready)
    if problems:
        more = f"; and {len(problems) - 10} more" if len(problems) > 10 else ""
        raise DataError(f"chart {patient_id} is not valid FHIR R4: " + "; ".join(problems[:10]) + more)
    packed.sort(key=lambda form: (form.type, -form.attributes.first, form.rank, form.id, form.since))
    return _assemble(patient_id, licence, packed, dict(sorted(counts.items())))


_REFERENCES = re.compile(rb'"reference":"([^"\\]+)"')

_Chart = tuple[dict[str, str], dict[bytes, Instant]]
"""Names of Medication resources, and when each resource became known, by `Type/id`."""


def _medication_names(resources: Iterable[Resource]) -> dict[str, str]:
    """Return names of Medication resources by reference, for orders that only refer to one."""
    found = {}
    for resource in resources:
        if resource.get("resourceType") == "Medication" and (name := text_of(resource.get("code"))):
            found[f"Medication/{resource.get('id')}"] = name
    return found


def _forms(
    resource: Resource, known: Instant, chart: _Chart, check: Check | None, problems: list[str]
) -> Iterator[Form]:
    known = max(known, ALWAYS)
    if known < NEVER:
        stamp(resource, known)
    body = dump(resource)
    plain = load(body)
    if check is not None and (wrong := check(plain)):
        problems.extend(f"{plain.get('resourceType')}/{plain.get('id')}: {problem}" for problem in wrong)
        return
    names, others = chart
    # Found in the text: five times as fast as a walk, and no quoted string can look like it (its quotes are escaped).
    late = {ref.decode(): since for ref in _REFERENCES.findall(body) if (since := others.get(ref, known)) > known}
    found = forms(plain, known, late)
    if check is not None and found[0][1] is not plain:
        for since, form in found:
            label = f"{form['resourceType']}/{form['id']} as of {instant_text(since)}"
            problems.extend(f"{label}: {problem}" for problem in check(form))
    for position, (since, form) in enumerate(found):
        until = found[position + 1][0] if position + 1 < len(found) else NEVER
        marks = attributes(_named(form, names))
        if marks.first == UNDATED:
            marks = marks._replace(first=known if known < NEVER else UNDATED, last=NEVER)
        yield Form(
            form["resourceType"], form["id"], since, until, place_of(form) or 1 << 30, marks,
            body if form is plain else dump(form), compact_row(_named(form, names), marks.time),
        )  # fmt: skip


def _named(form: Resource, names: dict[str, str]) -> Resource:
    """Give an order that only refers to a Medication the name of that Medication (for index and row only)."""
    reference = form.get("medicationReference", {}).get("reference")
    if reference not in names or "display" in form["medicationReference"]:
        return form
    return {**form, "medicationReference": {**form["medicationReference"], "display": names[reference]}}


class _Table:
    """Numbers the distinct values it is given, in order of first use."""

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}

    def number(self, value: Any) -> int:
        return self.numbers.setdefault(value, len(self.numbers))


def _assemble(patient_id: str, licence: str, packed: list[Form], counts: dict[str, int]) -> PackedChart:
    compressor = zstandard.ZstdCompressor(level=9)
    concepts, encounters, statuses, categories = _Table(), _Table(), _Table(), _Table()
    columns: dict[str, list[int]] = {name: [] for name, _ in ARRAYS}
    frames: list[bytes] = []
    digests = bytearray()
    pending: list[bytes] = []
    size = 0
    row_end = 0

    def close() -> None:
        raw = b"".join(pending)
        digests.extend(frame_digest(raw))
        frames.append(compressor.compress(raw))
        pending.clear()

    for form in packed:
        if size and size + len(form.body) > FRAME_BYTES:
            close()
            size = 0
        row_end += len(form.row)
        mark = form.attributes
        values = (
            form.since, form.until, mark.first, mark.last, concepts.number((form.type, *mark.concept)),
            encounters.number(mark.encounter), statuses.number(mark.status), categories.number(mark.categories),
            len(frames), size, size + len(form.body), row_end,
        )  # fmt: skip
        for column, value in zip(columns.values(), values, strict=True):
            column.append(value)
        pending.append(form.body)
        size += len(form.body)
    if pending:
        close()
    names = {
        "ids": [form.id for form in packed],
        "types": _spans(packed),
        "concepts": [list(concept[1:]) for concept in concepts.numbers],
        "encounters": list(encounters.numbers),
        "statuses": list(statuses.numbers),
        "categories": [list(words) for words in categories.numbers],
        "counts": counts,
        "parents": _parents(packed),
    }
    text = orjson.dumps(names)
    arrays = b"".join(np.array(columns[name], dtype=kind).tobytes() for name, kind in ARRAYS)
    index = compressor.compress(len(text).to_bytes(8, "little") + text + arrays)
    rows = compressor.compress(b"".join(form.row for form in packed))
    check = frame_digest(index + rows).hex()
    return PackedChart(
        patient_id, licence, body_hash(bytes(digests)), index, rows, tuple(frames), bytes(digests), counts, check
    )


def _parents(packed: list[Form]) -> list[tuple[str, str, Instant, Instant]]:
    """Return which encounter is part of which, and from when until when that was known."""
    found = []
    for form in packed:
        if form.type == "Encounter" and b'"partOf"' in form.body:
            whole = tail(load(form.body).get("partOf"))
            if whole is not None:
                found.append((form.id, whole, form.since, form.until))
    return found


def frame_digest(raw: bytes) -> bytes:
    """Return the 16-byte digest of a raw frame."""
    return blake2b(raw, digest_size=16).digest()


def body_hash(digests: bytes) -> str:
    """Return the hash of a chart's body from the digests of its frames."""
    return blake2b(digests, digest_size=16).hexdigest()


def _spans(packed: list[Form]) -> list[list[Any]]:
    spans: list[list[Any]] = []
    for position, form in enumerate(packed):
        if not spans or spans[-1][0] != form.type:
            spans.append([form.type, position, position])
        spans[-1][2] = position + 1
    return spans


class Index:
    """An opened index: the arrays and the names their numbers stand for."""

    __slots__ = (
        "arrays", "categories", "concepts", "counts", "encounter_numbers", "ids", "parents", "spans", "statuses",
    )  # fmt: skip

    def __init__(self, packed: bytes) -> None:
        """Open an index.

        Raises:
            DataError: The bytes are not an index of this format.
        """
        raw = zstandard.ZstdDecompressor().decompress(packed)
        size = int.from_bytes(raw[:8], "little")
        names = orjson.loads(raw[8 : 8 + size])
        self.ids: list[str] = names["ids"]
        self.spans: dict[str, tuple[int, int]] = {kind: (start, stop) for kind, start, stop in names["types"]}
        self.concepts: list[tuple[str, list[str], list[str]]] = [tuple(entry) for entry in names["concepts"]]
        self.encounter_numbers = {encounter: number for number, encounter in enumerate(names["encounters"])}
        self.statuses: list[str | None] = names["statuses"]
        self.categories: list[list[str]] = names["categories"]
        self.counts: dict[str, int] = names["counts"]
        self.parents: list[tuple[str, str, Instant, Instant]] = [tuple(entry) for entry in names.get("parents", ())]
        self.arrays: dict[str, np.ndarray[Any, Any]] = {}
        at, count = 8 + size, len(self.ids)
        for name, kind in ARRAYS:
            array = np.frombuffer(raw, dtype=kind, count=count, offset=at)
            self.arrays[name] = array
            at += array.nbytes
        if at != len(raw):
            raise DataError("the index of a chart has the wrong length; build the store again")
