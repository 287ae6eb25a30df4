"""Each part's `__init__` is its public face: a sorted `__all__`, every name there, nothing public left out."""

from __future__ import annotations

import importlib

import pytest

PARTS = (
    "wardround",
    "wardround.agents",
    "wardround.envs",
    "wardround.patients",
    "wardround.rubrics",
    "wardround.sessions",
    "wardround.patients.knowledge",
)


@pytest.mark.parametrize("name", PARTS)
def test_all_is_sorted_and_true(name: str) -> None:
    module = importlib.import_module(name)
    exported = list(module.__all__)
    upper = [n for n in exported if n.isupper()]
    classes = [n for n in exported if n[0].isupper() and not n.isupper()]
    rest = [n for n in exported if not n[0].isupper()]
    # the order of ruff's RUF022: constants, classes, everything else
    assert exported == sorted(upper) + sorted(classes) + sorted(rest)
    for public in exported:
        assert getattr(module, public) is not None


@pytest.mark.parametrize("name", PARTS[1:6])
def test_exported_functions_and_classes_are_documented(name: str) -> None:
    module = importlib.import_module(name)
    for public in module.__all__:
        value = getattr(module, public)
        if callable(value) and not hasattr(value, "__origin__"):
            assert (value.__doc__ or "").strip(), f"{name}.{public} has no docstring"
