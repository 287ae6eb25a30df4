"""One body: shifts and their course, days, limits, and that nothing is drawn twice."""

from __future__ import annotations

import decimal
import subprocess
import sys
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.patients.errors import DataError
from wardround.patients.hospital.life import Pair, Person
from wardround.patients.hospital.making import HOUR
from wardround.patients.hospital.physiology import Body, Shift, labs_of
from wardround.patients.hospital.physiology_core import halved, share, softened
from wardround.patients.knowledge import lab_profiles, panels
from wardround.patients.times import DAY, parse_instant

NOON = parse_instant("2020-03-01T12:00:00")
WARD = ["bmp", "cbc_diff", "lfts", "coags", "vitals"]


def person(sex: str = "male", born: str = "1955-06-07", weight: str = "81.4", height: int = 176) -> Person:
    return Person(
        sex, born, "A B", "White", "English", "single", height, Decimal(weight), Pair("x", "x"),  # type: ignore[arg-type]
        "never", 0, "none", 0, "alone",
    )  # fmt: skip


def body(*shifts: Shift, key: int = 1, who: Person | None = None) -> Body:
    return Body(who or person(), ("hospital", 0, key, "body"), shifts)


def add(lab: str, size: str, *, cause: str = "d1", begin: int = NOON, peak: int | None = None, **more: object) -> Shift:
    return Shift(lab, cause, "add", Decimal(size), begin, begin if peak is None else peak, **more)  # type: ignore[arg-type]


def test_order_of_questions_never_matters() -> None:
    whole = body().panel(WARD, NOON)
    alone = body()
    for lab in reversed(list(whole)):
        alone.value(lab, NOON + 3 * DAY)
        assert alone.panel([lab], NOON)[lab] == whole[lab]


def test_shifts_may_come_in_any_order_and_late() -> None:
    one, two = add("sodium", "-9"), add("potassium", "1.1", cause="d2")
    late = body(two)
    late.panel(["bmp"], NOON)
    late.add(one)
    assert late.panel(["bmp"], NOON + DAY) == body(one, two).panel(["bmp"], NOON + DAY)


def test_people_and_days_differ() -> None:
    values = {body(key=key).value("sodium", NOON) for key in range(30)}
    assert len(values) == 30
    one = body()
    assert len({one.value("glucose", NOON + day * DAY) for day in range(30)}) == 30


def test_values_move_smoothly_from_one_day_to_the_next() -> None:
    one = body()
    values = [one.value("creatinine", NOON + hour * HOUR) for hour in range(96)]
    assert all(a is not None and b is not None and abs(a - b) < Decimal("0.02") for a, b in pairwise(values))
    assert len(set(values)) > 40


def test_the_course_of_a_shift() -> None:
    shift = add("crp", "200", peak=NOON + 40 * HOUR, turn=NOON + 60 * HOUR, half_life_h=20, stays=Decimal("0.1"))
    there = {hour: share(shift, NOON + hour * HOUR) for hour in (-1, 0, 20, 40, 60, 80, 100, 2000)}
    assert there == {
        -1: 0, 0: 0, 20: 500_000, 40: 1_000_000, 60: 1_000_000, 80: 550_000, 100: 325_000, 2000: 100_000,
    }  # fmt: skip


def test_recovery_before_the_peak_stops_the_rise() -> None:
    shift = add("crp", "200", peak=NOON + 40 * HOUR, turn=NOON + 20 * HOUR, half_life_h=10)
    assert [share(shift, NOON + hour * HOUR) for hour in (10, 20, 30, 40)] == [250_000, 500_000, 250_000, 125_000]
    assert share(add("crp", "200", turn=NOON - HOUR, half_life_h=10), NOON + HOUR) == 0


def test_no_half_life_stays_whole() -> None:
    assert share(add("crp", "50", turn=NOON + HOUR), NOON + 900 * DAY) == 1_000_000


