"""Every check of `hospital_coherence` can fail: lives with one thing put wrong are caught."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
from hospital_coherence import incoherences

from wardround.patients.hospital.life import Life, Result
from wardround.patients.hospital.living import make_life
from wardround.patients.times import DAY, parse_instant


@cache
def _sound() -> Life:
    """Return an adult's life with home drugs, a ward stay and a study."""
    for index in range(60):
        life = make_life(11, index)
        long = [one for one in life.prescriptions if one.kind == "home" and one.stop is None]
        if long and life.studies and life.person.died is None and life.adherence and life.doses and life.cultures:
            return life
    raise AssertionError("none of sixty lives has all that is wanted")


def _result(life: Life, lab: str) -> Result:
    return next(one for one in life.results if one.lab == lab)


def _with(life: Life, old: Result, **changed: str) -> Life:
    new = replace(old, **changed)  # type: ignore[arg-type] # texts only
    return replace(life, results=tuple(new if one.id == old.id else one for one in life.results))


def _twice(life: Life) -> Life:
    return replace(life, signs=(*life.signs, life.signs[0]))


def _dangling(life: Life) -> Life:
    return replace(life, events=(replace(life.events[0], facts=("d999",)), *life.events[1:]))


def _early(life: Life) -> Life:
    first = replace(life.results[0], known_at=life.results[0].at - DAY)
    return replace(life, results=(first, *life.results[1:]))


def _posthumous(life: Life) -> Life:
    return replace(life, person=replace(life.person, died=life.stays[0].end))


def _unborn(life: Life) -> Life:
    return replace(life, person=replace(life.person, birth_date="2026-01-01"))


def _wrong_egfr(life: Life) -> Life:
    return _with(life, _result(life, "egfr"), text="3")


def _wrong_hematocrit(life: Life) -> Life:
    return _with(life, _result(life, "hematocrit"), text="80.0")


def _wrong_gap(life: Life) -> Life:
    return _with(life, _result(life, "anion_gap"), text="55")


def _doubled(life: Life) -> Life:
    order = next(one for one in life.prescriptions if one.kind == "home" and one.stop is None)
    return replace(life, prescriptions=(*life.prescriptions, replace(order, id="rx900")))


def _huge(life: Life) -> Life:
    order = next(one for one in life.prescriptions if one.dose.endswith(" mg"))
    rest = [one for one in life.prescriptions if one.id != order.id]
    return replace(life, prescriptions=(replace(order, dose="90000 mg"), *rest))


def _overlapping(life: Life) -> Life:
    top = [one for one in life.stays if one.part_of is None]
    moved = replace(top[0], end=top[1].start + DAY)
    return replace(life, stays=tuple(moved if one.id == moved.id else one for one in life.stays))


def _unprincipled(life: Life) -> Life:
    stay = next(one for one in life.stays if len(one.diagnoses) > 1)
    turned = replace(stay, diagnoses=tuple(reversed(stay.diagnoses)))
    return replace(life, stays=tuple(turned if one.id == turned.id else one for one in life.stays))


def _contradicted(life: Life) -> Life:
    sign = next(one for one in life.signs if one.present)
    return replace(life, signs=(*life.signs, replace(sign, id="s900", present=False)))


def _misnamed(life: Life) -> Life:
    return replace(life, adherence=(replace(life.adherence[0], drug="digoxin"), *life.adherence[1:]))


def _late_dose(life: Life) -> Life:
    over = {one.id for one in life.prescriptions if one.stop is not None}
    late = next(one for one in life.doses if one.prescription in over)
    rest = [one for one in life.doses if one is not late]
    return replace(life, doses=(replace(late, at=parse_instant("2035-01-01")), *rest))


def _disordered(life: Life) -> Life:
    grown = replace(life.cultures[0], stages=tuple(reversed(life.cultures[0].stages)))
    return replace(life, cultures=(grown, *life.cultures[1:]))


def _at_once(life: Life) -> Life:
    illness = next(one for one in life.illnesses if one.resolved is None)
    return replace(life, illnesses=(*life.illnesses, replace(illness, id="d900")))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (_twice, "told 2 times"), (_dangling, "is no fact"), (_early, "before it was drawn"),
        (_posthumous, "after death"), (_unborn, "before birth"), (_wrong_egfr, "eGFR 3"),
        (_wrong_hematocrit, "hematocrit 80.0"), (_wrong_gap, "anion gap 55"), (_doubled, "2 active orders"),
        (_huge, "90000 mg"), (_overlapping, "begins before"), (_unprincipled, "not first"),
        (_contradicted, "is there"), (_misnamed, "is not the drug"), (_late_dose, "outside its order"),
        (_disordered, "stages out of order"), (_at_once, "twice at a time"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found(wrong: Callable[[Life], Life], words: str) -> None:
    assert incoherences(_sound()) == []
    assert any(words in one for one in incoherences(wrong(_sound())))
