"""Checks that are made of others: what they come down to."""

from __future__ import annotations

from collections.abc import Iterator

from .rubric import AllOf, AnyOf, Check, Not


def leaf_checks(check: Check) -> Iterator[Check]:
    """Yield the checks that a check is made of and that are made of no others, denied ones included, in order."""
    if isinstance(check, AnyOf | AllOf):
        for member in check.checks:
            yield from leaf_checks(member)
    elif isinstance(check, Not):
        yield from leaf_checks(check.check)
    else:
        yield check
