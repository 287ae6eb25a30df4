"""Every example in a docstring runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest


def _modules() -> list[str]:
    # the parts lie outside src/wardround, so walking the package alone would miss them
    names = ["wardround"]
    for part in ("agents", "cli", "envs", "patients", "rubrics", "sessions"):
        package = importlib.import_module(f"wardround.{part}")
        names.append(package.__name__)
        names.extend(found.name for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."))
    return names


@pytest.mark.parametrize("name", _modules())
def test_doctests(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ImportError as error:  # a door whose library is not installed here; tests/external runs it
        adapter = name.startswith("wardround.envs.adapters.") and "pip install 'wardround[" in str(error)
        if not adapter and (name, error.name) != ("wardround.envs.server.mcp_door", "mcp_types"):
            raise
        pytest.skip(str(error))
    result = doctest.testmod(module)
    assert result.failed == 0


def test_there_are_doctests() -> None:
    assert {"wardround.patients.times", "wardround.rubrics.scoring"} <= set(_modules())
    counts = [
        doctest.testmod(importlib.import_module(name)).attempted
        for name in ("wardround.patients.times", "wardround.patients.rng")
    ]
    assert all(counts)
