"""Measurements, studies and cultures as notes write them; values stand exactly as charted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache

from wardround.patients.knowledge.bedside import finding_profiles, lab_profiles, study_profiles
from wardround.patients.times import Instant

from .life import Culture, Result, Sign, Study
from .phrasing import Teller, capital, limit, lowered, plain_line, table
from .record import Sentence
from .reports import impression_words
from .writing_view import clock, flag, number
from .writing_words import Scribe, unit_of

VITALS = ("temperature", "blood_pressure", "heart_rate", "respiratory_rate", "spo2")
_MOST_GROUPS = 9
_MOST_NORMAL = 6
_DRUGS = 4
_NOTABLE = 8
"""Percent out of range from which a value is worth a word."""


@cache
def is_vital(lab: str) -> bool:
    """Return whether a lab is a vital sign."""
    profile = lab_profiles().get(lab)
    return profile is not None and profile.category == "vital-signs"


# -- vital signs -------------------------------------------------------------------------------------------------------


def vitals_line(
    scribe: Scribe, teller: Teller, found: Mapping[str, Result], *, prose: bool = False
) -> tuple[str, tuple[str, ...]]:
    """Return one round of vital signs in one line, or as a clause of its own, and the results; "" for none."""
    have = [found[lab] for lab in VITALS if lab in found]
    ids = tuple(one.id for one in have)
    if len(have) < len(VITALS):
        names = table("vital_short")
        return ", ".join(f"{names[one.lab]} {scribe.value(one, unit=True, marked=False)}" for one in have), ids
    key = "vitals.line.prose" if prose else "vitals.line.short"
    return teller.words(key, **{lab: found[lab].text for lab in VITALS}), ids


def vital_signs(scribe: Scribe, since: Instant | None = None, *, first: bool = False) -> list[Sentence]:
    """Return the section of vital signs: the first or the last round, weight and height, ranges over a day."""
    known = scribe.known
    teller = scribe.teller("vitals")
    found = known.first() if first else known.latest(since)
    said: list[Sentence] = []
    if scribe.style.vitals == "long":
        names = table("vital_long")
        said += [
            plain_line(f"{names[lab]}: {scribe.value(found[lab], unit=True, marked=False)}", (found[lab].id,))
            for lab in VITALS
            if lab in found
        ]
    else:
        line, ids = vitals_line(scribe, teller, found, prose=scribe.style.vitals == "prose")
        if ids:
            said.append(Sentence(capital(line), ids))
    if not first and since is not None:
        said += _ranges(scribe, teller, since)
    for lab, key, place in (("weight", "vitals.weight", "weight"), ("height", "vitals.height", "height")):
        if lab in found:
            said.append(teller.line(key, (found[lab].id,), **{place: found[lab].text}))
    if "pain_score" in found:
        said.append(teller.line("vitals.pain", (found["pain_score"].id,), pain=found["pain_score"].text))
    return said


def _ranges(scribe: Scribe, teller: Teller, since: Instant) -> list[Sentence]:
    """Return how the vital signs moved since a moment."""
    words: list[str] = []
    ids: list[str] = []
    names = table("vital_short")
    hottest: Result | None = None
    for lab in ("temperature", "heart_rate", "respiratory_rate", "spo2"):
        found = [one for one in scribe.known.series(lab) if one.at >= since and number(one.text) is not None]
        if len(found) < 2:
            continue
        ordered = sorted(found, key=lambda one: (number(one.text) or 0, one.at))
        if lab == "temperature":
            hottest = ordered[-1]
            continue
        low, high = ordered[0], ordered[-1]
        words.append(f"{names[lab]} {low.text}-{high.text}" if low.text != high.text else f"{names[lab]} {low.text}")
        ids += [low.id, high.id]
    if not words:
        return []
    rest = ", ".join(words)
    if hottest is None:
        return [teller.line("vitals.range", ids, ranges=rest)]
    key = "vitals.febrile" if (number(hottest.text) or 0) >= limit("fever") else "vitals.afebrile"
    return [teller.line(key, (hottest.id, *ids), tmax=hottest.text, rest=rest)]


# -- laboratory --------------------------------------------------------------------------------------------------------


def laboratory(scribe: Scribe, since: Instant) -> list[Sentence]:
    """Return the section of laboratory results drawn since a moment, in the author's form; cultures follow."""
    known = scribe.known
    teller = scribe.teller("labs")
    found = [one for one in known.results if one.at >= since and not is_vital(one.lab)]
    latest: dict[str, Result] = {one.lab: one for one in found}
    said: list[Sentence] = []
    if latest:
        if scribe.style.labs == "prose":
            said += _prose(scribe, teller, latest)
        elif scribe.style.labs == "table":
            said += _table(scribe, teller, list(latest.values()))
        else:
            said += _groups(scribe, teller, found)
        said += _trends(scribe, teller, latest)
    return said + cultures(scribe, teller, since)


