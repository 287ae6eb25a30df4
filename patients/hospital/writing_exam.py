"""Review of systems and physical examination, from the findings that are there and those that are not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from wardround.patients.knowledge.bedside import finding_profiles

from .life import CourseEvent, Sign
from .onset import HOUR
from .phrasing import Teller, capital, lowered, plain_line, table
from .record import Sentence
from .writing_breathing import ventilated
from .writing_usual import usual_words
from .writing_view import Known, belied
from .writing_words import Scribe

_PARTS = ("general", "heent", "neck", "chest", "heart", "abdomen", "back", "genitourinary", "extremities", "skin",
          "neuro", "psych")  # fmt: skip
_MOST_NORMAL = 2
_PASSES = 36 * HOUR
"""From the turn of an illness until what it showed is no longer found."""


def review(scribe: Scribe) -> list[Sentence]:
    """Return the review of systems: symptoms there and not, by system or in a run."""
    teller = scribe.teller("review-of-systems")
    known = scribe.known
    present = known.findings("symptom", present=True)
    absent = known.findings("symptom", present=False)
    if not present and not absent:
        return []
    if scribe.style.exam == "lines":
        return _by_system(scribe, teller, present, absent)
    said = []
    for key, found, missing, word in (("ros.yes.run", present, False, "and"), ("ros.no.run", absent, True, "or")):
        if found:
            words = [scribe.finding(one, teller, absent=missing) for one in teller.stream.shuffled(found)]
            said.append(teller.say(key, [one.id for one in found], symptoms=scribe.join(words, word)))
    return said


def _by_system(scribe: Scribe, teller: Teller, present: Sequence[Sign], absent: Sequence[Sign]) -> list[Sentence]:
    titles = table("ros_title")
    systems: dict[str, tuple[list[Sign], list[Sign]]] = {}
    for found, place in ((present, 0), (absent, 1)):
        for one in found:
            profile = finding_profiles().get(one.finding)
            title = titles.get(profile.system if profile is not None else "general", "Constitutional")
            title = table("ros_finding").get(one.finding, title)
            systems.setdefault(title, ([], []))[place].append(one)
    said = []
    for title in sorted(systems, key=lambda name: (name != "Constitutional", name)):
        yes, no = systems[title]
        items = []
        if yes:
            words = scribe.join([scribe.finding(one, teller) for one in yes])
            items.append(teller.words("ros.yes", symptoms=words))
        if no:
            words = scribe.join([scribe.finding(one, teller, absent=True) for one in no], "or")
            items.append(teller.words("ros.no", symptoms=words))
        ids = [one.id for one in (*yes, *no)]
        said.append(teller.line("ros.part", ids, title=title, items="; ".join(items)))
    return said


def examination(scribe: Scribe) -> list[Sentence]:
    """Return the examination by parts of the body."""
    return _parts(scribe, scribe.teller("physical-exam"), {}, _PARTS)


def later_examination(scribe: Scribe, better: Mapping[str, CourseEvent], service: str | None = None) -> list[Sentence]:
    """Return the examination on a later day: what passes is told as improving once the course has turned, then gone.

    Args:
        scribe: The author.
        better: Illnesses that have turned, and the events that say so.
        service: A consultant examines what is theirs.
    """
    teller = scribe.teller("physical-exam", copied=scribe.style.copies)
    parts = table("exam_consult").get(service or "", "").split() or _PARTS
    once: Collection[str] = () if service else table("exam_once")
    return _parts(scribe, teller, better, [part for part in _PARTS if part in parts], once)


def _parts(
    scribe: Scribe, teller: Teller, better: Mapping[str, CourseEvent], parts: Sequence[str], once: Collection[str] = ()
) -> list[Sentence]:
    present, absent = _by_part(scribe.known, better, once)
    if ventilated(scribe.known) is not None:  # who is sedated shows neither the mind nor what takes an answer
        parts = [part for part in parts if part != "psych"]
        silent = {*table("exam_mind"), *table("exam_answered")}
        present["neuro"] = [one for one in present.get("neuro", ()) if one.finding not in silent]
        absent = {part: found for part, found in absent.items() if part not in table("exam_unvoiced")}
    said = []
    for part in parts:
        items, ids = _there(scribe, teller, present.get(part, ()), better)
        usual = usual_words(scribe, teller, part, present, better)
        if usual is not None and usual.whole and not items:
            normal, more = _beside(scribe, teller, part, absent.get(part, ()))
            items, ids = [usual.text], list(usual.facts)
        elif usual is not None and usual.always:
            normal, more = _not_there(scribe, teller, absent.get(part, ()), alone=False)
            items, ids = [usual.text, *items], [*usual.facts, *ids]
        else:
            normal, more = _not_there(scribe, teller, absent.get(part, ()), alone=not items)
            if usual is not None and not items and not normal:
                items, ids = [usual.text], list(usual.facts)
        wound, done = _wound(scribe, teller, part)
        if items or normal or wound:
            said.append(_line(scribe, teller, part, [*items, *normal, *wound], [*ids, *more, *done]))
    return said


def _wound(scribe: Scribe, teller: Teller, part: str) -> tuple[list[str], list[str]]:
    """Return how the wound of the last operation of the stay looks, for the part of the body that it is on."""
    known, sites = scribe.known, table("exam_wounds")
    done = [one for one in known.life.treated if one.title in sites and known.begin <= one.at]
    done = [one for one in done if (one.end or one.at) <= known.at]
    if not done or sites[done[-1].title].partition(" ")[0] != part:
        return [], []
    site = sites[done[-1].title].partition(" ")[2]
    return [teller.words("exam.wound", site=site)], [done[-1].id]


def _by_part(
    known: Known, better: Mapping[str, CourseEvent], once: Collection[str]
) -> tuple[dict[str, list[Sign]], dict[str, list[Sign]]]:
    """Return the signs that are there now and those that are not, by part: the last word on each counts.

    What is looked for `once` is not looked for again day by day.
    """
    last: dict[str, Sign] = {}
    for one in sorted((one for one in known.signs if one.type == "sign"), key=lambda one: (one.known_at, one.id)):
        before = last.get(one.finding)
        if before is None or one.present or one.known_at > before.known_at:
            last[one.finding] = one
    present: dict[str, list[Sign]] = {}
    absent: dict[str, list[Sign]] = {}
    there = {one.finding for one in known.signs if one.present and one.type == "symptom"}
    standing = [name for name, one in last.items() if one.present and not _gone(known, one, better)]
    for one in sorted(last.values(), key=lambda one: (one.rank, one.onset, one.id)):
        profile = finding_profiles().get(one.finding)
        part = profile.exam or "general" if profile is not None else "general"
        if one.finding in once:
            continue
        if one.finding in standing:
            present.setdefault(part, []).append(one)
        elif not belied(one.finding, standing) and _deniable(one.finding, there, standing):
            absent.setdefault(part, []).append(one)
    return present, absent


def _gone(known: Known, one: Sign, better: Mapping[str, CourseEvent]) -> bool:
    """Whether a sign has passed: two days after all that showed it have turned."""
    mended = table("exam_until").get(one.finding, "").split()
    done = [each for each in known.life.treated if each.procedure in mended and one.known_at <= each.at]
    if any((each.end or each.at) <= known.at for each in done):
        return True
    profile = finding_profiles().get(one.finding)
    if profile is None or not profile.clears or one.finding in table("exam_slow") or not one.owners:
        return False
    turned = [better[owner].at for owner, _ in one.owners if owner in better]
    return len(turned) == len(one.owners) and max(turned) + _PASSES <= known.at


def _deniable(finding: str, symptoms: Collection[str], standing: Collection[str]) -> bool:
    """Whether an examiner would write that a sign is not there: it could be, and no symptom speaks for it."""
    needs = table("exam_needs").get(finding)
    if needs is not None and not any(one in symptoms or one in standing for one in needs.split()):
        return False
    return not any(one in symptoms for one in table("exam_spoken_for").get(finding, "").split())


def _beside(scribe: Scribe, teller: Teller, part: str, absent: Sequence[Sign]) -> tuple[list[str], list[str]]:
    """Return one thing more that is not there, beside a whole part found normal."""
    if part not in table("exam_normal_beside"):
        return [], []
    for one in absent:
        words = scribe.finding(one, teller, absent=True)
        if "tender" not in words and "edema" not in words and one.finding not in table("exam_own"):
            return [f"no {words}"], [one.id]
    return [], []


def _there(
    scribe: Scribe, teller: Teller, present: Sequence[Sign], better: Mapping[str, CourseEvent]
) -> tuple[list[str], list[str]]:
    """Return what is found in a part of the body; what is passing is told together."""
    lasting: list[str] = []
    passing: list[str] = []
    ids: list[str] = []
    for one in present:
        profile = finding_profiles().get(one.finding)
        text = scribe.finding(one, teller)
        turned = [better[owner].id for owner, _ in one.owners if owner in better]
        if turned and profile is not None and profile.clears:
            passing.append(text)
            ids += turned
        else:
            lasting.append(text)
        ids.append(one.id)
    if passing:
        lasting.append(teller.words("exam.improving", sign=scribe.join(passing)))
    return list(dict.fromkeys(lasting)), ids


def _not_there(scribe: Scribe, teller: Teller, absent: Sequence[Sign], *, alone: bool) -> tuple[list[str], list[str]]:
    """Return what is normal in a part of the body.

    A sentence of what is normal says more than that its own finding is absent: it stands only where nothing is found.
    """
    items: list[str] = []
    ids: list[str] = []
    for one in absent[:_MOST_NORMAL]:
        profile = finding_profiles().get(one.finding)
        if profile is None:
            continue
        if own := table("exam_own").get(one.finding):
            items.append(own)
        elif profile.normal and alone and not items:
            items.append(lowered(teller.pick(profile.normal)))
        elif profile.absent:
            items.append(f"no {scribe.finding(one, teller, absent=True)}")
        else:
            continue
        ids.append(one.id)
    return list(dict.fromkeys(items)), ids


def _line(scribe: Scribe, teller: Teller, part: str, items: Sequence[str], ids: Sequence[str]) -> Sentence:
    short = scribe.style.headers == "header_short" or scribe.style.register == "abbrev"
    title = table("exam_short" if short else "exam_title")[part]
    words = ("; " if len(items) > 2 or any("," in item for item in items) else ", ").join(items)
    words = _bare(part, words)
    if scribe.style.exam == "lines":
        return plain_line(teller.words("exam.part", title=title, items=words), ids)
    return teller.say("exam.run", ids, area=table("exam_area")[part], Area=capital(title), items=words)


def _bare(part: str, words: str) -> str:
    """Return words under their title without saying it again: "Abdomen: soft", not "Abdomen: abdomen soft"."""
    first, _, rest = words.partition(" ")
    following = rest.partition(" ")[0].strip(",;")
    return rest if first in table("exam_area")[part].split() and following in table("exam_follows") else words
