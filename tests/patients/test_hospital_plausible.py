"""What may be denied, how long words of timing last, and how bad a score is."""

from __future__ import annotations

import pytest

from wardround.patients.hospital.living import make_life
from wardround.patients.hospital.making import HOUR
from wardround.patients.hospital.plausible import bearable, lasts, plausible, word_of
from wardround.patients.hospital.specimens import of_procedures, specimens
from wardround.patients.knowledge.bedside import condition_profiles, finding_profiles, lab_profiles
from wardround.patients.times import parse_instant

NOON = parse_instant("2020-03-01T12:00:00")


def test_rules_name_what_there_is() -> None:
    rules = plausible()
    named = {*rules.severe_never_denies, *rules.denied_only_with, *rules.never_denied_with}
    named |= {one.finding for one in rules.never_denied_beyond}
    assert named <= set(finding_profiles())
    others = {one for many in (*rules.denied_only_with.values(), *rules.never_denied_with.values()) for one in many}
    histories = {"fall"}
    assert others - histories <= set(finding_profiles())
    assert {one.lab for one in rules.never_denied_beyond} <= set(lab_profiles())


@pytest.mark.parametrize(
    ("words", "hours", "fits"),
    [
        ("getting worse day by day", 9, False),
        ("getting worse day by day", 80, True),
        ("every evening", 48, False),
        ("every evening", 200, True),
        ("all day", 6, False),
        ("constant", 1, True),
        ("several times a week", 30, False),
        ("sudden", 3000, False),
    ],
)
def test_timing_fits_the_duration(words: str, hours: int, fits: bool) -> None:
    assert lasts(words, NOON - hours * HOUR, NOON) is fits


def test_every_score_has_its_word() -> None:
    assert [word_of(score) for score in (0, 3, 4, 6, 7, 10)] == [
        "mild",
        "mild",
        "moderate",
        "moderate",
        "severe",
        "severe",
    ]
    assert not bearable("any movement")
    assert bearable("walking")


def test_severity_is_told_as_the_score_has_it() -> None:
    seen = 0
    for index in range(12):
        for sign in make_life(3, index).signs:
            if sign.present and sign.score is not None and "severity" in sign.attributes:
                seen += 1
                assert sign.attributes["severity"].en.startswith(word_of(sign.score)), sign
    assert seen > 20


def test_specimens_are_of_procedures_that_somebody_does() -> None:
    done = {order.procedure for one in condition_profiles().values() for order in one.workup.procedures}
    assert set(specimens()) <= done
    assert {"csf", "csf_wbc", "ascites_fluid", "joint"} <= of_procedures()
