"""ICD codes that a spreadsheet made into numbers: dictionaries and rows are refused, no code is taken for another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.patients import DataError
from wardround.patients.importers._icd import MANY, MAY_HAVE_LOST, SHORTEST, doubtful
from wardround.patients.importers._titles import TitleBook
from wardround.patients.importers.diagnoses import dot
from wardround.patients.importers.report import Tally

HEAD = "icd_code,icd_version,long_title\n"
COLLIDING = (
    HEAD + "0340,9,Streptococcal sore throat\n340,9,Multiple sclerosis\n00845,9,C. difficile\n4019,9,Hypertension\n"
)
LOST = "icd_code has lost its leading zero"
Make = Callable[..., Any]


def coded(*codes: str, version: str = "9") -> str:
    """Return diagnoses of patient 1's admission."""
    rows = (f"1,10,{rank},{code},{version}\n" for rank, code in enumerate(codes, 1))
    return "subject_id,hadm_id,seq_num,icd_code,icd_version\n" + "".join(rows)


def names(chart: Any) -> set[str]:
    return {one["code"]["text"] for one in chart.all("Condition").values()}


def plain(count: int, first: int) -> str:
    return HEAD + "".join(f"{first + number},9,Title {number}\n" for number in range(count))


@pytest.mark.parametrize("name", ["d_icd_diagnoses", "d_icd_procedures"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEAD + "4019,9,Hypertension\n10,9,Cholera\n", ".csv`, line 3: `icd_code` is shorter than any code"),
        ("LONG_TITLE,ICD_VERSION,ICD_CODE\nCholera,9.0,1\n", ".csv`, line 2: `icd_code` is shorter"),
        (HEAD + "16070,9,Carcinoma in situ\n16070,10,Bypass\n", ".csv`, line 3: `icd_code` is shorter"),
        (plain(MANY, 1000), f".csv`, column `icd_code`: none of its {MANY} ICD-9 codes begins with 0"),
    ],
    ids=["short", "short in another order", "PCS", "no zero in many"],
)
def test_a_dictionary_that_lost_its_zeros_is_refused(name: str, text: str, words: str, invented: Make) -> None:
    with pytest.raises(DataError) as caught:
        invented(**{name: text})
    assert f"`{name}{words}" in str(caught.value)
    assert "Fetch it again" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        plain(MANY, 1000) + "0389,9,Septicemia\n",
        plain(MANY - 1, 1000),
        HEAD + "A00,10,Cholera\n",
        HEAD + "10,,nameless\n,9,codeless\n",
    ],
)
def test_a_whole_dictionary_is_read(text: str, invented: Make) -> None:
    assert invented(d_icd_diagnoses=text, diagnoses_icd=coded("1001")).refused("d_icd_diagnoses") == {}


def test_a_code_under_two_titles_is_named_by_none(invented: Make) -> None:
    text = (
        HEAD + "340,9,Multiple sclerosis\n340,9,Streptococcal sore throat\n4019,9,Hypertension\n4019,9,Hypertension\n"
    )
    chart = invented(d_icd_diagnoses=text, diagnoses_icd=coded("340", "4019"))
    assert names(chart) == {"340", "Hypertension"}
    assert chart.refused("d_icd_diagnoses") == {
        "icd_version and icd_code stand twice with different titles; the code is named by none": 2,
        "icd_version and icd_code stand twice; the first row is kept": 1,
    }


def test_a_whole_table_is_believed(invented: Make) -> None:
    """A code with a leading zero proves the file; so does the absence of any sign."""
    for codes in (("0340", "340"), ("340", "4019")):
        chart = invented(d_icd_diagnoses=COLLIDING, diagnoses_icd=coded(*codes))
        assert chart.refused("diagnoses_icd") == {}
        assert "Multiple sclerosis" in names(chart)


@pytest.mark.parametrize("sign", ["845", "10"])
def test_one_sign_makes_every_code_that_may_be_another_doubtful(sign: str, invented: Make) -> None:
    """845 was 00845, so 340 may have been 0340; 4019 has no longer form and stays."""
    chart = invented(d_icd_diagnoses=COLLIDING, diagnoses_icd=coded("340", sign, "4019"))
    assert names(chart) == {"Hypertension"}
    short = "icd_code is not an ICD code of 3 to 8 letters and digits"
    assert chart.refused("diagnoses_icd") == {MAY_HAVE_LOST: 1, (LOST if sign == "845" else short): 1}


def test_without_a_dictionary_only_full_codes_of_a_damaged_table_are_believed(invented: Make) -> None:
    chart = invented(diagnoses_icd=coded("340", "10", "25000", "V707"))
    assert names(chart) == {"250.00", "V70.7"}
    assert chart.refused("diagnoses_icd") == {MAY_HAVE_LOST: 2}
    assert invented(diagnoses_icd=coded("340", "25000")).refused("diagnoses_icd") == {}


def test_procedures_and_the_emergency_department_follow_the_same_rule(invented: Make) -> None:
    chart = invented(
        d_icd_procedures=HEAD + "0331,9,Spinal tap\n331,9,Incision of lung\n0066,9,PTCA\n",
        procedures_icd="subject_id,hadm_id,seq_num,chartdate,icd_code,icd_version\n"
        "1,10,1,2150-03-02,331,9\n1,10,2,2150-03-02,66,9\n",
        d_icd_diagnoses=COLLIDING,
        edstays="subject_id,hadm_id,stay_id,intime,outtime\n1,10,5,2150-03-01 08:00:00,2150-03-01 10:00:00\n",
        diagnosis="subject_id,stay_id,seq_num,icd_code,icd_version,icd_title\n1,5,1,340,9,x\n1,5,2,845,9,y\n",
    )
    assert chart.refused("procedures_icd")[MAY_HAVE_LOST] == 1
    assert chart.refused("diagnosis") == {MAY_HAVE_LOST: 1, LOST: 1}


@pytest.mark.parametrize(("code", "kept"), [("401.9", True), ("38.9", False), ("4019.0", False), ("V70.7", True)])
def test_a_dot_stands_in_its_place(code: str, kept: bool, invented: Make) -> None:
    refused = invented(diagnoses_icd=coded(code)).refused("diagnoses_icd")
    assert refused == ({} if kept else {"icd_code has its dot in the wrong place (a lost zero?)": 1})


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_no_code_is_taken_for_another(data: st.DataObject) -> None:
    """A table whose zeros were dropped: every changed code is refused, unless nothing at all tells of the damage."""
    code = st.text("012", min_size=3, max_size=5)
    known = data.draw(st.sets(code, min_size=1))
    before = data.draw(st.lists(st.sampled_from(sorted(known)), min_size=1, unique=True))
    after = {one: str(int(one)) for one in before}
    book = TitleBook()
    book.learn(((n, None, one, "9", one) for n, one in enumerate(sorted(known))), Tally("d_icd_diagnoses"))
    suspects = doubtful("diagnoses_icd", {"diagnoses_icd": set(after.values()), "d_icd_diagnoses": known})
    mistaken = {
        old
        for old, new in after.items()
        if old != new and len(new) >= SHORTEST and new not in suspects and not book.fault("9", new, new, dot(new, "9"))
    }
    signs = {new for new in after.values() if len(new) < SHORTEST or new not in known}
    assert not mistaken or not signs
    whole = doubtful("diagnoses_icd", {"diagnoses_icd": set(before), "d_icd_diagnoses": known})
    assert not whole or not any(one.startswith("0") for one in before)
