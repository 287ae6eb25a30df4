"""Review sheets of a set: out, judged, and merged into a new version with a changelog."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import orjson
import pytest

from wardround.cli import main
from wardround.patients import ChartStore, DataError, UsageError, load_charts
from wardround.sessions import SessionSet, load_sessions
from wardround.sessions.reviewing import changelog, merge_review
from wardround.sessions.sheet import SheetRow, read_sheet, sample_sessions, sheet_rows, write_sheet


@pytest.fixture(scope="module")
def ward() -> SessionSet:
    return load_sessions("ward")


@pytest.fixture(scope="module")
def store() -> Iterator[ChartStore]:
    with load_charts("ward") as found:
        yield found


def _pick(rows: list[SheetRow], what: str, **wanted: Any) -> SheetRow:
    return next(row for row in rows if row.what == what and all(getattr(row, k) == v for k, v in wanted.items()))


def test_a_sheet_comes_back_as_it_went(ward: SessionSet) -> None:
    rows = [row for session in list(ward)[:4] for row in sheet_rows(session)]
    again = read_sheet(write_sheet(rows), "sheet.csv")
    assert [replace(row, line=0) for row in again] == rows
    kinds = {row.what for row in rows}
    assert kinds == {"plausibility", "implicitness", "item", "arguments"}


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-2", "@x", "'quoted", "plain", "\tx"])
def test_no_cell_runs_in_a_spreadsheet(cell: str) -> None:
    row = SheetRow("s", 0, "item", "k", cell, "", comment=cell)
    body = write_sheet([row])
    written = list(csv.reader(io.StringIO(body.decode("utf-8-sig"), newline="")))[1]
    assert not any(one.startswith(("=", "+", "-", "@", "\t")) for one in written)
    assert read_sheet(body, "s")[0].shown == cell


def test_a_sample_is_a_share_of_every_cell_and_the_same_again(ward: SessionSet) -> None:
    drawn = sample_sessions(ward, Fraction(1, 4), 7)
    assert [one.id for one in drawn] == [one.id for one in sample_sessions(ward, Fraction(1, 4), 7)]
    assert [one.id for one in drawn] != [one.id for one in sample_sessions(ward, Fraction(1, 4), 8)]
    for cell in {(one.scenario, one.tier) for one in ward}:
        have = sum((one.scenario, one.tier) == cell for one in ward)
        assert sum((one.scenario, one.tier) == cell for one in drawn) == -(-have // 4)
    with pytest.raises(UsageError, match="above 0"):
        sample_sessions(ward, Fraction(0), 7)


def test_verdicts_become_a_new_version_with_a_changelog(ward: SessionSet, store: ChartStore) -> None:
    third = next(one for one in list(ward)[1:] if any(item.check.kind == "only" for item in one.turns[0].rubric))
    first, second = [one for one in list(ward)[1:] if one is not third and any(t.implicitness for t in one.turns)][:2]
    rows = [row for session in (first, second, third) for row in sheet_rows(session)]
    turn = next(number for number, one in enumerate(second.turns) if one.implicitness is not None)
    item = next(one for one in third.turns[0].rubric if one.check.kind == "only")
    judged = [
        replace(_pick(rows, "plausibility", session=first.id), verdict="reject", comment="nobody asks so"),
        replace(_pick(rows, "implicitness", session=second.id, turn=turn), verdict="reject"),
        replace(_pick(rows, "item", session=third.id, turn=0, key=item.id), verdict="reject"),
        replace(_pick(rows, "arguments", session=third.id, turn=0, key="0"), verdict="ok"),
        _pick(rows, "arguments", session=third.id, turn=1, key="0"),
    ]
    review = merge_review(ward, judged, store)
    assert review.refused == []
    new = {one.id: one for one in review.sessions}
    assert len(review.sessions) == len(ward) - 1 and first.id not in new
    wording = new[second.id].turns[turn].query.en
    assert new[second.id].turns[turn].implicitness is None
    assert wording is not None and wording.implicit == wording.explicit
    assert item.id not in [one.id for one in new[third.id].turns[0].rubric]
    assert new[third.id].provenance.version.startswith(third.provenance.version + "+review.")
    assert {row["what"] for row in review.changes} == {"plausibility", "implicitness", "item"}
    report = review.as_json()
    assert report["verdicts"]["arguments"] == {"ok": 1, "open": 1} and report["right"]["arguments"] == 1.0
    head, *changes = changelog(review, ward.hash, "new").splitlines()
    assert orjson.loads(head)["from"] == ward.hash and len(changes) == 3
    assert "nobody asks so" in {orjson.loads(change)["comment"] for change in changes}
    untouched = [one for one in ward if one.id not in (first.id, second.id, third.id)]
    assert [one for one in review.sessions if one.id in {u.id for u in untouched}] == untouched


def test_the_check_that_is_shown_is_the_whole_check(ward: SessionSet) -> None:
    items = {(one.id, at, item.id): item for one in ward for at, turn in enumerate(one.turns) for item in turn.rubric}
    shown = [row for one in ward for row in sheet_rows(one) if row.what == "item"]
    assert len(shown) == len(items)
    for row in shown:
        item = items[row.session, row.turn or 0, row.key]
        plain = {**item.model_dump(mode="json", by_alias=True), "check": orjson.loads(row.value)}
        assert type(item).model_validate(plain) == item


def test_what_would_break_a_session_is_refused(ward: SessionSet, store: ChartStore) -> None:
    session = list(ward)[1]
    row = _pick(list(sheet_rows(session)), "arguments", turn=0, key="0")
    wrong = orjson.dumps(orjson.loads(row.value) | {"code": "no such test"}).decode()
    review = merge_review(ward, [replace(row, verdict="revise", correction=wrong)], store)
    assert [one["session"] for one in review.refused] == [session.id] and review.changes == []
    assert session in review.sessions


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"session": "none"}, "no session `none`"),
        ({"turn": 9}, "no turn `9`"),
        ({"key": "nothing"}, "no item `nothing`"),
        ({"correction": "{"}, "not JSON"),
        ({"correction": "[]"}, "no JSON object"),
        ({"correction": '{"cheque": 1}'}, "has `cheque`"),
        ({"correction": '{"check": {"kind": "wish"}}'}, "gives no session"),
        ({"what": "mood"}, "nothing that is reviewed"),
    ],
)
def test_a_faulty_row_is_named(ward: SessionSet, store: ChartStore, changes: dict[str, Any], message: str) -> None:
    row = _pick(list(sheet_rows(list(ward)[1])), "item", turn=0)
    with pytest.raises(DataError, match=message) as told:
        merge_review(ward, [replace(row, **{"verdict": "revise", "correction": "{}", "line": 12} | changes)], store)
    assert "row 12" in str(told.value) or "correction gives" in str(told.value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"\xff\xfe", "not UTF-8"),
        (b"session,turn\ns,1\n", "column `what` is missing"),
        (b"session,turn,what,key,shown,value,verdict,correction,comment\ns,0\n", "fewer cells"),
        (b"session,turn,what,key,shown,value,verdict,correction,comment\ns,0,item,k,,,fine,,\n", "verdict `fine`"),
        (b"session,turn,what,key,shown,value,verdict,correction,comment\ns,x,item,k,,,ok,,\n", "turn `x`"),
    ],
)
def test_a_broken_sheet_is_told(body: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_sheet(body, "sheet.csv")


def test_the_command_line_goes_round(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sheet, out = tmp_path / "sheet.csv", tmp_path / "new.jsonl"
    assert main(["review", "export", "ward", "--sample", "0.25", "--out", str(sheet)]) == 0
    assert main(["review", "import", str(sheet), "--set", "ward", "--out", str(out), "--json"]) == 0
    told = orjson.loads(capsys.readouterr().out.splitlines()[-1])
    assert told["changes"] == [] and told["set_hash"] == load_sessions("ward").hash == load_sessions(out).hash
    assert Path(told["changelog"]).is_file()


def test_people_checks_and_judge_are_compared_item_by_item(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, sheet = tmp_path / "run", tmp_path / "answers.csv"
    assert main(["eval", "--sessions", "ward", "--agent", "oracle", "--limit", "2", "--out", str(run), "--json"]) == 0
    assert main(["review", "export", "ward", "--run", str(run), "--sample", "1", "--out", str(sheet)]) == 0
    rows = list(csv.DictReader(io.StringIO(sheet.read_bytes().decode("utf-8-sig"), newline="")))
    assert rows and all(row["answer"] and row["criterion"] and not row["human"] for row in rows)
    assert "retrieved" not in {row["kind"] for row in rows}
    for number, row in enumerate(rows):  # the oracle passes every item; a person disagrees with one in five
        row["human"] = "no" if number % 5 == 0 else "yes"
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    sheet.write_bytes(text.getvalue().encode())
    capsys.readouterr()
    assert main(["review", "agree", str(run), "--human", str(sheet), "--json"]) == 0
    told = orjson.loads(capsys.readouterr().out)
    wrong = len(rows[::5])
    assert told["rows"] == len(rows) and told["unknown"] == 0
    checks = told["all"]["checks_labels"]
    assert checks["n"] == len(rows) and checks["agree"] == len(rows) - wrong and len(told["differ"]) == wrong
    assert told["all"]["judge_labels"]["n"] == 0
    sheet.write_bytes(text.getvalue().replace("yes", "perhaps").encode())
    assert main(["review", "agree", str(run), "--human", str(sheet)]) == 2
    assert "neither yes nor no" in capsys.readouterr().err
