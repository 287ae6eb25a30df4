"""What a stay's diagnoses are coded with: an illness keeps its first code, a stay codes what is known at its end."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from functools import cache
from typing import NamedTuple

from wardround.patients.knowledge.bedside import condition_profiles
from wardround.patients.times import DAY

from .documents import Frozen, read_document
from .life import Illness, Life, Stay
from .making import Reading
from .workup import numbers


class Coded(NamedTuple):
    """An ICD-10-CM code with its official title."""

    code: str
    title: str


class _Code(Frozen):
    code: str
    title: str


class _StageCode(_Code):
    at_least: Decimal


class _Stage(Frozen):
    """A chronic illness whose code follows a lab."""

    condition: str
    lab: str
    days: int
    """Values so old still count."""
    best_beside: tuple[str, ...]
    """Conditions of the stay beside which the best value counts, not the latest."""
    codes: tuple[_StageCode, ...]
    """From the highest bound down."""


class _OrganismCode(_Code):
    organisms: tuple[str, ...]


class _Grown(Frozen):
    """An infection whose code names what grew."""

    condition: str
    specimen: str
    codes: tuple[_OrganismCode, ...]


class _OtherCode(_Code):
    instead_of: str


class _Beside(Frozen):
    """An illness whose code tells another of the same stay too."""

    condition: str
    other: str
    codes: tuple[_OtherCode, ...]


class _OnlyLow(Frozen):
    """An illness that a later stay codes only where the lab is low."""

    condition: str
    lab: str
    days: int
    below: dict[str, Decimal]
    """By sex."""


class _Document(Frozen):
    """The content of `data/coding.json`."""

    format_version: int
    assumption: bool
    note: str
    stages: tuple[_Stage, ...]
    grown: tuple[_Grown, ...]
    beside: tuple[_Beside, ...]
    only_low: tuple[_OnlyLow, ...]


@cache
def coding() -> _Document:
    """Return `data/coding.json`."""
    return _Document.model_validate_json(read_document("coding.json"))


class Coder:
    """Codes the stays of one life.

    Args:
        life: The life.
    """

    def __init__(self, life: Life) -> None:
        self._life = life
        self._illnesses = {one.id: one for one in life.illnesses}
        wanted = {*(rule.lab for rule in coding().stages), *(rule.lab for rule in coding().only_low)}
        self._values: dict[str, list[Reading]] = {lab: [] for lab in wanted}
        for result in life.results:
            if result.lab in wanted:
                found = numbers(result.lab, result.text)
                self._values[result.lab].extend(Reading(result.known_at, value) for _, value in found)

    def diagnoses(self, stay: Stay) -> Iterable[str]:
        """Return ids of the illnesses that a stay codes, in order: those that it shows, and what else is there."""
        for identity in stay.diagnoses:
            illness = self._illnesses.get(identity)
            if illness is None or identity == stay.principal or self._shows(illness, stay):
                yield identity

    def code(self, illness: Illness, stay: Stay) -> Coded:
        """Return the code of an illness in a stay, by what is known at the stay's end."""
        beside = {self._illnesses[one].condition for one in stay.diagnoses if one in self._illnesses}
        return (
            self._stage(illness, stay, beside)
            or self._organism(illness, stay)
            or self._with_bleeding(illness, beside)
            or self._with_condition(illness, stay)
            or Coded(illness.code, illness.title)
        )

    def _known(self, lab: str, stay: Stay, days: int) -> list[Decimal]:
        """Return the values known at the end of a stay and not too old, in order of time."""
        known = [one for one in self._values[lab] if stay.end - days * DAY <= one.known_at <= stay.end]
        return [one.value for one in sorted(known, key=lambda one: one.known_at)]

    def _shows(self, illness: Illness, stay: Stay) -> bool:
        return all(self._low(rule, stay) for rule in coding().only_low if rule.condition == illness.condition)

    def _low(self, rule: _OnlyLow, stay: Stay) -> bool:
        values = self._known(rule.lab, stay, rule.days)
        inside = [one.value for one in self._values[rule.lab] if stay.start <= one.known_at <= stay.end]
        seen = inside or values[-1:]
        return not seen or min(seen) < rule.below[self._life.person.sex]

    def _stage(self, illness: Illness, stay: Stay, beside: set[str]) -> Coded | None:
        for rule in coding().stages:
            values = self._known(rule.lab, stay, rule.days) if rule.condition == illness.condition else []
            if values:
                value = values[-1] if beside.isdisjoint(rule.best_beside) else max(values)
                return next(Coded(one.code, one.title) for one in rule.codes if value >= one.at_least)
        return None

    def _organism(self, illness: Illness, stay: Stay) -> Coded | None:
        for rule in coding().grown:
            if rule.condition != illness.condition:
                continue
            for grown in self._life.cultures:
                mine = grown.specimen == rule.specimen and stay.start <= grown.at <= stay.end
                if mine and grown.organism is not None and grown.stages[-1].at <= stay.end:
                    named = (Coded(one.code, one.title) for one in rule.codes if grown.organism in one.organisms)
                    return next(named, None)
        return None

    def _with_bleeding(self, illness: Illness, beside: set[str]) -> Coded | None:
        for rule in coding().beside:
            if rule.condition == illness.condition and rule.other in beside:
                return next((Coded(one.code, one.title) for one in rule.codes if one.instead_of == illness.code), None)
        return None

    def _with_condition(self, illness: Illness, stay: Stay) -> Coded | None:
        """Return the code of a chronic illness with another one that is known by now."""
        if illness.acuity != "chronic":
            return None
        have = {
            one.condition for one in self._life.illnesses
            if one.known_at <= stay.end and (one.resolved is None or one.resolved > stay.end)
        }  # fmt: skip
        codes = condition_profiles()[illness.condition].codes
        return next((Coded(one.code, one.title) for one in codes if one.with_condition in have), None)
