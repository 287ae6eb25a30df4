"""Follow-up that is planned, and sections of notes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wardround.patients import Stream, knowledge
from wardround.patients.knowledge import Names
from wardround.rubrics import AnyOf, Check, Item, MentionCheck, Not, RetrievedCheck, Text
from wardround.sessions.record import Order
from wardround.sessions.record_others import Named, other_view
from wardround.sessions.session import GoldCall
from wardround.sessions.sources import notes

from .drug_items import order_items
from .drugs import near_orders, order_call, topic, was_asked
from .move import Case, Entity, Focus, Move, MoveKind, kept
from .order_words import order_line
from .parts import bullets, capital, chart_call, drug_entity, entity, grounded_item, item

PLAN: Final = Names(en="follow-up plan", zh="随访计划")
FOLLOWUP: Final = "followup"
_DRUGS: Final = 3


def plan_entity(case: Case) -> Entity:
    """Return the plan to name."""
    return entity(case, "plan", FOLLOWUP, PLAN)


def plan_call(case: Case) -> GoldCall:
    """Return the call that finds the follow-up plan of the stay."""
    return chart_call(case, "CarePlan.search", hadm_id=case.encounter, category="followup")


def plan_line(plan: Named) -> Names:
    """Return which services the plan sends to, without full stop."""
    en = " and ".join(one.en for one in plan.names)
    return Names(
        en=f"the follow-up plan names {en}", zh=f"随访计划写的是{'和'.join(one.zh or '' for one in plan.names)}"
    )


def plan_items(plan: Named) -> list[Item]:
    """Return the items that the plan was looked up, each service, and that no other is named: two or three."""
    items = [item("read-plan", "Looked up the follow-up plan.", "查过随访计划。", RetrievedCheck(any_of=plan.keys))]
    for concept, name in zip(plan.concepts, plan.names, strict=True):
        check = MentionCheck(concept=_name(concept))
        text = (f"Names {name.en} for follow-up.", f"说出随访科室有{name.zh}。")
        items.append(item(f"service-{concept}", *text, check, ("read-plan",)))
    others = tuple(one for one in _services() if not _same(one, plan.concepts))
    checks: tuple[Check, ...] = tuple(MentionCheck(concept=_name(one)) for one in others)
    guard = Not(check=AnyOf(checks=checks))
    items.append(item("no-other-service", "Names no service that is not planned.", "没有说出计划之外的科室。", guard))
    return items


def _services() -> list[str]:
    """Return the services that follow-up may go to, in a fixed order; not the wards that the stay itself was on."""
    wards = notes().wards
    found = knowledge.findings()
    return [one for one in sorted(found) if found[one].kind == "service" and one not in wards]


def _same(service: str, planned: tuple[str, ...]) -> bool:
    lexicon = knowledge.lexicon()
    return any(lexicon.is_a(service, one) or lexicon.is_a(one, service) for one in planned)


def _name(concept: str) -> str:
    return knowledge.lexicon().concept(concept).name.en


@kept
def plan_move(case: Case, plan: Named) -> Move:
    """Return the turn that asks which services follow up (IL); it may open a session."""
    line = plan_line(plan)
    guards = (grounded_item(),) if len(plan.concepts) == 1 else ()
    return Move(
        kind="plan",
        task="IL",
        source="ehr",
        topic=f"plan:{FOLLOWUP}",
        calls=(plan_call(case),),
        answer=Text(en=f"{capital(line.en)}.", zh=f"{line.zh}。"),
        rubric=(*plan_items(plan), *guards),
        slots={"plan": plan_entity(case)},
        keys=frozenset(plan.keys),
        opening=True,
    )


@kept
def plan_dose_move(case: Case, plan: Named, order: Order) -> Move:
    """Return the turn that asks which services follow up and for a drug's active order (DG)."""
    line = plan_line(plan)
    return Move(
        kind="plan_dose",
        task="DG",
        source="ehr",
        topic=topic(order.drug, "dose", FOLLOWUP),
        calls=(plan_call(case), order_call(case, order)),
        answer=bullets((Names(en=capital(line.en), zh=line.zh), order_line(order))),
        rubric=(*plan_items(plan), *order_items(order), *((grounded_item(),) if len(plan.concepts) == 1 else ())),
        slots={"plan": plan_entity(case), "drug": drug_entity(case, order)},
        keys=frozenset((*plan.keys, order.key)),
    )


# -- notes -------------------------------------------------------------------------------------------------------------


def note_call(case: Case, section: str) -> GoldCall:
    """Return the call that finds a section in the notes of the stay."""
    keyword = notes().sections[section].keyword
    return chart_call(case, "DocumentReference.search", hadm_id=case.encounter, keyword=keyword)


@kept
def note_move(case: Case, named: Named) -> Move:
    """Return the turn that asks what a section of the notes says (IL); it may open a session."""
    section = notes().sections[named.id].name
    en, zh = " and ".join(one.en for one in named.names), "、".join(one.zh or "" for one in named.names)
    read_id = f"read-{named.id}"
    items = [
        item(
            read_id,
            f"Looked up the {section.en} in the notes.",
            f"查过病历里的{section.zh}。",
            RetrievedCheck(any_of=named.keys),
        )
    ]
    for concept, name in zip(named.concepts, named.names, strict=True):
        check = MentionCheck(concept=_name(concept))
        text = (f"Names {name.en} under {section.en}.", f"说出{section.zh}是{name.zh}。")
        items.append(item(f"says-{concept}", *text, check, (read_id,)))
    return Move(
        kind="note",
        task="IL",
        source="ehr",
        topic=f"note:{named.id}",
        calls=(note_call(case, named.id),),
        answer=Text(en=f"{capital(section.en)} in the notes: {en}.", zh=f"病历里的{section.zh}：{zh}。"),
        rubric=(*items, grounded_item()),
        slots={"note": entity(case, "note", named.id, section)},
        keys=frozenset(named.keys),
        opening=True,
    )


# -- offers ------------------------------------------------------------------------------------------------------------


def plan_asked(focus: Focus) -> bool:
    """Tell whether an earlier turn asked for the plan, alone or with something else."""
    return any(one == f"plan:{FOLLOWUP}" or one.endswith(f"+{FOLLOWUP}") for one in focus.busy)


def _plans(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    plan = other_view(case).followup
    if plan is not None and not plan_asked(focus):
        yield plan_move(case, plan)


def _with_drug(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    plan = other_view(case).followup
    if plan is None or plan_asked(focus):
        return
    for order in near_orders(case, focus, stream)[:_DRUGS]:
        if not was_asked(focus, order.drug, "dose"):
            yield plan_dose_move(case, plan, order)


def _sections(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    found = other_view(case).notes
    for one in stream.shuffled(sorted(found)):
        told = one == "chief-complaint" and "stay" in focus.busy  # the reason of admission is the same fact
        if f"note:{one}" not in focus.busy and not told:
            yield note_move(case, found[one])


KINDS: Final[tuple[MoveKind, ...]] = (
    MoveKind("plan", "IL", "ehr", _plans),
    MoveKind("note", "IL", "ehr", _sections),
    MoveKind("plan_dose", "DG", "ehr", _with_drug),
)
"""Turns about plans and notes."""
