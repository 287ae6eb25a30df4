"""Decisions on a drug by its lab: what is right, what the patient's words turn, what nobody is asked."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import pytest
from session_moves import TYPES, cases, play

from wardround.patients import ChartBuilder, ChartStore, Interview, Stream, knowledge, load_charts, parse_instant
from wardround.rubrics import AdviceCheck, check_answer
from wardround.sessions.common import common
from wardround.sessions.decisions import drug_lab
from wardround.sessions.decisions.decision import Decision
from wardround.sessions.moves.drug_decisions import KINDS
from wardround.sessions.moves.move import Case, Focus
from wardround.sessions.record import view_record

NOW = parse_instant("2030-03-08T12:00:00Z")


def case_of(builder: ChartBuilder, interview: Interview | None = None) -> Case:
    """Return the hand-made stay at noon of its last day."""
    snapshot = builder.chart().at(NOW)
    view = view_record(snapshot, "stay-1", TYPES)
    return Case(snapshot, "stay-1", NOW, view, interview or Interview(), common(), "medication-safety")


@pytest.fixture
def drug_and_lab(make_interview_of: Callable[..., Interview]) -> Callable[..., Case]:
    """Return a maker of a stay with one drug and one value of one lab, and what the patient says of taking it."""

    def make(drug: str, dose: str, lab: tuple[str, str, str | None, str, str], said: str | None = None) -> Case:
        chart = ChartBuilder("p-1", sex="female", birth_date="1958-05-02")
        chart.encounter("stay-1", "IMP", "2030-03-04T08:00:00Z", "2030-03-08T15:00:00Z")
        name, value, unit, low, high = lab
        chart.lab(name, value, unit, at="2030-03-08T06:00:00Z", low=low, high=high, encounter="stay-1")
        chart.medication(
            drug, dose=dose, route="oral", frequency="once daily", start="2030-03-04T10:00:00Z", encounter="stay-1"
        )
        return case_of(chart, make_interview_of(**{drug.lower(): said}) if said else None)

    return make


def potassium(value: str) -> tuple[str, str, str | None, str, str]:
    return ("Potassium", value, "mmol/L", "3.5", "5.0")


def inr(value: str) -> tuple[str, str, str | None, str, str]:
    return ("INR", value, None, "0.9", "1.1")


def only(case: Case) -> Decision:
    (decision,) = drug_lab.decisions(case)
    return decision


@pytest.mark.parametrize(
    ("drug", "lab", "act"),
    [
        ("Lisinopril", potassium("4.4"), "continue"),
        ("Lisinopril", potassium("5.7"), "reduce"),
        ("Lisinopril", potassium("6.3"), "stop"),
        ("Lisinopril", potassium("3.1"), "recheck"),
        ("Warfarin", inr("2.4"), "continue"),
        ("Warfarin", inr("1.3"), "increase"),
        ("Warfarin", inr("6.0"), "hold"),
    ],
)
def test_the_rule_decides(drug_and_lab: Callable[..., Case], drug: str, lab: tuple[str, ...], act: str) -> None:
    case = drug_and_lab(drug, "10 mg", lab)
    decision = only(case)
    assert decision.act == act and not decision.turned
    assert decision.unchanged is (act == "continue")
    for move in (*drug_lab.decides(case, decision, False), *drug_lab.writes(case, decision)):
        play(case, [move])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        *((value, said) for value in ("4.4", "5.7", "6.3", "3.1") for said in (None, "taking")),
        *((value, "stopped: felt_better") for value in ("4.4", "5.7", "6.3")),
    ],
)
def test_the_hinge_turns_it(drug_and_lab: Callable[..., Case], value: str, said: str | None) -> None:
    """Another value at the same place of the chart makes another act right."""
    case = drug_and_lab("Lisinopril", "10 mg", potassium(value), said)
    decision = only(case)
    assert decision.hinge.kind == "quantity" and decision.hinge.keys == case.view.latest["potassium"].keys
    other = drug_and_lab("Lisinopril", "10 mg", potassium(decision.hinge.to), said)
    assert only(other).act != decision.act


@pytest.mark.parametrize("value", ["5.5", "3.5"])
def test_nobody_is_asked_on_a_bound(drug_and_lab: Callable[..., Case], value: str) -> None:
    assert not drug_lab.decisions(drug_and_lab("Lisinopril", "10 mg", potassium(value)))


@pytest.mark.parametrize(
    ("drug", "lab", "said", "act", "turned"),
    [
        ("Lisinopril", potassium("4.4"), "taking", "continue", False),
        ("Lisinopril", potassium("4.4"), "stopped: cost", "restart", True),
        ("Lisinopril", potassium("4.4"), "stopped: cough", "swap", True),
        ("Lisinopril", potassium("4.4"), "missed_doses: dizziness", "ease", True),
        ("Lisinopril", potassium("6.3"), "stopped: cost", "stop", False),
        ("Warfarin", inr("1.3"), "missed_doses: forgetting", "same-dose", True),
        ("Warfarin", inr("1.3"), "taking", "increase", False),
    ],
)
def test_what_is_taken_turns_what_the_lab_says(
    drug_and_lab: Callable[..., Case], drug: str, lab: tuple[str, ...], said: str, act: str, turned: bool
) -> None:
    case = drug_and_lab(drug, "10 mg", lab, said)
    decision = only(case)
    assert (decision.act, decision.turned) == (act, turned)
    asks = list(drug_lab.asks(case, decision))
    assert all(move.turned is turned for move in asks)
    for move in drug_lab.decides(case, decision, False):
        play(case, [*asks[:1], move])
    for move in (*drug_lab.decides(case, decision, True), *asks, *drug_lab.writes(case, decision)):
        play(case, [move])


@pytest.mark.parametrize(
    ("drug", "lab", "said"),
    [
        ("Warfarin", inr("2.4"), "stopped: cost"),  # in range without it: the patient contradicts the chart
        ("Lisinopril", potassium("4.4"), "stopped: nosebleed"),  # a reason that leaves open what is right
        ("Lisinopril", potassium("3.1"), "stopped: cost"),  # low without it: is it to be taken up again at all?
    ],
)
def test_what_physicians_would_differ_on_is_not_asked(
    drug_and_lab: Callable[..., Case], drug: str, lab: tuple[str, ...], said: str
) -> None:
    assert not drug_lab.decisions(drug_and_lab(drug, "10 mg", lab, said))


def test_what_is_given_here_goes_on_rather_than_being_restarted(
    stay: ChartBuilder, make_interview_of: Callable[..., Interview]
) -> None:
    told = make_interview_of(lisinopril="stopped: cost")
    acts = {one.act for one in drug_lab.decisions(case_of(stay, told)) if one.order and one.order.drug == "lisinopril"}
    assert acts == {"restart"}
    stay.administration("Lisinopril", at="2030-03-08T09:00:00Z", dose="10 mg", encounter="stay-1")
    acts = {one.act for one in drug_lab.decisions(case_of(stay, told)) if one.order and one.order.drug == "lisinopril"}
    assert acts == {"resume"}


def test_a_graver_lab_of_the_same_drug_silences_the_others(stay: ChartBuilder) -> None:
    stay.lab("Potassium", "6.3", "mmol/L", at="2030-03-08T08:00:00Z", low="3.5", high="5.0", encounter="stay-1")
    found = [one for one in drug_lab.decisions(case_of(stay)) if one.order and one.order.drug == "lisinopril"]
    assert [one.subject for one in found] == ["raas_potassium"]


def test_two_labs_of_one_drug_that_disagree_are_a_conflict_to_be_named(stay: ChartBuilder) -> None:
    stay.lab("Potassium", "6.3", "mmol/L", at="2030-03-08T08:00:00Z", low="3.5", high="5.0", encounter="stay-1")
    case = case_of(stay)
    decision = next(one for one in drug_lab.decisions(case) if one.subject == "raas_potassium")
    plain, conflict = drug_lab.decides(case, decision, False)
    assert not plain.conflict and conflict.conflict == "raas_potassium-against-raas_creatinine"
    play(case, [conflict])
    item = next(one for one in conflict.rubric if one.id == "conflict")
    one_side = f"{plain.answer.en}"
    assert not check_answer(item.check, one_side, language="en").passed


def test_an_order_that_the_patient_does_not_take_is_a_conflict_to_be_named(drug_and_lab: Callable[..., Case]) -> None:
    case = drug_and_lab("Lisinopril", "10 mg", potassium("4.4"), "stopped: cough")
    plain, conflict = drug_lab.decides(case, only(case), True)
    assert conflict.conflict == "ordered-not-taken"
    item = next(one for one in conflict.rubric if one.id == "conflict")
    assert check_answer(item.check, str(conflict.answer.zh), language="zh").passed
    assert not check_answer(item.check, str(plain.answer.zh), language="zh").passed


@pytest.mark.parametrize("dose", ["5 mg", "10 mg"])
def test_nobody_reduces_what_is_at_the_lowest_already(drug_and_lab: Callable[..., Case], dose: str) -> None:
    """A renal dose of lisinopril is 5 mg: with it, a high potassium is no question of the dose."""
    found = drug_lab.decisions(drug_and_lab("Lisinopril", dose, potassium("5.7")))
    assert [one.act for one in found] == ([] if dose == "5 mg" else ["reduce"])


def test_always_doing_the_same_does_not_pay(drug_and_lab: Callable[..., Case]) -> None:
    """Where something is to be done, going on is not accepted; where nothing is, holding is not."""
    for value, said in (
        ("4.4", "taking"),
        ("5.7", "taking"),
        ("6.3", "taking"),
        ("3.1", "taking"),
        ("4.4", "stopped: cough"),
    ):
        decision = only(drug_and_lab("Lisinopril", "10 mg", potassium(value), said))
        acts = {act for act, _ in decision.accepted}
        assert ("continue" in acts) is decision.unchanged
        assert "hold" not in acts or not decision.unchanged


def test_contested_rules_and_words_name_what_exists() -> None:
    """A rule id that no table holds would silently do nothing."""
    rules = {rule.id for table in knowledge.monitoring().values() for rule in table.rules}
    assert set(common().rules) <= rules
    assert set(common().skip_conditional) <= set(knowledge.drugs())
    assert set(common().skip_drugs) <= set(knowledge.drugs())
    for turn in common().adherence_rules:
        assert turn.act in common().acts
        assert set(turn.classes or ()) <= set(knowledge.drug_classes())
        assert all(knowledge.lexicon().resolve(reason) is not None for reason in turn.reasons or ())


@pytest.fixture(scope="module")
def hospital() -> ChartStore:
    return load_charts("hospital-mini")


def test_decisions_hold_on_a_sample_of_the_hospital(hospital: ChartStore) -> None:
    subjects = set()
    for number, case in enumerate(cases(hospital, limit=1)):
        for decision in drug_lab.decisions(case):
            subjects.add(decision.subject)
        if number % 8:
            continue
        for decision in list(drug_lab.threads(case, Stream("sample", number)))[:2]:
            asks = list(drug_lab.asks(case, decision))
            for move in drug_lab.decides(case, decision, False):
                play(case, [*asks[:1], move] if decision.turned else [move])
            for move in drug_lab.openings(case, decision):
                assert move.opening and move.task == "IL"
    assert len(subjects) >= 8


def test_further_decisions_are_about_other_drugs(hospital: ChartStore) -> None:
    for case in islice(cases(hospital, limit=1), 12):
        for decision in drug_lab.decisions(case):
            assert decision.order is not None and decision.reading is not None
            focus = Focus(decision, frozenset({decision.reading.lab}))
            for kind in KINDS:
                for move in kind.offer(case, focus, Stream("further")):
                    assert move.slots["drug"].id != decision.order.drug
                    assert move.slots["lab"].id != decision.reading.lab


@pytest.mark.parametrize("value", ["1.9", "3.0", "3.2"])
def test_an_inr_at_the_edge_of_its_target_is_not_decided_on(drug_and_lab: Callable[..., Case], value: str) -> None:
    assert drug_lab.decisions(drug_and_lab("Warfarin", "5 mg", inr(value))) == ()


def alt(value: str) -> tuple[str, str, str | None, str, str]:
    return ("Alanine Aminotransferase (ALT)", value, "U/L", "0", "40")


@pytest.mark.parametrize(
    ("words", "passes"),
    [
        ("可以继续用原剂量，4～12周后复查肝功能。", True),
        ("Continue atorvastatin and recheck liver enzymes in 4 to 12 weeks.", True),
        ("Recheck the ALT in a month.", True),
        ("停用阿托伐他汀。", False),
        ("Stop atorvastatin.", False),
    ],
)
def test_what_the_rule_itself_allows_counts(drug_and_lab: Callable[..., Case], words: str, passes: bool) -> None:
    case = drug_and_lab("Atorvastatin", "40 mg", alt("80"))
    move = next(drug_lab.decides(case, only(case), False))
    assert "continue atorvastatin" in str(move.answer.en)
    check = next(item.check for item in move.rubric if item.id == "advice")
    assert check_answer(check, words, language="en" if words.isascii() else "zh").passed is passes


def test_what_each_rule_says_is_read_as_its_act() -> None:
    shared = common()
    for monitoring in knowledge.monitoring().values():
        for rule in monitoring.rules:
            words = shared.rules.get(rule.id)
            if words is None or words.say is None or words.contested:
                continue
            act, drug = shared.acts[rule.act], knowledge.drugs()[_one_of(monitoring.drugs)]
            lab, name = _lab_names(monitoring.lab), drug.name.en.lower()
            target = lab[0] if act.target == "lab" else name
            accepted = [(one, target) for one in act.accepted]
            accepted += [(one, what.format(drug=name)) for one, what in words.accept]
            for language, text, called, of in (
                ("en", words.say.en, name, lab[0]),
                ("zh", str(words.say.zh), drug.name.zh, lab[1]),
            ):
                answer = text.format(drug=called, lab=of) + "."
                checks = [AdviceCheck(act=one, target=what) for one, what in accepted]
                assert any(check_answer(one, answer, language=language).passed for one in checks), answer  # type: ignore[arg-type]
                danger = AdviceCheck(act=act.avoid, target=name)
                assert not check_answer(danger, answer, language=language).passed, answer  # type: ignore[arg-type]


def _one_of(drugs: tuple[str, ...]) -> str:
    return next(key for key, one in sorted(knowledge.drugs().items()) if key in drugs or set(one.classes) & set(drugs))


def _lab_names(lab: str) -> tuple[str, str]:
    named = common().casual.get(lab)
    if named:
        return named[0].en, str(named[0].zh)
    return knowledge.labs()[lab].name.en.lower(), str(knowledge.labs()[lab].name.zh)


def test_missed_doses_that_were_told_are_not_passed_over(drug_and_lab: Callable[..., Case]) -> None:
    case = drug_and_lab("Warfarin", "5 mg", inr("2.4"), "missed_doses")
    found = [move for one in drug_lab.decisions(case) for move in drug_lab.decides(case, one, True)]
    assert found and "missed doses" in str(found[0].answer.en).rpartition(". ")[2]
    play(case, [found[0]])


@pytest.mark.parametrize(
    ("drug", "lab", "danger"),
    [
        ("Furosemide", potassium("4.2"), "Does not advise to increase furosemide."),
        ("Furosemide", potassium("3.2"), "Does not advise to increase furosemide."),
        ("Warfarin", inr("2.5"), "Does not advise to stop warfarin."),
        ("Sertraline", ("Sodium", "132", "mmol/L", "135", "145"), "Does not advise to increase or stop sertraline."),
    ],
)
def test_the_cautious_act_is_no_danger(
    drug_and_lab: Callable[..., Case], drug: str, lab: tuple[str, ...], danger: str
) -> None:
    """Only what does harm when stopped must not be stopped; of a diuretic the danger is more of it."""
    case = drug_and_lab(drug, "20 mg", lab)
    (move,) = drug_lab.decides(case, only(case), False)
    assert [one.text.en for one in move.rubric if one.safety] == [danger]


def test_what_does_harm_when_stopped_is_known() -> None:
    known = {*knowledge.drugs(), *knowledge.drug_classes()}
    assert set(common().harm_if_stopped) <= known
    assert common().danger_of("metoprolol") == "stop" and common().danger_of("tamsulosin") == "increase"


def magnesium(value: str) -> tuple[str, str, str | None, str, str]:
    return ("Magnesium", value, "mg/dL", "1.7", "2.4")


@pytest.mark.parametrize(
    ("lab", "words", "passes"),
    [
        (potassium("3.2"), "Potassium 3.2 mEq/L is low. Give KCl 40 mEq and recheck the potassium.", True),
        (potassium("3.2"), "Potassium 3.2 mEq/L is low. Replace the potassium and repeat the potassium.", True),
        (potassium("3.2"), "Potassium 3.2 mEq/L is low. Recheck the potassium early.", False),
        (potassium("2.6"), "Potassium 2.6 mEq/L is low. Hold furosemide and start potassium replacement.", True),
        (potassium("2.6"), "Potassium 2.6 mEq/L is low. Hold furosemide.", False),
        (magnesium("1.5"), "Magnesium 1.5 mg/dL is low. Replace magnesium and recheck the magnesium.", True),
        (magnesium("1.5"), "镁1.5 mg/dL，偏低。建议补镁，并复查血镁。", True),
        (magnesium("1.5"), "Magnesium 1.5 mg/dL is low. Recheck the magnesium.", False),
    ],
)
def test_a_lack_is_treated_and_not_only_looked_at_again(
    drug_and_lab: Callable[..., Case], lab: tuple[str, ...], words: str, passes: bool
) -> None:
    case = drug_and_lab("Furosemide", "40 mg", lab)
    move = next(iter(drug_lab.decides(case, only(case), False)))
    check = next(item.check for item in move.rubric if item.id == "advice")
    assert check_answer(check, words, language="en" if words.isascii() else "zh").passed is passes
