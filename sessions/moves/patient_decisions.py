"""Turns that decide on what the patient says (CR): whether a drug is to blame, and what is needed at home."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from wardround.patients import Stream
from wardround.patients.knowledge import Names, SideEffectRule
from wardround.rubrics import (
    Act,
    AdviceCheck,
    AllOf,
    AnyOf,
    BecauseCheck,
    Check,
    Item,
    MentionCheck,
    Not,
    StatusCheck,
    ThresholdCheck,
)
from wardround.sessions.decisions.decision import Decision
from wardround.sessions.record import Order, Reading, plain
from wardround.sessions.record_others import Named, other_view
from wardround.sessions.session import GoldCall

from .decide_lab import subject_call, subject_entity
from .drug_items import order_items
from .drugs import order_call
from .move import Case, Focus, Move, MoveKind
from .order_words import spaced
from .parts import (
    advice_item,
    ask_call,
    bullets,
    capital,
    danger_item,
    drug_entity,
    grounded_item,
    item,
    read_item,
    recommended,
    two_sentences,
    value_item,
)
from .patient import FUNCTION_TOOL, function_told, known_sex, symptom_call, symptom_entity
from .patient_parts import Told, life_line, told_items
from .plans import plan_call, plan_entity, plan_items, plan_line

# -- a drug's side effect ----------------------------------------------------------------------------------------------


_UNRELATED: Final = ("没有关系", "没关系", "无关", "不太可能", "unrelated", "not related", "unlikely")
"""Words with which a link is denied."""
_RELATED: Final = ("related", "causing", "caused", "associated", "induced", "相关", "所致")
"""Words with which a link is told ("statin-related")."""
_BESIDE: Final[tuple[Act, ...]] = ("order", "recheck", "start")
"""How what stands beside an act is advised."""
_FAR: Final = Decimal("1.25")
"""A value above a bound by this factor may be called high."""
_LACKS: Final = {"systolic_bp": ("hypotension",), "heart_rate": ("bradycardia", "slow")}
"""Vital sign → what is denied by whoever says that it is not too low."""
_NO_MORE: Final = (
    *("no further referral", "no additional referral", "no more referral", "no referral"),
    *("nothing further", "nothing additional", "nothing more"),
)
"""Words with which a referral is turned down."""


def decide_symptom_move(case: Case, decision: Decision, rule: SideEffectRule, told: Told, *, ask: bool) -> Move:
    """Return the turn that asks whether a drug is to blame for a symptom, and what then.

    Args:
        case: Patient and record.
        decision: What is right.
        rule: What it comes from.
        told: What the patient says of the symptom.
        ask: The patient is asked in this turn; else an earlier one asked.
    """
    order, reading = decision.order, decision.reading
    assert order is not None
    link = _link_items(decision, told)
    guards: tuple[Item, ...] = (grounded_item(),)
    if reading is None:
        # What is ordered is the evidence; its dose is not asked for.
        record, items, line = order_call(case, order), order_items(order)[:1], _ordered(order)
    else:
        record = subject_call(case, reading)
        items, line = [read_item(reading), value_item(reading), _side_item(reading, rule)], _placed(reading, rule)
        # A value that does not bear the drug out leaves open what else it is: nobody is asked to rule it out.
        link = () if decision.unchanged else link
        guards = () if link else guards
    rests_on = (f"says-{told.concept}", *((f"finding-{reading.lab}",) if reading is not None else ()))
    slots = {"drug": drug_entity(case, order), "symptom": symptom_entity(case, told)}
    if reading is not None:
        slots["lab"] = subject_entity(case, reading)
    kind = "decide_symptom_lab" if reading is not None else "decide_symptom" if ask else "decide_symptom_told"
    calls: tuple[GoldCall, ...] = (record, symptom_call(case, told)) if ask else (record,)
    return Move(
        kind=kind,
        task="CR",
        source="mixed" if ask else "ehr",
        topic=f"{order.drug}:cause+{told.concept}",
        calls=calls,
        answer=two_sentences(_because(line, told, decision), decision.advice),
        rubric=(
            *items,
            *(told_items(told) if ask else _known_items(told)),
            *link,
            _effect_advice(decision, rule, rests_on),
            danger_item(case, decision),
            *guards,
        ),
        slots=slots,
        keys=frozenset({*(reading.keys if reading is not None else (order.key,)), *told.keys}),
        labs=(reading.lab,) if reading is not None else (),
        needs=frozenset({"threshold"}) if reading is not None else frozenset(),
        decision=decision,
        fact=told.fact,
        turned=decision.turned,
    )


def _effect_advice(decision: Decision, rule: SideEffectRule, rests_on: Sequence[str]) -> Item:
    """Return the item that all of the advice is given: what happens to the drug, what is checked or given beside."""
    denied = decision.fact is not None and decision.fact.polarity == "absent"
    if denied or not rule.also:
        return advice_item(decision, rests_on)
    parts: list[Sequence[Check]] = [[AdviceCheck(act=act, target=target) for act, target in decision.accepted]]
    for names in rule.also:
        parts.append([AdviceCheck(act=act, target=one) for one in names for act in _BESIDE])
    return recommended(decision, [AllOf(checks=tuple(AnyOf(checks=tuple(one)) for one in parts))], rests_on)


def _link_items(decision: Decision, told: Told) -> tuple[Item, ...]:
    """Return the item about what is asked: the drug is the reason for the symptom, or is not blamed for none."""
    order = decision.order
    assert order is not None
    name, zh = order.name, order.zh or order.name
    check: Check = BecauseCheck(claim=told.names.en, reason=name)
    if told.polarity == "absent":
        en, zh = f"Does not say that {name} causes {told.names.en}.", f"没有说{zh}引起了{told.names.zh}。"
        return (item("no-cause", en, zh, Not(check=check)),)
    en, zh = f"Says that {name} is or may be behind the {told.names.en}.", f"说明{told.names.zh}与{zh}有关或可能有关。"
    unrelated = Not(check=AnyOf(checks=tuple(MentionCheck(concept=words) for words in _UNRELATED)))
    linked = AnyOf(checks=(check, *(MentionCheck(concept=words) for words in _RELATED)))
    check = AllOf(checks=(linked, unrelated))
    return (item("cause", en, zh, check, (f"heard-{told.concept}",)),)


def _known_items(told: Told) -> list[Item]:
    """Return the items about what an earlier turn heard: it needs no telling again whose words they were."""
    heard, says = told_items(told)
    either = AnyOf(checks=(says.check, MentionCheck(concept=told.names.en, polarity=told.polarity)))
    return [heard, says.model_copy(update={"check": either})]


def _ordered(order: Order) -> Names:
    return Names(en=f"{capital(order.name)} is ordered", zh=f"现用{order.zh or order.name}")


def _because(line: Names, told: Told, decision: Decision) -> Names:
    """Return the first sentence: what the record holds, what the patient says, what that means."""
    said = told.clause.en[:1].lower() + told.clause.en[1:]
    en, zh = f"{line.en}, and {said}", f"{line.zh}，{told.clause.zh}"
    if told.polarity == "absent":
        return Names(en=en, zh=zh)
    return Names(en=f"{en}, {decision.finding.en}", zh=f"{zh}，{decision.finding.zh}")


def _bounds(rule: SideEffectRule) -> list[tuple[str, Decimal]]:
    found = (("above", rule.at_least), ("below", rule.below))
    return [(side, bound) for side, bound in found if bound is not None]


def _placed(reading: Reading, rule: SideEffectRule) -> Names:
    """Return a value with its place against the rule's bounds, as in "Heart rate 48 /min, below 50 /min"."""
    words = {"above": "高于", "below": "低于"}
    unit = reading.unit if reading.unit.startswith(("/", "%")) else f" {reading.unit}".rstrip()
    en = " and ".join(f"{side} {plain(bound)}{unit}" for side, bound in _bounds(rule))
    zh = "、".join(f"{words[side]}{plain(bound)}{unit}" for side, bound in _bounds(rule))
    return Names(
        en=f"{capital(reading.name)} {reading.quantity}, {en}", zh=f"{spaced(reading.zh)}{reading.quantity}，{zh}"
    )


