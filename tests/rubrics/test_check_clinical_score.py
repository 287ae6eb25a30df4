"""`clinical_score`: totals and components as English and Chinese answers state them, and near misses that fail."""

from __future__ import annotations

import time

import pytest

from wardround.patients import UsageError, knowledge
from wardround.rubrics import (
    ClinicalScoreCheck,
    Item,
    Not,
    Text,
    TurnScore,
    TurnSpec,
    check_answer,
    is_guard,
    score,
    validate_spec,
)
from wardround.rubrics.checks.score_claims import read_score
from wardround.rubrics.checks.score_names import score_places
from wardround.rubrics.evidence import TurnTrace
from wardround.rubrics.reading import MAX_CHARACTERS, read
from wardround.rubrics.reading.tokens import tokenise

STATED: list[tuple[str, float, str]] = [
    ("meld_na", 17, "MELD-Na score is 17 (bilirubin 2.0 mg/dL, INR 1.2)."),
    ("meld_na", 17, "MELD-Na 评分为17分，Child-Pugh评分 C级 10分。"),
    ("child_pugh", 10, "MELD-Na 评分为17分，Child-Pugh评分 C级 10分。"),
    ("child_pugh", 10, "Child-Pugh 10/15, qSOFA 2/3."),
    ("qsofa", 2, "Child-Pugh 10/15, qSOFA 2/3."),
    ("has_bled", 3, "HAS-BLED of three."),
    ("sofa", 10, "SOFA rose from 6 to 10"),
    ("curb_65", 3, "CURB-65 3 points"),
    ("sofa", 10, "SOFA score 10 out of 24"),
    ("qsofa", 2, "qSOFA两分"),
    ("curb_65", 3, "CURB-65评分为3分"),
    ("cockcroft_gault", 40.5, "CrCl is 40.5 mL/min by Cockcroft-Gault"),
    ("cockcroft_gault", 40.5, "By Cockcroft-Gault the creatinine clearance is about 40.5 mL/min."),
    ("ranson", 4, "Ranson score: 4 (age 1, WBC 1)"),
    ("wells_pe", 4.5, "Wells 4.5 points; HAS-BLED=3;NEWS2 is 7"),
    ("has_bled", 3, "Wells 4.5 points; HAS-BLED=3;NEWS2 is 7"),
    ("news2", 7, "Wells 4.5 points; HAS-BLED=3;NEWS2 is 7"),
    ("sofa", 10, "SOFA 6→10"),
    ("child_pugh", 8, "Child-Pugh class B (8)"),
    ("sofa", 8, "SOFA is not 10 but 8"),
    ("cha2ds2_vasc", 4, "CHA₂DS₂-VASc评分4分"),
    ("egfr_ckd_epi_2021", 88, "eGFR (CKD-EPI 2021) 88 mL/min/1.73m²"),
    ("sofa", 10, "SOFA 总分 十 分"),
    ("sofa", 10, "SOFA评分：呼吸2分，凝血2分，共10分"),
    ("sofa", 10, "SOFA score = 2+2+1+3+2+0 = 10"),
    ("cha2ds2_vasc", 4, "She scores 4 on CHA2DS2-VASc and 3 on HAS-BLED."),
    ("has_bled", 3, "She scores 4 on CHA2DS2-VASc and 3 on HAS-BLED."),
    ("meld_na", 17, "With bilirubin 2.0 and INR 1.2, MELD-Na with creatinine 1.5 and sodium 135 is 17."),
    ("meld_na", 17, "The MELD is 15 and the MELD-Na 17."),
    ("meld", 15, "The MELD is 15 and the MELD-Na 17."),
    ("meld_3", 18, "MELD 3.0: 18"),
    (
        "sofa",
        10,
        "The SOFA score was calculated. Respiration 2, coagulation 2, cardiovascular 3, liver 1, CNS 2. "
        "The total is 10 points.",
    ),
    ("cha2ds2_vasc", 4, "CHA2DS2-VASc is 4: 1 for age, 1 for hypertension, 2 for stroke."),
    ("anion_gap", 12, "The anion gap is 12 mEq/L."),
    ("corrected_calcium", 8.8, "Corrected calcium 8.8 mg/dL"),
    ("corrected_calcium", 8.8, "Corrected calcium is 2.20 mmol/L"),
    ("news2", 5, "NEWS score of 5"),
    ("sofa", 10, "| Score | Value |\n|---|---|\n| SOFA | 10 |\n| qSOFA | 2 |"),
    ("meld_na", 17, "His MELD-Na today comes out at 17 points."),
    ("meld_na", 17, "A score of 17 on MELD-Na."),
    ("meld_na", 17, "该患者的MELD-Na评分是十七分。"),
    ("cockcroft_gault", 40.5, "肌酐清除率（Cockcroft-Gault）约40.5 mL/min"),
    ("egfr_ckd_epi_2021", 88, "按CKD-EPI 2021公式，eGFR为88 mL/min/1.73m²。"),
    ("sofa", 10, "SOFA was 6 yesterday and is 10 today."),
    ("wells_pe", 4.5, "The Wells score for PE is 4.5 (PE likely)."),
    ("wells_pe", 4.5, "肺栓塞Wells评分4.5分，提示可能性大。"),
    ("meld_na", 17, "**MELD-Na:** 17"),
    ("meld_na", 17, "MELD-Na (OPTN 2016) = 17"),
    ("sirs", 2, "She meets 2 SIRS criteria."),
    ("sirs", 2, "2 of 4 SIRS criteria are met."),
    ("sirs", 2, "符合2项SIRS标准。"),
    ("sirs", 2, "SIRS标准符合2项"),
    ("sirs", 2, "SIRS criteria: 2 of 4 met"),
    ("curb_65", 3, "Her CURB-65 score comes to three: confusion, urea and age."),
    ("curb_65", 3, "CURB-65为三分。"),
    ("sofa", 10, "Sequential Organ Failure Assessment: 10 points, up from 6 on admission."),
    (
        "meld_na",
        17,
        "Using bilirubin 2.0 mg/dL, INR 1.2, creatinine 1.5 mg/dL and sodium 135 mmol/L, the MELD-Na "
        "score works out to 17.",
    ),
    (
        "child_pugh",
        9,
        "This is Child-Pugh B (9 points): bilirubin 2.4 mg/dL (2), albumin 3.1 g/dL (2), INR 1.5 (1), "
        "slight ascites (2), grade 1 encephalopathy (2).",
    ),
    (
        "cha2ds2_vasc",
        5,
        "CHA2DS2-VASc = 5 (age ≥75: 2, female: 1, hypertension: 1, diabetes: 1); anticoagulation is indicated.",
    ),
    ("has_bled", 2, "HAS-BLED评分2分（年龄1分，药物1分），出血风险不高。"),
    ("curb_65", 2, "CURB-65 2分（年龄≥65岁1分，尿素氮升高1分），中度风险"),
    ("wells_pe", 6, "Wells score 6.0: PE most likely (3), heart rate 110 (1.5), immobilisation (1.5)."),
    ("news2", 7, "Her NEWS2 score is 7, so escalate."),
    ("news2", 7, "NEWS2评分7分，需紧急评估"),
    ("qsofa", 2, "qSOFA = 2 (RR 24, SBP 96)"),
    ("ranson", 4, "Ranson criteria: 4 positive."),
    ("ranson", 4, "Ranson评分4分，提示重症"),
    ("egfr_ckd_epi_2021", 44, "Her eGFR is 44 mL/min/1.73m2 (stage G3b)."),
    ("cockcroft_gault", 40.5, "Using actual weight 75 kg, Cockcroft-Gault gives 40.5 mL/min."),
    ("cockcroft_gault", 40.5, "Cockcroft-Gault (weight 75 kg, age 70, creatinine 1.8 mg/dL): 40.5 mL/min."),
    ("anion_gap", 12, "AG = 140 - 104 - 24 = 12 mEq/L"),
    ("anion_gap", 12, "阴离子间隙为12 mmol/L"),
    ("corrected_calcium", 8.8, "校正血钙为2.2 mmol/L"),
    ("corrected_calcium", 8.8, "Calcium 8.0 mg/dL corrects to an albumin-corrected calcium of 8.8 mg/dL."),
    ("meld_na", 17, "MELD-Na评分：17分（胆红素2.0 mg/dL，INR 1.2）。"),
    ("sirs", 3, "SIRS 3/4"),
    ("sirs", 3, "3 SIRS criteria are met"),
    ("meld", 15, "MELD(i) is 15; after sodium, MELD-Na is 17."),
    ("meld_na", 17, "MELD(i) is 15; after sodium, MELD-Na is 17."),
    ("sofa", 10, "ＳＯＦＡ评分１０分"),
    ("has_bled", 3, "HAS-BLED is 3 (high), CHA2DS2-VASc 5."),
    ("meld_na", 17, "I calculate a MELD-Na of 17 from today's labs."),
    ("curb_65", 3, "CURB-65: confusion 1, urea 1, age 1 = 3"),
]

