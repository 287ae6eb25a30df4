"""Two nodes of Ray, one of which is killed while it plays: the results are the serial run's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from wardround.agents import Setting, Worker, make_tasks, ray_rollout
from wardround.agents.runners import run_serial
from wardround.patients import DataError

HELPERS = Path(__file__).resolve().parents[1] / "helpers"
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    set_before = {name: os.environ.get(name) for name in ("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "PYTHONPATH")}
    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HELPERS), set_before["PYTHONPATH"]]))
    node = {"num_cpus": 1, "object_store_memory": 100 * 2**20}
    # the head has no room for actors: they are on the two nodes that follow
    made = Cluster(initialize_head=True, head_node_args={**node, "num_cpus": 0, "include_dashboard": False})
    try:
        nodes = [made.add_node(**node) for _ in range(2)]
        ray.init(address=made.address, log_to_driver=False, configure_logging=False)
        made.wait_for_nodes(60)
        yield made, nodes
    finally:
        ray.shutdown()
        made.shutdown()
        for name, value in set_before.items():
            os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)


def test_a_killed_node_changes_nothing(setting: Setting, worker: Worker, cluster: Any) -> None:
    import ray

    made, nodes = cluster
    ids = [session.id for session in worker.sessions]
    tasks = [*make_tasks(("waiting:Waiting",), ids, trials=4), *make_tasks(("stuffer",), ids[:6])]
    got: dict[str, dict[str, Any]] = {}
    killed = replaced = False
    for record in ray_rollout.run(setting, tasks, actors=2, in_flight=8, name="on"):
        assert record["key"] not in got
        got[record["key"]] = record
        if len(got) == 20:
            made.remove_node(nodes[0], allow_graceful=False)
            killed = True
        if killed and not replaced:
            with suppress(ValueError):  # there is no third actor before one of two is lost
                ray.get_actor("on-2")
                replaced = True
    assert replaced
    alone = {task.key: one for task, one in zip(tasks, run_serial(worker, tasks), strict=True)}
    assert set(got) == set(alone)
    assert all(got[key]["trajectory_hash"] == alone[key]["trajectory_hash"] for key in alone)
    assert all(got[key]["outcome"] == alone[key]["outcome"] for key in alone)
    # and each actor really had as many episodes waiting at once as it may have
    assert max(record["usage"].get("most", 0) for record in got.values()) == 8


def test_what_keeps_actors_from_playing_is_raised_as_it_is(setting: Setting, worker: Worker, cluster: Any) -> None:
    changed = replace(setting, store_hash="0" * 32)
    with pytest.raises(DataError, match="charts hash"):
        list(ray_rollout.run(changed, make_tasks(("silent",), [worker.sessions.sessions[0].id]), actors=1))
