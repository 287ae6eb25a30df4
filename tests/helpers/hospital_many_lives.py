"""Lives that several test files look at, made once a process."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import cache

from wardround.patients.hospital.life import Life, Stay
from wardround.patients.hospital.living import make_life
from wardround.patients.hospital.workup import numbers
from wardround.patients.times import Instant

_LIVES = 100


@cache
def many_lives() -> tuple[Life, ...]:
    """Return a hundred lives."""
    return tuple(make_life(90127, index) for index in range(_LIVES))


def ward_stays() -> Iterator[tuple[Life, Stay, set[str]]]:
    """Yield every hospital stay of them with its life and the ids of the stay and its parts."""
    for life in many_lives():
        for stay in life.stays:
            if stay.kind == "ward":
                yield life, stay, {stay.id, *(one.id for one in life.stays if one.part_of == stay.id)}


def values_of(life: Life, lab: str) -> list[tuple[Instant, Decimal]]:
    """Return when each value of a lab or vital sign of a life was known, with the value."""
    return [(one.known_at, value) for one in life.results for name, value in numbers(one.lab, one.text) if name == lab]
