"""From words to concepts, in English and Chinese."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wardround.patients import knowledge
from wardround.patients.knowledge.models import Ambiguity, Drug, Finding, Names, Synonyms, WordRules
from wardround.patients.knowledge.terms import Lexicon


def _ids(text: str, kinds: tuple[str, ...] | None = None) -> list[str]:
    return [mention.concept for mention in knowledge.lexicon().scan(text, kinds)]


def _words(text: str) -> list[str]:
    return [text[mention.start : mention.end] for mention in knowledge.lexicon().scan(text)]


@pytest.mark.parametrize(
    ("term", "concept"),
    [
        ("creatinine", "creatinine"),
        ("SCr", "creatinine"),
        ("creat", "creatinine"),
        ("血肌酐", "creatinine"),
        ("K", "potassium"),
        ("k+", "potassium"),
        ("Ca", "calcium"),
        ("PLT", "platelets"),
        ("HAEMOGLOBIN", "hemoglobin"),
        ("NT-proBNP", "nt_probnp"),
        ("NTproBNP", "nt_probnp"),
        ("vanc trough", "vancomycin_level"),
        ("sed rate", "esr"),
        ("Lasix", "furosemide"),
        ("波立维", "clopidogrel"),
        ("拜阿司匹灵", "aspirin"),
        ("tmp-smx", "trimethoprim_sulfamethoxazole"),
        ("APAP", "acetaminophen"),
        ("HCTZ", "hydrochlorothiazide"),
        ("ACE inhibitors", "ace_inhibitor"),
        ("water pill", "diuretic"),
        ("heart attack", "myocardial_infarction"),
        ("high blood pressure", "hypertension"),
        ("a-fib", "atrial_fibrillation"),
        ("心梗", "myocardial_infarction"),
        ("Crohn’s disease", "crohn_disease"),
        ("Sjogren syndrome", "sjogren_syndrome"),
        ("Sjögren’s  SYNDROME", "sjogren_syndrome"),
        ("tummy ache", "abdominal_pain"),
        ("threw up", "vomiting"),
        ("puffy ankles", "ankle_edema"),
        ("diarrhoea", "diarrhea"),
        ("拉肚子", "diarrhea"),
        ("kidney doctor", "nephrology"),
        ("肾内科", "nephrology"),
        ("EKG", "ecg"),
        ("can't afford", "cost"),
        ("ferritin level", None),
        ("Zestril-like", None),
        ("", None),
        ("!!", None),
    ],
)
def test_resolve(term: str, concept: str | None) -> None:
    found = knowledge.lexicon().resolve(term)
    assert (found.id if found else None) == concept


def test_resolve_by_kind() -> None:
    lexicon = knowledge.lexicon()
    assert lexicon.resolve("furosemide", kinds=("lab",)) is None
    found = lexicon.resolve("PT", kinds=("service",))
    assert found is not None and found.id == "physical_therapy"
    found = lexicon.resolve("PT")
    assert found is not None and found.id == "pt"


def test_every_name_and_synonym_resolves() -> None:
    lexicon = knowledge.lexicon()
    for concept in lexicon.concepts().values():
        names = [concept.id, concept.name.en, *concept.synonyms.en, *concept.synonyms.zh]
        names += [concept.name.zh] if concept.name.zh else []
        names += concept.brands if isinstance(concept, Drug) else ()
        for name in names:
            found = lexicon.resolve(name, kinds=(concept.kind,))
            assert found is not None, name
            if name == concept.id or len(lexicon.scan(name)) != 1:
                continue
            assert concept.id in lexicon.scan(name)[0].concepts, name


@pytest.mark.parametrize(
    ("text", "concepts"),
    [
        ("Cr 1.2 in Crohn's disease", ["creatinine", "crohn_disease"]),
        ("K5.2, Na138, Cr1.9, INR2.5", ["potassium", "sodium", "creatinine", "inr"]),
        ("a na cr k af pe mi word", []),
        ("5 mg of Mg 2.1", ["magnesium"]),
        ("Ca 9.1 but CA 19-9 40", ["calcium", "ca19_9"]),
        ("vitamin K2 and T4 and B12", ["vitamin", "total_t4", "cyanocobalamin"]),
        ("heparin-induced thrombocytopenia", ["heparin_induced_thrombocytopenia"]),
        ("digoxin level 1.9 on digoxin", ["digoxin_level", "digoxin"]),
        ("acute kidney\ninjury", ["acute_kidney_injury"]),
        ("beta- blockers and NSAIDs", ["beta_blocker", "nsaid"]),
        ("the map shows a hit with the art", []),
        ("MAP 65, HIT excluded", ["map", "heparin_induced_thrombocytopenia"]),
        ("Toprol-XL 50 mg; Lopressor", ["metoprolol_succinate", "metoprolol_tartrate"]),
        ("血钾５．９ｍｍｏｌ／Ｌ，肌酐正常", ["potassium", "creatinine"]),
        ("停用波立维，继续拜阿司匹灵", ["clopidogrel", "aspirin"]),
        ("2型糖尿病、2 型糖尿病", ["type_2_diabetes", "type_2_diabetes"]),
        ("不能用二甲双胍缓释", ["metformin"]),
        ("酒石酸美托洛尔12.5mg", ["metoprolol_tartrate"]),
        ("血紅蛋白92，腎功能不全", ["hemoglobin", "chronic_kidney_disease"]),
        ("C反应蛋白、NT-proBNP升高", ["crp", "nt_probnp"]),
        ("ｌａｓｉｘ 40", ["furosemide"]),
    ],
)
def test_scan(text: str, concepts: list[str]) -> None:
    assert _ids(text) == concepts


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("p\u200blatelets\u200b 9", ["p\u200blatelets"]),
        ("see  acute \t kidney-\u00a0injury.", ["acute \t kidney-\u00a0injury"]),
        ("ﬁbrinogen and Crohn’s disease", ["ﬁbrinogen", "Crohn’s disease"]),
        ("Ḱ K 5", ["K"]),
        ("'血鉀'  5.1", ["血鉀"]),
        ("ＡＬＴ３０", ["ＡＬＴ"]),
    ],
)
def test_offsets_are_those_of_the_original(text: str, words: list[str]) -> None:
    assert _words(text) == words


def test_kinds_filter_after_the_longest_match() -> None:
    assert _ids("digoxin level 1.9", kinds=("drug",)) == []
    assert _ids("metformin and potassium", kinds=("drug",)) == ["metformin"]


def test_ambiguous_words_follow_their_cues() -> None:
    lexicon = knowledge.lexicon()
    (lab,) = lexicon.scan("PT 14.2 s, INR pending", kinds=("lab", "service"))[:1]
    assert lab.concepts == ("pt", "physical_therapy")
    (service,) = lexicon.scan("PT consult for mobility")[:1]
    assert service.concepts == ("physical_therapy", "pt")
    assert lexicon.scan("SBP prophylaxis in ascites")[0].concept == "spontaneous_bacterial_peritonitis"
    assert lexicon.scan("SBP 88")[0].concept == "systolic_bp"


def test_is_a() -> None:
    lexicon = knowledge.lexicon()
    assert lexicon.is_a("lisinopril", "ace_inhibitor")
    assert lexicon.is_a("lisinopril", "antihypertensive")
    assert lexicon.is_a("stemi", "coronary_artery_disease")
    assert lexicon.is_a("troponin_t", "troponin")
    assert lexicon.is_a("aspirin", "aspirin")
    assert not lexicon.is_a("troponin", "troponin_t")
    assert not lexicon.is_a("lisinopril", "arb")


@pytest.mark.parametrize(
    ("term", "concept"),
    [
        ("metforman", "metformin"),
        ("lisinoprl", "lisinopril"),
        ("Furosmide", "furosemide"),
        ("warfrain", "warfarin"),
        ("creatinne", "creatinine"),
        ("diarhea", "diarrhea"),
        ("atorvastatn", "atorvastatin"),
        ("palpitatoins", "palpitations"),
        ("apixiban", "apixaban"),
        ("nausia", "nausea"),
    ],
)
def test_suggest(term: str, concept: str) -> None:
    found = knowledge.lexicon().suggest(term)
    assert found is not None and found.id == concept


@pytest.mark.parametrize(
    "term",
    [
        "cefotetan",  # real drugs that are not in the data, each near one that is
        "prednisolone acetateX",
        "hydralizine hydroxyzine",
        "chlorpromazine",
        "vinblastine",
        "trandolapril",
        "lapatinib",
        "INRR",  # too short
        "zzzzzzzz",
        "wetformin",  # the first letter must be right
        "血钾钾",
        "",
    ],
)
def test_suggest_nothing(term: str) -> None:
    assert knowledge.lexicon().suggest(term) is None


def test_a_real_drug_is_never_another_drug() -> None:
    lexicon = knowledge.lexicon()
    for drug in knowledge.drugs().values():
        found = lexicon.suggest(drug.name.en, kinds=("drug",))
        assert found is not None and found.id == drug.id
        assert lexicon.suggest(drug.name.en, kinds=("condition",)) is None


def test_look_alike_drugs_are_left_alone() -> None:
    """A term as near to one drug as to another is nobody's."""
    concepts = [
        Drug(id=name, name=Names(en=name), assumption=True) for name in ("clonidine", "clonadine", "furosemide")
    ]
    lexicon = Lexicon(concepts, [], WordRules())
    assert lexicon.suggest("clonodine") is None
    assert (found := lexicon.suggest("furosemida")) is not None and found.id == "furosemide"


