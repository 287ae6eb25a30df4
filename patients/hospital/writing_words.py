"""The words of one note: names, dates, orders, values and findings as its author writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, cached_property

from wardround.patients import knowledge
from wardround.patients.knowledge.bedside import finding_profiles, lab_profiles
from wardround.patients.knowledge.graph_models import FindingProfile
from wardround.patients.rng import Stream
from wardround.patients.times import Instant

from .generation import rules
from .life import Illness, Prescription, Result, Sign
from .onset import elapsed
from .phrasing import Teller, article, capital, counted, limit, listed, lowered, table, words_of
from .writing_style import Style
from .writing_view import Known, dated, flag, moment, number

_GROWN = 18
_OLD_BABY_MONTHS = 24
_CONTENT = 4
_LOTS = 1 << 20
_RETOLD = frozenset(("symptom", "history"))
"""Types of findings that are worded anew each time; of the others one wording may say more than the next."""
_TWO = re.compile(r"[A-Za-z]{1,2}/[A-Za-z]{1,2}")
"""Abbreviations of two findings at once ("N/V"), of which one may not be there."""


class Scribe:
    """The author of one note at work: what is known, in whose style, under which name.

    Args:
        known: What the author can see.
        style: How the author writes.
        note: The note's id, which names its random streams.
    """

    def __init__(self, known: Known, style: Style, note: str) -> None:
        self.known = known
        self.style = style
        self.note = note
        self.life = known.life
        self.person = known.life.person
        self._places = self._person_places()

    def teller(self, section: str, *, copied: bool = False) -> Teller:
        """Return the voice of a section, with draws of its own.

        Args:
            section: Its name.
            copied: Whether the author words it as in the other notes of the stay.
        """
        note = f"{self.known.root.id}-{self.style.author}" if copied else self.note
        stream = Stream("hospital", self.life.seed, self.life.index, "notes", note, section)
        return Teller(stream, self.style.register, self._places)

    # -- the person ----------------------------------------------------------------------------------------------------

    @cached_property
    def age(self) -> int:
        """Age at the time of writing, in years."""
        return self.known.outline.age(self.known.at)

    @property
    def child(self) -> bool:
        """Whether the patient is a child."""
        return self.age < _GROWN

    @cached_property
    def age_words(self) -> str:
        """Age as an adjective: "67-year-old", "7-month-old"."""
        months = self.known.outline.months(self.known.at)
        return f"{months}-month-old" if months < _OLD_BABY_MONTHS else f"{self.age}-year-old"

    @cached_property
    def noun(self) -> str:
        """man, woman, boy, girl."""
        male = self.person.sex == "male"
        if self.age < _GROWN:
            return "boy" if male else "girl"
        return "man" if male else "woman"

    def _person_places(self) -> dict[str, str]:
        male = self.person.sex == "male"
        family = self.person.name.split()[-1]
        named = self.style.title != "patient" and not self.child
        title = f"{'Mr.' if male else 'Ms.'} {family}"
        name = title if named else "the patient"
        if self.child and self.style.title != "patient":
            name = self.person.name.split()[0]
        pt = name if self.style.title == "name" else "the patient"
        person = f"{self.age_words} {self.noun}"
        months = self.known.outline.months(self.known.at)
        age = f"{months} mo" if months < _OLD_BABY_MONTHS else str(self.age)
        return {
            "he": "he" if male else "she",
            "He": "He" if male else "She",
            "him": "him" if male else "her",
            "his": "his" if male else "her",
            "His": "His" if male else "Her",
            "himself": "himself" if male else "herself",
            "name": name,
            "Name": capital(name),
            "pt": pt,
            "Pt": capital(pt),
            "pt_his": f"{name}",
            "pt_history": pt,
            "a_person": article(person),
            "A_person": capital(article(person)),
            "short_person": f"{age}{self._short_unit(age)}{'M' if male else 'F'}",
        }

    def _short_unit(self, age: str) -> str:
        """Return what stands between age and sex: "67M", but "6 y/o M", which no one reads as months."""
        if " " in age:
            return " "
        return " y/o " if self.child else ""

    @cached_property
    def informant(self) -> str | None:
        """Who speaks for the patient, "mother"; None where the patient does."""
        who = self.life.caregiver
        if who == "none":
            return None
        if self.child and who in ("mother", "father"):
            return who
        if not self._clouded():
            return None
        if who == "spouse":
            return "wife" if self.person.sex == "male" else "husband"
        return who

    @property
    def family(self) -> str:
        """Who is spoken with about the patient: who gives the history, else wife or husband, else the family."""
        if self.informant is not None:
            return self.informant
        if self.person.marital == "married" and not self.child:
            return "wife" if self.person.sex == "male" else "husband"
        return "family"

    def _clouded(self) -> bool:
        """Whether the patient is known to have what keeps from telling."""
        mute = rules().cannot_tell
        return any(
            one.condition in mute and (one.resolved is None or one.resolved > self.known.begin)
            for one in self.known.illnesses
        )

    # -- time ----------------------------------------------------------------------------------------------------------

    def date(self, at: Instant) -> str:
        """Return a date as this author writes it."""
        return dated(at, self.style.dates)

    def year(self, at: Instant) -> str:
        """Return the year."""
        return str(moment(at).year)

    # -- names ---------------------------------------------------------------------------------------------------------

    def condition(self, illness: Illness, *, short: bool | None = None) -> str:
        """Return the name of an illness within a sentence; abbreviated by authors who do so."""
        return condition_name(illness.condition, short=self.style.register == "abbrev" if short is None else short)

    def conditions(self, illnesses: Iterable[Illness]) -> str:
        """Return several names joined."""
        return self.join([self.condition(one) for one in illnesses])

    def join(self, items: Sequence[str], word: str = "and") -> str:
        """Join items as this author does."""
        return listed(list(dict.fromkeys(items)), word, oxford=self.style.oxford)

    def finding(self, sign: Sign, teller: Teller, *, absent: bool = False) -> str:
        """Return a finding as a noun phrase."""
        profile = finding_profiles().get(sign.finding)
        if profile is None:
            return lowered(knowledge.findings()[sign.finding].name.en)
        text = _wording(profile, sign, self.style.register, teller, self._lot(sign), absent=absent)
        if not absent and self._febrile:  # what a thermometer showed is not subjective
            text = table("measured_instead").get(text, text)
        return _sided(text, sign.side if not absent else None)

    @cached_property
    def _febrile(self) -> bool:
        """Whether a fever has been measured in this stay."""
        measured = [number(one.text) for one in self.known.series("temperature")]
        return any(value is not None and value >= limit("fever") for value in measured)

    def _lot(self, sign: Sign) -> int:
        lots = self.known.outline.lots
        if sign.id not in lots:
            stream = Stream("hospital", self.life.seed, self.life.index, "notes", "finding", sign.id)
            lots[sign.id] = stream.below(_LOTS)
        return lots[sign.id]

    # -- orders --------------------------------------------------------------------------------------------------------

    def order(self, one: Prescription, *, name: bool = True, often: bool = True) -> str:
        """Return an order: drug, dose, route, frequency; without how often, where it is told that it was given."""
        how = self.style.orders
        route, frequency = one.route, one.frequency
        if how == "short":
            route = table("route_short").get(route, route)
            frequency = table("frequency_short").get(frequency, frequency)
        elif how == "long":
            route = table("route_long").get(route, route)
            frequency = table("frequency_long").get(frequency, frequency)
        words = [self.drug(one)] if name else []
        words += [one.dose, route]
        if not often:
            return " ".join(word for word in words if word)
        words.append(frequency)
        prn = table("clauses")["as_needed_short" if how == "short" else "as_needed"]
        if one.prn and "prn" not in frequency.lower() and "needed" not in frequency.lower():
            words.append(prn)
        return " ".join(word for word in words if word)

    def drug(self, one: Prescription) -> str:
        """Return the name of a drug within a sentence: as charted, an ingredient in small letters."""
        return _drug_name(one.drug, one.name)

    def orders(self, found: Iterable[Prescription], *, often: bool = True) -> str:
        """Return several orders joined."""
        return self.join([self.order(one, often=often) for one in found])

    # -- values --------------------------------------------------------------------------------------------------------

    def value(self, result: Result, *, unit: bool = False, marked: bool = True) -> str:
        """Return a value exactly as charted, with unit and H or L as asked."""
        text = result.text
        if unit and number(text.partition("/")[0]) is not None and (word := unit_of(result.lab)):
            text += word if word in ("%", "/10") else f" {word}"
        mark = flag(result) if marked else ""
        return f"{text} ({mark})" if mark else text

    def title(self, result: Result) -> str:
        """Return the name of a test as it stands in a table."""
        return table("lab_short").get(result.lab) or result.name

    def lab(self, result: Result) -> str:
        """Return the name of a test as this author writes it."""
        if self.style.register == "full":
            concept = knowledge.labs().get(result.lab)
            return table("lab_prose").get(result.lab) or lowered(
                concept.name.en if concept is not None else result.name
            )
        return table("lab_short").get(result.lab) or result.name


def span(begin: Instant, end: Instant) -> str:
    """Return a length of time in its natural unit: "5 hours", "3 days", "2 weeks", "4 months", "6 years"."""
    return counted(*elapsed(begin, end))


@cache
def condition_name(condition: str, *, short: bool) -> str:
    """Return the name of a condition for use within a sentence."""
    if short and (word := table("condition_short").get(condition)):
        return word
    concept = knowledge.conditions().get(condition)
    return lowered(concept.name.en) if concept is not None else condition.replace("_", " ")


@cache
def unit_of(lab: str) -> str:
    """Return the unit of a lab as notes print it, "" for none."""
    profile = lab_profiles().get(lab)
    if profile is not None and profile.display is not None:
        return profile.display
    concept = knowledge.labs().get(lab)
    if concept is None or not concept.unit:
        return ""
    unit = knowledge.units().get(concept.unit)
    return unit.display if unit is not None else concept.unit


@cache
def _drug_name(drug: str, charted: str) -> str:
    concept = knowledge.drugs().get(drug)
    if concept is None or not charted.lower().startswith(concept.name.en.lower().split(" ")[0]):
        return charted
    return " ".join(word if any(char.isdigit() for char in word) else lowered(word) for word in charted.split(" "))


def service_name(service: str) -> str:
    """Return the name of a service."""
    concept = knowledge.findings().get(service)
    return concept.name.en if concept is not None else service.replace("_", " ").capitalize()


def _wording(profile: FindingProfile, sign: Sign, register: str, teller: Teller, lot: int, *, absent: bool) -> str:
    """Return one of the wordings: what is seen or measured is worded alike wherever one patient's notes tell it."""
    if register == "abbrev" and not (absent and profile.type == "sign"):
        seen = profile.type == "sign"  # an examination keeps its plus ("+SLR")
        short = [one if seen else one.lstrip("+ ") for one in profile.abbreviated]
        short = [one for one in short if len(one) > 1 and not _TWO.fullmatch(one)]
        short = [one for one in short if not (absent and one.startswith("no "))]
        if short and (absent is False or profile.absent) and teller.chance(70):
            return teller.pick(short)
    if absent and profile.absent:
        single = tuple(one for one in profile.absent if " or " not in one)
        return teller.pick(single or profile.absent)
    told = tuple(sign.attributes[name].en for name in ("quality", "region") if name in sign.attributes)
    options = _agreeing(profile.id, told) if told else profile.present
    return teller.pick(options) if profile.type in _RETOLD else options[lot % len(options)]


