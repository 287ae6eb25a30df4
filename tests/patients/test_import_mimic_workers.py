"""An import over several processes: the store and the report of one process, whatever happens to any of them."""

from __future__ import annotations

import csv
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Collection, Iterator
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import orjson
import pytest

from wardround.patients import DataError, UsageError
from wardround.patients.importers import _resuming, _workers, import_mimic, mimic
from wardround.patients.importers._making import Made
from wardround.patients.importers._workers import HELD, JOB_ROWS, Pool
from wardround.patients.importers.registry import MAPPERS

PATIENTS = 36
LONG = 7
"""A patient with more results than a job has rows."""
FEVER = "He had a fever and was given fluids."
SUMMARY = f"""Name: ___

Chief Complaint:
{FEVER}

Discharge Medications:
1. Aspirin 81 mg PO DAILY

Followup Instructions:
___
"""


def at(day: int, hour: int = 8) -> str:
    return f"2150-03-{day:02} {hour:02}:00:00"


def rows_of(p: int) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield table and row of everything about patient `p`; a cell that is not named is empty."""
    hadm, icu, ed = 1000 + p, 5000 + p, 7000 + p
    who = {"subject_id": p}
    stay = {**who, "hadm_id": hadm}
    age = "old" if p == 11 else 40 + p % 50
    yield "patients", {**who, "gender": "FM"[p % 2], "anchor_age": age, "anchor_year": 2150}
    yield "admissions", {
        **stay, "admittime": at(1), "dischtime": at(20), "admission_type": "EW EMER.", "race": "WHITE",
        "insurance": "Medicare", "language": "ENGLISH",
    }  # fmt: skip
    yield "transfers", {
        **stay, "transfer_id": 8000 + p, "eventtype": "admit", "careunit": "Medicine",
        "intime": at(1), "outtime": at(20),
    }  # fmt: skip
    yield "services", {**stay, "transfertime": at(1), "curr_service": "MED"}
    yield "icustays", {
        **stay, "stay_id": icu, "first_careunit": "MICU", "last_careunit": "MICU", "intime": at(2), "outtime": at(9),
    }  # fmt: skip
    yield "edstays", {
        **stay, "stay_id": ed, "intime": at(1, 2), "outtime": at(1, 7), "arrival_transport": "WALK IN",
        "disposition": "ADMITTED",
    }  # fmt: skip
    yield "triage", {
        **who, "stay_id": ed, "temperature": 98.6, "heartrate": 80 + p, "resprate": 16, "o2sat": 98, "sbp": 120,
        "dbp": 80, "pain": p % 11, "acuity": 1 + p % 5, "chiefcomplaint": "Fever",
    }  # fmt: skip
    for k, code in enumerate(("0389", "V707", "4019")[: 1 + p % 3], 1):
        yield "diagnoses_icd", {**stay, "seq_num": k, "icd_code": code, "icd_version": 9}
        yield "diagnosis", {**who, "stay_id": ed, "seq_num": k, "icd_code": code, "icd_version": 9, "icd_title": "X"}
    yield "drgcodes", {**stay, "drg_type": "HCFA", "drg_code": f"{100 + p}", "description": "SEPSIS"}
    yield "procedures_icd", {**stay, "seq_num": 1, "chartdate": "2150-03-03", "icd_code": "5491", "icd_version": 9}
    for k in range(1 + p % 4):
        order = 9000 + 10 * p + k
        yield "prescriptions", {
            **stay, "pharmacy_id": order, "starttime": at(2 + k), "stoptime": at(5 + k), "drug_type": "MAIN",
            "drug": ("Warfarin", "Aspirin", "Heparin")[k % 3], "ndc": 0, "dose_val_rx": 5, "dose_unit_rx": "mg",
            "doses_per_24_hrs": 1, "route": "PO",
        }  # fmt: skip
        yield "pharmacy", {
            **stay, "pharmacy_id": order, "poe_id": f"{p}-{k + 1}", "status": "Expired", "entertime": at(2 + k, 7),
            "frequency": "DAILY",
        }  # fmt: skip
        yield "poe", {
            **stay, "poe_id": f"{p}-{k + 20}", "ordertime": at(2 + k), "order_type": "Radiology",
            "order_subtype": "CT Scan", "transaction_type": "New",
        }  # fmt: skip
        yield "poe_detail", {**who, "poe_id": f"{p}-{k + 20}", "field_name": "Indication", "field_value": f"x{k % 2}"}
        yield "emar", {
            **stay, "emar_id": f"{p}-{k + 1}", "emar_seq": k + 1, "pharmacy_id": order, "charttime": at(3 + k),
            "storetime": at(3 + k, 9), "medication": "Warfarin", "event_txt": ("Administered", "Not Given")[k % 2],
        }  # fmt: skip
        yield "emar_detail", {
            **who, "emar_id": f"{p}-{k + 1}", "dose_due": 5, "dose_due_unit": "mg", "dose_given": 5,
            "dose_given_unit": "mg", "product_description": "Warfarin 5 mg",
        }  # fmt: skip
        timed = {**stay, "stay_id": icu, "starttime": at(3 + k), "endtime": at(3 + k, 12), "storetime": at(3 + k, 12)}
        run = {**timed, "orderid": order, "linkorderid": order, "amount": 50 + k, "amountuom": "ml"}
        yield "inputevents", {
            **run, "itemid": 225158, "rate": 12.5, "rateuom": "mL/hour", "ordercategoryname": "02-Fluids",
            "ordercategorydescription": "Continuous Med", "patientweight": 70, "statusdescription": "FinishedRunning",
        }  # fmt: skip
        yield "ingredientevents", {**run, "itemid": 220490}
        yield "procedureevents", {
            **timed, "itemid": 221214, "value": 30, "valueuom": "min", "orderid": order,
            "statusdescription": "FinishedRunning",
        }  # fmt: skip
        charted = {**stay, "stay_id": icu, "charttime": at(3 + k), "storetime": at(3 + k, 9)}
        yield "outputevents", {**charted, "itemid": 226559, "value": 100 + k, "valueuom": "mL"}
        yield "datetimeevents", {**charted, "itemid": 224183, "value": at(2), "valueuom": "Date and Time"}
        yield "vitalsign", {**who, "stay_id": ed, "charttime": at(1, 3 + k), "heartrate": 80 + k, "sbp": 120, "dbp": 70}
        yield (
            "pyxis",
            {**who, "stay_id": ed, "charttime": at(1, 3 + k), "med_rn": k + 1, "name": "Aspirin", "gsn_rn": 1},
        )
        yield "medrecon", {**who, "stay_id": ed, "charttime": at(1, 2), "name": f"Drug {k}", "gsn": "004489", "ndc": 0}
        yield (
            "omr",
            {
                **who,
                "chartdate": "2150-03-02",
                "seq_num": k + 1,
                "result_name": "Weight (Lbs)",
                "result_value": 150 + k,
            },
        )
        yield "microbiologyevents", {
            **stay, "microevent_id": order, "micro_specimen_id": order, "chartdate": at(3, 0), "charttime": at(3),
            "spec_itemid": 70012, "spec_type_desc": "BLOOD CULTURE", "storedate": at(5, 0), "storetime": at(5, 9),
            "test_itemid": 90201, "test_name": "Blood Culture", "comments": "NO GROWTH." if k % 2 else None,
            "org_itemid": None if k % 2 else 80002, "org_name": None if k % 2 else "ESCHERICHIA COLI", "isolate_num": 1,
        }  # fmt: skip
    for k in range(300 if p == LONG else 5 + p % 9):
        yield "chartevents", {
            **stay, "stay_id": icu, "charttime": at(3 + k % 6, k % 24), "storetime": at(3 + k % 6, k % 24),
            "itemid": (220045, 220739)[k % 2] if k < 150 else 300000 + k, "value": 60 + k % 50,
            "valuenum": 60 + k % 50, "valueuom": "bpm",
        }  # fmt: skip
    for k in range(2 * JOB_ROWS + 100 if p == LONG else 8 + p % 5):
        text = "a\u00a0b" if (p, k) in {(5, 2), (20, 0)} else f"{k % 7}.{k % 10}"
        item = "x" if (p, k) == (9, 3) else 50912 if k % 3 else 50971
        yield "labevents", {
            **stay, "labevent_id": p * 100_000 + k, "specimen_id": p * 1000 + k // 4, "itemid": item,
            "charttime": at(2 + k % 8), "storetime": at(2 + k % 8, 9), "value": text,
            "valuenum": None if "\u00a0" in text else text, "valueuom": "mg/dL", "ref_range_lower": 0.4,
            "ref_range_upper": 1.1,
        }  # fmt: skip
    for table, text in (("discharge", SUMMARY), ("radiology", f"EXAMINATION: CT HEAD\n\nIMPRESSION:\n{FEVER}")):
        note = f"{p}-{'DS' if table == 'discharge' else 'RR'}-1"
        kind = {"note_type": note.split("-")[1], "note_seq": 1, "charttime": at(19), "storetime": at(19, 9)}
        yield table, {**stay, **kind, "note_id": note, "text": text}
        yield (
            f"{table}_detail",
            {**who, "note_id": note, "field_name": "author", "field_value": "x", "field_ordinal": 1},
        )


DICTIONARIES: dict[str, list[dict[str, object]]] = {
    "d_labitems": [
        {"itemid": 50912, "label": "Creatinine", "fluid": "Blood", "category": "Chemistry"},
        {"itemid": 50971, "label": "Potassium", "fluid": "Blood", "category": "Chemistry"},
        {"itemid": 50912, "label": "Twice", "fluid": "Blood", "category": "Chemistry"},
    ],
    "d_items": [
        {"itemid": item, "label": label, "linksto": "chartevents", "category": category}
        for item, label, category in (
            (220045, "Heart Rate", "Routine Vital Signs"), (220739, "GCS - Eye Opening", "Neurological"),
            (225158, "NaCl 0.9%", "Fluids/Intake"), (220490, "Water", "Ingredients"), (226559, "Foley", "Output"),
            (221214, "CT scan", "5-Imaging"), (224183, "Line placed", "Access Lines"),
        )
    ],
    "d_icd_diagnoses": [{"icd_code": "0389", "icd_version": 9, "long_title": "Septicemia"}],
    "d_icd_procedures": [{"icd_code": "5491", "icd_version": 9, "long_title": "Paracentesis"}],
}  # fmt: skip


def write_tables(folder: Path) -> Path:
    """Write every table that is imported; rows of all patients mixed, some of nobody."""
    tables: dict[str, list[dict[str, object]]] = {name: list(rows) for name, rows in DICTIONARIES.items()}
    for p in [*range(2, PATIENTS + 1, 2), *range(1, PATIENTS + 1, 2), 777]:
        for table, row in rows_of(p):
            if not (p == 777 and table == "patients"):
                tables.setdefault(table, []).append(row)
    tables["labevents"].append({**tables["labevents"][0], "subject_id": "nobody"})
    specs = {spec.name: spec for make in MAPPERS for spec in (*make().tables, *make().dictionaries)}
    assert specs.keys() == tables.keys()
    folder.mkdir()
    for name, spec in specs.items():
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, spec.columns, extrasaction="ignore", lineterminator="\n")
            writer.writeheader()
            writer.writerows(tables[name])
    return folder


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints come often, and no edit of the checkout between two processes makes it another library."""
    monkeypatch.setattr(mimic, "CHECKPOINT", 300)
    monkeypatch.setattr(_resuming, "_library", lambda: "this library")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tables(tmp_path_factory.mktemp("workers") / "in")