def test_clashes_and_settlements() -> None:
    one = Finding(id="one", name=Names(en="first thing"), synonyms=Synonyms(en=("ABX",)), assumption=True)
    two = Finding(id="two", name=Names(en="second thing"), synonyms=Synonyms(en=("ABX",)), assumption=True)
    assert next(iter(Lexicon([one, two], [], WordRules()).clashes())).concepts == ("one", "two")
    settled = Ambiguity(term="ABX", concepts=("two", "one"))
    lexicon = Lexicon([one, two], [settled], WordRules())
    assert lexicon.clashes() == [] and lexicon.unused_ambiguities() == []
    assert lexicon.scan("ABX")[0].concepts == ("two", "one")
    assert Lexicon([one], [settled], WordRules()).unused_ambiguities() == ["ABX"]


_TERMS = st.sampled_from(
    ["Cr", "creatinine", "血钾", "波立维", "NT-proBNP", "acute kidney injury", "K", "2型糖尿病", "Crohn's disease"]
)
_GLUE = st.text(alphabet=" -'’\u200b\n,.;:，。aZ9５ßİﬁé中\u0301\U0001f600", max_size=6)


@given(pieces=st.lists(st.one_of(_TERMS, _GLUE), max_size=12))
def test_mentions_are_ordered_and_name_what_they_quote(pieces: list[str]) -> None:
    text = "".join(pieces)
    lexicon = knowledge.lexicon()
    last = 0
    for mention in lexicon.scan(text):
        assert last <= mention.start < mention.end <= len(text)
        last = mention.end
        found = lexicon.resolve(text[mention.start : mention.end])
        assert found is not None and found.id in mention.concepts


