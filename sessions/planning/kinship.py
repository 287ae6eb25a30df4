"""How near a turn is to what a session is about, so that four turns make one talk and not a questionnaire.

What belongs together is read from the knowledge base: what a drug is monitored by and does, which labs are read
together, and what the diagnoses of the stay show, move and are treated with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from wardround.patients import knowledge
from wardround.sessions.decisions.charted import charted
from wardround.sessions.decisions.decision import Decision
from wardround.sessions.moves.move import Case, Entity, Move
from wardround.sessions.moves.nearness import monitored_by
from wardround.sessions.moves.patient import relieves_pain
from wardround.sessions.record_others import other_view

NEAR: Final = 0
"""About the thread itself."""
SAME_ILLNESS: Final = 1
"""About an illness that the thread belongs to, or a general question of any round."""
FAR: Final = 2
"""About something else."""
_GENERAL: Final = frozenset({"plan", "note", "service", "step", "problem"})
_MEASURED: Final = frozenset({"lab", "vital"})
_ALSO: Final[dict[str, frozenset[str]]] = {
    "culture": frozenset({"culture"}),
    "course": frozenset({"culture"}),
    "home": frozenset({"plan"}),
}
"""Kind of decision → kinds of things that bear on it whichever they are."""
_LIFE: Final = frozenset({"function", "social", "home"})
_PAIN: Final = frozenset({"pain", "pain_dose"})
_GOING_HOME: Final = "discharge-planning"
_LIVING: Final = frozenset({"event:function", "event:social"})
"""What stands for what the patient says of living at home."""


@dataclass
class _Circle:
    """Concepts that belong together, by kind of entity."""

    labs: set[str] = field(default_factory=set)
    drugs: set[str] = field(default_factory=set)
    findings: set[str] = field(default_factory=set)
    studies: set[str] = field(default_factory=set)
    illnesses: set[str] = field(default_factory=set)
    infected: bool = False
    """A culture belongs to it."""

    def holds(self, entity: Entity) -> bool:
        """Tell whether something named belongs here."""
        if entity.kind in _MEASURED:
            return entity.id in self.labs
        if entity.kind == "drug":
            return entity.id in self.drugs
        if entity.kind == "symptom":
            return entity.id in self.findings
        if entity.kind == "score":
            return self.holds_score(entity.id)
        if entity.kind == "culture":
            return self.infected
        return entity.kind == "study" and entity.id in self.studies

    def holds_score(self, score: str) -> bool:
        """Tell whether a clinical score is of these illnesses, or is worked out from these labs."""
        use = knowledge.score_uses().get(score)
        if use is None:
            return False
        if use.needs:
            return bool(self.illnesses.intersection(use.needs))
        return any(self.labs.intersection(source.of) for source in use.inputs.values())


def distance(case: Case, thread: Decision, move: Move) -> int:
    """Return how far a move is from a session's thread: NEAR, SAME_ILLNESS or FAR.

    What a patient says against an order is far unless the drug is near: nobody hears that a drug was stopped and goes
    on about something else.

    Args:
        case: The patient.
        thread: What the session is about.
        move: A turn after the opening.
    """
    near, wide = _circles(case, thread)
    if move.decision is not None and move.decision.kind == thread.kind and move.decision.subject == thread.subject:
        return NEAR
    if move.kind in _LIFE | _PAIN and not _fits_any_round(case, thread, move):
        return FAR
    return _away(move, near, wide)


def distance_of_dose(case: Case, drugs: frozenset[str], move: Move) -> int:
    """Return how far a move is from what a session is about whose end is the dose of one of some drugs.

    Args:
        case: The patient.
        drugs: Those whose dose may be set.
        move: A turn after the opening.
    """
    near, wide = _circles_of(case, drugs)
    return _away(move, near, wide)


def _fits_any_round(case: Case, thread: Decision, move: Move) -> bool:
    """Tell whether a general question belongs here: how one lives before going home, pain to who came for it."""
    if move.kind in _LIFE:
        return thread.kind == "home" or case.scenario == _GOING_HOME
    if move.kind in _PAIN:
        hurts = {finding for finding in complaints(case) if "pain" in finding}
        return bool(hurts) or (thread.order is not None and relieves_pain(thread.order))
    return True


def complaints(case: Case) -> tuple[str, ...]:
    """Return what the principal diagnosis of the stay presents with."""
    principal = other_view(case).principal
    profile = None if principal is None else knowledge.condition_profiles().get(principal.concepts[0])
    return () if profile is None else profile.complaint


def _away(move: Move, near: _Circle, wide: _Circle) -> int:
    fact = move.fact
    if fact is not None and fact.kind == "adherence" and fact.state not in {None, "taking"}:
        return NEAR if fact.drug in near.drugs else FAR
    return max((_far(entity, near, wide) for entity in move.slots.values()), default=SAME_ILLNESS)


def with_bearing(case: Case, moves: Sequence[Move]) -> tuple[Move, ...]:
    """Return the moves of a session, each with what its question turns on of what earlier turns asked about.

    That is what is near its own decision or drug, or goes into the score that it works out; a plain look-up turns on
    nothing.
    """
    return tuple(replace(move, bears=bearing(case, move, moves[:turn])) for turn, move in enumerate(moves))


@dataclass(frozen=True)
class Bearing:
    """What a move's question turns on, of whatever earlier turns ask about."""

    measured: frozenset[str] = frozenset()
    """Labs and vital signs that go into its score."""
    near: tuple[_Circle, ...] = ()
    kinds: frozenset[str] = frozenset()
    """Kinds of things that bear on it whichever they are."""
    living: bool = False
    """What the patient says of living at home bears on it."""

    def of(self, asked: Mapping[str, Entity]) -> frozenset[str]:
        """Return the keys of those things, by key, that the question turns on."""
        keys = {key for key, entity in asked.items() if self._holds(entity)}
        return frozenset(keys | _LIVING if self.living else keys)

    def _holds(self, entity: Entity) -> bool:
        if entity.kind in self.kinds or (entity.kind in _MEASURED and entity.id in self.measured):
            return True
        return any(circle.holds(entity) for circle in self.near)


