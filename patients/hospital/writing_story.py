"""Why the patient is here: chief complaint and history of the present illness, from what is known then."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from wardround.patients.knowledge.bedside import condition_profiles, finding_profiles, relations
from wardround.patients.times import DAY

from .life import Illness, Sign, Stay
from .phrasing import Teller, article, capital, counted, lowered, opened, table
from .record import Sentence
from .speaking import speech
from .writing_results import notable, shown, vitals_line
from .writing_view import Known, weight
from .writing_words import Scribe, span

_ASKED = ("region", "quality", "radiation", "timing", "provocation", "palliation", "severity")
_MOST_PAST = 4
_GRAVE = 9
"""The weight of a condition that no summary leaves out."""
_MOST_ALSO = 6
_MOST_DENIED = 6
_MOST_DRUGS = 4
_MOST_STUDIES = 2
_OLD = 60 * DAY
"""Before an acute stay: what is older is told as long-standing."""


def complaint_sign(known: Known) -> Sign | None:
    """Return the finding that the stay is for, where it is charted."""
    for one in known.signs:
        if one.finding == known.root.complaint and one.present:
            return one
    symptoms = known.findings("symptom", present=True)
    return symptoms[0] if symptoms else None


def presentation(scribe: Scribe, teller: Teller) -> tuple[str, str, tuple[str, ...]]:
    """Return the complaint in words, its duration and the facts they rest on."""
    known = scribe.known
    sign = complaint_sign(known)
    if sign is None:
        return reason_of(known), span(known.begin - DAY, known.begin), (known.root.id,)
    return scribe.finding(sign, teller), span(sign.onset, known.begin), (sign.id,)


def reason_of(known: Known) -> str:
    """Return why the patient came, within a sentence, proper names with their capital."""
    return _named(lowered(known.root.reason))


@cache
def _named(text: str) -> str:
    names = {name.lower(): name for name in table("proper") if len(name) > 1}
    return " ".join(
        names[bare] + word[len(bare) :] if (bare := word.removesuffix("'s")) in names else word
        for word in text.split(" ")
    )


def chief_complaint(scribe: Scribe) -> list[Sentence]:
    """Return the chief complaint."""
    teller = scribe.teller("chief-complaint")
    reason = reason_of(scribe.known)
    if scribe.known.root.kind == "clinic" or complaint_sign(scribe.known) is None:
        return [teller.line("cc.line.visit", (scribe.known.root.id,), reason=reason)]
    complaint, duration, facts = presentation(scribe, teller)
    return [
        teller.line("cc.line", (*facts, scribe.known.root.id), reason=reason, complaint=complaint, duration=duration)
    ]


def background(scribe: Scribe, teller: Teller, most: int = _MOST_PAST) -> tuple[str, tuple[str, ...]]:
    """Return " with a history of …" and the illnesses that it names: those that bear on the case, in all of a note."""
    known = scribe.known
    chronic = [one for one in known.past if one.acuity == "chronic" and not known.over(one)]
    chronic = [one for one in chronic if one.condition != _principal_condition(known)]
    if not chronic:
        nothing = not known.past
        return (teller.words("hpi.nohistory"), ("person",)) if nothing else ("", ())
    ranked = sorted(chronic, key=lambda one: (-2 * _bearing(known, one) - weight(one.condition), one.onset, one.id))
    count = 2 + scribe.teller("background").stream.below(most - 1)
    count = max(count, min(most, sum(weight(one.condition) >= _GRAVE for one in ranked)))
    kept = ranked[: min(count, most)]
    text = teller.words("hpi.history", conditions=scribe.conditions(kept))
    return opened(text), tuple(one.id for one in kept)


def _bearing(known: Known, one: Illness) -> int:
    """Return how much an old illness has to do with what is known of the case: related 2, of one organ system 1."""
    case = known.principal
    if case is None:
        return 2 if any(owner == one.id for sign in known.signs if sign.present for owner, _ in sign.owners) else 0
    if (one.condition, case.condition) in related():
        return 2
    profiles = condition_profiles()
    if one.condition not in profiles or case.condition not in profiles:
        return 0
    return int(profiles[one.condition].system == profiles[case.condition].system)


@cache
def related() -> frozenset[tuple[str, str]]:
    """Return the pairs of conditions that bear on each other."""
    told = [(one.one, one.other) for one in relations() if one.kind != "excludes"]
    return frozenset(told + [(other, one) for one, other in told])


def _principal_condition(known: Known) -> str:
    one = known.outline.illnesses.get(known.root.principal)
    return one.condition if one is not None else ""


def present_illness(scribe: Scribe) -> list[Sentence]:
    """Return the history of the present illness of a hospital or ED stay."""
    teller = scribe.teller("history-of-present-illness", copied=scribe.style.copies)
    known = scribe.known
    told: list[Sentence] = []
    history, past = background(scribe, teller)
    complaint, duration, facts = presentation(scribe, teller)
    told.append(
        teller.say(
            "hpi.opener",
            ("person", *facts, *past),
            history=opened(history),
            complaint=complaint,
            Complaint=capital(complaint),
            duration=duration,
        )
    )
    if scribe.informant is not None:
        told.insert(teller.stream.below(2), teller.say("hpi.informant", ("person",), informant=scribe.informant))
    sign = complaint_sign(known)
    body = _described(scribe, teller, sign) if sign is not None else []
    body += _others(scribe, teller, sign)
    told += body
    told += _told_adherence(scribe, teller)
    if known.root.kind != "clinic":
        told += _arrival(scribe, teller)
    return told


def _described(scribe: Scribe, teller: Teller, sign: Sign) -> list[Sentence]:
    """Return what is said of the main symptom, in an order of its own."""
    told: list[Sentence] = []
    for name in _ASKED:
        pair = sign.attributes.get(name)
        text = lowered(pair.en.rstrip(".")) if pair is not None else ""
        if not text or (name == "severity" and (sign.score is not None or ungraded(sign.finding))):
            continue
        if name == "timing":
            told += _timed(teller, sign, text)
            continue
        if name == "provocation" and (when := table("times_of_day").get(text)):
            told.append(teller.say("hpi.provocation.time", (sign.id,), when=when))
            continue
        if text.split()[0] in table("nothing"):
            told.append(teller.say(f"hpi.nothing.{name}", (sign.id,)))
            continue
        text = text.partition(",")[0] if name == "severity" else text
        places = {name: text, capital(name): capital(text)}
        if name == "region":
            places["where"] = text if text.split()[0] in table("prepositions") else f"in {text}"
        by = ".like" if name == "quality" and text.startswith("like ") else ""  # nobody reports it as like something
        by += ".by" if name == "quality" and scribe.informant is not None else ""
        told.append(teller.say(f"hpi.{name}{by}", (sign.id,), informant=scribe.informant or "", **places))
    if sign.score is not None:
        told.append(teller.say("hpi.score", (sign.id,), score=str(sign.score)))
    return teller.stream.shuffled(told)


def ungraded(finding: str) -> bool:
    """Whether nobody asks how bad a symptom is: a fever is measured, blood is there or not."""
    return finding in table("severity_untold") or finding in speech()["no_severity"]


def _timed(teller: Teller, sign: Sign, text: str) -> list[Sentence]:
    """Return how a symptom comes and goes, in a sentence that its words fit."""
    if any(word in table("dated") for word in text.split()):
        return []  # a span of time would speak against the onset
    if text == "once" or (_steady(sign) and any(word in text for word in table("wave_words"))):
        return []
    if when := table("onset_words").get(text):
        return [teller.say("hpi.timing.onset", (sign.id,), when=when)]
    frame = table("timing_frames").get(text) or table("timing_frames").get(text.split()[0], "comes")
    return [teller.say(f"hpi.timing.{frame}", (sign.id,), timing=text.removeprefix("lasting "))]


def _steady(sign: Sign) -> bool:
    """Whether a symptom is called steady, which does not come in waves."""
    pair = sign.attributes.get("quality")
    return pair is not None and any(word in table("steady_words") for word in pair.en.lower().replace(",", " ").split())


def long_known(known: Known, one: Sign) -> bool:
    """Whether a symptom is old: it began long ago, or only chronic illnesses known before show it."""
    owners = [known.outline.illnesses.get(owner) for owner, _ in one.owners]
    past = {illness.id for illness in known.past if illness.acuity == "chronic"}
    owned = bool(owners) and all(owner is not None and owner.id in past for owner in owners)
    return owned or known.begin - one.onset > _OLD


def _others(scribe: Scribe, teller: Teller, main: Sign | None) -> list[Sentence]:
    known = scribe.known
    told: list[Sentence] = []
    symptoms = [one for one in known.findings("symptom", present=True) if main is None or one.finding != main.finding]
    symptoms = [one for one in symptoms if one.relevance != "distractor" or len(symptoms) < _MOST_ALSO][:_MOST_ALSO]
    old = [one for one in symptoms if known.root.kind != "clinic" and long_known(known, one)]
    for group in _grouped(teller, [one for one in symptoms if one not in old]):
        words = [scribe.finding(one, teller) for one in group]
        told.append(teller.say("hpi.also", [one.id for one in group], symptoms=scribe.join(words)))
    if old:
        words = [scribe.finding(one, teller) for one in old]
        told.append(teller.say("hpi.chronic", [one.id for one in old], symptoms=scribe.join(words)))
    absent = known.findings("symptom", present=False)[:_MOST_DENIED]
    for group in _grouped(teller, teller.stream.shuffled(absent)):
        words = [scribe.finding(one, teller, absent=True) for one in group]
        key = "hpi.denies" if scribe.informant is None else "hpi.denies.by"
        told.append(teller.say(key, [one.id for one in group], symptoms=scribe.join(words, "or"),
                               informant=scribe.informant or ""))  # fmt: skip
    history = [one for one in known.findings("history", "medication", present=True) if _bears(known, one)]
    favorable = [one for one in history if one.owners and all(edge == "protective" for _, edge in one.owners)][:2]
    risks = [one for one in history if one not in favorable][:_MOST_PAST]
    for key, found in (("hpi.risk", risks), ("hpi.habit", favorable)):
        if found:
            words = [scribe.finding(one, teller) for one in found]
            told.append(teller.say(key, [one.id for one in found], items=scribe.join(words)))
    spared = known.findings("history", present=False)[:2]
    if spared:
        words = [scribe.finding(one, teller, absent=True) for one in spared]
        told.append(teller.say("hpi.norisk", [one.id for one in spared], items=scribe.join(words, "or")))
    return told


def _bears(known: Known, one: Sign) -> bool:
    """Whether a habit, an event or a drug has to do with what the visit is for, not only with an old illness."""
    if known.root.kind == "clinic" or not one.owners:
        return one.type == "history"
    new = {illness.id for illness in known.problems if known.new(illness)} | {known.root.principal}
    edges = [edge for owner, edge in one.owners if owner in new]
    return "risk_factor" in edges if one.type == "medication" else bool(edges)


def _grouped(teller: Teller, found: Sequence[Sign]) -> list[list[Sign]]:
    """Split findings into one or two sentences' worth."""
    if not found:
        return []
    if len(found) <= 2 or teller.chance(45):
        return [list(found)]
    cut = 1 + teller.stream.below(len(found) - 1)
    return [list(found[:cut]), list(found[cut:])]


