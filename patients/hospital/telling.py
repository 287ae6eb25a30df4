"""The events of a course, with their words in both languages."""

from __future__ import annotations

from collections.abc import Iterable

from wardround.patients.times import Instant

from .generation import rules
from .life import CourseEvent
from .making import Making


def tell(
    making: Making, at: Instant, encounter: str, kind: str, facts: Iterable[str], **places: tuple[str, str]
) -> None:
    """Add an event of the course; its words are the rules', with the places filled."""
    words = rules().events.get(kind)
    pair = None
    if words:
        pair = making.stream("event", kind, encounter, at).choice(words).pair(**places)
    making.events.append(CourseEvent(making.new("ev"), at, encounter, kind, tuple(facts), pair))  # type: ignore[arg-type]
