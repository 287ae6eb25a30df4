"""What a trainer's door adds: whole episodes of the oracle through each door, beside the same actions on `Episode`.

`python -m benchmarks.doors` prints the table alone; doors whose trainer is not installed are left out and named.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import orjson

from benchmarks.timing import Row
from wardround import load_charts, load_sessions
from wardround.envs import Episode, WardEnv
from wardround.envs.adapters import Round
from wardround.envs.adapters.trl import WardEnvironment
from wardround.patients import ChartStore, find_tool
from wardround.sessions import Session

SESSIONS = 12
LIMIT = 1.2
"""A door may take so much of what `Episode` takes; `WardEnv`, no door, stands in the table to compare with."""

Action = tuple[str, str, dict[str, Any], str]
"""Kind, name or answer, arguments, and the same as a text action."""


def _actions(session: Session) -> list[Action]:
    out: list[Action] = []
    for turn in session.turns:
        assert turn.gold is not None
        calls = [(call.tool, dict(call.arguments)) for call in turn.gold.calls]
        for tool, arguments in [*calls, ("prepare_to_answer", {"answer_type": "chat"})]:
            spec = find_tool(tool)
            assert spec is not None
            text = orjson.dumps({"name": spec.alias, "arguments": arguments}).decode()
            out.append(("call", spec.alias, arguments, f"<tool_call>{text}</tool_call>"))
        answer = turn.gold.answers[0].get("en")
        out.append(("answer", answer, {}, answer))
    return out


def _doors() -> dict[str, Callable[[Session, list[Action]], float]]:
    """Return a function for each door that plays one episode and returns its reward."""
    env = WardEnv("ward")
    environment: Any = WardEnvironment()

    def round_text(session: Session, actions: list[Action]) -> float:
        played = Round(session.id)
        return sum(played.send(text).reward for *_, text in actions)

    def round_calls(session: Session, actions: list[Action]) -> float:
        played = Round(session.id)
        steps = (played.call(name, more) if kind == "call" else played.answer(name) for kind, name, more, _ in actions)
        return sum(step.reward for step in steps)

    def trl(session: Session, actions: list[Action]) -> float:
        environment.reset(session_id=session.id)
        for kind, name, arguments, _ in actions:
            if kind == "call":
                getattr(environment, name)(**arguments)
            else:
                environment.reply_to_physician(message=name)
        return float(environment.get_reward())

    def gymnasium(session: Session, actions: list[Action]) -> float:
        env.reset(options={"session": session.id})
        return sum(float(env.step(text)[1]) for *_, text in actions)

    doors = {"Round, text": round_text, "Round, calls": round_calls, "TRL class": trl, "WardEnv": gymnasium}
    return doors | _skyrl() | _openenv()


def _skyrl() -> dict[str, Callable[[Session, list[Action]], float]]:
    try:
        from wardround.envs.adapters.skyrl import WardTextEnv
    except ImportError as error:
        print(f"left out: {error}")
        return {}

    def skyrl(session: Session, actions: list[Action]) -> float:
        env = WardTextEnv(extras={"session_id": session.id})
        env.init([])
        return sum(float(env.step(text)["reward"]) for *_, text in actions)

    return {"SkyRL-Gym": skyrl}


def _openenv() -> dict[str, Callable[[Session, list[Action]], float]]:
    try:
        from wardround.envs.adapters.openenv import WardAction, WardServerEnv
    except ImportError as error:
        print(f"left out: {error}")
        return {}
    env = WardServerEnv()

    def openenv(session: Session, actions: list[Action]) -> float:
        env.reset(task_id=session.id)
        return sum(float(env.step(WardAction(text=text)).reward) for *_, text in actions)

    return {"OpenEnv, in process": openenv}


def _plain(store: ChartStore) -> Callable[[Session, list[Action]], float]:
    def episode(session: Session, actions: list[Action]) -> float:
        played = Episode(session, store.chart(session.chart.patient))
        for kind, name, arguments, _ in actions:
            if kind == "call":
                played.call(name, arguments)
            else:
                played.answer(name)
        return played.score

    return episode


def door_rows(rounds: int = 12) -> list[Row]:
    """Play the oracle's episodes through every door and on `Episode`, one after the other.

    CPU time, and the median of each episode's own ratio: the machine is shared, and wall time then says little.
    """
    store = load_charts("ward")
    doors = {"Episode": _plain(store), **_doors()}
    order = list(doors.items())
    times: dict[str, list[float]] = {name: [] for name in doors}
    played = [(session, _actions(session)) for session in load_sessions("ward").sessions[:SESSIONS]]
    for number in range(rounds + 1):
        for session, actions in played:
            # who comes first finds colder caches: each does in turn
            for name, door in [*order[number % len(order) :], *order[: number % len(order)]]:
                began = time.process_time()
                reward = door(session, actions)
                spent = time.process_time() - began
                assert abs(reward - 1.0) < 1e-9
                if number:  # the first round warms caches
                    times[name].append(spent * 1e6)
    floors = times.pop("Episode")
    return [
        Row(
            f"door: {name}, an oracle's episode (CPU)",
            statistics.median(mine),
            statistics.median(floors),
            statistics.median(a / b for a, b in zip(mine, floors, strict=True)),
            "the same actions on Episode",
        )
        for name, mine in times.items()
    ]


def main() -> int:
    """Print the table; 1 where a door adds more than it may."""
    rows = door_rows()
    for row in rows:
        print(f"{row.name:50s} {row.median_us:10.1f} µs  Episode {row.floor_us:10.1f} µs  ratio {row.ratio:5.3f}")
    return int(any(row.ratio is not None and row.ratio > LIMIT for row in rows if "WardEnv" not in row.name))


if __name__ == "__main__":
    sys.exit(main())
