"""No leak of the future on real records: another future in the MIMIC-IV tables changes nothing seen at the anchor.

The tables the demo lacks (emar, poe and their details) get invented rows of the same patient. Tables with tests of
their own futures: chartevents, inputevents, notes.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from wardround.patients import (
    TOOLS,
    Chart,
    ChartStore,
    Dialogue,
    Instant,
    Interview,
    Overlay,
    Search,
    Snapshot,
    ToolCall,
    ToolContext,
    make_interview,
    parse_instant,
    run_tool,
)
from wardround.patients.fhir import types
from wardround.patients.importers.mimic import import_mimic

FILLER = "10006580"
"""A patient whose rows (two of a table) never change, so that no table is ever empty."""

TABLES = {
    "hosp": (
        "patients", "admissions", "transfers", "services", "diagnoses_icd", "procedures_icd", "drgcodes", "labevents",
        "microbiologyevents", "prescriptions", "pharmacy", "omr",
    ),
    "icu": ("icustays", "outputevents", "datetimeevents", "procedureevents"),
    "ed": ("edstays", "triage", "diagnosis", "vitalsign", "medrecon", "pyxis"),
}  # fmt: skip
INVENTED = ("emar", "emar_detail", "poe", "poe_detail")
DICTIONARIES = ("hosp/d_labitems", "hosp/d_icd_diagnoses", "hosp/d_icd_procedures", "icu/d_items")
Row = dict[str, str]
Tables = dict[str, list[Row]]
FORM = "%Y-%m-%d %H:%M:%S"


def moved(text: str, days: int = 0, hours: int = 0) -> str:
    if len(text) == 10:
        return moved(f"{text} 00:00:00", days)[:10]
    return (datetime.strptime(text, FORM) + timedelta(days=days, hours=hours)).strftime(FORM)


def day_end(text: str) -> str:
    return f"{text[:10]} 23:59:59" if text else ""


# -- the record --------------------------------------------------------------------------------------------------------


def rows_of(demo: Path, subject: str) -> Tables:
    """The demo's rows of a patient and of the filler, and the invented rows of both."""
    subjects = (subject, FILLER)
    found: Tables = {}
    for module, names in TABLES.items():
        for name in names:
            with gzip.open(demo / module / f"{name}.csv.gz", "rt", newline="") as file:
                rows = [row for row in csv.DictReader(file) if row["subject_id"] in subjects]
            filler = [row for row in rows if row["subject_id"] == FILLER]
            found[name] = [row for row in rows if row["subject_id"] == subject] + filler[:2]
    found["microbiologyevents"] = list(growing(found["microbiologyevents"]))
    for subject in subjects:
        for name, rows in {**invented_emar(subject, found), **invented_poe(subject, found)}.items():
            found.setdefault(name, []).extend(rows)
    return found


def growing(rows: list[Row]) -> Iterator[Row]:
    """The demo stores all of a culture at once; here every second one grows: a row a day, and one more germ at last."""
    cultures: dict[str, list[Row]] = {}
    for row in rows:
        cultures.setdefault(f"{row['micro_specimen_id']} {row['test_itemid']}", []).append(row)
    for place, group in enumerate(cultures.values()):
        for day, row in enumerate(group):
            grows = place % 2 and row["storetime"]
            yield {**row, "storetime": moved(row["storetime"], day)} if grows else row
        last = group[-1]
        if place % 2 and last["storetime"]:
            germ = {"org_itemid": "80002", "org_name": "ESCHERICHIA COLI", "isolate_num": "9"}
            at = moved(last["storetime"], len(group))
            yield {**last, **germ, "microevent_id": f"9{last['microevent_id']}", "storetime": at, "comments": "GROWN"}


