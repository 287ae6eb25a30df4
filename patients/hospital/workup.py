"""Results, studies and cultures: what is drawn and looked at, and what it shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Literal

from wardround.patients.knowledge import conditions, findings, lexicon
from wardround.patients.knowledge.bedside import (
    condition_profiles,
    finding_profiles,
    lab_profiles,
    organism_profiles,
    panels,
    study_profiles,
)
from wardround.patients.knowledge.graph_models import CultureOrder, Edge, FindingProfile, Relevance, StudyOrder
from wardround.patients.times import Instant

from .generation import rules
from .life import Culture, CultureStage, Illness, Result, Sign, Study, Treated
from .making import HOUR, MINUTE, Making, Reading, between, weighted
from .physiology_text import quantity
from .specimens import of_procedures, specimens

_INFARCT = "stemi"
_NITRITE = "urine_nitrite"
_WITH_NITRITE = 97
"""Percent of urine cultures that grow where nitrite was positive: the two are of one specimen."""


def draw(
    making: Making, wanted: Sequence[str], at: Instant, encounter: str | None, *, fluid: bool = False
) -> list[Result]:
    """Draw panels or single labs at one instant and record what comes back.

    Args:
        making: The life.
        wanted: Panel or lab ids; what is in several is drawn once.
        at: When.
        encounter: Encounter id.
        fluid: Whether a procedure has just yielded the specimen; without one there is no spinal fluid to look at.
    """
    if making.died is not None and at >= making.died:
        return []
    of: dict[str, str] = {}
    known = panels()
    wanted = [one for one in dict.fromkeys(wanted) if one in known or one in lab_profiles()]
    wanted = [one for one in wanted if fluid or one not in of_procedures()]
    for one in wanted:
        for lab in known[one].labs if one in known else (one,):
            of.setdefault(lab, one)
    texts = making.body.panel(wanted, at)
    keys: dict[str, str] = {}
    found = []
    for lab, text in texts.items():
        panel = of.get(lab, lab)
        if panel not in keys:
            keys[panel] = f"{panel}-{making.count(panel)}"
        found.append(_result(making, lab, text, at, encounter, keys[panel]))
    making.results.extend(found)
    return found


def _result(making: Making, lab: str, text: str, at: Instant, encounter: str | None, panel: str) -> Result:
    profile = lab_profiles()[lab]
    vital = profile.category == "vital-signs"
    low, high = making.body.band(lab, at)
    delay = between(making.stream("delay", panel, profile.minutes[0]), *profile.minutes) if profile.minutes[1] else 0
    result = Result(
        id=making.new("v" if vital else "l"), lab=lab, text=text, at=at, known_at=at + delay * MINUTE,
        encounter=encounter, panel=panel, low=low, high=high, name=making.body.name(lab),
        causes=making.body.causes(lab, at),
    )  # fmt: skip
    for name, value in numbers(lab, text):
        making.learn(name, Reading(result.known_at, value))
    return result


def numbers(lab: str, text: str) -> list[tuple[str, Decimal]]:
    """Return the numbers of a result by lab: a blood pressure has two; none for words."""
    pair: tuple[tuple[str, str], ...] = ((lab, text),)
    if "/" in text:
        high, _, low = text.partition("/")
        pair = (("systolic_bp", high), ("diastolic_bp", low))
    return [(name, value) for name, digits in pair if (value := quantity(digits)) is not None]


def study(
    making: Making, order: StudyOrder, illness: Illness, at: Instant, encounter: str, indication: str
) -> Study | None:
    """Do a study: every imaging finding of what the patient has and that it can show is found by its odds."""
    profile = study_profiles().get(order.study)
    if profile is None:
        return None
    identity = making.new("im")
    stream = making.stream("study", identity)
    soon = rules().at_once.get(illness.condition)
    read = soon.read if soon is not None and order.study in soon.studies else None
    known_at = at + between(stream, *(read or profile.minutes)) * MINUTE
    shown = _shown(making, order.study, illness, at, known_at, encounter, identity)
    compare = next((one.id for one in reversed(making.studies) if one.study == order.study), None)
    found = Study(
        id=identity, study=order.study, modality=profile.modality,
        title=making.stream("title", order.study).choice(profile.title), at=at, known_at=known_at,
        encounter=encounter, indication=indication, illness=illness.id,
        shown=tuple(sign.id for sign in shown), compare=compare,
    )  # fmt: skip
    making.signs.extend(shown)
    making.studies.append(found)
    return found


def possible(making: Making, finding: FindingProfile, at: Instant) -> bool:
    """Tell whether somebody of the patient's sex and age can have a finding."""
    return finding.sex in (None, making.person.sex) and finding.from_age <= making.age(at) < finding.below_age


