"""Turns that ask the patient: symptoms, pain, function and life at home, alone or beside the record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from wardround.patients import Stream, knowledge
from wardround.rubrics import Text
from wardround.sessions.decisions.charted import charted
from wardround.sessions.record import Order, Reading
from wardround.sessions.record_others import other_view
from wardround.sessions.session import GoldCall

from .drug_items import order_items
from .drugs import order_call, was_asked
from .move import Case, Entity, Focus, Move, MoveKind, kept
from .nearness import monitored_by
from .order_words import askable, order_line
from .parts import (
    ask_call,
    bullets,
    drug_entity,
    entity,
    grounded_item,
    lab_call,
    lab_entity,
    lab_items,
    only_item,
    value_line,
)
from .patient_parts import (
    PRONOUNS,
    Pain,
    Told,
    daily_life,
    life_line,
    pain,
    pain_items,
    pain_line,
    patient_words,
    symptoms,
    told_items,
)

SYMPTOM_TOOL: Final = "patient.get_symptom_history"
FUNCTION_TOOL: Final = "patient.get_functional_status"
SOCIAL_TOOL: Final = "patient.get_social_history"
PAIN_TOOL: Final = "patient.get_pain_assessment"


def symptom_entity(case: Case, told: Told) -> Entity:
    """Return a symptom to name."""
    return entity(case, "symptom", told.concept, told.names)


def symptom_call(case: Case, told: Told) -> GoldCall:
    """Return the question about one symptom."""
    return ask_call(case, SYMPTOM_TOOL, query=told.names.en)


def known_sex(case: Case) -> bool:
    """Tell whether the record says by which pronoun the patient goes."""
    return case.view.sex in PRONOUNS


# -- turns -------------------------------------------------------------------------------------------------------------


@kept
def symptom_move(case: Case, told: Told) -> Move:
    """Return the turn that asks the patient about one symptom (IL); it may open a session."""
    return Move(
        kind="symptom",
        task="IL",
        source="patient",
        topic=f"symptom:{told.concept}",
        calls=(symptom_call(case, told),),
        answer=Text(en=f"{told.clause.en}.", zh=f"{told.clause.zh}。"),
        rubric=(*told_items(told), grounded_item()),
        slots={"symptom": symptom_entity(case, told)},
        keys=told.keys,
        fact=told.fact,
        turned=told.news,
        opening=True,
    )


@kept
def pain_move(case: Case, told: Pain) -> Move:
    """Return the turn that asks how much it hurts now (IL); it may open a session."""
    line = pain_line(told)
    return Move(
        kind="pain",
        task="IL",
        source="patient",
        topic="pain",
        calls=(ask_call(case, PAIN_TOOL),),
        answer=Text(en=f"{line.en}.", zh=f"{line.zh}。"),
        rubric=(*pain_items(told), grounded_item()),
        keys=frozenset({f"fact/{told.fact.id}"}),
        fact=told.fact,
        turned=told.news,
        opening=True,
    )


def life_move(case: Case, kind: str, told: Sequence[Told]) -> Move:
    """Return the turn that asks how the patient manages (`function`) or lives (`social`) (IL); it may open."""
    line = life_line(case, told)
    items = [one for part in told for one in told_items(part)]
    if len(told) < 3:
        items.append(grounded_item())
    return Move(
        kind=kind,
        task="IL",
        source="patient",
        topic=kind,
        calls=(ask_call(case, FUNCTION_TOOL if kind == "function" else SOCIAL_TOOL),),
        answer=Text(en=f"{line.en}.", zh=f"{line.zh}。"),
        rubric=tuple(items),
        keys=frozenset().union(*(part.keys for part in told)),
        fact=_main(told).fact,
        turned=_news(told),
        opening=True,
    )


def home_move(case: Case, function: Sequence[Told], living: Told) -> Move:
    """Return the turn that asks how the patient manages and with whom they live (DG)."""
    told = (*function, living)
    manages = [one for one in function if one.about != "falls"]
    lines = [life_line(case, part) for part in (manages, [one for one in function if one.about == "falls"], [living])]
    return Move(
        kind="home",
        task="DG",
        source="patient",
        topic="home",
        calls=(ask_call(case, FUNCTION_TOOL), ask_call(case, SOCIAL_TOOL)),
        answer=bullets(lines),
        rubric=(*(one for part in told for one in told_items(part)), grounded_item()),
        keys=frozenset().union(*(part.keys for part in told)),
        fact=_main(told).fact,
        turned=_news(told),
    )


@kept
def lab_symptom_move(case: Case, reading: Reading, told: Told) -> Move:
    """Return the turn that sets a lab's latest value beside a symptom that the patient tells (DG)."""
    return Move(
        kind="lab_symptom",
        task="DG",
        source="mixed",
        topic=f"symptom:{told.concept}+{reading.lab}",
        calls=(lab_call(case, reading), symptom_call(case, told)),
        answer=bullets((value_line(reading), told.clause)),
        rubric=(
            *lab_items(reading),
            *told_items(told),
            only_item(reading),
        ),
        slots={"lab": lab_entity(case, reading), "symptom": symptom_entity(case, told)},
        keys=frozenset({*reading.keys, *told.keys}),
        labs=(reading.lab,),
        fact=told.fact,
        turned=told.news,
    )