def test_of_two_turns_the_earlier_holds() -> None:
    def sodium(*turns: int) -> Decimal | None:
        ill = body(add("sodium", "-12", half_life_h=10))
        for hour in turns:
            ill.turn("d1", NOON + hour * HOUR)
            ill.turn("d2", NOON)
        return ill.value("sodium", NOON + 40 * HOUR)

    assert sodium(30, 20) == sodium(20, 30) == sodium(20)
    none, late, early = sodium(), sodium(30), sodium(20)
    assert none is not None and late is not None and early is not None
    assert none < late < early


@given(st.integers(0, 5000), st.integers(1, 300))
def test_halving_is_two_to_the_minus(elapsed: int, half_life: int) -> None:
    assert abs(halved(elapsed, half_life) - 10**6 * 0.5 ** (elapsed / half_life)) < 40


@given(
    st.integers(-(10**9), 10**9), st.integers(-(10**8), 10**8), st.integers(1, 10**8), st.integers(1, 10**8),
)  # fmt: skip
def test_limits_bend_and_hold(value: int, centre: int, below: int, above: int) -> None:
    least, most = centre - below, centre + above
    bent = softened(value, centre, least, most)
    assert least <= bent <= most
    assert (bent - centre) * (value - centre) >= 0
    if abs(value - centre) < min(below, above) // 4:
        assert bent == value


def test_several_causes_do_not_run_away() -> None:
    shifts = [Shift("creatinine", f"d{n}", "times", Decimal(4), NOON, NOON) for n in range(6)]
    one, six = body(shifts[0]).value("creatinine", NOON + DAY), body(*shifts).value("creatinine", NOON + DAY)
    assert one is not None and six is not None
    assert one < six < 3 * one
    least = body(*[add("sodium", "-30", cause=f"d{n}") for n in range(6)]).panel(["sodium"], NOON + DAY)
    assert int(least["sodium"]) >= 110


def test_a_factor_bears_on_what_an_illness_adds() -> None:
    high, drug = add("ldl", "80"), Shift("ldl", "rx1", "times", Decimal("0.5"), NOON, NOON)
    before, after = body(high).value("ldl", NOON + DAY), body(high, drug).value("ldl", NOON + DAY)
    assert before is not None and after is not None
    assert after == pytest.approx(before / 2, abs=Decimal(3))


def test_failing_kidneys_do_not_multiply_what_a_bleed_adds() -> None:
    kidney, bleed = (
        Shift("urea_nitrogen", "d1", "times", Decimal(4), NOON, NOON),
        add("urea_nitrogen", "40", cause="d2"),
    )
    at = NOON + DAY
    alone, both = body(kidney).value("urea_nitrogen", at), body(kidney, bleed).value("urea_nitrogen", at)
    assert alone is not None and both is not None
    assert 20 < both - alone < 50


def test_effects_on_computed_values_go_to_what_they_are_computed_from() -> None:
    usual, low = body(), body(add("egfr", "-45"))
    rate, calm = low.value("egfr", NOON + DAY), usual.value("egfr", NOON + DAY)
    assert rate is not None and calm is not None and rate < calm - 25
    assert low.causes("creatinine", NOON + DAY) == ("d1",)
    both = body(add("cholesterol_total", "60"), add("ldl", "60"))
    assert both.value("ldl", NOON) == body(add("ldl", "60")).value("ldl", NOON)


def test_what_cannot_be_moved_is_refused_by_name() -> None:
    with pytest.raises(DataError, match=r"anion_gap_of_mars.*lab_profiles.json"):
        body(add("anion_gap_of_mars", "1"))
    assert all(one.baselines or one.stands_for for one in lab_profiles().values())
    with pytest.raises(DataError, match=r"neither a panel"):
        body().panel(["blood_of_dragons"], NOON)


def test_causes_name_what_moves_a_value_and_what_moves_its_sources() -> None:
    ill = body(
        Shift("creatinine", "d1", "times", Decimal(4), NOON, NOON),
        add("temperature", "2", cause="d2"),
        add("platelets", "-0.4", cause="d3"),
    )
    at = NOON + DAY
    for lab in ("creatinine", "egfr", "urea_nitrogen", "potassium"):
        assert ill.causes(lab, at) == ("d1",), lab
    assert ill.causes("heart_rate", at) == ("d2",)
    assert ill.causes("platelets", at) == ()
    assert ill.causes("creatinine", NOON - DAY) == ()


