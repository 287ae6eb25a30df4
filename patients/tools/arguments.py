"""Arguments of every tool: one pydantic model each, the single definition of what is accepted and what agents see.

Strict: an unknown argument, an impossible date or a value outside an enumeration is refused. Kind: numbers stand for
ids, `"20"` for 20, null or blank for "not given", and enumerations ignore case, spaces and hyphens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from wardround.patients.times import parse_period

MAX_TEXT = 200
"""Longest string argument, in characters."""
DEFAULT_COUNT = 20
MAX_COUNT = 100


def _identifier(value: object) -> object:
    """Read an integer as the id it spells; a FHIR reference loses its type."""
    if type(value) is int and abs(value) < 10**18:
        return str(value)
    if type(value) is str and value.startswith(("Patient/", "Encounter/")):
        return value.partition("/")[2]
    return value


def _code(value: object) -> object:
    """Read an integer as the local code it spells (MIMIC item ids)."""
    return str(value) if type(value) is int and abs(value) < 10**18 else value


def _integer(value: object) -> object:
    """Booleans are no integers, whatever Python says; everything else is pydantic's to judge."""
    if type(value) is bool:
        raise ValueError("expected an integer")
    return value


def _absent(value: object) -> object:
    """Null and blank text mean that an optional argument was not given."""
    return None if type(value) is str and not value.strip() else value


def _date(value: str) -> str:
    try:
        parse_period(value)
    except ValueError:
        raise ValueError("not a date that exists; write YYYY, YYYY-MM, YYYY-MM-DD or YYYY-MM-DDThh:mm:ss") from None
    return value


def _fold(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _one_of(literal: Any, also: Mapping[str, str] = MappingProxyType({})) -> Callable[[object], object]:
    """Return a reader of an enumeration that ignores case, spaces and hyphens and knows a few short forms."""
    table = {_fold(value): value for value in get_args(literal)} | dict(also)

    def read(value: object) -> object:
        return table.get(_fold(value), value) if type(value) is str else value

    return read


_ObservationCategory = Literal["laboratory", "vital-signs", "microbiology"]
_RequestStatus = Literal["active", "completed", "stopped"]
_ClinicalStatus = Literal["active", "recurrence", "relapse", "inactive", "remission", "resolved"]
_ReportType = Literal["CT", "MRI", "X-ray", "Echo"]
_DocumentType = Literal["discharge-summary", "radiology"]
_PlanCategory = Literal["discharge-planning", "followup", "treatment"]
_Priority = Literal["routine", "urgent", "asap"]
_FlagCategory = Literal["safety", "allergy", "administrative", "clinical"]
_AnswerType = Literal["tool", "chat"]

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TEXT)]
Id = Annotated[Text, BeforeValidator(_identifier)]
OptionalText = Annotated[Text | None, BeforeValidator(_absent)]
OptionalId = Annotated[Id | None, BeforeValidator(_absent)]
OptionalCode = Annotated[Annotated[Text, BeforeValidator(_code)] | None, BeforeValidator(_absent)]
OptionalDate = Annotated[
    Annotated[Text, BeforeValidator(_code), AfterValidator(_date)] | None, BeforeValidator(_absent)
]

SubjectId = Annotated[Id, Field(description="Id of the patient of this round.")]
SessionId = Annotated[Id, Field(description="Id of this session.")]
HadmId = Annotated[OptionalId, Field(default=None, description="Limit to one hospital stay: the id of its Encounter.")]
Count = Annotated[
    Annotated[int, BeforeValidator(_integer), Field(ge=0)] | None,
    BeforeValidator(_absent),
    Field(
        default=None,
        alias="_count",
        description=f"Most rows to return: default {DEFAULT_COUNT}, at most {MAX_COUNT}; 0 returns only the total.",
    ),
]