@kept
def pain_dose_move(case: Case, order: Order, told: Pain) -> Move:
    """Return the turn that sets how much it hurts beside the analgesic ordered (DG)."""
    return Move(
        kind="pain_dose",
        task="DG",
        source="mixed",
        topic=f"{order.drug}:dose+pain",
        calls=(order_call(case, order), ask_call(case, PAIN_TOOL)),
        answer=bullets((order_line(order), pain_line(told))),
        rubric=(*order_items(order), *pain_items(told), grounded_item()),
        slots={"drug": drug_entity(case, order)},
        keys=frozenset({order.key, f"fact/{told.fact.id}"}),
        fact=told.fact,
        turned=told.news,
    )


def _main(told: Sequence[Told]) -> Told:
    """Return what matters most of what is told: what is less than managing alone."""
    return next((one for one in told if one.less), told[0])


def _news(told: Sequence[Told]) -> bool:
    """Tell whether the patient says something that a record without a functional status would not let expect."""
    return any(one.less and (one.uncharted or one.fact.kind == "function") for one in told)


def function_told(case: Case) -> list[Told]:
    """Return what the patient says of walking, daily activities and falls, as far as it is clear."""
    found = daily_life(case)
    return [found[about] for about in patient_words().function if about in found]


# -- offers ------------------------------------------------------------------------------------------------------------


def near_symptoms(case: Case, focus: Focus, stream: Stream) -> list[Told]:
    """Return the symptoms to ask about: that of the focus, what bears on it or on the stay, what is there."""
    own = focus.decision.fact.concept if focus.decision.fact is not None else ""
    mixed = stream.shuffled([one for _, one in sorted(symptoms(case).items())])
    asked = {one.partition(":")[2].partition("+")[0] for one in focus.busy if one.startswith("symptom:")}
    fitting = [one for one in mixed if one.concept not in asked]
    near = _near_findings(case, focus)
    return sorted(
        fitting,
        key=lambda one: (one.fact.concept != own, one.concept not in near, not one.news, one.polarity == "absent"),
    )


def _near_findings(case: Case, focus: Focus) -> frozenset[str]:
    """Return what the drugs of the focus may do to the patient, and what the principal diagnosis shows itself by."""
    order, profiles = focus.decision.order, knowledge.drug_profiles()
    drugs = focus.drugs | ({order.drug} if order is not None else set())
    found = {one.finding for drug in drugs if drug in profiles for one in profiles[drug].adverse}
    principal = other_view(case).principal
    for concept in () if principal is None else principal.concepts:
        known = knowledge.condition_profiles().get(concept)
        found.update(() if known is None else (edge.finding for edge in known.findings))
    return frozenset(found)


