"""Assessment: what this is, what speaks for it, and the diagnoses at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import NamedTuple

from wardround.patients.knowledge.bedside import condition_profiles, finding_profiles
from wardround.patients.times import DAY

from .life import Illness, Result
from .phrasing import Teller, capital, opened, plain_line, table, unique
from .record import Sentence
from .writing_history import numbered
from .writing_results import shown
from .writing_story import background, presentation, reason_of
from .writing_view import Known, flag, number
from .writing_words import Scribe

_MOST_BASIS = 4
_SERIES = 2
TELLS = ("pathognomonic", "highly_suggestive")
"""Edges of a finding that makes the diagnosis."""
_PROVED = 2
"""The hospital day until which a note argues for the diagnosis."""
_BACK = 85
"""Percent of the worst distance out of range, below which a value is on its way back."""


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
        reason = reason_of(known)
        said = [teller.say("assess.visit", facts, history=opened(history), reason=reason)]
    else:
        said = [_summary(scribe, teller, principal)]
    support = basis(scribe, teller, principal)
    if support.text and (day is None or day <= _PROVED):
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
    if illness.condition not in table("graded") or illness.severity == "mild" or not teller.chance(30):
        return name
    if any(word in name for word in table("severity_word").values()) or name[:1].isupper():
        return name
    return f"{table('severity_word')[illness.severity]} {name}"


def _on_day(scribe: Scribe, teller: Teller, principal: Illness, day: int) -> Sentence:
    known = scribe.known
    turns = known.happened("improved", "worsened")
    state = ""
    facts: tuple[str, ...] = ()
    if turns:
        last = turns[-1]
        if last.kind == "worsened":
            state, facts = teller.words("assess.state.worse"), (last.id,)
        elif measured_better(known, principal):
            state, facts = teller.words("assess.state.improved"), (last.id,)
    name = scribe.condition(principal)
    operated, done = _after_operation(scribe, teller)
    return teller.say(
        "assess.day",
        ("person", known.root.id, principal.id, *done, *facts),
        day=str(day),
        principal=name,
        Principal=capital(name),
        state=opened(operated + opened(state)),
    )


def _after_operation(scribe: Scribe, teller: Teller) -> tuple[str, tuple[str, ...]]:
    """Return which day after the last operation of the stay it is, and the operation; "" where there was none."""
    known = scribe.known
    done = [one for one in known.life.treated if one.procedure in table("operations") and known.begin <= one.at]
    done = [one for one in done if (one.end or one.at) <= known.at]
    if not done:
        return "", ()
    days = known.at // DAY - done[-1].at // DAY
    return opened(teller.words("assess.postop", days=str(days))), (done[-1].id,)


def basis(scribe: Scribe, teller: Teller, illness: Illness) -> Sentence:
    """Return the findings that speak for an illness, those that decide first.

    What it shows, what was seen, which values it moves. The complaint does not prove itself, and of a study only what
    is of this illness counts: old changes of the brain are no ground for a new stroke.
    """
    known = scribe.known
    found: list[_Ground] = []
    owned = [
        one
        for one in known.signs
        if one.present
        and one.study is None
        and (one.type in ("symptom", "sign") or (one.type == "vital" and _telling(one.owners, illness.id)))
        and one.finding != known.root.complaint
        and _owns(one.owners, illness.id)
    ]
    owned.sort(key=lambda one: (one.relevance != "key", one.onset, one.id))
    for one in owned[: 2 + teller.stream.below(2)]:
        text = scribe.finding(one, teller, absent=one.type == "sign")  # signs: the noun phrase
        found.append(_Ground(_telling(one.owners, illness.id), text, (one.id,)))
    for study in known.studies:
        name, seen, facts = shown(scribe, teller, study, keep=lambda one: _owns(one.owners, illness.id))
        if seen and len(found) < _MOST_BASIS + 1:
            told = any(_telling(known.outline.signs[one].owners, illness.id) for one in study.shown)
            found.append(_Ground(told, f"{seen} on {name}", facts))
    proving = proving_labs(illness.condition)
    for result in [one for one in moved(known, illness, len(proving) + _MOST_BASIS) if one.lab in proving][:2]:
        text = f"{scribe.lab(result)} {scribe.value(result, unit=True)}"
        found.append(_Ground(result.lab in telling_labs(illness.condition), text, (result.id,)))
    found.sort(key=lambda one: not one.decides)
    return Sentence(scribe.join([one.text for one in found]), unique([fact for one in found for fact in one.facts]))


class _Ground(NamedTuple):
    """What speaks for a diagnosis."""

    decides: bool
    text: str
    facts: tuple[str, ...]


def _telling(owners: Sequence[tuple[str, str]], illness: str) -> bool:
    """Whether a finding makes the diagnosis of an illness."""
    return any(owner == illness and edge in TELLS for owner, edge in owners)


@cache
def telling_labs(condition: str) -> frozenset[str]:
    """Return the labs of which a value makes the diagnosis of a condition."""
    edges = condition_profiles()[condition].findings
    found = [finding_profiles().get(edge.finding) for edge in edges if edge.edge in TELLS]
    return frozenset(one.lab for one in found if one is not None and one.type == "lab" and one.lab is not None)


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


def measured_better(known: Known, illness: Illness) -> bool:
    """Return whether what an illness moved is on its way back; True where it moved nothing that is measured."""
    told = False
    for lab in expected(illness.condition):
        series = [one for one in known.series(lab) if illness.id in one.causes and number(one.text) is not None]
        off = [one for one in series if flag(one)]
        if not off or len(series) < _SERIES or lab in table("drawn_once"):
            continue
        told = True
        last = series[-1]
        if not flag(last) or _distance(last) * 100 <= _BACK * max(_distance(one) for one in off):
            return True
    return not told


def _distance(result: Result) -> Decimal:
    """Return how far a value lies out of its range."""
    value, bound = number(result.text), number((result.low if flag(result) == "L" else result.high) or "")
    return abs(value - bound) if flag(result) and value is not None and bound is not None else Decimal(0)


@cache
def proving_labs(condition: str) -> frozenset[str]:
    """Return the labs that speak for a condition: its findings; where it has none, what it moves, but for injuries.

    A white count is no ground for a broken hip.
    """
    profile = condition_profiles().get(condition)
    if profile is None:
        return frozenset()
    edges = [edge for edge in profile.findings if edge.edge not in ("rules_out", "protective")]
    found = [finding_profiles().get(edge.finding) for edge in edges]
    own = frozenset(one.lab for one in found if one is not None and one.type == "lab" and one.lab is not None)
    if own or profile.system in table("proved_without_labs"):
        return own
    return frozenset(expected(condition))


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
        if effect.lab in told and profile.system in table("lab_systems").get(effect.lab, profile.system).split():
            middle = sum(effect.band("moderate")) / 2
            found.setdefault(effect.lab, "H" if middle > (effect.mode == "times") else "L")
    return found


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
        lines = [plain_line(capital(scribe.condition(one, short=False)), (one.id,)) for one in others]
        return numbered(scribe, [*said, *lines])
    if others:
        words = scribe.conditions(others)
        said.append(teller.line("assess.dx.other", [one.id for one in others], conditions=words))
    return said
