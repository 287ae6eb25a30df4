"""What every examination states of a part of the body where nothing of the stay speaks against it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from wardround.patients.knowledge.bedside import finding_profiles

from .life import CourseEvent, Result, Sign
from .onset import HOUR
from .phrasing import Teller, limit, table
from .writing_breathing import breathing_aid, ventilated
from .writing_story import complaint_sign
from .writing_view import Known, number
from .writing_words import Scribe

_DAY = 26 * HOUR
_CLEARED = 24 * HOUR
"""From the turn of an illness until the mind is clear again."""


class Usual(NamedTuple):
    """Words of a part of the body."""

    text: str
    facts: tuple[str, ...]
    whole: bool
    """Whether the whole part is found normal."""
    always: bool = False
    """Whether it stands before what is found."""


def usual_words(
    scribe: Scribe,
    teller: Teller,
    part: str,
    present: Mapping[str, Sequence[Sign]],
    better: Mapping[str, CourseEvent],
) -> Usual | None:
    """Return what an examination states of a part, None for what is told only where something is found.

    Args:
        scribe: The author.
        teller: The voice of the section.
        part: The part of the body.
        present: The signs that are there, by part.
        better: Illnesses that have turned, and the events that say so.
    """
    known = scribe.known
    aid = breathing_aid(known)
    if aid is not None and ventilated(known) is not None:
        if part in ("general", "neuro"):
            key = "general" if part == "general" else "mind"
            return Usual(teller.words(f"exam.{key}.tube"), (aid.id,), whole=True, always=True)
        if part == "chest" and not present.get(part):
            return Usual(teller.words("exam.chest.tube"), (aid.id,), whole=True)
    if part == "general":
        usual = _general(scribe, teller)
        if aid is None:
            return usual
        return usual._replace(text=f"{usual.text}, {teller.words('exam.mask')}", facts=(*usual.facts, aid.id))
    if part == "neuro":
        return _mind(scribe, teller, present, better)
    if part == "heart":
        return _heart(scribe, teller, found=bool(present.get(part)))
    keys = {"chest": ("chest.clear", "chest.some"), "abdomen": ("abdomen.soft", "abdomen.some"),
            "extremities": ("limbs.fine", "")}  # fmt: skip
    if part not in keys or present.get(part):
        return None
    if part == "chest" and _ill_with(known, table("exam_chest_untold")):
        return None
    whole, some = keys[part]
    barred = _barred(known, "limbs" if part == "extremities" else part) or (
        part == "chest" and _short_of_breath(scribe)
    )
    facts = (known.root.id,)
    if not barred:
        return Usual(teller.words(f"exam.{whole}"), facts, whole=True)
    return Usual(teller.words(f"exam.{some}"), facts, whole=False) if some else None


def _vitals(known: Known) -> Mapping[str, Result]:
    """Return the last round of vital signs, or the first of the stay."""
    return known.latest(known.at - _DAY) or known.first()


def _value(found: Mapping[str, Result], lab: str, facts: list[str]) -> int | None:
    result = found.get(lab)
    value = number(result.text.partition("/")[0]) if result is not None else None
    if result is None or value is None:
        return None
    facts.append(result.id)
    return int(value)


def _from(value: int | None, bound: int) -> bool:
    return value is not None and value >= bound


def _under(value: int | None, bound: int) -> bool:
    return value is not None and value < bound


def _general(scribe: Scribe, teller: Teller) -> Usual:
    known = scribe.known
    found, facts = _vitals(known), [known.root.id]
    grown = scribe.age >= limit("age_examined_grown")
    pressure, pulse = _value(found, "blood_pressure", facts), _value(found, "heart_rate", facts)
    breaths, saturation = _value(found, "respiratory_rate", facts), _value(found, "spo2", facts)
    heat, pain = _value(found, "temperature", facts), _value(found, "pain_score", facts)
    ill = _under(saturation, limit("saturation_ill")) or _from(_value(found, "ciwa", facts), limit("ciwa_ill"))
    if grown:
        ill = ill or _under(pressure, limit("pressure_ill"))
        ill = ill or _from(pulse, limit("pulse_ill")) or _from(breaths, limit("breaths_ill"))
    turns = known.happened("improved", "worsened", "ready")
    worse = bool(turns) and turns[-1].kind == "worsened" and known.root.kind == "ward"
    severe = known.principal is not None and known.principal.severity == "severe" and known.root.kind != "clinic"
    acute = severe and known.principal is not None and known.principal.acuity != "chronic"
    if ill or worse:
        key = "ill"
        facts += [turns[-1].id] if worse else []
    elif _from(pain, limit("pain_hurts")):
        key = "hurt"
    elif (
        _from(heat, limit("fever"))
        or (grown and _from(pulse, limit("pulse_tired")))
        or _under(saturation, limit("saturation_tired"))
        or (grown and _from(breaths, limit("breaths_fast")))
        or (acute and not known.happened("improved"))
    ):
        key = "fair"
    else:
        key = "well"
    return Usual(teller.words(f"exam.general.{key}"), tuple(facts), whole=True, always=True)


def _heart(scribe: Scribe, teller: Teller, *, found: bool) -> Usual | None:
    if found:
        return None
    known, facts = scribe.known, [scribe.known.root.id]
    if _barred(known, "heart"):
        return Usual(teller.words("exam.heart.plain"), tuple(facts), whole=False)
    if _barred(known, "rhythm"):
        return Usual(teller.words("exam.heart.rhythm"), tuple(facts), whole=False)
    pulse = _value(_vitals(known), "heart_rate", facts)
    fast = limit("pulse_fast" if scribe.age >= limit("age_examined_grown") else "pulse_fast_child")
    key = "regular"
    if pulse is not None and pulse > fast:
        key = "fast"
    elif _under(pulse, limit("pulse_slow")):
        key = "slow"
    return Usual(teller.words(f"exam.heart.{key}"), tuple(facts), whole=True)


def _mind(
    scribe: Scribe, teller: Teller, present: Mapping[str, Sequence[Sign]], better: Mapping[str, CourseEvent]
) -> Usual | None:
    known = scribe.known
    found = {one.finding for signs in present.values() for one in signs}
    if found & set(table("exam_mind")):
        return None
    nerves = not present.get("neuro") and _asks_for_nerves(known) and not _barred(known, "nerves")
    states = table("exam_clouded")
    clouded = [one for one in known.signs if one.present and one.finding in states]
    clouded = [one for one in clouded if not _cleared(known, one, better)]
    if clouded:
        key = "drowsy" if all(states[one.finding] == "drowsy" for one in clouded) else "clouded"
        return Usual(teller.words(f"exam.mind.{key}"), (clouded[0].id,), whole=False, always=True)
    if _ill_with(known, table("exam_memory")):
        return Usual(teller.words("exam.mind.memory"), (known.root.id,), whole=False, always=True)
    if _barred(known, "mind"):
        return None
    text = teller.words("exam.mind.child" if scribe.age < limit("age_oriented") else "exam.mind.clear")
    if nerves:
        text += f", {teller.words('exam.nerves.intact')}"
    return Usual(text, (known.root.id,), whole=True, always=True)


def _cleared(known: Known, one: Sign, better: Mapping[str, CourseEvent]) -> bool:
    turned = [better[owner].at for owner, _ in one.owners if owner in better]
    return bool(turned) and len(turned) == len(one.owners) and max(turned) + _CLEARED <= known.at


def _asks_for_nerves(known: Known) -> bool:
    sign = complaint_sign(known)
    profile = finding_profiles().get(sign.finding) if sign is not None else None
    return profile is not None and profile.system == "neurologic"


def _ill_with(known: Known, conditions: Collection[str]) -> bool:
    return any(one.condition in conditions and not known.over(one) for one in known.illnesses)


def _barred(known: Known, part: str) -> bool:
    """Whether an illness or a symptom speaks against a part being found normal."""
    bars = table(f"exam_{part}_bars")
    symptoms = bars["symptoms"].split()
    there = any(one.present and one.type == "symptom" and one.finding in symptoms for one in known.signs)
    return there or _ill_with(known, bars["conditions"].split())


def _short_of_breath(scribe: Scribe) -> bool:
    """Whether the vital signs or a picture of the chest speak against clear lungs."""
    known, facts = scribe.known, [""]
    found = _vitals(known)
    breaths, saturation = _value(found, "respiratory_rate", facts), _value(found, "spo2", facts)
    if _under(saturation, limit("saturation_low")):
        return True
    if scribe.age >= limit("age_examined_grown") and _from(breaths, limit("breaths_fast")):
        return True
    seen = [finding_profiles().get(one.finding) for one in known.signs if one.present and one.type == "imaging"]
    return any(one is not None and one.system == "respiratory" for one in seen)
