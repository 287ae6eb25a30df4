"""An import killed at any moment, then started again: the same store and report as an undisturbed one, nothing left."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from wardround.patients import DataError, UsageError
from wardround.patients.importers import _resuming, import_mimic, mimic
from wardround.patients.store import ChartStore
from wardround.patients.work_folder import WorkFolder

PATIENTS = 24
KILLED = """
import os, signal, sys, tempfile
from pathlib import Path
from wardround.patients.importers import _resuming, import_mimic, mimic

folder, out, kind, moment, elsewhere = sys.argv[1:]
mimic.CHECKPOINT = 100
_resuming._library = lambda: "this library"
tempfile.tempdir = elsewhere

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def tell(words):
    if kind == "tell" and words == moment:
        die()

def progress(done):
    if kind == "patients" and done == int(moment):
        die()

if kind == "rename":
    Path.replace = lambda self, target: die()
import_mimic(folder, out, threads=1, progress=progress, tell=tell)
raise SystemExit("it was to be killed")
"""


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints come often, and no edit of the checkout between two processes makes it another library."""
    monkeypatch.setattr(mimic, "CHECKPOINT", 100)
    monkeypatch.setattr(_resuming, "_library", lambda: "this library")


def write_tables(folder: Path) -> Path:
    """Write invented patients with a stay and thirty results each; one result cannot be read, two belong to nobody."""
    folder.mkdir()
    people = [f"{n},F,60,2150,2011 - 2013," for n in range(1, PATIENTS + 1)]
    stays = [f"{n},{100 + n},2150-03-01 10:00:00,2150-03-09 12:00:00,,EW EMER.,WHITE" for n in range(1, PATIENTS + 1)]
    labs = [
        f"{n * 100 + k},{n},{100 + n},{n * 50 + k // 5},50912,"
        f"2150-03-0{1 + k % 8} 12:00:00,2150-03-0{1 + k % 8} 13:00:00,"
        f"{k % 7}.{k % 10},{k % 7}.{k % 10},mg/dL,0.4,1.1,,,ROUTINE"
        for n in [*range(1, PATIENTS + 1), 777]
        for k in range(30 if n < 700 else 2)
    ]
    labs[40] = labs[40].replace(",50912,", ",x,")
    for name, header, rows in (
        ("patients", "subject_id,gender,anchor_age,anchor_year,anchor_year_group,dod", people),
        ("admissions", "subject_id,hadm_id,admittime,dischtime,deathtime,admission_type,race", stays),
        (
            "labevents",
            "labevent_id,subject_id,hadm_id,specimen_id,itemid,charttime,storetime,value,valuenum,valueuom,"
            "ref_range_lower,ref_range_upper,flag,comments,priority",
            labs,
        ),
        ("d_labitems", "itemid,label,fluid,category", ["50912,Creatinine,Blood,Chemistry"]),
    ):
        (folder / f"{name}.csv").write_text("\n".join([header, *rows]) + "\n")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tables(tmp_path_factory.mktemp("restart") / "in")


@pytest.fixture(scope="module")
def undisturbed(folder: Path) -> dict[str, Any]:
    report = import_mimic(folder, folder.parent / "whole.sqlite", threads=1).as_dict()
    assert sum(refusal["count"] for table in report["tables"] for refusal in table["refused"]) == 3
    return report


def kill(folder: Path, out: Path, kind: str, moment: str) -> Path:
    """Import in a process that kills itself at a moment; return the folder of its temporary files."""
    elsewhere = out.parent.parent / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    out.parent.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(folder), str(out), kind, moment, str(elsewhere)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not out.exists()
    return elsewhere


