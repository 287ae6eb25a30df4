"""Decisions on an antibiotic by what grew: it fits and goes on, or it does not and is changed (data/cultures.json).

Left out: what lies between (intermediate), a broad drug where a narrow one would do, a drug beside another that works,
organisms and drugs on which good physicians differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from wardround.patients import Stream, knowledge
from wardround.patients.knowledge import DoseRule, DrugProfile, Names
from wardround.rubrics import Act
from wardround.sessions.moves.cultures import (
    antibiotics,
    barred,
    culture_move,
    decide_culture_move,
    sensitivity_move,
)
from wardround.sessions.moves.move import Case, Move
from wardround.sessions.moves.parts import drug_entity, entity
from wardround.sessions.moves.writes import flag, order_fields, prescribe, recheck
from wardround.sessions.parsed import resources
from wardround.sessions.record import Order, plain
from wardround.sessions.record_cultures import Culture, CultureView, Susceptibility, culture_view
from wardround.sessions.sources import Result, cultures

from .decision import Decision, DecisionKind, Hinge

KIND_ID: Final = "culture"
_OTHER: Final[dict[Result, Result]] = {"S": "R", "R": "S"}


def decisions(case: Case) -> tuple[Decision, ...]:
    """Return every decision on an antibiotic by what grew that the record allows, in a fixed order."""
    return case.memo("decisions.culture", _decisions)


def _decisions(case: Case) -> tuple[Decision, ...]:
    view = culture_view(case)
    culture = view.grown
    if culture is None:
        return ()
    found = []
    for order in antibiotics(case):
        known = view.susceptibilities.get(order.drug)
        if known is None or barred(case, order) or not _clear(culture, known, order):
            continue
        act, other = _right(case, view, order, known.reading), _right(case, view, order, _OTHER.get(known.reading, "I"))
        # the decision must turn with the reading, else it does not rest on it
        if act is not None and other is not None and act[0] != other[0]:
            found.append(_decision(culture, known, order, act[1]))
    return tuple(found)


def _clear(culture: Culture, known: Susceptibility, order: Order) -> bool:
    """Tell whether the reading decides: not for contaminants, nor a drug that does not reach where the organism is."""
    rules = cultures()
    if culture.organism is None or culture.organism != known.organism or culture.organism in rules.contaminants:
        return False
    if order.drug in rules.contested.get(culture.organism, ()):
        return False
    blood = culture.id == "blood_culture"
    return not (blood and order.drug in (*rules.urinary, *rules.oral_only))


def _right(case: Case, view: CultureView, order: Order, reading: Result) -> tuple[str, str] | None:
    """Return the act, and the drug to change to, if the reading were this; None where it can be argued."""
    rules = cultures()
    others = [one for one in antibiotics(case) if one.drug != order.drug]
    working = any(_reads(view, one.drug) == "S" for one in others)
    if reading == "S":
        narrower = any(_reads(view, one) == "S" for one in rules.narrow if one != order.drug)
        return None if order.drug in rules.broad and narrower else ("continue", "")
    if reading != "R" or working:
        return None
    change = next(alternatives(case, view, order), None)
    return None if change is None else ("switch", change)


def _reads(view: CultureView, drug: str) -> Result | None:
    known = view.susceptibilities.get(drug)
    return None if known is None else known.reading


def alternatives(case: Case, view: CultureView, order: Order) -> Iterator[str]:
    """Yield the drugs to change to, the preferred first: susceptible, not ordered yet, no allergy."""
    rules, culture = cultures(), view.grown
    assert culture is not None
    allowed = set(rules.prefer)
    marked = order.drug == rules.esbl.marker or _reads(view, rules.esbl.marker) == "R"
    if culture.organism in rules.esbl.organisms and marked:
        allowed &= set(rules.esbl.only)
    allergic = allergies(case)
    for drug in rules.prefer:
        profile = knowledge.drug_profiles().get(drug)
        groups = {drug, *knowledge.drugs()[drug].classes, *(profile.allergy_groups if profile is not None else ())}
        contested = drug in rules.contested.get(str(culture.organism), ())
        works = _reads(view, drug) == "S" and not contested
        if drug in allowed and works and drug not in case.view.orders and not allergic & groups:
            yield drug


def allergies(case: Case) -> frozenset[str]:
    """Return drugs and classes that the chart or its notes hold an allergy to."""
    lexicon = knowledge.lexicon()
    found: set[str] = set()
    for resource in resources(case.snapshot, "AllergyIntolerance"):
        text = str(resource.get("code", {}).get("text", ""))
        for mention in lexicon.scan(text, kinds={"drug", "drug_class"}):
            found.update(mention.concepts)
            for drug in mention.concepts:
                profile = knowledge.drug_profiles().get(drug)
                found.update(profile.allergy_groups if profile is not None else ())
    return frozenset(found)


def _decision(culture: Culture, known: Susceptibility, order: Order, change: str) -> Decision:
    fits = not change
    rules = cultures()
    say, other = rules.say[known.reading], knowledge.drugs()[change].name if change else Names(en="-", zh="-")
    words = {
        "culture": f"the {culture.names.en}",
        "grew": known.grew.en,
        "say": say.en,
        "drug": order.name,
        "other": other.en.lower(),
    }
    zh = {
        "culture": culture.names.zh,
        "grew": known.grew.zh,
        "say": say.zh,
        "drug": order.zh or order.name,
        "other": other.zh or other.en,
    }
    advice = rules.advice["fits" if fits else "misfit"]
    accepted: tuple[tuple[Act, str], ...] = (("continue", order.name),)
    if not fits:
        accepted = (("switch", order.name), ("stop", order.name))
    return Decision(
        kind=KIND_ID,
        rules=(rules.rules["fits" if fits else "misfit"],),
        subject=f"{known.organism}:{order.drug}",
        act="continue" if fits else "switch",
        unchanged=fits,
        accepted=accepted,
        avoid=("stop" if fits else "continue", order.name),
        finding=Names(en=rules.finding.en.format(**words), zh=str(rules.finding.zh).format(**zh)),
        advice=Names(en=advice.en.format(**words), zh=str(advice.zh).format(**zh)),
        hinge=Hinge(kind="susceptibility", keys=known.keys, to=_OTHER[known.reading]),
        order=order,
        severity=0 if fits else 2,
        extra={"culture": culture, "known": known, "change": change},
    )


def threads(case: Case, stream: Stream) -> Iterator[Decision]:
    """Yield the decisions in drawn order, those that change something first."""
    yield from sorted(stream.shuffled(decisions(case)), key=lambda one: one.unchanged)


def _parts(decision: Decision) -> tuple[Culture, Susceptibility, Order]:
    culture, known, order = decision.extra["culture"], decision.extra["known"], decision.order
    assert isinstance(culture, Culture) and isinstance(known, Susceptibility) and order is not None
    return culture, known, order


def openings(case: Case, decision: Decision) -> Iterator[Move]:
    """Yield the openings: how what grew answers to the drug, and what grew."""
    culture, known, order = _parts(decision)
    yield sensitivity_move(case, culture, known, order)
    yield culture_move(case, culture)


def asks(case: Case, decision: Decision) -> Iterator[Move]:
    """Yield nothing: what grew rests on no word of the patient."""
    yield from ()


def decides(case: Case, decision: Decision, mixed: bool) -> Iterator[Move]:
    """Yield the turn that asks whether the antibiotic fits; never mixed."""
    if not mixed:
        culture, known, _ = _parts(decision)
        yield decide_culture_move(case, decision, culture, known)


def writes(case: Case, decision: Decision) -> Iterator[Move]:
    """Yield the writes: the right drug, a flag on the wrong one, a repeat of the white count."""
    _, _, order = _parts(decision)
    change = str(decision.extra["change"])
    if change:
        move = _order_new(case, decision, change)
        if move is not None:
            yield move
        yield flag(case, order, "stop", decision)
    elif order.amount is not None:
        fields = order_fields(case, order, order.amount)
        if fields is not None:
            forbidden = f"{plain(2 * order.amount)} {order.unit}"
            yield prescribe(case, drug_entity(case, order), order.names, *fields, forbidden, decision)
    reading = case.view.latest.get(cultures().marker)
    if reading is not None:
        yield recheck(case, reading, "routine", decision)


def _order_new(case: Case, decision: Decision, drug: str) -> Move | None:
    """Return the order of another drug at its usual dose by vein; None where weight or kidney would change it."""
    profile = knowledge.drug_profiles().get(drug)
    rule = _usual(case, profile) if profile is not None else None
    if rule is None:
        return None
    shared, route = case.common, rule.route.casefold()
    often = shared.frequencies.get(rule.frequency[0].casefold())
    if often is None or route not in shared.routes.words or route not in shared.routes.values:
        return None
    concept = knowledge.drugs()[drug]
    name = Names(en=concept.name.en.lower(), zh=concept.name.zh)
    arguments = {
        "medication": name.en,
        "dose": rule.dose,
        "route": shared.routes.values[route],
        "frequency": often.en,
    }
    _, _, unit = rule.dose.partition(" ")
    most = max(Decimal(one.partition(" ")[0]) for one in (rule.dose, *rule.others) if one.endswith(f" {unit}"))
    forbidden = f"{plain(2 * most)} {unit}"
    say = (shared.routes.words[route], often)
    return prescribe(case, entity(case, "drug", drug, name), name, arguments, say, forbidden, decision)


def _usual(case: Case, profile: DrugProfile) -> DoseRule | None:
    """Return the usual adult dose by vein where nothing would change it."""
    bound = cultures().kidney
    kidney = case.view.latest.get(bound.lab)
    if profile.renal and (kidney is None or kidney.value < bound.at_least):
        return None
    for rule in profile.doses:
        if rule.key == "usual" and rule.route.casefold() == "iv" and not rule.per_kg and rule.from_age >= 18:
            return rule if "inpatient" in rule.phases else None
    return None


KIND: Final = DecisionKind(KIND_ID, threads, openings, asks, decides, writes)
