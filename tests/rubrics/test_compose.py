"""`any_of`, `all_of`, `not`: truth tables over passed, failed, unreadable and ungraded members."""

from __future__ import annotations

import pytest

import wardround.rubrics.checks.compose as compose
from wardround.rubrics import Verdict, check_answer
from wardround.rubrics.checks import CheckContext
from wardround.rubrics.reading import read
from wardround.rubrics.rubric import AllOf, AnyOf, MentionCheck, Not

CONTEXT = CheckContext(item="x", language="en")
STATES = {
    "pass": {"passed": True, "score": 1.0},
    "fail": {"passed": False, "score": 0.0},
    "unreadable": {"passed": False, "score": 0.0, "unreadable": True},
    "ungraded": {"passed": False, "score": 0.0, "ungraded": True},
}


@pytest.fixture
def states(monkeypatch):
    """Make a check named after a state give a verdict in that state."""

    def judge(check, reading, context):
        return Verdict(item=context.item, reason=check.concept, **STATES[check.concept])

    monkeypatch.setattr(compose, "judge", judge)


def member(state):
    return MentionCheck(concept=state)


def state_of(verdict):
    assert verdict.item == "x"
    given = {"passed": verdict.passed, "unreadable": verdict.unreadable, "ungraded": verdict.ungraded}
    return next((name for name in ("ungraded", "unreadable") if given[name]), "pass" if verdict.passed else "fail")


@pytest.mark.parametrize(
    ("members", "any_of", "all_of"),
    [
        (("pass", "pass"), "pass", "pass"),
        (("pass", "fail"), "pass", "fail"),
        (("fail", "fail"), "fail", "fail"),
        (("pass", "unreadable"), "pass", "unreadable"),
        (("fail", "unreadable"), "unreadable", "fail"),
        (("pass", "ungraded"), "pass", "ungraded"),
        (("fail", "ungraded"), "ungraded", "fail"),
    ],
)
def test_any_and_all(states, members, any_of, all_of):
    for order in (members, members[::-1]):
        checks = tuple(member(state) for state in order)
        assert state_of(compose.any_of(AnyOf(checks=checks), read(""), CONTEXT)) == any_of
        assert state_of(compose.all_of(AllOf(checks=checks), read(""), CONTEXT)) == all_of


@pytest.mark.parametrize(
    ("state", "result"),
    [("pass", "fail"), ("fail", "pass"), ("unreadable", "unreadable"), ("ungraded", "ungraded")],
)
def test_not(states, state, result):
    assert state_of(compose.not_(Not(check=member(state)), read(""), CONTEXT)) == result


def test_real_members_nest():
    nausea, rash = MentionCheck(concept="nausea"), MentionCheck(concept="rash")
    check = AllOf(checks=(AnyOf(checks=(rash, nausea)), Not(check=rash)))
    assert check_answer(check, "The patient has nausea.", language="en").passed
    assert not check_answer(check, "The patient has nausea and a rash.", language="en").passed
    assert not check_answer(check, "", language="en").passed
