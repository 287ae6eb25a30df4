"""The voice of a simulated patient: recorded replies put together from `data/voice.json`, in English and Chinese.

Both languages of a sentence are drawn together, so that they say the same. Literacy sets how a reply opens, anxiety how
it ends, the informant who speaks about whom.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import orjson

from .interview import Persona, Words
from .rng import Stream
from .wording import join

Pair = Mapping[str, str]
"""A sentence in both languages, `{"en": …, "zh": …}`, with places to fill."""


@cache
def voice_data() -> dict[str, Any]:
    """Return `data/voice.json`."""
    data: dict[str, Any] = orjson.loads(
        resources.files("wardround.patients").joinpath("data", "voice.json").read_bytes()
    )
    return data


class Voice:
    """How one patient talks.

    Args:
        persona: Who speaks and how.
        sex: FHIR gender of the patient; a caregiver's pronouns follow it.
        key: What names the random streams: seed and patient.
    """

    def __init__(self, persona: Persona, sex: str, key: Sequence[str | int]) -> None:
        data = voice_data()
        who = "patient" if persona.informant == "patient" else sex if sex in ("male", "female") else "unknown"
        self._english: dict[str, str] = data["people"][who]
        self._chinese: str = data["people_zh"][who]
        self._persona = persona
        self._key = tuple(key)

    def stream(self, *name: str | int) -> Stream:
        """Return the stream of random numbers of one reply or one fact; no draw moves another stream."""
        return Stream("interview", *self._key, *name)

    def fill(self, pair: Pair, values: Mapping[str, Pair] | None = None) -> Pair:
        """Put people and values into a sentence, in both languages; values may have places of their own."""
        given = values or {}
        english = {name: value["en"].format_map(self._english) for name, value in given.items()}
        chinese = {name: value["zh"] for name, value in given.items()}
        return {
            "en": pair["en"].format_map({**self._english, **english}),
            "zh": pair["zh"].format_map({"S": self._chinese, **chinese}),
        }

    def compose(self, name: str, sentences: Iterable[Pair], *, calm: bool = False) -> Words:
        """Return a whole reply: an opening that fits the literacy, the sentences, an end that fits the anxiety.

        Args:
            name: Names the reply's random stream.
            sentences: Filled sentences, in order.
            calm: Nothing in them is bad news: even the anxious end on small talk.
        """
        stream = self.stream("frame", name)
        data = voice_data()
        openers = data["openers"][self._persona.literacy]
        closers = data["calm_closers" if calm else "closers"][self._persona.anxiety]
        parts = list(sentences)
        if openers and len(parts) < 4 and stream.chance(2, 3):
            parts.insert(0, stream.choice(openers))
        if len(parts) < 2 and not closers:
            parts.append(stream.choice(data["more"]))
        if closers and len(parts) < 5:
            parts.append(stream.choice(closers))
        return Words(en=join([part["en"] for part in parts], "en"), zh=join([part["zh"] for part in parts], "zh"))


def pairs(entry: Mapping[str, Any]) -> list[Pair]:
    """Return the sentences of `{"en": […], "zh": […]}`, paired by place."""
    return [{"en": en, "zh": zh} for en, zh in zip(entry["en"], entry["zh"], strict=True)]
