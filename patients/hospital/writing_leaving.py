"""Leaving: the medicines with what changed, instructions in the patient's words, appointments with their dates."""

from __future__ import annotations

import re

from wardround.patients.knowledge.bedside import finding_profiles

from .life import PlanItem, Prescription
from .onset import HOUR
from .phrasing import Teller, capital, lowered, table
from .record import Sentence
from .writing_history import numbered
from .writing_plan import stop_reason
from .writing_results import vitals_line
from .writing_view import Known
from .writing_words import Scribe

_SPAN = re.compile(r" (?:again )?in \d{1,3} (?:days?|weeks?|months?)\b")
"""How long until then, which the date says."""
_OFTEN = re.compile(r"\b(?:QID|TID|BID|QHS|PRN|(?:(?:once|twice|three times|four times) )?daily)\b")
"""How often a drug is taken, in the words of charts."""
_LATER = ("appointment", "lab")


def discharge_medications(scribe: Scribe) -> list[Sentence]:
    """Return what is taken after leaving, with what is new, changed and stopped."""
    teller = scribe.teller("discharge-medications")
    known = scribe.known
    before = known.home()
    after = known.active("home", "discharge")
    lines = [_medicine(scribe, teller, one, before, known.held_before(one) is not None) for one in after]
    drugs = {one.drug for one in after}
    for one in before:
        if one.drug not in drugs:
            key = "med.held" if one.paused else "med.stopped"
            lines.append(teller.line(key, (one.id,), drug=scribe.drug(one), reason=stop_reason(teller, one)))
    return numbered(scribe, lines) if lines else [teller.say("med.none", (known.root.id,))]


def _medicine(scribe: Scribe, teller: Teller, one: Prescription, before: list[Prescription], resumed: bool) -> Sentence:
    order = capital(scribe.order(one))
    old = next((each for each in before if each.drug == one.drug), None)
    if old is None:
        return teller.line("med.new", (one.id,), order=order)
    if (old.dose, old.route, old.frequency) == (one.dose, one.route, one.frequency):
        unused = scribe.known.unused.get(old.id)
        if unused is not None:
            return teller.line("med.restarted", (one.id, old.id, unused.id), order=order)
        return teller.line("med.resumed" if resumed else "med.same", (one.id, old.id), order=order)
    return teller.line("med.changed", (one.id, old.id), order=order, before=scribe.order(old, name=False))


def instructions(scribe: Scribe) -> list[Sentence]:
    """Return what the patient is told to do, to mind and to watch for."""
    teller = scribe.teller("discharge-instructions")
    known = scribe.known
    reason = plain_reason(known)
    key = "instructions.child" if scribe.child else "instructions.open"
    if known.root.kind in ("clinic", "ed"):
        key = "instructions.child.visit" if scribe.child else "instructions.open.visit"
    facts = (known.root.id,) if known.principal is None else (known.root.id, known.principal.id)
    said = [teller.say(key, facts, reason=reason)]
    for plan in known.plans:
        for item in plan.items:
            if item.kind not in _LATER and plan.category != "treatment":
                said.append(_instruction(teller, plan.id, item, child=scribe.child))
    if len(said) > 1 and known.active("home", "discharge") and teller.chance(50):
        orders = known.active("home", "discharge")
        take = "instructions.take.child" if scribe.child else "instructions.take"
        said.append(teller.say(take, [one.id for one in orders]))
    return said


def plain_reason(known: Known) -> str:
    """Return what the patient has, or else why the patient was here, in words for the patient."""
    if known.principal is not None and (name := table("condition_lay").get(known.principal.condition)):
        return name
    profile = finding_profiles().get(known.root.complaint)
    if known.root.kind != "clinic" and profile is not None and profile.lay is not None and profile.lay.name.en:
        return profile.lay.name.en[0]
    return lowered(known.root.reason)


def _instruction(teller: Teller, plan: str, item: PlanItem, *, child: bool) -> Sentence:
    text = item.text.en.rstrip(".")
    if item.kind == "drug_change":
        words = table("frequency_lay")
        text = _OFTEN.sub(lambda match: words.get(match[0], match[0]), text)
    warning = "instructions.warning.child" if child else "instructions.warning"
    framed = item.kind == "warning" and ": " not in text  # "any new weakness: call an ambulance" says what to do
    key = warning if framed else "instructions.text"
    return teller.say(key, (plan, *item.facts), text=lowered(text) if framed else text)


def followup(scribe: Scribe) -> list[Sentence]:
    """Return appointments and tests to come."""
    teller = scribe.teller("followup")
    lines = []
    for plan in scribe.known.plans:
        for item in plan.items:
            if item.kind in _LATER:
                lines.append(_appointment(scribe, teller, plan.id, item))
    return numbered(scribe, lines) if lines else [teller.say("followup.none", (scribe.known.root.id,))]


def _appointment(scribe: Scribe, teller: Teller, plan: str, item: PlanItem) -> Sentence:
    text = capital(item.text.en.rstrip("."))
    facts = (plan, *item.facts)
    if item.due is None:
        return teller.line("followup.open", facts, text=text)
    key = "followup.lab" if item.kind == "lab" else "followup.visit"
    text = _SPAN.sub("", text, count=1)
    return teller.line(key, facts, text=text, date=scribe.date(item.due))


def condition_at_discharge(scribe: Scribe) -> list[Sentence]:
    """Return the last vital signs of the stay."""
    teller = scribe.teller("vitals")
    line, ids = vitals_line(scribe, teller, scribe.known.latest(scribe.known.at - 36 * HOUR))
    return [teller.say("condition.open", ids, vitals=line)] if ids else []


def discharge_plan(scribe: Scribe) -> list[Sentence]:
    """Return the plan of a visit from its plan items, a line each."""
    teller = scribe.teller("plan")
    lines = []
    for plan in scribe.known.plans:
        for item in plan.items:
            if item.kind in _LATER or item.kind in ("warning", "teaching", "drug_change"):
                continue  # told in the follow-up, to the patient, and with the orders
            text = capital(item.text.en.rstrip("."))
            key = "plan.item" if item.due is None else "plan.item.due"
            date = scribe.date(item.due) if item.due is not None else ""
            lines.append(teller.line(key, (plan.id, *item.facts), text=text, date=date))
    return lines
