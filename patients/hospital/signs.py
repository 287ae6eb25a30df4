"""What the patient shows: findings there and not there, from the edges of what they have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal

from wardround.patients.knowledge.bedside import condition_profiles, finding_profiles
from wardround.patients.knowledge.graph_models import Edge, FindingEdge, FindingProfile, Phrases, Relevance, Severity
from wardround.patients.times import DAY, Instant

from .documents import Words
from .generation import rules
from .grounds import borne_out, contradicted
from .life import Illness, Pair, Result, Sign
from .making import MINUTE, Making, between, wider
from .onset import elapsed
from .plausible import bearable, deniable, lasts, of_the_episode, sayable, word_of
from .workup import numbers, possible, side_of

Role = Literal["principal", "acute", "background"]
_SHOWN = frozenset({"symptom", "sign", "history", "medication"})


@dataclass
class _Found:
    profile: FindingProfile
    illness: Illness
    relevance: Relevance
    owners: list[tuple[str, Edge]] = field(default_factory=list)


class Showing:
    """The findings of one encounter in the making.

    Args:
        making: The life.
        encounter: Encounter id.
        at: Arrival.
        known_at: When they are written down.
        drugs: Drugs that the patient takes.
    """

    def __init__(self, making: Making, encounter: str, at: Instant, known_at: Instant, drugs: Sequence[str]) -> None:
        self._making, self._encounter, self._at, self._known = making, encounter, at, known_at
        self._drugs = frozenset(drugs)
        self._present: dict[str, _Found] = {}
        self._absent: dict[str, _Found] = {}
        self._never: set[str] = set()
        self._complaint: str | None = None
        self._severe = False
        self._passing: dict[str, int] = {}
        """Illness → how many passing findings it shows in the background."""

    def add(self, illness: Illness, role: Role, complaint: str | None = None) -> None:
        """Add what one illness shows; the principal one first."""
        self._complaint = self._complaint or complaint
        self._severe = self._severe or (role != "background" and illness.severity == "severe")
        profile = condition_profiles()[illness.condition]
        for edge in profile.findings:
            finding = finding_profiles().get(edge.finding)
            if finding is None or finding.type not in _SHOWN or not self._possible(finding):
                continue
            if role == "background" and of_the_episode(edge.finding):
                continue  # what set an old illness off once is no news of this visit
            if edge.edge == "rules_out" and (role == "background" or edge.finding == complaint):
                continue  # what a chronic illness never shows by itself another one may
            there = edge.finding == complaint or self._there(illness, role, edge, finding)
            if edge.edge == "rules_out":
                self._never.add(edge.finding)
                there = False
            if there:
                self._show(illness, role, edge, finding)
            elif role != "background" and self._worth_denying(illness, edge, finding):
                self._absent.setdefault(edge.finding, _Found(finding, illness, edge.relevance))

    def _possible(self, finding: FindingProfile) -> bool:
        return possible(self._making, finding, self._at)

    def _there(self, illness: Illness, role: Role, edge: FindingEdge, finding: FindingProfile) -> bool:
        if role == "background" and edge.finding in rules().never_in_background:
            return False
        if finding.trait is not None:
            return _has_trait(self._making, finding.trait)
        if finding.type == "medication":
            return edge.finding in self._drugs or any(edge.finding in wider(drug) for drug in self._drugs)
        if finding.type == "history":
            borne = borne_out(self._making, edge.finding, self._at)
            if borne is not None:
                return borne
            if contradicted(self._making, edge.finding):
                return False
        shown = self._shows(edge.finding)
        if shown is not None and finding.type in ("symptom", "sign"):
            return shown
        if any(other in self._present for other in partners(edge.finding, rules().never_both)):
            return False
        percent = edge.by_severity.get(illness.severity, edge.percent)
        if role == "background" and finding.clears and finding.type != "history":
            if self._passing.get(illness.id, 0) >= 2:
                return False
            percent //= 4
        lasting = finding.type == "history" or not finding.clears
        key = ("sign", illness.id, edge.finding) if lasting else ("sign", illness.id, edge.finding, self._encounter)
        return self._making.chance(percent, *key)

    def _shows(self, finding: str) -> bool | None:
        """Tell whether a measurement decides that a finding is there or not."""
        for rule in rules().shows:
            if rule.finding == finding:
                value = self._making.body.value(rule.lab, self._at)
                return None if value is None else rule.says(value)
        return None

    def _worth_denying(self, illness: Illness, edge: FindingEdge, finding: FindingProfile) -> bool:
        if finding.type not in ("symptom", "sign") or edge.relevance not in ("key", "supporting"):
            return False
        if edge.edge == "rules_out":
            return True
        return edge.percent >= 15 and self._making.chance(75, "denied", illness.id, edge.finding, self._encounter)

    def _show(self, illness: Illness, role: Role, edge: FindingEdge, finding: FindingProfile) -> None:
        relevance: Relevance = edge.relevance
        if role == "background":
            relevance = "background"
            if finding.clears and finding.type != "history":
                self._passing[illness.id] = self._passing.get(illness.id, 0) + 1
        if finding.type == "history":
            self._making.habits.add(edge.finding)
        found = self._present.setdefault(edge.finding, _Found(finding, illness, relevance))
        if (illness.id, edge.edge) not in found.owners:
            found.owners.append((illness.id, edge.edge))

    def deny(self, conditions: Sequence[str], most: int) -> None:
        """Add findings of other conditions that might have been: asked for and not there."""
        added = 0
        for condition in conditions:
            for edge in condition_profiles()[condition].findings:
                finding = finding_profiles().get(edge.finding)
                if added >= most or finding is None or finding.type not in ("symptom", "sign"):
                    continue
                if edge.edge not in ("pathognomonic", "highly_suggestive") or not self._possible(finding):
                    continue
                if edge.finding in self._present or edge.finding in self._absent or finding.trait is not None:
                    continue
                self._absent[edge.finding] = _Found(finding, next(iter(self._present.values())).illness, "supporting")
                added += 1

    def distract(self) -> None:
        """Now and then add a complaint that has nothing to do with it."""
        stream = self._making.stream("distractor", self._encounter)
        if not stream.chance(1, 5) or not self._present:
            return
        name = stream.choice(rules().distractors)
        finding = finding_profiles().get(name)
        if finding is None or name in self._never or not self._possible(finding) or self._related(name):
            return
        self._absent.pop(name, None)
        self._present[name] = _Found(finding, next(iter(self._present.values())).illness, "distractor")

    def _related(self, name: str) -> bool:
        """Tell whether a finding, one that says much the same, a wider or a narrower one is there."""
        if any(other in self._present for other in partners(name, rules().together)):
            return True
        mine = wider(name)
        return any(one in mine or name in wider(one) for one in self._present)

    def signs(self) -> list[Sign]:
        """Return the signs: those there, then those not there that nothing present contradicts."""
        for name in sorted(self._never - {self._complaint}):
            found = self._present.pop(name, None)
            if found is not None:
                self._absent.setdefault(name, _Found(found.profile, found.illness, found.relevance))
        signs = [self._sign(name, found, present=True) for name, found in self._present.items()]
        for name, found in self._absent.items():
            if name not in self._present and not self._related(name) and not self._shows(name) and self._deniable(name):
                signs.append(self._sign(name, found, present=False))
        return signs

    def _deniable(self, name: str) -> bool:
        return deniable(self._making, name, self._present, self._at, severe=self._severe)

    def _sign(self, name: str, found: _Found, *, present: bool) -> Sign:
        making, profile = self._making, found.profile
        stream = making.stream("attributes", found.illness.id, name, self._encounter)
        onset = _onset(making, found, self._at, self._encounter)
        pain = profile.scored and present
        score = between(stream, *rules().pain_scores[_level(found)]) if pain else None
        return Sign(
            id=making.new("s"), finding=name, type=profile.type, present=present,
            owners=tuple(found.owners), relevance=found.relevance, encounter=self._encounter,
            onset=onset, known_at=self._known + between(stream, 0, 12) * MINUTE,
            side=_side(making, found) if present else None,
            attributes=_attributes(making, found, onset, self._at, self._encounter, score) if present else {},
            score=score,
        )  # fmt: skip


def _level(found: _Found) -> Severity:
    """Return how bad a finding is: what a chronic illness shows by the way is milder than the illness."""
    if found.relevance == "distractor":
        return "mild"
    if found.relevance == "background":
        return "moderate" if found.illness.severity == "severe" else "mild"
    return found.illness.severity


def partners(finding: str, groups: Sequence[Sequence[str]]) -> list[str]:
    """Return the others of every group that a finding is in."""
    return [other for group in groups if finding in group for other in group if other != finding]


def _side(making: Making, found: _Found) -> Literal["left", "right"] | None:
    """Return the side on which a finding is: that of its illness, or the other one where nerves cross."""
    if not found.profile.sides:
        return None
    side = side_of(making, found.illness.id)
    if not found.profile.crossed:
        return side
    return "left" if side == "right" else "right"


def _has_trait(making: Making, trait: str) -> bool:
    person = making.person
    return {
        "smoker": person.smoking == "current",
        "former_smoker": person.smoking == "former",
        "heavy_drinker": person.alcohol == "heavy",
        "lives_alone": person.living == "alone",
    }[trait]


def _onset(making: Making, found: _Found, at: Instant, encounter: str) -> Instant:
    """Return when a finding began: with its illness or, for what comes later, on the way to the hospital."""
    if found.relevance == "distractor":
        return at - between(making.stream("onset of", "distractor", encounter), 2, 20) * DAY
    begun = making.flares.get((found.illness.id, encounter), found.illness.onset)
    if found.profile.type == "history":
        return begun
    if begun < at - 40 * DAY:
        if not found.profile.clears or found.relevance == "background":
            return begun  # what an old illness shows by the way began with it
        back = between(making.stream("onset of", found.illness.id, found.profile.id, encounter), 12, 150) * DAY
        return max(begun, at - back)
    way = max(0, at - begun)
    part = between(making.stream("onset of", found.illness.id, found.profile.id, encounter), 0, 45)
    if found.relevance == "key":
        part //= 4
    return begun + way * part // 100 // MINUTE * MINUTE


def _attributes(
    making: Making, found: _Found, onset: Instant, at: Instant, encounter: str, score: int | None
) -> dict[str, Pair]:
    profile = found.profile
    if profile.type != "symptom":
        return {}
    stream = making.stream("words", found.illness.id, profile.id, encounter)
    usual: Severity = "mild" if found.relevance in ("background", "distractor") else found.illness.severity
    severity = usual if score is None else word_of(score)
    told = {"onset": ago(onset, at, stream.below(1000))}
    ill = {one.condition for one in making.ill(at)} | {found.illness.condition}
    for name in ("region", "quality", "provocation", "palliation", "timing", "radiation"):
        phrases: Phrases = getattr(profile, name)
        place = stream.below(1000)
        fitting = list(range(len(phrases.en)))
        if name == "timing":
            fitting = [n for n in fitting if _timeless(phrases.en[n]) and lasts(phrases.en[n], onset, at)]
        elif severity == "mild":
            fitting = [n for n in fitting if bearable(phrases.en[n])]
        fitting = [n for n in fitting if sayable(phrases.en[n], ill)]
        if fitting:
            chosen = fitting[place % len(fitting)]
            told[name] = Pair(phrases.en[chosen], phrases.zh[chosen])
    told["severity"] = _pick(rules().severity_words[severity], stream.below(1000)).pair()
    return told


def _timeless(words: str) -> bool:
    """Tell whether words of timing say nothing of a length of time, which the onset tells."""
    padded = f" {words} "
    return not any(f" {one} " in padded for one in rules().lengths_of_time)


def ago(then: Instant, now: Instant, lot: int) -> Pair:
    """Return how long ago something was, in words of both languages: by the clock that notes count by."""
    n, unit = elapsed(then, now)
    if unit == "day" and then // DAY == now // DAY:  # hours ago, and yet not yesterday
        return _pick(rules().onset_words["same_day"], lot).pair()
    return _pick(rules().onset_words[unit if n == 1 else f"{unit}s"], lot).pair(n=(str(n), str(n)))


def _pick(words: Sequence[Words], lot: int) -> Words:
    return words[lot % len(words)]


def measured(making: Making, illnesses: Sequence[Illness], results: Sequence[Result], encounter: str) -> list[Sign]:
    """Return lab and vital findings as the results of an encounter have them, each with those that own it."""
    by_lab: dict[str, list[tuple[Result, str]]] = {}
    for result in results:
        read = [(name, str(value)) for name, value in numbers(result.lab, result.text)]
        for name, text in read or [(result.lab, result.text)]:
            by_lab.setdefault(name, []).append((result, text))
    found: dict[str, Sign] = {}
    for illness in illnesses:
        for edge in condition_profiles()[illness.condition].findings:
            profile = finding_profiles().get(edge.finding)
            if profile is None or profile.type not in ("lab", "vital") or profile.lab not in by_lab:
                continue
            if profile.sex not in (None, making.person.sex):
                continue
            shown = next((one for one, text in by_lab[profile.lab] if _beyond(profile, one, text)), None)
            if shown is None and any(_towards(profile, one, text) for one, text in by_lab[profile.lab]):
                continue  # off, though not as far as the finding: neither there nor to be denied
            before = found.get(edge.finding)
            if before is not None:
                if before.present and edge.edge != "rules_out":
                    owners = (*before.owners, (illness.id, edge.edge))
                    found[edge.finding] = replace(before, owners=owners)
                continue
            at = shown or by_lab[profile.lab][0][0]
            owned = ((illness.id, edge.edge),) if shown is not None and edge.edge != "rules_out" else ()
            found[edge.finding] = Sign(
                id=making.new("s"), finding=edge.finding, type=profile.type, present=shown is not None,
                owners=owned, relevance=edge.relevance, encounter=encounter, onset=at.at, known_at=at.known_at,
            )  # fmt: skip
    return list(found.values())


def _beyond(profile: FindingProfile, result: Result, text: str) -> bool:
    """Tell whether a result is what a finding says."""
    values = [value for _, value in numbers(profile.lab or "", text)]
    if not values:
        little = text.casefold() in (*rules().normal_words, *rules().faint_words)
        return profile.side in ("abnormal", "positive", "high") and not little
    value = values[0]
    if profile.side == "low":
        limit = _number(result.low)
        bound = profile.bound if profile.bound not in (None, limit) else limit  # the limit itself is not low yet
        return bound is not None and (value <= bound if bound != limit else value < bound)
    if profile.side == "abnormal" and profile.bound is None:
        low, high = _number(result.low), _number(result.high)
        return (low is not None and value < low) or (high is not None and value > high)
    bound = profile.bound if profile.bound is not None else _number(result.high)
    return bound is not None and (value >= bound if profile.bound is not None else value > bound)


def _towards(profile: FindingProfile, result: Result, text: str) -> bool:
    """Tell whether a result is beyond its reference range on the side of a finding."""
    values = [value for _, value in numbers(profile.lab or "", text)]
    if not values:
        return text.casefold() not in rules().normal_words
    low, high = _number(result.low), _number(result.high)
    below = low is not None and values[0] < low
    above = high is not None and values[0] > high
    return below if profile.side == "low" else above if profile.side == "high" else below or above


def _number(text: str | None) -> Decimal | None:
    return Decimal(text) if text else None