NOT_STATED: list[tuple[str, float, str]] = [
    ("meld_na", 17, "MELD-Na is 18."),
    ("meld_na", 17, "MELD is 17."),
    ("meld_na", 17, "Sodium 17."),
    ("sofa", 10, "SOFA 10 or 11"),
    ("sofa", 10, "SOFA 8-10"),
    ("sofa", 2, "SOFA ≥2 would mean sepsis."),
    ("sofa", 10, "If the SOFA were 10 we would worry."),
    ("sofa", 10, "SOFA is not 10."),
    ("sofa", 2, "SOFA: respiration 2, liver 1."),
    ("sofa", 10, ""),
    ("sofa", 6, "SOFA rose from 6 to 10"),
    ("sofa", 2, "SOFA 10 (qSOFA 2)"),
    ("qsofa", 10, "SOFA 10 (qSOFA 2)"),
    ("curb_65", 65, "CURB-65 was not calculated."),
    ("sofa", 10, "SOFA 9. SOFA 10."),
    ("sofa", 10, "SOFA 8, SOFA 9, SOFA 10, SOFA 11"),
    ("meld_na", 17, "MELD-Na was calculated from sodium 135. The patient is 17 years old."),
    ("has_bled", 3, "HAS-BLED of four."),
    ("cockcroft_gault", 40.5, "CrCl 50.5 mL/min"),
    ("egfr_ckd_epi_2021", 2021, "eGFR CKD-EPI 2021"),
    ("sofa", 10, "Her mother's SOFA was 10."),
    ("sofa", 10, "Is the SOFA 10?"),
    ("sofa", 10, "SOFA 10 mg/dL"),
    ("news2", 5, "Good news, 5 days left."),
    ("cha2ds2_vasc", 3, "She scores 4 on CHA2DS2-VASc and 3 on HAS-BLED."),
    ("sofa", 10, "SOFA评分不是10分。"),
]

