"""A chart being written: the patient, and resources each with the instant it became known."""

from __future__ import annotations

from typing import Self

from .building import When, instant_of, time_text
from .chart import Chart, memory_chart
from .errors import DataError
from .fhir import check
from .packing import PackedChart, pack
from .resource import ALWAYS, Resource, known_later
from .times import Instant, parse_instant


class ChartDraft:
    """One patient's resources, of any type, until they are packed. `ChartBuilder` adds them by kind.

    Args:
        patient_id: The patient's id.
        sex: male, female, other or unknown.
        birth_date: A FHIR date.
        name: Full name as one string.
        language: Language name ("English").
        marital_status: Words.
        race: Words (US Core race).
        deceased: When the patient died; seen only from then on.
        licence: Licence tag of the chart.
    """

    def __init__(
        self, patient_id: str, *, sex: str = "unknown", birth_date: str | None = None, name: str | None = None,
        language: str | None = None, marital_status: str | None = None, race: str | None = None,
        deceased: When | None = None, licence: str = "CC0-1.0",
    ) -> None:  # fmt: skip
        self.patient_id = patient_id
        self.licence = licence
        self._resources: list[tuple[Resource, Instant]] = []
        self._count: dict[str, int] = {}
        patient: Resource = {"resourceType": "Patient", "id": patient_id, "gender": sex}
        if name:
            patient["name"] = [{"text": name}]
        if birth_date:
            patient["birthDate"] = birth_date
        if deceased is not None:
            patient["deceasedDateTime"] = time_text(deceased)
        if marital_status:
            patient["maritalStatus"] = {"text": marital_status}
        if language:
            patient["communication"] = [{"language": {"text": language}}]
        if race:
            url = "http://hl7.org/fhir/us/core/StructureDefinition/us-core-race"
            patient["extension"] = [{"url": url, "extension": [{"url": "text", "valueString": race}]}]
        self.add(patient, ALWAYS)

    def add(self, resource: Resource, known_at: When) -> str:
        """Add any resource of our own making, with the instant it became known; returns its id."""
        self._resources.append((resource, instant_of(known_at)))
        return str(resource["id"])

    def _new(self, kind: str, prefix: str, identity: str | None, encounter: str | None = None) -> Resource:
        if identity is None:
            self._count[prefix] = self._count.get(prefix, 0) + 1
            identity = f"{prefix}-{self._count[prefix]}"
        resource: Resource = {"resourceType": kind, "id": identity}
        field = "patient" if kind in ("AllergyIntolerance", "Immunization") else "subject"
        resource[field] = {"reference": f"Patient/{self.patient_id}"}
        if encounter is not None:
            field = "context" if kind == "MedicationAdministration" else "encounter"
            resource[field] = {"reference": f"Encounter/{encounter}"}
        return resource

    def _first(self, kind: str, name: str, *times: When | None) -> When:
        for time in times:
            if time is not None:
                return time
        raise DataError(f"{kind} `{name}` of {self.patient_id}: give a date or `known_at`, else it is never visible")

    def later(self, path: str, known: When) -> Self:
        """Mark a field of the resource added last as known only from `known` on (`resource.known_later`)."""
        known_later(self._resources[-1][0], path, known if isinstance(known, int) else parse_instant(time_text(known)))
        return self

    def resources(self) -> list[tuple[Resource, Instant]]:
        """Return the resources with the instant each became known."""
        return list(self._resources)

    def packed(self) -> PackedChart:
        """Validate and pack the chart.

        Raises:
            DataError: A resource is not valid R4; the problems are listed.
        """
        return pack(self.patient_id, self._resources, self.licence, check)

    def chart(self) -> Chart:
        """Return the chart, in memory."""
        return memory_chart(self.packed())
