"""MIMIC-IV `procedures_icd` and the ICU's `procedureevents` → Procedure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wardround.patients.resource import Resource
from wardround.patients.times import NEVER, Instant

from . import _vocabulary as words
from ._chart_items import FromItems
from ._facts import Cells, id_key, known_at, period, sound
from ._mapper import Mapped, PatientContext, Rows, Tallies
from ._tables import TableSpec
from ._titles import Titled
from ._values import moment
from .demographics import discharge_known
from .report import Tally

CODED = TableSpec(
    "procedures_icd",
    ("subject_id", "hadm_id", "seq_num", "chartdate", "icd_code", "icd_version"),
    frozenset({"subject_id", "hadm_id", "seq_num", "chartdate", "icd_code", "icd_version"}),
)
TITLES = TableSpec(
    "d_icd_procedures",
    ("icd_code", "icd_version", "long_title"),
    frozenset({"icd_code", "icd_version", "long_title"}),
    keyed=False,
)
EVENTS = TableSpec(
    "procedureevents",
    (
        "subject_id", "hadm_id", "starttime", "endtime", "storetime", "itemid", "value", "valueuom", "location",
        "orderid", "ordercategoryname", "statusdescription",
    ),
    frozenset({"subject_id", "hadm_id", "starttime", "itemid", "orderid"}),
    not_carried=(
        "stay_id", "caregiver_id", "locationcategory", "linkorderid", "ordercategorydescription", "patientweight",
        "isopenbag", "continueinnextdept", "originalamount", "originalrate",
    ),
)  # fmt: skip
_PATTERNS = {"9": re.compile(r"[0-9]{3,4}", re.ASCII), "10": re.compile(r"[0-9A-HJ-NP-Z]{7}", re.ASCII)}


class CodedProcedures(Titled):
    """Procedures coded at discharge: dated by day, known when they were coded."""

    tables: tuple[TableSpec, ...] = (CODED,)
    dictionaries: tuple[TableSpec, ...] = (TITLES,)
    types: tuple[str, ...] = ("Procedure",)

    def map(self, patient: PatientContext, rows: Rows, tallies: Tallies) -> Iterator[Mapped]:
        """Yield the Procedures by admission and rank."""
        tally = tallies["procedures_icd"]
        numbers = id_key("hadm_id", "seq_num")

        def key(cells: Cells) -> tuple[str, ...] | None:
            found = numbers(cells)
            code = (cells["icd_code"] or "").upper().replace(".", "")
            return None if found is None else (*found, code, cells["icd_version"] or "")

        placed = sound(
            CODED,
            rows.get("procedures_icd", []),
            tally,
            times=("chartdate",),
            key=key,
            wrong_key="hadm_id or seq_num is not a whole number",
        )
        for (hadm, rank, code, version), cells in placed:
            if hadm not in patient.stays:
                tally.refuse("hadm_id is not an admission of this patient", cells.number)
            elif version not in _PATTERNS:
                tally.refuse("icd_version is neither 9 nor 10", cells.number)
            elif _PATTERNS[version].fullmatch(code) is None:
                tally.refuse("icd_code is not a procedure code of its version (a lost zero?)", cells.number)
            elif cells["chartdate"] is None:
                tally.refuse("chartdate is empty", cells.number)
            elif fault := self._titles.fault(version, code, cells["icd_code"] or "", _dotted(version, code)):
                tally.refuse(fault, cells.number)
            else:
                yield self._procedure(patient, hadm, rank, code, version, cells, tally)

    def _procedure(
        self, patient: PatientContext, hadm: str, rank: str, code: str, version: str, cells: Cells, tally: Tally
    ) -> Mapped:
        entry = words.codes()["procedure_icd_systems"][version]
        title, dotted = self._titles.title(version, code), _dotted(version, code)
        if not title:
            tally.note("code without a title in d_icd_procedures; named by its code")
        day = moment((cells["chartdate"] or "")[:10])
        assert day is not None
        codings = (words.coding(entry["hl7"], dotted, title), words.coding(words.system(entry["mimic"]), code, title))
        resource: Resource = {
            "resourceType": "Procedure",
            "id": f"px-{hadm}-{rank}-{code}",
            "status": "completed",
            "code": words.concept(title or dotted, *codings),
            "subject": patient.subject,
            "encounter": {"reference": f"Encounter/{hadm}"},
            "performedDateTime": day.text,
        }
        coded = discharge_known(patient.stays[hadm])
        known = NEVER if coded is None else max(coded, day.known)
        return Mapped("procedures_icd", cells.number, resource, known)


def _dotted(version: str, code: str) -> str:
    place: int = words.codes()["procedure_icd_systems"][version]["dot_after"]
    return code if len(code) <= place else f"{code[:place]}.{code[place:]}"


class IcuProcedures(FromItems):
    """What the ICU charted as done, with its times; imaging is a category of its own."""

    tables: tuple[TableSpec, ...] = (EVENTS,)
    types: tuple[str, ...] = ("Procedure",)

    def map(self, patient: PatientContext, rows: Rows, tallies: Tallies) -> Iterator[Mapped]:
        """Yield the Procedures by order and item."""
        tally = tallies["procedureevents"]
        placed = sound(
            EVENTS,
            rows.get("procedureevents", []),
            tally,
            times=("starttime", "endtime", "storetime"),
            key=id_key("orderid", "itemid"),
            wrong_key="orderid or itemid is not a whole number",
            twins=True,
            known=_known,
        )
        for (order, item), cells in placed:
            if cells["starttime"] is None:
                tally.refuse("starttime is empty", cells.number)
            else:
                yield self._event(patient, order, item, cells, tally)

    def _event(self, patient: PatientContext, order: str, item: str, cells: Cells, tally: Tally) -> Mapped:
        name, group = self._named(item, tally)
        word = cells["statusdescription"]
        status = words.codes()["icu_procedure_status"].get(word or "")
        if status is None:
            tally.note("statusdescription without a code; status unknown")
        start, end = cells.time("starttime"), cells.time("endtime")
        assert start is not None
        resource: Resource = {
            "resourceType": "Procedure",
            "id": f"icupx-{order}-{item}{cells.suffix}",
            "status": status or "unknown",
            "code": words.concept(name, words.coding(words.system("item"), item, name)),
            "subject": patient.subject,
        }
        if group == words.codes()["icu_imaging_category"] or cells["ordercategoryname"] == "Imaging":
            resource["category"] = words.concept(
                "imaging", words.coding("http://snomed.info/sct", "363679005", "Imaging")
            )
        elif cells["ordercategoryname"] is not None:
            resource["category"] = words.concept(cells["ordercategoryname"])
        encounter = patient.encounter(cells["hadm_id"], tally)
        if encounter is not None:
            resource["encounter"] = encounter
        resource["performedPeriod"] = period(start, end, tally, "procedure")
        if cells["location"] is not None:
            resource["bodySite"] = [words.concept(cells["location"])]
        known_at(cells.time("storetime"), start, tally)  # counts a missing store time
        return Mapped("procedureevents", cells.number, resource, _known(cells))


def _known(cells: Cells) -> Instant:
    """Return when a row is known: stored when it ended, it is in the record from then on."""
    start = cells.time("starttime")
    if start is None:
        return NEVER
    return max(known_at(cells.time("storetime"), start, Tally(EVENTS.name)), start.known)
