"""MIMIC-IV `patients`, `admissions` and the tables of stays → Patient and Encounters (FHIR R4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wardround.patients.resource import ALWAYS, SITE, Resource, known_value
from wardround.patients.times import SECOND, Instant

from . import _vocabulary as words
from ._facts import TWICE, content
from ._mapper import Mapped, PatientContext, Rows, Stay, Tallies
from ._tables import Row, TableSpec
from ._values import Moment, clean, moment, whole, year_of
from .edstays import EDSTAYS, TRIAGE, ed_encounters, read_triage, triage_observations
from .report import Tally
from .stays import (
    ICUSTAYS,
    SERVICES,
    TRANSFERS,
    icu_encounters,
    put_services,
    read_services,
    read_transfers,
    read_unit_stays,
)

PATIENTS = TableSpec(
    "patients",
    ("subject_id", "gender", "anchor_age", "anchor_year", "dod"),
    frozenset({"subject_id", "gender", "anchor_age", "anchor_year"}),
    ("anchor_year_group",),
)
ADMISSIONS = TableSpec(
    "admissions",
    (
        "subject_id",
        "hadm_id",
        "admittime",
        "dischtime",
        "deathtime",
        "admission_type",
        "admission_location",
        "discharge_location",
        "insurance",
        "language",
        "marital_status",
        "race",
        "hospital_expire_flag",
    ),
    frozenset({"subject_id", "hadm_id", "admittime", "dischtime", "deathtime", "admission_type", "race"}),
    ("admit_provider_id", "edregtime", "edouttime"),
)

TOP_CODED = f"{SITE}/StructureDefinition/age-top-coded"
_WITH_STAYS = ("transfers", "services", "icustays", "edstays", "triage")
_ORPHAN = "the patient's own row was refused"
INSURANCE = f"{SITE}/StructureDefinition/insurance"


class Demographics:
    """One Patient per row of `patients`, an Encounter per admission, ICU stay and ED stay, and the ED's triage."""

    tables: tuple[TableSpec, ...] = (PATIENTS, ADMISSIONS, TRANSFERS, SERVICES, ICUSTAYS, EDSTAYS, TRIAGE)
    dictionaries: tuple[TableSpec, ...] = ()
    types: tuple[str, ...] = ("Patient", "Encounter")

    def learn(self, table: str, rows: Iterator[Row], tally: Tally) -> None:
        """There is no dictionary."""
        raise AssertionError(f"`{table}` is not read here")

    def map(self, patient: PatientContext, rows: Rows, tallies: Tallies) -> Iterator[Mapped]:
        """Yield the Patient, the Encounters (hospital, ICU, ED; each by time and number), then the triage."""
        tally = tallies["admissions"]
        stays = self._admissions(rows.get("admissions", []), tally)
        patient.stays = {stay.hadm_id: stay for _, stay in stays}
        person, *others = sorted(rows["patients"], key=content)
        for row in others:
            same = content(row) == content(person)
            reason = TWICE if same else "subject_id stands twice; the row that sorts first is kept"
            tallies["patients"].refuse(reason, row[0])
        resource = _patient(patient, person, stays, tallies)
        if resource is None:
            patient.stays = {}
            for row, _ in stays:
                tally.refuse(_ORPHAN, row[0])
            for name in _WITH_STAYS:
                for row in rows.get(name, []):
                    tallies[name].refuse(_ORPHAN, row[0])
            return
        yield Mapped("patients", person[0], resource, ALWAYS)
        yield from _encounters(patient, stays, rows, tallies)

    def _admissions(self, rows: list[Row], tally: Tally) -> list[tuple[Row, Stay]]:
        read: list[tuple[Row, Stay]] = []
        for row in rows:
            number = whole(row[3])
            try:
                admitted, discharged = moment(row[4]), moment(row[5])
                moment(row[6])
            except ValueError:
                tally.refuse("admittime, dischtime or deathtime is not a time", row[0])
                continue
            if number is None or admitted is None:
                missing = "hadm_id is not a whole number" if number is None else "admittime is empty"
                tally.refuse(missing, row[0])
            else:
                read.append((row, Stay(str(number), admitted, discharged)))
        stays: dict[str, tuple[Row, Stay]] = {}
        for row, stay in sorted(read, key=lambda one: (one[1].admitted.known, content(one[0]))):
            if stay.hadm_id in stays:
                same = content(row) == content(stays[stay.hadm_id][0])
                tally.refuse(TWICE if same else "hadm_id stands twice; the earliest admission is kept", row[0])
            else:
                stays[stay.hadm_id] = (row, stay)
        return sorted(stays.values(), key=lambda one: (one[1].admitted.start, int(one[1].hadm_id)))