def _symptom(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    yield from (symptom_move(case, one) for one in near_symptoms(case, focus, stream))


def _pain(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    told = pain(case)
    if told is not None and "pain" not in focus.busy:
        yield pain_move(case, told)


def _function(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    told = function_told(case)
    if len(told) >= 2 and known_sex(case) and not {"function", "home"} & focus.busy:
        yield case.memo("moves.patient.function", lambda case: life_move(case, "function", told))


def _social(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    found = daily_life(case)
    told = [found[about] for about in patient_words().social if about in found]
    if len(told) >= 2 and known_sex(case) and not {"social", "home"} & focus.busy:
        yield case.memo("moves.patient.social", lambda case: life_move(case, "social", told))


def _home(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    function, living = function_told(case), daily_life(case).get("living")
    if len(function) == 3 and living is not None and known_sex(case) and not {"function", "social"} & focus.busy:
        yield case.memo("moves.patient.home", lambda case: home_move(case, function, living))


def _lab_symptom(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    own = focus.decision.reading.lab if focus.decision.reading is not None else ""
    free = [one for lab, one in sorted(case.view.latest.items()) if lab not in focus.busy and one.level is not None]
    mixed = stream.shuffled(free)
    labs = sorted(mixed, key=lambda one: (one.lab != own, one.level == "normal"))
    for told in near_symptoms(case, focus, stream):
        bearing = labs_of_symptom(case, told.concept)
        yield from islice((lab_symptom_move(case, one, told) for one in labs if one.lab in bearing), 3)


def labs_of_symptom(case: Case, symptom: str) -> frozenset[str]:
    """Return the labs that bear on a symptom in this patient.

    They are those that move with an active diagnosis, or that an ordered drug is watched by, which it belongs to.
    """
    return case.memo(f"moves.patient.labs_of.{symptom}", lambda case: _labs_of_symptom(case, symptom))


def _labs_of_symptom(case: Case, symptom: str) -> frozenset[str]:
    found: set[str] = set()
    profiles, drugs = knowledge.condition_profiles(), knowledge.drug_profiles()
    for condition in charted(case).active:
        known = profiles.get(condition)
        if known is not None and any(edge.finding == symptom for edge in known.findings):
            found.update(effect.lab for effect in known.effects)
    for drug in case.view.orders:
        given = drugs.get(drug)
        if given is not None and any(one.finding == symptom for one in given.adverse):
            found.update(monitored_by(drug))
            found.update(rule.lab for rule in knowledge.side_effects_of(drug) if rule.lab and symptom in rule.findings)
    return frozenset(found)


def _pain_dose(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    told = pain(case)
    if told is None or "pain" in focus.busy:
        return
    for order in stream.shuffled([case.view.orders[drug] for drug in sorted(case.view.orders)]):
        if relieves_pain(order) and askable(order) and not was_asked(focus, order.drug, "dose"):
            yield pain_dose_move(case, order, told)


def relieves_pain(order: Order) -> bool:
    """Tell whether a drug is given for pain."""
    words, is_a = patient_words(), knowledge.lexicon().is_a
    others = any(is_a(order.drug, one) for one in words.other_use)
    return not others and any(is_a(order.drug, one) for one in words.analgesics)


KINDS: Final = (
    MoveKind("symptom", "IL", "patient", _symptom),
    MoveKind("pain", "IL", "patient", _pain),
    MoveKind("function", "IL", "patient", _function),
    MoveKind("social", "IL", "patient", _social),
    MoveKind("home", "DG", "patient", _home),
    MoveKind("lab_symptom", "DG", "mixed", _lab_symptom),
    MoveKind("pain_dose", "DG", "mixed", _pain_dose),
)
