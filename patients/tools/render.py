"""Hits as text: a compact table by default, or a FHIR searchset Bundle. Joined from stored bytes, never re-written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple
from urllib.parse import urlencode

import orjson

from wardround.patients.chart import Entry
from wardround.patients.resource import SITE
from wardround.patients.rows import COLUMNS

from .fields import DEFAULT_COUNT, MAX_COUNT
from .spec import View


class Page(NamedTuple):
    """One page of hits, with what must be said about them."""

    kind: str
    total: int
    given: Mapping[str, Any]
    rows: Sequence[bytes] = ()
    """Compact rows, for the view `compact`."""
    entries: Sequence[Entry] = ()
    """Entries, for the view `fhir`."""
    note: str | None = None
    matched: tuple[str, ...] | None = None
    """Names in the chart that the model's free text means; None where it gave none."""
    nearest: tuple[str, ...] = ()
    found: Sequence[str | None] = ()
    """For a search by keyword, the surroundings of its first match in each row or entry."""


def render(page: Page, view: View) -> str:
    """Return the text of a page in one of the two views."""
    return _bundle(page) if view == "fhir" else _compact(page)


def _compact(page: Page) -> str:
    parts = [b'{"total":', str(page.total).encode()]
    if page.matched is not None:
        parts += [b',"matched":', _strings(page.matched)]
    if page.nearest:
        parts += [b',"nearest":', _strings(page.nearest)]
    more = str(page.total - len(page.rows)).encode()
    parts += [_columns(page.kind), b",".join(page.rows), b'],"more":', more]
    if page.found:
        parts += [b',"found":', orjson.dumps(page.found)]
    if page.note is not None:
        parts += [b',"note":', orjson.dumps(page.note)]
    parts.append(b"}")
    return b"".join(parts).decode()


@cache
def _columns(kind: str) -> bytes:
    return b',"columns":' + orjson.dumps(COLUMNS[kind]) + b',"rows":['


@lru_cache(maxsize=4096)
def _strings(texts: tuple[str, ...]) -> bytes:
    return orjson.dumps(texts)


def _bundle(page: Page) -> str:
    entries = [
        b'{"fullUrl":"%b/%b","resource":%b,"search":{"mode":"match"}}' % (_SITE, entry.key.encode(), entry.body)
        for entry in page.entries
    ]
    said = _said(page)
    if said:
        entries.append(orjson.dumps({"resource": said, "search": {"mode": "outcome"}}))
    link = orjson.dumps([{"relation": "self", "url": _self(page)}])
    head = b'{"resourceType":"Bundle","type":"searchset","total":%d,"link":%b' % (page.total, link)
    if entries:
        head += b',"entry":[' + b",".join(entries) + b"]"
    return (head + b"}").decode()


_SITE = SITE.encode()


def _said(page: Page) -> dict[str, Any] | None:
    """Return what must be said beside the hits, as FHIR says it: an OperationOutcome among the entries."""
    if page.note is None and not page.found:
        return None
    texts = [] if page.note is None else [page.note]
    if page.matched:
        texts.append(f"Matched names: {'; '.join(page.matched)}.")
    if page.nearest:
        texts.append(f"Nearest names in this chart: {'; '.join(page.nearest)}.")
    texts += [f"{entry.key}: {text}" for entry, text in zip(page.entries, page.found, strict=False) if text]
    issue = {"severity": "information", "code": "informational", "diagnostics": " ".join(texts)}
    return {"resourceType": "OperationOutcome", "issue": [issue]}


def _self(page: Page) -> str:
    """Return the search as it was understood; `_count` is what was really applied."""
    if page.kind == "Patient":
        return f"{SITE}/Patient?_id={page.given['subject_id']}"
    count = page.given.get("_count", DEFAULT_COUNT)
    asked = {name: value for name, value in page.given.items() if name not in ("subject_id", "_count")}
    query = {"patient": page.given["subject_id"], **asked, "_count": min(count, MAX_COUNT)}
    return f"{SITE}/{page.kind}?{urlencode(query)}"
