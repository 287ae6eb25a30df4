"""Running a server: what is opened, the files it keeps, the address it listens at, and its end."""

from __future__ import annotations

import ipaddress
import os
import re
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Self

import orjson

import wardround
from wardround.envs.episode import Episode
from wardround.patients import ChartStore, Instant, UsageError, write_whole

from .audit import AuditLog
from .door import Door
from .journal import Journal, Lines, now_text
from .live import LiveEpisode
from .records import ChartRecords, Records
from .scopes import roles
from .tokens import Token, accesses, make_tokens, read_tokens, write_tokens

CLOSE = ("credentialed", "unknown")
"""Words of licence tags that never leave this machine."""

CONNECTIONS = 64

HEAD = 64 * 1024
"""Bytes of a request's first line and headers."""

HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.\-]{0,251}[A-Za-z0-9])?(?::[0-9]{1,5})?")

SECURE = "https://"

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._\-]{0,99}")
"""Session ids that stand in a URL as they are."""


@dataclass(frozen=True, slots=True)
class Listening:
    """Where and to whom a server speaks.

    Args:
        host: Address to listen at.
        port: Port; 0 takes a free one.
        open: Ask for no token.
        roles: Roles that get a token, as `name` or `name=PATIENT`; none names all but `patient`.
        scopes: SMART scopes of one more token.
        names: Other names (`host`, `host:port`, or `https://host` behind a proxy) by which clients reach it.
        out: Folder of tokens, audit log and journal; None keeps nothing (then the server must be open).
    """

    host: str = "127.0.0.1"
    port: int = 8765
    open: bool = False
    roles: Sequence[str] = ()
    scopes: str | None = None
    names: Sequence[str] = ()
    out: Path | None = None


