"""`wardround serve` as a process: its files, its end by signal, its refusals, and what survives a kill."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from wardround.cli import main
from wardround.envs import Episode
from wardround.envs.server import LiveEpisode
from wardround.envs.server.journal import Journal
from wardround.envs.server.running import hosts_of, is_loopback
from wardround.patients import ChartBuilder, StoreWriter, load_charts, validate
from wardround.sessions import load_sessions

ORDER = {
    "resourceType": "MedicationRequest",
    "status": "active",
    "intent": "order",
    "medicationCodeableConcept": {"text": "aspirin"},
    "subject": {"reference": "Patient/ward-01"},
}


@contextmanager
def _command(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], dict]]:
    """Run the command until the block ends; yields the process and what it printed."""
    command = [sys.executable, "-m", "wardround", "serve", "--port", "0", "--json", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, json.loads(process.stdout.readline())
        finally:
            if process.poll() is None:
                process.kill()


def _bearer(folder: Path, role: str) -> dict[str, str]:
    told = json.loads((folder / "tokens.json").read_text())
    return {"Authorization": "Bearer " + next(one["token"] for one in told["tokens"] if one["role"] == role)}


def test_a_server_keeps_its_files_and_what_it_acknowledged(tmp_path: Path):
    out = tmp_path / "served"
    with _command("--charts", "ward", "--out", str(out), "--role", "physician", "--role", "patient=ward-02") as (
        process,
        told,
    ):
        assert told["roles"] == ["patient", "physician"] and told["patients"] == 12
        bearer = _bearer(out, "physician")
        made = httpx.post(f"{told['base']}/MedicationRequest", json=ORDER, headers=bearer, timeout=60)
        assert made.status_code == 201
        patched = httpx.patch(
            f"{told['base']}/MedicationRequest/{made.json()['id']}",
            json={"status": "stopped"},
            headers=bearer,
            timeout=60,
        )
        assert patched.status_code == 200
        assert httpx.get(f"{told['base']}/Patient", headers=_bearer(out, "patient"), timeout=60).json()["total"] == 1
        process.send_signal(signal.SIGKILL)
        assert process.wait(60) == -signal.SIGKILL
    for name in ("tokens.json", "audit.ndjson", "journal.ndjson"):
        assert (out / name).stat().st_mode & 0o777 == 0o600
    events = [json.loads(line) for line in (out / "audit.ndjson").read_text().splitlines()]
    assert [(one["subtype"][0]["code"], one["action"], one["outcome"]) for one in events] == [
        ("create", "C", "0"), ("patch", "U", "0"), ("search-type", "E", "0"),
    ]  # fmt: skip
    from fhir.resources.R4B.auditevent import AuditEvent

    for event in events:
        AuditEvent.model_validate(event)
    assert bearer["Authorization"].removeprefix("Bearer ") not in (out / "audit.ndjson").read_text()
    with (out / "journal.ndjson").open("a") as file:
        file.write('{"patient":"ward-01","op":"cre')  # it died in the middle of a write that it never acknowledged
    with _command("--charts", "ward", "--out", str(out)) as (process, told):
        again = httpx.get(f"{told['base']}/MedicationRequest/{made.json()['id']}", headers=bearer, timeout=60)
        assert (again.status_code, again.content) == (200, patched.content)
        assert (
            httpx.post(f"{told['base']}/MedicationRequest", json=ORDER, headers=bearer, timeout=60).status_code == 201
        )
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    assert main(["serve", "--charts", "ward", "--out", str(out), "--at", "2024-05-16T10:00:00Z", "--port", "0"]) == 2


def test_what_a_round_acknowledged_is_in_its_log_after_a_kill(tmp_path: Path):
    session = load_sessions("ward").sessions[0]
    patient = session.chart.patient
    flag = {
        "resourceType": "Flag", "status": "active", "code": {"text": "fall risk"},
        "subject": {"reference": f"Patient/{patient}"},
    }  # fmt: skip
    with _command("--sessions", "ward", "--session", session.id, "--out", str(tmp_path), "--role", "agent") as (
        process,
        told,
    ):
        with httpx.Client(headers=_bearer(tmp_path, "agent"), timeout=60) as client:
            made = client.post(f"{told['base']}/Flag", json=flag)
            assert made.status_code == 201
            called = client.post(f"{told['rounds'][0]}/tools/Observation_search", json={"subject_id": patient})
            assert called.json()["ok"]
        process.send_signal(signal.SIGKILL)
        assert process.wait(60) == -signal.SIGKILL
    journal = Journal(tmp_path / "journal.ndjson")  # the lock went with the process
    with load_charts("ward") as store:
        again = LiveEpisode(Episode(session, store.chart(patient)), journal, session.id)
    journal.close()
    entry = again.record(patient).read("Flag", made.json()["id"])
    assert entry is not None and entry.body == made.content
    assert [one["event"] for one in again.episode.trajectory["events"]] == ["query", "door", "call"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "--out"),
        (["--open", "--role", "nurse"], "--role"),
        (["--open", "--host", "0.0.0.0"], "this machine only"),
        (["--out", "{tmp}/s", "--role", "wizard"], "wizard"),
        (["--out", "{tmp}/s", "--role", "patient"], "patient=ID"),
        (["--out", "{tmp}/s", "--role", "patient=nobody"], "no such patient"),
        (["--out", "{tmp}/s", "--scopes", "everything"], "scope"),
        (["--open", "--at", "yesterday"], "no instant"),
        (["--open", "--at", "nobody=2024-05-16T10:00:00Z"], "no such patient"),
        (["--open", "--host", "203.0.113.7"], "this machine only"),
        (["--open", "--port", "70000"], "port"),
        (["--open", "--name", "evil.example/../"], "--name"),
        (["--open", "--name", "https://evil.example/../"], "--name"),
        (["--out", "{tmp}/file/s"], "check the path"),
        (["--out", "{tmp}/file"], "check the path"),
    ],
)
def test_what_cannot_be_served_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
):
    (tmp_path / "file").touch()
    filled = [one.format(tmp=tmp_path) for one in arguments]
    assert main(["serve", "--charts", "ward", "--port", "0", *filled]) == 2
    assert told in capsys.readouterr().err


def test_charts_under_an_agreement_stay_on_this_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    for licence in ("credentialed", "Credentialed-1.5", "unknown"):
        path = tmp_path / f"{licence}.sqlite"
        builder = ChartBuilder("p", sex="male", birth_date="1950-01-01")
        builder.encounter("stay", "IMP", "2150-01-01T00:00:00Z")
        with StoreWriter(path, licence=licence, provenance={}) as writer:
            writer.add("p", builder.resources())
        assert (
            main(["serve", "--charts", str(path), "--host", "0.0.0.0", "--port", "0", "--out", str(tmp_path / "o")])
            == 2
        )
        assert "on this machine only" in capsys.readouterr().err


def test_tokens_that_others_may_read_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    from wardround.envs.server.tokens import make_tokens, read_tokens, write_tokens

    path = tmp_path / "tokens.json"
    write_tokens(path, make_tokens([("nurse", "user/*.rs", None)]))
    assert len(read_tokens(path)[0].token) >= 43 and path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o644)
    assert main(["serve", "--charts", "ward", "--out", str(tmp_path), "--port", "0"]) == 2
    assert "others may read" in capsys.readouterr().err
    path.unlink()
    (tmp_path / "elsewhere").write_text("{}")
    path.symlink_to(tmp_path / "elsewhere")
    assert main(["serve", "--charts", "ward", "--out", str(tmp_path), "--port", "0"]) == 2


def test_hosts():
    assert is_loopback("127.0.0.1") and is_loopback("::1") and is_loopback("localhost") and is_loopback("127.8.8.8")
    assert not is_loopback("0.0.0.0") and not is_loopback("localhost.evil.example") and not is_loopback("")
    assert hosts_of("192.0.2.1", 80) == {"192.0.2.1:80", "192.0.2.1"}
    assert hosts_of("::1", 1) == {"[::1]:1", "127.0.0.1:1", "localhost:1"}
    assert hosts_of("0.0.0.0", 1, ["Ward.example", "proxy:80"]) == {
        "0.0.0.0:1", "ward.example", "ward.example:1", "proxy:80",
    }  # fmt: skip
    assert validate(ORDER) == []
