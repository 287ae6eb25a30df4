"""What no attending would ask or do after what was said: rules on a turn given the turns before it.

They are about sense, not about form: nothing that was told is passed over, nothing that was told is asked or left open
again, and a score is worked out only where something rests on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import cache
from typing import Final

from wardround.patients import Fact, knowledge
from wardround.sessions.decisions.charted import has, latest, takes
from wardround.sessions.decisions.decision import Decision
from wardround.sessions.moves.move import Case, Move
from wardround.sessions.moves.score_gather import computable
from wardround.sessions.record import Reading
from wardround.sessions.record_others import other_view

from .kinship import complaints, of_the_stay

_ORDER: Final = "MedicationRequest.create"
_ORDERED: Final = "MedicationRequest/"
_LOOKED_UP: Final = "MedicationRequest.search"
_DOSED: Final = "prescribe_if"
_TAKEN: Final = frozenset({None, "taking"})
_ENDS: Final = frozenset({"hold", "stop", "switch", "swap", "reduce", "ease"})
"""Acts after which a drug does not go on as it is."""
_GRAVE: Final = 2
"""Severity of what is acted on at once."""
_IN_PLAY: Final = 2
"""A dose is thought of by the kidney's function up to so many times the bound at which it changes."""
_ASKS_ORDER: Final = frozenset(
    {
        "dose",
        "lab_dose",
        "order_given",
        "dose_adherence",
        "doses",
        "pain_dose",
        "plan_dose",
        "branch_order",
        "branch_drug",
    }
)
"""Kinds of turns that ask what is ordered of a drug."""


def senseless(case: Case, thread: Decision, chosen: Sequence[Move], move: Move, *, alone: bool) -> bool:
    """Tell whether a turn makes no sense after others.

    Args:
        case: The patient.
        thread: What the session is about.
        chosen: The turns before it, the opening first.
        move: The turn.
        alone: It is the only turn that can hold what a rich session needs, so that an order told may be set against
            what the patient says.
    """
    return leaves_danger(case, thread, move) or senseless_after(case, chosen, move, alone=alone)


def senseless_after(case: Case, chosen: Sequence[Move], move: Move, *, alone: bool) -> bool:
    """Tell whether a turn makes no sense after others, whatever the session is about; arguments as above."""
    return (
        _asks_again(chosen, move, alone=alone)
        or _judged_before(chosen, move)
        or _left_open(case, chosen, move)
        or _passes_over(case, [*chosen, move])
    )


def leaves_danger(case: Case, thread: Decision, move: Move) -> bool:
    """Tell whether a turn only asks for what nobody would leave at that, in a session about something else.

    Args:
        case: The patient.
        thread: What the session is about.
        move: The turn, whatever comes before it.
    """
    if move.task not in {"IL", "DG"}:
        return False
    return any(_grave(case, lab, thread) for lab in move.labs) or _complained(case, thread, move)


# -- nothing told is asked again ---------------------------------------------------------------------------------------


def _asks_again(chosen: Sequence[Move], move: Move, *, alone: bool) -> bool:
    """Tell whether a turn asks for an order that was told."""
    if move.kind not in _ASKS_ORDER or (alone and move.conflict):
        return False
    orders = {key for key in move.keys if key.startswith(_ORDERED)}
    told = (one for one in chosen if any(call.tool == _LOOKED_UP for call in one.calls))
    return any(orders & one.keys for one in told)


def _judged_before(chosen: Sequence[Move], move: Move) -> bool:
    """Tell whether a turn opens again what was judged: the order of a drug, or its dose by a rule.

    An order may still be set against what the patient says of it: that was not heard yet.
    """
    dosed = move.kind == _DOSED
    if not dosed and (move.kind not in _ASKS_ORDER or move.conflict):
        return False
    judged = {one.decision.order.drug for one in chosen if one.task == "CR" and one.decision and one.decision.order}
    asked = {entity.id for entity in move.slots.values() if entity.kind == "drug"}
    return not judged.isdisjoint(asked)


def _left_open(case: Case, chosen: Sequence[Move], move: Move) -> bool:
    """Tell whether an order is made to depend on a value that was told and that leaves no question."""
    if move.kind != _DOSED:
        return False
    reading = case.view.latest[move.labs[0]]
    told = any(set(reading.keys) & one.keys for one in chosen)
    return told and reading.value > _IN_PLAY * Decimal(move.words["bound"].en)


# -- nothing told is passed over ---------------------------------------------------------------------------------------


def _passes_over(case: Case, moves: Sequence[Move]) -> bool:
    """Tell whether the last of some turns decides as if something said so far had not been."""
    move, facts = moves[-1], [one.fact for one in moves if one.fact is not None]
    if move.task in {"IL", "DG"}:
        return False
    if any(_unheeded(fact, moves) for fact in facts):
        return True
    drug = _kept(move)
    if drug is None:
        return False
    mine = None if move.decision is None else move.decision.fact
    heard = any(_against(fact, drug) and (mine is None or mine.id != fact.id) for fact in facts)
    return heard or _barred(case, drug, facts, moves)


def _unheeded(fact: Fact, moves: Sequence[Move]) -> bool:
    """Tell whether what a patient said of a drug, not taken or doing harm, is left for something about another one."""
    against = fact.kind == "adherence" and fact.state not in _TAKEN
    harm = fact.kind == "symptom" and fact.polarity == "present"
    if fact.drug is None or not (against or harm):
        return False
    done = [one.decision for one in moves if one.task in {"CR", "WU"} and one.decision is not None]
    if any(one.fact is not None and one.fact.id == fact.id for one in done):
        return False
    about = {one.order.drug for one in done if one.order is not None}
    about.update(one.slots["drug"].id for one in moves if one.task in {"CR", "WU"} and "drug" in one.slots)
    return fact.drug not in about


