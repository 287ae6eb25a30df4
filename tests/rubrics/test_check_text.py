"""The text checks: what verdicts say beside pass and fail, and the limits of equivalence."""

import pytest

from wardround.rubrics.checks.amounts import same_number
from wardround.rubrics.checks.dates import same_day
from wardround.rubrics.reading import MAX_CHARACTERS
from wardround.rubrics.reading.moments import stated_day
from wardround.rubrics.rubric import AvoidsCheck, MentionCheck, StatusCheck, ValueCheck
from wardround.rubrics.scoring import check_answer


def test_a_verdict_quotes_the_words_it_rests_on() -> None:
    answer = "Her potassium is 5.8 mmol/L today."
    verdict = check_answer(ValueCheck(concept="potassium", value=5.8, unit="mmol/L"), answer, language="en")
    assert verdict.passed
    (span,) = verdict.spans
    assert answer[span.start : span.end] == span.text
    assert "5.8" in span.text


@pytest.mark.parametrize(
    "check", [ValueCheck(concept="potassium", value=5.8, unit="mmol/L"), AvoidsCheck(act="start", target="ibuprofen")]
)
def test_an_answer_too_long_to_read_passes_nothing_not_even_a_guard(check: ValueCheck | AvoidsCheck) -> None:
    verdict = check_answer(check, "x" * (MAX_CHARACTERS + 1), language="en")
    assert verdict.unreadable
    assert not verdict.passed


@pytest.mark.parametrize(
    ("stated", "stated_unit", "wanted", "unit", "concept", "same"),
    [
        ("4.12", "mmol/L", "4.1", "mmol/L", "lactate", True),
        ("4", "mmol/L", "4.1", "mmol/L", "lactate", False),
        ("8.0", "ng/mL", "7.98", "ng/mL", "digoxin_level", True),
        ("5.6", "mmol/L", "5.6", "mEq/L", "potassium", True),
        ("82", "g/L", "8.2", "g/dL", "hemoglobin", True),
        ("92", "g/L", "8.2", "g/dL", "hemoglobin", False),
        ("1.9", "mmol/L", "1.9", "mg/dL", "phosphate", False),
        ("259", "mg/dL", "14.4", "mmol/L", "glucose", True),
        ("58", "mmol/mol", "7.5", "%", "hba1c", True),
        ("190", "[lb_av]", "81.6", "kg", "weight", False),
        ("0.35", None, "35", "%", "lvef", True),
        ("123456789012345678901234", "mmol/L", "5.6", "mEq/L", "potassium", False),
    ],
)
def test_equivalent_amounts(
    stated: str, stated_unit: str | None, wanted: str, unit: str, concept: str, same: bool
) -> None:
    assert same_number(stated, stated_unit, wanted, unit, concept) is same


def test_dates_that_name_a_day_must_agree() -> None:
    assert stated_day("14 march 2024") == (2024, 3, 14)
    assert stated_day("3月14") == (None, 3, 14)
    assert same_day("14 March", (2024, 3, 14))
    assert not same_day("2024-03-15", (2024, 3, 14))
    assert same_day("two days", (2024, 3, 14))


def test_both_languages_are_read_whatever_was_asked() -> None:
    check = StatusCheck(concept="血钾", status="high")
    assert check_answer(check, "Potassium is high.", language="zh").passed
    assert not check_answer(check, "Potassium is high. 血钾正常。", language="zh").passed


def test_both_polarities_pass_neither() -> None:
    answer = "He has pneumonia. There is no pneumonia."
    for polarity in ("present", "absent"):
        assert not check_answer(MentionCheck(concept="pneumonia", polarity=polarity), answer, language="en").passed  # type: ignore[arg-type]
