"""An ablation on Ray: every condition played by actors, the same bytes as in this process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wardround.agents import EvaluationPlan, How, ablate

pytestmark = [pytest.mark.external, pytest.mark.filterwarnings("ignore")]  # Ray's own


@pytest.fixture(scope="module")
def ray_local() -> Iterator[Any]:
    ray = pytest.importorskip("ray")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    helpers = str(Path(__file__).resolve().parents[1] / "helpers")  # where actors find the agents
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        configure_logging=False,
        runtime_env={"env_vars": {"PYTHONPATH": helpers}},
    )
    yield ray
    ray.shutdown()


def test_an_ablation_on_ray_writes_the_bytes_of_one_in_this_process(ray_local: Any, tmp_path: Path) -> None:
    agents = tuple(f"ablation_agents:{name}" for name in ("forgetful", "resentful", "broken"))
    plan = EvaluationPlan(sessions="ward", agents=agents, limit=4)
    vary = ("phrasing", "history")
    told: list[tuple[int, int]] = []
    how = How(ray="local", actors=2, in_flight=4, progress=lambda done, total: told.append((done, total)))
    far = ablate(plan, tmp_path / "ray", vary, how)
    here = ablate(plan, tmp_path / "here", vary)
    folders = [run["name"] for run in far["conditions"]]
    assert folders == ["explicit-en-self-on", "implicit-en-self-on", "implicit-en-gold-on"]
    for name in ("ablation.json", *(f"{folder}/trajectories.jsonl" for folder in folders)):
        assert (tmp_path / "ray" / name).read_bytes() == (tmp_path / "here" / name).read_bytes(), name
    assert told[-1] == (36, 36)  # 4 sessions x 3 agents x 3 conditions
    # what was found is what the agents were made to do, so the bytes are not the same for being empty
    found = {(one["agent"], one["label"]): one["difference"] for one in far["comparisons"]}
    assert found["ablation_agents:forgetful", "NA"] == -1.0
    assert found["ablation_agents:resentful", "turn 1"] == 1.0
    assert [(one["condition"], one["outcome"], one["episodes"]) for one in far["errors"]] == [
        (folder, "endpoint_error", 4) for folder in folders
    ]
    assert far["errors"] == here["errors"]
