"""Hostile names in files and records never reach a terminal as they are."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from wardround.cli import main
from wardround.cli.output import print_list, print_table, safe

EVIL = "\x1b[31mevil\x07\x9b2J\u202e"
PATIENTS = "subject_id,gender,anchor_age,anchor_year,anchor_year_group,dod\n1,F,60,2150,2011 - 2013,\n"
ADMISSIONS = (
    "subject_id,hadm_id,admittime,dischtime,deathtime,admission_type,admission_location,discharge_location,insurance,"
    "language,marital_status,race,hospital_expire_flag\n"
    "1,10,2150-03-01 10:00:00,2150-03-09 12:00:00,,EW EMER.,EMERGENCY ROOM,HOME,Medicare,ENGLISH,SINGLE,WHITE,0\n"
    f"1,{EVIL},2150-03-01 10:00:00,2150-03-09 12:00:00,,EW EMER.,{EVIL},HOME,Medicare,ENGLISH,SINGLE,WHITE,0\n"
)


def harmless(text: str) -> bool:
    return all(mark.isprintable() or mark == "\n" for mark in text)


def test_import_of_mimic(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "mimic"
    folder.mkdir()
    for name, text in {"patients": PATIENTS, "admissions": ADMISSIONS, EVIL: "a,b\n1,2\n"}.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    assert main(["import", "mimic", str(folder), "--out", str(tmp_path / "out.sqlite")]) == 0
    out = capsys.readouterr().out
    assert harmless(out)
    assert "evil" in out
    assert "e.g. admissions.csv, line 3: 1, [31mevil" in out


def test_import_of_fhir(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = '{"resourceType":"Patient","id":"p1"}\n{"resourceType":"\\u001b[31mX","id":"\\u009b"}\n'
    (tmp_path / f"{EVIL}.ndjson").write_text(lines, encoding="utf-8")
    assert main(["import", "fhir", str(tmp_path), "--out", str(tmp_path / "out.sqlite")]) == 0
    assert harmless(capsys.readouterr().out)
    (tmp_path / f"{EVIL}.ndjson").write_text("{", encoding="utf-8")
    assert main(["import", "fhir", str(tmp_path), "--out", str(tmp_path / "out.sqlite")]) == 2
    said = capsys.readouterr().err
    assert harmless(said) and "evil" in said
    assert main(["inspect", str(tmp_path / EVIL)]) == 2
    assert harmless(capsys.readouterr().err)


def test_lists_and_tables(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    print_list("seen:", [EVIL])
    print_table("Types", ("type", "resources"), [(EVIL, 1)])
    assert harmless(capsys.readouterr().out)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_table("Types", ("type", "resources"), [("[/red] [bold]x", 1)])
    assert "[/red] [bold]x" in capsys.readouterr().out


def test_safe_keeps_lines_and_words() -> None:
    assert safe(f"心 é\n{EVIL}") == "心 é\n [31mevil  2J "
