"""Orders: how a treatment line becomes one, what is held, changed and taken up again, and what it does to the body."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Literal

from wardround.patients.knowledge.bedside import drug_profiles, finding_profiles, lab_profiles
from wardround.patients.knowledge.graph_models import Phase, Treatment
from wardround.patients.rng import Stream
from wardround.patients.times import DAY, Instant, format_instant

from .generation import rules
from .life import Illness, Pair, Prescription
from .making import HOUR, MINUTE, Making, between, within
from .physiology import Shift
from .prescribing import Choice, Problem, Situation, choose, problems
from .situating import in_shock, is_a, situation
from .thinning import to_end, too_thin

Kind = Literal["home", "inpatient", "discharge"]
_FADES_H = 24
"""Half-life of a drug's effect after it is stopped, where its profile says none."""


def _stop(
    making: Making, illness: Illness, line: Treatment, choice: Choice, kind: Kind, at: Instant, stream: Stream
) -> Instant | None:
    """Return when an order ends: its course, less what was given before; None: it goes on."""
    if line.days is not None:
        if kind == "inpatient" and is_a(choice.drug, rules().handed_over):
            return None  # it ends when what goes on takes over
        course = DAY * between(stream, *line.days)
        antibiotic = is_a(choice.drug, ("antibiotic",))
        if antibiotic and making.person.sex == "male":
            course = max(course, rules().longer_in_men.get(illness.condition, 0) * DAY)
        infected = antibiotic and illness.acuity != "chronic"
        blood = infected and _in_blood(making, illness.id, at)
        if kind == "inpatient":
            return at + (max(course, rules().antibiotic_days["blood"] * DAY) if blood else course)
        had = _given(making, illness, line, antibiotic, at)
        if infected and had >= DAY:
            course = max(course, rules().antibiotic_days["blood" if blood else "least"] * DAY)
        return at + course - had // DAY * DAY
    short = is_a(choice.drug, rules().short_drugs) and choice.drug not in rules().never_short
    if kind != "inpatient" and illness.acuity == "acute" and short:
        return at + DAY * between(stream, *rules().short_days)
    return None


def _given(making: Making, illness: Illness, line: Treatment, antibiotic: bool, at: Instant) -> Instant:
    """Return for how long an illness was treated by a line, or with antibiotics, when a patient goes home."""
    mine = [
        one.start
        for one in making.orders.values()
        if one.indication == illness.id and one.start < at and one.kind == "inpatient"
        and (is_a(one.drug, ("antibiotic",)) if antibiotic else one.line == line.id)
    ]  # fmt: skip
    return at - min(mine) if mine else 0


def _in_blood(making: Making, illness: str, at: Instant) -> bool:
    """Tell whether blood is known to have grown something in an illness."""
    return any(
        one.illness == illness and one.organism and one.specimen == "blood" and one.stages[0].at <= at
        for one in making.cultures
    )


