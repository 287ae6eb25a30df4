"""The form of a ward file: one hand-authored synthetic patient as JSON, `format: "wardround.ward/1"`.

Every instant is a FHIR dateTime in UTC. Lab and vital names are keys of `data/catalog.json`; drugs are concept ids.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from wardround.patients.interview import Interview

FORMAT = "wardround.ward/1"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class LabKind(_Frozen):
    """A laboratory test as the ward reports it."""

    name: str
    loinc: str | None = None
    """None where no source confirmed a code."""
    unit: str = ""
    """UCUM; "" for none."""
    display: str | None = None
    """How the ward writes the unit, where that is not UCUM."""
    low: str | None = None
    high: str | None = None
    low_female: str | None = None
    """Where women have another bound than `low`."""
    high_female: str | None = None

    def bounds(self, sex: str) -> tuple[str | None, str | None]:
        """Return the reference range `(low, high)` for `sex`; None is an open end."""
        if sex != "female":
            return self.low, self.high
        return self.low_female or self.low, self.high_female or self.high


class Catalog(_Frozen):
    """What the ward's files refer to by key."""

    format: Literal["wardround.ward-catalog/1"]
    labs: dict[str, LabKind]
    vitals: dict[str, LabKind]


class EncounterRow(_Frozen):
    """A visit or stay; `end` and `disposition` become known at its end."""

    id: str
    cls: Literal["AMB", "EMER", "IMP", "ACUTE"]
    """HL7 v3 ActCode; ACUTE is intensive care."""
    start: str
    end: str
    type: str
    reason: str
    disposition: str | None = None
    part_of: str | None = None


class ConditionRow(_Frozen):
    """A diagnosis by ICD-10-CM."""

    id: str
    code: str
    title: str
    onset: str
    known_at: str
    encounter: str | None = None
    status: Literal["active", "resolved"] = "active"
    rank: int | None = None
    abated: str | None = None


class Panel(_Frozen):
    """Measurements taken together: lab or vital key → value text."""

    at: str
    stored: str | None = None
    """When the results came back; None: at once (vital signs)."""
    encounter: str | None = None
    values: dict[str, str]


class MedicationRow(_Frozen):
    """An order; `stop` is known only once it has come."""

    id: str
    drug: str
    name: str
    dose: str
    route: str
    frequency: str
    start: str
    stop: str | None = None
    stop_reason: str | None = None
    ended: Literal["completed", "stopped"] | None = None
    """How it ended, where it has a `stop`."""
    encounter: str | None = None
    kind: Literal["home", "inpatient"]
    indication: str | None = None


class AdministrationRow(_Frozen):
    """What really happened to a dose."""

    medication: str
    at: str
    status: Literal["given", "not-done"]
    note: str | None = None
    """Why it was not given."""
    dose: str | None = None
    encounter: str | None = None


class AllergyRow(_Frozen):
    """An allergy or intolerance."""

    id: str
    substance: str
    reaction: str
    severity: Literal["mild", "moderate", "severe"]
    category: Literal["medication", "food", "environment"] = "medication"
    recorded: str


class ProcedureRow(_Frozen):
    """Something that was done to the patient."""

    id: str
    name: str
    at: str
    encounter: str | None = None


class ReportRow(_Frozen):
    """An imaging report."""

    id: str
    kind: Literal["CT", "MRI", "X-ray", "Echo", "US"]
    title: str
    at: str
    stored: str
    encounter: str
    findings: str
    impression: str


class Section(_Frozen):
    """A headed part of a note."""

    header: str
    text: str


class NoteRow(_Frozen):
    """A written note."""

    id: str
    kind: Literal["history-physical", "progress-note", "discharge-summary", "consult-note"]
    title: str
    at: str
    stored: str
    encounter: str
    sections: tuple[Section, ...] = Field(min_length=1)


class PlanRow(_Frozen):
    """A care plan."""

    id: str
    category: Literal["treatment", "discharge-planning", "followup"]
    title: str
    at: str
    encounter: str
    text: str


class WardPatient(_Frozen):
    """One synthetic patient: the record, the interview, and the hour of the round."""

    format: Literal["wardround.ward/1"]
    id: str
    title: str
    sex: Literal["female", "male"]
    birth_date: str
    anchor: str
    """The hour at which the ward round comes by, inside the current stay."""
    encounters: tuple[EncounterRow, ...]
    conditions: tuple[ConditionRow, ...]
    labs: tuple[Panel, ...]
    vitals: tuple[Panel, ...]
    medications: tuple[MedicationRow, ...]
    administrations: tuple[AdministrationRow, ...] = ()
    allergies: tuple[AllergyRow, ...] = ()
    procedures: tuple[ProcedureRow, ...] = ()
    reports: tuple[ReportRow, ...] = ()
    notes: tuple[NoteRow, ...] = ()
    care_plans: tuple[PlanRow, ...] = ()
    interview: Interview