SOFA_PARTS = {"respiration": 2, "coagulation": 2, "liver": 1, "cardiovascular": 3, "cns": 2, "renal": 0}
SOFA_ANSWERS = [
    "SOFA 10: respiration 2, coagulation 2, liver 1, cardiovascular 3, CNS 2, renal 0.",
    "SOFA评分10分：呼吸2分，凝血2分，肝脏1分，循环3分，神经2分，肾脏0分。",
    (
        "SOFA 10 points (2 points for respiration, 2 for coagulation, 1 for liver, 3 for "
        "cardiovascular, 2 for CNS and 0 for renal)"
    ),
    (
        "SOFA = 10\n- Respiration: 2 (PaO2/FiO2 219)\n- Coagulation: 2 (platelets 88)\n- Liver: 1 "
        "(bilirubin 1.57 mg/dL)\n- Cardiovascular: 3\n- CNS: 2 (GCS 10)\n- Renal: 0 (creatinine 1.04 "
        "mg/dL)"
    ),
    (
        "| Component | Points |\n|---|---|\n| Respiration | 2 |\n| Coagulation | 2 |\n| Liver | 1 |\n| "
        "Cardiovascular | 3 |\n| CNS | 2 |\n| Renal | 0 |\n| SOFA total | 10 |"
    ),
    (
        "SOFA: platelets 88 K/uL (2 points), GCS 10 (2 points), bilirubin 1.57 mg/dL (1 point), "
        "respiration 2, cardiovascular 3, renal 0; total 10."
    ),
]


def judged(score_id: str, total: float, answer: str, **more: object) -> bool:
    check = ClinicalScoreCheck.model_validate({"score": score_id, "total": total, **more})
    return check_answer(check, answer, language="en").passed


@pytest.mark.parametrize(("score_id", "total", "answer"), STATED)
def test_a_stated_total_passes_and_its_neighbours_fail(score_id: str, total: float, answer: str) -> None:
    assert judged(score_id, total, answer)
    assert not judged(score_id, total + 1, answer)
    assert not judged(score_id, total - 1, answer)


@pytest.mark.parametrize(("score_id", "total", "answer"), NOT_STATED)
def test_what_is_no_statement_of_that_total(score_id: str, total: float, answer: str) -> None:
    assert not judged(score_id, total, answer)


@pytest.mark.parametrize("answer", SOFA_ANSWERS)
def test_components(answer: str) -> None:
    assert judged("sofa", 10, answer, components=SOFA_PARTS)
    for name, points in SOFA_PARTS.items():
        assert not judged("sofa", 10, answer, components={name: points + 1})
    assert not judged("sofa", 9, answer, components=SOFA_PARTS)


def test_a_component_left_out_is_named() -> None:
    check = ClinicalScoreCheck(score="sofa", total=10, components={"liver": 1})
    verdict = check_answer(check, "SOFA 10: respiration 2.", language="en")
    assert not verdict.passed
    assert "`liver`" in verdict.reason


@pytest.mark.parametrize("score_id", sorted(knowledge.scores()))
def test_every_name_of_every_score_is_recognised(score_id: str) -> None:
    found = knowledge.scores()[score_id]
    unit = "" if found.unit == "{score}" else " " + found.unit
    for name in dict.fromkeys((found.name.en, *found.synonyms.en)):
        assert judged(score_id, 12, f"{name}: 12{unit}."), name
        assert not judged(score_id, 12, f"{name}: 15{unit}."), name
    for name in dict.fromkeys((found.name.zh or found.name.en, *found.synonyms.zh)):
        assert judged(score_id, 12, f"患者{name}为12{unit}。"), name


