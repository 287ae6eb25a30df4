"""How values are written: digits, limits, words and flags; what a hospital bed does; the files of labs."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.patients.hospital.life import Illness, Pair, Person
from wardround.patients.hospital.physiology import Body, Shift
from wardround.patients.hospital.physiology_core import law
from wardround.patients.hospital.physiology_reporting import FORMULAS
from wardround.patients.hospital.physiology_stay import stay_effects, stay_shifts
from wardround.patients.hospital.physiology_text import amount, as_text, flag, rounded, written
from wardround.patients.knowledge import Baseline, LabProfile, couplings, lab_audit, lab_profiles, labs, panels
from wardround.patients.rng import Stream
from wardround.patients.times import DAY, parse_instant

NOON = parse_instant("2020-03-01T12:00:00")
WANTED = {
    "bmp", "cbc", "cbc_diff", "lfts", "coags", "cardiac_markers", "abg", "vbg", "lipids", "iron_studies", "thyroid",
    "urinalysis", "urine_lytes", "magnesium_phosphate", "lactate", "bnp_panel", "inflammatory", "hba1c_panel", "vitals",
    "admission_vitals", "ascites_fluid", "csf", "hemolysis", "pancreatic", "ketones",
}  # fmt: skip


@given(st.integers(-(10**10), 10**10), st.integers(0, 4))
def test_numbers_are_written_half_up(value: int, digits: int) -> None:
    expected = (Decimal(value) / 10**6).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    text = written(rounded(value, 10 ** (6 - digits)), digits)
    assert Decimal(text) == expected
    assert text.partition(".")[2].isdigit() or not digits
    assert not text.startswith("-0") or Decimal(text) != 0
    assert amount(text) == int(expected * 10**6)


def test_limits_are_written_as_assays_do() -> None:
    troponin, potassium = law("troponin_t"), law("potassium")
    assert troponin is not None and potassium is not None
    assert as_text(troponin, 4_000) == "<0.01"
    assert as_text(troponin, 30_000_000) == ">25.00"
    assert as_text(troponin, 12_400) == "0.01"
    assert as_text(potassium, 30_000_000) == "7.6"
    with pytest.raises(ValueError, match="negative"):
        amount("negative")


@pytest.mark.parametrize(
    ("text", "low", "high", "expected"),
    [
        ("3.4", "3.5", "5.1", "L"), ("3.5", "3.5", "5.1", None), ("5.1", "3.5", "5.1", None),
        ("5.2", "3.5", "5.1", "H"), ("<0.01", None, "0.01", None), (">150.0", "25", "36.5", "H"),
        ("<10", "30", "200", "L"),
        ("90", "60", None, None), ("positive", None, None, None), ("120/80", None, None, None), ("-6", "-2", "3", "L"),
    ],
)  # fmt: skip
def test_flags(text: str, low: str | None, high: str | None, expected: str | None) -> None:
    assert flag(text, low, high) == expected


def person(age: int = 60) -> Person:
    return Person(
        "female", f"{2020 - age}-01-01", "A", "White", "English", "single", 165, Decimal(70), Pair("x", "x"),
        "never", 0, "none", 0, "alone",
    )  # fmt: skip


def test_tests_read_as_words_go_by_steps() -> None:
    for size, expected in (("0", "negative"), ("14", "negative"), ("15", "trace"), ("120", "2+"), ("9000", "4+")):
        ill = Body(person(), ("w", 1), [Shift("urine_protein", "d1", "add", Decimal(size), NOON, NOON)])
        assert ill.panel(["urine_protein"], NOON + DAY) == {"urine_protein": expected}

    for size, expected in (("0.4", "none"), ("1", "few"), ("3", "many"), ("9", "many")):
        ill = Body(person(), ("w", 1), [Shift("urine_bacteria", "d1", "add", Decimal(size), NOON, NOON)])
        assert ill.panel(["urine_bacteria"], NOON + DAY) == {"urine_bacteria": expected}


def illness(condition: str) -> Illness:
    return Illness("d1", condition, "A00.0", "Some illness", "acute", "severe", NOON - DAY, NOON)


def test_a_hospital_bed_tells() -> None:
    def hemoglobin(age: int, key: int) -> tuple[Decimal, Decimal]:
        shifts = stay_shifts(illness("pneumonia"), age, NOON, Stream("bed", key))
        ill, well = Body(person(age), ("b", key), shifts), Body(person(age), ("b", key))
        now, before = ill.value("hemoglobin", NOON + DAY), well.value("hemoglobin", NOON + DAY)
        later = ill.value("hemoglobin", NOON + 200 * DAY)
        again = well.value("hemoglobin", NOON + 200 * DAY)
        assert now is not None and before is not None and later is not None and again is not None
        assert abs(later - again) < Decimal("0.1")
        return before - now, before

    old = [hemoglobin(70, key)[0] for key in range(20)]
    young = [hemoglobin(12, key)[0] for key in range(20)]
    assert min(old) > 2
    assert max(young) < Decimal("1.6")
    assert stay_shifts(illness("depression"), 70, NOON, Stream("bed", 1)) == ()
    assert {one.lab for one in stay_effects()} <= set(lab_profiles())


def test_the_files_of_labs_fit_together() -> None:
    assert lab_audit() == []
    assert {one.formula for one in lab_profiles().values() if one.formula} == set(FORMULAS)
    assert all(set(one.reads) <= set(lab_profiles()) for one in FORMULAS.values())
    # noise on an exact formula would break it; these three are measured, or measured beside
    noisy = {one.id for one in lab_profiles().values() if one.formula and one.noise_percent}
    assert noisy == {"po2", "pt", "osmolality"}


def test_there_is_as_much_as_was_asked_for() -> None:
    assert len(lab_profiles()) >= 160
    assert set(panels()) >= WANTED
    assert set(lab_profiles()) <= set(labs())
    assert all(panel.name.zh and panel.name.en for panel in panels().values())
    assert len(couplings()) > 50


def test_the_audit_finds_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    from wardround.patients.knowledge import lab_audit as module_function  # the function; its module is patched below

    good = lab_profiles()["sodium"]
    bad = {
        "sodium": good.model_copy(update={"loinc": "1-8", "baselines": (Baseline(mean=Decimal(99), sd=Decimal(1)),)}),
        "moonlight": LabProfile(id="moonlight", charted=("Moonlight",), assumption=True),
        "glucose": lab_profiles()["glucose"].model_copy(update={"least": Decimal(900), "most": Decimal(20)}),
    }
    monkeypatch.setitem(module_function.__globals__, "lab_profiles", lambda: bad)
    found = "\n".join(lab_audit())
    for part in ("LOINC 1-8", "usual 99", "`moonlight` is no lab", "`least` is not below", "has no profile"):
        assert part in found
