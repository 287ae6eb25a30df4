"""A page of a thousand episodes in a browser, and what axe-core (from npm, so outside the suite) says of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from axe import violations
from chromium import FOUND, Chromium

from wardround.agents import EvaluationPlan, PageMade, evaluate, write_report

pytestmark = [
    pytest.mark.external,
    pytest.mark.skipif(FOUND is None, reason="no chromium on this machine (apt-get install chromium)"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> PageMade:
    """Write the page of all sessions of the ward, both wordings and languages, six trials: over a thousand episodes."""
    out = tmp_path_factory.mktemp("run")
    plan = EvaluationPlan(
        "ward", agents=("baseline", "oracle"), phrasings=("explicit", "implicit"), languages=("en",), trials=6
    )
    evaluate(plan, out)
    return write_report(out)


def test_a_thousand_episodes_are_light_and_quick(made: PageMade) -> None:
    assert made.episodes >= 1000
    assert made.size <= 15_000_000
    with Chromium() as page:
        quickest = min(page.open(made.path.as_uri() + f"?{attempt}") for attempt in range(3))
        assert quickest <= 2.0
        assert page.run("document.querySelectorAll('#list tbody tr').length") == 200
        assert page.errors == []
        assert all(url.startswith(made.path.as_uri()) for url in page.requests)


@pytest.mark.parametrize("how", [{}, {"dark": True}, {"width": 400}], ids=["light", "dark", "narrow"])
def test_axe_finds_nothing_serious(made: PageMade, axe: str, how: dict[str, Any]) -> None:
    with Chromium(**how) as page:
        page.open(Path(made.path).as_uri())
        page.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert violations(page, axe) == []
        page.run("location.hash = document.querySelector('#list tbody a').getAttribute('href')")
        page.until("document.querySelector('#episode .turn')")
        page.run("document.querySelectorAll('#episode details').forEach((one) => { one.open = true; })")
        page.until("[...document.querySelectorAll('#episode details')].every((one) => one.children.length > 1)")
        assert violations(page, axe) == []
        assert page.run("document.documentElement.scrollWidth <= innerWidth")
        assert page.errors == []
