"""The charts of the ward behind a door: in this process, and really listening on loopback."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from served import ALL, Asking, Listening, listening

from wardround.envs.server import ChartRecords, Running, roles, serve_charts
from wardround.envs.server.journal import Journal
from wardround.patients import ChartStore, load_charts


@pytest.fixture(scope="session")
def store() -> Iterator[ChartStore]:
    with load_charts("ward") as store:
        yield store


@pytest.fixture
def ask(store: ChartStore) -> Asking:
    """A door of one's own, onto the ward, for somebody who may do everything."""
    return Asking(ChartRecords(store, {}, Journal(None)))


@pytest.fixture(scope="session")
def running(store: ChartStore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server that really listens, with a token for every role."""
    named = [*(name for name in roles() if name != "patient"), "patient=ward-01"]
    plan = Listening(port=0, roles=named, scopes=ALL, out=tmp_path_factory.mktemp("served"))
    with listening(serve_charts(store, {}, plan)) as server:
        yield server


@pytest.fixture(scope="session")
def tokens(running: Running) -> dict[str, str]:
    return {token.role: token.token for token in running.tokens}
