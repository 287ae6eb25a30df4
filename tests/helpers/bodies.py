"""One valid resource of each sort that a role may write, about `ward-01`, for the tests of the server."""

from __future__ import annotations

SUBJECT = {"reference": "Patient/ward-01"}
_CATEGORY = "http://terminology.hl7.org/CodeSystem/observation-category"
_CLINICAL = "http://terminology.hl7.org/CodeSystem"


def _observation(category: str) -> dict:
    return {
        "resourceType": "Observation",
        "status": "final",
        "category": [{"coding": [{"system": _CATEGORY, "code": category}]}],
        "code": {"text": "something measured"},
        "subject": SUBJECT,
        "valueString": "so",
    }


def _order(kind: str, status: str, **more: object) -> dict:
    return {"resourceType": kind, "status": status, "intent": "order", "subject": SUBJECT, **more}


_DRUG = {"medicationCodeableConcept": {"text": "aspirin"}}
_MONEY = {"type": {"text": "x"}, "use": "claim", "created": "2024-05-01", "priority": {"text": "normal"}}
BODIES = {
    "vital sign": _observation("vital-signs"),
    "lab": _observation("laboratory"),
    "order": _order("MedicationRequest", "active", **_DRUG),
    "draft order": _order("MedicationRequest", "draft", **_DRUG),
    "request": _order("ServiceRequest", "active", code={"text": "echo"}),
    "draft request": _order("ServiceRequest", "draft", code={"text": "echo"}),
    "administration": {
        "resourceType": "MedicationAdministration", "status": "completed", "subject": SUBJECT,
        "effectiveDateTime": "2024-05-20T08:00:00Z", **_DRUG,
    },
    "dispense": {"resourceType": "MedicationDispense", "status": "completed", "subject": SUBJECT, **_DRUG},
    "problem": {
        "resourceType": "Condition", "subject": SUBJECT, "code": {"text": "gout"},
        "clinicalStatus": {"coding": [{"system": f"{_CLINICAL}/condition-clinical", "code": "active"}]},
    },
    "allergy": {
        "resourceType": "AllergyIntolerance", "patient": SUBJECT, "code": {"text": "penicillin"},
        "clinicalStatus": {"coding": [{"system": f"{_CLINICAL}/allergyintolerance-clinical", "code": "active"}]},
    },
    "procedure": {"resourceType": "Procedure", "status": "completed", "subject": SUBJECT, "code": {"text": "x"}},
    "note": {
        "resourceType": "DocumentReference", "status": "current", "subject": SUBJECT,
        "content": [{"attachment": {"contentType": "text/plain", "data": "eA=="}}],
    },
    "plan": _order("CarePlan", "active", intent="plan"),
    "flag": {"resourceType": "Flag", "status": "active", "code": {"text": "fall risk"}, "subject": SUBJECT},
    "message": {"resourceType": "Communication", "status": "completed", "subject": SUBJECT},
    "appointment": {
        "resourceType": "Appointment", "status": "proposed", "participant": [{"actor": SUBJECT, "status": "accepted"}],
    },
    "answers": {"resourceType": "QuestionnaireResponse", "status": "completed", "subject": SUBJECT},
    "issue": {"resourceType": "DetectedIssue", "status": "final", "patient": SUBJECT},
    "specimen": {"resourceType": "Specimen", "subject": SUBJECT},
    "report": {"resourceType": "DiagnosticReport", "status": "final", "code": {"text": "x"}, "subject": SUBJECT},
    "coverage": {
        "resourceType": "Coverage", "status": "active", "beneficiary": SUBJECT, "payor": [{"display": "somebody"}],
    },
    "claim": {
        "resourceType": "Claim", "status": "active", "patient": SUBJECT, "provider": {"display": "x"}, **_MONEY,
        "insurance": [{"sequence": 1, "focal": True, "coverage": {"display": "x"}}],
    },
    "charge": {"resourceType": "ChargeItem", "status": "billable", "subject": SUBJECT, "code": {"text": "x"}},
    "task": {"resourceType": "Task", "status": "requested", "intent": "order", "for": SUBJECT},
    "person": {"resourceType": "Patient", "gender": "other"},
}  # fmt: skip