def _told_adherence(scribe: Scribe, teller: Teller) -> list[Sentence]:
    known = scribe.known
    states, told = table("adherence"), []
    for one in known.outline.adherence_of.get(known.root.id, ()):
        order = known.outline.prescriptions.get(one.prescription)
        if not one.charted or one.state not in states or order is None or order.known_at > known.at:
            continue
        reason = teller.words("plan.reason", why=lowered(one.reason.en.rstrip("."))) if one.reason else ""
        told.append(
            teller.say(
                "hpi.adherence.known",
                (one.id, order.id),
                state=states[one.state],
                drug=order.name,
                reason=opened(reason),
            )
        )
    return told


def _arrival(scribe: Scribe, teller: Teller) -> list[Sentence]:
    """Return what was measured, seen and given first."""
    known = scribe.known
    told: list[Sentence] = []
    line, ids = vitals_line(scribe, teller, known.first())
    if ids and teller.chance(60):
        told.append(teller.say("hpi.arrival", ids, vitals=line))
    if known.root.kind == "ed":
        return told
    words, ids = notable(scribe, known.first(), 4, _own_labs(known))
    if words and teller.chance(50):
        told.append(teller.say("hpi.labs", ids, labs=words, Labs=capital(words)))
    early = [one for one in known.studies if one.known_at <= known.begin + DAY][:_MOST_STUDIES]
    for study in early:
        if not teller.chance(60):
            continue
        name, seen, ids = shown(scribe, teller, study)
        key = "hpi.study" if seen else "hpi.study.normal"
        told.append(
            teller.say(key, ids, study=name, A_study=capital(article(name)), study_cap=capital(name), shown=seen)
        )
    told += _given(scribe, teller)
    return told


