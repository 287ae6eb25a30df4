"""Low haemoglobin found in a stay: nobody leaves with one that no one has named."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import cache

from wardround.patients.knowledge.bedside import condition_profiles, finding_profiles
from wardround.patients.knowledge.graph_models import Severity
from wardround.patients.times import DAY, Instant

from .arriving import off_at_first
from .diagnosing import code_of, fits, move_body
from .documents import Frozen, read_document
from .life import Illness, Result
from .making import HOUR, MINUTE, Making, at_clock, between
from .naming import name_of
from .signs import measured
from .stays import Course
from .telling import tell
from .workup import draw, numbers


class _Document(Frozen):
    """The content of `data/anaemia.json`; amounts in g/dL."""

    format_version: int
    assumption: bool
    note: str
    lab: str
    condition: str
    panel: str
    """What is drawn to find the cause."""
    named_below: Decimal
    severity_below: tuple[tuple[Severity, Decimal], ...]
    """Severities of values below bounds, the worst first."""
    else_severity: Severity
    explains: Decimal
    """An illness that takes so much explains a low value by itself."""
    never_explains: tuple[str, ...]
    """Conditions that explain none, whatever they take."""


@cache
def _rules() -> _Document:
    return _Document.model_validate_json(read_document("anaemia.json"))


def recognise(course: Course) -> None:
    """Name an anaemia that the stay shows and nothing explains, and look for its cause.

    Args:
        course: A hospital stay whose days are over and that has not ended yet.
    """
    making = course.making
    counts = _counts(course)
    low = [(one, value) for one, value in counts if value < _rules().named_below]
    if not low or _rules().condition not in condition_profiles():
        return
    first = low[0][0]
    known_at = first.known_at + between(making.stream("anaemia", course.ward), 30, 90) * MINUTE
    if known_at > course.leaves - 2 * HOUR or _explained(making, known_at):
        return
    earlier = [one.at for one, value in counts if value >= _rules().named_below and one.at < first.at]
    earlier = [] if off_at_first(course, _rules().lab) else earlier  # low on arrival: it has not developed since
    severity = _severity(min(value for _, value in low))
    illness = _name(course, max([course.arrival - DAY, *earlier]), known_at, severity)
    _blame(course, illness)
    found = _look_for_cause(course, known_at)
    place = course.place(known_at)
    told = {(one.finding, one.study) for one in making.signs if one.encounter == place}
    for sign in measured(making, [illness], [first, *found], place):
        if (sign.finding, sign.study) not in told and finding_profiles()[sign.finding].lab == _rules().lab:
            making.signs.append(sign)
    if earlier:
        tell(making, known_at, place, "complication", (illness.id,), illness=name_of(_rules().condition))


def _name(course: Course, onset: Instant, known_at: Instant, severity: Severity) -> Illness:
    """Add the illness: in this stay the body has it already; afterwards a little of it stays."""
    making, profile = course.making, condition_profiles()[_rules().condition]
    identity = making.new("d")
    code = code_of(making, profile, severity, identity, known_at)
    illness = Illness(
        id=identity, condition=profile.id, code=code.code, title=code.title, acuity=profile.acuity,
        severity=severity, onset=onset, known_at=known_at, encounter=course.ward, problem_list=True,
        cause=course.principal,
    )  # fmt: skip
    making.illnesses[identity] = illness
    move_body(making, replace(illness, severity="mild"), profile.effects, course.leaves, episode=False)
    course.acute.append(identity)
    return illness


def _blame(course: Course, illness: Illness) -> None:
    """Let low values from its beginning on stand for the illness: they are what its plan follows."""
    results = course.making.results
    for place in range(course.first_result, len(results)):
        one = results[place]
        if one.lab == _rules().lab and one.at >= illness.onset and illness.id not in one.causes:
            results[place] = replace(one, causes=(*one.causes, illness.id))


def _counts(course: Course) -> list[tuple[Result, Decimal]]:
    """Return the haemoglobin values of the stay in order of time."""
    results = [one for one in course.making.results[course.first_result :] if one.lab == _rules().lab]
    values = [(one, value) for one in results for _, value in numbers(one.lab, one.text)]
    return sorted(values, key=lambda pair: (pair[0].at, int(pair[0].id[1:])))


def _severity(lowest: Decimal) -> Severity:
    return next((name for name, below in _rules().severity_below if lowest < below), _rules().else_severity)


def _explained(making: Making, at: Instant) -> bool:
    """Tell whether something that the patient has takes that much from the haemoglobin, or is an anaemia itself."""
    if any(one.condition == _rules().condition for one in making.illnesses.values()):
        return True
    there = making.suffering(at)
    if not fits(making, condition_profiles()[_rules().condition], at, [one.condition for one in there]):
        return True
    for illness in there:
        if illness.condition in _rules().never_explains:
            continue
        for effect in condition_profiles()[illness.condition].effects:
            low, _ = effect.band(illness.severity)
            if effect.lab == _rules().lab and effect.mode == "add" and low <= _rules().explains:
                return True
    return False


def _look_for_cause(course: Course, known_at: Instant) -> list[Result]:
    """Draw iron studies with the next morning's blood, where there is a next morning."""
    making = course.making
    at = at_clock(known_at, 5, 50)
    if at < known_at:
        at += DAY
    if at > course.leaves - 3 * HOUR:
        return []
    return draw(making, [_rules().panel], at, course.place(at))