@cache
def _agreeing(finding: str, told: tuple[str, ...]) -> tuple[str, ...]:
    """Return the phrases that do not speak of another quality or region than the one that is told."""
    profile = finding_profiles()[finding]
    said = _content(" ".join(told))
    others = _content(" ".join((*profile.quality.en, *profile.region.en))) - said
    fitting = tuple(one for one in profile.present if not _content(one) & others)
    return fitting or profile.present


def _content(text: str) -> frozenset[str]:
    return frozenset(word for word in words_of(text) if len(word) >= _CONTENT and word not in table("plain_words"))


def _sided(text: str, side: str | None) -> str:
    """Return a finding with its side where the part of the body is named: "swelling of the left leg"."""
    if "{side}" in text:
        return " ".join(text.replace("{side}", side or "").split())
    words = text.split(" ")
    if side is None or side in words or "bilateral" in text:
        return text
    limbs = table("limbs")
    if "unilateral" in words:
        following = words[words.index("unilateral") + 1 :][:1]
        return text.replace("unilateral", side if following and following[0] in limbs else f"{side}-sided")
    if "one" in words:
        return text.replace("one ", f"the {side} ", 1)
    words = [word for word in words if word != "one-sided"]
    for place, word in enumerate(words):
        if word.strip(",;") in limbs:
            if place and words[place - 1] in table("limb_words"):
                place -= 1
            return " ".join([*words[:place], side, *words[place:]])
    return text