def _own_labs(known: Known) -> frozenset[str]:
    """Return the labs that show what the stay is for."""
    profiles = finding_profiles()
    own = [one for one in known.signs if one.type == "lab" and one.present]
    own = [one for one in own if any(owner == known.root.principal for owner, _ in one.owners)]
    return frozenset(profiles[one.finding].lab or "" for one in own if one.finding in profiles)


def _given(scribe: Scribe, teller: Teller) -> list[Sentence]:
    known = scribe.known
    ed = known.outline.parts(known.root, "ed")
    if not ed:
        return []
    home = {one.drug for one in known.home()}
    orders = [one for one in known.started(ed[0].start, ed[-1].end) if one.encounter == ed[0].id]
    orders = [one for one in orders if one.drug not in home and known.received(one)][:_MOST_DRUGS]
    if not orders:
        return []
    return [teller.say("hpi.given", [one.id for one in orders], drugs=scribe.orders(orders, often=False))]


def visit(scribe: Scribe) -> list[Sentence]:
    """Return the history of a clinic visit: why, what came before, what is new."""
    teller = scribe.teller("history-of-present-illness")
    known = scribe.known
    history, past = background(scribe, teller)
    told = [
        teller.say(
            "hpi.opener.visit",
            ("person", known.root.id, *past),
            history=opened(history),
            reason=reason_of(known),
        )
    ]
    if scribe.informant is not None:
        told.append(teller.say("hpi.informant", ("person",), informant=scribe.informant))
    told += _since_last(scribe, teller)
    sign = complaint_sign(known)
    body: list[Sentence] = []
    if sign is not None:
        words = scribe.finding(sign, teller)
        body.append(teller.say("hpi.complains", (sign.id,), symptoms=words))
        body += _described(scribe, teller, sign)
        body += _others(scribe, teller, sign)
    else:
        body += _others(scribe, teller, None)
    told += body or [teller.say("hpi.well", (known.root.id,))]
    return told + _told_adherence(scribe, teller)


