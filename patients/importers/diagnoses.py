"""MIMIC-IV `diagnoses_icd` → Condition (FHIR R4): coded at discharge, known from then on."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wardround.patients.resource import Resource, tag_derived, with_rank
from wardround.patients.times import NEVER

from . import _vocabulary as words
from ._facts import TWICE
from ._mapper import Mapped, PatientContext, Rows, Tallies
from ._tables import TableSpec
from ._titles import Titled
from ._values import clean, whole
from .demographics import discharge_known
from .report import Tally

DIAGNOSES = TableSpec(
    "diagnoses_icd",
    ("subject_id", "hadm_id", "seq_num", "icd_code", "icd_version"),
    frozenset({"subject_id", "hadm_id", "seq_num", "icd_code", "icd_version"}),
)
TITLES = TableSpec(
    "d_icd_diagnoses",
    ("icd_code", "icd_version", "long_title"),
    frozenset({"icd_code", "icd_version", "long_title"}),
    keyed=False,
)
BOTH_VERSIONS = "icd_code stands with both ICD versions: nobody can say which is right"
"""What the account says then."""
CODE = re.compile(r"[A-Z0-9]{3,8}", re.ASCII)


class Diagnoses(Titled):
    """One Condition per coded diagnosis, the principal one ranked 1."""

    tables: tuple[TableSpec, ...] = (DIAGNOSES,)
    dictionaries: tuple[TableSpec, ...] = (TITLES,)
    types: tuple[str, ...] = ("Condition",)

    def map(self, patient: PatientContext, rows: Rows, tallies: Tallies) -> Iterator[Mapped]:
        """Yield the Conditions by admission, rank and code."""
        tally = tallies["diagnoses_icd"]
        found: dict[tuple[int, int, str], list[tuple[str, int]]] = {}
        for row in rows.get("diagnoses_icd", []):
            number, _, _, hadm, sequence, code_text, version_text = row
            stay, rank, version = whole(hadm), whole(sequence), clean(version_text)
            code = (clean(code_text) or "").upper().replace(".", "")
            if stay is None or str(stay) not in patient.stays:
                tally.refuse("hadm_id is not an admission of this patient", number)
            elif rank is None or rank < 1:
                tally.refuse("seq_num is not a whole number from 1", number)
            elif version is None or version not in words.codes()["icd_systems"]:
                tally.refuse("icd_version is neither 9 nor 10", number)
            elif CODE.fullmatch(code) is None:
                tally.refuse("icd_code is not an ICD code of 3 to 8 letters and digits", number)
            elif fault := self._titles.fault(version, code, code_text or "", dot(code, version)):
                tally.refuse(fault, number)
            else:
                found.setdefault((stay, rank, code), []).append((version, number))
        for (stay, rank, code), same in sorted(found.items()):
            (version, first), *others = same
            both = any(other != version for other, _ in others)
            for _, number in same if both else others:
                tally.refuse(BOTH_VERSIONS if both else TWICE, number)
            if not both:
                yield self._condition(patient, str(stay), rank, code, version, first, tally)

    def _condition(
        self, patient: PatientContext, hadm: str, rank: int, code: str, version: str, row: int, tally: Tally
    ) -> Mapped:
        title = self._titles.title(version, code)
        if not title:
            tally.note("code without a title in d_icd_diagnoses; named by its code")
        encounter = {"reference": f"Encounter/{hadm}"}
        condition = coded(patient, f"dx-{hadm}-{rank}-{code}", (version, code, title, title), encounter, rank)
        stay = patient.stays[hadm]
        known = discharge_known(stay)
        if known is None or stay.discharged is None:
            return Mapped("diagnoses_icd", row, condition, NEVER)
        condition["recordedDate"] = max(stay.discharged, stay.admitted, key=lambda one: one.start).text
        return Mapped("diagnoses_icd", row, condition, known)


def coded(
    patient: PatientContext,
    name: str,
    icd: tuple[str, str, str | None, str | None],
    encounter: dict[str, str],
    rank: int,
) -> Resource:
    """Build the Condition of a coded diagnosis, without its date.

    Args:
        patient: The patient.
        name: Its id.
        icd: Version, code without dots, title of the code system, title as the table itself writes it.
        encounter: Reference to the stay it was coded for.
        rank: 1 is the principal one.
    """
    version, code, title, written = icd
    entry = words.codes()["icd_systems"][version]
    dotted = dot(code, version)
    condition: Resource = {"resourceType": "Condition", "id": name}
    if has_clinical_status(code, version):
        condition["clinicalStatus"] = words.concept(None, words.coding(words.CONDITION_CLINICAL, "active"))
        tag_derived(condition)
    condition["verificationStatus"] = words.concept(None, words.coding(words.CONDITION_VERIFICATION, "confirmed"))
    category = words.coding(words.CONDITION_CATEGORY, "encounter-diagnosis", "Encounter Diagnosis")
    condition["category"] = [words.concept(None, category)]
    codings = (words.coding(entry["hl7"], dotted, title), words.coding(words.system(entry["mimic"]), code, written))
    condition["code"] = words.concept(title or written or dotted, *codings)
    condition["subject"] = patient.subject
    condition["encounter"] = encounter
    return with_rank(condition, rank)


def dot(code: str, version: str) -> str:
    """Write an ICD code of MIMIC-IV, which has no dots, with its dot.

    Examples:
        >>> dot("A0100", "10"), dot("0389", "9"), dot("V707", "9"), dot("E8497", "9"), dot("I10", "10")
        ('A01.00', '038.9', 'V70.7', 'E849.7', 'I10')
    """
    entry = words.codes()["icd_systems"][version]
    place = entry["longer"].get(code[0], entry["dot_after"])
    return code if len(code) <= place else f"{code[:place]}.{code[place:]}"


def has_clinical_status(code: str, version: str) -> bool:
    """Tell whether a code names a condition the patient has (not history, status or an external cause)."""
    return not any(
        rule["version"] == version and code.startswith(tuple(rule["prefixes"]))
        for rule in words.codes()["no_clinical_status"]
    )
