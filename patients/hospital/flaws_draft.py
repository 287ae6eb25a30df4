"""A record while flaws are planted: its lists open, the places taken, and the chance of each place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import orjson

from wardround.patients.rng import Stream
from wardround.patients.times import Instant

from .charting_notes import section_ids
from .documents import read_document
from .life import Prescription, Result, Stay
from .record import Flaw, FlawKind, Note, NotePart, Record, Sentence


@cache
def flaw_data() -> Mapping[str, Any]:
    """Return what `data/flaws.json` says."""
    found: Mapping[str, Any] = orjson.loads(read_document("flaws.json"))
    return found


class Draft:
    """A record that takes flaws.

    Args:
        record: The clean record.
        rates: Kind → how many of 1000 places get one.
    """

    def __init__(self, record: Record, rates: Mapping[str, int]) -> None:
        self.record, self.life, self._rates = record, record.life, rates
        self.results: list[Result] = list(record.life.results)
        self.orders: list[Prescription] = list(record.life.prescriptions)
        self.notes: list[Note] = list(record.notes)
        self.flaws: list[Flaw] = list(record.flaws)
        self.eligible: dict[str, int] = dict.fromkeys(rates, 0)
        self.stays: dict[str, Stay] = {stay.id: stay for stay in record.life.stays}
        self._taken: set[str] = set()

    def stream(self, *key: str | int) -> Stream:
        """Return the random numbers of one place."""
        return Stream("hospital", self.life.seed, self.life.index, "flaw", *key)

    def wants(self, kind: FlawKind, detail: str, place: str) -> bool:
        """Count a place of a kind, and tell whether a flaw is planted there.

        A place that has one already is no place for another.
        """
        if place in self._taken:
            return False
        self.eligible[kind] += 1
        if not self.stream(kind, detail, place).chance(self._rates[kind], 1000):
            return False
        self._taken.add(place)
        return True

    def take(self, place: str) -> None:
        """Keep other flaws from a place."""
        self._taken.add(place)

    def key(self, kind: str, fact: str) -> str:
        """Return the resource key of a fact."""
        return f"{kind}/{self.life.patient_id}-{fact}"

    def add(
        self, kind: FlawKind, detail: str, *, at: Instant, encounter: str | None, facts: tuple[str, ...],
        places: tuple[str, ...], charted: str, right: str,
    ) -> None:  # fmt: skip
        """Note a flaw that was planted. `encounter` is the stay's id; the flaw carries the Encounter's."""
        stay = None if encounter is None else f"{self.life.patient_id}-{encounter}"
        number = f"f{len(self.flaws) + 1}"
        self.flaws.append(Flaw(number, kind, detail, at, stay, facts, places, charted, right))

    # ---- notes ----

    def section(self, note: Note, number: int) -> str:
        """Return the resource key of a section of a note."""
        return self.key("DocumentReference", section_ids(note)[number])

    def set_part(self, place: int, number: int, part: NotePart) -> None:
        """Put another section in place of one of a note."""
        note = self.notes[place]
        self.notes[place] = replace(note, parts=(*note.parts[:number], part, *note.parts[number + 1 :]))

    def set_sentence(self, place: int, number: int, line: int, text: str) -> None:
        """Write a sentence of a note otherwise; its facts stay."""
        part = self.notes[place].parts[number]
        said = part.sentences
        new = Sentence(text, said[line].facts)
        self.set_part(place, number, replace(part, sentences=(*said[:line], new, *said[line + 1 :])))

    def done(self) -> Record:
        """Return the record with its flaws."""
        life = replace(self.life, results=tuple(self.results), prescriptions=tuple(self.orders))
        return replace(self.record, life=life, notes=tuple(self.notes), flaws=tuple(self.flaws))
