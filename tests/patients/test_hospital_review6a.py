"""What the sixth reading found in care: the first hour, potassium, withdrawal, and pregnancy with a high pressure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from types import SimpleNamespace

from hospital_many_lives import lives_with, many_lives, stays_for, values_of

from wardround.patients.hospital.generation import rules
from wardround.patients.hospital.life import Life, Prescription, Stay
from wardround.patients.hospital.making import HOUR, MINUTE
from wardround.patients.hospital.situating import is_a
from wardround.patients.hospital.working_up import _always
from wardround.patients.hospital.writing import write_record
from wardround.patients.knowledge.bedside import condition_profiles, drug_profiles
from wardround.patients.times import DAY

_WANTED = ("hyperkalemia", "nstemi", "preeclampsia", "alcohol_withdrawal", "stroke")


@cache
def _made() -> tuple[Life, ...]:
    """Return lives whose hospital stays are for what few of many lives come with, where it can come."""
    return lives_with(6063, lambda index: _WANTED[index % len(_WANTED) :], 20)


def _stays(*conditions: str) -> Iterator[tuple[Life, Stay, set[str]]]:
    """Yield hospital stays for some conditions, each with its life and the ids of the stay and its parts."""
    return stays_for((*_made(), *many_lives()), conditions)


def _arrival(life: Life, inside: set[str]) -> int:
    return min(one.start for one in life.stays if one.id in inside)


def _given(life: Life, inside: set[str], line: str) -> list[Prescription]:
    return [one for one in life.prescriptions if one.encounter in inside and one.line == line]


def test_an_acute_coronary_syndrome_is_seen_on_the_ecg_in_ten_minutes_and_treated_in_the_first_hour() -> None:
    seen = 0
    for life, stay, inside in _stays("nstemi", "unstable_angina"):
        if not any(one.kind == "ed" and one.id in inside for one in life.stays):
            continue
        came = _arrival(life, inside)
        traced = [one.at for one in life.studies if one.encounter in inside and one.study == "ecg"]
        assert min(traced) <= came + 10 * MINUTE, f"{life.index} {stay.id}"
        for order in _given(life, inside, "aspirin_load"):
            seen += 1
            assert came < order.start <= came + HOUR, f"{life.index} {order.id}"
        for order in _given(life, inside, "heparin"):
            clotting = [one.at for one in life.results if one.lab == "aptt" and order.start < one.at]
            assert order.stop is None or order.stop < order.start + 7 * HOUR or (
                min(clotting) <= order.start + 7 * HOUR
            ), f"{life.index} {order.id}"  # fmt: skip
    assert seen >= 3


def test_insulin_for_potassium_follows_its_result_and_is_followed_by_potassium_and_sugar() -> None:
    seen = 0
    for life, stay, inside in _stays("hyperkalemia"):
        for order in _given(life, inside, "shift"):
            before = [one.known_at for one in life.results if one.encounter in inside and one.lab == "potassium"
                      and one.known_at <= order.start]  # fmt: skip
            assert before, f"{life.index} {stay.id}: treated before the potassium was known"
            if not any(one.kind == "ed" and one.id in inside for one in life.stays):
                continue
            seen += 1
            assert order.start - min(before) <= HOUR, f"{life.index} {stay.id}"
            for lab in ("potassium", "glucose"):
                after = [one.at for one in life.results if one.lab == lab and one.at > order.start]
                assert after, f"{life.index} {order.id} {lab}"
                assert min(after) <= order.start + 2 * HOUR, f"{life.index} {order.id} {lab}"
            traced = [one.at for one in life.studies if one.study == "ecg" and order.start < one.at < stay.end]
            assert traced and min(traced) <= order.start + 3 * HOUR, f"{life.index} {order.id}"
        for line in ("calcium", "shift", "dextrose"):
            assert len(_given(life, inside, line)) <= 1, f"{life.index} {stay.id} {line}"
    assert seen >= 1


def test_a_high_pressure_in_pregnancy_is_treated_in_the_hour_through_a_vein() -> None:
    seen = 0
    for life, stay, inside in _stays("preeclampsia"):
        if not any(one.kind == "ed" and one.id in inside for one in life.stays):
            continue
        came = _arrival(life, inside)
        for line in ("bp_iv", "bp_ed", "bp_iv_else"):
            for order in _given(life, inside, line):
                seen += 1
                assert order.route == "IV", f"{life.index} {order.id}: {order.drug} {order.route}"
                assert order.start <= came + HOUR, f"{life.index} {stay.id}"
                after = [at for at, _ in values_of(life, "systolic_bp") if at > order.start]
                assert min(after) <= order.start + 30 * MINUTE, f"{life.index} {order.id}"
        drips = [one for one in _given(life, inside, "magnesium") if one.encounter != stay.id]
        loads = _given(life, inside, "magnesium_load")
        assert not drips or loads, f"{life.index} {stay.id}: magnesium without a load"
    assert seen >= 1


def test_severe_withdrawal_is_treated_through_a_vein_and_the_confused_get_much_thiamine() -> None:
    lines = {one.id: one for one in condition_profiles()["alcohol_withdrawal"].treatments}
    assert lines["benzo_iv"].severity == ("severe",)
    assert set(rules().lowered.lines) == {"benzo", "benzo_iv"}
    assert lines["thiamine_high"].needs == lines["thiamine_iv"].unless
    seen = 0
    for life, stay, inside in _stays("alcohol_withdrawal"):
        ill = next(one for one in life.illnesses if one.id == stay.principal)
        doses = [*_given(life, inside, "benzo"), *_given(life, inside, "benzo_iv")]
        for order in doses:
            seen += 1
            assert is_a(order.drug, ("benzodiazepine",)), f"{life.index} {order.id}"
            assert order.line == ("benzo_iv" if ill.severity == "severe" else "benzo"), f"{life.index} {order.id}"
        thiamine = {one.dose for one in life.prescriptions if one.encounter in inside and one.route == "IV"
                    and one.line == "thiamine_high"}  # fmt: skip
        assert thiamine <= {"500 mg"}, f"{life.index} {stay.id}"
    assert seen >= 1


def test_after_a_cesarean_nobody_is_found_with_child() -> None:
    seen = 0
    for life, stay, inside in _stays("preeclampsia"):
        cut = [one.end or one.at for one in life.treated if one.procedure == "cesarean_delivery"
               and one.encounter in inside]  # fmt: skip
        if not cut:
            continue
        uterus = [one for one in life.signs if one.finding == "gravid_uterus" and one.encounter in inside]
        assert not any(one.present and one.known_at > min(cut) for one in uterus), f"{life.index} {stay.id}"
        seen += any(not one.present and one.known_at > min(cut) for one in uterus)
    assert seen >= 1


def test_a_count_that_falls_on_an_anticoagulant_is_drawn_again_answered_and_booked() -> None:
    drawn = held = 0
    for life, stay, inside in stays_for(many_lives(), list(condition_profiles())):
        came = _arrival(life, inside)
        counts = [one for one in values_of(life, "hemoglobin") if came <= one[0] < stay.end]
        thin = [one for one in life.prescriptions if is_a(one.drug, ("anticoagulant",))]
        for number, (at, value) in enumerate(counts):
            fallen = value < 7 or max(before for _, before in counts[: number + 1]) - value >= 2
            running = [one for one in thin if one.start <= at and (one.stop is None or one.stop > at)]
            holds = number and value >= counts[number - 1][1]
            if not fallen or holds or not running or stay.disposition == "died":
                continue
            if not stay.start + 4 * HOUR < at < stay.end - 26 * HOUR:
                continue
            drawn += 1
            later = [one.at for one in life.results if one.lab == "hemoglobin" and one.at > at]
            assert any(one <= at + 9 * HOUR for one in later), f"{life.index} {stay.id}: {at - stay.start}, {later[:1]}"
            for order in running:
                if order.line == "vte_prophylaxis":
                    held += 1
                    assert order.stop is not None and order.stop <= at + 9 * HOUR, f"{life.index} {order.id}"
        stopped = [one for one in thin if one.stop_reason is not None and came <= (one.stop or 0) < stay.end
                   and one.stop_reason.en == rules().reasons[rules().falling.reason].pair().en]  # fmt: skip
        if stopped:
            told = {fact for one in life.events if one.kind == "dose_held" and one.encounter in inside
                    for fact in one.facts}  # fmt: skip
            assert {one.id for one in stopped} <= told, f"{life.index} {stay.id}"
        if stopped and stay.disposition != "died":
            booked = [item for plan in life.plans if plan.encounter == stay.id for item in plan.items
                      if item.kind == "lab" and "blood count" in item.text.en and item.due is not None]  # fmt: skip
            assert any(item.due <= stay.end + 9 * DAY for item in booked if item.due), f"{life.index} {stay.id}"
    assert (drawn >= 5, held >= 3) == (True, True), f"{drawn} {held}"


def test_magnesium_runs_until_a_day_after_delivery_and_its_level_is_watched() -> None:
    seen = 0
    for life, stay, inside in _stays("preeclampsia"):
        born = [one.end or one.at for one in life.treated if one.procedure == "cesarean_delivery"
                and one.encounter in inside]  # fmt: skip
        drips = _given(life, inside, "magnesium")
        if not born or not drips or stay.disposition == "died":
            continue
        seen += 1
        assert max(one.stop or 0 for one in drips) == min(max(born) + DAY, stay.end), f"{life.index} {stay.id}"
        begun = min(one.start for one in drips)
        levels = [one.at for one in life.results if one.lab == "magnesium" and begun < one.at < max(born) + DAY]
        assert len(levels) >= 2, f"{life.index} {stay.id}"
    assert seen >= 2


def test_urine_protein_by_ratio_and_strip_agrees_with_the_illness() -> None:
    seen = 0
    for life, stay, inside in _stays("preeclampsia"):
        ratios = [value for at, value in values_of(life, "upcr") if _arrival(life, inside) <= at < stay.end]
        if ratios:
            seen += 1
            assert max(ratios) >= Decimal("0.3"), f"{life.index} {stay.id}: {ratios}"
    assert seen >= 3


def test_a_minor_stroke_gets_two_antiplatelets_from_the_door_for_three_weeks() -> None:
    loaded = 0
    for life, stay, inside in _stays("stroke"):
        ill = next(one for one in life.illnesses if one.id == stay.principal)
        through_ed = any(one.kind == "ed" and one.id in inside for one in life.stays)
        if ill.severity != "mild" or not through_ed or stay.disposition == "died":
            continue
        had = {one.drug for one in life.prescriptions if one.encounter in inside and one.indication == ill.id}
        if not {"aspirin", "clopidogrel"} <= had:
            continue  # an anticoagulant, a bleed, or an allergy
        assert _given(life, inside, "aspirin_load") or _given(life, inside, "clopidogrel_load"), life.index
        loaded += bool(_given(life, inside, "clopidogrel_load"))
        for order in life.prescriptions:
            if order.line == "dual_antiplatelet" and order.kind == "discharge" and order.start == stay.end:
                assert order.stop is not None and order.stop - order.start <= 21 * DAY, f"{life.index} {order.id}"
    assert loaded >= 1


def test_what_was_stopped_for_an_adverse_effect_is_not_given_again_but_something_else_is() -> None:
    seen = replaced = 0
    for life in many_lives():
        stays = {one.id: one for one in life.stays}
        for fact in life.adherence:
            caused = any(one.finding == fact.reason_concept for one in drug_profiles()[fact.drug].adverse)
            if not (fact.charted and caused and fact.state == "stopped" and fact.encounter in stays):
                continue
            if is_a(fact.drug, rules().not_tolerated.kept):
                continue
            seen += 1
            stay = stays[fact.encounter]
            order = next(one for one in life.prescriptions if one.id == fact.prescription)
            assert order.stop is not None and order.stop <= stay.end, f"{life.index} {order.id}: {order.drug} goes on"
            later = [one for one in life.prescriptions if one.start > stay.start]
            assert order.drug not in {one.drug for one in later}, f"{life.index} {order.id}: {order.drug} again"
            together = [one for one in rules().not_tolerated.together if is_a(order.drug, (one,))]
            assert not any(is_a(one.drug, together) for one in later), f"{life.index} {order.id}"
            replaced += any(one.indication == order.indication and one.kind != "inpatient" for one in later)
    assert (seen >= 5, replaced >= 3) == (True, True), f"{seen} {replaced}"


def test_a_seizure_on_an_anticoagulant_is_always_scanned() -> None:
    asked = [
        _always(
            SimpleNamespace(  # type: ignore[arg-type] # what the rule looks at
                home=["rx1"],
                making=SimpleNamespace(orders={"rx1": SimpleNamespace(drug=drug)}, showing=frozenset({finding})),
            ),
            study,
        )
        for drug, finding, study in (
            ("apixaban", "seizure", "ct_head"),
            ("warfarin", "seizure", "ct_head"),
            ("apixaban", "tremor", "ct_head"),
            ("lisinopril", "seizure", "ct_head"),
            ("apixaban", "seizure", "ecg"),
        )
    ]
    assert asked == [True, True, False, False, False]


def test_nobody_in_severe_withdrawal_is_found_at_ease() -> None:
    seen = 0
    calm = re.compile(r"no (?:acute|apparent) distress|\bNAD\b|\bcomfortabl|well appearing|not in distress", re.I)
    for life in (*_made(), *many_lives()):
        scores = [one for one in life.results if one.lab == "ciwa"]
        if not any(Decimal(one.text) >= 20 for one in scores):
            continue
        for note in write_record(life).notes:
            known = [one for one in scores if one.known_at <= note.at and one.at >= note.at - DAY]
            if not known or Decimal(known[-1].text) < 20:
                continue
            for part in note.parts:
                if part.slug == "physical-exam":
                    seen += 1
                    assert not any(calm.search(one.text) for one in part.sentences), f"{life.index} {note.id}"
    assert seen >= 1