def content(store: Path) -> dict[str, Any]:
    """Return all that a store holds but for the statistics of validation: a restart and workers change those."""
    with sqlite3.connect(store) as base:
        found: dict[str, Any] = {
            table: base.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall() for table in ("charts", "texts")
        }
        found["frames"] = base.execute("SELECT * FROM frames ORDER BY patient, number").fetchall()
        found["header"] = orjson.loads(base.execute("SELECT body FROM header").fetchone()[0])
    base.close()
    validated = found["header"].pop("validated")
    assert min(validated.values()) > 0
    return found


@pytest.fixture(scope="module")
def alone(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Report and content of the import by one process."""
    report = import_mimic(folder, folder.parent / "alone.sqlite", threads=1).as_dict()
    return report, content(folder.parent / "alone.sqlite")


def test_the_invented_tables_meet_every_mapper(alone: tuple[dict[str, Any], dict[str, Any]]) -> None:
    report, _ = alone
    assert report["patients"] == PATIENTS - 1
    assert report["invalid"] == 2
    assert report["missing_tables"] == []
    for table in report["tables"]:
        assert table["kept"] > 0, table
        assert table["read"] == table["kept"] + sum(one["count"] for one in table["refused"])
    reasons = {one["reason"] for table in report["tables"] for one in table["refused"]}
    assert {
        "subject_id is not in patients",
        "the patient's own row was refused",
        "itemid is not a whole number",
    } < reasons


@pytest.mark.parametrize(("workers", "job", "held"), [(2, JOB_ROWS, HELD), (3, 1, 0)])
def test_workers_change_nothing(
    workers: int, job: int, held: int, folder: Path, alone: tuple[dict[str, Any], dict[str, Any]], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(_workers, "JOB_ROWS", job)
    monkeypatch.setattr(_workers, "HELD", held)
    seen: list[int] = []
    report = import_mimic(folder, tmp_path / "out.sqlite", threads=1, workers=workers, progress=seen.append)
    assert (report.as_dict(), content(tmp_path / "out.sqlite")) == alone
    assert seen == list(range(1, PATIENTS))
    assert [path.name for path in tmp_path.iterdir()] == ["out.sqlite"]
    assert multiprocessing.active_children() == []


def test_an_interrupted_import_goes_on_with_other_workers(
    folder: Path, alone: tuple[dict[str, Any], dict[str, Any]], tmp_path: Path
) -> None:
    def stop(done: int) -> None:
        if done == 13:
            raise KeyboardInterrupt

    out = tmp_path / "out.sqlite"
    with pytest.raises(KeyboardInterrupt):
        import_mimic(folder, out, workers=2, progress=stop)
    assert multiprocessing.active_children() == []
    assert [path.name for path in tmp_path.iterdir()] == [".out.sqlite.part"]
    seen: list[int] = []
    assert import_mimic(folder, out, progress=seen.append).as_dict() == alone[0]
    assert 1 < seen[0] <= 14
    assert content(out) == alone[1]


def kill_workers() -> None:
    for process in multiprocessing.active_children():
        process.kill()
        process.join()


class DiesReading(Pool):
    """Its workers are killed while rows are read for them."""

    def begin(self, subject: int) -> None:
        """Begin a patient; the fifth is too many."""
        if subject == 5:
            kill_workers()
        super().begin(subject)


class DiesMapping(Pool):
    """Its workers are killed when they have been given all rows."""

    def settled(self, *, patiently: bool) -> Iterator[tuple[int, Made]]:
        """Wait for workers that are no more."""
        if patiently:
            self.finish()
            kill_workers()
        yield from super().settled(patiently=patiently)


@pytest.mark.parametrize("pool", [DiesReading, DiesMapping])
def test_a_worker_that_is_killed_is_named_with_its_patient(
    pool: type[Pool], folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mimic, "Pool", pool)
    with pytest.raises(DataError, match=r"imported patient \d+ ended \(signal 9\)"):
        import_mimic(folder, tmp_path / "out.sqlite", workers=2)
    assert list(tmp_path.iterdir()) == []
    assert multiprocessing.active_children() == []


class Mistold(Pool):
    """Its workers do not know of a table whose rows they get."""

    def __init__(self, workers: int, present: Collection[str], *rest: Any) -> None:
        """Keep a table back."""
        super().__init__(workers, set(present) - {"omr"}, *rest)


def test_what_a_worker_raises_is_raised_in_its_turn(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mimic, "Pool", Mistold)
    monkeypatch.setattr(_workers, "JOB_ROWS", 1)
    with pytest.raises(RuntimeError, match=r"^patient 1: AssertionError: rows of `omr`") as caught:
        import_mimic(folder, tmp_path / "out.sqlite", workers=2)
    assert "in serve" in caught.value.__notes__[0]
    assert list(tmp_path.iterdir()) == []
    assert multiprocessing.active_children() == []


SCRIPT = """
import multiprocessing, os, signal, sys
from pathlib import Path
from wardround.patients.importers import _resuming, import_mimic, mimic

def progress(done):
    if done == 13:
        Path(told).write_text(" ".join(str(process.pid) for process in multiprocessing.active_children()))
        os.killpg(0, signal.SIGINT) if how == "SIGINT" else os.kill(os.getpid(), signal.SIGKILL)

folder, out, told, how = sys.argv[1:]
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job started with `&` inherits that it is ignored
mimic.CHECKPOINT = 300
_resuming._library = lambda: "this library"
if __name__ == "__main__":
    import_mimic(folder, out, threads=1, workers=2, progress=progress)
"""


def running(pid: int) -> bool:
    """Tell whether a process runs; one that nobody waits for is none."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self").exists()


