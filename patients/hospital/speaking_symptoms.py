"""What patients say of what they feel: a symptom with its particulars, what is not there, how much it hurts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from wardround.patients.knowledge import lexicon
from wardround.patients.knowledge.bedside import finding_profiles
from wardround.patients.knowledge.graph_models import FindingProfile, Phrases

from .life import Pair, Sign
from .speaking import Speaker, capital, phrases, speech, time_words

_PARTICULARS = ("region", "quality", "provocation", "palliation", "timing", "radiation")
_WORD = re.compile(r"[a-z]{4,}")
_MILD, _MIDDLING, _SEVERE = 3, 5, 7
"""Pain scores up to which pain is mild and not yet bad, and from which it is severe."""
_KEYS = {"provocation": "worse", "palliation": "better"}


class Pain(NamedTuple):
    """How much it hurts."""

    worst: int | None
    now: int | None
    """As last measured; None where it was not, or where it is not known to belong to this pain."""


def onset(sign: Sign, *, before: bool) -> Pair | None:
    """Return since when a symptom is there, as it is told; with places for people."""
    words = sign.attributes.get("onset")
    return None if words is None else time_words(words, before=before)


def symptom(
    speaker: Speaker, sign: Sign, pain: Pain | None, *, before: bool, better: bool = False, most: int = 5
) -> list[Pair]:
    """Return the sentences about a symptom that is there, none of which contradicts another.

    Args:
        speaker: Who speaks.
        sign: The symptom.
        pain: For one that hurts.
        before: Times count back from coming in.
        better: It has improved: nothing is said to get worse.
        most: Sentences.
    """
    profile = finding_profiles()[sign.finding]
    stream = speaker.stream("symptom", sign.finding)
    said = _say(speaker, profile, sign)
    sentences = [said]
    began = onset(sign, before=before)
    if began is not None:
        sentences.append(speaker.next(phrases("onset"), onset=began))
    if sign.type != "symptom":  # something that was: it has no place, kind or severity
        return sentences
    more: list[Pair] = []
    if sign.side is not None and sign.side not in said.en and sign.side not in _english(sign, "region"):
        more.append(speaker.next(phrases("side", sign.side)))
    hurts = _hurts(speaker, pain)
    if hurts is not None:
        more.append(hurts)
    eased = better or (pain is not None and pain.now is not None and pain.worst is not None and pain.now < pain.worst)
    so_far = said
    for name in stream.shuffled(_PARTICULARS):
        if not _news(sign, name, so_far) or (eased and name == "timing" and _lasts(sign)):
            continue
        if eased and name == "palliation" and _english(sign, name).startswith("nothing"):
            continue  # what has eased was helped by something
        told = _particular(speaker, sign, name)
        if told is not None:
            more.append(told)
            so_far = Pair(f"{so_far.en} {told.en}", so_far.zh + told.zh)
    if hurts is None and sign.finding not in speech()["no_severity"] and _agrees(sign, said.en):
        more.append(_severity(speaker, sign))
    sentences += more[: max(0, most - len(sentences))]
    return sentences


def _say(speaker: Speaker, profile: FindingProfile, sign: Sign) -> Pair:
    """Return the first sentence: in the patient's words where some agree with the particulars, else by its name."""
    assert profile.lay is not None  # the callers look
    fitting = [one for one in _fitting(speaker, sign) if _agrees(sign, profile.lay.say.en[one])]
    if fitting:
        place = speaker.stream("say", sign.finding).choice(fitting)
        return speaker.fill(Pair(profile.lay.say.en[place], profile.lay.say.zh[place]))
    name = Pair(profile.lay.name.en[0], profile.lay.name.zh[0])
    return speaker.next(phrases("name_only"), x=name, X=Pair(capital(name.en), name.zh))


def _agrees(sign: Sign, english: str) -> bool:
    """Tell whether a sentence does not say more than a mild trouble, nor less than a severe one."""
    level = _english(sign, "severity").partition(",")[0]
    mild = level == "mild" if sign.score is None else sign.score <= _MIDDLING
    severe = level == "severe" if sign.score is None else sign.score >= _SEVERE
    if mild and any(one in english for one in speech()["absolute"]):
        return False
    return not (severe and any(one in english for one in speech()["slight"]))


def grave(sign: Sign) -> bool:
    """Tell whether a symptom is bad enough for nobody to make light of it."""
    level = _english(sign, "severity").partition(",")[0]
    if sign.score is not None:
        return sign.score > _MILD
    return level == "severe" or (sign.relevance == "key" and level != "mild")


def _fitting(speaker: Speaker, sign: Sign) -> list[int]:
    """Return the places of the patient's own sentences that agree with the particulars."""
    lay = finding_profiles()[sign.finding].lay
    if lay is None:
        return []
    texts = zip(lay.say.en, lay.say.zh, strict=True)
    return [
        place
        for place, (english, chinese) in enumerate(texts)
        if not _clashes(sign, english, chinese) and not any(one in english for one in speaker.beyond)
    ]


