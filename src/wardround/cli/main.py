"""`wardround COMMAND …`: argument parsing and exit codes."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import wardround

from . import (
    ablation,
    browsing,
    charts,
    doctor,
    evaluation,
    export,
    grading,
    hospital,
    inspecting,
    interop,
    play,
    reporting,
    review,
    serving,
    sets,
)
from .output import safe

_GROUPS = (
    evaluation, play, ablation, reporting, export, charts, hospital, inspecting, sets, browsing, review, interop,
    grading, serving, doctor,
)  # fmt: skip


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of every command."""
    parser = argparse.ArgumentParser(
        prog="wardround",
        description="A ward round as an environment: a language model assists a physician, with verifiable rewards.",
        epilog="Exit codes: 0 done, 1 findings, 2 usage. Every command has --json: one object on standard output.",
    )
    parser.add_argument("--version", action="version", version=f"wardround {wardround.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for group in _GROUPS:
        group.add(commands)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: Arguments after the program's name; None takes the process's own.

    Returns:
        0 done, 1 findings (a check failed, a score changed), 2 usage or bad input.
    """
    from wardround.patients import WardroundError

    if sys.stdout is None:  # started with its output closed: what it prints goes nowhere, what it writes is written
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115  # lives as long as the process
    for stream in (sys.stdout, sys.stderr):  # what is printed never depends on the locale
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    args = build_parser().parse_args(argv)
    try:
        return int(args.run(args))
    except WardroundError as error:
        print(safe(f"wardround: {error}"), file=sys.stderr)
        return 2
    except BrokenPipeError:
        # the reader of our output (head, less) has gone: not a fault
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        print("wardround: stopped; a run folder goes on with --resume", file=sys.stderr)
        return 130
    except OSError as error:
        # a path that cannot be read or written, a full disk: the user's to mend, and never a traceback
        where = f"`{error.filename2 or error.filename}`: " if error.filename else ""
        what = safe(f"{where}{error.strerror or error}")
        print(f"wardround: {what}; check the path, its rights and the disk", file=sys.stderr)
        return 2
