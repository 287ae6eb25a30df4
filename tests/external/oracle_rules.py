"""Why ours and theirs differ: the kinds that are compared, each with its rules (docs/mimic-fhir-differences.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import oracle_ed as ed
import oracle_kinds as kinds
import oracle_orders as meds
from oracle_pairing import Result, Row, Rule, compare
from oracle_sides import Ours, Theirs


@dataclass(frozen=True)
class Kind:
    """A kind of fact: how both sides become rows, what identifies a row, and the rules."""

    name: str
    key: tuple[str, ...]
    ours: Callable[[Ours], Iterator[Row]]
    theirs: Callable[[Theirs], Iterator[Row]]
    rules: Callable[[Ours, Theirs], list[Rule]] = lambda ours, theirs: []

    def compare(self, ours: Ours, theirs: Theirs) -> Result:
        """Compare both sides."""
        return compare(self.name, self.key, self.ours(ours), self.theirs(theirs), self.rules(ours, theirs))


def values(name: str, pairs: set[tuple[str | None, str | None]], text: str) -> Rule:
    """Return the rule that a field has certain pairs of values."""
    return Rule(text, lambda field, one, two: field == name and bool(one and two) and (one[name], two[name]) in pairs)  # type: ignore[index]


def alone(ours: bool, holds: Callable[[Row], bool], text: str) -> Rule:
    """Return the rule that a row of one side has no partner."""

    def check(field: str, one: Row | None, two: Row | None) -> bool:
        row = (one if two is None else None) if ours else (two if one is None else None)
        return not field and row is not None and holds(row)

    return Rule(text, check)


_CLASSES = {
    "EW EMER.": ("IMP", "EMER"),
    "DIRECT EMER.": ("IMP", "EMER"),
    "URGENT": ("IMP", "AMB"),
    "ELECTIVE": ("IMP", "AMB"),
    "SURGICAL SAME DAY ADMISSION": ("IMP", "SS"),
    "OBSERVATION ADMIT": ("IMP", "OBSENC"),
    "AMBULATORY OBSERVATION": ("OBSENC", "AMB"),
}


def admissions(ours: Ours, theirs: Theirs) -> list[Rule]:
    types = {one["id"]: one["type"][0]["text"] for one in ours.all("Encounter") if one["id"].isdigit()}
    return [
        Rule(
            "class: by admission_type we say IMP or OBSENC; they AMB, EMER, SS, OBSENC, never IMP",
            lambda field, one, two: (
                field == "class"
                and bool(one and two)
                and _CLASSES.get(types[str(one["id"])]) == (one["class"], two["class"])
            ),  # type: ignore[index]
        )
    ]


def ed_stays(ours: Ours, theirs: Theirs) -> list[Rule]:
    charted = {f"ed-{row['stay_id']}" for row in ours.table("ed/edstays")}
    moved = {f"ed-{row['transfer_id']}" for row in ours.table("hosp/transfers") if row["eventtype"] == "ED"}
    text = "an ED event of transfers that no row of edstays holds is a stay of ours; they show it as a location only"
    return [alone(True, lambda row: row["id"] in moved - charted, text)]


def icu_procedures(ours: Ours, theirs: Theirs) -> list[Rule]:
    items = {row["itemid"] for row in ours.table("icu/d_items") if row["category"] == "5-Imaging"}
    return [
        values(
            "category", {("imaging", "Imaging")}, "category: our word is `imaging`; theirs is the table's `Imaging`"
        ),
        Rule(
            "category: an item of 5-Imaging is imaging of ours, whatever the category of its order",
            lambda field, one, two: (
                field == "category" and bool(one) and one["category"] == "imaging" and one["code"] in items
            ),  # type: ignore[index]
        ),
    ]


def dates(ours: Ours, theirs: Theirs) -> list[Rule]:
    days = {
        (row["subject_id"], row["itemid"], row["charttime"].replace(" ", "T"))
        for row in ours.table("icu/datetimeevents")
        if row["valueuom"] == "Date"
    }
    return [
        Rule(
            "value: an item whose unit is `Date` is a day of ours; they keep the time of charting in it",
            lambda field, one, two: (
                field == "value"
                and bool(one and two)
                and (one["patient"], one["code"], one["time"]) in days
                and one["value"] == str(two["value"])[:10]
            ),  # type: ignore[index]
        )
    ]


def cultures(ours: Ours, theirs: Theirs) -> list[Rule]:
    grown = Counter((row["specimen"], row["test"], row["organism"]) for row in kinds.organisms_ours(ours))
    isolates: Counter[tuple[str | None, str | None]] = Counter()
    for (specimen, test, _), count in grown.items():
        isolates[specimen, test] += count - 1

    def cancelled(field: str, one: Row | None, two: Row | None) -> bool:
        if one is None or two is None or one["status"] != "cancelled":
            return False
        pair = (one[field], two[field])
        return pair in {("cancelled", "final"), ("unknown", None), ("0", "1")} and field in ("status", "value", "grew")

    def more(field: str, one: Row | None, two: Row | None) -> bool:
        if field != "grew" or one is None or two is None:
            return False
        return int(str(one["grew"])) - int(str(two["grew"])) == isolates[one["specimen"], one["code"]] > 0

    return [
        values(
            "value", {("masked", "MSK")}, "value: masked text is dataAbsentReason of ours; they code NullFlavor MSK"
        ),
        Rule(
            "a test whose organism is CANCELLED is cancelled and grew nothing; theirs is final and grew CANCELLED",
            cancelled,
        ),
        Rule("organisms: each isolate is one of ours; they put the isolates of an organism together", more),
    ]


_CANCELLED = "90760"


def organisms(ours: Ours, theirs: Theirs) -> list[Rule]:
    sums: Counter[tuple[str | None, ...]] = Counter()
    numbers: Counter[tuple[str | None, ...]] = Counter()
    for row in kinds.organisms_ours(ours):
        key = (row["specimen"], row["test"], row["organism"])
        sums[key] += int(str(row["tested"]))
        numbers[key] += 1

    def together(field: str, one: Row | None, two: Row | None) -> bool:
        key = (one["specimen"], one["test"], one["organism"]) if one else ()
        return field == "tested" and two is not None and str(sums[key]) == two["tested"] and numbers[key] > 1

    isolates = "organisms: each isolate is one of ours; they put the isolates of an organism together"
    return [
        Rule(isolates, together),
        alone(True, lambda row: numbers[row["specimen"], row["test"], row["organism"]] > 1, isolates),
        alone(
            False,
            lambda row: row["organism"] == _CANCELLED,
            "CANCELLED is a status of ours; they count it among organisms",
        ),
    ]


def susceptibilities(ours: Ours, theirs: Theirs) -> list[Rule]:
    return [values("reading", {("I", "IND")}, "interpretation I is intermediate (I); they code it IND, indeterminate")]


def signs(ours: Ours, theirs: Theirs) -> list[Rule]:
    return [
        alone(
            False,
            lambda row: row["value"] is None,
            "an empty cell is no observation of ours; theirs has no value and a dataAbsentReason",
        ),
        values("value", {(None, "UNKNOWN-CC")}, "chief complaint UNKNOWN-CC is dataAbsentReason of ours"),
    ]


def rounds(ours: Ours, theirs: Theirs) -> list[Rule]:
    filled = {(row["stay"], row["time"]) for row in ed.signs_theirs(theirs) if row["value"] is not None}
    return [
        alone(
            False,
            lambda row: (row["stay"], row["time"]) not in filled,
            "a row of vitalsign without any value leaves no trace in our charts",
        )
    ]


def cabinets(ours: Ours, theirs: Theirs) -> list[Rule]:
    codes: dict[tuple[str | None, ...], set[str]] = {}
    for row in ed.dispenses_ours(ours):
        codes.setdefault((row["stay"], row["time"], row["drug"]), set()).update(str(row["codes"]).split())

    def within(row: Row) -> bool:
        return set(str(row["codes"]).split()) <= codes.get((row["stay"], row["time"], row["drug"]), set())

    text = "one dispense of ours has all GSN codes of its drug; theirs is one resource per code"
    return [
        Rule(text, lambda field, one, two: field == "codes" and two is not None and within(two)),
        alone(False, within, text),
    ]


def orders(ours: Ours, theirs: Theirs) -> list[Rule]:
    groups = meds.grouped(ours)
    words_of = {row["pharmacy_id"]: row["status"] for row in ours.table("hosp/pharmacy")}
    stops: dict[str, list[bool]] = {}
    for row in ours.table("hosp/prescriptions"):
        stops.setdefault(row["pharmacy_id"], []).append(row["stoptime"] >= row["starttime"])
    swapped = {
        "Discontinued via patient discharge": "completed",
        "Discontinued": "completed",
        "Expired": "stopped",
        "Inactive (Due to a change order)": "stopped",
        "Inactive": "stopped",
    }

    def status(field: str, one: Row | None, two: Row | None) -> bool:
        if field != "status" or one is None or two is None:
            return False
        order = str(one["order"])
        if not any(stops[order]):  # no stop, or one before the start: nothing says how it ended
            return one["status"] == "unknown" and two["status"] == swapped.get(words_of[order], "unknown")
        other = {"completed": "stopped", "stopped": "completed"}.get(str(one["status"]))
        return two["status"] == other == swapped.get(words_of[order])

    def reversed_(field: str, one: Row | None, two: Row | None) -> bool:
        if field != "start" or one is None or two is None or two["start"] is not None:
            return False
        return one["start"] is not None and one["stop"] is None and not any(stops[str(one["order"])])

    def largest(field: str, one: Row | None, two: Row | None) -> bool:
        if field != "dose" or one is None or two is None or not two["dose"] or len(groups[str(one["order"])]) < 2:
            return False
        number, _, unit = str(two["dose"]).partition(" ")
        given = [part.partition(" ") for part in str(one["dose"]).split(" | ")]
        return number in {part[0].partition("-")[0] for part in given} and unit in {part[2] for part in given}

    def words(field: str, one: Row | None, two: Row | None) -> bool:
        if field != "dose" or one is None or two is None or two["dose"] is not None:
            return False
        texts = [order["dosageInstruction"][0].get("text", "") for order in groups[str(one["order"])]]
        return any("-" in text.split(" ")[0] or "," in text.split(" ")[0] for text in texts)

    return [
        Rule(
            "status: Discontinued is stopped, Expired completed; theirs the other way round; no stop is unknown",
            status,
        ),
        Rule(
            "start: theirs has no period where the stop is missing or before the start; ours keeps the start", reversed_
        ),
        Rule(
            "dose: each row of prescriptions has its own; theirs is MAX(number) with MAX(unit) over an order",
            largest,
        ),
        Rule("dose: a range (1-2) and a thousands comma are read; theirs drops what is not a plain number", words),
    ]


def one_route(ours: Ours, theirs: Theirs) -> list[Rule]:
    return [
        *orders(ours, theirs),
        Rule(
            "route: each row keeps its own; theirs is MAX(route) of the rows of an order",
            lambda field, one, two: (
                field == "route" and bool(one and two) and two["route"] == max(str(one["route"]).split(" | "))
            ),  # type: ignore[index]
        ),
    ]


def frequencies(ours: Ours, theirs: Theirs) -> list[Rule]:
    unnamed = {row["pharmacy_id"] for row in ours.table("hosp/pharmacy") if not row["medication"]}
    text = "every order has its frequency; a dispense of theirs needs pharmacy.medication, empty here"
    return [alone(True, lambda row: row["order"] in unnamed, text)]


def poe(ours: Ours, theirs: Theirs) -> list[Rule]:
    missing = not ours.table("hosp/poe")
    return [
        alone(
            False,
            lambda row: missing and row["order"] is not None,
            "made from poe, a table that the demo's CSV does not have",
        )
    ]


def places(ours: Ours, theirs: Theirs) -> list[Rule]:
    text = "the ED of a stay without admission is a location of ours; their ED Encounters have none"
    return [alone(True, lambda row: str(row["admission"]).startswith("ed-") and "Emergency" in str(row["unit"]), text)]


def people(ours: Ours, theirs: Theirs) -> list[Rule]:
    return [
        values("marital", {(None, "UNK")}, "what is not stated is left out; theirs is UNK"),
        Rule(
            "what is not stated is left out; theirs is UNK",
            lambda field, one, two: (
                field == "race" and bool(one and two) and (one["race"], two["race"]) == (None, "UNK")
            ),  # type: ignore[index]
        ),
        Rule(
            "race: HISPANIC is an ethnicity only; theirs adds the race White",
            lambda field, one, two: (
                field == "race"
                and bool(one and two)
                and (one["race"], two["race"], one["hispanic"]) == (None, "2106-3", "True")
            ),  # type: ignore[index]
        ),
        Rule(
            "death: deathtime where there is one; theirs is the day (dod)",
            lambda field, one, two: field == "death" and bool(one and two) and str(one["death"])[:10] == two["death"],  # type: ignore[index]
        ),
    ]


QUICK = (
    Kind("Patient", ("patient",), kinds.people_ours, kinds.people_theirs, people),
    Kind("Encounter, hospital", ("id",), kinds.encounters_ours(""), kinds.encounters_theirs(""), admissions),
    Kind("Encounter, ED", ("id",), kinds.encounters_ours("ed-"), kinds.encounters_theirs("ED"), ed_stays),
    Kind("Encounter, ICU", ("id",), kinds.encounters_ours("icu-"), kinds.encounters_theirs("ICU")),
    Kind("locations (transfers)", ("admission", "unit", "start"), kinds.places_ours, kinds.places_theirs, places),
    Kind("Condition, hospital", ("patient", "stay", "code"), kinds.conditions_ours("dx-"), kinds.conditions_theirs("")),
    Kind("Condition, ED", ("patient", "stay", "code"), kinds.conditions_ours("eddx-"), kinds.conditions_theirs("ED")),
    Kind("Procedure, coded", ("patient", "stay", "code"), kinds.procedures_ours, kinds.procedures_theirs),
    Kind("Procedure, ED (rounds)", ("stay", "time", "what"), ed.doings_ours, ed.doings_theirs, rounds),
    Kind("Observation, ED and vital signs", ("stay", "code", "time"), ed.signs_ours, ed.signs_theirs, signs),
    Kind("MedicationStatement, ED", ("stay", "time", "drug"), ed.statements_ours, ed.statements_theirs),
    Kind("MedicationDispense, ED", ("stay", "time", "drug"), ed.dispenses_ours, ed.dispenses_theirs, cabinets),
)
"""Kinds whose tables are small."""

LARGE = (
    Kind(
        "Procedure, ICU",
        ("patient", "code", "start"),
        kinds.icu_procedures_ours,
        kinds.icu_procedures_theirs,
        icu_procedures,
    ),
    Kind(
        "Observation, outputevents",
        ("patient", "code", "time"),
        kinds.charted_ours("icuout-"),
        kinds.charted_theirs("Outputevents"),
    ),
    Kind(
        "Observation, datetimeevents",
        ("patient", "code", "time"),
        kinds.charted_ours("icudate-"),
        kinds.charted_theirs("Datetimeevents"),
        dates,
    ),
    Kind("Observation, micro: tests", ("specimen", "code"), kinds.micro_tests_ours, kinds.micro_tests_theirs, cultures),
    Kind(
        "Observation, micro: organisms",
        ("specimen", "test", "organism"),
        kinds.organisms_ours,
        kinds.organisms_theirs,
        organisms,
    ),
    Kind(
        "Observation, micro: drugs",
        ("row",),
        kinds.susceptibilities_ours,
        kinds.susceptibilities_theirs,
        susceptibilities,
    ),
    Kind("MedicationRequest, pharmacy", ("order",), meds.orders_ours, meds.orders_theirs, one_route),
    Kind("MedicationRequest, poe", ("order",), lambda side: iter(()), meds.poe_orders_theirs, poe),
    Kind("MedicationDispense, pharmacy", ("order",), meds.frequencies_ours, meds.frequencies_theirs, frequencies),
    Kind("Specimen", ("system", "number"), kinds.specimens_ours, kinds.specimens_theirs),
)
"""Kinds whose tables take the time."""
