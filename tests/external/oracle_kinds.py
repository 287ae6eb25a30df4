"""Rows of each kind, ours and theirs, and the rules that explain where they differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from oracle_pairing import Row
from oracle_sides import Json, Ours, Theirs, code, day, known, mark, quantity, tail, wall

# ---- Encounter ----


def _stay(one: Json, patient: str | None, identity: str, part: str | None) -> Row:
    inside = one.get("hospitalization", {})
    return {
        "patient": patient,
        "id": identity,
        "part of": part,
        "start": wall(one["period"].get("start")),
        "end": wall(one["period"].get("end")),
        "status": one["status"],
        "class": code({"coding": [one["class"]]}),
        "from": _local(inside.get("admitSource")),
        "to": _local(inside.get("dischargeDisposition")),
    }


def _local(node: Json | None) -> str | None:
    """Return MIMIC's own code: the ED has other systems than the wards."""
    codings = (node or {}).get("coding", ())
    return next((str(one["code"]) for one in codings if "/mimic/" in one.get("system", "")), None)


def encounters_ours(start: str) -> Callable[[Ours], Iterator[Row]]:
    def rows(side: Ours) -> Iterator[Row]:
        for one in side.all("Encounter", start):
            if start or one["id"].isdigit():
                yield _stay(one, tail(one["subject"]), one["id"], tail(one.get("partOf")))

    return rows


def encounters_theirs(name: str) -> Callable[[Theirs], Iterator[Row]]:
    def rows(side: Theirs) -> Iterator[Row]:
        for one in side.all(f"Encounter{name}"):
            part = one.get("partOf")
            yield _stay(
                one,
                side.patient(one),
                side.names()[f"Encounter/{one['id']}"],
                side.names()[part["reference"]] if part else None,
            )

    return rows


# ---- Condition, Procedure ----


def conditions_ours(start: str) -> Callable[[Ours], Iterator[Row]]:
    def rows(side: Ours) -> Iterator[Row]:
        for one in side.all("Condition", start):
            yield {
                "patient": tail(one["subject"]),
                "stay": tail(one["encounter"]),
                "code": code(one["code"], "icd9") or code(one["code"], "icd10"),
                "version": "9" if code(one["code"], "icd9") else "10",
                "category": code(one["category"][0]),
            }

    return rows


def conditions_theirs(name: str) -> Callable[[Theirs], Iterator[Row]]:
    def rows(side: Theirs) -> Iterator[Row]:
        for one in side.all(f"Condition{name}"):
            yield {
                "patient": side.patient(one),
                "stay": side.stay(one),
                "code": code(one["code"]),
                "version": "9" if code(one["code"], "icd9") else "10",
                "category": code(one["category"][0]) if "category" in one else None,
            }

    return rows


def procedures_ours(side: Ours) -> Iterator[Row]:
    for one in side.all("Procedure", "px-"):
        yield {
            "patient": tail(one["subject"]),
            "stay": tail(one["encounter"]),
            "code": code(one["code"], "procedure-icd9") or code(one["code"], "procedure-icd10"),
            "day": day(one["performedDateTime"]),
            "status": one["status"],
        }


def procedures_theirs(side: Theirs) -> Iterator[Row]:
    for one in side.all("Procedure"):
        yield {
            "patient": side.patient(one),
            "stay": side.stay(one),
            "code": code(one["code"]),
            "day": day(one["performedDateTime"]),
            "status": one["status"],
        }


def icu_procedures_ours(side: Ours) -> Iterator[Row]:
    for one in side.all("Procedure", "icupx-"):
        period = one.get("performedPeriod", {})
        yield {
            "patient": tail(one["subject"]),
            "admission": side.admission(one),
            "code": code(one["code"]),
            "start": wall(period.get("start")),
            "end": wall(period.get("end")),
            "status": one["status"],
            "category": one["category"].get("text") or code(one["category"]),
        }


