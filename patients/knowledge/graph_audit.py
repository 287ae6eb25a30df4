"""Checks the disease graph across its files and against the lexicon and the bedside files, for authors and tests.

`bedside.py` checks each entry alone; what only shows across entries (a finding without a profile, a study that cannot
show what it is said to show) is checked here. `phrase_audit.py` reads the words, `drug_audit.py` whether each line of
treatment has a dose, `lab_audit.py` what the effects move.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from .bedside import (
    condition_profiles,
    drug_profiles,
    finding_profiles,
    lab_profiles,
    organism_profiles,
    panels,
    relations,
    study_profiles,
)
from .graph_models import ConditionProfile, FindingProfile, Relation, StudyProfile, Treatment
from .lab_audit import effect_faults
from .loader import conditions, drug_classes, drugs, findings
from .phrase_audit import phrase_faults

_MEN_ONLY = ("prostat", "testic", "erectile", "epididym")
_WOMEN_ONLY = ("pregnan", "vagin", "menses", "menstru", "uter", "ovar", "preeclampsia")


def graph_audit() -> list[str]:
    """Return every fault of the disease graph, each as `list.entry.field: what is wrong`; empty for good data."""
    found: list[str] = []
    for condition in condition_profiles().values():
        found += (f"conditions.{condition.id}.{fault}" for fault in _condition(condition))
    for finding in finding_profiles().values():
        found += (f"findings.{finding.id}.{fault}" for fault in _finding(finding))
    for study in study_profiles().values():
        found += (f"studies.{study.id}.{fault}" for fault in _study(study))
    for relation in relations():
        name = f"relations.{relation.one} {relation.kind} {relation.other}"
        found += (f"{name}: {fault}" for fault in _relation(relation))
    told = Counter((one.one, one.other, one.kind, one.severity) for one in relations())
    found += (f"relations.{one[0]} {one[2]} {one[1]}: told {count} times" for one, count in told.items() if count > 1)
    for organism in organism_profiles().values():
        found += (
            f"organisms.{organism.id}.tested: `{one}` is no drug" for one in organism.tested if one not in drugs()
        )
    return found + phrase_faults()


# -- conditions -------------------------------------------------------------------------------------------------------


def _condition(one: ConditionProfile) -> Iterator[str]:
    if one.id not in conditions():
        yield "id: no condition of conditions.json"
    if not any(one.ages.values()):
        yield "ages: nobody has it; give a weight above 0"
    if not one.severity or min(one.severity.values()) < 1:
        yield "severity: leave out severities that do not occur, give the others a weight above 0"
    for severity in one.severity:
        if not any(code.with_condition is None and severity in (code.severity or (severity,)) for code in one.codes):
            yield f"codes: none for a {severity} course without another condition"
    for code in one.codes:
        if code.with_condition is not None and not _known_condition(code.with_condition):
            yield f"codes.{code.code}: `{code.with_condition}` is no condition"
    yield from _edges(one)
    for effect in one.effects:
        yield from (f"effects.{effect.lab}{fault}" for fault in effect_faults(effect))
        if one.acuity == "acute" and effect.half_life_hours is None:
            yield f"effects.{effect.lab}.half_life_hours: what begins acutely passes; what does not has `stays`"
    yield from _workup(one)
    for line in one.treatments:
        yield from _treatment(line)
    yield from _episode(one)


def _edges(one: ConditionProfile) -> Iterator[str]:
    for edge in one.findings:
        finding = finding_profiles().get(edge.finding)
        if finding is None:
            yield f"findings: `{edge.finding}` has no finding profile"
            continue
        if edge.edge == "rules_out" and (edge.percent or edge.by_severity):
            yield f"findings.{edge.finding}: what rules a condition out is never there with it; give 0"
        if edge.edge != "rules_out" and not edge.percent and not any(edge.by_severity.values()):
            yield f"findings.{edge.finding}: nobody shows it; give a percent"
        if any(not 0 <= percent <= 100 for percent in edge.by_severity.values()):
            yield f"findings.{edge.finding}.by_severity: percentages lie between 0 and 100"
        if one.sex is not None and finding.sex not in (None, one.sex):
            yield f"findings.{edge.finding}: only {finding.sex} patients have it, the condition only {one.sex} ones"
    yield from (f"findings.{name}: told twice" for name in _twice(edge.finding for edge in one.findings))
    yield from _sex(one.id, one.sex)


def _workup(one: ConditionProfile) -> Iterator[str]:
    work = one.workup
    for panel in (*work.panels, *work.repeat_hours, *(lab for visit in one.follow_up for lab in visit.labs)):
        if panel not in panels() and panel not in lab_profiles():
            yield f"workup: `{panel}` is no panel and no lab with a profile"
    for order in work.studies:
        if order.study not in study_profiles():
            yield f"workup.studies: `{order.study}` has no study profile"
    for procedure in work.procedures:
        for effect in procedure.effects:
            yield from (f"workup.{procedure.procedure}.{effect.lab}{fault}" for fault in effect_faults(effect))
        if not _is(procedure.procedure, "procedure"):
            yield f"workup.procedures: `{procedure.procedure}` is no procedure of findings.json"
    for start, end in [*(study.hours for study in work.studies), *(treated.hours for treated in work.procedures)]:
        if start > end:
            yield f"workup: hours {start} to {end} run backwards"
    yield from _cultures(one)
    for service in (*one.home_of, *(visit.service for visit in one.follow_up), work.consult):
        if service is not None and not _is(service, "service"):
            yield f"home_of, follow_up or consult: `{service}` is no service of findings.json"


def _cultures(one: ConditionProfile) -> Iterator[str]:
    for culture in one.workup.cultures:
        for organism, weight in culture.organisms:
            if organism not in organism_profiles() or weight < 1:
                yield f"workup.cultures.{culture.specimen}: `{organism}` is no organism, or its weight below 1"
        if culture.positive_percent and not culture.organisms:
            yield f"workup.cultures.{culture.specimen}: nothing to grow; name organisms"


def _treatment(line: Treatment) -> Iterator[str]:
    for drug in line.any_of:
        if drug not in drug_profiles():
            yield f"treatments.{line.id}: `{drug}` has no drug profile"
    for name in (*line.needs, *line.unless):
        if not _known_condition(name) and name not in finding_profiles():
            yield f"treatments.{line.id}: `{name}` is no condition or finding"
    if line.days is not None and not 1 <= line.days[0] <= line.days[1]:
        yield f"treatments.{line.id}.days: {line.days} is no course"


def _episode(one: ConditionProfile) -> Iterator[str]:
    if one.settings and not one.complaint:
        yield "complaint: needed where `settings` is given"
    if one.settings and set(one.severity) - set(one.stay_days):
        yield f"stay_days: none for {sorted(set(one.severity) - set(one.stay_days))}"
    shown = {edge.finding for edge in one.findings if edge.edge not in ("rules_out", "protective")}
    for finding in one.complaint:
        if finding not in shown:
            yield f"complaint: `{finding}` is not among the findings"
        elif finding in finding_profiles() and finding_profiles()[finding].lay is None:
            yield f"complaint: `{finding}` has no words for the patient"
    if one.settings and one.acuity != "chronic" and not any(line.works for line in one.treatments):
        yield "treatments: none turns the course (`works`)"
    unknown = [drug for drug in one.takes if drug not in drugs() and drug not in drug_classes()]
    yield from (f"takes: `{drug}` is no drug or class" for drug in unknown)
    for base in one.episode_of:
        if base not in condition_profiles():
            yield f"episode_of: `{base}` has no condition profile"
    for low, high in (*one.stay_days.values(), one.onset_hours, one.turn_hours):
        if low > high:
            yield f"stay_days, onset_hours or turn_hours: {low} lies above {high}"
    yield from (f"treatments.{name}: told twice" for name in _twice(line.id for line in one.treatments))


# -- findings, studies, relations -------------------------------------------------------------------------------------


def _finding(one: FindingProfile) -> Iterator[str]:
    yield from _sex(one.id, one.sex)
    if one.type in ("symptom", "sign") and not one.absent:
        yield "absent: needed for symptoms and signs"
    if one.type == "symptom" and one.lay is None:
        yield "lay: needed for symptoms"
    if one.scored and not one.region.en:
        yield "region: a pain has a place"
    if one.type == "sign" and one.exam is None:
        yield "exam: needed for signs, a part of the examination"
    if one.type == "sign" and not one.normal:
        yield "normal: needed for signs"
    if one.type in ("lab", "vital"):
        yield from _measured(one)
    if one.type == "imaging":
        yield from _imaged(one)


def _measured(one: FindingProfile) -> Iterator[str]:
    if one.lab is None or one.side is None:
        yield "lab, side: needed for lab and vital findings"
    elif one.lab not in lab_profiles():
        yield f"lab: `{one.lab}` has no lab profile"


def _imaged(one: FindingProfile) -> Iterator[str]:
    if not one.studies or not one.report or not one.impression:
        yield "studies, report, impression: needed for imaging findings"
    for study in one.studies:
        if study not in study_profiles():
            yield f"studies: `{study}` has no study profile"
        elif one.id not in study_profiles()[study].replaces:
            yield f"studies: `{study}` does not say in `replaces` of which structure this speaks"
    sided = any("{side}" in words for words in (*one.report, *one.impression))
    if sided != one.sides:
        yield "sides: true just where the report names a side"


def _study(one: StudyProfile) -> Iterator[str]:
    for finding, place in one.replaces.items():
        profile = finding_profiles().get(finding)
        if profile is None:
            yield f"replaces: `{finding}` has no finding profile"
        elif one.id not in profile.studies:
            yield f"replaces: `{finding}` does not name this study"
        if not 0 <= place < len(one.normal):
            yield f"replaces.{finding}: there is no structure {place}"
    if any(not ways for ways in one.normal):
        yield "normal: a structure without words"


def _relation(one: Relation) -> Iterator[str]:
    if one.other not in condition_profiles():
        yield f"`{one.other}` has no condition profile"
    if one.one not in condition_profiles() and one.one not in finding_profiles() and one.one not in drugs():
        yield f"`{one.one}` is no condition, finding or drug"
    if one.one == one.other:
        yield "a condition does not bear on itself"
    if (one.kind == "excludes") != (one.per_1000 == 0):
        yield "give a rate above 0; only `excludes` has none"


# -- shared -----------------------------------------------------------------------------------------------------------


def _known_condition(name: str) -> bool:
    return name in condition_profiles() or name in conditions()


def _is(name: str, kind: str) -> bool:
    return name in findings() and findings()[name].kind == kind


def _twice(names: Iterable[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)


def _sex(name: str, sex: str | None) -> Iterator[str]:
    for stems, only in ((_MEN_ONLY, "male"), (_WOMEN_ONLY, "female")):
        if sex != only and any(stem in name for stem in stems):
            yield f"sex: `{name}` is of {only} patients only"
