"""Arguments of the tools that write the record; the subject, the stay and the time are filled in by us.

The lists of choices are the keys of `data/write_tools.json`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from .fields import (
    MAX_LONG,
    LongText,
    OptionalDate,
    OptionalLongText,
    OptionalText,
    Priority,
    Subject,
    Text,
    absent,
    code_text,
    key_of,
    one_of,
    real_date,
    whole_number,
)

FlagCategory = Literal["safety", "allergy", "administrative", "clinical"]
ObservationCategory = Literal["vital-signs", "laboratory", "exam", "survey", "social-history", "imaging", "procedure"]
ReportCategory = Literal["imaging", "echocardiography", "ecg", "laboratory", "microbiology", "pathology"]
ReportStatus = Literal["preliminary", "final"]
NoteType = Literal[
    "progress-note", "history-and-physical", "consult-note", "procedure-note", "nursing-note", "discharge-summary",
    "transfer-summary",
]  # fmt: skip
Recipient = Literal["physician", "nurse", "pharmacist", "care-team", "patient", "caregiver"]
MessageKind = Literal["alert", "notification", "reminder", "instruction"]
PlanCategory = Literal["discharge-planning", "followup", "treatment"]
OrderAction = Literal["stop", "hold", "resume", "complete", "cancel"]
ServiceAction = Literal["hold", "resume", "complete", "cancel"]
FlagAction = Literal["close", "reopen", "retract"]

Moment = Annotated[Text, BeforeValidator(code_text), AfterValidator(real_date)]
OptionalMinutes = Annotated[
    Annotated[int, BeforeValidator(whole_number), Field(ge=5, le=720)] | None, BeforeValidator(absent)
]
Note = Annotated[OptionalText, Field(description="Remark to keep with it.")]
Reason = Annotated[OptionalText, Field(description="Why.")]


class MedicationRequestCreate(Subject):
    """Arguments of MedicationRequest.create."""

    medication: Annotated[Text, Field(description="Drug to order, by name.")]
    dose: Annotated[Text, Field(description='Amount per dose with its unit, for example "500 mg".')]
    route: Annotated[Text, Field(description='Route, for example "oral" or "IV".')]
    frequency: Annotated[Text, Field(description='How often, for example "twice daily" or "every 8 hours".')]
    indication: Annotated[OptionalText, Field(description="Why it is ordered.")] = None
    duration_days: Annotated[
        Annotated[int, BeforeValidator(whole_number), Field(ge=1, le=3650)] | None,
        BeforeValidator(absent),
        Field(description="For how many days."),
    ] = None
    note: Annotated[OptionalText, Field(description="Instruction or remark to keep with the order.")] = None


class ServiceRequestCreate(Subject):
    """Arguments of ServiceRequest.create."""

    service_type: Annotated[Text, Field(description="Test, procedure or referral to order.")]
    priority: Annotated[Priority, BeforeValidator(one_of(Priority)), Field(description="How soon it must be done.")]
    target_date: Annotated[
        OptionalDate, Field(description="When it shall be done: YYYY-MM-DD, or a month, year or full date and time.")
    ] = None
    note: Annotated[OptionalText, Field(description="Instruction or remark to keep with the order.")] = None


class FlagCreate(Subject):
    """Arguments of Flag.create."""

    category: Annotated[
        FlagCategory, BeforeValidator(one_of(FlagCategory)), Field(description="What kind of warning it is.")
    ]
    code: Annotated[Text, Field(description='Short name of the warning, for example "fall risk".')]
    detail: Annotated[Text, Field(description="What the ward must know.")]


class ObservationCreate(Subject):
    """Arguments of Observation.create."""

    category: Annotated[
        ObservationCategory,
        BeforeValidator(one_of(ObservationCategory, {"vitals": "vital-signs", "lab": "laboratory"})),
        Field(description="What kind of observation it is."),
    ]
    code: Annotated[Text, Field(description='What was observed, by name, for example "heart rate" or "pain score".')]
    value: Annotated[
        Text,
        BeforeValidator(code_text),
        Field(description='The finding: a number ("7.2", "<0.3"), a pressure ("120/80") or words ("positive").'),
    ]
    unit: Annotated[OptionalText, Field(description='Unit of a number, for example "mmHg"; left out for words.')] = None
    time: Annotated[OptionalDate, Field(description="When it was observed; left out, it is now.")] = None
    note: Note = None


class DiagnosticReportCreate(Subject):
    """Arguments of DiagnosticReport.create."""

    category: Annotated[
        ReportCategory, BeforeValidator(one_of(ReportCategory)), Field(description="Which service reports.")
    ]
    code: Annotated[Text, Field(description='What was done, for example "CT head without contrast".')]
    conclusion: Annotated[LongText, Field(description=f"The report's conclusion, at most {MAX_LONG} characters.")]
    status: Annotated[
        Annotated[ReportStatus, BeforeValidator(one_of(ReportStatus))] | None,
        BeforeValidator(absent),
        Field(description="preliminary or final; left out, it is final."),
    ] = None
    time: Annotated[OptionalDate, Field(description="When it was done; left out, it is now.")] = None


class DocumentReferenceCreate(Subject):
    """Arguments of DocumentReference.create."""

    type_code: Annotated[NoteType, BeforeValidator(one_of(NoteType)), Field(description="What kind of note it is.")]
    text: Annotated[
        LongText,
        Field(
            description=(
                f"The note, at most {MAX_LONG} characters. A line `## Title` begins a section of that title, for "
                "example `## Assessment`."
            )
        ),
    ]
    title: Annotated[OptionalText, Field(description="Short title of the note.")] = None


class CommunicationCreate(Subject):
    """Arguments of Communication.create."""

    recipient: Annotated[Recipient, BeforeValidator(one_of(Recipient)), Field(description="Who must be told.")]
    message: Annotated[LongText, Field(description=f"What to tell, at most {MAX_LONG} characters.")]
    category: Annotated[
        Annotated[MessageKind, BeforeValidator(one_of(MessageKind))] | None,
        BeforeValidator(absent),
        Field(description="alert for what cannot wait (escalation); left out, it is a notification."),
    ] = None
    priority: Annotated[
        Annotated[Priority, BeforeValidator(one_of(Priority))] | None,
        BeforeValidator(absent),
        Field(description="How soon it must be read; left out, it is routine."),
    ] = None
    topic: Annotated[OptionalText, Field(description='What it is about, for example "potassium 6.8".')] = None
    reason: Reason = None


class AppointmentCreate(Subject):
    """Arguments of Appointment.create."""

    service: Annotated[Text, Field(description='What it is for, for example "cardiology clinic".')]
    start: Annotated[Moment, Field(description="When it begins, with the time of day: YYYY-MM-DDThh:mm.")]
    duration_minutes: Annotated[OptionalMinutes, Field(description="How long it lasts; left out, 30 minutes.")] = None
    practitioner: Annotated[OptionalText, Field(description="With whom, if a person or clinic is named.")] = None
    reason: Reason = None
    note: Note = None


class CarePlanCreate(Subject):
    """Arguments of CarePlan.create."""

    category: Annotated[
        PlanCategory, BeforeValidator(one_of(PlanCategory)), Field(description="What kind of plan it is.")
    ]
    title: Annotated[Text, Field(description="Short title of the plan.")]
    description: Annotated[LongText, Field(description=f"The plan in words, at most {MAX_LONG} characters.")]
    activities: Annotated[OptionalLongText, Field(description="What is to be done, one activity a line.")] = None


class MedicationRequestUpdateStatus(Subject):
    """Arguments of MedicationRequest.update_status."""

    id: Annotated[
        Annotated[Text, BeforeValidator(key_of("MedicationRequest"))],
        Field(description="Id of the order, as MedicationRequest.search or MedicationRequest.create gave it."),
    ]
    action: Annotated[
        OrderAction,
        BeforeValidator(one_of(OrderAction, {"discontinue": "stop", "suspend": "hold", "restart": "resume"})),
        Field(
            description=(
                "stop: end it for good; hold: pause it; resume: go on after a hold; complete: it has run its course; "
                "cancel: withdraw it before any dose."
            )
        ),
    ]
    reason: Reason = None


class ServiceRequestUpdateStatus(Subject):
    """Arguments of ServiceRequest.update_status."""

    id: Annotated[
        Annotated[Text, BeforeValidator(key_of("ServiceRequest"))],
        Field(description="Id of the request, as ServiceRequest.search or ServiceRequest.create gave it."),
    ]
    action: Annotated[
        ServiceAction,
        BeforeValidator(one_of(ServiceAction, {"stop": "cancel", "revoke": "cancel", "discontinue": "cancel"})),
        Field(description="hold: pause it; resume: go on after a hold; complete: it was done; cancel: withdraw it."),
    ]
    reason: Reason = None


class FlagUpdateStatus(Subject):
    """Arguments of Flag.update_status."""

    id: Annotated[
        Annotated[Text, BeforeValidator(key_of("Flag"))],
        Field(description="Id of the warning, as Flag.search or Flag.create gave it."),
    ]
    action: Annotated[
        FlagAction,
        BeforeValidator(one_of(FlagAction, {"resolve": "close", "inactivate": "close", "reactivate": "reopen"})),
        Field(description="close: it no longer holds; reopen: it holds again; retract: it was put there by mistake."),
    ]
    reason: Reason = None
