"""Packing a chart: resources become one body of JSON bytes in frames, compact rows, and a numeric index.

Every form of a resource (`clock.forms`) is one row of the index, valid from `since` to `until`. Rows are sorted by
type, then newest first, then rank, then id, so that a search is a mask over arrays and its result is already in order.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any
from zlib import crc32

import numpy as np
import orjson
import zstandard

from .assembling import ARRAYS, FRAME_BYTES, UNRANKED, Attributes, Form, PackedChart, assemble, body_hash, frame_digest
from .clock import forms
from .elements import tail, text_of
from .errors import DataError
from .resource import ALWAYS, Resource, dump, instant_text, load, period_of, place_of, stamp
from .rows import compact_row
from .slotted import Sheaf
from .times import NEVER, Instant

__all__ = [
    "ARRAYS", "FRAME_BYTES", "UNDATED", "Attributes", "Check", "Form", "Index", "PackedChart", "attributes",
    "body_hash", "fold", "frame_digest", "pack", "sampled",
]  # fmt: skip

UNDATED = -NEVER

Check = Callable[[Resource], list[str]]
"""Returns the problems of a resource."""


@cache
def _paths(resource_type: str) -> dict[str, tuple[str, ...]]:
    table = orjson.loads(files("wardround.patients").joinpath("data/search.json").read_bytes())["types"]
    found = table.get(resource_type, {})
    return {key: tuple(found.get(key, ())) for key in ("date", "encounter", "status", "category", "names")}


@lru_cache(maxsize=1 << 13)
def fold(text: str) -> str:
    """Fold a name for comparison: NFKC, case, runs of spaces and hyphens.

    Examples:
        >>> fold("  Urea-Nitrogen ")
        'urea nitrogen'
    """
    if text.isascii():
        return " ".join(text.casefold().replace("-", " ").split())
    return " ".join(unicodedata.normalize("NFKC", text).casefold().replace("-", " ").split())


def times_of(resource: Resource) -> tuple[str | None, Instant, Instant]:
    """Return when a resource says it was, as it says it, and the first and last instant of that."""
    return _dates(resource, _paths(resource["resourceType"])["date"])


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
        value = resource.get(path) if "." not in path else _at(resource, path)
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


def pack(
    patient_id: str,
    resources: Iterable[tuple[Resource, Instant]],
    licence: str,
    check: Check | None = None,
    sheaves: Iterable[Sheaf] = (),
    sample: Check | None = None,
) -> PackedChart:
    """Pack resources with their `known_at`.

    Args:
        patient_id: The patient the chart is about.
        resources: Resources and when each became known; `NEVER` for one that is never visible (it still counts).
            They are stamped in place.
        licence: Licence tag of the data.
        check: Called with every form of every resource; returns its problems. None packs unchecked.
        sheaves: Many like resources, made from templates that are checked already.
        sample: Called with some of theirs, chosen by their ids; returns its problems.

    Raises:
        DataError: Two resources share type and id, or `check` found problems (the first ten are listed).
    """
    packed: list[Form] = []
    resources, sheaves = list(resources), list(sheaves)
    names = _medication_names(resource for resource, _ in resources)
    others = _Known(resources, sheaves)
    problems: list[str] = []
    counts: dict[str, int] = {}
    seen: set[str] = set()
    for resource, known in resources:
        key = f"{resource.get('resourceType')}/{resource.get('id')}"
        if key in seen:
            raise _twice(patient_id, key)
        seen.add(key)
        counts[key.partition("/")[0]] = counts.get(key.partition("/")[0], 0) + 1
        packed.extend(_forms(resource, known, (names, others), check, problems))
    for sheaf in sheaves:
        _take_in(patient_id, sheaf, seen, sheaves)
        counts[sheaf.kind] = counts.get(sheaf.kind, 0) + len(sheaf)
        if sample is not None:
            problems.extend(_sampled(sheaf, sample))
    if problems:
        more = f"; and {len(problems) - 10} more" if len(problems) > 10 else ""
        raise DataError(f"chart {patient_id} is not valid FHIR R4: " + "; ".join(problems[:10]) + more)
    counts = {kind: count for kind, count in sorted(counts.items()) if count}
    return assemble(patient_id, licence, packed, sheaves, counts)


class _Known:
    """When each resource of a chart became known, by `Type/id`; sheaves are asked only where they are referred to."""

    def __init__(self, resources: list[tuple[Resource, Instant]], sheaves: list[Sheaf]) -> None:
        self._known = {
            f"{resource.get('resourceType')}/{resource.get('id')}".encode(): known
            for resource, known in resources
            if resource.get("resourceType") != "Patient"  # the subject is named from the start, whenever recorded
        }
        self._sheaves = sheaves
        self._starts = tuple(f"{sheaf.kind}/{sheaf.prefix}".encode() for sheaf in sheaves)

    def get(self, key: bytes, default: Instant) -> Instant:
        found = self._known.get(key)
        if found is None and key.startswith(self._starts):
            for sheaf in self._sheaves:
                self._known |= sheaf.known()
            self._sheaves, self._starts = [], ()
            found = self._known.get(key)
        return default if found is None else found


def _take_in(patient_id: str, sheaf: Sheaf, seen: set[str], others: list[Sheaf]) -> None:
    """Refuse a sheaf that repeats an id of its own, of the chart's other resources or of other sheaves."""
    start = f"{sheaf.kind}/{sheaf.prefix}"
    taken = {key.partition("/")[2] for key in seen if key.startswith(start)}
    for other in others:
        first = f"{other.kind}/{other.prefix}"
        if other is not sheaf and (first.startswith(start) or start.startswith(first)):
            taken.update(other.ids())
    ids = sheaf.ids()
    if len(set(ids)) == len(ids) and taken.isdisjoint(ids):
        return
    for identity in ids:
        if identity in taken:
            raise _twice(patient_id, f"{sheaf.kind}/{identity}")
        taken.add(identity)


