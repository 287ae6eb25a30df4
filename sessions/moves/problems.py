"""Diagnoses of the stay, and why and where the patient was admitted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wardround.patients import Stream, knowledge
from wardround.patients.knowledge import Names
from wardround.rubrics import GroundedMentionsCheck, Item, KnownMentions, MentionCheck, RetrievedCheck, Text
from wardround.sessions.record import Reading
from wardround.sessions.record_others import Named, Stay, other_view
from wardround.sessions.session import GoldCall

from .move import Case, Focus, Move, MoveKind, kept
from .nearness import near_labs
from .parts import (
    bullets,
    capital,
    chart_call,
    grounded_item,
    item,
    lab_call,
    lab_entity,
    lab_items,
    value_line,
)

PROBLEMS: Final = "problems"
STAY: Final = "stay"
_LABS: Final = 3


def problem_call(case: Case) -> GoldCall:
    """Return the call that finds the diagnoses of the stay, the principal one first."""
    return chart_call(case, "Condition.search", hadm_id=case.encounter)


def problem_line(principal: Named) -> Names:
    """Return the principal diagnosis, without full stop."""
    name = principal.names[0]
    return Names(en=f"the principal diagnosis is {name.en}", zh=f"主要诊断是{name.zh}")


def problem_items(principal: Named) -> list[Item]:
    """Return the items that the diagnoses were looked up, and which is the principal one."""
    name = principal.names[0]
    return [
        item(
            "read-problems",
            "Looked up the diagnoses of the stay.",
            "查过本次住院诊断。",
            RetrievedCheck(any_of=principal.keys),
        ),
        item(
            "principal",
            f"Names {name.en} as the principal diagnosis.",
            f"说出主要诊断是{name.zh}。",
            MentionCheck(concept=_name(principal.concepts[0])),
            ("read-problems",),
        ),
    ]


def no_other_problem_item(case: Case) -> Item:
    """Return the guard that no condition is added that the chart does not hold."""
    view = other_view(case)
    known = {*view.states, *((view.stay.reason,) if view.stay is not None else ())}
    check = GroundedMentionsCheck(known=KnownMentions(conditions=tuple(_name(one) for one in sorted(known))))
    return item("no-other", "Names no diagnosis that the chart does not hold.", "没有说出病历里没有的诊断。", check)


def _name(concept: str) -> str:
    return knowledge.lexicon().concept(concept).name.en


@kept
def problem_move(case: Case, principal: Named) -> Move:
    """Return the turn that asks for the principal diagnosis (IL); it may open a session."""
    line = problem_line(principal)
    return Move(
        kind="problem",
        task="IL",
        source="ehr",
        topic=PROBLEMS,
        calls=(problem_call(case),),
        answer=Text(en=f"{capital(line.en)}.", zh=f"{line.zh}。"),
        rubric=(*problem_items(principal), no_other_problem_item(case), grounded_item()),
        keys=frozenset(principal.keys),
        opening=True,
    )


@kept
def lab_problem_move(case: Case, reading: Reading, principal: Named) -> Move:
    """Return the turn that asks for a lab's latest value and the principal diagnosis (DG)."""
    line = problem_line(principal)
    return Move(
        kind="lab_problem",
        task="DG",
        source="ehr",
        topic=PROBLEMS,
        calls=(lab_call(case, reading), problem_call(case)),
        answer=bullets((value_line(reading), Names(en=capital(line.en), zh=line.zh))),
        rubric=(
            *lab_items(reading),
            *problem_items(principal),
            no_other_problem_item(case),
        ),
        slots={"lab": lab_entity(case, reading)},
        keys=frozenset((*reading.keys, *principal.keys)),
        labs=(reading.lab,),
    )


# -- the stay ----------------------------------------------------------------------------------------------------------


@kept
def stay_move(case: Case, stay: Stay) -> Move:
    """Return the turn that asks why the patient was admitted, and to which service (IL); it may open a session."""
    reason, service = stay.reason_names, stay.service_names
    return Move(
        kind="stay",
        task="IL",
        source="ehr",
        topic=STAY,
        calls=(chart_call(case, "Encounter.search", hadm_id=case.encounter),),
        answer=Text(en=f"Admitted for {reason.en}, under {service.en}.", zh=f"因{reason.zh}入院，收在{service.zh}。"),
        rubric=(
            item("read-stay", "Looked up the stay.", "查过本次住院。", RetrievedCheck(any_of=(stay.key,))),
            item(
                "reason",
                f"Gives {reason.en} as the reason of admission.",
                f"说出入院原因是{reason.zh}。",
                MentionCheck(concept=_name(stay.reason)),
                ("read-stay",),
            ),
            item(
                "service",
                f"Names {service.en} as the service.",
                f"说出收治科室是{service.zh}。",
                MentionCheck(concept=_name(stay.service)),
                ("read-stay",),
            ),
            grounded_item(),
        ),
        keys=frozenset({stay.key}),
        opening=True,
    )


def _problems(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    principal = other_view(case).principal
    if principal is not None and PROBLEMS not in focus.busy:
        yield problem_move(case, principal)


def _with_lab(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    principal = other_view(case).principal
    if principal is not None and PROBLEMS not in focus.busy:
        for reading in list(near_labs(case, focus, stream))[:_LABS]:
            yield lab_problem_move(case, reading, principal)


def _stays(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    stay = other_view(case).stay
    # the chief complaint of the notes is the same fact
    if stay is not None and not {STAY, "note:chief-complaint"} & focus.busy:
        yield stay_move(case, stay)


KINDS: Final[tuple[MoveKind, ...]] = (
    MoveKind("problem", "IL", "ehr", _problems),
    MoveKind("stay", "IL", "ehr", _stays),
    MoveKind("lab_problem", "DG", "ehr", _with_lab),
)
"""Turns about diagnoses and the stay."""
