"""What was measured: the latest value and the series of each lab and vital sign of one stay, where unambiguous."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, Literal

from wardround.patients import Instant, Measurement, Snapshot, knowledge
from wardround.patients.knowledge import Lab, Names

from .common import common
from .observed import observed

Level = Literal["high", "low", "normal"]
_NO_UNIT: Final = frozenset({"unit", "units"})
"""How charts write that a number has no unit (pH)."""
_Found = dict[str, list[tuple[Measurement, bool]]]
"""Concept → measurements, each with whether it belongs to the stay or one of its parts."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One measured value at one instant."""

    lab: str
    """Concept id."""
    name: str
    """Plain English name, as in "creatinine", "INR"."""
    value: Decimal
    text: str
    """The value as the chart writes it."""
    unit: str
    at: Instant
    level: Level | None
    """Against the chart's own range; None where the chart gives none."""
    keys: tuple[str, ...]
    """Every resource that holds just this value at this instant."""
    zh: str = ""
    """Plain Chinese name."""
    target: tuple[Decimal, Decimal] | None = field(default=None, compare=False)
    """Range aimed at, in its unit, of a lab that a drug ordered now is dosed by (INR on warfarin); else None."""

    @property
    def against_target(self) -> Level | None:
        """How it reads against the range aimed at, the bounds being in it; None where nothing is aimed at."""
        if self.target is None:
            return None
        low, high = self.target
        return "low" if self.value < low else "high" if self.value > high else "normal"

    @property
    def names(self) -> Names:
        """Its plain names in both languages."""
        return Names(en=self.name, zh=self.zh or None)

    @property
    def number(self) -> int | float:
        """The value as JSON writes it."""
        return int(self.value) if self.value == self.value.to_integral_value() else float(self.value)

    @property
    def quantity(self) -> str:
        """Value with unit, as an answer says it."""
        close = self.unit.startswith(("%", "/"))
        return f"{self.text}{self.unit}" if close else f"{self.text} {self.unit}".strip()


@dataclass(frozen=True)
class Measured:
    """Labs and vital signs of one stay."""

    latest: dict[str, Reading]
    series: dict[str, tuple[Reading, ...]]
    vitals: dict[str, Reading]
    begun: dict[str, int]


def read_measured(
    snapshot: Snapshot,
    encounter: str,
    short: Mapping[str, tuple[str, ...]],
    left_out: Counter[str],
    flawed: frozenset[str],
) -> Measured:
    """Read what was measured in one stay, the emergency department and ICU stays that are part of it included.

    Args:
        snapshot: The chart at the anchor.
        encounter: Id of the stay.
        short: Concept → what it is called on rounds in English, the usual name first; others keep their full name.
        left_out: Counts what is ambiguous, by reason.
        flawed: Keys of results known to be charted wrongly: what has one of them in this stay is left out.
    """
    # A search by the stay finds its parts' results too, so a series without them would not be the one agents see.
    stays = set(snapshot.encounters_of(encounter))
    found: _Found = {}
    itself: set[str] = set()
    labs = knowledge.labs()
    for one in observed(snapshot):
        here = one.encounter in stays
        if one.encounter == encounter:
            itself.add(one.key)
        for measured in one.measurements:
            known = labs.get(measured.concept)
            if known is not None and known.kind != "lab" and not one.sign:
                # A blood gas states the temperature it was worked out for; nobody means that by "the temperature".
                left_out["vital sign that is charted as a laboratory's"] += 1
                continue
            found.setdefault(measured.concept, []).append((measured, here))
    taken = Measured({}, {}, {}, {})
    for concept in sorted(found):
        known = knowledge.labs().get(concept)
        if known is None:
            left_out["measurement that is no lab of the knowledge base"] += len(found[concept])
            continue
        name = short[concept][0] if short.get(concept) else casual(known.name.en)
        usual = common().casual.get(concept)
        zh = (usual[0].zh if usual else None) or known.name.zh or ""
        _add(taken, known, Names(en=name, zh=zh or None), found[concept], left_out, flawed)
    for lab, series in taken.series.items():
        taken.begun[lab] = next((place for place, one in enumerate(series) if itself.issuperset(one.keys)), 0)
    return taken


