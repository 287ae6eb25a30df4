"""What a history item rests on: it is there just where the facts of the life bear it out."""

from __future__ import annotations

from wardround.patients.times import DAY, Instant

from .generation import rules
from .generation_rules import Ground
from .making import Making
from .situating import is_a


def borne_out(making: Making, finding: str, at: Instant) -> bool | None:
    """Tell whether the facts of a life bear a history item out as of an instant.

    Returns:
        None where the item rests on nothing that the life tells: chance decides.
    """
    ground = rules().grounds.get(finding)
    if ground is None:
        return None
    return (
        _ill(making, ground, at) or _done(making, ground, at) or _family(making, ground) or _lately(making, ground, at)
    )


def contradicted(making: Making, finding: str) -> bool:
    """Tell whether a habit contradicts one that the patient was found to have."""
    return any(
        finding in group and any(other in making.habits for other in group if other != finding)
        for group in rules().either
    )


def _ill(making: Making, ground: Ground, at: Instant) -> bool:
    return any(
        one.condition in ground.conditions and one.known_at < at - ground.before_days * DAY
        for one in making.illnesses.values()
    )


def _done(making: Making, ground: Ground, at: Instant) -> bool:
    return any(
        (one.procedure in ground.procedures or one.title in ground.titles) and one.at < at for one in making.treated
    )


def _family(making: Making, ground: Ground) -> bool:
    return any(one.condition in ground.relatives for one in making.relatives)


def _lately(making: Making, ground: Ground, at: Instant) -> bool:
    """Tell whether a vaccine, a stay, a drug or a lapse of the last so many days bears it out."""
    since = at - ground.within_days * DAY
    if any(one.vaccine in ground.vaccines and since <= one.at < at for one in making.vaccines):
        return True
    if ground.stayed and any(one.kind == "ward" and since <= one.end < at for one in making.stays.values()):
        return True
    if any(
        is_a(one.drug, ground.drugs) and one.start < at and (one.stop is None or one.stop > since)
        for one in making.orders.values()
    ):
        return True
    return ground.lapsed and any(
        one.state not in ("taking", "unsure") and one.charted and one.encounter == making.encounter
        for one in making.adherence
    )
