"""Planted flaws: each is found in the chart by a rule, its label is right, and nothing else of the record moved."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from functools import cache
from typing import Any

import hospital_detectors as detectors
import hospital_fixture as fixture
import pytest

from wardround.patients import Fact, Interview, UsageError
from wardround.patients.hospital.charting import chart_record
from wardround.patients.hospital.flaws import CLEAN, FlawRates, flawed, plant, plant_counted
from wardround.patients.hospital.flaws_draft import flaw_data
from wardround.patients.hospital.life import Life
from wardround.patients.hospital.living import make_life
from wardround.patients.hospital.record import Flaw, Record
from wardround.patients.hospital.writing import write_record
from wardround.patients.resource import instant_text

KINDS = [field.name for field in fields(FlawRates)]


def drawn(record: Record) -> dict[str, tuple[str, str]]:
    return {one.id: (instant_text(one.at), one.lab) for one in record.life.results}


def interviews() -> dict[str, Interview]:
    told = Fact(
        id="a", kind="adherence", concept="metoprolol_succinate", drug="metoprolol_succinate", state="stopped",
        source="simulated",
    )  # fmt: skip
    return {f"{fixture.PATIENT}-e2": Interview(facts=(told,))}


def view(record: Record) -> Any:
    return detectors.View(chart_record(record).chart(), interviews())


def only(kind: str) -> Record:
    return plant(fixture.make_record(), FlawRates(**{kind: 1000}))


def flaws(kind: str, detail: str) -> tuple[Record, list[Flaw]]:
    record = only(kind)
    return record, [flaw for flaw in record.flaws if flaw.detail == detail]


def test_a_clean_record_comes_back_as_it_is_and_no_rule_objects() -> None:
    record = fixture.make_record()
    planted = plant_counted(record, CLEAN)
    assert planted.record is record
    assert planted.eligible == {}
    seen = view(record)
    for name, rule in detectors.DETECTORS.items():
        assert list(rule(seen)) == [], name


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_planted_and_found_by_its_rule(kind: str) -> None:
    record = only(kind)
    assert record.flaws, kind
    assert {flaw.kind for flaw in record.flaws} == {kind}
    seen = view(record)
    for flaw in record.flaws:
        assert detectors.finds(seen, flaw, drawn(fixture.make_record())), flaw


def test_all_kinds_at_once_make_a_valid_chart_whose_labels_name_what_is_there() -> None:
    record = plant(fixture.make_record(), FlawRates(**dict.fromkeys(KINDS, 400)))
    chart = chart_record(record).chart()
    there = {f"{kind}/{one['id']}" for kind in chart.index.spans for one in chart.at(2**61).resources(kind)}
    assert len({flaw.id for flaw in record.flaws}) == len(record.flaws)
    for flaw in record.flaws:
        if flaw.kind == "missing":
            assert there.isdisjoint(flaw.places)
            assert flaw.charted == ""
        else:
            assert there.issuperset(flaw.places)
            assert flaw.charted
        assert flaw.right
        assert flaw.encounter is None or f"Encounter/{flaw.encounter}" in there


def test_the_right_answer_is_what_was_charted_before() -> None:
    before = {one.id: one for one in fixture.make_record().life.results}
    record, found = flaws("unit_slip", "glucose_in_mmol/L")
    after = {one.id: one for one in record.life.results}
    assert [flaw.right for flaw in found] == ["142"] * 3
    assert {after[flaw.facts[0]].text for flaw in found} == {"7.9"}
    _, pounds = flaws("contradiction", "weight_in_lb")
    assert {(flaw.charted, flaw.right) for flaw in pounds} == {("154.3", before[pounds[0].facts[0]].text)}
    _, lists = flaws("contradiction", "med_list_vs_note")
    assert {"metoprolol succinate 100 mg oral once daily"} <= {flaw.charted for flaw in lists}
    assert {"metoprolol succinate 50 mg"} <= {flaw.right for flaw in lists}
    _, sides = flaws("contradiction", "laterality")
    assert any("right lower lobe" in flaw.charted and "left lower lobe" in flaw.right for flaw in sides)
    _, loose = flaws("ambiguous_drug_name", "insulin")
    assert [flaw.right for flaw in loose] == ["insulin lispro"]


def test_a_copied_list_still_names_the_stopped_drug() -> None:
    record, found = flaws("outdated_copy", "stopped_drug")
    assert [flaw.facts for flaw in found] == [("rx2",)]
    part = next(part for note in record.notes if note.id == "n3" for part in note.parts if part.slug == "medications")
    assert "ceftriaxone" in part.text
    assert part.sentences[0].facts == ("rx2",), "the copied words still rest on what they were written from"


def test_the_stranger_is_nobody_of_this_chart() -> None:
    record = only("wrong_patient")
    name = fixture.make_life().person.name
    for flaw in record.flaws:
        assert not any(part in flaw.charted for part in name.split())


def test_an_order_against_an_allergy_is_not_given() -> None:
    record, found = flaws("contradiction", "allergy_vs_order")
    assert found
    number = found[0].places[0].removeprefix(f"MedicationRequest/{fixture.PATIENT}-")
    assert number not in {dose.prescription for dose in record.life.doses}


def test_places_are_counted_and_draws_do_not_move_each_other() -> None:
    record = fixture.make_record()
    some = plant_counted(record, FlawRates(unit_slip=500))
    more = plant_counted(record, FlawRates(unit_slip=500, wrong_patient=1000))
    assert some.eligible["unit_slip"] == more.eligible["unit_slip"] == 9
    mine = [flaw.facts for flaw in some.record.flaws]
    assert [flaw.facts for flaw in more.record.flaws if flaw.kind == "unit_slip"] == mine


def test_rates_are_met_over_many_places() -> None:
    rates = FlawRates(unit_slip=300, wrong_patient=300)
    places, planted = 0, 0
    record = fixture.make_record()
    for index in range(120):
        one = plant_counted(replace(record, life=replace(record.life, index=index)), rates)
        places += one.eligible["unit_slip"]
        planted += sum(flaw.kind == "unit_slip" for flaw in one.record.flaws)
    assert places == 1080
    assert abs(planted - 324) < 324 // 7  # three standard deviations


@cache
def _life(index: int) -> tuple[Life, Record, dict[str, Interview]]:
    life = make_life(23, index)
    told: dict[str, list[Fact]] = {}
    for one in life.adherence:
        fact = Fact(id=one.id, kind="adherence", concept=one.drug, drug=one.drug, state=one.state, source="simulated")
        told.setdefault(f"{life.patient_id}-{one.encounter}", []).append(fact)
    return life, write_record(life), {stay: Interview(facts=tuple(facts)) for stay, facts in told.items()}


@pytest.mark.parametrize("index", range(5))
def test_rules_object_to_what_was_planted_in_a_generated_chart_and_to_nothing_else(index: int) -> None:
    life, record, told = _life(index)
    clean = detectors.View(chart_record(record).chart(), told)
    assert {name: list(rule(clean)) for name, rule in detectors.DETECTORS.items() if list(rule(clean))} == {}
    planted = plant(record, FlawRates(**dict.fromkeys(KINDS, 150)))
    seen = detectors.View(chart_record(planted).chart(), told)
    assert len(planted.flaws) > 5
    for flaw in planted.flaws:
        assert detectors.finds(seen, flaw, drawn(record)), flaw
    assert planted.life.illnesses == life.illnesses


def test_rates_of_the_release_are_data_and_rates_are_checked() -> None:
    assert asdict(flawed()) == flaw_data()["rates"]
    with pytest.raises(UsageError, match="rate of missing is `1001`"):
        FlawRates(missing=1001)
