"""Small kinds of moves and decisions, so that the planner's rules can be tested apart from what is really asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wardround.patients import Chart, Fact, Interview, Stream, parse_instant
from wardround.patients.knowledge import Names
from wardround.rubrics import Text
from wardround.sessions.common import common
from wardround.sessions.decisions.decision import Decision, DecisionKind, Hinge
from wardround.sessions.moves.move import Case, Focus, Move, MoveKind
from wardround.sessions.record import view_record
from wardround.sessions.session import Branch, GoldCall

_ACTS = {"continue": True, "hold": False}


def case_of(chart: Chart, encounter: str, at: str, scenario: str = "medication-safety") -> Case:
    """Return a case of a chart built by hand; its patient has nothing to tell."""
    snapshot = chart.at(parse_instant(at))
    view = view_record(snapshot, encounter, ("Observation", "MedicationRequest", "Condition"))
    return Case(snapshot, encounter, snapshot.anchor, view, Interview(), common(), scenario)


def call(tool: str) -> GoldCall:
    """Return a call that is never run."""
    return GoldCall(tool=tool, arguments={"subject_id": "p-100"})


def move(kind: str, task: str, source: str, topic: str, *tools: str, **more: Any) -> Move:
    """Return a move that only the planner looks at."""
    return Move(
        kind=kind,
        task=task,  # type: ignore[arg-type]
        source=source,  # type: ignore[arg-type]
        topic=topic,
        calls=tuple(call(tool) for tool in tools),
        answer=Text(en="", zh=""),
        rubric=(),
        **more,
    )


def decision(subject: str, act: str = "hold", *, fact: Fact | None = None, turned: bool = False) -> Decision:
    """Return a decision about a made-up drug and the lab of the same name."""
    return Decision(
        kind="drug_lab",
        rules=(f"{subject}-rule",),
        subject=subject,
        act=act,
        unchanged=_ACTS[act],
        accepted=((act, subject),),  # type: ignore[arg-type]
        avoid=("increase", subject),
        finding=Names(en="off", zh="异常"),
        advice=Names(en=f"{act} it", zh="处理"),
        hinge=Hinge("quantity", (f"Observation/{subject}",), "9"),
        fact=fact,
        turned=turned,
    )


FACT = Fact(id="a-1", kind="adherence", concept="alpha", drug="alpha", state="stopped", source="simulated")
"""What the patient says of the first drug."""


def kinds(*decisions: Decision) -> tuple[Mapping[str, MoveKind], Mapping[str, DecisionKind]]:
    """Return tables of move and decision kinds that offer a little of everything."""
    thread = DecisionKind(
        kind="drug_lab",
        threads=lambda case, stream: iter(decisions),
        openings=lambda case, one: iter([_lab(one.subject, case)]),
        asks=_asks,
        decides=_decides,
        writes=lambda case, one: iter(
            [move("flag", "WU", "write", f"{one.subject}:flag", "Flag.create", decision=one)]
        ),
    )
    moves = {
        "lab": _offering("lab", "IL", "ehr", lambda focus: [_lab(one) for one in ("one", "two", "three")]),
        "dose": _offering("dose", "IL", "ehr", lambda focus: [
            move("dose", "IL", "ehr", f"{one}:dose", "MedicationRequest.search") for one in ("one", "two", "three")
        ]),
        "pain": _offering("pain", "IL", "patient", lambda focus: [
            move("pain", "IL", "patient", "pain", "patient.get_pain_assessment")
        ]),
        "labs": _offering("labs", "DG", "ehr", lambda focus: [
            _labs("four", "five"), _labs("six", "seven"), _labs("eight", "nine")
        ]),
        "trend": _offering("trend", "DG", "ehr", lambda focus: [
            move("trend", "DG", "ehr", "ten:trend", *_TWO, labs=("ten",), needs=frozenset({"trend"}))
        ]),
        "lab_dose": _offering("lab_dose", "DG", "ehr", lambda focus: [
            move("lab_dose", "DG", "ehr", "ten:dose", *_MIXED, labs=("eleven",))
        ]),
        "branch_back": _offering("branch_back", "DG", "ehr", _back),
        "lab_symptom": _offering("lab_symptom", "DG", "mixed", lambda focus: [
            move("lab_symptom", "DG", "mixed", "twelve:symptom", "Observation.search", "patient.get_symptom_history",
                 labs=("twelve",))
        ]),
        "score": _offering("score", "DG", "ehr", lambda focus: [
            move("score", "DG", "ehr", "curb_65", *_TWO, score="curb_65", needs=frozenset({"formula"}))
        ]),
    }  # fmt: skip
    return moves, {"drug_lab": thread}


_TWO = ("Observation.search", "Observation.search")
_ADHERENCE = "patient.get_medication_adherence"
_MIXED = ("Observation.search", "MedicationRequest.search")


def _lab(name: str, case: Case | None = None) -> Move:
    reading = None if case is None else case.view.latest.get(name)
    keys = frozenset({f"Observation/{name}", *(reading.keys if reading is not None else ())})
    return move("lab", "IL", "ehr", name, "Observation.search", labs=(name,), keys=keys, opening=True)


def _labs(one: str, two: str) -> Move:
    return move("labs", "DG", "ehr", f"{one}+{two}", *_TWO, labs=(one, two))


def _back(focus: Focus) -> list[Move]:
    branch = Branch(on=focus.decision.subject, test="high", held=True, taken=(1,), other=())
    name = focus.decision.subject
    return [move("branch_back", "DG", "ehr", f"{name}:back", *_TWO, labs=(name, "thirteen"), branch=branch)]


def _offering(kind: str, task: str, source: str, make: Any) -> MoveKind:
    def offer(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
        free = kind == "branch_back"
        return (one for one in make(focus) if free or not focus.busy.intersection({one.topic, *one.labs}))

    return MoveKind(kind, task, source, offer)  # type: ignore[arg-type]


def _asks(case: Case, one: Decision) -> Iterator[Move]:
    if one.fact is not None:
        yield move(
            "adherence", "IL", "patient", f"{one.subject}:adherence", _ADHERENCE,
            fact=one.fact, decision=one, turned=one.turned,
        )  # fmt: skip


def _writes(case: Case, one: Decision) -> Iterator[Move]:
    yield move("flag", "WU", "write", f"{one.subject}:flag", "Flag.create", decision=one)


def _decides(case: Case, one: Decision, ask: bool) -> Iterator[Move]:
    needs = frozenset({"threshold"})
    if not ask:
        yield move("decide", "CR", "ehr", f"{one.subject}:advice", *_MIXED, decision=one, needs=needs,
                   labs=(one.subject,))  # fmt: skip
    elif one.fact is not None:
        for conflict in ("", "told otherwise than charted"):
            yield move(
                "decide_ask", "CR", "mixed", f"{one.subject}:advice", *_MIXED, _ADHERENCE,
                decision=one, fact=one.fact, turned=one.turned, needs=needs, conflict=conflict,
            )  # fmt: skip
