"""The LLM writer's line to a model: a scripted server, one in memory, replies kept, replayed and gone on from."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import orjson
import pytest
from endpoint import Endpoint, says, send, status

from wardround.agents import JudgePlan, Reply
from wardround.agents.writer_client import GONE, LiveWriter, NoReplyError, RecordedWriter, WriterGoneError
from wardround.cli import main
from wardround.patients import ChartStore, DataError, StoreWriter, UsageError
from wardround.sessions import Session, load_sessions
from wardround.sessions.writers import WriterReport, write_session

CHAT = [{"role": "system", "content": "You write."}, {"role": "user", "content": "{}"}]
SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}}
GOOD = '{"query": "Okay. K?"}'
PLAN = JudgePlan("litellm:test/model")


def plan(endpoint: Endpoint, **changes: Any) -> JudgePlan:
    return JudgePlan("litellm:openai/m", base=endpoint.base, **changes)


def lines(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def no_wait(seconds: float) -> None:
    assert 0 <= seconds <= 60


# -- over HTTP ---------------------------------------------------------------------------------------------------------


def test_every_kind_of_failure_is_tried_again_and_kept(endpoint: Endpoint, tmp_path: Path) -> None:
    waits: list[float] = []
    faults = [
        (status(429, retry_after="7"), (429,)),
        (status(500, "oops"), (500,)),
        (status(503, "<html>"), (503,)),
        (status(200, '{"choices": ['), (0, 408, 500)),
        (lambda handler: endpoint.release.wait(30), (0, 408)),
    ]
    endpoint.script = [step for step, _ in faults] + [says(GOOD)]
    kept = tmp_path / "replies.jsonl"
    with LiveWriter(plan(endpoint, attempts=6, deadline=4.0), kept, sleep=waits.append) as writer:
        assert writer.complete("user", CHAT, SCHEMA) == GOOD
        assert writer.complete("user", [*CHAT, CHAT[1]], SCHEMA) == GOOD
    found = lines(kept)
    assert [line["last"] for line in found] == [False] * 5 + [True, True]
    assert all(line["status"] in codes for line, (_, codes) in zip(found, faults, strict=False))
    assert len(endpoint.bodies) == 7  # litellm adds no retries of its own
    assert waits[0] == 7.0
    assert len(waits) == 5
    sent = endpoint.bodies[0]
    assert (sent["messages"], sent["temperature"]) == (CHAT, 0)
    assert sent["response_format"]["json_schema"] == {"name": "user", "strict": True, "schema": SCHEMA}


def test_a_server_that_knows_no_form_is_asked_without_one_from_then_on(endpoint: Endpoint, tmp_path: Path) -> None:
    waits: list[float] = []
    endpoint.script = [status(400, '{"error": {"message": "response_format?"}}'), says(GOOD)]
    with LiveWriter(plan(endpoint, attempts=1), tmp_path / "kept.jsonl", sleep=waits.append) as writer:
        for number in range(3):
            assert writer.complete("user", [*CHAT, *CHAT[:number]], SCHEMA) == GOOD
    assert ["response_format" in body for body in endpoint.bodies] == [True, False, False, False]
    assert waits == []


def test_a_wrong_key_ends_the_run_at_once_and_is_never_written(endpoint: Endpoint, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("WRITER_KEY", "secret-4711")
    endpoint.script = [lambda handler: send(handler, 401, '{"error": {"message": "bad key secret-4711"}}')]
    kept = tmp_path / "kept.jsonl"
    with (
        LiveWriter(plan(endpoint, key_env="WRITER_KEY"), kept) as writer,
        pytest.raises(WriterGoneError, match="status 401") as caught,
    ):
        writer.complete("user", CHAT, SCHEMA)
    assert endpoint.headers[0]["authorization"] == "Bearer secret-4711"
    assert len(endpoint.bodies) == 1
    assert "secret" not in kept.read_text() + str(caught.value)


def test_torn_json_is_malformed_and_prose_round_it_does_not_matter(
    endpoint: Endpoint, tmp_path: Path, draft: Session, ward: ChartStore
) -> None:
    wanted = draft.turns[0].query.get("en", "explicit")
    whole = json.dumps({"query": wanted})
    endpoint.script = [says(whole[:-9]), says(f"Here you are:\n```json\n{whole}\n```\nAnything else?"), says("No.")]
    report = WriterReport()
    with LiveWriter(plan(endpoint), tmp_path / "kept.jsonl") as writer:
        write_session(draft, ward.chart(draft.chart.patient), writer, report, "m", only={"user"}, retries=1)
    assert (report.kept["user"], report.fallbacks["user"]) == (1, 3)
    assert report.malformed["user"] == 1 + 3 * 2
    again = json.loads(endpoint.bodies[1]["messages"][1]["content"])
    assert again["your_last_replies_were_refused"] == ["no whole JSON object in the reply"]


# -- in memory ---------------------------------------------------------------------------------------------------------


class Client:
    """Words each query a little differently; `fails` says which requests (counted from 0) get what instead."""

    def __init__(self, fails: Callable[[int], Reply | Exception | None] = lambda number: None) -> None:
        self.fails = fails
        self.asked: list[dict[str, Any]] = []
        self.closed = 0

    async def ask(
        self, messages: list[dict[str, str]], *, structured: bool, form: dict[str, Any] | None = None
    ) -> Reply:
        context = orjson.loads(messages[-1]["content"])
        self.asked.append(context)
        await asyncio.sleep(0)
        failure = self.fails(len(self.asked) - 1)
        if isinstance(failure, Exception):
            raise failure
        if failure is not None:
            return failure
        opener = "Okay. " if context.get("round") else ""
        return Reply(200, orjson.dumps({"query": f"{opener}{context.get('wanted', '')}"}).decode())

    async def close(self) -> None:
        self.closed += 1


@pytest.fixture(scope="module")
def drafts() -> list[Session]:
    return list(load_sessions("ward"))[:2]


@pytest.fixture(scope="module")
def draft(drafts: list[Session]) -> Session:
    return drafts[0]


def written(drafts: list[Session], ward: ChartStore, writer: Any) -> tuple[list[Session], dict[str, Any]]:
    report = WriterReport()
    only = {"user", "user_implicit"}
    made = [write_session(one, ward.chart(one.chart.patient), writer, report, "m", only=only) for one in drafts]
    return made, report.as_json()


def test_live_and_recorded_make_the_same_set_with_every_failure(
    drafts: list[Session], ward: ChartStore, tmp_path: Path
) -> None:
    # every third request is answered by nothing useful, and one query gets no reply at all although it is asked again
    odd = [Reply(500, "down"), RuntimeError("boom"), Reply(200, "I'd rather\ud800 not"), Reply(429, "slow", 3.0)]
    client = Client(lambda number: odd[number // 3 % 4] if number % 3 == 0 or 10 <= number < 16 else None)
    kept = tmp_path / "kept.jsonl"
    few = JudgePlan(PLAN.source, attempts=2)
    with LiveWriter(few, kept, client=client, sleep=no_wait) as live:
        made, report = written(drafts, ward, live)
    recorded = RecordedWriter(kept)
    assert written(drafts, ward, recorded) == (made, report)
    assert (recorded.missing, recorded.model, client.closed) == (0, "test/model", 1)
    assert report["failed"] and report["malformed"] and report["kept"]
    assert made != drafts


def test_a_stopped_run_goes_on_and_asks_nothing_twice(drafts: list[Session], ward: ChartStore, tmp_path: Path) -> None:
    whole, stopped = tmp_path / "whole.jsonl", tmp_path / "stopped.jsonl"
    through = Client()
    with LiveWriter(PLAN, whole, client=through) as writer:
        made = written(drafts, ward, writer)
    first = Client(lambda number: Reply(503, "down") if number > 6 else None)
    with (
        LiveWriter(JudgePlan(PLAN.source, attempts=1), stopped, client=first) as writer,
        pytest.raises(WriterGoneError, match=f"{GONE} requests in a row.*status 503.*stopped.jsonl"),
    ):
        written(drafts, ward, writer)
    assert len(first.asked) == 7 + GONE
    with stopped.open("ab") as file:
        file.write(b'{"key":"0123')  # a kill tears a line
    second = Client()
    with LiveWriter(PLAN, stopped, client=second) as writer:
        assert written(drafts, ward, writer) == made
    assert len(second.asked) == len(through.asked) - 7
    assert written(drafts, ward, RecordedWriter(stopped)) == made
    assert [line["status"] for line in lines(stopped)].count(503) == GONE  # what came is still told


def test_one_request_that_is_always_refused_is_no_dead_model(tmp_path: Path) -> None:
    with LiveWriter(PLAN, tmp_path / "kept.jsonl", client=Client(lambda number: Reply(413, "too long"))) as writer:
        for _ in range(2 * GONE):
            with pytest.raises(NoReplyError, match="status 413"):
                writer.complete("user", CHAT, SCHEMA)
        for number in range(1, GONE - 1):
            with pytest.raises(NoReplyError):
                writer.complete("user", CHAT * (number + 1), SCHEMA)
        with pytest.raises(WriterGoneError):
            writer.complete("user", CHAT * GONE, SCHEMA)


def test_a_notebook_with_a_running_loop_may_write(tmp_path: Path) -> None:
    async def cell() -> str:
        with LiveWriter(PLAN, tmp_path / "kept.jsonl", client=Client()) as writer:
            return writer.complete("user", CHAT, SCHEMA)

    assert asyncio.run(cell()) == '{"query":""}'


def test_a_writer_may_be_closed_twice(tmp_path: Path) -> None:
    client = Client()
    writer = LiveWriter(PLAN, tmp_path / "kept.jsonl", client=client)
    writer.close()
    writer.close()
    assert client.closed == 1


def line(**changes: Any) -> bytes:
    whole = {"key": "0" * 64, "role": "user", "model": "test/model", "status": 200, "text": GOOD, "last": True}
    return orjson.dumps(whole | changes) + b"\n"


def test_replies_of_another_model_and_other_files_are_kept(tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    for body, why in ((line(model="other/model"), "replies of `other/model`"), (b"my notes\n", "is not a file of")):
        kept.write_bytes(body)
        with pytest.raises(UsageError, match=why):
            LiveWriter(PLAN, kept, client=Client())
        assert kept.read_bytes() == body


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (line() + b"no JSON\n" + line(), ":2: no reply of a writer"),
        (line() + line(last=None), ":2: no reply of a writer"),
        (line() + line(status="200"), ":2: no reply of a writer"),
        (line() + b"[]\n", ":2: no reply of a writer"),
        (line() + b"my notes", ":2: no reply of a writer"),
        (line() + line(model="other/model"), "one model words a set"),
    ],
)
def test_a_damaged_record_is_told(body: bytes, why: str, tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    path.write_bytes(body)
    with pytest.raises(DataError, match=why):
        RecordedWriter(path)


def test_a_record_that_is_not_there_or_short_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not there"):
        RecordedWriter(tmp_path / "none.jsonl")
    path = tmp_path / "kept.jsonl"
    path.write_bytes(line() + line()[:-30])
    writer = RecordedWriter(path)
    with pytest.raises(NoReplyError, match="recorded"):
        writer.complete("user", CHAT, SCHEMA)
    assert writer.missing == 1


# -- the command line --------------------------------------------------------------------------------------------------


def asks(endpoint: Endpoint) -> Callable[[BaseHTTPRequestHandler], None]:
    """Answer as the role wants: the planner takes the last draft, the user speaks plainly, the others say nothing."""

    def step(handler: BaseHTTPRequestHandler) -> None:
        body = endpoint.bodies[-1]
        role = body["response_format"]["json_schema"]["name"]
        context = json.loads(body["messages"][-1]["content"])
        reply: Any = {}
        if role == "planner":
            reply = {"choice": len(context["drafts"]) - 1, "why": "It hangs together."}
        elif role == "user":
            reply = {"query": ("Okay. " if context["round"] else "") + context["wanted"]}
        says(json.dumps(reply))(handler)

    return step


def generate(out: Path, who: str, *more: str) -> list[str]:
    return ["generate", "--charts", "ward", "--out", str(out), "--limit", "2", "--json", "--writer", who, *more]


def test_the_command_line_writes_a_set_and_makes_it_again(endpoint: Endpoint, tmp_path: Path, capsys) -> None:
    endpoint.script = [asks(endpoint)]
    out, again = tmp_path / "set.jsonl", tmp_path / "again.jsonl"
    roles = ["--writer-roles", "planner,user", "--drafts", "2"]
    assert main(generate(out, "litellm:openai/m", "--writer-base", endpoint.base, *roles)) == 0
    live = json.loads(capsys.readouterr().out)
    assert (live["sessions"], live["patients_used"], live["out"]) == (2, 2, str(out))
    assert live["drafts"]["sessions"] > 2
    told = live["writer"]
    assert (told["name"], told["missing"], told["failed"]) == ("openai/m", 0, {})
    assert told["kept"]["planner"] >= 1 and told["kept"]["user"] >= 4
    asked = len(endpoint.bodies)
    made = load_sessions(str(out))
    assert {session.labels["writer"] for session in made} == {"openai/m"}
    assert "127.0.0.1" not in out.read_text() + Path(f"{out}.writer.jsonl").read_text()

    assert main(generate(again, f"recorded:{out}.writer.jsonl", *roles)) == 0
    recorded = json.loads(capsys.readouterr().out)
    assert again.read_bytes() == out.read_bytes()
    assert (recorded["writer"], recorded["set_hash"]) == (told, live["set_hash"])
    assert len(endpoint.bodies) == asked

    # other drafts, other requests: their replies are not there, which is told and is a finding
    other = [one for one in generate(again, f"recorded:{out}.writer.jsonl", *roles, "--seed", "1") if one != "--json"]
    assert main(other) == 1
    text = capsys.readouterr().out
    assert "2 sessions of 2 patients" in text and "Replies of openai/m" in text
    assert "requests have no recorded reply" in text and "set hash" in text


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory, ward: ChartStore) -> Path:
    """A store of two of the ward's charts that says it is credentialed."""
    path = tmp_path_factory.mktemp("closed") / "charts.sqlite"
    with StoreWriter(path, licence="credentialed") as writer:
        for patient in sorted(ward.patients())[:2]:
            packed, _ = ward.stored(patient)
            writer.add_packed(replace(packed, licence="credentialed"))
    return path


