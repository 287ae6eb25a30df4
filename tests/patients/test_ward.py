"""The built-in ward: valid charts, numbers that agree, interviews that keep their secrets, a store on first use."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest

from wardround.patients import (
    ChartStore,
    DataError,
    Dialogue,
    Interview,
    Measurement,
    Snapshot,
    UsageError,
    knowledge,
    load_charts,
    measurements,
    parse_instant,
    validate,
)
from wardround.patients.caching import CACHE_VARIABLE
from wardround.patients.ward import WardPatient, build_ward, ward_anchors, ward_catalog, ward_patients
from wardround.patients.ward import load as loading
from wardround.patients.ward.build import build_patient

PATIENTS = ward_patients()
IDS = [patient.id for patient in PATIENTS]
ADHERENCE = "patient.get_medication_adherence"
SYMPTOMS = "patient.get_symptom_history"
TOOLS = {
    SYMPTOMS,
    ADHERENCE,
    "patient.get_social_history",
    "patient.get_functional_status",
    "patient.get_pain_assessment",
}
ZH_MAY_HOLD = {"INR", "HIV"}
UNKNOWN_TO_KNOWLEDGE = {"Heparin-PF4 Antibody", "pH, Venous"}
"""Tests of the ward that the knowledge base has no concept for; nothing is asked about them."""

PAIRS = [
    ("ward-01", "metformin", "egfr", "L"),
    ("ward-01", "metformin", "creatinine", "H"),
    ("ward-01", "losartan", "potassium", None),
    ("ward-01", "atorvastatin", "alt", None),
    ("ward-02", "warfarin", "inr", "H"),
    ("ward-02", "amiodarone", "tsh", None),
    ("ward-02", "amiodarone", "alt", None),
    ("ward-03", "heparin", "platelets", None),
    ("ward-03", "metformin", "egfr", None),
    ("ward-03", "rosuvastatin", "alt", None),
    ("ward-04", "digoxin", "digoxin_level", "H"),
    ("ward-04", "digoxin", "potassium", "L"),
    ("ward-04", "furosemide", "potassium", "L"),
    ("ward-05", "spironolactone", "potassium", "H"),
    ("ward-05", "lisinopril", "creatinine", "H"),
    ("ward-05", "digoxin", "digoxin_level", None),
    ("ward-06", "vancomycin", "vancomycin_level", "H"),
    ("ward-06", "vancomycin", "creatinine", "H"),
    ("ward-07", "lithium", "lithium_level", None),
    ("ward-07", "levothyroxine", "tsh", "H"),
    ("ward-08", "methotrexate", "platelets", "L"),
    ("ward-08", "methotrexate", "wbc", "L"),
    ("ward-08", "vancomycin", "vancomycin_level", None),
    ("ward-09", "heparin", "platelets", "L"),
    ("ward-09", "furosemide", "potassium", None),
    ("ward-09", "insulin_glargine", "glucose", None),
    ("ward-10", "insulin_glargine", "glucose", None),
    ("ward-11", "levothyroxine", "tsh", None),
    ("ward-11", "lisinopril", "potassium", None),
    ("ward-11", "enoxaparin", "platelets", None),
    ("ward-12", "amiodarone", "tsh", "L"),
    ("ward-12", "amiodarone", "alt", "H"),
    ("ward-12", "simvastatin", "alt", "H"),
    ("ward-12", "spironolactone", "potassium", None),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChartStore]:
    path = tmp_path_factory.mktemp("ward") / "ward.sqlite"
    build_ward(path)
    with ChartStore.open(path) as opened:
        yield opened


@pytest.fixture(params=PATIENTS, ids=IDS)
def patient(request: pytest.FixtureRequest) -> WardPatient:
    found: WardPatient = request.param
    return found


def at_anchor(store: ChartStore, patient_id: str) -> Snapshot:
    return store.chart(patient_id).at(ward_anchors()[patient_id])


def latest(snapshot: Snapshot) -> dict[str, Measurement]:
    found: dict[str, Measurement] = {}
    for resource in snapshot.resources("Observation"):
        for one in measurements(resource):
            assert one.instant is not None
            known = found.get(one.concept)
            if known is None or known.instant is None or one.instant > known.instant:
                found[one.concept] = one
    return found


def active_drugs(snapshot: Snapshot) -> set[str]:
    names = [
        resource["medicationCodeableConcept"]["text"]
        for resource in snapshot.resources("MedicationRequest")
        if resource["status"] == "active"
    ]
    mentions = [knowledge.lexicon().scan(name, kinds=("drug",)) for name in names]
    return {mention.concepts[0] for found in mentions for mention in found}


# -- the charts --------------------------------------------------------------------------------------------------------


def test_there_are_twelve_varied_patients() -> None:
    assert [f"ward-{number:02}" for number in range(1, 13)] == IDS
    assert {patient.sex for patient in PATIENTS} == {"female", "male"}
    ages = [age(patient, patient.anchor) for patient in PATIENTS]
    assert min(ages) == 24
    assert max(ages) == 88
    chapters = {condition.code[0] for patient in PATIENTS for condition in patient.conditions}
    assert len(chapters & set("ABCDEFGHIJKLMN")) >= 8


def test_every_resource_is_valid_and_every_reference_resolves(patient: WardPatient) -> None:
    resources = [resource for resource, _ in build_patient(patient, ward_catalog()).resources()]
    keys = {f"{resource['resourceType']}/{resource['id']}" for resource in resources}
    assert len(keys) == len(resources)
    for resource in resources:
        assert validate(resource) == [], resource["id"]
        assert set(references(resource)) <= keys


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for name, value in node.items():
            if name == "reference":
                yield value
            else:
                yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def test_a_chart_has_the_parts_a_round_needs(patient: WardPatient) -> None:
    assert 2 <= len(patient.encounters) <= 4
    assert 25 <= sum(len(panel.values) for panel in patient.labs) <= 80
    assert len(patient.vitals) >= 4
    for part in ("conditions", "medications", "administrations", "allergies", "procedures", "reports", "care_plans"):
        assert getattr(patient, part), part
    assert {note.kind for note in patient.notes} >= {"history-physical", "progress-note", "discharge-summary"}
    assert any(dose.status == "not-done" and dose.note for dose in patient.administrations)
    assert all(re.fullmatch(r"[A-Z]\d[0-9A-Z](\.[0-9A-Z]{1,4})?", row.code) for row in patient.conditions)


def test_times_run_forward(patient: WardPatient) -> None:
    stays = {stay.id: stay for stay in patient.encounters}
    for panel in (*patient.labs, *patient.vitals):
        assert panel.at > patient.birth_date
        assert panel.stored is None or panel.stored > panel.at
        if panel.encounter is not None:
            assert stays[panel.encounter].start <= panel.at <= stays[panel.encounter].end, panel.at
    for order in patient.medications:
        assert order.stop is None or order.stop > order.start
        assert (order.stop is None) == (order.ended is None)
    orders = {order.id: order for order in patient.medications}
    for dose in patient.administrations:
        order = orders[dose.medication]
        assert order.start <= dose.at <= (order.stop or "9999"), (order.name, dose.at)
    for written in (*patient.reports, *patient.notes):
        assert written.stored > written.at


def test_the_anchor_lies_in_the_last_stay_and_the_record_goes_on_after_it(patient: WardPatient) -> None:
    current = [stay for stay in patient.encounters if stay.start <= patient.anchor < stay.end]
    assert [stay.cls for stay in current] == ["IMP"]
    assert any(panel.stored and panel.stored > patient.anchor for panel in patient.labs)
    assert any(note.kind == "discharge-summary" and note.stored > patient.anchor for note in patient.notes)
    assert any(note.stored < patient.anchor and note.at > current[0].start for note in patient.notes)


def test_what_comes_later_is_not_seen_at_the_anchor(store: ChartStore, patient: WardPatient) -> None:
    snapshot = at_anchor(store, patient.id)
    for note in patient.notes:
        assert (snapshot.read("DocumentReference", note.id) is None) == (note.stored > patient.anchor)
    for order in patient.medications:
        entry = snapshot.read("MedicationRequest", order.id)
        if order.start > patient.anchor:
            assert entry is None
        elif order.stop and order.stop > patient.anchor:
            assert entry is not None
            assert order.stop.encode() not in entry.body
            assert b'"active"' in entry.body
    stay = next(stay for stay in patient.encounters if stay.start <= patient.anchor < stay.end)
    entry = snapshot.read("Encounter", stay.id)
    assert entry is not None
    assert stay.end.encode() not in entry.body


# -- the numbers -------------------------------------------------------------------------------------------------------


def age(patient: WardPatient, at: str) -> int:
    years = int(at[:4]) - int(patient.birth_date[:4])
    return years - (at[5:10] < patient.birth_date[5:10])


def ckd_epi_2021(creatinine: str, years: int, female: bool) -> int:
    """Return the eGFR in mL/min/1.73 m² for a creatinine in mg/dL (Inker 2021)."""
    kappa, alpha = (0.7, -0.241) if female else (0.9, -0.302)
    ratio = float(creatinine) / kappa
    value = 142 * min(ratio, 1.0) ** alpha * max(ratio, 1.0) ** -1.2 * 0.9938**years * (1.012 if female else 1.0)
    return int(Decimal(value).quantize(Decimal(1), ROUND_HALF_UP))


def test_the_formula_gives_the_published_examples() -> None:
    assert ckd_epi_2021("0.87", 80, female=False) == 87
    assert ckd_epi_2021(str(366 / 88.4), 57, female=True) == 12


def test_creatinine_and_egfr_agree(patient: WardPatient) -> None:
    pairs = [panel for panel in patient.labs if "creatinine" in panel.values]
    assert len(pairs) >= 3
    for panel in pairs:
        expected = ckd_epi_2021(panel.values["creatinine"], age(patient, panel.at), patient.sex == "female")
        assert panel.values["egfr"] == str(expected), panel.at


def test_electrolytes_and_counts_agree(patient: WardPatient) -> None:
    for panel in patient.labs:
        values = panel.values
        if "anion_gap" in values:
            gap = int(values["sodium"]) - int(values["chloride"]) - int(values["bicarbonate"])
            assert int(values["anion_gap"]) == gap
        assert ("hemoglobin" in values) == ("hematocrit" in values)
        if "hemoglobin" in values:
            assert abs(Decimal(values["hematocrit"]) - 3 * Decimal(values["hemoglobin"])) <= 1, panel.at
        if "neutrophils" in values:
            assert Decimal(values["neutrophils"]) <= Decimal(values["wbc"])


def test_the_patient_of_session_a_is_coherent(store: ChartStore) -> None:
    now = latest(at_anchor(store, "ward-01"))
    assert (now["creatinine"].text, now["egfr"].text) == ("1.68", "35")
    assert (now["hiv_viral_load"].text, now["hiv_viral_load"].flag) == ("0.0", None)
    order = next(order for order in PATIENTS[0].medications if order.drug == "metformin")
    assert (order.dose, order.frequency) == ("500 mg", "twice daily")


@pytest.mark.parametrize(("patient_id", "drug", "lab", "flag"), PAIRS)
def test_monitored_drugs_are_active_and_their_labs_known(
    store: ChartStore, patient_id: str, drug: str, lab: str, flag: str | None
) -> None:
    snapshot = at_anchor(store, patient_id)
    assert drug in active_drugs(snapshot)
    found = latest(snapshot)[lab]
    assert found.flag == flag
    assert found.low is not None or found.high is not None


def test_every_asked_for_pair_is_there_and_half_lie_in_range() -> None:
    normal = sum(flag is None for _, _, _, flag in PAIRS)
    assert 0.4 <= normal / len(PAIRS) <= 0.6
    assert {patient for patient, *_ in PAIRS} == set(IDS)


def test_an_inr_below_target_means_not_taken(store: ChartStore) -> None:
    assert latest(at_anchor(store, "ward-03"))["inr"].value == Decimal("1.2")
    fact = next(fact for fact in PATIENTS[2].interview.facts if fact.withheld)
    assert (fact.drug, fact.state) == ("warfarin", "stopped")


def test_measurements_and_orders_are_tied_to_the_knowledge_base(store: ChartStore, patient: WardPatient) -> None:
    known = set(knowledge.labs())
    for resource in at_anchor(store, patient.id).resources("Observation"):
        for one in measurements(resource):
            assert one.concept in known or one.name in UNKNOWN_TO_KNOWLEDGE, one.name
            assert one.unit is None or knowledge.unit(one.unit) is not None or one.name in UNKNOWN_TO_KNOWLEDGE
    for order in patient.medications:
        assert order.drug in knowledge.drugs(), order.drug
        mentions = knowledge.lexicon().scan(order.name, kinds=("drug",))
        assert [mention.concepts[0] for mention in mentions] == [order.drug], order.name


QUOTED = {
    "INR": "inr", "creatinine": "creatinine", "potassium": "potassium", "sodium": "sodium", "hemoglobin": "hemoglobin",
    "platelets": "platelets", "neutrophils": "neutrophils", "TSH": "tsh", "ALT": "alt", "trough": "vancomycin_trough",
    "lithium": "lithium", "digoxin": "digoxin", "level": "digoxin", "CRP": "crp", "glucose": "glucose",
    "HbA1c": "hba1c", "osmolality": "osmolality", "free T4": "free_t4", "anti-Xa": "anti_xa", "pH": "venous_ph",
    "gap": "anion_gap", "bicarbonate": "bicarbonate",
}  # fmt: skip
QUOTE = re.compile(rf"(?<!goal )\b({'|'.join(QUOTED)})(?: of| is| was)? (\d+(?:\.\d+)?)(?!\d|\.\d| mg)", re.IGNORECASE)


def quotes(text: str) -> Iterator[tuple[str, str]]:
    keys = {name.lower(): key for name, key in QUOTED.items()}
    for name, value in QUOTE.findall(text):
        yield keys[name.lower()], value


def test_numbers_quoted_in_words_were_resulted_by_then(patient: WardPatient) -> None:
    written = [(note.stored, section.text) for note in patient.notes for section in note.sections]
    written += [(dose.at, dose.note) for dose in patient.administrations if dose.note]
    written += [(stay.start, stay.reason) for stay in patient.encounters]
    written += [(order.start, order.indication) for order in patient.medications if order.indication]
    for when, text in written:
        for key, value in quotes(text):
            known = {
                Decimal(panel.values[key]).normalize()
                for panel in patient.labs
                if key in panel.values and panel.stored is not None and panel.stored <= when
            }
            assert Decimal(value).normalize() in known, (when, key, value, text)


def test_the_quote_reader_reads() -> None:
    found = [pair for patient in PATIENTS for note in patient.notes for s in note.sections for pair in quotes(s.text)]
    assert len(found) >= 60
    assert list(quotes("INR 1.1; goal INR 2.0 to 3.0, trough 24.6 last night, lithium 450 mg")) == [
        ("inr", "1.1"),
        ("vancomycin_trough", "24.6"),
    ]


# -- the interviews ----------------------------------------------------------------------------------------------------


def names_of(drug: str) -> set[str]:
    found = knowledge.drugs()[drug]
    chinese = {name for name in (found.name.zh, *found.synonyms.zh) if name}
    return {found.name.en, *found.synonyms.en, *found.brands, *chinese}


def holds(text: str, name: str) -> bool:
    if name.isascii():
        return re.search(rf"(?<![a-z]){re.escape(name.lower())}(?![a-z])", text.lower()) is not None
    return name in text


def test_an_interview_is_complete(patient: WardPatient) -> None:
    interview = patient.interview
    assert len(interview.facts) >= 10
    assert len(interview.replies) >= 12
    assert {reply.tool for reply in interview.replies} == TOOLS
    assert {reply.tool for reply in interview.replies if reply.fact is None and not reply.after} == TOOLS
    assert any(fact.withheld for fact in interview.facts)
    assert interview.persona.disclosure == "critical_withheld"
    active = {fact.id for fact in interview.facts if fact.kind in ("symptom", "adherence", "pain")}
    assert active <= {reply.fact for reply in interview.replies} | {
        fact for reply in interview.replies for fact in reply.disclosed
    }


def test_a_caregiver_speaks_where_the_patient_cannot() -> None:
    informants = {patient.id: patient.interview.persona.informant for patient in PATIENTS}
    assert {name for name, informant in informants.items() if informant == "caregiver"} == {"ward-04", "ward-11"}


def test_replies_are_in_both_languages_and_short(patient: WardPatient) -> None:
    for reply in patient.interview.replies:
        assert reply.text.en, reply
        assert reply.text.zh, reply
        assert re.search(r"[\u3400-\u9fff]", reply.text.en) is None
        assert set(re.findall(r"[A-Za-z]+", reply.text.zh)) <= ZH_MAY_HOLD, reply.text.zh
        assert 2 <= len(re.findall(r"[.?!]+(?=\s|$)", reply.text.en)) <= 5, reply.text.en
        assert 2 <= len(re.findall(r"[。？！…]+", reply.text.zh)) <= 5, reply.text.zh


def test_no_two_replies_share_their_words() -> None:
    texts = [reply.text.en for patient in PATIENTS for reply in patient.interview.replies]
    texts += [reply.text.zh for patient in PATIENTS for reply in patient.interview.replies]
    assert len(set(texts)) == len(texts)


def test_nothing_withheld_shows_before_its_drug_is_named(patient: WardPatient) -> None:
    withheld = {fact.id: fact for fact in patient.interview.facts if fact.withheld}
    for reply in patient.interview.replies:
        unlocked = {reply.fact, *reply.after}
        for name, fact in withheld.items():
            if name in unlocked:
                continue
            assert name not in reply.disclosed
            assert fact.drug is not None
            for word in names_of(fact.drug):
                assert not holds(reply.text.en or "", word), (word, reply.text.en)
                assert not holds(reply.text.zh or "", word), (word, reply.text.zh)


def test_the_leak_test_can_fail() -> None:
    assert holds("I left the warfarin off.", "warfarin")
    assert holds("华法林我停了", "华法林")
    assert not holds("warfarinlike", "warfarin")
    assert "二甲双胍" in names_of("metformin")


def test_sources_were_known_at_the_anchor(store: ChartStore, patient: WardPatient) -> None:
    snapshot = at_anchor(store, patient.id)
    for fact in patient.interview.facts:
        if fact.source == "simulated":
            continue
        kind, _, identity = fact.source.partition("/")
        entry = snapshot.read(kind, identity)
        assert entry is not None, fact.source
        if fact.kind == "adherence" and kind == "MedicationRequest":
            order = next(order for order in patient.medications if order.id == identity)
            assert order.drug == fact.drug


def test_a_withheld_drug_was_really_ordered(store: ChartStore, patient: WardPatient) -> None:
    ordered = active_drugs(at_anchor(store, patient.id))
    assert {fact.drug for fact in patient.interview.facts if fact.withheld} <= ordered


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_dialogue_tells_the_secret_only_when_the_drug_is_named(patient: WardPatient, language: str) -> None:
    secret = next(fact for fact in patient.interview.facts if fact.withheld)
    assert secret.drug is not None
    dialogue = Dialogue(patient.interview)
    for tool in sorted(TOOLS):
        said = dialogue.ask(tool, {}, language)
        assert secret.id not in said.facts
        assert said.text in {reply.text.get(language) for reply in patient.interview.replies}
    named = knowledge.drugs()[secret.drug].name
    question = named.en if language == "en" else named.zh
    told = dialogue.fork().ask(ADHERENCE, {"drug": question}, language)
    assert secret.id in told.facts
    assert told.text == recorded(patient.interview, ADHERENCE, secret.id, language)
    told = dialogue.ask(SYMPTOMS, {"query": question}, language)
    assert secret.id in told.facts
    after = dialogue.ask(SYMPTOMS, {}, language)
    assert after.text != Dialogue(patient.interview).ask(SYMPTOMS, {}, language).text


def recorded(interview: Interview, tool: str, fact: str, language: str) -> str:
    return next(r.text.get(language) for r in interview.replies if r.tool == tool and r.fact == fact and not r.after)


def test_every_drug_on_the_card_can_be_asked_about(patient: WardPatient) -> None:
    for fact in patient.interview.facts:
        if fact.kind != "adherence":
            continue
        assert fact.drug is not None
        said = Dialogue(patient.interview).ask(ADHERENCE, {"drug": knowledge.drugs()[fact.drug].name.en}, "en")
        assert fact.id in said.facts
        assert said.text == recorded(patient.interview, ADHERENCE, fact.id, "en")


# -- the store on first use --------------------------------------------------------------------------------------------


def test_load_charts_builds_once_and_quickly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    begin = time.perf_counter()
    with load_charts("ward") as store:
        assert time.perf_counter() - begin < 10  # a loaded machine; 0.7 s alone
        assert store.patients() == tuple(IDS)
        assert store.header["provenance"]["anchors"] == {patient.id: patient.anchor for patient in PATIENTS}
        assert store.interview("ward-01") == PATIENTS[0].interview
        first = store.hash
    (made,) = (tmp_path / "cache").iterdir()
    stamp = made.stat().st_mtime_ns
    with load_charts("ward") as store:
        assert store.hash == first
    assert made.stat().st_mtime_ns == stamp


def test_a_damaged_cache_is_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    with load_charts("ward"):
        pass
    (made,) = tmp_path.iterdir()
    made.write_bytes(b"not a store")
    with load_charts("ward") as store:
        assert len(store) == 12


def test_without_a_cache_folder_the_ward_still_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("in the way")
    monkeypatch.setenv(CACHE_VARIABLE, str(blocked / "cache"))
    with load_charts("ward") as store:
        assert len(store) == 12


def test_the_store_is_the_same_every_time(tmp_path: Path, store: ChartStore) -> None:
    assert build_ward(tmp_path / "again.sqlite") == store.hash


def test_faults_of_a_file_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "ward-99.json"
    broken.write_text('{"format": "wardround.ward/1", "id": "ward-99", "sex": "unknown"}')
    monkeypatch.setattr(loading, "_data", lambda: [broken])
    with pytest.raises(DataError, match=r"ward-99\.json: .*sex: .*birth_date"):
        ward_patients()
    broken.write_text("{")
    with pytest.raises(DataError, match=r"ward-99\.json: not JSON"):
        ward_patients()


def test_an_unknown_name_says_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"neither a built-in set \(ward, .*\) nor a charts file"):
        load_charts("wart")
    other = tmp_path / "notes.txt"
    other.write_text("hello")
    with pytest.raises(DataError):
        load_charts(other)


def test_anchors_are_instants() -> None:
    assert ward_anchors()["ward-01"] == parse_instant("2024-05-16T10:00:00Z")
