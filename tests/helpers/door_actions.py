"""Two policies as plain actions, and the `Episode` that plays them: what every trainer's door is compared with.

Also imported by the programs that tests/external runs in environments of their own, so it needs wardround alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from wardround import load_charts
from wardround.envs import Episode
from wardround.patients import find_tool
from wardround.sessions import Session, Turn

Action = tuple[str, str, dict[str, Any]]
"""("call", alias of the tool, arguments) or ("answer", text, {})."""

PREPARE: Action = ("call", "prepare_to_answer", {"answer_type": "chat"})


def _gold(turn: Turn) -> list[Action]:
    assert turn.gold is not None
    calls: list[Action] = []
    for call in turn.gold.calls:
        spec = find_tool(call.tool)
        assert spec is not None
        calls.append(("call", spec.alias, dict(call.arguments)))
    return calls


def _answer(turn: Turn, language: str) -> Action:
    assert turn.gold is not None
    return ("answer", turn.gold.answers[0].get(language), {})


def oracle(session: Session, language: str = "en") -> list[Action]:
    """Return the gold calls and answers."""
    return [
        action for turn in session.turns for action in (*_gold(turn), PREPARE, _answer(turn, language))
    ]  # fmt: skip


def mistaken(session: Session, language: str = "en") -> list[Action]:
    """Return what earns part of the reward: refused calls, an empty answer, a wrong one, a turn cut short, no plan."""
    me = {"subject_id": session.chart.patient}
    first, _, _, last = session.turns
    return [
        ("call", "Patient_read", {"subject_id": "nobody"}),
        ("call", "Observation_search", {**me, "colour": "red"}),
        ("call", "Observation_search", {}),
        *_gold(first),
        PREPARE,
        _answer(first, language),
        ("answer", "", {}),
        ("answer", "Nothing to report. 无。", {}),
        *[("call", "Patient_read", me)] * 20,
        *_gold(last),
        _answer(last, language),
    ]


POLICIES = {"oracle": oracle, "mistaken": mistaken}


def as_text(action: Action) -> str:
    """Return the action in the action grammar: a Hermes tool call, or the answer."""
    kind, name, arguments = action
    if kind == "answer":
        return name
    return f"<tool_call>{orjson.dumps({'name': name, 'arguments': arguments}).decode()}</tool_call>"


def reference(session: Session, actions: Iterable[Action], **settings: Any) -> Episode:
    """Return the episode that the actions lead to."""
    with load_charts("ward") as store:
        episode = Episode(session, store.chart(session.chart.patient), **settings)
        for kind, name, arguments in actions:
            if kind == "call":
                episode.call(name, arguments)
            else:
                episode.answer(name)
        assert episode.done
        assert episode.trajectory_hash  # computed while the store is open
        return episode
