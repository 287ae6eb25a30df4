"""Plans of care: goals of the stay, what changes at home, what to watch for, when to come back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wardround.patients.dosing import as_needed, timing
from wardround.patients.knowledge import labs
from wardround.patients.knowledge.bedside import condition_profiles, panels
from wardround.patients.knowledge.graph_models import FollowUp
from wardround.patients.knowledge.models import Names
from wardround.patients.times import DAY, Instant

from .advising import advise
from .documents import Words
from .falling import count_followed
from .generation import rules
from .leading_in import leads, maintenance
from .life import Illness, Pair, Plan, PlanItem, Prescription
from .making import HOUR, Making, at_clock, between
from .naming import drug_name, inside, name_of
from .situating import is_a
from .stays import Course, service_of

_FINISH = "Finish"
"""How advice begins in English that speaks of a course with an end."""


def plan_stay(course: Course) -> None:
    """Plan the stay on admission: the goals of treatment, drug by drug what is given for what."""
    making = course.making
    at = course.admitted + 3 * HOUR
    illness = course.illness(course.principal)
    items = [_item(making, "goal", "goal", course.ward, (illness.id,), illness=name_of(illness.condition))]
    beside = {"vte_prophylaxis", *(line.id for line in rules().supportive)}
    running = [
        order
        for order in making.active(at)
        if order.kind == "inpatient" and order.indication in course.acute and not order.prn and order.line not in beside
    ]
    drinkers = rules().drinkers
    if making.person.drinks_per_week >= drinkers.drinks and making.suspected.isdisjoint(drinkers.unless):
        items.append(_item(making, "goal", "drinker", course.ward, (illness.id,)))
    for order in running[:4]:
        items.append(
            _item(
                making,
                "drug_change",
                "give",
                course.ward + order.id,
                (order.id,),
                drug=drug_name(order.drug),
                dose=dose_words(order.dose),
                frequency=frequency_words(order.frequency),
                illness=name_of(course.illness(order.indication or illness.id).condition),
            )
        )
    making.plans.append(Plan(making.new("pl"), "treatment", at, course.ward, tuple(items)))


def plan_leaving(course: Course) -> None:
    """Plan what comes after: changes of home drugs, warnings, teaching, then appointments and labs."""
    making, at = course.making, course.leaves
    illnesses = [course.illness(one) for one in course.acute]
    before = [making.orders[one] for one in course.home]
    after = [order for order in making.active(at) if order.kind != "inpatient"]
    items = list(drug_changes(making, before, after, course.ward, _next_visit(making, course.ward, at, illnesses)))
    items.extend(_lead_ins(making, after, course.ward, at))
    items.extend(_tapers(making, after, course.ward, at))
    for illness in illnesses[:2]:
        profile = condition_profiles()[illness.condition]
        stream = making.stream("advice", course.ward, illness.id)
        for kind, phrases, most in (("warning", profile.warning, 2), ("teaching", profile.teaching, 1)):
            lots = stream.shuffled(range(len(phrases.en)))
            chosen = [n for n in lots if holds(making, phrases.en[n], after, at)][:most]
            items.extend(PlanItem(kind, Pair(phrases.en[n], phrases.zh[n]), (illness.id,)) for n in sorted(chosen))  # type: ignore[arg-type]
    items.extend(advise(making, course.ward, at, [one.condition for one in illnesses]))
    making.plans.append(Plan(making.new("pl"), "discharge-planning", at, course.ward, tuple(items)))
    booked = [*_booked(making, after, course.ward, at), *_count(course, at)]
    _come_back(making, course.ward, at, illnesses, after, booked)


def holds(making: Making, words: str, after: Sequence[Prescription], at: Instant) -> bool:
    """Tell whether advice holds for who goes home on some drugs: nobody finishes tablets that they do not have.

    What is to be finished has days left and an end.
    """
    if any(rule.words in words and making.person.smoking not in rule.smoking for rule in rules().told_to):
        return False
    needed = [rule.drugs for rule in rules().told_with if rule.words in words]
    if words.startswith(_FINISH):
        after = [order for order in after if order.stop is not None and order.stop >= at + DAY]
    return all(any(is_a(order.drug, drugs) for order in after) for drugs in needed)


def _lead_ins(making: Making, after: Sequence[Prescription], key: str, at: Instant) -> Iterable[PlanItem]:
    """Tell of each drug whose first days' dose goes home how it goes on."""
    for order in after:
        choice = maintenance(making, order, at) if leads(order) and order.start == at else None
        if choice is not None:
            n = str(leads(order))
            yield _item(
                making, "drug_change", "lead_in", key + order.id, (order.id,), drug=drug_name(order.drug), n=(n, n),
                dose=dose_words(choice.dose), frequency=frequency_words(choice.frequency),
            )  # fmt: skip


