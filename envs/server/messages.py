"""Requests and replies of the door, free of any web framework; every refusal is an OperationOutcome."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from sys import stderr

import orjson

from wardround.patients import Issue, WardroundError

FHIR_JSON = "application/fhir+json"


@dataclass(frozen=True, slots=True)
class Request:
    """One request, read whole."""

    method: str
    path: str
    """Below the FHIR base, decoded, without the leading slash."""
    query: str = ""
    """As it stands in the URL."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case; of a header that is there twice the values are joined by commas."""
    body: bytes = b""
    base: str = ""
    """Base URL as the client knows it, without a trailing slash."""

    def header(self, name: str) -> str:
        """Return a header, "" where it is absent."""
        return self.headers.get(name, "")


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = FHIR_JSON


class Refused(WardroundError):  # noqa: N818 - it says what became of the request
    """A request that is not done.

    Args:
        status: HTTP status, 4xx or 5xx.
        issues: What is wrong; at least one.
        headers: Headers of the reply.
    """

    def __init__(self, status: int, issues: Sequence[Issue], headers: Mapping[str, str] | None = None) -> None:
        super().__init__("; ".join(issue.diagnostics for issue in issues))
        self.status = status
        self.issues = tuple(issues)
        self.headers = dict(headers or {})


def refused(status: int, code: str, text: str, headers: Mapping[str, str] | None = None) -> Refused:
    """Return the refusal of one thing that is wrong.

    Args:
        status: HTTP status.
        code: Code of R4's issue-type.
        text: What is wrong and what to do.
        headers: Headers of the reply.
    """
    return Refused(status, [Issue("error", code, text)], headers)


def outcome_body(issues: Sequence[Issue]) -> bytes:
    """Return an OperationOutcome as JSON."""
    return orjson.dumps({"resourceType": "OperationOutcome", "issue": [issue.as_dict() for issue in issues]})


def outcome_reply(fault: Refused) -> Reply:
    """Return the reply to a refused request."""
    return Reply(fault.status, outcome_body(fault.issues), fault.headers)


def fault_of_ours() -> Reply:
    """Return the reply to a request that made this library fail, and print the exception being handled."""
    traceback.print_exc(file=stderr)
    return outcome_reply(refused(500, "exception", "a fault of the server; its log says more"))
