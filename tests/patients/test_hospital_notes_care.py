"""Notes say of the ventilated and of held drugs what the life has."""

from __future__ import annotations

from functools import cache

from wardround.patients.hospital.life import Life
from wardround.patients.hospital.living import make_life
from wardround.patients.hospital.record import Note
from wardround.patients.hospital.writing import write_record

_SEED = 4711
_LIVES = 24


@cache
def _lives() -> tuple[Life, ...]:
    return tuple(make_life(_SEED, index) for index in range(_LIVES))


def _text(note: Note, slug: str) -> str:
    return " ".join(one.text for part in note.parts if part.slug == slug for one in part.sentences).lower()


def test_who_is_ventilated_is_found_sedated_and_answers_no_questions() -> None:
    seen = 0
    for life in _lives():
        spans = [
            (one.at, one.end or one.at, one.encounter)
            for one in life.treated
            if one.procedure == "mechanical_ventilation"
        ]
        if not spans:
            continue
        roots = {stay.id: stay.part_of or stay.id for stay in life.stays}
        for note in write_record(life).notes:
            under = any(
                begin <= note.at < end and roots[place or ""] == roots[note.encounter] for begin, end, place in spans
            )
            exam = _text(note, "physical-exam")
            if not under or not exam:
                continue
            seen += 1
            assert "sedated" in exam
            assert "oriented" not in exam
            assert "distress" not in exam
    assert seen


def test_the_letter_and_the_list_hold_and_stop_the_same_drugs() -> None:
    held = stopped = 0
    for life in _lives()[:10]:
        orders = {one.id: one for one in life.prescriptions}
        for note in write_record(life).notes:
            if note.kind != "discharge":
                continue
            for part in note.parts:
                for one in part.sentences if part.slug == "discharge-medications" else ():
                    text = one.text.lower()
                    told = [orders[fact] for fact in one.facts if fact in orders]
                    if "hold" in text.split(":")[0] or "on hold" in text or "for now" in text:
                        held += 1
                        assert all(order.paused for order in told), one.text
                    elif any(word in text for word in ("stop", "discontinue", "do not take")):
                        stopped += 1
                        assert not any(order.paused for order in told), one.text
    assert held
    assert stopped