def _encounters(
    patient: PatientContext, stays: list[tuple[Row, Stay]], rows: Rows, tallies: Tallies
) -> Iterator[Mapped]:
    """Yield hospital, ICU and ED stays and the triage; a table that is missing has no rows and is asked nothing."""
    tally = {name: tallies.get(name) or Tally(name) for name in ("admissions", *_WITH_STAYS)}
    icu = read_unit_stays(ICUSTAYS, rows.get("icustays", []), tally["icustays"])
    ed = read_unit_stays(EDSTAYS, rows.get("edstays", []), tally["edstays"])
    patient.ed_stays = {name: stay for name, (stay, _) in ed.items()}
    where = read_transfers(patient, rows.get("transfers", []), tally["transfers"])
    services = read_services(patient, rows.get("services", []), tally["services"])
    triage = read_triage(patient, rows.get("triage", []), tally["triage"])
    for row, stay in stays:
        encounter = _encounter(patient, row, stay, tally["admissions"])
        if stay.hadm_id in where.places:
            encounter["location"] = where.places[stay.hadm_id]
        put_services(encounter, services.get(stay.hadm_id, []))
        yield Mapped("admissions", row[0], encounter, stay.admitted.known)
    yield from icu_encounters(patient, icu, tally["icustays"])
    yield from ed_encounters(patient, ed, triage, where, tally)
    yield from triage_observations(patient, triage, tally["triage"])


def _patient(patient: PatientContext, row: Row, stays: list[tuple[Row, Stay]], tallies: Tallies) -> Resource | None:
    tally = tallies["patients"]
    number, _, _, gender, anchor_age, anchor_year, dod_text = row
    age, year = whole(anchor_age), year_of(anchor_year)
    try:
        dod = moment(dod_text)
    except ValueError:
        tally.refuse("dod is not a date", number)
        return None
    if age is None or year is None or year <= age:
        tally.refuse("anchor_age or anchor_year is not a whole number", number)
        return None
    resource: Resource = {
        "resourceType": "Patient",
        "id": patient.subject_id,
        "identifier": [{"system": words.system("patient"), "value": patient.subject_id}],
        "name": [{"use": "anonymous", "text": f"Patient {patient.subject_id}"}],
    }
    sex = words.codes()["genders"].get(clean(gender) or "")
    if sex is None:
        tally.note("gender is neither M nor F; kept as unknown")
    resource["gender"] = sex or "unknown"
    resource["birthDate"] = f"{year - age:04d}"
    if age >= words.codes()["top_coded_age"]:
        resource["_birthDate"] = {"extension": [{"url": TOP_CODED, "valueBoolean": True}]}
        tally.note("anchor_age 91 stands for older than 89; birthDate is the latest possible year")
    died = _death(dod, stays, tally)
    if died is not None:
        resource["deceasedDateTime"] = died.text
    for path, value, known in _demographics(stays, tallies["admissions"]):
        known_value(resource, path, value, known)
    return resource


def _death(dod: Moment | None, stays: list[tuple[Row, Stay]], tally: Tally) -> Moment | None:
    """Return the exact time of an in-hospital death, else the date of death."""
    times = [found for row, _ in stays if (found := moment(row[6])) is not None]
    if not times:
        if dod is None and any(clean(row[14]) == "1" for row, _ in stays):
            tally.note("hospital_expire_flag without deathtime or dod; death is only in the disposition")
        if dod is not None and len(dod.text) > 10:
            dod = moment(dod.text[:10])
        return dod
    died = min(times)
    if dod is not None and dod.text[:10] != died.text[:10]:
        tally.note("dod and deathtime name different days; deathtime is kept")
    return died