def icu_procedures_theirs(side: Theirs) -> Iterator[Row]:
    for one in side.all("ProcedureICU"):
        period = one.get("performedPeriod", {})
        yield {
            "patient": side.patient(one),
            "admission": side.admission(one),
            "code": code(one["code"]),
            "start": wall(period.get("start")),
            "end": wall(period.get("end")),
            "status": one["status"],
            "category": code(one["category"]),
        }


# ---- ICU observations ----


def charted_ours(start: str) -> Callable[[Ours], Iterator[Row]]:
    def rows(side: Ours) -> Iterator[Row]:
        for one in side.all("Observation", start):
            yield _charted(one, tail(one["subject"]), side.admission(one))

    return rows


def charted_theirs(name: str) -> Callable[[Theirs], Iterator[Row]]:
    def rows(side: Theirs) -> Iterator[Row]:
        for one in side.all(f"Observation{name}"):
            yield _charted(one, side.patient(one), side.admission(one))

    return rows


def _charted(one: Json, patient: str | None, admission: str | None) -> Row:
    return {
        "patient": patient,
        "admission": admission,
        "code": code(one["code"]),
        "time": wall(one["effectiveDateTime"]),
        "stored": known(one) or wall(one.get("issued")),
        "value": quantity(one.get("valueQuantity")) or day(one.get("valueDateTime")),
        "status": one["status"],
        "category": one["category"][0].get("text") or code(one["category"][0]),
    }


# ---- microbiology ----


def _specimen(one: Json) -> str | None:
    return one.get("specimen", {}).get("identifier", {}).get("value")


def _said(one: Json) -> str | None:
    """Return words of a result, blanks at the ends left out."""
    words = one.get("valueString")
    return (
        words.strip()
        if isinstance(words, str)
        else code(one.get("valueCodeableConcept")) or code(one.get("dataAbsentReason"))
    )


def micro_tests_ours(side: Ours) -> Iterator[Row]:
    for one in side.all("Observation", "micro-"):
        if one["id"].split("-")[1] != "susc" and "-org-" not in one["id"]:
            yield {
                "patient": tail(one["subject"]),
                "specimen": _specimen(one),
                "code": code(one["code"]),
                "time": day(one["effectiveDateTime"]),
                "admission": side.admission(one),
                "value": _said(one),
                "grew": str(len(one.get("hasMember", ()))),
                "status": one["status"],
            }


def micro_tests_theirs(side: Theirs) -> Iterator[Row]:
    for one in side.all("ObservationMicroTest"):
        yield {
            "patient": side.patient(one),
            "specimen": side.specimen(one),
            "code": code(one["code"]),
            "time": day(one["effectiveDateTime"]),
            "admission": side.admission(one),
            "value": _said(one),
            "grew": str(len(one.get("hasMember", ()))),
            "status": one["status"],
        }


def organisms_ours(side: Ours) -> Iterator[Row]:
    for one in side.all("Observation", "micro-"):
        if "-org-" in one["id"]:
            _, specimen, test, *_ = one["id"].split("-")
            yield {
                "patient": tail(one["subject"]),
                "specimen": specimen,
                "test": test,
                "organism": code(one.get("valueCodeableConcept")),
                "time": day(one["effectiveDateTime"]),
                "tested": str(len(one.get("hasMember", ()))),
                "status": one["status"],
            }


def organisms_theirs(side: Theirs) -> Iterator[Row]:
    tests = {one["id"]: one for one in side.all("ObservationMicroTest")}
    for one in side.all("ObservationMicroOrg"):
        test = tests[str(tail(one["derivedFrom"]))]
        yield {
            "patient": side.patient(one),
            "specimen": side.specimen(test),
            "test": code(test["code"]),
            "organism": code(one["code"]),
            "time": day(one["effectiveDateTime"]),
            "tested": str(len(one.get("hasMember", ()))),
            "status": one["status"],
        }


