"""Units as people write them; conversions both ways."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.patients.knowledge import convert, labs, unit, units


@pytest.mark.parametrize(
    ("written", "ucum"),
    [
        ("K/uL", "10*3/uL"),
        ("10^9/L", "10*9/L"),
        ("×10⁹/L", "10*9/L"),
        ("x10^9/L", "10*9/L"),
        ("10E9/L", "10*9/L"),
        ("x 10^9/L", "10*9/L"),
        ("10*3/uL", "10*3/uL"),
        ("万/μL", "10*4/uL"),
        ("万/mm³", "10*4/uL"),
        ("cells/mm3", "/uL"),
        ("mcg", "ug"),
        ("µg", "ug"),
        ("μg", "ug"),
        ("mcg/mL", "ug/mL"),
        ("IU/L", "U/L"),
        ("mEq/L", "meq/L"),
        ("meq/l", "meq/L"),
        ("MG/DL", "mg/dL"),
        ("ｍｍｏｌ／Ｌ", "mmol/L"),
        ("克/升", "g/L"),
        ("次/分", "/min"),
        ("bpm", "/min"),
        ("毫米汞柱", "mm[Hg]"),
        ("mm Hg", "mm[Hg]"),
        ("℃", "Cel"),
        ("°F", "[degF]"),
        ("mL/min/1.73m²", "mL/min/{1.73_m2}"),
        ("mL/min/1.73 m2", "mL/min/{1.73_m2}"),
        ("µIU/mL", "u[IU]/mL"),
        ("mg per dL", "mg/dL"),
        ("#/hpf", "/[HPF]"),
        ("拷贝/mL", "{copies}/mL"),
        ("kg/m²", "kg/m2"),
        ("sec", "s"),
        ("lbs", "[lb_av]"),
        ("", ""),
    ],
)
def test_unit(written: str, ucum: str) -> None:
    found = unit(written)
    assert found is not None and found.ucum == ucum


@pytest.mark.parametrize("written", ["furlong", "mg/dL/L", "毫", "9", "10^9", "mmol/", "K"])
def test_no_unit(written: str) -> None:
    assert unit(written) is None


def test_every_writing_in_the_table_reads_as_its_own_unit() -> None:
    for entry in units().values():
        for written in (entry.ucum, entry.display, *entry.variants):
            found = unit(written)
            assert found is not None and found.ucum == entry.ucum, written


@pytest.mark.parametrize(
    ("value", "start", "goal", "lab", "expected"),
    [
        ("1.2", "mg/dL", "µmol/L", "creatinine", "106.08"),
        ("106.08", "umol/L", "mg/dL", "creatinine", "1.2"),
        ("100", "mg/dL", "mmol/L", "glucose", "5.55"),
        ("5", "mEq/L", "mmol/L", "potassium", "5"),
        ("10", "mg/dL", "mmol/L", "calcium", "2.495"),
        ("2", "mEq/L", "mg/dL", "ionized_calcium", "4.008"),
        ("9.2", "万/μL", "×10⁹/L", None, "92"),
        ("92", "g/L", "g/dL", None, "9.2"),
        ("98.6", "°F", "°C", None, "37"),
        ("37", "℃", "°F", None, "98.6"),
        ("0.35", "fraction", "%", None, "35"),
        ("2.5", "mIU/L", "µIU/mL", "tsh", "2.5"),
        ("500", "ng/mL", "ng/mL FEU", "d_dimer", "1000"),
        ("52", "ng/L", "ng/mL", "troponin_t", "0.052"),
        ("7", "%", "mmol/mol", "hba1c", "53.00565"),
        ("28", "mL/min", "mL/min/1.73m2", "egfr", "28"),
        ("1", "kg", "mg", None, "1000000"),
    ],
)
def test_convert(value: str, start: str, goal: str, lab: str | None, expected: str) -> None:
    assert convert(Decimal(value), start, goal, lab) == Decimal(expected)


@pytest.mark.parametrize(
    ("start", "goal", "lab"),
    [
        ("mg/dL", "mmol/L", None),
        ("mEq/L", "mmol/L", None),
        ("mEq/L", "mmol/L", "albumin"),
        ("mg/dL", "mmol/L", "albumin"),
        ("g/dL", "%", "hemoglobin"),
        ("mg/dL", "furlong", "creatinine"),
        ("mg/dL", "mmol/L", "no_such_lab"),
        ("mmHg", "mg/dL", "creatinine"),
        ("%", "", "hba1c"),
    ],
)
def test_not_equivalent(start: str, goal: str, lab: str | None) -> None:
    assert convert(Decimal(1), start, goal, lab) is None


def test_monovalent_only() -> None:
    """For divalent ions a milliequivalent is half a millimole."""
    for lab, ratio in (("sodium", 1), ("chloride", 1), ("bicarbonate", 1), ("calcium", 2), ("magnesium", 2)):
        there = convert(Decimal(1), "mmol/L", "mEq/L", lab)
        assert there is not None and there.quantize(Decimal("0.0001")) == ratio, lab


def test_the_table_of_clinical_factors() -> None:
    factors = {
        ("creatinine", "umol/L"): "88.4",
        ("bilirubin_total", "umol/L"): "17.1",
        ("glucose", "mmol/L"): "0.0555",
        ("urea_nitrogen", "mmol/L"): "0.357",
        ("calcium", "mmol/L"): "0.2495",
        ("magnesium", "mmol/L"): "0.4114",
        ("phosphate", "mmol/L"): "0.3229",
        ("cholesterol_total", "mmol/L"): "0.02586",
        ("triglycerides", "mmol/L"): "0.01129",
    }
    for (lab, to), factor in factors.items():
        assert convert(Decimal(1), "mg/dL", to, lab) == Decimal(factor), lab
    assert round(convert(Decimal(1), "mg/dL", "mmol/L", "lactate") or Decimal(0), 3) == Decimal("0.111")


_WAYS = [(lab.id, lab.unit, other) for lab in labs().values() for other in lab.factors]


@pytest.mark.parametrize(("lab", "home", "away"), _WAYS)
def test_both_ways_for_every_lab(lab: str, home: str, away: str) -> None:
    for value in (Decimal("0.1"), Decimal("1.37"), Decimal(140)):
        there = convert(value, home, away, lab)
        assert there is not None
        back = convert(there, away, home, lab)
        assert back is not None and abs(back - value) < Decimal("1e-20")
        if value == Decimal(140):
            assert there != value or labs()[lab].factors[away] == 1


@given(
    value=st.decimals(min_value="0.0001", max_value="1000000", places=4),
    pair=st.sampled_from([(a, b) for a in units() for b in units() if units()[a].dimension == units()[b].dimension]),
)
def test_one_dimension_converts_and_comes_back(value: Decimal, pair: tuple[str, str]) -> None:
    there = convert(value, *pair)
    assert there is not None
    back = convert(there, pair[1], pair[0])
    assert back is not None and abs(back - value) <= Decimal("1e-18") * max(value, Decimal(1))
