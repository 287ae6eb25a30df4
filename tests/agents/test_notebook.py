"""What a notebook shows: words are only ever words, a record's stay in it, and held-out answers do not show."""

from __future__ import annotations

import copy
import pickle
from html.parser import HTMLParser
from typing import Any

import orjson
import pytest
import report_agents

from wardround.envs import Episode, Trajectory
from wardround.patients import ChartStore, html_view, load_charts, parse_instant
from wardround.rubrics import Text
from wardround.sessions import Session, SessionSet, load_sessions


@pytest.fixture(scope="module")
def store() -> ChartStore:
    return load_charts("ward")


@pytest.fixture(scope="module")
def session() -> Session:
    return next(one for one in load_sessions("ward") if one.turns[1].implicitness == "PE" and one.turns[0].query.zh)


class _Read(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert {name for name, _ in attrs} <= {"class", "style", "scope"}

    def handle_data(self, data: str) -> None:
        self.text += data


PLAIN = {"div", "p", "strong", "table", "caption", "thead", "tbody", "tr", "th", "td"}


def _read(thing: Any) -> _Read:
    read = _Read(thing._repr_html_())
    assert read.tags <= PLAIN
    return read


def test_charts_show_counts_and_no_words(store: ChartStore, session: Session) -> None:
    chart = store.chart(session.chart.patient)
    snapshot = chart.at(parse_instant(session.anchor))
    assert store.hash in _read(store).text
    assert all(patient in _read(store).text for patient in store.patients())
    assert f"Observation{chart.index.counts['Observation']}" in _read(chart).text
    assert f"Observation{snapshot.count('Observation')}" in _read(snapshot).text
    for shown in (_read(chart).text, _read(snapshot).text):
        assert not [name for name in snapshot.names("Observation") if name in shown]


def test_sessions_show_what_is_asked_and_one_right_answer(session: Session) -> None:
    shown = _read(session).text
    for turn in session.turns:
        assert turn.query.en is not None
        assert turn.gold is not None
        assert turn.query.en.implicit is not None
        assert turn.query.en.implicit in shown
        assert str(turn.gold.answers[0].zh) in shown
        assert all(item.id in shown for item in turn.rubric)


def test_held_out_sessions_show_neither_gold_nor_rubric(session: Session) -> None:
    held = session.model_copy(update={"use": "evaluation"})
    shown = _read(held).text
    assert "for evaluation" in shown
    for turn in session.turns:
        assert turn.gold is not None
        assert str(turn.gold.answers[0].en) not in shown
        assert not [item.id for item in turn.rubric if item.text.en and item.text.en in shown]
    assert session.id in _read(SessionSet([held])).text


def test_a_trajectory_stays_plain_json(store: ChartStore, session: Session) -> None:
    episode = Episode(session, store.chart(session.chart.patient))
    score = episode.answer(report_agents.ALL)
    trajectory = episode.trajectory
    assert isinstance(trajectory, Trajectory)
    assert orjson.loads(orjson.dumps(trajectory)) == trajectory
    assert pickle.loads(pickle.dumps(trajectory)) == trajectory == copy.deepcopy(trajectory)
    assert orjson.dumps(dict(trajectory)) == orjson.dumps(trajectory)
    assert report_agents.HANDLER in _read(trajectory).text
    assert session.turns[0].rubric[0].id in _read(score).text


def test_hostile_words_are_inert_and_legible(session: Session) -> None:
    words = {"text": Text(en=report_agents.ALL)}
    turns = [
        turn.model_copy(update={"rubric": tuple(item.model_copy(update=words) for item in turn.rubric)})
        for turn in session.turns
    ]
    hostile = session.model_copy(update={"turns": tuple(turns), "scenario": report_agents.ALL, "id": "x\u202ey"})
    for read in (_read(hostile), _read(SessionSet([hostile], report_agents.SCRIPT))):
        assert report_agents.HANDLER in read.text
        assert "x[U+202E]y" in read.text
        assert not set(read.text) & set("\u202e\u2067\x1b\x00")
    told = html_view("t", [("long", report_agents.LINE)], [("rows", ("n",), [(n,) for n in range(60)])])
    assert "100,000 characters" in told
    assert "10 more not shown" in told
    assert len(told) < 20_000