def is_loopback(host: str) -> bool:
    """Tell whether an address is this machine's own only."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check(listening: Listening, licences: frozenset[str]) -> None:
    """Refuse to serve what must stay on this machine elsewhere.

    Raises:
        UsageError: With what to do instead.
    """
    if listening.open and (listening.roles or listening.scopes):
        raise UsageError("--open asks for no token, so --role and --scopes have no use with it; leave one out")
    if listening.out is None and not listening.open:
        raise UsageError("name a folder for the tokens and logs with --out, or serve without tokens with --open")
    if is_loopback(listening.host):
        return
    if listening.open:
        raise UsageError(f"--open is for this machine only; listen at 127.0.0.1, not at `{listening.host}`")
    kept = sorted(one for one in licences if any(word in one.casefold() for word in CLOSE))
    if kept:
        raise UsageError(
            f"these charts are {', '.join(kept)}: they are served on this machine only; listen at 127.0.0.1"
        )


def tokens_of(listening: Listening, patients: Sequence[str]) -> tuple[Token, ...]:
    """Return the tokens of a server: those in its folder, or fresh ones.

    Raises:
        UsageError: A role or patient that is not there, or a file that others may read.
    """
    assert listening.out is not None
    path = listening.out / "tokens.json"
    if os.path.lexists(path):
        if listening.roles or listening.scopes:
            raise UsageError(f"{path}: holds tokens already; leave --role and --scopes out, or remove the file")
        return read_tokens(path)
    known = roles()
    wanted: list[tuple[str, str, str | None]] = []
    for text in listening.roles or [] if listening.scopes else listening.roles or [*(set(known) - {"patient"})]:
        role, _, patient = text.partition("=")
        if role not in known:
            raise UsageError(f"--role `{role[:40]}` is none; these are: {', '.join(sorted(known))}")
        if patient and patient not in patients:
            raise UsageError(f"--role {role}={patient[:40]}: there is no such patient")
        wanted.append((role, known[role], patient or None))
    if listening.scopes:
        wanted.append(("scopes", listening.scopes, None))
    made = make_tokens(sorted(wanted, key=lambda one: (one[0], one[2] or "")))
    write_tokens(path, made)
    return made


def hosts_of(host: str, port: int, more: Sequence[str] = ()) -> frozenset[str]:
    """Return what a Host header may say of a server that listens at an address.

    Args:
        host: The address.
        port: The port.
        more: Other names by which clients reach it, each with its port or without.

    Raises:
        UsageError: One of them is no name of a host.
    """
    names = {host.lower()}
    if is_loopback(host):
        names |= {"127.0.0.1", "localhost", "::1"}
    for name in more:
        if HOST.fullmatch(name) is None:
            raise UsageError(f"--name `{name[:80]}` is no name of a host; write charts.example or charts.example:8765")
    shown = {f"[{name}]" if ":" in name else name for name in names}
    told = {name.lower() for name in more} | {f"{name.lower()}:{port}" for name in more if ":" not in name}
    return frozenset({f"{name}:{port}" for name in shown} | (shown if port == 80 else set()) | told)


def secure_of(names: Sequence[str]) -> frozenset[str]:
    """Return what a Host header may say where clients come by HTTPS, through a proxy.

    Args:
        names: Names by which clients reach the server; those that begin with `https://` are meant.

    Raises:
        UsageError: One of them is no name of a host.
    """
    found: set[str] = set()
    for name in (one.removeprefix(SECURE).lower() for one in names if one.startswith(SECURE)):
        if HOST.fullmatch(name) is None:
            raise UsageError(f"--name `{SECURE}{name[:80]}` is no name of a host; write {SECURE}charts.example")
        found |= {name} if ":" in name else {name, f"{name}:443"}
    return frozenset(found)


@dataclass(slots=True)
class Files:
    """The folder of a server."""

    out: Path | None
    audit: Lines = field(init=False)
    journal: Journal = field(init=False)

    def __post_init__(self) -> None:
        if self.out is not None:
            self.out.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.audit = Lines(None if self.out is None else self.out / "audit.ndjson", sync=False)
        self.journal = Journal(None if self.out is None else self.out / "journal.ndjson")

    def close(self) -> None:
        """Close the files."""
        self.audit.close()
        self.journal.close()


@dataclass(frozen=True, slots=True)
class Places:
    """What is served: records by the path of their FHIR base, episodes by the path of their round."""

    records: Mapping[str, Records]
    rounds: Mapping[str, LiveEpisode]


class Running:
    """A server that listens; a context manager.

    Args:
        listening: Where and to whom it speaks.
        licences: Licence tags of what is to be served.
        open_places: Makes what is served, given the journal.

    Raises:
        UsageError: What is served must not be served there, or the port is taken.
    """

    def __init__(
        self, listening: Listening, licences: frozenset[str], open_places: Callable[[Journal], Places]
    ) -> None:
        check(listening, licences)
        self.listening = listening
        self._licences = licences
        self._socket = _bound(listening)
        self._files: Files | None = None
        try:
            self._files = Files(listening.out)
            self.places = open_places(self._files.journal)
            patients = sorted({one for records in self.places.records.values() for one in records.patients()})
            self.tokens = () if listening.open else tokens_of(listening, patients)
            self.port = int(self._socket.getsockname()[1])
            shown = f"[{listening.host}]" if ":" in listening.host else listening.host
            self.root = f"http://{shown}:{self.port}"
            self._make(self._files)
        except BaseException:
            self._close()
            raise

    def _make(self, files: Files) -> None:
        import uvicorn

        from .app import Plan, Server
        from .listener import Connection, Listener
        from .playing import Playing

        known = None if self.listening.open else accesses(self.tokens)
        plain = [name for name in self.listening.names if not name.startswith(SECURE)]
        secure = secure_of(self.listening.names)
        plan = Plan(hosts_of(self.listening.host, self.port, plain) | secure, known, now_text(), secure)
        doors = {path: Door(records, licences=sorted(self._licences)) for path, records in self.places.records.items()}
        rounds = {path: Playing(live, wardround.__version__) for path, live in self.places.rounds.items()}
        self._server = Server(doors, AuditLog(files.audit, now_text, self.root), plan, rounds)
        mcp = self.places.rounds if find_spec("mcp_types") is not None else {}
        for path, live in mcp.items():
            from .mcp_door import mcp_server, session_manager

            self._server.add_mcp(
                f"{path}/mcp", session_manager(mcp_server(live, wardround.__version__, self._server.work))
            )
        config = uvicorn.Config(
            self._server,
            lifespan="on" if mcp else "off",
            http=Connection,
            h11_max_incomplete_event_size=HEAD,
            ws="none",
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=CONNECTIONS,
            timeout_keep_alive=10,
            timeout_graceful_shutdown=10,
        )
        self.uvicorn = Listener(config)

    def _close(self) -> None:
        self._socket.close()
        if self._files is not None:
            self._files.close()

    @property
    def base(self) -> str:
        """The first FHIR base."""
        return f"{self.root}/{next(iter(self.places.records))}"

    def run(self) -> None:
        """Serve until SIGINT or SIGTERM."""
        self.uvicorn.run(sockets=[self._socket])

    def keep_trajectories(self) -> list[Path]:
        """Write the trajectory of every episode into the folder; return where (nothing without a folder)."""
        if self.listening.out is None or not self.places.rounds:
            return []
        folder = self.listening.out / "trajectories"
        folder.mkdir(mode=0o700, exist_ok=True)
        found = []
        for path, live in self.places.rounds.items():
            found.append(folder / f"{path.rpartition('/')[2]}.json")
            write_whole(found[-1], orjson.dumps(live.episode.trajectory) + b"\n")
        return found

    def stop(self) -> None:
        """Ask the server to end; `run` returns soon after."""
        self.uvicorn.should_exit = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        self._close()


def _bound(listening: Listening) -> socket.socket:
    family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
    # with its protocol named asyncio switches Nagle off; without, every reply waits some 40 ms
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((listening.host, listening.port))
        found.listen(CONNECTIONS)  # from here on whoever is told the address waits to be served, and is not refused
    except (OSError, OverflowError) as fault:
        found.close()
        text = f"cannot listen at {listening.host}:{listening.port} ({fault}); name another --host or --port"
        raise UsageError(text) from fault
    return found


FHIR = "fhir"
"""Path of the first FHIR base."""


def serve_charts(store: ChartStore, anchors: Mapping[str, Instant], listening: Listening) -> Running:
    """Return a server of charts.

    Args:
        store: The charts.
        anchors: Patient → instant as of which the chart is read; "" for all others.
        listening: Where and to whom it speaks.
    """
    for patient in anchors:
        if patient and patient not in store:
            raise UsageError(f"--at {patient[:40]}=…: there is no such patient")
    licences = frozenset({store.licence, *store.licences()})

    def places(journal: Journal) -> Places:
        return Places({FHIR: ChartRecords(store, anchors, journal)}, {})

    return Running(listening, licences, places)


def serve_episodes(episodes: Sequence[Episode], listening: Listening) -> Running:
    """Return a server of live episodes: each below `/sessions/NAME`, its record at `/sessions/NAME/fhir`.

    The record of the first is at `/fhir`, too. NAME is the session's id; where that is no name for a URL, its number.

    Args:
        episodes: Fresh ones, of different sessions.
        listening: Where and to whom it speaks.
    """
    licences = frozenset(one for episode in episodes for one in (episode.session.licence, episode.chart.licence))
    names = [
        episode.session.id if NAME.fullmatch(episode.session.id) else str(number)
        for number, episode in enumerate(episodes, start=1)
    ]
    if not names or len(set(names)) < len(names):
        raise UsageError("name one session or several different ones")

    def places(journal: Journal) -> Places:
        about = {
            "sessions": [[one.session.id, one.chart.hash, asdict(one.settings)] for one in episodes],
        }
        journal.begin(about)
        lives = {name: LiveEpisode(one, journal, name) for name, one in zip(names, episodes, strict=True)}
        records: dict[str, Records] = {FHIR: lives[names[0]]}
        records |= {f"sessions/{name}/{FHIR}": live for name, live in lives.items()}
        return Places(records, {f"sessions/{name}": live for name, live in lives.items()})

    return Running(listening, licences, places)
