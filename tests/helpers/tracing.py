"""Which lines and branches the tests reach: SlipCover in every worker, one table at the end (`WARDROUND_COVERAGE=1`).

Coverage.py's tracer is asked for every line that runs, again and again, and the library's readers and planners are
loops: two thirds of the suite's time were the tracer's. SlipCover takes its mark out of a line once it was seen. Its
own pytest plugin knows neither this pytest's rewriting of asserts nor an editable install's folders, so the few calls
are made here.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
OMITTED = [str(CHECKOUT / "agents" / "ray_rollout.py")]
"""Its actor class is pickled by value on its way to Ray, and a mark in its code cannot be."""
SOURCES = [str(CHECKOUT / part) for part in ("agents", "envs", "patients", "rubrics", "sessions", "src")]


class Tracing:
    """A pytest plugin: workers leave what they saw in a folder, the controller adds it up and prints it."""

    def __init__(self, folder: Path) -> None:
        import slipcover

        self._slipcover = slipcover
        self._folder = folder
        self._worker = os.environ.get("PYTEST_XDIST_WORKER", "")
        self._traced = slipcover.Slipcover(branch=True, source=None if self._worker else SOURCES, omit=OMITTED)
        matcher = slipcover.FileMatcher(sources=SOURCES, omit=OMITTED)
        self._imports = slipcover.ImportManager(self._traced, matcher)
        self._imports.__enter__()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Leave what this worker saw for the controller."""
        self._imports.__exit__(None, None, None)
        if self._worker:
            seen = json.dumps(self._traced.get_coverage())
            (self._folder / f"coverage-{self._worker}.json").write_text(seen, encoding="utf-8")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the table of what all workers saw together, and leave it as `coverage.json`."""
        if self._worker:  # the controller's to tell; a run that a test starts is part of its worker
            return
        total = self._traced.get_coverage()
        for part in sorted(self._folder.glob("coverage-gw*.json")):
            self._slipcover.merge_coverage(total, json.loads(part.read_text(encoding="utf-8")))
        (self._folder / "coverage.json").write_text(json.dumps(total), encoding="utf-8")
        rows = []
        for name, file in sorted(total["files"].items()):
            missing = [*file["missing_lines"], *file["missing_branches"]]
            if missing:
                rows.append(f"{name:52} {len(missing):5} missed {file['summary']['percent_covered']:6.1f} %")
        terminalreporter.write_line("\n".join(rows))
        full = len(total["files"]) - len(rows)
        counts = total["summary"]
        lines = counts["covered_lines"] + counts["missing_lines"]
        branches = counts["covered_branches"] + counts["missing_branches"]
        share = f"{counts['percent_covered']:.1f} % of {lines} lines and {branches} branches"
        terminalreporter.write_line(f"coverage: {share}; {full} files whole")


def start() -> Tracing | None:
    """Start tracing where it is asked for, before the library is imported; what an earlier run left is removed."""
    if not os.environ.get("WARDROUND_COVERAGE"):
        return None
    folder = CHECKOUT / ".coverage.d"
    folder.mkdir(exist_ok=True)
    if "PYTEST_XDIST_WORKER" not in os.environ:
        for left in folder.glob("coverage-gw*.json"):
            left.unlink()
    return Tracing(folder)
