"""From a worded plan to a session."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final, Literal

from wardround.patients import format_instant
from wardround.sessions.dataset import CANARY
from wardround.sessions.gold import PREPARE
from wardround.sessions.moves.move import SESSION, Move
from wardround.sessions.session import Branch, ChartRef, Gold, GoldCall, Provenance, Session, Turn
from wardround.sessions.wording.worded import Worded

from .plan import Plan
from .scenarios import arc_name
from .turning import turns

GENERATOR: Final = "wardround.sessions.planning"
VERSION: Final = "2"
"""Raised when the same chart and seed give another session."""

Use = Literal["train", "evaluation"]


def assemble(plan: Plan, worded: Sequence[Worded], *, seed: int, split: str, use: Use) -> Session:
    """Return the session of a worded plan.

    Args:
        plan: Four moves.
        worded: Their words, in both languages.
        seed: Of the run.
        split: What the set calls its part ("public", "train").
        use: What the session may be used for.
    """
    case = plan.case
    chart = case.snapshot.chart
    session_id = _identity(plan, seed)
    turns = tuple(
        Turn(
            task=move.task,
            source=move.source,
            implicitness=words.type,
            antecedents=words.antecedents,
            depends_on=_depends(plan, worded, number),
            topic=move.topic,
            query=words.query,
            gold=_gold(move, session_id),
            rubric=move.rubric,
        )
        for number, (move, words) in enumerate(zip(plan.moves, worded, strict=True))
    )
    return Session(
        id=session_id,
        scenario=plan.scenario.id,
        tier=plan.tier,
        chart=ChartRef(patient=chart.patient_id, hash=chart.hash),
        encounter=case.encounter,
        anchor=format_instant(case.anchor),
        persona=case.interview.persona,
        licence=chart.licence,
        use=use,
        split=split,
        provenance=Provenance(generator=GENERATOR, version=VERSION, seed=seed),
        interview=case.interview,
        turns=turns,
        labels=_labels(plan, worded),
    )


def _gold(move: Move, session_id: str) -> Gold:
    prepare = GoldCall(tool=PREPARE, arguments={"answer_type": "tool"})
    calls = (*(_named(call, session_id) for call in move.calls), prepare)
    branch: Branch | None = move.branch
    if branch is not None:
        branch = branch.model_copy(update={"other": tuple(_named(call, session_id) for call in branch.other)})
    return Gold(calls=calls, answers=(move.answer,), branch=branch)


def _named(call: GoldCall, session_id: str) -> GoldCall:
    """Return a call with the session's id where it stands for it."""
    if SESSION not in call.arguments.values():
        return call
    arguments = {name: session_id if value == SESSION else value for name, value in call.arguments.items()}
    return call.model_copy(update={"arguments": arguments})


def _identity(plan: Plan, seed: int) -> str:
    """Return an id that says nothing about the content to whoever reads it."""
    case = plan.case
    parts = (case.snapshot.chart.hash, case.encounter, str(case.anchor), plan.scenario.id, str(seed), VERSION)
    content = (plan.tier, arc_name(plan.arc), *(f"{move.kind}:{move.topic}" for move in plan.moves))
    return "s" + blake2b("\x1f".join((*parts, *content)).encode(), digest_size=8).hexdigest()


def _depends(plan: Plan, worded: Sequence[Worded], number: int) -> tuple[int, ...]:
    """Return the earlier turns whose words or results this turn builds on."""
    move = plan.moves[number]
    earlier = {antecedent.turn for antecedent in worded[number].antecedents}
    if plan.chain.turn == number:
        earlier.add(plan.chain.on)
    decision = move.decision if move.task in {"CR", "WU"} else None
    for turn, other in enumerate(plan.moves[:number]):
        if decision is None:
            continue
        told = other.fact is not None and decision.fact is not None and other.fact.id == decision.fact.id
        if other.decision == decision or told or other.keys.intersection(decision.hinge.keys):
            earlier.add(turn)
    return tuple(sorted(earlier))


def _labels(plan: Plan, worded: Sequence[Worded]) -> dict[str, str]:
    chain, moves = plan.chain, plan.moves
    asked = [move for move in moves if move.source in {"patient", "mixed"}]
    labels = {
        "canary": CANARY,
        "arc": arc_name(plan.arc),
        "thread": plan.thread.kind,
        "subject": plan.thread.subject,
        "act": plan.thread.act,
        "rules": " ".join(plan.thread.rules),
        "advice": " ".join(move.decision.act for move in moves if move.task == "CR" and move.decision is not None),
        "unchanged": " ".join(
            "yes" if move.decision.unchanged else "no"
            for move in moves
            if move.task == "CR" and move.decision is not None
        ),
        "hinge_turn": str(chain.turn),
        "hinge_on": str(chain.on),
        "hinge_by": chain.by,
        "hinge_kind": chain.hinge.kind,
        "hinge_keys": " ".join(chain.hinge.keys),
        "hinge_to": chain.hinge.to,
        "kinds": " ".join(move.kind for move in moves),
        "labs": " ".join(lab for move in moves for lab in sorted(set(move.labs))),
        "pairs": " ".join(sorted({pair for move in moves for pair in _pairs(move)})),
        "turned": "yes" if any(turns(move) for move in asked) else "no",
        "conflict": "; ".join(move.conflict for move in moves if move.conflict),
        "scores": " ".join(move.score for move in moves if move.score is not None),
        "shapes": " ".join(shape for words in worded for shape in words.shapes),
    }
    return labels


def _pairs(move: Move) -> list[str]:
    """Return the drug–lab pairs that a turn puts together, as in "warfarin+inr"."""
    drugs = [one.id for one in move.slots.values() if one.kind == "drug"]
    labs = [one.id for one in move.slots.values() if one.kind in {"lab", "vital"}]
    if move.decision is not None and move.decision.order is not None and move.decision.reading is not None:
        drugs.append(move.decision.order.drug)
        labs.append(move.decision.reading.lab)
    return [f"{drug}+{lab}" for drug in drugs for lab in labs]
