"""The baseline: what it reads in questions and replies, what its memory adds, and what it earns on the ward."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from statistics import fmean

import pytest

from wardround.agents import Answer, Baseline, BaselineWithoutMemory, find_agent, play
from wardround.agents.baseline.looking import way_holds
from wardround.agents.baseline.memory import Memory
from wardround.agents.baseline.query import read_query
from wardround.agents.baseline.replies import account_of, polarity_of
from wardround.agents.baseline.rows import Value
from wardround.agents.baseline.words import vocabulary
from wardround.envs import Episode
from wardround.patients import ChartStore, ToolCall
from wardround.sessions import Session, SessionSet

# Wordings of this file's own; none is taken from the generator's phrases.
QUESTIONS = [
    ("en", "Any idea what the lactate is doing this morning?", "look", ("lactate",), ()),
    ("en", "Sodium, please, and the dose of furosemide.", "look", ("sodium", "furosemide"), ("order",)),
    ("en", "Is he still swallowing his bisoprolol at home?", "look", ("bisoprolol",), ("adherence",)),
    ("en", "Hold on to the statin with that ALT, or change it?", "decide", ("statin", "alt"), ()),
    ("en", "Start amlodipine 5 mg by mouth once daily.", "prescribe", ("amlodipine",), ()),
    ("en", "Put in a flag: stop ibuprofen.", "flag", ("ibuprofen",), ()),
    ("en", "Send off another lactate, urgent.", "request", ("lactate",), ()),
    ("en", "Nothing else, thanks.", "nothing", (), ()),
    ("zh", "他的血钠和肌酐各是多少？", "look", ("sodium", "creatinine"), ()),
    ("zh", "呋塞米怎么开的？昨晚给药了吗？", "look", ("furosemide",), ("order", "given")),
    ("zh", "按这个INR，华法林要不要调整？", "decide", ("inr", "warfarin"), ()),
    ("zh", "再开一个乳酸，加急。", "request", ("lactate",), ()),
]


@pytest.mark.parametrize(("language", "text", "intent", "named", "asks"), QUESTIONS)
def test_a_question_is_read(
    language: str, text: str, intent: str, named: tuple[str, ...], asks: tuple[str, ...]
) -> None:
    request = read_query(text, language)
    assert request.intent == intent
    assert tuple(name.concept for name in request.names if name.kind in {"lab", "drug", "drug_class"}) == named
    assert intent != "look" or request.asks == asks


def test_a_condition_is_read_with_both_its_ways() -> None:
    branch = read_query("If the potassium is low, check magnesium, otherwise the creatinine.", "en").branch
    assert branch is not None
    assert (branch.lab, branch.state, branch.told) == ("potassium", "low", False)
    assert (branch.then.labs, branch.otherwise.labs) == (("magnesium",), ("creatinine",))
    told = read_query("Read me the potassium. If it is low, magnesium too, else the creatinine.", "en").branch
    assert told is not None and told.told


@pytest.mark.parametrize(
    ("text", "language", "state"),
    [
        ("If the potassium rose, check magnesium, otherwise the creatinine.", "en", "rising"),
        ("Look up the notes later; if the potassium has come down, magnesium, else the creatinine.", "en", "falling"),
        ("血钾要是升了就查血镁，不然查肌酐。", "zh", "rising"),
        ("血钾比昨天降了的话看血镁，否则看肌酐。", "zh", "falling"),
    ],
)
def test_a_condition_on_where_a_value_came_from_is_read(text: str, language: str, state: str) -> None:
    branch = read_query(text, language).branch
    assert branch is not None
    assert (branch.lab, branch.state) == ("potassium", state)
    assert (branch.then.labs, branch.otherwise.labs) == (("magnesium",), ("creatinine",))


@pytest.mark.parametrize(
    ("numbers", "rising", "falling"),
    [(("5", "4"), True, False), (("4", "5"), False, True), (("4", "4"), False, False), (("4",), False, False)],
)
def test_a_way_is_meant_against_the_value_before(numbers: tuple[str, ...], rising: bool, falling: bool) -> None:
    series = [Value("potassium", one, Decimal(one), "mEq/L", "normal", "") for one in numbers]  # newest first
    assert (way_holds("rising", series), way_holds("falling", series)) == (rising, falling)


def test_a_dose_that_rests_on_a_value_is_read() -> None:
    dosing = read_query("Set enalapril at 2.5 mg if the GFR is under 30, else 10 mg, orally, twice a day.", "en").dosing
    assert dosing is not None
    assert (dosing.doses, dosing.route, dosing.frequency) == (("2.5 mg", "10 mg"), "oral", "twice daily")
    assert (dosing.comparator, str(dosing.bound)) == ("below", "30")


@pytest.mark.parametrize(
    ("reply", "language", "state", "reason"),
    [
        ("I quit it a month ago, it was just too expensive.", "en", "stopped", "cost"),
        ("Every morning with breakfast, I have not missed one.", "en", "taking", ""),
        ("Now and then I forget the evening one.", "en", "missed_doses", "forgetting"),
        ("I never started that, to be honest.", "en", "never_started", ""),
        ("上个月就停了，太贵。", "zh", "stopped", "cost"),
        ("天天吃，从来没漏过。", "zh", "taking", ""),
        ("晚上那次老忘。", "zh", "missed_doses", "forgetting"),
    ],
)
def test_a_reply_about_a_drug_is_read(reply: str, language: str, state: str, reason: str) -> None:
    account = account_of(reply, language)
    assert (account.state, account.reason) == (state, reason)


@pytest.mark.parametrize(
    ("finding", "reply", "language", "polarity"),
    [
        ("nausea", "I feel sick after every meal, it began on Monday.", "en", "present"),
        ("nausea", "No, my stomach is fine.", "en", "absent"),
        ("dizziness", "Not dizzy at all.", "en", "absent"),
        ("cough", "I'm not sure, maybe.", "en", "unknown"),
        ("cough", "没有咳嗽。", "zh", "absent"),
        ("muscle_pain", "两条腿酸，上礼拜开始的。", "zh", "present"),
    ],
)
def test_a_reply_about_a_symptom_is_read(finding: str, reply: str, language: str, polarity: str) -> None:
    assert polarity_of(finding, reply, language) == polarity


def _filled(*texts: str, language: str = "en") -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    memory = Memory()
    for text in texts[:-1]:
        memory.note(memory.fill(read_query(text, language)))
    request = memory.fill(read_query(texts[-1], language))
    return request.intent, request.drugs, request.labs


def test_memory_fills_in_what_a_question_leaves_out() -> None:
    assert _filled("How is apixaban ordered?", "And did he get his last dose of it?")[1] == ("apixaban",)
    assert _filled("Latest INR?", "Does warfarin need adjusting for that result?")[2] == ("inr",)
    assert _filled("Latest potassium?", "If that was low, the magnesium, otherwise the sodium.")[0] == "branch"
    assert _filled("Does lisinopril need to change, with the potassium?", "And spironolactone?")[0] == "decide"
    assert _filled("氯沙坦怎么开的？", "他这个药按医嘱用吗？", language="zh")[1] == ("losartan",)


def test_memory_adds_nothing_to_a_question_that_names_everything() -> None:
    memory = Memory()
    memory.note(read_query("How is apixaban ordered?", "en"))
    for text in (
        "Latest INR?",
        "Is metoprolol right at this dose, given the heart rate?",
        "Put in a flag: stop ibuprofen.",
    ):
        request = read_query(text, "en")
        assert memory.fill(request) == request


def test_words_of_both_languages_say_the_same_kinds() -> None:
    en, zh = vocabulary("en"), vocabulary("zh")
    for field in ("accounts", "reasons", "priorities", "routes", "frequencies", "sections", "states"):
        assert set(getattr(zh, field)) <= set(getattr(en, field)), field
    assert [ask for ask, _ in en.asks] == [ask for ask, _ in zh.asks]


# -- on the ward -------------------------------------------------------------------------------------------------------


def _played(session: Session, ward: ChartStore, agent: type[Baseline], phrasing: str, language: str = "en") -> Episode:
    episode = Episode(session, ward.chart(session.chart.patient), language=language, phrasing=phrasing)  # type: ignore[arg-type]
    return play(episode, agent())


def test_memory_shows_on_implicit_questions_and_only_there(ward: ChartStore, ward_sessions: SessionSet) -> None:
    some = [one for one in ward_sessions.sessions if one.turns[0].query.zh is not None][::4]
    scores: dict[tuple[str, str], list[float]] = {}
    same = 0
    for number, session in enumerate(some):
        language = ("en", "zh")[number % 2]
        hashes = set()
        for phrasing in ("explicit", "implicit"):
            for agent in (Baseline, BaselineWithoutMemory):
                episode = _played(session, ward, agent, phrasing, language)
                scores.setdefault((agent.name, phrasing), []).append(episode.score)
                if phrasing == "explicit":
                    hashes.add(episode.trajectory_hash)
        same += len(hashes) == 1
    means = {key: fmean(value) for key, value in scores.items()}
    assert means["baseline", "explicit"] >= 0.8
    assert means["baseline", "implicit"] >= 0.8
    assert means["baseline", "explicit"] == pytest.approx(means["baseline-no-memory", "explicit"], abs=0.02)
    assert 0 < means["baseline-no-memory", "implicit"] < means["baseline", "implicit"] - 0.1
    assert same >= len(some) - 1


def test_it_never_sees_gold(ward: ChartStore, ward_sessions: SessionSet) -> None:
    session = ward_sessions.sessions[5]
    turns = tuple(turn.model_copy(update={"gold": None, "rubric": turn.rubric[:1]}) for turn in session.turns)
    blank = session.model_copy(update={"turns": turns})
    whole, without = (_played(one, ward, Baseline, "implicit") for one in (session, blank))
    assert whole.messages == without.messages
    assert not find_agent("baseline", ward_sessions).sees_gold


def test_it_plays_the_same_twice_and_within_its_budget(ward: ChartStore, ward_sessions: SessionSet) -> None:
    session = ward_sessions.sessions[7]
    first, second = (_played(session, ward, Baseline, "implicit", "zh") for _ in range(2))
    assert first.trajectory_hash == second.trajectory_hash
    assert not first.truncated
    for before, after in pairwise(first.messages):
        if after["role"] == "assistant" and after.get("content"):
            assert before.get("name") == "prepare_to_answer"


def test_without_calls_left_it_still_answers(ward: ChartStore, ward_sessions: SessionSet) -> None:
    session = ward_sessions.sessions[1]
    episode = Episode(session, ward.chart(session.chart.patient), phrasing="explicit")
    for _ in range(16):
        episode.call("Patient.read", {"subject_id": episode.subject["subject_id"]})
    assert episode.calls_left == 0
    agent, turn, actions = Baseline(), episode.turn, []
    while episode.turn == turn:
        actions.append(agent.act(episode.view()))
        if isinstance(actions[-1], ToolCall):
            episode.call(actions[-1].name, actions[-1].arguments)
        else:
            episode.answer(actions[-1].text)
    assert [type(one) for one in actions] == [ToolCall, Answer]  # prepare_to_answer is free, everything else is not
    assert actions[-1].text