def _shown(
    making: Making, study_id: str, illness: Illness, at: Instant, known_at: Instant, encounter: str, identity: str
) -> list[Sign]:
    owners: dict[str, list[tuple[str, Edge]]] = {}
    relevance: dict[str, Relevance] = {}
    onset: dict[str, Instant] = {}
    barred: set[str] = set()
    walls = _walls(making, at)
    for one in sorted(making.suffering(at), key=lambda other: other.id != illness.id):
        for edge in condition_profiles()[one.condition].findings:
            profile = finding_profiles().get(edge.finding)
            if profile is None or profile.type != "imaging" or study_id not in profile.studies:
                continue
            if edge.finding in _elsewhere():
                continue  # it stands for another finding, by the artery
            name = walls.get(edge.finding, edge.finding)
            if edge.edge == "rules_out":
                barred.add(name)
                continue
            if not possible(making, profile, at):
                continue
            percent = edge.by_severity.get(one.severity, edge.percent)
            if making.chance(percent, "shown", one.id, edge.finding):
                owners.setdefault(name, []).append((one.id, edge.edge))
                relevance.setdefault(name, edge.relevance if one.id == illness.id else "background")
                onset.setdefault(name, one.onset)
    found = []
    for finding, owned in owners.items():
        if finding in barred:
            continue
        profile = finding_profiles()[finding]
        found.append(
            Sign(
                id=making.new("s"),
                finding=finding,
                type="imaging",
                present=True,
                owners=tuple(owned),
                relevance=relevance[finding],
                encounter=encounter,
                onset=onset[finding],
                known_at=known_at,
                side=side_of(making, owned[0][0]) if profile.sides else None,
                study=identity,
            )
        )
    return found


def _walls(making: Making, at: Instant) -> Mapping[str, str]:
    """Return what findings of the heart are called where the last infarct struck another wall than the usual one."""
    struck = [one for one in making.illnesses.values() if one.onset <= at and one.condition == _INFARCT]
    last = max(struck, key=lambda one: (one.onset, int(one.id[1:])), default=None)
    return rules().territories.get(last.code, {}) if last is not None else {}


@cache
def _elsewhere() -> frozenset[str]:
    return frozenset(name for one in rules().territories.values() for name in one.values())


def side_of(making: Making, illness: str) -> Literal["left", "right"]:
    """Return the side on which an illness sits: that of its title, else one side for all its findings."""
    title = making.illnesses[illness].title.casefold()
    if "left" in title and "right" not in title:
        return "left"
    if "right" in title and "left" not in title:
        return "right"
    return "left" if making.stream("side", illness).chance(1, 2) else "right"


def culture(making: Making, order: CultureOrder, illness: Illness, at: Instant, encounter: str) -> Culture:
    """Take a culture; what grows in one illness is one organism wherever it is found."""
    identity = making.new("c")
    stream = making.stream("culture", identity)
    known = organism_profiles()
    organism = None
    if order.organisms and stream.below(100) < _odds(making, order, encounter):
        before = next((one.organism for one in making.cultures if one.illness == illness.id and one.organism), None)
        names = [name for name, _ in order.organisms]
        organism = before if before in names else weighted(stream, list(order.organisms))
        organism = organism if organism in known else None
    if organism is None:
        words = rules().stages
        stages = (
            CultureStage(at + between(stream, 23, 26) * HOUR, words["pending"][0], "preliminary"),
            CultureStage(at + between(stream, 96, 122) * HOUR, words["final_none"][0], "final"),
        )
        found = Culture(identity, order.specimen, at, encounter, illness.id, None, stages)
    else:
        found = _grown(making, identity, order, illness, at, encounter, organism)
    making.cultures.append(found)
    return found


