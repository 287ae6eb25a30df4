"""`wardround doctor`: versions, extras and built-in data at a glance."""

from __future__ import annotations

import argparse
import importlib.util
import platform
from importlib import metadata
from typing import Any

from . import common
from .output import print_json, print_table

_CORE = ("fhir.resources", "gymnasium", "jsonschema-rs", "numpy", "orjson", "pydantic", "zstandard")
_EXTRAS = {"llm": "litellm", "mimic": "duckdb", "ray": "ray"}


def add(commands: Any) -> None:
    """Add the command."""
    doctor = commands.add_parser("doctor", help="versions, extras, built-in data")
    common.add_json(doctor)
    doctor.set_defaults(run=run_doctor)


def run_doctor(args: argparse.Namespace) -> int:
    """Print the state of this installation; exit code 1 where the built-in data cannot be opened."""
    import wardround
    from wardround.patients import WardroundError, load_charts
    from wardround.sessions import load_sessions

    data: dict[str, Any] = {
        "wardround": wardround.__version__,
        "python": platform.python_version(),
        "platform": platform.system(),
        "packages": {name: metadata.version(name) for name in _CORE},
        "extras": {extra: importlib.util.find_spec(module) is not None for extra, module in _EXTRAS.items()},
    }
    try:
        with load_charts("ward") as store:
            data["ward"] = {"patients": len(store.patients()), "store_hash": store.hash}
        data["ward"]["sessions"] = len(load_sessions("ward"))
    except WardroundError as error:
        data["ward"] = {"error": str(error)}
    if args.json:
        print_json(data)
    else:
        _tell(data)
    return 1 if "error" in data["ward"] else 0


def _tell(data: dict[str, Any]) -> None:
    print(f"wardround {data['wardround']}; Python {data['python']}; {data['platform']}")
    print_table("Packages", ("package", "version"), list(data["packages"].items()))
    for extra, there in data["extras"].items():
        print(f"extra {extra}: {'installed' if there else 'not installed'}")
    ward = data["ward"]
    told = "{patients} patients; {sessions} sessions; store hash {store_hash}"
    print(f"ward: {ward['error'] if 'error' in ward else told.format_map(ward)}")
