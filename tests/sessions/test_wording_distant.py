"""A drug named further back is called a drug, by the shapes of the phrase files themselves."""

from __future__ import annotations

import re

import pytest

from wardround.sessions.wording import phrases
from wardround.sessions.wording.distant import by_noun
from wardround.sessions.wording.phrases import Shape, load_phrases


def shape(explicit: str, implicit: str) -> Shape:
    return phrases._shape("x.en.json", "dose/later/en/0", "dose", ("NA", "drug", explicit, implicit), 0)


@pytest.mark.parametrize(
    ("explicit", "implicit", "named"),
    [
        ("How is {drug} ordered?", "How is it ordered?", "How is that drug ordered?"),
        ("Okay, how is the {drug} ordered?", "Okay, how is that ordered?", "Okay, how is that drug ordered?"),
        ("When was the last {drug} dose?", "When was its last dose?", "When was that drug's last dose?"),
        ("Okay with this dose, {drug}?", "Okay with this dose, that med?", "Okay with this dose, that med?"),
        ("Was the last {drug} dose given?", "Was the last dose given?", "Was the last dose given?"),
        ("Is {drug} right, and does {they} take it?", "Is it right, and does {they} take it?",
         "Is that drug right, and does {they} take it?"),
        ("Check the {drug} order: does {they} take it?", "Check the order for it: does {they} take it?",
         "Check the order for that drug: does {they} take it?"),
        ("{Drug}, is it okay?", "It, is it okay?", "That drug, is it okay?"),
    ],
)  # fmt: skip
def test_the_pronoun_of_the_drug_gives_way_to_a_noun(explicit: str, implicit: str, named: str) -> None:
    assert by_noun(shape(explicit, implicit), "en").implicit == named


def _with_it(words: str) -> str:
    """Return words with "it" for the drug and for every "that", without apostrophes."""
    return re.sub(r"that drug\b|that\b", "it", words.lower()).replace("'", "")


def test_a_noun_adds_to_no_explicit_form_and_leaves_chinese_alone() -> None:
    """Every shape of the files that leaves out a drug: at most one pronoun less, and nothing else changes."""
    changed = 0
    for kind in load_phrases("en").values():
        for one in kind.later:
            if one.type == "NA" and one.drops == "drug":
                said = by_noun(one, "en")
                assert (said.explicit, said.id, said.left_out) == (one.explicit, one.id, one.left_out)
                assert _with_it(said.implicit) == _with_it(one.implicit), one.id
                changed += said is not one
    assert changed > 50
    chinese = next(one for one in load_phrases("zh")["dose"].later if one.drops == "drug")
    assert by_noun(chinese, "zh") is chinese
