"""`ablate`, `export` and `doctor` at the command line: keys, exit codes, what is printed, and keys that never show."""

from __future__ import annotations

import importlib.util
import json
import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from pathlib import Path
from typing import Any

import orjson
import pytest

from wardround.cli import main
from wardround.cli.probing import probe

SECRET = "sk-very-secret-key-0123456789"  # a made-up one: what must not be shown


def _json(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, dict[str, Any]]:
    code = main([*argv, "--json"])
    return code, orjson.loads(capsys.readouterr().out)


# -- ablate and export ------------------------------------------------------------------------------------------------


def test_ablate_prints_what_it_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["ablate", "--sessions", "ward", "--agent", "ablation_agents:forgetful", "--limit", "3"]
    argv += ["--vary", "phrasing,language", "--out", str(tmp_path / "ablation")]
    assert main(argv) == 0
    text = capsys.readouterr().out
    stored = orjson.loads((tmp_path / "ablation/ablation.json").read_bytes())
    failures = next(run for run in stored["conditions"] if run["phrasing"] == "implicit")["results"][0]["failures"]
    count = sum(failures.values())
    assert count > 0
    assert f"implicit-en-self-on, ablation_agents:forgetful: {count} failed turns:" in text
    assert re.search(r"implicit − explicit +\d+ +-1\.000", text)
    assert "language: 1 sessions left out: the session lacks words in English or Chinese" in text
    assert f"{tmp_path}/ablation/ablation.json" in text
    assert not re.search(r"[\[{][\"'{]|\b(?:None|True|False)\b", text)
    code, report = _json(capsys, *argv, "--resume")
    assert (code, report["comparisons"]) == (0, stored["comparisons"])
    assert main([*argv]) == 2  # holds records, no --resume
    assert main([*argv[:-3], "wording", "--out", str(tmp_path / "other")]) == 2
    assert "cannot be varied" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


def test_a_failed_episode_is_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["ablate", "--sessions", "ward", "--agent", "ablation_agents:broken", "--limit", "1"]
    assert main([*argv, "--out", str(tmp_path)]) == 1
    assert "1 episodes of ablation_agents:broken ended in endpoint_error" in capsys.readouterr().out


def test_eval_says_why_turns_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["eval", "--sessions", "ward", "--agent", "refuser", "--agent", "oracle", "--limit", "2"]
    assert main([*argv, "--out", str(tmp_path / "run")]) == 0
    text = capsys.readouterr().out
    assert "refuser, implicit, en: 8 failed turns: refusal 8\n" in text
    assert "oracle, implicit, en:" not in text
    report = orjson.loads((tmp_path / "run/results.json").read_bytes())
    assert [row["failures"]["refusal"] for row in report["results"]] == [0, 8]
    code, exported = _json(
        capsys, "export", str(tmp_path / "run"), "--min-reward", "1", "--out", str(tmp_path / "x.jsonl")
    )
    assert (code, exported["rows"], exported["left_out"]) == (0, 2, {"below the least reward": 2})
    assert main(["export", str(tmp_path / "run"), "--out", str(tmp_path / "x.jsonl")]) == 0
    assert "4 lines (chat) of 2 sessions; licence CC0-1.0" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["export", str(tmp_path / "run"), "--min-reward", "nan", "--out", "x"])
    assert main(["export", "ward", "--out", str(tmp_path / "y.jsonl")]) == 2


# -- doctor -----------------------------------------------------------------------------------------------------------


class _Models(BaseHTTPRequestHandler):
    """`/v1` lists models for whoever brings the key; other paths misbehave, each in its own way."""

    def do_GET(self) -> None:
        self.server.seen.append((self.path, self.headers.get("authorization")))  # type: ignore[attr-defined]
        body = json.dumps({"object": "list", "data": [{"id": f"model-{n}"} for n in range(12)]}).encode()
        if self.path == "/drip/models":
            self._drip()
            return
        status = 200
        if self.path == "/locked/models":
            status = 401
        elif self.path == "/moved/models":
            status = 302
        elif self.path == "/html/models":
            body = b"<html>" + SECRET.encode()
        self.send_response(status)
        if status == 302:
            self.send_header("location", "/v1/models")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _drip(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "100000")
        self.end_headers()
        try:
            for _ in range(200):
                self.wfile.write(b" ")
                time.sleep(0.05)
        except OSError:
            return  # the reader has gone

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    made = ThreadingHTTPServer(("127.0.0.1", 0), _Models)
    made.daemon_threads = True
    made.seen = []  # type: ignore[attr-defined]
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