def _tapers(making: Making, after: Sequence[Prescription], key: str, at: Instant) -> Iterable[PlanItem]:
    """Tell of each drug that a long course of goes home that it is not stopped at once."""
    rule = rules().tapered
    for order in after:
        days = (order.stop - at) // DAY if order.stop is not None and order.start == at else 0
        if days > rule.days and is_a(order.drug, rule.drugs):
            n = str(days)
            yield _item(
                making, "drug_change", "taper", key + order.id, (order.id,), drug=drug_name(order.drug), n=(n, n)
            )


def _booked(making: Making, after: Sequence[Prescription], key: str, at: Instant) -> Iterable[PlanItem]:
    """Book the labs by which a drug that goes home is followed."""
    for rule in rules().booked:
        fresh = [order for order in after if order.start == at or not rule.fresh]
        facts = tuple(order.id for order in fresh if is_a(order.drug, rule.drugs))
        if facts:
            days = _on_weekday(at, between(making.stream("booked", key, *rule.labs), *rule.days))
            yield _item(making, "lab", "lab", key + "booked", facts, due=at_clock(at + days * DAY, 9),
                        n=(str(days), str(days)), labs=_lab_names(rule.labs))  # fmt: skip


def _count(course: Course, at: Instant) -> Iterable[PlanItem]:
    """Book the count that fell while the blood was thinned."""
    fact, rule = count_followed(course), rules().falling
    if fact is not None:
        days = _on_weekday(at, between(course.making.stream("count booked", course.ward), *rule.days))
        yield _item(course.making, "lab", "lab", course.ward + "count", (fact,), due=at_clock(at + days * DAY, 9),
                    n=(str(days), str(days)), labs=_lab_names((rule.panel,)))  # fmt: skip


def plan_clinic(making: Making, encounter: str, at: Instant, illness: Illness, before: Sequence[Prescription]) -> None:
    """Plan what follows a clinic visit."""
    after = [order for order in making.active(at) if order.kind != "inpatient"]
    items = list(drug_changes(making, before, after, encounter, _next_visit(making, encounter, at, [illness])))
    if items:
        making.plans.append(Plan(making.new("pl"), "treatment", at, encounter, tuple(items)))
    _come_back(making, encounter, at, [illness], after)


def drug_changes(
    making: Making, before: Sequence[Prescription], after: Sequence[Prescription], key: str, visit: int
) -> Iterable[PlanItem]:
    """Tell each difference between two lists of home drugs; `visit`: in how many days the next visit is."""
    had = {order.drug: order for order in before}
    has = {order.drug: order for order in after}
    for order in after:
        old = had.get(order.drug)
        kind = "new" if old is None else "changed" if (old.dose, old.frequency) != (order.dose, order.frequency) else ""
        days = 0 if order.stop is None or leads(order) else (order.stop - order.start) // DAY
        kind = "course" if kind == "new" and days > 1 else kind
        kind = "resume" if not kind and _again(making, old, order) else kind
        if kind:
            yield _item(
                making, "drug_change", kind, key + order.id, (order.id,), drug=drug_name(order.drug), use=_use(order),
                dose=dose_words(order.dose), frequency=how_often(order), n=(str(days), str(days)),
            )  # fmt: skip
    for order in before:
        if order.drug not in has:
            yield _gone(making, making.orders[order.id], key, visit)


def _again(making: Making, old: Prescription | None, order: Prescription) -> bool:
    """Tell whether an order takes up, as it was, one that was held for safety."""
    if old is None or old.id == order.id:
        return False
    other = [rules().reasons[one].pair() for one in ("changed_in_hospital", "dose_changed", "dose_adapted", "replaced")]
    reason = making.orders[old.id].stop_reason
    return reason is not None and reason not in other


def _gone(making: Making, order: Prescription, key: str, visit: int) -> PlanItem:
    """Tell of a home drug that does not go on: until when and why it is held, or that it is over."""
    drug = drug_name(order.drug)
    if not order.paused or order.stop is None:
        return _item(making, "drug_change", "stopped", key + order.id, (order.id,), drug=drug)
    n = str(visit)
    why = order.stop_reason or rules().reasons["resolved"].pair()
    return _item(
        making, "drug_change", "paused", key + order.id, (order.id,), drug=drug, n=(n, n),
        why=(inside(why.en), why.zh),
    )  # fmt: skip


def _next_visit(making: Making, encounter: str, at: Instant, illnesses: Sequence[Illness]) -> int:
    """Return in how many days the first visit is that `_come_back` books."""
    follows: dict[str, FollowUp] = {}
    for illness in illnesses[:3]:
        for one in condition_profiles()[illness.condition].follow_up:
            follows.setdefault(one.service, one)
    days = [_days_until(making, encounter, at, one) for one in follows.values()]
    return min(days, default=_days_until_check(making, encounter, at))


