"""Named releases of the hospital: fixed seeds and splits, each built on first use into the cache.

`hospital-v1/public`, `/train` and `/heldout` are stores of their own; `hospital-v1` is all of them in one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from wardround.patients.caching import cached_store, fingerprint
from wardround.patients.errors import UsageError
from wardround.patients.store import ChartStore
from wardround.patients.store_writer import StoreWriter

from .documents import read_document

if TYPE_CHECKING:
    from .building import HospitalReport


@cache
def _releases() -> Mapping[str, Mapping[str, Any]]:
    found: Mapping[str, Mapping[str, Any]] = orjson.loads(read_document("releases.json"))["releases"]
    return found


@cache
def release_names() -> tuple[str, ...]:
    """Return every name that `open_release` knows: releases, and their splits as `release/split`."""
    names = []
    for name, release in _releases().items():
        names += [name, *(f"{name}/{split}" for split in release["splits"] if split)]
    return tuple(names)


def build_hospital(
    path: str | Path,
    seed: int,
    indexes: range,
    *,
    flaws: str = "mix",
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> HospitalReport:
    """Write a store of generated patients with interviews and truth (atomically).

    Args:
        path: Where; replaced if it exists.
        seed: Of the hospital; other seeds have no patient in common.
        indexes: Which patients; each depends on seed and index alone.
        flaws: clean, flawed, or mix (about half of the patients).
        workers: Processes; the store is the same whatever their number. A script that asks for more than one does so
            below `if __name__ == "__main__":`.
        progress: Called with how many are done, of how many.

    Raises:
        UsageError: `flaws` is another word, the place is no good, or no patient was asked for.
        DataError: A worker process ended.
    """
    from .building import build_store  # the generator is not needed to open what is built

    return build_store(path, seed, indexes, flaws=flaws, workers=workers, progress=progress)


def split_of(name: str, patient_id: str) -> str:
    """Return the split of a release that a patient belongs to.

    Raises:
        UsageError: No such release, or the patient is none of it.
    """
    release = _release(name)
    index = int(patient_id.rpartition("-")[2])
    for split, (first, end) in release["splits"].items():
        if first <= index < end:
            return str(split)
    raise UsageError(f"`{patient_id}` is no patient of `{name}`")


def open_release(name: str, *, workers: int = 1) -> ChartStore:
    """Open a release or one split of it, building it first where this version has not yet done so.

    Progress is told on standard error. The file in the cache folder has a name that changes with code and data.

    Args:
        name: One of `release_names()`.
        workers: Processes that build. A script that asks for more than one does so below `if __name__ == "__main__":`.

    Raises:
        UsageError: No such release.
    """
    if name not in release_names():
        raise UsageError(f"no release `{name}`; there are {', '.join(release_names())}")
    release, _, split = name.partition("/")
    file = f"{name.replace('/', '-')}-{_mark(name)}.sqlite"
    if split or "" in _release(release)["splits"]:
        return cached_store(file, lambda path: _build(path, release, split, workers))
    return cached_store(file, lambda path: _join(path, release, workers))


def _release(name: str) -> Mapping[str, Any]:
    if name not in _releases():
        raise UsageError(f"no release `{name}`; there are {', '.join(_releases())}")
    return _releases()[name]


def _mark(name: str) -> str:
    """Return a hash of everything that decides a release's bytes: the hospital, its knowledge, and what packs it."""
    part = files("wardround.patients")
    folders = [part, part / "data", part / "hospital", part / "knowledge", part / "importers"]
    for folder in (part / "hospital" / "data", part / "knowledge" / "data"):
        folders += [folder, *sorted((one for one in folder.iterdir() if one.is_dir()), key=lambda one: one.name)]
    return fingerprint(folders, name)


def _build(path: Path, release: str, split: str, workers: int) -> None:
    from .building import build_store  # not needed to open what is built

    found = _release(release)
    first, end = found["splits"][split]
    name = f"{release}/{split}" if split else release
    build_store(
        path, found["seed"], range(first, end), flaws=found["flaws"], workers=workers, progress=_teller(name),
        provenance={"release": release, "split": split},
    )  # fmt: skip


def _join(path: Path, release: str, workers: int) -> None:
    """Write all splits of a release into one store."""
    from .building import TYPES  # not needed to open what is built
    from .charting import LICENCE

    found = _release(release)
    source = {"source": "wardround hospital", "release": release, "seed": found["seed"], "splits": found["splits"]}
    with StoreWriter(path, LICENCE, source, TYPES, validate=False) as writer:
        for split in found["splits"]:
            with open_release(f"{release}/{split}", workers=workers) as store:
                for patient in store.patients():
                    packed, rest = store.stored(patient)
                    writer.add_packed(packed)
                    writer.add_behind(rest)
        writer.close()


def _teller(name: str) -> Callable[[int, int], None]:
    """Say on standard error that a build begins; return a function that tells at every tenth how far it is."""
    print(f"building {name} (once; kept in the cache)", file=sys.stderr)

    def tell(done: int, total: int) -> None:
        if done * 10 // total > (done - 1) * 10 // total:
            print(f"{name}: {done}/{total} patients", file=sys.stderr)

    return tell
