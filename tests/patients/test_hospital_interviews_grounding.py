"""What interviews rest on, over many more lives than the quick tests look at."""

from __future__ import annotations

from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from wardround.patients.hospital.interviews import make_interviews
from wardround.patients.hospital.life import Life
from wardround.patients.hospital.living import make_life
from wardround.patients.interview import Interview

_SEED = 1009
_COUNT = 100
_GROUNDED = (
    "test_interviews_are_sound",
    "test_every_question_is_answered_in_both_languages",
    "test_replies_are_two_to_five_sentences",
    "test_chinese_has_no_english_left",
    "test_facts_are_those_of_the_life",
    "test_every_drug_taken_at_home_has_one_fact",
    "test_what_is_held_back_is_told_only_when_its_drug_is_named",
    "test_no_other_words_name_the_drug_that_is_held_back",
    "test_withheld_drugs_are_not_taken_and_unknown_to_the_notes",
    "test_pain_scores_agree",
    "test_onset_is_told_as_it_was",
    "test_children_are_not_asked_what_grown_ups_are",
    "test_what_eased_is_not_said_to_get_worse",
    "test_nobody_speaks_in_pack_years_nor_makes_light_of_what_is_grave",
    "test_in_a_care_home_nothing_is_forgotten_or_runs_out",
)


@cache
def _lives() -> tuple[Life, ...]:
    return tuple(make_life(_SEED, index) for index in range(_COUNT))


@cache
def _interviews() -> tuple[dict[str, Interview], ...]:
    return tuple(make_interviews(life) for life in _lives())


@cache
def _quick() -> ModuleType:
    """Return the quick tests, made to look at these lives."""
    spec = spec_from_file_location("interviews_of_many", Path(__file__).with_name("test_hospital_interviews.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    module._lives, module._interviews = _lives, _interviews  # type: ignore[attr-defined]
    return module


@pytest.mark.external
@pytest.mark.parametrize("test", _GROUNDED)
def test_holds_for_many_lives(test: str) -> None:
    getattr(_quick(), test)()
