"""How home drugs are really taken, and why not: what only the patient knows."""

from __future__ import annotations

from collections.abc import Sequence

from wardround.patients.knowledge import conditions, findings
from wardround.patients.knowledge.bedside import condition_profiles, drug_profiles, finding_profiles
from wardround.patients.times import DAY, Instant

from .documents import Words
from .generation import rules
from .life import Adherence, Illness, Pair, Prescription
from .making import Making, between, weighted
from .medicating import Desk, Kind
from .naming import name_of
from .situating import is_a

_GONE = frozenset({"stopped", "never_started"})


def adhere(making: Making, encounter: str, at: Instant, principal: str, *, last: bool) -> None:
    """Find how each home drug is taken at an encounter; what is not taken acts no longer.

    Args:
        making: The life.
        encounter: Its id.
        at: Arrival.
        principal: Id of the illness that brings the patient in: what is not taken tends to bear on it.
        last: Whether it is the stay that the ward round is about.
    """
    making.encounter = encounter
    making.disliked.clear()
    home = [order for order in making.active(at) if order.kind != "inpatient" and order.start < at]
    targets = _targets(making, home, at, encounter, making.illnesses[principal], last=last)
    for order in home:
        if order.id in targets:
            making.adherence.append(_poor(making, order, encounter, at, critical=last and order.id == targets[0]))
        else:
            making.adherence.append(
                Adherence(making.new("ad"), order.drug, order.id, encounter, "taking", None, None, None, charted=True)
            )


def take_again(making: Making, desk: Desk, at: Instant) -> None:
    """Let the drugs that were not taken act again, where they are still ordered: the patient was told to."""
    for identity in list(making.not_taking):
        order = making.orders[identity]
        if (order.stop is None or order.stop > at) and not order.prn and order.start <= at:
            desk.act(order, at)
    making.not_taking.clear()


def _targets(
    making: Making, home: Sequence[Prescription], at: Instant, encounter: str, principal: Illness, *, last: bool
) -> list[str]:
    """Return ids of the home orders that are not taken as they should be, the one that matters most first."""
    stream = making.stream("adherence", encounter)
    shares = rules().adherence_percent
    careless = making.stream("careless").below(100) < shares["careless"]
    percent = shares["last"] if last else shares["careless_visit"] if careless else shares["visit"]
    settled = [order for order in home if not order.prn and order.start < at - 14 * DAY]
    if stream.below(100) >= percent or not settled or making.age(at) < 12:
        return []
    of = _bearing(making, principal)
    relevant = [order for order in settled if order.indication in of]
    watched = [order for order in settled if drug_profiles()[order.drug].high_risk]
    first = stream.choice(relevant or watched or settled)
    rest = [order for order in settled if order is not first]
    found = [first.id]
    if rest and stream.chance(1, 3):
        found.append(stream.choice(rest).id)
    return found


def _bearing(making: Making, principal: Illness) -> frozenset[str]:
    """Return the illness that brings the patient in, and what it comes from."""
    found = {principal.id}
    if principal.cause is not None:
        found.add(principal.cause)
    parents = condition_profiles()[principal.condition].episode_of
    found.update(one.id for one in making.illnesses.values() if one.condition in parents)
    return frozenset(found)


def _poor(making: Making, order: Prescription, encounter: str, at: Instant, *, critical: bool) -> Adherence:
    stream = making.stream("poor", encounter, order.id)
    adverse = drug_profiles()[order.drug].adverse
    told = [one for one in adverse if one.finding in findings() or one.finding in conditions()]
    given = _given_by_others(making, at)
    rule = weighted(stream, [(one, one.weight) for one in rules().adherence if not given or one.refuses])
    state = stream.choice(rule.states)
    said = [one for one in rule.words if given or not one.if_given]
    concept, reason = rule.concept, stream.choice(said).pair()
    if told and stream.below(100) < rules().adherence_percent["side_effect"]:
        effect = weighted(stream, [(one, one.percent) for one in told])
        concept = effect.finding
        state = "stopped" if stream.below(100) < max(effect.stops, 40) else stream.choice(("reduced", "missed_doses"))
        words: Words = stream.choice(rules().side_effect_words)
        reason = words.pair(finding=_plainly(concept))
    if state == "never_started" and order.start < at - 120 * DAY:
        state = "stopped"
    since = _since(making, order, state, at, encounter)
    if state in _GONE and since is not None:
        making.not_taking[order.id] = since
        making.body.turn(order.id, since)
    words_since = _ago(at - since, stream.below(1000)) if since is not None and state != "never_started" else None
    charted = stream.chance(1, 5) if critical else stream.chance(1, 2)
    caused = any(one.finding == concept for one in adverse)
    if charted and caused and state == "stopped" and not is_a(order.drug, rules().not_tolerated.kept):
        making.disliked.append(order.id)
    return Adherence(
        making.new("ad"), order.drug, order.id, encounter, state,  # type: ignore[arg-type] # by the rules' schema
        words_since, reason, concept, charted=charted,
    )  # fmt: skip


def stop_disliked(making: Making, desk: Desk, at: Instant) -> list[Prescription]:
    """End the home orders that the patient is known to have stopped for what they did: nobody takes them up again.

    Args:
        making: The life.
        desk: Writes the orders.
        at: When.

    Returns:
        The orders that ended.
    """
    rule, ended = rules().not_tolerated, []
    for identity in making.disliked:
        order = making.orders[identity]
        making.intolerant |= {order.drug, *(one for one in rule.together if is_a(order.drug, (one,)))}
        if order.stop is None or order.stop > at:
            desk.end(order, at, rules().reasons[rule.reason].pair())
            ended.append(making.orders[identity])
    return ended


def give_instead(making: Making, desk: Desk, at: Instant, kind: Kind, encounter: str) -> None:
    """Give something else for what the drugs that were not tolerated were for, where nothing does that yet."""
    for identity in making.disliked:
        order = making.orders[identity]
        illness = making.illnesses.get(order.indication or "")
        if illness is None or (illness.resolved is not None and illness.resolved <= at):
            continue
        for line in condition_profiles()[illness.condition].treatments:
            if line.id == order.line and "home" in line.phase:
                desk.treat(illness, line, "home", at, kind, encounter)


def _plainly(concept: str) -> tuple[str, str]:
    """Return what a patient calls a complaint: its first lay name, else its name."""
    profile = finding_profiles().get(concept)
    if profile is not None and profile.lay is not None and profile.lay.name.en:
        return profile.lay.name.en[0], profile.lay.name.zh[0]
    return name_of(concept)


def _given_by_others(making: Making, at: Instant) -> bool:
    """Tell whether nurses of a care home or the family give the drugs: none is forgotten or runs out."""
    return making.person.living == "facility" or any(one.condition in rules().cannot_tell for one in making.ill(at))


def _since(making: Making, order: Prescription, state: str, at: Instant, encounter: str) -> Instant | None:
    if state in ("unsure", "missed_doses"):
        return None
    if state == "never_started":
        return order.start
    most = max(4, min(75, (at - order.start) // DAY - 8))
    stream = making.stream("since", encounter, order.id)
    return at - min(between(stream, 4, most), between(stream, 4, most)) * DAY


def _ago(span: int, lot: int) -> Pair:
    days = span // DAY
    words = rules().since_words
    if days < 14:
        key, n = ("week", 1) if 6 <= days <= 8 else ("days", days)
    elif days < 60:
        key, n = ("weeks", (days + 3) // 7) if not 26 <= days <= 33 else ("month", 1)
    else:
        key, n = "months", max(2, days // 30)
    return words[key][lot % len(words[key])].pair(n=(str(n), str(n)))
