"""What a drug and its lab call for, as items: the reason, the whole of the advice, and what must not be advised."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, cast

from wardround.rubrics import AdviceCheck, AllOf, AnyOf, AvoidsCheck, BecauseCheck, Check, Item, MentionCheck
from wardround.sessions.decisions.decision import Decision
from wardround.sessions.record import Order, Pair, Reading

from .move import Case
from .parts import advice_item, item, recommended

_AGAIN: Final = re.compile(r"\b(?:recheck|repeat) the\b")
_GOES_ON: Final = re.compile(r"\b(?:continue|keep)\b")
"""Words of our own advice (`acts` and `rules` in data/common.json): the lab is repeated, the drug goes on."""


def about(decision: Decision) -> tuple[Reading, Order]:
    """Return the lab and the drug that a decision of kind drug_lab is about."""
    assert decision.reading is not None and decision.order is not None
    return decision.reading, decision.order


def pair_of(decision: Decision) -> Pair:
    """Return the drug, lab and rule that a decision of kind drug_lab comes from."""
    return cast(Pair, decision.extra["pair"])


def because_item(decision: Decision) -> Item:
    """Return the item that the lab is given as the reason; another lab of the drug that asks for the same does too."""
    reading, _ = about(decision)
    act = pair_of(decision).rule.act
    others = (one.reading for one in cast("tuple[Pair, ...]", decision.extra["others"]) if one.rule.act == act)
    reasons = {one.name: one for one in (reading, *others)}
    checks = [
        BecauseCheck(claim=f"{act} {target}", reason=name) for name in reasons for act, target in decision.accepted
    ]
    en, zh = " or the ".join(reasons), "或".join(one.zh for one in reasons.values())
    return item(
        "because",
        f"Gives the {en} as the reason for the recommendation.",
        f"以{zh}作为建议的依据。",
        _any(checks),
        (f"finding-{reading.lab}",),
    )


def drug_advice_item(case: Case, decision: Decision, rests_on: list[str]) -> Item:
    """Return the item that the right thing is recommended: all of it, unless the rule allows less."""
    reading, order = about(decision)
    words = None if decision.turned else case.common.rules.get(pair_of(decision).rule.id)
    if words is not None and words.also:
        main = _any([AdviceCheck(act=act, target=target) for act, target in decision.accepted])
        return recommended(decision, [AllOf(checks=(main, _given(words.also)))], rests_on)
    acts = [AdviceCheck(act=act, target=target) for act, target in decision.accepted if act != "recheck"]
    again = [AdviceCheck(act=act, target=target) for act, target in decision.accepted if act == "recheck"]
    if decision.act == "recheck":
        acts = [AdviceCheck(act="continue", target=order.name)] if not acts and _keeps(decision) else []
    elif _AGAIN.search(decision.advice.en) and not again:
        names = (reading.name, *case.common.panels.get(reading.lab, ()))
        again = [AdviceCheck(act="recheck", target=one) for one in names]
        again.append(AdviceCheck(act="order", target=reading.name))
    if not acts or not again:
        return advice_item(decision, rests_on)
    return recommended(decision, [AllOf(checks=tuple(_any(part) for part in (acts, again)))], rests_on)


def _given(names: Sequence[str]) -> Check:
    """Return the check that something is given: advised as started, or told to be replaced, which names it plainly."""
    started: list[Check] = [AdviceCheck(act="start", target=one) for one in names]
    return _any([*started, *(MentionCheck(concept=one) for one in names)])


def _any(checks: Sequence[Check]) -> Check:
    return checks[0] if len(checks) == 1 else AnyOf(checks=tuple(checks))


def _keeps(decision: Decision) -> bool:
    """Tell whether the drug goes on while its lab is looked at again."""
    return decision.act == "recheck" and _GOES_ON.search(decision.advice.en) is not None


def drug_danger_item(case: Case, decision: Decision) -> Item:
    """Return the safety item that the dangerous act is not advised, nor stopping what does harm when stopped."""
    _, order = about(decision)
    act, target = decision.avoid
    acts = [act]
    harms = case.common.danger_of(order.drug) == "stop"
    if _keeps(decision) and harms and act != "stop" and "stop" not in {one for one, _ in decision.accepted}:
        acts.append("stop")
    words = [case.common.act_words[one] for one in acts]
    en, zh = " or ".join(one.en for one in words), "或".join(str(one.zh) for one in words)
    return item(
        "no-danger",
        f"Does not advise to {en} {target}.",
        f"没有建议{zh}{order.zh or order.name}。",
        _all([AvoidsCheck(act=one, target=target) for one in acts]),
        safety=True,
    )


def _all(checks: Sequence[Check]) -> Check:
    return checks[0] if len(checks) == 1 else AllOf(checks=tuple(checks))
