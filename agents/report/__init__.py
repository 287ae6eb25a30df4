"""One HTML page of a run: tables, curves, and every episode to read (docs/report.md)."""

from __future__ import annotations

from .page import PageMade, write_report

__all__ = ["PageMade", "write_report"]