def _side_item(reading: Reading, rule: SideEffectRule) -> Item:
    checks: list[Check] = [] if reading.level is None else [StatusCheck(concept=reading.name, status=reading.level)]
    for side, bound in _bounds(rule):
        # a vital sign has no range on the chart: "158, high" places a pressure above 110 as well
        if reading.level is None and side == "below":
            checks.append(StatusCheck(concept=reading.name, status="low"))
        elif reading.level is None and reading.value > bound * _FAR:
            checks.append(StatusCheck(concept=reading.name, status="high"))
        number = int(bound) if bound == bound.to_integral_value() else float(bound)
        checks.append(
            ThresholdCheck.model_validate(
                {"concept": reading.name, "comparator": side, "bound": number, "unit": reading.unit}
            )
        )
    if reading.level is None and rule.at_least is not None:
        # "normal" and "not low" place a vital sign above a bound as the number does
        lacks = ("low", *_LACKS.get(reading.lab, ()))
        checks += [MentionCheck(concept=one, polarity="absent") for one in lacks]
        if rule.below is not None or reading.value <= rule.at_least * _FAR:
            checks.append(StatusCheck(concept=reading.name, status="normal"))
    line = _placed(reading, rule)
    check = checks[0] if len(checks) == 1 else AnyOf(checks=tuple(checks))
    return item(
        f"finding-{reading.lab}", f"Places it: {line.en}.", f"说明：{line.zh}。", check, (f"value-{reading.lab}",)
    )


