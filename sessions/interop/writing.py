"""From sessions to PhysAssistBench's JSONL: queries, gold calls with what they bring, answers, rubric sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from wardround.patients import Chart, ChartStore, ToolCall, ToolResult, UsageError, run_tool
from wardround.rubrics import Item
from wardround.sessions.gold import opening_context
from wardround.sessions.session import Session, Turn

from .entries import PREPARE, SCENARIOS, TASK_NAMES

_THEIRS = {ours: theirs for theirs, ours in SCENARIOS.items()}
_SEPARATOR = "=" * 60

Steps = list[dict[str, Any]]


def export_physassistbench(sessions: Iterable[Session], store: ChartStore) -> Iterator[bytes]:
    """Yield one line of JSONL a session, without the newline.

    Args:
        sessions: With gold, and English words.
        store: Their charts; the gold calls are played on them, in the FHIR view, to get the observations.

    Raises:
        UsageError: A session lacks gold or an English query, or its chart is not in the store.
    """
    for session in sessions:
        yield orjson.dumps(entry_of(session, store.chart(session.chart.patient)))


def entry_of(session: Session, chart: Chart) -> dict[str, Any]:
    """Return a session as an entry of PhysAssistBench's shape.

    Raises:
        UsageError: The session lacks gold or an English query, or the chart is not its own.
    """
    if chart.hash != session.chart.hash:
        raise UsageError(f"session `{session.id}` was made for another chart of `{session.chart.patient}`")
    bilingual = all(turn.query.zh is not None for turn in session.turns)
    english = _played(session, chart, "en")
    entry: dict[str, Any] = {
        "id": session.id,
        "session_id": session.id,
        "subject_id": session.chart.patient,
        "hadm_id": session.encounter,
        "current_date": session.anchor[:10],
        "clinical_scenario": _THEIRS.get(session.scenario, session.scenario),
        "difficulty_level": session.tier,
        "task_types": [TASK_NAMES.get(turn.task, turn.task) for turn in session.turns],
        "turn_types": [number > 0 for number in range(len(session.turns))],
        "turn_subtypes": [turn.implicitness for turn in session.turns],
        "tool_sources": [_source(turn) for turn in session.turns],
        "persona_config": {
            "health_literacy": session.persona.literacy,
            "anxiety_level": session.persona.anxiety,
            "medication_adherence": session.persona.adherence,
            "info_completeness": "critical_withheld" if session.persona.disclosure == "critical_withheld" else "full",
        },
        "answer_list": english,
        "rubrics": [[item.text.get("en") for item in _sentences(turn)] for turn in session.turns],
        "wardround": {"licence": session.licence, "use": session.use, "anchor": session.anchor},
    }
    entry |= _worded(session, "en", english)
    if bilingual:
        chinese = _played(session, chart, "zh")
        entry |= _worded(session, "zh", chinese)
        entry["answer_list_zh"] = chinese
        entry["rubrics_zh"] = [[item.text.get("zh") for item in _sentences(turn)] for turn in session.turns]
    return entry


def _sentences(turn: Turn) -> list[Item]:
    """Return the items that are about the outcome: which calls were made is no rubric sentence there."""
    return [item for item in turn.rubric if item.check.kind != "retrieved"]


def _source(turn: Turn) -> str:
    """Return where a turn's answer comes from; a write rests on the record."""
    return "ehr" if turn.source == "write" else turn.source


def _worded(session: Session, language: str, answers: list[Steps]) -> dict[str, Any]:
    """Return the queries and the dialogue in one language; English stands under its own and the bare names."""
    try:
        asked = [turn.query.get(language, "implicit") for turn in session.turns]
        explicit = [turn.query.get(language, "explicit") for turn in session.turns]
    except KeyError as error:
        raise UsageError(f"session `{session.id}`: {error.args[0]}; this shape needs English words") from None
    messages: list[Any] = []
    for number, (query, steps) in enumerate(zip(asked, answers, strict=True)):
        messages += [_SEPARATOR] if number else []
        messages += [{"role": "user", "content": query}, {"role": "assistant", "content": steps[-1]["observation"]}]
    if language == "zh":
        return {"tasks_zh": asked, "tasks_zh_explicit": explicit, "messages_zh": messages}
    return {
        "tasks": asked,
        "tasks_en": asked,
        "tasks_explicit": explicit,
        "tasks_en_explicit": explicit,
        "messages": messages,
        "messages_en": messages,
    }


def _played(session: Session, chart: Chart, language: Any) -> list[Steps]:
    """Return the gold calls of every turn with what they bring; the answer stands with `prepare_to_answer`."""
    context = opening_context(session, chart, language, "fhir")
    turns = []
    for number, turn in enumerate(session.turns):
        if turn.gold is None or not turn.gold.answers:
            raise UsageError(f"session `{session.id}` turn {number} has no gold; it cannot be exported")
        after = set(turn.gold.branch.taken) if turn.gold.branch is not None else set()
        steps: Steps = []
        for call in (call for call in turn.gold.calls if call.tool != PREPARE):
            result = run_tool(context, ToolCall(call.tool, call.arguments), session.tools)
            if not result.ok:
                raise UsageError(f"session `{session.id}` turn {number}: gold call {call.tool}: {result.text}")
            depends = [place for place in range(len(steps)) if place not in after] if len(steps) in after else []
            steps.append(_step(call.tool, call.arguments, _observation(result), depends, len(steps)))
        before = list(range(len(steps)))
        kind = {"answer_type": "tool" if steps else "chat"}
        steps.append(_step(PREPARE, kind, turn.gold.answers[0].get(language), before, len(steps)))
        turns.append(steps)
    return turns


def _step(tool: str, arguments: dict[str, Any], seen: Any, depends: list[int], place: int) -> dict[str, Any]:
    action = {"name": tool, "arguments": arguments}
    return {"action": action, "observation": seen, "dependency_list": depends, "idx": place}


def _observation(result: ToolResult) -> Any:
    if result.effect == "ask":
        return {"patient_response": result.text}
    try:
        return orjson.loads(result.text)
    except orjson.JSONDecodeError:
        return result.text
