"""Arguments of the tools that read, ask and steer: one pydantic model each, what is accepted and what agents see.

Strict: an unknown argument, an impossible date or a value outside an enumeration is refused; how kindly it may be
written is in `fields.py`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from .fields import (
    Count,
    HadmId,
    NoSubject,
    OptionalCode,
    OptionalDate,
    OptionalText,
    SessionId,
    Subject,
    Text,
    absent,
    one_of,
)

_ObservationCategory = Literal["laboratory", "vital-signs", "microbiology"]
_RequestStatus = Literal["active", "completed", "stopped"]
_ClinicalStatus = Literal["active", "recurrence", "relapse", "inactive", "remission", "resolved"]
_ReportType = Literal[
    "CT", "MRI", "X-ray", "Echo", "Ultrasound", "Nuclear medicine", "PET", "Mammography", "Fluoroscopy", "Angiography"
]
_REPORT_SHORT = {
    "echocardiogram": "Echo", "mr": "MRI", "xr": "X-ray", "radiograph": "X-ray", "us": "Ultrasound",
    "nuclear": "Nuclear medicine", "nm": "Nuclear medicine", "mammogram": "Mammography", "angiogram": "Angiography",
}  # fmt: skip
_DocumentType = Literal["discharge-summary", "radiology"]
_PlanCategory = Literal["discharge-planning", "followup", "treatment"]
_ServiceStatus = Literal["active", "on-hold", "completed", "revoked"]
_FlagStatus = Literal["active", "inactive"]
_AnswerType = Literal["tool", "chat"]


Keyword = Annotated[
    OptionalText,
    Field(
        description="Word or phrase that the text must contain: whole words in this order, in any case; "
        '"pneumo*" also finds longer words. The id of a row reads that one whole.'
    ),
]


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
        Annotated[_ClinicalStatus, BeforeValidator(one_of(_ClinicalStatus))] | None,
        BeforeValidator(absent),
        Field(description="Only diagnoses with this clinical status."),
    ] = None


class ObservationSearch(Search):
    """Arguments of Observation.search."""

    category: Annotated[
        Annotated[
            _ObservationCategory,
            BeforeValidator(
                one_of(
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
        BeforeValidator(absent),
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
        Annotated[_RequestStatus, BeforeValidator(one_of(_RequestStatus))] | None,
        BeforeValidator(absent),
        Field(description="Only orders with this status now."),
    ] = None


class MedicationAdministrationSearch(Search):
    """Arguments of MedicationAdministration.search."""

    medication: Annotated[OptionalText, Field(description="Drug name, brand, class or part of the name.")] = None


class DiagnosticReportSearch(Search):
    """Arguments of DiagnosticReport.search."""

    report_type: Annotated[
        Annotated[_ReportType, BeforeValidator(one_of(_ReportType, _REPORT_SHORT))] | None,
        BeforeValidator(absent),
        Field(description="Only reports of this kind of imaging."),
    ] = None
    keyword: Keyword = None


class DocumentReferenceSearch(Search):
    """Arguments of DocumentReference.search."""

    type_code: Annotated[
        Annotated[_DocumentType, BeforeValidator(one_of(_DocumentType))] | None,
        BeforeValidator(absent),
        Field(description="Only notes of this type."),
    ] = None
    keyword: Keyword = None


class CarePlanSearch(Search):
    """Arguments of CarePlan.search."""

    category: Annotated[
        Annotated[_PlanCategory, BeforeValidator(one_of(_PlanCategory))] | None,
        BeforeValidator(absent),
        Field(description="Only plans of this category."),
    ] = None
    keyword: Keyword = None


class ServiceRequestSearch(Search):
    """Arguments of ServiceRequest.search."""

    service: Annotated[OptionalText, Field(description="Words of the test, procedure or referral.")] = None
    status: Annotated[
        Annotated[_ServiceStatus, BeforeValidator(one_of(_ServiceStatus))] | None,
        BeforeValidator(absent),
        Field(description="Only requests with this status now."),
    ] = None


class FlagSearch(Search):
    """Arguments of Flag.search."""

    status: Annotated[
        Annotated[_FlagStatus, BeforeValidator(one_of(_FlagStatus))] | None,
        BeforeValidator(absent),
        Field(description="Only warnings with this status now."),
    ] = None


class CommunicationSearch(Search):
    """Arguments of Communication.search."""


class AppointmentSearch(Subject):
    """Arguments of Appointment.search. R4 ties an appointment to no stay."""

    count: Count


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
        BeforeValidator(one_of(_AnswerType)),
        Field(description="tool: the answer rests on tool results; chat: it does not."),
    ]