def _twice(patient_id: str, key: str) -> DataError:
    return DataError(f"chart {patient_id}: two resources are called {key}; give every resource its own id")


SAMPLE = 512
"""One in so many of a sheaf's resources is checked like any other."""


def sampled(sheaf: Sheaf) -> Iterator[tuple[int, Resource]]:
    """Yield place and parsed body of the resources of a sheaf that the sample falls on, by a checksum of their ids."""
    for place, row in enumerate(sheaf.rows):
        if crc32(row[5][0]) % SAMPLE == 0:
            yield place, load(row[0].body(row[5]))


def _sampled(sheaf: Sheaf, check: Check) -> Iterator[str]:
    for _, plain in sampled(sheaf):
        for problem in check(plain):
            yield f"{plain.get('resourceType')}/{plain.get('id')}: {problem}"


_REFERENCES = re.compile(rb'"reference":"([^"\\]+)"')

_Chart = tuple[dict[str, str], _Known]
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
            form["resourceType"], form["id"], since, until, place_of(form) or UNRANKED, marks,
            body if form is plain else dump(form), compact_row(_named(form, names), marks.time),
        )  # fmt: skip


def _named(form: Resource, names: dict[str, str]) -> Resource:
    """Give an order that only refers to a Medication the name of that Medication (for index and row only)."""
    reference = form.get("medicationReference", {}).get("reference")
    if reference not in names or "display" in form["medicationReference"]:
        return form
    return {**form, "medicationReference": {**form["medicationReference"], "display": names[reference]}}


class Index:
    """An opened index: the arrays and the names their numbers stand for."""

    __slots__ = (
        "arrays", "categories", "concepts", "counts", "encounter_numbers", "ids", "parents", "row_ends", "spans",
        "statuses",
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
        self.row_ends = self.arrays["row_end"].astype(np.int64, copy=False).view(np.uint8).data.cast("q")
        """Where each compact row ends; single numbers come out of it three times as fast as out of an array."""
        if at != len(raw):
            raise DataError("the index of a chart has the wrong length; build the store again")
