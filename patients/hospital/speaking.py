"""How a hospital patient, or who speaks for them, puts words together: people, turns of speech, times and numbers.

The words are `data/speech.json`. Within one interview no wording of a list comes twice before all have come. Literacy
sets how a reply opens and what drugs are called, anxiety how it ends.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import orjson

from wardround.patients.interview import Persona, Words
from wardround.patients.rng import Stream
from wardround.patients.voice import voice_data
from wardround.patients.wording import join

from .documents import read_document
from .life import Pair

_ONES = "零一二三四五六七八九十"
_ENGLISH = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBER = re.compile(r"\d+")
_END = re.compile(r"[.?!](?= |$)")
_END_ZH = re.compile("[。？！]")
_ARTICLE = re.compile(r"\b([Aa])(?= (?:8|11|18)\b)")
_MOST = 5
"""Sentences of a reply."""
_ENDS = {"low": 8, "medium": 18, "high": 40}
"""In how many of a hundred replies anxiety shows at the end."""
_OPENS = {"closers": 25, "grave_closers": 15, "confess": 30, "openly": 30}
"""In how many of a hundred replies of a mood something is said before the answer; else fewer."""
_OPENS_ELSE = 12
_OLD = 55
"""From this age on a spouse is spoken of as an old one."""


@cache
def speech() -> dict[str, Any]:
    """Return `data/speech.json`."""
    data: dict[str, Any] = orjson.loads(read_document("speech.json"))
    return data


@cache
def phrases(*path: str) -> tuple[Pair, ...]:
    """Return the list of sentences under a path of keys of the data file; empty where there is none."""
    found: Any = speech()
    for key in path:
        found = found.get(key, ()) if isinstance(found, dict) else ()
    return tuple(Pair(one["en"], one["zh"]) for one in found)


def word(*path: str) -> Pair:
    """Return the words under a path of keys of the data file."""
    found: Any = speech()
    for key in path:
        found = found[key]
    return Pair(found["en"], found["zh"])


class Speaker:
    """Who answers the questions of one interview.

    Args:
        persona: How they talk.
        sex: Of the patient.
        caregiver: Who speaks, as in `Life.caregiver`.
        age: Of the patient, years.
        key: Names the random streams: seed, index and stay.
    """

    def __init__(self, persona: Persona, sex: str, caregiver: str, age: int, key: Sequence[str | int]) -> None:
        self.persona, self.sex, self.age = persona, sex, age
        self.caregiver = caregiver if persona.informant == "caregiver" else "none"
        who = "patient" if self.caregiver == "none" else sex
        self._places: dict[str, str] = voice_data()["people"][who]
        self._pronoun: str = voice_data()["people_zh"][who]
        self._key = tuple(key)
        self._orders: dict[int, list[Pair]] = {}
        self.beyond: tuple[str, ...] = ()
        """Words of what the patient does not do (stairs, where walking takes a walker); nothing is told of them."""
        self.ill_with: frozenset[str] = frozenset()
        """Conditions that the patient is known to have: no drug is called after another one."""
        self.drug_names: dict[str, Pair] = {}
        """What this speaker calls each drug, no two the same where they can be told apart."""

    @property
    def who(self) -> Pair | None:
        """What a caregiver calls the patient; None where the patient speaks."""
        if self.caregiver == "none":
            return None
        young = self.age < _OLD and self.caregiver in speech()["relations_young"]
        return word("relations_young" if young else "relations", self.caregiver, self.sex)

    def stream(self, *name: str | int) -> Stream:
        """Return the stream of random numbers of one purpose."""
        return Stream("hospital", *self._key[:2], "interview", *self._key[2:], *name)

    def next(self, options: tuple[Pair, ...], **places: Pair) -> Pair:
        """Return the next wording of a list with its places filled; each comes once before one comes again.

        Args:
            options: A list of `phrases()`.
            **places: What stands in further places, with places of people of their own.
        """
        order = self._orders.get(id(options))
        if not order:
            # The list lives as long as the data file, so its id names it; its words name the stream.
            order = self.stream("order", options[0].en, options[-1].en, len(options)).shuffled(options)
            self._orders[id(options)] = order
        return self.fill(order.pop(), places)

    def fill(self, pair: Pair, places: Mapping[str, Pair] | None = None) -> Pair:
        """Put people and values into a sentence, in both languages."""
        people = self._places
        if not places:
            return Pair(pair.en.format_map(people), pair.zh)
        english = {name: one.en.format_map(people) if "{" in one.en else one.en for name, one in places.items()}
        chinese = {name: one.zh for name, one in places.items()}
        text = _ARTICLE.sub(r"\1n", pair.en.format_map({**people, **english}))
        return Pair(capital(text), pair.zh.format_map(chinese))

    def reply(self, name: str, sentences: Sequence[Pair], *, mood: str = "closers") -> Words:
        """Return a whole reply of two to five sentences.

        Args:
            name: Names the reply's random stream.
            sentences: Filled sentences, in order; those beyond five fall away.
            mood: The list that it ends with, `closers` where something is wrong, `grave_closers` where it is bad,
                `old_closers` where it has long been so, `calm_closers` where nothing is; a list without levels
                (`confess`) ends it always; none (`plain`) where a word is all that was asked for.
        """
        stream = self.stream("frame", name)
        body = self._subject(_within(sentences), stream)
        room = _MOST - sum(map(_length, body))
        starts = "openers" if mood in _OPENS else "plain_openers"
        certain = isinstance(speech().get(mood), list)
        ends = self._ends(mood)
        often = _ENDS[self.persona.anxiety] if mood in _OPENS else _ENDS[self.persona.anxiety] // 2
        if ends and room > 0 and (certain or stream.below(100) < often):
            body.append(self.next(ends))
            room -= 1
        if mood != "plain" and room > 1 and stream.below(100) < _OPENS.get(mood, _OPENS_ELSE):
            body.insert(0, self.next(phrases(starts, self.persona.literacy)))
        if len(body) < 2 and min(len(_END.findall(body[0].en)), len(_END_ZH.findall(body[0].zh))) < 2:
            body.append(self.next(phrases("more")))
        return Words(en=join([one.en for one in body], "en"), zh=join([one.zh for one in body], "zh"))

    def _ends(self, mood: str) -> tuple[Pair, ...]:
        """Return what a reply of a mood may end with; who speaks for another makes no light of it."""
        if isinstance(speech().get(mood), list):
            return phrases(mood)
        if mood in ("closers", "grave_closers") and self.caregiver != "none":
            mood = f"{mood}_other"
        return phrases(mood, self.persona.anxiety)

    def _subject(self, body: list[Pair], stream: Stream) -> list[Pair]:
        """Let a caregiver's first sentence say who it is about."""
        who = self.who
        if who is None or not body:
            return body
        first, named = body[0], stream.chance(3, 5)
        english, chinese = first.en, first.zh
        if named:
            subject, owner = f"{self._places['S']} ", f"{self._places['My']} "
            if english.startswith(subject):
                english = f"{capital(who.en)} {english[len(subject) :]}"
            elif english.startswith(owner):
                english = f"{capital(who.en)}'s {english[len(owner) :]}"
        if not chinese.startswith(tuple(speech()["no_subject"])):
            chinese = (who.zh if named else self._pronoun) + chinese
        return [Pair(english, chinese), *body[1:]]


