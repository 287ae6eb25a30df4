"""Prescriptions → MedicationRequest; doses → MedicationAdministration."""

from __future__ import annotations

from wardround.patients.building import dosage_element
from wardround.patients.dosing import as_needed
from wardround.patients.errors import DataError
from wardround.patients.importers._templates import Shelf, Values
from wardround.patients.knowledge import drugs, findings
from wardround.patients.resource import Resource
from wardround.patients.slotted import Sheaf
from wardround.patients.times import NEVER, Instant

from .charting_desk import Desk, Made, chart_words, moment, place
from .life import GivenDose, Prescription


def chart_drugs(desk: Desk) -> None:
    """Add the orders, and what became of each dose."""
    why: dict[str, tuple[str, Instant]] = {one.id: (one.title, one.known_at) for one in desk.life.illnesses}
    for sign in desk.life.signs:
        found = findings().get(sign.finding)
        why[sign.id] = (found.name.en if found else sign.finding.replace("_", " "), sign.known_at)
    beside: dict[str, str] = chart_words()["reasons"]
    for order in desk.life.prescriptions:
        # what is given beside the treatment of an illness is for what it prevents or eases, not for the illness
        own = beside.get(order.line or "")
        _order(desk, order, why.get(order.indication or "") if own is None else (own, order.known_at))
    given = Sheaf("MedicationAdministration", "", "doses")
    desk.sheaves.append(given)
    for dose in desk.life.doses:
        if dose.prescription not in desk.orders:
            raise DataError(f"{desk.life.patient_id}: dose {dose.id} is of no order; give it `{dose.prescription}`")
        _dose(desk, dose, desk.orders[dose.prescription], given)


_DOSES = Shelf("MedicationAdministration", ("key", "whole", "whole", "time", "whole", "time"), dated=3, encounter=2)


def _dose(desk: Desk, dose: GivenDose, order: Prescription, sheaf: Sheaf) -> None:
    reason = _reason(dose)
    status = "completed" if dose.status == "given" else "not-done"
    dosage = dosage_element(order.dose, order.route, None)
    amount = dosage.pop("doseAndRate", [{}])[0].get("doseQuantity") if dosage else None

    def make(values: Values) -> Resource:
        resource: Resource = {
            "resourceType": "MedicationAdministration",
            "id": values[0],
            "status": status,
            "medicationCodeableConcept": {"text": order.name},
            "subject": {"reference": f"Patient/{values[1]}"},
            "context": {"reference": f"Encounter/{values[2]}"},
            "effectiveDateTime": values[3],
            "request": {"reference": f"MedicationRequest/{values[4]}"},
        }
        if reason:
            resource["statusReason"] = [{"text": reason}]
        if dosage:
            resource["dosage"] = {**dosage, **({"dose": amount} if amount else {})}
        return resource

    shape = (order.name, order.dose, order.route, status, reason)
    values = (
        desk.name(dose.id),
        desk.life.patient_id,
        desk.stay(dose.encounter),
        moment(dose.at),
        desk.name(order.id),
    )
    # reasons are too many for templates: what was not given goes the long way
    refers = max(order.known_at, desk.begun(dose.encounter)) if reason is None else NEVER
    made = Made(shape, make, values, dose.at, dose.at, desk.stay(dose.encounter), refers=refers)
    place(desk, _DOSES, sheaf, made)
    desk.trace("MedicationAdministration", desk.name(dose.id), (dose.id, order.id))


def _reason(dose: GivenDose) -> str | None:
    """Return why a dose was not given: "held: heart rate 48"."""
    if dose.status == "given":
        return None
    return dose.status if dose.reason is None else f"{dose.status}: {dose.reason.en}"


def _order(desk: Desk, order: Prescription, why: tuple[str, Instant] | None) -> None:
    name = desk.name(order.id)
    concept = drugs().get(order.drug)
    frequency = order.frequency
    if order.prn and not as_needed(frequency):
        frequency = f"{frequency} as needed"
    desk.builder.medication(
        order.name, dose=order.dose, route=order.route, frequency=frequency, start=order.start,
        stop=order.stop, stopped=order.ended == "stopped", authored=order.known_at, known_at=order.known_at,
        status_reason=order.stop_reason.en if order.stop_reason and order.stop is not None else None,
        encounter=desk.stay(order.encounter), category=chart_words()["orders"][order.kind],
        reason=None if why is None else why[0],
        rxnorm=None if concept is None else concept.rxnorm, id=name,
    )  # fmt: skip
    if why is not None and why[1] > order.known_at:
        desk.builder.later("reasonCode", why[1])  # given on suspicion: the order does not name the diagnosis to come
    if order.continues in desk.orders:
        desk.builder.last["priorPrescription"] = {"reference": f"MedicationRequest/{desk.name(order.continues)}"}
    desk.trace("MedicationRequest", name, (order.id, *((order.indication,) if why and order.indication else ())))
