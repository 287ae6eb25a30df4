"""Every bound of every score against the published tables, which stand apart in `data/score_tables.json`.

The bounds to test are generated from `scores.json`, so that none is forgotten; the points expected there come from the
other file alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.patients import knowledge
from wardround.patients.knowledge.score_models import Condition, Score

D = Decimal
FILE = Path(__file__).parent / "data" / "score_tables.json"
PUBLISHED: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
TABLES: dict[str, Any] = PUBLISHED["tables"]
POINT_SCORES = sorted(score.id for score in knowledge.scores().values() if score.components)
FORMULAS = sorted(score.id for score in knowledge.scores().values() if score.formula)
LADDERS = [(score, ladder) for score, table in sorted(TABLES.items()) for ladder in table["ladders"]]
ITEMS = [(score, item) for score, table in sorted(TABLES.items()) for item in table["items"]]


def ladder_name(case: Any) -> str:
    return f"{case['component']}-{case['input']}" if isinstance(case, dict) else str(case)


def expected(ladder: dict[str, Any], value: Decimal) -> Decimal | None:
    """Return the published points of a value; None between two rows or outside the table."""
    for low, high, points in ladder["rows"]:
        if (low is None or value >= D(low)) and (high is None or value <= D(high)):
            return D(points)
    return None


def points(score: str, component: str, inputs: dict[str, Any]) -> Decimal | None:
    return knowledge.compute(score, inputs).components[component]


def measured(score: str, ladder: dict[str, Any], value: Decimal) -> Decimal | None:
    amount: Any = (value, ladder["unit"]) if "unit" in ladder else value
    return points(score, ladder["component"], {**ladder.get("with", {}), ladder["input"]: amount})


def possible(score: str, ladder: dict[str, Any], value: Decimal) -> bool:
    entry = next(one for one in knowledge.score_of(score).inputs if one.id == ladder["input"])
    if "unit" in ladder:  # the input's own bounds are in its own unit; the tables stay far inside them
        return True
    low, high, above = entry.low, entry.high, entry.above
    return not ((low is not None and value < low) or (high is not None and value > high) or value == above)


@pytest.mark.parametrize(("score", "ladder"), LADDERS, ids=ladder_name)
def test_both_ends_of_every_published_row(score: str, ladder: dict[str, Any]) -> None:
    """One step outside, at, and one step inside each end; the rows leave no value of the measurement's step out."""
    step = D(ladder["step"])
    for (_, before, _), (after, _, _) in zip(ladder["rows"], ladder["rows"][1:], strict=False):
        assert D(after) - D(before) == step
    ends = {D(end) for low, high, _ in ladder["rows"] for end in (low, high) if end is not None}
    tested = 0
    for value in sorted({end + move for end in ends for move in (-step, D(0), step)}):
        if expected(ladder, value) is not None and possible(score, ladder, value):
            assert measured(score, ladder, value) == expected(ladder, value), value
            tested += 1
    assert tested >= 2 * (len(ladder["rows"]) - 1)


def numeric() -> Iterator[tuple[str, str, tuple[Condition, ...], Condition]]:
    for score in knowledge.scores().values():
        for component in score.components:
            for rule in component.rules:
                for group in rule.any:
                    yield from ((score.id, component.id, group, one) for one in group if one.op is not None)


def agrees(ladder: dict[str, Any], group: tuple[Condition, ...]) -> bool:
    """Tell whether the ladder's other inputs are such that the group's other conditions can hold."""
    others = ladder.get("with", {})
    wanted = {one.input: one.choice or True for one in group if one.op is None}
    return all(others.get(name) == value for name, value in wanted.items())


@pytest.mark.parametrize(("score", "component", "group", "condition"), list(numeric()))
def test_every_bound_of_the_data_file_is_published(
    score: str, component: str, group: tuple[Condition, ...], condition: Condition
) -> None:
    """The points just below, at and just above each bound, by the measurement's own step, are those of the table."""
    ladders = [
        ladder
        for ladder in TABLES[score]["ladders"]
        if ladder["component"] == component and ladder["input"] == condition.input and agrees(ladder, group)
    ]
    assert ladders, f"no published table for {score}.{component} by {condition.input}"
    assert condition.value is not None
    bounds: dict[str | None, Decimal] = {None: condition.value, **condition.in_unit}
    for unit, bound in bounds.items():
        of_unit = [ladder for ladder in ladders if ladder.get("unit") == unit]
        assert of_unit, f"no published table in {unit}"
        for ladder in of_unit:
            step = D(ladder["step"])
            assert bound % step == 0, "a bound off the measurement's step is never met exactly"
            seen = set()
            for value in (bound - step, bound, bound + step):
                if possible(score, ladder, value):
                    assert expected(ladder, value) is not None, (value, "is not in the published table")
                    assert measured(score, ladder, value) == expected(ladder, value), value
                    seen.add(expected(ladder, value))
            assert len(seen) > 1, f"the published table does not change at {bound}"


