"""The audit of labs finds each kind of fault; that the packaged files have none stands with the physiology."""

from __future__ import annotations

from decimal import Decimal
from importlib import import_module
from typing import Any

import pytest

from wardround.patients.knowledge import Baseline, LabEffect, StandIn, couplings

AUDIT = import_module("wardround.patients.knowledge.lab_audit")


def _faults(monkeypatch: pytest.MonkeyPatch, table: str, key: str, change: dict[str, Any]) -> list[str]:
    """Audit with one entry of a table changed."""
    good = getattr(AUDIT, table)()
    changed = {**good, key: good[key].model_copy(update=change)}
    monkeypatch.setattr(AUDIT, table, lambda: changed)
    found: list[str] = AUDIT.lab_audit()
    return found


_ADULTS = Baseline(from_age=30, mean=Decimal(140), sd=Decimal(2))


@pytest.mark.parametrize(
    ("lab", "change", "words"),
    [
        ("sodium", {"baselines": ()}, "`sodium` has neither baselines nor a formula"),
        ("sodium", {"baselines": (_ADULTS,)}, "`sodium` has no baseline for male of 0"),
        ("sodium", {"category": "vital-signs"}, "`sodium` is vital-signs, in labs.json a lab"),
        ("sodium", {"charted": ("Moonlight",)}, "the chart's `Moonlight` is not read as `sodium`"),
        ("sodium", {"stands_for": StandIn(lab="potassium")}, "`sodium` stands for `potassium`: only computed labs do"),
        ("sodium", {"steps": (Decimal(2), Decimal(1))}, "give one rising step"),
        ("blood_pressure", {"stands_for": None}, "`blood_pressure` has neither baselines nor a formula"),
        ("inr", {"baselines": (Baseline(mean=Decimal(7), sd=Decimal(1)),)}, "`inr`: usual 7 at age 0 lies outside"),
    ],
)
def test_each_fault_of_a_profile_is_found(
    monkeypatch: pytest.MonkeyPatch, lab: str, change: dict[str, Any], words: str
) -> None:
    assert any(words in fault for fault in _faults(monkeypatch, "lab_profiles", lab, change))


def test_each_fault_of_a_coupling_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    key, good = next((key, one) for key, one in couplings().items() if one.of == "level")
    change = {"lab": good.from_lab, "above": None, "below": None}
    found = "\n".join(_faults(monkeypatch, "couplings", key, change))
    for words in ("should be `", "give one of `above` and `below`", f"`{good.from_lab}` depends on itself"):
        assert words in found


def test_each_fault_of_a_panel_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    found = "\n".join(_faults(monkeypatch, "panels", "bmp", {"labs": ("sodium", "sodium", "moonlight")}))
    for words in ("`bmp` holds a lab twice", "`bmp` holds `moonlight`, which has no profile"):
        assert words in found


def test_each_fault_of_what_a_drug_does_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    effect = LabEffect(lab="moonlight", mode="add", mild=(Decimal(1), Decimal(2)))
    found = "\n".join(
        _faults(monkeypatch, "drug_profiles", "aspirin", {"monitors": ("moonlight",), "effects": (effect,)})
    )
    for words in ("is monitored by `moonlight`", "moves `moonlight`, which has no profile"):
        assert words in found