def test_what_does_not_exist_is_left_out() -> None:
    child = body(who=person("female", "2014-01-01", "20.5", 116))
    assert "egfr" not in child.panel(["bmp"], NOON)
    assert child.value("egfr", NOON) is None
    assert body(who=person("female")).panel(["psa"], NOON) == {}
    assert body(who=person()).value("blood_pressure", NOON) is None
    assert "ldl" not in body(add("triglycerides", "900")).panel(["lipids"], NOON + DAY)


def test_ranges_follow_sex_and_age() -> None:
    assert body(who=person("male")).band("hemoglobin", NOON) == ("13.5", "17.5")
    assert body(who=person("female")).band("hemoglobin", NOON) == ("12", "15.5")
    low, high = body(who=person("male", "2019-01-01", "10.2", 78)).band("heart_rate", NOON)
    assert low is not None and high is not None and int(high) > 120
    assert body().band("unheard_of", NOON) == (None, None)


def test_weight_and_height_are_the_persons() -> None:
    found = body().panel(["admission_vitals"], NOON)
    assert abs(Decimal(found["weight"]) - Decimal("81.4")) < 2
    assert found["height"] == "176"


def test_names_hold_for_one_patient() -> None:
    salts, cells = lab_profiles()["potassium"].charted[:2], lab_profiles()["hemoglobin"].charted[:2]
    names = {(body(key=key).name("potassium"), body(key=key).name("hemoglobin")) for key in range(40)}
    assert names == {(salts[0], cells[0]), (salts[1], cells[1])}
    assert {body(key=key).name("potassium", "outside") for key in range(40)} == set(salts)
    with pytest.raises(DataError, match="unheard_of"):
        body().name("unheard_of")


def test_panels_hold_each_lab_once() -> None:
    assert labs_of(["cbc", "cbc_diff", "hemoglobin"]) == panels()["cbc_diff"].labs


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 4000), st.sampled_from(["male", "female"]), st.integers(1925, 2018))
def test_the_healthy_are_mostly_normal(key: int, day: int, sex: str, year: int) -> None:
    one = Body(person(sex, f"{year}-06-07", "60", 165), ("x", key))
    at = NOON + day * DAY
    found = one.panel(["cmp", "cbc_diff", "coags", "vitals", "magnesium_phosphate"], at)
    odd = 0
    for lab, text in found.items():
        low, high = one.band(lab, at)
        if "/" not in text:
            odd += (low is not None and Decimal(text) < Decimal(low)) or (
                high is not None and Decimal(text) > Decimal(high)
            )
    assert odd <= len(found) // 4


def test_the_ambient_context_and_the_hash_seed_change_nothing() -> None:
    ill = [add("glucose", "410"), Shift("creatinine", "d2", "times", Decimal("2.7"), NOON, NOON + DAY)]
    everything = list(lab_profiles())
    usual = body(*ill).panel(everything, NOON + DAY)
    with decimal.localcontext(decimal.Context(prec=3, rounding=decimal.ROUND_UP)):
        assert body(*ill).panel(everything, NOON + DAY) == usual
    code = (
        "from decimal import Decimal as D\n"
        "from wardround.patients.hospital.life import Pair, Person\n"
        "from wardround.patients.hospital.physiology import Body\n"
        "from wardround.patients.knowledge import lab_profiles\n"
        "p = Person('male','1955-06-07','A','W','E','single',176,D('81.4'),Pair('x','x'),'never',0,'none',0,'alone')\n"
        f"print(sorted(Body(p, ('x', 1)).panel(list(lab_profiles()), {NOON}).items()))"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed, "PATH": "", "LC_ALL": locale},
            check=True, capture_output=True, text=True,
        ).stdout
        for seed, locale in (("0", "C"), ("77", "tr_TR.UTF-8"))
    }  # fmt: skip
    assert len(seen) == 1