@pytest.mark.parametrize(
    ("score", "item"), ITEMS, ids=lambda case: case["component"] if isinstance(case, dict) else case
)
def test_published_items(score: str, item: dict[str, Any]) -> None:
    assert points(score, item["component"], item["inputs"]) == D(item["points"])


def test_every_flag_and_choice_of_the_data_file_is_published() -> None:
    """Each flag is given as present and each choice by name, in an item or beside a ladder."""
    for score in POINT_SCORES:
        given_: set[tuple[str, str, Any]] = set()
        for item in TABLES[score]["items"]:
            given_ |= {(item["component"], name, value) for name, value in item["inputs"].items()}
        for ladder in TABLES[score]["ladders"]:
            given_ |= {(ladder["component"], name, value) for name, value in ladder.get("with", {}).items()}
        for component in knowledge.score_of(score).components:
            for one in component.conditions():
                if one.op is None:
                    assert (component.id, one.input, one.choice or True) in given_, (score, component.id, one)


def test_every_component_has_a_published_table() -> None:
    for score in POINT_SCORES:
        table = TABLES[score]
        named = {one["component"] for one in (*table["ladders"], *table["items"])}
        assert named == set(knowledge.score_of(score).by_component()), score
        assert table["source"]


def test_every_reading_is_published() -> None:
    for score in knowledge.scores().values():
        bands = TABLES[score.id]["bands"] if score.id in TABLES else {}
        assert {one.id for one in score.readings} == set(bands), score.id
        for reading in score.readings:
            named = {name for _, _, name in bands[reading.id]} | {
                name for at, _, name in [TABLES[score.id].get("single_red", ("", 0, ""))] if at == reading.id
            }
            assert {one.id for one in reading.bands} == named


def totals(score: Score) -> dict[Decimal, dict[str, Decimal]]:
    """Return, for every total the score can have, one set of points that gives it."""
    reached: dict[Decimal, dict[str, Decimal]] = {D(0): {}}
    for name, part in score.by_component().items():
        grown: dict[Decimal, dict[str, Decimal]] = {}
        for total, chosen in sorted(reached.items()):
            for value in part.values():
                grown.setdefault(total + value, {**chosen, name: value})
        reached = grown
    return reached


@pytest.mark.parametrize("score_id", [score for score in POINT_SCORES if TABLES[score]["bands"]])
def test_bands_of_every_total(score_id: str) -> None:
    bands = TABLES[score_id]["bands"]
    red, most, special = TABLES[score_id].get("single_red", ("", 0, ""))
    for total, chosen in totals(knowledge.score_of(score_id)).items():
        result = knowledge.sum_points(score_id, chosen)
        assert result.total == total
        for one in result.interpretation:
            wanted = [name for low, high, name in bands[one.reading] if D(low) <= total <= D(high)]
            if wanted == ["low"] and one.reading == red and max(chosen.values()) >= most:
                wanted = [special]
            assert wanted == [one.band], (total, one)
        assert {one.reading for one in result.interpretation} == set(bands)


def test_a_single_red_value_of_news2_decides_only_below_five() -> None:
    """Chart 2 of the report: 3 in one parameter is low-medium; from 5 the total decides."""
    score = knowledge.score_of("news2")
    for name, part in score.by_component().items():
        if part.values()[-1] == 3:
            for extra in range(0, 3):
                points_ = {**dict.fromkeys(score.by_component(), D(0)), name: D(3), "oxygen": D(2 if extra == 2 else 0)}
                band = knowledge.sum_points("news2", points_).interpretation[0].band
                assert band == ("medium" if extra == 2 else "low_medium")


def test_stages_of_egfr_at_every_total() -> None:
    bands = TABLES["egfr_ckd_epi_2021"]["bands"]["standard"]
    seen = set()
    for hundredths in range(40, 900):
        result = knowledge.compute("egfr_ckd_epi_2021", {"sex": "male", "age": 60, "creatinine": D(hundredths) / 100})
        assert result.total is not None
        wanted = [name for low, high, name in bands if result.total >= low and (high is None or result.total <= high)]
        assert [one.band for one in result.interpretation] == wanted
        seen.add(result.total)
    ends = {D(end) for low, high, _ in bands for end in (low, high) if end}
    assert ends <= seen, "both ends of every stage are reached"


