"""Play the built-in agents on built-in sets and write the figures that docs/results.md shows.

    python scripts/docs_results.py                                # the ward
    python scripts/docs_results.py ward physassist-hospital-v1    # and others: made first, which takes minutes

`docs/results.json` keeps the figures; the tables of the page are made from it. tests/docs/test_results.py compares both
with each other, and the ward's cheap rows with a run.
"""

from __future__ import annotations

import argparse
import datetime
import io
import json
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
KEPT: Final = ROOT / "docs" / "results.json"
PAGE: Final = ROOT / "docs" / "results.md"
AGENTS: Final = ("oracle", "baseline", "baseline-no-memory", "stuffer", "blind", "random", "echo", "refuser", "silent")
BEGIN: Final = "<!-- figures: written by scripts/docs_results.py -->"
END: Final = "<!-- end of figures -->"
_KEPT: Final = (
    "agent", "language", "phrasing", "episodes", "mrs", "r_plain", "pass_turn", "pass_session", "calls_per_turn",
)  # fmt: skip
_CELLS: Final = tuple((language, phrasing) for language in ("en", "zh") for phrasing in ("explicit", "implicit"))


def played(name: str, agents: tuple[str, ...] = AGENTS, language: str = "both") -> dict[str, Any]:
    """Return the figures of a set: one row an agent, language and phrasing."""
    from wardround.cli import main

    with tempfile.TemporaryDirectory() as folder:
        words = ["eval", "--sessions", name, "--phrasing", "both", "--language", language, "--json", "--out", folder]
        said, told = io.StringIO(), io.StringIO()
        with redirect_stdout(said), redirect_stderr(told):
            code = main([*words, *(word for agent in agents for word in ("--agent", agent))])
    if code:
        raise SystemExit(f"{name}: exit code {code}\n{told.getvalue()}")
    rows = json.loads(said.getvalue())["results"]
    return {"rows": [{key: row[key] for key in _KEPT} for row in rows]}


def page_of(kept: dict[str, Any]) -> str:
    """Return the tables, as Markdown: mRS by language and phrasing; items and calls are of English, explicit."""
    lines = [f"Measured {kept['date']} with wardround {kept['version']}.", ""]
    for name, found in kept["sets"].items():
        rows = {(row["agent"], row["language"], row["phrasing"]): row for row in found["rows"]}
        lines += [f"### {name}", "", f"Set hash `{found['set_hash']}`.", ""]
        lines += ["| agent | " + " | ".join(f"{one} {two}" for one, two in _CELLS) + " | items | calls/turn |"]
        lines += ["|---" * (len(_CELLS) + 3) + "|"]
        for agent in AGENTS:
            cells = [f"{rows[agent, *cell]['mrs']:.3f}" for cell in _CELLS]
            first = rows[agent, *_CELLS[0]]
            cells += [f"{first['r_plain']:.3f}", f"{first['calls_per_turn']:.1f}"]
            lines.append(f"| `{agent}` | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


def with_tables(page: str, kept: dict[str, Any]) -> str:
    """Return the page with its tables made anew."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{page_of(kept)}\n{END}{rest.partition(END)[2]}"


def main(words: list[str]) -> int:
    """Measure, and write both files."""
    import wardround

    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("sets", nargs="*", default=["ward"])
    sets = {}
    for name in asked.parse_args(words).sets:
        sets[name] = {"set_hash": wardround.load_sessions(name).hash, **played(name)}
    kept = {"date": datetime.date.today().isoformat(), "version": wardround.__version__, "sets": sets}
    KEPT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), kept), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