def _within(sentences: Sequence[Pair]) -> list[Pair]:
    """Return the first turns of speech, as many as make no more than a reply's sentences in either language."""
    body: list[Pair] = []
    room = _MOST
    for one in sentences:
        room -= _length(one)
        if body and room < 0:
            break
        body.append(one)
    return body


def _length(pair: Pair) -> int:
    """Return how many sentences a turn of speech has, the most of both languages."""
    return max(len(_END.findall(pair.en)), len(_END_ZH.findall(pair.zh)), 1)


def capital(text: str) -> str:
    """Return text with its first letter large."""
    return text[:1].upper() + text[1:]


def number(n: int) -> Pair:
    """Return a number as people say it: words up to twelve in English, Chinese numerals up to ninety-nine."""
    return Pair(_ENGLISH[n] if n < len(_ENGLISH) else str(n), _measured(n))


def _measured(n: int) -> str:
    """Return a Chinese numeral as it stands before a measure word (2 is 两)."""
    return "两" if n == 2 else _han(n)


def _han(n: int) -> str:
    if n <= 10:
        return _ONES[n]
    if n >= 100:
        return str(n)
    tens, ones = divmod(n, 10)
    return ("" if tens == 1 else _ONES[tens]) + "十" + (_ONES[ones] if ones else "")


def time_words(words: Pair, *, before: bool) -> Pair:
    """Return a length of time ("about 2 weeks ago", 大约2周前) as a patient says it.

    Args:
        words: As in a life.
        before: It is told in hospital later on: hours, days and weeks count back from coming in.
    """
    english = _NUMBER.sub(lambda match: number(int(match[0])).en, words.en)
    chinese = _NUMBER.sub(lambda match: _measured(int(match[0])), words.zh)
    chinese = chinese.replace("周", "个星期").replace("大约", "大概").replace("小时", "个小时")
    if not before or any(unit in words.en for unit in ("month", "year")):
        return Pair(english, chinese)
    if words.en == "yesterday":
        return word("yesterday_before")
    if words.en == "early this morning":
        return word("same_day_before")
    if not english.endswith(" ago") or not chinese.endswith("前"):
        return Pair(english, chinese)
    return Pair(f"{english.removesuffix(' ago')} before {{i}} came in", f"来医院前{chinese.removesuffix('前')}")