def _add(
    taken: Measured,
    known: Lab,
    names: Names,
    found: list[tuple[Measurement, bool]],
    left_out: Counter[str],
    flawed: frozenset[str],
) -> None:
    """Add a lab's latest value and series, or a vital sign's latest value, or count why there is none."""
    is_lab = known.kind == "lab"
    readings, clash = _timeline(known.id, names, [one for one, _ in found])
    mine = {one.key for one, here in found if here}
    if (reason := _unfit(readings, clash, mine, found, flawed)) is not None:
        left_out[reason.format(what="lab" if is_lab else "vital sign")] += 1
    elif not is_lab:
        taken.vitals[known.id] = readings[-1]
    elif readings[-1].level is None:
        left_out["latest value without a reference range"] += 1
    else:
        taken.latest[known.id] = readings[-1]
        own = tuple(one for one in readings if mine.issuperset(one.keys))
        if not any(one.at in clash for one in own) and len({one.unit for one in own}) == 1:
            taken.series[known.id] = own


def _unfit(
    readings: list[Reading],
    clash: set[Instant],
    mine: set[str],
    found: list[tuple[Measurement, bool]],
    flawed: frozenset[str],
) -> str | None:
    """Return why there is no one latest value of this stay; `{what}` stands for lab or vital sign."""
    if not readings:
        return "{what} without a numeric value"
    if any(one.key in flawed for one, here in found if here or one.key in readings[-1].keys):
        return "{what} with a value that is charted wrongly"
    if max(clash, default=readings[0].at - 1) >= readings[-1].at:
        return "latest value is a tie"
    if not mine.issuperset(readings[-1].keys):
        return "latest value is of another encounter"
    return None


def _timeline(concept: str, names: Names, measured: list[Measurement]) -> tuple[list[Reading], set[Instant]]:
    """Return one reading an instant, oldest first, and the instants that hold different values."""
    grouped: dict[Instant, list[Measurement]] = {}
    clash: set[Instant] = set()
    for one in measured:
        if one.instant is None:
            continue
        if one.value is None:
            # A worded or bounded result ("<0.5", "hemolyzed") at the end of the line would be the true latest.
            clash.add(one.instant)
        grouped.setdefault(one.instant, []).append(one)
    readings = []
    for at in sorted(grouped):
        group = sorted(grouped[at], key=lambda one: one.key)
        if len({(one.value, one.unit) for one in group}) > 1:
            clash.add(at)
        numeric = [one for one in group if one.value is not None]
        if numeric:
            readings.append(_reading(concept, names, numeric, at))
    return readings, clash


def _reading(concept: str, names: Names, group: list[Measurement], at: Instant) -> Reading:
    first = group[0]
    assert first.value is not None
    return Reading(
        lab=concept,
        name=names.en,
        value=first.value,
        text=first.text,
        unit="" if not knowledge.labs()[concept].unit and first.unit in _NO_UNIT else first.unit or "",
        at=at,
        level=_level(first),
        keys=tuple(one.key for one in group),
        zh=names.zh or "",
    )


def _level(measured: Measurement) -> Level | None:
    low, high, value = measured.low, measured.high, measured.value
    if value is None or (low is None and high is None):
        return None
    if low is not None and value < low:
        return "low"
    if high is not None and value > high:
        return "high"
    return "normal"


def casual(name: str) -> str:
    """Lower-case a name but for single letters and words in capitals or with digits ("free T4", "vitamin D")."""
    return " ".join(word if _kept(word) else word.lower() for word in name.split(" "))


def _kept(word: str) -> bool:
    return len(word) == 1 or any(char.isupper() or char.isdigit() for char in word[1:])
