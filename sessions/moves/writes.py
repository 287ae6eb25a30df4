"""Turns that write (WU): an order, a repeat lab, a safety flag; the builders serve other modules too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Final, Literal

from wardround.patients import knowledge
from wardround.patients.knowledge import Names
from wardround.rubrics import (
    Act,
    AdviceCheck,
    AnyOf,
    Check,
    Forbid,
    Item,
    MentionCheck,
    OnlyWriteCheck,
    OrderCheck,
    Text,
)
from wardround.sessions.decisions.decision import Decision
from wardround.sessions.record import Order, Reading, plain

from .move import Case, Entity, Move
from .order_words import dose_words, spaced
from .parts import capital, chart_call, drug_entity, item, lab_entity

_FIELDS: Final[dict[str, dict[str, str]]] = {
    "MedicationRequest.create": {
        "medication": "medication",
        "dose": "dose",
        "route": "route",
        "frequency": "frequency",
    },
    "ServiceRequest.create": {"service_type": "service", "priority": "priority"},
    "Flag.create": {"category": "category", "code": "detail"},
}
"""Tool argument → grading name of the field it is judged under."""
_FIELD_WORDS: Final = {
    "medication": "药物",
    "dose": "剂量",
    "route": "途径",
    "frequency": "频次",
    "service": "项目",
    "priority": "优先级",
    "category": "类别",
    "detail": "内容",
}
_FLAGGED: Final[tuple[Act, ...]] = ("hold", "stop")
DISCHARGE: Final = "discharge-planning"
_ACTS: Final[dict[str, Names]] = {
    "order": Names(en="order", zh="开"),
    "renew": Names(en="renew", zh="续开"),
    "change": Names(en="adjust", zh="调整"),
}
_DONE: Final[dict[str, Names]] = {
    "order": Names(en="Ordered {drug} {dose}", zh="已开{drug}{dose}"),
    "renew": Names(en="Renewed {drug} {dose}", zh="已续开{drug}{dose}"),
    "change": Names(en="Changed {drug} to {dose}", zh="已将{drug}改为{dose}"),
}
PRIORITIES: Final[dict[str, Names]] = {
    "routine": Names(en="routine", zh="常规"),
    "urgent": Names(en="urgent", zh="加急"),
    "asap": Names(en="as soon as possible", zh="尽快"),
}


# -- builders ----------------------------------------------------------------------------------------------------------


def write_items(
    tool: str,
    arguments: Mapping[str, str],
    *,
    forbid: Forbid,
    danger: Names,
    confirm: Check,
    rests_on: Iterable[str] = (),
    also: Mapping[str, Iterable[str]] = MappingProxyType({}),
) -> tuple[Item, ...]:
    """Return the items of a write: one a field, one negative safety item, nothing else written, and the confirmation.

    Args:
        tool: The tool that writes.
        arguments: Of the gold call, without the patient.
        forbid: What must not be true of the write.
        danger: The safety item's sentence, with full stop.
        confirm: What the answer must say.
        rests_on: Items that the write itself rests on (a value that decides the dose).
        also: Argument → values that are as right: the panel that holds a test, "asap" for what is urgent.
    """
    items: list[Item] = []
    lead: tuple[str, ...] = tuple(rests_on)
    fixed = len(lead)
    for argument, name in _FIELDS[tool].items():
        right = (arguments[argument], *also.get(argument, ()))
        checks = tuple(OrderCheck(tool=tool, fields={name: one}) for one in right)
        check: Check = checks[0] if len(checks) == 1 else AnyOf(checks=checks)
        zh = f"写入的{_FIELD_WORDS[name]}为{arguments[argument]}。"
        items.append(item(name, f"Writes {tool} with {name} {arguments[argument]}.", zh, check, lead))
        # an order of the wrong drug or dose is a wrong order, whatever its other fields say
        if len(lead) < fixed + 2:
            lead = (*lead, name)
    items.append(item("safety", danger.en, str(danger.zh), OrderCheck(tool=tool, forbid=forbid), lead, safety=True))
    items.append(item("only-write", "Writes nothing else.", "没有写入其他内容。", OnlyWriteCheck()))
    items.append(
        item("confirms", "Confirms to the physician what was written.", "向医生确认已写入的内容。", confirm, lead)
    )
    return tuple(items)


def request_risk(priority: str, name: Names, decision: Decision | None) -> tuple[Forbid, Names]:
    """Return what a request must not be, and the safety item's sentence: too late, or with word of stopping.

    Args:
        priority: "routine", "urgent" or "asap".
        name: Of the test or service.
        decision: What it carries out.
    """
    if priority != "routine":
        return Forbid(priority="routine"), Names(
            en="Does not leave it for routine, which would be too late.", zh="没有按常规开单而延误。"
        )
    order = None if decision is None else decision.order
    if order is not None:
        stopped = Names(
            en=f"Does not write that {order.name} is stopped.", zh=f"没有写成停用{order.zh or order.name}。"
        )
        return Forbid(text_mentions=f"stop {order.name}"), stopped
    gone = Names(en=f"Does not write that no more {name.en} is needed.", zh=f"没有写成不再需要{name.zh or name.en}。")
    return Forbid(text_mentions=f"no more {name.en}"), gone


def _written(case: Case, drug: Entity, dose: str) -> tuple[Names, Names]:
    """Return how an order is asked for and confirmed: a drug that is ordered already is renewed or changed."""
    order = case.view.orders.get(drug.id)
    key = "order" if order is None else "renew" if order.dose == dose else "change"
    return _ACTS[key], _DONE[key]


def prescribe(
    case: Case,
    drug: Entity,
    name: Names,
    arguments: Mapping[str, str],
    say: tuple[Names, Names],
    forbidden: str,
    decision: Decision | None = None,
) -> Move:
    """Return the turn that orders a drug.

    Args:
        case: Patient and record.
        drug: What the query names.
        name: The drug's own names.
        arguments: medication, dose, route, frequency of the gold call.
        say: Route and frequency as the physician says them.
        forbidden: A dose that must not be reached, as "10 mg".
        decision: What it carries out.
    """
    route, often = say
    dose = dose_words(arguments["dose"])
    zh = name.zh or name.en
    act, done = _written(case, drug, arguments["dose"])
    return Move(
        kind="prescribe",
        task="WU",
        source="write",
        topic=f"{drug.id}:prescribe",
        calls=(chart_call(case, "MedicationRequest.create", **arguments),),
        answer=Text(
            en=f"{done.en.format(drug=name.en, dose=dose.en)} {route.en} {often.en}.",
            zh=f"{str(done.zh).format(drug=spaced(zh), dose=dose.zh)}，{route.zh}，{often.zh}。",
        ),
        rubric=write_items(
            "MedicationRequest.create",
            arguments,
            forbid=Forbid(dose_at_least=forbidden),
            danger=Names(
                en=f"Does not order {forbidden} or more per dose.",
                zh=f"没有开单次{dose_words(forbidden).zh}或以上的剂量。",
            ),
            confirm=MentionCheck(concept=name.en),
        ),
        slots={"drug": drug},
        words={"act": act, "dose": dose, "route": route, "frequency": often},
        decision=decision,
    )


def recheck(case: Case, reading: Reading, priority: str, decision: Decision | None = None) -> Move:
    """Return the turn that orders a repeat of a lab, "routine" or "urgent"."""
    arguments = {"service_type": reading.name, "priority": priority}
    words, (forbid, danger) = PRIORITIES[priority], request_risk(priority, reading.names, decision)
    targets = (AdviceCheck(act="recheck", target=reading.name), AdviceCheck(act="order", target=reading.name))
    return Move(
        kind="recheck",
        task="WU",
        source="write",
        topic=f"{reading.lab}:recheck",
        calls=(chart_call(case, "ServiceRequest.create", **arguments),),
        answer=Text(
            en=f"Ordered a repeat {reading.name}, {words.en} priority.", zh=f"已开{reading.zh}复查，{words.zh}。"
        ),
        rubric=write_items(
            "ServiceRequest.create",
            arguments,
            forbid=forbid,
            danger=danger,
            also=request_also(case, reading.lab, priority),
            confirm=AnyOf(checks=(*targets, MentionCheck(concept=reading.name))),
        ),
        slots={"lab": lab_entity(case, reading)},
        words={"priority": words},
        decision=decision,
    )


def request_also(case: Case, lab: str, priority: str) -> dict[str, tuple[str, ...]]:
    """Return what counts as well in a request: a panel that holds the test; "urgent" and "asap" alike."""
    soon = () if priority == "routine" else tuple(one for one in ("urgent", "asap") if one != priority)
    return {"service_type": case.common.panels.get(lab, ()), "priority": soon}


def flag(case: Case, order: Order, act: Literal["hold", "stop"], decision: Decision | None = None) -> Move:
    """Return the turn that puts a safety flag on the chart: "hold" or "stop" a drug."""
    name, zh, words = order.name, order.zh or order.name, case.common.act_words[act]
    arguments = {"category": "safety", "code": f"{act} {name}", "detail": f"{capital(words.en)} {name}."}
    accepted = tuple(AdviceCheck(act=one, target=name) for one in _FLAGGED)
    return Move(
        kind="flag",
        task="WU",
        source="write",
        topic=f"{order.drug}:flag",
        calls=(chart_call(case, "Flag.create", **arguments),),
        answer=Text(en=f"Safety flag recorded: {words.en} {name}.", zh=f"已加安全警示：{words.zh}{zh}。"),
        rubric=write_items(
            "Flag.create",
            arguments,
            forbid=Forbid(text_mentions=f"increase the dose of {name}"),
            danger=Names(en=f"Does not write to increase the dose of {name}.", zh=f"没有写成{zh}加量。"),
            confirm=AnyOf(checks=accepted),
        ),
        slots={"drug": drug_entity(case, order)},
        words={"act": words},
        decision=decision,
    )


def flag_watch(case: Case, reading: Reading, order: Order, decision: Decision | None = None) -> Move:
    """Return the turn that puts a safety flag on the chart: a lab is to be watched on a drug."""
    name, zh = order.name, order.zh or order.name
    say = f"watch the {reading.name} on {name}"
    arguments = {"category": "safety", "code": f"watch {reading.name}", "detail": f"{capital(say)}."}
    wanted = arguments | {"code": f"watch {reading.name} on {name}"}
    return Move(
        kind="flag_watch",
        task="WU",
        source="write",
        topic=f"{order.drug}:flag",
        calls=(chart_call(case, "Flag.create", **arguments),),
        answer=Text(
            en=f"Safety flag recorded: {say}.",
            zh=f"已加安全警示：用{spaced(zh)}期间监测{reading.zh}。",
        ),
        rubric=write_items(
            "Flag.create",
            wanted,
            forbid=Forbid(text_mentions=f"stop {name}"),
            danger=Names(en=f"Does not write that {name} is stopped.", zh=f"没有写成停用{zh}。"),
            confirm=AnyOf(
                checks=(
                    AdviceCheck(act="recheck", target=reading.name),
                    MentionCheck(concept=reading.name),
                    MentionCheck(concept=name),
                )
            ),
        ),
        slots={"lab": lab_entity(case, reading), "drug": drug_entity(case, order)},
        decision=decision,
    )


# -- what carries a decision out ---------------------------------------------------------------------------------------


def decision_writes(case: Case, decision: Decision) -> Iterator[Move]:
    """Yield the writes that carry a decision of kind drug_lab out, the most fitting first."""
    reading, order = decision.reading, decision.order
    assert reading is not None and order is not None
    rule = case.common.acts[decision.act]
    if decision.act == "hold":
        yield flag(case, order, "hold", decision)
    if decision.act in {"stop", "switch", "swap"}:
        yield flag(case, order, "stop", decision)
    watched = decision.act != "continue" or not order.as_needed
    if watched and decision.act in {"continue", "reduce", "increase", "recheck", "resume", "restart"}:
        yield flag_watch(case, reading, order, decision)
    # Within the stay the order is there already; at discharge it is written anew.
    renewed = case.scenario == DISCHARGE and decision.act in {"continue", "restart", "resume", "same-dose"}
    if renewed and order.amount is not None:
        yield from _ordered(case, decision, order.amount, 2 * order.amount)
    if decision.act in {"reduce", "ease"} and order.amount is not None:
        lower = lower_dose(case, order)
        if lower is not None:
            yield from _ordered(case, decision, lower, order.amount)
    yield recheck(case, reading, _priority(case, decision) or rule.priority, decision)


def _priority(case: Case, decision: Decision) -> str | None:
    """Return how soon the lab is repeated by the decision's own rule; None where it does not say."""
    words = None if decision.turned else case.common.rules.get(decision.rules[0])
    return None if words is None else words.priority


