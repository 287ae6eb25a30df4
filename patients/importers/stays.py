"""Where a patient lay and whose care it was: `transfers`, `services`, `icustays` as Encounters and parts of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from wardround.patients.resource import SITE, Resource, known_value
from wardround.patients.stays import ENCOUNTER_KIND

from . import _vocabulary as words
from ._facts import Cells, id_key, period, sound
from ._mapper import Mapped, PatientContext, UnitStay
from ._tables import Row, TableSpec
from ._values import Moment, whole
from .report import Tally

TRANSFERS = TableSpec(
    "transfers",
    ("subject_id", "hadm_id", "transfer_id", "eventtype", "careunit", "intime", "outtime"),
    frozenset({"subject_id", "hadm_id", "transfer_id", "eventtype", "careunit", "intime", "outtime"}),
)
SERVICES = TableSpec(
    "services",
    ("subject_id", "hadm_id", "transfertime", "curr_service"),
    frozenset({"subject_id", "hadm_id", "transfertime", "curr_service"}),
    ("prev_service",),
)
ICUSTAYS = TableSpec(
    "icustays",
    ("subject_id", "hadm_id", "stay_id", "first_careunit", "last_careunit", "intime", "outtime"),
    frozenset({"subject_id", "hadm_id", "stay_id", "intime", "outtime"}),
    ("los",),
)
SERVICE = f"{SITE}/StructureDefinition/service"


class Whereabouts(NamedTuple):
    """What `transfers` says: places by encounter, and ED stays that no other table has."""

    places: dict[str, list[Resource]]
    """Encounter id → its locations, oldest first."""
    ed_only: list[UnitStay]


def read_transfers(patient: PatientContext, rows: list[Row], tally: Tally) -> Whereabouts:
    """Sort the patient's places to encounters. An ED event is the ED stay of the same number (MIMIC-IV numbers both).

    An ED event that `edstays` does not have is an ED stay of its own, added to the patient's: whether it led to an
    admission, which is known later, must not decide where it stands.
    """
    placed = sound(
        TRANSFERS,
        rows,
        tally,
        times=("intime", "outtime"),
        key=id_key("transfer_id"),
        wrong_key="transfer_id is not a whole number",
    )
    found: list[tuple[tuple[int, int], str, Resource]] = []
    ed_only: list[UnitStay] = []
    for (transfer,), cells in placed:
        came, unit = cells.time("intime"), cells["careunit"]
        if came is None:
            tally.refuse("intime is empty: nobody can say when it was", cells.number)
            continue
        stay = _encounter_of(patient, transfer, cells, came)
        if unit is None:
            tally.note("a row that names no care unit (the discharge); nothing to carry")
            continue
        if isinstance(stay, UnitStay):
            tally.note("an ED stay that edstays does not have; an Encounter with place and times only")
            ed_only.append(stay)
            patient.ed_stays[transfer] = stay
            stay = f"ed-{transfer}"
        if stay is None:
            tally.note("neither an admission nor an ED stay of this patient; no encounter to carry the place")
            continue
        place: Resource = {"location": {"display": unit}}
        place["period"] = period(came, cells.time("outtime"), tally, "transfer")
        found.append(((came.start, int(transfer)), stay, place))
    places: dict[str, list[Resource]] = {}
    for _, stay, place in sorted(found, key=lambda one: one[0]):
        places.setdefault(stay, []).append(place)
    return Whereabouts(places, ed_only)


def _encounter_of(patient: PatientContext, transfer: str, cells: Cells, came: Moment) -> str | UnitStay | None:
    """Return the id of the encounter that a transfer belongs to, or the ED stay that it is."""
    if transfer in patient.ed_stays:
        return f"ed-{transfer}"
    number = whole(cells["hadm_id"])
    hadm = None if number is None else str(number)
    if cells["eventtype"] == words.codes()["ed_event"]:
        return UnitStay(transfer, hadm, came, cells.time("outtime"), cells.number)
    return hadm if hadm in patient.stays else None


Services = dict[str, list[tuple[Moment, str]]]
"""hadm_id → (since when, service), oldest first."""


def read_services(patient: PatientContext, rows: list[Row], tally: Tally) -> Services:
    """Return the services of each admission."""
    hadm_of = id_key("hadm_id")

    def key(cells: Cells) -> tuple[str, ...] | None:
        hadm, at, service = hadm_of(cells), cells["transfertime"], cells["curr_service"]
        return None if hadm is None or at is None or service is None else (*hadm, at, service)

    placed = sound(
        SERVICES,
        rows,
        tally,
        times=("transfertime",),
        key=key,
        wrong_key="hadm_id is not a whole number, or transfertime or curr_service is empty",
    )
    found: Services = {}
    for (hadm, _, service), cells in placed:
        at = cells.time("transfertime")
        assert at is not None
        if hadm not in patient.stays:
            tally.refuse("hadm_id is not an admission of this patient", cells.number)
            continue
        if service not in words.codes()["services"]:
            tally.note("curr_service without a name; kept as its code")
        found.setdefault(hadm, []).append((at, service))
    for group in found.values():
        group.sort(key=lambda one: (one[0].known, one[1]))
    return found


def put_services(encounter: Resource, services: list[tuple[Moment, str]]) -> None:
    """Give an Encounter the service it was under at each time, and from the second on the list of all so far."""
    history: list[Resource] = []
    for at, service in services:
        name = words.codes()["services"].get(service)
        code = words.coding(words.system("service"), words.local_code(service), name)
        known_value(encounter, "serviceType", words.concept(name or service, code), at.known)
        parts: list[Resource] = [{"url": "service", "valueCoding": code}, {"url": "since", "valueDateTime": at.text}]
        history.append({"url": SERVICE, "extension": parts})
        if len(history) > 1:
            known_value(encounter, "extension", list(history), at.known)


def read_unit_stays(spec: TableSpec, rows: list[Row], tally: Tally) -> dict[str, tuple[UnitStay, Cells]]:
    """Read `icustays` or `edstays`: stays by stay_id, in that order."""
    placed = sound(
        spec,
        rows,
        tally,
        times=("intime", "outtime"),
        key=id_key("stay_id"),
        wrong_key="stay_id is not a whole number",
    )
    found = {}
    for (stay,), cells in placed:
        came = cells.time("intime")
        if came is None:
            tally.refuse("intime is empty: nobody can say when it was", cells.number)
            continue
        number = whole(cells["hadm_id"])
        hadm = None if number is None else str(number)
        found[stay] = (UnitStay(stay, hadm, came, cells.time("outtime"), cells.number), cells)
    return found


def unit_encounter(patient: PatientContext, kind: str, stay: UnitStay, tally: Tally) -> Resource:
    """Build the Encounter of an ICU (`icu`) or emergency department (`ed`) stay: part of the admission it names."""
    entry = words.codes()["encounter_kinds"][kind]
    resource: Resource = {
        "resourceType": "Encounter",
        "id": f"{kind}-{stay.stay_id}",
        "identifier": [{"system": words.system(entry["identifier"]), "value": stay.stay_id}],
        "status": "finished",
        "class": words.coding(words.ACT_CODE, entry["class"], entry["class_display"]),
        "type": [words.concept(entry["display"], words.coding(ENCOUNTER_KIND, kind, entry["display"]))],
        "subject": patient.subject,
        "period": period(stay.came, stay.left, tally, "stay"),
    }
    if stay.left is None:
        resource["status"] = "unknown"
        tally.note("outtime is empty; status unknown")
    whole_stay = patient.encounter(stay.hadm_id, tally)
    if whole_stay is not None:
        resource["partOf"] = whole_stay
    return resource


def icu_encounters(patient: PatientContext, stays: dict[str, tuple[UnitStay, Cells]], tally: Tally) -> Iterator[Mapped]:
    """Yield the ICU stays by time. The last care unit is told at the end: `transfers` says when it was reached."""
    for stay, cells in sorted(stays.values(), key=lambda one: (one[0].came.start, int(one[0].stay_id))):
        resource = unit_encounter(patient, "icu", stay, tally)
        first, last = cells["first_careunit"], cells["last_careunit"]
        if first is not None:
            place: dict[str, Any] = {"location": {"display": first}, "period": dict(resource["period"])}
            resource["location"] = [place]
            if last is not None and last != first:
                del place["period"]["end"]
        if last is not None and last != first and stay.left is not None:
            end = max(stay.left, stay.came, key=lambda one: one.start)
            places = [*resource.get("location", ()), {"location": {"display": last}, "period": {"end": end.text}}]
            known_value(resource, "location", places, end.known)
        yield Mapped("icustays", stay.row, resource, stay.came.known)
