"""One turn of the baseline: its calls, each made once, and what they showed."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import orjson

from wardround.envs import EpisodeView
from wardround.patients import ToolCall, knowledge

from .rows import Value, drug_rows, table, values
from .speaking import name_of

_T = TypeVar("_T")
Steps = Generator[ToolCall, str, _T]
"""Yields calls, is sent what each showed, and returns something."""


@dataclass
class Turn:
    """What the skills share while one question is answered."""

    language: str
    subject: dict[str, str | None]
    calls_left: int
    sex: str = ""
    shown: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, view: EpisodeView) -> Turn:
        """Return the turn now open."""
        return cls(language=view.language, subject=view.subject, calls_left=view.calls_left)

    def call(self, tool: str, **arguments: Any) -> Steps[str]:
        """Call a tool for the patient of the round; the same call is made once, and none once the budget is spent."""
        given = {"subject_id": self.subject["subject_id"], **arguments}
        if tool.startswith("patient."):
            given["session_id"] = self.subject["session_id"]
        key = f"{tool} {orjson.dumps(given, option=orjson.OPT_SORT_KEYS).decode()}"
        if key in self.shown:
            return self.shown[key]
        if self.calls_left <= 0:
            return ""
        self.calls_left -= 1
        text = yield ToolCall(tool, given)
        self.shown[key] = text
        return text

    def stay(self) -> dict[str, str]:
        """Return the argument that keeps a search to this stay; empty where the round has none."""
        hadm_id = self.subject.get("hadm_id")
        return {"hadm_id": hadm_id} if hadm_id else {}

    def series(self, lab: str, whole_pair: bool = False, /, **arguments: Any) -> Steps[list[Value]]:
        """Search a test or vital sign and return its values, newest first.

        Args:
            lab: Concept id.
            whole_pair: A blood pressure is returned as it is charted, both its parts, not as its systolic part.
            arguments: Further arguments of the search.
        """
        kind = knowledge.lexicon().concept(lab).kind
        category = "vital-signs" if kind == "vital" else "laboratory"
        whole = knowledge.charted_as_one(lab)
        code = name_of(lab, "en") if whole == lab else name_of(whole, "en").lower()
        text = yield from self.call("Observation.search", category=category, code=code, **arguments)
        if lab == knowledge.PRESSURE and not whole_pair:
            return values(knowledge.PRESSURE_PARTS[0], text) or values(lab, text)
        found = values(lab, text)
        if not found and not table(text):
            text = yield from self.call("Observation.search", code=code, **arguments)
            found = values(lab, text)
        return found

    def latest(self, lab: str) -> Steps[Value | None]:
        """Return the newest value of a test or vital sign; None where there is none."""
        found = yield from self.series(lab)
        return found[0] if found else None

    def orders(self, drug: str) -> Steps[list[dict[str, Any]]]:
        """Return the active orders of a drug, newest first."""
        text = yield from self.call("MedicationRequest.search", medication=name_of(drug, "en"), status="active")
        return drug_rows(drug, text)

    def all_orders(self) -> Steps[list[dict[str, Any]]]:
        """Return all active orders."""
        text = yield from self.call("MedicationRequest.search", status="active", _count=100)
        return table(text)

    def person(self) -> Steps[dict[str, Any]]:
        """Return the row of the patient; empty where it is not shown."""
        text = yield from self.call("Patient.read")
        rows = table(text)
        return rows[0] if rows else {}

    def they(self) -> Steps[str]:
        """Return the pronoun for the patient."""
        person = yield from self.person()
        if self.language == "zh":
            return "她" if person.get("sex") == "female" else "他"
        return {"female": "she", "male": "he"}.get(str(person.get("sex")), "they")