@settings(max_examples=50)
@given(text=st.text(max_size=80))
def test_any_text_is_survived(text: str) -> None:
    lexicon = knowledge.lexicon()
    for mention in lexicon.scan(text):
        assert text[mention.start : mention.end].strip()
    lexicon.resolve(text)
    lexicon.suggest(text)


@example(text="K\u0301")
@example(text="\u1e30")
@given(text=st.text(alphabet="creatininCRK 血钾é\u0301’-", max_size=30))
def test_composition_of_accents_changes_nothing(text: str) -> None:
    lexicon = knowledge.lexicon()
    composed, apart = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert [m.concepts for m in lexicon.scan(composed)] == [m.concepts for m in lexicon.scan(apart)]


@pytest.mark.parametrize(
    "unit",
    [
        "acute ",
        "acute kidney ",
        "血",
        "急性",
        "K",
        "a",
        " ",
        "-",
        "\u200b",
        "é",
        "low-molecular-weight ",
        "9 ",
        "\U0001f600",
    ],
)
def test_scanning_is_linear(unit: str) -> None:
    """A hundred times the text takes no more than a few hundred times the time, whatever repeats."""
    lexicon = knowledge.lexicon()
    small, large = unit * (2_000 // len(unit)), unit * (200_000 // len(unit))
    lexicon.scan(small)

    def seconds(text: str) -> float:
        best = float("inf")
        for _ in range(3):
            start = time.perf_counter()
            lexicon.scan(text)
            best = min(best, time.perf_counter() - start)
        return best

    assert seconds(large) < 600 * seconds(small) + 0.05
