"""The page of a set: it holds what the set holds, at the sessions' now, and no held-out answer."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import orjson
import pytest
from report_page import Page

from wardround.agents import SessionPageMade, write_session_page
from wardround.agents.browse.records import SHOWN, Record
from wardround.cli import main
from wardround.patients import (
    NEVER,
    ChartStore,
    DataError,
    UsageError,
    format_instant,
    load_charts,
    parse_instant,
    timeline,
)
from wardround.sessions import Session, SessionSet, load_sessions, save_sessions
from wardround.sessions.gold import play_gold, snapshot_of
from wardround.sessions.sheet import sample_sessions, sheet_rows


@pytest.fixture(scope="module")
def ward() -> SessionSet:
    return load_sessions("ward")


@pytest.fixture(scope="module")
def store() -> ChartStore:
    return load_charts("ward")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> SessionPageMade:
    return write_session_page("ward", out=tmp_path_factory.mktemp("page") / "ward.html")


@pytest.fixture(scope="module")
def page(made: SessionPageMade) -> Page:
    return Page(made.path.read_text(encoding="utf-8"))


def test_the_page_holds_every_session_whole(made: SessionPageMade, page: Page, ward: SessionSet) -> None:
    assert (made.sessions, made.bare, made.kept_close) == (len(ward), 0, False)
    assert made.size == made.path.stat().st_size
    assert page.index["hash"] == ward.hash
    assert [row["id"] for row in page.rows()] == [one.id for one in ward]
    for at, (row, session) in enumerate(zip(page.rows(), ward, strict=True)):
        told = page.block(f"s{at}")
        plain = session.model_dump(mode="json", by_alias=True)
        assert (row["scenario"], row["tier"], row["patient"]) == (session.scenario, session.tier, session.chart.patient)
        assert told["interview"] == plain["interview"]
        assert told["persona"] == plain["persona"]
        for have, want in zip(told["turns"], plain["turns"], strict=True):
            for name in ("query", "antecedents", "depends_on", "task", "implicitness", "source"):
                assert have[name] == want[name]
            assert have["gold"]["answers"] == want["gold"]["answers"]
            calls = [{name: call[name] for name in ("tool", "arguments", "role")} for call in have["gold"]["calls"]]
            assert calls == want["gold"]["calls"]
            assert [item["id"] for item in have["items"]] == [item["id"] for item in want["rubric"]]
            assert [item["requires"] for item in have["items"]] == [item["requires"] for item in want["rubric"]]


def test_results_are_those_of_the_gold_calls(page: Page, ward: SessionSet, store: ChartStore) -> None:
    told_in_chinese = 0
    for at, session in enumerate(list(ward)[:8]):
        chart = store.chart(session.chart.patient)
        told = page.block(f"s{at}")["turns"]
        played = zip(told, play_gold(session, chart), play_gold(session, chart, "zh"), strict=True)
        for turn, english, chinese in played:
            for call, one, other in zip(turn["gold"]["calls"], english.results, chinese.results, strict=True):
                assert call["result"]["text"] == one.text
                assert (call["zh"] or one.text) == other.text
                told_in_chinese += call["zh"] is not None
    assert told_in_chinese  # patients answer in the language of the round


def test_the_sheet_of_the_page_is_the_sheet_of_review(page: Page, ward: SessionSet) -> None:
    for at, session in enumerate(ward):
        want = [[row.turn, row.what, row.key, row.shown, row.value] for row in sheet_rows(session)]
        assert page.block(f"s{at}")["rows"] == want
        assert page.rows()[at]["rows"] == len(want)


def test_charts_are_cut_at_the_sessions_now(page: Page, ward: SessionSet, store: ChartStore) -> None:
    assert {row["chart"] for row in page.rows()} == set(range(sum(name[0] == "c" for name in page.scripts)))
    later = 0
    for at, (row, session) in enumerate(zip(page.rows(), ward, strict=True)):
        record, told = page.block(f"c{row['chart']}"), page.block(f"s{at}")
        chart, now = store.chart(session.chart.patient), parse_instant(session.anchor)
        assert record["now"] == format_instant(now)
        snapshot = chart.at(now)
        assert [one.key for one in timeline(snapshot, types=SHOWN)] == [event[0] for event in record["events"]]
        said = orjson.dumps([record, told]).decode()
        for event in timeline(chart.at(NEVER - 1)):
            if snapshot.read(event.type, event.key.partition("/")[2]) is None:
                later += 1
                assert f'"{event.key}"' not in said
        for place in told["plots"]:
            shapes = record["plots"][place]["shapes"]
            times = [words[:16] for tag, _, words in shapes if tag == "circle"]
            assert times == sorted(times)
            assert times[-1].replace(" ", "T") <= record["now"][:16]
            marks = [words for tag, _, words in shapes if tag == "text" and words.startswith("now ")]
            assert marks == [f"now {record['now'][:16].replace('T', ' ')}"]
    assert later > 0


def test_a_session_shows_the_series_it_touches(ward: SessionSet, store: ChartStore) -> None:
    session = next(one for one in ward if one.turns[0].topic == "alt")
    record = Record(snapshot_of(session, store.chart(session.chart.patient)))
    named, more = record.plots(session, (), ())
    drawn = [record.as_dict()["plots"][place]["name"] for place in named]
    assert more == 0
    assert any("ALT" in name for name in drawn)
    keys = {f"Observation/{entry['id']}" for entry in record.snapshot.resources("Observation")}
    everything, more = record.plots(session, keys, ())
    assert len(everything) == 8
    assert everything[: len(named)] == named  # what the questions name comes first
    assert more > 0


def _held(ward: SessionSet, **changes: Any) -> list[Session]:
    return [one.model_copy(update={"use": "evaluation", **changes}) for one in list(ward)[4:7]]


def test_held_out_answers_are_not_on_the_page(ward: SessionSet, tmp_path: Path) -> None:
    held = _held(ward)
    save_sessions(tmp_path / "held.jsonl", held)
    made = write_session_page(str(tmp_path / "held.jsonl"), "ward", out=tmp_path / "held.html")
    assert made.bare == 3
    page = Page(made.path.read_text(encoding="utf-8"))
    assert "are for evaluation" in page.text
    assert str(tmp_path) not in page.html  # where a set lies is nobody's business
    for at, session in enumerate(held):
        told = page.block(f"s{at}")
        said = orjson.dumps(told).decode()
        assert {row[1] for row in told["rows"]} == {"plausibility", "implicitness"}
        assert told["labels"] == {"canary": session.labels["canary"]}
        for turn in session.turns:
            assert turn.gold is not None
            assert not [one for one in turn.gold.answers if one.en and one.en in said]
            assert not [item.text.en for item in turn.rubric if item.text.en and item.text.en in said]
            assert not (turn.topic and f'"{turn.topic}"' in said)
        assert "retrieved" not in said
    told = write_session_page(str(tmp_path / "held.jsonl"), "ward", out=tmp_path / "gold.html", gold=True)
    assert told.bare == 0
    whole = Page(told.path.read_text(encoding="utf-8"))
    assert "held-out answers" in whole.text
    assert whole.block("s0")["turns"][0]["gold"]["answers"][0]["en"]


def test_credentialed_data_are_told(ward: SessionSet, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    close = [one.model_copy(update={"licence": "PhysioNet Credentialed 1.5.0"}) for one in list(ward)[4:5]]
    save_sessions(tmp_path / "close.jsonl", close)
    out = tmp_path / "close.html"
    assert main(["browse", str(tmp_path / "close.jsonl"), "--charts", "ward", "--out", str(out)]) == 0
    assert "do not pass the page on" in capsys.readouterr().err
    shown = Page(out.read_text(encoding="utf-8")).text
    assert "PhysioNet Credentialed 1.5.0" in shown
    assert "text of patients' records" in shown
    assert "do not pass the page on" in shown


def test_the_command_draws_the_sample_of_review(
    ward: SessionSet, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["browse", "ward", "--sample", "0.2", "--seed", "7", "--json"]) == 0
    told = orjson.loads(capsys.readouterr().out)
    page = Page((tmp_path / "ward.html").read_text(encoding="utf-8"))
    drawn = sample_sessions(ward, Fraction(1, 5), 7)
    assert [row["id"] for row in page.rows()] == [one.id for one in drawn]
    assert told == {
        "out": "ward.html", "bytes": (tmp_path / "ward.html").stat().st_size, "sessions": len(drawn),
        "rows": sum(len(list(sheet_rows(one))) for one in drawn), "gold_left_out": 0, "licence": "CC0-1.0",
        "kept_close": False,
    }  # fmt: skip


def test_faulty_input_is_told(ward: SessionSet, tmp_path: Path) -> None:
    mine = tmp_path / "mine.jsonl"
    save_sessions(mine, list(ward)[4:5])
    with pytest.raises(UsageError, match="--charts"):
        write_session_page(str(mine), out=tmp_path / "x.html")
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises((DataError, UsageError), match=r"notes\.txt"):
        write_session_page("ward", out=tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "mine"
    one = ward.sessions[4]
    save_sessions(mine, [one.model_copy(update={"chart": one.chart.model_copy(update={"hash": "0" * 32})})])
    with pytest.raises(DataError, match=r"give the --charts of the set"):
        write_session_page(str(mine), "ward", out=tmp_path / "x.html")
    save_sessions(mine, [one.model_copy(update={"chart": one.chart.model_copy(update={"patient": "nobody"})})])
    with pytest.raises(DataError, match="no chart of `nobody`"):
        write_session_page(str(mine), "ward", out=tmp_path / "x.html")


def test_the_page_is_the_same_bytes_in_every_process(made: SessionPageMade, tmp_path: Path) -> None:
    code = "from wardround.agents import write_session_page; write_session_page('ward', out='again.html')"
    settings = {**os.environ, "PYTHONHASHSEED": "7", "LC_ALL": "C", "TZ": "Asia/Tokyo"}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, timeout=120, env=settings)
    assert (tmp_path / "again.html").read_bytes() == made.path.read_bytes()
