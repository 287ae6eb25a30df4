"""Interviews of generated lives: who speaks, in how many voices, the same again, with sources that the chart has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations

import pytest

from wardround.patients.dialogue import INTERVIEW_TOOLS
from wardround.patients.hospital.charting import chart_record
from wardround.patients.hospital.interviews import make_interviews
from wardround.patients.hospital.life import Life, Stay
from wardround.patients.hospital.living import make_life
from wardround.patients.hospital.writing import write_record
from wardround.patients.hospital.writing_view import moment
from wardround.patients.interview import Interview
from wardround.patients.knowledge import lexicon

_SEED = 41
_COUNT = 40


@cache
def _lives() -> tuple[Life, ...]:
    return tuple(make_life(_SEED, index) for index in range(_COUNT))


@cache
def _interviews() -> tuple[dict[str, Interview], ...]:
    return tuple(make_interviews(life) for life in _lives())


def _spoken_for() -> Iterator[tuple[Life, Stay, Interview]]:
    """Yield the encounters of lives in which somebody else speaks at times, a dozen of them at least."""
    found = 0
    for index in range(400):
        life = make_life(_SEED + 1, index)
        if life.caregiver == "none":
            continue
        for stay, interview in zip(life.stays, make_interviews(life).values(), strict=True):
            if stay.part_of is None:
                found += interview.persona.informant == "caregiver"
                yield life, stay, interview
        if found >= 12:
            return


def test_every_stay_has_an_interview_in_order() -> None:
    for life, told in zip(_lives(), _interviews(), strict=True):
        assert list(told) == [stay.id for stay in life.stays]


def test_the_same_life_says_the_same_words() -> None:
    for life, told in list(zip(_lives(), _interviews(), strict=True))[:5]:
        assert make_interviews(life) == told


def test_charted_sources_name_what_the_chart_has() -> None:
    for life, told in list(zip(_lives(), _interviews(), strict=True))[:3]:
        traced = {trace.key for trace in chart_record(write_record(life)).provenance}
        for interview in told.values():
            for fact in interview.facts:
                assert fact.source == "simulated" or fact.source in traced, fact.source


def test_caregivers_speak_of_the_patient_and_patients_of_themselves() -> None:
    hers = re.compile(r"\b(she|her|herself)\b", re.IGNORECASE)
    his = re.compile(r"\b(he|his|him|himself)\b", re.IGNORECASE)
    mine = re.compile(r"\b(I (have|am|feel|take|stopped|hurt|walk)|my (chest|belly|head|knee|legs|skin|breathing))\b")
    seen = 0
    for life, _, interview in _spoken_for():
        spoken = interview.persona.informant == "caregiver"
        seen += spoken
        if not spoken:
            continue
        assert life.caregiver != "none"
        for reply in interview.replies:
            english, chinese = reply.text.en or "", reply.text.zh or ""
            wrong = his if life.person.sex == "female" else hers
            assert not wrong.search(english), english
            for fact in interview.facts:  # 阿托伐他汀 is no man
                if fact.drug is not None:
                    chinese = chinese.replace(lexicon().concept(fact.drug).name.zh or "-", "")
            assert ("他" if life.person.sex == "female" else "她") not in chinese, chinese
            assert not mine.search(english), english
    assert seen >= 10


def test_personas_are_spread_and_stay_with_the_patient() -> None:
    literacy: Counter[str] = Counter()
    anxiety: Counter[str] = Counter()
    last = []
    for life, told in zip(_lives(), _interviews(), strict=True):
        assert len({(one.persona.literacy, one.persona.anxiety) for one in told.values()}) == 1
        final = told[life.stays[-1].id]
        literacy[final.persona.literacy] += 1
        anxiety[final.persona.anxiety] += 1
        last.append(final)
    assert min(literacy.values()) >= _COUNT / 6
    assert min(anxiety.values()) >= _COUNT / 6
    home = [one for one in last if any(fact.kind == "adherence" for fact in one.facts)]
    assert sum(one.persona.adherence == "poor" for one in home) * 3 >= len(home)
    assert sum(one.persona.disclosure == "critical_withheld" for one in last) * 4 >= len(last)


def _grams(text: str, language: str) -> set[tuple[str, ...]]:
    pattern = "[\u4e00-\u9fff]" if language == "zh" else r"[a-z']+|\d+"
    tokens = re.findall(pattern, text.lower())
    return {tuple(tokens[at : at + 5]) for at in range(len(tokens) - 4)}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("tool", INTERVIEW_TOOLS)
def test_patients_do_not_sound_alike(tool: str, language: str) -> None:
    bags = []
    for life, told in zip(_lives(), _interviews(), strict=True):
        replies = told[life.stays[-1].id].replies
        bags.append(_grams(" ".join(one.text.get(language) for one in replies if one.tool == tool), language))
    pairs = [len(a & b) / min(len(a), len(b)) for a, b in combinations(bags, 2) if a and b]
    assert pairs
    assert sum(pairs) / len(pairs) <= 0.25


def test_who_speaks_could_be_who_they_are() -> None:
    for life, stay, interview in _spoken_for():
        age = moment(stay.start).year - int(life.person.birth_date[:4])
        if interview.persona.informant == "patient":
            continue
        if life.caregiver in ("daughter", "son"):
            assert age >= 44
        elif life.caregiver == "spouse":
            assert life.person.marital == "married"
        else:
            assert age <= 60
