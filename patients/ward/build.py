"""From a ward file to a chart: every row becomes a valid R4 resource with the instant it became known."""

from __future__ import annotations

from decimal import Decimal

from wardround.patients.builder import ChartBuilder
from wardround.patients.ward.record import Catalog, LabKind, MedicationRow, Panel, WardPatient

LICENCE = "CC0-1.0"
_CATEGORIES = {"home": "community", "inpatient": "inpatient"}
_SEVERITY = {"mild": "low", "moderate": "low", "severe": "high"}
_NOTES = {
    "history-physical": "Admission history and physical",
    "progress-note": "Progress note",
    "discharge-summary": "Discharge summary",
    "consult-note": "Consultation note",
}


def build_patient(patient: WardPatient, catalog: Catalog) -> ChartBuilder:
    """Return the chart of one ward file, ready to pack.

    Args:
        patient: The file.
        catalog: Names, codes, units and ranges of its labs and vital signs.
    """
    builder = ChartBuilder(
        patient.id, sex=patient.sex, birth_date=patient.birth_date, language="English", licence=LICENCE
    )
    _stays(builder, patient)
    _measured(builder, patient, catalog)
    _drugs(builder, patient)
    _written(builder, patient)
    return builder


def _stays(builder: ChartBuilder, patient: WardPatient) -> None:
    for stay in patient.encounters:
        builder.encounter(
            stay.id, stay.cls, stay.start, stay.end, type=stay.type, reason=stay.reason, disposition=stay.disposition
        )
        if stay.part_of is not None:
            resource, _ = builder.resources()[-1]
            resource["partOf"] = {"reference": f"Encounter/{stay.part_of}"}
    for condition in patient.conditions:
        builder.condition(
            condition.title, code=condition.code, onset=condition.onset, known_at=condition.known_at,
            clinical_status=condition.status, abatement=condition.abated, encounter=condition.encounter,
            category="problem-list-item" if condition.encounter is None else "encounter-diagnosis",
            rank=condition.rank, id=condition.id,
        )  # fmt: skip
    for done in patient.procedures:
        builder.procedure(done.name, at=done.at, encounter=done.encounter, id=done.id)
    for allergy in patient.allergies:
        builder.allergy(
            allergy.substance, recorded=allergy.recorded, reaction=allergy.reaction,
            criticality=_SEVERITY[allergy.severity], category=allergy.category, id=allergy.id,
        )  # fmt: skip


def _measured(builder: ChartBuilder, patient: WardPatient, catalog: Catalog) -> None:
    for number, panel in enumerate(patient.labs, 1):
        _panel(builder, panel, f"{patient.id}-l{number}", catalog.labs, patient.sex, "laboratory")
    for number, panel in enumerate(patient.vitals, 1):
        values = dict(panel.values)
        if "bp" in values:
            values["systolic"], _, values["diastolic"] = values.pop("bp").partition("/")
        taken = panel.model_copy(update={"values": values})
        _panel(builder, taken, f"{patient.id}-v{number}", catalog.vitals, patient.sex, "vital-signs")


def _panel(
    builder: ChartBuilder, panel: Panel, prefix: str, kinds: dict[str, LabKind], sex: str, category: str
) -> None:
    for key, value in panel.values.items():
        kind = kinds[key]
        low, high = kind.bounds(sex)
        builder.lab(
            kind.name, value, kind.display or kind.unit or None, ucum=kind.unit or None, at=panel.at,
            stored=panel.stored, low=low, high=high, flag=_flag(value, low, high), loinc=kind.loinc,
            encounter=panel.encounter, category=category,
            id=f"{prefix}-{key.replace('_', '-')}",
        )  # fmt: skip


def _flag(value: str, low: str | None, high: str | None) -> str | None:
    """Return H or L for a number outside its range, one-sided ranges included; None inside it."""
    number = Decimal(value)
    if high is not None and number > Decimal(high):
        return "H"
    return "L" if low is not None and number < Decimal(low) else None


def _drugs(builder: ChartBuilder, patient: WardPatient) -> None:
    orders: dict[str, MedicationRow] = {}
    for order in patient.medications:
        orders[order.id] = order
        builder.medication(
            order.name, dose=order.dose, route=order.route, frequency=order.frequency, start=order.start,
            stop=order.stop, stopped=order.ended == "stopped", status_reason=order.stop_reason,
            encounter=order.encounter, category=_CATEGORIES[order.kind], reason=order.indication, id=order.id,
        )  # fmt: skip
    for number, dose in enumerate(patient.administrations, 1):
        order = orders[dose.medication]
        builder.administration(
            order.name, at=dose.at, dose=dose.dose, route=order.route,
            status="completed" if dose.status == "given" else "not-done", reason=dose.note, request=order.id,
            encounter=dose.encounter, id=f"{patient.id}-d{number}",
        )  # fmt: skip


def _written(builder: ChartBuilder, patient: WardPatient) -> None:
    for report in patient.reports:
        text = f"FINDINGS: {report.findings}\n\nIMPRESSION: {report.impression}"
        builder.report(
            report.title, text, at=report.at, issued=report.stored, conclusion=report.impression,
            encounter=report.encounter, id=report.id,
        )  # fmt: skip
    for note in patient.notes:
        sections = {section.header: section.text for section in note.sections}
        builder.note(
            _NOTES[note.kind], sections, at=note.at, stored=note.stored, code=note.kind, encounter=note.encounter,
            id=note.id,
        )  # fmt: skip
    for plan in patient.care_plans:
        builder.care_plan(
            plan.title, plan.text, at=plan.at, category=plan.category, encounter=plan.encounter, id=plan.id
        )