def _clashes(sign: Sign, english: str, chinese: str) -> int:
    """Count what a sentence tells that the particulars do not: another place, kind or time, a side, a length."""
    words = _words(english)
    found = 0
    for name in _PARTICULARS:
        own = sign.attributes.get(name)
        if own is None:
            continue
        others, others_zh = _others(sign.finding, name, own)
        found += bool(words & others) or any(one in chinese for one in others_zh)
    found += bool(_letters(english) & set(speech()["lengths"]))
    found += any(one in chinese for one in speech()["lengths"])
    if _hours(sign):  # nobody has slept badly for a night with what began at noon
        found += bool(_letters(english) & set(speech()["days"]))
    if sign.side is not None:
        other = "right" if sign.side == "left" else "left"
        found += other in _letters(english)
    return found


@lru_cache(maxsize=4096)
def _letters(english: str) -> frozenset[str]:
    """Return the runs of letters of a sentence, in lower case."""
    return frozenset(re.findall(r"[a-z]+", english.lower()))


@cache
def _others(finding: str, name: str, own: Pair) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return words of the other options of a particular: those of English, and the Chinese ones whole."""
    options: Phrases = getattr(finding_profiles()[finding], name)
    lay = finding_profiles()[finding].lay
    called = frozenset[str]() if lay is None else frozenset[str]().union(*(_words(one) for one in lay.name.en))
    called_zh = "" if lay is None else "；".join(lay.name.zh)  # the chest of chest pain is no other place
    english = frozenset[str]().union(*(_words(one) for one in options.en)) - _words(own.en) - called
    chinese = tuple(
        one for one in options.zh if one != own.zh and one not in own.zh and one not in called_zh and len(one) > 1
    )  # fmt: skip
    return english, chinese


@lru_cache(maxsize=1 << 11)
def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower())) - {"with", "that", "when", "from", "have", "this", "into", "like"}


def _english(sign: Sign, name: str) -> str:
    words = sign.attributes.get(name)
    return "" if words is None else words.en


def _news(sign: Sign, name: str, said: Pair) -> bool:
    """Tell whether a particular adds something to what was said."""
    words = sign.attributes.get(name)
    if words is None or words.zh in said.zh or words.en in said.en.lower():
        return False
    if name == "timing" and _hours(sign) and set(re.findall(r"[a-z]+", words.en)) & set(speech()["days"]):
        return False  # what began hours ago does not get worse day by day
    if name == "timing" and _young(sign) and any(one in words.en for one in speech()["repeats"]):
        return False  # what began yesterday has not been there most nights
    if name in ("timing", "provocation"):  # worse in the morning, and that in the morning
        return not _words(words.en) & _words(said.en)
    return not _words(words.en) or not _words(words.en) <= _words(said.en)


def _lasts(sign: Sign) -> bool:
    """Tell whether the timing says that it never lets up or gets worse."""
    timing = _english(sign, "timing")
    return timing.startswith(("getting", *speech()["lasting"]))


def _young(sign: Sign) -> bool:
    """Tell whether a symptom is only some days old, as its onset is told."""
    told = _english(sign, "onset")
    return not any(unit in told for unit in ("week", "month", "year"))


def _hours(sign: Sign) -> bool:
    """Tell whether a symptom is only hours old, as its onset is told."""
    told = _english(sign, "onset")
    return "hour" in told or told in ("today", "this morning", "early this morning", "just now")


@cache
def _whole() -> dict[tuple[str, str], tuple[Pair, ...]]:
    """Particulars that are sentences of their own ("nothing helps"), by kind and English words."""
    return {
        (one["kind"], one["of"]): tuple(Pair(say["en"], say["zh"]) for say in one["say"]) for one in speech()["whole"]
    }


@lru_cache(maxsize=1 << 11)
def names_medicine(words: str) -> bool:
    """Tell whether words name a medicine or a kind of medicine."""
    return bool(lexicon().scan(words, kinds=("drug", "drug_class")))


def _particular(speaker: Speaker, sign: Sign, name: str) -> Pair | None:
    words = sign.attributes[name]
    whole = _whole().get((name, words.en))
    if whole is not None:
        return speaker.next(whole)
    if name != "region" and any(one in words.en for one in speaker.beyond):
        return None
    if name == "palliation" and names_medicine(words.en):
        return None  # medicines are told where they are asked for, by who takes them
    if words.zh.startswith(tuple(speech()["unsaid"])):
        return None
    english = speech()["plain"].get(words.en, words.en)
    chinese = speech()["plain_zh"].get(words.zh, words.zh)
    with_words = speech()["with"].get(words.en, f"with {english}")
    x = Pair(english, chinese)
    return speaker.next(
        phrases(_timing(words.en) if name == "timing" else _KEYS.get(name, name)),
        x=x,
        X=Pair(capital(english), chinese),
        **{"with": Pair(with_words, chinese)},
    )


def _timing(words: str) -> str:
    """Return the list of sentences that words of timing fit: when it comes, how it goes, else by themselves."""
    first = words.split()[0]
    if first in speech()["timing_when_starts"]:
        return "timing_when"
    return "timing_is" if first in speech()["timing_is_starts"] else "timing"


def _severity(speaker: Speaker, sign: Sign) -> Pair:
    level = _english(sign, "severity").partition(",")[0] or "mild"
    return speaker.next(phrases("severity", level))


def _hurts(speaker: Speaker, pain: Pain | None) -> Pair | None:
    if pain is None or pain.worst is None:
        return None
    worst = _score(pain.worst)
    if pain.now == 0:
        return speaker.next(phrases("worst_then_none"), worst=worst)
    if pain.now is not None and pain.now < pain.worst:
        return speaker.next(phrases("worst_then_now"), worst=worst, now=_score(pain.now))
    return speaker.next(phrases("worst"), worst=worst)


def _score(n: int) -> Pair:
    return Pair(str(n), str(n))


@cache
def _denials(finding: str) -> tuple[int, ...]:
    """Return the places of denials that name what they deny ("nothing is inflamed" says too much), else all."""
    lay = finding_profiles()[finding].lay
    assert lay is not None
    stems = {word[:4] for name in lay.name.en for word in _words(name)}
    naming = [place for place, text in enumerate(lay.deny.en) if stems & {word[:4] for word in _words(text)}]
    return tuple(naming or range(len(lay.deny.en)))


def plain(speaker: Speaker, sign: Sign) -> Pair:
    """Return one sentence that says that something is so."""
    return _say(speaker, finding_profiles()[sign.finding], sign)


def absence(speaker: Speaker, finding: str) -> list[Pair]:
    """Return the sentences that say that a symptom is not there."""
    lay = finding_profiles()[finding].lay
    assert lay is not None
    place = speaker.stream("deny", finding).choice(_denials(finding))
    said = speaker.fill(Pair(lay.deny.en[place], lay.deny.zh[place]))
    return [said, speaker.next(phrases("denied_more"))]


def brief(speaker: Speaker, sign: Sign, lead: str) -> Pair:
    """Return one sentence about a further symptom, after a lead ("On top of that: ")."""
    said = _say(speaker, finding_profiles()[sign.finding], sign)
    before = speaker.next(phrases(lead))
    lay = finding_profiles()[sign.finding].lay
    if lay is not None and not _fitting(speaker, sign):
        return Pair(f"{before.en} there is {lay.name.en[0]}.", f"{before.zh}{lay.name.zh[0]}。")
    english = said.en
    if english.split(" ")[0] not in ("I", "I'm", "I've") and english[1:2] in set("abcdefghijklmnopqrstuvwxyz "):
        english = english[0].lower() + english[1:]
    return Pair(f"{before.en} {english}", before.zh + said.zh)


def pain_now(speaker: Speaker, pain: Pain, sign: Sign | None) -> list[Pair]:
    """Return the sentences about how much it hurts.

    Args:
        speaker: Who speaks.
        pain: The scores; at least one of them is there.
        sign: What hurts, if something does.
    """
    sentences: list[Pair] = []
    if pain.now == 0 or pain == Pain(None, None):
        sentences.append(speaker.next(phrases("no_pain")))
        if sign is None:
            sentences.append(speaker.next(phrases("no_pain_more")))
    elif pain.now is not None:
        sentences.append(speaker.next(phrases("now"), now=_score(pain.now)))
    if sign is None:
        return sentences
    if pain.worst is not None and (pain.now is None or pain.now < pain.worst):
        sentences.append(
            speaker.next(phrases("worst" if pain.now is None else "worst_after"), worst=_score(pain.worst))
        )
    sentences.append(_where(speaker, sign, over=pain.now == 0))
    return sentences


def _where(speaker: Speaker, sign: Sign, *, over: bool) -> Pair:
    if "region" in sign.attributes and not over:
        found = _particular(speaker, sign, "region")
        if found is not None:
            return found
    lay = finding_profiles()[sign.finding].lay
    assert lay is not None
    name = Pair(lay.name.en[0].removeprefix("a ").removeprefix("the "), lay.name.zh[0])
    return speaker.next(phrases("pain_was" if over else "pain_of"), x=name, X=Pair(capital(name.en), name.zh))


def beside(speaker: Speaker, sign: Sign) -> Pair:
    """Return what goes with the only sentence about a habit, an event or something of the past."""
    of_habit = phrases("habit_more", sign.finding)
    if of_habit:
        return speaker.next(of_habit)
    return speaker.next(phrases("event_more" if sign.finding in speech()["accidents"] else "history_more"))


def told_symptoms(signs: Sequence[Sign]) -> list[Sign]:
    """Return the symptoms and events that patients can tell in their own words, those that matter most first."""
    skip = frozenset(speech()["told_elsewhere"])
    found = [one for one in signs if one.finding not in skip and finding_profiles()[one.finding].lay is not None]
    return sorted(found, key=lambda one: (one.rank, one.onset, int(one.id[1:])))
