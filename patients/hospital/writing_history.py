"""Who the patient is and what was before: demographics, illnesses, procedures, medicines, allergies, family, social."""

from __future__ import annotations

from .life import Adherence, Illness, Prescription, Relative
from .phrasing import Teller, capital, counted, limit, lowered, opened, plain_line, table
from .record import Sentence
from .writing_story import function_words
from .writing_words import Scribe

_MOST_PAST = 14


def numbered(scribe: Scribe, lines: list[Sentence]) -> list[Sentence]:
    """Return lines with the author's marks before them."""
    return [Sentence(scribe.style.mark(number) + one.text, one.facts) for number, one in enumerate(lines, 1)]


def demographics(scribe: Scribe) -> list[Sentence]:
    """Return name, age and sex, and what the house style adds."""
    teller = scribe.teller("demographics")
    person = scribe.person
    facts = ("person",)
    number, unit = scribe.age_words.split("-")[:2]
    age = counted(int(number), unit)
    said = [
        teller.line(
            "demo.line",
            facts,
            fullname=person.name,
            age=number if unit == "year" else age,
            age_words=f"{age} old",
            age_short=f"{number}y" if unit == "year" else f"{number}mo",
            sex=person.sex,
            Sex=capital(person.sex),
            sex_letter=person.sex[0].upper(),
        )
    ]
    if scribe.child and scribe.informant:
        said.append(teller.line("demo.child", facts, language=person.language, informant=scribe.informant))
    elif not scribe.child and teller.chance(70):
        marital = lowered(person.marital)
        said.append(
            teller.line("demo.detail", facts, language=person.language, marital=marital, marital_cap=capital(marital))
        )
    return [*said, _came(scribe, teller)]


def _came(scribe: Scribe, teller: Teller) -> Sentence:
    """Return the day of the visit, of the arrival in the emergency department, or of the admission."""
    known = scribe.known
    root = known.root
    ed = next(iter(known.outline.parts(root, "ed")), None)
    if root.kind == "clinic":
        key, at, fact = "demo.dates", root.start, root.id
    elif root.kind == "ed" or (ed is not None and known.at <= ed.end):
        key, at, fact = "demo.dates.ed", known.begin, root.id if ed is None else ed.id
    else:
        key, at, fact = "demo.dates.ward", root.start, root.id
    return teller.line(key, (fact,), date=scribe.date(at))


def past_medical(scribe: Scribe) -> list[Sentence]:
    """Return the illnesses known before this stay."""
    teller = scribe.teller("past-medical-history")
    known = scribe.known
    past = list(known.past)[-_MOST_PAST:]
    if not past:
        return [teller.say("pmh.none", ("person",))]
    past = sorted(past, key=lambda one: (one.acuity != "chronic" or known.over(one), one.onset, one.id))
    if scribe.style.bullets == "none" and len(past) <= 5:
        lasting = [one for one in past if not known.over(one)]
        if lasting == past:
            words = scribe.join([scribe.condition(one) for one in past])
            return [teller.say("pmh.run", [one.id for one in past], conditions=words)]
    return numbered(scribe, [_past_line(scribe, teller, one) for one in past])


def _past_line(scribe: Scribe, teller: Teller, one: Illness) -> Sentence:
    name = scribe.condition(one)
    if one.acuity == "chronic" and not scribe.known.over(one):
        since = teller.nth("pmh.since", scribe.style.since, year=scribe.year(one.known_at)) if teller.chance(65) else ""
        return teller.line("pmh.line", (one.id,), condition=name, since=opened(since))
    stay = one.encounter
    if stay is not None and teller.chance(40):
        return teller.line("pmh.admitted" if _inpatient(scribe, stay) else "pmh.resolved", (one.id, stay),
                           condition=name, date=scribe.date(one.known_at), year=scribe.year(one.known_at))  # fmt: skip
    if not scribe.known.over(one):
        return teller.line("pmh.line", (one.id,), condition=name, since=f" ({scribe.year(one.known_at)})")
    return teller.line("pmh.resolved", (one.id,), condition=name, year=scribe.year(one.known_at))


def _inpatient(scribe: Scribe, encounter: str) -> bool:
    outline = scribe.known.outline
    return any(one.id == outline.group(encounter) and one.kind in ("ward", "icu") for one in outline.roots)


def past_surgical(scribe: Scribe) -> list[Sentence]:
    """Return the procedures done before this stay."""
    teller = scribe.teller("past-surgical-history")
    minor = table("bedside_procedures")
    begin = scribe.known.begin
    done = [one for one in scribe.life.treated if (one.end or one.at) < begin and one.procedure not in minor]
    if not done:
        return [teller.say("psh.none", ("person",))]
    lines = []
    for one in done[-8:]:
        illness = scribe.known.outline.illnesses.get(one.illness or "")
        title, facts = lowered(one.title), [one.id]
        if " " not in title and illness is not None:  # "surgery" alone says too little
            title = f"{title} for {scribe.condition(illness)}"
            facts.append(illness.id)
        dates = {"year": scribe.year(one.at), "date": scribe.date(one.at)}
        lines.append(teller.line("psh.line", facts, procedure=title, **dates))
    return numbered(scribe, lines)


