"""Ward rounds as a verifiers 0.4 taskset, `vf-eval wardround-v1 --no-push`. The policy writes tool calls as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import verifiers.v1 as vf
from verifiers.v1.harnesses.null import NullHarnessConfig

from wardround import dataset
from wardround.envs.adapters import Round, RoundConfig

SETTINGS = {"charts", "split", "language", "phrasing"}


class WardConfig(vf.TasksetConfig):
    """What to open and how to play; `--env.taskset.sessions NAME` and so on."""

    sessions: str = "ward"
    charts: str | None = None
    split: str | None = None
    language: Literal["en", "zh"] = "en"
    phrasing: Literal["explicit", "implicit"] = "implicit"
    data_agreement: str | None = None
    seed: int = 0


class WardData(vf.TaskData):
    """One session: the row of `wardround.dataset`."""

    session_id: str
    seed: int


class WardTask(vf.Task[WardData, vf.State, vf.TaskConfig]):
    """A round; its rewards are recorded by the environment."""


class WardTaskset(vf.Taskset[WardTask, WardConfig]):
    """One task per session; sessions for evaluation only are refused."""

    def load(self) -> Iterator[WardTask]:
        """Yield the set's tasks in its order."""
        c, asked = self.config, self.config.model_dump(include=SETTINGS)
        for row in dataset(c.sessions, seed=c.seed, form="text", **asked):
            rules, first = (message["content"] for message in row["prompt"])
            named = {"name": row["session_id"], "session_id": row["session_id"], "seed": row["seed"]}
            yield WardTask(WardData(**named, system_prompt=rules, prompt=first), c.task)


class WardEnvConfig(vf.EnvConfig):
    """The policy's seat: a plain chat on this machine, for the policy runs no code of its own."""

    agent: vf.AgentConfig = vf.AgentConfig(harness=NullHarnessConfig(id="null"), runtime=vf.SubprocessConfig())


class WardEnv(vf.Env[WardEnvConfig]):
    """Plays the round: each message of the policy is an action, each closed question a reward."""

    async def run(self, task: WardTask, agents: vf.Agents) -> None:
        """Play one episode; a turn's reward weighs its share, so that the trace's reward is the session's score."""
        c = self.taskset.config
        settings = RoundConfig(c.sessions, **c.model_dump(include={*SETTINGS, "data_agreement"}))
        played = Round(task.data.session_id, seed=task.data.seed, config=settings)
        async with agents.agent.interaction(task) as talk:
            segment = await talk.turn()
            while not segment.terminated:
                step = played.send(segment.last_reply)
                if step.done:
                    break
                segment = await talk.turn(step.text)
        rewards = played.turn_rewards + [0.0] * (played.turns - len(played.turn_rewards))
        for number, reward in enumerate(rewards, 1):
            talk.trace.record_reward(f"turn_{number}", reward, 1 / played.turns)
        talk.trace.info["wardround"] = {"trajectory_hash": played.trajectory_hash, "truncated": played.truncated}


__all__ = ["WardEnv", "WardTaskset"]
