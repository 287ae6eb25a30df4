"""Low haemoglobin in a stay: it comes over days, and somebody names it."""

from __future__ import annotations

from decimal import Decimal
from functools import cache

from wardround.patients.hospital.life import Life, Result, Stay
from wardround.patients.hospital.living import make_life
from wardround.patients.knowledge.bedside import condition_profiles


@cache
def lives() -> tuple[Life, ...]:
    return tuple(make_life(9, index) for index in range(40))


def counts(life: Life, stay: Stay) -> list[Result]:
    parts = {stay.id, *(one.id for one in life.stays if one.part_of == stay.id)}
    found = [one for one in life.results if one.lab == "hemoglobin" and one.encounter in parts]
    return sorted(found, key=lambda one: one.at)


def explained(life: Life, stay: Stay) -> bool:
    """Whether a diagnosis of the stay is an anaemia or takes haemoglobin by itself."""
    for one in life.illnesses:
        if one.id not in stay.diagnoses:
            continue
        effects = condition_profiles()[one.condition].effects
        if any(effect.lab == "hemoglobin" and effect.band(one.severity)[0] < -1 for effect in effects):
            return True
    return False


def test_nobody_leaves_with_a_low_count_that_no_one_has_named() -> None:
    low = 0
    for life in lives():
        for stay in life.stays:
            values = [Decimal(one.text) for one in counts(life, stay)] if stay.kind == "ward" else []
            if values and min(values[:-1], default=Decimal(15)) < 10:  # the last may come back too late
                low += 1
                assert explained(life, stay), (life.patient_id, stay.id, values)
    assert low > 10


def test_it_is_known_after_the_count_and_its_count_stands_for_it() -> None:
    named = 0
    for life in lives():
        for one in life.illnesses:
            if one.condition != "anemia" or one.encounter is None:
                continue
            named += 1
            own = [result for result in life.results if result.lab == "hemoglobin" and one.id in result.causes]
            assert own
            assert min(result.known_at for result in own if Decimal(result.text) < 10) < one.known_at
    assert named > 3


def test_nobody_has_it_twice() -> None:
    for life in lives():
        assert sum(one.condition == "anemia" for one in life.illnesses) <= 1


def test_the_count_falls_over_the_days() -> None:
    falls = rises = 0
    for life in lives():
        for stay in life.stays:
            values = [Decimal(one.text) for one in counts(life, stay)] if stay.kind == "ward" else []
            if len(values) >= 3:
                falls += values[2] < values[0]
                rises += values[2] > values[0]
    assert falls > 2 * rises
