"""What the patient says of symptoms, pain and daily life: usable facts, items and lines in both languages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from wardround.patients import Dialogue, Fact, knowledge, load_data
from wardround.patients.knowledge import Names, finding_profiles
from wardround.rubrics import AnyOf, Check, Item, MentionCheck, ReportsCheck, RetrievedCheck, ValueCheck, check_answer
from wardround.sessions.record import casual

from .move import Case
from .parts import item

PRONOUNS: Final = {"female": Names(en="she", zh="她"), "male": Names(en="he", zh="他")}
Polarity = Literal["present", "absent"]
_PLAIN: Final = frozenset({"walking", "care", "living"})
"""Parts of daily life whose names alone say nothing."""
_TREATED: Final = 4
"""From this score on pain is more than mild."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Say(_Frozen):
    """How one thing of daily life is told."""

    concept: str
    """Of the fact, as the interview writes it, else as the lexicon knows it."""
    about: str
    polarity: Polarity = "present"
    en: str
    """A clause without subject."""
    zh: str
    less: bool = False
    """It is less than being well and managing alone."""
    also: tuple[str, ...] = ()
    """Words that say it as well, which the lexicon does not know as it."""


class PatientWords(_Frozen):
    """The whole file."""

    format_version: Literal[1]
    about: str
    symptom: dict[Polarity, Names]
    pain: dict[Polarity, Names]
    says: tuple[Say, ...]
    function: tuple[str, ...]
    """What is asked of how somebody manages, in order."""
    social: tuple[str, ...]
    items: dict[str, Names]
    """Sentence of the item, by what it is about; {say}."""
    analgesics: tuple[str, ...]
    """Classes of drugs that are given for pain."""
    other_use: tuple[str, ...]
    """Classes of which a drug is given for something else, whatever other class it has."""


@lru_cache(maxsize=1)
def patient_words() -> PatientWords:
    """Return the words (data/patient.json).

    Raises:
        DataError: The file is faulty; says field and fault.
    """
    return load_data("wardround.sessions", "data/patient.json", PatientWords)


@dataclass(frozen=True)
class Told:
    """One thing that the patient says, as items and answers tell it."""

    fact: Fact
    ids: tuple[str, ...]
    """Every fact of the interview that says the same."""
    concept: str
    """Id of the lexicon."""
    names: Names
    polarity: Polarity
    clause: Names
    """Without subject; of a symptom, the whole sentence without full stop."""
    less: bool = False
    about: str = "symptom"
    also: tuple[str, ...] = ()
    """Words that say it as well."""

    @property
    def uncharted(self) -> bool:
        """Whether the record does not know it."""
        return self.fact.source == "simulated"

    @property
    def news(self) -> bool:
        """Whether something is there that the record does not know."""
        return self.uncharted and self.polarity == "present"

    @property
    def keys(self) -> frozenset[str]:
        """What an answer that tells it rests on."""
        return frozenset(f"fact/{one}" for one in self.ids)


# -- facts -------------------------------------------------------------------------------------------------------------


def symptoms(case: Case) -> Mapping[str, Told]:
    """Return the symptoms that the patient reports or denies, by concept, each told and read without doubt."""
    return case.memo("patient.symptoms", _symptoms)


def _symptoms(case: Case) -> dict[str, Told]:
    grouped: dict[str, list[Fact]] = {}
    for fact in case.interview.facts:
        if fact.kind in ("symptom", "complaint"):
            concept = knowledge.lexicon().resolve(fact.concept, kinds=("finding",))
            if concept is not None:
                grouped.setdefault(concept.id, []).append(fact)
    found = {}
    for concept_id, facts in grouped.items():
        told = _symptom(concept_id, facts)
        if told is not None and not _contradicted(told, grouped) and _heard_alone(case, told):
            found[concept_id] = told
    return found


def _symptom(concept_id: str, facts: Sequence[Fact]) -> Told | None:
    polarity = facts[0].polarity
    profile = finding_profiles().get(concept_id)
    if any(one.polarity != polarity for one in facts) or (profile is not None and profile.type != "symptom"):
        return None
    names = symptom_names(concept_id)
    if names is None:
        return None
    say = patient_words().symptom[polarity]
    clause = Names(en=say.en.format(symptom=names.en), zh=str(say.zh).format(symptom=names.zh))
    if not is_read(names.en, polarity, clause):
        return None
    # the fact of the sign itself says more than the complaint
    fact = next((one for one in facts if one.kind == "symptom"), facts[0])
    return Told(fact, tuple(one.id for one in facts), concept_id, names, polarity, clause)


