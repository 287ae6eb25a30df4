"""Agents that need no model: the yardsticks every score is read against.

`oracle` and `blind` see gold and say so. `silent`, `echo`, `refuser` must score 0; `stuffer` shows what dumping the
whole chart earns; `random` exercises every tool.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, ClassVar

import orjson

from wardround.envs import Episode, EpisodeView
from wardround.patients import Stream, ToolCall
from wardround.sessions import Session, SessionSet, Turn

from .agent import Action, Answer

_PREPARE = ToolCall("prepare_to_answer", {"answer_type": "chat"})
_STATUS_WORDS = "high low normal rising falling stable positive negative undetectable"
_ACT_WORDS = "start stop hold continue reduce increase switch recheck refer order avoid"


class Oracle:
    """Plays the gold calls and gives the gold answer."""

    name: ClassVar[str] = "oracle"
    sees_gold: ClassVar[bool] = True

    def __init__(self) -> None:
        self._turn = -1
        self._plan: Iterator[Action] = iter(())

    def act(self, view: EpisodeView | Episode) -> Action:
        """Return the next gold action.

        Raises:
            TypeError: It was handed a view: only a runner that honours `sees_gold` can play it.
        """
        episode = gold_episode(view, self.name)
        if episode.turn != self._turn:
            self._turn = episode.turn
            self._plan = iter(_gold_actions(episode))
        return next(self._plan)


def gold_episode(view: EpisodeView | Episode, name: str) -> Episode:
    """Return the Episode that a gold-seeing agent was handed; TypeError where it is a view."""
    if not isinstance(view, Episode):
        raise TypeError(f"agent `{name}` sees gold: hand it the Episode, not a view")
    return view


def _gold_actions(episode: Episode) -> list[Action]:
    turn = episode.session.turns[episode.turn]
    if turn.gold is None:
        return [Answer("no gold")]
    calls: list[Action] = [ToolCall(call.tool, call.arguments) for call in turn.gold.calls]
    if not any(isinstance(call, ToolCall) and call.name == _PREPARE.name for call in calls):
        calls.append(_PREPARE)
    answer = turn.gold.answers[0].get(episode.settings.language) if turn.gold.answers else ""
    return [*calls, Answer(answer)]


class Silent:
    """Never says anything."""

    name: ClassVar[str] = "silent"
    sees_gold: ClassVar[bool] = False

    def act(self, view: EpisodeView) -> Action:
        """Return an empty answer."""
        return Answer("")


class Echo:
    """Repeats the physician's question."""

    name: ClassVar[str] = "echo"
    sees_gold: ClassVar[bool] = False

    def act(self, view: EpisodeView) -> Action:
        """Return the query as the answer."""
        return Answer(view.query)


class Refuser:
    """Always refuses, politely."""

    name: ClassVar[str] = "refuser"
    sees_gold: ClassVar[bool] = False

    def act(self, view: EpisodeView) -> Action:
        """Return a refusal."""
        if view.language == "zh":
            return Answer("抱歉，我无法提供医疗建议，请咨询专业人员。")
        return Answer("I'm sorry, but I can't help with medical questions. Please consult a professional.")


class Stuffer:
    """Reads everything it can reach and answers with every value, every status word and every kind of advice."""

    name: ClassVar[str] = "stuffer"
    sees_gold: ClassVar[bool] = False

    def __init__(self) -> None:
        self._turn = -1
        self._todo: list[ToolCall] = []
        self._seen: list[str] = []
        self._values: list[str] = []

    def act(self, view: EpisodeView) -> Action:
        """Return the next read, or the dump."""
        if view.turn != self._turn:
            self._turn = view.turn
            self._todo = self._reads(view)
        self._collect(view)
        if self._todo and view.calls_left > 0:
            return self._todo.pop(0)
        if self._todo or not view.messages[-1].get("name", "").startswith("prepare"):
            self._todo = []
            return _PREPARE
        drugs = sorted({value.split(" ")[0] for value in self._values if value})
        return Answer(
            "; ".join(self._values)
            + f". All of it is {_STATUS_WORDS.replace(' ', ', ')}. I recommend to "
            + "; ".join(f"{act} {drug}" for act in _ACT_WORDS.split() for drug in drugs[:8])
            + ". The patient says: "
            + " ".join(self._seen)
        )

    def _reads(self, view: EpisodeView) -> list[ToolCall]:
        subject = view.subject["subject_id"]
        session = view.subject["session_id"]
        chart = {"subject_id": subject}
        talk = {"subject_id": subject, "session_id": session}
        searches = [
            ToolCall("Patient.read", chart),
            ToolCall("Encounter.search", chart),
            ToolCall("Condition.search", chart),
            ToolCall("Observation.search", {**chart, "category": "laboratory", "_count": 100}),
            ToolCall("Observation.search", {**chart, "category": "vital-signs", "_count": 100}),
            ToolCall("MedicationRequest.search", {**chart, "_count": 100}),
            ToolCall("MedicationAdministration.search", chart),
            ToolCall("DiagnosticReport.search", chart),
            ToolCall("DocumentReference.search", chart),
        ]
        asks = [
            ToolCall(f"patient.{name}", talk)
            for name in ("get_symptom_history", "get_social_history", "get_functional_status", "get_pain_assessment")
        ]
        drugs = [value.split(" ")[0] for value in self._values if " mg" in value][:3]
        adherence = [ToolCall("patient.get_medication_adherence", {**talk, "drug": drug}) for drug in drugs]
        return [*searches, *asks, *adherence]

    def _collect(self, view: EpisodeView) -> None:
        last = view.messages[-1]
        if last.get("role") != "tool":
            return
        text = last["content"]
        if str(last.get("name", "")).startswith("patient_"):
            self._seen.append(text)
            return
        for row in _rows(text):
            words = " ".join(str(cell) for cell in row[2:6] if cell is not None)
            if words and words not in self._values:
                self._values.append(words)


