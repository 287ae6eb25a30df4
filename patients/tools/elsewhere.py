"""Where else a chart has what a search did not find: an empty result must not read as "it was never done"."""

from __future__ import annotations

from collections.abc import Sequence

from wardround.patients.elements import text_of
from wardround.patients.overlay import Overlay
from wardround.patients.search import Search
from wardround.patients.times import format_instant

from .matching import pick_words

_LISTED = 5
"""Procedures named."""


def elsewhere(record: Overlay, kind: str, words: Sequence[str] | None, stay: str | None) -> str | None:
    """Say what the record has of the same matter under another type; None where it has nothing.

    Args:
        record: The record as the episode sees it.
        kind: Type of the search that found nothing.
        words: Words of the published type that was asked for, if any.
        stay: Encounter that was asked for, if any.
    """
    if kind == "DiagnosticReport":
        return _imaging(record, words, stay)
    if kind == "DocumentReference" and (words is None or "radiology" in words):
        count = record.search(Search("DiagnosticReport", encounter=stay, category="radiology")).total
        return f"Radiology reports are found by DiagnosticReport.search: {count} there." if count else None
    return None


def _imaging(record: Overlay, words: Sequence[str] | None, stay: str | None) -> str | None:
    """Name imaging that was charted as a procedure (the ICU's), which has no report."""
    query = Search("Procedure", encounter=stay, category="imaging")
    if words is not None:
        chosen = pick_words(record, "Procedure", words)
        if not chosen.matched:
            return None
        query = Search("Procedure", encounter=stay, category="imaging", names=chosen.names, codes=chosen.codes)
    hits = record.search(query)
    if not hits.total:
        return None
    named = [
        f"{text_of(entry.resource().get('code'))} ({format_instant(entry.first)})" for entry in hits.entries(0, _LISTED)
    ]
    more = f" and {hits.total - _LISTED} more" if hits.total > _LISTED else ""
    return f"Imaging was charted as done, without a report here: {', '.join(named)}{more}."
