"""The resources of a record, parsed once: many questions are asked of the same ones, at several rounds of one stay."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Final, Generic, TypeVar

from wardround.patients import Chart, Resource, Snapshot

_CHARTS: Final = 4
"""Charts whose resources are kept: sessions are made, and checked, one patient after the other."""
T = TypeVar("T")


class ByPlace(Generic[T]):
    """What is made of single resources of a few charts, by their places; the chart unused for longest is forgotten."""

    def __init__(self) -> None:
        self._charts: OrderedDict[str, dict[int, T]] = OrderedDict()

    def of(self, chart: Chart) -> dict[int, T]:
        """Return what was made of a chart's resources, to be added to."""
        found = self._charts.get(chart.hash)
        if found is None:
            found = self._charts[chart.hash] = {}
            if len(self._charts) > _CHARTS:
                self._charts.popitem(last=False)
        return found


_KEPT: Final = ByPlace[Resource]()


def resources(snapshot: Snapshot, kind: str, holding: bytes = b"") -> Iterator[Resource]:
    """Yield the known resources of a type, newest first; as all resources they are read, never changed in place.

    Args:
        snapshot: The chart at the anchor.
        kind: Type.
        holding: Only those in whose JSON these bytes stand: what they are looked for by.
    """
    kept = _KEPT.of(snapshot.chart)
    cut = set(snapshot.recut(kind))  # a body that is not the chart's is of this view alone
    for place in snapshot.positions(kind).tolist():
        if holding and holding not in snapshot.body(place):
            continue
        if place in cut:
            yield snapshot.entry(place, kind).resource()
            continue
        found = kept.get(place)
        if found is None:
            found = kept[place] = snapshot.entry(place, kind).resource()
        yield found
