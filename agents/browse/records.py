"""What a page shows of the charts: the timeline of stays and orders, and plots, all as known at the sessions' now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from wardround.patients import (
    Event,
    Series,
    Snapshot,
    draw_series,
    format_instant,
    knowledge,
    lab_series,
    timeline,
)
from wardround.sessions import Session

SHOWN = ("Encounter", "MedicationRequest", "Procedure", "ServiceRequest")
"""Types of the timeline: what happened and what was ordered; values are in the plots and in the results of calls."""
_PLOTS = 8
"""Of one session: a panel of twenty values is one call."""
_LEAST = 2
"""Values of a series that is worth a plot."""


class Record:
    """One chart at one instant, for all sessions that are about it.

    Args:
        snapshot: The chart as the sessions' agents may read it.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._series = lab_series(snapshot, least=_LEAST)
        self._drawn: dict[int, int] = {}

    def plots(self, session: Session, keys: Collection[str], judged: Collection[str]) -> tuple[list[int], int]:
        """Return which plots a session shows, as places in `as_dict()["plots"]`, and how many more it touches.

        Args:
            session: Its questions name measurements.
            keys: Resources that its gold calls bring; empty where gold is not shown.
            judged: Resources that its rubric wants to have been read; likewise.
        """
        named = _named(session)
        found = []
        for at, series in enumerate(self._series):
            points = {point.key for point in series.points}
            rank = 0 if _concept(series) in named else 1 if points & set(judged) else 2 if points & set(keys) else 3
            if rank < 3:
                found.append((rank, at))
        chosen = [at for _, at in sorted(found)[:_PLOTS]]
        return [self._drawn.setdefault(at, len(self._drawn)) for at in chosen], len(found) - len(chosen)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able data; call it when every session has said which plots it shows."""
        here = [kind for kind in SHOWN if kind in self.snapshot.chart.index.spans]
        kinds = sorted(set(self.snapshot.chart.index.spans) - {"Patient", *SHOWN})
        others = Counter({kind: self.snapshot.count(kind) for kind in kinds})
        return {
            "events": [_line(event) for event in timeline(self.snapshot, types=here)],
            "others": sorted((kind, count) for kind, count in others.items() if count),
            "now": format_instant(self.snapshot.anchor),
            "plots": [draw_series(self._series[at], self.snapshot.anchor).as_dict() for at in self._drawn],
            "patient": _person(self.snapshot),
        }


def _line(event: Event) -> list[Any]:
    """Return key, type, text, date and when it became known, where that was at another minute."""
    time, known = (None if one is None else format_instant(one) for one in (event.time, event.known))
    late = None if time is None or known is None or known[:16] == time[:16] else known
    return [event.key, event.type, event.text, time, late]


def _person(snapshot: Snapshot) -> str:
    patient = next(iter(snapshot.resources("Patient")), {})
    told: Sequence[Any] = (patient.get("gender"), patient.get("birthDate") and f"born {patient['birthDate']}")
    return ", ".join(str(one) for one in told if one)


def _concept(series: Series) -> str | None:
    found = knowledge.lexicon().resolve(series.name, kinds=("lab", "vital"))
    return None if found is None else found.id


def _named(session: Session) -> set[str]:
    """Return the measurements that the physician's questions name."""
    return {
        concept for words in _questions(session) for mention in knowledge.lexicon().scan(words, kinds=("lab", "vital"))
        for concept in mention.concepts
    }  # fmt: skip


def _questions(session: Session) -> Iterable[str]:
    for turn in session.turns:
        for wording in (turn.query.en, turn.query.zh):
            if wording is not None:
                yield from (words for words in (wording.explicit, wording.implicit) if words)
