"""What home drugs do to a patient who goes on taking them, and what they do not: told when asked, charted nowhere.

Only effects that a rule of the knowledge base says what to do about (`side_effects.json`), and only what nothing else
of the encounter speaks of, neither the patient nor the examination.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from wardround.patients.knowledge import lexicon
from wardround.patients.knowledge.bedside import drug_profiles, finding_profiles
from wardround.patients.knowledge.bedside_models import AdverseEffect
from wardround.patients.knowledge.side_effects import side_effects_of
from wardround.patients.rng import Stream

from .life import Adherence, Life, Stay
from .phrasing import limit

_TAKEN = frozenset({"taking", "missed_doses", "reduced"})
_PRESENT, _ABSENT = 65, 45
"""Of a hundred encounters with such a drug, in how many the patient has an effect, and in how many one is denied."""
_ACTING = 4
"""How much likelier an effect is told that asks for something."""
_SOONER = 70
"""In how many of a hundred draws the drug is one that has such an effect, if there is any."""
_OVER = ("那阵子", "那段时间", "那会儿", "那几天")
"""Words of what a drug did before it was stopped."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One effect of one drug."""

    id: str
    drug: str
    finding: str
    present: bool
    place: int
    """Of the sentence that tells it among those of the drug's profile; 0 where it is denied."""


def effects(
    life: Life, root: Stay, age: int, adherence: Iterable[Adherence], spoken: frozenset[str]
) -> tuple[Effect, ...]:
    """Return at most one effect that is there and one that is not.

    Args:
        life: Whose.
        root: The encounter.
        age: Of the patient, years.
        adherence: How each home drug is taken.
        spoken: Findings that the encounter speaks of in any way.
    """
    if age < limit("age_habits"):
        return ()
    stream = Stream("hospital", life.seed, life.index, "interview", root.id, "effects")
    open_ = [one for one in _possible(life, adherence) if not any(_near(one[1].finding, other) for other in spoken)]
    there, denied = stream.below(100) < _PRESENT, stream.below(100) < _ABSENT
    found = []
    present = [one for one in open_ if _places(one[1])]
    if there and present:
        drug, effect = _drawn(stream, present)
        found.append(Effect("fx1", drug, effect.finding, True, stream.choice(_places(effect))))
        open_ = [one for one in open_ if not _near(one[1].finding, effect.finding)]
    deniable = [one for one in open_ if _deniable(one[1].finding)]
    if denied and deniable:
        drug, effect = _drawn(stream, deniable)
        found.append(Effect("fx2", drug, effect.finding, False, 0))
    return tuple(found)


def _possible(life: Life, adherence: Iterable[Adherence]) -> Iterator[tuple[str, AdverseEffect]]:
    for one in adherence:
        if one.state not in _TAKEN:
            continue
        known = {finding for rule in side_effects_of(one.drug) for finding in rule.findings}
        for effect in drug_profiles()[one.drug].adverse:
            fits = effect.sex is None or effect.sex == life.person.sex
            if fits and effect.finding in known and effect.finding in finding_profiles():
                yield one.drug, effect


def _drawn(stream: Stream, options: list[tuple[str, AdverseEffect]]) -> tuple[str, AdverseEffect]:
    """Draw a drug, then one of its effects, the commoner the likelier, and sooner one that asks for something."""
    drugs = list(dict.fromkeys(drug for drug, _ in options))
    acting = [one for one in drugs if any(_acts(drug, effect.finding) for drug, effect in options if drug == one)]
    chosen = stream.choice(acting if acting and stream.below(100) < _SOONER else drugs)
    options = [one for one in options if one[0] == chosen]
    weights = [max(1, effect.percent) * (_ACTING if _acts(drug, effect.finding) else 1) for drug, effect in options]
    at = stream.below(sum(weights))
    for option, weight in zip(options, weights, strict=True):
        at -= weight
        if at < 0:
            return option
    return options[-1]


def _acts(drug: str, finding: str) -> bool:
    """Tell whether the effect by itself asks for another dose or drug."""
    mine = (rule for rule in side_effects_of(drug) if finding in rule.findings)
    return any(rule.act != "continue" and rule.lab is None for rule in mine)


def _near(one: str, other: str) -> bool:
    """Tell whether one finding says the same as the other, or more or less of it."""
    words = lexicon()
    return one == other or words.is_a(one, other) or words.is_a(other, one)


def _places(effect: AdverseEffect) -> list[int]:
    """Return the sentences of an effect that fit somebody who still takes the drug."""
    return [n for n, text in enumerate(effect.say.zh) if not any(one in text for one in _OVER)]


def _deniable(finding: str) -> bool:
    lay = finding_profiles()[finding].lay
    return lay is not None and bool(lay.deny.en)
