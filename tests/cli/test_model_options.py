"""The options of models that play: each reaches the plan under its own name."""

from __future__ import annotations

import argparse

import pytest

from wardround.cli.common import add_model, model_plan


def _parsed(*options: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_model(parser)
    parser.set_defaults(data_agreement=False)
    return parser.parse_args(options)


@pytest.mark.parametrize(("said", "last_step"), [((), "answer"), (("--model-last-step", "free"), "free")])
def test_a_model_is_held_to_an_answer_unless_it_is_said_otherwise(said: tuple[str, ...], last_step: str) -> None:
    plan = model_plan(_parsed(*said), ["litellm:openai/some-model"])
    assert plan is not None
    assert plan.last_step == last_step


def test_no_other_last_step_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        _parsed("--model-last-step", "never")
    assert "invalid choice" in capsys.readouterr().err
