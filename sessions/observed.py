"""What a record's observations hold, read once: rounds of one patient share most of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from wardround.patients import Measurement, Resource, Snapshot, measurements

from .parsed import ByPlace

_SIGN: Final = "vital-signs"


@dataclass(frozen=True, slots=True)
class Observed:
    """One Observation."""

    key: str
    """`Observation/…`."""
    encounter: str | None
    """Id of the encounter it belongs to."""
    sign: bool
    """It is charted as a vital sign."""
    measurements: tuple[Measurement, ...]


_KEPT: Final = ByPlace[Observed]()


def observed(snapshot: Snapshot) -> tuple[Observed, ...]:
    """Return the observations known at a snapshot's instant, newest first."""
    kept, found = _KEPT.of(snapshot.chart), []
    for place in snapshot.positions("Observation").tolist():
        one = kept.get(place)
        if one is None:
            one = kept[place] = _observed(snapshot.entry(place, "Observation").resource())
        found.append(one)
    return tuple(found)


def _observed(resource: Resource) -> Observed:
    reference = resource.get("encounter", {}).get("reference")
    codings = (coding for category in resource.get("category", ()) for coding in category.get("coding", ()))
    return Observed(
        f"Observation/{resource['id']}",
        None if reference is None else str(reference).rpartition("/")[2],
        any(coding.get("code") == _SIGN for coding in codings),
        measurements(resource),
    )
