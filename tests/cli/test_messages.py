"""What someone new to `eval` is told: of models that cannot be asked, of what a model used, of sessions left out."""

from __future__ import annotations

from pathlib import Path

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
