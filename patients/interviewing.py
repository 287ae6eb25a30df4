"""Makes an interview for any chart: facts from what is known at the anchor, and seeded persona facts beside them.

A record such as MIMIC says nothing of adherence, reasons or daily life; such facts are drawn from
`data/interviewing.json`, never against the record, and their `source` is "simulated".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, Literal

import orjson

from . import knowledge
from .chart import Snapshot
from .elements import age_at, tail
from .interview import Fact, FactKind, Interview, InterviewTool, Level, Persona, Reply, Words
from .resource import rank_of
from .rng import Stream
from .stays import is_hospital_stay
from .voice import Pair, Voice, pairs, voice_data

SIMULATED = "simulated"
_ADHERENCE: InterviewTool = "patient.get_medication_adherence"
_SYMPTOMS: InterviewTool = "patient.get_symptom_history"
_DAILY_LIFE = ("patient.get_social_history", "patient.get_functional_status")
_ONLY_CODED = frozenset({"heavy"})
"""Options of social life that are never drawn: only the record may say them."""


@cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = orjson.loads(
        resources.files("wardround.patients").joinpath("data", "interviewing.json").read_bytes()
    )
    return data


def make_interview(
    snapshot: Snapshot, seed: int, persona: Persona | None = None, withhold: str | None = None
) -> Interview:
    """Make what the patient of a chart knows and every word they will say.

    Args:
        snapshot: The record at the anchor; nothing later is looked at.
        seed: With the patient's id, decides everything that is drawn.
        persona: How the patient talks; drawn where None.
        withhold: Concept id of the drug whose adherence is held back until it is named. None: drawn among the drugs
            taken at home where the persona is `critical_withheld`, monitored drugs first.

    Returns:
        An interview whose simulated facts carry the source "simulated".
    """
    record = _Record(snapshot)
    if persona is None:
        persona = _persona(Stream("persona", seed, snapshot.patient_id), record, withhold)
    elif withhold is not None and persona.disclosure == "open":
        persona = persona.model_copy(update={"disclosure": "critical_withheld"})
    draft = _Draft(record, persona, Voice(persona, record.sex, (seed, snapshot.patient_id)))
    draft.symptoms()
    draft.adherence(withhold)
    draft.social()
    draft.function()
    draft.pain()
    return Interview(facts=tuple(draft.facts), replies=tuple(draft.replies), persona=persona)


def interview_stats(interview: Interview) -> dict[str, int]:
    """Count an interview: facts, how many are simulated, how many withheld, and recorded replies."""
    return {
        "facts": len(interview.facts),
        "simulated": sum(fact.source == SIMULATED for fact in interview.facts),
        "withheld": sum(fact.withheld for fact in interview.facts),
        "replies": len(interview.replies),
    }


class _Record:
    """What the makers of facts need to know of a record."""

    def __init__(self, snapshot: Snapshot) -> None:
        patient = next(iter(snapshot.resources("Patient")), {})
        self.patient_key = f"Patient/{patient['id']}" if patient else SIMULATED
        self.sex = str(patient.get("gender", "unknown"))
        self.age = age_at(patient["birthDate"], snapshot.anchor) if "birthDate" in patient else None
        self.marital = _marital(patient.get("maritalStatus", {}))
        self.codes = _icd_codes(snapshot)
        self.drugs = _home_drugs(snapshot)

    def coded(self, prefixes: Iterable[str]) -> str | None:
        """Return the key of the first diagnosis whose code begins with one of the prefixes, or None."""
        place = self.place(prefixes)
        return None if place is None else self.codes[place][0]

    def place(self, prefixes: Iterable[str]) -> int | None:
        """Return how far down the list of diagnoses the first such one stands, or None."""
        wanted = tuple(prefixes)
        for place, (_, ten, code) in enumerate(self.codes):
            if any(_begins(code, prefix, ten) for prefix in wanted):
                return place
        return None


def _begins(code: str, prefix: str, ten: bool) -> bool:
    """Compare a code with a prefix of its own system: in ICD-9, letters are external causes (E) and history (V)."""
    if not ten and code[:1].isalpha():
        return prefix.startswith("V") and code.startswith(prefix)
    return code.startswith(prefix) and not (ten and prefix.startswith("V"))


def _icd_codes(snapshot: Snapshot) -> list[tuple[str, bool, str]]:
    """Return (key, whether ICD-10, code without dots), the newest stay first and in it the principal diagnosis."""
    stay = next((one["id"] for one in snapshot.resources("Encounter") if is_hospital_stay(one)), None)
    found = []
    for place, condition in enumerate(snapshot.resources("Condition")):
        elsewhere = tail(condition.get("encounter")) != stay
        order = (elsewhere, rank_of(condition) or 999, place)
        for coding in condition.get("code", {}).get("coding", ()):
            system, code = str(coding.get("system", "")).casefold(), str(coding.get("code", ""))
            if code and "icd" in system:
                ten = "icd-10" in system or "icd10" in system
                found.append((order, (f"Condition/{condition['id']}", ten, code.replace(".", "").upper())))
    return [code for _, code in sorted(found)]


def _marital(concept: dict[str, Any]) -> str | None:
    """Return the v3 code of a marital status, else its words folded."""
    for coding in concept.get("coding", ()):
        if coding.get("code"):
            return str(coding["code"])
    text = concept.get("text")
    return None if text is None else str(text).strip().casefold()


def _home_drugs(snapshot: Snapshot) -> tuple[str, ...]:
    """Return the drugs of active orders that a patient takes alone, monitored ones first, then by newest order."""
    words, data = knowledge.lexicon(), _data()
    found: dict[str, None] = {}
    for order in snapshot.resources("MedicationRequest"):
        if order.get("status") != "active" or not _home_route(order, data["home_routes"]):
            continue
        name = order.get("medicationCodeableConcept", {}).get("text", "")
        named = dict.fromkeys(mention.concept for mention in words.scan(name, kinds=("drug",)))
        if len(named) == 1:
            (drug,) = named
            if not any(words.is_a(drug, one) for one in data["not_home_classes"]):
                found[drug] = None
    monitored = [target for pair in knowledge.monitoring().values() for target in pair.drugs]
    ranked = sorted(found, key=lambda drug: not any(words.is_a(drug, one) for one in monitored))
    return tuple(ranked[: data["most_drugs"]])


def _home_route(order: dict[str, Any], routes: list[str]) -> bool:
    texts = []
    for dosage in order.get("dosageInstruction", ()):
        route = dosage.get("route", {})
        texts += [route.get("text"), *(coding.get("display") for coding in route.get("coding", ()))]
        texts += [coding.get("code") for coding in route.get("coding", ())]
    return any(str(text).strip().casefold() in routes for text in texts if text)


def _persona(stream: Stream, record: _Record, withhold: str | None) -> Persona:
    rules = _data()["persona"]
    literacy: Level = stream.choice(rules["literacy"])
    anxiety: Level = stream.choice(rules["anxiety"])
    adherence: Literal["good", "uncertain", "poor"] = stream.choice(rules["adherence"])
    held = withhold is not None or (
        adherence != "good" and bool(record.drugs) and stream.chance(rules["withhold_in_10"], 10)
    )
    return Persona(
        literacy=literacy,
        anxiety=anxiety,
        adherence="poor" if withhold is not None and adherence == "good" else adherence,
        disclosure="critical_withheld" if held else "open",
        informant="caregiver" if record.coded(_data()["caregiver_codes"]) else "patient",
    )


@dataclass(slots=True)
class _Draft:
    """An interview in the making."""

    record: _Record
    persona: Persona
    voice: Voice
    facts: list[Fact] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)

    def symptoms(self) -> None:
        """Add the chief complaint, other symptoms and some that are absent, each fitting the coded diagnoses."""
        data = _data()
        stream = self.voice.stream("symptoms")
        fitting = self._fitting(data["symptoms"])
        known = [entry for entry in fitting if _finding(entry["finding"]) is not None]
        chosen = known[: 1 + stream.below(data["most_symptoms"])]
        told: list[tuple[Fact, list[Pair]]] = []
        for number, entry in enumerate(chosen):
            told.append(self._symptom(entry, "complaint" if number == 0 else "symptom"))
        if told:
            sentences = [*told[0][1][:2], *(said[1][0] for said in told[1:])]
            disclosed = tuple(fact.id for fact, _ in told)
            self._reply(_SYMPTOMS, None, disclosed, sentences)
        possible = {entry["finding"] for entry in fitting}
        denied = [name for name in data["denied"] if name not in possible and _finding(name) is not None]
        for name in stream.shuffled(denied)[:2]:
            self._denied(name)

    def _fitting(self, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the symptoms that fit a diagnosis, those of the leading ones first; what fits any of them is last."""
        placed = [(self.record.place(entry["codes"]), entry) for entry in entries]
        ranked = [("" in entry["codes"], place, n) for n, (place, entry) in enumerate(placed) if place is not None]
        return [entries[number] for *_, number in sorted(ranked)]

    def _symptom(self, entry: dict[str, Any], kind: FactKind) -> tuple[Fact, list[Pair]]:
        name = entry["finding"]
        concept = _finding(name) or name
        stream = self.voice.stream("symptom", name)
        onset = stream.choice(_data()["onsets"])
        say = self.voice.fill(stream.choice(pairs(entry)))
        began = self.voice.fill(stream.choice(voice_data()["onset"]), {"onset": onset})
        attributes = {"onset": onset["attribute"]}
        if entry["worse"]["attribute"] != "none":
            attributes["provocation"] = entry["worse"]["attribute"]
        sentences = [say, began, self.voice.fill(entry["worse"])]
        fact = Fact(
            id=f"symptom-{concept.replace(' ', '_')}",
            kind=kind,
            concept=concept,
            attributes=attributes,
            source=SIMULATED,
        )
        self.facts.append(fact)
        self._reply(_SYMPTOMS, fact.id, (fact.id,), sentences)
        return fact, sentences

    def _denied(self, name: str) -> None:
        concept = _finding(name) or name
        stream = self.voice.stream("denied", name)
        fact = Fact(
            id=f"no-{concept.replace(' ', '_')}", kind="symptom", concept=concept, polarity="absent", source=SIMULATED
        )
        self.facts.append(fact)
        sentences = [stream.choice(pairs(_data()["denied_words"][name])), stream.choice(voice_data()["denied_more"])]
        self._reply(_SYMPTOMS, fact.id, (fact.id,), [self.voice.fill(pair) for pair in sentences])

    def adherence(self, withhold: str | None) -> None:
        """Add one fact per drug taken at home; one is held back where the persona holds back."""
        drugs = self.record.drugs
        if withhold is not None and withhold not in drugs:
            drugs = (withhold, *drugs)
        held = withhold
        if held is None and self.persona.disclosure == "critical_withheld" and drugs:
            held = self.voice.stream("withheld").choice(drugs[:3])
        for drug in drugs:
            self._drug(drug, drug == held)

    def _drug(self, drug: str, held: bool) -> None:
        data, said = _data(), voice_data()["adherence"]
        stream = self.voice.stream("adherence", drug)
        state = stream.choice(data["states"]["withheld" if held else self.persona.adherence])
        reason = _reason(stream, drug, state)
        since = stream.choice(data["since"])
        names = _names(drug)
        sentences = [self.voice.fill(stream.choice(said[state]["say"]), {"drug": names, "since": since})]
        if reason is not None:
            sentences.append(self.voice.fill(reason))
        if said[state]["more"]:
            sentences.append(self.voice.fill(stream.choice(said[state]["more"])))
        fact = Fact(
            id=f"adherence-{drug}",
            kind="adherence",
            concept=drug,
            attributes={"since": since["attribute"]} if state == "stopped" else {},
            drug=drug,
            state=state,
            reason=None if reason is None else _finding(reason["reason"]) or reason["reason"],
            source=SIMULATED,
            withheld=held,
        )
        self.facts.append(fact)
        self._reply(_ADHERENCE, fact.id, (fact.id,), sentences)

    def social(self) -> None:
        """Add smoking, alcohol and living situation: as the record says, else drawn."""
        told = [self._social_fact(topic, options) for topic, options in _data()["social"].items()]
        self._general("patient.get_social_history", told)

    def _social_fact(self, topic: str, options: dict[str, dict[str, Any]]) -> tuple[Fact, Pair]:
        stream = self.voice.stream("social", topic)
        source = SIMULATED
        chosen: dict[str, Any] | None = None
        for option in options.values():
            key = self.record.coded(option.get("codes", ()))
            if key is None and self.record.marital is not None and self.record.marital in option.get("marital", ()):
                key = self.record.patient_key
            if key is not None:
                chosen, source = option, key
                break
        if chosen is None:
            chosen = stream.choice([option for name, option in options.items() if name not in _ONLY_CODED])
        say = self.voice.fill(stream.choice(pairs(chosen)))
        return self._life("social", topic, chosen, source), say

    def function(self) -> None:
        """Add walking, self care and who looks after the medicines, as the age allows."""
        told = []
        for topic, options in _data()["function"].items():
            stream = self.voice.stream("function", topic)
            age = self.record.age if self.record.age is not None else 50
            fitting = [one for one in options if one.get("age_from", 0) <= age < one.get("age_below", 999)]
            chosen = stream.choice(fitting)
            say = self.voice.fill(stream.choice(pairs(chosen)))
            told.append((self._life("function", topic, chosen, SIMULATED), say))
        self._general("patient.get_functional_status", told)

    def _life(self, kind: FactKind, topic: str, chosen: dict[str, Any], source: str) -> Fact:
        name = chosen.get("concept", topic)
        fact = Fact(
            id=f"{kind}-{topic.replace(' ', '_')}",
            kind=kind,
            concept=_finding(name) or name,
            polarity=chosen["polarity"],
            attributes={"detail": chosen["detail"]},
            source=source,
        )
        self.facts.append(fact)
        return fact

    def _general(self, tool: InterviewTool, told: list[tuple[Fact, Pair]]) -> None:
        """Record the general reply of a tool, and one for each of its facts."""
        self._reply(tool, None, tuple(fact.id for fact, _ in told), [say for _, say in told])
        for fact, say in told:
            self._reply(tool, fact.id, (fact.id,), [say])

    def pain(self) -> None:
        """Add the pain score: what a painful symptom allows, else little or none."""
        data = _data()["pain"]
        stream = self.voice.stream("pain")
        painful = {_finding(name) or name: name for name in data["painful"]}
        where = next((painful[fact.concept] for fact in self.facts if self._shows(fact, painful)), "")
        score = 3 + stream.below(5) if where else stream.below(3)
        sentence = stream.choice(pairs(data["none"] if score == 0 else data["some"]))
        number = str(score)
        sentences = [self.voice.fill(sentence, {"score": {"en": number, "zh": number}})]
        if score > 0:
            sentences.append(self.voice.fill(data["where"][where]))
        fact = Fact(
            id="pain-now",
            kind="pain",
            concept=_finding("pain") or "pain",
            polarity="present" if score else "absent",
            attributes={"score": number},
            source=SIMULATED,
        )
        self.facts.append(fact)
        for asked in (None, fact.id):
            self._reply("patient.get_pain_assessment", asked, (fact.id,), sentences)

    def _troubles(self, fact_id: str) -> bool:
        """Tell whether a fact is one to worry about: a symptom, pain, or a drug that is not taken as it should be."""
        fact = next(one for one in self.facts if one.id == fact_id)
        return fact.polarity == "present" and fact.state != "taking"

    @staticmethod
    def _shows(fact: Fact, concepts: dict[str, str]) -> bool:
        return fact.polarity == "present" and fact.kind in ("complaint", "symptom") and fact.concept in concepts

    def _reply(self, tool: InterviewTool, fact: str | None, disclosed: tuple[str, ...], sentences: list[Pair]) -> None:
        calm = tool in _DAILY_LIFE or (fact is not None and not self._troubles(fact))
        words: Words = self.voice.compose(f"{tool}/{fact}", sentences, calm=calm)
        self.replies.append(Reply(tool=tool, fact=fact, disclosed=disclosed, text=words))


def _finding(name: str) -> str | None:
    """Return the id of a finding by name, or None where the knowledge base lacks it."""
    found = knowledge.lexicon().resolve(name, kinds=("finding",))
    return None if found is None else found.id


def _names(drug: str) -> Pair:
    concept = knowledge.lexicon().resolve(drug, kinds=("drug",))
    if concept is None:
        return {"en": drug.replace("_", " "), "zh": drug.replace("_", " ")}
    return {"en": concept.name.en, "zh": concept.name.zh or concept.name.en}


def _reason(stream: Stream, drug: str, state: str) -> dict[str, Any] | None:
    """Draw a reason that fits drug and state; one made for the drug's class is likelier than a general one."""
    words = knowledge.lexicon()
    fitting = [one for one in _data()["reasons"] if state in one["states"]]
    special = [one for one in fitting if any(words.is_a(drug, group) for group in one["classes"])]
    general = [one for one in fitting if not one["classes"]]
    pool = special if special and (not general or stream.chance(2, 3)) else general
    return stream.choice(pool) if pool else None
