"""The evidence that judge checks name, as text: reference for the judge, whether or not the agent read it."""

from __future__ import annotations

from wardround.patients import Interview, Snapshot
from wardround.rubrics import FACT, judges_in, resource_text
from wardround.sessions import Turn

_ABSENT = "not in the record at this time"


def reference_of(turn: Turn, interview: Interview, snapshot: Snapshot) -> dict[str, str]:
    """Return key → text for every piece of evidence that a turn's judge checks name.

    Args:
        turn: The turn.
        interview: What the patient knows; "fact/<id>" names one of its facts.
        snapshot: The record as of the anchor.
    """
    keys = (key for item in turn.rubric for check in judges_in(item.check) for key in check.evidence)
    return {key: _text(key, interview, snapshot) for key in dict.fromkeys(keys)}


def _text(key: str, interview: Interview, snapshot: Snapshot) -> str:
    if key.startswith(FACT):
        fact = next((one for one in interview.facts if one.id == key[len(FACT) :]), None)
        return (
            _ABSENT if fact is None else fact.model_dump_json(exclude={"id", "source", "withheld"}, exclude_none=True)
        )
    kind, _, name = key.partition("/")
    entry = snapshot.read(kind, name)
    return _ABSENT if entry is None else resource_text(entry.body)
