"""An episode's tools over HTTP: one JSON endpoint a tool, the answer, the state, and the OpenAPI document of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import orjson

from wardround.patients import ALL_TOOLS, DataError, Overlay, find_tool, read_resource

from .live import Check, LiveEpisode
from .messages import Refused, Reply, Request, fault_of_ours, outcome_reply, refused
from .negotiation import check_accept, check_body_type
from .reading import visible
from .scopes import Access

JSON = "application/json"

BODY = 256 * 1024
"""Bytes a call or an answer may have: the journal keeps them all."""


class Playing:
    """Answers the requests of agents.

    Args:
        live: The episode.
        version: Version of this library, for the OpenAPI document.
    """

    def __init__(self, live: LiveEpisode, version: str) -> None:
        self._live = live
        self._version = version

    def handle(self, request: Request, access: Access) -> Reply:
        """Answer a request; a refusal is an OperationOutcome, a model's mistake is a result."""
        try:
            check_accept(request)
            return self._answer(request, access)
        except Refused as fault:
            return outcome_reply(fault)
        except Exception:  # noqa: BLE001 - a fault of ours: the caller is told so, the server lives
            return fault_of_ours()

    def _answer(self, request: Request, access: Access) -> Reply:
        steps = request.path.split("/")
        if steps == ["openapi.json"] and request.method in ("GET", "HEAD"):
            return Reply(200, orjson.dumps(self.openapi(request.base)), kind=JSON)
        may_play(access, self._live.patient)
        if steps == ["state"] and request.method in ("GET", "HEAD"):
            return Reply(200, orjson.dumps(self._live.state()), kind=JSON)
        spec = find_tool(steps[1]) if len(steps) == 2 and steps[0] == "tools" else None
        reads = steps in (["state"], ["openapi.json"])
        if not reads and steps != ["answer"] and spec is None:
            text = "no such route; there are openapi.json (it names all of them), state, answer, tools/NAME"
            raise refused(404, "not-found", text)
        if reads or request.method != "POST":
            allowed = "GET, HEAD" if reads else "POST"
            raise refused(405, "not-supported", f"allowed here: {allowed}", {"Allow": allowed})
        if spec is None:
            return Reply(200, orjson.dumps(self._live.answer(answer_of(_object(request)))), kind=JSON)
        if spec.name not in self._offered():
            raise refused(404, "not-found", f"the tool `{spec.name}` is not offered in this round")
        check = may_call(access, self._live.patient, spec.name, spec.effect)
        return Reply(200, orjson.dumps(self._live.call(spec.name, _object(request), check)), kind=JSON)

    def _offered(self) -> dict[str, dict[str, Any]]:
        """Return the tools of this round: name → schema of the arguments."""
        by_alias = {spec.alias: name for name, spec in ALL_TOOLS.items()}
        return {by_alias[one["function"]["name"]]: one["function"]["parameters"] for one in self._live.episode.tools}

    def openapi(self, base: str) -> dict[str, Any]:
        """Return the OpenAPI 3.1 document of the tools, made from the schemas that agents see.

        Args:
            base: URL of the episode, as the client knows it.
        """
        paths: dict[str, Any] = {
            "/state": {"get": _operation("state", "What the agent may see of the round", None, "State")},
            "/answer": {
                "post": _operation("answer", "Answer the physician: closes the turn", _ANSWER, "Stand"),
            },
        }
        for name, schema in self._offered().items():
            spec = ALL_TOOLS[name]
            body = {**schema, "additionalProperties": True}  # a wrong argument is a result, not a refused request
            paths[f"/tools/{spec.alias}"] = {"post": _operation(spec.alias, spec.description, body, "Result")}
        return {
            "openapi": "3.1.0",
            "info": {"title": "wardround: the tools of one round", "version": self._version},
            "servers": [{"url": base}],
            "security": [{"bearer": []}],
            "paths": paths,
            "components": {
                "schemas": _schemas(),
                "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            },
        }


_ANSWER = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}