def susceptibilities_ours(side: Ours) -> Iterator[Row]:
    for one in side.all("Observation", "micro-susc-"):
        yield {
            "patient": tail(one["subject"]),
            "row": one["id"].removeprefix("micro-susc-"),
            "drug": code(one["code"]),
            "stored": known(one),
            "reading": code(one["interpretation"][0]) if "interpretation" in one else None,
            "dilution": quantity(one.get("valueQuantity")),
            "status": one["status"],
        }


def susceptibilities_theirs(side: Theirs) -> Iterator[Row]:
    for one in side.all("ObservationMicroSusc"):
        dilution = next(
            (
                mark.get("valueQuantity")
                for mark in one.get("extension", ())
                if mark["url"].endswith("dilution-details")
            ),
            None,
        )
        yield {
            "patient": side.patient(one),
            "row": mark(one, "observation-micro-susc"),
            "drug": code(one["code"]),
            "stored": wall(one["effectiveDateTime"]),
            "reading": code(one.get("valueCodeableConcept")),
            "dilution": quantity(dilution),
            "status": one["status"],
        }


# ---- what our charts keep elsewhere ----


def places_ours(side: Ours) -> Iterator[Row]:
    """Yield the units of a stay in the wards or the ED (transfers)."""
    for one in side.all("Encounter"):
        for place in one.get("location", ()) if mark(one, "encounter-icu") is None else ():
            yield _place(side.stays()[one["id"]], place, place["location"].get("display"))


def places_theirs(side: Theirs) -> Iterator[Row]:
    names = {one["id"]: one["name"] for one in side.all("Location")}
    for name in ("", "ED"):
        for one in side.all(f"Encounter{name}"):
            for place in one.get("location", ()):
                admission = side.stays()[side.names()[f"Encounter/{one['id']}"]]
                yield _place(admission, place, names[str(tail(place["location"]))])


def _place(admission: str, place: Json, name: str | None) -> Row:
    period = place["period"]
    return {"admission": admission, "unit": name, "start": wall(period.get("start")), "end": wall(period.get("end"))}


def specimens_ours(side: Ours) -> Iterator[Row]:
    """Yield the specimens that our results name."""
    seen: dict[tuple[str | None, str, str], None] = {}
    for one in side.all("Observation"):
        found = one.get("specimen", {}).get("identifier")
        if found:
            seen[tail(one["subject"]), found["system"].rpartition("/")[2], found["value"]] = None
    for patient, system, value in seen:
        yield {"patient": patient, "system": system, "number": value}


def specimens_theirs(side: Theirs) -> Iterator[Row]:
    for name in ("Specimen", "SpecimenLab"):
        for one in side.all(name):
            found = one["identifier"][0]
            yield {"patient": side.patient(one), "system": found["system"].rpartition("/")[2], "number": found["value"]}


def people_ours(side: Ours) -> Iterator[Row]:
    for one in side.all("Patient"):
        yield _person(one, one["id"])


def people_theirs(side: Theirs) -> Iterator[Row]:
    for one in side.all("Patient"):
        yield _person(one, side.names()[f"Patient/{one['id']}"])


def _person(one: Json, identity: str) -> Row:
    languages = one.get("communication") or [{}]
    race = next(
        (
            part["valueCoding"]["code"]
            for mark in one.get("extension", ())
            if mark["url"].endswith("us-core-race")
            for part in mark["extension"]
            if part["url"] == "ombCategory"
        ),
        None,
    )
    hispanic = any(mark["url"].endswith("ethnicity") and "2135-2" in str(mark) for mark in one.get("extension", ()))
    return {
        "patient": identity,
        "hispanic": str(hispanic),
        "gender": one["gender"],
        "birth": one["birthDate"][:4],
        "death": wall(one.get("deceasedDateTime")),
        "marital": code(one.get("maritalStatus")),
        "language": code(languages[0].get("language")),
        "race": race,
    }