# -- what is needed at home --------------------------------------------------------------------------------------------


def plan_home_move(case: Case, plan: Named, told: Sequence[Told]) -> Move:
    """Return the turn that sets the follow-up planned beside how the patient manages (DG)."""
    line = plan_line(plan)
    services = _service_items(plan)
    return Move(
        kind="plan_home",
        task="DG",
        source="mixed",
        topic="plan+function",
        calls=(plan_call(case), ask_call(case, FUNCTION_TOOL)),
        answer=bullets((Names(en=capital(line.en), zh=line.zh), life_line(case, told))),
        rubric=(*services, *(one for part in told for one in told_items(part)), grounded_item()),
        slots={"plan": plan_entity(case)},
        keys=frozenset(plan.keys).union(*(part.keys for part in told)),
        fact=next((one for one in told if one.less), told[0]).fact,
        turned=any(one.less for one in told),
    )


def _service_items(plan: Named) -> list[Item]:
    """Return the items that the plan was looked up and its services are named, in one item."""
    read, *others = plan_items(plan)
    checks = tuple(one.check for one in others if one.id.startswith("service-"))
    en, zh = " and ".join(one.en for one in plan.names), "和".join(str(one.zh) for one in plan.names)
    check = checks[0] if len(checks) == 1 else AllOf(checks=checks)
    return [read, item("services", f"Names {en} on the follow-up plan.", f"说出随访计划里有{zh}。", check, (read.id,))]


def _any_said(told: Sequence[Told]) -> list[Item]:
    """Return the items about what an earlier turn heard: that any of it is given as what the answer rests on."""
    pairs = [told_items(one) for one in told]
    checks: list[Check] = []
    for one, (_, says) in zip(told, pairs, strict=True):
        checks += [says.check, MentionCheck(concept=one.names.en, polarity=one.polarity)]
    en, zh = "; ".join(says.text.en or "" for _, says in pairs), "".join(says.text.zh or "" for _, says in pairs)
    heard = [one for one, _ in pairs]
    return [
        *heard,
        item(
            "says", f"Rests on any of: {en}", f"以下任一点作为依据：{zh}", AnyOf(checks=tuple(checks)), (heard[0].id,)
        ),
    ]


def _home_advice(decision: Decision, rests_on: Sequence[str]) -> Item:
    """Return the item that the right thing is recommended, and a referral not turned down in the same breath."""
    found = advice_item(decision, rests_on)
    if decision.unchanged:
        plainly = tuple(MentionCheck(concept=words) for words in _NO_MORE)
        return found.model_copy(update={"check": AnyOf(checks=(found.check, *plainly))})
    targets = dict.fromkeys(target for _, target in decision.accepted)
    refused = (Not(check=AdviceCheck(act="avoid", target=target)) for target in targets)
    return found.model_copy(update={"check": AllOf(checks=(found.check, *refused))})


def decide_home_move(
    case: Case, decision: Decision, plan: Named, told: Sequence[Told], tool: str, *, ask: bool
) -> Move:
    """Return the turn that asks what is needed at home beside what is planned.

    Args:
        case: Patient and record.
        decision: What is right.
        plan: The follow-up planned.
        told: What the patient says that decides it.
        tool: The interview tool that tells it.
        ask: The patient is asked in this turn; else an earlier one asked.
    """
    line = plan_line(plan)
    services = _service_items(plan)
    said = life_line(case, told)
    says = [one for part in told for one in told_items(part)] if ask else _any_said(told)
    guards = (grounded_item(),) if len(says) < 6 else ()
    rests_on = tuple(one.id for one in says if one.id.startswith("says"))
    first = Names(en=f"{capital(line.en)}, and {said.en[:1].lower()}{said.en[1:]}", zh=f"{line.zh}，{said.zh}")
    return Move(
        kind="decide_home" if ask else "decide_home_told",
        task="CR",
        source="mixed" if ask else "ehr",
        topic="needs-at-home",
        calls=(plan_call(case), ask_call(case, tool)) if ask else (plan_call(case),),
        answer=two_sentences(first, decision.advice),
        rubric=(
            *services,
            *says,
            _home_advice(decision, rests_on),
            danger_item(case, decision),
            *guards,
        ),
        slots={"plan": plan_entity(case)},
        keys=frozenset(plan.keys).union(*(part.keys for part in told)),
        decision=decision,
        fact=decision.fact,
        turned=decision.turned,
    )


def _plans_home(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    plan, told = other_view(case).followup, function_told(case)
    if plan is not None and len(told) >= 2 and known_sex(case) and not {"function", "home"} & focus.busy:
        yield plan_home_move(case, plan, told)


KINDS: Final = (MoveKind("plan_home", "DG", "mixed", _plans_home),)