def _panel(result: Result) -> str:
    return result.panel.rsplit("-", 1)[0]


def _groups(scribe: Scribe, teller: Teller, found: Sequence[Result]) -> list[Sentence]:
    """Return a line a panel: the last one of each kind."""
    panels: dict[str, dict[str, Result]] = {}
    drawn: dict[str, str] = {}
    for one in found:
        kind = _panel(one)
        if drawn.get(kind) != one.panel:  # a later draw takes the place of the earlier one as a whole
            panels.pop(kind, None)
            drawn[kind] = one.panel
        panels.setdefault(kind, {})[one.lab] = one
    said: list[Sentence] = []
    separator = teller.pick((", ", " | ", ", ", "; "))
    units = teller.chance(25)
    for panel, by_lab in list(panels.items())[:_MOST_GROUPS]:
        values = [f"{scribe.title(one)} {scribe.value(one, unit=units)}" for one in by_lab.values()]
        ids = [one.id for one in by_lab.values()]
        when = _when(scribe, list(by_lab.values())[-1].at)
        title = table("panel_title").get(panel)
        if title is None or len(values) == 1:
            said.append(teller.line("labs.single", ids, when=when, values=separator.join(values)))
        else:
            said.append(teller.line("labs.group", ids, when=when, title=title, values=separator.join(values)))
    return said


def _when(scribe: Scribe, at: Instant) -> str:
    return f"{scribe.date(at)} {clock(at)}"


def _table(scribe: Scribe, teller: Teller, found: Sequence[Result]) -> list[Sentence]:
    """Return a line a test, abnormal ones first, the time of the draw on the first of each."""
    ordered = [one for one in found if flag(one)] + [one for one in found if not flag(one)]
    said: list[Sentence] = []
    before = ""
    dots = teller.pick((" ", ": ", " - ", " = "))
    for one in ordered[: 3 * _MOST_NORMAL + 6]:
        when = _when(scribe, one.at)
        text = f"{one.name}{dots}{scribe.value(one, unit=True)}"
        said.append(plain_line(f"{text}, {when}" if when != before else text, (one.id,)))
        before = when
    return said


def _prose(scribe: Scribe, teller: Teller, latest: Mapping[str, Result]) -> list[Sentence]:
    """Return the abnormal results in words, then which others were in range."""
    said: list[Sentence] = []
    by_day: dict[str, list[Result]] = {}
    for one in latest.values():
        if flag(one):
            by_day.setdefault(scribe.date(one.at), []).append(one)
    for day, found in by_day.items():
        values = [f"{scribe.lab(one)} {scribe.value(one, unit=True)}" for one in found]
        said.append(teller.say("labs.notable", [one.id for one in found], when=day, values=scribe.join(values)))
    told = table("told_labs")
    calm = [
        one
        for one in latest.values()
        if one.lab in told and not flag(one) and (one.low or one.high) and number(one.text) is not None
    ]
    calm = teller.some(calm, 3, _MOST_NORMAL)
    if calm:
        names = scribe.join([scribe.lab(one) for one in calm])
        said.append(teller.say("labs.normal", [one.id for one in calm], names=names, Names=capital(names)))
    return said


def _trends(scribe: Scribe, teller: Teller, latest: Mapping[str, Result]) -> list[Sentence]:
    """Return up to three series of abnormal labs over the stay."""
    said: list[Sentence] = []
    told = table("told_labs")
    for one in [each for each in latest.values() if flag(each) and each.lab in told][:8]:
        series = [each for each in scribe.known.series(one.lab) if number(each.text) is not None]
        if len(series) < 3 or len(said) >= 3 or not teller.chance(50):
            continue
        shown_ones = series[-4:]
        values = " → ".join(each.text for each in shown_ones)
        unit = unit_of(one.lab)
        text = f"{values}{'' if unit == '%' else ' '}{unit}".rstrip() if teller.chance(50) else values
        said.append(teller.line("labs.trend", [each.id for each in shown_ones], name=scribe.lab(one), values=text))
    return said


def notable(
    scribe: Scribe, found: Mapping[str, Result], most: int, own: Collection[str] = ()
) -> tuple[str, tuple[str, ...]]:
    """Return the most abnormal results in words, those that show the illness (`own`) before all others.

    "White count 14.2 (H) and creatinine 1.9 mg/dL (H)".
    """
    told = table("told_labs")
    ranked = sorted(
        (one for one in found.values() if flag(one) and one.lab in told and (_away(one) >= _NOTABLE or one.lab in own)),
        key=lambda one: (one.lab not in own, -_away(one), one.lab),
    )[:most]
    words = [f"{scribe.lab(one)} {scribe.value(one, unit=scribe.style.register == 'full')}" for one in ranked]
    return scribe.join(words), tuple(one.id for one in ranked)


