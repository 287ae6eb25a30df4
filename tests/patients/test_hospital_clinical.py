"""Every check of `hospital_clinical` can fail: lives with one treatment put wrong are caught."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import pytest
from hospital_clinical import faults

from wardround.patients.hospital.life import Culture, Life, Prescription, Stay
from wardround.patients.hospital.living import make_life
from wardround.patients.hospital.making import HOUR
from wardround.patients.times import DAY

_LIVES = 150


@cache
def _life(index: int) -> Life:
    return make_life(5, index)


def _lives() -> Iterator[Life]:
    return (_life(index) for index in range(_LIVES))


def _ward(life: Life, *conditions: str) -> Stay | None:
    ill = {one.id: one.condition for one in life.illnesses}
    return next(
        (
            one
            for one in life.stays
            if one.kind == "ward" and one.disposition != "died" and (not conditions or ill[one.principal] in conditions)
        ),
        None,
    )


def _untreated() -> Life:
    for life in _lives():
        stay = _ward(life, "pneumonia", "sepsis", "pyelonephritis")
        if stay is not None:
            kept = tuple(one for one in life.prescriptions if one.indication != stay.principal)
            done = tuple(one for one in life.treated if one.illness != stay.principal)
            return replace(life, prescriptions=kept, treated=done)
    raise AssertionError("nobody has an infection")


def _grown() -> tuple[Life, Culture]:
    for life in _lives():
        for one in life.cultures:
            if {"ceftriaxone", "cefepime"} <= dict(one.susceptibilities).keys():
                return life, one
    raise AssertionError("nothing grew")


def _unlikely() -> Life:
    life, grown = _grown()
    reads = tuple((drug, "S" if drug == "ceftriaxone" else "R") for drug, _ in grown.susceptibilities)
    rest = tuple(one for one in life.cultures if one.id != grown.id)
    return replace(life, cultures=(*rest, replace(grown, susceptibilities=reads)))  # type: ignore[arg-type] # S and R


def _order(life: Life, drug: str, stay: Stay, **fields: object) -> Prescription:
    """Return an order of a drug that runs through a stay."""
    base = replace(life.prescriptions[0], id="rx900", drug=drug, name=drug, kind="inpatient", encounter=stay.id,
                   indication=stay.principal, start=stay.start + HOUR, stop=stay.end, line=None)  # fmt: skip
    return replace(base, **fields)  # type: ignore[arg-type] # fields of Prescription


def _resisted() -> Life:
    life, grown = _grown()
    reads = tuple((drug, "R") for drug, _ in grown.susceptibilities)
    rest = tuple(one for one in life.cultures if one.id != grown.id)
    at = grown.stages[-1].at + HOUR
    wrong = replace(life.prescriptions[0], id="rx900", drug="ceftriaxone", kind="discharge", indication=grown.illness,
                    start=at, stop=at + DAY)  # fmt: skip
    changed = replace(grown, susceptibilities=reads)  # type: ignore[arg-type] # R alone
    return replace(life, cultures=(*rest, changed), prescriptions=(*life.prescriptions, wrong))


def _pressed() -> Life:
    life = next(one for one in _lives() if _ward(one) is not None)
    stay = _ward(life)
    assert stay is not None
    return replace(life, prescriptions=(*life.prescriptions, _order(life, "norepinephrine", stay)))


def _unthinned() -> Life:
    for life in _lives():
        stay = _ward(life, "pulmonary_embolism", "deep_vein_thrombosis")
        if stay is not None:
            kept = [one for one in life.prescriptions if one.indication != stay.principal]
            short = _order(life, "heparin", stay, stop=stay.start + 3 * HOUR)
            others = [one for one in kept if one.start > stay.end + 2 * DAY or one.kind == "home"]
            return replace(life, prescriptions=(*others, short))
    raise AssertionError("nobody has a clot")


def _hot() -> Life:
    life = next(one for one in _lives() if _ward(one) is not None)
    stay = _ward(life)
    assert stay is not None
    warm = next(one for one in life.results if one.lab == "temperature")
    late = replace(warm, id="v900", text="39.4", at=stay.end - HOUR, encounter=stay.id)
    return replace(life, results=(*life.results, late))


def _bled() -> Life:
    life = next(one for one in _lives() if _ward(one) is not None)
    stay = _ward(life)
    assert stay is not None
    read = next(one for one in life.results if one.lab == "hemoglobin")
    return replace(life, results=(*life.results, replace(read, id="l900", text="6.4", at=stay.end, encounter=stay.id)))


def _rushed() -> Life:
    life = next(one for one in _lives() if _ward(one) is not None and one.treated)
    stay = _ward(life)
    assert stay is not None
    red = replace(life.treated[0], id="p900", procedure="transfusion", at=stay.start, end=stay.start + HOUR,
                  encounter=stay.id)  # fmt: skip
    return replace(life, treated=(*life.treated, red))


def _unwatched() -> Life:
    life = next(one for one in _lives() if _ward(one) is not None)
    return replace(life, results=tuple(one for one in life.results if one.lab != "heart_rate"))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (_untreated, "without any of"), (_unlikely, "susceptible to ceftriaxone and resistant to cefepime"),
        (_resisted, "is resistant"), (_pressed, "home within a day of norepinephrine"),
        (_unthinned, "without anticoagulant"), (_hot, "39.4 on the day of discharge"),
        (_bled, "home with hemoglobin 6.4"), (_rushed, "red cells in less than two hours"),
        (_unwatched, "no vital signs for"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found(wrong: Callable[[], Life], words: str) -> None:
    assert any(words in one for one in faults(wrong()))


def test_who_can_have_nothing_safe_is_not_left_untreated() -> None:
    """A failing heart with a pressure of 80 gets no diuretic; with a normal one it is a fault to give none."""
    for life in _lives():
        stay = _ward(life, "acute_decompensated_heart_failure")
        if stay is not None:
            kept = tuple(one for one in life.prescriptions if one.drug not in ("furosemide", "bumetanide", "torsemide"))
            bare = replace(life, prescriptions=kept, treated=())
            assert any("without any of" in one for one in faults(bare))
            low = tuple(replace(one, text="80/50") if one.lab == "blood_pressure" else one for one in life.results)
            assert not any("without any of" in one for one in faults(replace(bare, results=low)))
            return
    raise AssertionError("nobody has a failing heart")
