"""A run's page: its figures are results.json's, its episodes the records', its text is text, and shared it has none."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import orjson
import pytest
import report_agents
from report_page import Page, at

from wardround.agents import EvaluationPlan, evaluate, read_records, write_report
from wardround.cli import main
from wardround.patients import DataError, UsageError
from wardround.rubrics import Item, JudgeCheck, Text
from wardround.sessions import SessionSet

AGENTS = ("baseline-no-memory", "oracle", "report_agents:hostile")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run")
    evaluate(EvaluationPlan("ward", agents=AGENTS, phrasings=("explicit", "implicit"), limit=3, trials=2), out)
    return out


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("other")
    evaluate(EvaluationPlan("ward", agents=("baseline-no-memory",), phrasings=("implicit",), limit=3), out)
    return out


@pytest.fixture(scope="module")
def page(run: Path) -> Page:
    made = write_report(run)
    assert made.path == run / "report.html"
    assert not made.shared
    assert made.resources
    body = made.path.read_bytes()
    assert len(body) == made.size
    return Page(body.decode())


def _json(path: Path) -> Any:
    return json.loads(path.read_bytes())


def _value(kind: str, shown: str) -> float | None:
    """Read a figure back."""
    if shown == "–":
        return None
    if kind == "p" and shown.startswith("<"):
        return 0.0
    return float(shown.replace(",", "").replace("\u2212", "-"))


def _check_figures(page: Page, files: list[Any]) -> set[str]:
    for pointer, kind, shown in page.figures:
        want, have = at(pointer, files), _value(kind, shown)
        room = {"count": 0.0, "p": 0.0010001, "rate": 0.0050001}.get(kind, 0.00050001)
        if want is None:
            assert have is None, pointer
        else:
            assert have is not None, pointer
            assert abs(have - want) <= room, (pointer, shown, want)
    return {pointer for pointer, _, _ in page.figures}


def _leaves(value: Any, pointer: str) -> Iterator[str]:
    if isinstance(value, dict | list):
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(inner, f"{pointer}/{str(name).replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield pointer


def test_every_figure_is_results_json(run: Path, page: Page) -> None:
    results = _json(run / "results.json")
    shown = _check_figures(page, [results])
    left_out = [
        pointer
        for pointer in _leaves(results, "/0")
        if pointer not in shown
        and not pointer.endswith("/episodes_per_s")
        and not pointer.startswith("/0/judge")
        # pass@1 is pass^1, and each group's second threshold and its zeros stand in the file alone
        and "/pass_hat_k/1" not in pointer
        and not ("/breakdowns/" in pointer and ("/pass_turn/" in pointer or pointer.endswith("/ungraded")))
    ]
    assert left_out == []


def test_curves_are_drawn_from_results_json(run: Path, page: Page) -> None:
    results = _json(run / "results.json")
    drawn = [held for tag, held in page.tags if tag == "polyline"]
    assert len(drawn) == 2 * len(results["results"])
    for held in drawn:
        curve = at(str(held["data-curve"]), [results])
        points = [tuple(map(float, point.split(","))) for point in str(held["points"]).split()]
        (left, top), (right, _) = points[0], points[-1]
        assert curve["0.00"] == 1.0  # so the first point is the plot's upper left corner
        foot = 210 - 34  # the height of a plot without its axis, as curves.py draws it
        for (x, y), (tau, rate) in zip(points, curve.items(), strict=True):
            assert abs((x - left) / (right - left) - float(tau)) < 0.001
            assert abs((foot - y) / (foot - top) - rate) < 0.002


def test_episodes_are_the_records(run: Path, page: Page) -> None:
    records = list(read_records(run / "trajectories.jsonl"))
    rows = page.rows()
    assert [row["key"] for row in rows] == [record["key"] for record in records]
    seen = 0
    for row, record in zip(rows, records, strict=True):
        body = page.block(f"b{row['block']}")[row["place"]]
        session = page.block(f"s{page.index['sessions'][row['session']]['block']}")
        trajectory = record["trajectory"]
        assert row["score"] == record["score"]
        assert row["rewards"] == [turn["reward"] for turn in trajectory["turns"]]
        assert body["turns"] == trajectory["turns"]
        whole = [
            {**one, "text": session["texts"][one["text"]]} if isinstance(one.get("text"), int) else one
            for one in body["events"]
        ]
        assert whole == trajectory["events"]
        for number, turn in enumerate(trajectory["turns"]):
            items = session["turns"][number]["items"]
            assert all(one["item"] in items or one["item"] == "plan" for one in turn["verdicts"]) or turn["notes"]
        for key in {key for one in trajectory["events"] for key in one.get("resources", ())}:
            resource = orjson.loads(session["resources"][key][0])
            assert f"{resource['resourceType']}/{resource['id']}" == key
            seen += 1
    assert seen > 50


def test_the_page_is_inert(page: Page) -> None:
    kinds = {tag for tag, _ in page.tags}
    assert not kinds & {"img", "iframe", "object", "embed", "base", "form", "audio", "video"}
    for tag, held in page.tags:
        assert not [name for name in held if name.startswith("on") or name == "style"], (tag, held)
        assert not str(held.get("href", "#")).startswith("java")
    assert [held["href"] for tag, held in page.tags if tag == "link"] == ["data:,"]
    assert all(str(held["href"]).startswith("#") for tag, held in page.tags if tag == "a")
    programs = [held for tag, held in page.tags if tag == "script" and "type" not in held]
    assert len(programs) == 1
    assert page.html.count("</script>") == page.html.count("<script")
    assert "window.hit" not in page.scripts["script"]
    assert not set(page.text) & set("\u202e\u202c\u2067\u200b\x00\x1b")


def test_the_policy_names_this_program_and_this_style(page: Page) -> None:
    policy = next(str(held["content"]) for _, held in page.tags if held.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none';")
    for part in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(page.scripts[part].encode()).digest()).decode()
        assert f"{part}-src 'sha256-{digest}'" in policy


def test_the_same_bytes_in_another_process(run: Path, page: Page, tmp_path: Path) -> None:
    out = tmp_path / "again <b>&.html"
    environment = {**os.environ, "PYTHONHASHSEED": "7", "LC_ALL": "C", "TZ": "Asia/Tokyo"}
    helpers = Path(report_agents.__file__).parent
    command = [sys.executable, "-m", "wardround", "report", str(run), "--out", str(out), "--json"]
    told = subprocess.run(
        command, check=True, capture_output=True, env={**environment, "PYTHONPATH": str(helpers)}
    )  # fmt: skip
    assert json.loads(told.stdout)["episodes"] == len(page.rows())
    assert out.read_text(encoding="utf-8") == page.html


# -- shared ---------------------------------------------------------------------------------------------------------


def _words(run: Path, sessions: SessionSet) -> set[str]:
    """Return everything that anybody wrote or said in a run."""
    found: set[str] = set()
    for record in read_records(run / "trajectories.jsonl"):
        session = sessions.get(record["session"])
        found |= {session.chart.patient, session.anchor, str(session.encounter)}
        found |= {item.text.en or "" for turn in session.turns for item in turn.rubric}
        for event in record["trajectory"]["events"]:
            found |= {str(event.get("text")), *event.get("resources", ()), *event.get("facts", ())}
        for turn in record["trajectory"]["turns"]:
            found |= {one["reason"] for one in turn["verdicts"]} | set(turn["notes"])
    return {word for word in found if len(word) > 5 and word != "None"}


def test_shared_pages_hold_scores_and_item_ids_alone(run: Path, ward_sessions: SessionSet, tmp_path: Path) -> None:
    made = write_report(run, out=tmp_path / "shared.html", share=True)
    page = Page(made.path.read_text(encoding="utf-8"))
    assert made.shared
    assert not made.resources
    blocks = [name for name in page.scripts if name[0] in "bs" and name[1:].isdigit()]
    assert {name[0] for name in blocks} == {"b"}
    held = page.html + "".join(json.dumps(page.block(name), ensure_ascii=False) for name in blocks)
    leaked = [word for word in _words(run, ward_sessions) if word in held]
    assert leaked == []
    assert "window.hit" not in page.html.replace(page.scripts["script"], "")
    assert _check_figures(page, [_json(run / "results.json")])
    verdict = page.block("b0")[0]["turns"][0]["verdicts"][0]
    assert sorted(verdict) == ["guard", "item", "passed", "score", "ungraded", "unreadable"]


@pytest.mark.parametrize("licence", ["credentialed", "unknown"])
def test_credentialed_data_are_shared_by_default(ward_sessions: SessionSet, tmp_path: Path, licence: str) -> None:
    one = next(iter(ward_sessions)).model_copy(update={"licence": licence})
    evaluate(EvaluationPlan(SessionSet((one,), name="mine"), charts="ward", agents=("oracle",)), tmp_path / "run")
    assert write_report(tmp_path / "run").shared
    made = write_report(tmp_path / "run", share=False)
    assert not made.shared
    assert "do not pass it on" in made.path.read_text(encoding="utf-8")


# -- two runs ---------------------------------------------------------------------------------------------------------


def _rewards(folder: Path, agent: str) -> dict[tuple[Any, ...], float]:
    return {
        (record["session"], record["language"], record["phrasing"], record["trial"], number): turn["reward"]
        for record in read_records(folder / "trajectories.jsonl")
        if record["agent"] == agent
        for number, turn in enumerate(record["trajectory"]["turns"])
    }


def test_two_runs_are_paired_by_turn(other: Path, tmp_path: Path) -> None:
    evaluate(EvaluationPlan("ward", agents=("oracle",), phrasings=("implicit",), limit=2), tmp_path / "oracle")
    made = write_report(other, tmp_path / "oracle", out=tmp_path / "two.html")
    first, second = _rewards(other, "baseline-no-memory"), _rewards(tmp_path / "oracle", "oracle")
    both = sorted(first.keys() & second.keys())
    gains = [Fraction(second[key]) - Fraction(first[key]) for key in both]
    every = made.comparisons[0]
    assert (every["pairs"], every["sessions"]) == (len(both), 2)
    assert every["difference"] == pytest.approx(float(sum(gains) / len(gains)), abs=1e-8)
    assert every["difference"] > 0
    page = Page(made.path.read_text(encoding="utf-8"))
    files = [_json(other / "results.json"), _json(tmp_path / "oracle/results.json"), {"pairs": list(made.comparisons)}]
    shown = _check_figures(page, orjson.loads(orjson.dumps(files)))
    assert set(_leaves(files[2], "/2")) <= shown
    rows = page.rows()
    for row, beside in zip(rows, page.index["partners"], strict=True):
        alone = row["run"] == 0 and not any(key[0] == row["session"] for key in second)
        assert (beside is None) == alone
        assert alone or rows[beside]["session"] == row["session"]
        assert alone or rows[beside]["run"] == 1 - row["run"]


def test_an_agent_is_compared_with_itself_where_both_have_it(run: Path, other: Path, tmp_path: Path) -> None:
    made = write_report(run, other, out=tmp_path / "two.html")
    assert {one["label"].partition(":")[0] for one in made.comparisons} == {"baseline-no-memory"}
    assert made.comparisons[0]["difference"] == 0.0
    assert made.comparisons[0]["pairs"] == 12  # one trial of three sessions, implicit


# -- what cannot be shown ---------------------------------------------------------------------------------------------


def test_what_cannot_be_shown_is_refused(run: Path, other: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no trajectories\.jsonl"):
        write_report(tmp_path)
    with pytest.raises(UsageError, match="given twice"):
        write_report(run, run)
    evaluate(EvaluationPlan("ward", agents=("oracle",), limit=1, scoring="paper"), tmp_path / "paper")
    with pytest.raises(UsageError, match="`scoring`"):
        write_report(run, tmp_path / "paper")
    evaluate(EvaluationPlan("ward", agents=("oracle",), limit=1), tmp_path / "oracle")
    with pytest.raises(UsageError, match="share no turn"):
        write_report(run, _renamed(tmp_path / "oracle"))
    (tmp_path / "ablation.json").write_text("{}")
    with pytest.raises(UsageError, match="ablation"):
        write_report(tmp_path)


def _renamed(folder: Path) -> Path:
    """Make a run's agent one that no other run has, beside a second that is not comparable either."""
    for name in ("trajectories.jsonl", "results.json"):
        body = (folder / name).read_bytes().replace(b"oracle", b"nobody")
        (folder / name).write_bytes(body)
    results = _json(folder / "results.json")
    pairs = [(one["key"], one["trajectory_hash"]) for one in read_records(folder / "trajectories.jsonl")]
    lines = "\n".join(sorted(f"{key} {each}" for key, each in pairs))
    results["trajectory_hash"] = hashlib.sha256(lines.encode()).hexdigest()
    (folder / "results.json").write_text(json.dumps(results))
    return folder