def _odds(making: Making, order: CultureOrder, encounter: str) -> int:
    """Return how many cultures of 100 grow: nearly all of urine in which bacteria were found."""
    if order.specimen != "urine":
        return order.positive_percent
    nitrite = next(
        (one.text for one in reversed(making.results) if one.lab == _NITRITE and one.encounter == encounter), None
    )
    found = nitrite is not None and nitrite.casefold() not in rules().normal_words
    return max(order.positive_percent, _WITH_NITRITE) if found else order.positive_percent


def send_off(making: Making, done: Treated, illness: Illness) -> None:
    """Send off what a procedure yields and the illness's work-up asks for.

    Args:
        making: The life.
        done: The procedure.
        illness: What it was done for.
    """
    yields = specimens().get(done.procedure)
    if yields is None or done.encounter is None:
        return
    work = condition_profiles()[illness.condition].workup
    at = done.at + 10 * MINUTE
    draw(making, [one for one in work.panels if one in yields.panels], at, done.encounter, fluid=True)
    for order in work.cultures:
        if order.specimen in yields.cultures:
            culture(making, order, illness, at, done.encounter)


def _grown(
    making: Making, identity: str, order: CultureOrder, illness: Illness, at: Instant, encounter: str, organism: str
) -> Culture:
    profile = organism_profiles()[organism]
    stream = making.stream("growth", identity)
    words = rules().stages
    named = at + between(stream, *profile.hours) * HOUR
    stages = []
    if profile.gram:
        text = words["gram"][0].format(gram=stream.choice(profile.gram))
        stages.append(CultureStage(at + (named - at) * between(stream, 40, 70) // 100, text, "preliminary"))
    stages.append(CultureStage(named, words["organism"][0].format(organism=profile.name.en), "preliminary"))
    final = named + between(stream, 16, 30) * HOUR
    read = []
    lots = {
        family: making.stream("susceptible", illness.id, organism, family).below(100)
        for family in {family_of(drug) for drug in profile.tested}
    }
    for drug, percent in sorted(profile.tested.items()):
        lot = lots[family_of(drug)]
        read.append((drug, "S" if lot < percent else "I" if lot < percent + (100 - percent) // 5 else "R"))
    stages.append(CultureStage(final, words["organism"][0].format(organism=profile.name.en), "final"))
    return Culture(identity, order.specimen, at, encounter, illness.id, organism, tuple(stages), tuple(read))  # type: ignore[arg-type] # "S", "I" or "R"


def family_of(drug: str) -> str:
    """Return the class whose drugs an organism resists by one mechanism: one lot decides them all."""
    return next((family for family in rules().one_lot if lexicon().is_a(drug, family)), drug)


def indication(making: Making, illness: Illness, encounters: Iterable[str]) -> str:
    """Return why a study is done, in words that do not name the diagnosis: what the patient complains of."""
    inside = set(encounters)
    order = {"key": 0, "supporting": 1}
    signs = sorted(
        (
            sign
            for sign in making.signs
            if sign.encounter in inside and sign.present and sign.type in ("symptom", "sign")
            and sign.relevance in order and illness.id in [owner for owner, _ in sign.owners]
        ),
        key=lambda sign: (sign.type != "symptom", order[sign.relevance], int(sign.id[1:])),
    )  # fmt: skip
    names = list(dict.fromkeys(plain_name(sign.finding) for sign in signs))[:2]
    return ", ".join(names) if names else "follow-up"


def plain_name(concept: str) -> str:
    """Return the English name of a finding or condition as it stands inside a sentence."""
    known = findings().get(concept) or conditions().get(concept)
    name = known.name.en if known is not None else concept.replace("_", " ")
    proper = name[:2].isupper() or name.split()[0].endswith("'s")  # Crohn's disease
    return name if proper else name[0].lower() + name[1:]
