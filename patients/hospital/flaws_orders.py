"""Flaws of orders: the same drug twice, a name that leaves it open, an order against an allergy; adherence unsaid."""

from __future__ import annotations

from dataclasses import replace

from wardround.patients.knowledge import drugs, lexicon
from wardround.patients.knowledge.bedside import drug_profiles

from .flaws_draft import Draft, flaw_data
from .life import Allergy, Prescription, Stay
from .making import HOUR
from .record import Note, Sentence


def duplicate(draft: Draft) -> None:
    """Order a drug a second time under its brand while the first order runs."""
    data = flaw_data()["twice"]
    added: list[Prescription] = []
    for order in draft.orders:
        added.append(order)
        brand = _brand(order)
        end = order.stop
        start = max(order.start, order.known_at) + data["after_hours"] * HOUR
        if brand is None or order.prn or (end is not None and end < start + data["beside_hours"] * HOUR):
            continue
        key = draft.key("MedicationRequest", order.id)
        if not draft.wants("duplicate_order", "generic_and_brand", key):
            continue
        twin = replace(order, id=f"{order.id}x", name=brand, start=start, known_at=start, continues=None)
        added.append(twin)
        draft.take(draft.key("MedicationRequest", twin.id))
        draft.add(
            "duplicate_order", "generic_and_brand", at=start, encounter=order.encounter, facts=(order.id,),
            places=(key, draft.key("MedicationRequest", twin.id)), charted=f"{order.name} and {brand}",
            right=f"one order of {order.name} {order.dose}",
        )  # fmt: skip
    draft.orders = added


def _brand(order: Prescription) -> str | None:
    """Return a brand of the drug that is not the order's own name."""
    concept = drugs().get(order.drug)
    found = (brand for brand in (concept.brands if concept else ()) if brand.isascii())
    return next((brand for brand in found if brand.casefold() not in order.name.casefold()), None)


def name_loosely(draft: Draft) -> None:
    """Give orders a name that leaves open which drug is meant."""
    loose = flaw_data()["ambiguous"]
    for number, order in enumerate(draft.orders):
        name = loose.get(order.drug)
        key = draft.key("MedicationRequest", order.id)
        if name is None or name == order.name or not draft.wants("ambiguous_drug_name", name, key):
            continue
        draft.orders[number] = replace(order, name=name)
        draft.add(
            "ambiguous_drug_name", name, at=order.known_at, encounter=order.encounter, facts=(order.id,),
            places=(key,), charted=name, right=order.name,
        )  # fmt: skip


def allergic_order(draft: Draft) -> None:
    """Order a drug that the patient is allergic to, for some hours; it is not given."""
    least = flaw_data()["against_allergy"]["stay_hours"] * HOUR
    for stay in draft.life.stays:
        if stay.kind != "ward" or stay.end - stay.start < least:
            continue
        for allergy in draft.life.allergies:
            drug = _forbidden(draft, allergy, stay)
            if drug is None or not draft.wants("contradiction", "allergy_vs_order", f"{stay.id}/{allergy.id}"):
                continue
            _order_against(draft, allergy, stay, drug)


def _forbidden(draft: Draft, allergy: Allergy, stay: Stay) -> str | None:
    """Return a drug that the allergy forbids and that a ward orders, one of them by chance."""
    if allergy.category != "medication" or allergy.known_at > stay.start:
        return None
    found = sorted(
        drug
        for drug, profile in drug_profiles().items()
        if (
            drug == allergy.substance
            or lexicon().is_a(drug, allergy.substance)
            or allergy.substance in profile.allergy_groups
        )
        and any("inpatient" in dose.phases and not dose.per_kg for dose in profile.doses)
        and all(order.drug != drug for order in draft.orders)
    )
    return draft.stream("allergic", stay.id, allergy.id).choice(found) if found else None


def _order_against(draft: Draft, allergy: Allergy, stay: Stay, drug: str) -> None:
    profile = drug_profiles()[drug]
    dose = next(one for one in profile.doses if "inpatient" in one.phases and not one.per_kg)
    number = sum(one.id.startswith("rxa") for one in draft.orders) + 1
    hours = flaw_data()["against_allergy"]
    start = stay.start + hours["after_hours"] * HOUR
    stop = start + hours["runs_hours"] * HOUR
    order = Prescription(
        f"rxa{number}", drug, (dose.charted or profile.charted)[0], dose.dose, dose.route, dose.frequency[0], False,
        "inpatient", start, stop, start, stay.id, None, "stopped",
    )  # fmt: skip
    draft.orders.append(order)
    draft.add(
        "contradiction", "allergy_vs_order", at=start, encounter=stay.id, facts=(allergy.id,),
        places=(draft.key("MedicationRequest", order.id), draft.key("AllergyIntolerance", allergy.id)),
        charted=f"ordered {order.name} {order.dose}",
        right=f"not to be given: allergy to {allergy.name} ({allergy.reaction.en}); no dose was given",
    )  # fmt: skip


def unsaid_nonadherence(draft: Draft) -> None:
    """Let a note say that a drug is taken as ordered which is not."""
    orders = {order.id: order for order in draft.life.prescriptions}
    for told in draft.life.adherence:
        order = orders.get(told.prescription)
        place = _medication_list(draft, told.encounter)
        if order is None or place is None or told.state not in flaw_data()["untaken"] or told.charted:
            continue
        if not draft.wants("undocumented_nonadherence", told.state, f"adherence/{told.id}"):
            continue
        at, number = place
        note = draft.notes[at]
        part = note.parts[number]
        words = draft.stream("taking", told.id).choice(flaw_data()["taking"]).format(drug=order.name)
        draft.set_part(at, number, replace(part, sentences=(*part.sentences, Sentence(words, (order.id,)))))
        why = "" if told.reason is None else f": {told.reason.en}"
        draft.add(
            "undocumented_nonadherence", told.state, at=note.stored, encounter=told.encounter,
            facts=(told.id, order.id), places=(draft.section(draft.notes[at], number),), charted=words,
            right=f"{order.name}: {told.state.replace('_', ' ')}{why}",
        )  # fmt: skip


def _medication_list(draft: Draft, encounter: str) -> tuple[int, int] | None:
    """Return the first medication list among the notes of a stay (and of what is part of it)."""
    for at, note in enumerate(draft.notes):
        if _within(draft, note, encounter) and note.kind in ("admission", "clinic", "ed"):
            for number, part in enumerate(note.parts):
                if part.slug == "medications":
                    return at, number
    return None


def _within(draft: Draft, note: Note, encounter: str) -> bool:
    stay = draft.stays.get(note.encounter)
    return note.encounter == encounter or (stay is not None and stay.part_of == encounter)
