"""Playing an interview: resolution of free text, disclosure, determinism."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.patients import Dialogue, Fact, Interview, Persona, Reply, Said, Words, interview_problems
from wardround.patients.dialogue import INTERVIEW_TOOLS

SYMPTOMS = "patient.get_symptom_history"
ADHERENCE = "patient.get_medication_adherence"
SECRET = Words(en="I quit the metformin three weeks ago.", zh="二甲双胍三个星期前就停了。")


def words(text: str) -> Words:
    return Words(en=text, zh=f"中文：{text}")


INTERVIEW = Interview(
    facts=(
        Fact(id="belly", kind="complaint", concept="abdominal_pain", source="simulated"),
        Fact(id="cough", kind="symptom", concept="cough", source="simulated"),
        Fact(id="no-fever", kind="symptom", concept="fever", polarity="absent", source="simulated"),
        Fact(id="metformin", kind="adherence", concept="metformin", drug="metformin", state="stopped",
             reason="nausea", source="simulated", withheld=True),
        Fact(id="warfarin", kind="adherence", concept="warfarin", drug="warfarin", state="taking", source="simulated"),
        Fact(id="feet", kind="symptom", concept="leg_edema", drug="amlodipine", source="simulated"),
        Fact(id="harp", kind="social", concept="plays the harp", source="simulated"),
    ),
    replies=(
        Reply(tool=SYMPTOMS, fact=None, disclosed=("belly",), text=words("My belly hurts.")),
        Reply(tool=SYMPTOMS, fact=None, disclosed=("belly", "metformin"), after=("metformin",),
              text=words("My belly hurts, and you know about the metformin.")),
        Reply(tool=SYMPTOMS, fact="belly", disclosed=("belly",), text=words("Right here, since Monday.")),
        Reply(tool=SYMPTOMS, fact="cough", disclosed=("cough",), text=words("Yes, I cough at night.")),
        Reply(tool=SYMPTOMS, fact="no-fever", disclosed=("no-fever",), text=words("No fever.")),
        Reply(tool=ADHERENCE, fact="metformin", disclosed=("metformin",), text=SECRET),
        Reply(tool=ADHERENCE, fact="warfarin", disclosed=("warfarin",), text=words("Every evening.")),
    ),
)  # fmt: skip


def ask(dialogue: Dialogue, tool: str = SYMPTOMS, language: str = "en", **arguments: str) -> Said:
    return dialogue.ask(tool, {"subject_id": "p", "session_id": "s", **arguments}, language)


@pytest.fixture
def dialogue() -> Dialogue:
    return Dialogue(INTERVIEW)


@pytest.mark.parametrize(
    ("query", "facts"),
    [
        ("tummy ache", ("belly",)),
        ("Any stomach pain?", ("belly",)),
        ("abdomenal pain", ("belly",)),
        ("肚子疼不疼", ("belly",)),
        ("有没有咳嗽", ("cough",)),
        ("coughing", ("cough",)),
        ("cough and belly pain", ("cough", "belly")),
        ("fever or chills", ("no-fever",)),
        ("发烧吗", ("no-fever",)),
        ("amlodipine side effects", ("feet",)),
        ("warfarin", ("warfarin",)),
        ("do you play? plays the harp", ("harp",)),
    ],
)
def test_free_text_reaches_the_fact(dialogue: Dialogue, query: str, facts: tuple[str, ...]) -> None:
    assert ask(dialogue, query=query).facts == facts


@pytest.mark.parametrize(
    "query", ["", "How are you feeling today?", "What brings you in?", "symptoms", "您哪里不舒服？", "主诉"]
)
def test_a_general_question_gets_the_complaint(dialogue: Dialogue, query: str) -> None:
    assert ask(dialogue, query=query) == ("My belly hurts.", ("belly",))


@pytest.mark.parametrize(
    "query",
    ["headache", "Do you have seizures?", "hearing loss", "your neighbour's dog", "头痛吗", "digoxin", "glorbitis"],
)
def test_what_is_not_on_the_card_is_not_sure(dialogue: Dialogue, query: str) -> None:
    said = ask(dialogue, query=query)
    assert said.facts == ()
    assert "not sure" in said.text
    assert "No" not in said.text


def test_absent_without_recorded_words_is_a_fixed_no() -> None:
    facts = (Fact(id="f", kind="symptom", concept="fever", polarity="absent", source="simulated"),)
    assert ask(Dialogue(Interview(facts=facts)), query="fever") == ("No, I haven't had that: fever.", ("f",))


def test_a_fact_without_its_own_words_is_told_by_the_general_ones() -> None:
    general = Reply(tool="patient.get_pain_assessment", fact=None, disclosed=("p",), text=words("Three, in the calf."))
    facts = (Fact(id="p", kind="pain", concept="pain", attributes={"score": "3"}, source="simulated"),)
    dialogue = Dialogue(Interview(facts=facts, replies=(general,)))
    assert ask(dialogue, query="any pain?") == ("Three, in the calf.", ("p",))


# -- adherence and what is withheld ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "drug", ["metformin", "Glucophage", "二甲双胍", "metfromin", "her metformin tablets", "METFORMIN 500 mg"]
)
def test_naming_the_drug_tells_the_secret(dialogue: Dialogue, drug: str) -> None:
    assert ask(dialogue, ADHERENCE, drug=drug) == (SECRET.en, ("metformin",))
    assert dialogue.told == {"metformin"}


@pytest.mark.parametrize(
    "drug", ["medicines", "all of your pills", "metformin and warfarin", "warfarin, metformin", "药", "吃的药", "?"]
)
def test_none_or_two_drugs_gets_a_question_back(dialogue: Dialogue, drug: str) -> None:
    said = ask(dialogue, ADHERENCE, drug=drug)
    assert said.facts == ()
    assert "Which medicine" in said.text
    assert dialogue.told == frozenset()


@pytest.mark.parametrize("drug", ["digoxin", "glorbizole", "aspirin"])
def test_a_drug_that_is_not_on_the_card(dialogue: Dialogue, drug: str) -> None:
    said = ask(dialogue, ADHERENCE, drug=drug)
    assert said.facts == ()
    assert "not sure about that one" in said.text


def test_a_class_that_fits_one_drug_names_it(dialogue: Dialogue) -> None:
    assert ask(dialogue, ADHERENCE, drug="blood thinner").facts == ("warfarin",)


def test_a_class_does_not_name_a_withheld_drug(dialogue: Dialogue) -> None:
    assert ask(dialogue, ADHERENCE, drug="sugar pill").facts == ()
    assert dialogue.told == frozenset()
    ask(dialogue, ADHERENCE, drug="metformin")
    assert ask(dialogue, ADHERENCE, drug="sugar pill").facts == ("metformin",)


def test_secret_is_told_in_any_tool_once_its_drug_is_named(dialogue: Dialogue) -> None:
    said = ask(dialogue, query="any nausea since you started metformin?")
    assert said == (SECRET.en, ("metformin",))
    assert dialogue.told == {"metformin"}


def test_told_stays_told_and_changes_the_general_words(dialogue: Dialogue) -> None:
    before = ask(dialogue)
    ask(dialogue, ADHERENCE, drug="metformin")
    after = ask(dialogue)
    assert before.facts == ("belly",)
    assert after.facts == ("belly", "metformin")
    assert ask(dialogue) == after
    assert ask(dialogue, ADHERENCE, drug="metformin").text == SECRET.en


def test_ids_do_not_name_a_drug(dialogue: Dialogue) -> None:
    dialogue.ask(SYMPTOMS, {"subject_id": "metformin", "session_id": "metformin"}, "en")
    assert dialogue.told == frozenset()


def test_a_leaking_recording_is_never_used() -> None:
    leak = Reply(tool=SYMPTOMS, fact=None, disclosed=("belly", "metformin"), text=words("I stopped metformin."))
    interview = Interview(facts=INTERVIEW.facts, replies=(leak,))
    said = ask(Dialogue(interview))
    assert "metformin" not in said.text
    assert "metformin" not in said.facts
    assert any("gives away" in problem for problem in interview_problems(interview))


@settings(max_examples=200, deadline=None)
@given(
    questions=st.lists(
        st.tuples(
            st.sampled_from(INTERVIEW_TOOLS),
            st.sampled_from(
                ["", "nausea", "pain", "diabetes", "biguanide", "pills", "why", "stopped taking", "sugar pill"]
            )
            | st.text(max_size=20),
        ),
        max_size=6,
    ),
    language=st.sampled_from(["en", "zh"]),
)
def test_unnamed_secret_never_leaks(questions: list[tuple[str, str]], language: str) -> None:
    dialogue = Dialogue(INTERVIEW)
    for tool, text in questions:
        said = dialogue.ask(tool, {"query": text}, language)
        if dialogue.told:
            assert dialogue._script.questions.drugs_named(text)
            return
        assert "metformin" not in said.facts
        assert "metformin" not in said.text
        assert "二甲双胍" not in said.text


# -- language, persona, state ------------------------------------------------------------------------------------------


def test_words_follow_the_language_not_the_question(dialogue: Dialogue) -> None:
    assert ask(dialogue, language="zh", query="cough").text == "中文：Yes, I cough at night."
    assert ask(dialogue, language="en", query="咳嗽").text == "Yes, I cough at night."
    assert ask(dialogue, ADHERENCE, language="zh", drug="Glucophage").text == SECRET.zh


def test_fixed_words_are_in_character() -> None:
    def reply(language: str = "en", **traits: str) -> str:
        persona = Persona.model_validate(traits)
        return ask(Dialogue(Interview(persona=persona)), language=language, query="headache").text

    texts = [reply(), reply(literacy="low"), reply(anxiety="high"), reply(informant="caregiver")]
    assert len(set(texts)) == 4
    assert all(any("\u4e00" <= char <= "\u9fff" for char in reply("zh", literacy=level)) for level in ("low", "high"))


def test_tools_without_words_do_not_invent(dialogue: Dialogue) -> None:
    assert ask(dialogue, "patient.get_functional_status").facts == ()
    assert "not sure" in ask(dialogue, "patient.get_functional_status").text
    with pytest.raises(KeyError):
        ask(dialogue, "patient.get_chief_complaint")


def test_fork_and_pickle_go_their_own_way(dialogue: Dialogue) -> None:
    twin = dialogue.fork()
    ask(dialogue, ADHERENCE, drug="metformin")
    assert twin.told == frozenset()
    again = pickle.loads(pickle.dumps(dialogue))
    assert again.told == {"metformin"}
    assert ask(again) == ask(dialogue)
    assert ask(twin) != ask(dialogue)


def test_same_question_same_words_whatever_was_asked_between(dialogue: Dialogue) -> None:
    first = ask(dialogue, query="cough")
    ask(dialogue, query="fever")
    ask(dialogue, "patient.get_pain_assessment")
    assert ask(dialogue, query="cough") == first


# -- checking interviews -----------------------------------------------------------------------------------------------


def test_a_sound_interview_has_no_problems() -> None:
    assert interview_problems(INTERVIEW) == []


def test_each_fault_is_named() -> None:
    fact = Fact(id="a", kind="symptom", concept="cough", source="simulated", withheld=True)
    bad = Interview(
        facts=(fact, fact, Fact(id="b", kind="adherence", concept="x", source="simulated")),
        replies=(Reply(tool=SYMPTOMS, fact="gone", disclosed=("a",), text=Words()),),
    )
    said = "\n".join(interview_problems(bad))
    for part in ("stands twice", "never be told", "needs `drug`", "no fact `gone`", "gives away", "no words"):
        assert part in said