def medications(scribe: Scribe, orders: list[Prescription], *, home: bool = True) -> list[Sentence]:
    """Return a list of orders, home medicines or those of the stay, one a line; none is said in words."""
    teller = scribe.teller("medications")
    if not orders:
        key = "meds.none" if scribe.known.root.kind in ("clinic", "ed") or home else "meds.none.here"
        return [teller.say(key, ("person",))]
    taken = {one.prescription: one for one in scribe.known.adherence} if home else {}
    return numbered(scribe, [_listed(scribe, one, taken.get(one.id)) for one in _unique(orders)])


def _listed(scribe: Scribe, one: Prescription, taken: Adherence | None) -> Sentence:
    """Return a line of a list of medicines, with how it is really taken where the notes know."""
    text = capital(scribe.order(one))
    how = table("taken").get(taken.state) if taken is not None else None
    if taken is None or how is None:
        return plain_line(text, (one.id,))
    since = f" since {taken.since.en}" if taken.since is not None and not taken.since.en.endswith("ago") else ""
    if taken.since is not None and taken.since.en.endswith("ago"):
        since = f", {table('taken_from')[taken.state]} {taken.since.en}" if taken.state in table("taken_from") else ""
    return plain_line(f"{text} ({how}{since})", (one.id, taken.id))


def _unique(orders: list[Prescription]) -> list[Prescription]:
    """Return orders in the order of their names, one for each drug and dose."""
    found: dict[tuple[str, str, str, str], Prescription] = {}
    for one in orders:
        found[(one.name, one.dose, one.route, one.frequency)] = one
    return list(found.values())


def allergies(scribe: Scribe) -> list[Sentence]:
    """Return allergies with their reactions."""
    teller = scribe.teller("allergies")
    found = [one for one in scribe.life.allergies if one.known_at <= scribe.known.at]
    if not found:
        return [teller.say("allergy.none", ("person",))]
    lines = []
    for one in found:
        key = "allergy.severe" if teller.chance(40) else "allergy.line"
        name, reaction = capital(lowered(one.name)), lowered(one.reaction.en)
        lines.append(teller.line(key, (one.id,), substance=name, reaction=reaction, severity=one.severity))
    return lines if len(lines) == 1 else numbered(scribe, lines)


def family(scribe: Scribe) -> list[Sentence]:
    """Return the illnesses of relatives."""
    teller = scribe.teller("family-history")
    found = [one for one in scribe.life.relatives if one.known_at <= scribe.known.at]
    if not found:
        return [teller.say("family.none", ("person",))]
    return [_relative(scribe, teller, one) for one in found]


def _relative(scribe: Scribe, teller: Teller, one: Relative) -> Sentence:
    age = teller.words("family.age", number=str(one.age_at_onset)) if one.age_at_onset is not None else ""
    dead = teller.words("family.dead") if one.deceased and teller.chance(70) else ""
    his = f"{scribe.teller('').places['his']} {one.relation}"
    disease = lowered(one.name.en)
    return teller.say(
        "family.line",
        (one.id,),
        relation=one.relation,
        relation_his=his,
        Relation_his=capital(his),
        disease=disease,
        Disease=capital(disease),
        age=opened(age) + opened(dead),
    )


def social(scribe: Scribe) -> list[Sentence]:
    """Return habits, living, work and how the patient manages."""
    teller = scribe.teller("social-history")
    person, facts = scribe.person, ("person",)
    said: list[Sentence] = []
    grown = scribe.age >= limit("age_habits")
    if grown:
        pack = teller.words("social.pack", number=str(person.pack_years)) if person.pack_years else ""
        said.append(teller.say(f"social.smoke.{person.smoking}", facts, pack=opened(pack)))
        week = counted(person.drinks_per_week, "drink")
        drinks = teller.words("social.drinks", drinks_week=week) if person.drinks_per_week else ""
        said.append(teller.say(f"social.alcohol.{person.alcohol}", facts, drinks=opened(drinks)))
    if not scribe.child or person.living == "family":
        spouse = "wife" if person.sex == "male" else "husband"
        said.append(teller.say(f"social.living.{person.living}", facts, spouse=f"{teller.places['his']} {spouse}"))
    if scribe.age >= limit("age_working") and teller.chance(75):
        said.append(teller.say("social.work", facts, occupation=lowered(person.occupation.en)))
    words, ids = function_words(scribe)
    if ids and grown:
        said.append(teller.say("social.function", ids, **words))
        if teller.chance(50):
            said.append(teller.say("social.falls", ids, **words))
    return teller.stream.shuffled(said) or [teller.say("social.living.family", facts)]
