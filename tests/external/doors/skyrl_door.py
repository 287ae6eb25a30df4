"""SkyRL-Gym makes and plays the environment; run where skyrl-gym is installed."""

from __future__ import annotations

import skyrl_gym
from door_actions import POLICIES, as_text, reference
from skyrl_gym.envs.base_text_env import BaseTextEnv

from wardround import dataset, load_sessions
from wardround.envs.adapters.skyrl import WardTextEnv, register

rows = {row["session_id"]: row for row in dataset("ward", form="text", seed=2)}
register()
register()  # again: nothing happens
for session in load_sessions("ward").sessions[:4]:
    row = rows[session.id]
    for policy, script in POLICIES.items():
        env = skyrl_gym.make("wardround", env_config={"sessions": "ward"}, extras=row)
        assert isinstance(env, BaseTextEnv)
        messages, _ = env.init(row["prompt"])
        assert messages == row["prompt"]
        rewards: list[float] = []
        shown: list[str] = []
        for action in script(session):
            out = env.step(as_text(action))
            assert set(out) == {"observations", "reward", "done", "metadata"}
            rewards.append(out["reward"])
            shown.append(str(out))
        assert out["done"]
        assert out["observations"] == []
        episode = reference(session, script(session))
        closing = [reward for reward in rewards if reward]
        assert closing == [score.reward / 4 for score in episode.scores if score.reward]
        assert sum(rewards) == episode.score == env.get_metrics()["score"]
        assert env.round.trajectory_hash == episode.trajectory_hash
        assert not any(word in "".join(shown) for word in ("verdict", "rubric", episode.trajectory_hash))
        print(session.id, policy, episode.score)

session = load_sessions("ward").sessions[0]
cut = WardTextEnv(extras={"session_id": session.id, "max_turns": 2})
cut.init([])
assert [cut.step("No.")["done"] for _ in range(2)] == [False, True]
assert cut.get_metrics()["truncated"] == 1.0
assert WardTextEnv.aggregate_metrics([cut.get_metrics()] * 2)["turns_closed"] == 2.0
before = cut.round.trajectory_hash
after = cut.step("Potassium 4.6 mEq/L")
assert (after["reward"], after["done"], cut.round.trajectory_hash) == (0.0, True, before)