class Arguments(BaseModel):
    """Base of every argument model."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class NoSubject(Arguments):
    """Arguments of tools that are not about a record."""


class Subject(Arguments):
    """Arguments of tools about this patient."""

    subject_id: SubjectId


class PatientRead(Subject):
    """Arguments of Patient.read."""


class Search(Subject):
    """What every search takes."""

    hadm_id: HadmId
    count: Count


class EncounterSearch(Search):
    """Arguments of Encounter.search."""


class ConditionSearch(Search):
    """Arguments of Condition.search."""

    code: Annotated[OptionalCode, Field(description="ICD code or its beginning (N18, N18.3), or a diagnosis name.")] = (
        None
    )
    clinical_status: Annotated[
        Annotated[_ClinicalStatus, BeforeValidator(_one_of(_ClinicalStatus))] | None,
        BeforeValidator(_absent),
        Field(description="Only diagnoses with this clinical status."),
    ] = None


class ObservationSearch(Search):
    """Arguments of Observation.search."""

    category: Annotated[
        Annotated[
            _ObservationCategory,
            BeforeValidator(
                _one_of(
                    _ObservationCategory,
                    {
                        "lab": "laboratory",
                        "labs": "laboratory",
                        "vitals": "vital-signs",
                        "vitalsign": "vital-signs",
                        "micro": "microbiology",
                    },
                )
            ),
        ]
        | None,
        BeforeValidator(_absent),
        Field(description="Only results of this category."),
    ] = None
    code: Annotated[
        OptionalCode,
        Field(description="Name of the test in free text (creatinine, K, INR), or its LOINC or local code."),
    ] = None
    date_from: Annotated[
        OptionalDate, Field(description="Only results from this date or time on: YYYY, YYYY-MM, YYYY-MM-DD or full.")
    ] = None
    date_to: Annotated[
        OptionalDate, Field(description="Only results up to and including this date or time; forms as date_from.")
    ] = None


class MedicationRequestSearch(Search):
    """Arguments of MedicationRequest.search."""

    medication: Annotated[OptionalText, Field(description="Drug name, brand, class or part of the name.")] = None
    status: Annotated[
        Annotated[_RequestStatus, BeforeValidator(_one_of(_RequestStatus))] | None,
        BeforeValidator(_absent),
        Field(description="Only orders with this status now."),
    ] = None


class MedicationAdministrationSearch(Search):
    """Arguments of MedicationAdministration.search."""

    medication: Annotated[OptionalText, Field(description="Drug name, brand, class or part of the name.")] = None


class DiagnosticReportSearch(Search):
    """Arguments of DiagnosticReport.search."""

    report_type: Annotated[
        Annotated[_ReportType, BeforeValidator(_one_of(_ReportType, {"echocardiogram": "Echo"}))] | None,
        BeforeValidator(_absent),
        Field(description="Only reports of this kind of imaging."),
    ] = None


class DocumentReferenceSearch(Search):
    """Arguments of DocumentReference.search."""

    type_code: Annotated[
        Annotated[_DocumentType, BeforeValidator(_one_of(_DocumentType))] | None,
        BeforeValidator(_absent),
        Field(description="Only notes of this type."),
    ] = None
    keyword: Annotated[OptionalText, Field(description="Word or phrase that the note must contain.")] = None


class CarePlanSearch(Search):
    """Arguments of CarePlan.search."""

    category: Annotated[
        Annotated[_PlanCategory, BeforeValidator(_one_of(_PlanCategory))] | None,
        BeforeValidator(_absent),
        Field(description="Only plans of this category."),
    ] = None


class MedicationRequestCreate(Subject):
    """Arguments of MedicationRequest.create."""

    medication: Annotated[Text, Field(description="Drug to order, by name.")]
    dose: Annotated[Text, Field(description='Amount per dose with its unit, for example "500 mg".')]
    route: Annotated[Text, Field(description='Route, for example "oral" or "IV".')]
    frequency: Annotated[Text, Field(description='How often, for example "twice daily" or "every 8 hours".')]
    indication: Annotated[OptionalText, Field(description="Why it is ordered.")] = None
    duration_days: Annotated[
        Annotated[int, BeforeValidator(_integer), Field(ge=1, le=3650)] | None,
        BeforeValidator(_absent),
        Field(description="For how many days."),
    ] = None
    note: Annotated[OptionalText, Field(description="Instruction or remark to keep with the order.")] = None


class ServiceRequestCreate(Subject):
    """Arguments of ServiceRequest.create."""

    service_type: Annotated[Text, Field(description="Test, procedure or referral to order.")]
    priority: Annotated[_Priority, BeforeValidator(_one_of(_Priority)), Field(description="How soon it must be done.")]
    target_date: Annotated[
        OptionalDate, Field(description="When it shall be done: YYYY-MM-DD, or a month, year or full date and time.")
    ] = None
    note: Annotated[OptionalText, Field(description="Instruction or remark to keep with the order.")] = None


class FlagCreate(Subject):
    """Arguments of Flag.create."""

    category: Annotated[
        _FlagCategory, BeforeValidator(_one_of(_FlagCategory)), Field(description="What kind of warning it is.")
    ]
    code: Annotated[Text, Field(description='Short name of the warning, for example "fall risk".')]
    detail: Annotated[Text, Field(description="What the ward must know.")]


class Ask(Subject):
    """What every interview tool takes."""

    session_id: SessionId


class SymptomHistory(Ask):
    """Arguments of patient.get_symptom_history."""

    query: Annotated[
        OptionalText,
        Field(description="What to ask about, in free text; left out, the patient tells the main complaint."),
    ] = None


class MedicationAdherence(Ask):
    """Arguments of patient.get_medication_adherence."""

    drug: Annotated[Text, Field(description="The one medicine to ask about.")]


class PlainAsk(Ask):
    """Arguments of the interview tools that take no question."""


class PrepareToAnswer(NoSubject):
    """Arguments of prepare_to_answer."""

    answer_type: Annotated[
        _AnswerType,
        BeforeValidator(_one_of(_AnswerType)),
        Field(description="tool: the answer rests on tool results; chat: it does not."),
    ]
