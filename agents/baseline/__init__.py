"""The baseline: rules that read the question, look it up and answer; no model, no gold (docs/baseline.md)."""

from __future__ import annotations

from .agent import Baseline, BaselineWithoutMemory

__all__ = ["Baseline", "BaselineWithoutMemory"]
