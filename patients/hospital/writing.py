"""From a life to its record: which notes are written when, by whom, and the reports of studies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wardround.patients.rng import Stream
from wardround.patients.times import DAY, Instant

from .life import Life, Stay
from .onset import HOUR
from .record import Note, NoteKind, Record
from .reports import write_reports
from .writing_notes import Composer, title_of
from .writing_style import draw_style
from .writing_view import Known, Outline
from .writing_words import Scribe

_MINUTE = HOUR // 60
_MOST_PROGRESS = 6
_LONG_STAY = 4
_WAIT = 10 * HOUR
"""How long an admission note may wait for the diagnosis."""


@dataclass(frozen=True, slots=True)
class _Planned:
    kind: NoteKind
    title: str
    at: Instant
    stored: Instant
    encounter: str
    author: str
    root: Stay
    since: Instant | None = None
    day: int | None = None


def write_record(life: Life) -> Record:
    """Return the record of a life: its notes and reports; the same whenever it is asked for.

    A note states only what is known when it is written (`Note.at`) and may be told; each sentence names its facts.
    """
    outline = Outline(life)
    reports = write_reports(outline)
    planned = sorted(
        (one for root in outline.roots for one in _planned(outline, root)),
        key=lambda one: (one.at, one.stored, one.kind),
    )
    notes = tuple(_note(outline, one, number) for number, one in enumerate(planned, 1))
    return Record(life, notes, reports)


def _note(outline: Outline, planned: _Planned, number: int) -> Note:
    life = outline.life
    style = draw_style(life.seed, life.index, planned.author)
    known = Known(outline, planned.root, planned.at)
    scribe = Scribe(known, style, f"{planned.root.id}-{planned.kind}-{planned.day or 0}")
    parts = Composer(scribe, planned.kind, since=planned.since, day=planned.day).parts()
    title = title_of(planned.title, style)
    return Note(f"n{number}", planned.kind, title, planned.at, planned.stored, planned.encounter, parts)


def _planned(outline: Outline, root: Stay) -> Iterator[_Planned]:
    stream = Stream("hospital", outline.life.seed, outline.life.index, "notes", "times", root.id)
    if root.kind == "clinic":
        yield _Planned(
            "clinic", "clinic", root.end, root.end + _minutes(stream, 5, 90), root.id, f"clinic {root.service}", root
        )
        return
    if root.kind == "ed":
        yield _Planned("ed", "ed", root.end, root.end + _minutes(stream, 2, 60), root.id, f"ed {root.id}", root)
        return
    for visit in outline.parts(root, "ed"):
        stored = min(visit.end + _minutes(stream, 2, 40), root.end)
        yield _Planned("ed", "ed", visit.end, stored, visit.id, f"ed {visit.id}", root)
    admitted = _admission_time(outline, root, stream)
    yield _Planned("admission", "admission", admitted, min(admitted + _minutes(stream, 10, 90), root.end), root.id,
                   f"ward {root.id}", root)  # fmt: skip
    yield from _days(outline, root, admitted, stream)
    yield from _consults(outline, root, admitted, stream)
    died = outline.life.person.died is not None and outline.life.person.died <= root.end
    stored = root.end if died else root.end + _minutes(stream, 20, 360)
    yield _Planned("discharge", "death" if died else "discharge", root.end, stored, root.id, f"ward {root.id}", root)


def _minutes(stream: Stream, least: int, most: int) -> int:
    return (least + stream.below(most - least + 1)) * _MINUTE


def _admission_time(outline: Outline, root: Stay, stream: Stream) -> Instant:
    """Return when the admission note is written: once the diagnosis is made, if that is not long in coming."""
    at = root.start + _minutes(stream, 60, 240)
    principal = outline.illnesses.get(root.principal)
    if principal is not None and at < principal.known_at <= root.start + _WAIT:
        at = principal.known_at + _minutes(stream, 5, 45)
    return min(at, root.end - 2 * HOUR) if root.end - 2 * HOUR > root.start else root.end


def _days(outline: Outline, root: Stay, admitted: Instant, stream: Stream) -> Iterator[_Planned]:
    """Yield the progress notes: the first day, then every day or every other, six at most.

    Hospital days are counted from the date of admission, which is day 1.
    """
    last = (root.end - 3 * HOUR) // DAY
    days = list(range(admitted // DAY + 1, last + 1))
    if len(days) > _LONG_STAY:
        step = 1 if len(days) <= _MOST_PROGRESS else (len(days) + _MOST_PROGRESS - 1) // _MOST_PROGRESS
        days = days[::step][:_MOST_PROGRESS]
    since = admitted
    for day in days:
        at = day * DAY + 10 * HOUR + _minutes(stream, 0, 150)
        if not admitted + 4 * HOUR < at < root.end - 2 * HOUR:
            continue
        icu = next((one for one in outline.parts(root, "icu") if one.start <= at < one.end), None)
        place, title = (icu.id, "icu") if icu is not None else (root.id, "progress")
        author = f"icu {root.id}" if icu is not None else f"ward {root.id}"
        stored = min(at + _minutes(stream, 5, 120), root.end)
        yield _Planned("progress", title, at, stored, place, author, root, since, day - root.start // DAY + 1)
        since = at


def _consults(outline: Outline, root: Stay, admitted: Instant, stream: Stream) -> Iterator[_Planned]:
    for event in outline.events_of.get(root.id, ()):
        if event.kind != "consulted":
            continue
        at = max(event.at, admitted) + _minutes(stream, 60, 300)
        if at < root.end - HOUR:
            stored = min(at + _minutes(stream, 5, 60), root.end)
            yield _Planned("consult", "consult", at, stored, root.id, f"consult {event.id}", root)
            return


__all__ = ["write_record"]
