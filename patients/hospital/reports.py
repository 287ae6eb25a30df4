"""Reports of studies, composed from the signs that a study shows: what it does not show, it does not name."""

from __future__ import annotations

from collections.abc import Sequence

from wardround.patients.knowledge.bedside import finding_profiles, study_profiles
from wardround.patients.knowledge.graph_models import FindingProfile, StudyProfile
from wardround.patients.rng import Stream

from .life import Sign, Study
from .phrasing import Teller, capital, lowered, sentence, table, unique
from .record import Sentence, StudyReport
from .writing_view import Outline, dated


def write_reports(outline: Outline) -> tuple[StudyReport, ...]:
    """Return the report of every study of a life, in the order of the studies."""
    return tuple(report_of(outline, study) for study in outline.life.studies)


def report_of(outline: Outline, study: Study) -> StudyReport:
    """Return the report of one study; the same whenever it is asked for."""
    known = outline.reports.get(study.id)
    if known is None:
        known = outline.reports[study.id] = _written(outline, study)
    return known


def impression_words(outline: Outline, study: Study) -> tuple[str, tuple[str, ...]]:
    """Return the impression of a report as notes quote it, and its facts."""
    report = report_of(outline, study)
    text = " ".join(one.text for one in report.impression)
    return text, unique([study.id, *(fact for one in report.impression for fact in one.facts)])


def _written(outline: Outline, study: Study) -> StudyReport:
    life = outline.life
    stream = Stream("hospital", life.seed, life.index, "notes", "report", study.id)
    teller = Teller(stream, "full", {})
    profile = study_profiles().get(study.study)
    signs = [outline.signs[one] for one in study.shown if one in outline.signs and outline.signs[one].present]
    return StudyReport(
        study=study.id,
        findings=tuple(_findings(teller, study, profile, signs)),
        impression=tuple(_impression(teller, study, profile, signs)),
        technique=sentence(teller.pick(profile.technique)) if profile is not None and profile.technique else "",
        comparison=_comparison(outline, teller, study),
    )


def _findings(teller: Teller, study: Study, profile: StudyProfile | None, signs: Sequence[Sign]) -> list[Sentence]:
    """Return the structures in reading order; what is shown replaces its structure's sentence."""
    said: list[Sentence] = []
    by_place: dict[int, list[Sign]] = {}
    loose: list[Sign] = []
    for sign in signs:
        place = profile.replaces.get(sign.finding) if profile is not None else None
        if place is None:
            loose.append(sign)
        else:
            by_place.setdefault(place, []).append(sign)
    said += [_shown(teller, sign, study) for sign in loose]
    structures = profile.normal if profile is not None else ()
    brief = len(signs) > 0 and teller.chance(35)
    silences = table("report_silences")
    names = [name for sign in signs for name in (sign.finding, f"{study.study}/{sign.finding}")]
    silent = {int(one) for name in names for one in silences.get(name, "").split()}
    for place, ways in enumerate(structures):
        found = by_place.get(place)
        if not found and place in silent:
            continue
        if found:
            said += [_shown(teller, sign, study) for sign in found]
        elif not brief or teller.chance(60):
            said.append(Sentence(sentence(teller.pick(ways)), (study.id,)))
    return said or [teller.say("report.other", (study.id,))]


def _shown(teller: Teller, sign: Sign, study: Study) -> Sentence:
    profile = finding_profiles().get(sign.finding)
    options = profile.report or profile.present if profile is not None else (sign.finding.replace("_", " "),)
    return Sentence(sentence(_placed(teller.pick(options), sign)), (study.id, sign.id))


def _impression(teller: Teller, study: Study, profile: StudyProfile | None, signs: Sequence[Sign]) -> list[Sentence]:
    if not signs:
        options = profile.normal_impression if profile is not None else ("No acute abnormality",)
        return [Sentence(sentence(teller.pick(options)), (study.id,))]
    said = []
    for sign in signs:
        finding = finding_profiles().get(sign.finding)
        said.append(Sentence(sentence(_placed(_concluded(teller, sign, finding), sign)), (study.id, sign.id)))
    if teller.chance(40):
        said.append(teller.say("report.rest", (study.id,)))
    return said


def _concluded(teller: Teller, sign: Sign, finding: FindingProfile | None) -> str:
    if finding is None:
        return sign.finding.replace("_", " ")
    return teller.pick(finding.impression or finding.present)


def _placed(text: str, sign: Sign) -> str:
    text = " ".join(text.replace("{side}", sign.side or "").split())
    return capital(text)


def _comparison(outline: Outline, teller: Teller, study: Study) -> str:
    earlier = outline.studies.get(study.compare) if study.compare else None
    if earlier is None:
        return teller.say("comparison.none").text
    profile = study_profiles().get(earlier.study)
    name = profile.name.en if profile is not None else earlier.title
    return teller.say("comparison.study", study=capital(lowered(name)), date=dated(earlier.at, "long")).text
