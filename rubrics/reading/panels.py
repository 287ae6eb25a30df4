"""Panels that an answer may call normal as a whole ("thyroid function is fine"), and their tests."""

from __future__ import annotations

from functools import lru_cache

from pydantic import BaseModel, ConfigDict, Field

from wardround.rubrics.datafile import load_model

from .cues import words
from .document import Ann
from .fitting import ids_of

TESTS = words("panels.tests")
"""Parts of the ids of procedures whose result is positive or negative."""


class PanelFile(BaseModel):
    """`data/panels.json`: the tests of each panel that can be called normal as a whole."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format_version: int = Field(ge=1, le=1)
    remarks: str = ""
    panels: dict[str, tuple[str, ...]]


@lru_cache(maxsize=1)
def _panels() -> dict[str, frozenset[str]]:
    content = load_model("reading/data/panels.json", PanelFile)
    return {panel: frozenset(tests) for panel, tests in content.panels.items()}


def is_panel(ann: Ann) -> bool:
    """Tell whether a place names a panel that can be called normal as a whole, or a test that can be positive."""
    if ann.layer != "concept" or ann.value.measurable:
        return False
    one = ann.value.ids[0]
    return one in _panels() or ("procedure" in ann.value.kinds and bool(TESTS & set(one.split("_"))))


def stated_ids(ann: Ann) -> tuple[str, ...]:
    """Return the ids that a state may be said of: a measurement's, or a panel's own."""
    return ann.value.ids[:1] if is_panel(ann) else ids_of(ann)


def panels_of(ids: set[str]) -> set[str]:
    """Return the panels that measure any of `ids`."""
    return {panel for panel, tests in _panels().items() if ids & tests}
