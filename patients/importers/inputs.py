"""MIMIC-IV ICU `inputevents` → MedicationAdministration, `ingredientevents` → Observation: what ran in, what was in it.

A row of `inputevents` is one rate of one component of a bag: a change of rate ends it and begins another. Its amount is
rate × time, so amount, end and how it ended are known at its end, never before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from wardround.patients import knowledge
from wardround.patients.knowledge import Drug
from wardround.patients.resource import Resource, known_later, known_value, tag_derived
from wardround.patients.times import NEVER, SECOND, Instant

from . import _vocabulary as words
from ._chart_items import FromItems
from ._facts import Cells, category, digits_of, id_key, known_at, observation, period, put_value, quantity, sound
from ._mapper import Mapped, PatientContext, Rows, Tallies
from ._tables import TableSpec
from ._values import Moment, number
from .report import Tally

INPUT = TableSpec(
    "inputevents",
    (
        "subject_id", "hadm_id", "starttime", "endtime", "storetime", "itemid", "amount", "amountuom", "rate",
        "rateuom", "orderid", "linkorderid", "ordercategoryname", "secondaryordercategoryname",
        "ordercomponenttypedescription", "ordercategorydescription", "patientweight", "totalamount",
        "totalamountuom", "statusdescription",
    ),
    frozenset({"subject_id", "hadm_id", "starttime", "endtime", "itemid", "amount", "rate", "orderid"}),
    not_carried=("stay_id", "caregiver_id", "isopenbag", "continueinnextdept", "originalamount", "originalrate"),
)  # fmt: skip
INGREDIENT = TableSpec(
    "ingredientevents",
    (
        "subject_id", "hadm_id", "starttime", "endtime", "storetime", "itemid", "amount", "amountuom", "rate",
        "rateuom", "orderid",
    ),
    frozenset({"subject_id", "hadm_id", "starttime", "endtime", "itemid", "amount", "orderid"}),
    not_carried=(
        "stay_id", "caregiver_id", "linkorderid", "statusdescription", "originalamount", "originalrate",
    ),
)  # fmt: skip
_TIMES = ("starttime", "endtime", "storetime")
_BOLUS = 60 * SECOND
"""MIMIC-IV ends a bolus one minute after it started."""
_RXNORM = "http://www.nlm.nih.gov/research/umls/rxnorm"
_IN_BRACKETS = re.compile(r"([^()]{1,80}) \(([^()]{1,80})\)", re.ASCII)


class Run(NamedTuple):
    """When something ran in, and when the record knew it."""

    start: Moment
    end: Moment | None
    at_once: bool
    """A bolus: without a rate, over within the minute that MIMIC-IV gives it."""
    known: Instant
    over: Instant
    """When its end and all that hangs on it were known: not before `known`."""


class Inputs(FromItems):
    """One MedicationAdministration per component and rate."""

    tables: tuple[TableSpec, ...] = (INPUT,)
    types: tuple[str, ...] = ("MedicationAdministration",)

    def map(self, patient: PatientContext, rows: Rows, tallies: Tallies) -> Iterator[Mapped]:
        """Yield the administrations by order and item."""
        tally = tallies["inputevents"]
        placed = sound(
            INPUT,
            rows.get("inputevents", []),
            tally,
            times=_TIMES,
            key=id_key("orderid", "itemid"),
            wrong_key="orderid or itemid is not a whole number",
            twins=True,
            known=_known,
        )
        for (order, item), cells in placed:
            run = _run(cells, tally)
            if run is None:
                tally.refuse("starttime is empty", cells.number)
            else:
                name, _ = self._named(item, tally)
                resource = _administration(patient, (order, item, name), cells, run, tally)
                yield Mapped("inputevents", cells.number, resource, run.known)


class Ingredients(FromItems):
    """One Observation per ingredient (water, calories, protein, a drug's own amount) of what ran in."""

    tables: tuple[TableSpec, ...] = (INGREDIENT,)
    types: tuple[str, ...] = ("Observation",)

    def map(self, patient: PatientContext, rows: Rows, tallies: Tallies) -> Iterator[Mapped]:
        """Yield the Observations by order, item and start."""
        tally = tallies["ingredientevents"]
        numbers = id_key("orderid", "itemid")

        def key(cells: Cells) -> tuple[str, ...] | None:
            found, at = numbers(cells), cells.time("starttime")
            return None if found is None or at is None else (*found, digits_of(at))

        placed = sound(
            INGREDIENT,
            rows.get("ingredientevents", []),
            tally,
            times=_TIMES,
            key=key,
            wrong_key="orderid or itemid is not a whole number, or starttime is empty",
            twins=True,
            known=_over,
        )
        for (order, item, digits), cells in placed:
            run = _run(cells, tally)
            assert run is not None
            label, group = self._named(item, tally)
            # what ran in is no measurement of the patient: "Phosphorus" alone would be the laboratory's
            name = label if "ingr" in label.lower() else f"{label} (ingredient)"
            code = words.concept(name, words.coding(words.system("item"), item, name))
            kind = category("therapy", group or "Ingredients")
            resource = observation(patient, f"icuing-{order}-{item}-{digits}{cells.suffix}", kind, code, None)
            resource["partOf"] = [_order(order)]
            encounter = patient.encounter(cells["hadm_id"], tally)
            if encounter is not None:
                resource["encounter"] = encounter
            _put_time(resource, run, tally)
            put_value(resource, cells["amount"], cells["amountuom"])
            rate = _words(cells["rate"], cells["rateuom"])
            if rate is not None:
                resource["note"] = [{"text": f"Rate: {rate}"}]
            # an amount is complete when it has run in
            yield Mapped("ingredientevents", cells.number, resource, run.over)


def _run(cells: Cells, tally: Tally) -> Run | None:
    start, end = cells.time("starttime"), cells.time("endtime")
    if start is None:
        return None
    known = max(known_at(cells.time("storetime"), start, tally), start.known)
    at_once = cells["rate"] is None and (end is None or 0 <= end.start - start.start <= _BOLUS)
    over = known if at_once or end is None else max(known, end.known)
    return Run(start, end, at_once, known, over)


def _known(cells: Cells) -> Instant:
    """Return when a row is known; what the account says of it is said when it is made."""
    run = _run(cells, Tally(INPUT.name))
    return NEVER if run is None else run.known


def _over(cells: Cells) -> Instant:
    """Return when it is known that all has run in."""
    run = _run(cells, Tally(INGREDIENT.name))
    return NEVER if run is None else run.over


def _put_time(resource: Resource, run: Run, tally: Tally) -> None:
    if run.at_once:
        resource["effectiveDateTime"] = run.start.text
    else:
        resource["effectivePeriod"] = period(run.start, run.end, tally, "infusion")


def _administration(
    patient: PatientContext, what: tuple[str, str, str], cells: Cells, run: Run, tally: Tally
) -> Resource:
    order, item, name = what
    resource: Resource = {
        "resourceType": "MedicationAdministration",
        "id": f"icuin-{order}-{item}{cells.suffix}",
        "identifier": [{"system": words.system("icu_order"), "value": order}],
        "status": "in-progress",
    }
    if cells["ordercategoryname"] is not None:
        resource["category"] = _word("icu_order_category", cells["ordercategoryname"])
    codings = [words.coding(words.system("icu_medication"), item, name)]
    drug = drug_named(name)
    if drug is not None and drug.rxnorm is not None:
        codings.insert(0, words.coding(_RXNORM, drug.rxnorm, drug.name.en))
    resource["medicationCodeableConcept"] = words.concept(name, *codings)
    resource["subject"] = patient.subject
    encounter = patient.encounter(cells["hadm_id"], tally)
    if encounter is not None:
        resource["context"] = encounter
    _put_time(resource, run, tally)
    if cells["linkorderid"] is not None:
        resource["request"] = _order(cells["linkorderid"])
    dosage = _dosage(cells, run, tally)
    if dosage:
        resource["dosage"] = dosage
    notes = _notes(cells)
    if notes:
        resource["note"] = [{"text": text} for text in notes]
    _end(resource, cells["statusdescription"], run, tally)
    return resource


def _end(resource: Resource, word: str | None, run: Run, tally: Tally) -> None:
    """Write how it ended, and mark what only its end could tell."""
    status = words.codes()["icu_input_status"].get(word or "")
    if status is None:
        tally.note("statusdescription is empty or has no code; status unknown")
        status = "unknown"
    if word is not None and status != "completed":
        resource["statusReason"] = [words.concept(word)]
    if run.over == run.known:
        resource["status"] = status
        return
    known_value(tag_derived(resource), "status", status, run.over)
    if "statusReason" in resource:
        known_later(resource, "statusReason", run.over)
    if "dosage" in resource and "rateQuantity" not in resource["dosage"]:
        known_later(resource, "dosage", run.over)  # beside a rate `clock.json` keeps the amount back


def _dosage(cells: Cells, run: Run, tally: Tally) -> Resource:
    """Build the dosage: its text is the rate, which stands from the start; the amount is a field of its own."""
    amount, rate = number(cells["amount"]), number(cells["rate"])
    if (cells["amount"] is not None and amount is None) or (cells["rate"] is not None and rate is None):
        tally.note("amount or rate is not a number; not carried")
    out: Resource = {}
    if rate is not None:
        out["text"] = _words(cells["rate"], cells["rateuom"])
    if cells["ordercategorydescription"] is not None:
        out["method"] = _word("icu_method", cells["ordercategorydescription"])
    if amount is not None:
        out["dose"] = quantity(amount, cells["amountuom"])
    if rate is not None:
        out["rateQuantity"] = quantity(rate, cells["rateuom"])
    if amount is None and rate is None:
        tally.note("neither amount nor rate; kept without a dose")
        return {}
    return out


def _notes(cells: Cells) -> list[str]:
    part = "; ".join(filter(None, (cells["secondaryordercategoryname"], cells["ordercomponenttypedescription"])))
    bag = _words(cells["totalamount"], cells["totalamountuom"])
    notes = [f"Component of the order: {part}"] if part else []
    if bag is not None:
        notes.append(f"Bag: {bag}")
    if cells["patientweight"] is not None:
        notes.append(f"Patient weight: {cells['patientweight']} kg")
    return notes


def _words(value: str | None, unit: str | None) -> str | None:
    return None if value is None else " ".join(filter(None, (value, unit)))


def _word(system: str, text: str) -> Resource:
    return words.concept(text, words.coding(words.system(system), words.local_code(text)))


def _order(order: str) -> Resource:
    return {"identifier": {"system": words.system("icu_order"), "value": order}}


@cache
def drug_named(label: str) -> Drug | None:
    """Return the drug that a label names and nothing else: as a whole, or as name and brand that agree.

    Examples:
        >>> drug = drug_named("Furosemide (Lasix)")
        >>> drug.id if drug else None
        'furosemide'
        >>> drug_named("Furosemide (Lasix) 250/50") is drug_named("Heparin Sodium (Prophylaxis)") is None
        True
    """
    resolve = knowledge.lexicon().resolve
    found = resolve(label, kinds=("drug",))
    if found is None and (both := _IN_BRACKETS.fullmatch(label)) is not None:
        found, brand = (resolve(one, kinds=("drug",)) for one in both.groups())
        if found is None or brand is None or found.id != brand.id:
            return None
    return found if isinstance(found, Drug) else None
