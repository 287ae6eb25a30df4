"""What someone new to `eval` is told: of models that cannot be asked, of what a model used, of sessions left out."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from wardround.cli import main

EVAL = ("eval", "--sessions", "ward", "--limit", "1")
CLOSED = "http://127.0.0.1:9/v1"  # the discard port: nothing listens there


def test_a_model_behind_an_endpoint_needs_its_provider(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    assert main([*EVAL, "--agent", "litellm:toy", "--model-base", CLOSED, "--out", str(out)]) == 2
    assert "litellm:openai/toy" in capsys.readouterr().err
    assert not out.exists()


def test_an_endpoint_that_is_not_there_is_told_with_its_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = [*EVAL, "--agent", "litellm:openai/toy", "--model-base", CLOSED, "--model-attempts", "1"]
    assert main([*argv, "--out", str(tmp_path / "run")]) == 1
    printed = capsys.readouterr().out
    assert "1 episodes of litellm:openai/toy ended in endpoint_error" in printed
    assert "wardround doctor --endpoint URL" in printed
    assert "--resume --retry" in printed


def test_a_key_that_nobody_set_is_told_after_one_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert main([*EVAL, "--agent", "litellm:openai/toy", "--out", str(tmp_path / "run")]) == 1
    printed = capsys.readouterr().out
    assert "no reply of openai/toy after 1 try: status 401" in printed
    assert "OPENAI_API_KEY" in printed


def test_sessions_without_words_in_a_language_are_left_out_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["--sessions", "ward", "--limit", "3", "--agent", "silent"]  # Session A, the first of three, is in English
    assert main(["eval", *argv, "--language", "both", "--out", str(tmp_path / "run")]) == 0
    report = orjson.loads((tmp_path / "run/results.json").read_bytes())
    assert {row["language"]: row["episodes"] for row in report["results"]} == {"en": 3, "zh": 2}
    assert report["skipped"] == [{"language": "zh", "sessions": 1}]
    assert "zh: 1 sessions left out" in capsys.readouterr().out
    assert main(["ablate", *argv, "--language", "zh", "--out", str(tmp_path / "ablation")]) == 0
    ablation = orjson.loads((tmp_path / "ablation/ablation.json").read_bytes())
    assert [one["sessions"] for one in ablation["conditions"]] == [2, 2]
    assert ablation["skipped"] == [{"vary": "phrasing", "sessions": 1, "reason": "the session lacks words in `zh`"}]
    alone = [*EVAL, "--agent", "silent", "--language", "zh", "--out", str(tmp_path / "alone")]
    assert main(alone) == 2
    assert "play it in a language it has" in capsys.readouterr().err


def test_a_cluster_that_is_not_there_is_told_with_what_may_be_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("ray")
    assert main([*EVAL, "--agent", "silent", "--ray", "nowhere", "--out", str(tmp_path / "run")]) == 2
    told = capsys.readouterr().err
    assert "no Ray cluster answers at `nowhere`" in told
    assert "`local`" in told
