"""The drug profiles: the audit finds nothing in them, and finds each fault put into them."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from importlib import resources
from typing import Any

import orjson
import pytest

from wardround.patients.dosing import dose_and_rate, timing
from wardround.patients.knowledge import dose_amount, drug_audit, drug_profiles, monitoring, times_a_day
from wardround.patients.knowledge.drug_audit import UNTIMED
from wardround.patients.voice import voice_data
from wardround.rubrics.orders.doses import read_doses
from wardround.rubrics.orders.frequencies import read_frequency


def _document() -> dict[str, Any]:
    file = resources.files("wardround.patients.knowledge").joinpath("data", "drug_profiles.json")
    document: dict[str, Any] = orjson.loads(file.read_bytes())
    return document


def _found(document: dict[str, Any]) -> list[str]:
    lines = b",\n".join(orjson.dumps(entry) for entry in document["entries"])
    return drug_audit({"drug_profiles.json": b'{"format_version": 1, "entries": [\n' + lines + b"\n]}\n"})


def test_the_audit_finds_nothing() -> None:
    assert drug_audit() == []


def test_there_are_enough_drugs_with_what_the_hospital_needs() -> None:
    profiles = drug_profiles()
    assert len(profiles) >= 200
    assert sum(1 for one in profiles.values() if one.renal or one.hepatic) >= 150
    assert sum(1 for one in profiles.values() if one.high_risk) >= 40
    assert sum(len(one.interactions) for one in profiles.values()) >= 400
    assert all(one.lay.en and one.look.en for one in profiles.values())
    assert all(one.adverse for one in profiles.values() if one.home)
    children = {one.id for one in profiles.values() if any(rule.from_age < 12 for rule in one.doses)}
    assert children >= {
        "acetaminophen", "amoxicillin", "azithromycin", "ceftriaxone", "ibuprofen", "insulin_glargine",
        "insulin_lispro", "levetiracetam", "ondansetron", "prednisolone", "salbutamol",
    }  # fmt: skip


def test_every_dose_reads_with_the_project_s_readers() -> None:
    for profile in drug_profiles().values():
        for rule in profile.doses:
            for text in (rule.dose, *rule.others):
                assert dose_and_rate(text) is not None, (profile.id, text)
                found = read_doses(text).amounts
                counted = ("application", "inhalation", "spray", "milliunits")
                assert len(found) == 1 or any(word in text for word in counted), (profile.id, text)


def test_every_frequency_reads_with_the_project_s_readers_and_means_the_same() -> None:
    used = {frequency for one in drug_profiles().values() for rule in one.doses for frequency in rule.frequency}
    for frequency in sorted(used):
        read = read_frequency(frequency)
        if frequency in UNTIMED:
            assert read.continuous or read.prn
            continue
        assert "repeat" in timing(frequency), frequency
        times = times_a_day(frequency)
        assert times is not None
        assert read.once or read.low == times, frequency


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("500 mg", "500", "mg"),
        ("62.5 mcg", "0.0625", "mg"),
        ("1 g", "1000", "mg"),
        ("2 puffs", "2", "puff"),
        ("1 puff", "1", "puff"),
        ("0.05 mcg/kg/min", "0.00005", "mg/kg/min"),
        ("18 units/kg/hr", "18", "unit/kg/h"),
        ("3 patches", "3", "patch"),
    ],
)
def test_amounts(text: str, value: str, unit: str) -> None:
    amount = dose_amount(text)
    assert amount is not None
    assert (amount.value, amount.unit) == (Decimal(value), unit)


@pytest.mark.parametrize("text", ["", "some", "5-10 mg", "500mg twice", "mg 5", "1 tablet (5 mg)"])
def test_what_is_no_amount(text: str) -> None:
    assert dose_amount(text) is None


def test_times_a_day() -> None:
    assert times_a_day("BID") == 2
    assert times_a_day("every 8 hours") == 3
    assert times_a_day("once weekly") == Fraction(1, 7)
    assert times_a_day("every 72 hours") == Fraction(1, 3)
    assert times_a_day("once") == 1
    assert times_a_day("continuous") is None


def test_every_drug_that_is_watched_by_its_level_has_it_charted() -> None:
    profiles = drug_profiles()
    for pair in monitoring().values():
        if not pair.lab.endswith("_level"):
            continue
        for drug in pair.drugs:
            if drug in profiles:
                assert pair.lab in profiles[drug].monitors, (drug, pair.lab)
                assert any(effect.lab == pair.lab for effect in profiles[drug].effects), (drug, pair.lab)


def test_local_routes_move_and_need_no_labs() -> None:
    vancomycin = drug_profiles()["vancomycin"]
    assert "vancomycin_level" in vancomycin.monitors_by("IV")
    assert vancomycin.monitors_by("oral") == ()
    assert vancomycin.effects_by("oral") == ()
    assert vancomycin.effects_by("IV") == vancomycin.effects


_BREAKS: list[tuple[str, dict[str, Any], str]] = [
    ("id", {"id": "no_such_drug"}, "not in drugs.json"),
    ("charted", {"charted": ["qwertz"]}, "does not read `qwertz`"),
    ("monitors", {"monitors": ["no_such_lab"]}, "`no_such_lab` is no lab"),
    ("risk without labs", {"high_risk": True, "monitors": []}, "a high-risk drug needs labs"),
    ("route", {"doses": [{"route": "by air", "dose": "5 mg", "frequency": ["BID"]}]}, "doses.0.route: Input should be"),
    ("dose", {"doses": [{"route": "oral", "dose": "5-10 mg", "frequency": ["BID"]}]}, "is not one amount"),
    ("unit", {"doses": [{"route": "oral", "dose": "5 mg", "most": "5 mL", "frequency": ["BID"]}]}, "`5 mL` is not"),
    ("frequency", {"doses": [{"route": "oral", "dose": "5 mg", "frequency": ["often"]}]}, "`often` is not known"),
    (
        "single dose",
        {"doses": [{"route": "oral", "dose": "50 mg", "most": "20 mg", "frequency": ["BID"]}]},
        "above the greatest single dose",
    ),
    (
        "daily dose",
        {"doses": [{"route": "oral", "dose": "50 mg", "daily_most": "80 mg", "frequency": ["BID"]}]},
        "above the greatest daily amount",
    ),
    ("ages", {"doses": [{"route": "oral", "dose": "5 mg", "frequency": ["BID"], "below_age": 9}]}, "is not below"),
    (
        "renal bounds",
        {"renal": [{"act": "avoid", "why": {"en": "no", "zh": "不可"}}]},
        "a renal rule has bounds",
    ),
    (
        "organ dose",
        {"renal": [{"below": "30", "act": "reduce", "dose": "5 mL", "why": {"en": "less", "zh": "减量"}}]},
        "`5 mL` is not an amount in",
    ),
    (
        "idle rule",
        {"renal": [{"below": "30", "act": "reduce", "why": {"en": "less", "zh": "减量"}}]},
        "with dose None",
    ),
    (
        "empty contraindication",
        {"contraindications": [{"why": {"en": "no", "zh": "不可"}}]},
        "names nothing that it depends on",
    ),
    (
        "unbounded lab",
        {"contraindications": [{"lab": "potassium", "why": {"en": "no", "zh": "不可"}}]},
        "go together",
    ),
    ("english", {"lay": {"en": ["心脏药"], "zh": ["心脏药"]}}, "is not English"),
    ("chinese", {"lay": {"en": ["heart pill"], "zh": ["heart pill"]}}, "is not Chinese"),
    (
        "one wording",
        {"adverse": [{"finding": "nausea", "percent": 5, "say": {"en": ["The {drug} hurt."], "zh": ["{drug}疼。"]}}]},
        "needs more wordings",
    ),
    (
        "effect",
        {"effects": [{"lab": "sodium", "mode": "add", "mild": ["2", "1"]}]},
        "2 lies above 1",
    ),
]


@pytest.fixture(scope="module")
def broken() -> list[str]:
    """Faults of a document with one change in each of its first drugs."""
    document = _document()
    for entry, (_, change, _) in zip(document["entries"], _BREAKS, strict=False):
        entry.update(change)
    return _found(document)


@pytest.mark.parametrize(
    ("number", "fault"), [pytest.param(n, fault, id=name) for n, (name, _, fault) in enumerate(_BREAKS)]
)
def test_the_audit_finds_faults(broken: list[str], number: int, fault: str) -> None:
    line = f"drug_profiles.json:{number + 2}: "
    assert any(one.startswith(line) and fault in one for one in broken), fault


def test_the_audit_misses_a_drug_of_a_treatment_line() -> None:
    document = _document()
    document["entries"] = [one for one in document["entries"] if one["id"] != "furosemide"]
    assert any(line.startswith("drug_profiles.json: furosemide: no usual dose in") for line in _found(document))


def test_the_audit_finds_an_interaction_told_in_two_ways() -> None:
    document = _document()
    entries = {one["id"]: one for one in document["entries"]}
    words = {"en": "bleeding", "zh": "出血"}
    entries["aspirin"]["interactions"] = [{"other": "warfarin", "severity": "major", "effect": words}]
    assert "drug_profiles.json: aspirin and warfarin: told as major and as moderate; tell it once" in _found(document)


def test_what_patients_say_fits_every_speaker() -> None:
    people = voice_data()["people"]
    for profile in drug_profiles().values():
        for effect in profile.adverse:
            for en, zh in zip(effect.say.en, effect.say.zh, strict=True):
                for person in people.values():
                    assert "{" not in en.format_map({**person, "drug": "pill"}), (profile.id, en)
                assert "{" not in zh.format_map({"S": "我", "drug": "药"}), (profile.id, zh)
        for en in (*profile.lay.en, *profile.look.en):
            assert not en.startswith(("my ", "the ", "a ", "an ")), (profile.id, en)


def test_what_befalls_one_sex_only_says_so() -> None:
    told = {effect.finding: effect.sex for one in drug_profiles().values() for effect in one.adverse}
    assert told["erectile_dysfunction"] == told["gynecomastia"] == "male"
    assert told["vaginal_discharge"] == "female"


def test_names_of_a_dose_form_stand_only_where_the_dose_has_that_form() -> None:
    forms = {
        "inhaled": ("HFA", "Respimat", "inhaler"), "transdermal": ("patch", "TTS"), "ophthalmic": ("eye drops",),
        "rectal": ("enema", "suppository"), "nasal": ("nasal", "Flonase"),
    }  # fmt: skip
    for drug, profile in drug_profiles().items():
        for rule in profile.doses:
            for name in rule.charted or profile.charted:
                told = {route for route, words in forms.items() if any(word in name for word in words)}
                allowed = {rule.route, "transdermal" if rule.route == "topical" else rule.route}
                assert told <= allowed, (drug, rule.key, rule.route, name)
                if "HFA" in name:
                    assert rule.dose.endswith(("puff", "puffs", "mcg")), (drug, rule.dose, name)


def test_heparin_moves_the_clotting_time_only_when_it_runs_into_a_vein() -> None:
    heparin = drug_profiles()["heparin"]
    vein = [effect for effect in heparin.effects_by("IV") if effect.lab == "aptt"]
    skin = [effect for effect in heparin.effects_by("subcutaneous") if effect.lab == "aptt"]
    assert len(vein) == len(skin) == 1
    assert vein[0].mild[0] > skin[0].mild[1]
