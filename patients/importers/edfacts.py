"""MIMIC-IV-ED `diagnosis` → Condition, `pyxis` → MedicationDispense: coded when the patient left, handed out before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import blake2b

from wardround.patients.resource import Resource
from wardround.patients.times import NEVER

from . import _vocabulary as words
from ._facts import Cells, NoDictionary, id_key, sound
from ._mapper import Mapped, PatientContext, Rows, Tallies
from ._tables import TableSpec
from ._titles import Titled
from ._values import GSN_DIGITS, LOST, lost_zeros
from .diagnoses import BOTH_VERSIONS, CODE, TITLES, coded, dot
from .report import Tally

DIAGNOSIS = TableSpec(
    "diagnosis",
    ("subject_id", "stay_id", "seq_num", "icd_code", "icd_version", "icd_title"),
    frozenset({"subject_id", "stay_id", "seq_num", "icd_code", "icd_version"}),
)
PYXIS = TableSpec(
    "pyxis",
    ("subject_id", "stay_id", "charttime", "med_rn", "name", "gsn_rn", "gsn"),
    frozenset({"subject_id", "stay_id", "charttime", "med_rn", "name"}),
)


class EdDiagnoses(Titled):
    """One Condition per diagnosis of the emergency department, known when the patient left it."""

    tables: tuple[TableSpec, ...] = (DIAGNOSIS,)
    dictionaries: tuple[TableSpec, ...] = (TITLES,)
    types: tuple[str, ...] = ("Condition",)

    def map(self, patient: PatientContext, rows: Rows, tallies: Tallies) -> Iterator[Mapped]:
        """Yield the Conditions by stay, rank and code."""
        tally = tallies["diagnosis"]
        placed = sound(
            DIAGNOSIS,
            rows.get("diagnosis", []),
            tally,
            times=(),
            key=_diagnosis_key,
            wrong_key="stay_id or seq_num is not a whole number, or icd_code is not an ICD code of 3 to 8 characters",
        )
        versions: dict[tuple[str, ...], set[str]] = {}
        for key, _ in placed:
            versions.setdefault(key[:3], set()).add(key[3])
        for (stay_id, sequence, code, version), cells in placed:
            if len(versions[stay_id, sequence, code]) > 1:
                tally.refuse(BOTH_VERSIONS, cells.number)
            elif version not in words.codes()["icd_systems"]:
                tally.refuse("icd_version is neither 9 nor 10", cells.number)
            elif fault := self._titles.fault(version, code, cells["icd_code"] or "", dot(code, version)):
                tally.refuse(fault, cells.number)
            elif stay_id not in patient.ed_stays:
                tally.refuse("stay_id is not an ED stay of this patient: nobody can say when it was", cells.number)
            elif sequence == "0":
                tally.refuse("seq_num is not a whole number from 1", cells.number)
            else:
                icd = (version, code, self._titles.title(version, code), cells["icd_title"])
                yield _diagnosis(patient, stay_id, int(sequence), icd, cells.number, tally)


def _diagnosis_key(cells: Cells) -> tuple[str, ...] | None:
    numbers = id_key("stay_id", "seq_num")(cells)
    code = (cells["icd_code"] or "").upper().replace(".", "")
    return None if numbers is None or CODE.fullmatch(code) is None else (*numbers, code, cells["icd_version"] or "")


def _diagnosis(
    patient: PatientContext,
    stay_id: str,
    rank: int,
    icd: tuple[str, str, str | None, str | None],
    row: int,
    tally: Tally,
) -> Mapped:
    if not (icd[2] or icd[3]):
        tally.note("code without a title; named by its code")
    encounter = {"reference": f"Encounter/ed-{stay_id}"}
    condition = coded(patient, f"eddx-{stay_id}-{rank}-{icd[1]}", icd, encounter, rank)
    stay = patient.ed_stays[stay_id]
    if stay.left is None:
        tally.note("the ED stay has no outtime; kept, never visible")
        return Mapped("diagnosis", row, condition, NEVER)
    end = max(stay.left, stay.came, key=lambda one: one.known)
    condition["recordedDate"] = end.text
    return Mapped("diagnosis", row, condition, end.known)


class Pyxis(NoDictionary):
    """One dispense per drug that the cabinet of the emergency department handed out at a time."""

    tables: tuple[TableSpec, ...] = (PYXIS,)
    types: tuple[str, ...] = ("MedicationDispense",)

    def map(self, patient: PatientContext, rows: Rows, tallies: Tallies) -> Iterator[Mapped]:
        """Yield the dispenses by stay, time and number; rows that differ in the drug code only are one dispense."""
        tally = tallies["pyxis"]
        placed = sound(
            PYXIS,
            rows.get("pyxis", []),
            tally,
            times=("charttime",),
            key=_pyxis_key,
            wrong_key="stay_id or med_rn is not a whole number, or charttime or name is empty",
        )
        found: dict[tuple[str, ...], list[Cells]] = {}
        for key, cells in placed:
            found.setdefault(key[:4], []).append(cells)
        for (stay_id, number, _, name), group in found.items():
            if len(group) > 1:
                tally.note("the drug again with another code (gsn); one dispense with all codes", len(group) - 1)
            yield _dispense(patient, (stay_id, number, name), group, tally)


def _pyxis_key(cells: Cells) -> tuple[str, ...] | None:
    numbers = id_key("stay_id", "med_rn")(cells)
    at, name = cells.time("charttime"), cells["name"]
    if numbers is None or at is None or name is None:
        return None
    return (*numbers, at.text, name, cells["gsn_rn"] or "", cells["gsn"] or "")


def _dispense(patient: PatientContext, key: tuple[str, str, str], group: list[Cells], tally: Tally) -> Mapped:
    stay_id, number, name = key
    at = group[0].time("charttime")
    assert at is not None
    absent = words.codes()["absent_ndc"]
    listed = [code for cells in group for code in (cells["gsn"] or "").split() if code not in absent]
    if any(lost_zeros(code, GSN_DIGITS) for code in listed):
        tally.note(LOST.format("gsn"))
    listed = [code for code in dict.fromkeys(listed) if not lost_zeros(code, GSN_DIGITS)]
    codings = [words.coding(words.system("gsn"), code) for code in listed]
    digest = blake2b(name.encode(), digest_size=3).hexdigest()
    resource: Resource = {
        "resourceType": "MedicationDispense",
        "id": f"pyxis-{stay_id}-{re.sub('[^0-9]', '', at.text)}-{number}-{digest}",
        "status": "unknown",
        "medicationCodeableConcept": words.concept(name, *codings),
        "subject": patient.subject,
    }
    encounter = patient.ed_encounter(stay_id, tally)
    if encounter is not None:
        resource["context"] = encounter
    resource["whenHandedOver"] = at.text
    return Mapped("pyxis", group[0].number, resource, at.known)
