"""The reader stays linear whatever the text, and reads alike under any hash seed, locale and time zone."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.rubrics.reading import MAX_CHARACTERS
from wardround.rubrics.reading.reading import Reading
from wardround.rubrics.rubric import AdviceCheck, MentionCheck, StatusCheck, ThresholdCheck, TrendCheck, ValueCheck
from wardround.rubrics.scoring import check_answer

FAMILIES = {
    "negations": "no not never without denies ",
    "chinese negations": "无不未没否认不能排除",
    "lists": "no fever, chills, nausea, vomiting, ",
    "numbers": "5.6 / 4.2 - 3.1 → 2.0 ",
    "digits": "1234567890",
    "units": "5 mg/dL mmol/L 10^9/L ",
    "units without numbers": "10^9/L x10^9/L 万/μL ",
    "names": "potassium creatinine INR hemoglobin ",
    "chinese names": "血钾肌酐血红蛋白国际标准化比值",
    "acts": "stop start hold continue metformin lisinopril ",
    "frames": "let's get a the his a the his should have a ",
    "chinese frames": "停用二甲双胍改用停用二甲双胍换成",
    "conditions": "if unless when should she if ",
    "links": "because so since → therefore as ",
    "tables": "| a | b | K 5.6 |\n",
    "one long row": "| K 5.6 ",
    "brackets": "((((((((",
    "quotes": "\"'\"'",
    "bullets": "- K 5.6\n",
    "sources": "he says she said 患者说 the chart notes ",
    "dates": "3/14 on 14 March 2024 3月14日 ",
    "spaces": "   \t",
    "marks": ".,;:。，；：",
    "hidden": "\u200b\u200d\ufeff",
    "wide": "５．６ｍｍｏｌ／Ｌ",
    "han numbers": "一百二十三万亿零点五",
}
CHECKS = (
    ValueCheck(kind="value", concept="potassium", value=5.6, unit="mmol/L"),
    StatusCheck(kind="status", concept="potassium", status="high"),
    MentionCheck(kind="mention", concept="fever", polarity="absent"),
    AdviceCheck(kind="advice", act="stop", target="metformin"),
    TrendCheck(kind="trend", concept="potassium", direction="falling"),
    ThresholdCheck(kind="threshold", concept="potassium", comparator="above", bound=5.5, unit="mmol/L"),
)


def _seconds(family: str) -> float:
    """Return the CPU seconds that six checks of the longest text of a family take."""
    unit = FAMILIES[family]
    text = (unit * (MAX_CHARACTERS // len(unit) + 1))[:MAX_CHARACTERS]
    Reading(unit)
    start = time.process_time()
    for check in CHECKS:
        check_answer(check, text, language="en")
    return time.process_time() - start


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_no_text_hangs_the_reader(family: str) -> None:
    """A bound on what grows with the square of the text, far above what a busy machine takes; no claim of speed."""
    assert _seconds(family) < 8.0


@pytest.mark.external
@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_the_longest_text_that_is_read_takes_less_than_a_second(family: str) -> None:
    assert min(_seconds(family) for _ in range(3)) < 1.0


def test_a_megabyte_is_refused_at_once_and_says_so() -> None:
    text = "no potassium 5.6 mmol/L, 血钾５．６，" * 30_000
    assert len(text.encode()) > 1_000_000
    start = time.process_time()
    verdict = check_answer(CHECKS[0], text, language="en")
    assert time.process_time() - start < 1.0
    assert verdict.unreadable and not verdict.passed
    assert "too long" in verdict.reason


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(sorted(FAMILIES.values())), max_size=12).map("".join), st.text(max_size=20))
def test_no_mixture_crashes_a_check(text: str, tail: str) -> None:
    for check in CHECKS:
        assert check_answer(check, text + tail, language="zh").reason


PROGRAM = """
import hashlib, sys
from pathlib import Path
from wardround.rubrics.grade import grade_row, read_rows
seen = hashlib.sha256()
for language in ("en", "zh"):
    for row in read_rows(Path(sys.argv[1]) / f"rows_{language}.jsonl"):
        verdict = grade_row(row)
        seen.update(repr((row["id"], verdict.passed, verdict.reason, verdict.spans)).encode())
print(seen.hexdigest())
"""


def test_verdicts_do_not_depend_on_hash_seed_locale_or_time_zone() -> None:
    data = str(Path(__file__).parent / "data")
    found = set()
    for seed, locale, zone in (("0", "C.UTF-8", "UTC"), ("4711", "C", "Asia/Shanghai")):
        env = dict(os.environ, PYTHONHASHSEED=seed, LC_ALL=locale, LANG=locale, TZ=zone, PYTHONUTF8="1")
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, data], env=env, capture_output=True, text=True, check=True
        )
        found.add(done.stdout)
    assert len(found) == 1
