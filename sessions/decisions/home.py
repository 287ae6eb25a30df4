"""How the patient manages at home against the follow-up that is planned: what else is needed (data/home.json)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from wardround.patients import Stream, knowledge, load_data
from wardround.patients.knowledge import Names
from wardround.rubrics import Act
from wardround.sessions.moves.move import Case, Move
from wardround.sessions.moves.patient import (
    FUNCTION_TOOL,
    SOCIAL_TOOL,
    function_told,
    home_move,
    known_sex,
    life_move,
)
from wardround.sessions.moves.patient_decisions import decide_home_move, plan_home_move
from wardround.sessions.moves.patient_parts import Told, daily_life
from wardround.sessions.moves.patient_writes import flag_risk, refer
from wardround.sessions.moves.plans import plan_move
from wardround.sessions.record import casual
from wardround.sessions.record_others import Named, other_view

from .decision import Decision, DecisionKind, Hinge

KIND_ID: Final = "home"
_PLAN: Final = "discharge plan"
_REFERRAL: Final = ("referral", "further referral", "refer", "转介")
"""What is turned down where nothing is needed beside the plan, in words of either language."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class HomeRule(_Frozen):
    """What is right where some things are so."""

    id: str
    when: dict[str, str] = Field(min_length=1)
    """What it is about → concept; "no " before one that is denied."""
    act: Literal["refer", "continue"]
    service: str
    """What is referred to, or goes on."""
    accepted: tuple[str, ...]
    """Services: referring to any of them counts; of a rule by which nothing is needed, advising against one does."""
    say: Names
    finding: Names
    risk: Names | None = None
    """What a flag may say."""
    source: str | None = None
    assumption: bool = False

    def holds(self, told: dict[str, Told]) -> bool:
        """Tell whether all its facts were told."""
        return all(about in told and _key(told[about]) == wanted for about, wanted in self.when.items())


class _File(_Frozen):
    format_version: Literal[1]
    about: str
    rules: tuple[HomeRule, ...]


@lru_cache(maxsize=1)
def home_rules() -> tuple[HomeRule, ...]:
    """Return the rules, the first that holds first.

    Raises:
        DataError: The file is faulty; says field and fault.
    """
    return load_data("wardround.sessions", "data/home.json", _File).rules


def _key(told: Told) -> str:
    return told.concept if told.polarity == "present" else f"no {told.concept}"


def threads(case: Case, stream: Stream) -> Iterator[Decision]:
    """Yield what the patient needs at home; none without a follow-up plan, or where too little is told."""
    plan, told = other_view(case).followup, dict(daily_life(case))
    # without all three of function, a graver rule could be passed over
    if plan is None or not known_sex(case) or len(function_told(case)) < 3:
        return
    rule = next((one for one in home_rules() if one.holds(told)), None)
    if rule is None or set(rule.accepted) & set(plan.concepts):
        return
    facts = [told[about] for about in rule.when]
    if len({_tool(one) for one in facts}) > 1:
        # one question to the patient a turn: what only the other tool tells is taken from the functional status
        facts = [one for one in facts if _tool(one) == FUNCTION_TOOL]
    yield _decision(rule, facts, plan)


def _tool(told: Told) -> str:
    return FUNCTION_TOOL if told.fact.kind == "function" else SOCIAL_TOOL


def _decision(rule: HomeRule, facts: list[Told], plan: Named) -> Decision:
    main = facts[0]
    acts: tuple[tuple[Act, str], ...]
    if rule.act == "refer":
        acts = tuple(("refer", service_names(one).en) for one in rule.accepted)
    else:
        acts = (("continue", _PLAN), *(("avoid", one) for one in (*map(_english, rule.accepted), *_REFERRAL)))
    to = "absent" if main.polarity == "present" else "present"
    return Decision(
        kind=KIND_ID,
        rules=(rule.id,),
        subject=rule.id,
        act=rule.act,
        unchanged=rule.act == "continue",
        accepted=acts,
        avoid=("avoid", service_names(rule.service).en) if rule.act == "refer" else ("stop", _PLAN),
        finding=rule.finding,
        advice=rule.say,
        hinge=Hinge("state", tuple(sorted(main.keys)), to),
        fact=main.fact,
        turned=rule.act == "refer",
        severity=1 if rule.act == "refer" else 0,
        extra={"rule": rule, "told": tuple(facts), "plan": plan},
    )


def _english(service: str) -> str:
    return service_names(service).en


def service_names(service: str) -> Names:
    """Return what a service is called within a sentence."""
    known = knowledge.findings()[service]
    return Names(en=casual(known.name.en), zh=known.name.zh)


# -- moves -------------------------------------------------------------------------------------------------------------


def _parts(decision: Decision) -> tuple[HomeRule, tuple[Told, ...], Named]:
    rule, told, plan = decision.extra["rule"], decision.extra["told"], decision.extra["plan"]
    assert isinstance(rule, HomeRule) and isinstance(told, tuple) and isinstance(plan, Named)
    return rule, told, plan


def openings(case: Case, decision: Decision) -> Iterator[Move]:
    """Yield the openings: the follow-up plan, then how the patient manages."""
    yield plan_move(case, _parts(decision)[2])
    yield replace(life_move(case, "function", function_told(case)), turned=decision.turned)


def asks(case: Case, decision: Decision) -> Iterator[Move]:
    """Yield the turns in which the patient is asked: alone, beside life at home, beside the plan."""
    told, living = function_told(case), daily_life(case).get("living")
    yield replace(life_move(case, "function", told), turned=decision.turned)
    if living is not None:
        yield replace(home_move(case, told, living), turned=decision.turned)
    yield replace(plan_home_move(case, _parts(decision)[2], told), turned=decision.turned)


def decides(case: Case, decision: Decision, mixed: bool) -> Iterator[Move]:
    """Yield the turn that asks what is needed."""
    _, told, plan = _parts(decision)
    yield decide_home_move(case, decision, plan, told, _tool(told[0]), ask=mixed)


def writes(case: Case, decision: Decision) -> Iterator[Move]:
    """Yield the writes that carry it out: the referral, and the flag of a risk."""
    rule = _parts(decision)[0]
    if rule.act == "refer":
        yield refer(case, rule.service, service_names(rule.service), "routine", decision)
    if rule.risk is not None:
        never = Names(en=f"no {rule.risk.en}", zh=f"没有{rule.risk.zh}")
        yield flag_risk(case, "fall", rule.risk, never, decision)


KIND: Final = DecisionKind(KIND_ID, threads, openings, asks, decides, writes)
