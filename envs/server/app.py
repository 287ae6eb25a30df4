"""The ASGI application: hosts, origins, tokens, limits; everything else is the door's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.requests import Request as WebRequest
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

import wardround

from .audit import AuditLog
from .capability import capability, smart_configuration
from .door import Door
from .messages import Refused, Reply, Request, outcome_reply, refused
from .negotiation import check_accept
from .playing import BODY as ACTION
from .playing import Playing
from .scopes import OPEN, Access, access_of
from .tokens import access_for

BODY = 4 * 1024 * 1024
"""Bytes a body may have."""

URL = 32 * 1024
"""Bytes a path with its query may have."""

ARRIVAL = 30.0
"""Seconds a body may take to arrive."""

_REALM = 'Bearer realm="wardround"'
_SAFE = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


@dataclass(slots=True)
class Plan:
    """How a server treats requests.

    Args:
        hosts: Values of the Host header that are this server's.
        tokens: What the bearer of a token may do, by its hash; None asks for none.
        started: When the server was started, a FHIR dateTime.
        secure: Those of the hosts that clients reach by HTTPS.
    """

    hosts: frozenset[str]
    tokens: Mapping[bytes, Access] | None
    started: str
    secure: frozenset[str] = frozenset()
    about: dict[str, bytes] = field(default_factory=dict)

    def root_of(self, host: str) -> str:
        """Return the URL of a host, without a trailing slash."""
        return f"{'https' if host in self.secure else 'http'}://{host}"


class Server:
    """Takes requests one at a time (`door` is synchronous and unshared) and lets the network wait, not each other.

    Args:
        doors: What answers FHIR requests, by the path of the FHIR base.
        audit: The audit log.
        plan: Hosts and tokens.
        rounds: What answers the requests of agents that play, by the path of the round.
    """

    def __init__(
        self,
        doors: Mapping[str, Door],
        audit: AuditLog,
        plan: Plan,
        rounds: Mapping[str, Playing] | None = None,
    ) -> None:
        self._doors, self._audit, self._plan, self._rounds = doors, audit, plan, rounds or {}
        self._mcp: dict[str, Any] = {}
        self._open = access_of("open", OPEN, None) if plan.tokens is None else None
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="door")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one ASGI connection; other protocols than HTTP are turned away."""
        if scope["type"] == "http":
            web = WebRequest(scope, receive)
            path = scope["path"].strip("/")
            response = await (self._serve_mcp(web, path) if path in self._mcp else self._serve(web))
            await response(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1002})

    async def work(self, job: Callable[[], Any]) -> Any:
        """Do something where no request is in work at the same time."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, job)

    def add_mcp(self, path: str, manager: Any) -> None:
        """Answer MCP at a path by a session manager of the SDK."""
        self._mcp[path] = manager

    async def _live(self, receive: Receive, send: Send) -> None:
        """Run the session managers of MCP while the server runs."""
        await receive()
        async with AsyncExitStack() as stack:
            for manager in self._mcp.values():
                await stack.enter_async_context(manager.run())
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})

    async def _serve_mcp(self, web: WebRequest, path: str) -> Response:
        """Let the SDK answer a request of a known bearer, read whole before; what cannot be logged is not shown."""
        peer = web.client.host if web.client is not None else "unknown"
        try:
            request = await self._received(web)
            if len(request.body) > ACTION:
                raise refused(413, "too-long", f"a call or an answer has at most {ACTION} bytes")
        except Refused as fault:
            return _response(outcome_reply(fault))
        access = self._open or access_for(request.header("authorization"), self._plan.tokens or {})
        if access is None:
            reply = outcome_reply(_no_token())
        elif web.method != "POST":  # there are no sessions: nothing to stream or to end
            reply = outcome_reply(refused(405, "not-supported", "MCP is spoken by POST here", {"Allow": "POST"}))
        else:
            web.scope["wardround.access"] = access
            reply = await _told(self._mcp[path], web.scope, request.body)
        event = Request(web.method, f"{path}/$mcp")
        return _response(await self.work(lambda: self._logged(event, access, reply, (), peer)))

    def close(self) -> None:
        """Wait for the request in work."""
        self._worker.shutdown(wait=True)

    async def _serve(self, web: WebRequest) -> Response:
        peer = web.client.host if web.client is not None else "unknown"
        try:
            request = await self._received(web)
        except Refused as fault:
            return _response(outcome_reply(fault))
        loop = asyncio.get_running_loop()
        reply = await loop.run_in_executor(self._worker, self._work, request, peer)
        return _response(reply)

    async def _received(self, web: WebRequest) -> Request:
        """Return a request once it is whole, from a host and of a size that are allowed."""
        host = self._check_source(web)
        query = web.scope.get("query_string", b"").decode("latin-1")
        if len(web.scope.get("raw_path") or b"") + len(query) > URL:
            raise refused(414, "too-long", f"a URL has at most {URL} bytes; search by POST")
        body = await _body(web)
        headers: dict[str, str] = {}
        for name, value in web.headers.items():
            headers[name.lower()] = f"{headers[name.lower()]},{value}" if name.lower() in headers else value
        path = str(web.scope["path"])
        return Request(web.method, path.strip("/"), query, headers, body, self._plan.root_of(host))

    def _check_source(self, web: WebRequest) -> str:
        """Return the Host header, once host and origin are this server's.

        Raises:
            Refused: 421 or 403.
        """
        host = web.headers.get("host", "").lower()
        if host not in self._plan.hosts:
            raise refused(421, "security", "the Host header names another server; use the address that was printed")
        origin = web.headers.get("origin")
        foreign = origin is not None and origin.lower() not in map(self._plan.root_of, self._plan.hosts)
        if foreign or web.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise refused(403, "security", "requests of other sites' pages are not answered")
        return host

    def _work(self, request: Request, peer: str) -> Reply:
        root, rest = self._root_of(request.path)
        base = f"{request.base}/{root}" if root else request.base
        inner = replace(request, path=rest, base=base)
        if root in self._doors and rest in ("metadata", ".well-known/smart-configuration"):
            return self._told(inner)
        access = self._open or access_for(request.header("authorization"), self._plan.tokens or {})
        shown: list[str] = []
        if access is None:
            reply = outcome_reply(_no_token())
        elif root in self._doors:
            reply, shown = self._doors[root].handle(inner, access)
        elif root in self._rounds:
            reply = self._rounds[root].handle(inner, access)
        else:
            places = ", ".join(f"/{one}" for one in (*self._doors, *self._rounds))
            reply = outcome_reply(refused(404, "not-found", f"nothing is here; there is {places[:2000]}"))
        return self._logged(inner, access, reply, shown, peer)

    def _logged(self, request: Request, access: Access | None, reply: Reply, shown: Sequence[str], peer: str) -> Reply:
        """Return a reply once it is in the audit log; what cannot be logged is not shown."""
        try:
            self._audit.tell(request, access, reply, shown, peer)
        except OSError as fault:
            return outcome_reply(refused(503, "exception", f"the audit log cannot be written ({fault.strerror})"))
        return reply

    def _root_of(self, path: str) -> tuple[str, str]:
        """Return the place that a path begins with, and the rest; "" for no place of this server."""
        steps = path.split("/")
        for count in (3, 2, 1):
            root = "/".join(steps[:count])
            if root in self._doors or root in self._rounds:
                return root, "/".join(steps[count:])
        return "", path

    def _told(self, request: Request) -> Reply:
        if request.method not in ("GET", "HEAD"):
            return outcome_reply(refused(405, "not-supported", "read it with GET", {"Allow": "GET, HEAD"}))
        try:
            check_accept(request)
        except Refused as fault:
            return outcome_reply(fault)
        if request.path != "metadata":
            return Reply(200, smart_configuration(), kind="application/json")
        known = self._plan.about.get(request.base)
        if known is None:
            known = capability(request.base, wardround.__version__, self._plan.started)
            self._plan.about[request.base] = known
        return Reply(200, known)


def _no_token() -> Refused:
    return refused(
        401, "login", "send a token that this server made: Authorization: Bearer …", {"WWW-Authenticate": _REALM}
    )


async def _body(web: WebRequest) -> bytes:
    """Return the body.

    Raises:
        Refused: 413 where it is too long, 408 where it does not come.
    """
    too_long = refused(413, "too-long", f"a body has at most {BODY} bytes")
    told = web.headers.get("content-length", "0")
    if not told.isdecimal() or len(told) > 12 or int(told) > BODY:
        raise too_long
    parts: list[bytes] = []
    try:
        async with asyncio.timeout(ARRIVAL):
            size = 0
            async for part in web.stream():
                size += len(part)
                if size > BODY:
                    raise too_long
                parts.append(part)
    except TimeoutError as fault:
        raise refused(408, "timeout", f"the body took more than {ARRIVAL:.0f} s") from fault
    except ClientDisconnect as fault:
        raise refused(400, "incomplete", "the body ended early") from fault
    return b"".join(parts)


async def _told(manager: Any, scope: Scope, body: bytes) -> Reply:
    """Return what the SDK answers to a request that was read whole."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]
    parts: list[Message] = []

    async def receive() -> Message:
        return waiting.pop() if waiting else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        parts.append(message)

    await manager.handle_request(scope, receive, send)
    told = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in parts[0]["headers"]}
    kind = told.pop("content-type", "application/json").partition(";")[0]
    told.pop("content-length", None)
    return Reply(parts[0]["status"], b"".join(part.get("body", b"") for part in parts[1:]), told, kind)


def _response(reply: Reply) -> Response:
    headers: dict[str, Any] = {**_SAFE, **reply.headers}
    if reply.status >= 400 and reply.status in (408, 413):
        headers["Connection"] = "close"
    if reply.body and reply.status not in (204, 304):
        headers["Content-Type"] = f"{reply.kind}; charset=utf-8" if "json" in reply.kind else reply.kind
    return Response(reply.body, reply.status, headers)  # of a reply to HEAD uvicorn sends the headers alone
