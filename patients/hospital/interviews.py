"""Interviews of a life: for every encounter, what the patient knows and every word they will say (design §4).

Told as of the end of the encounter: symptoms are those that brought the patient in, pain is as last measured, how
drugs are taken at home and how the patient manages are as of the arrival. Where pain or getting better was otherwise
before, so it is told earlier (`Interview.at`). The parts of a hospital stay (emergency visit, intensive care) have the
interview of the whole stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wardround.patients.interview import Earlier, Fact, Interview, InterviewTool, Reply, Words
from wardround.patients.times import DAY, Instant, format_instant

from . import speaking_medicines as medicines
from . import speaking_person as person_words
from . import speaking_symptoms as symptoms
from .interviews_facts import Known, facts, knowns, persona
from .life import Adherence, Life, Pair, Sign
from .speaking import Speaker, phrases, speech, word

_SYMPTOMS: InterviewTool = "patient.get_symptom_history"
_MEDICINES: InterviewTool = "patient.get_medication_adherence"
_SOCIAL: InterviewTool = "patient.get_social_history"
_FUNCTION: InterviewTool = "patient.get_functional_status"
_PAIN: InterviewTool = "patient.get_pain_assessment"
_BEARABLE = 3
"""Pain up to this score is mild."""
_BAD = 5
"""Pain that was so bad is not made light of."""
_OLD = 60 * DAY
"""What has lasted longer is an old trouble."""


_MORE = {
    "living": person_words.living_more,
    "smoking": person_words.smoking_more,
    "alcohol": person_words.alcohol_more,
    "work": person_words.work_more,
}


def make_interviews(life: Life) -> dict[str, Interview]:
    """Return the interviews of a life, the same for the same life.

    Args:
        life: What is true.

    Returns:
        One interview for every stay, by `Stay.id`, in the order of the stays.
    """
    found: dict[str, Interview] = {}
    for known, parts in knowns(life):
        interview = _whole(known)
        found |= dict.fromkeys((one.id for one in parts), interview)
    return {one.id: found[one.id] for one in life.stays}


def _whole(known: Known) -> Interview:
    """Return the interview of an encounter with what was told otherwise before its end."""
    told = _Answers(known).interview()
    begin, changes = known.begin, known.changes()
    earlier = tuple(
        _earlier(told, known.as_of(since), until) for since, until in zip((begin, *changes), changes, strict=False)
    )
    return told.model_copy(update={"since": format_instant(begin), "earlier": earlier})


def _earlier(told: Interview, known: Known, until: Instant) -> Earlier:
    """Return what was told otherwise up to an instant."""
    facts, replies = _Answers(known).changing()
    said: dict[str, list[Fact]] = {}  # by id, as all of them compared with all take long
    for fact in told.facts:
        said.setdefault(fact.id, []).append(fact)
    spoken: dict[tuple[str, str | None], list[Reply]] = {}
    for reply in told.replies:
        spoken.setdefault((reply.tool, reply.fact), []).append(reply)
    facts = [one for one in facts if one not in said.get(one.id, ())]
    replies = [one for one in replies if one not in spoken.get((one.tool, one.fact), ())]
    return Earlier(until=format_instant(until), facts=tuple(facts), replies=tuple(replies))


class _Answers:
    """Puts the replies of one encounter together."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._facts = facts(known)
        self._persona = persona(known)
        life = known.life
        self._speaker = Speaker(
            self._persona, life.person.sex, life.caregiver, known.age, (life.seed, life.index, known.root.id)
        )
        beyond = speech()["beyond"]
        limits = beyond.get(known.function.walking, []) if known.function is not None else []
        sober = beyond["sober"] if life.person.alcohol == "none" else []
        self._speaker.beyond = (*limits, *sober)
        ill = [one for one in known.illnesses.values() if one.known_at <= known.now]
        self._speaker.ill_with = frozenset(one.condition for one in ill)
        self._replies: list[Reply] = []

    def interview(self) -> Interview:
        """Return the interview."""
        self._tell_symptoms()
        self._tell_medicines()
        self._tell_effects()
        self._tell_social()
        self._tell_function()
        self._tell_pain()
        return Interview(facts=tuple(self._facts.values()), replies=tuple(self._replies), persona=self._persona)

    def changing(self) -> tuple[list[Fact], list[Reply]]:
        """Return the facts, and the replies that pain and getting better can make other ones."""
        self._tell_symptoms()
        self._tell_pain()
        return list(self._facts.values()), self._replies

    def _add(
        self, tool: InterviewTool, fact: str | None, disclosed: Iterable[str], text: Words, after: Sequence[str] = ()
    ) -> None:
        given = tuple(one for one in dict.fromkeys(disclosed) if one in self._facts)
        self._replies.append(Reply(tool=tool, fact=fact, disclosed=given, after=tuple(after), text=text))

    def _said(self, name: str, sentences: Sequence[Pair], mood: str = "closers") -> Words:
        return self._speaker.reply(name, sentences, mood=mood)

    @property
    def _withheld(self) -> Fact | None:
        return next((one for one in self._facts.values() if one.withheld), None)

    # -- symptoms and pain ---------------------------------------------------------------------------------------------

    def _hurt(self, sign: Sign) -> symptoms.Pain | None:
        """Return how much a symptom hurts; as last measured only for what hurts most."""
        if sign.score is None:
            return None
        pain, sore = self._known.pain, self._known.sore
        return symptoms.Pain(self._known.worst(sign), int(pain.text) if pain is not None and sign is sore else None)

    def _given(self, sign: Sign, *more: str) -> list[str]:
        pain = self._known.pain
        told = pain is not None and sign is self._known.sore and int(pain.text) < (self._known.worst(sign) or 0)
        return [*more, sign.id, *(["pain"] if told else [])]

    def _tell_symptoms(self) -> None:
        known, speaker, before = self._known, self._speaker, self._known.inpatient
        self._tell_in_general()
        complaint, habits = known.complaint, frozenset(speech()["habits"])
        for sign in known.present:
            if sign.finding in habits and sign is not complaint:
                habit = [symptoms.plain(speaker, sign), symptoms.beside(speaker, sign)]
                self._add(_SOCIAL, sign.id, [sign.id], self._said(sign.id, habit, "plain"))
                continue
            sentences = symptoms.symptom(
                speaker, sign, self._hurt(sign), before=before, better=before and known.improved
            )
            given = self._given(sign)
            if len(sentences) == 1:
                sentences.append(symptoms.beside(speaker, sign))
            mood = self._mood(sign)
            if sign is complaint:
                self._add(_SYMPTOMS, "complaint", ["complaint", *given], self._said("complaint", sentences, mood))
                given = ["complaint", *given]
            self._add(_SYMPTOMS, sign.id, given, self._said(sign.id, sentences, mood))
        if complaint is None:
            told, more = self._opening()
            self._add(_SYMPTOMS, "complaint", told, self._said("complaint", more, "calm_closers"))
        for sign in known.absent:
            self._add(
                _SYMPTOMS, sign.id, [sign.id], self._said(sign.id, symptoms.absence(speaker, sign.finding), "plain")
            )

    def _mood(self, sign: Sign) -> str:
        """Return the mood in which a symptom is told."""
        if sign.type != "symptom" or self._known.root.start - sign.onset > _OLD:
            return "old_closers"
        if symptoms.grave(sign):
            return "grave_closers"
        return "old_closers" if sign.relevance == "key" else "closers"  # nobody makes light of what it is all about

    def _opening(self) -> tuple[list[str], list[Pair]]:
        """Return the answer to "what brings you in", with the facts in it: the complaint and what goes with it."""
        known, speaker = self._known, self._speaker
        complaint = known.complaint
        felt = [one for one in known.present if one.type == "symptom" and one is not complaint]
        given = ["complaint"]
        if complaint is not None:
            sentences = symptoms.symptom(speaker, complaint, None, before=known.inpatient, most=2)
            given.append(complaint.id)
            felt = [one for one in felt if one.relevance in ("key", "supporting")]
            felt = felt[: 2 if speaker.stream("two").chance(1, 2) else 1]
        else:
            sentences = [speaker.next(phrases("followup"))]
            if not felt:
                sentences.append(speaker.next(phrases("no_trouble")))
            felt = felt[:1]
        for sign in felt:
            lead = "also"
            if complaint is None:
                as_ever = sign.type == "symptom" and sign.finding not in speech()["not_as_ever"]
                lead = "still" if as_ever and known.root.start - sign.onset > _OLD else "though"
            sentences.append(symptoms.brief(speaker, sign, lead))
            given.append(sign.id)
        return given, sentences

    def _tell_in_general(self) -> None:
        """Record the answer to "what brings you in", and whether it is better."""
        known = self._known
        given, sentences = self._opening()
        if known.inpatient and known.improved:
            sentences.append(self._speaker.next(phrases("better_now")))
        mood = "calm_closers" if len(given) == 1 else self._mood(known.complaint) if known.complaint else "old_closers"
        self._add(_SYMPTOMS, None, given, self._said("general", sentences, mood))
        self._tell_after(sentences, given)

    def _tell_after(self, sentences: list[Pair], given: list[str]) -> None:
        """Record the same once a drug that was held back is told: what it did to the patient belongs to it."""
        hidden = self._withheld
        if hidden is None:
            return
        fact = self._adherence(hidden.id)
        effect = medicines.side_effect(self._speaker, fact, word("drug_words", "told"))
        if effect is not None:
            self._add(
                _SYMPTOMS, None, [*given, hidden.id], self._said("general after", [*sentences[:3], effect]),
                after=[hidden.id],
            )  # fmt: skip

    def _tell_pain(self) -> None:
        known = self._known
        sore = known.sore
        now = int(known.pain.text) if known.pain is not None else None
        worst = known.worst(sore) if sore is not None else None
        given = ["pain"]
        for fact in (None, "pain") if "pain" in self._facts else (None,):
            sentences = symptoms.pain_now(self._speaker, symptoms.Pain(worst, now), sore)
            much = now if now is not None else worst or 0
            light = "closers" if (worst or 0) < _BAD else "old_closers"  # nobody makes light of what was bad
            mood = "grave_closers" if much > _BEARABLE else light if much else "plain"
            self._add(_PAIN, fact, given, self._said(f"pain {fact}", sentences, mood))

    # -- medicines -----------------------------------------------------------------------------------------------------

    def _adherence(self, identity: str) -> Adherence:
        return next(one for one in self._known.adherence if one.id == identity)

    def _tell_medicines(self) -> None:
        known, speaker = self._known, self._speaker
        function = known.function
        how = function.medicines if function is not None else None
        managed = [one for one in self._facts if one.endswith("-medicines")]
        count = len(known.adherence)
        given = managed if count else []
        mood = "which_closers" if count > 1 else "calm_closers"
        self._add(_MEDICINES, None, given, self._said("medicines", medicines.overview(speaker, count, how), mood))
        hidden = self._withheld
        if hidden is not None:
            sentences = [speaker.next(phrases("after")), *medicines.overview(speaker, count, how)[1:]]
            self._add(
                _MEDICINES, None, [*given, hidden.id], self._said("medicines after", sentences, mood),
                after=[hidden.id],
            )  # fmt: skip
        for one in known.adherence:
            order = known.orders.get(one.prescription)
            told = medicines.adherence(speaker, one, order, before=known.inpatient)
            mood = "calm_closers"
            if one.state not in ("taking", "unsure"):
                mood = "confess" if self._facts[one.id].withheld else "openly"
            self._add(_MEDICINES, one.id, [one.id], self._said(one.id, told, mood))

    def _tell_effects(self) -> None:
        """Record what home drugs do, and what they do not."""
        speaker = self._speaker
        for one in self._known.effects:
            if one.present:
                told = [
                    medicines.effect(speaker, one.drug, one.finding, one.place),
                    speaker.next(phrases("effect_more")),
                ]
            else:
                told = symptoms.absence(speaker, one.finding)
            self._add(_SYMPTOMS, one.id, [one.id], self._said(one.id, told, "plain"))

    # -- life and function ---------------------------------------------------------------------------------------------

    def _tell_social(self) -> None:
        ids = [one for one in ("living", "smoking", "alcohol", "work") if one in self._facts]
        order = self._speaker.stream("social").shuffled(ids)
        whole = [self._social(one)[0] for one in order]
        self._add(_SOCIAL, None, order, self._said("social", whole, "plain"))
        for one in ids:
            told = self._social(one)
            if len(told) == 1:
                told.append(_MORE[one](self._speaker, self._known.life.person))
            self._add(_SOCIAL, one, [one], self._said(one, told, "plain"))

    def _social(self, what: str) -> list[Pair]:
        speaker, person = self._speaker, self._known.life.person
        if what == "smoking":
            return person_words.smoking(speaker, person)
        tell = {"living": person_words.living, "alcohol": person_words.alcohol, "work": person_words.work}[what]
        return [tell(speaker, person)]

    def _tell_function(self) -> None:
        function, speaker, before = self._known.function, self._speaker, self._known.root.kind != "clinic"
        if function is None:
            return
        tell = {
            "walking": lambda: person_words.walking(speaker, function, before=before),
            "care": lambda: person_words.self_care(speaker, function, before=before),
            "medicines": lambda: medicines.managed(speaker, function.medicines),
            "falls": lambda: person_words.falls(speaker, function),
        }
        ids = [one.id for one in self._facts.values() if one.kind == "function"]
        whole = [tell[one.partition("-")[2]]() for one in ids]
        if len(whole) == 1:
            whole.append(medicines.managed_more(speaker, function.medicines))
        self._add(_FUNCTION, None, ids, self._said("function", whole, "plain"))
        for one in ids:
            what = one.partition("-")[2]
            more = (
                medicines.managed_more(speaker, function.medicines)
                if what == "medicines"
                else person_words.function_more(speaker, function, what, before=before)
            )
            self._add(_FUNCTION, one, [one], self._said(one, [tell[what](), more], "plain"))


__all__ = ["make_interviews"]
