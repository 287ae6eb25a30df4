"""Results of one draw agree with each other, whoever the patient is and whatever is wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.patients.hospital.life import Pair, Person
from wardround.patients.hospital.making import HOUR
from wardround.patients.hospital.physiology import Body, Shift
from wardround.patients.hospital.physiology_blood import IMMATURE
from wardround.patients.hospital.physiology_reporting import egfr_of
from wardround.patients.knowledge import lab_profiles
from wardround.patients.times import DAY, parse_instant

NOON = parse_instant("2020-03-01T12:00:00")
EVERYTHING = [lab for lab in lab_profiles() if lab not in IMMATURE]

SIZES: dict[str, tuple[str, float, float]] = {
    "sodium": ("add", -20, 15), "potassium": ("add", -1.2, 2), "chloride": ("add", -10, 10),
    "bicarbonate": ("add", -15, 10), "anion_gap": ("add", 0, 15), "creatinine": ("times", 0.7, 9),
    "urea_nitrogen": ("times", 0.6, 5), "glucose": ("add", -40, 700), "lactate": ("add", 0, 12),
    "blood_ketones": ("add", 0, 8), "pco2": ("add", -15, 45), "arterial_ph": ("add", -0.2, 0.1),
    "hemoglobin": ("add", -9, 3), "hematocrit": ("add", -15, 5), "mcv": ("add", -22, 18), "wbc": ("times", 0.1, 6),
    "anc": ("times", 0.05, 4), "neutrophils_pct": ("add", -30, 30), "lymphocytes_pct": ("add", -20, 50),
    "eosinophils_pct": ("add", 0, 25), "platelets": ("times", 0.1, 3), "inr": ("times", 1, 5),
    "albumin": ("add", -2.5, 0.4), "globulin": ("add", -1, 4), "bilirubin_total": ("add", 0, 25),
    "bilirubin_direct": ("add", 0, 15),
    "ldl": ("times", 0.4, 2), "triglycerides": ("times", 0.6, 8), "hdl": ("times", 0.5, 1.4), "iron": ("times", 0.1, 2),
    "tibc": ("times", 0.4, 1.5), "ferritin": ("times", 0.03, 30), "crp": ("add", 0, 300), "calcium": ("add", -2, 5),
    "systolic_bp": ("add", -60, 80), "diastolic_bp": ("add", -30, 50), "heart_rate": ("add", -30, 70),
    "spo2": ("add", -25, 0), "fio2": ("add", 0, 79), "temperature": ("add", -1.5, 3.5), "weight": ("add", -10, 12),
    "uacr": ("times", 1, 400), "urine_wbc": ("add", 0, 200), "urine_nitrite": ("add", 0, 1), "gcs": ("add", -12, 0),
    "hba1c": ("add", 0, 7), "ethanol_level": ("add", 0, 300), "troponin_t": ("add", 0, 5), "fvc": ("times", 0.4, 1),
    "fev1": ("times", 0.3, 1),
}  # fmt: skip
"""What may happen to a lab: mode, least and greatest size."""


@st.composite
def shifts(draw: st.DrawFn) -> list[Shift]:
    found = []
    for number, lab in enumerate(draw(st.lists(st.sampled_from(sorted(SIZES)), max_size=10))):
        mode, low, high = SIZES[lab]
        size = Decimal(str(round(draw(st.floats(low, high)), 3)))
        begin = NOON + draw(st.integers(-60, 20)) * HOUR
        peak = begin + draw(st.integers(0, 48)) * HOUR
        turn = draw(st.none() | st.integers(-20, 60))
        found.append(
            Shift(
                lab, f"d{number}", mode, size, begin, peak,  # type: ignore[arg-type]
                None if turn is None else NOON + turn * HOUR, draw(st.none() | st.integers(4, 400)),
                Decimal(draw(st.integers(0, 10))) / 10,
            )
        )  # fmt: skip
    return found


people = st.builds(
    lambda sex, year, weight, height: Person(
        sex, f"{year}-09-02", "A B", "White", "English", "single", height, Decimal(weight) / 10, Pair("x", "x"),
        "never", 0, "none", 0, "alone",
    ),
    st.sampled_from(["male", "female"]), st.integers(1922, 2019), st.integers(80, 1600), st.integers(70, 200),
)  # fmt: skip


def q(value: Decimal, digits: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)


def close(a: Decimal, b: Decimal, by: str) -> bool:
    return abs(a - b) <= Decimal(by)


def numbers(found: Mapping[str, str]) -> dict[str, Decimal]:
    out = {}
    for lab, text in found.items():
        if text.lstrip("<>-").replace(".", "", 1).isdigit():
            out[lab] = Decimal(text.lstrip("<>"))
    return out


@settings(max_examples=80, deadline=None)
@given(people, shifts(), st.integers(0, 10**6), st.integers(0, 72))
def test_a_draw_agrees_with_itself(who: Person, ill: list[Shift], key: int, hour: int) -> None:
    body = Body(who, ("couplings", key), ill)
    at = NOON + hour * HOUR
    found = dict.fromkeys(lab_profiles(), "none") | body.panel(EVERYTHING, at)
    values = numbers(found)
    age = 2020 - int(who.birth_date[:4]) - 1
    chemistry(values, who, age, found)
    counts(values)
    gases(values)
    others(values, found)
    bedside(values, found)


def chemistry(v: dict[str, Decimal], who: Person, age: int, found: Mapping[str, str]) -> None:
    assert v["anion_gap"] == v["sodium"] - v["chloride"] - v["bicarbonate"]
    if age < 17:
        assert found["egfr"] == "none"
    elif age > 18:
        assert v["egfr"] == q(egfr_of(v["creatinine"], who.sex, age), 0)
    expected = 2 * v["sodium"] + v["glucose"] / 18 + v["urea_nitrogen"] / Decimal("2.8")
    expected += v["ethanol_level"] / Decimal("3.7") if not found["ethanol_level"].startswith("<") else 0
    assert -8 <= v["osmolality"] - expected <= 20 or found["osmolality"] in ("215", "430")
    assert v["total_protein"] == v["albumin"] + v["globulin"]
    assert v["corrected_calcium"] == q(v["calcium"] + Decimal("0.8") * (4 - v["albumin"]), 1)
    assert v["bilirubin_direct"] <= v["bilirubin_total"]
    assert v["bilirubin_indirect"] == v["bilirubin_total"] - v["bilirubin_direct"]
    assert close(v["average_glucose"], Decimal("28.7") * v["hba1c"] - Decimal("46.7"), "0.5")


def counts(v: dict[str, Decimal]) -> None:
    assert close(v["hematocrit"], 3 * v["hemoglobin"], "1")
    assert v["rbc"] > 0
    assert v["mcv"] == q(v["hematocrit"] * 10 / v["rbc"], 0)
    assert v["mch"] == q(v["hemoglobin"] * 10 / v["rbc"], 1)
    assert v["mchc"] == q(v["hemoglobin"] * 100 / v["hematocrit"], 1)
    parts = ("neutrophils_pct", "lymphocytes_pct", "monocytes_pct", "eosinophils_pct", "basophils_pct")
    assert sum(v[lab] for lab in parts) == 100
    assert all(v[lab] >= 0 for lab in parts)
    for lab, part in zip(("anc", "alc", "amc", "aec", "abc_count"), parts, strict=True):
        assert close(v[lab], v["wbc"] * v[part] / 100, "0.0051")
    assert v["inr"] == q(v["pt"] / 11, 1)


def gases(v: dict[str, Decimal]) -> None:
    ph = 6.1 + math.log10(float(v["bicarbonate"]) / (0.0307 * float(v["pco2"])))
    assert abs(float(v["arterial_ph"]) - ph) < 0.0051
    venous = 6.1 + math.log10(float(v["bicarbonate"]) / (0.0307 * float(v["venous_pco2"])))
    assert abs(float(v["venous_ph"]) - venous) < 0.0051
    assert Decimal("6.75") <= v["arterial_ph"] <= Decimal("7.8")
    assert v["venous_pco2"] > v["pco2"]
    excess = 0.93 * (float(v["bicarbonate"]) - 24.4 + 14.8 * (ph - 7.4))
    assert abs(float(v["base_excess"]) - excess) < 0.51
    assert v["spo2"] == v["oxygen_saturation_gas"] <= 100
    assert v["pf_ratio"] == q(v["po2"] * 100 / v["fio2"], 0)
    if v["spo2"] <= 88:
        assert v["po2"] < 65
    if v["spo2"] >= 94:
        assert v["po2"] > 55


def others(v: dict[str, Decimal], found: Mapping[str, str]) -> None:
    if v["triglycerides"] >= 400:
        assert found["ldl"] == "none"
    else:
        assert v["ldl"] == q(v["cholesterol_total"] - v["hdl"] - v["triglycerides"] / 5, 0)
    assert v["tsat"] == q(v["iron"] * 100 / v["tibc"], 0)
    assert close(v["transferrin"], v["tibc"] / Decimal("1.3"), "0.51")
    if not found["urine_albumin"].startswith("<"):
        assert v["uacr"] == q(v["urine_albumin"] * 1000 / v["urine_creatinine"], 1)
    assert found["urine_nitrite"] == "negative" or found["urine_bacteria"] != "none"
    if v["glucose"] < 150:
        assert found["urine_glucose"] == "negative"
    if v["glucose"] > 220:
        assert found["urine_glucose"] != "negative"
    if v["urine_wbc"] > 20:
        assert found["urine_leukocytes"] != "negative"
    assert v["fev1_fvc"] == q(v["fev1"] * 100 / v["fvc"], 0) <= 100


def bedside(v: dict[str, Decimal], found: Mapping[str, str]) -> None:
    systolic, _, diastolic = found["blood_pressure"].partition("/")
    assert (Decimal(systolic), Decimal(diastolic)) == (v["systolic_bp"], v["diastolic_bp"])
    assert v["systolic_bp"] - v["diastolic_bp"] >= 15
    assert v["map"] == q((v["systolic_bp"] + 2 * v["diastolic_bp"]) / 3, 0)
    assert close(v["bmi"], v["weight"] * 10000 / (v["height"] * v["height"]), "0.051")
    assert v["gcs"] == v["gcs_eye"] + v["gcs_verbal"] + v["gcs_motor"]
    assert 1 <= v["gcs_eye"] <= 4
    assert 1 <= v["gcs_verbal"] <= 5
    assert 1 <= v["gcs_motor"] <= 6


def one(*ill: Shift) -> Body:
    who = Person(
        "male", "1960-01-01", "A", "White", "English", "single", 176, Decimal(80), Pair("x", "x"),
        "never", 0, "none", 0, "alone",
    )  # fmt: skip
    return Body(who, ("one", 5), ill)


def moved(lab: str, *ill: Shift) -> Decimal:
    sick, calm = one(*ill).value(lab, NOON + DAY), one().value(lab, NOON + DAY)
    assert sick is not None and calm is not None
    return sick - calm


def shift(lab: str, size: str, mode: str = "add") -> Shift:
    return Shift(lab, f"d-{lab}", mode, Decimal(size), NOON, NOON)  # type: ignore[arg-type]


def test_glucose_pulls_sodium_down_by_two_for_a_hundred() -> None:
    low, high = moved("sodium", shift("glucose", "200")), moved("sodium", shift("glucose", "400"))
    assert Decimal("1.6") <= (low - high) / 2 <= Decimal("2.4")


def test_failing_kidneys_move_together() -> None:
    failing = shift("creatinine", "5", "times")
    assert moved("potassium", failing) > Decimal("0.6")
    assert moved("urea_nitrogen", failing) > 20
    assert moved("phosphate", failing) > 1
    assert moved("bicarbonate", failing) < 0
    assert moved("egfr", failing) < -50


def test_acids_lower_bicarbonate_and_widen_the_gap() -> None:
    for acid, size in (("lactate", "8"), ("blood_ketones", "5")):
        assert moved("bicarbonate", shift(acid, size)) < -4
        assert moved("anion_gap", shift(acid, size)) > 4
        assert moved("pco2", shift(acid, size)) < -4
        assert moved("arterial_ph", shift(acid, size)) < 0


def test_salt_water_lowers_bicarbonate_without_a_gap() -> None:
    salt = shift("chloride", "6")
    assert moved("bicarbonate", salt) < -4
    assert abs(moved("anion_gap", salt)) < 1


def test_a_coupling_explains_and_never_doubles() -> None:
    acid, told = shift("lactate", "8"), shift("bicarbonate", "-6")
    both = moved("bicarbonate", acid, told)
    assert both == min(moved("bicarbonate", acid), moved("bicarbonate", told))


def test_retained_carbon_dioxide_is_compensated() -> None:
    retained = shift("pco2", "30")
    assert 5 < moved("bicarbonate", retained) < 15
    assert moved("arterial_ph", retained) < 0


def test_fever_quickens_the_heart_and_inflammation_lowers_iron() -> None:
    assert 8 < moved("heart_rate", shift("temperature", "2")) < 25
    ill = shift("crp", "150")
    assert moved("iron", ill) < 0
    assert moved("ferritin", ill) > 0
    assert moved("albumin", ill) < 0


def test_arterial_and_laboratory_bicarbonate_of_one_hour_agree() -> None:
    ill = one(shift("bicarbonate", "-9"), shift("lactate", "5"))
    for day in range(60):
        at = NOON + day * 7 * HOUR
        lab, gas = ill.panel(["bmp"], at), ill.panel(["abg"], at + HOUR // 2)
        assert abs(int(lab["bicarbonate"]) - int(gas["bicarbonate"])) <= 2


def test_cells_counted_by_hand_count_towards_the_hundred() -> None:
    ill = one(shift("wbc", "3", "times"), shift("bands", "14"), shift("metamyelocytes", "3"))
    found = ill.panel(["manual_differential"], NOON + DAY)
    parts = [Decimal(text) for lab, text in found.items() if lab not in ("wbc", "anc")]
    assert sum(parts) == 100
    assert int(found["bands"]) > 8
    alone = ill.panel(["cbc_diff"], NOON + DAY)
    assert Decimal(alone["neutrophils_pct"]) > Decimal(found["neutrophils_pct"])


def test_few_white_cells_mean_few_neutrophils() -> None:
    low = one(shift("anc", "0.08", "times")).panel(["cbc_diff"], NOON + DAY)
    assert Decimal(low["anc"]) < Decimal("0.6")


def test_nothing_is_reported_of_a_drug_that_is_not_taken() -> None:
    assert one().panel(["digoxin_level"], NOON) == {"digoxin_level": "<0.3"}
    level = one(shift("digoxin_level", "1.1")).panel(["digoxin_level"], NOON + DAY)["digoxin_level"]
    assert Decimal("0.7") < Decimal(level) < Decimal("1.6")


def test_a_level_of_what_kidneys_clear_rises_where_they_fail() -> None:
    dose, failing = shift("vancomycin_level", "15"), shift("creatinine", "1.4")
    well = Decimal(one(dose).panel(["vancomycin_level"], NOON + DAY)["vancomycin_level"])
    ill = Decimal(one(dose, failing).panel(["vancomycin_level"], NOON + DAY)["vancomycin_level"])
    assert Decimal("1.25") * well < ill < Decimal("2.3") * well
    assert one(failing).panel(["vancomycin_level"], NOON + DAY)["vancomycin_level"] == "<1.5"


def test_kidneys_that_hold_back_sodium_concentrate_the_urine() -> None:
    calm, dry = one(), one(shift("urine_sodium", "-60"))
    for lab in ("urine_osmolality", "urine_specific_gravity"):
        before, after = calm.value(lab, NOON + DAY), dry.value(lab, NOON + DAY)
        assert before is not None and after is not None and after > before