_STAND = {
    "turn": {"type": "integer"},
    "done": {"type": "boolean"},
    "query": {"type": "string"},
    "calls_left": {"type": "integer"},
}


@cache
def _schemas() -> dict[str, Any]:
    result = {"tool": {"type": "string"}, "ok": {"type": "boolean"}, "text": {"type": "string"}, **_STAND}
    return {
        "Result": {"type": "object", "properties": result, "required": sorted(result)},
        "Stand": {"type": "object", "properties": _STAND, "required": sorted(_STAND)},
        "State": {"type": "object"},
        "OperationOutcome": {"type": "object", "properties": {"resourceType": {"const": "OperationOutcome"}}},
    }


def _operation(name: str, summary: str, body: dict[str, Any] | None, result: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "operationId": name,
        "summary": summary.split("\n", 1)[0],
        "description": summary,
        "responses": {
            "200": {
                "description": "Done; a mistake of the agent is told in the result",
                "content": {JSON: {"schema": {"$ref": f"#/components/schemas/{result}"}}},
            },
            "4XX": {
                "description": "Refused",
                "content": {"application/fhir+json": {"schema": {"$ref": "#/components/schemas/OperationOutcome"}}},
            },
        },
    }
    if body is not None:
        found["requestBody"] = {"required": True, "content": {JSON: {"schema": body}}}
    return found


def _object(request: Request) -> dict[str, Any]:
    """Return the JSON object of a body.

    Raises:
        Refused: 400, 413 or 415.
    """
    check_body_type(request)
    if len(request.body) > BODY:
        raise refused(413, "too-long", f"a call or an answer has at most {BODY} bytes")
    if not request.body.strip():
        return {}
    try:
        told = read_resource(request.body)
    except DataError as fault:
        raise refused(400, "structure", f"the body is {fault}") from fault
    if not isinstance(told, dict):
        raise refused(400, "structure", "the body is an array; send one JSON object")
    found: dict[str, Any] = orjson.loads(request.body)
    return found


def answer_of(told: Mapping[str, Any]) -> str:
    """Return the text of an answer.

    Raises:
        Refused: 400: there is none, or more than it.
    """
    text = told.get("text")
    if set(told) != {"text"} or not isinstance(text, str):
        raise refused(400, "invalid", 'send {"text": "…"}')
    return text


def may_play(access: Access, patient: str) -> None:
    """Refuse whoever may not see the whole record: tools show any of it.

    Args:
        access: What the caller may do.
        patient: The patient of the round.

    Raises:
        Refused: 403.
    """
    if not (access.visibility("r", patient).total and access.visibility("s", patient).total):
        raise refused(403, "forbidden", f"role `{access.role}` may not see the whole record, as tools do; use `agent`")


def may_call(access: Access, patient: str, name: str, effect: str) -> Check | None:
    """Refuse a tool that writes what no scope allows.

    Args:
        access: What the caller may do.
        patient: The patient of the round.
        name: The tool.
        effect: What it does.

    Returns:
        What is to look at the record once the tool has written: a scope may allow some forms of a type only. What the
        house writes in reply, as results of an order, is not the caller's. None where there is nothing to look at.

    Raises:
        Refused: 403.
    """
    kind, _, act = name.partition(".")
    if effect != "write" or kind == "files":
        return None
    forbidden = refused(403, "forbidden", f"role `{access.role}` has no scope for `{name}` in this form")
    if not access.may("u" if act == "update_status" else "c", kind):
        raise forbidden

    def check(before: Overlay, after: Overlay) -> None:
        for entry in after.writes[before.version :]:
            if entry.type == kind:
                changed = before.read(kind, entry.id) is not None
                seen = access.visibility("u" if changed else "c", patient)
                records = (before, after) if changed else (after,)
                if any(visible(record, kind, entry.id, seen) is None for record in records):
                    raise forbidden

    return check