def test_files_that_do_not_belong_together_are_refused(run: Path, other: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    for name in ("manifest.json", "inputs.json", "trajectories.jsonl"):
        (folder / name).write_bytes((run / name).read_bytes())
    with pytest.raises(UsageError, match=r"no results\.json"):
        write_report(folder)
    (folder / "results.json").write_bytes((other / "results.json").read_bytes())
    with pytest.raises(DataError, match="not of the trajectories"):
        write_report(folder)
    (folder / "results.json").write_text("{}")
    with pytest.raises(DataError, match="has no `results`"):
        write_report(folder)
    (folder / "results.json").write_bytes((run / "results.json").read_bytes())
    (folder / "manifest.json").write_text(
        (run / "manifest.json").read_text().replace('"set_hash": "', '"set_hash": "0')
    )
    with pytest.raises(DataError, match="--sessions"):
        write_report(folder)


def test_a_damaged_trajectory_is_named(other: Path, tmp_path: Path) -> None:
    folder = tmp_path / "damaged"
    folder.mkdir()
    for name in ("manifest.json", "inputs.json", "results.json", "trajectories.jsonl"):
        (folder / name).write_bytes((other / name).read_bytes())
    lines = (folder / "trajectories.jsonl").read_bytes().splitlines()
    record = orjson.loads(lines[1])
    del record["trajectory"]["events"][0]["turn"]
    (folder / "trajectories.jsonl").write_bytes(b"\n".join([lines[0], orjson.dumps(record), *lines[2:], b""]))
    with pytest.raises(DataError, match=re.escape(record["key"])):
        write_report(folder)


def test_ungraded_is_no_zero(ward_sessions: SessionSet, tmp_path: Path) -> None:
    session = ward_sessions.get(next(iter(ward_sessions)).id)
    judged = Item(id="kind", text=Text(en="Is kind."), check=JudgeCheck(criterion=Text(en="The answer is kind.")))
    turn = session.turns[1].model_copy(update={"rubric": (*session.turns[1].rubric, judged)})
    turns = (session.turns[0], turn, *session.turns[2:])
    mine = SessionSet((session.model_copy(update={"turns": turns}),), name="mine")
    evaluate(EvaluationPlan(mine, charts="ward", agents=("oracle",)), tmp_path / "run")
    page = Page(write_report(tmp_path / "run").path.read_text(encoding="utf-8"))
    (row,) = page.rows()
    assert row["rewards"] == [1.0, None, 1.0, 1.0]
    assert row["ungraded"] == [0, 1, 0, 0]
    assert ("/0/results/0/ungraded", "count", "1") in page.figures
    assert "ungraded 1" in page.text  # of its task, beside the mean


def test_charts_that_have_gone_leave_the_page_without_resources(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "moved"
    folder.mkdir()
    for name in ("manifest.json", "trajectories.jsonl", "results.json"):
        (folder / name).write_bytes((run / name).read_bytes())
    (folder / "inputs.json").write_text(json.dumps({"sessions": "ward", "charts": str(tmp_path / "gone.sqlite")}))
    made = write_report(folder)
    page = Page(made.path.read_text(encoding="utf-8"))
    assert not made.resources
    assert page.block("s0")["resources"] == {}
    assert "charts of the run were not found" in page.text


# -- the commands -----------------------------------------------------------------------------------------------------


def test_report_says_what_it_wrote(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "page.html"
    assert main(["report", str(run), "--out", str(out), "--share", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["out"], told["bytes"], told["episodes"]) == (str(out), out.stat().st_size, 36)
    assert (told["share"], told["comparisons"]) == (True, [])
    assert main(["report", str(tmp_path / "nothing")]) == 2
    assert "wardround eval --out" in capsys.readouterr().err


def test_the_demo_writes_its_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--limit", "1", "--out", str(tmp_path), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    page = Page(Path(report["report"]).read_text(encoding="utf-8"))
    assert Path(report["report"]) == tmp_path / "report.html"
    assert len(page.rows()) == sum(row["episodes"] for row in report["results"])
