"""Which labs a physician would look at next: those read together with what the session is about, nearest first."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from wardround.patients import Stream, knowledge
from wardround.sessions.record import Reading

from .move import Case, Focus


def near_labs(case: Case, focus: Focus, stream: Stream) -> Iterator[Reading]:
    """Yield labs that no earlier turn asked for, nearest to the focus first, in drawn order among equals.

    The decision's own lab comes first, then what is read with it, what its drug is monitored by, and what is read on
    any round.
    """
    companions, decision = case.common.companions, focus.decision
    own = () if decision.reading is None else (decision.reading.lab,)
    drug = "" if decision.order is None else decision.order.drug
    near = [lab for one in own for lab in companions.get(one, ())]
    groups = (own, near, monitored_by(drug), companions["*"])
    seen: set[str] = set()
    for group in groups:
        for lab in stream.shuffled(group):
            if lab in case.view.latest and lab not in focus.busy and lab not in seen:
                seen.add(lab)
                yield case.view.latest[lab]


def companions_of(case: Case, focus: Focus, lab: str, stream: Stream) -> Iterator[Reading]:
    """Yield labs that are read together with one and that no earlier turn asked for, in drawn order."""
    for other in stream.shuffled(case.common.companions.get(lab, ())):
        if other in case.view.latest and other not in focus.busy and other != lab:
            yield case.view.latest[other]


@cache
def monitored_by(drug: str) -> tuple[str, ...]:
    """Return the labs that a drug is monitored by, in a fixed order; none for no drug."""
    known = knowledge.drugs().get(drug)
    if known is None:
        return ()
    names = {drug, *known.classes}
    return tuple(sorted({one.lab for one in knowledge.monitoring().values() if names.intersection(one.drugs)}))