def _since_last(scribe: Scribe, teller: Teller) -> list[Sentence]:
    known = scribe.known
    before = [one for one in known.outline.roots if one.end < known.begin]
    if not before:
        return []
    last = before[-1]
    illness = known.outline.illnesses.get(last.principal)
    if illness is None or illness.known_at > known.at:
        return []
    words = scribe.condition(illness)
    facts = (last.id, illness.id)
    if last.kind == "clinic":
        return [teller.say("hpi.last", facts, date=scribe.date(last.start), illness=words)]
    if last.kind == "ed":
        return [teller.say("hpi.since.ed", facts, date=scribe.date(last.start), illness=words)]
    return [teller.say("hpi.since", facts, span=stay_span(scribe, last), date=scribe.date(last.end), illness=words)]


def stay_span(scribe: Scribe, stay: Stay) -> str:
    """Return when a stay was: "from 3 Mar 2021 to 8 Mar 2021", or its day."""
    begin, end = scribe.date(stay.start), scribe.date(stay.end)
    return f"on {begin}" if begin == end else f"from {begin} to {end}"


def function_words(scribe: Scribe) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return how the patient manages, in words, and the fact."""
    one = scribe.known.function
    if one is None:
        return {}, ()
    falls = table("clauses")["no_falls"] if one.falls == 0 else counted(one.falls, "fall")
    words = {
        "walking": table("walking")[one.walking],
        "walking_short": table("walking_short")[one.walking],
        "care": table("care")[one.self_care],
        "care_short": table("care_short")[one.self_care],
        "falls": falls,
        "falls_number": str(one.falls),
    }
    return words, (one.id,)
