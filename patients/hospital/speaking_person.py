"""What patients say of their life: smoking, alcohol, home and work, and how they manage."""

from __future__ import annotations

from .life import Function, Pair, Person
from .speaking import Speaker, capital, number, phrases, word

_MANY_PACKS = 4
_STARTS = 16
"""Hardly anybody smokes a pack a day before this age."""


def smoking(speaker: Speaker, person: Person) -> list[Pair]:
    """Return the sentences about tobacco: packs a day and years, of which the product is the pack-years."""
    sentences = [speaker.next(phrases("smoking", person.smoking))]
    told = phrases("packs", person.smoking)
    if not told or person.pack_years < _MANY_PACKS:
        return sentences
    most = max(1, speaker.age - _STARTS)
    years, packs = person.pack_years, word("pack_words", "one")
    if years > most:
        years, packs = (years + 1) // 2, word("pack_words", "two")
    elif 2 * years <= most // 2:
        years, packs = 2 * years, word("pack_words", "half")
    if years > most:
        return sentences
    n = number(years)
    return [*sentences, speaker.next(told, n=n, n_zh=n, packs=packs)]


def smoking_more(speaker: Speaker, person: Person) -> Pair:
    """Return what goes with a short answer about tobacco."""
    return speaker.next(phrases("smoking_more", person.smoking))


def alcohol_more(speaker: Speaker, person: Person) -> Pair:
    """Return what goes with a short answer about alcohol."""
    return speaker.next(phrases("alcohol_more", "none" if person.alcohol == "none" else "any"))


def living_more(speaker: Speaker, person: Person) -> Pair:
    """Return what goes with a short answer about home."""
    key: str = person.living
    if person.living == "family" and speaker.caregiver in ("mother", "father"):
        key = "child"
    elif speaker.caregiver == "spouse" and person.living in ("spouse", "family"):
        return speaker.next(phrases("living_with_me_more"))
    elif speaker.caregiver in ("daughter", "son") and person.living == "spouse":
        key = "spouse"
    return speaker.next(phrases("living_more", key))


def work_more(speaker: Speaker, person: Person) -> Pair:
    """Return what goes with a short answer about work or school."""
    job = person.occupation.en
    key = "retired" if job.startswith("retired") else "work"
    if phrases("school", job):
        key = "preschooler" if job == "preschooler" else "school"
    return speaker.next(phrases("work_more", key))


def alcohol(speaker: Speaker, person: Person) -> Pair:
    """Return the sentence about alcohol."""
    n = number(person.drinks_per_week)
    drinks = Pair("drink" if person.drinks_per_week == 1 else "drinks", "")
    return speaker.next(phrases("alcohol", person.alcohol), n=n, n_zh=n, drinks=drinks)


def living(speaker: Speaker, person: Person) -> Pair:
    """Return the sentence about home."""
    if person.living == "family" and speaker.caregiver in ("mother", "father"):
        return speaker.next(phrases("living_child"))
    if speaker.caregiver == "spouse" and person.living in ("spouse", "family"):
        return speaker.next(phrases("living_with_me"))
    if speaker.caregiver in ("daughter", "son") and person.living == "spouse":
        return speaker.next(phrases("living_parent"), parent=word("parent", person.sex))
    return speaker.next(phrases("living", person.living), spouse=word("spouse", person.sex))


def work(speaker: Speaker, person: Person) -> Pair:
    """Return the sentence about work or school."""
    job = person.occupation
    school = phrases("school", job.en)
    if school:
        return speaker.next(school)
    own = phrases("job", job.en)
    if own:
        return speaker.next(own)
    key = "retired" if job.en == "retired" else "retired_from" if job.en.startswith("retired") else "work"
    if key == "retired_from":
        job = Pair(job.en.removeprefix("retired "), job.zh.removeprefix("退休"))
    a = Pair("an" if job.en[0] in "aeiou" else "a", "")
    return speaker.next(phrases(key), x=job, X=Pair(capital(job.en), job.zh), a=a)


def walking(speaker: Speaker, function: Function, *, before: bool) -> Pair:
    """Return the sentence about walking; `before`: as it was until the illness that brought the patient in."""
    if before and function.walking == "independent":
        return speaker.next(phrases("walking_before"))
    return speaker.next(phrases("walking", function.walking))


def self_care(speaker: Speaker, function: Function, *, before: bool) -> Pair:
    """Return the sentence about washing and dressing; `before` as of walking."""
    if before and function.self_care == "independent":
        return speaker.next(phrases("self_care_before"))
    return speaker.next(phrases("self_care", function.self_care))


def _fallen(function: Function) -> str:
    return "none" if function.falls == 0 else "one" if function.falls == 1 else "more"


def falls(speaker: Speaker, function: Function) -> Pair:
    """Return the sentence about falls in the last year."""
    n = number(function.falls)
    return speaker.next(phrases("falls", _fallen(function)), n=n, n_zh=n, n_cap=Pair(capital(n.en), n.zh))


def function_more(speaker: Speaker, function: Function, what: str, *, before: bool) -> Pair:
    """Return what goes with a short answer about walking, self-care or falls; `before` as of walking."""
    if what == "falls":
        return speaker.next(phrases("falls_more", _fallen(function)))
    name, level = ("walking", function.walking) if what == "walking" else ("self_care", function.self_care)
    if before and level == "independent":
        return speaker.next(phrases(f"{name}_before_more"))
    return speaker.next(phrases(f"{name}_more", level))
