"""Whether an infection answers to its antibiotic."""

from __future__ import annotations

from wardround.patients.knowledge import Names
from wardround.sessions.decisions.decision import Decision
from wardround.sessions.record_courses import Course

from .move import Case, Move
from .parts import (
    advice_item,
    chart_call,
    danger_item,
    drug_entity,
    grounded_item,
    lab_entity,
    read_item,
    two_sentences,
    value_item,
)
from .trends import trend_call, trend_items, trend_line


def decide_course_move(case: Case, decision: Decision, course: Course) -> Move:
    """Return the turn that asks whether the infection is answering, and what to do with the antibiotic (CR)."""
    trend, heat = course.trend, course.temperature
    line = trend_line(trend)
    first = Names(
        en=f"{line.en}, with a temperature of {heat.quantity}: {decision.finding.en}",
        zh=f"{line.zh}，体温{heat.quantity}，{decision.finding.zh}",
    )
    return Move(
        kind="decide_course",
        task="CR",
        source="ehr",
        topic=f"course:{course.order.drug}",
        calls=(
            trend_call(case, trend),
            chart_call(case, "Observation.search", category="vital-signs", code=heat.name),
        ),
        answer=two_sentences(first, decision.advice),
        rubric=(
            *trend_items(trend),
            read_item(heat),
            value_item(heat),
            advice_item(decision, (f"trend-{trend.last.lab}",)),
            danger_item(case, decision),
            grounded_item(),
        ),
        slots={"drug": drug_entity(case, course.order), "lab": lab_entity(case, trend.last)},
        keys=frozenset((*trend.first.keys, *trend.last.keys, *heat.keys)),
        labs=(trend.last.lab,),
        needs=frozenset({"trend"}),
        decision=decision,
    )
