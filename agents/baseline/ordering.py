"""Orders, referrals and safety flags: one write, as the physician words it, and its confirmation."""

from __future__ import annotations

from decimal import Decimal

from wardround.patients import knowledge

from .query import Dosing, Request
from .rows import Value
from .speaking import amount, frequency_words, labelled, name_of, priority_words, route_words, say
from .turn import Steps, Turn
from .words import first_of, vocabulary

_ASSIGNED = ("lab", "vital", "service", "study", "procedure")


def prescribe(turn: Turn, request: Request) -> Steps[list[str]]:
    """Order a drug; where the dose rests on a value, look at it first."""
    language, dosing = turn.language, request.dosing
    drugs = request.wanted("drug", "drug_class")
    if dosing is None or not drugs:
        return [say(language, "incomplete")]
    drug, dose, value = drugs[0], dosing.doses[0], None
    if len(dosing.doses) > 1 and dosing.bound is not None:
        if not request.labs:
            return [say(language, "incomplete")]
        value = yield from turn.latest(request.labs[-1])
        if value is None or value.number is None:
            return [say(language, "no_value", name=name_of(request.labs[-1], language))]
        dose = dosing.doses[0] if _meets(value.number, dosing) else dosing.doses[1]
    route, frequency = dosing.route, dosing.frequency
    if route is None or frequency is None:
        rows = yield from turn.orders(drug)
        if rows:
            route = route or str(rows[0].get("route") or "")
            frequency = frequency or str(rows[0].get("frequency") or "")
    if not route or not frequency:
        return [say(language, "incomplete")]
    text = yield from turn.call(
        "MedicationRequest.create", medication=name_of(drug, "en"), dose=dose, route=route, frequency=frequency
    )
    if not _accepted(text):
        return [say(language, "refused_write", text=text[:200])]
    slots = {
        "name": labelled(name_of(drug, language), language),
        "dose": dose,
        "route": route_words(route, language),
        "frequency": frequency_words(frequency, language),
    }
    if value is None:
        return [say(language, "ordered", **slots)]
    return [_set(language, value, dosing, slots)]


def _meets(number: Decimal, dosing: Dosing) -> bool:
    assert dosing.bound is not None
    return number < dosing.bound if dosing.comparator == "below" else number > dosing.bound


def _set(language: str, value: Value, dosing: Dosing, slots: dict[str, str]) -> str:
    assert value.number is not None
    key = {"below": "under", "above": "over"}[dosing.comparator or "below"]
    side = key if _meets(value.number, dosing) else f"not_{key}"
    lab = labelled(name_of(value.lab, language), language)
    return say(
        language, "set", lab=lab, value=amount(value), side=say(language, side), bound=str(dosing.bound), **slots
    )


def request_service(turn: Turn, request: Request) -> Steps[list[str]]:
    """Order a test, a procedure or a referral."""
    language = turn.language
    wanted = request.wanted(*_ASSIGNED)
    if not wanted:
        return [say(language, "incomplete")]
    concept, priority = wanted[0], request.priority or "routine"
    kind = knowledge.lexicon().concept(concept).kind
    text = yield from turn.call("ServiceRequest.create", service_type=name_of(concept, "en"), priority=priority)
    if not _accepted(text):
        return [say(language, "refused_write", text=text[:200])]
    key = "referred" if kind == "service" else "requested" if kind in {"lab", "vital"} else "arranged"
    return [say(language, key, name=name_of(concept, language), priority=priority_words(priority, language))]


def flag(turn: Turn, request: Request) -> Steps[list[str]]:
    """Record a safety flag."""
    language = turn.language
    detail, shown = _flag_words(request, "en"), _flag_words(request, language)
    if not detail:
        return [say(language, "incomplete")]
    text = yield from turn.call("Flag.create", category="safety", code=detail, detail=f"{detail.capitalize()}.")
    if not _accepted(text):
        return [say(language, "refused_write", text=text[:200])]
    return [say(language, "flag", detail=shown)]


def _flag_words(request: Request, language: str) -> str:
    words = vocabulary(request.language)
    act = first_of(request.text.lower(), words.flag_acts, request.language)
    labs, drugs = request.wanted("lab", "vital"), request.wanted("drug", "drug_class")
    if labs and (act == "watch" or not drugs):
        lab = name_of(labs[0], language)
        if drugs:
            return say(language, "flag_watch", lab=lab, drug=name_of(drugs[0], language))
        return say(language, "flag_watch_lab", lab=lab)
    if drugs and act in {"hold", "stop"}:
        return say(language, f"flag_{act}", drug=name_of(drugs[0], language))
    risks = request.wanted("finding", "condition")
    return name_of(risks[0], language) if risks else ""


def _accepted(text: str) -> bool:
    """Tell whether a write was stored: what is stored is shown as JSON, a mistake is told in words."""
    return text.startswith("{")