def _days_until(making: Making, encounter: str, at: Instant, follow: FollowUp) -> int:
    return _on_weekday(at, between(making.stream("back", encounter, follow.service), *follow.days))


def _days_until_check(making: Making, encounter: str, at: Instant) -> int:
    return _on_weekday(at, between(making.stream("back", encounter), 10, 28))


def _come_back(
    making: Making, encounter: str, at: Instant, illnesses: Sequence[Illness], after: Sequence[Prescription],
    booked: Sequence[PlanItem] = (),
) -> None:  # fmt: skip
    items: list[PlanItem] = []
    seen: set[str] = set()
    for illness in illnesses[:3]:
        for follow in condition_profiles()[illness.condition].follow_up:
            if follow.service in seen:
                continue
            seen.add(follow.service)
            days = _days_until(making, encounter, at, follow)
            due = at_clock(at + days * DAY, 9)
            reason = (follow.reason.en, follow.reason.zh or follow.reason.en)
            items.append(
                _item(making, "appointment", "appointment", encounter + follow.service, (illness.id,), due=due,
                      service=name_of(follow.service), n=(str(days), str(days)), reason=reason)
            )  # fmt: skip
            if follow.labs:
                items.append(
                    _item(making, "lab", "lab", encounter + follow.service, (illness.id,), due=due,
                          n=(str(days), str(days)), labs=_lab_names(follow.labs))
                )  # fmt: skip
    if not seen:
        days = _days_until_check(making, encounter, at)
        words = rules().plans["check"][0]
        items.append(
            _item(making, "appointment", "appointment", encounter, (illnesses[0].id,), due=at_clock(at + days * DAY, 9),
                  service=name_of(service_of(making, (), "clinic", at)), n=(str(days), str(days)),
                  reason=(words.en, words.zh))
        )  # fmt: skip
    items.extend(booked)
    making.plans.append(Plan(making.new("pl"), "followup", at, encounter, tuple(items)))


def _on_weekday(at: Instant, days: int) -> int:
    """Return after how many days there is a clinic: not on a Saturday or Sunday."""
    day = (at // DAY + days + 3) % 7  # 1970-01-01 was a Thursday
    return days + (7 - day if day >= 5 else 0)


def _use(order: Prescription) -> tuple[str, str]:
    """Return how one begins a drug, by its route."""
    words = rules().use_words.get(order.route, rules().use_words["other"])
    return words.en, words.zh


def _item(
    making: Making, kind: str, words: str, key: str, facts: tuple[str, ...], due: Instant | None = None,
    **places: tuple[str, str],
) -> PlanItem:  # fmt: skip
    phrase: Words = making.stream("plan words", key, words).choice(rules().plans[words])
    return PlanItem(kind, phrase.pair(**places), facts, due)  # type: ignore[arg-type] # kinds are ours


def _lab_names(ids: Sequence[str]) -> tuple[str, str]:
    known = rules().lab_words
    named = [(one, panels().get(one) or labs().get(one)) for one in ids]
    names: list[Words | Names] = []
    for one, entry in named:
        words = known.get(one) or (entry.name if entry is not None else None)
        if words is not None and words not in names:
            names.append(words)
    return ", ".join(inside(one.en) for one in names), "、".join(one.zh or one.en for one in names)


def dose_words(dose: str) -> tuple[str, str]:
    """Return a dose in both languages."""
    number, _, unit = dose.partition(" ")
    words = rules().unit_words
    return dose, f"{number} {'/'.join(words.get(part, part) for part in unit.split('/'))}".strip()


def how_often(order: Prescription) -> tuple[str, str]:
    """Return an order's frequency in both languages, "as needed" included."""
    english, chinese = frequency_words(order.frequency)
    if order.prn and not as_needed(order.frequency):
        words = rules().plans["as_needed"][0]
        return f"{english} {words.en}", f"{chinese}，{words.zh}"
    return english, chinese


def frequency_words(frequency: str) -> tuple[str, str]:
    """Return a frequency in both languages; where its Chinese is not known, the words as they stand."""
    repeat = timing(frequency).get("repeat", {})
    words = rules().frequency_words
    if "count" in repeat:
        return frequency, words["count"]
    when = (repeat.get("when") or [""])[0]
    if when in words:
        return frequency, words[when]
    if repeat.get("periodUnit") == "h":
        return frequency, words["hours"].format(n=repeat["period"])
    if frequency.casefold() in words:
        return frequency, words[frequency.casefold()]
    key = f"{repeat.get('frequency')}/{repeat.get('period')}{repeat.get('periodUnit')}"
    return frequency, words.get(key, frequency)