@lru_cache(maxsize=1024)
def symptom_names(concept: str) -> Names | None:
    """Return what a symptom is called within a sentence; None without a name in both languages."""
    known = knowledge.findings().get(concept)
    if known is None or not known.name.zh:
        return None
    return Names(en=casual(known.name.en), zh=known.name.zh)


def _contradicted(told: Told, grouped: Mapping[str, list[Fact]]) -> bool:
    """Tell whether a wider or narrower symptom is told the other way round."""
    words = knowledge.lexicon()
    near = [one for one in grouped if one != told.concept and (words.is_a(one, told.concept) or _wider(one, told))]
    return any(fact.polarity != told.polarity for one in near for fact in grouped[one])


def _wider(other: str, told: Told) -> bool:
    return knowledge.lexicon().is_a(told.concept, other)


def _heard_alone(case: Case, told: Told) -> bool:
    """Tell whether asking by its name, in either language, brings it."""
    names = (told.names.en, str(told.names.zh))
    asked = (Dialogue(case.interview).ask("patient.get_symptom_history", {"query": name}) for name in names)
    return all(set(told.ids) & set(said.facts) for said in asked)


@lru_cache(maxsize=2048)
def is_read(name: str, polarity: Polarity, clause: Names) -> bool:
    """Tell whether our reader finds a thing told, and not its contrary, in the sentence in both languages."""
    other: Polarity = "absent" if polarity == "present" else "present"
    for language, sentence in (("en", f"{clause.en}."), ("zh", f"{clause.zh}。")):
        mine = check_answer(ReportsCheck(concept=name, polarity=polarity), sentence, language=language)
        contrary = check_answer(ReportsCheck(concept=name, polarity=other), sentence, language=language)
        if not mine.passed or contrary.passed:
            return False
    return True


def daily_life(case: Case) -> Mapping[str, Told]:
    """Return what the patient says of walking, daily activities, falls, living, smoking and alcohol, by what it is."""
    return case.memo("patient.daily_life", _daily_life)


def _daily_life(case: Case) -> dict[str, Told]:
    found: dict[str, list[Told]] = {}
    for fact in case.interview.facts:
        if fact.kind in ("function", "social"):
            told = _told(fact)
            if told is not None:
                found.setdefault(told.about, []).append(told)
    return {about: one[0] for about, one in found.items() if len(one) == 1}


def _told(fact: Fact) -> Told | None:
    concept = knowledge.lexicon().resolve(fact.concept)
    if concept is None:
        return None
    says = [one for one in patient_words().says if one.polarity == fact.polarity]
    say = next((one for one in says if one.concept == fact.concept), None)
    say = say or next((one for one in says if one.concept == concept.id), None)
    if say is None:
        return None
    clause = Names(en=say.en, zh=say.zh)
    if not is_read(concept.name.en, fact.polarity, Names(en=f"The patient says she {say.en}", zh=f"患者说{say.zh}")):
        return None
    return Told(fact, (fact.id,), concept.id, concept.name, fact.polarity, clause, say.less, say.about, say.also)


@dataclass(frozen=True)
class Pain:
    """How much it hurts now, as the patient says."""

    fact: Fact
    score: int
    where: Names | None
    """The pain that it is; None where that is not told."""

    @property
    def news(self) -> bool:
        """Whether it hurts enough to be treated, and the record does not say so."""
        return self.fact.source == "simulated" and self.score >= _TREATED


def pain(case: Case) -> Pain | None:
    """Return the pain score that the patient gives; None where no number is told."""
    return case.memo("patient.pain", _pain)