class Desk:
    """Writes the orders of a life."""

    def __init__(self, making: Making) -> None:
        self._making = making
        self._clock: Instant = 0

    def treat(
        self, illness: Illness, line: Treatment, phase: Phase, at: Instant, kind: Kind, encounter: str | None,
        given: Sequence[Prescription] = (),
    ) -> Prescription | None:  # fmt: skip
        """Start a line of treatment, unless the patient has it already or nothing of it is safe.

        Args:
            illness: What it is for.
            line: The line.
            phase: Where the patient is.
            at: When.
            kind: Of the order.
            encounter: Where it is written.
            given: Orders that end now: what was given goes on.

        Returns:
            The order that serves the line, a running one included; None: there is none.
        """
        if not self.wanted(illness, line, at):
            return None
        at = self.now(at)
        making = self._making
        able = [drug for drug in self._able(line.any_of, at) if self._called_for(drug, at)]
        if illness.acuity != "chronic":  # at once something that acts, where there is a choice
            able = [drug for drug in able if not is_slow(making, drug, at)] or able
        if not able:
            return None
        loads = [order for order in making.active(at) if order.drug in able and is_once(order)]
        if loads:  # what goes on begins when the load is in
            at = self.now(max(order.stop or at for order in loads))
        running = [order for order in making.active(at) if order.drug in able]
        if running and self._serves(running[0], line, phase, kind, at):
            return running[0]
        choice = self._chosen(illness, line, phase, at, kind, able, running, given)
        if choice is None:
            return running[0] if running else None
        if running and (choice.dose, choice.route, choice.prn) == _how(running[0]):
            return running[0]
        stop = _stop(making, illness, line, choice, kind, at, making.stream("course", illness.id, line.id, at))
        if stop is not None and stop < at + DAY and kind != "inpatient":
            return None  # the course is full
        for order in running:
            self._give_way(order, at, kind)
        return self.write(choice, at, kind, encounter, illness.id, stop=stop, line=line.id,
                          continues=running[0].id if running else None)  # fmt: skip

    def _chosen(
        self, illness: Illness, line: Treatment, phase: Phase, at: Instant, kind: Kind, able: Sequence[str],
        running: Sequence[Prescription], given: Sequence[Prescription],
    ) -> Choice | None:  # fmt: skip
        """Choose what serves a line: what runs in another way, what was given before, else the first that is safe."""
        making = self._making
        replaced = tuple(order.id for order in running)
        stream = making.stream("choice", illness.id, line.id, at)
        around = situation(making, at, phase, replaced)
        before = next((order for order in given if order.drug in able), None)
        first = running[0].drug if running else before.drug if before is not None else self._earlier(illness, able, at)
        choice = choose([first], around, stream, dose_for=line.dose_for, prn=line.prn) if first else None
        if choice is None and not running:
            choice = choose(able, around, stream, dose_for=line.dose_for, prn=line.prn)
        if choice is not None and before is not None:
            choice = as_before(choice, before, around, line.dose_for)
        if choice is None and not running and kind != "home" and line.dose_for not in rules().never_displace:
            choice = self._make_room(able, line, phase, at, illness)
        return choice

    def _earlier(self, illness: Illness, able: Sequence[str], at: Instant) -> str | None:
        """Return the drug of some that was last given for an acute illness: what was begun goes on."""
        if illness.acuity == "chronic":
            return None
        mine = [one for one in self._making.orders.values() if one.indication == illness.id and one.start <= at]
        return next((one.drug for one in reversed(mine) if one.drug in able), None)

    def _able(self, any_of: Sequence[str], at: Instant) -> list[str]:
        """Return the drugs that are known and were on the market by then."""
        year = int(format_instant(at)[:4])
        years = rules().drug_years
        there = [drug for drug in any_of if drug in drug_profiles() and year >= years.get(drug, 0)]
        bad = self._making.intolerant
        return [drug for drug in there if not (is_a(drug, bad) or too_thin(self._making, drug, at))]

    def _called_for(self, drug: str, at: Instant) -> bool:
        """Tell whether the vital sign that a drug is given for calls for it; most drugs need none."""
        for rule in rules().called_for:
            if is_a(drug, rule.drugs):
                value = self._making.known(rule.vital, at, 9 * HOUR)
                return value is not None and value < rule.below
        return True

    def now(self, at: Instant) -> Instant:
        """Return an instant no earlier than the last order: decisions are made one after the other."""
        self._clock = max(at, self._clock)
        return self._clock

    def wanted(self, illness: Illness, line: Treatment, at: Instant) -> bool:
        """Tell whether a line is for this patient: severity, odds, what it needs and what forbids it."""
        making = self._making
        if line.severity and illness.severity not in line.severity:
            return False
        if not making.chance(line.percent, "line", illness.id, line.id):
            return False
        have = {one.condition for one in making.ill(at)} | making.showing | {illness.condition}
        have |= {"shock"} if in_shock(making, at) else set()
        have |= {rules().drinkers.trait} if making.person.drinks_per_week >= rules().drinkers.drinks else set()
        if line.needs and not any(one in have or self._measured(one, at) for one in line.needs):
            return False
        return not any(one in have or self._measured(one, at) for one in line.unless)

    def _measured(self, finding: str, at: Instant) -> bool:
        """Tell whether the latest result of the last two days is what a lab or vital finding says."""
        profile = finding_profiles().get(finding)
        if profile is None or profile.lab is None or profile.bound is None:
            return False
        value = self._making.known(profile.lab, at, 2 * DAY)
        if value is None:
            return False
        return value <= profile.bound if profile.side == "low" else value >= profile.bound

    def _serves(self, order: Prescription, line: Treatment, phase: Phase, kind: Kind, at: Instant) -> bool:
        """Tell whether an order that runs does what a line would: the way it is given, and the strength it needs."""
        if kind == "inpatient" and order.kind != "inpatient" and not self._same_way(order, line, phase):
            return False
        if line.dose_for is None or order.start == at or (kind == "inpatient" and order.kind == "inpatient"):
            return True
        rules_of = [rule for rule in drug_profiles()[order.drug].doses if rule.key == line.dose_for]
        return not rules_of or any(order.dose in (rule.dose, *rule.others) for rule in rules_of)

    def _give_way(self, order: Prescription, at: Instant, kind: Kind) -> None:
        """End an order that another of its drug takes the place of."""
        if kind == "inpatient":
            self.pause(order, at, "changed_in_hospital")
        else:
            self.end(order, at, rules().reasons["dose_changed"].pair())

    def _same_way(self, order: Prescription, line: Treatment, phase: Phase) -> bool:
        """Tell whether a home order is what the line would give in hospital anyway."""
        ways = [
            rule
            for rule in drug_profiles()[order.drug].doses
            if phase in rule.phases and rule.key == (line.dose_for or "usual")
        ]
        if not ways:
            return True
        return any(rule.route == order.route for rule in ways[:1]) and order.prn == line.prn

    def _make_room(
        self, able: Sequence[str], line: Treatment, phase: Phase, at: Instant, illness: Illness
    ) -> Choice | None:
        """Hold home orders that stand against an urgent line, and those of its group, where that makes room."""
        making = self._making
        homes = [order for order in making.active(at) if order.kind != "inpatient"]
        if not homes:
            return None
        bare = situation(making, at, phase, [order.id for order in homes])
        choice = choose(
            able, bare, making.stream("room", illness.id, line.id, at), dose_for=line.dose_for, prn=line.prn
        )
        if choice is None:
            return None
        with_new = replace(bare, drugs=(choice.drug,), phase="home")
        clashes = []
        for order in homes:
            found = problems(order.drug, order.dose, order.route, order.frequency, with_new)
            clash = next((one for one in found if one.kind in ("interaction", "duplicate")), None)
            if clash is not None and clash.kind == "interaction" and is_a(order.drug, ("anticoagulant",)):
                return None  # what keeps the blood thin does not give way to another kind of drug
            if clash is not None and (line.works or clash.kind == "duplicate"):
                clashes.append((order, clash))
        for order, clash in clashes:
            self.pause(order, at, "replaced" if clash.kind == "duplicate" else "unsafe", clash)
        around = situation(making, at, phase)
        return choice if not problems(choice.drug, choice.dose, choice.route, choice.frequency, around) else None

    def write(
        self, choice: Choice, at: Instant, kind: Kind, encounter: str | None, indication: str | None, *,
        stop: Instant | None = None, line: str | None = None, continues: str | None = None,
    ) -> Prescription:  # fmt: skip
        """Write an order and let the drug act from then on."""
        making = self._making
        at = self.now(at)
        if is_drip(choice):
            choice = replace(choice, prn=False)
        once = is_once(choice) and (kind == "inpatient" or not choice.prn)
        if once:
            stop = at + 10 * MINUTE
        order = Prescription(
            id=making.new("rx"), drug=choice.drug, name=choice.name, dose=choice.dose, route=choice.route,
            frequency=choice.frequency, prn=choice.prn, kind=kind, start=at, stop=stop, known_at=at,
            encounter=encounter, indication=indication, ended="completed" if stop is not None else None,
            stop_reason=rules().reasons["course_done"].pair() if stop is not None and not once else None,
            continues=continues, line=line,
        )  # fmt: skip
        making.orders[order.id] = order
        for other in [] if once else to_end(making, order, at):
            self.end(other, at, rules().reasons["one_antiplatelet"].pair())
        if not choice.prn:
            self.act(order, at)
        if stop is not None:
            making.body.turn(order.id, stop)
        return order

    def act(self, order: Prescription, at: Instant) -> None:
        """Let a drug move labs and vital signs from an instant on."""
        making = self._making
        have = lab_profiles()
        for number, effect in enumerate(drug_profiles()[order.drug].effects_by(order.route)):
            stream = making.stream("drug effect", order.drug, effect.lab, number)
            if effect.lab not in have or stream.below(100) >= effect.percent:
                continue
            making.body.add(
                Shift(
                    lab=effect.lab,
                    cause=order.id,
                    mode=effect.mode,
                    size=within(stream, *effect.band("mild")),
                    begin=at,
                    peak=at + effect.rise_hours * HOUR,
                    half_life_h=effect.half_life_hours or _FADES_H,
                    stays=Decimal(effect.stays) / 100,
                )
            )

    def end(
        self, order: Prescription, at: Instant, why: Pair | None, *, ended: Literal["completed", "stopped"] = "stopped"
    ) -> None:
        """End an order; one that has not begun ends as it begins."""
        making = self._making
        at = max(at, order.start)
        if order.stop is not None and order.stop <= at:
            return
        making.orders[order.id] = replace(order, stop=at, ended=ended, stop_reason=why)
        making.body.turn(order.id, at)

    def pause(self, order: Prescription, at: Instant, key: str, problem: Problem | None = None) -> None:
        """Hold an order; a home one is considered again when the patient leaves."""
        why = rules().reasons[key]
        if problem is not None:
            why_pair = why.pair(why=(problem.why.en, problem.why.zh or problem.why.en))
        else:
            why_pair = why.pair()
        self.end(order, at, why_pair)
        if order.kind != "inpatient":
            self._making.paused[order.id] = key

    def review(
        self, at: Instant, phase: Phase, encounter: str | None, orders: Sequence[Prescription]
    ) -> list[Prescription]:
        """Look at running orders again: what is no longer safe is given in a dose that is, or held.

        Returns:
            Orders that ended or changed.
        """
        making = self._making
        at = self.now(at)
        changed = []
        for order in orders:
            now = making.orders[order.id]
            if now.stop is not None and now.stop <= at:
                continue
            where: Phase = "home" if order.kind != "inpatient" else phase
            around = situation(making, at, where, [order.id])
            wrong = problems(order.drug, order.dose, order.route, order.frequency, around)
            if not wrong:
                continue
            changed.append(order)
            other = None
            if all(one.kind in ("renal", "hepatic", "range", "age") for one in wrong):
                other = choose([order.drug], around, making.stream("adapt", order.id, at), prn=order.prn)
            if other is None or other.route != order.route:
                self.pause(now, at, "unsafe", wrong[0])
                continue
            self.end(now, at, rules().reasons["dose_adapted"].pair())
            if order.kind != "inpatient" and encounter is not None:
                making.paused[order.id] = "dose_adapted"
            kind: Kind = order.kind if encounter is None or order.kind == "inpatient" else "inpatient"
            self.write(
                replace(other, name=order.name),
                at,
                kind,
                encounter,
                order.indication,
                line=order.line,
                continues=order.id,
                stop=order.stop,
            )
        return changed


