"""The physician's words: limits, names, and enough ways to say everything."""

from __future__ import annotations

from collections import Counter

import pytest

from wardround.patients import UsageError, knowledge
from wardround.sessions.queries import capital, faults, fill, named
from wardround.sessions.scenario import load_phrases, load_scenario, scenario_names

SCENARIO = load_scenario("medication-safety")
PHRASES = load_phrases("medication-safety")
VALUES = {
    "they": "she",
    "them": "her",
    "their": "her",
    "lab": "INR",
    "lab2": "potassium",
    "lab3": "eGFR",
    "drug": "warfarin",
    "topics": "the INR and the dose",
    "priority": "urgent",
    "dose": "5 mg",
    "frequency": "once daily",
    "route_words": "by mouth",
}


def test_fill_and_capitals():
    assert fill("{Lab2}?", VALUES) == "Potassium?"
    assert fill("{lab3} and {lab2}?", VALUES) == "eGFR and potassium?"
    assert fill("what's {their} {lab}?", VALUES) == "What's her INR?"
    assert capital("pH") == "pH"


@pytest.mark.parametrize(
    ("query", "task", "first", "fault"),
    [
        ("What is the latest INR?", "IL", True, ""),
        (" ".join(["word"] * 26) + "?", "IL", True, "26 words"),
        (" ".join(["word"] * 16) + "?", "CR", False, "16 words"),
        (" ".join(["word"] * 30) + ".", "WU", False, ""),
        ("One. Two. Three.", "DG", False, "sentences"),
        ("With the INR at 4, hold it?", "CR", False, "number"),
        ("What is the HbA1c and the free T4?", "IL", False, ""),
        ("Order 5 mg.", "WU", False, ""),
        ("Use Observation.search for it.", "IL", False, "tool"),
    ],
)
def test_limits(query, task, first, fault):
    found = faults(query, task=task, first=first)
    assert bool(found) == bool(fault)
    assert fault in " ".join(found)


def test_every_move_of_a_recipe_has_phrases_and_a_task():
    moves = {move for recipe in SCENARIO.recipes for move in recipe} - {"write"} | {"prescribe", "recheck", "flag"}
    assert moves == set(PHRASES.first) | set(PHRASES.shapes)
    assert moves == set(SCENARIO.tasks)
    assert len(set(SCENARIO.recipes)) == len(SCENARIO.recipes)


def test_at_least_eight_shapes_per_move_and_type():
    for move, shapes in PHRASES.first.items():
        assert len(set(shapes)) >= 8, move
    for move, shapes in PHRASES.shapes.items():
        for kind, count in Counter(shape.type for shape in shapes).items():
            assert count >= 8, (move, kind)
        assert len({shape.explicit for shape in shapes}) == len(shapes), move
        assert len({shape.implicit for shape in shapes}) == len(shapes), move


@pytest.mark.parametrize("move", sorted(PHRASES.shapes))
def test_implicit_twins_only_leave_out_what_they_say(move):
    for shape in PHRASES.shapes[move]:
        explicit, implicit = fill(shape.explicit, VALUES), fill(shape.implicit, VALUES)
        concepts = {"lab", "vital", "drug"}
        assert named(implicit, concepts) <= named(explicit, concepts), shape
        kept = "{drug}" in shape.implicit.lower()
        assert kept == ("{drug}" in shape.explicit.lower() and shape.drops != "drug"), shape
        if shape.drops == "topics":
            assert "{topics}" in shape.explicit, shape
            assert "{topics}" not in shape.implicit, shape
        # A query for two things still asks for two.
        for slot in ("{lab2}", "{lab3}"):
            assert (slot in shape.explicit.lower()) == (slot in shape.implicit.lower()), shape
        if shape.type == "AE":
            assert SCENARIO.tasks[move] != "IL", shape


def test_casual_names_mean_their_lab():
    for lab, names in SCENARIO.casual.items():
        for name in names:
            found = knowledge.lexicon().resolve(name, kinds={"lab", "vital"})
            assert found is not None, name
            assert found.id == lab, name


def test_scenario_names_every_lab_and_drug_rightly():
    labs = set(knowledge.labs())
    used = {lab for near in SCENARIO.companions.values() for lab in near} | set(SCENARIO.companions) - {"*"}
    assert used | set(SCENARIO.casual) | set(SCENARIO.never_pair.labs) <= labs
    assert set(SCENARIO.left_out.pairs) <= set(knowledge.monitoring())
    assert set(SCENARIO.halve) <= set(knowledge.drugs())
    assert {rule.act for rule in SCENARIO.adherence_rules} <= set(SCENARIO.acts)


def test_unknown_names():
    assert scenario_names() == ("medication-safety",)
    assert load_scenario("medication_safety") is SCENARIO or load_scenario("medication_safety") == SCENARIO
    with pytest.raises(UsageError, match="there are: `medication-safety`"):
        load_scenario("discharge")
    with pytest.raises(UsageError, match="no phrases in `zh`"):
        load_phrases("medication-safety", "zh")
