"""The audit log: an R4 AuditEvent for every request that reached the door."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Sequence
from typing import Any

from .journal import Lines
from .messages import Reply, Request
from .scopes import Access

_REST = "http://hl7.org/fhir/restful-interaction"
_TYPES = "http://terminology.hl7.org/CodeSystem/audit-event-type"
_ROLES = "http://terminology.hl7.org/CodeSystem/object-role"
_SECRET = re.compile(r"(?i)(^|&)(access_token|authorization|bearer|token)=[^&]*")
"""A token that a client put where it does not belong."""

KEYS = 1000
"""Resources one event names at most."""


def interaction_of(request: Request) -> tuple[str, str]:
    """Return R4's name of a request's interaction, and its action (C, R, U, D or E)."""
    steps = [step for step in request.path.split("/") if step]
    if request.method == "POST":
        if steps[-1:] == ["_search"]:
            return ("search-type" if len(steps) > 1 else "search-system"), "E"
        if steps[-1:] and steps[-1].startswith("$"):
            return "operation", "E"
        return ("create", "C") if steps else ("batch", "E")
    if request.method in ("PUT", "PATCH", "DELETE"):
        return {"PUT": ("update", "U"), "PATCH": ("patch", "U"), "DELETE": ("delete", "D")}[request.method]
    if "_history" in steps:
        return ("vread" if steps[-1] != "_history" else "history-instance"), "R"
    if steps[-1:] and steps[-1].startswith("$"):
        return "operation", "E"
    if len(steps) == 2:
        return "read", "R"
    return ("search-type" if steps else "search-system"), "E"


class AuditLog:
    """Writes AuditEvents.

    Args:
        lines: Where they are written.
        now: Gives the time as a FHIR instant.
        source: What the server is called in them.
    """

    def __init__(self, lines: Lines, now: Callable[[], str], source: str) -> None:
        self._lines, self._now, self._source = lines, now, source

    def tell(self, request: Request, access: Access | None, reply: Reply, shown: Sequence[str], peer: str) -> None:
        """Write what a request asked for and how it ended.

        Args:
            request: The request.
            access: Who asked; None for nobody who is known.
            reply: The reply.
            shown: Keys of the resources in it.
            peer: Network address the request came from.
        """
        name, action = interaction_of(request)
        worst = 8 if reply.status >= 500 else 4
        who = f"{access.role} {access.mark}".strip() if access is not None else "unknown"
        query: dict[str, Any] = {
            "what": {"display": f"{request.method} {request.path}"[:500]},
            "role": {"system": _ROLES, "code": "24", "display": "Query"},
        }
        text = request.query + (
            "&" + request.body.decode("ascii", "replace") if name.startswith("search") and request.body else ""
        )
        text = _SECRET.sub(r"\1\2=…", text)
        if text:
            query["query"] = base64.b64encode(text[:8000].encode()).decode()
        entities = [query, *({"what": {"reference": key}} for key in dict.fromkeys(shown[:KEYS]))]
        self._lines.write([
            {
                "resourceType": "AuditEvent",
                "type": {"system": _TYPES, "code": "rest", "display": "RESTful Operation"},
                "subtype": [{"system": _REST, "code": name}],
                "action": action,
                "recorded": self._now(),
                "outcome": "0" if reply.status < 400 else str(worst),
                "outcomeDesc": str(reply.status),
                "agent": [{"who": {"display": who}, "requestor": True, "network": {"address": peer, "type": "2"}}],
                "source": {"observer": {"display": self._source}},
                "entity": entities,
            }
        ])  # fmt: skip
