"""Proving moves: a session is made of them as they stand, and the gates judge it (docs/sessions.md).

The wording is a plain sentence of the move's kind and the names it holds, which is enough for gates 1-3; how a turn is
really asked is proved elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wardround.patients import (
    NEVER,
    ChartStore,
    Instant,
    ToolCall,
    format_instant,
    is_hospital_stay,
    make_interview,
    parse_instant,
    run_tool,
)
from wardround.sessions.common import common
from wardround.sessions.gates import check_session
from wardround.sessions.gold import PREPARE, opening_context
from wardround.sessions.moves.move import SESSION, Case, Move
from wardround.sessions.record import view_record
from wardround.sessions.session import (
    Branch,
    ChartRef,
    Gold,
    GoldCall,
    Provenance,
    Query,
    Session,
    Turn,
    Wording,
)

PROOF = "proof"
"""Id of the session that moves are put into."""
RULES = frozenset({"rubric", "resolves", "gate1", "gate2", "gate3"})
"""What is judged of a move alone; arcs and wording belong to whole sessions."""
TYPES = (
    "Observation",
    "MedicationRequest",
    "MedicationAdministration",
    "Condition",
    "DiagnosticReport",
    "DocumentReference",
    "Encounter",
    "CarePlan",
)
SHORT = {concept: tuple(name.en for name in names) for concept, names in common().casual.items()}
_COUNTS = {  # of items, evidence aside; where the patient is asked, up to six
    "IL": (2, 3),
    "DG": (4, 5),
    "CR": (5, 6),
}


def play(case: Case, moves: Sequence[Move]) -> None:
    """Assert that moves hold what docs/sessions.md asks of them, in both languages.

    Args:
        case: The patient they are about.
        moves: In turn order; what earlier calls found counts as found.
    """
    found = faults(case, moves)
    assert not found, "\n".join(found)


def faults(case: Case, moves: Sequence[Move]) -> list[str]:
    """Return what is wrong with moves, as gates 1-3 and the contract of a move see it; empty where all is right."""
    session = session_of(case, moves)
    found = [f"{one.rule}: {one.message}" for one in check_session(session, case.snapshot.chart) if one.rule in RULES]
    for number, move in enumerate(moves):
        found.extend(f"turn {number} ({move.kind}): {fault}" for fault in _contract(move))
        found.extend(f"turn {number} ({move.kind}): {fault}" for fault in _branch(session, case, move))
    return found


def session_of(case: Case, moves: Sequence[Move]) -> Session:
    """Return a session of moves as they stand, worded plainly."""
    chart = case.snapshot.chart
    return Session(
        id=PROOF,
        scenario=case.scenario,
        tier="moderate",
        chart=ChartRef(patient=chart.patient_id, hash=chart.hash),
        encounter=case.encounter,
        anchor=format_instant(case.anchor),
        persona=case.interview.persona,
        licence=chart.licence,
        provenance=Provenance(generator="tests", version="1", seed=0),
        interview=case.interview,
        turns=tuple(_turn(move) for move in moves),
    )


def _turn(move: Move) -> Turn:
    calls = (*(_mine(call) for call in move.calls), GoldCall(tool=PREPARE, arguments={"answer_type": "tool"}))
    branch = move.branch
    if branch is not None:
        branch = branch.model_copy(update={"other": tuple(_mine(call) for call in branch.other)})
    en, zh = _words(move, "en"), _words(move, "zh")
    return Turn(
        task=move.task,
        source=move.source,
        topic=move.topic,
        query=Query(en=Wording(explicit=en, implicit=en), zh=Wording(explicit=zh, implicit=zh)),
        gold=Gold(calls=calls, answers=(move.answer,), branch=branch),
        rubric=move.rubric,
    )


def _mine(call: GoldCall) -> GoldCall:
    """Return a call with this session's id in it."""
    arguments = {name: PROOF if value == SESSION else value for name, value in call.arguments.items()}
    return call.model_copy(update={"arguments": arguments})


