"""The contract of what a turn did, as it is judged: calls, writes and replies. Frozen, JSON both ways."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from .rubric import Frozen


class WriteRecord(Frozen):
    """One accepted write of an episode."""

    tool: str
    arguments: dict[str, Any]
    resource: str
    """Key of what it created or changed, "MedicationRequest/…"; the path of a workspace file."""
    kind: Literal["create", "update", "file"] = "create"
    """A new resource, a new version of one (a change of status), or a workspace file."""
    target: dict[str, Any] = Field(default_factory=dict)
    """Of an update: what was changed, under grading names, and its new status."""
    body: str = ""
    """What was written, as it stands then: a resource's JSON, a file's text; "" where the source of a trace keeps none
    (labelled rows)."""

    @property
    def type(self) -> str:
        """Resource type of what was written; "" for a workspace file."""
        return "" if self.kind == "file" else self.resource.partition("/")[0]

    @property
    def said(self) -> dict[str, Any]:
        """What order fields are compared with: the arguments, and what an update was about."""
        return {**self.target, **self.arguments}


class CallRecord(Frozen):
    """One tool call as it was made, right or wrong."""

    tool: str
    arguments: dict[str, Any]
    ok: bool


class ReplyRecord(Frozen):
    """One interview reply as the patient gave it."""

    tool: str
    facts: tuple[str, ...]
    """Ids of the facts it disclosed."""
    text: str
