"""How speakers of interviews put words together, and the data they draw from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.patients.hospital.life import Pair
from wardround.patients.hospital.speaking import Speaker, number, phrases, speech, time_words
from wardround.patients.interview import Persona

_PLACES = {
    "S", "i", "s", "es", "have", "am", "was", "my", "My", "me", "myself", "dont", "x", "X", "with", "onset", "worst",
    "now", "drug", "take", "taking", "taken", "since", "n", "n_zh", "n_cap", "drinks", "spouse", "parent", "a", "packs",
}  # fmt: skip


def _speaker(caregiver: str = "none", sex: str = "female", age: int = 60, **traits: Any) -> Speaker:
    informant = "patient" if caregiver == "none" else "caregiver"
    return Speaker(Persona(informant=informant, **traits), sex, caregiver, age, (1, 2, "e1"))  # type: ignore[arg-type]


def _pairs(node: Any) -> Iterator[dict[str, str]]:
    if isinstance(node, dict):
        if "en" in node and "zh" in node:
            yield node
        else:
            for value in node.values():
                yield from _pairs(value)
    elif isinstance(node, list):
        for value in node:
            yield from _pairs(value)


def test_every_sentence_stands_in_both_languages_with_known_places() -> None:
    count = 0
    for pair in _pairs(speech()):
        count += 1
        assert pair["en"]
        assert pair["zh"]
        assert set(re.findall(r"\{(\w+)\}", pair["en"] + pair["zh"])) <= _PLACES, pair
        assert not re.search("[A-Za-z]", re.sub(r"\{\w+\}", "", pair["zh"])), pair
    assert count > 400


def test_times_are_told_as_people_tell_them() -> None:
    assert time_words(Pair("about 2 weeks ago", "大约2周前"), before=False) == Pair(
        "about two weeks ago", "大概两个星期前"
    )
    assert time_words(Pair("about 2 weeks ago", "大约2周前"), before=True) == Pair(
        "about two weeks before {i} came in", "来医院前大概两个星期"
    )
    assert time_words(Pair("yesterday", "昨天"), before=True) == Pair("the day before {i} came in", "来医院前一天")
    assert time_words(Pair("about 5 years ago", "大约5年前"), before=True) == Pair("about five years ago", "大概五年前")


@given(st.integers(min_value=1, max_value=99))
def test_numbers_have_words_in_both_languages(n: int) -> None:
    words = number(n)
    assert words.en == str(n) or words.en.isalpha()
    assert re.fullmatch("[一二两三四五六七八九十]{1,3}", words.zh)


def test_numbers_by_hand() -> None:
    told = [number(n).zh for n in (2, 10, 11, 12, 20, 25, 40)]
    assert told == ["两", "十", "十一", "十二", "二十", "二十五", "四十"]


def test_a_wording_comes_again_only_after_all_have_come() -> None:
    speaker, options = _speaker(), phrases("now")
    said = [speaker.next(options, now=Pair("4", "4")) for _ in options]
    assert len(set(said)) == len(options)


def test_eight_takes_the_other_article() -> None:
    said = _speaker().fill(Pair("Call it a {now} out of 10.", "算{now}分。"), {"now": Pair("8", "8")})
    assert said == Pair("Call it an 8 out of 10.", "算8分。")


def test_caregivers_name_the_patient_and_never_themselves() -> None:
    starts = set()
    for place in range(20):
        speaker = _speaker("daughter", "male", 80, literacy="medium", anxiety="low")
        words = speaker.reply(f"one {place}", [speaker.fill(Pair("{S} {have} no appetite.", "没胃口。"))])
        starts.add("dad" if "My dad has no appetite." in (words.en or "") else "he")
        assert "My dad has no appetite." in (words.en or "") or "He has no appetite." in (words.en or "")
        assert "我爸没胃口。" in (words.zh or "") or "他没胃口。" in (words.zh or "")
    assert starts == {"dad", "he"}


@pytest.mark.parametrize(
    ("caregiver", "sex", "age", "who"),
    [
        ("mother", "male", 5, Pair("my son", "我儿子")),
        ("father", "female", 9, Pair("my daughter", "我女儿")),
        ("spouse", "male", 40, Pair("my husband", "我爱人")),
        ("spouse", "male", 80, Pair("my husband", "我家老头")),
        ("son", "female", 80, Pair("my mom", "我妈")),
    ],
)
def test_what_caregivers_call_the_patient(caregiver: str, sex: str, age: int, who: Pair) -> None:
    assert _speaker(caregiver, sex, age).who == who


def test_replies_stay_within_five_sentences() -> None:
    for place in range(40):
        speaker = _speaker(anxiety="high", literacy="low")
        words = speaker.reply(f"long {place}", [Pair("One. Two.", "一。二。")] * 4)
        assert 2 <= len(re.findall(r"[.?!](?= |$)", words.en or "")) <= 5


def test_anxiety_shows() -> None:
    def ends(level: str) -> int:
        worried = {one.en for one in phrases("closers", level)}
        found = 0
        for place in range(60):
            words = _speaker(anxiety=level).reply(f"{place}", [Pair("It hurts.", "疼。"), Pair("Here.", "这儿。")])
            found += any((words.en or "").endswith(one) for one in worried)
        return found

    assert ends("high") > 15 > 8 > ends("low")
