"""What the stages of charting share: the builder, the facts by id, the traces, and words that charts use."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

import orjson

from wardround.patients.builder import ChartBuilder
from wardround.patients.errors import DataError
from wardround.patients.importers._templates import Make, Shelf, Values
from wardround.patients.resource import ALWAYS, Resource, instant_text
from wardround.patients.slotted import Sheaf
from wardround.patients.times import Instant

from .documents import read_document
from .provenance import Trace
from .record import Record

LICENCE = "CC0-1.0"

moment = lru_cache(maxsize=1 << 13)(instant_text)
"""`instant_text`, remembered: what is drawn together shares its times."""


@cache
def chart_words() -> Mapping[str, Any]:
    """Return the words and codes of `data/charting.json`."""
    found: Mapping[str, Any] = orjson.loads(read_document("charting.json"))
    return found


class HospitalBuilder(ChartBuilder):
    """A `ChartBuilder` whose last resource can be looked at, for what it has no argument for."""

    @property
    def last(self) -> Resource:
        """The resource that was added last."""
        return self._resources[-1][0]

    def begin(self, kind: str, identity: str, encounter: str | None = None) -> Resource:
        """Return a resource of any type with id, subject and encounter; `add` adds it."""
        return self._new(kind, "", identity, encounter)


class Desk:
    """One record on its way into a chart.

    Args:
        record: What is charted.
        swift: Whether like resources may go into sheaves.
    """

    def __init__(self, record: Record, *, swift: bool) -> None:
        self.record, self.life, self.swift = record, record.life, swift
        person = self.life.person
        self.builder = HospitalBuilder(
            self.life.patient_id, sex=person.sex, birth_date=person.birth_date, name=person.name,
            language=person.language, marital_status=person.marital, race=person.race, deceased=person.died,
            licence=LICENCE,
        )  # fmt: skip
        self.traces: list[Trace] = [Trace(f"Patient/{self.life.patient_id}", ("person",))]
        self.sheaves: list[Sheaf] = []
        self.stays = {stay.id: stay for stay in self.life.stays}
        self.orders = {order.id: order for order in self.life.prescriptions}

    def name(self, fact: str) -> str:
        """Return the resource id of a fact."""
        return f"{self.life.patient_id}-{fact}"

    def stay(self, encounter: str | None) -> str | None:
        """Return the Encounter id of a stay.

        Raises:
            DataError: The life has no such stay.
        """
        if encounter is None:
            return None
        if encounter not in self.stays:
            raise DataError(f"{self.life.patient_id}: a fact names the stay `{encounter}`, which the life has not")
        return self.name(encounter)

    def begun(self, encounter: str | None) -> Instant:
        """Return when a stay is known: its start."""
        return ALWAYS if encounter is None else self.stays[encounter].start

    def trace(self, kind: str, identity: str, facts: Iterable[str]) -> None:
        """Note what a resource rests on."""
        self.traces.append(Trace(f"{kind}/{identity}", tuple(facts)))

    def add(self, resource: Resource, known: Instant, facts: Iterable[str]) -> None:
        """Add a resource of our own making, with its trace."""
        self.builder.add(resource, known)
        self.trace(resource["resourceType"], resource["id"], facts)


class Made(NamedTuple):
    """A resource of which there are many alike (`importers/_templates.py` says what shapes and slots are)."""

    shape: Hashable
    make: Make
    values: Values
    known: Instant
    dated: Instant
    encounter: str | None
    number: str | None = None
    """Stands in for the number in a template; None where there is no number."""
    refers: Instant = ALWAYS
    """When what it refers to was known: before that a resource has another form, which no template makes."""


def place(desk: Desk, shelf: Shelf, sheaf: Sheaf, made: Made) -> None:
    """Add a resource: to the sheaf where a template of its shape is ready, else the long way."""
    if desk.swift and made.refers <= made.known:
        template = shelf.ready.get(made.shape)
        if template is not None:
            slots = (
                *(b"" if value is None else value.encode() for value in made.values),
                moment(made.known).encode(),
            )
            sheaf.rows.append((template, made.known, made.dated, made.encounter, len(sheaf.rows), slots))
            return
        shelf.learn(made.shape, made.make, made.values, made.known, made.number)
    desk.builder.add(made.make(made.values), made.known)