def _away(result: Result) -> int:
    """Return by how many percent of its bound a value is out of range."""
    value = number(result.text)
    bound = number(result.low or "") if flag(result) == "L" else number(result.high or "")
    if value is None or not bound:
        return 0
    return int(abs(value - bound) * 100 / abs(bound))


# -- cultures ----------------------------------------------------------------------------------------------------------


def cultures(scribe: Scribe, teller: Teller, since: Instant) -> list[Sentence]:
    """Return the state of cultures taken or reported since a moment."""
    said: list[Sentence] = []
    for one in scribe.known.cultures:
        stages = [stage for stage in one.stages if stage.at <= scribe.known.at]
        if one.at < since and not any(stage.at >= since for stage in stages):
            continue
        said.append(culture_line(scribe, teller, one))
    return said


def culture_line(scribe: Scribe, teller: Teller, one: Culture) -> Sentence:
    """Return what is known of a culture at the moment of writing."""
    specimen = table("specimen").get(one.specimen, one.specimen)
    stages = [stage for stage in one.stages if stage.at <= scribe.known.at]
    if not stages:
        return teller.line("culture.pending", (one.id,), specimen=specimen, date=scribe.date(one.at))
    return teller.line(
        "culture.stage",
        (one.id,),
        specimen=specimen,
        date=scribe.date(one.at),
        text=stages[-1].text.rstrip("."),
        sens=susceptibilities(scribe, teller, one) if stages[-1] is one.stages[-1] else "",
    )


def susceptibilities(scribe: Scribe, teller: Teller, one: Culture) -> str:
    """Return what an organism is susceptible and resistant to; "" unless the last report is out."""
    if not one.susceptibilities or one.organism is None or one.stages[-1].at > scribe.known.at:
        return ""
    if any(word in one.stages[-1].text.lower() for word in ("susceptible", "sensitive", "resistant")):
        return ""
    text = ""
    for reading, key in (("S", "culture.sens"), ("R", "culture.res")):
        drugs = [lowered(drug.replace("_", " ")) for drug, read in one.susceptibilities if read == reading][:_DRUGS]
        if drugs:
            text += teller.words(key, drugs=scribe.join(drugs))
    return text


# -- studies -----------------------------------------------------------------------------------------------------------


def study_name(study: Study) -> str:
    """Return the name of a study within a sentence."""
    profile = study_profiles().get(study.study)
    return lowered(profile.name.en) if profile is not None else lowered(study.title)


def shown(
    scribe: Scribe, teller: Teller, study: Study, *, keep: Callable[[Sign], bool] | None = None
) -> tuple[str, str, tuple[str, ...]]:
    """Return a study's name, what it shows as noun phrases ("" for nothing) and the facts; `keep`: only of these."""
    signs = [scribe.known.outline.signs[one] for one in study.shown if one in scribe.known.outline.signs]
    signs = [one for one in signs if one.present and one.finding in finding_profiles()]
    signs = signs if keep is None else [one for one in signs if keep(one)]
    words = [_without_study(scribe.finding(one, teller)) for one in signs]
    return study_name(study), scribe.join(words), (study.id, *(one.id for one in signs))


def _without_study(text: str) -> str:
    """Return a finding without " on CT" at its end, for where the study is named anyway."""
    head, _, tail = text.rpartition(" on ")
    return head if head and tail in table("seen_on") else text


def study_lines(scribe: Scribe, since: Instant, *, imaging: bool) -> list[Sentence]:
    """Return a line a study reported since a moment: imaging, or the others (ECG, endoscopy)."""
    slug = "imaging" if imaging else "other-studies"
    teller = scribe.teller(slug)
    said: list[Sentence] = []
    for study in scribe.known.studies:
        if study.known_at < since or (study.modality not in ("ECG", "Endoscopy", "Echo")) != imaging:
            continue
        words, ids = impression_words(scribe.known.outline, study)
        words = words.replace(", as above", "").replace(" as above", "")
        name = study_name(study)
        said.append(
            teller.line(
                "study.line", ids, study=name, date=scribe.date(study.at), impression=lowered(words), Impression=words
            )
        )
    return said


def pathology(scribe: Scribe) -> list[Sentence]:
    """Return what tissue of this stay showed, or that none was sent."""
    teller = scribe.teller("pathology")
    known = scribe.known
    said = []
    for one in known.life.treated:
        if (
            one.procedure not in table("tissue_procedures")
            or one.at < known.begin
            or one.outcome is None
            or (one.end or one.at) > known.at
        ):
            continue
        words = {"procedure": lowered(one.title), "date": scribe.date(one.at), "outcome": lowered(one.outcome.en)}
        said.append(teller.line("pathology.line", (one.id,), **words))
    return said or [teller.say("pathology.none", (known.root.id,))]
