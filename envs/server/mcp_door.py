"""An episode's tools over MCP, with the official SDK (extra `mcp`): over HTTP beside the JSON endpoints, or over stdio.

The tools are the round's own, under their aliases and with their own schemas; `round_state` and `answer` stand for the
state and the answer.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
import orjson
from mcp import MCPError
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from wardround.patients import ALL_TOOLS, find_tool

from .live import LiveEpisode
from .messages import Refused, refused
from .playing import BODY, answer_of, may_call, may_play
from .scopes import OPEN, Access, access_of

ACCESS = "wardround.access"
"""Key of the ASGI scope that holds what the bearer of the request's token may do."""

Work = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Does something with the episode where nothing else is done with it at the same time."""

_STATE = types.Tool(
    name="round_state",
    description="What you may see of the round: the rules, who the patient is, the open question, calls left.",
    input_schema={"type": "object", "properties": {}},
)
_ANSWER = types.Tool(
    name="answer",
    description="Answer the physician's open question. It closes the question; the next one is returned.",
    input_schema={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
)


def mcp_server(live: LiveEpisode, version: str, work: Work) -> Server[Any]:
    """Return an MCP server of an episode's tools.

    Args:
        live: The episode.
        version: Version of this library.
        work: Does calls, one at a time.
    """
    everybody = access_of("open", OPEN, None)

    async def list_tools(context: Any, _: Any) -> types.ListToolsResult:
        try:
            may_play(_access(context) or everybody, live.patient)
        except Refused as fault:
            raise MCPError(types.INVALID_REQUEST, str(fault)) from fault
        return types.ListToolsResult(tools=await work(lambda: _tools(live)))

    async def call_tool(context: Any, asked: types.CallToolRequestParams) -> types.CallToolResult:
        access = _access(context) or everybody
        try:
            told = await work(lambda: _called(live, access, asked.name, asked.arguments or {}))
        except Refused as fault:
            return _result(str(fault), None, error=True)
        text = told["text"] if "text" in told else orjson.dumps(told).decode()
        return _result(text, told, error=not told.get("ok", True))

    return Server("wardround", version=version, on_list_tools=list_tools, on_call_tool=call_tool)


def _access(context: Any) -> Access | None:
    """Return what the caller may do; None where there is no request: the caller started this process."""
    request = getattr(context, "request", None)
    found: Access | None = None if request is None else request.scope[ACCESS]
    return found


def _tools(live: LiveEpisode) -> list[types.Tool]:
    found = []
    for one in live.episode.tools:
        told = one["function"]
        found.append(types.Tool(name=told["name"], description=told["description"], input_schema=told["parameters"]))
    return [*found, _STATE, _ANSWER]


def _called(live: LiveEpisode, access: Access, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Do what was asked.

    Raises:
        Refused: No scope allows it, or the round is over.
    """
    may_play(access, live.patient)
    arguments = _plain(arguments)
    if name == _STATE.name:
        return live.state()
    if name == _ANSWER.name:
        return live.answer(answer_of(arguments))
    spec, check = find_tool(name), None
    if spec is not None and spec.name in ALL_TOOLS:
        check = may_call(access, live.patient, spec.name, spec.effect)
    # a wrong name is a mistake of the agent, and costs what it costs in process
    return live.call(name, arguments, check)


def _plain(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return arguments as the JSON endpoints read them (a whole number beyond 64 bits is a float, as there).

    Raises:
        Refused: They are too long, or no JSON.
    """
    try:
        text = json.dumps(arguments, ensure_ascii=False, allow_nan=False).encode()
        found: dict[str, Any] = orjson.loads(text)
    except (ValueError, RecursionError) as fault:
        raise refused(400, "structure", "the arguments are no JSON") from fault
    if len(text) > BODY:
        raise refused(413, "too-long", f"a call or an answer has at most {BODY} bytes")
    return found


def _result(text: str, structured: dict[str, Any] | None, *, error: bool) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=text)]
    return types.CallToolResult(content=content, structured_content=structured, is_error=error)


def session_manager(server: Server[Any]) -> StreamableHTTPSessionManager:
    """Return what answers MCP over HTTP: without sessions, in plain JSON; hosts and tokens are checked before it."""
    return StreamableHTTPSessionManager(server, json_response=True, stateless=True)


def run_stdio(live: LiveEpisode, version: str) -> None:
    """Serve an episode over this process's standard input and output until the client closes them."""

    async def work(job: Callable[[], Any]) -> Any:
        return job()

    async def run() -> None:
        server = mcp_server(live, version, work)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    asyncio.run(run())
