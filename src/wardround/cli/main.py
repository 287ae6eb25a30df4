"""`wardround COMMAND …`: argument parsing and exit codes."""

from __future__ import annotations


def main(argv: list[str] | None = None) -> int:
    """Run one command; return its exit code (0 done, 1 findings, 2 usage)."""
    raise SystemExit(2)
