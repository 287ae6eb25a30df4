"""The phrase book: places, choices, registers, and the small grammar of English that notes need."""

from __future__ import annotations

import re
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.patients import DataError
from wardround.patients.hospital.phrasing import (
    Choice,
    Phrase,
    Place,
    Teller,
    article,
    book,
    capital,
    compile_phrase,
    counted,
    listed,
    lowered,
    sentence,
    table,
    tidy,
)
from wardround.patients.knowledge.bedside import condition_profiles
from wardround.patients.rng import Stream


def _teller(register: str = "full", **places: str) -> Teller:
    return Teller(Stream("test", 1), register, places)


def _wordings(phrase: Phrase) -> list[str]:
    """Return every wording of a phrase, places as "{name}"."""
    found = [""]
    for part in phrase:
        if isinstance(part, Place):
            options = [f"{{{part}}}"]
        elif isinstance(part, Choice):
            options = [text for option in part for text in _wordings(option)]
        else:
            options = [part]
        found = [before + after for before in found for after in options]
    return found


def test_choices_nest_and_may_be_empty() -> None:
    phrase = compile_phrase("[a|b [c|d]|] {x}")
    assert _wordings(phrase) == ["a {x}", "b c {x}", "b d {x}", " {x}"]


@pytest.mark.parametrize("text", ["[a|b", "a]", "{open", "{two words}", "a | b", "{}"])
def test_a_phrase_that_cannot_be_read_is_named(text: str) -> None:
    with pytest.raises(DataError, match=r"^notes: `"):
        compile_phrase(text)


def test_a_place_that_nothing_fills_is_named() -> None:
    with pytest.raises(DataError, match="symptoms"):
        _teller(He="He", he="he", Name="Mr. Lee").words("hpi.also")


def test_an_unknown_key_is_named() -> None:
    with pytest.raises(DataError, match=r"no\.such\.key"):
        _teller().words("no.such.key")
    with pytest.raises(DataError, match="no table"):
        table("no_such_table")


def test_the_register_has_its_own_wordings_where_there_are_any() -> None:
    places = {"He": "He", "he": "he", "Name": "Mr. Lee", "symptoms": "chills"}
    short = {_teller("abbrev", **places).words("hpi.also") for _ in range(1)}
    assert all("He " not in text for text in short)
    assert "hpi.denies@abbrev" in book()
    assert "pmh.none" in book()
    assert "pmh.none@abbrev" not in book()
    assert _teller("abbrev").words("pmh.none")


def test_no_wording_comes_twice_before_all_have_come() -> None:
    teller = _teller("full", He="He", he="he", Name="Mr. Lee", date="today")
    count = len(book()["course.improved@full"])
    decks = [teller._drawn("course.improved@full", count) for _ in range(2 * count)]
    assert sorted(decks[:count]) == sorted(decks[count:]) == list(range(count))


def test_every_wording_of_the_book_is_well_formed() -> None:
    """No doubled blanks, no stray stops; places are filled by words, so they are read as "x"."""
    faults = []
    for key, phrases in book().items():
        for phrase in phrases:
            for text in _wordings(phrase):
                told = tidy(re.sub(r"\{[a-zA-Z0-9_]+\}", "x", text))
                if (
                    not told
                    or re.search(r"  |,,|\( | \)|\.\.|^[,.]?$| [,.;]", told)
                    or told.count("(") != told.count(")")
                ):
                    faults.append(f"{key}: {text}")
    assert faults == []


def test_every_condition_has_its_words_for_patients_and_its_weight() -> None:
    for name in ("condition_lay", "condition_weight"):
        assert set(table(name)) == set(condition_profiles()), name
    assert all(1 <= int(one) <= 10 for one in table("condition_weight").values())


def test_every_service_that_is_asked_has_an_answer() -> None:
    asked = {name for name, one in condition_profiles().items() if one.workup.consult is not None}
    assert {f"opinion.{name}" for name in asked} <= set(book())
    assert {f"opinion.{name}.after" for name in table("consult_watched")} <= set(book())


def test_the_data_files_are_a_phrase_a_line() -> None:
    folder = resources.files("wardround.patients.hospital").joinpath("data", "notes")
    for file in folder.iterdir():
        lines = file.read_text(encoding="utf-8").splitlines()
        assert sum(line.startswith('{"id": ') for line in lines) == len(lines) - 2, file.name


@pytest.mark.parametrize(
    ("key", "least"),
    [
        ("hpi.opener@full", 8), ("hpi.opener@terse", 8), ("hpi.opener@abbrev", 8), ("hpi.also@full", 6),
        ("hpi.denies@full", 6), ("hpi.denies@terse", 6), ("hpi.denies@abbrev", 6), ("vitals.line.short", 6),
    ],
)  # fmt: skip
def test_common_things_have_many_wordings(key: str, least: int) -> None:
    assert len(book()[key]) >= least
    assert sum(len(_wordings(phrase)) for phrase in book()[key]) >= least


@pytest.mark.parametrize(
    ("noun", "told"),
    [
        ("acute illness", "an acute illness"),
        ("painful knee", "a painful knee"),
        ("82-year-old man", "an 82-year-old man"),
        ("18-year-old woman", "an 18-year-old woman"),
        ("11-year-old boy", "an 11-year-old boy"),
        ("67-year-old man", "a 67-year-old man"),
        ("110-year-old man", "a 110-year-old man"),
        ("MRI", "an MRI"),
        ("CT", "a CT"),
        ("unilateral effusion", "a unilateral effusion"),
        ("ulcer", "an ulcer"),
        ("urinary tract infection", "a urinary tract infection"),
        ("hour", "an hour"),
        ("electrocardiogram", "an electrocardiogram"),
    ],
)
def test_articles(noun: str, told: str) -> None:
    assert article(noun) == told


def test_lists_and_counts() -> None:
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b"], "or") == "a or b"
    assert listed(["a", "b", "c"]) == "a, b, and c"
    assert listed(["a", "b", "c"], oxford=False) == "a, b and c"
    assert counted(1, "day") == "1 day"
    assert counted(0, "fall") == "0 falls"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Hypertension", "hypertension"),
        ("Parkinson's disease", "Parkinson's disease"),
        ("COPD exacerbation", "COPD exacerbation"),
        ("Cardiomegaly.", "cardiomegaly."),
        ("C. difficile infection", "C. difficile infection"),
        ("Non-ST-elevation myocardial infarction", "non-ST-elevation myocardial infarction"),
        ("", ""),
    ],
)
def test_names_within_a_sentence(name: str, told: str) -> None:
    assert lowered(name) == told


def test_sentences_begin_with_a_capital_and_end_with_a_stop() -> None:
    assert sentence("no fever") == "No fever."
    assert sentence("eGFR fell") == "eGFR fell."
    assert sentence("pH 7.2;") == "pH 7.2."
    assert sentence("Seen today.") == "Seen today."
    assert capital("") == ""


@given(st.text(alphabet="ab ,.;", max_size=40))
def test_tidying_is_done_once(text: str) -> None:
    once = tidy(text)
    assert tidy(once) == once
    assert "  " not in once
