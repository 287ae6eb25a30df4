"""Every tool, by published name and by the alias that providers accept; the 18 of the ward round are the default."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from . import arguments as args
from . import files, read, write, write_care, write_results
from . import write_arguments as wargs
from .ask import ask_with
from .control import prepare_to_answer
from .memory import remembered, rewritten
from .spec import ToolSpec
from .write_status import update_status

_SPECS: Final = (
    ToolSpec(
        "Patient.read",
        "read",
        "Read who the patient is: sex, birth date, age.",
        args.PatientRead,
        remembered(read.patient, "Patient"),
    ),
    ToolSpec(
        "Encounter.search",
        "read",
        "List the patient's hospital stays, newest first, with their ids (hadm_id), and the ICU and emergency "
        "department stays beside them, told apart by class.",
        args.EncounterSearch,
        remembered(read.encounters),
    ),
    ToolSpec(
        "Condition.search",
        "read",
        "List the patient's coded diagnoses, the principal diagnosis of a stay first.",
        args.ConditionSearch,
        remembered(read.conditions, "Condition"),
    ),
    ToolSpec(
        "Observation.search",
        "read",
        "Search laboratory results, vital signs and microbiology, newest first, with unit, reference range and flag.",
        args.ObservationSearch,
        remembered(read.observations, "Observation"),
    ),
    ToolSpec(
        "MedicationRequest.search",
        "read",
        "Search medication orders, newest first, with dose, route, frequency and status now.",
        args.MedicationRequestSearch,
        remembered(read.medication_requests, "MedicationRequest"),
    ),
    ToolSpec(
        "MedicationAdministration.search",
        "read",
        "Search doses that were really given (or held), newest first.",
        args.MedicationAdministrationSearch,
        remembered(read.medication_administrations, "MedicationAdministration"),
    ),
    ToolSpec(
        "DiagnosticReport.search",
        "read",
        "Search imaging reports, newest first, with their text.",
        args.DiagnosticReportSearch,
        remembered(read.diagnostic_reports, "DiagnosticReport", "Procedure"),
    ),
    ToolSpec(
        "DocumentReference.search",
        "read",
        "Search clinical notes by type and by words in their text, newest first.",
        args.DocumentReferenceSearch,
        remembered(read.document_references, "DocumentReference", "DiagnosticReport"),
    ),
    ToolSpec(
        "CarePlan.search",
        "read",
        "Search plans for discharge, follow-up and treatment, newest first.",
        args.CarePlanSearch,
        remembered(read.care_plans, "CarePlan"),
    ),
    ToolSpec(
        "MedicationRequest.create",
        "write",
        "Order a medication. Use only when the physician asks for the order.",
        wargs.MedicationRequestCreate,
        rewritten(write.create_medication_request),
    ),
    ToolSpec(
        "ServiceRequest.create",
        "write",
        "Order a test, procedure or referral. Use only when the physician asks for the order.",
        wargs.ServiceRequestCreate,
        rewritten(write.create_service_request),
    ),
    ToolSpec(
        "Flag.create",
        "write",
        "Put a warning on the patient's record. Use only when the physician asks for it.",
        wargs.FlagCreate,
        rewritten(write.create_flag),
    ),
    ToolSpec(
        "patient.get_symptom_history",
        "ask",
        "Ask the patient about symptoms: onset, what makes them worse or better, quality, region, severity, timing.",
        args.SymptomHistory,
        ask_with("patient.get_symptom_history"),
    ),
    ToolSpec(
        "patient.get_medication_adherence",
        "ask",
        "Ask the patient how they really take one medicine, and why.",
        args.MedicationAdherence,
        ask_with("patient.get_medication_adherence"),
    ),
    ToolSpec(
        "patient.get_social_history",
        "ask",
        "Ask the patient about smoking, alcohol, drugs, work and living situation.",
        args.PlainAsk,
        ask_with("patient.get_social_history"),
    ),
    ToolSpec(
        "patient.get_functional_status",
        "ask",
        "Ask the patient what they can do by themselves: walking, washing, dressing, managing medicines.",
        args.PlainAsk,
        ask_with("patient.get_functional_status"),
    ),
    ToolSpec(
        "patient.get_pain_assessment",
        "ask",
        "Ask the patient to rate their pain from 0 to 10 and to describe it.",
        args.PlainAsk,
        ask_with("patient.get_pain_assessment"),
    ),
    ToolSpec(
        "prepare_to_answer",
        "control",
        "Call this last in every turn, when nothing more needs to be looked up, before answering.",
        args.PrepareToAnswer,
        prepare_to_answer,
    ),
)

_MORE: Final = (
    ToolSpec(
        "ServiceRequest.search",
        "read",
        "Search orders of tests, procedures and referrals, newest first, with status now.",
        args.ServiceRequestSearch,
        remembered(read.service_requests, "ServiceRequest"),
    ),
    ToolSpec(
        "Flag.search",
        "read",
        "List the warnings on the patient's record, newest first.",
        args.FlagSearch,
        remembered(read.flags, "Flag"),
    ),
    ToolSpec(
        "Communication.search",
        "read",
        "List the messages about the patient, newest first.",
        args.CommunicationSearch,
        remembered(read.communications, "Communication"),
    ),
    ToolSpec(
        "Appointment.search",
        "read",
        "List the patient's appointments, the latest first.",
        args.AppointmentSearch,
        remembered(read.appointments, "Appointment"),
    ),
    ToolSpec(
        "MedicationRequest.update_status",
        "write",
        "Stop, hold, resume, complete or cancel a medication order. Use only when the physician asks for it.",
        wargs.MedicationRequestUpdateStatus,
        update_status("MedicationRequest"),
    ),
    ToolSpec(
        "ServiceRequest.update_status",
        "write",
        "Hold, resume, complete or cancel the order of a test, procedure or referral. Use only when the physician "
        "asks for it.",
        wargs.ServiceRequestUpdateStatus,
        update_status("ServiceRequest"),
    ),
    ToolSpec(
        "Flag.update_status",
        "write",
        "Close, reopen or retract a warning on the patient's record. Use only when the physician asks for it.",
        wargs.FlagUpdateStatus,
        update_status("Flag"),
    ),
    ToolSpec(
        "Observation.create",
        "write",
        "Record an observation of this patient. Use only when the physician asks for it.",
        wargs.ObservationCreate,
        rewritten(write_results.create_observation),
    ),
    ToolSpec(
        "DiagnosticReport.create",
        "write",
        "Record a diagnostic report. Use only when the physician asks for it.",
        wargs.DiagnosticReportCreate,
        rewritten(write_results.create_report),
    ),
    ToolSpec(
        "DocumentReference.create",
        "write",
        "Write a note, with sections. Use only when the physician asks for it.",
        wargs.DocumentReferenceCreate,
        rewritten(write_results.create_note),
    ),
    ToolSpec(
        "Communication.create",
        "write",
        "Send a message about the patient: notify or alert the physician, the team or the patient. It is recorded.",
        wargs.CommunicationCreate,
        rewritten(write_care.create_communication),
    ),
    ToolSpec(
        "Appointment.create",
        "write",
        "Book an appointment. Use only when the physician asks for it.",
        wargs.AppointmentCreate,
        rewritten(write_care.create_appointment),
    ),
    ToolSpec(
        "CarePlan.create",
        "write",
        "Write a plan for discharge, follow-up or treatment. Use only when the physician asks for it.",
        wargs.CarePlanCreate,
        rewritten(write_care.create_care_plan),
    ),
    ToolSpec(
        "files.write",
        "write",
        "Write a text file in your own workspace.",
        files.FilesWrite,
        files.write_file,
    ),
    ToolSpec(
        "files.read",
        "read",
        "Read a text file of your own workspace.",
        files.FilesRead,
        files.read_file,
    ),
    ToolSpec(
        "files.list",
        "read",
        "List the files of your own workspace.",
        files.FilesList,
        files.list_files,
    ),
    ToolSpec(
        "files.delete",
        "write",
        "Delete a file of your own workspace.",
        files.FilesDelete,
        files.delete_file,
    ),
)

TOOLS: Final[Mapping[str, ToolSpec]] = MappingProxyType({spec.name: spec for spec in _SPECS})
"""The 18 tools of the ward round, by published name: what a session offers that names none."""

ALL_TOOLS: Final[Mapping[str, ToolSpec]] = MappingProxyType({spec.name: spec for spec in (*_SPECS, *_MORE)})
"""Every tool by its name; a session's `tools` may name any of them."""

_BY_NAME: Final = {spec.alias: spec for spec in ALL_TOOLS.values()} | dict(ALL_TOOLS)


def find_tool(name: str) -> ToolSpec | None:
    """Return the tool of a published name or alias (`Observation_search`), or None."""
    return _BY_NAME.get(name)
