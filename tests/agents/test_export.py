"""Transcripts and rows for trainers: whole, honest about licences, and nothing of gold where it does not belong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

import wardround
from wardround.agents import EvaluationPlan, ExportPlan, Worker, evaluate, export, make_tasks, play, rescore
from wardround.patients import ChartStore, DataError, UsageError
from wardround.sessions import SessionSet, save_sessions


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with good, bad and failed episodes."""
    out = tmp_path_factory.mktemp("run")
    agents = ("oracle", "refuser", "silent", "ablation_agents:broken")
    evaluate(EvaluationPlan(sessions="ward", agents=agents, limit=3), out)
    return out


def _lines(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def _check_chat(line: dict[str, Any]) -> None:
    """Hold a line to the rules of OpenAI's chat format (platform.openai.com, fine-tuning with tools)."""
    offered = {tool["function"]["name"] for tool in line["tools"]}
    assert all(
        tool["type"] == "function" and tool["function"]["parameters"]["type"] == "object" for tool in line["tools"]
    )
    messages = line["messages"]
    assert [messages[0]["role"], messages[1]["role"], messages[-1]["role"]] == ["system", "user", "assistant"]
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
            continue
        assert not waiting, "a call without its result"
        for call in message.get("tool_calls", ()):
            assert call["type"] == "function"
            assert call["function"]["name"] in offered
            assert isinstance(orjson.loads(call["function"]["arguments"]), dict)
            waiting.append(call["id"])
        assert isinstance(message["content"], str)
    assert not waiting
    ids = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    assert len(set(ids)) == len(ids)


def test_gold_of_a_set(worker: Worker, ward_sessions: SessionSet, tmp_path: Path) -> None:
    out = tmp_path / "gold.jsonl"
    report = export(ExportPlan("ward", gold=True), out)
    assert report == {
        "format": "chat",
        "rows": len(ward_sessions),
        "sessions": len(ward_sessions),
        "left_out": {},
        "licence": "CC0-1.0",
        "out": str(out),
    }
    lines = _lines(out)
    for line in lines[::6]:
        _check_chat(line)
        assert (line["reward"], line["licence"], line["use"], line["agent"]) == (1.0, "CC0-1.0", "train", "gold")
    (task,) = make_tasks(("oracle",), [lines[7]["session_id"]])
    episode = play(worker.episode(task), worker.agent(task))
    assert lines[7]["messages"] == episode.messages
    assert lines[7]["trajectory_hash"] == episode.trajectory_hash
    session = ward_sessions.get(lines[7]["session_id"])
    said = [one["content"] for one in lines[7]["messages"] if one["role"] == "assistant" and "tool_calls" not in one]
    assert said == [turn.gold.answers[0].en for turn in session.turns if turn.gold]


def test_what_a_run_s_agents_did_filtered_by_reward(run: Path, tmp_path: Path) -> None:
    report = export(ExportPlan(str(run)), tmp_path / "all.jsonl")
    assert report["left_out"] == {"endpoint_error": 3, "truncated": 3}
    agents = [line["agent"] for line in _lines(tmp_path / "all.jsonl")]
    assert agents == ["oracle"] * 3 + ["refuser"] * 3
    for line in _lines(tmp_path / "all.jsonl"):
        _check_chat(line)
        assert not {"verdicts", "gold", "rubric"} & set(line)
    good = export(ExportPlan(str(run), min_reward=0.9), tmp_path / "good.jsonl")
    assert (good["rows"], good["left_out"]["below the least reward"]) == (3, 3)
    assert {line["agent"] for line in _lines(tmp_path / "good.jsonl")} == {"oracle"}
    gold = export(ExportPlan(str(run), gold=True, phrasings=("explicit",)), tmp_path / "gold.jsonl")
    assert gold["rows"] == 3
    assert {tuple(line["phrasing"]) for line in _lines(tmp_path / "gold.jsonl")} == {("explicit",) * 4}
    with pytest.raises(UsageError, match="play it in a language it has"):  # one of the three has no Chinese
        export(ExportPlan(str(run), gold=True, languages=("zh",)), tmp_path / "zh.jsonl")


def test_rows_are_the_dataset_s_with_a_licence(run: Path, tmp_path: Path, ward_sessions: SessionSet) -> None:
    export(ExportPlan(str(run), format="rows"), tmp_path / "rows.jsonl")
    wanted = [
        row for row in wardround.dataset("ward") if row["session_id"] in {s.id for s in ward_sessions.sessions[:3]}
    ]
    assert _lines(tmp_path / "rows.jsonl") == [{**row, "licence": "CC0-1.0"} for row in wanted]


def test_credentialed_data_keep_their_tag(ward: ChartStore, ward_sessions: SessionSet, tmp_path: Path) -> None:
    theirs = [s.model_copy(update={"licence": "PhysioNet-Credentialed-1.5.0"}) for s in ward_sessions.sessions[:2]]
    save_sessions(tmp_path / "set.jsonl", [*theirs, ward_sessions.sessions[2]])
    plan = ExportPlan(str(tmp_path / "set.jsonl"), gold=True, charts="ward")
    report = export(plan, tmp_path / "gold.jsonl")
    assert report["licence"] == "CC0-1.0 + PhysioNet-Credentialed-1.5.0"
    assert [line["licence"] for line in _lines(tmp_path / "gold.jsonl")] == ["PhysioNet-Credentialed-1.5.0"] * 2 + [
        "CC0-1.0"
    ]


@pytest.mark.parametrize("change", [{"gold": True}, {"format": "rows"}])
def test_sessions_for_evaluation_only_are_refused(
    change: dict[str, Any], ward_sessions: SessionSet, tmp_path: Path
) -> None:
    closed = ward_sessions.sessions[1].model_copy(update={"use": "evaluation"})
    save_sessions(tmp_path / "set.jsonl", [ward_sessions.sessions[0], closed])
    with pytest.raises(UsageError, match=f"session `{closed.id}` is for evaluation only"):
        export(ExportPlan(str(tmp_path / "set.jsonl"), charts="ward", **change), tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


def test_a_run_on_sessions_for_evaluation_is_refused(ward_sessions: SessionSet, tmp_path: Path) -> None:
    closed = ward_sessions.sessions[1].model_copy(update={"use": "evaluation"})
    save_sessions(tmp_path / "set.jsonl", [closed])
    evaluate(EvaluationPlan(sessions=str(tmp_path / "set.jsonl"), charts="ward"), tmp_path / "run")
    with pytest.raises(UsageError, match="for evaluation only"):
        export(ExportPlan(str(tmp_path / "run")), tmp_path / "out.jsonl")


def test_sessions_for_evaluation_keep_no_others_of_their_set_back(ward_sessions: SessionSet, tmp_path: Path) -> None:
    kept = ward_sessions.sessions[0].model_copy(update={"use": "evaluation", "split": "dev"})
    given = ward_sessions.sessions[1].model_copy(update={"use": "train", "split": "train"})
    save_sessions(tmp_path / "set.jsonl", SessionSet((kept, given)))
    for form in ("rows", "chat"):
        plan = ExportPlan(str(tmp_path / "set.jsonl"), form, gold=form == "chat", charts="ward", split="train")  # type: ignore[arg-type]
        assert export(plan, tmp_path / form)["rows"] == 1


def test_gold_history_is_not_the_agent_s_transcript(tmp_path: Path) -> None:
    evaluate(EvaluationPlan(sessions="ward", agents=("refuser",), limit=1, history="gold"), tmp_path / "run")
    with pytest.raises(UsageError, match="was played with gold history"):
        export(ExportPlan(str(tmp_path / "run")), tmp_path / "out.jsonl")


def test_a_record_that_plays_otherwise_now_is_not_exported(tmp_path: Path) -> None:
    evaluate(EvaluationPlan(sessions="ward", limit=1), tmp_path / "run")
    stored = tmp_path / "run/trajectories.jsonl"
    record = orjson.loads(stored.read_bytes())
    event = next(one for one in record["trajectory"]["events"] if one["event"] == "call")
    event["text"] = "what an older version said"
    stored.write_bytes(orjson.dumps(record) + b"\n")
    with pytest.raises(DataError, match="plays otherwise than when it was recorded"):
        export(ExportPlan(str(tmp_path / "run")), tmp_path / "out.jsonl")


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (ExportPlan("ward"), "`ward` is no run folder: give one, or --gold"),
        (ExportPlan("ward", format="rows", gold=True), "rows name sessions and hold no transcript"),
        (ExportPlan("ward", gold=True, min_reward=1.5), "between 0 and 1"),
        (ExportPlan("ward", gold=True, split="heldout"), "has no split `heldout`"),
    ],
)
def test_refusals_name_the_remedy(plan: ExportPlan, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said):
        export(plan, tmp_path / "out.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_nothing_to_write_is_said_and_a_foreign_file_is_kept(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nothing to export .*: 12 not asked for"):
        export(ExportPlan(str(run), languages=("zh",)), tmp_path / "out.jsonl")
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="is not a file of chat"):
        export(ExportPlan(str(run)), tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["manifest.json", "inputs.json"])
@pytest.mark.parametrize("body", [b"{", b"[1]", b'{"sessions": 3}'])
def test_a_damaged_run_folder_is_named(run: Path, tmp_path: Path, name: str, body: bytes) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for path in run.glob("*.json*"):
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / name).write_bytes(body)
    with pytest.raises(DataError, match=name):
        export(ExportPlan(str(folder)), tmp_path / "out.jsonl")


def test_a_manifest_of_other_kinds_and_an_empty_run_are_named(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for path in run.glob("*.json*"):
        (folder / path.name).write_bytes(path.read_bytes())
    manifest = orjson.loads((folder / "manifest.json").read_bytes())
    (folder / "manifest.json").write_bytes(orjson.dumps(manifest | {"languages": 5}))
    with pytest.raises(DataError, match="`languages`"):
        export(ExportPlan(str(folder)), tmp_path / "out.jsonl")
    (folder / "manifest.json").write_bytes(orjson.dumps(manifest))
    (folder / "trajectories.jsonl").write_bytes(b"")
    with pytest.raises(DataError, match="is empty"):
        rescore(folder)
