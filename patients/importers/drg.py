"""MIMIC-IV `drgcodes` → ChargeItem: the groups a stay was billed under, known at discharge."""

from __future__ import annotations

from collections.abc import Iterator

from wardround.patients.resource import SITE, Resource
from wardround.patients.times import NEVER

from . import _vocabulary as words
from ._facts import Cells, NoDictionary, id_key, sound
from ._mapper import Mapped, PatientContext, Rows, Tallies
from ._tables import TableSpec
from ._values import whole
from .demographics import discharge_known
from .report import Tally

DRGCODES = TableSpec(
    "drgcodes",
    ("subject_id", "hadm_id", "drg_type", "drg_code", "description", "drg_severity", "drg_mortality"),
    frozenset({"subject_id", "hadm_id", "drg_type", "drg_code"}),
)
SEVERITY = f"{SITE}/StructureDefinition/drg-severity"
MORTALITY = f"{SITE}/StructureDefinition/drg-mortality"


class DrgCodes(NoDictionary):
    """One ChargeItem per diagnosis related group of an admission."""

    tables: tuple[TableSpec, ...] = (DRGCODES,)
    types: tuple[str, ...] = ("ChargeItem",)

    def map(self, patient: PatientContext, rows: Rows, tallies: Tallies) -> Iterator[Mapped]:
        """Yield the ChargeItems by admission, kind of group and code."""
        tally = tallies["drgcodes"]
        placed = sound(
            DRGCODES,
            rows.get("drgcodes", []),
            tally,
            times=(),
            key=_key,
            wrong_key="hadm_id or drg_code is not a whole number, or drg_type is empty",
        )
        for (hadm, _, code), cells in placed:
            if hadm not in patient.stays:
                tally.refuse("hadm_id is not an admission of this patient", cells.number)
            elif len(code) < words.codes()["drg_code_digits"]:
                tally.refuse("drg_code has lost its leading zero", cells.number)
            else:
                yield _charge(patient, hadm, cells["drg_type"] or "", code, cells, tally)


def _key(cells: Cells) -> tuple[str, ...] | None:
    hadm, kind, code = id_key("hadm_id")(cells), cells["drg_type"], cells["drg_code"]
    if hadm is None or kind is None or not kind.isascii() or not kind.isalnum() or whole(code) is None:
        return None
    return (*hadm, kind.lower()[:12], code or "")  # a code is text: its zeros stay


def _charge(patient: PatientContext, hadm: str, kind: str, code: str, cells: Cells, tally: Tally) -> Mapped:
    stay = patient.stays[hadm]
    system = words.codes()["drg_systems"].get(kind)
    if system is None:
        tally.note("drg_type without a code system of its own; its code is kept under the general one")
        system, code_text = words.system("drg"), f"{kind}-{code}"
    else:
        code_text = code
    resource: Resource = {
        "resourceType": "ChargeItem",
        "id": f"drg-{hadm}-{kind.lower()[:12]}-{code}",
        "status": "unknown",
        "code": words.concept(cells["description"] or code_text, words.coding(system, code_text, cells["description"])),
        "subject": patient.subject,
        "context": {"reference": f"Encounter/{hadm}"},
    }
    for column, url in (("drg_severity", SEVERITY), ("drg_mortality", MORTALITY)):
        text, level = cells[column], whole(cells[column])
        if level is not None and level <= 99:
            resource.setdefault("extension", []).append({"url": url, "valueInteger": level})
        elif text is not None:
            tally.note(f"{column} is not a whole number; left out")
    known = discharge_known(stay)
    if known is None or stay.discharged is None:
        tally.note("the admission has no dischtime; kept, never visible")
        return Mapped("drgcodes", cells.number, resource, NEVER)
    resource["occurrenceDateTime"] = max(stay.discharged, stay.admitted, key=lambda one: one.start).text
    return Mapped("drgcodes", cells.number, resource, known)
