"""Which facts every resource and every sentence of a chart rests on, and the other way round."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Trace(NamedTuple):
    """A resource, or a stretch of its text, and the facts it rests on."""

    key: str
    """`Type/id`."""
    facts: tuple[str, ...]
    """Ids of facts of the life; "person" for the person."""
    start: int | None = None
    """For a sentence: where it begins in the decoded text (characters); None for the resource as a whole."""
    end: int | None = None
    """Exclusive."""


class Provenance:
    """The traces of one chart, to be asked both ways.

    Args:
        traces: In any order; answers keep it.

    Examples:
        >>> table = Provenance([Trace("Observation/p-l1", ("l1",)), Trace("CarePlan/p-pl1", ("l1", "d1"), 0, 9)])
        >>> table.facts("Observation/p-l1"), [trace.key for trace in table.traces("l1")]
        (('l1',), ['Observation/p-l1', 'CarePlan/p-pl1'])
    """

    def __init__(self, traces: Iterable[Trace]) -> None:
        self._by_key: dict[str, list[Trace]] = {}
        self._by_fact: dict[str, list[Trace]] = {}
        for trace in traces:
            self._by_key.setdefault(trace.key, []).append(trace)
            for fact in dict.fromkeys(trace.facts):
                self._by_fact.setdefault(fact, []).append(trace)

    def facts(self, key: str, at: int | None = None) -> tuple[str, ...]:
        """Return the facts a resource rests on.

        Args:
            key: `Type/id`.
            at: Only what the sentence at this character of its text rests on.

        Returns:
            Fact ids in the order of the traces, each once; empty for an unknown resource.
        """
        traces = self._by_key.get(key, [])
        if at is not None:
            traces = [
                one for one in traces if one.start is not None and one.end is not None and one.start <= at < one.end
            ]
        return tuple(dict.fromkeys(fact for trace in traces for fact in trace.facts))

    def sentences(self, key: str) -> tuple[Trace, ...]:
        """Return the traces of the sentences of a note or report, in order."""
        return tuple(trace for trace in self._by_key.get(key, ()) if trace.start is not None)

    def traces(self, fact: str) -> tuple[Trace, ...]:
        """Return every resource and sentence that rests on a fact."""
        return tuple(self._by_fact.get(fact, ()))

    def keys(self) -> tuple[str, ...]:
        """Return every resource that has a trace."""
        return tuple(self._by_key)
