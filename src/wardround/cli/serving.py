"""`wardround serve`: a FHIR R4 server onto charts or a live episode."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import wardround

from . import common
from .output import print_json

if TYPE_CHECKING:
    from wardround.envs import Episode
    from wardround.envs.server import Listening, Running
    from wardround.patients import Instant


def add(commands: Any) -> None:
    """Add the command."""
    serve = commands.add_parser(
        "serve",
        help="serve charts over HTTP as FHIR R4, with roles",
        description="A FHIR R4 server (docs/serve.md). It ends with SIGINT or SIGTERM.",
    )
    _add_what(serve)
    _add_where(serve)
    common.add_json(serve)
    serve.set_defaults(run=run_serve)


def _add_what(serve: argparse.ArgumentParser) -> None:
    """Add the options that say what is served."""
    serve.add_argument("--charts", default=None, help="charts file or name of a built-in set")
    serve.add_argument(
        "--session",
        action="append",
        default=[],
        metavar="ID",
        help="play this session: its record as FHIR, its tools as JSON; may be repeated",
    )
    serve.add_argument(
        "--sessions", default=None, metavar="SET", help="set that --session is of (default: as --charts)"
    )
    serve.add_argument("--language", choices=("en", "zh"), default="en", help="of the sessions (default en)")
    serve.add_argument(
        "--phrasing", choices=("implicit", "explicit"), default="implicit", help="of the questions (default implicit)"
    )
    serve.add_argument(
        "--at",
        action="append",
        default=[],
        metavar="[PATIENT=]INSTANT",
        help="read charts as of this instant (default: when the last of each became known); may be repeated",
    )


def _add_where(serve: argparse.ArgumentParser) -> None:
    """Add the options that say where, and to whom."""
    serve.add_argument("--host", default="127.0.0.1", help="address to listen at (default 127.0.0.1)")
    serve.add_argument("--port", type=common.natural, default=8765, help="port; 0 takes a free one (default 8765)")
    serve.add_argument(
        "--name",
        action="append",
        default=[],
        metavar="[https://]HOST[:PORT]",
        help="a name by which clients reach the server, beside its address; may be repeated",
    )
    serve.add_argument("--open", action="store_true", help="ask for no token; on this machine only")
    serve.add_argument(
        "--role",
        action="append",
        default=[],
        metavar="ROLE[=PATIENT]",
        help="make a token for this role; may be repeated (default: every role but patient)",
    )
    serve.add_argument("--scopes", default=None, metavar="TEXT", help="make a token with these SMART scopes")
    serve.add_argument("--out", default=None, help="folder of tokens, audit log and journal of writes")
    serve.add_argument(
        "--mcp-stdio",
        action="store_true",
        help="serve the tools of one session over MCP on standard input and output, and nothing over HTTP",
    )


def run_serve(args: argparse.Namespace) -> int:
    """Serve until told to end."""
    from wardround.patients import UsageError

    for package in ("starlette", "uvicorn"):
        if find_spec(package) is None:
            raise UsageError(f"serve needs the package `{package}`: pip install 'wardround[serve]'")
    from wardround.envs.server import Listening

    out = Path(args.out) if args.out is not None else None
    if args.mcp_stdio:
        return _over_stdio(args, out)
    listening = Listening(args.host, args.port, args.open, tuple(args.role), args.scopes, tuple(args.name), out)
    with _server(args, listening) as server:
        rounds = [f"{server.root}/{path}" for path in server.places.rounds]
        told = {
            "base": server.base,
            "patients": len(server.places.records["fhir"].patients()),
            "rounds": rounds,
            "roles": [token.role for token in server.tokens],
            "tokens": str(out / "tokens.json") if out is not None and server.tokens else None,
        }
        if args.json:
            print_json(told)
        else:
            print(f"FHIR of {told['patients']} patients: {server.base}")
            for round_ in rounds:
                print(f"round: {round_} (openapi.json, state, tools/NAME, answer)")
            print(f"tokens: {told['tokens']}" if told["tokens"] else "no token is asked for")
        sys.stdout.flush()
        server.run()
        for path in server.keep_trajectories():
            print(f"trajectory: {path}", file=sys.stderr)
    return 0


def _over_stdio(args: argparse.Namespace, out: Path | None) -> int:
    """Serve one session over MCP until the client closes the pipe."""
    from wardround.patients import UsageError

    if find_spec("mcp_types") is None:
        raise UsageError("--mcp-stdio needs the package `mcp`: pip install 'wardround[mcp]'")
    from wardround.envs.server import Listening, serve_episodes
    from wardround.envs.server.mcp_door import run_stdio

    with _episodes(args) as episodes:
        if len(episodes) != 1:
            raise UsageError("--mcp-stdio serves one --session")
        with serve_episodes(
            episodes, Listening(port=0, open=True, out=out)
        ) as server:  # it opens files, and listens to none
            run_stdio(next(iter(server.places.rounds.values())), wardround.__version__)
            server.keep_trajectories()
    return 0


@contextmanager
def _server(args: argparse.Namespace, listening: Listening) -> Iterator[Running]:
    """Open what the options name, and a server of it."""
    from wardround.envs.server import serve_charts, serve_episodes
    from wardround.patients import UsageError, load_charts

    if not args.session:
        if args.charts is None or args.sessions is not None:
            raise UsageError("name charts with --charts, or a session with --session (and its set with --sessions)")
        with load_charts(args.charts) as store, serve_charts(store, anchors(args.at), listening) as server:
            yield server
        return
    with _episodes(args) as episodes, serve_episodes(episodes, listening) as server:
        yield server


@contextmanager
def _episodes(args: argparse.Namespace) -> Iterator[list[Episode]]:
    """Open the sessions that the options name, as fresh episodes."""
    from wardround.envs import Episode
    from wardround.patients import UsageError, load_charts
    from wardround.sessions import charts_of, load_sessions

    name = args.sessions or args.charts
    if name is None or args.at or not args.session:
        raise UsageError("name a session with --session, and its set with --sessions; it has its own instant: no --at")
    found = load_sessions(name)
    with load_charts(args.charts or charts_of(name) or name) as store:
        chosen = [found.get(one) for one in dict.fromkeys(args.session)]
        yield [
            Episode(one, store.chart(one.chart.patient), language=args.language, phrasing=args.phrasing)
            for one in chosen
        ]


def anchors(texts: list[str]) -> dict[str, Instant]:
    """Read --at: patient → instant, "" for all others.

    Raises:
        UsageError: One is no instant, or stands twice.
    """
    from wardround.patients import UsageError, parse_instant

    found: dict[str, Instant] = {}
    for text in texts:
        patient, mark, at = text.rpartition("=")
        if patient in found or (mark and not patient):
            raise UsageError(f"--at `{text[:80]}`: write INSTANT once, or PATIENT=INSTANT once a patient")
        try:
            found[patient] = parse_instant(at)
        except ValueError as fault:
            raise UsageError(f"--at `{text[:80]}`: no instant ({fault}); write 2024-05-16T10:00:00Z") from fault
    return found
