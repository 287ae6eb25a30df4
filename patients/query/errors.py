"""What a search has to say beside its hits: issues of an OperationOutcome, and the error of a refused search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wardround.patients.errors import WardroundError


@dataclass(frozen=True, slots=True)
class Issue:
    """One issue of an OperationOutcome."""

    severity: str
    """`error`, `warning` or `information`."""
    code: str
    """A code of R4's issue-type: `invalid`, `value`, `not-supported`, `too-costly`, `expired`, …"""
    diagnostics: str
    expression: str = ""
    """What it is about, as R4 wants it for searches: `http.name` of the parameter."""

    def as_dict(self) -> dict[str, Any]:
        """Return the issue as FHIR JSON."""
        found: dict[str, Any] = {"severity": self.severity, "code": self.code, "diagnostics": self.diagnostics}
        if self.expression:
            found["expression"] = [self.expression]
        return found


def outcome(issues: Sequence[Issue]) -> dict[str, Any]:
    """Return issues as an OperationOutcome."""
    return {"resourceType": "OperationOutcome", "issue": [issue.as_dict() for issue in issues]}


class SearchError(WardroundError):
    """A search that cannot be answered. Doors turn it into `status` and `outcome()`.

    Args:
        issues: What is wrong; at least one.
        status: HTTP status: 400 bad request, 404 no such type, 410 a page that is gone.
    """

    def __init__(self, issues: Sequence[Issue], status: int = 400) -> None:
        super().__init__("; ".join(issue.diagnostics for issue in issues))
        self.issues = tuple(issues)
        self.status = status

    def outcome(self) -> dict[str, Any]:
        """Return the OperationOutcome to answer with."""
        return outcome(self.issues)


def refusal(code: str, diagnostics: str, parameter: str = "", *, status: int = 400) -> SearchError:
    """Return the error of one thing that is wrong with a parameter."""
    expression = f"http.{parameter}" if parameter else ""
    return SearchError([Issue("error", code, diagnostics, expression)], status)


def shown(text: str, limit: int = 80) -> str:
    """Quote a text of the caller for a message, cut to `limit` characters, unprintable ones escaped."""
    cut = text if len(text) <= limit else text[:limit] + "…"
    return "`" + "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in cut) + "`"
