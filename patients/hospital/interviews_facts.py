"""What a patient knows at an encounter: the facts of a life as facts of an interview."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from wardround.patients.interview import Fact, Persona
from wardround.patients.knowledge.bedside import drug_profiles, finding_profiles
from wardround.patients.rng import Stream
from wardround.patients.times import Instant

from .functioning import informant_of
from .interviews_effects import Effect, effects
from .life import Adherence, Function, Illness, Life, Prescription, Result, Sign, Stay
from .making import age_at
from .phrasing import limit
from .speaking import speech
from .speaking_symptoms import told_symptoms

_WITHHOLD = 90
"""Of a hundred patients with a drug that they do not take and that no note tells of, how many hold it back."""
_WORST = ("stopped", "never_started", "reduced", "missed_doses", "took_extra", "unsure")
_BAD = frozenset(_WORST[:4])


@dataclass(frozen=True, slots=True)
class Known:
    """What is true of a patient in one encounter with all its parts (the emergency visit and intensive care of a stay).

    Symptoms are those that the patient came with, pain is as last measured by `now`, everything else as of the arrival.
    """

    life: Life
    root: Stay
    begin: Instant
    """When it began, with its first part."""
    age: int
    present: tuple[Sign, ...]
    absent: tuple[Sign, ...]
    adherence: tuple[Adherence, ...]
    """One for every drug, the worst where two orders differ."""
    function: Function | None
    first: str
    """The first encounter, where the chart has the social history."""
    illnesses: dict[str, Illness]
    orders: dict[str, Prescription]
    now: Instant
    """When it is told: the end, or an earlier instant."""
    pains: tuple[Result, ...]
    """Every pain score, in order of time."""
    better: tuple[Instant, ...]
    """When the patient was found to be better, in order of time."""
    effects: tuple[Effect, ...]
    """What home drugs do and do not."""

    @property
    def inpatient(self) -> bool:
        """Whether times are told as from coming in."""
        return self.root.kind in ("ward", "icu")

    @property
    def pain(self) -> Result | None:
        """The last pain score."""
        return next((one for one in reversed(self.pains) if one.known_at <= self.now), None)

    @property
    def improved(self) -> bool:
        """Whether the patient has been found to be better."""
        return any(at <= self.now for at in self.better)

    def changes(self) -> list[Instant]:
        """Return when pain or getting better makes what is told another, in order of time."""
        found: list[Instant] = []
        before: tuple[str | None, bool] = (None, False)
        for at in sorted({*(one.known_at for one in self.pains), *self.better}):
            then = self.as_of(at)
            state = (then.pain.text if then.pain is not None else None, then.improved)
            if at > self.begin and at <= self.now and state != before:
                found.append(at)
            before = state
        return found

    def as_of(self, instant: Instant) -> Known:
        """Return what is known at an earlier instant."""
        return replace(self, now=instant)

    @property
    def complaint(self) -> Sign | None:
        """The complaint, if it is something that the patient feels."""
        return next((one for one in self.present if one.finding == self.root.complaint), None)

    @property
    def sore(self) -> Sign | None:
        """What hurts most."""
        scored = [one for one in self.present if one.score is not None]
        return max(scored, key=lambda one: (one.score or 0, one is self.complaint, -int(one.id[1:])), default=None)

    def worst(self, sign: Sign) -> int | None:
        """Return how much a symptom hurt at its worst: what hurts most, not less than was charted so far."""
        if sign.score is None or sign is not self.sore:
            return sign.score
        return max([sign.score, *(int(one.text) for one in self.pains if one.known_at <= self.now)])


def knowns(life: Life) -> list[tuple[Known, tuple[Stay, ...]]]:
    """Return what is known in each encounter, with its stays, in order of time."""
    parents = {one.id: one.part_of for one in life.stays}

    def top(identity: str) -> str:
        above = parents[identity]
        while above is not None:
            identity, above = above, parents[above]
        return identity

    tops = {one: top(one) for one in parents}
    illnesses = {one.id: one for one in life.illnesses}
    orders = {one.id: one for one in life.prescriptions}
    roots = [one for one in life.stays if one.part_of is None]
    found = []
    for root in roots:
        parts = tuple(one for one in life.stays if tops[one.id] == root.id)
        found.append((_known(life, root, parts, roots[0].id, illnesses, orders), parts))
    return found


def _known(
    life: Life, root: Stay, parts: tuple[Stay, ...], first: str, illnesses: dict[str, Illness],
    orders: dict[str, Prescription],
) -> Known:  # fmt: skip
    ids = frozenset(one.id for one in parts)
    signs = [one for one in life.signs if one.encounter in ids and one.finding in finding_profiles()]
    present = told_symptoms([one for one in signs if one.present and one.type in ("symptom", "history")])
    there = {one.finding for one in present}
    drugs = _drugs([one for one in life.adherence if one.encounter in ids])
    # What a drug is blamed for is not denied in the same breath.
    blamed = {one.reason_concept for one in drugs}
    denied = [
        one for one in signs
        if not one.present and one.type == "symptom" and one.finding not in there and one.finding not in blamed
    ]  # fmt: skip
    pains = [one for one in life.results if one.lab == "pain_score" and one.encounter in ids and one.text.isdigit()]
    begin = min(one.start for one in parts)
    age = age_at(life.person.birth_date, begin)
    spoken = {one.finding for one in life.signs if one.encounter in ids} | {root.complaint}
    spoken |= {one.reason_concept for one in drugs if one.reason_concept is not None}
    return Known(
        life=life,
        root=root,
        begin=begin,
        age=age,
        present=_unique(present),
        absent=_unique(told_symptoms(denied)),
        adherence=drugs,
        function=next((one for one in life.functions if one.encounter in ids), None),
        first=first,
        illnesses=illnesses,
        orders=orders,
        now=root.end,
        pains=tuple(sorted(pains, key=lambda one: (one.at, int(one.id[1:])))),
        better=tuple(sorted(one.at for one in life.events if one.kind == "improved" and one.encounter in ids)),
        # no drug that may be held back: it is named when its effect is told
        effects=effects(
            life, root, age, [one for one in drugs if one.charted or one.state not in _BAD], frozenset(spoken)
        ),
    )


def _unique(signs: Sequence[Sign]) -> tuple[Sign, ...]:
    found: dict[str, Sign] = {}
    for one in signs:
        found.setdefault(one.finding, one)
    return tuple(found.values())


def _drugs(facts: Sequence[Adherence]) -> tuple[Adherence, ...]:
    found: dict[str, Adherence] = {}
    for one in facts:
        before = found.get(one.drug)
        if before is None or _rank(one) < _rank(before):
            found[one.drug] = one
    return tuple(found.values())


def _rank(fact: Adherence) -> int:
    return _WORST.index(fact.state) if fact.state in _WORST else len(_WORST)


def persona(known: Known) -> Persona:
    """Return who talks: literacy and anxiety belong to the person, adherence and what is held back to the encounter."""
    life = known.life
    stream = Stream("hospital", life.seed, life.index, "interview", "persona")
    literacy = stream.choice(("low", "medium", "high"))
    anxiety = stream.choice(("low", "medium", "high"))
    states = {one.state for one in known.adherence}
    return Persona(
        literacy=literacy,  # type: ignore[arg-type] # one of the literals
        anxiety=anxiety,  # type: ignore[arg-type] # one of the literals
        adherence="poor" if states & _BAD else "uncertain" if states - {"taking"} else "good",
        disclosure="open" if withheld(known) is None else "critical_withheld",
        informant="caregiver" if _spoken_for(known) else "patient",
    )


def _spoken_for(known: Known) -> bool:
    """Tell whether a caregiver speaks, by the rule of the notes: for children, and where the mind is clouded."""
    return informant_of(known.life, known.root) != "none"


def withheld(known: Known) -> Adherence | None:
    """Return the drug of which the patient tells only when it is named; None: nothing is held back.

    It is the one that matters most of those that are not taken as ordered and of which no note knows.
    """
    hidden = [one for one in known.adherence if one.state in _BAD and not one.charted]
    stream = Stream("hospital", known.life.seed, known.life.index, "interview", known.root.id, "withhold")
    if not hidden or stream.below(100) >= _WITHHOLD:
        return None
    return min(hidden, key=lambda one: (not _matters(known, one), _rank(one), int(one.id[2:])))


def _matters(known: Known, fact: Adherence) -> bool:
    profile, order = drug_profiles()[fact.drug], known.orders.get(fact.prescription)
    return profile.high_risk or (order is not None and order.indication == known.root.principal)


def facts(known: Known) -> dict[str, Fact]:
    """Return the facts of an interview by id, in the order in which they are told."""
    found = [*_symptoms(known), *_pain(known), *_adherence(known), *_effects(known), *_social(known), *_function(known)]
    return {one.id: one for one in found}


def _key(known: Known, kind: str, fact: str) -> str:
    return f"{kind}/{known.life.patient_id}-{fact}"


def _sign_source(known: Known, sign: Sign) -> str:
    """Return the diagnosis that a symptom belongs to, as far as it was made by then, else its encounter."""
    if not sign.told:
        return "simulated"
    for owner, _ in sign.owners:
        illness = known.illnesses.get(owner)
        if illness is not None and illness.known_at <= known.now:
            return _key(known, "Condition", owner)
    return _key(known, "Encounter", sign.encounter)


def _attributes(known: Known, sign: Sign) -> dict[str, str]:
    found = {name: words.en for name, words in sorted(sign.attributes.items())}
    if sign.side is not None:
        found["side"] = sign.side
    if sign.score is not None:
        found["worst"] = str(known.worst(sign))
    return found


def _symptoms(known: Known) -> list[Fact]:
    complaint = known.complaint
    if complaint is not None:
        first = Fact(
            id="complaint", kind="complaint", concept=complaint.finding, attributes=_attributes(known, complaint),
            source=_sign_source(known, complaint),
        )  # fmt: skip
    else:
        first = Fact(
            id="complaint", kind="complaint", concept=known.root.complaint,
            source=_key(known, "Encounter", known.root.id),
        )  # fmt: skip
    found = [first]
    for sign in known.present:
        habit = sign.finding in speech()["habits"] and sign is not complaint
        found.append(
            Fact(id=sign.id, kind="social" if habit else "symptom", concept=sign.finding,
                 attributes=_attributes(known, sign), source=_sign_source(known, sign))
        )  # fmt: skip
    for sign in known.absent:
        found.append(
            Fact(id=sign.id, kind="symptom", concept=sign.finding, polarity="absent",
                 source="simulated" if not sign.told else _key(known, "Encounter", sign.encounter))
        )  # fmt: skip
    return found


def _pain(known: Known) -> list[Fact]:
    sore, score = known.sore, known.pain
    if sore is None and score is None:
        return []
    attributes: dict[str, str] = {}
    if score is not None:
        attributes["score"] = score.text
    if sore is not None:
        attributes["worst"] = str(known.worst(sore))
        attributes.setdefault("score", attributes["worst"])
        if "region" in sore.attributes:
            attributes["region"] = sore.attributes["region"].en
    source = _key(known, "Observation", score.id) if score is not None else _sign_source(known, sore)  # type: ignore[arg-type]
    none = attributes["score"] == "0"
    return [
        Fact(id="pain", kind="pain", concept=sore.finding if sore is not None else "pain",
             polarity="absent" if none else "present", attributes=attributes, source=source)
    ]  # fmt: skip


def _adherence(known: Known) -> list[Fact]:
    hidden = withheld(known)
    found = []
    for one in known.adherence:
        order = known.orders.get(one.prescription)
        attributes = {}
        if one.since is not None:
            attributes["since"] = one.since.en
        if one.reason is not None:
            attributes["why"] = one.reason.en
        if order is not None:
            attributes["frequency"] = order.frequency
        found.append(
            Fact(id=one.id, kind="adherence", concept=one.drug, drug=one.drug, attributes=attributes,
                 state=one.state, reason=one.reason_concept,
                 source=_key(known, "MedicationRequest", one.prescription) if one.charted else "simulated",
                 withheld=hidden is one)
        )  # fmt: skip
    return found


def _effects(known: Known) -> list[Fact]:
    return [
        Fact(id=one.id, kind="symptom", concept=one.finding, drug=one.drug, source="simulated",
             polarity="present" if one.present else "absent")
        for one in known.effects
    ]  # fmt: skip


def _social(known: Known) -> list[Fact]:
    person, found = known.life.person, []
    first = known.first

    def observed(stay: str, what: str) -> str:
        return f"{_key(known, 'Observation', stay)}-{what}"

    found.append(
        Fact(id="living", kind="social", concept=speech()["concepts"]["living"][person.living],
             attributes={"living": person.living}, source=observed(first, "living"))
    )  # fmt: skip
    if known.age >= limit("age_habits"):
        found.append(
            Fact(id="smoking", kind="social", concept="smoking",
                 polarity="present" if person.smoking == "current" else "absent",
                 attributes={"smoking": person.smoking, "pack_years": str(person.pack_years)},
                 source=observed(known.root.id, "smoking"))
        )  # fmt: skip
        found.append(
            Fact(id="alcohol", kind="social", concept="alcohol_use",
                 polarity="absent" if person.alcohol == "none" else "present",
                 attributes={"alcohol": person.alcohol, "drinks_per_week": str(person.drinks_per_week)},
                 source=observed(first, "alcohol"))
        )  # fmt: skip
    if works(known):
        found.append(
            Fact(id="work", kind="social", concept="work", attributes={"work": person.occupation.en},
                 source=observed(first, "occupation"))
        )  # fmt: skip
    return found


def works(known: Known) -> bool:
    """Tell whether the occupation, which is that of the last years, already holds."""
    return known.age >= limit("age_working") or known.life.person.occupation.en in speech()["school"]


def _function(known: Known) -> list[Fact]:
    function = known.function
    if function is None:
        return []
    source = _key(known, "Encounter", function.encounter)
    concepts = speech()["concepts"]
    number = function.id.removeprefix("fn")
    details = [
        ("walking", concepts["walking"][function.walking], "present", {"walking": function.walking}),
        ("care", concepts["self_care"][function.self_care], "present", {"self_care": function.self_care}),
        ("medicines", concepts["medicines"][function.medicines], "present", {"medicines": function.medicines}),
        ("falls", "fall", "present" if function.falls else "absent", {"falls in the last year": str(function.falls)}),
    ]  # fmt: skip
    if known.age < limit("age_habits"):  # of children it is not asked who sees to the medicines, nor how they walk
        details = details[2:3]
    return [
        Fact(id=f"fn{number}-{name}", kind="function", concept=concept, polarity=polarity, attributes=attributes,  # type: ignore[arg-type]
             source=source)
        for name, concept, polarity, attributes in details
    ]  # fmt: skip
