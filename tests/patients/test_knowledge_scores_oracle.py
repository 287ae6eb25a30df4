"""Fourteen scores against `clincalc`, an independent implementation, where one is at hand.

It is under the AGPL, so it is never imported here and never a dependency: it runs in an interpreter of its own, named
by WARDROUND_CLINCALC_PYTHON (a virtual environment with `pip install clincalc==0.4.0`). SIRS, Ranson and MELD-Na
it does not have.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from wardround.patients import knowledge

pytestmark = pytest.mark.external

SEED = 20_030_511
"""Any: the draws only need to be the same in every run."""
DRAWS = 1500
WORKER = """
import json, sys
import clincalc
for line in sys.stdin:
    name, inputs = json.loads(line)
    print(json.dumps(clincalc.calculate(name, inputs)["result"]))
"""

Case = tuple[dict[str, Any], dict[str, Any]]
"""(our inputs, theirs) of one draw."""


def tenths(draw: random.Random, low: int, high: int) -> Decimal:
    return Decimal(draw.randint(low, high)) / 10


def person(draw: random.Random) -> dict[str, Any]:
    return {"sex": draw.choice(["male", "female"]), "age": draw.randint(18, 100)}


def egfr(draw: random.Random) -> Case:
    ours = person(draw) | {"creatinine": tenths(draw, 2, 90)}
    return ours, ours | {"creatinine_unit": "mg/dL"}


def cockcroft(draw: random.Random) -> Case:
    ours = person(draw) | {"creatinine": tenths(draw, 2, 90), "weight": draw.randint(35, 180)}
    theirs = {key: value for key, value in ours.items() if key != "weight"}
    return ours, theirs | {"weight_kg": ours["weight"], "creatinine_unit": "mg/dL"}


def calcium(draw: random.Random) -> Case:
    """Their constants are those of the SI form (0.02 mmol/L per g/L from 40 g/L), so both are asked in it."""
    mmol, albumin = Decimal(draw.randint(150, 350)) / 100, draw.randint(10, 60)
    ours = {"calcium": (mmol, "mmol/L"), "albumin": (albumin, "g/L")}
    return ours, {"calcium": mmol, "calcium_unit": "mmol/L", "albumin": albumin, "albumin_unit": "g/L"}


def gap(draw: random.Random) -> Case:
    ours = {"sodium": draw.randint(100, 180), "chloride": draw.randint(60, 140), "bicarbonate": draw.randint(2, 50)}
    return ours, {f"{name}_mmol_l": value for name, value in ours.items()}


def flags(draw: random.Random, *names: str) -> dict[str, Any]:
    return {name: draw.random() < 0.5 for name in names}


def chads(draw: random.Random) -> Case:
    both = flags(draw, "hypertension", "diabetes", "vascular_disease") | person(draw)
    failure, stroke, tia = (draw.random() < 0.5 for _ in range(3))
    ours = both | {"heart_failure": failure, "stroke": stroke, "tia": tia, "thromboembolism": False}
    return ours, both | {"congestive_heart_failure": failure, "stroke_tia_thromboembolism": stroke or tia}


def news2(draw: random.Random) -> Case:
    both: dict[str, Any] = {
        "respiratory_rate": draw.randint(4, 40),
        "spo2": draw.randint(78, 100),
        "systolic_bp": draw.randint(60, 250),
        "spo2_scale": draw.choice(["1", "2"]),
        "temperature": tenths(draw, 330, 415),
    }
    pulse, oxygen, level = draw.randint(30, 160), draw.random() < 0.5, draw.choice(["alert", "confusion", "voice"])
    ours = both | {"heart_rate": pulse, "supplemental_oxygen": oxygen, "consciousness": level}
    level = "alert" if level == "alert" else "confusion-or-vpu"
    return ours, both | {"pulse": pulse, "on_oxygen": oxygen, "consciousness": level}


def curb(draw: random.Random) -> Case:
    both = {
        "confusion": draw.random() < 0.5,
        "respiratory_rate": draw.randint(10, 40),
        "systolic_bp": draw.randint(70, 180),
        "diastolic_bp": draw.randint(40, 100),
        "age": draw.randint(18, 100),
    }
    urea = tenths(draw, 10, 200)
    return both | {"urea_nitrogen": (urea, "mmol/L")}, both | {"urea_mmol_l": urea}


def wells(draw: random.Random) -> Case:
    rate = draw.randint(60, 140)
    both = flags(draw, "haemoptysis", "malignancy")
    ours = flags(draw, "dvt_signs", "pe_most_likely", "immobilisation", "surgery", "previous_dvt", "previous_pe")
    theirs = {
        "clinical_signs_of_dvt": ours["dvt_signs"],
        "pe_most_likely_diagnosis": ours["pe_most_likely"],
        "heart_rate_over_100": rate > 100,
        "immobilisation_or_surgery": ours["immobilisation"] or ours["surgery"],
        "previous_dvt_or_pe": ours["previous_dvt"] or ours["previous_pe"],
    }
    return both | ours | {"heart_rate": rate}, both | theirs


def bled(draw: random.Random) -> Case:
    both = flags(draw, "hypertension_uncontrolled", "labile_inr", "stroke")
    ours = flags(draw, "renal_disease", "liver_disease", "bleeding", "bleeding_drugs")
    age, drinks = draw.randint(40, 90), draw.randint(0, 16)
    theirs = {
        "abnormal_renal_function": ours["renal_disease"],
        "abnormal_liver_function": ours["liver_disease"],
        "bleeding_history": ours["bleeding"],
        "drugs_antiplatelet_nsaid": ours["bleeding_drugs"],
        "elderly_over_65": age > 65,
        "alcohol_excess": drinks >= 8,
    }
    return both | ours | {"age": age, "drinks_per_week": drinks}, both | theirs


def qsofa(draw: random.Random) -> Case:
    both = {"respiratory_rate": draw.randint(10, 40), "systolic_bp": draw.randint(70, 150)}
    both |= flags(draw, "altered_mentation")
    return both, both


LEVELS: dict[str, list[dict[str, Any]]] = {
    "map-at-least70": [{"map": 70}, {"map": 95}],
    "map-below70": [{"map": 69}, {"map": 40}],
    "dopamine-low": [{"map": 60, "dopamine": 5}, {"map": 80, "dobutamine": 20}],
    "moderate-vasopressors": [{"map": 60, "dopamine": "5.1"}, {"map": 60, "norepinephrine": "0.1"}],
    "high-vasopressors": [{"map": 60, "dopamine": "15.1"}, {"map": 60, "epinephrine": "0.11"}],
}


def sofa(draw: random.Random) -> Case:
    support, ratio = draw.random() < 0.5, draw.randint(40, 500)
    both = {
        "respiratory_support": support,
        "platelets": draw.randint(5, 300),
        "bilirubin": tenths(draw, 2, 200),
        "creatinine": tenths(draw, 3, 80),
        "gcs": draw.randint(3, 15),
    }
    level = draw.choice(sorted(LEVELS))
    ours = both | {"pf_ratio": ratio} | draw.choice(LEVELS[level])
    units = {"bilirubin_unit": "mg/dL", "creatinine_unit": "mg/dL"}
    return ours, both | units | {"pao2_fio2": ratio, "cardiovascular": level}


def child(draw: random.Random) -> Case:
    both = {"bilirubin": tenths(draw, 5, 60), "albumin": tenths(draw, 15, 50), "inr": tenths(draw, 8, 35)}
    ascites, grade = draw.randrange(3), draw.randrange(3)
    ours = {
        "ascites": ("none", "slight", "moderate")[ascites],
        "encephalopathy": ("none", "grade_1_2", "grade_3_4")[grade],
    }
    theirs = {
        "ascites": ("none", "mild", "moderate-severe")[ascites],
        "encephalopathy": ("none", "grade1-to2", "grade3-to4")[grade],
        "bilirubin_unit": "mg/dL",
        "albumin_unit": "g/dL",
    }
    return both | ours, both | theirs


def liver(draw: random.Random) -> dict[str, Any]:
    """Ranges in which few totals meet the cap of 40."""
    return {"bilirubin": tenths(draw, 2, 150), "inr": tenths(draw, 6, 30), "creatinine": tenths(draw, 3, 50)}


def meld(draw: random.Random) -> Case:
    both, dialysis = liver(draw), draw.random() < 0.2
    units = {"bilirubin_unit": "mg/dL", "creatinine_unit": "mg/dL"}
    return both | {"dialysis": dialysis}, both | units | {"dialysis_twice_past_week": dialysis}


def meld_3(draw: random.Random) -> Case:
    both = liver(draw) | {"albumin": tenths(draw, 10, 50)}
    dialysis, sodium, female = draw.random() < 0.2, draw.randint(115, 150), draw.random() < 0.5
    ours = both | {"dialysis": dialysis, "sodium": sodium, "sex": "female" if female else "male"}
    theirs = {
        "qualifying_dialysis_in_prior_7_days": dialysis,
        "sodium_mmol_l": sodium,
        "female_for_adult_meld": female,
        "registration_age_years": 50,
        "bilirubin_unit": "mg/dL",
        "creatinine_unit": "mg/dL",
        "albumin_unit": "g/dL",
    }
    return ours, both | theirs


PAIRS: dict[str, tuple[str, Callable[[random.Random], Case]]] = {
    "anion_gap": ("anion_gap", gap),
    "cha2ds2_vasc": ("cha2ds2vasc", chads),
    "child_pugh": ("child_pugh", child),
    "cockcroft_gault": ("cockcroft_gault", cockcroft),
    "corrected_calcium": ("corrected_calcium", calcium),
    "curb_65": ("curb65", curb),
    "egfr_ckd_epi_2021": ("egfr", egfr),
    "has_bled": ("hasbled", bled),
    "meld": ("meld", meld),
    "meld_3": ("meld_3", meld_3),
    "news2": ("news2", news2),
    "qsofa": ("qsofa", qsofa),
    "sofa": ("sofa", sofa),
    "wells_pe": ("wells_pe", wells),
}


FORMULAS = {"anion_gap", "cockcroft_gault", "corrected_calcium", "egfr_ckd_epi_2021", "meld", "meld_3"}


@pytest.fixture(scope="module")
def python() -> str:
    found = os.environ.get("WARDROUND_CLINCALC_PYTHON", "")
    if not found:
        pytest.skip("WARDROUND_CLINCALC_PYTHON names no interpreter with clincalc")
    return found


def ask(python: str, name: str, cases: list[dict[str, Any]]) -> list[Any]:
    lines = "\n".join(json.dumps([name, case], default=float) for case in cases)
    done = subprocess.run([python, "-c", WORKER], input=lines, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


PLACES = {"anion_gap": 1, "cockcroft_gault": 1, "corrected_calcium": 2, "wells_pe": 1}
"""Decimals of their answers; integers elsewhere."""
MMOL = 0.2495
"""Of calcium, mmol/L in a mg/dL; their rule of 0.02 mmol/L per g/L is ours (0.01996) rounded: 0.0012 apart at most."""


@pytest.mark.parametrize("score", sorted(PAIRS))
def test_agreement_on_random_inputs(score: str, python: str) -> None:
    """Each of their answers is ours before the last rounding, to as many decimals as they give."""
    name, build = PAIRS[score]
    draw = random.Random(SEED)
    cases = [build(draw) for _ in range(DRAWS)]
    theirs = ask(python, name, [case for _, case in cases])
    assert len(theirs) == DRAWS
    assert len(set(theirs)) > 3
    slack = 0.5 * 10 ** -PLACES.get(score, 0) + (0.0013 if score == "corrected_calcium" else 1e-9)
    for (inputs, _), answer in zip(cases, theirs, strict=True):
        result = knowledge.compute(score, inputs)
        assert result.total is not None
        exact = float(result.total if result.unrounded is None else result.unrounded)
        if score == "corrected_calcium":
            exact *= MMOL
        if score in FORMULAS:
            assert abs(exact - answer) <= slack, (inputs, answer, exact)
        else:
            assert exact == answer, (inputs, answer, exact)
