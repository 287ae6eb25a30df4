"""Assessment and plan: the problems, the findings each rests on, and what is being done about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from wardround.patients.knowledge.bedside import condition_profiles, finding_profiles
from wardround.patients.times import Instant

from .generation import rules
from .life import Illness, Prescription, Result
from .phrasing import Teller, capital, lowered, table, unique
from .record import Sentence
from .writing_history import numbered
from .writing_results import shown, teller_line
from .writing_story import background, opened, presentation
from .writing_view import Known, flag
from .writing_words import Scribe, service_name

_MOST_BASIS = 4
_MOST_LABS = 3
_MOST_PROBLEMS = 7
_MOST_ORDERS = 5


class Said(NamedTuple):
    """Words, and the facts that they rest on."""

    text: str
    facts: tuple[str, ...]


# -- assessment --------------------------------------------------------------------------------------------------------


def assessment(scribe: Scribe, *, day: int | None = None, visit: bool = False) -> list[Sentence]:
    """Return the assessment: what this is, and what speaks for it.

    Args:
        scribe: The author.
        day: Hospital day, for a progress note.
        visit: Whether it is a clinic visit.
    """
    teller = scribe.teller("assessment")
    known = scribe.known
    principal = known.principal
    if principal is None:
        return [_unknown(scribe, teller)]
    if day is not None:
        said = [_on_day(scribe, teller, principal, day)]
    elif visit:
        history, past = background(scribe, teller, 3)
        facts = ("person", known.root.id, *past)
        reason = lowered(known.root.reason)
        said = [teller.say("assess.visit", facts, history=opened(history), reason=reason)]
    else:
        said = [_summary(scribe, teller, principal)]
    support = basis(scribe, teller, principal)
    if support.text and (day is None or day <= 2 or teller.chance(25)):
        said.append(teller.say("assess.basis", support.facts, findings=support.text, Findings=capital(support.text)))
    others = [one for one in known.problems if one.id != principal.id and known.new(one)]
    if others and teller.chance(70):
        said.append(teller.say("assess.with", [one.id for one in others], conditions=scribe.conditions(others)))
    return said


def _unknown(scribe: Scribe, teller: Teller) -> Sentence:
    history, past = background(scribe, teller, 3)
    complaint, duration, facts = presentation(scribe, teller)
    return teller.say(
        "assess.unknown",
        ("person", *facts, *past),
        history=opened(history),
        complaint=complaint,
        Complaint=capital(complaint),
        duration=duration,
    )


def _summary(scribe: Scribe, teller: Teller, principal: Illness) -> Sentence:
    history, past = background(scribe, teller, 3)
    complaint, _, facts = presentation(scribe, teller)
    words = graded(scribe, teller, principal)
    return teller.say(
        "assess.summary",
        ("person", *facts, *past, principal.id),
        history=opened(history),
        complaint=complaint,
        Complaint=capital(complaint),
        principal=words,
        Principal=capital(words),
    )


def graded(scribe: Scribe, teller: Teller, illness: Illness) -> str:
    """Return an illness, now and then with its severity."""
    name = scribe.condition(illness)
    if illness.acuity != "acute" or illness.severity == "mild" or not teller.chance(30):
        return name
    profile = condition_profiles().get(illness.condition)
    if profile is None or any(word in name for word in ("severe", "moderate", "mild")) or name[:1].isupper():
        return name
    return f"{illness.severity} {name}"


def _on_day(scribe: Scribe, teller: Teller, principal: Illness, day: int) -> Sentence:
    known = scribe.known
    turns = known.happened("improved", "worsened")
    state = ""
    facts: tuple[str, ...] = ()
    if turns:
        last = turns[-1]
        state = teller.words("assess.state.improved" if last.kind == "improved" else "assess.state.worse")
        facts = (last.id,)
    name = scribe.condition(principal)
    return teller.say(
        "assess.day",
        ("person", known.root.id, principal.id, *facts),
        day=str(day),
        principal=name,
        Principal=capital(name),
        state=opened(state),
    )


def basis(scribe: Scribe, teller: Teller, illness: Illness) -> Said:
    """Return the findings that speak for an illness: what it shows, what was seen, which values it moves."""
    known = scribe.known
    words: list[str] = []
    ids: list[str] = []
    owned = [
        one
        for one in known.signs
        if one.present and one.study is None and one.type in ("symptom", "sign") and _owns(one.owners, illness.id)
    ]
    owned.sort(key=lambda one: (one.relevance != "key", one.onset, one.id))
    for one in owned[: 2 + teller.stream.below(2)]:
        words.append(scribe.finding(one, teller, absent=one.type == "sign"))  # signs: the noun phrase
        ids.append(one.id)
    for study in known.studies:
        name, seen, facts = shown(scribe, teller, study)
        owner = any(_owns(known.outline.signs[one].owners, illness.id) for one in study.shown)
        if seen and owner and len(words) < _MOST_BASIS + 1:
            words.append(f"{seen} on {name}")
            ids += facts
    for result in moved(known, illness, 2):
        words.append(f"{scribe.lab(result)} {scribe.value(result, unit=True)}")
        ids.append(result.id)
    return Said(scribe.join(words), unique(ids))


def _owns(owners: Sequence[tuple[str, str]], illness: str) -> bool:
    return any(owner == illness and edge not in ("risk_factor", "protective", "rules_out") for owner, edge in owners)


def moved(known: Known, illness: Illness, most: int) -> list[Result]:
    """Return the last values that an illness moves out of range, the most telling first."""
    latest = known.latest()
    found = []
    for lab, letters in expected(illness.condition).items():
        result = latest.get(lab)
        mark = flag(result) if result is not None else ""
        if result is not None and mark and mark in letters and illness.id in result.causes:
            found.append(result)
    return found[:most]


@cache
def expected(condition: str) -> Mapping[str, str]:
    """Return the labs that a condition moves, with the letters it gives them: findings first, then effects."""
    profile = condition_profiles().get(condition)
    if profile is None:
        return {}
    told = table("told_labs")
    found: dict[str, str] = {}
    letters = {"high": "H", "low": "L"}
    edges = sorted(profile.findings, key=lambda edge: edge.relevance != "key")
    for edge in edges:
        finding = finding_profiles().get(edge.finding)
        if finding is None or finding.lab is None or edge.edge == "rules_out":
            continue
        if finding.type == "lab" and finding.lab in told:
            found.setdefault(finding.lab, letters.get(finding.side or "", "HL"))
    for effect in profile.effects:
        if effect.lab in told:
            middle = sum(effect.band("moderate")) / 2
            found.setdefault(effect.lab, "H" if middle > (effect.mode == "times") else "L")
    return found


# -- plan --------------------------------------------------------------------------------------------------------------


def plan(scribe: Scribe, *, since: Instant | None = None, narrow: bool = False) -> list[Sentence]:
    """Return the plan by problem, in the author's form.

    Args:
        scribe: The author.
        since: What began after it is told as new; None: everything of this stay is.
        narrow: Whether only what the stay is about is told, as a consultant does.
    """
    teller = scribe.teller("plan")
    known = scribe.known
    begin = known.begin if since is None else since
    said: list[Sentence] = []
    loose = known.problems[:_MOST_PROBLEMS]
    if narrow:
        loose = tuple(one for one in loose if one.id == known.root.principal or known.new(one))
    quiet: list[Illness] = []
    number = 0
    for illness in loose:
        actions = problem(scribe, teller, illness, begin)
        if not actions and not known.new(illness) and illness.id != known.root.principal:
            quiet.append(illness)
            continue
        number += 1
        actions = actions or [Said(teller.words("plan.none"), (illness.id,))]
        text = "; ".join(one.text for one in actions)
        ids = unique([illness.id, *(fact for one in actions for fact in one.facts)])
        name = scribe.condition(illness)
        if scribe.style.problems == "prose":
            said.append(teller.say("course.chronic", ids, condition=name, Condition=capital(name), action=text))
        else:
            said.append(teller_line(f"{_head(scribe, illness, number, name)}{text}", ids))
    if narrow:
        return said or [teller.say("plan.none", (known.root.id,))]
    said += _unplaced(scribe, teller, begin)
    if quiet:
        names = scribe.conditions(quiet)
        said.append(teller.say("plan.rest", [one.id for one in quiet], conditions=names))
    said = said or [teller.say("plan.none", (known.root.id,))]
    return said + _support(scribe, teller) + _cultures_awaited(scribe, teller)


def _unplaced(scribe: Scribe, teller: Teller, begin: Instant) -> list[Sentence]:
    """Return what is given for what has no name yet or is not on the list: begun, and continued."""
    named = {one.id for one in scribe.known.problems[:_MOST_PROBLEMS]}
    loose = [one for one in scribe.known.active() if one.indication not in named and not _supportive(one)]
    fresh = [one for one in loose if one.kind == "inpatient" and one.start >= begin]
    said = []
    for key, found in (("plan.start", fresh), ("plan.others", [one for one in loose if one not in fresh])):
        orders = found[:_MOST_ORDERS]
        if orders:
            words = scribe.orders(orders)
            said.append(teller.say(key, [one.id for one in orders], orders=words, Orders=capital(words)))
    return said


def _supportive(one: Prescription) -> bool:
    """Whether an order belongs to the stay rather than to one illness: prophylaxis, comfort, replacement."""
    lines = rules()
    return one.line in {each.id for each in lines.supportive} | {each.line.id for each in lines.replacements}


def _support(scribe: Scribe, teller: Teller) -> list[Sentence]:
    orders = [one for one in scribe.known.active("inpatient") if _supportive(one)][:_MOST_ORDERS]
    if not orders:
        return []
    text = teller.words("plan.support", orders=scribe.orders(orders))
    marks = {"hash": "# ", "number": "- "}
    return [teller_line(marks.get(scribe.style.problems, "") + text, [one.id for one in orders])]


def _head(scribe: Scribe, illness: Illness, number: int, name: str) -> str:
    if scribe.style.problems == "hash":
        return f"# {capital(name)}: "
    if scribe.style.problems == "system":
        profile = condition_profiles().get(illness.condition)
        system = table("organ_system")[profile.system] if profile is not None else "General"
        return f"{system} ({name}): "
    return f"{number}. {capital(name)}: "


def problem(scribe: Scribe, teller: Teller, illness: Illness, begin: Instant) -> list[Said]:
    """Return what is done for one problem: begun, continued, stopped, watched."""
    known = scribe.known
    mine = [one for one in known.active() if one.indication == illness.id]
    mine = [one for one in mine if not _supportive(one)]
    visit = known.root.kind == "clinic"
    fresh = [one for one in mine if one.start >= begin and (visit or one.kind == "inpatient")]
    kept = [one for one in mine if one.start < begin and one.kind == "inpatient"]
    home = [one for one in mine if one.start < known.begin and one.kind != "inpatient"]
    said = [
        _orders(scribe, teller, "plan.start", fresh),
        _orders(scribe, teller, "plan.continue", kept),
        _orders(scribe, teller, "plan.home", home),
    ]
    said += _stopped(scribe, teller, illness, begin)
    said += _procedures(scribe, teller, illness, begin)
    watched = moved(known, illness, _MOST_LABS)
    if watched and known.new(illness) and teller.chance(60):
        names = scribe.join([scribe.lab(one) for one in watched])
        text = teller.words("plan.labs", labs=names, Labs=capital(names))
        said.append(Said(lowered(text), tuple(one.id for one in watched)))
    return [one for one in said if one.text]


def _orders(scribe: Scribe, teller: Teller, key: str, orders: Sequence[Prescription]) -> Said:
    chosen = list(orders)[:_MOST_ORDERS]
    if not chosen:
        return Said("", ())
    words = scribe.orders(chosen)
    return Said(lowered(teller.words(key, orders=words, Orders=capital(words))), tuple(one.id for one in chosen))


def _stopped(scribe: Scribe, teller: Teller, illness: Illness, begin: Instant) -> list[Said]:
    known = scribe.known
    running = {one.drug for one in known.active()}
    said = []
    for one in known.stopped(begin, known.at):
        if one.indication != illness.id or one.drug in running:
            continue
        text = teller.words("plan.stop", drug=scribe.drug(one), Drug=capital(one.name), reason=stop_reason(teller, one))
        said.append(Said(lowered(text), (one.id,)))
    return said[:2]


def stop_reason(teller: Teller, one: Prescription) -> str:
    """Return why an order ended, ready to follow its name; "" where nothing is given."""
    if one.stop_reason is None:
        return ""
    return opened(teller.words("plan.reason", why=lowered(one.stop_reason.en.rstrip("."))))


def _procedures(scribe: Scribe, teller: Teller, illness: Illness, begin: Instant) -> list[Said]:
    known = scribe.known
    said = []
    for one in known.life.treated:
        if one.illness == illness.id and begin <= one.at and (one.end or one.at) <= known.at:
            text = teller.words(
                "plan.procedure",
                procedure=lowered(one.title),
                date=scribe.date(one.at),
                outcome=outcome(teller, one.outcome.en if one.outcome is not None else ""),
            )
            said.append(Said(text, (one.id,)))
    return said[:2]


def outcome(teller: Teller, words: str) -> str:
    """Return how a procedure went, ready to follow it."""
    return opened(teller.words("course.outcome", words=lowered(words.rstrip(".")))) if words else ""


def _cultures_awaited(scribe: Scribe, teller: Teller) -> list[Sentence]:
    known = scribe.known
    waiting = [one for one in known.cultures if not any(s.status == "final" and s.at <= known.at for s in one.stages)]
    if not waiting:
        return []
    names = table("specimen")
    words = scribe.join([f"{names.get(one.specimen, one.specimen)} culture" for one in waiting])
    return [teller.say("plan.culture", [one.id for one in waiting], cultures=words)]


def consults(scribe: Scribe, teller: Teller) -> list[Sentence]:
    """Return which services are involved."""
    said = []
    for event in scribe.known.happened("consulted"):
        service = consulted_service(scribe.known, event.facts)
        if service:
            name = service_name(service)
            said.append(teller.say("plan.consult", (event.id,), service=lowered(name), Service=name))
    return said


def consulted_service(known: Known, facts: Sequence[str]) -> str | None:
    """Return the service that was asked about an illness."""
    for fact in facts:
        illness = known.outline.illnesses.get(fact)
        profile = condition_profiles().get(illness.condition) if illness is not None else None
        if profile is not None and profile.workup.consult is not None:
            return profile.workup.consult
    return None


def diagnoses(scribe: Scribe) -> list[Sentence]:
    """Return the diagnoses at the end of a stay, the principal first."""
    teller = scribe.teller("assessment")
    known = scribe.known
    said: list[Sentence] = []
    others = [one for one in known.problems if one.id != known.root.principal]
    if known.principal is not None:
        name = scribe.condition(known.principal, short=False)
        said.append(teller.line("assess.dx.principal", (known.principal.id,), condition=name))
    if others and scribe.style.bullets != "none":
        lines = [teller_line(capital(scribe.condition(one, short=False)), (one.id,)) for one in others]
        return numbered(scribe, [*said, *lines])
    if others:
        words = scribe.conditions(others)
        said.append(teller.line("assess.dx.other", [one.id for one in others], conditions=words))
    return said