def bearing_of(case: Case, move: Move) -> Bearing:
    """Return what a move's question turns on."""
    use = knowledge.score_uses().get(move.score) if move.score is not None else None
    inputs = () if use is None else (concept for source in use.inputs.values() for concept in source.of)
    near: list[_Circle] = []
    decision = move.decision if move.task in {"CR", "WU"} else None
    if "drug" in move.slots and (move.task == "DG" or (move.task == "WU" and decision is None)):
        near.append(_circles_of(case, frozenset({move.slots["drug"].id}))[0])
    if decision is None:
        return Bearing(frozenset(inputs), tuple(near))
    near += (_circles(case, decision)[0], _moved_with(case, decision))
    return Bearing(
        frozenset(inputs), tuple(near), _ALSO.get(decision.kind, frozenset()), living=decision.kind == "home"
    )


def _moved_with(case: Case, decision: Decision) -> _Circle:
    """Return what the illnesses that move a decision's value move and show as well; worked out once."""
    reading = decision.reading

    def draw(case: Case) -> _Circle:
        kin, profiles = _Circle(), knowledge.condition_profiles()
        for condition in sorted(charted(case).active):
            profile = profiles.get(condition)
            labs = set() if profile is None else {effect.lab for effect in profile.effects}
            if profile is not None and reading is not None and reading.lab in labs:
                kin.labs.update(labs)
                kin.findings.update(edge.finding for edge in profile.findings)
                kin.studies.update(order.study for order in profile.workup.studies)
        return kin

    return case.memo(f"planning.kinship.moved.{None if reading is None else reading.lab}", draw)


def bearing(case: Case, move: Move, earlier: Sequence[Move]) -> frozenset[str]:
    """Return the keys of what earlier turns asked about and a move's question turns on."""
    return bearing_of(case, move).of({entity.key: entity for one in earlier for entity in one.slots.values()})


def touches(case: Case, thread: Decision, drugs: frozenset[str], move: Move) -> bool:
    """Tell whether a move is about something that bears on a thread, or on some drugs."""
    circles = [_circles(case, thread)[0]] if not drugs else [_circles_of(case, drugs)[0]]
    return any(near.holds(entity) for near in circles for entity in move.slots.values())


def near_drugs(case: Case, thread: Decision) -> frozenset[str]:
    """Return the drugs that a thread is about or that its lab is watched for."""
    near, _ = _circles(case, thread)
    return frozenset(near.drugs)


