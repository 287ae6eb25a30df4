"""What the patient says of taking a drug at home, in both languages: items, lines, and the turns that ask it."""

from __future__ import annotations

from typing import Final

from wardround.patients import Fact, knowledge
from wardround.patients.knowledge import Names
from wardround.rubrics import AllOf, Check, Item, Not, ReportsCheck, RetrievedCheck
from wardround.sessions.common import common
from wardround.sessions.record import Order, drug_of

from .move import Case
from .parts import item

PRONOUNS: Final = {"female": Names(en="she", zh="她"), "male": Names(en="he", zh="他")}


def adherence_fact(case: Case, drug: str) -> Fact | None:
    """Return what the patient says about taking a drug; None where they say nothing certain, or several things."""
    found = [
        fact
        for fact in case.interview.facts
        if fact.kind == "adherence" and fact.drug is not None and (fact.drug == drug or drug_of(fact.drug) == drug)
    ]
    if len(found) != 1 or found[0].state not in case.common.states:
        return None
    fact = found[0]
    if _reason_id(fact) in case.common.states[str(fact.state)].unclear:
        return None
    # Why somebody does take a drug is not asked for.
    return fact.model_copy(update={"reason": None}) if fact.state == "taking" else fact


def interviewable(order: Order) -> bool:
    """Tell whether patients take the drug themselves, in one fixed dose, so that asking about it makes sense."""
    shared = common()
    fixed = order.amount is not None and order.amount > 0 and order.unit.casefold() in shared.dose_units
    mine = not order.as_needed and order.route in shared.routes.interviewable
    return fixed and mine and order.drug not in shared.skip_drugs


def heard_item(fact: Fact) -> Item:
    """Return the item that the patient was asked about what they say."""
    return item(
        "heard",
        "Asked the patient about it.",
        "问过患者本人。",
        RetrievedCheck(any_of=(f"fact/{fact.id}",)),
    )


def said_items(case: Case, fact: Fact, order: Order) -> list[Item]:
    """Return the items that what the patient says of taking a drug is conveyed, and with which reason.

    They rest on `heard_item`, which stands beside them.
    """
    state = case.common.states[str(fact.state)]
    concept, reason = state.concept.format(drug=order.name), reason_words(fact)
    line = said_line(case, fact.model_copy(update={"reason": None}), order)
    said: Check = ReportsCheck(concept=concept, polarity=state.polarity)
    if state.unless:
        others = (Not(check=ReportsCheck(concept=one.format(drug=order.name))) for one in state.unless)
        said = AllOf(checks=(said, *others))
    items = [item("says", f"Conveys: {line.en}.", f"转述：{line.zh}。", said, ("heard",))]
    if reason is not None:
        check = ReportsCheck(concept=concept, polarity=state.polarity, reason=reason.en)
        en, zh = f"Gives the patient's own reason: {reason.en}.", f"说出患者自己的原因：{reason.zh}。"
        items.append(item("reason", en, zh, check, ("says",)))
    return items


def said_line(case: Case, fact: Fact, order: Order) -> Names:
    """Return what the patient says of taking a drug, with the reason given, without full stop."""
    say = case.common.states[str(fact.state)].say
    who = PRONOUNS[case.view.sex]
    because = because_words(fact, who)
    return Names(
        en=say.en.format(they=who.en, drug=order.name, because=because.en if because else ""),
        zh=str(say.zh).format(they=who.zh, drug=order.zh or order.name, because=because.zh if because else ""),
    )


def because_words(fact: Fact, who: Names) -> Names | None:
    """Return the patient's reason as a clause; None where none was given."""
    reason = reason_words(fact)
    if reason is None:
        return None
    clause = common().reasons.get(str(_reason_id(fact)))
    en = clause.en.format(they=who.en) if clause else f"of {reason.en}"
    zh = str(clause.zh).format(they=who.zh) if clause else str(reason.zh)
    return Names(en=f" because {en}", zh=f"，因为{zh}")


def reason_words(fact: Fact) -> Names | None:
    """Return the reason's name: the concept's own where it is one, else the recorded words; None for no reason."""
    if not fact.reason:
        return None
    concept = knowledge.lexicon().resolve(fact.reason)
    if concept is None:
        return Names(en=fact.reason, zh=fact.reason)
    return Names(en=concept.name.en.lower(), zh=concept.name.zh)


def _reason_id(fact: Fact) -> str | None:
    concept = knowledge.lexicon().resolve(fact.reason or "")
    return None if concept is None else concept.id
