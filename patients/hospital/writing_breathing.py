"""The ventilator and the mask in notes: what is seen at the bedside, since when and why, and what is planned."""

from __future__ import annotations

from wardround.patients.times import Instant

from .life import Treated
from .phrasing import Teller, capital, opened, plain_line, table
from .record import Sentence
from .writing_view import Known
from .writing_words import Scribe

_TUBE = "mechanical_ventilation"
_MASK = "noninvasive_ventilation"


def breathing_aid(known: Known) -> Treated | None:
    """Return the ventilation that goes on at the moment of writing, None where the patient breathes unaided."""
    found = [one for one in _aids(known) if one.end is None or one.end > known.at]
    return max(found, key=lambda one: (one.procedure == _TUBE, one.at)) if found else None


def ventilated(known: Known) -> Treated | None:
    """Return the mechanical ventilation that goes on at the moment of writing."""
    aid = breathing_aid(known)
    return aid if aid is not None and aid.procedure == _TUBE else None


def _aids(known: Known) -> list[Treated]:
    return [
        one
        for one in known.life.treated
        if one.procedure in (_TUBE, _MASK)
        and one.encounter is not None
        and known.outline.group(one.encounter) == known.root.id
        and one.at <= known.at
    ]


def breathing_news(scribe: Scribe, teller: Teller, since: Instant) -> list[Sentence]:
    """Return since when and why a patient is ventilated, and what ended after the note before."""
    known, said = scribe.known, []
    for one in _aids(known):
        key = "tube" if one.procedure == _TUBE else "mask"
        if one.end is not None and one.end <= known.at:
            if one.end > since:
                said.append(teller.say(f"interval.{key}.off", (one.id,), date=scribe.date(one.end)))
            continue
        illness = known.outline.illnesses.get(one.illness or "")
        named = illness is not None and illness.known_at <= known.at
        cause = ""
        if illness is not None and named:
            cause = opened(table("clauses")["because"].format(x=scribe.condition(illness)))
        facts = (one.id, illness.id) if illness is not None and named else (one.id,)
        said.append(teller.say(f"interval.{key}", facts, date=scribe.date(one.at), cause=cause))
    return said


def breathing_plan(scribe: Scribe, teller: Teller) -> list[Sentence]:
    """Return what is planned for the ventilation that goes on."""
    aid = breathing_aid(scribe.known)
    if aid is None:
        return []
    text = capital(teller.words("plan.tube" if aid.procedure == _TUBE else "plan.mask"))
    return [plain_line(scribe.style.point + text, [aid.id])]
