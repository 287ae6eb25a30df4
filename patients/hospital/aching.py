"""Pain: what the patient scores stands in the vital signs too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from wardround.patients.knowledge.bedside import lab_profiles
from wardround.patients.times import Instant

from .generation import rules
from .life import Sign, Treated
from .making import HOUR, Making, between
from .physiology import Shift
from .plausible import word_of

_PAIN = "pain_score"
_COMING_H = 6
"""What is charted for so long after the first score is the pain that the patient came with."""
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


def agree(making: Making) -> None:
    """Let what hurt most at its worst not have hurt less than was charted when the patient came.

    Other illnesses hurt as well and add to the score; what an operation adds is told as that of the operation.
    """
    tops = {one.id: one.part_of or one.id for one in making.stays.values()}
    charted: dict[str, list[tuple[Instant, int]]] = {}
    for one in making.results:
        if one.lab == _PAIN and one.text.isdigit() and one.encounter in tops:
            charted.setdefault(_top(tops, one.encounter), []).append((one.at, int(one.text)))
    cut = [done.end for done in making.treated if done.procedure in rules().soreness.procedures and done.end]
    for top, scores in charted.items():
        begin = min(at for at, _ in scores)
        worst = max(n for at, n in scores
                    if at <= begin + _COMING_H * HOUR and not any(begin <= end <= at for end in cut))  # fmt: skip
        signs = [n for n, one in enumerate(making.signs)
                 if one.present and one.score and _top(tops, one.encounter) == top]  # fmt: skip
        if not signs:
            continue
        most = max(signs, key=lambda n: (making.signs[n].score or 0, -int(making.signs[n].id[1:])))
        sign = making.signs[most]
        if worst > (sign.score or 0):
            words = making.stream("worst pain", sign.id).choice(rules().severity_words[word_of(worst)]).pair()
            making.signs[most] = replace(sign, score=worst, attributes={**sign.attributes, "severity": words})


def _top(tops: dict[str, str], encounter: str) -> str:
    """Return the encounter that one belongs to with all its parts."""
    while tops.get(encounter, encounter) != encounter:
        encounter = tops[encounter]
    return encounter