def invented_emar(subject: str, tables: Tables) -> Tables:
    """A dose an hour after the start of each of the first orders; every fifth is stored a day later."""
    orders = sorted(
        (row for row in tables["prescriptions"] if row["subject_id"] == subject), key=lambda r: sorted(r.items())
    )
    out: Tables = {"emar": [], "emar_detail": []}
    for number, order in enumerate(orders[:80], 1):
        name = f"{subject}-{number}"
        at = moved(order["starttime"], hours=1)
        out["emar"].append(
            {
                "subject_id": subject, "hadm_id": order["hadm_id"], "emar_id": name, "emar_seq": str(number),
                "poe_id": "", "pharmacy_id": order["pharmacy_id"], "charttime": at, "medication": order["drug"],
                "event_txt": ("Administered", "Not Given", "Stopped")[number % 3], "scheduletime": at,
                "storetime": moved(at, hours=24 if number % 5 == 0 else 0),
            }
        )  # fmt: skip
        out["emar_detail"].append(
            {"subject_id": subject, "emar_id": name, "dose_given": str(number), "dose_given_unit": "mg"}
        )
    return out


def invented_poe(subject: str, tables: Tables) -> Tables:
    """Orders nine hours apart, from before admission on; some discontinue or change the one before the last."""
    out: Tables = {"poe": [], "poe_detail": []}
    kinds = (("Lab", ""), ("Radiology", "CT Scan"), ("Consults", "Cardiology"), ("Medications", ""), ("Nutrition", ""))
    for stay in (row for row in tables["admissions"] if row["subject_id"] == subject):
        first = len(out["poe"])
        for number in range(first, first + 14):
            name = f"{subject}-{number + 1}"
            kind, subtype = kinds[number % 5]
            row = {
                "poe_id": name, "poe_seq": str(number + 1), "subject_id": subject, "hadm_id": stay["hadm_id"],
                "ordertime": moved(stay["admittime"], hours=9 * (number - first) - 12), "order_type": kind,
                "order_subtype": subtype, "transaction_type": "New", "discontinue_of_poe_id": "",
                "discontinued_by_poe_id": "", "order_status": "Inactive",
            }  # fmt: skip
            if number - first >= 2 and number % 3 < 2:
                ended = out["poe"][number - 2]
                row["transaction_type"] = "D/C" if number % 3 == 0 else "Change"
                row["discontinue_of_poe_id"], ended["discontinued_by_poe_id"] = ended["poe_id"], name
            out["poe"].append(row)
            asked = {"poe_id": name, "poe_seq": str(number + 1), "subject_id": subject}
            for field, value in (
                ("Level of Urgency", "Routine"),
                ("Consult Status", "Accepted"),
                ("Consult Status Time", moved(row["ordertime"], hours=20)),
            ):
                out["poe_detail"].append({**asked, "field_name": field, "field_value": value})
    return out


@cache
def dictionary(path: Path) -> list[Row]:
    with gzip.open(path, "rt", newline="") as file:
        return list(csv.DictReader(file))


def dictionaries(demo: Path, tables: Tables) -> Tables:
    """The entries of the dictionaries that the tables use: reading all of them takes longer than the patient."""
    used = {row[key] for rows in tables.values() for row in rows for key in ("itemid", "icd_code") if key in row}
    return {
        name.partition("/")[2]: [
            row for row in dictionary(demo / f"{name}.csv.gz") if (row.get("itemid") or row.get("icd_code")) in used
        ]
        for name in DICTIONARIES
    }