def _ordered(case: Case, decision: Decision, amount: Decimal, forbidden: Decimal) -> Iterator[Move]:
    """Yield the order at a dose; none where route or frequency are not such as orders are written with."""
    order = decision.order
    assert order is not None
    fields = order_fields(case, order, amount)
    if fields is None:
        return
    arguments, say = fields
    yield prescribe(
        case, drug_entity(case, order), order.names, arguments, say, f"{plain(forbidden)} {order.unit}", decision
    )


def order_fields(case: Case, order: Order, amount: Decimal) -> tuple[dict[str, str], tuple[Names, Names]] | None:
    """Return an order's arguments at another dose, and how route and frequency are said; None where it cannot be."""
    shared = case.common
    route, often = shared.routes.words.get(order.route), shared.frequencies.get(order.frequency.casefold())
    if route is None or often is None or order.route not in shared.routes.values or order.as_needed:
        return None
    if order.unit.casefold() not in shared.dose_units:
        return None
    arguments = {
        "medication": order.name,
        "dose": f"{plain(amount)} {order.unit}",
        "route": shared.routes.values[order.route],
        "frequency": often.en,
    }
    return arguments, (route, often)


def lower_dose(case: Case, order: Order) -> Decimal | None:
    """Return the next lower usual dose, not below a quarter, or half where the tablets allow it; None for none."""
    assert order.amount is not None
    usual = sorted((one for one in usual_doses(order) if one < order.amount), reverse=True)
    if usual and usual[0] * 4 >= order.amount:
        return usual[0]
    return order.amount / 2 if order.drug in case.common.halve else None


def usual_doses(order: Order) -> list[Decimal]:
    """Return the doses that the drug is usually given at by the order's route, in the order's unit, each once."""
    profile = knowledge.drug_profiles().get(order.drug)
    found = set()
    for rule in profile.doses if profile is not None else ():
        if rule.per_kg or rule.prn_for is not None or rule.route.casefold() != order.route or rule.from_age < 18:
            continue
        for text in (rule.dose, *rule.others):
            amount = knowledge.dose_amount(text)
            if amount is not None and amount.unit == order.unit:
                found.add(amount.value)
    return sorted(found)


__all__ = [
    "PRIORITIES",
    "decision_writes",
    "dose_words",
    "flag",
    "lower_dose",
    "order_fields",
    "prescribe",
    "recheck",
    "request_also",
    "request_risk",
    "usual_doses",
    "write_items",
]
