"""Lives with their records that the tests of words look at, made once a process."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from wardround.patients.hospital.life import Life, Stay
from wardround.patients.hospital.living import make_life
from wardround.patients.hospital.record import Note, Record, Sentence
from wardround.patients.hospital.writing import write_record

_LIVES = 40


@cache
def written_lives() -> tuple[tuple[Life, Record], ...]:
    """Return some forty lives with their records: a child and one who dies after a turn for the worse among them."""
    lives = [make_life(55022, index) for index in range(_LIVES)]
    lives += [make_life(86420, 11), make_life(86420, 9)]
    return tuple((life, write_record(life)) for life in lives)


def notes_of(*kinds: str) -> Iterator[tuple[Life, Stay, Note]]:
    """Yield the notes of some kinds with the life and the whole stay that each is about."""
    for life, record in written_lives():
        stays = {one.id: one for one in life.stays}
        for note in record.notes:
            if note.kind in kinds:
                stay = stays[note.encounter]
                yield life, stays[stay.part_of] if stay.part_of is not None else stay, note


def text_of(note: Note, *slugs: str) -> str:
    """Return the text of a note, or of some of its sections."""
    return "\n".join(part.text for part in note.parts if not slugs or part.slug in slugs)


def said_in(note: Note, slug: str) -> list[Sentence]:
    """Return the sentences of a section."""
    return [said for part in note.parts if part.slug == slug for said in part.sentences]
