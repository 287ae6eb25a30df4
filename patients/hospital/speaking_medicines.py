"""What patients say of their medicines: what they call them, how they take them, and why not."""

from __future__ import annotations

from wardround.patients.knowledge import conditions, findings
from wardround.patients.knowledge.bedside import drug_profiles
from wardround.patients.wording import concept_words

from .life import Adherence, Pair, Prescription
from .speaking import Speaker, capital, number, phrases, speech, time_words, word

_FEW = 5
_DETAILS = frozenset({"that", "taken", "with", "for", "in"})
_LONG = 5
"""Words of a look that is still a name."""


def called(speaker: Speaker, drug: str) -> Pair:
    """Return what the patient calls a drug, without article: its name, what it is for, or what it looks like."""
    found = speaker.drug_names.get(drug)
    if found is None:
        names = _names(speaker, drug)
        taken = [one.en for one in speaker.drug_names.values()]
        found = next((one for one in names if one.en not in taken), names[0])
        speaker.drug_names[drug] = found
    return found


def _names(speaker: Speaker, drug: str) -> list[Pair]:
    """Return what a drug may be called by this patient, what comes first to mind first."""
    profile = drug_profiles()[drug]
    if speaker.persona.literacy == "high" or not profile.lay.en:
        return [Pair(concept_words(drug, "en"), concept_words(drug, "zh"))]
    stream = speaker.stream("called", drug)
    lay = [Pair(en, zh) for en, zh in zip(profile.lay.en, profile.lay.zh, strict=True)]
    lay = stream.shuffled(lay)
    looks = [
        Pair(en, zh)
        for en, zh in zip(profile.look.en, profile.look.zh, strict=True)
        if len(en.split()) <= _LONG and len(zh) <= 2 * _LONG and not _DETAILS & set(en.split())
    ]
    mine = [one for one in lay if _of_mine(speaker, one.en)]
    lay = mine if mine or looks else lay  # who knows no generic names has none left
    return [*looks, *lay] if speaker.persona.literacy == "low" and stream.chance(1, 2) else [*lay, *looks]


def _of_mine(speaker: Speaker, english: str) -> bool:
    """Tell whether a drug may be called so: not "depression pill" by who takes it for anxiety."""
    named = [have for word, have in speech()["illness_words"].items() if word in english]
    return all(speaker.ill_with & set(have) for have in named)


def adherence(speaker: Speaker, fact: Adherence, order: Prescription | None, *, before: bool) -> list[Pair]:
    """Return the sentences about how one drug is really taken.

    Args:
        speaker: Who speaks.
        fact: What is true.
        order: The prescription, if it is known.
        before: Times count back from coming in.
    """
    name = called(speaker, fact.drug)
    how = _verb(order)
    places = {"drug": name, **how}
    if fact.state == "taking":
        if order is not None and order.prn:
            return [speaker.next(phrases("prn_say"), **places), speaker.next(phrases("prn"), **places)]
        key = "taking" if how["take"].en == "take" else "taking_other"
        sentences = [speaker.next(phrases(key), **places)]
        often = phrases("frequency", order.frequency) if order is not None else ()
        if often:
            sentences.append(speaker.next(often, **places))
        return [*sentences, speaker.next(phrases("taking_more"))]
    sentences = []
    if fact.state in ("stopped", "reduced"):
        if fact.since is not None:
            since = time_words(fact.since, before=before)
            sentences.append(speaker.next(phrases(fact.state), since=since, **places))
        else:
            sentences.append(speaker.next(phrases(f"{fact.state}_plain"), **places))
    else:
        sentences.append(speaker.next(phrases(fact.state), **places))
    why = reason(speaker, fact, how)
    return sentences if why is None else [*sentences, why]


def _verb(order: Prescription | None) -> dict[str, Pair]:
    """Return the verb of a drug by its route, as places."""
    route = (order.route if order is not None else "").lower()
    data = speech()
    kind = "oral" if route in data["oral_routes"] else "shot" if route in data["shot_routes"] else "other"
    return {form: word("take", kind, form) for form in ("take", "taking", "taken")}


def reason(speaker: Speaker, fact: Adherence, how: dict[str, Pair]) -> Pair | None:
    """Return the sentence that says why a drug is not taken as ordered; None where there is no reason."""
    if fact.reason is None or fact.reason_concept is None:
        return None
    known = phrases("reasons", fact.reason.en) or phrases("reason_concepts", fact.reason_concept)
    if known:
        return speaker.next(known, **how)
    return side_effect(speaker, fact, word("drug_words", "it")) or _named(speaker, fact.reason_concept)


def side_effect(speaker: Speaker, fact: Adherence, drug: Pair) -> Pair | None:
    """Return what a drug did to the patient, the drug called as said; None where that is not the reason."""
    for effect in drug_profiles()[fact.drug].adverse:
        if effect.finding == fact.reason_concept and effect.say.en:
            place = speaker.stream("effect", fact.drug, fact.id).below(len(effect.say.en))
            english = effect.say.en[place]
            for article in ("the ", "that "):
                english = english.replace(f"{article}{{drug}}", "{drug}")
                english = english.replace(f"{capital(article)}{{drug}}", "{drug}")
            return speaker.fill(Pair(english, effect.say.zh[place]), {"drug": drug})
    return None


def effect(speaker: Speaker, drug: str, finding: str, place: int) -> Pair:
    """Return what a drug does to the patient, in the words of its profile at that place."""
    said = next(one.say for one in drug_profiles()[drug].adverse if one.finding == finding)
    return speaker.fill(Pair(said.en[place], said.zh[place]), {"drug": called(speaker, drug)})


def _named(speaker: Speaker, concept: str) -> Pair:
    found = {**findings(), **conditions()}.get(concept)
    english = found.name.en.lower() if found is not None else concept.replace("_", " ")
    chinese = (found.name.zh or found.name.en) if found is not None else english
    return speaker.next(phrases("reason_other"), x=Pair(english, chinese), X=Pair(capital(english), chinese))


def overview(speaker: Speaker, count: int, medicines: str | None) -> list[Pair]:
    """Return the sentences that answer a question about medicines in general: how many, who sees to them, which.

    Args:
        speaker: Who speaks.
        count: Drugs at home.
        medicines: How they are managed, as in `Function.medicines`; None: unknown.
    """
    key = "none" if count == 0 else "one" if count == 1 else "few" if count <= _FEW else "many"
    n = number(count)
    sentences = [speaker.next(phrases("drugs_count", key), n=n, n_zh=n, n_cap=Pair(capital(n.en), n.zh))]
    if count == 0:
        return sentences
    if medicines is not None:
        sentences.append(managed(speaker, medicines))
    if count > 1:
        sentences.append(speaker.next(phrases("which")))
    return sentences


def managed(speaker: Speaker, medicines: str) -> Pair:
    """Return who sees to the medicines."""
    if medicines == "family" and speaker.caregiver != "none":
        return speaker.next(phrases("medicines_caregiver_family"))
    return speaker.next(phrases("medicines", medicines))


def managed_more(speaker: Speaker, medicines: str) -> Pair:
    """Return what goes with a short answer about who sees to the medicines."""
    if medicines == "family" and speaker.caregiver != "none":
        return speaker.next(phrases("managed_more", "me"))
    return speaker.next(phrases("managed_more", medicines))