# --- formulas -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("clamp", PUBLISHED["clamps"], ids=lambda clamp: f"{clamp['score']}-{clamp['input']}")
def test_inputs_are_held_between_the_published_ends(clamp: dict[str, Any]) -> None:
    """Beyond an end nothing changes; one step inside it, the total does."""

    def total(value: Decimal) -> Decimal:
        result = knowledge.compute(clamp["score"], {**clamp["base"], clamp["input"]: value})
        assert result.unrounded is not None
        return result.unrounded

    step = D(clamp["step"])
    for end, inside in ((clamp["low"], step), (clamp["high"], -step)):
        if end is not None:
            assert total(D(end) - inside) == total(D(end))
            # MELD-Na rounds to the tenth before anything else, so that one step may not show there
            far = [total(D(end) + inside * steps) for steps in range(1, 11)]
            assert any(one != total(D(end)) for one in far)
            if clamp["score"] != "meld_na":
                assert far[0] != total(D(end))


def test_ends_of_meld_are_those_of_the_data_file() -> None:
    """Every constant that bounds an input stands among the published ends, so that none is forgotten."""
    names = {
        "lower_bound": {("bilirubin", "low"), ("inr", "low"), ("creatinine", "low")},
        "creatinine_cap": {("creatinine", "high")},
        "sodium_low": {("sodium", "low")},
        "sodium_high": {("sodium", "high")},
        "albumin_low": {("albumin", "low")},
        "albumin_high": {("albumin", "high")},
    }
    for score in ("meld", "meld_na", "meld_3"):
        constants = knowledge.score_of(score).constants
        found = {
            (clamp["input"], end): D(clamp[end])
            for clamp in PUBLISHED["clamps"]
            for end in ("low", "high")
            if clamp["score"] == score and clamp[end] is not None
        }
        wanted = {where: constants[name] for name, places in names.items() if name in constants for where in places}
        assert found == wanted


@pytest.mark.parametrize("example", PUBLISHED["examples"], ids=lambda example: example["score"])
def test_worked_examples(example: dict[str, Any]) -> None:
    assert knowledge.compute(example["score"], example["inputs"]).total == D(example["total"]), example["source"]


def test_sodium_counts_only_above_eleven() -> None:
    """OPTN 2016: at MELD(i) 11 low sodium changes nothing, at 12 it does; both sides of the bound, sodium 125."""
    at = {}
    for hundredths in range(100, 400):
        inputs = {"bilirubin": "1.0", "inr": D(hundredths) / 100, "creatinine": "1.0", "sodium": 125}
        result = knowledge.compute("meld_na", inputs)
        at[result.components["meld_i"]] = result.components["sodium"]
    assert (at[D(11)], at[D(12)]) == (0, 11)  # 12 + 1.32·12 − 0.033·12·12 = 23.088


@pytest.mark.parametrize(
    ("tenths", "rule"),
    [(184, "actual"), (185, "smaller"), (249, "smaller"), (250, "adjusted")],
)
def test_weight_by_body_mass_index_at_its_bounds(tenths: int, rule: str) -> None:
    """200 cm make the index exact: weight = 4 × index. Ideal weight of a man: 50 + 2.3·(200/2.54 − 60) = 93.102 kg."""
    weight = D(tenths) / 10 * 4
    inputs = {"sex": "male", "age": 68, "weight": weight, "height": 200, "creatinine": "1.0"}
    found = knowledge.compute("cockcroft_gault", inputs | {"weight_rule": "by_bmi"}).unrounded
    ideal = knowledge.compute("cockcroft_gault", inputs | {"weight_rule": "ideal"}).unrounded
    adjusted = knowledge.compute("cockcroft_gault", inputs | {"weight_rule": "adjusted"}).unrounded
    assert ideal is not None
    # 140 − 68 = 72, so that the clearance is the weight itself
    assert ideal.quantize(D("0.001")) == D("93.102")
    assert found == {"actual": weight, "smaller": min(weight, ideal), "adjusted": adjusted}[rule]
    assert adjusted != weight


# --- properties ---------------------------------------------------------------------------------------------------