def _demographics(stays: list[tuple[Row, Stay]], tally: Tally) -> Iterator[tuple[str, Any, Instant]]:
    """Yield (path, value, known) at each admission that changes what is known of the person."""
    now: dict[str, Any] = {}
    extensions: dict[str, list[Resource]] = {}
    for row, stay in stays:
        insurance, language, marital, race = (clean(cell) for cell in row[10:14])
        found: dict[str, Any] = {}
        if marital is not None:
            found["maritalStatus"] = _coded(marital, "marital_status", "marital_status", words.MARITAL_STATUS, tally)
        if language is not None and language not in words.codes()["unknown_words"]:
            spoken = _coded(language, "language", "languages", words.LANGUAGE, tally)
            found["communication"] = [{"language": spoken}]
        elif language is not None:
            tally.note("language is `?`: not known")
        if race is not None:
            extensions["race"] = _race(race)
        if insurance is not None:
            extensions["insurance"] = [{"url": INSURANCE, "valueString": insurance}]
        if extensions:
            found["extension"] = [one for _, group in sorted(extensions.items()) for one in group]
        for path, value in found.items():
            if now.get(path) != value:
                now[path] = value
                yield path, value, stay.admitted.known


def _coded(text: str, column: str, table: str, system: str, tally: Tally) -> Resource:
    """Return the concept of a demographic; one without a code stays text, and is noted."""
    entry = words.codes()[table].get(text)
    if entry is None:
        tally.note(f"{column} without a code; kept as text")
        return words.concept(text)
    return words.concept(text, words.coding(system, entry["code"], entry["display"]))


def _race(text: str) -> list[Resource]:
    for entry in words.codes()["race_prefixes"]:
        if text.startswith(entry["prefix"]):
            category = words.coding(words.RACE_SYSTEM, entry["code"], entry["display"])
            parts = [{"url": "ombCategory", "valueCoding": category}, {"url": "text", "valueString": text}]
            return [{"url": f"{words.US_CORE}/us-core-{entry['kind']}", "extension": parts}]
    return [{"url": f"{words.US_CORE}/us-core-race", "extension": [{"url": "text", "valueString": text}]}]


def _encounter(patient: PatientContext, row: Row, stay: Stay, tally: Tally) -> Resource:
    codes = words.codes()
    kind, source, left = clean(row[7]), clean(row[8]), clean(row[9])
    entry = codes["encounter_classes"].get(kind or "")
    if entry is None:
        tally.note("admission_type without a code; class is IMP")
        entry = codes["default_encounter_class"]
    resource: Resource = {
        "resourceType": "Encounter",
        "id": stay.hadm_id,
        "identifier": [{"system": words.system("encounter"), "value": stay.hadm_id}],
        "status": "finished",
        "class": words.coding(words.ACT_CODE, entry["code"], entry["display"]),
    }
    if kind:
        resource["type"] = [words.concept(kind, words.coding(words.system("admission_type"), words.local_code(kind)))]
    if "priority" in entry:
        code = entry["priority"]
        resource["priority"] = words.concept(None, words.coding(words.ACT_PRIORITY, code, codes["priorities"][code]))
    resource["subject"] = patient.subject
    resource["period"] = {"start": stay.admitted.text}
    if stay.discharged is None:
        resource["status"] = "unknown"
        tally.note("dischtime is empty; status unknown, its diagnoses are never visible")
    else:
        if stay.discharged.start < stay.admitted.start:
            tally.note("dischtime precedes admittime; the period ends when it starts")
            resource["period"]["end"] = stay.admitted.text
        else:
            resource["period"]["end"] = stay.discharged.text
    hospitalization = _hospitalization(source, left, clean(row[14]) == "1")
    if hospitalization:
        resource["hospitalization"] = hospitalization
    return resource


def _hospitalization(source: str | None, left: str | None, died: bool) -> Resource:
    codes = words.codes()
    if left is None and died:
        left = codes["died"]
    out: Resource = {}
    for field, text, table, hl7, local in (
        ("admitSource", source, "admit_sources", words.ADMIT_SOURCE, "admit_source"),
        ("dischargeDisposition", left, "discharge_dispositions", words.DISCHARGE, "discharge_disposition"),
    ):
        if text is None:
            continue
        entry = codes[table].get(text)
        known = [words.coding(hl7, entry["code"], entry["display"])] if entry else []
        out[field] = words.concept(text, *known, words.coding(words.system(local), words.local_code(text)))
    return out


def discharge_known(stay: Stay) -> Instant | None:
    """Return when what is coded at discharge is known: dischtime (not before admittime), None where it is empty."""
    if stay.discharged is None:
        return None
    return max(stay.discharged.known, stay.admitted.known) // SECOND * SECOND