def as_before(choice: Choice, before: Prescription, around: Situation, dose_for: str | None = None) -> Choice:
    """Return an order like the one before, where drug and way are the same and it is still right."""
    if (choice.drug, choice.route, choice.prn) != (before.drug, before.route, before.prn):
        return choice
    if problems(before.drug, before.dose, before.route, before.frequency, around):
        return choice
    there = [
        rule
        for rule in drug_profiles()[before.drug].doses
        if around.phase in rule.phases and dose_for in (None, rule.key)
    ]
    if (before.kind == "inpatient" or dose_for) and not any(before.dose in (rule.dose, *rule.others) for rule in there):
        return choice  # the first days' dose does not go home, nor one that is too little for the purpose
    return replace(choice, name=before.name, dose=before.dose, frequency=before.frequency)


def is_slow(making: Making, drug: str, at: Instant) -> bool:
    """Tell whether a drug takes days to act and does not act yet (warfarin with a low INR)."""
    for rule in rules().slow:
        if rule.drug == drug:
            value = making.known(rule.lab, at, 3 * DAY)
            return value is None or value < rule.acts_from
    return False


def is_once(order: Prescription | Choice) -> bool:
    """Tell whether an order is for one dose."""
    return order.frequency.casefold() in rules().once


def is_drip(order: Prescription | Choice) -> bool:
    """Tell whether an order runs all the time."""
    return order.frequency.casefold() in rules().continuous


def _how(order: Prescription) -> tuple[str, str, bool]:
    return order.dose, order.route, order.prn


def monitors(orders: Iterable[Prescription]) -> list[str]:
    """Return the labs that must be there while these orders run."""
    return list(dict.fromkeys(lab for order in orders for lab in drug_profiles()[order.drug].monitors_by(order.route)))