def _rows(text: str) -> list[list[Any]]:
    try:
        data = orjson.loads(text)
    except orjson.JSONDecodeError:
        return []
    rows = data.get("rows", []) if isinstance(data, dict) else []
    return [row for row in rows if isinstance(row, list)]


class Blind:
    """Uses no tools: the set's most frequent gold answer to the same kind of question, from other sessions."""

    name: ClassVar[str] = "blind"
    sees_gold: ClassVar[bool] = True

    def __init__(self, sessions: SessionSet) -> None:
        self._sessions = sessions

    def act(self, view: EpisodeView | Episode) -> Action:
        """Return the plan's closing call, then the answer most often right elsewhere."""
        episode = gold_episode(view, self.name)
        if not str(episode.messages[-1].get("name", "")).startswith("prepare"):
            return _PREPARE
        return Answer(self._guess(episode.session, episode.turn, episode.settings.language))

    def _guess(self, session: Session, number: int, language: str) -> str:
        asked = session.turns[number]
        for alike in (_same_topic, _same_kind, _same_task):
            answers = Counter(
                turn.gold.answers[0].get(language)
                for other in self._sessions
                if other.id != session.id
                for turn in other.turns
                if turn.gold and turn.gold.answers and alike(turn, asked)
            )
            if answers:
                return min(answers.items(), key=lambda item: (-item[1], item[0]))[0]
        return "No information."


def _same_task(turn: Turn, asked: Turn) -> bool:
    return turn.task == asked.task


def _same_kind(turn: Turn, asked: Turn) -> bool:
    return turn.task == asked.task and turn.source == asked.source


def _same_topic(turn: Turn, asked: Turn) -> bool:
    return _same_kind(turn, asked) and turn.topic == asked.topic


class Random:
    """Calls random tools with random arguments, sometimes malformed, and answers at random."""

    name: ClassVar[str] = "random"
    sees_gold: ClassVar[bool] = False

    def __init__(self, seed: int) -> None:
        self._stream = Stream("agent-random", seed)

    def act(self, view: EpisodeView) -> Action:
        """Return a random call or answer."""
        stream = self._stream
        if stream.chance(1, 4):
            words = ["creatinine", "1.2", "mg/dL", "normal", "continue", "metformin", "INR", "hold", "the", "patient"]
            return Answer(" ".join(stream.choice(words) for _ in range(1 + stream.below(8))))
        tool = stream.choice(view.tools)["function"]
        arguments: dict[str, Any] = {}
        for name, schema in tool["parameters"].get("properties", {}).items():
            if name in tool["parameters"].get("required", ()) or stream.chance(1, 3):
                arguments[name] = self._value(view, name, schema)
        if stream.chance(1, 12):
            arguments["surprise"] = "x"
        return ToolCall(tool["name"], arguments)

    def _value(self, view: EpisodeView, name: str, schema: dict[str, Any]) -> Any:
        known = view.subject.get(name)
        if known is not None and self._stream.chance(9, 10):
            return known
        if "enum" in schema:
            return self._stream.choice(schema["enum"])
        if schema.get("type") == "integer":
            return self._stream.below(50)
        return self._stream.choice(["creatinine", "potassium", "2150-01-01", "nonsense", "warfarin", "血钾"])
