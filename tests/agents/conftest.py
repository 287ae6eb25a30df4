"""The built-in ward, a setting to play it with, and a scripted endpoint."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest
from endpoint import Endpoint

from wardround import load_charts, load_sessions
from wardround.agents import Setting, Worker
from wardround.patients import ChartStore
from wardround.sessions import SessionSet


@pytest.fixture(scope="session")
def ward() -> ChartStore:
    return load_charts("ward")


@pytest.fixture(scope="session")
def ward_sessions() -> SessionSet:
    return load_sessions("ward")


@pytest.fixture(scope="session")
def setting(ward: ChartStore, ward_sessions: SessionSet) -> Setting:
    return Setting(charts=str(ward.path), sessions="ward", store_hash=ward.hash, set_hash=ward_sessions.hash)


@pytest.fixture(scope="session")
def worker(setting: Setting, ward: ChartStore, ward_sessions: SessionSet) -> Worker:
    return Worker(setting, ward, ward_sessions)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    if importlib.util.find_spec("litellm") is None:  # not imported here: the library itself says how, offline
        pytest.skip("the extra llm is not installed")
    made = Endpoint()
    yield made
    made.close()
