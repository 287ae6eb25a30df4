"""MIMIC-IV `poe` and `poe_detail` → ServiceRequest: what was ordered beside drugs, from the order's time on.

A row that discontinues or changes an order ends it: the order is `revoked` from that row's time on. Orders of drugs are
left to `pharmacy`, whatever it holds: what an order becomes must not depend on a row that may be written later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from wardround.patients.resource import Resource, known_value, tag_derived
from wardround.patients.times import Instant

from . import _vocabulary as words
from ._facts import Cells, NoDictionary, cells_of, sound
from ._mapper import Mapped, PatientContext, Rows, Tallies
from ._tables import Row, TableSpec
from ._values import Moment, moment, whole
from .demographics import discharge_known
from .report import Tally

POE = TableSpec(
    "poe",
    (
        "poe_id", "subject_id", "hadm_id", "ordertime", "order_type", "order_subtype", "transaction_type",
        "discontinue_of_poe_id", "discontinued_by_poe_id",
    ),
    frozenset({"poe_id", "subject_id", "hadm_id", "ordertime", "order_type", "transaction_type"}),
    ("poe_seq", "order_provider_id", "order_status"),
)  # fmt: skip
DETAIL = TableSpec(
    "poe_detail",
    ("poe_id", "subject_id", "field_name", "field_value"),
    frozenset({"poe_id", "subject_id", "field_name", "field_value"}),
    ("poe_seq",),
)
_ID = re.compile(r"(\d{1,18})-(\d{1,18})", re.ASCII)

Key = tuple[str, ...]
"""Subject and number of an order, as in poe_id."""


class Orders(NoDictionary):
    """One ServiceRequest per order that is none of a drug; rows that discontinue one end it."""

    tables: tuple[TableSpec, ...] = (POE, DETAIL)
    types: tuple[str, ...] = ("ServiceRequest",)

    def map(self, patient: PatientContext, rows: Rows, tallies: Tallies) -> Iterator[Mapped]:
        """Yield the requests by poe_id."""
        tally = tallies["poe"]
        placed = sound(
            POE,
            rows.get("poe", []),
            tally,
            times=("ordertime",),
            key=lambda cells: _key(cells["poe_id"]),
            wrong_key="poe_id is not <subject>-<number>",
        )
        orders: dict[Key, Cells] = {}
        for key, cells in placed:
            if cells["ordertime"] is None:
                tally.refuse("ordertime is empty: nobody can say when it was", cells.number)
            elif cells["order_type"] is None:
                tally.refuse("order_type is empty", cells.number)
            else:
                orders[key] = cells
        ends = _ends(orders, tally)
        details = _details(rows.get("poe_detail", []), orders, tallies)
        for key, cells in orders.items():
            if _is_end(cells) or _is_drug(cells):
                if _is_drug(cells):
                    _count_drug(patient, cells, tally)
                if key in details:
                    tallies["poe_detail"].note("a field of an order that is no ServiceRequest", len(details[key]))
                continue
            resource, known = _request(patient, key, orders, tally)
            _put_status(patient, resource, cells, ends.get(key), known)
            _put_details(resource, details.get(key, []), tallies)
            yield Mapped("poe", cells.number, resource, known)


def _key(text: str | None) -> Key | None:
    match = _ID.fullmatch(text or "")
    return (str(int(match[1])), str(int(match[2]))) if match else None


def _is_end(cells: Cells) -> bool:
    return cells["transaction_type"] in words.codes()["poe_discontinues"]


def _is_drug(cells: Cells) -> bool:
    return cells["order_type"] in words.codes()["poe_drug_types"]


def _count_drug(patient: PatientContext, cells: Cells, tally: Tally) -> None:
    if cells["poe_id"] in patient.pharmacy_orders:
        tally.note("an order of a drug; pharmacy has it, as a MedicationRequest")
    elif not _is_end(cells):
        tally.note("an order of a drug that pharmacy does not have; poe does not name the drug, nothing to carry")


def _ends(orders: dict[Key, Cells], tally: Tally) -> dict[Key, Moment]:
    """Return when each order was discontinued or replaced, by either row's word; the first time counts."""
    pairs: list[tuple[Key, Key]] = []
    for key, cells in orders.items():
        ended, by = _key(cells["discontinue_of_poe_id"]), _key(cells["discontinued_by_poe_id"])
        if ended is not None:
            pairs.append((ended, key))
        if by is not None:
            pairs.append((key, by))
        if _is_end(cells) and ended not in orders:
            tally.note("discontinues an order that is not here; nothing to carry")
    found: dict[Key, Moment] = {}
    for ended_key, by_key in pairs:
        at = orders[by_key].time("ordertime") if by_key in orders else None
        if ended_key in orders and at is not None and (ended_key not in found or at.known < found[ended_key].known):
            found[ended_key] = at
    return found


