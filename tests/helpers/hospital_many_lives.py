"""Lives that several test files look at, made once a process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cache

import pytest

from wardround.patients.hospital import episodes
from wardround.patients.hospital.life import Life, Stay
from wardround.patients.hospital.living import make_life
from wardround.patients.hospital.making import Making
from wardround.patients.hospital.workup import numbers
from wardround.patients.knowledge.bedside import condition_profiles
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


def lives_with(seed: int, wanted: Callable[[int], Sequence[str]], count: int = 36) -> tuple[Life, ...]:
    """Return lives whose hospital stays are for wanted conditions, where these can come; made on purpose, for tests.

    Args:
        seed: Of the lives.
        wanted: Conditions of the life with a number, the first that can come is taken.
        count: How many lives.
    """
    usual, found, patch = episodes.what_comes, list[Life](), pytest.MonkeyPatch()
    try:
        for index in range(count):

            def coming(
                making: Making, at: Instant, setting: episodes.Kind, before: Sequence[str], index: int = index
            ) -> episodes.Coming | None:
                mine = {one.condition for one in making.ill(at)}
                for turn in wanted(index):
                    profile = condition_profiles()[turn]
                    fits = episodes.fits(making, profile, at, mine) and turn not in (*mine, *before)
                    if setting == "ward" and fits and (not profile.episode_of or mine & set(profile.episode_of)):
                        return episodes.Coming(turn)
                return usual(making, at, setting, before)

            patch.setattr("wardround.patients.hospital.living.what_comes", coming)
            found.append(make_life(seed, index))
    finally:
        patch.undo()
    return tuple(found)


def stays_for(lives: Iterable[Life], conditions: Sequence[str]) -> Iterator[tuple[Life, Stay, set[str]]]:
    """Yield the hospital stays of lives for some conditions, each with its life, its id and those of its parts."""
    for life in lives:
        ill = {one.id: one for one in life.illnesses}
        for stay in life.stays:
            if stay.kind == "ward" and ill[stay.principal].condition in conditions:
                yield life, stay, {stay.id, *(one.id for one in life.stays if one.part_of == stay.id)}


def values_of(life: Life, lab: str) -> list[tuple[Instant, Decimal]]:
    """Return when each value of a lab or vital sign of a life was known, with the value."""
    return [(one.known_at, value) for one in life.results for name, value in numbers(one.lab, one.text) if name == lab]
