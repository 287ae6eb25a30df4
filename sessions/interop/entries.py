"""One line of PhysAssistBench's published JSONL: what of it is read, checked field by field.

The shape is known from the public code that writes it; no published session was opened to write this.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, model_validator

PREPARE: Final = "prepare_to_answer"
TASKS: Final = {
    "information lookup": "IL",
    "data gathering": "DG",
    "clinical reasoning": "CR",
    "write/update": "WU",
}
TASK_NAMES: Final = {
    "IL": "Information Lookup",
    "DG": "Data Gathering",
    "CR": "Clinical Reasoning",
    "WU": "Write/Update",
}
SCENARIOS: Final = {
    "diagnostic_workup": "diagnostic-workup",
    "med_safety": "medication-safety",
    "treatment_response": "treatment-response",
    "discharge_planning": "discharge-planning",
}


class _Lenient(BaseModel):
    """Fields that are not read are left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Action(_Lenient):
    """A call."""

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class Step(_Lenient):
    """A call and what it brought; of `prepare_to_answer`, the answer."""

    action: Action
    observation: Any = None
    dependency_list: list[int] = Field(default_factory=list)


class Entry(_Lenient):
    """One session; lists by turn have one element a turn."""

    id: str | int
    session_id: str | None = None
    subject_id: str | int
    hadm_id: str | int | None = None
    current_date: str
    clinical_scenario: str = ""
    difficulty_level: str | None = None
    tasks: list[str] = Field(min_length=1)
    tasks_explicit: list[str] | None = None
    tasks_zh: list[str] | None = None
    tasks_zh_explicit: list[str] | None = None
    task_types: list[str]
    turn_subtypes: list[str | None] = Field(default_factory=list)
    tool_sources: list[str | None] = Field(default_factory=list)
    answer_list: list[list[Step]]
    answer_list_zh: list[list[Step]] | None = None
    messages_zh: list[Any] | None = None
    rubrics: list[list[str]]
    rubrics_zh: list[list[str]] | None = None
    persona_config: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _even(self) -> Entry:
        turns = len(self.tasks)
        for name in ("task_types", "answer_list", "rubrics"):
            if len(getattr(self, name)) != turns:
                raise ValueError(f"`{name}` has {len(getattr(self, name))} elements for {turns} tasks")
        for name in ("tasks_explicit", "tasks_zh", "tasks_zh_explicit", "rubrics_zh", "answer_list_zh"):
            found = getattr(self, name)
            if found is not None and len(found) != turns:
                raise ValueError(f"`{name}` has {len(found)} elements for {turns} tasks")
        for number, (one, other) in enumerate(zip(self.rubrics, self.rubrics_zh or self.rubrics, strict=True)):
            if len(one) != len(other):
                raise ValueError(f"turn {number}: {len(one)} rubric sentences in English, {len(other)} in Chinese")
        return self


def answer_of(steps: list[Step]) -> str:
    """Return the answer of a turn, "" where none was recorded."""
    for step in steps:
        if step.action.name == PREPARE:
            return step.observation if isinstance(step.observation, str) else ""
    return ""


def answers_zh(entry: Entry) -> list[str]:
    """Return the Chinese answers by turn: their own list's, else the last words after each Chinese query."""
    if entry.answer_list_zh is not None:
        return [answer_of(steps) for steps in entry.answer_list_zh]
    answers = [""] * len(entry.tasks)
    turn = -1
    for message in entry.messages_zh or ():
        if not isinstance(message, dict):
            continue
        content = str(message.get("content") or "")
        following = turn + 1
        if message.get("role") == "user" and entry.tasks_zh and following < len(entry.tasks_zh):
            turn += content.strip() == entry.tasks_zh[following].strip()
        elif message.get("role") == "assistant" and turn >= 0:
            answers[turn] = content
    return answers
