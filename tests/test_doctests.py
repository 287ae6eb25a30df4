"""Every example in a docstring runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import wardround


def _modules() -> list[str]:
    return [
        "wardround",
        *(m.name for m in pkgutil.walk_packages(wardround.__path__, "wardround.") if not m.name.endswith("__main__")),
    ]


@pytest.mark.parametrize("name", _modules())
def test_doctests(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_there_are_doctests() -> None:
    counts = [
        doctest.testmod(importlib.import_module(name)).attempted
        for name in ("wardround.patients.times", "wardround.patients.rng")
    ]
    assert all(counts)
