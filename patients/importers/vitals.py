"""MIMIC-IV-ED `vitalsign`, hosp `omr` → Observation, category vital-signs: LOINC, UCUM, pressures as components."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from hashlib import blake2b

from wardround.patients.resource import Resource

from . import _vocabulary as words
from ._facts import Cells, NoDictionary, category, digits_of, id_key, observation, put_value, quantity, sound
from ._mapper import Mapped, PatientContext, Rows, Tallies
from ._tables import TableSpec
from ._values import Moment, moment, number
from .report import Tally

VITALSIGN = TableSpec(
    "vitalsign",
    (
        "subject_id", "stay_id", "charttime", "temperature", "heartrate", "resprate", "o2sat", "sbp", "dbp", "rhythm",
        "pain",
    ),
    frozenset({"subject_id", "stay_id", "charttime"}),
)  # fmt: skip
OMR = TableSpec(
    "omr",
    ("subject_id", "chartdate", "seq_num", "result_name", "result_value"),
    frozenset({"subject_id", "chartdate", "seq_num", "result_name", "result_value"}),
)
_PRESSURE = re.compile(r"(\d{1,3})\s*/\s*(\d{1,3})", re.ASCII)
_PARTS = ("systolic", "diastolic")


class EdVitals(NoDictionary):
    """Vital signs of the emergency department, one Observation per sign."""

    tables: tuple[TableSpec, ...] = (VITALSIGN,)
    types: tuple[str, ...] = ("Observation",)

    def map(self, patient: PatientContext, rows: Rows, tallies: Tallies) -> Iterator[Mapped]:
        """Yield the Observations by ED stay and time."""
        tally = tallies["vitalsign"]
        stay_of = id_key("stay_id")

        def key(cells: Cells) -> tuple[str, ...] | None:
            stay, at = stay_of(cells), cells.time("charttime")
            return None if stay is None or at is None else (*stay, digits_of(at))

        placed = sound(
            VITALSIGN,
            rows.get("vitalsign", []),
            tally,
            times=("charttime",),
            key=key,
            wrong_key="stay_id is not a whole number, or charttime is empty",
            twins=True,
        )
        for (stay, when), cells in placed:
            at = cells.time("charttime")
            assert at is not None
            made = list(signs(patient, f"edvs-{stay}-{when}", cells, at, tally))
            encounter = patient.ed_encounter(stay, tally)
            if not made:
                tally.note("a row without any sign; nothing to make of it")
            for resource in made:
                resource["id"] += cells.suffix
                if encounter is not None:
                    resource["encounter"] = encounter
                yield Mapped("vitalsign", cells.number, resource, at.known)


class Omr(NoDictionary):
    """Measurements of the outpatient record: dated by day, known at its end."""

    tables: tuple[TableSpec, ...] = (OMR,)
    types: tuple[str, ...] = ("Observation",)

    def map(self, patient: PatientContext, rows: Rows, tallies: Tallies) -> Iterator[Mapped]:
        """Yield the Observations by day, name and number."""
        tally = tallies["omr"]

        def key(cells: Cells) -> tuple[str, ...] | None:
            sequence = id_key("seq_num")(cells)
            name, day = cells["result_name"], cells["chartdate"]
            return None if sequence is None or name is None or day is None else (day[:10], name, *sequence)

        placed = sound(
            OMR,
            rows.get("omr", []),
            tally,
            times=("chartdate",),
            key=key,
            wrong_key="chartdate or result_name is empty, or seq_num is not a whole number",
            twins=True,
        )
        for (day, name, sequence), cells in placed:
            at = moment(day)
            assert at is not None
            kind = words.codes()["omr_names"].get(name)
            if kind is None:
                tally.note("result_name without a code; kept as text")
            slug = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")[:30]
            if kind is None:  # names that are not known may differ in what a slug leaves out: "(Lbs)" and "[Lbs]"
                slug = f"{slug[:20]}-{blake2b(name.encode(), digest_size=4).hexdigest()}"
            resource = _begin(
                patient, f"omr-{patient.subject_id}-{day}-{slug}-{sequence}{cells.suffix}", kind, name, at
            )
            value = cells["result_value"]
            pressure = _PRESSURE.fullmatch(value or "")
            if kind == "pressure" and pressure is not None:
                resource["component"] = _components(pressure[1], pressure[2])
            else:
                put_value(resource, value, None if kind is None else words.codes()["vital_signs"][kind].get("unit"))
            yield Mapped("omr", cells.number, resource, at.known)


def signs(patient: PatientContext, prefix: str, cells: Cells, at: Moment, tally: Tally) -> Iterator[Resource]:
    """Yield one Observation per sign that a row of `vitalsign` or `triage` holds; the pressures are one.

    Args:
        patient: The patient.
        prefix: Begins each id; the column ends it.
        cells: The row; columns it does not have are no signs.
        at: When they were taken.
        tally: The table's account.
    """
    for column, kind in words.codes()["ed_columns"].items():
        text = cells.get(column)
        if text is None:
            continue
        resource = _begin(patient, f"{prefix}-{column}", kind, column, at)
        unit = words.codes()["vital_signs"][kind].get("unit")
        if kind == "temperature" and _is_celsius(text):
            tally.note("temperature between 30 and 45 in a Fahrenheit column; read as Celsius")
            resource["note"] = [{"text": "Charted in a column of degrees Fahrenheit; read as degrees Celsius."}]
            unit = "°C"
        put_value(resource, text, unit)
        yield resource
    if cells["sbp"] is not None or cells["dbp"] is not None:
        resource = _begin(patient, f"{prefix}-bp", "pressure", "blood pressure", at)
        resource["component"] = _components(cells["sbp"], cells["dbp"])
        yield resource


def _is_celsius(text: str) -> bool:
    rule, figure = words.codes()["ed_temperature"], number(text)
    return figure is not None and Decimal(rule["celsius_from"]) <= Decimal(figure) <= Decimal(rule["celsius_to"])


def _begin(patient: PatientContext, name: str, kind: str | None, words_for_it: str, at: Moment) -> Resource:
    entry = words.codes()["vital_signs"][kind] if kind is not None else {}
    codings = [words.coding(words.LOINC, entry["loinc"], entry["name"])] if "loinc" in entry else []
    code = words.concept(entry.get("name", words_for_it), *codings)
    return observation(patient, name, category("vital-signs"), code, at)


def _components(*values: str | None) -> list[Resource]:
    made = []
    for part, value in zip(_PARTS, values, strict=True):
        entry = words.codes()["vital_signs"][part]
        code = words.concept(entry["name"], words.coding(words.LOINC, entry["loinc"], entry["name"]))
        component: Resource = {"code": code}
        figure = number(value)
        if figure is not None:
            component["valueQuantity"] = quantity(figure, entry["unit"])
        else:
            put_value(component, value, entry["unit"])
        made.append(component)
    return made
