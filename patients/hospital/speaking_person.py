"""What patients say of their life: smoking, alcohol, home and work, and how they manage."""

from __future__ import annotations

from .life import Function, Pair, Person
from .speaking import Speaker, capital, number, phrases, speech

_MANY_PACKS = 5


def smoking(speaker: Speaker, person: Person) -> list[Pair]:
    """Return the sentences about tobacco; pack-years only from those who would know the word."""
    sentences = [speaker.next(phrases("smoking", person.smoking))]
    if person.pack_years >= _MANY_PACKS and speaker.persona.literacy == "high":
        n = Pair(str(person.pack_years), str(person.pack_years))
        sentences.append(speaker.next(phrases("pack_years"), n=n))
    return sentences


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
        parent = speech()["parent"][person.sex]
        return speaker.next(phrases("living_parent"), parent=Pair(parent["en"], parent["zh"]))
    word = speech()["spouse"][person.sex]
    return speaker.next(phrases("living", person.living), spouse=Pair(word["en"], word["zh"]))


def work(speaker: Speaker, person: Person) -> Pair:
    """Return the sentence about work or school."""
    job = person.occupation
    school = phrases("school", job.en)
    if school:
        return speaker.next(school)
    key = "retired" if job.en == "retired" else "retired_from" if job.en.startswith("retired") else "work"
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


def falls(speaker: Speaker, function: Function) -> Pair:
    """Return the sentence about falls in the last year."""
    key = "none" if function.falls == 0 else "one" if function.falls == 1 else "more"
    n = number(function.falls)
    return speaker.next(phrases("falls", key), n=n, n_zh=n, n_cap=Pair(capital(n.en), n.zh))
