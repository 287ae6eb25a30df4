"""Faults across the files of labs: profiles, couplings, panels, and what illnesses and drugs do to labs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import get_args

from .bedside import condition_profiles, couplings, drug_profiles, lab_profiles, panels
from .bedside_models import Baseline, LabProfile, ProfileRange
from .graph_models import LabEffect, Severity
from .loader import labs, lexicon

_SEXES = ("male", "female")
_OLDEST = 110


def lab_audit() -> list[str]:
    """Return every fault as a sentence that names the entry; none: the files fit together."""
    return [*_profiles(), *_couplings(), *_cycles(), *_panels(), *_effects()]


def _profiles() -> Iterator[str]:
    known = labs()
    for lab, profile in lab_profiles().items():
        concept = known.get(lab)
        if concept is None:
            yield f"lab_profiles.json: `{lab}` is no lab of labs.json"
            continue
        if profile.loinc is not None and profile.loinc not in concept.loinc:
            yield f"lab_profiles.json: `{lab}` has LOINC {profile.loinc}, which labs.json does not confirm"
        if (profile.category == "vital-signs") != (concept.kind == "vital"):
            yield f"lab_profiles.json: `{lab}` is {profile.category}, in labs.json a {concept.kind}"
        foreign = [word for word in (*profile.normal_text, *profile.abnormal_text) if word not in concept.text_values]
        if foreign and concept.text_values:
            yield f"lab_profiles.json: `{lab}` reports {foreign}, words that labs.json does not have"
        for name in profile.charted:
            found = lexicon().resolve(name, ("lab", "vital"))
            if found is None or found.id != lab:
                yield f"lab_profiles.json: the chart's `{name}` is not read as `{lab}`: add it to labs.json"
        yield from _own_faults(lab, profile)


def _own_faults(lab: str, profile: LabProfile) -> Iterator[str]:
    if not profile.baselines and profile.formula is None and profile.stands_for is None:
        yield f"lab_profiles.json: `{lab}` has neither baselines nor a formula, and stands for nothing"
    if profile.least is not None and profile.most is not None and profile.least >= profile.most:
        yield f"lab_profiles.json: `{lab}`: `least` is not below `most`"
    if profile.steps and (
        len(profile.steps) != len(profile.abnormal_text) or list(profile.steps) != sorted(profile.steps)
    ):
        yield f"lab_profiles.json: `{lab}`: give one rising step for each word of `abnormal_text`"
    stand = profile.stands_for
    if stand is not None:
        target = lab_profiles().get(stand.lab)
        if profile.baselines or target is None or not target.baselines:
            yield f"lab_profiles.json: `{lab}` stands for `{stand.lab}`: only computed labs do, for one with baselines"
    sexes = {row.sex for row in profile.baselines}
    for sex in _SEXES if None in sexes else sorted(sexes - {None}, key=str):
        rows = [row for row in profile.baselines if row.sex in (None, sex)]
        for age in range(_OLDEST) if rows else ():
            if not any(row.from_age <= age < row.below_age for row in rows) and (age >= 18 or None in sexes):
                yield f"lab_profiles.json: `{lab}` has no baseline for {sex} of {age}"
                break
    yield from _normal_is_normal(lab, profile)


def _normal_is_normal(lab: str, profile: LabProfile) -> Iterator[str]:
    """What is usual in health lies within the range that results carry."""
    if profile.normal_text:
        return
    for row in profile.baselines:
        for age in range(row.from_age, min(row.below_age, _OLDEST)):
            found = _range(profile.ranges, row, age)
            if found is None or not row.mean:
                continue
            if _outside(row.mean, found):
                yield f"lab_profiles.json: `{lab}`: usual {row.mean} at age {age} lies outside {found.low}-{found.high}"
                break


def _range(ranges: Iterable[ProfileRange], row: Baseline, age: int) -> ProfileRange | None:
    for one in ranges:
        if one.from_age <= age < one.below_age and (one.sex is None or row.sex is None or one.sex == row.sex):
            return one
    return None


def _outside(value: Decimal, one: ProfileRange) -> bool:
    return (one.low is not None and value < one.low) or (one.high is not None and value > one.high)


def _couplings() -> Iterator[str]:
    have = lab_profiles()
    for one in couplings().values():
        for lab in (one.lab, one.from_lab):
            if lab not in have or not have[lab].baselines:
                yield f"couplings.json: `{one.id}`: `{lab}` has no baselines in lab_profiles.json"
        if not one.id.startswith(f"{one.lab}<{one.from_lab}"):
            yield f"couplings.json: `{one.id}` should be `{one.lab}<{one.from_lab}`"
        if (one.above is None) == (one.below is None):
            yield f"couplings.json: `{one.id}`: give one of `above` and `below`"


def _cycles() -> Iterator[str]:
    """Values that read each other's outcome; what reads only own or metabolic ways ends there."""
    reads: dict[str, set[str]] = {}
    for one in couplings().values():
        if one.of in ("level", "move", "ratio"):
            reads.setdefault(one.lab, set()).add(one.from_lab)
    for start in sorted(reads):
        seen: set[str] = set()
        todo = sorted(reads[start])
        while todo:
            lab = todo.pop()
            if lab == start:
                yield f"couplings.json: `{start}` depends on itself"
                break
            if lab not in seen:
                seen.add(lab)
                todo.extend(sorted(reads.get(lab, ())))


def _panels() -> Iterator[str]:
    have = lab_profiles()
    for panel in panels().values():
        for lab in panel.labs:
            if lab not in have:
                yield f"panels.json: `{panel.id}` holds `{lab}`, which has no profile"
        if len(set(panel.labs)) != len(panel.labs):
            yield f"panels.json: `{panel.id}` holds a lab twice"
        if panel.id in have and panel.labs != (panel.id,):
            yield f"panels.json: `{panel.id}` is also a lab and holds others"


def _effects() -> Iterator[str]:
    for profile in condition_profiles().values():
        effects = (*profile.effects, *(one for order in profile.workup.procedures for one in order.effects))
        yield from _movable(f"condition `{profile.id}`", effects)
        yield from _of_nothing(f"condition `{profile.id}`", effects)
    for drug in drug_profiles().values():
        yield from _movable(f"drug `{drug.id}`", drug.effects)
        for one in drug.monitors:
            if one not in lab_profiles():
                yield f"drug `{drug.id}` is monitored by `{one}`, which has no profile"


def effect_faults(effect: LabEffect) -> Iterator[str]:
    """Yield what is wrong with the sizes of an effect, each as `.severity: what is wrong`."""
    for severity in get_args(Severity):
        least, greatest = effect.band(severity)
        if least > greatest:
            yield f".{severity}: {least} lies above {greatest}"
        if effect.mode == "times" and least <= 0:
            yield f".{severity}: a factor is above 0"


def _movable(who: str, effects: Iterable[LabEffect]) -> Iterator[str]:
    for effect in effects:
        profile = lab_profiles().get(effect.lab)
        if profile is None:
            yield f"{who} moves `{effect.lab}`, which has no profile"
            continue
        if not profile.baselines and profile.stands_for is None:
            yield f"{who} moves `{effect.lab}`, which is computed: move what it is computed from"


def _of_nothing(who: str, effects: Iterable[LabEffect]) -> Iterator[str]:
    """Drugs may lower what an illness brought; an illness that multiplies nothing does nothing."""
    for effect in effects:
        profile = lab_profiles().get(effect.lab)
        if effect.mode == "times" and profile and profile.baselines and not any(row.mean for row in profile.baselines):
            yield f"{who} multiplies `{effect.lab}`, which is 0 in health: use `add`"
