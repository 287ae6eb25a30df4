"""Illnesses → Condition; procedures → Procedure.

An illness is one Condition, known when it was diagnosed: on the problem list, or a diagnosis of its stay. What a stay
was coded with at its end becomes known then: the rank of a diagnosis made there, or a diagnosis of that stay beside
the problem list, with the code that fits what is known by then (`coding`).
"""

from __future__ import annotations

from wardround.patients.resource import RANK, known_value
from wardround.patients.times import Instant

from .charting_desk import Desk
from .coding import Coded, Coder
from .life import Illness, Stay


def chart_illness(desk: Desk) -> None:
    """Add Conditions and Procedures."""
    coder = Coder(desk.life)
    coded = {
        (illness, stay.id): rank
        for stay in desk.life.stays
        if stay.part_of is None
        for rank, illness in enumerate(coder.diagnoses(stay), 1)
    }
    for illness in desk.life.illnesses:
        _condition(desk, illness, coded, coder)
    known = {illness.id: illness for illness in desk.life.illnesses}
    for (identity, encounter), rank in coded.items():
        found = known.get(identity)
        if found is not None and (found.problem_list or found.encounter != encounter):
            stay = desk.stays[encounter]
            _coded(desk, found, stay, rank, coder.code(found, stay))
    for done in desk.life.treated:
        name = desk.name(done.id)
        desk.builder.procedure(
            done.title, at=done.at, end=done.end, encounter=desk.stay(done.encounter),
            outcome=None if done.outcome is None else done.outcome.en, id=name,
        )  # fmt: skip
        desk.trace("Procedure", name, (done.id, *((done.illness,) if done.illness else ())))


def _condition(desk: Desk, illness: Illness, coded: dict[tuple[str, str], int], coder: Coder) -> None:
    listed = illness.problem_list
    encounter = None if listed else illness.encounter
    desk.builder.condition(
        illness.title, code=illness.code, onset=illness.onset, recorded=illness.known_at, known_at=illness.known_at,
        clinical_status="active" if illness.resolved is None else "resolved", abatement=illness.resolved,
        encounter=desk.stay(encounter), category="problem-list-item" if listed else "encounter-diagnosis",
        id=desk.name(illness.id),
    )  # fmt: skip
    if encounter is not None and (illness.id, encounter) in coded:
        mark = [{"url": RANK, "valuePositiveInt": coded[illness.id, encounter]}]
        end = desk.stays[encounter].end
        if end > illness.known_at:
            known_value(desk.builder.last, "extension", mark, end)
        else:
            desk.builder.last["extension"] = mark
        _recode(desk, illness, coder.code(illness, desk.stays[encounter]), end)
    desk.trace("Condition", desk.name(illness.id), (illness.id,))


def _recode(desk: Desk, illness: Illness, coded: Coded, end: Instant) -> None:
    """Let a diagnosis of its own stay have the code of the stay's end from then on."""
    if coded.code == illness.code:
        return
    condition = desk.builder.last
    first = condition["code"]
    last = {"coding": [{**first["coding"][0], "code": coded.code, "display": coded.title}], "text": coded.title}
    if end > illness.known_at:
        known_value(condition, "code", first, illness.known_at)
        known_value(condition, "code", last, end)
    else:
        condition["code"] = last


def _coded(desk: Desk, illness: Illness, stay: Stay, rank: int, code: Coded) -> None:
    name = f"{desk.name(illness.id)}-{stay.id}"
    resolved = illness.resolved
    desk.builder.condition(
        code.title, code=code.code, onset=illness.onset, recorded=stay.end,
        known_at=max(stay.end, illness.known_at), clinical_status="active" if resolved is None else "resolved",
        abatement=resolved, encounter=desk.stay(stay.id), rank=rank, id=name,
    )  # fmt: skip
    desk.trace("Condition", name, (illness.id, stay.id))
