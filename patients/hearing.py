"""Which authored interview a patient may be heard with at an instant."""

from __future__ import annotations

from .chart import Snapshot
from .interview import Interview
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
        return found
    return then


def _is_over(snapshot: Snapshot, encounter: str) -> bool:
    """Tell whether an encounter has ended by the anchor."""
    entry = snapshot.read("Encounter", encounter)
    return entry is not None and "end" in entry.resource().get("period", {})
