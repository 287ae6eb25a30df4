"""One body: what its labs and vital signs truly are at any instant, and how a draw reports them.

Everything is a function of (person, key, shifts, lab, instant): nothing is drawn twice, the order of questions never
matters, and two draws of one instant agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal

from wardround.patients.errors import DataError
from wardround.patients.knowledge.bedside import lab_profiles, panels
from wardround.patients.knowledge.bedside_models import ProfileRange, StandIn
from wardround.patients.rng import Stream
from wardround.patients.times import Instant

from .life import Person
from .physiology_blood import IMMATURE
from .physiology_core import CONTEXT, MICRO, Law, Shift, decimal, effects_of, law, normal
from .physiology_couplings import Moment, Traits, pulls
from .physiology_reporting import FORMULAS, Subject
from .physiology_text import amount, as_text, in_words

__all__ = ["Body", "Shift", "labs_of"]

_PRESSURE = "blood_pressure"


def labs_of(ids: Iterable[str]) -> tuple[str, ...]:
    """Return the labs of panels and single labs, each once, in order.

    Raises:
        DataError: An id is neither a panel nor a lab with a profile.
    """
    found: dict[str, None] = {}
    for one in ids:
        panel = panels().get(one)
        for lab in panel.labs if panel else (one,):
            if lab not in lab_profiles():
                raise DataError(
                    f"`{lab}` is neither a panel of panels.json nor a lab of lab_profiles.json: add it there"
                )
            found.setdefault(lab)
    return tuple(found)


class Body:
    """The labs and vital signs of one person.

    Args:
        person: Who it is.
        key: Names the random numbers: the same key and person give the same body.
        shifts: What illnesses, drugs and stays do; more may be added.
    """

    def __init__(self, person: Person, key: tuple[str | int, ...], shifts: Iterable[Shift] = ()) -> None:
        self.person = person
        self._key = key
        self._traits = Traits(person, key)
        self._shifts: dict[str, list[Shift]] = {}
        self._stood: dict[str, list[Shift]] = {}
        self._moving: dict[str, list[Shift]] = {}
        self._moved_by: dict[str, dict[str, None]] = {}
        self._moment: Moment | None = None
        self._texts: dict[str, str | None] = {}
        self._values: dict[str, int | None] = {}
        self._short: dict[str, bool] = {}
        for one in shifts:
            self.add(one)

    # What moves it -----------------------------------------------------------------------------------------------

    def add(self, shift: Shift) -> None:
        """Add a shift. One of a computed value goes to what it is computed from, unless the cause moves that already.

        Raises:
            DataError: The lab has no profile, or is computed and stands for nothing.
        """
        rule = law(shift.lab)
        if rule is None:
            raise DataError(f"`{shift.cause}` moves `{shift.lab}`, which has no entry in lab_profiles.json: add one")
        if not rule.profile.baselines:
            if rule.profile.stands_for is None:
                raise DataError(
                    f"`{shift.cause}` moves `{shift.lab}`, which is computed: move what it is computed from"
                )
            shift = self._stood_in(shift, rule.profile.stands_for)
            self._stood.setdefault(shift.lab, []).append(shift)
        else:
            self._shifts.setdefault(shift.lab, []).append(shift)
        self._moved_by.setdefault(shift.cause, {}).setdefault(shift.lab)
        self._settle(shift.lab)

    def _settle(self, lab: str) -> None:
        """Gather what moves a lab: its own shifts, and those of computed values whose cause does not move it itself."""
        direct = self._shifts.get(lab, [])
        causes = {one.cause for one in direct}
        self._moving[lab] = direct + [one for one in self._stood.get(lab, ()) if one.cause not in causes]
        self._moment = None

    def _stood_in(self, shift: Shift, stand: StandIn) -> Shift:
        mode, size = shift.mode, shift.size
        if mode == "add" and stand.inverse:  # a fall of so much is a factor of what rises instead
            usual = self.value(shift.lab, shift.begin) or Decimal(1)
            mode, size = "times", CONTEXT.divide(max(CONTEXT.add(usual, size), CONTEXT.divide(usual, 8)), usual)
        elif mode == "add":
            size = CONTEXT.multiply(size, stand.per)
        if stand.inverse:
            size = CONTEXT.divide(Decimal(1), max(size, Decimal("0.05")))
        return replace(shift, lab=stand.lab, mode=mode, size=size)

    def turn(self, cause: str, at: Instant) -> None:
        """Let everything that a cause moved begin to recover at an instant; told twice, the earlier one holds."""
        for lab in self._moved_by.get(cause, ()):
            for store in (self._shifts, self._stood):
                store[lab] = [
                    replace(one, turn=at) if one.cause == cause and (one.turn is None or at < one.turn) else one
                    for one in store.get(lab, ())
                ]
            self._settle(lab)

    # What is true ------------------------------------------------------------------------------------------------

    def value(self, lab: str, at: Instant) -> Decimal | None:
        """Return the true value in the lab's unit, couplings included; of a test read as words, its steps.

        None where the lab has no profile or the value does not exist for this person (eGFR of a child).
        """
        rule = law(lab)
        if rule is None or lab == _PRESSURE or not rule.stands(self.person.sex):
            return None
        self._at(at)
        found = self._true(lab)
        return None if found is None else decimal(found)

    def _at(self, at: Instant) -> Moment:
        if self._moment is None or self._moment.at != at:
            self._moment = Moment(self._traits, self._moving, at)
            self._texts, self._values = {}, {}
        return self._moment

    def _true(self, lab: str) -> int | None:
        if lab not in self._values:
            moment = self._moment
            assert moment is not None
            rule = law(lab)
            formula = rule.profile.formula if rule else None
            if formula is None:
                self._values[lab] = moment.true(lab)
            else:
                self._values[lab] = FORMULAS[formula].compute(self._subject(moment), self._true_or_zero)
        return self._values[lab]

    def _true_or_zero(self, lab: str) -> int:
        return self._true(lab) or 0

    def _subject(self, moment: Moment, extras: tuple[str, ...] = ()) -> Subject:
        return Subject(self.person, moment.age, moment.true, moment.calm, moment.own, extras)

    # What is reported ---------------------------------------------------------------------------------------------

    def panel(self, ids: Sequence[str], at: Instant) -> dict[str, str]:
        """Return results of a draw as reported, by lab, in the order of the panels.

        What is not reported for this person or draw is left out: eGFR of children, PSA of women, a calculated LDL from
        400 mg/dL of triglycerides.

        Args:
            ids: Panels and single labs.
            at: When it is drawn.

        Raises:
            DataError: An id is neither a panel nor a lab with a profile.
        """
        self._at(at)
        tests = labs_of(ids)
        extras = tuple(lab for lab in tests if lab in IMMATURE)
        if extras:
            self._texts = {}  # what is counted by hand shifts the shares: this draw is written by itself
        found = {lab: self._text(lab, extras) for lab in tests}
        if extras:
            self._texts = {}
        return {lab: text for lab, text in found.items() if text is not None}

    def _text(self, lab: str, extras: tuple[str, ...] = ()) -> str | None:
        if lab not in self._texts:
            self._texts[lab] = self._report(lab, extras)
        return self._texts[lab]

    def _report(self, lab: str, extras: tuple[str, ...]) -> str | None:
        moment, rule = self._moment, law(lab)
        assert moment is not None and rule is not None
        if not rule.stands(self.person.sex):
            return None
        if lab == _PRESSURE:
            return f"{self._text('systolic_bp')}/{self._text('diastolic_bp')}"
        formula = rule.profile.formula
        if formula is None:
            value: int | None = moment.true(lab)
        else:
            value = FORMULAS[formula].compute(self._subject(moment, extras), lambda one: self._read(one, extras))
        if value is None:
            return None
        if rule.profile.normal_text:
            return in_words(rule, value, self._usual_word(rule))
        if rule.noise:
            value += value * (rule.noise * normal((*self._key, "noise", lab, moment.at)) // MICRO) // MICRO
        if lab == "diastolic_bp":
            value = min(value, self._read("systolic_bp", extras) - 15 * MICRO)
        return as_text(rule, value)

    def _read(self, lab: str, extras: tuple[str, ...]) -> int:
        rule = law(lab)
        if rule is None:
            return 0
        if rule.profile.normal_text:
            moment = self._moment
            assert moment is not None
            return moment.true(lab)
        text = self._text(lab, extras)
        return 0 if text is None else amount(text)

    def _usual_word(self, rule: Law) -> str:
        words = rule.profile.normal_text
        return words[0] if len(words) == 1 else Stream(*self._key, "word", rule.profile.id).choice(words)

    def name(self, lab: str, where: str = "") -> str:
        """Return how one hospital charts a lab: one way of naming for everything of a patient.

        Args:
            lab: Lab id.
            where: The hospital, "" for this one; another one may write the other names.

        Raises:
            DataError: The lab has no profile.
        """
        rule = law(lab)
        if rule is None:
            raise DataError(f"`{lab}` has no entry in lab_profiles.json: add one")
        if where not in self._short:
            self._short[where] = Stream(*self._key, "names", where).chance(1, 2 if where else 6)
        names = rule.profile.charted
        return names[1] if self._short[where] and len(names) > 1 else names[0]

    def band(self, lab: str, at: Instant) -> tuple[str | None, str | None]:
        """Return the reference range as reported, by sex and age; None for an open end."""
        rule = law(lab)
        if rule is None:
            return None, None
        age = self._traits.age(at)
        for one in rule.profile.ranges:
            if one.sex in (None, self.person.sex) and one.from_age <= age < one.below_age:
                return _ends(one)
        return None, None

    def causes(self, lab: str, at: Instant) -> tuple[str, ...]:
        """Return the ids of the facts that noticeably move a lab then, those first named by `add` first."""
        self._at(at)
        found: dict[str, None] = {}
        self._blame(lab, found, set())
        return tuple(found)

    def _blame(self, lab: str, found: dict[str, None], seen: set[str]) -> None:
        rule, moment = law(lab), self._moment
        if lab in seen or rule is None:
            return
        assert moment is not None
        seen.add(lab)
        if lab == _PRESSURE:
            self._blame("systolic_bp", found, seen)
            self._blame("diastolic_bp", found, seen)
            return
        calm = abs(moment.calm(lab))
        least = max(calm * 3 // 100, calm * rule.within // MICRO, rule.step // 2, 1)
        for one in self._moving.get(lab, ()):
            if effects_of(one, calm, moment.at) >= least:
                found.setdefault(one.cause)
        for pull in pulls(lab):
            if abs(moment.drawn(pull, lab)) >= least:
                self._blame(pull.source, found, seen)
        if lab == "chloride":
            for source in ("sodium", "bicarbonate", "anion_gap"):
                self._blame(source, found, seen)
        if rule.profile.formula:
            for source in FORMULAS[rule.profile.formula].reads:
                self._blame(source, found, seen)


def _ends(one: ProfileRange) -> tuple[str | None, str | None]:
    return None if one.low is None else str(one.low), None if one.high is None else str(one.high)
