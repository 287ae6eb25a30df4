"""Reports of studies, composed from the signs that a study shows: what it does not show, it does not name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wardround.patients.knowledge.bedside import finding_profiles, study_profiles
from wardround.patients.knowledge.graph_models import FindingProfile, StudyProfile
from wardround.patients.rng import Stream
from wardround.patients.times import DAY, Instant

from .life import Sign, Study
from .phrasing import Teller, capital, listed, lowered, sentence, table, unique
from .record import Sentence, StudyReport
from .writing_view import Outline, dated

_RECENT = 30 * DAY
"""Of a study of the last weeks a report says what is new since."""


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
    elsewhere = _seen_elsewhere(outline, study, profile)
    changes = _Changes(outline, teller, study, signs)
    return StudyReport(
        study=study.id,
        findings=(*_findings(teller, study, profile, signs, elsewhere), *changes.again()),
        impression=(*_impression(teller, study, profile, signs, elsewhere), *changes.moved()),
        technique=sentence(teller.pick(profile.technique)) if profile is not None and profile.technique else "",
        comparison=_comparison(outline, teller, study),
    )


def _findings(
    teller: Teller, study: Study, profile: StudyProfile | None, signs: Sequence[Sign], elsewhere: Mapping[int, Sentence]
) -> list[Sentence]:
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
        elif place in elsewhere:
            said.append(elsewhere[place])
        elif not brief or teller.chance(60):
            said.append(Sentence(sentence(teller.pick(ways)), (study.id,)))
    return said or [teller.say("report.other", (study.id,))]


def _shown(teller: Teller, sign: Sign, study: Study) -> Sentence:
    profile = finding_profiles().get(sign.finding)
    options = profile.report or profile.present if profile is not None else (sign.finding.replace("_", " "),)
    return Sentence(sentence(_placed(teller.pick(options), sign)), (study.id, sign.id))


def _impression(
    teller: Teller, study: Study, profile: StudyProfile | None, signs: Sequence[Sign], elsewhere: Mapping[int, Sentence]
) -> list[Sentence]:
    if not signs and elsewhere:  # nothing normal is concluded of who is known to have something there
        return [teller.say("report.nothing_new", (study.id,))]
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


# -- beside other studies ----------------------------------------------------------------------------------------------


def _seen_elsewhere(outline: Outline, study: Study, profile: StudyProfile | None) -> dict[int, Sentence]:
    """Return what stands, by structure, where its normal sentence would deny what another study showed.

    A magnetic resonance image does not say "no hemorrhage" of a bleeding that the CT of the day before showed.
    """
    found: dict[int, Sentence] = {}
    known = table("report_seen_before")
    for place in range(len(profile.normal) if profile is not None else 0):
        names = known.get(f"{study.study}/{place}", "").split()
        for sign in outline.signs.values() if names else ():
            other = outline.studies.get(sign.study or "")
            if other is None or sign.finding not in names or not sign.present or other.id in (study.id, study.compare):
                continue
            if other.known_at <= study.at and _lasts(outline, sign, study.at):
                stream = Stream(
                    "hospital", outline.life.seed, outline.life.index, "notes", "elsewhere", study.id, place
                )
                found[place] = Teller(stream, "full", {}).say(
                    "report.elsewhere", (study.id, other.id, sign.id),
                    study=_study_words(other), date=dated(other.at, "long"), finding=_noun(sign),
                )  # fmt: skip
    return found


def _lasts(outline: Outline, sign: Sign, at: Instant) -> bool:
    """Whether an illness that shows a sign goes on at a moment."""
    owners = [outline.illnesses[one] for one, _ in sign.owners if one in outline.illnesses]
    return any(one.resolved is None or one.resolved > at for one in owners)


class _Changes:
    """What a study shows beside the last one of its kind: seen again, no longer, new.

    Args:
        outline: The life.
        teller: The voice of the report.
        study: The study.
        signs: What it shows.
    """

    def __init__(self, outline: Outline, teller: Teller, study: Study, signs: Sequence[Sign]) -> None:
        earlier = outline.studies.get(study.compare or "")
        if earlier is not None and earlier.known_at > study.known_at:
            earlier = None
        self._outline, self._teller, self._study, self._earlier, self._signs = outline, teller, study, earlier, signs
        before = [outline.signs[one] for one in earlier.shown if one in outline.signs] if earlier is not None else []
        self._before = [one for one in before if one.present]

    def again(self) -> list[Sentence]:
        """Return that what was there is there again."""
        then = {one.finding: one for one in self._before}
        kept = [one for one in self._signs if one.finding in then]
        return self._say("report.again", kept, [then[one.finding].id for one in kept])

    def moved(self) -> list[Sentence]:
        """Return what is no longer seen since its illness passed, and what is new since a study of the last weeks."""
        now = {one.finding for one in self._signs}
        gone = [one for one in self._before if one.finding not in now and one.finding not in table("report_stays")]
        gone = [one for one in gone if not _lasts(self._outline, one, self._study.at)]
        then = {one.finding for one in self._before}
        recent = self._earlier is not None and self._study.at - self._earlier.at <= _RECENT
        fresh = [one for one in self._signs if one.finding not in then] if recent else []
        return self._say("report.gone", gone, ()) + self._say("report.new", fresh, ())

    def _say(self, key: str, signs: Sequence[Sign], more: Sequence[str]) -> list[Sentence]:
        if not signs or self._earlier is None:
            return []
        words = listed(list(dict.fromkeys(_noun(one) for one in signs)), "and", oxford=True)
        facts = (self._study.id, *(one.id for one in signs), self._earlier.id, *more)
        date = dated(self._earlier.at, "long")
        return [self._teller.say(key, facts, findings=words, Findings=capital(words), date=date)]


def _noun(sign: Sign) -> str:
    """Return a finding as a noun phrase, without the name of the study that shows it."""
    profile = finding_profiles().get(sign.finding)
    text = profile.present[0] if profile is not None else sign.finding.replace("_", " ")
    head, _, tail = text.rpartition(" on ")
    text = head if head and tail in table("seen_on") else text
    return lowered(" ".join(text.replace("{side}", sign.side or "").split()))


def _study_words(study: Study) -> str:
    profile = study_profiles().get(study.study)
    return lowered(profile.name.en if profile is not None else study.title)


def _comparison(outline: Outline, teller: Teller, study: Study) -> str:
    earlier = outline.studies.get(study.compare) if study.compare else None
    if earlier is None:
        return teller.say("comparison.none").text
    return teller.say("comparison.study", study=capital(_study_words(earlier)), date=dated(earlier.at, "long")).text
