"""Repairs of real FHIR that is not quite R4: each is written in docs/fhir-import.md, counted and reported."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Callable
from typing import Any

from wardround.patients.resource import Resource, tag_derived, values_at

from .fhir_rules import map_strings, rules

Note = Callable[[str], None]

_NO_ZONE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(?:\.\d+)?)?", re.ASCII)
_NO_SECONDS = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d)(Z|[+-]\d\d:\d\d)", re.ASCII)
_WORDS = frozenset({"valueString", "text", "div", "display", "value", "title", "description", "conclusion", "data"})
"""Elements of free text: what looks like a date in them stays."""


def repair(resource: Resource, note: Note) -> None:
    """Repair a resource in place, before it is validated."""
    if _drop_empty(resource):
        note("empty elements are left out")
    seen: set[str] = set()

    def change(key: str, text: str) -> str:
        if key in _WORDS or len(text) < 16 or text[4] != "-":
            return text
        if (match := _NO_ZONE.fullmatch(text)) is not None:
            seen.add("a time without zone is read as UTC")
            return f"{text}Z" if match[1] else f"{text}:00Z"
        if (match := _NO_SECONDS.fullmatch(text)) is not None:
            seen.add("a time without seconds is given :00")
            return f"{match[1]}:00{match[2]}"
        return text

    map_strings(resource, change)
    for text in sorted(seen):
        note(text)
    _codes(resource, note)
    if resource["resourceType"] == "AllergyIntolerance":
        _allergy(resource, note)


def _drop_empty(node: Any) -> bool:
    """Leave out nulls, empty strings, arrays and objects; nulls of primitive arrays with a `_twin` stay."""
    dropped = False
    if isinstance(node, dict):
        for key, value in list(node.items()):
            if isinstance(value, dict) or (isinstance(value, list) and not _has_twin(node, key)):
                dropped |= _drop_empty(value)
            if value is None or value in ("", [], {}):
                del node[key]
                dropped = True
    elif isinstance(node, list):
        for value in node:
            if isinstance(value, dict | list):
                dropped |= _drop_empty(value)
        kept = [value for value in node if not (value is None or value in ("", [], {}))]
        if len(kept) < len(node):
            node[:] = kept
            dropped = True
    return dropped


def _has_twin(node: dict[str, Any], key: str) -> bool:
    return key.startswith("_") or f"_{key}" in node


def _codes(resource: Resource, note: Note) -> None:
    """Put right codes that are commonly misspelt."""
    table = rules()["repaired_codes"]
    for coding in values_at(resource, "category.coding"):
        system, code = (coding.get("system"), coding.get("code")) if isinstance(coding, dict) else (None, None)
        wanted = table.get(system, {}).get(code) if isinstance(system, str) and isinstance(code, str) else None
        if wanted is not None:
            note(f"category `{code}` is read as `{wanted}`")
            coding["code"] = wanted


def _allergy(resource: Resource, note: Note) -> None:
    wrong = list(values_at(resource, "verificationStatus.coding.code"))
    if "clinicalStatus" not in resource and "entered-in-error" not in wrong:
        system = "http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical"
        resource["clinicalStatus"] = {"coding": [{"system": system, "code": "active"}]}
        tag_derived(resource)
        note("clinicalStatus is missing; active, marked derived")


def attachments(resource: Resource) -> list[dict[str, Any]]:
    """Return the attachments of a note or a report."""
    contents = [one.get("attachment") for one in resource.get("content", ()) if isinstance(one, dict)]
    forms = resource.get("presentedForm", ())
    return [one for one in (*contents, *forms) if isinstance(one, dict)]


def repair_text(resource: Resource, note: Note) -> str | None:
    """Make the texts of a note readable and searchable: base64 that decodes, UTF-8.

    Returns:
        Why the resource must be refused; None where all is well.
    """
    for attachment in attachments(resource):
        data = attachment.get("data")
        if not isinstance(data, str):
            if "url" in attachment:
                note("an attachment that is only a link; its text is not in the chart")
            continue
        try:
            raw = base64.b64decode("".join(data.split()), validate=True)
        except (binascii.Error, ValueError):
            return "an attachment is not base64"
        kind = str(attachment.get("contentType", ""))
        if not kind.startswith("text/"):
            note("an attachment that is not text; kept, not searchable")
        elif (problem := _to_utf8(attachment, kind, raw, note)) is not None:
            return problem
    return None


def _to_utf8(attachment: dict[str, Any], kind: str, raw: bytes, note: Note) -> str | None:
    name = re.search(r"charset\s*=\s*\"?([A-Za-z0-9_\-]+)", kind, re.ASCII)
    try:
        codec = codecs.lookup(name[1]).name if name else "utf-8"
        text = raw.decode(codec)
    except (LookupError, UnicodeDecodeError):
        return "an attachment's text is not in the character set it states (UTF-8 where it states none)"
    if codec not in ("utf-8", "ascii"):
        attachment["data"] = base64.b64encode(text.encode()).decode()
        attachment["contentType"] = kind.partition(";")[0].strip() + "; charset=utf-8"
        note("an attachment's text is written as UTF-8")
    return None
