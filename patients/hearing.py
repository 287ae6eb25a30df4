"""Which authored interview a patient may be heard with at an instant."""

from __future__ import annotations

from .chart import Snapshot
from .interview import Fact, Interview
from .interviewing import SIMULATED
from .store import ChartStore
from .times import Instant


def interview_at(store: ChartStore, snapshot: Snapshot, encounter: str, instant: Instant) -> Interview | None:
    """Return what the patient would say at an instant of an encounter; nothing in it comes later.

    Args:
        store: Where interviews are authored.
        snapshot: The record at the instant; tells whether the encounter has ended.
        encounter: The encounter of the round.
        instant: The round's now.

    Returns:
        The interview as of then; None where none was authored, or only one that tells what comes later.

    Raises:
        DataError: The interview is damaged.
    """
    told = store.interviews(snapshot.patient_id)
    if not told:
        return store.interview(snapshot.patient_id)
    found = told.get(encounter)
    if found is None:
        return None
    then = found.at(instant)
    if then is None and found.since is None and _is_over(snapshot, encounter):
        then = found
    return then if then is None else _as_charted(then, snapshot)


def _as_charted(interview: Interview, snapshot: Snapshot) -> Interview:
    """Return an interview whose facts name no source that the record does not hold then (lost, or filed late)."""
    facts = tuple(
        one if one.source == SIMULATED or snapshot.read(*_key(one.source)) is not None else _uncharted(one)
        for one in interview.facts
    )
    return interview if facts == interview.facts else interview.model_copy(update={"facts": facts})


def _key(source: str) -> tuple[str, str]:
    kind, _, name = source.partition("/")
    return kind, name


def _uncharted(fact: Fact) -> Fact:
    return fact.model_copy(update={"source": SIMULATED})


def _is_over(snapshot: Snapshot, encounter: str) -> bool:
    """Tell whether an encounter has ended by the anchor."""
    entry = snapshot.read("Encounter", encounter)
    return entry is not None and "end" in entry.resource().get("period", {})