def test_the_longest_name_decides() -> None:
    places = score_places(tokenise("MELD, MELD-Na, MELD 3.0, SOFA, qSOFA, news, NEWS"))
    assert [place.ids[0] for place in places] == ["meld", "meld_na", "meld_3", "sofa", "qsofa", "news2"]


def test_both_ranson_variants_are_called_ranson() -> None:
    assert judged("ranson", 3, "Ranson score 3")
    assert judged("ranson_gallstone", 3, "Ranson score 3")


def test_a_ladder_of_totals_earns_nothing() -> None:
    ladder = "; ".join(f"SOFA {total}" for total in range(25))
    assert not any(judged("sofa", total, ladder) for total in range(25))


def test_units_of_scores_that_are_measurements() -> None:
    assert judged("corrected_calcium", 8.8, "Corrected calcium is 2.2 mmol/L.")
    assert judged("corrected_calcium", 2.2, "Corrected calcium is 8.8 mg/dL.", unit="mmol/L")
    assert not judged("corrected_calcium", 8.8, "Corrected calcium is 8.8 mmol/L.")
    assert not judged("egfr_ckd_epi_2021", 44, "eGFR 44 mg/dL")


def test_the_verdict_quotes_the_number() -> None:
    answer = "The MELD is 15 and the MELD-Na 17."
    verdict = check_answer(ClinicalScoreCheck(score="meld_na", total=17), answer, language="en")
    (span,) = verdict.spans
    assert answer[span.start : span.end] == span.text == "17"


def test_too_long_and_empty_answers() -> None:
    check = ClinicalScoreCheck(score="sofa", total=10)
    verdict = check_answer(check, "SOFA 10 " + "x" * MAX_CHARACTERS, language="en")
    assert verdict.unreadable
    assert not verdict.passed
    assert not check_answer(check, "", language="en").passed


@pytest.mark.parametrize("unit", ["SOFA 10 ", "SOFA ", "1 + ", "SOFA age 1, qSOFA 2; ", "CHA2DS2-", "7 "])
def test_long_adversarial_answers_are_read_in_time(unit: str) -> None:
    """Repetition must not make it quadratic; the bound is far above what a busy machine takes."""
    reading = read(("SOFA " + unit * 5000)[:MAX_CHARACTERS])
    begin = time.process_time()
    read_score(reading, "sofa")
    assert time.process_time() - begin < 5.0


# --- rubrics ------------------------------------------------------------------------------------------------------


def spec(check: ClinicalScoreCheck | Not) -> TurnSpec:
    item = Item(id="score", text=Text(en="The score."), check=check)
    other = Item(id="other", text=Text(en="SOFA."), check=ClinicalScoreCheck(score="sofa", total=10))
    return TurnSpec(task="CR", rubric=(item, other))


def test_it_is_affirmative_and_its_negation_a_guard() -> None:
    check = ClinicalScoreCheck(score="sofa", total=10)
    assert not is_guard(check)
    assert is_guard(Not(check=check))
    assert validate_spec(spec(check)) == []


def test_it_earns_in_a_turn() -> None:
    found: TurnScore = score(spec(ClinicalScoreCheck(score="qsofa", total=2)), "SOFA 10, qSOFA 2.", TurnTrace())
    assert [verdict.passed for verdict in found.verdicts[:2]] == [True, True]


@pytest.mark.parametrize(
    ("check", "words"),
    [
        ({"score": "apache", "total": 3}, "apache"),
        ({"score": "sofa", "total": 3, "components": {"heart": 1}}, "heart"),
        ({"score": "sofa", "total": 3, "components": {"liver": 5}}, "cannot have 5 points"),
        ({"score": "meld", "total": 9, "components": {"inr": 1}}, "it has none"),
        ({"score": "anion_gap", "total": 12, "unit": "mg/dL"}, "mg/dL"),
    ],
)
def test_checks_that_cannot_be_judged_are_refused_at_load(check: dict[str, object], words: str) -> None:
    plain = ClinicalScoreCheck.model_validate(check)
    for one in (plain, Not(check=plain)):
        (problem,) = validate_spec(spec(one))
        assert problem.startswith("item `score`:")
        assert words in problem


def test_an_unknown_score_names_itself() -> None:
    with pytest.raises(UsageError, match="apache"):
        check_answer(ClinicalScoreCheck(score="apache", total=3), "APACHE 3", language="en")


def test_the_check_survives_json() -> None:
    check = ClinicalScoreCheck(score="sofa", total=10, components={"liver": 1})
    assert ClinicalScoreCheck.model_validate_json(check.model_dump_json()) == check
