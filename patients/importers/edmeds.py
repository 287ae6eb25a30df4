"""MIMIC-IV-ED `medrecon` → MedicationStatement: what the patient was taking when seen, known when charted."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

from wardround.patients.resource import Resource

from . import _vocabulary as words
from ._facts import Cells, NoDictionary, id_key, sound
from ._mapper import Mapped, PatientContext, Rows, Tallies
from ._tables import TableSpec
from ._values import GSN_DIGITS, LOST, NDC_DIGITS, lost_zeros
from .report import Tally

MEDRECON = TableSpec(
    "medrecon",
    ("subject_id", "stay_id", "charttime", "name", "gsn", "ndc", "etc_rn", "etccode", "etcdescription"),
    frozenset({"subject_id", "stay_id", "charttime", "name"}),
)


class Medrecon(NoDictionary):
    """One statement per drug, stay and time; rows that differ only in their drug class are one drug."""

    tables: tuple[TableSpec, ...] = (MEDRECON,)
    types: tuple[str, ...] = ("MedicationStatement",)

    def map(self, patient: PatientContext, rows: Rows, tallies: Tallies) -> Iterator[Mapped]:
        """Yield the statements by ED stay, time and drug."""
        tally = tallies["medrecon"]
        drugs: dict[tuple[str, ...], list[Cells]] = {}
        placed = sound(
            MEDRECON,
            rows.get("medrecon", []),
            tally,
            times=("charttime",),
            key=_row_key,
            wrong_key="stay_id is not a whole number, or charttime or name is empty",
        )
        for key, cells in placed:
            drugs.setdefault(key[:5], []).append(cells)
        for (stay, _, name, gsn, ndc), group in drugs.items():
            if len(group) > 1:
                tally.note("the drug again with another class; one statement with all classes", len(group) - 1)
            encounter = patient.ed_encounter(stay, tally)
            yield _statement(patient, stay, (name, gsn, ndc), group, encounter, tally)


def _row_key(cells: Cells) -> tuple[str, ...] | None:
    stay = id_key("stay_id")(cells)
    at, name = cells.time("charttime"), cells["name"]
    if stay is None or at is None or name is None:
        return None
    rest = (cells[column] or "" for column in ("gsn", "ndc", "etc_rn", "etccode", "etcdescription"))
    return (*stay, at.text, name, *rest)


def _statement(
    patient: PatientContext,
    stay: str,
    drug: tuple[str, str, str],
    group: list[Cells],
    encounter: dict[str, str] | None,
    tally: Tally,
) -> Mapped:
    name, gsn, ndc = drug
    for column, code, digits in (("gsn", gsn, GSN_DIGITS), ("ndc", ndc, NDC_DIGITS)):
        if code not in words.codes()["absent_ndc"] and any(lost_zeros(one, digits) for one in code.split()):
            tally.note(LOST.format(column))
    at = group[0].time("charttime")
    assert at is not None
    absent = words.codes()["absent_ndc"]
    codings = [words.coding(words.NDC, ndc)] if ndc.isdigit() and len(ndc) >= NDC_DIGITS else []
    if gsn and gsn not in absent:
        codings += [words.coding(words.system("gsn"), code) for code in gsn.split() if not lost_zeros(code, GSN_DIGITS)]
    codings += [
        words.coding(words.system("etc"), words.local_code(one["etccode"] or ""), one["etcdescription"])
        for one in group
        if one["etccode"] is not None
    ]
    digest = blake2b("\x1f".join((at.text, *drug)).encode(), digest_size=6).hexdigest()
    resource: Resource = {
        "resourceType": "MedicationStatement",
        "id": f"edmed-{stay}-{digest}",
        "status": "unknown",
        "medicationCodeableConcept": words.concept(name, *codings),
        "subject": patient.subject,
        "dateAsserted": at.text,
    }
    if encounter is not None:
        resource["context"] = encounter
    return Mapped("medrecon", group[0].number, resource, at.known)