def _words(move: Move, language: str) -> str:
    names = [*(one.names for one in move.slots.values()), *move.words.values()]
    listed = (one.zh or one.en if language == "zh" else one.en for one in names)
    return f"{move.kind.replace('_', ' ')}: {', '.join(listed)}?"


def _contract(move: Move) -> Iterator[str]:
    """Yield where a move leaves its contract in ways that the gates do not see."""
    if not move.answer.en or not move.answer.zh:
        yield "the answer is missing in a language"
    for item in move.rubric:
        if not item.text.en or not item.text.zh:
            yield f"item `{item.id}` has no sentence in a language"
    counted = [item for item in move.rubric if not item.id.startswith(("read-", "heard"))]
    low, high = _COUNTS.get(move.task, (1, 99))
    if not low <= len(counted) <= (high if move.source == "ehr" else max(high, 6)):
        yield f"{move.task} with {len(counted)} items: {', '.join(item.id for item in counted)}"
    if move.task == "WU" and sum(item.safety for item in move.rubric) != 1:
        yield "WU without exactly one negative safety item"
    if any(not name.strip() for entity in move.slots.values() for name in (entity.names.en, entity.names.zh or "")):
        yield "a slot has no name in a language"


def _branch(session: Session, case: Case, move: Move) -> Iterator[str]:
    """Yield where an adaptive turn could not have gone the other way: what it would call finds nothing."""
    if move.branch is None:
        return
    yield from _taken(move.branch, move)
    context = opening_context(session, case.snapshot.chart)
    for call in move.branch.other:
        mine = _mine(call)
        result = run_tool(context, ToolCall(mine.tool, mine.arguments), None)
        if not result.ok or not (result.resources or result.facts):
            yield f"the other branch's {call.tool} {dict(call.arguments)} finds nothing"


def _taken(branch: Branch, move: Move) -> Iterator[str]:
    if not branch.taken or any(not 0 < place < len(move.calls) for place in branch.taken):
        yield f"the calls that follow are at {branch.taken}, of {len(move.calls)}"
    if not branch.other:
        yield "no call for the other branch"


# -- cases -------------------------------------------------------------------------------------------------------------


def rounds(store: ChartStore, patient: str) -> list[tuple[str, Instant]]:
    """Return every hospital stay of a patient with the instants of a round in it: its middle, and its end."""
    found = []
    for resource in store.chart(patient).at(NEVER - 1).resources("Encounter"):
        period = resource.get("period", {})
        if is_hospital_stay(resource) and "start" in period and "end" in period:
            start, end = parse_instant(period["start"]), parse_instant(period["end"])
            found += [(str(resource["id"]), (start + end) // 2), (str(resource["id"]), end)]
    return sorted(found, key=lambda one: (one[1], one[0]))


def case_of(
    store: ChartStore, patient: str, encounter: str, instant: Instant, scenario: str = "medication-safety"
) -> Case:
    """Return a case as the planner would, with the interview authored for a stay that has ended, else one made."""
    snapshot = store.chart(patient).at(instant)
    truth = store.truth(patient)
    flawed = frozenset(place for flaw in (truth.flaws if truth is not None else ()) for place in flaw.places)
    view = view_record(snapshot, encounter, TYPES, SHORT, flawed)
    ended = max(at for name, at in rounds(store, patient) if name == encounter) <= instant
    interview = store.interviews(patient).get(encounter) if ended else None
    if interview is None:
        interview = make_interview(snapshot, 1)
    return Case(snapshot, encounter, instant, view, interview, common(), scenario, flawed)


def cases(store: ChartStore, scenario: str = "medication-safety", limit: int | None = None) -> Iterator[Case]:
    """Yield a case for every stay and instant of a store's patients, the latest stay of each only where limited."""
    for patient in sorted(store.patients()):
        found = rounds(store, patient)
        for encounter, instant in found if limit is None else found[-limit:]:
            yield case_of(store, patient, encounter, instant, scenario)
