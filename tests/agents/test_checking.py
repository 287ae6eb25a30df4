"""`wardround check` finds what is planted and passes what ships."""

from __future__ import annotations

from wardround.agents import check_set
from wardround.agents.checking import GAMES, advises_at_most, earns_at_most
from wardround.patients import ChartStore
from wardround.rubrics import Item, MentionCheck, Text
from wardround.sessions import Session, SessionSet


def _with_turn(session: Session, number: int, **update: object) -> SessionSet:
    turns = list(session.turns)
    turns[number] = turns[number].model_copy(update=update)
    return SessionSet([session.model_copy(update={"turns": tuple(turns)})], "planted")


def _first_drug(session: Session) -> str | None:
    calls = (call for turn in session.turns if turn.gold is not None for call in turn.gold.calls)
    return next((call.arguments["medication"] for call in calls if "medication" in call.arguments), None)


def test_the_built_in_set_passes_whole(ward_sessions: SessionSet, ward: ChartStore) -> None:
    report = check_set(ward_sessions, ward)
    assert report["failures"] == []
    assert report["passed"] == report["sessions"] == len(ward_sessions)
    assert report["mrs"]["oracle"] == 1.0
    assert {report["mrs"][name] for name in ("silent", "echo", "refuser")} == {0.0}
    for name, most in earns_at_most().items():
        assert report["mrs"][name] <= most, name
    assert set(GAMES) <= set(report["mrs"])
    for name, most in advises_at_most().items():
        # they do earn what stating a value and guessing the commonest advice is worth
        assert 0.0 < report["advice"][name] <= most, name


def test_a_wrong_gold_answer_is_found(ward_sessions: SessionSet, ward: ChartStore) -> None:
    session = ward_sessions.sessions[0]
    gold = session.turns[0].gold
    assert gold is not None
    wrong = gold.model_copy(update={"answers": (Text(en="It is 12345 mg/dL, normal."),)})
    report = check_set(_with_turn(session, 0, gold=wrong), ward)
    assert "gold_replay" in {failure["rule"] for failure in report["failures"]}
    assert report["passed"] == 0


def test_another_chart_is_found(ward_sessions: SessionSet, ward: ChartStore) -> None:
    session = ward_sessions.sessions[0]
    moved = session.model_copy(update={"chart": session.chart.model_copy(update={"hash": "0" * 32})})
    report = check_set(SessionSet([moved], "moved"), ward)
    assert [failure["rule"] for failure in report["failures"]] == ["chart_hash"]
    gone = session.model_copy(update={"chart": session.chart.model_copy(update={"patient": "nobody"})})
    assert [f["rule"] for f in check_set(SessionSet([gone], "gone"), ward)["failures"]] == ["chart"]


def test_a_set_that_pays_a_loophole_is_found(ward_sessions: SessionSet, ward: ChartStore) -> None:
    """A rubric that pays for the drug's name, which the query gives away, pays those who only repeat it."""

    def careless(session: Session, drug: str) -> Session:
        item = Item(id="said", text=Text(en="Names it."), check=MentionCheck(concept=drug))
        turns = (turn.model_copy(update={"rubric": (item,)}) for turn in session.turns)
        return session.model_copy(update={"turns": tuple(turns)})

    named = [(session, drug) for session in ward_sessions if (drug := _first_drug(session))][:24]
    report = check_set(SessionSet([careless(*one) for one in named], "paid"), ward)
    assert {("*", "gameable")} <= {(failure["session"], failure["rule"]) for failure in report["failures"]}
    assert report["mrs"]["contradictor"] > earns_at_most()["contradictor"]