@pytest.fixture
def base(server: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("MY_KEY", SECRET)
    return f"http://127.0.0.1:{server.server_port}"


def test_doctor_lists_extras_and_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = ["orjson>=3.10", 'litellm!=1.82.7,>=1.84; extra == "llm"', "no-such-package>=1; extra == 'trainer'"]
    wanted += ["ruff>=0.8; extra == 'dev'", 'wardround[llm]; extra == "dev"']
    monkeypatch.setattr(metadata, "requires", lambda name: wanted)
    folder = tmp_path / "cache"
    folder.mkdir()
    for name in ("physassist-hospital-mini-" + "0" * 24 + ".jsonl", "physassist-hospital-mini-" + "1" * 24 + ".jsonl"):
        (folder / name).write_bytes(b"12345")
    (folder / "notes.txt").write_text("not ours")
    monkeypatch.setattr("wardround.patients.cache_folder", lambda: folder)
    code, data = _json(capsys, "doctor")
    assert (code, data["findings"], data["endpoint"]) == (0, [], None)
    assert data["packages"] == {"orjson": metadata.version("orjson")}
    litellm = importlib.util.find_spec("litellm") and metadata.version("litellm")
    assert data["extras"] == {"llm": {"litellm": litellm}, "trainer": {"no-such-package": None}}
    assert data["cache"]["sets"] == {"physassist-hospital-mini": {"versions": 2, "bytes": 10}}
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert str(folder) in out
    assert "extra trainer: no-such-package not installed" in out


def test_doctor_of_this_installation(capsys: pytest.CaptureFixture[str]) -> None:
    """What is installed here has all it wants."""
    code, data = _json(capsys, "doctor")
    assert (code, data["findings"]) == (0, [])
    assert {"gymnasium", "orjson", "pydantic"} <= set(data["packages"])
    assert "llm" in data["extras"]
    assert "dev" not in data["extras"]


def test_doctor_warns_of_a_compromised_litellm(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """1.82.7 and 1.82.8 carried a credential stealer (BerriAI/litellm#24512)."""
    real = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "1.82.8" if name == "litellm" else real(name))
    assert main(["doctor"]) == 1
    assert "finding: litellm 1.82.8 is a compromised release" in capsys.readouterr().out


def test_an_endpoint_that_is_there(base: str, server: Any, capsys: pytest.CaptureFixture[str]) -> None:
    server.seen.clear()
    url = f"{base}/v1".replace("http://", f"http://user:{SECRET}@") + f"?key={SECRET}"
    code, data = _json(capsys, "doctor", "--endpoint", url, "--key-env", "MY_KEY")
    assert code == 0
    assert data["endpoint"] == {
        "url": f"{base}/v1",
        "reachable": True,
        "status": 200,
        "models": [f"model-{number}" for number in range(10)],
        "count": 12,
        "error": "",
    }
    assert server.seen == [("/v1/models", f"Bearer {SECRET}")]
    assert main(["doctor", "--endpoint", url, "--key-env", "MY_KEY"]) == 0
    out = capsys.readouterr()
    assert "12 models: model-0, " in out.out
    assert SECRET not in out.out + out.err + str(data)


@pytest.mark.parametrize(
    ("path", "reachable", "said"),
    [
        ("/locked", True, "HTTP 401: it wants a key"),
        ("/moved", True, "HTTP 302: it sends elsewhere"),
        ("/html", True, "the reply is no JSON"),
        ("/drip", False, "no answer in 0.3 s"),
    ],
)
def test_an_endpoint_that_misbehaves(base: str, path: str, reachable: bool, said: str) -> None:
    found = probe(base + path, key_env="MY_KEY", deadline=0.3 if path == "/drip" else 10)
    assert (found["reachable"], found["models"]) == (reachable, None)
    assert said in found["error"]
    assert SECRET not in str(found)


def test_an_endpoint_that_is_not_there(base: str, capsys: pytest.CaptureFixture[str]) -> None:
    closed = ThreadingHTTPServer(("127.0.0.1", 0), _Models)
    closed.server_close()
    assert main(["doctor", "--endpoint", f"http://127.0.0.1:{closed.server_port}/v1"]) == 1
    assert "finding: endpoint http://127.0.0.1:" in capsys.readouterr().out


@pytest.mark.parametrize("url", ["ftp://host/v1", "host:8000", "http://", "http://host:port/v1", "http://[::1/v1"])
def test_what_is_no_url_of_an_endpoint_is_exit_code_2(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--endpoint", url]) == 2
    assert "takes an http or https URL" in capsys.readouterr().err
    assert main(["doctor", "--endpoint", "http://127.0.0.1/v1", "--key-env", "NO_SUCH_VARIABLE"]) == 2
