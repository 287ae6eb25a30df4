"""The cue files: phrases of each language by layer and kind, in one trie for both languages."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from wardround.patients import DataError
from wardround.rubrics.datafile import load_model

from .trie import Trie, expand

LANGUAGES = ("en", "zh")
LAYERS = ("modifier", "stance", "source", "state", "act", "link", "event", "measure")


class CueFile(BaseModel):
    """One language's cues: layer → kind → phrase patterns (`(a|b|)` alternatives, `..` a short gap)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format_version: int = Field(ge=1, le=1)
    language: str
    layers: dict[str, dict[str, tuple[str, ...]]]


def load_json(name: str) -> Any:
    """Return the parsed data file `name` of this package."""
    return json.loads(files("wardround.rubrics.reading").joinpath("data", name).read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def cue_trie() -> Trie:
    """Return the trie of all cues; its values are (layer, kind)."""
    trie = Trie(folded=False)
    for language in LANGUAGES:
        name = f"cues_{language}.json"
        content = load_model(f"reading/data/{name}", CueFile)
        for layer, kinds in content.layers.items():
            if layer not in LAYERS:
                raise DataError(f"rubrics/reading/data/{name}: layer `{layer}` is unknown; one of {', '.join(LAYERS)}")
            for kind, patterns in kinds.items():
                for pattern in patterns:
                    for phrase in expand(pattern):
                        trie.add(phrase.lower(), (layer, kind))
    return trie


@lru_cache(maxsize=1)
def _lists() -> dict[str, frozenset[str]]:
    content = load_json("words.json")
    return {name: frozenset(entries) for name, entries in content["lists"].items()}


def words(name: str) -> frozenset[str]:
    """Return a closed word list of `data/words.json`.

    Raises:
        DataError: the list is missing.
    """
    lists = _lists()
    if name not in lists:
        raise DataError(f"rubrics/reading/data/words.json: list `{name}` is missing; add it under `lists`")
    return lists[name]


def longest_first(name: str) -> tuple[str, ...]:
    """Return a closed word list in the order to try it in: no word before a longer one that holds it."""
    return tuple(sorted(words(name), key=lambda word: (-len(word), word)))