def _kept(move: Move) -> str | None:
    """Return the drug that a turn orders or has go on; None where it does neither."""
    if any(call.tool == _ORDER for call in move.calls):
        return move.slots["drug"].id if "drug" in move.slots else None
    decision = move.decision
    if decision is None or decision.order is None or decision.act in _ENDS:
        return None
    return decision.order.drug


def _against(fact: Fact, drug: str) -> bool:
    """Tell whether what a patient says speaks against a drug: it is not taken, or it may be what they complain of."""
    if fact.kind == "adherence":
        return fact.drug == drug and fact.state not in _TAKEN
    profile = knowledge.drug_profiles().get(drug)
    if profile is None or fact.polarity != "present":
        return False
    return fact.drug == drug or any(one.finding == fact.concept for one in profile.adverse)


def _barred(case: Case, drug: str, facts: Iterable[Fact], moves: Sequence[Move]) -> bool:
    """Tell whether a drug must not be given: for a diagnosis, or for what the patient or a result told by now says."""
    profile = knowledge.drug_profiles().get(drug)
    if profile is None:
        return False
    told = {fact.concept for fact in facts if fact.polarity == "present"}
    labs = {lab for move in moves[:-1] for lab in move.labs}
    for one in profile.contraindications:
        if not one.absolute:
            continue
        if one.condition is not None and one.lab is None and (one.condition in told or has(case, (one.condition,))):
            return True
        if one.condition is None and one.lab in labs and _beyond(case.view.latest.get(str(one.lab)), one):
            return (
                moves[-1].decision is None
                or moves[-1].decision.reading is None
                or (moves[-1].decision.reading.lab != one.lab)
            )
    return False


def _beyond(reading: Reading | None, rule: knowledge.Contraindication) -> bool:
    known = None if reading is None else knowledge.labs().get(reading.lab)
    if reading is None or known is None:
        return False
    value = knowledge.convert(reading.value, reading.unit, known.unit, reading.lab)
    if value is None:
        return False
    return (rule.below is not None and value < rule.below) or (rule.at_least is not None and value >= rule.at_least)


def _grave(case: Case, lab: str, thread: Decision) -> bool:
    """Tell whether a value lies where one acts at once, and is not what the session is about."""
    if thread.reading is not None and thread.reading.lab == lab:
        return False
    return case.memo(f"planning.grave.{lab}", lambda case: _in_grave_band(case, lab))


def _in_grave_band(case: Case, lab: str) -> bool:
    reading = latest(case, lab)
    if reading is None:
        return False
    for table in _tables_of(lab):
        value = knowledge.convert(reading.value, reading.unit, table.unit, lab)
        bands = [one for one in table.bands if one.indicated and one.severity >= _GRAVE]
        if value is not None and any(one.holds(value, closed=True) for one in bands):
            return True
    return False


@cache
def _tables_of(lab: str) -> tuple[knowledge.DecisionTable, ...]:
    return tuple(table for table in knowledge.decisions().values() if table.subject == lab)


def _complained(case: Case, thread: Decision, move: Move) -> bool:
    """Tell whether a patient still complains of what they came for, and the session is about something else."""
    fact = move.fact
    if fact is None or fact.kind != "symptom" or fact.polarity != "present" or of_the_stay(case, thread):
        return False
    return fact.concept in complaints(case)


def hears_elsewhere(move: Move, drugs: frozenset[str]) -> bool:
    """Tell whether a turn hears that a drug is not taken as ordered which the session is not about."""
    fact = move.fact
    if fact is None or fact.kind != "adherence" or fact.state in _TAKEN:
        return False
    return fact.drug not in drugs


# -- scores that something rests on ------------------------------------------------------------------------------------


def scores_called_for(case: Case, thread: Decision, drugs: frozenset[str]) -> tuple[str, ...]:
    """Return the computable scores that the patient's problem, or what the session is about, calls for.

    Args:
        case: The patient.
        thread: What the session is about.
        drugs: Drugs that it is about.
    """
    return tuple(score for score in computable(case) if _called_for(case, thread, drugs, score))


def _called_for(case: Case, thread: Decision, drugs: frozenset[str], score: str) -> bool:
    use = knowledge.score_uses()[score]
    if _table_score(thread) == score:
        return True
    if use.needs_drugs and not (drugs and _one_of(drugs, use.needs_drugs) and takes(case, use.needs_drugs)):
        return False
    if use.needs and thread.kind != "home":
        principal = other_view(case).principal
        here = () if principal is None else principal.concepts
        return _one_of(here, use.needs) or (bool(use.needs_drugs) and _one_of(drugs, use.needs_drugs))
    if use.needs_drugs or use.needs:
        return bool(use.needs_drugs)
    # what is worked out of labs alone: where one of them is off, and is what the session is about
    labs = {lab for source in use.inputs.values() if source.kind == "lab" for lab in source.of}
    own = thread.reading
    return own is not None and own.lab in labs and own.level not in {None, "normal"}


def _table_score(thread: Decision) -> str | None:
    """Return the score that a thread is about; None for another one."""
    table = knowledge.decisions().get(thread.subject) if thread.kind == "score" else None
    return None if table is None else table.subject


def _one_of(concepts: Iterable[str], wanted: Iterable[str]) -> bool:
    lexicon, wide = knowledge.lexicon(), tuple(wanted)
    return any(lexicon.is_a(one, other) for one in concepts for other in wide)