def write(path: Path, rows: list[Row]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def imported(demo: Path, folder: Path, tables: Tables, subject: str) -> Chart:
    (folder / "hosp").mkdir(parents=True)
    for name, rows in dictionaries(demo, tables).items():
        write(folder / "hosp" / f"{name}.csv", rows)
    for name, rows in tables.items():
        write(folder / "hosp" / f"{name}.csv", rows)
    report = import_mimic(folder, folder / "charts.sqlite", threads=1)
    assert report.invalid == 0
    with ChartStore.open(folder / "charts.sqlite") as store:
        return store.chart(subject)


# -- another future ----------------------------------------------------------------------------------------------------


class Future:
    """The same tables up to `now` (wall clock, as in the files); everything that became known later is otherwise.

    Half of the rows that come later are gone, the others come at another time and say something else.
    """

    def __init__(self, tables: Tables, subject: str, now: str) -> None:
        self.tables, self.subject, self.now = tables, subject, now
        mine = {name: [row for row in rows if row["subject_id"] == subject] for name, rows in tables.items()}
        self.coming = {row["hadm_id"] for row in mine["admissions"] if row["admittime"] > now}
        self.open = {row["hadm_id"] for row in mine["admissions"] if row["dischtime"] > now}
        self.ed_coming = {row["stay_id"] for row in mine["edstays"] if row["intime"] > now}
        self.ed_open = {row["stay_id"] for row in mine["edstays"] if row["outtime"] > now}
        self.entered = {row["pharmacy_id"]: row["entertime"] for row in mine["pharmacy"]}
        self.stops: dict[str, list[str]] = {}
        for row in mine["prescriptions"]:
            self.stops.setdefault(row["pharmacy_id"], []).append(row["stoptime"])
        self.ordered = {row["poe_id"]: row["ordertime"] for row in mine["poe"]}
        self.given = {row["emar_id"]: row["storetime"] for row in mine["emar"]}

    def made(self) -> Tables:
        return {name: list(self._rows(name, rows)) for name, rows in self.tables.items()}

    def _rows(self, name: str, rows: list[Row]) -> Iterator[Row]:
        late = 0
        for row in rows:
            if row["subject_id"] != self.subject:
                yield row
                continue
            if self.known(name, row) <= self.now:
                yield self.changed(name, self.stayless(row))
                continue
            late += 1
            # Pharmacy says when prescriptions are known; that a culture is still growing is known while it grows.
            if name in STAYS or (name not in GONE and late % 2):
                nothing_grew = dict.fromkeys(GERM, "") if name == "microbiologyevents" and late % 2 else {}
                yield self.otherwise(self.stayless(row)) | nothing_grew

    def known(self, name: str, row: Row) -> str:
        """When a row became known, as wall clock; "" is always."""
        if name in ("diagnoses_icd", "procedures_icd", "drgcodes"):
            end = next(one["dischtime"] for one in self.tables["admissions"] if one["hadm_id"] == row["hadm_id"])
            return max(end, day_end(row["chartdate"])) if name == "procedures_icd" else end
        if name == "transfers" and row["hadm_id"] in self.coming and row["eventtype"] != "ED":
            return "9999"
        if name == "services":
            return "9999" if row["hadm_id"] in self.coming else row["transfertime"]
        if name in ("triage", "diagnosis"):
            stay = next(one for one in self.tables["edstays"] if one["stay_id"] == row["stay_id"])
            return stay["intime"] if name == "triage" else stay["outtime"]
        if name == "procedureevents":
            return max(row["storetime"] or day_end(row["starttime"]), row["starttime"])
        if name == "prescriptions":
            return self.entered.get(row["pharmacy_id"]) or row["starttime"]
        if name == "microbiologyevents":
            return row["storetime"] or day_end(row["storedate"]) or "9999"
        if name == "emar_detail":
            return self.given[row["emar_id"]]
        if name == "poe_detail":
            return self.ordered[row["poe_id"]]
        for column in ("admittime", "intime", "entertime", "ordertime", "storetime"):
            if row.get(column):
                return row[column]
        return row.get("charttime") if name in CHARTED else day_end(row.get("charttime") or row.get("chartdate") or "")

    def stayless(self, row: Row) -> Row:
        """A row of a stay that is still to come does not name it: the patient may never be admitted."""
        return {**row, "hadm_id": ""} if row.get("hadm_id") in self.coming else row

    def changed(self, name: str, row: Row) -> Row:
        """A row that is known, with what is still to come of it otherwise."""
        out = dict(row)
        for column in ENDS:
            if out.get(column, "") > self.now:
                out[column] = moved(out[column], 4)
        if name == "patients" and day_end(row["dod"]) > self.now:
            out["dod"] = ""
        if name == "admissions" and row["hadm_id"] in self.open:
            out |= {"discharge_location": "REHAB", "deathtime": "", "hospital_expire_flag": "0"}
        if name == "edstays" and row["stay_id"] in self.ed_open:
            out["disposition"] = "ELOPED"
        if name == "icustays" and row["outtime"] > self.now:
            out["last_careunit"] = "Somewhere else"
        if name == "pharmacy" and all(stop > self.now for stop in self.stops.get(row["pharmacy_id"], [""])):
            out["status"] = "Expired"
        if name == "procedureevents" and row["endtime"] > self.now:
            out["statusdescription"] = "Paused"
        if name == "poe" and self.ordered.get(row["discontinued_by_poe_id"], "") > self.now:
            out["discontinued_by_poe_id"] = ""
        if name == "poe_detail" and row["field_name"] == "Consult Status Time" and row["field_value"] > self.now:
            out["field_value"] = moved(row["field_value"], 2)
        return out

    def otherwise(self, row: Row) -> Row:
        """A row that comes later, at a later time and with another content."""
        times = {column: moved(value, 2) for column, value in row.items() if _is_time(value) and value > self.now}
        said = {column: OTHER[column] for column in row if column in OTHER and row[column]}
        return {**row, **said, **times}


GONE = frozenset({"admissions", "edstays", "icustays", "poe", "poe_detail", "emar", "emar_detail"})
"""Tables other rows refer to: their later rows are gone, none comes at another time."""
GERM = ("org_itemid", "org_name", "isolate_num", "ab_itemid", "ab_name", "interpretation")
STAYS = frozenset({"pharmacy", "microbiologyevents"})
"""Tables whose later rows never go."""
CHARTED = frozenset({"vitalsign", "medrecon", "pyxis"})
"""Tables whose rows are known when charted."""
ENDS = ("dischtime", "outtime", "stoptime", "endtime")
OTHER = {
    "value": "1", "valuenum": "1", "result_value": "1", "org_name": "ANOTHER GERM", "org_itemid": "1",
    "comments": "OTHER WORDS", "interpretation": "I", "icd_code": "Z9981", "icd_version": "10", "icd_title": "OTHER",
    "curr_service": "GYN", "careunit": "Elsewhere", "drug": "Other drug", "name": "Other drug", "drg_code": "999",
    "statusdescription": "Stopped", "status": "Expired", "chiefcomplaint": "Other", "acuity": "5", "heartrate": "77",
}  # fmt: skip


def _is_time(value: str) -> bool:
    return len(value) in (10, 19) and value[4:5] == "-" and value[7:8] == "-"


# -- what is seen ------------------------------------------------------------------------------------------------------


def seen(chart: Chart, now: str) -> dict[Any, Any]:
    """Everything a snapshot and the agents' read tools show."""
    anchor = parse_instant(now)
    snapshot = chart.at(anchor)
    out: dict[Any, Any] = {}
    for kind in types():
        out |= {(kind, *key): value for key, value in _searched(snapshot, kind, anchor)}
    out["interview"] = make_interview(snapshot, 5).model_dump_json()
    for view in ("compact", "fhir"):
        context = ToolContext(Overlay(snapshot), Dialogue(Interview()), chart.patient_id, "s", view=view)
        for name, arguments in _questions(snapshot):
            call = ToolCall(name, {"subject_id": chart.patient_id, **arguments})
            out[view, name, str(arguments)] = run_tool(context, call)
    return out


def _searched(snapshot: Snapshot, kind: str, anchor: Instant) -> Iterator[tuple[tuple[str, ...], Any]]:
    entries = snapshot.search(Search(kind)).entries()
    yield (), [(entry.key, entry.body, entry.row) for entry in entries]
    yield ("names",), (snapshot.names(kind), snapshot.concepts(kind), snapshot.imported(kind))
    stays = [entry.id for entry in snapshot.search(Search("Encounter")).entries()]
    asked: list[dict[str, Any]] = [{"date_from": anchor}, {"date_to": anchor}, {"text": "pain"}, {"codes": ("2160-0",)}]
    asked += [{"encounter": stay} for stay in stays]
    asked += [{"category": word} for word in ("laboratory", "vital-signs", "microbiology", "imaging", "exam", "IMP")]
    asked += [
        {"status": word}
        for word in (
            "active", "completed", "stopped", "unknown", "finished", "in-progress", "final", "preliminary", "revoked",
            "not-done", "on-hold",
        )
    ]  # fmt: skip
    for query in asked:
        yield (str(query),), [entry.id for entry in snapshot.search(Search(kind, **query)).entries()]


def _questions(snapshot: Snapshot) -> Iterator[tuple[str, dict[str, Any]]]:
    stays = [entry.id for entry in snapshot.search(Search("Encounter")).entries(0, 4)]
    for name, tool in TOOLS.items():
        if tool.effect != "read":
            continue
        yield name, {}
        if name == "Patient.read":
            continue
        yield name, {"_count": 100}
        for stay in (*stays, "no-such-stay"):
            yield name, {"hadm_id": stay}
        for word in ("creatinine", "I", "zzz", "insulin", "blood culture", "heart failure", "pain"):
            for argument in {"code", "medication"} & set(tool.schema["properties"]):
                yield name, {argument: word}
        for category in ("laboratory", "microbiology", "vital-signs"):
            if name == "Observation.search":
                yield name, {"category": category, "_count": 100}


def _anchors(tables: Tables, subject: str) -> list[str]:
    """In the first, the middle and the last stay, in the ED before an admission, in an ICU, while cultures grow."""
    mine = {name: [row for row in rows if row["subject_id"] == subject] for name, rows in tables.items()}
    stays = sorted(mine["admissions"], key=lambda row: row["admittime"])
    middles = [moved(stay["admittime"], 1) for stay in (stays[0], stays[len(stays) // 2], stays[-1])]
    early = next(moved(row["intime"], hours=1) for row in mine["edstays"] if row["hadm_id"])
    growing: dict[str, set[str]] = {}
    for row in mine["microbiologyevents"]:
        growing.setdefault(f"{row['micro_specimen_id']} {row['test_itemid']}", set()).add(row["storetime"] or "9999")
    stages = sorted(min(times) for times in growing.values() if len(times) > 1)
    return [*middles, early, moved(mine["icustays"][0]["intime"], hours=7), *stages[:2]]


@pytest.mark.parametrize(("subject", "anchors"), [("10015931", 2), ("10023239", 7)])
def test_another_future_changes_nothing_now(mimic_demo: Path, tmp_path: Path, subject: str, anchors: int) -> None:
    tables = rows_of(mimic_demo, subject)
    chart = imported(mimic_demo, tmp_path / "real", tables, subject)
    untouched, running = set(tables), []
    for number, now in enumerate(_anchors(tables, subject)[:anchors]):
        other = Future(tables, subject, now).made()
        untouched -= {name for name in tables if other[name] != tables[name]}
        found = seen(imported(mimic_demo, tmp_path / f"other-{number}", other, subject), now)
        mine = seen(chart, now)
        assert mine.keys() == found.keys()
        for key, value in mine.items():
            assert value == found[key], (now, key, _first_difference(value, found[key]))
        assert mine["Observation",]
        running += mine["MedicationRequest", "{'status': 'active'}"]
    assert running
    died = any(row["dod"] for row in tables["patients"] if row["subject_id"] == subject)
    assert untouched <= (set() if died else {"patients"}), "tables whose future was never another one"


def _first_difference(left: Any, right: Any) -> Any:
    if isinstance(left, list) and isinstance(right, list):
        return [pair for pair in zip(left, right, strict=False) if pair[0] != pair[1]][:1] or (len(left), len(right))
    return left, right
