"""Pain: what the patient scores stands in the vital signs too."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from wardround.patients.knowledge.bedside import lab_profiles
from wardround.patients.times import Instant

from .generation import rules
from .life import Sign, Treated
from .making import HOUR, Making, between
from .physiology import Shift

_PAIN = "pain_score"
_LASTS_H = 8
_EASES_H = 18
"""It is treated soon, whatever becomes of the illness: after so long half of the rest is gone each so many hours."""


def ache(making: Making, signs: Sequence[Sign], at: Instant) -> None:
    """Let the worst pain of an encounter stand in the pain score.

    Args:
        making: The life.
        signs: Of the encounter.
        at: Arrival.
    """
    scored = [sign for sign in signs if sign.score and sign.present]
    if not scored or _PAIN not in lab_profiles():
        return
    worst = max(scored, key=lambda sign: (sign.score or 0, -int(sign.id[1:])))
    score, already = Decimal(worst.score or 0), making.body.value(_PAIN, at) or Decimal(0)
    if already >= score:
        return
    cause = worst.owners[0][0] if worst.owners else worst.id
    begin = min(worst.onset, at - HOUR)
    making.body.add(
        Shift(_PAIN, cause, "add", score - already / 2, begin, begin + HOUR, at + _LASTS_H * HOUR, _EASES_H)
    )


def sore(making: Making, done: Treated) -> None:
    """Let an operation hurt once it is over.

    Args:
        making: The life.
        done: The procedure.
    """
    rule = rules().soreness
    if done.procedure not in rule.procedures or done.end is None or _PAIN not in lab_profiles():
        return
    size = Decimal(between(making.stream("sore", done.id), *rule.score))
    begin = done.end
    making.body.add(
        Shift(_PAIN, done.id, "add", size, begin, begin + 2 * HOUR, begin + rule.lasts_h * HOUR, rule.eases_h)
    )


def ease(making: Making, done: Treated) -> None:
    """Let a procedure take away what it was done against (pain, once the artery is open).

    Args:
        making: The life.
        done: The procedure.
    """
    rule = rules().eases.get(done.procedure)
    if rule is None or rule.lab not in lab_profiles():
        return
    begin, end = done.at, done.end or done.at
    turn = end + rule.lasts_hours * HOUR
    making.body.add(Shift(rule.lab, done.id, "times", rule.to, begin, end + HOUR // 2, turn, 24))
