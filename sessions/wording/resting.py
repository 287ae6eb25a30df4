"""What a rubric rests on: whether one of its items would be impossible to write without a thing named earlier."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from wardround.patients import knowledge
from wardround.rubrics import Item, is_guard
from wardround.sessions.moves.move import Entity

_CONCEPTS: Final = frozenset({"lab", "vital", "drug", "symptom"})
"""Kinds of entities that are concepts of the lexicon."""


@dataclass(frozen=True)
class About:
    """What the affirmative items of a rubric are about."""

    concepts: frozenset[str]
    said: str
    """Their words, in lower case."""

    def rests_on(self, entity: str, names: Iterable[str | None]) -> bool:
        """Tell whether an item is about a thing.

        Args:
            entity: Its key, "drug:warfarin".
            names: What it is called.
        """
        kind, _, name = entity.partition(":")
        if name in self.concepts or _parts(name) & self.concepts:
            return True
        if kind in _CONCEPTS:
            return False  # the lexicon finds it in any spelling
        return any(called is not None and called.casefold() in self.said for called in names)

    def of(self, entities: Iterable[Entity]) -> frozenset[str]:
        """Return the keys of those entities that an item is about."""
        return frozenset(one.key for one in entities if self.rests_on(one.key, (one.names.en, one.names.zh)))


@cache
def _parts(vital: str) -> frozenset[str]:
    """Return the vital signs that one is measured as: a blood pressure is a systolic and a diastolic one."""
    return frozenset(one.id for one in knowledge.labs().values() if one.kind == "vital" and vital in one.broader)


def about(rubric: Sequence[Item]) -> About:
    """Return what a rubric is about."""
    lexicon = knowledge.lexicon()
    concepts: set[str] = set()
    said: list[str] = []
    for item in rubric:
        if is_guard(item.check):
            continue
        for text in _strings(item.check.model_dump()):
            said.append(text.casefold())
            concepts.add(text)
            concepts.update(one for mention in lexicon.scan(text) for one in mention.concepts)
        said.extend(text.casefold() for text in (item.text.en, item.text.zh) if text)
    return About(frozenset(concepts), "\n".join(said))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _strings(one)
