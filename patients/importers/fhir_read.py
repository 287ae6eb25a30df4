"""Reading FHIR files: bundles, NDJSON, single resources, plain or gz; one resource at a time, with its place.

A file that is damaged or is not FHIR R4 stops the import, with file, line and remedy.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from wardround.patients.errors import DataError, UsageError

from .fhir_rules import is_legal, legal_id, references
from .fhir_version import other_version

ENDINGS = (".json", ".ndjson", ".jsonl")
_LINES = (".ndjson", ".jsonl")
LARGEST = 512 << 20
"""Bytes of one line or one bundle file, unpacked: what is held in memory at once (a small gz can hide gigabytes)."""
_SHOWN = 10
"""Files that are named in a message, at most."""


class Place(NamedTuple):
    """Where a resource stands."""

    file: str
    line: int
    """1-based; in a file that is one bundle, the line of the bundle."""
    entry: int
    """1-based entry of the bundle; 0 outside bundles."""


class Found(NamedTuple):
    """A resource as it was read; `resource` is None for a bundle entry that holds none."""

    resource: dict[str, Any] | None
    place: Place
    full_url: str | None
    reason: str = ""
    """Why it cannot be used, where the bundle says so."""


def find_files(path: Path) -> tuple[list[Path], list[str]]:
    """Return the FHIR files at a path, sorted, and the names of the other files of the folder.

    Raises:
        UsageError: No such path, or a folder without a FHIR file.
    """
    if path.is_file():
        return [path], []
    if not path.is_dir():
        raise UsageError(f"`{path}` is neither a file nor a folder; name FHIR bundles or NDJSON files")
    taken: list[Path] = []
    others: list[str] = []
    for one in sorted(path.rglob("*"), key=lambda file: file.relative_to(path).as_posix()):
        if not one.is_file() or one.name.startswith("."):
            continue
        if _plain_name(one).endswith(ENDINGS):
            taken.append(one)
        else:
            others.append(one.relative_to(path).as_posix())
    if not taken:
        seen = f"; it holds {', '.join(others[:_SHOWN])}" if others else ""
        hint = "; for MIMIC-IV tables use `import mimic`" if any(".csv" in name for name in others) else ""
        raise UsageError(f"`{path}` has no file that ends in {', '.join(ENDINGS)} (or .gz of these){seen}{hint}")
    return taken, others


def _plain_name(path: Path) -> str:
    return path.name.lower().removesuffix(".gz")


def read_file(path: Path, label: str) -> Iterator[Found]:
    """Yield the resources of a file.

    Args:
        path: The file.
        label: How messages call it.

    Raises:
        DataError: It is damaged, is not FHIR, or is another version of FHIR.
    """
    if _plain_name(path).endswith(_LINES):
        yield from _read_lines(path, label)
        return
    text = _text(path, label)
    try:
        node = _DECODER.decode(text)
    except (ValueError, RecursionError) as fault:
        if _is_lines(text):
            yield from _read_lines(path, label)
            return
        raise DataError(_damaged(label, text, fault)) from fault
    if _is_manifest(node):
        return
    yield from _take(node, Place(label, 1, 0), None)


def _text(path: Path, label: str) -> str:
    try:
        with path.open("rb") as probe:
            packed = probe.read(2) == b"\x1f\x8b"
        with gzip.open(path, "rb") if packed else path.open("rb") as file:
            raw = file.read(LARGEST + 1)
        _bounded(raw, f"`{label}`")
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise DataError(f"`{label}`: not UTF-8 at byte {fault.start + 1}; save it as UTF-8") from fault
    except (OSError, EOFError, zlib.error) as fault:
        raise DataError(f"`{label}`: cannot be decompressed ({fault}); fetch it again") from fault


def _is_lines(text: str) -> bool:
    """Tell whether the first line alone is a resource: NDJSON under another name."""
    try:
        return isinstance(_DECODER.decode(text.lstrip().partition("\n")[0]), dict)
    except (ValueError, RecursionError):
        return False


def _read_lines(path: Path, label: str) -> Iterator[Found]:
    with path.open("rb") as probe:
        packed = probe.read(2) == b"\x1f\x8b"
    number = 0
    try:
        with gzip.open(path, "rb") if packed else path.open("rb") as lines:
            for number, raw in enumerate(iter(lambda: lines.readline(LARGEST + 1), b""), 1):
                _bounded(raw, f"`{label}`, line {number}")
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
                if not line.strip():
                    continue
                try:
                    node = _DECODER.decode(line)
                except (ValueError, RecursionError) as fault:
                    raise DataError(_damaged(label, line, fault, number)) from fault
                yield from _take(node, Place(label, number, 0), None)
    except UnicodeDecodeError as fault:
        raise DataError(f"`{label}`, line {number}: not UTF-8; save the file as UTF-8") from fault
    except (OSError, EOFError, zlib.error) as fault:
        where = f"after line {number}"
        raise DataError(f"`{label}`, {where}: cannot be read further ({fault}); fetch the file again") from fault


def _bounded(raw: bytes, where: str) -> None:
    if len(raw) > LARGEST:
        raise DataError(
            f"{where}: more than {LARGEST >> 20} MiB in one piece, unpacked; split the bundle, or export it as NDJSON "
            "with one resource a line"
        )


def _damaged(label: str, text: str, fault: Exception, line: int | None = None) -> str:
    if text.lstrip()[:1] == "<":
        return f"`{label}`: is XML (or HTML); only the JSON form of FHIR R4 is read: convert it first"
    if isinstance(fault, json.JSONDecodeError):
        where, what = line or fault.lineno, f"{fault.msg} at column {fault.colno}"
    else:
        where, what = line or 1, "it is nested too deeply" if isinstance(fault, RecursionError) else str(fault)
    return f"`{label}`, line {where}: is not JSON ({what}); the file is cut or damaged: fetch it again"


def _is_manifest(node: Any) -> bool:
    """Tell whether this is the list of files of a bulk export, which often lies beside them."""
    return isinstance(node, dict) and {"transactionTime", "output"} <= node.keys() and "resourceType" not in node


def _take(node: Any, place: Place, full_url: str | None) -> Iterator[Found]:
    if not isinstance(node, dict) or not isinstance(node.get("resourceType"), str):
        raise DataError(
            f"{_where(place)}: is not a FHIR resource (it has no `resourceType`); leave the file out, or export it as "
            "FHIR R4"
        )
    try:
        why = other_version(node)
        if why is not None:
            raise DataError(
                f"{_where(place)}: is not FHIR R4 ({why}); only R4 (4.0.1) is read: export or convert it as R4"
            )
        if node["resourceType"] == "Bundle":
            yield from _entries(node, place)
        else:
            yield Found(node, place, full_url)
    except RecursionError as fault:
        raise DataError(f"{_where(place)}: is nested too deeply; leave the resource out") from fault


def _where(place: Place) -> str:
    entry = f", entry {place.entry}" if place.entry else ""
    return f"`{place.file}`, line {place.line}{entry}"


def _entries(bundle: dict[str, Any], place: Place) -> Iterator[Found]:
    entries = bundle.get("entry", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise DataError(f"{_where(place)}: `entry` of the Bundle is not an array of objects; export it again")
    local = _local_keys(entries)
    gone = _gone(bundle, entries)
    for number, entry in enumerate(entries, 1):
        here = place._replace(entry=number)
        url = entry.get("fullUrl") if isinstance(entry.get("fullUrl"), str) else None
        resource = entry.get("resource")
        if resource is None:
            yield Found(None, here, url, "a bundle entry without a resource")
            continue
        for found in _take(resource, here, url):
            if found.resource is not None:
                for reference in references(found.resource):
                    reference["reference"] = local.get(reference["reference"], reference["reference"])
            deleted = _method(entry) == "DELETE" or _key(entry) in gone
            yield found._replace(reason="deleted by its bundle") if deleted else found


def _method(entry: dict[str, Any]) -> object:
    request = entry.get("request")
    return request.get("method") if isinstance(request, dict) else None


def _key(entry: dict[str, Any]) -> str:
    """Return `Type/id` of what an entry is about: of its resource, else of its request."""
    resource, request = entry.get("resource"), entry.get("request")
    if isinstance(resource, dict):
        return f"{resource.get('resourceType')}/{resource.get('id')}"
    url = request.get("url") if isinstance(request, dict) else None
    return url if isinstance(url, str) else ""


def _gone(bundle: dict[str, Any], entries: list[dict[str, Any]]) -> frozenset[str]:
    """Return what a history ends with deleting: its entries are newest first, so the first of a resource decides."""
    if bundle.get("type") != "history":
        return frozenset()
    last: dict[str, object] = {}
    for entry in entries:
        last.setdefault(_key(entry), _method(entry))
    return frozenset(key for key, method in last.items() if method == "DELETE")


def _local_keys(entries: list[dict[str, Any]]) -> dict[str, str]:
    """Return `Type/id` by fullUrl, and give an id to resources that have none but are called by a urn:uuid."""
    keys: dict[str, str] = {}
    for entry in entries:
        url, resource = entry.get("fullUrl"), entry.get("resource")
        if not isinstance(url, str) or not isinstance(resource, dict):
            continue
        tail = url.rpartition(":")[2]
        if "id" not in resource and url.startswith("urn:") and is_legal(tail):
            resource["id"] = tail
        if isinstance(resource.get("id"), str) and isinstance(resource.get("resourceType"), str):
            keys[url] = f"{resource['resourceType']}/{legal_id(resource['id'])}"
    return keys


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return out


def _no_constant(name: str) -> None:
    raise ValueError(f"`{name}` is not a JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=Decimal, parse_constant=_no_constant)