class Detail(NamedTuple):
    """One row of `poe_detail`."""

    name: str
    value: str
    row: int


def _details(rows: list[Row], orders: dict[Key, Cells], tallies: Tallies) -> dict[Key, list[Detail]]:
    found: dict[Key, list[Detail]] = {}
    for cells in cells_of(DETAIL, rows):
        key, name, value = _key(cells["poe_id"]), cells["field_name"], cells["field_value"]
        if key is None or key not in orders:
            tallies["poe_detail"].refuse("no row of poe for the poe_id", cells.number)
        elif name is None or value is None:
            tallies["poe_detail"].refuse("field_name or field_value is empty", cells.number)
        else:
            found.setdefault(key, []).append(Detail(name, value, cells.number))
    for group in found.values():
        group.sort()
    return found


def _request(patient: PatientContext, key: Key, orders: dict[Key, Cells], tally: Tally) -> tuple[Resource, Instant]:
    cells = orders[key]
    ordered, kind = cells.time("ordertime"), cells["order_type"] or ""
    assert ordered is not None
    codings = [words.coding(words.system("order_type"), words.local_code(kind))]
    if kind in words.codes()["poe_categories"]:
        entry = words.codes()["poe_categories"][kind]
        codings.insert(0, words.coding(entry["system"], entry["code"], entry["display"]))
    resource: Resource = {
        "resourceType": "ServiceRequest",
        "id": f"poe-{'-'.join(key)}",
        "identifier": [{"system": words.system("poe"), "value": cells["poe_id"]}],
        "status": "active",
        "intent": "order",
        "category": [words.concept(kind, *codings)],
        "code": words.concept(": ".join(filter(None, (kind, cells["order_subtype"])))),
        "subject": patient.subject,
        "authoredOn": ordered.text,
    }
    encounter = patient.encounter(cells["hadm_id"], tally)
    if encounter is not None:
        resource["encounter"] = encounter
    replaced = _key(cells["discontinue_of_poe_id"])
    if replaced in orders and not _is_end(orders[replaced]) and not _is_drug(orders[replaced]):
        resource["replaces"] = [{"reference": f"ServiceRequest/poe-{'-'.join(replaced)}"}]
    transaction = cells["transaction_type"]
    if transaction is not None and transaction not in words.codes()["poe_transactions"]:
        tally.note("transaction_type is neither New, Change nor D/C; the order's note says it")
        resource["note"] = [{"text": f"Transaction: {transaction}"}]
    return resource, ordered.known


def _put_status(
    patient: PatientContext, resource: Resource, cells: Cells, ended: Moment | None, ordered: Instant
) -> None:
    """An order runs in its stay until it is discontinued or replaced; what became of the others no table says.

    Before the stay is known the status is `unknown`, as it is without any stay: it must not tell that one will come.
    """
    tag_derived(resource)
    stay = patient.stays.get(str(whole(cells["hadm_id"])))
    if stay is None or stay.admitted.known > ordered:
        resource["status"] = "unknown"
    if stay is not None:
        if stay.admitted.known > ordered:
            known_value(resource, "status", "active", stay.admitted.known)
        left = discharge_known(stay)
        if left is not None and (ended is None or left < ended.known):
            known_value(resource, "status", "unknown", left)
    if ended is not None:
        known_value(resource, "status", "revoked", max(ended.known, ordered))


def _put_details(resource: Resource, details: list[Detail], tallies: Tallies) -> None:
    """Write the fields of an order as its details: known with it, but those that have a time of their own."""
    times = words.codes()["poe_detail_times"]
    said: dict[str, list[Detail]] = {}
    for one in details:
        said.setdefault(one.name, []).append(one)
    shown = [_detail(name, said[name], None) for name in sorted(said) if name not in {*times, *times.values()}]
    if shown:
        resource["orderDetail"] = list(shown)
    later: list[tuple[Moment, Resource]] = []
    for name, timed_by in sorted(times.items()):
        stamps = [at for one in said.get(timed_by, []) if (at := _time(one.value)) is not None]
        if name in said and stamps:
            at = max(stamps, key=lambda one: one.known)
            later.append((at, _detail(name, said[name], at)))
        elif name in said or timed_by in said:
            rows = len(said.get(name, [])) + len(said.get(timed_by, []))
            tallies["poe_detail"].note("a field without its time, or a time without its field; left out", rows)
    for at, concept in sorted(later, key=lambda one: one[0].known):
        shown.append(concept)
        known_value(resource, "orderDetail", list(shown), at.known)


def _detail(name: str, rows: list[Detail], at: Moment | None) -> Resource:
    text = f"{name}: {'; '.join(sorted({one.value for one in rows}))}"
    if at is not None:
        text += f" ({at.text})"
    return words.concept(text, words.coding(words.system("order_field"), words.local_code(name)))


def _time(text: str) -> Moment | None:
    try:
        return moment(text)
    except ValueError:
        return None