def test_credentialed_charts_go_to_no_model_without_an_agreement(
    endpoint: Endpoint, closed: Path, tmp_path: Path, capsys
) -> None:
    endpoint.script = [asks(endpoint)]
    out = tmp_path / "set.jsonl"
    command = ["generate", "--charts", str(closed), "--out", str(out), "--limit", "1", "--json", "--drafts", "1"]
    writer = ["--writer", "litellm:openai/m", "--writer-base", endpoint.base, "--writer-roles", "user"]
    assert main([*command, *writer]) == 2
    assert "--data-agreement" in capsys.readouterr().err
    assert endpoint.bodies == []
    assert not out.exists() and not Path(f"{out}.writer.jsonl").exists()
    assert main([*command, *writer, "--data-agreement", "DUA 12, local endpoint"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["writer"]["agreement"] == "DUA 12, local endpoint"
    assert endpoint.bodies


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--drafts", "2"], "say with --writer who writes; --drafts"),
        (["--judge-items"], "say with --writer who writes; --judge-items"),
        (["--writer-base", "http://127.0.0.1:9"], "say with --writer"),
        (["--writer", "gpt"], "litellm:MODEL or recorded:FILE"),
        (["--writer", "recorded"], "litellm:MODEL or recorded:FILE"),
        (["--writer", "litellm:"], "litellm:MODEL or recorded:FILE"),
        (["--writer", "recorded:none.jsonl"], "is not there"),
        (["--writer", "litellm:m", "--writer-roles", "user,poet"], "no role `poet`"),
        (["--writer", "litellm:m", "--writer-roles", ","], "names no role"),
    ],
)
def test_wrong_use_is_told_before_anything_is_made(options: list[str], why: str, tmp_path: Path, capsys) -> None:
    out = tmp_path / "set.jsonl"
    assert main(["generate", "--charts", "ward", "--out", str(out), *options]) == 2
    assert why in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_another_kind_is_kept_and_no_model_asked(endpoint: Endpoint, tmp_path: Path, capsys) -> None:
    out = tmp_path / "set.jsonl"
    out.write_text("my notes")
    assert main(generate(out, "litellm:openai/m", "--writer-base", endpoint.base)) == 2
    assert out.read_text() == "my notes"
    assert endpoint.bodies == []
