"""`wardround doctor`: versions, extras, built-in data, cache and endpoint at a glance."""

from __future__ import annotations

import argparse
import os
import platform
import re
from importlib import metadata
from pathlib import Path
from typing import Any

from . import common
from .output import print_json, print_table, safe

_REQUIREMENT = re.compile(r"(?P<package>[A-Za-z0-9._-]+)(?:.*extra == [\"'](?P<extra>[a-z0-9-]+)[\"'])?")
"""One requirement of an installed package: what it brings, and for which extra."""
_DEVELOPERS = "dev"
_KEPT = re.compile(r"(?P<name>[a-z0-9.-]{1,80})-[0-9a-f]{24}\.[a-z]{1,10}")
"""A file of the cache: what it holds, and the fingerprint of the code that made it."""


def add(commands: Any) -> None:
    """Add the command."""
    doctor = commands.add_parser("doctor", help="versions, extras, built-in data, cache; is an endpoint there?")
    doctor.add_argument("--endpoint", default=None, metavar="URL", help="an OpenAI-compatible endpoint to ask")
    doctor.add_argument(
        "--key-env", default=None, metavar="NAME", help="environment variable that holds the endpoint's key"
    )
    doctor.add_argument("--deadline", type=common.positive, default=10, metavar="SECONDS", help="default 10")
    common.add_json(doctor)
    doctor.set_defaults(run=run_doctor)


def run_doctor(args: argparse.Namespace) -> int:
    """Print the state of this installation; exit code 1 where something is found amiss (`findings`)."""
    import wardround

    from .probing import probe

    data: dict[str, Any] = {
        "wardround": wardround.__version__,
        "python": platform.python_version(),
        "platform": platform.system(),
        **_packages(),
        "ward": _ward(),
        "cache": _cache(),
        "endpoint": None,
    }
    if args.endpoint is not None:
        data["endpoint"] = probe(args.endpoint, key_env=args.key_env, deadline=float(args.deadline))
    data["findings"] = _findings(data)
    if args.json:
        print_json(data)
    else:
        _tell(data)
    return 1 if data["findings"] else 0


def _packages() -> dict[str, Any]:
    """Return what this installation wants and has: `packages` {name: version}, `extras` {extra: {name: version}}."""
    try:
        wanted = metadata.requires("wardround") or []
    except metadata.PackageNotFoundError:  # imported from a folder that nobody installed
        wanted = []
    core: dict[str, str | None] = {}
    extras: dict[str, dict[str, str | None]] = {}
    for line in wanted:
        match = _REQUIREMENT.match(line)
        if match is None or match["extra"] == _DEVELOPERS:
            continue
        group = core if match["extra"] is None else extras.setdefault(match["extra"], {})
        group[match["package"]] = _version(match["package"])
    return {"packages": dict(sorted(core.items())), "extras": dict(sorted(extras.items()))}


def _version(package: str) -> str | None:
    """Return the installed version, None where it is not installed; nothing is imported."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _ward() -> dict[str, Any]:
    from wardround.patients import WardroundError, load_charts
    from wardround.sessions import load_sessions

    try:
        with load_charts("ward") as store:
            found: dict[str, Any] = {"patients": len(store.patients()), "store_hash": store.hash}
        return {**found, "sessions": len(load_sessions("ward"))}
    except WardroundError as error:
        return {"error": str(error)}


def _cache() -> dict[str, Any]:
    """Return the cache folder and what it holds, by name; nothing is written to find out."""
    from wardround.patients import cache_folder

    folder = cache_folder()
    kept: dict[str, dict[str, int]] = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        match = _KEPT.fullmatch(path.name)
        if match is None or not path.is_file():
            continue
        entry = kept.setdefault(match["name"], {"versions": 0, "bytes": 0})
        entry["versions"] += 1
        entry["bytes"] += path.stat().st_size
    return {"folder": str(folder), "there": folder.is_dir(), "writable": _writable(folder), "sets": kept}


def _writable(folder: Path) -> bool:
    near = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    return near.is_dir() and os.access(near, os.W_OK)


def _findings(data: dict[str, Any]) -> list[str]:
    """Return what is amiss and what to do about it, a sentence each."""
    from wardround.agents.litellm_door import check_litellm
    from wardround.patients import UsageError

    found = [f"package `{name}` is missing: pip install wardround" for name, at in data["packages"].items() if not at]
    if not data["packages"]:
        found.append("wardround runs from a folder and is not installed: pip install it, so that versions are known")
    if _version("litellm") is not None:
        try:
            check_litellm()
        except UsageError as error:
            found.append(str(error))
    if "error" in data["ward"]:
        found.append(f"the built-in ward cannot be opened: {data['ward']['error']}")
    if not data["cache"]["writable"]:
        found.append(f"cache folder `{data['cache']['folder']}` cannot be written: set WARDROUND_CACHE to one that can")
    if data["endpoint"] is not None and data["endpoint"]["error"]:
        found.append(f"endpoint {data['endpoint']['url']}: {data['endpoint']['error']}")
    return found


def _tell(data: dict[str, Any]) -> None:
    print(f"wardround {data['wardround']}; Python {data['python']}; {data['platform']}")
    print_table("Packages", ("package", "version"), list(data["packages"].items()))
    for extra, packages in data["extras"].items():
        there = [f"{name} {version}" if version else f"{name} not installed" for name, version in packages.items()]
        print(f"extra {extra}: {', '.join(there)}")
    ward = data["ward"]
    told = "{patients} patients; {sessions} sessions; store hash {store_hash}"
    print(f"ward: {ward['error'] if 'error' in ward else told.format_map(ward)}")
    cache = data["cache"]
    print(f"cache: {cache['folder']}{'' if cache['there'] else ' (nothing kept yet)'}")
    rows = [(name, one["versions"], f"{one['bytes'] / 1e6:.1f}") for name, one in cache["sets"].items()]
    if rows:
        print_table("Kept there (versions: one for each state of the code)", ("name", "versions", "MB"), rows)
    endpoint = data["endpoint"]
    if endpoint is not None and not endpoint["error"]:
        shown = ", ".join(endpoint["models"]) + (", …" if endpoint["count"] > len(endpoint["models"]) else "")
        print(safe(f"endpoint {endpoint['url']}: {endpoint['count']} models: {shown}"))
    for one in data["findings"]:
        print(safe(f"finding: {one}"))
