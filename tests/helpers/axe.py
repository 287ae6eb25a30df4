"""What axe-core says of a page in Chromium."""

from __future__ import annotations

from typing import Any

from chromium import Chromium


def violations(page: Chromium, axe: str) -> list[Any]:
    """Return the serious and critical faults that axe-core finds in the page as it stands."""
    page.run(f"{axe};1")
    found: list[Any] = page.run(
        "axe.run(document).then((found) => found.violations"
        ".map((one) => [one.id, one.impact, one.nodes[0].html.slice(0, 200)]))"
    )
    assert page.run("axe.run(document).then((found) => found.passes.length)") > 10  # it did look
    return [one for one in found if one[1] in ("serious", "critical")]
