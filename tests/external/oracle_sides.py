"""The kinds of facts that MIMIC-IV's tables and MIMIC-IV on FHIR both hold, read from our charts and from their files.

Our side is the NDJSON export of a store made from the tables; their side is the published NDJSON, read as it is. Both
become rows of strings after the normalisations that docs/mimic-fhir-differences.md lists.
"""

from __future__ import annotations

import csv
import gzip
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import orjson

MIMIC = "http://mimic.mit.edu/fhir/mimic"
Json = dict[str, Any]


def wall(text: str | None) -> str | None:
    """Return the wall clock of a time: its offset, or Z, is left out."""
    return None if text is None else text[:19]


def day(text: str | None) -> str | None:
    """Return the day of a time at midnight, else the time."""
    return text[:10] if text is not None and text[10:19] in ("", "T00:00:00") else wall(text)


def number(value: Any) -> str | None:
    """Return a number without trailing zeros (2.0 and 2 are one)."""
    return None if value is None else format(Decimal(str(value)).normalize(), "f")


def quantity(node: Json | None) -> str | None:
    """Return comparator, number and the unit as MIMIC writes it."""
    if node is None:
        return None
    return f"{node.get('comparator', '')}{number(node.get('value'))} {node.get('unit', '')}".strip()


def code(node: Json | None, system: str = "") -> str | None:
    """Return the first code of a system (an ending of its name, `icd9`)."""
    for coding in (node or {}).get("coding", ()):
        if str(coding.get("system", "")).endswith(system):
            return str(coding["code"])
    return None


def mark(resource: Json, system: str) -> str | None:
    """Return the identifier of a system."""
    for one in resource.get("identifier", ()):
        if one.get("system") == f"{MIMIC}/identifier/{system}":
            return str(one["value"])
    return None


class Ours:
    """Our charts as exported, and the tables they were made from (rules look there, never the rows)."""

    def __init__(self, folder: Path, tables: Path) -> None:
        self._folder = folder
        self._tables = tables

    @cache  # noqa: B019 - lives as long as its test
    def table(self, name: str) -> list[dict[str, str]]:
        """Return the rows of a table (`hosp/pharmacy`); none where it is missing."""
        path = self._tables / f"{name}.csv.gz"
        if not path.exists():
            return []
        with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
            return list(csv.DictReader(lines))

    @cache  # noqa: B019 - lives as long as its test
    def all(self, kind: str, start: str = "") -> list[Json]:
        """Return the resources of a type whose ids start so."""
        path = self._folder / f"{kind}.ndjson"
        if not path.exists():
            return []
        head = f'"resourceType":"{kind}","id":"{start}'.encode()
        with path.open("rb") as lines:
            return [orjson.loads(line) for line in lines if line.startswith(b"{" + head)]

    @cache  # noqa: B019
    def stays(self) -> dict[str, str]:
        """Return the hospital admission of every Encounter (its own id for an admission)."""
        return {one["id"]: tail(one.get("partOf")) or one["id"] for one in self.all("Encounter")}

    def admission(self, resource: Json) -> str | None:
        """Return the admission a resource belongs to."""
        stay = tail(resource.get("encounter") or resource.get("context"))
        return self.stays().get(stay, stay) if stay else None


class Theirs:
    """The published files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cache  # noqa: B019
    def all(self, name: str) -> list[Json]:
        """Return the resources of `Mimic<name>.ndjson.gz`."""
        with gzip.open(self._folder / f"Mimic{name}.ndjson.gz") as lines:
            return [orjson.loads(line) for line in lines]

    @cache  # noqa: B019
    def names(self) -> dict[str, str]:
        """Return the id in our charts of every Patient and Encounter, by `Type/uuid`."""
        out = {f"Patient/{one['id']}": str(mark(one, "patient")) for one in self.all("Patient")}
        for name, system, prefix in (("", "hosp", ""), ("ICU", "icu", "icu-"), ("ED", "ed", "ed-")):
            for one in self.all(f"Encounter{name}"):
                out[f"Encounter/{one['id']}"] = f"{prefix}{mark(one, f'encounter-{system}')}"
        return out

    @cache  # noqa: B019
    def stays(self) -> dict[str, str]:
        """Return the hospital admission of every Encounter, by the id in our charts."""
        names = self.names()
        return {
            (own := f"Encounter/{one['id']}") and names[own]: names[
                (one.get("partOf") or {"reference": own})["reference"]
            ]
            for name in ("", "ICU", "ED")
            for one in self.all(f"Encounter{name}")
        }

    @cache  # noqa: B019
    def _specimens(self) -> dict[str, str | None]:
        return {one["id"]: mark(one, "specimen-micro") for one in self.all("Specimen")}

    def specimen(self, resource: Json) -> str | None:
        """Return the number of the specimen."""
        return self._specimens()[str(tail(resource["specimen"]))]

    @cache  # noqa: B019
    def _medications(self) -> dict[str, Json]:
        return {one["id"]: one for name in ("Medication", "MedicationMix") for one in self.all(name)}

    def drugs(self, identity: str) -> list[str]:
        """Return the formulary codes (else names) of a Medication, or of the ingredients of a mixture."""
        found = self._medications()[identity]
        parts = [str(tail(part["itemReference"])) for part in found.get("ingredient", ())]
        if parts:
            return [drug for part in parts for drug in self.drugs(part)]
        marks = {one["system"].rpartition("/")[2]: one["value"] for one in found.get("identifier", ())}
        return [marks.get("mimic-medication-formulary-drug-cd") or marks.get("mimic-medication-name") or identity]

    def patient(self, resource: Json) -> str:
        """Return the subject_id."""
        return self.names()[resource["subject"]["reference"]]

    def stay(self, resource: Json) -> str | None:
        """Return the Encounter as our charts call it."""
        node = resource.get("encounter") or resource.get("context")
        return self.names()[node["reference"]] if node else None

    def admission(self, resource: Json) -> str | None:
        """Return the admission a resource belongs to."""
        stay = self.stay(resource)
        return self.stays()[stay] if stay else None


def tail(node: Any) -> str | None:
    """Return the id of a reference."""
    if isinstance(node, list):
        node = node[0] if node else None
    return None if not node or "reference" not in node else str(node["reference"].rpartition("/")[2])


def known(resource: Json) -> str | None:
    """Return when one of our resources became known."""
    for one in resource.get("meta", {}).get("extension", ()):
        if one["url"].endswith("/known-at"):
            return wall(one["valueInstant"])
    return None
