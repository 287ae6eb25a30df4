"""Review of systems and physical examination, from the findings that are there and those that are not."""

from __future__ import annotations

from collections.abc import Sequence

from wardround.patients.knowledge.bedside import finding_profiles

from .life import Sign
from .phrasing import Teller, capital, lowered, table
from .record import Sentence
from .writing_results import teller_line
from .writing_words import Scribe

_PARTS = ("general", "heent", "neck", "chest", "heart", "abdomen", "back", "genitourinary", "extremities", "skin",
          "neuro", "psych")  # fmt: skip
_MOST_NORMAL = 2


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
    teller = scribe.teller("physical-exam")
    return [line for _, line in _parts(scribe, teller, improving=())]


def later_examination(scribe: Scribe, improving: Sequence[str]) -> list[Sentence]:
    """Return the examination on a later day: what passes is told as improving once the course has turned.

    Args:
        scribe: The author.
        improving: Ids of the events that say so; empty before.
    """
    teller = scribe.teller("physical-exam")
    return [line for _, line in _parts(scribe, teller, improving=tuple(improving))]


def _parts(scribe: Scribe, teller: Teller, improving: tuple[str, ...]) -> list[tuple[str, Sentence]]:
    known = scribe.known
    present: dict[str, list[Sign]] = {}
    absent: dict[str, list[Sign]] = {}
    for there, where in ((True, present), (False, absent)):
        for one in known.findings("sign", present=there):
            profile = finding_profiles().get(one.finding)
            where.setdefault(profile.exam or "general" if profile is not None else "general", []).append(one)
    said = []
    for part in _PARTS:
        items, ids = _part(scribe, teller, present.get(part, ()), absent.get(part, ()), improving)
        if items:
            said.append((part, _line(scribe, teller, part, items, ids)))
    return said


def _part(
    scribe: Scribe, teller: Teller, present: Sequence[Sign], absent: Sequence[Sign], improving: tuple[str, ...]
) -> tuple[list[str], list[str]]:
    items: list[str] = []
    ids: list[str] = []
    for one in present:
        profile = finding_profiles().get(one.finding)
        text = scribe.finding(one, teller)
        if improving and profile is not None and profile.clears:
            text = teller.words("exam.improving", sign=text)
            ids += improving
        items.append(text)
        ids.append(one.id)
    for place, one in enumerate(absent[:_MOST_NORMAL]):
        profile = finding_profiles().get(one.finding)
        if profile is None:
            continue
        if profile.normal and not present and place == 0:
            items.append(lowered(teller.pick(profile.normal)))  # says more than its own finding: only where none is
        elif profile.absent:
            items.append(f"no {scribe.finding(one, teller, absent=True)}")
        else:
            continue
        ids.append(one.id)
    return list(dict.fromkeys(items)), ids


def _line(scribe: Scribe, teller: Teller, part: str, items: Sequence[str], ids: Sequence[str]) -> Sentence:
    short = scribe.style.headers == "header_short" or scribe.style.register == "abbrev"
    title = table("exam_short" if short else "exam_title")[part]
    if scribe.style.exam == "lines":
        text = teller.words("exam.part", title=title, items=("; " if len(items) > 2 else ", ").join(items))
        return teller_line(text, ids)
    return teller.say("exam.run", ids, area=lowered(table("exam_title")[part]), Area=capital(title), items=", ".join(items))
