"""The command line: one module a command group, registered in `main`."""

from __future__ import annotations

from wardround.cli.main import main

__all__ = ["main"]