@pytest.mark.parametrize("how", ["SIGKILL", "SIGINT"])
def test_no_worker_outlives_the_import_and_it_is_taken_up_again(
    how: str, folder: Path, alone: tuple[dict[str, Any], dict[str, Any]], tmp_path: Path
) -> None:
    script, told, out = tmp_path / "script.py", tmp_path / "told", tmp_path / "out" / "charts.sqlite"
    script.write_text(SCRIPT)
    out.parent.mkdir()
    done = subprocess.run(
        [sys.executable, str(script), str(folder), str(out), str(told), how],
        capture_output=True, text=True, check=False, start_new_session=True,
    )  # fmt: skip
    assert done.returncode == -getattr(signal, how), done.stderr
    assert done.stderr.count("Traceback") == (how == "SIGINT"), done.stderr
    pids = [int(pid) for pid in told.read_text().split()]
    assert len(pids) == 2
    until = time.monotonic() + 20
    while any(map(running, pids)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(running, pids))
    seen: list[int] = []
    report = import_mimic(folder, out, threads=1, workers=1 + (how == "SIGKILL"), progress=seen.append)
    assert (report.as_dict(), content(out)) == alone
    assert 1 < seen[0] <= 14
    assert [path.name for path in out.parent.iterdir()] == ["charts.sqlite"]


def test_a_script_without_a_guard_is_told_so(folder: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from wardround.patients.importers import import_mimic\n"
        f"import_mimic({str(folder)!r}, {str(tmp_path / 'out.sqlite')!r}, threads=1, workers=2)\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "could not start" in done.stderr.splitlines()[-1]
    assert "__main__" in done.stderr.splitlines()[-1]
    assert [path.name for path in tmp_path.iterdir()] == ["script.py"]


def test_there_is_at_least_one_worker(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="`workers` must be at least 1, got 0"):
        import_mimic(folder, tmp_path / "out.sqlite", workers=0)


def test_a_worker_whose_importing_process_is_gone_ends_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    monkeypatch.setattr(_workers.os, "_exit", ended.append)
    near, far = Pipe()
    near.close()
    _workers._send(far, 1, "a chart")
    assert ended == [1]
    far.close()
