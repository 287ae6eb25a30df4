"""Review of systems and physical examination, from the findings that are there and those that are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
    return [line for _, line in _parts(scribe, teller, {})]


def later_examination(scribe: Scribe, better: Mapping[str, str]) -> list[Sentence]:
    """Return the examination on a later day: what passes is told as improving once the course has turned.

    Args:
        scribe: The author.
        better: Illnesses that have turned, and the events that say so.
    """
    teller = scribe.teller("physical-exam", copied=scribe.style.copies)
    return [line for _, line in _parts(scribe, teller, better)]


def _parts(scribe: Scribe, teller: Teller, better: Mapping[str, str]) -> list[tuple[str, Sentence]]:
    known = scribe.known
    present: dict[str, list[Sign]] = {}
    absent: dict[str, list[Sign]] = {}
    for there, where in ((True, present), (False, absent)):
        for one in known.findings("sign", present=there):
            profile = finding_profiles().get(one.finding)
            where.setdefault(profile.exam or "general" if profile is not None else "general", []).append(one)
    said = []
    for part in _PARTS:
        items, ids = _there(scribe, teller, present.get(part, ()), better)
        normal, more = _not_there(scribe, teller, absent.get(part, ()), alone=not items)
        if items or normal:
            said.append((part, _line(scribe, teller, part, items + normal, ids + more)))
    return said


def _there(
    scribe: Scribe, teller: Teller, present: Sequence[Sign], better: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """Return what is found in a part of the body; what is passing is told together."""
    lasting: list[str] = []
    passing: list[str] = []
    ids: list[str] = []
    for one in present:
        profile = finding_profiles().get(one.finding)
        text = scribe.finding(one, teller)
        turned = [better[owner] for owner, _ in one.owners if owner in better]
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
        if profile.normal and alone and not items:
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
        return teller_line(teller.words("exam.part", title=title, items=words), ids)
    return teller.say("exam.run", ids, area=table("exam_area")[part], Area=capital(title), items=words)


def _bare(part: str, words: str) -> str:
    """Return words under their title without saying it again: "Abdomen: soft", not "Abdomen: abdomen soft"."""
    first, _, rest = words.partition(" ")
    following = rest.partition(" ")[0].strip(",;")
    return rest if first in table("exam_area")[part].split() and following in table("exam_follows") else words
