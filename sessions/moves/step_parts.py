"""What turns about one value share with those about a score: the step that is asked about, its items, its orders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Final

from wardround.patients import knowledge
from wardround.patients.knowledge import Names, Step
from wardround.rubrics import (
    AdviceCheck,
    AnyOf,
    AvoidsCheck,
    Check,
    Item,
    MentionCheck,
    Text,
)
from wardround.sessions.decisions.decision import Decision
from wardround.sessions.decisions.tables import table_of
from wardround.sessions.record import plain

from .move import Case, Entity, Move
from .parts import capital, chart_call, item, recommended
from .writes import PRIORITIES, prescribe, request_also, request_risk, write_items

_AGAIN: Final = ("repeat", "recheck", "复查")
_PRODUCTS: Final = frozenset({"transfusion", "platelet_transfusion", "cryoprecipitate"})
"""What is ordered as a service and given to the patient."""
_EMERGENCY: Final = 2
"""Severity of the bands at which waiting does harm (`patients/knowledge/data/decisions.json`)."""


def step_entity(step: Step, *, alone: bool = False) -> Entity:
    """Return the step as a query names it.

    Args:
        step: Of a table.
        alone: The query names nothing else ("an early repeat potassium"), else the subject too ("an early repeat").
    """
    if not alone or step.order is None or step.order.service is None:
        return Entity("step", step.id, step.names if alone else step.asked or step.names)
    return Entity("step", step.id, Names(en=step.names.en, zh=step.order.service.zh))


# -- items -------------------------------------------------------------------------------------------------------------


def step_advice_item(decision: Decision, rests_on: Iterable[str]) -> Item:
    """Return the item that the right thing is recommended: the step, or that it is not needed.

    "No transfusion" turns a transfusion down as "a transfusion is not needed" does, though only the latter is read as
    advice; it stands for itself only beside a value that was looked up and read, which the item rests on.
    """
    checks: list[Check] = [AdviceCheck(act=act, target=target) for act, target in decision.accepted]
    if decision.act == "continue" and all(act == "avoid" for act, _ in decision.accepted):
        targets = [target for _, target in decision.accepted]
        # "no repeat needed": the lab was named in the query and in the sentence before
        targets += _AGAIN if table_of(decision).step.act == "recheck" else ()
        checks.extend(MentionCheck(concept=target, polarity="absent") for target in targets)
    return recommended(decision, checks, rests_on)


def is_danger(decision: Decision) -> bool:
    """Tell whether the opposite of what is right does harm: a treatment given or left out, or help in an emergency.

    A test, a referral or a repeat too many or too few is a choice and no danger.
    """
    step = table_of(decision).step
    found = knowledge.lexicon().resolve(step.target)
    if step.act == "start" or step.danger is not None or (found is not None and found.id in _PRODUCTS):
        return True
    return decision.act != "continue" and decision.severity >= _EMERGENCY


def step_danger_item(case: Case, decision: Decision) -> Item:
    """Return the item that the opposite is not advised, a safety item where that does harm."""
    act, target = decision.avoid
    step = table_of(decision).step
    if target == step.target:
        zh = f"没有建议{step.names.zh}" if act != "avoid" else f"没有说不需要{step.names.zh}"
        en = f"Does not advise {step.names.en}" if act != "avoid" else f"Does not advise against {step.names.en}"
    else:
        found = knowledge.lexicon().resolve(target)
        words = case.common.act_words[act]
        en, zh = f"Does not advise to {words.en} {target}", f"没有建议{words.zh}{found.name.zh if found else target}"
    safety = is_danger(decision)
    name = "no-danger" if safety else "not-opposite"
    return item(name, f"{en}.", f"{zh}。", AvoidsCheck(act=act, target=target), safety=safety)


def advice_words(decision: Decision) -> Names:
    """Return the advice as a sentence without full stop."""
    return Names(en=capital(decision.advice.en), zh=decision.advice.zh)


# -- writes ------------------------------------------------------------------------------------------------------------


def step_writes(case: Case, decision: Decision) -> Iterator[Move]:
    """Yield the order that carries a decision out; none where nothing is to be done or it goes on as ordered."""
    order = table_of(decision).step.order
    if decision.unchanged or order is None:
        return
    if order.service is not None:
        yield order_step(case, decision)
    else:
        yield from _drug(case, decision)


def order_step(case: Case, decision: Decision) -> Move:
    """Return the turn that orders a test, a procedure or a consult."""
    step = table_of(decision).step
    order = step.order
    assert order is not None and order.service is not None
    service, words = order.service, PRIORITIES[order.priority]
    arguments = {"service_type": service.en, "priority": order.priority}
    forbid, danger = request_risk(order.priority, service, decision)
    advised = (AdviceCheck(act="order", target=step.target), AdviceCheck(act="refer", target=step.target))
    return Move(
        kind="order_step",
        task="WU",
        source="write",
        topic=f"{step.id}:order",
        calls=(chart_call(case, "ServiceRequest.create", **arguments),),
        answer=Text(en=f"Ordered {service.en}, {words.en} priority.", zh=f"已开{service.zh}，{words.zh}。"),
        rubric=write_items(
            "ServiceRequest.create",
            arguments,
            forbid=forbid,
            danger=danger,
            also=request_also(case, table_of(decision).subject if step.act == "recheck" else "", order.priority),
            confirm=AnyOf(checks=(*advised, MentionCheck(concept=step.target))),
        ),
        slots={"step": step_entity(step, alone=True)},
        words={"priority": words},
        decision=decision,
    )


def _drug(case: Case, decision: Decision) -> Iterator[Move]:
    order = table_of(decision).step.order
    assert order is not None and order.drug is not None and order.frequency is not None
    drug, amount = knowledge.drugs()[order.drug], knowledge.dose_amount(order.dose)
    route = order.route.casefold()
    said, value = case.common.routes.words.get(route), case.common.routes.values.get(route)
    if amount is None or said is None or value is None:
        return
    number, _, unit = order.dose.partition(" ")
    name = Names(en=drug.name.en[:1].lower() + drug.name.en[1:], zh=drug.name.zh)
    arguments = {
        "medication": name.en,
        "dose": order.dose,
        "route": value,
        "frequency": order.frequency.en,
    }
    yield prescribe(
        case,
        Entity("drug", drug.id, case.casual.get(drug.id, name)),
        name,
        arguments,
        (said, order.frequency),
        f"{plain(Decimal(number) * 2)} {unit}",
        decision,
    )


__all__ = [
    "advice_words",
    "is_danger",
    "order_step",
    "step_advice_item",
    "step_danger_item",
    "step_entity",
    "step_writes",
]