@pytest.mark.parametrize(
    ("kind", "moment", "kept"),
    [
        ("tell", "checking labevents", 0), ("tell", "sorting labevents", 0), ("patients", "1", 0),
        ("patients", "13", 8), ("patients", str(PATIENTS), 18), ("rename", "", 0),
    ],
)  # fmt: skip
def test_a_killed_import_is_taken_up_again(
    kind: str, moment: str, kept: int, folder: Path, undisturbed: dict[str, Any], tmp_path: Path
) -> None:
    out = tmp_path / "out" / "charts.sqlite"
    elsewhere = kill(folder, out, kind, moment)
    assert [path.name for path in out.parent.iterdir()] == [".charts.sqlite.part"]
    seen: list[int] = []
    report = import_mimic(folder, out, threads=1, progress=seen.append)
    assert report.as_dict() == undisturbed
    assert seen == list(range(seen[0], PATIENTS + 1))
    assert kept < seen[0] <= max(kept + 6, 1)
    assert [path.name for path in out.parent.iterdir()] == ["charts.sqlite"]
    assert list(elsewhere.iterdir()) == []
    with ChartStore.open(out) as store:
        assert store.hash == undisturbed["store_hash"]
        assert sum(len(store.chart(patient)) for patient in store.patients()) == sum(undisturbed["resources"].values())


def test_another_library_begins_anew(
    folder: Path, undisturbed: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out" / "charts.sqlite"
    kill(folder, out, "patients", "13")
    monkeypatch.setattr(_resuming, "_library", lambda: "a newer library")
    seen: list[int] = []
    assert import_mimic(folder, out, threads=1, progress=seen.append).as_dict() == undisturbed
    assert seen[0] == 1


def test_other_inputs_are_imported_from_the_start(undisturbed: dict[str, Any], tmp_path: Path) -> None:
    folder = write_tables(tmp_path / "in")
    out = tmp_path / "out" / "charts.sqlite"
    kill(folder, out, "patients", "13")
    labs = folder / "labevents.csv"
    labs.write_text(labs.read_text().replace("0.0,0.0,mg/dL", "9.5,9.5,mg/dL"))
    seen: list[int] = []
    again = import_mimic(folder, out, threads=1, progress=seen.append)
    assert seen[0] == 1
    assert again.store_hash == import_mimic(folder, tmp_path / "fresh.sqlite", threads=1).store_hash
    assert again.store_hash != undisturbed["store_hash"]


def test_an_interrupted_import_goes_on_and_a_failed_one_leaves_nothing(
    folder: Path, undisturbed: dict[str, Any], tmp_path: Path
) -> None:
    def stop(error: BaseException) -> Any:
        def progress(done: int) -> None:
            if done == 13:
                raise error

        return progress

    out = tmp_path / "charts.sqlite"
    with pytest.raises(KeyboardInterrupt):
        import_mimic(folder, out, progress=stop(KeyboardInterrupt()))
    seen: list[int] = []
    assert import_mimic(folder, out, progress=seen.append).as_dict() == undisturbed
    assert 8 < seen[0] <= 14
    with pytest.raises(DataError):
        import_mimic(folder, out, progress=stop(DataError("odd")))
    assert [path.name for path in tmp_path.iterdir()] == ["charts.sqlite"]


def test_a_living_import_is_left_alone(folder: Path, undisturbed: dict[str, Any], tmp_path: Path) -> None:
    out = tmp_path / "charts.sqlite"
    refused: list[str] = []

    def meddle(done: int) -> None:
        if done == 5:
            with pytest.raises(UsageError, match="another process is writing") as caught:
                import_mimic(folder, out)
            refused.append(str(caught.value))

    assert import_mimic(folder, out, progress=meddle).as_dict() == undisturbed
    assert len(refused) == 1


def test_a_claimed_folder_keeps_only_what_is_named(tmp_path: Path) -> None:
    work = WorkFolder(tmp_path / "x")
    for name in ("keep", "drop"):
        (work.path / name).write_text(name)
    (work.path / "spill").mkdir()
    work.release(keep=True)
    again = WorkFolder(tmp_path / "x")
    again.clear(keep=("keep",))
    assert sorted(entry.name for entry in again.path.iterdir()) == ["keep", "lock"]
    again.release()
    again.release()
    assert list(tmp_path.iterdir()) == []
