"""What grew in cultures, and whether the antibiotic fits it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wardround.patients import Stream, knowledge
from wardround.patients.knowledge import Names
from wardround.rubrics import (
    AnyOf,
    Check,
    Item,
    MentionCheck,
    Not,
    RetrievedCheck,
    StatusCheck,
    SusceptibilityCheck,
    Text,
)
from wardround.sessions.decisions.decision import Decision
from wardround.sessions.record import Order
from wardround.sessions.record_cultures import Culture, Susceptibility, culture_view
from wardround.sessions.session import GoldCall
from wardround.sessions.sources import cultures, infection

from .drug_items import order_items
from .drugs import order_call, topic, was_asked
from .move import Case, Focus, Move, MoveKind, kept
from .order_words import askable, order_line, spaced
from .parts import (
    advice_item,
    bullets,
    capital,
    chart_call,
    danger_item,
    drug_entity,
    entity,
    grounded_item,
    item,
    two_sentences,
)


def culture_topic(culture: Culture) -> str:
    """Return what a turn about a culture alone is about."""
    return f"culture:{culture.id}"


def culture_call(case: Case, culture: Culture) -> GoldCall:
    """Return the call that finds the culture."""
    return chart_call(
        case, "Observation.search", hadm_id=case.encounter, category="microbiology", code=culture.names.en
    )


def culture_line(culture: Culture) -> Names:
    """Return what grew, without full stop."""
    if culture.grew is None:
        return Names(en=f"the {culture.names.en} shows no growth", zh=f"{culture.names.zh}无细菌生长")
    return Names(en=f"the {culture.names.en} grew {culture.grew.en}", zh=f"{culture.names.zh}长出{culture.grew.zh}")


def culture_items(culture: Culture) -> list[Item]:
    """Return the items that the culture was looked up and what grew, or that nothing did: two beside the evidence."""
    read_id, en, zh = f"read-{culture.id}", culture.names.en, culture.names.zh
    read = item(read_id, f"Looked up the {en}.", f"查过{zh}。", RetrievedCheck(any_of=culture.keys))
    if culture.grew is None:
        negative = StatusCheck(concept=en, status="negative")
        others: tuple[Check, ...] = tuple(MentionCheck(concept=name) for name in _organisms())
        return [
            read,
            item("negative", f"Says that nothing grew in the {en}.", f"说明{zh}没有细菌生长。", negative, (read_id,)),
            item("no-organism", "Names no organism as grown.", "没有说长出了什么菌。", Not(check=AnyOf(checks=others))),
        ]
    return [
        read,
        item(
            "grew",
            f"Says that {culture.grew.en} grew.",
            f"说明长出的是{culture.grew.zh}。",
            MentionCheck(concept=culture.grew.en),
            (read_id,),
        ),
        item(
            "positive",
            f"Conveys that the {en} is positive.",
            f"说明{zh}阳性。",
            AnyOf(checks=(StatusCheck(concept=en, status="positive"), MentionCheck(concept=culture.grew.en))),
            ("grew",),
        ),
    ]


def _organisms() -> tuple[str, ...]:
    return tuple(
        profile.name.en
        for profile in knowledge.organism_profiles().values()
        if knowledge.lexicon().resolve(profile.name.en) is not None
    )


def _alike(one: str, other: str) -> bool:
    """Tell whether one organism is the other or a case of it, by name."""
    lexicon = knowledge.lexicon()
    first, second = lexicon.resolve(one), lexicon.resolve(other)
    if first is None or second is None:
        return one == other
    return lexicon.is_a(first.id, second.id) or lexicon.is_a(second.id, first.id)


@kept
def culture_move(case: Case, culture: Culture) -> Move:
    """Return the turn that asks what grew (IL); it may open a session."""
    line = culture_line(culture)
    return Move(
        kind="culture",
        task="IL",
        source="ehr",
        topic=culture_topic(culture),
        calls=(culture_call(case, culture),),
        answer=Text(en=f"{capital(line.en)}.", zh=f"{line.zh}。"),
        rubric=(*culture_items(culture), grounded_item()),
        slots={"culture": entity(case, "culture", culture.id, culture.names)},
        keys=frozenset(culture.keys),
        opening=True,
    )


@kept
def culture_drug_move(case: Case, culture: Culture, order: Order) -> Move:
    """Return the turn that asks what grew and how the antibiotic is ordered (DG)."""
    line, ordered = culture_line(culture), order_line(order)
    return Move(
        kind="culture_drug",
        task="DG",
        source="ehr",
        topic=topic(order.drug, "dose", culture.id),
        calls=(culture_call(case, culture), order_call(case, order)),
        answer=bullets((Names(en=capital(line.en), zh=line.zh), ordered)),
        rubric=(*culture_items(culture), *order_items(order), grounded_item()),
        slots={"culture": entity(case, "culture", culture.id, culture.names), "drug": drug_entity(case, order)},
        keys=frozenset((*culture.keys, order.key)),
        needs=frozenset({"multi"}),
    )


# -- does the antibiotic fit -------------------------------------------------------------------------------------------


def susceptibility_call(case: Case, order: Order) -> GoldCall:
    """Return the call that finds how what grew answers to a drug."""
    return chart_call(case, "Observation.search", hadm_id=case.encounter, category="microbiology", code=order.name)


def susceptibility_items(known: Susceptibility, order: Order) -> list[Item]:
    """Return the items that the susceptibility was looked up, and how it is."""
    say = cultures().say[known.reading]
    read_id = f"read-s-{known.drug}"
    return [
        item(
            read_id,
            f"Looked up the susceptibility to {order.name}.",
            f"查过对{order.zh}的药敏。",
            RetrievedCheck(any_of=known.keys),
        ),
        item(
            "fits",
            f"Says that what grew is {say.en} to {order.name}.",
            f"说明长出的菌对{order.zh}{say.zh}。",
            SusceptibilityCheck(drug=order.name, reading=known.reading),
            (read_id,),
        ),
    ]


def sensitivity_move(case: Case, culture: Culture, known: Susceptibility, order: Order) -> Move:
    """Return the turn that asks how what grew answers to the antibiotic (IL); it may open a session."""
    say = cultures().say[known.reading]
    others = tuple(MentionCheck(concept=one) for one in _organisms() if not _alike(one, known.grew.en))
    guard = item(
        "no-other-organism",
        "Names no other organism than the one that grew.",
        "没有说成别的菌。",
        Not(check=AnyOf(checks=others)),
    )
    return Move(
        kind="sensitivity",
        task="IL",
        source="ehr",
        topic=f"sensitivity:{order.drug}",
        calls=(susceptibility_call(case, order),),
        answer=Text(
            en=f"{known.grew.en}: {say.en} to {order.name}.", zh=f"{known.grew.zh}对{spaced(order.zh)}{say.zh}。"
        ),
        rubric=(*susceptibility_items(known, order), guard, grounded_item()),
        slots={"culture": entity(case, "culture", culture.id, culture.names), "drug": drug_entity(case, order)},
        keys=frozenset(known.keys),
        opening=True,
    )


def decide_culture_move(case: Case, decision: Decision, culture: Culture, known: Susceptibility) -> Move:
    """Return the turn that asks whether the antibiotic fits what grew (CR)."""
    order = decision.order
    assert order is not None
    items = culture_items(culture)
    return Move(
        kind="decide_culture",
        task="CR",
        source="ehr",
        topic=f"fits:{order.drug}",
        calls=(culture_call(case, culture), susceptibility_call(case, order)),
        answer=two_sentences(decision.finding, decision.advice),
        rubric=(
            *items[:2],
            *susceptibility_items(known, order),
            advice_item(decision, ("fits",)),
            danger_item(case, decision),
            grounded_item(),
        ),
        slots={"culture": entity(case, "culture", culture.id, culture.names), "drug": drug_entity(case, order)},
        keys=frozenset((*culture.keys, *known.keys)),
        decision=decision,
    )


# -- offers ------------------------------------------------------------------------------------------------------------


def _free(case: Case, focus: Focus, stream: Stream) -> list[Culture]:
    """Return the cultures that no earlier turn asked for, those that grew something first."""
    found = culture_view(case).cultures
    mixed = stream.shuffled([found[one] for one in sorted(found) if not asked(focus, found[one])])
    return sorted(mixed, key=lambda one: one.organism is None)


def asked(focus: Focus, culture: Culture) -> bool:
    """Tell whether an earlier turn asked for a culture, alone or with a drug."""
    return any(one == culture_topic(culture) or one.endswith(f"+{culture.id}") for one in focus.busy)


def antibiotics(case: Case) -> list[Order]:
    """Return the antibiotics that are ordered now in single amounts, in a fixed order."""
    return [
        case.view.orders[one]
        for one in sorted(case.view.orders)
        if one in infection().antibiotics and askable(case.view.orders[one])
    ]


def barred(case: Case, order: Order) -> bool:
    """Tell whether a lab asks for less of a drug or none, so that going on with it is not plainly right."""
    rank = case.common.severity
    return any(rank.get(pair.rule.act, 0) > 0 for pair in case.view.pairs if pair.order.drug == order.drug)


def _alone(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    for culture in _free(case, focus, stream):
        yield culture_move(case, culture)


def _with_drug(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    orders = [one for one in antibiotics(case) if not was_asked(focus, one.drug, "dose")]
    for culture in _free(case, focus, stream):
        for order in stream.shuffled(orders):
            yield culture_drug_move(case, culture, order)


def _sensitivities(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    view = culture_view(case)
    grown = view.grown
    if grown is None:
        return
    for order in stream.shuffled([one for one in antibiotics(case) if one.drug in view.susceptibilities]):
        if f"sensitivity:{order.drug}" not in focus.busy:
            yield sensitivity_move(case, grown, view.susceptibilities[order.drug], order)


KINDS: Final[tuple[MoveKind, ...]] = (
    MoveKind("culture", "IL", "ehr", _alone),
    MoveKind("sensitivity", "IL", "ehr", _sensitivities),
    MoveKind("culture_drug", "DG", "ehr", _with_drug),
)
"""Turns about cultures; `decide_culture` comes from its decision."""
