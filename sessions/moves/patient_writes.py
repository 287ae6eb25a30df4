"""Turns that write what the patient's words ask for: a referral, and the flag of a risk (WU)."""

from __future__ import annotations

from wardround.patients.knowledge import Names
from wardround.rubrics import AdviceCheck, AnyOf, Forbid, MentionCheck, Text
from wardround.sessions.decisions.decision import Decision

from .move import Case, Move
from .parts import capital, chart_call, entity
from .writes import PRIORITIES, request_also, request_risk, write_items


def refer(case: Case, service: str, names: Names, priority: str, decision: Decision | None = None) -> Move:
    """Return the turn that refers the patient to a service.

    Args:
        case: Patient and record.
        service: Concept id.
        names: The service's plain names.
        priority: "routine" or "urgent".
        decision: What it carries out.
    """
    arguments = {"service_type": names.en, "priority": priority}
    words, (forbid, danger) = PRIORITIES[priority], request_risk(priority, names, decision)
    accepted = tuple(AdviceCheck(act=act, target=names.en) for act in ("refer", "order"))
    return Move(
        kind="refer",
        task="WU",
        source="write",
        topic=f"{service}:refer",
        calls=(chart_call(case, "ServiceRequest.create", **arguments),),
        answer=Text(en=f"Referred to {names.en}, {words.en} priority.", zh=f"已转介{names.zh}，{words.zh}。"),
        rubric=write_items(
            "ServiceRequest.create",
            arguments,
            forbid=forbid,
            danger=danger,
            also=request_also(case, service, priority),
            confirm=AnyOf(checks=(*accepted, MentionCheck(concept=names.en))),
        ),
        slots={"service": entity(case, "service", service, names)},
        words={"priority": words},
        decision=decision,
    )


def flag_risk(case: Case, concept: str, risk: Names, never: Names, decision: Decision | None = None) -> Move:
    """Return the turn that puts a safety flag about a risk on the chart.

    Args:
        case: Patient and record.
        concept: English name of what the confirmation must mention.
        risk: What the flag says, as in "fall risk".
        never: What it must not say.
        decision: What it carries out.
    """
    arguments = {"category": "safety", "code": risk.en, "detail": f"{capital(risk.en)}."}
    return Move(
        kind="flag_risk",
        task="WU",
        source="write",
        topic=f"flag:{risk.en}",
        calls=(chart_call(case, "Flag.create", **arguments),),
        answer=Text(en=f"Safety flag recorded: {risk.en}.", zh=f"已加安全警示：{risk.zh}。"),
        rubric=write_items(
            "Flag.create",
            arguments,
            forbid=Forbid(text_mentions=never.en),
            danger=Names(en=f"Does not write: {never.en}.", zh=f"没有写成：{never.zh}。"),
            confirm=MentionCheck(concept=concept),
        ),
        words={"risk": risk},
        decision=decision,
    )
