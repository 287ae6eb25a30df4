"""What may be said of a finding beside the others: what is denied, how long it lasts, how bad it is."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from decimal import Decimal
from functools import cache

from pydantic import Field

from wardround.patients.knowledge.graph_models import Severity
from wardround.patients.times import Instant

from .documents import Frozen, read_document
from .making import HOUR, Making


class Beyond(Frozen):
    """A measurement from or below which nobody denies a finding."""

    finding: str
    lab: str
    from_: Decimal | None = Field(default=None, alias="from")
    below: Decimal | None = None


class Lasting(Frozen):
    """Words of timing that want something to last so long, or not longer."""

    words: tuple[str, ...]
    least_hours: int = 0
    most_hours: int | None = None


class ScoreWord(Frozen):
    """The word for a pain score."""

    from_: int = Field(alias="from")
    severity: Severity


class Plausible(Frozen):
    """The content of `data/plausible.json`."""

    format_version: int
    assumption: bool
    note: str
    severe_never_denies: tuple[str, ...]
    of_the_episode: tuple[str, ...]
    """What set an illness off: told with its episode, never of one that is there in the background."""
    denied_only_with: Mapping[str, tuple[str, ...]]
    """Finding → those of which one must be there for its absence to be worth a word."""
    never_denied_with: Mapping[str, tuple[str, ...]]
    """Finding → those beside which it cannot well be absent."""
    never_denied_beyond: tuple[Beyond, ...]
    lasting: tuple[Lasting, ...]
    said_only_with: Mapping[str, tuple[str, ...]]
    """Words of what makes something worse or better → conditions of which who says them has one."""
    hard_to_bear: tuple[str, ...]
    """Parts of words that nothing mild is told with."""
    score_words: tuple[ScoreWord, ...]
    """The highest first."""


@cache
def plausible() -> Plausible:
    """Return the rules of `data/plausible.json`."""
    return Plausible.model_validate_json(read_document("plausible.json"))


def deniable(making: Making, finding: str, present: Collection[str], at: Instant, *, severe: bool) -> bool:
    """Tell whether the absence of a finding may be told.

    Args:
        making: The life.
        finding: What is not there.
        present: Findings that are there.
        at: When it is looked for.
        severe: Whether the patient is severely and acutely ill.
    """
    rules = plausible()
    if severe and finding in rules.severe_never_denies:
        return False
    wanted = rules.denied_only_with.get(finding)
    if wanted is not None and not any(one in present for one in wanted):
        return False
    if any(one in present for one in rules.never_denied_with.get(finding, ())):
        return False
    return not any(one.finding == finding and _reached(making, one, at) for one in rules.never_denied_beyond)


def _reached(making: Making, one: Beyond, at: Instant) -> bool:
    value = making.body.value(one.lab, at)
    if value is None:
        return False
    return (one.from_ is not None and value >= one.from_) or (one.below is not None and value < one.below)


def of_the_episode(finding: str) -> bool:
    """Tell whether a finding is what set an illness off, which is old news of one that is there in the background."""
    return finding in plausible().of_the_episode


def lasts(words: str, onset: Instant, at: Instant) -> bool:
    """Tell whether words of timing fit something that began at `onset`."""
    padded = f" {words} "
    hours = (at - onset) // HOUR
    return all(
        one.least_hours <= hours and (one.most_hours is None or hours <= one.most_hours)
        for one in plausible().lasting
        if any(f" {said} " in padded for said in one.words)
    )


def bearable(words: str) -> bool:
    """Tell whether words may be said of something mild."""
    return not any(one in words for one in plausible().hard_to_bear)


def word_of(score: int) -> Severity:
    """Return the severity that a pain score stands for."""
    return next(one.severity for one in plausible().score_words if score >= one.from_)


def sayable(words: str, conditions: Collection[str]) -> bool:
    """Tell whether words of what makes something worse or better fit who has some conditions."""
    wanted = plausible().said_only_with.get(words)
    return wanted is None or any(one in conditions for one in wanted)
