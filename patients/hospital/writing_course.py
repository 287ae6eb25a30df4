"""What happened: the interval of a progress note and the course of a whole stay, told from its events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from wardround.patients.knowledge.bedside import condition_profiles
from wardround.patients.times import Instant

from .life import CourseEvent, Illness, Prescription, Result
from .onset import HOUR
from .phrasing import Teller, capital, lowered, opened, table, unique
from .record import Sentence
from .reports import report_of
from .writing_assessment import TELLS, expected, measured_better
from .writing_breathing import breathing_news
from .writing_pending import consulted_service
from .writing_plan import done_words, stop_reason
from .writing_results import VITALS, study_name
from .writing_story import background, long_known, presentation
from .writing_view import Known, clock, flag, number
from .writing_words import Scribe, service_name

_MOST_ORDERS = 5
_MOST_TRENDS = 3
_TELLING = 20
"""Percent by which a value must move to be told, unless it came into its range."""
_AT_ARRIVAL = 3 * HOUR
_REPLACES = 12 * HOUR
"""Within which of the end of one order another takes its place."""
_DAILY = ("icu_transfer", "icu_out", "treatment_started", "treatment_changed", "culture_result", "antibiotic_narrowed",
          "improved", "worsened", "complication", "dose_held", "procedure_done", "consulted", "ready",
          "goals_of_care")  # fmt: skip


def interval(scribe: Scribe, since: Instant) -> list[Sentence]:
    """Return what is new since the note before."""
    teller = scribe.teller("history-of-present-illness")
    known = scribe.known
    said = [teller.say("interval.open", (known.root.id,))]
    told = _events(scribe, teller, [one for one in known.events if one.at > since], since)
    told += breathing_news(scribe, teller, since)
    off = _off_signs(scribe, teller, since)
    said += told or off or [teller.say("interval.none", (known.root.id,))]
    if told and off and any(one.kind == "worsened" for one in known.events if one.at > since):
        said += off
    pain = [one for one in known.series("pain_score") if one.at > since]
    if pain and teller.chance(20):
        said.append(teller.say("vitals.pain", (pain[-1].id,), pain=pain[-1].text))
    if teller.chance(35):
        came = [one for one in known.findings("symptom", present=True) if not long_known(known, one)][:3]
        if came:
            words = scribe.join([scribe.finding(one, teller) for one in came])
            said.append(teller.say("interval.came", [one.id for one in came], symptoms=words))
    return said


def _off_signs(scribe: Scribe, teller: Teller, since: Instant) -> list[Sentence]:
    """Return the vital signs since the note before that nobody would call uneventful: the worst of each."""
    known, words = scribe.known, table("off_signs")
    above, below = table("off_signs_above"), table("off_signs_below")
    told: list[str] = []
    facts: list[str] = []
    for lab in VITALS:
        if scribe.child and lab != "temperature" and lab != "spo2":
            continue
        upward = lab in above
        bound = int(above[lab] if upward else below[lab])
        found = [(number(one.text.partition("/")[0]), one) for one in known.series(lab) if one.at > since]
        off = [
            (value, one) for value, one in found if value is not None and (value >= bound if upward else value < bound)
        ]
        if not off:
            continue
        off.sort(key=lambda pair: (-pair[0] if upward else pair[0], pair[1].at))
        told.append(words[lab].replace("{value}", off[0][1].text))
        facts.append(off[0][1].id)
    return [teller.say("interval.signs", facts, signs=scribe.join(told))] if told else []


def hospital_course(scribe: Scribe) -> list[Sentence]:
    """Return the course of the stay: how it began, what was found, what was done, how it went, how it ended."""
    teller = scribe.teller("hospital-course")
    known = scribe.known
    said = [_opened(scribe, teller)]
    if known.principal is not None:
        name = scribe.condition(known.principal)
        said.append(teller.say("course.dx", (known.principal.id,), principal=name, Principal=capital(name)))
        said += _decisive(scribe, teller, known.principal)
    said += _events(scribe, teller, known.events, known.begin - 1)
    said += _laboratory_course(scribe, teller)
    said += _continued(scribe, teller)
    said += _taken_up(scribe, teller)
    said += _ending(scribe, teller)
    return said


def _decisive(scribe: Scribe, teller: Teller, principal: Illness) -> list[Sentence]:
    """Return the study that showed what the patient has, with what it showed; none where no study did."""
    known = scribe.known
    for study in known.studies:
        for one in study.shown:
            sign = known.outline.signs.get(one)
            owned = sign is not None and any(i == principal.id and edge in TELLS for i, edge in sign.owners)
            if not owned:
                continue
            words = [each for each in report_of(known.outline, study).impression if one in each.facts]
            if words:
                name, text = study_name(study), words[0].text.rstrip(".").replace(", as above", "")
                date = scribe.date(study.at)
                facts = (principal.id, *words[0].facts)
                return [
                    teller.say("course.study", facts, study=name, Study=capital(name), date=date, text=lowered(text))
                ]
    return []


def _opened(scribe: Scribe, teller: Teller) -> Sentence:
    known = scribe.known
    history, past = background(scribe, teller, 3)
    complaint, _, facts = presentation(scribe, teller)
    return teller.say(
        "course.open",
        ("person", known.root.id, *facts, *past),
        date=scribe.date(known.root.start),
        complaint=complaint,
        history=opened(history),
    )


# -- events ------------------------------------------------------------------------------------------------------------

_Tell: TypeAlias = "Callable[[Scribe, Teller, CourseEvent], Sentence | None]"


def _events(scribe: Scribe, teller: Teller, events: Sequence[CourseEvent], since: Instant) -> list[Sentence]:
    """Return a sentence an event, in order of time; what is told twice is told once.

    Drugs that no course leaves out are told although no event is about them: what holds up the pressure.
    """
    said: list[tuple[Instant, Sentence]] = []
    seen: set[tuple[str, tuple[str, ...]]] = set()
    named = {fact for one in events for fact in one.facts}
    for order in scribe.known.started(since + 1, scribe.known.at):
        if order.drug in table("course_pressors") and order.id not in named and scribe.known.received(order):
            drug, date = scribe.drug(order), scribe.date(order.start)
            told = teller.say("course.pressor", (order.id,), drug=drug, Drug=capital(drug), date=date)
            said.append((order.start, told))
    for event in events:
        if event.kind not in _DAILY or (event.kind, event.facts) in seen:
            continue
        seen.add((event.kind, event.facts))
        tell = _TELLERS.get(event.kind, _plain)
        sentence = tell(scribe, teller, event)
        if sentence is not None:
            said.append((event.at, sentence))
    return [one for _, one in sorted(said, key=lambda pair: pair[0])]


def _plain(scribe: Scribe, teller: Teller, event: CourseEvent) -> Sentence | None:
    return teller.say(f"course.{event.kind}", (event.id,), date=scribe.date(event.at))


def _orders_of(scribe: Scribe, event: CourseEvent) -> list[Prescription]:
    found = [
        scribe.known.outline.prescriptions[one] for one in event.facts if one in scribe.known.outline.prescriptions
    ]
    return [one for one in found if one.known_at <= scribe.known.at]


def _treated(scribe: Scribe, teller: Teller, event: CourseEvent) -> Sentence | None:
    orders = _orders_of(scribe, event)
    if event.kind == "antibiotic_narrowed":
        orders = [one for one in orders if one.start >= event.at - 1]
    again = {one.continues for one in orders}  # of two doses of a drug the one that went on
    orders = [one for one in orders if scribe.known.given(one) and one.id not in again][:_MOST_ORDERS]
    if not orders:
        return None
    words = scribe.orders(orders)
    others = [one for one in event.facts if one not in scribe.known.outline.prescriptions]
    facts = unique((event.id, *others, *(one.id for one in orders)))
    kind = _how_changed(scribe, orders) if event.kind == "treatment_changed" else event.kind
    return teller.say(f"course.{kind}", facts, orders=words, Orders=capital(words), date=scribe.date(event.at))


def _how_changed(scribe: Scribe, orders: Sequence[Prescription]) -> str:
    """Return what a change of treatment was: one drug for another, the same one taken up again, or one more."""
    known = [one for one in scribe.known.life.prescriptions if one.known_at <= scribe.known.at]
    for new in orders:
        for old in known:
            near = old.stop is not None and abs(old.stop - new.start) <= _REPLACES
            alike = old.id == new.continues or old.drug == new.drug or old.indication == new.indication
            if old.id != new.id and near and alike and old.start < new.start:
                return "treatment_changed"
    earlier = {one.drug for one in known if one.start < min(new.start for new in orders)}
    return "treatment_resumed" if all(one.drug in earlier for one in orders) else "treatment_added"


def _held(scribe: Scribe, teller: Teller, event: CourseEvent) -> Sentence | None:
    orders = [one for one in _orders_of(scribe, event) if one.stop is not None and one.stop <= scribe.known.at]
    running = {one.drug for one in scribe.known.active(at=event.at + 1)}
    orders = [one for one in orders if one.drug not in running]
    if not orders:
        return None
    names = list(dict.fromkeys(scribe.drug(one) for one in orders))[:_MOST_ORDERS]
    reasons = {one.stop_reason for one in orders}
    reason = stop_reason(teller, orders[0]) if len(reasons) == 1 else ""
    words = scribe.join(names)
    key = "course.dose_held" if len(names) == 1 else "course.doses_held"
    return teller.say(key, (event.id, *(one.id for one in orders)), drug=words, Drug=capital(words), reason=reason)


def _cultured(scribe: Scribe, teller: Teller, event: CourseEvent) -> Sentence | None:
    for fact in event.facts:
        culture = scribe.known.outline.cultures.get(fact)
        stages = [one for one in culture.stages if one.at <= scribe.known.at] if culture is not None else []
        if culture is None or not stages:
            continue
        specimen = table("specimen").get(culture.specimen, culture.specimen)
        text = lowered(stages[-1].text.rstrip("."))
        return teller.say(
            "course.culture_result",
            (event.id, culture.id),
            specimen=specimen,
            Specimen=capital(specimen),
            date=scribe.date(culture.at),
            text=text,
        )
    return None


def _complicated(scribe: Scribe, teller: Teller, event: CourseEvent) -> Sentence | None:
    found: list[Illness] = [
        scribe.known.outline.illnesses[one] for one in event.facts if one in scribe.known.outline.illnesses
    ]
    found = [one for one in found if one.known_at <= scribe.known.at]
    if not found:
        return None
    words = scribe.conditions(found)
    facts = (event.id, *(one.id for one in found))
    late = not any(_there_at_arrival(scribe.known, one) for one in found)
    return teller.say(
        "course.complication" if late else "course.recognized",
        facts,
        condition=words,
        Condition=capital(words),
        date=scribe.date(event.at),
    )


def _there_at_arrival(known: Known, illness: Illness) -> bool:
    """Whether what tells an illness was there when the patient came: the note found it, the stay did not bring it."""
    if illness.onset < known.begin:
        return True
    first = known.first()
    moves = [(first[lab], letters) for lab, letters in expected(illness.condition).items() if lab in first]
    if any((mark := flag(one)) and mark in letters and one.at <= known.begin + _AT_ARRIVAL for one, letters in moves):
        return True
    telling = {edge.finding for edge in condition_profiles()[illness.condition].findings if edge.edge in TELLS}
    return any(one.present and one.finding in telling and one.onset < known.begin for one in known.signs)


def _operated(scribe: Scribe, teller: Teller, event: CourseEvent) -> Sentence | None:
    for fact in event.facts:
        done = scribe.known.outline.treated.get(fact)
        if done is None:
            continue
        over = (done.end or done.at) <= scribe.known.at
        title, went, care = done_words(teller, done, over=over)
        return teller.say(
            "course.care_done" if care else "course.procedure_done",
            (event.id, done.id),
            procedure=title,
            Procedure=capital(title),
            date=scribe.date(done.at),
            outcome=went,
        )
    return None


def _consulted(scribe: Scribe, teller: Teller, event: CourseEvent) -> Sentence | None:
    service = consulted_service(scribe.known, event.facts)
    if service is None:
        return None
    name = service_name(service)
    return teller.say("course.consulted", (event.id,), service=lowered(name), Service=name, date=scribe.date(event.at))


def _goals(scribe: Scribe, teller: Teller, event: CourseEvent) -> Sentence | None:
    """Return that the goals of care were discussed, and with whom."""
    facts = (event.id, "person")
    return teller.say("course.goals", facts, family=scribe.family, Family=capital(scribe.family),
                      date=scribe.date(event.at))  # fmt: skip


def _improved(scribe: Scribe, teller: Teller, event: CourseEvent) -> Sentence | None:
    """Return that the patient got better; where nothing measured moved yet, that it felt so."""
    found = [scribe.known.outline.illnesses[one] for one in event.facts if one in scribe.known.outline.illnesses]
    moved = all(measured_better(scribe.known, one) for one in found)
    return teller.say("course.improved" if moved else "course.eased", (event.id,), date=scribe.date(event.at))


_TELLERS: Mapping[str, _Tell] = MappingProxyType(
    {
        "treatment_started": _treated,
        "improved": _improved,
        "treatment_changed": _treated,
        "antibiotic_narrowed": _treated,
        "dose_held": _held,
        "culture_result": _cultured,
        "complication": _complicated,
        "procedure_done": _operated,
        "consulted": _consulted,
        "goals_of_care": _goals,
    }
)


# -- the whole stay ----------------------------------------------------------------------------------------------------


def _laboratory_course(scribe: Scribe, teller: Teller) -> list[Sentence]:
    """Return how the most abnormal labs moved from first to last."""
    known = scribe.known
    said: list[Sentence] = []
    first, last, told = known.first(), known.latest(), table("told_labs")
    moved = [one for one in first.values() if flag(one) and one.causes and one.lab in told]
    telling = [lab for one in known.problems if known.new(one) for lab in expected(one.condition)]
    moved.sort(key=lambda one: (one.lab not in telling, -_change(one, last[one.lab]), one.lab))
    for one in moved:
        end = last[one.lab]
        if end.id == one.id or end.text == one.text or number(end.text) is None or len(said) >= _MOST_TRENDS:
            continue
        if one.lab not in telling or (_change(one, end) < _TELLING and bool(flag(end))):
            continue
        name = scribe.lab(one)
        said.append(
            teller.say(
                "course.labs",
                (one.id, end.id),
                name_lab=name,
                Name_lab=capital(name),
                first=scribe.value(one, unit=True, marked=False),
                last=scribe.value(end, unit=True, marked=False),
            )
        )
    return said


def _change(one: Result, other: Result) -> int:
    first, last = number(one.text), number(other.text)
    if not first or last is None:
        return 0
    return int(abs(last - first) * 100 / abs(first))


def _continued(scribe: Scribe, teller: Teller) -> list[Sentence]:
    known = scribe.known
    home = {one.id: one for one in known.home()}
    found = [one for one in known.active("home", "discharge") if one.id in home]
    kept = [one for one in found if one.id not in known.unused][:_MOST_ORDERS]
    again = [one for one in found if one.id in known.unused][:_MOST_ORDERS]
    said = []
    if again:
        names = scribe.join([scribe.drug(one) for one in again])
        ids = [fact for one in again for fact in (one.id, known.unused[one.id].id)]
        said.append(teller.say("course.restarted", ids, drugs=names, Drugs=capital(names)))
    if not kept:
        return said
    names = scribe.join([scribe.drug(one) for one in kept])
    ids = [one.id for one in kept]
    key = "course.home_continued" if len({one.name for one in kept}) > 1 else "course.home_continued.one"
    return [teller.say(key, ids, drugs=names, Drugs=capital(names)), *said]


def _taken_up(scribe: Scribe, teller: Teller) -> list[Sentence]:
    """Return which home medicines that were held are taken again from the discharge on."""
    known = scribe.known
    again = [(one, old) for one in known.active("discharge") if (old := known.held_before(one)) is not None]
    if not again:
        return []
    names = list(dict.fromkeys(scribe.drug(one) for one, _ in again))[:_MOST_ORDERS]
    ids = [fact.id for pair in again for fact in pair]
    words, key = scribe.join(names), "course.resumed" if len(names) > 1 else "course.resumed.one"
    return [teller.say(key, ids, drugs=words, Drugs=capital(words))]


def _ending(scribe: Scribe, teller: Teller) -> list[Sentence]:
    known = scribe.known
    died = known.happened("died")
    if died:
        cause, facts = known.principal, (died[-1].id, "person")
        told = teller.say("course.died.family", facts, family=scribe.family, Family=capital(scribe.family))
        if cause is None:
            return [teller.say("course.died", facts, date=scribe.date(died[-1].at)), told]
        return [
            teller.say(
                "course.died.of",
                (died[-1].id, "person", cause.id),
                date=scribe.date(died[-1].at),
                time=clock(died[-1].at),
                cause=scribe.condition(cause),
            ),
            told,
        ]
    place = disposition(known)
    left = known.happened("discharged")
    if not left or not place:
        return []
    return [teller.say("course.discharged", (left[-1].id, known.root.id), date=scribe.date(left[-1].at), place=place)]


def disposition(known: Known) -> str:
    """Return where the patient goes, in words; "" where it is not known."""
    return table("disposition").get(known.root.disposition or "", "")
