"""Decisions on an antibiotic by the course of the infection after two days or more (data/infection.json)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wardround.patients import Stream
from wardround.patients.knowledge import Names
from wardround.rubrics import Act
from wardround.sessions.moves.courses import decide_course_move
from wardround.sessions.moves.cultures import barred
from wardround.sessions.moves.drugs import dose_move
from wardround.sessions.moves.labs import latest_lab
from wardround.sessions.moves.move import Case, Move
from wardround.sessions.moves.order_words import askable
from wardround.sessions.moves.parts import drug_entity
from wardround.sessions.moves.writes import order_fields, prescribe, recheck
from wardround.sessions.record import plain
from wardround.sessions.record_courses import Course, course_view, turned
from wardround.sessions.sources import infection

from .decision import Decision, DecisionKind, Hinge

KIND_ID: Final = "course"


def decisions(case: Case) -> tuple[Decision, ...]:
    """Return every decision on an antibiotic by the infection's course, in a fixed order."""
    return case.memo("decisions.course", _decisions)


def _decisions(case: Case) -> tuple[Decision, ...]:
    found = []
    for course in course_view(case).courses:
        other = turned(course)
        last = course.trend.last
        if barred(case, course.order):
            continue
        # both what was measured and what it turns on must be read by the agent that looks up the latest value
        if other is not None and last.level is not None and case.view.latest.get(last.lab) == last:
            found.append(_decision(course, plain(other)))
    return tuple(found)


def _decision(course: Course, other: str) -> Decision:
    rule = infection().acts[course.way]
    order, fine = course.order, course.way == "answers"
    culture = infection().cultures.en
    accepted: tuple[tuple[Act, str], ...] = (("continue", order.name),)
    if not fine:
        accepted = (("recheck", culture), ("order", culture), ("switch", order.name))
    return Decision(
        kind=KIND_ID,
        rules=(rule.rule,),
        subject=order.drug,
        act=rule.act,
        unchanged=fine,
        accepted=accepted,
        avoid=("stop" if fine else "hold", order.name),
        finding=rule.finding,
        advice=Names(
            en=rule.advice.en.format(drug=order.name), zh=str(rule.advice.zh).format(drug=order.zh or order.name)
        ),
        hinge=Hinge(kind="quantity", keys=course.trend.last.keys, to=other),
        reading=course.trend.last,
        order=order,
        severity=0 if fine else 1,
        extra={"course": course},
    )


def threads(case: Case, stream: Stream) -> Iterator[Decision]:
    """Yield the decisions in drawn order, those that change something first."""
    yield from sorted(stream.shuffled(decisions(case)), key=lambda one: one.unchanged)


def _course(decision: Decision) -> Course:
    course = decision.extra["course"]
    assert isinstance(course, Course)
    return course


def openings(case: Case, decision: Decision) -> Iterator[Move]:
    """Yield the openings: the marker's latest value, then the antibiotic's order."""
    assert decision.reading is not None and decision.order is not None
    yield latest_lab(case, decision.reading)
    if askable(decision.order):
        yield dose_move(case, decision.order)


def asks(case: Case, decision: Decision) -> Iterator[Move]:
    """Yield nothing: the course rests on no word of the patient."""
    yield from ()


def decides(case: Case, decision: Decision, mixed: bool) -> Iterator[Move]:
    """Yield the turn that asks whether the infection is answering; never mixed."""
    if not mixed:
        yield decide_course_move(case, decision, _course(decision))


def writes(case: Case, decision: Decision) -> Iterator[Move]:
    """Yield the writes: the antibiotic as it is where it works, and a repeat of the marker."""
    order, reading = decision.order, decision.reading
    assert order is not None and reading is not None
    if decision.unchanged and order.amount is not None:
        fields = order_fields(case, order, order.amount)
        if fields is not None:
            forbidden = f"{plain(2 * order.amount)} {order.unit}"
            yield prescribe(case, drug_entity(case, order), order.names, *fields, forbidden, decision)
    yield recheck(case, reading, "routine" if decision.unchanged else "urgent", decision)


KIND: Final = DecisionKind(KIND_ID, threads, openings, asks, decides, writes)
