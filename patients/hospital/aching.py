"""Pain: what the patient scores stands in the vital signs too."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from decimal import Decimal

from wardround.patients.knowledge.bedside import lab_profiles
from wardround.patients.times import Instant

from .life import Sign
from .making import HOUR, Making
from .physiology import Shift

_PAIN = "pain_score"
_EASES_H = 20


def ache(making: Making, illnesses: Collection[str], signs: Sequence[Sign], at: Instant) -> None:
    """Let the worst pain of some illnesses stand in the pain score until they turn.

    Args:
        making: The life.
        illnesses: Ids of what is treated now.
        signs: Of the encounter.
        at: Arrival.
    """
    scored = [sign for sign in signs if sign.score is not None and sign.owners and sign.owners[0][0] in illnesses]
    if not scored or _PAIN not in lab_profiles():
        return
    worst = max(scored, key=lambda sign: (sign.score or 0, sign.id))
    lacking = Decimal(worst.score or 0) - (making.body.value(_PAIN, at) or Decimal(0))
    if lacking > 0:
        shift = Shift(_PAIN, worst.owners[0][0], "add", lacking, worst.onset, worst.onset + HOUR, half_life_h=_EASES_H)
        making.body.add(shift)
