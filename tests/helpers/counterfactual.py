"""The same case with one result of the chart changed: what would have been right then."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any

import orjson

from wardround.patients import Chart, ChartStore, Entry, Snapshot, Stream, parse_instant
from wardround.sessions import Session
from wardround.sessions.moves.move import Case
from wardround.sessions.planning.case import TYPES, flawed_of, make_case
from wardround.sessions.record import view_record


def _number(text: str) -> int | float:
    """Return a value as JSON has it, whole where it is."""
    return float(text) if "." in text else int(text)


class _Entry:
    """An entry whose resource says something else."""

    def __init__(self, entry: Entry, resource: dict[str, Any]) -> None:
        self._entry, self._resource = entry, resource

    def __getattr__(self, name: str) -> Any:
        return getattr(self._entry, name)

    def resource(self) -> dict[str, Any]:
        return self._resource


class _Other:
    """A chart of another content, so that nothing that is kept of the real one is taken for it."""

    def __init__(self, chart: Chart, mark: str) -> None:
        self._chart = chart
        self.hash = f"{chart.hash} but {mark}"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._chart, name)


class Edited:
    """A snapshot in which the number of some observations is another."""

    def __init__(self, snapshot: Snapshot, keys: frozenset[str], to: str) -> None:
        self._snapshot, self._keys, self._to = snapshot, keys, to
        self.chart = _Other(snapshot.chart, f"{sorted(keys)} {to}")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._snapshot, name)

    def resources(self, kind: str) -> Iterator[dict[str, Any]]:
        for resource in self._snapshot.resources(kind):
            yield self._changed(resource) if f"{kind}/{resource['id']}" in self._keys else resource

    def read(self, kind: str, name: str) -> Any:
        entry = self._snapshot.read(kind, name)
        if entry is None or f"{kind}/{name}" not in self._keys:
            return entry
        return _Entry(entry, self._changed(entry.resource()))

    def entry(self, place: int, kind: str) -> Any:
        entry = self._snapshot.entry(place, kind)
        return _Entry(entry, self._changed(entry.resource())) if entry.key in self._keys else entry

    def body(self, place: int) -> bytes:
        entry = self._snapshot.entry(place, "Observation")
        return (
            orjson.dumps(self._changed(entry.resource()), default=str)
            if entry.key in self._keys
            else self._snapshot.body(place)
        )

    def _changed(self, resource: dict[str, Any]) -> dict[str, Any]:
        changed = deepcopy(resource)
        quantity = changed["valueQuantity"]
        quantity["value"] = _number(self._to)
        return changed


def case_of(session: Session, store: ChartStore, *, edited: bool) -> Case:
    """Return the case that a session was made from, with the value that it hinges on changed or not."""
    assert session.encounter is not None
    patient, instant = session.chart.patient, parse_instant(session.anchor)
    stream = Stream("case", session.provenance.seed, patient, session.encounter, instant)
    case = make_case(store, patient, session.encounter, instant, session.scenario, stream)
    assert case.interview == session.interview
    if not edited:
        return case
    keys = frozenset(session.labels["hinge_keys"].split())
    snapshot: Any = Edited(case.snapshot, keys, session.labels["hinge_to"])
    short = {concept: tuple(name.en for name in names) for concept, names in case.common.casual.items()}
    view = view_record(snapshot, session.encounter, TYPES, short, flawed_of(store, patient))
    return replace(case, snapshot=snapshot, view=view, _memo={})