def _pain(case: Case) -> Pain | None:
    facts = [one for one in case.interview.facts if one.kind == "pain"]
    if len(facts) != 1 or not facts[0].attributes.get("score", "").isdecimal():
        return None
    fact = facts[0]
    score = fact.attributes["score"]
    said = {
        language: Dialogue(case.interview).ask("patient.get_pain_assessment", {}, language).text
        for language in ("en", "zh")
    }
    # "at its worst it was a 9" tells nothing of now; a nought may be told in words
    only_worst = fact.attributes.get("worst") == score and not fact.source.startswith("Observation/")
    if fact.source != "simulated" and only_worst:
        return None
    if int(score) and not all(score in text for text in said.values()):
        return None
    concept = knowledge.lexicon().resolve(fact.concept, kinds=("finding",))
    named = concept is not None and all(_names(text, concept.id) for text in said.values())
    where = symptom_names(concept.id) if concept is not None and named and int(score) else None
    return Pain(fact, int(score), where if concept is not None and concept.id != "pain" else None)


def _names(text: str, concept: str) -> bool:
    found = knowledge.lexicon().scan(text, kinds=("finding",))
    return any(concept in mention.concepts for mention in found)


# -- items -------------------------------------------------------------------------------------------------------------


def heard_item(name: str, ids: Iterable[str]) -> Item:
    """Return the item that the patient was asked and told one of these facts; its id begins with "heard"."""
    check = RetrievedCheck(any_of=tuple(f"fact/{one}" for one in ids))
    return item(f"heard-{name}", "Asked the patient about it.", "问过患者本人。", check)


def told_items(told: Told) -> list[Item]:
    """Return the items that something was asked and that what the patient said of it is conveyed.

    How somebody walks, manages and lives, and what is denied, may be put plainly ("Walks unaided, no falls."); what the
    query itself names (a symptom, falls, smoking) must be given as what the patient says.
    """
    name = told.concept if told.about == "symptom" else told.about
    check: Check = ReportsCheck(concept=told.names.en, polarity=told.polarity)
    if told.about in _PLAIN or told.polarity == "absent":
        plainly = (MentionCheck(concept=one, polarity=told.polarity) for one in (told.names.en, *told.also))
        check = AnyOf(checks=(check, *plainly))
    if told.about == "symptom":
        en, zh = f"Conveys: {told.clause.en}.", f"转述：{told.clause.zh}。"
    else:
        words = patient_words().items[told.about]
        en, zh = words.en.format(say=told.clause.en), str(words.zh).format(say=told.clause.zh)
    return [heard_item(name, told.ids), item(f"says-{name}", en, zh, check, (f"heard-{name}",))]


def pain_items(told: Pain) -> list[Item]:
    """Return the items that pain was asked about and that the score, and where it hurts, are conveyed."""
    check: Check = ValueCheck(concept="pain score", value=told.score, unit="/10")
    if told.score == 0:
        check = AnyOf(checks=(check, ReportsCheck(concept="pain", polarity="absent")))
    en, zh = f"States the pain score as {told.score}/10.", f"说出疼痛评分为{told.score}分。"
    found = [heard_item("pain", (told.fact.id,)), item("says-pain", en, zh, check, ("heard-pain",))]
    if told.where is not None:
        where = ReportsCheck(concept=told.where.en)
        en, zh = f"Conveys where it hurts: {told.where.en}.", f"转述是什么疼痛：{told.where.zh}。"
        found.append(item("says-where", en, zh, where, ("heard-pain",)))
    return found


# -- lines -------------------------------------------------------------------------------------------------------------


def life_line(case: Case, told: Sequence[Told]) -> Names:
    """Return one sentence without full stop about daily life; what is denied stands last, for it reaches far."""
    ordered = sorted(told, key=lambda one: one.polarity == "absent")
    english, chinese = [one.clause.en for one in ordered], [str(one.clause.zh) for one in ordered]
    listed = english[0] if len(english) == 1 else f"{', '.join(english[:-1])} and {english[-1]}"
    return Names(en=f"The patient says {PRONOUNS[case.view.sex].en} {listed}", zh=f"患者说{'，'.join(chinese)}")


def pain_line(told: Pain) -> Names:
    """Return the sentence about pain, without full stop."""
    say = patient_words().pain["present" if told.score else "absent"]
    en, zh = say.en.format(score=told.score), str(say.zh).format(score=told.score)
    if told.where is None:
        return Names(en=en, zh=zh)
    return Names(en=f"{en} and reports {told.where.en}", zh=f"{zh}，有{told.where.zh}")