def of_the_stay(case: Case, thread: Decision) -> bool:
    """Tell whether a thread belongs to what the patient is here for: the principal diagnosis of the stay."""
    principal = other_view(case).principal
    profile = None if principal is None else knowledge.condition_profiles().get(principal.concepts[0])
    if profile is None:
        return False
    mine = _Circle()
    _add_illness(mine, profile.id)
    labs = {effect.lab for effect in profile.effects}
    table = knowledge.decisions().get(thread.subject) if thread.kind == "score" else None
    use = None if table is None else knowledge.score_uses().get(table.subject)
    return (
        (thread.reading is not None and thread.reading.lab in labs)
        or (thread.order is not None and thread.order.drug in mine.drugs)
        or (thread.kind in {"culture", "course"} and mine.infected)
        or (use is not None and any(knowledge.lexicon().is_a(profile.id, one) for one in use.needs))
    )


def _far(entity: Entity, near: _Circle, wide: _Circle) -> int:
    if near.holds(entity):
        return NEAR
    if entity.kind in _GENERAL or wide.holds(entity):
        return SAME_ILLNESS
    return FAR


def _circles(case: Case, thread: Decision) -> tuple[_Circle, _Circle]:
    """Return what is near a thread, and what belongs to the illnesses it is part of; worked out once."""
    name = f"planning.kinship.{thread.kind}.{thread.subject}"
    return case.memo(name, lambda case: _drawn(case, thread))


def _circles_of(case: Case, drugs: frozenset[str]) -> tuple[_Circle, _Circle]:
    """Return what is near some drugs, and what belongs to the illnesses they are part of; worked out once."""

    def draw(case: Case) -> tuple[_Circle, _Circle]:
        near, wide = _Circle(), _Circle()
        for drug in sorted(drugs):
            _add_drug(near, drug)
        for condition in _illnesses(case, near):
            _add_illness(wide, condition)
        return near, wide

    return case.memo(f"planning.kinship.drugs.{'+'.join(sorted(drugs))}", draw)


def _add_drug(near: _Circle, drug: str) -> None:
    near.drugs.add(drug)
    near.labs.update(monitored_by(drug))
    profile = knowledge.drug_profiles().get(drug)
    if profile is not None:
        near.labs.update(effect.lab for effect in profile.effects)
        near.findings.update(effect.finding for effect in profile.adverse)


def _drawn(case: Case, thread: Decision) -> tuple[_Circle, _Circle]:
    near, wide = _Circle(), _Circle()
    if thread.reading is not None:
        near.labs.update({thread.reading.lab, *case.common.companions.get(thread.reading.lab, ())})
        near.drugs.update(drug for drug in case.view.orders if thread.reading.lab in monitored_by(drug))
    if thread.order is not None:
        _add_drug(near, thread.order.drug)
    if thread.fact is not None:
        near.findings.add(thread.fact.concept)
    table = knowledge.decisions().get(thread.subject) if thread.kind == "score" else None
    use = None if table is None else knowledge.score_uses().get(table.subject)
    if use is not None:
        near.labs.update(concept for source in use.inputs.values() for concept in source.of)
    for condition in _illnesses(case, near):
        _add_illness(wide, condition)
    return near, wide


def _illnesses(case: Case, near: _Circle) -> list[str]:
    """Return the active diagnoses that move a near lab or are treated with a near drug; all of them where none is."""
    profiles = knowledge.condition_profiles()
    active = [one for one in sorted(charted(case).active) if one in profiles]
    mine = [
        one
        for one in active
        if near.labs & {effect.lab for effect in profiles[one].effects}
        or near.drugs & {drug for line in profiles[one].treatments for drug in line.any_of}
    ]
    return mine or active


def _add_illness(circle: _Circle, condition: str) -> None:
    profile, panels = knowledge.condition_profiles()[condition], knowledge.panels()
    circle.illnesses.add(condition)
    circle.infected = circle.infected or bool(profile.workup.cultures)
    circle.labs.update(effect.lab for effect in profile.effects)
    for name in profile.workup.panels:
        circle.labs.update(panels[name].labs if name in panels else (name,))
    circle.drugs.update(drug for line in profile.treatments for drug in line.any_of)
    circle.findings.update(edge.finding for edge in profile.findings)
    circle.studies.update(order.study for order in profile.workup.studies)
