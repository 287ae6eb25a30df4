"""Rows of the emergency department, ours and theirs: signs, rounds, drugs."""

from __future__ import annotations

from collections.abc import Iterator

from oracle_pairing import Row
from oracle_sides import Json, Ours, Theirs, code, number, tail, wall

# ---- emergency department ----

_SIGNS = {"Pain": "98137-3", "Heart rhythm": "8884-9", "Chief complaint": "8661-1", "Acuity": "56839-4"}


def signs_ours(side: Ours) -> Iterator[Row]:
    for one in side.all("Observation", "ed"):
        yield {
            "patient": tail(one["subject"]),
            "stay": tail(one.get("encounter")),
            "code": _SIGNS.get(one["code"]["text"]) or code(one["code"]),
            "time": wall(one["effectiveDateTime"]),
            "value": _sign(one),
            "status": one["status"],
        }


def signs_theirs(side: Theirs) -> Iterator[Row]:
    for name in ("VitalSignsED", "ED"):
        for one in side.all(f"Observation{name}"):
            yield {
                "patient": side.patient(one),
                "stay": side.stay(one),
                "code": code(one["code"]),
                "time": wall(one["effectiveDateTime"]),
                "value": _sign(one),
                "status": one["status"],
            }


def _sign(one: Json) -> str | None:
    parts = [
        f"{code(part['code'])}={number(part['valueQuantity']['value'])}"
        for part in one.get("component", ())
        if "valueQuantity" in part
    ]
    if parts:
        return " ".join(sorted(parts))
    if "valueQuantity" in one:
        return number(one["valueQuantity"]["value"])
    return one["valueString"].strip() if "valueString" in one else None


def doings_ours(side: Ours) -> Iterator[Row]:
    """Yield the moments at which signs were taken: triage and each round."""
    seen = {
        (tail(one["subject"]), tail(one.get("encounter")), wall(one["effectiveDateTime"]), one["id"].partition("-")[0])
        for one in side.all("Observation", "ed")
    }
    for patient, stay, time, kind in seen:
        yield {
            "patient": patient,
            "stay": stay,
            "time": time,
            "what": {"edtriage": "386478007", "edvs": "410188000"}[kind],
        }


def doings_theirs(side: Theirs) -> Iterator[Row]:
    for one in side.all("ProcedureED"):
        yield {
            "patient": side.patient(one),
            "stay": side.stay(one),
            "time": wall(one["performedDateTime"]),
            "what": code(one["code"]),
        }


def statements_ours(side: Ours) -> Iterator[Row]:
    for one in side.all("MedicationStatement", "edmed-"):
        yield _drug(one, tail(one["subject"]), tail(one.get("context")), one.get("dateAsserted"))


def statements_theirs(side: Theirs) -> Iterator[Row]:
    for one in side.all("MedicationStatementED"):
        yield _drug(one, side.patient(one), side.stay(one), one.get("dateAsserted"))


def dispenses_ours(side: Ours) -> Iterator[Row]:
    for one in side.all("MedicationDispense", "pyxis-"):
        yield _drug(one, tail(one["subject"]), tail(one.get("context")), one.get("whenHandedOver"))


def dispenses_theirs(side: Theirs) -> Iterator[Row]:
    for one in side.all("MedicationDispenseED"):
        yield _drug(one, side.patient(one), side.stay(one), one.get("whenHandedOver"))


def _drug(one: Json, patient: str | None, stay: str | None, time: str | None) -> Row:
    concept = one["medicationCodeableConcept"]
    codes = sorted(f"{coding['system'].rpartition('/')[2]}={coding['code']}" for coding in concept.get("coding", ()))
    return {
        "patient": patient,
        "stay": stay,
        "time": wall(time),
        "drug": concept.get("text", "").strip(),
        "codes": " ".join(codes),
        "status": one["status"],
    }
