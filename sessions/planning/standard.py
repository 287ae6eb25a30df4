"""Named sets: made from a release's charts on first use, kept in the cache, checked against the hash they must have.

A set is made in chunks of patients that know nothing of each other, so that its bytes do not depend on how many
processes make it; a set in one chunk keeps its quotas as a whole.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from wardround.patients import ChartStore, DataError, Stream, UsageError, cached, fingerprint, load_charts, load_data
from wardround.sessions.dataset import SessionSet, read_sessions, save_sessions
from wardround.sessions.session import Session

from .assembling import Use
from .filling import fill
from .making import Run
from .quota import Mix, Quota
from .scenarios import scenarios_of

_PARTS: Final = ("patients", "rubrics", "sessions")
"""Whose code and data decide a set's bytes."""


class NamedSet(BaseModel):
    """How a named set is made."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    charts: str
    """Name of the charts' release or split."""
    seed: int
    per_patient: int = Field(ge=1)
    each: int | None
    """Sessions of every cell; None for as many as the patients give."""
    split: str
    use: Use
    chunk: int | None
    """Patients made without regard to the others; None for all together."""
    hash: str | None
    """Of the set as this version makes it."""


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    format_version: int
    about: str
    sets: dict[str, NamedSet]


@cache
def named_sets() -> Mapping[str, NamedSet]:
    """Return the sets that can be opened by name.

    Raises:
        DataError: The file is faulty; says field and fault.
    """
    return load_data("wardround.sessions.planning", "data/sets.json", _File).sets


def open_set(name: str, *, workers: int = 1) -> SessionSet:
    """Open a named set, making it first where this version has not yet done so; progress is told on standard error.

    Args:
        name: One of `named_sets()`.
        workers: Processes that make it. A script that asks for more than one does so below
            `if __name__ == "__main__":`.

    Raises:
        UsageError: No such set.
        DataError: What was made is not what this version should make.
    """
    if name not in named_sets():
        raise UsageError(f"no set `{name}`; there are {', '.join(named_sets())}")
    rules = named_sets()[name]

    def build(path: Path) -> None:
        with load_charts(rules.charts, workers=workers) as store:
            print(f"making {name} (once; kept in the cache)", file=sys.stderr)
            save_sessions(path, build_set(store, rules, workers=workers, progress=_teller(name)))

    def read(path: Path) -> SessionSet:
        return read_sessions(path.read_bytes(), name)

    found = cached(f"{name}-{_mark(name)}.jsonl", build, read)
    if rules.hash is not None and found.hash != rules.hash:
        raise DataError(
            f"`{name}` has hash {found.hash}, this version should make {rules.hash}; report this as a fault"
        )
    return found


def build_set(
    store: ChartStore,
    rules: NamedSet,
    *,
    workers: int = 1,
    mix: Mix = "even",
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Session, ...]:
    """Make a named set's sessions from its charts, ordered as their patients were visited.

    Args:
        store: The charts; a copy by path is opened by every worker.
        rules: How the set is made.
        workers: Processes; the sessions are the same whatever their number.
        mix: How implicit types are weighed.
        progress: Called with how many steps are done, of how many.
    """
    patients = Stream("patients", rules.seed).shuffled(sorted(store.patients()))
    size = rules.chunk or len(patients)
    chunks = [tuple(patients[at : at + size]) for at in range(0, len(patients), size)]
    made: list[Session] = []
    for number, sessions in enumerate(_made(store, rules, chunks, workers, mix, progress), 1):
        made.extend(sessions)
        if progress is not None and len(chunks) > 1:
            progress(number, len(chunks))
    return tuple(made)


def _made(
    store: ChartStore,
    rules: NamedSet,
    chunks: list[tuple[str, ...]],
    workers: int,
    mix: Mix,
    progress: Callable[[int, int], None] | None,
) -> Iterator[tuple[Session, ...]]:
    """Yield the sessions of each chunk, in order."""
    if workers <= 1 or len(chunks) == 1:
        tell = progress if len(chunks) == 1 else None
        for number, chunk in enumerate(chunks):
            yield _chunk(store, rules, number, chunk, mix, tell)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, _open, (str(store.path),)) as pool:
        tasks = [pool.submit(_in_worker, rules, number, chunk, mix) for number, chunk in enumerate(chunks)]
        try:
            for task in tasks:
                yield task.result()
        except BrokenProcessPool as fault:
            raise DataError("a worker process ended, as where memory runs out; try fewer workers") from fault
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


_STORE: list[ChartStore] = []


def _open(path: str) -> None:
    _STORE[:] = [ChartStore.open(path)]


def _in_worker(rules: NamedSet, number: int, chunk: tuple[str, ...], mix: Mix) -> tuple[Session, ...]:
    return _chunk(_STORE[0], rules, number, chunk, mix, None)


def _chunk(
    store: ChartStore,
    rules: NamedSet,
    number: int,
    patients: tuple[str, ...],
    mix: Mix,
    progress: Callable[[int, int], None] | None,
) -> tuple[Session, ...]:
    run = Run(scenarios_of("all"), rules.seed, rules.split, rules.use, Quota(mix), chunk=number)
    fill(run, store, patients, per_patient=rules.per_patient, each=rules.each, progress=progress)
    return tuple(run.sessions)


def _mark(name: str) -> str:
    """Return a hash of everything that decides a set's bytes: all code and data that makes charts and sessions."""
    folders: list[Traversable] = []
    for part in _PARTS:
        folders.extend(_folders(files(f"wardround.{part}")))
    return fingerprint(folders, name)


def _folders(folder: Traversable) -> Iterator[Traversable]:
    yield folder
    for one in sorted(folder.iterdir(), key=lambda one: one.name):
        if one.is_dir() and one.name != "__pycache__":
            yield from _folders(one)


def _teller(name: str) -> Callable[[int, int], None]:
    """Return a function that tells on standard error at every tenth how far it is."""

    def tell(done: int, total: int) -> None:
        if done * 10 // total > (done - 1) * 10 // total:
            print(f"{name}: {done * 100 // total} %", file=sys.stderr)

    return tell
