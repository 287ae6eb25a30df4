"""MIMIC-IV `prescriptions` with `pharmacy` → MedicationRequest (FHIR R4), one per row of `prescriptions`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from hashlib import blake2b
from typing import Any, NamedTuple

import orjson

from wardround.patients.resource import Resource, known_later, known_value, tag_derived
from wardround.patients.times import NEVER, Instant

from . import _vocabulary as words
from ._facts import TWICE, content
from ._mapper import Mapped, PatientContext, Rows, Tallies
from ._tables import Row, TableSpec
from ._values import GSN_DIGITS, LOST, NDC_DIGITS, Moment, clean, grouped_number, lost_zeros, moment, span, whole
from .report import Tally

PRESCRIPTIONS = TableSpec(
    "prescriptions",
    (
        "subject_id",
        "hadm_id",
        "pharmacy_id",
        "starttime",
        "stoptime",
        "drug_type",
        "drug",
        "formulary_drug_cd",
        "gsn",
        "ndc",
        "prod_strength",
        "form_rx",
        "dose_val_rx",
        "dose_unit_rx",
        "form_val_disp",
        "form_unit_disp",
        "doses_per_24_hrs",
        "route",
    ),
    frozenset({"subject_id", "hadm_id", "pharmacy_id", "starttime", "stoptime", "drug_type", "drug", "dose_val_rx"}),
    ("poe_id", "poe_seq", "order_provider_id"),
)
PHARMACY = TableSpec(
    "pharmacy",
    ("subject_id", "pharmacy_id", "poe_id", "status", "entertime", "frequency"),
    frozenset({"subject_id", "pharmacy_id", "entertime", "status", "frequency"}),
    (
        "hadm_id",
        "starttime",
        "stoptime",
        "medication",
        "proc_type",
        "verifiedtime",
        "route",
        "disp_sched",
        "infusion_type",
        "sliding_scale",
        "lockout_interval",
        "basal_rate",
        "one_hr_max",
        "doses_per_24_hrs",
        "duration",
        "duration_interval",
        "expiration_value",
        "expiration_unit",
        "expirationdate",
        "dispensation",
        "fill_quantity",
    ),
)
_NOT_IN_ID = re.compile(r"[^A-Za-z0-9]+", re.ASCII)
_NDC = re.compile(r"[0-9]{4,14}", re.ASCII)


class Order(NamedTuple):
    """What pharmacy says about an order."""

    entered: Moment | None
    status: str | None
    frequency: str | None


class Cells(NamedTuple):
    """One row of `prescriptions`, blanks stripped; in the order of the spec."""

    subject: str | None
    hadm: str | None
    pharmacy: str | None
    start: str | None
    stop: str | None
    kind: str | None
    drug: str | None
    formulary: str | None
    gsn: str | None
    ndc: str | None
    product: str | None
    form: str | None
    dose: str | None
    unit: str | None
    dispensed: str | None
    dispensed_unit: str | None
    per_day: str | None
    route: str | None


class Prescriptions:
    """One order per row; rows of one pharmacy order share its group identifier."""

    tables: tuple[TableSpec, ...] = (PRESCRIPTIONS, PHARMACY)
    dictionaries: tuple[TableSpec, ...] = ()
    types: tuple[str, ...] = ("MedicationRequest",)

    def learn(self, table: str, rows: Iterator[Row], tally: Tally) -> None:
        """There is no dictionary."""
        raise AssertionError(f"`{table}` is not read here")

    def map(self, patient: PatientContext, rows: Rows, tallies: Tallies) -> Iterator[Mapped]:
        """Yield the MedicationRequests by id."""
        tally = tallies["prescriptions"]
        orders = self._orders(patient, rows.get("pharmacy", []), tallies)
        found: dict[str, Mapped] = {}
        used: set[str] = set()
        read = [(row, Cells(*(clean(cell) for cell in row[2:]))) for row in rows.get("prescriptions", [])]
        names = _names({cells for _, cells in read})
        for row, cells in read:
            try:
                start, stop = moment(cells.start), moment(cells.stop)
            except ValueError:
                tally.refuse("starttime or stoptime is not a time", row[0])
                continue
            if cells.drug is None:
                tally.refuse("drug is empty", row[0])
                continue
            name = names[cells]
            if name in found:
                tally.refuse("the row stands twice; the first is kept", row[0])
                continue
            order = orders.get(cells.pharmacy or "")
            if order is None:
                tally.note("no row of pharmacy for the pharmacy_id; known from starttime, frequency not known")
            else:
                used.add(cells.pharmacy or "")
            found[name] = _request(patient, row[0], name, cells, (start, stop), order or Order(None, None, None), tally)
        if len(orders) > len(used) and "pharmacy" in tallies:
            tallies["pharmacy"].note("read, but no row of prescriptions refers to it", len(orders) - len(used))
        for _, mapped in sorted(found.items()):
            yield mapped

    def _orders(self, patient: PatientContext, rows: list[Row], tallies: Tallies) -> dict[str, Order]:
        read: list[tuple[Row, str, Order]] = []
        for row in rows:
            n, _, _, pharmacy_id, order_id, status, entered, frequency = row
            key = clean(pharmacy_id)
            tally = tallies["pharmacy"]
            try:
                at = moment(entered)
            except ValueError:
                tally.refuse("entertime is not a time", n)
                continue
            if key is None or whole(key) is None:
                tally.refuse("pharmacy_id is not a whole number", n)
            else:
                read.append((row, key, Order(at, clean(status), clean(frequency))))
                patient.pharmacy_orders.add(clean(order_id) or "")
        orders: dict[str, Order] = {}
        first: dict[str, tuple[str, ...]] = {}
        for row, key, order in sorted(read, key=_by_time):
            if key in orders:
                same = content(row) == first[key]
                reason = TWICE if same else "pharmacy_id stands twice; the row that was entered first is kept"
                tallies["pharmacy"].refuse(reason, row[0])
            else:
                orders[key], first[key] = order, content(row)
        return orders


def _by_time(one: tuple[Row, str, Order]) -> tuple[Instant, tuple[str, ...]]:
    row, _, order = one
    return NEVER if order.entered is None else order.entered.known, content(row)


def request_id(cells: Cells) -> str:
    """Name a request by what is known when it is written: pharmacy order, kind of component, a hash of the rest.

    The stop and the stay stay out: they can become known later, and an id must not tell of the future.
    """
    text = "\x1f".join(cell or "" for cell in cells._replace(stop=None, hadm=None))
    digest = blake2b(text.encode(), digest_size=6).hexdigest()
    kind = _NOT_IN_ID.sub("-", cells.kind or "none").strip("-").lower()[:12] or "none"
    pharmacy = _NOT_IN_ID.sub("", cells.pharmacy or "")[:20] or "none"
    return f"rx-{pharmacy}-{kind}-{digest}"


def _names(rows: set[Cells]) -> dict[Cells, str]:
    """Name each distinct row. Rows alike but for stop or stay are numbered in an order that tells nothing of either."""
    alike: dict[str, list[Cells]] = {}
    for cells in rows:
        alike.setdefault(request_id(cells), []).append(cells)
    names: dict[Cells, str] = {}
    for name, group in alike.items():
        group.sort(key=lambda cells: blake2b(f"{name} {cells.stop} {cells.hadm}".encode()).digest())
        for number, cells in enumerate(group):
            names[cells] = f"{name}-{number + 1}" if number else name
    return names


def _request(
    patient: PatientContext,
    row: int,
    name: str,
    cells: Cells,
    times: tuple[Moment | None, Moment | None],
    order: Order,
    tally: Tally,
) -> Mapped:
    start, stop = times
    authored = order.entered or start
    if authored is None:
        tally.note("neither entertime nor starttime; kept, never visible")
    known = authored.known if authored is not None else NEVER
    resource: Resource = {
        "resourceType": "MedicationRequest",
        "id": name,
        "status": "unknown",
        "intent": "order",
        "category": [
            words.concept(None, words.coding(words.REQUEST_CATEGORY, "inpatient", "Inpatient")),
            *([words.concept(cells.kind)] if cells.kind else []),
        ],
        "medicationCodeableConcept": _medication(cells, tally),
        "subject": patient.subject,
    }
    encounter = patient.encounter(cells.hadm, tally)
    if encounter is not None:
        resource["encounter"] = encounter
    if authored is not None:
        resource["authoredOn"] = authored.text
    if cells.pharmacy is not None:
        resource["groupIdentifier"] = {"system": words.system("medication_request"), "value": cells.pharmacy}
    product = _product(cells)
    if product is not None:
        resource["note"] = [{"text": product}]
    resource["dosageInstruction"] = [_dosage(cells, order)]
    _end(resource, (start, stop), order, known, tally)
    later = resource.pop("meta", {}).get("extension")  # its place among the keys must not tell of a stop to come
    tag_derived(resource)
    if later is not None:
        resource["meta"]["extension"] = later
    return Mapped("prescriptions", row, resource, known)


STOP = "https://wardround.dev/fhir/StructureDefinition/mimic-stoptime"
"""Extension (valueDateTime): a stoptime that precedes its starttime, which no FHIR Period can hold."""


def _end(
    resource: Resource, times: tuple[Moment | None, Moment | None], order: Order, known: Instant, tally: Tally
) -> None:
    """Write start, stop and the status after the stop; `clock.json` says how it reads before."""
    start, stop = times
    if stop is None:
        tally.note("stoptime is empty; status unknown")
    elif start is not None and stop.start < start.start:
        tally.note("stoptime precedes starttime; status unknown, both times kept")
        resource["extension"] = [{"url": STOP, "valueDateTime": stop.text}]
        if stop.known > known:
            resource["status"] = "active"
            known_later(resource, "extension", stop.known)
            known_value(resource, "status", "unknown", stop.known)
    else:
        resource["status"] = words.codes()["pharmacy_status"].get(order.status or "", "completed")
        if order.status is not None:
            resource["statusReason"] = words.concept(order.status)
    validity = {}
    if start is not None:
        validity["start"] = start.text
    if "statusReason" in resource or (stop is not None and "extension" not in resource):
        assert stop is not None
        validity["end"] = stop.text
    if validity:
        resource["dispenseRequest"] = {"validityPeriod": validity}


def _medication(cells: Cells, tally: Tally) -> Resource:
    codings = []
    if cells.formulary is not None:
        codings.append(words.coding(words.system("formulary"), words.local_code(cells.formulary)))
    if cells.ndc is not None and cells.ndc not in words.codes()["absent_ndc"]:
        if lost_zeros(cells.ndc, NDC_DIGITS):
            tally.note(LOST.format("ndc"))
        elif _NDC.fullmatch(cells.ndc):
            codings.append(words.coding(words.NDC, cells.ndc))
        else:
            tally.note("ndc is not a run of digits; not carried")
    listed = (cells.gsn or "").split()
    if any(lost_zeros(code, GSN_DIGITS) for code in listed):
        tally.note(LOST.format("gsn"))
    codings += [words.coding(words.system("gsn"), code) for code in listed if not lost_zeros(code, GSN_DIGITS)]
    return words.concept(cells.drug, *codings)


def _product(cells: Cells) -> str | None:
    parts = []
    if cells.product is not None:
        parts.append(f"Product: {cells.product}")
    if cells.dispensed is not None or cells.dispensed_unit is not None:
        parts.append("Dispensed per dose: " + " ".join(filter(None, (cells.dispensed, cells.dispensed_unit))))
    if cells.form is not None:
        parts.append(f"Form: {cells.form}")
    return "; ".join(parts) or None


def _dosage(cells: Cells, order: Order) -> Resource:
    per_day = whole(cells.per_day)
    dose = " ".join(filter(None, (cells.dose, cells.unit)))
    often = order.frequency or (f"{per_day} doses per 24 hours" if per_day else None)
    dosage: Resource = {"text": " ".join(filter(None, (dose, cells.route, often))) or "not stated"}
    timing: Resource = {}
    if per_day:
        timing["repeat"] = {"frequency": per_day, "period": 1, "periodUnit": "d"}
    if order.frequency is not None:
        timing["code"] = words.concept(order.frequency)
        if any(mark in re.split(r"[^A-Z]+", order.frequency.upper()) for mark in words.codes()["as_needed_marks"]):
            dosage["asNeededBoolean"] = True
    if timing:
        dosage["timing"] = timing
    if cells.route is not None:
        dosage["route"] = words.concept(cells.route, words.coding(words.system("route"), words.local_code(cells.route)))
    amount = _amount(cells.dose, cells.unit)
    if amount is not None:
        dosage["doseAndRate"] = [amount]
    return dosage


def _amount(dose: str | None, unit: str | None) -> Resource | None:
    """Return the dose as numbers where it is one (`25,000`) or a range (`1-2`); the words stand in the text."""
    if dose is None:
        return None
    single = grouped_number(dose)
    if single is not None:
        return {"doseQuantity": _quantity(single, unit)}
    both = span(dose)
    if both is None or Decimal(both[0]) > Decimal(both[1]):
        return None
    return {"doseRange": {"low": _quantity(both[0], unit), "high": _quantity(both[1], unit)}}


def _quantity(value: str, unit: str | None) -> Resource:
    out: dict[str, Any] = {"value": orjson.Fragment(value)}
    if unit is not None:
        out["unit"] = unit
        code = words.units()["dose"].get(unit)
        if code:
            out |= {"system": words.UCUM, "code": code}
    return out
