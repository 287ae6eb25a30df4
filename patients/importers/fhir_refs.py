"""Resolving references: `urn:uuid`, absolute, versioned and conditional ones become `Type/id` of what was read."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

from wardround.patients.resource import Resource

from .fhir_rules import legal_id, references
from .fhir_spill import Spill

Note = Callable[[str], None]

_ABSOLUTE = re.compile(r"https?://\S+?/([A-Z][A-Za-z]+)/([^/\s]+)(?:/_history/[^/\s]+)?")
_RELATIVE = re.compile(r"([A-Z][A-Za-z]+)/([^/?\s]+)(/_history/[^/\s]+)?")
_SPACED = re.compile(r"([A-Z][A-Za-z]+)/([^/?]+)")
"""Not legal in FHIR, as the id it names: it leads somewhere only if that was read."""
_CONDITIONAL = re.compile(r"([A-Z][A-Za-z]+)\?(.+)")


class Resolver:
    """Resolves references against everything that was read."""

    def __init__(self, spill: Spill) -> None:
        self._spill = spill

    def resolve(self, resource: Resource, note: Note) -> None:
        """Rewrite the references of a resource in place; `note` is told what was repaired or leads nowhere."""
        for reference in list(references(resource)):
            self._resolve(reference, note)

    def key(self, text: str) -> str | None:
        """Return the `Type/id` a reference leads to; None where it leads to nothing that was read."""
        found = self._target(text)
        return found if found is not None and self._known(found) else None

    def _known(self, key: str) -> bool:
        kind, _, identity = key.partition("/")
        return self._spill.exists(kind, identity)

    def _resolve(self, reference: dict[str, Any], note: Note) -> None:
        text = reference["reference"]
        if text.startswith("#"):
            return
        found = self._target(text)
        if found is None:
            if (match := _CONDITIONAL.fullmatch(text)) is not None:
                _make_logical(reference, match[1], match[2])
                note("a conditional reference that leads to no single resource; kept as identifier")
            else:
                note("a reference that leads to nothing in the input; kept as written")
            return
        reference["reference"] = found
        if not self._known(found):
            note("a reference that leads to nothing in the input; kept as written")

    def _target(self, text: str) -> str | None:
        if (match := _RELATIVE.fullmatch(text)) is not None:
            return self._renamed(f"{match[1]}/{legal_id(match[2])}")
        if (match := _SPACED.fullmatch(text)) is not None:
            key = self._renamed(f"{match[1]}/{legal_id(match[2])}")
            return key if self._known(key) else None
        if (match := _CONDITIONAL.fullmatch(text)) is not None:
            return self._conditional(match[1], match[2])
        urls = self._spill.find("urls", text.partition("/_history/")[0])
        if len(urls) == 1:
            return self._renamed(urls[0])
        if (match := _ABSOLUTE.fullmatch(text)) is not None:
            key = self._renamed(f"{match[1]}/{legal_id(match[2])}")
            return key if self._known(key) else None
        return None

    def _renamed(self, key: str) -> str:
        kind, _, _ = key.partition("/")
        if kind not in ("Patient", "Encounter"):
            return key
        found = self._spill.find("renamed", key)
        return found[0] if found else key

    def _conditional(self, kind: str, query: str) -> str | None:
        asked = parse_qsl(query)
        if len(asked) != 1:
            return None
        name, value = asked[0]
        if name == "_id":
            return self._renamed(f"{kind}/{legal_id(value)}")
        found = self._spill.find("identifiers", kind, value) if name == "identifier" else ()
        return found[0] if len(found) == 1 else None


def _make_logical(reference: dict[str, Any], kind: str, query: str) -> None:
    """Turn a conditional reference into a logical one, which R4 allows where nothing literal can be said."""
    text = reference.pop("reference")
    asked = parse_qsl(query)
    system, bar, value = asked[0][1].partition("|") if len(asked) == 1 and asked[0][0] == "identifier" else ("", "", "")
    if bar and value:
        reference["identifier"] = {**({"system": system} if system else {}), "value": value}
        reference.setdefault("type", kind)
    else:
        reference.setdefault("display", text)
