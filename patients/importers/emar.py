"""MIMIC-IV `emar` and `emar_detail` → MedicationAdministration: what was given, and what was not, with the reason."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from wardround.patients.resource import Resource

from . import _vocabulary as words
from ._facts import Cells, NoDictionary, cells_of, known_at, quantity, sound
from ._mapper import Mapped, PatientContext, Rows, Tallies
from ._tables import Row, TableSpec
from ._values import grouped_number
from .report import Tally

EMAR = TableSpec(
    "emar",
    (
        "subject_id", "hadm_id", "emar_id", "emar_seq", "poe_id", "pharmacy_id", "charttime", "medication", "event_txt",
        "scheduletime", "storetime",
    ),
    frozenset({"subject_id", "emar_id", "charttime", "medication", "event_txt"}),
    not_carried=("enter_provider_id",),
)  # fmt: skip
DETAIL = TableSpec(
    "emar_detail",
    (
        "subject_id", "emar_id", "parent_field_ordinal", "administration_type", "reason_for_no_barcode",
        "complete_dose_not_given", "dose_due", "dose_due_unit", "dose_given", "dose_given_unit",
        "product_code", "product_description", "infusion_rate", "infusion_rate_unit", "route", "side", "site",
    ),
    frozenset({"subject_id", "emar_id"}),
    not_carried=(
        "emar_seq", "pharmacy_id", "barcode_type", "will_remainder_of_dose_be_given", "product_amount_given",
        "product_unit", "product_description_other", "prior_infusion_rate", "infusion_rate_adjustment",
        "infusion_rate_adjustment_amount",
        "infusion_complete", "completion_interval", "new_iv_bag_hung", "continued_infusion_in_other_location",
        "restart_interval", "non_formulary_visual_verification",
    ),
)  # fmt: skip
_ID = re.compile(r"(\d{1,18})-(\d{1,18})", re.ASCII)


class Emar(NoDictionary):
    """One MedicationAdministration per emar row; its details say dose, rate, route and product."""

    tables: tuple[TableSpec, ...] = (EMAR, DETAIL)
    types: tuple[str, ...] = ("MedicationAdministration",)

    def map(self, patient: PatientContext, rows: Rows, tallies: Tallies) -> Iterator[Mapped]:
        """Yield the administrations by emar_id."""
        tally = tallies["emar"]
        placed = sound(
            EMAR,
            rows.get("emar", []),
            tally,
            times=("charttime", "scheduletime", "storetime"),
            key=_key,
            wrong_key="emar_id is not <subject>-<number>",
        )
        details = self._details(rows.get("emar_detail", []), {key for key, _ in placed}, tallies)
        for key, cells in placed:
            if cells["charttime"] is None:
                tally.refuse("charttime is empty: nobody can say when it was", cells.number)
            elif cells["medication"] is None and not any(one["product_description"] for one in details.get(key, [])):
                tally.refuse("no medication in emar and no product in emar_detail", cells.number)
            else:
                yield _administration(patient, key, cells, details.get(key, []), tally)

    def _details(
        self, rows: list[Row], known: set[tuple[str, ...]], tallies: Tallies
    ) -> dict[tuple[str, ...], list[Cells]]:
        found: dict[tuple[str, ...], list[Cells]] = {}
        for cells in cells_of(DETAIL, rows):
            key = _key(cells)
            if key is None or key not in known:
                tallies["emar_detail"].refuse("no row of emar for the emar_id", cells.number)
            else:
                found.setdefault(key, []).append(cells)
        for group in found.values():
            group.sort(key=lambda one: [one[name] or "" for name in DETAIL.columns])
        return found


def _key(cells: Cells) -> tuple[str, ...] | None:
    match = _ID.fullmatch(cells["emar_id"] or "")
    return (str(int(match[1])), str(int(match[2]))) if match else None


def _administration(
    patient: PatientContext, key: tuple[str, ...], cells: Cells, details: list[Cells], tally: Tally
) -> Mapped:
    charted = cells.time("charttime")
    assert charted is not None
    event = cells["event_txt"]
    status = emar_status(event)
    if status == "unknown":
        tally.note("event_txt is empty or says nothing of giving; status unknown")
    resource: Resource = {
        "resourceType": "MedicationAdministration",
        "id": f"emar-{'-'.join(key)}",
        "identifier": [{"system": words.system("emar"), "value": cells["emar_id"]}],
        "status": status,
    }
    if event is not None and status != "completed":
        resource["statusReason"] = [words.concept(event)]
    codes = sorted({one["product_code"] for one in details if one["product_code"]})
    products = [text for one in details if (text := one["product_description"])]
    name = cells["medication"] or products[0]
    resource["medicationCodeableConcept"] = words.concept(
        name, *(words.coding(words.system("formulary"), words.local_code(code or "")) for code in codes)
    )
    resource["subject"] = patient.subject
    encounter = patient.encounter(cells["hadm_id"], tally)
    if encounter is not None:
        resource["context"] = encounter
    resource["effectiveDateTime"] = charted.text
    for column, system in (("pharmacy_id", "medication_request"), ("poe_id", "poe")):
        if cells[column] is not None and "request" not in resource:
            resource["request"] = {"identifier": {"system": words.system(system), "value": cells[column]}}
    dosage = _dosage(event, details)
    if dosage:
        resource["dosage"] = dosage
    notes = [f"Charted as: {event}"] if event and status == "completed" else []
    scheduled = cells.time("scheduletime")
    if scheduled is not None:
        notes.append(f"Scheduled for {scheduled.text}")
    for column, about in (
        ("complete_dose_not_given", "Complete dose not given"),
        ("reason_for_no_barcode", "No barcode"),
    ):
        notes += [f"{about}: {text}" for text in sorted({one[column] or "" for one in details} - {""})]
    if notes:
        resource["note"] = [{"text": text} for text in notes]
    return Mapped("emar", cells.number, resource, known_at(cells.time("storetime"), charted, tally))


def emar_status(event: str | None) -> str:
    """Return the R4 status of an emar event: not given is `not-done`, whatever else is charted with it.

    Examples:
        >>> emar_status("Administered"), emar_status("Hold Dose"), emar_status("Stopped"), emar_status(None)
        ('completed', 'not-done', 'stopped', 'unknown')
    """
    codes = words.codes()
    if event is None:
        return "unknown"
    for status, name in (
        ("not-done", "emar_not_done"),
        ("stopped", "emar_stopped"),
        ("completed", "emar_done"),
    ):
        if event in codes[name]:
            return status
    return "not-done" if event.startswith(tuple(codes["emar_not_done_starts"])) else "unknown"


def _dosage(event: str | None, details: list[Cells]) -> Resource:
    given = [one for one in details if one["dose_given"]]
    texts = [" ".join(filter(None, (one["dose_given"], one["dose_given_unit"]))) for one in given]
    out: Resource = {}
    if texts:
        out["text"] = "; ".join(texts)
        units = {one["dose_given_unit"] for one in given}
        numbers = [grouped_number(one["dose_given"]) for one in given]
        if len(units) == 1 and all(number is not None for number in numbers):
            total = sum((Decimal(number or "0") for number in numbers), Decimal(0))
            out["dose"] = quantity(f"{total:f}", units.pop(), "dose")
    else:
        due = sorted({" ".join(filter(None, (one["dose_due"], one["dose_due_unit"]))) for one in details} - {""})
        if due:
            out["text"] = f"due: {'; '.join(due)}"
    route = next((one["route"] for one in details if one["route"]), None)
    if route is not None:
        out["route"] = words.concept(route, words.coding(words.system("route"), words.local_code(route)))
    places = sorted({" ".join(filter(None, (one["side"], one["site"]))) for one in details} - {""})
    if places:
        out["site"] = words.concept("; ".join(places))
    rates = sorted({(one["infusion_rate"] or "", one["infusion_rate_unit"] or "") for one in details} - {("", "")})
    if len(rates) == 1 and (rate := grouped_number(rates[0][0])) is not None:
        out["rateQuantity"] = quantity(rate, rates[0][1] or None)
    if "rateQuantity" in out or "dose" in out or "text" in out:
        return out
    if out:
        out["text"] = event or "not stated"
    return out