@given(st.data())
def test_points_rise_and_fall_only_with_the_published_rows(data: st.DataObject) -> None:
    """Where a table's points go one way along its rows, so do the score's between any two values."""
    score, ladder = data.draw(st.sampled_from(LADDERS))
    step = D(ladder["step"])
    ends = [D(end) for low, high, _ in ladder["rows"] for end in (low, high) if end is not None]
    reach = st.integers(int(min(ends) / step) - 5, int(max(ends) / step) + 5).map(lambda steps: steps * step)
    one, other = sorted((data.draw(reach), data.draw(reach)))
    if not (possible(score, ladder, one) and possible(score, ladder, other)):
        return
    low, high = measured(score, ladder, one), measured(score, ladder, other)
    assert low is not None
    assert high is not None
    row = [D(found) for _, _, found in ladder["rows"]]
    if row == sorted(row):
        assert low <= high
    elif row == sorted(row, reverse=True):
        assert low >= high
    else:  # NEWS2 and SIRS are worst at both ends
        assert {low, high} <= set(row)


MONOTONE = {
    "meld": {"bilirubin": 1, "inr": 1, "creatinine": 1},
    "meld_3": {"bilirubin": 1, "inr": 1, "creatinine": 1},
    "cockcroft_gault": {"weight": 1, "creatinine": -1, "age": -1},
    "egfr_ckd_epi_2021": {"creatinine": -1, "age": -1},
    "corrected_calcium": {"calcium": 1, "albumin": -1},
    "anion_gap": {"sodium": 1, "chloride": -1, "bicarbonate": -1},
}
VALUES = {
    "bilirubin": st.decimals("0.1", "40", places=1),
    "inr": st.decimals("0.5", "9", places=1),
    "creatinine": st.decimals("0.1", "9", places=2),
    "albumin": st.decimals("0.5", "6", places=1),
    "sodium": st.integers(100, 170),
    "chloride": st.integers(60, 140),
    "bicarbonate": st.integers(1, 60),
    "calcium": st.decimals("4", "20", places=1),
    "age": st.integers(18, 110),
    "weight": st.decimals("30", "200", places=1),
    "sex": st.sampled_from(["male", "female"]),
}


@given(st.data())
def test_formulas_move_one_way_with_each_input(data: st.DataObject) -> None:
    """Only inputs whose published coefficients never change sign.

    Creatinine of MELD 3.0 is one: 11.14 outweighs 1.83 × the 2 g/dL that albumin can lack. Its albumin is none (1.85 is
    less than 1.83 ln creatinine above 2.75 mg/dL), nor its sodium (0.82 is less than 0.24 ln bilirubin above 30 mg/dL),
    nor any input of MELD-Na, whose sodium term starts with a jump above 11.
    """
    score = data.draw(st.sampled_from(sorted(MONOTONE)))
    name, sign = data.draw(st.sampled_from(sorted(MONOTONE[score].items())))
    inputs = {entry.id: data.draw(VALUES[entry.id]) for entry in knowledge.score_of(score).inputs if entry.id in VALUES}
    low, high = sorted((data.draw(VALUES[name]), data.draw(VALUES[name])))
    before = knowledge.compute(score, inputs | {name: low}).unrounded
    after = knowledge.compute(score, inputs | {name: high}).unrounded
    assert before is not None
    assert after is not None
    assert (after - before) * sign >= 0


# --- what is missing ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("score_id", POINT_SCORES)
def test_nothing_known_counts_the_least_and_says_so(score_id: str) -> None:
    score = knowledge.score_of(score_id)
    zero, none = knowledge.compute(score_id, {}), knowledge.compute(score_id, {}, missing="none")
    assert zero.total == sum((part.least for part in score.components), D(0))
    assert set(zero.missing) == set(none.missing) == set(score.by_component())
    assert none.total is None
    assert set(none.components.values()) == {None}


@pytest.mark.parametrize("score_id", FORMULAS)
def test_a_formula_needs_each_of_its_inputs(score_id: str) -> None:
    """Leaving out any one gives no total and names it, under both policies."""
    sound = {"sex": "male", "age": 60, "weight": 80, "creatinine": 1, "bilirubin": 2, "inr": 2, "sodium": 130}
    sound |= {"albumin": 3, "calcium": 9, "chloride": 100, "bicarbonate": 24}
    score = knowledge.score_of(score_id)
    inputs: dict[str, Any] = {entry.id: sound[entry.id] for entry in score.inputs if entry.id in sound}
    assert knowledge.compute(score_id, inputs).total is not None
    for name in inputs:
        left = {key: value for key, value in inputs.items() if key != name}
        for result in (knowledge.compute(score_id, left), knowledge.compute(score_id, left, missing="none")):
            assert (result.total, result.missing) == (None, (name,))
