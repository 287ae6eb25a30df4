"""The 18 tools of the ward round, by published name and by the alias that every provider accepts."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from . import arguments as args
from . import read, write
from .ask import ask_with
from .control import prepare_to_answer
from .memory import remembered
from .spec import ToolSpec

_SPECS: Final = (
    ToolSpec(
        "Patient.read",
        "read",
        "Read who the patient is: sex, birth date, age.",
        args.PatientRead,
        remembered(read.patient),
    ),
    ToolSpec(
        "Encounter.search",
        "read",
        "List the patient's hospital stays, newest first, with their ids (hadm_id).",
        args.EncounterSearch,
        remembered(read.encounters),
    ),
    ToolSpec(
        "Condition.search",
        "read",
        "List the patient's coded diagnoses, the principal diagnosis of a stay first.",
        args.ConditionSearch,
        remembered(read.conditions),
    ),
    ToolSpec(
        "Observation.search",
        "read",
        "Search laboratory results, vital signs and microbiology, newest first, with unit, reference range and flag.",
        args.ObservationSearch,
        remembered(read.observations),
    ),
    ToolSpec(
        "MedicationRequest.search",
        "read",
        "Search medication orders, newest first, with dose, route, frequency and status now.",
        args.MedicationRequestSearch,
        remembered(read.medication_requests),
    ),
    ToolSpec(
        "MedicationAdministration.search",
        "read",
        "Search doses that were really given (or held), newest first.",
        args.MedicationAdministrationSearch,
        remembered(read.medication_administrations),
    ),
    ToolSpec(
        "DiagnosticReport.search",
        "read",
        "Search imaging reports, newest first, with their text.",
        args.DiagnosticReportSearch,
        remembered(read.diagnostic_reports),
    ),
    ToolSpec(
        "DocumentReference.search",
        "read",
        "Search clinical notes by type and by words in their text, newest first.",
        args.DocumentReferenceSearch,
        remembered(read.document_references),
    ),
    ToolSpec(
        "CarePlan.search",
        "read",
        "Search plans for discharge, follow-up and treatment, newest first.",
        args.CarePlanSearch,
        remembered(read.care_plans),
    ),
    ToolSpec(
        "MedicationRequest.create",
        "write",
        "Order a medication. Use only when the physician asks for the order.",
        args.MedicationRequestCreate,
        write.create_medication_request,
    ),
    ToolSpec(
        "ServiceRequest.create",
        "write",
        "Order a test, procedure or referral. Use only when the physician asks for the order.",
        args.ServiceRequestCreate,
        write.create_service_request,
    ),
    ToolSpec(
        "Flag.create",
        "write",
        "Put a warning on the patient's record. Use only when the physician asks for it.",
        args.FlagCreate,
        write.create_flag,
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

TOOLS: Final[Mapping[str, ToolSpec]] = MappingProxyType({spec.name: spec for spec in _SPECS})
"""Every tool by its published name."""

_BY_NAME: Final = {spec.alias: spec for spec in _SPECS} | {spec.name: spec for spec in _SPECS}


def find_tool(name: str) -> ToolSpec | None:
    """Return the tool of a published name or alias (`Observation_search`), or None."""
    return _BY_NAME.get(name)
