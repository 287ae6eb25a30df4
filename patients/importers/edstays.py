"""MIMIC-IV-ED `edstays` and `triage` → ED Encounters and what was seen on arrival (Observations)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from wardround.patients.resource import Resource

from . import _vocabulary as words
from ._facts import Cells, category, id_key, observation, put_value, sound
from ._mapper import Mapped, PatientContext, UnitStay
from ._tables import Row, TableSpec
from .report import Tally
from .stays import Whereabouts, unit_encounter
from .vitals import signs

EDSTAYS = TableSpec(
    "edstays",
    ("subject_id", "hadm_id", "stay_id", "intime", "outtime", "arrival_transport", "disposition"),
    frozenset({"subject_id", "hadm_id", "stay_id", "intime", "outtime"}),
    ("gender", "race"),
)
TRIAGE = TableSpec(
    "triage",
    (
        "subject_id", "stay_id", "temperature", "heartrate", "resprate", "o2sat", "sbp", "dbp", "pain", "acuity",
        "chiefcomplaint",
    ),
    frozenset({"subject_id", "stay_id", "acuity", "chiefcomplaint"}),
)  # fmt: skip


def read_triage(patient: PatientContext, rows: list[Row], tally: Tally) -> dict[str, Cells]:
    """Return the triage of each ED stay, by stay_id; without a stay nobody can say when it was."""
    placed = sound(
        TRIAGE, rows, tally, times=(), key=id_key("stay_id"), wrong_key="stay_id is not a whole number"
    )  # fmt: skip
    found = {}
    for (stay,), cells in placed:
        if stay in patient.ed_stays:
            found[stay] = cells
        else:
            tally.refuse("stay_id is not an ED stay of this patient: nobody can say when it was", cells.number)
    return found


def ed_encounters(
    patient: PatientContext,
    stays: dict[str, tuple[UnitStay, Cells]],
    triage: dict[str, Cells],
    where: Whereabouts,
    tallies: Mapping[str, Tally],
) -> Iterator[Mapped]:
    """Yield the ED stays by time: those of `edstays`, and those that only `transfers` has."""
    known: list[tuple[UnitStay, Cells | None]] = [*stays.values(), *((stay, None) for stay in where.ed_only)]
    for stay, cells in sorted(known, key=lambda one: (one[0].came.start, int(one[0].stay_id))):
        table = "edstays" if cells is not None else "transfers"
        resource = unit_encounter(patient, "ed", stay, tallies[table])
        complaint = _complaint(triage.get(stay.stay_id))
        if complaint is not None:
            resource["reasonCode"] = [words.concept(complaint)]
        if f"ed-{stay.stay_id}" in where.places:
            resource["location"] = where.places[f"ed-{stay.stay_id}"]
        if cells is not None and (hospitalization := _hospitalization(cells)):
            resource["hospitalization"] = hospitalization
        yield Mapped(table, stay.row, resource, stay.came.known)


def _hospitalization(cells: Cells) -> Resource:
    out: Resource = {}
    transport, left = cells["arrival_transport"], cells["disposition"]
    if transport is not None:
        code = words.coding(words.system("transport"), words.local_code(transport))
        out["admitSource"] = words.concept(transport, code)
    if left is not None:
        entry = words.codes()["ed_dispositions"].get(left)
        known = [words.coding(words.DISCHARGE, entry["code"], entry["display"])] if entry else []
        code = words.coding(words.system("ed_disposition"), words.local_code(left))
        out["dischargeDisposition"] = words.concept(left, *known, code)
    return out


def _complaint(triage: Cells | None) -> str | None:
    complaint = None if triage is None else triage["chiefcomplaint"]
    return None if complaint in words.codes()["ed_unknown_complaints"] else complaint


def triage_observations(patient: PatientContext, triage: dict[str, Cells], tally: Tally) -> Iterator[Mapped]:
    """Yield what triage found, by stay. The table has no time: it is dated and known when the patient came."""
    for stay_id, cells in triage.items():
        at = patient.ed_stays[stay_id].came
        prefix = f"edtriage-{stay_id}"
        made = list(signs(patient, prefix, cells, at, tally))
        made += _findings(patient, prefix, cells, stay_id, tally)
        if not made:
            tally.note("a row without any finding; nothing to make of it")
        for resource in made:
            resource["encounter"] = {"reference": f"Encounter/ed-{stay_id}"}
            yield Mapped("triage", cells.number, resource, at.known)


def _findings(patient: PatientContext, prefix: str, cells: Cells, stay_id: str, tally: Tally) -> Iterator[Resource]:
    for column, entry in words.codes()["ed_findings"].items():
        text = cells[column]
        if text is None:
            continue
        code = words.concept(entry["name"], words.coding(words.LOINC, entry["loinc"], entry["name"]))
        at = patient.ed_stays[stay_id].came
        resource = observation(patient, f"{prefix}-{column}", category("exam"), code, at)
        if column == "chiefcomplaint" and _complaint(cells) is None:
            tally.note("chiefcomplaint says that it is not known")
            text = None
        put_value(resource, text, None)
        yield resource
