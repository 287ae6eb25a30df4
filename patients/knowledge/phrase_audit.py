"""Checks words: every phrase in its language, every place of a sentence known, no slips."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import resources

import orjson

from .bedside import condition_profiles, finding_profiles, study_profiles
from .graph_models import FindingProfile, Phrases

_HAN = re.compile(r"[\u4e00-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]+")
_PLACE = re.compile(r"\{[^}]*\}")
_ABBREVIATIONS = frozenset(
    ("A", "AB", "ABC", "B", "BC", "C", "CT", "Child", "D", "DNA", "HIV", "HPV", "INR", "K", "L", "MRI", "Pugh", "QT",
     "QTc", "T", "TIA", "TSH", "U", "X", "dL", "eGFR", "g", "kg", "mEq", "mIU", "mL", "mOsm", "mg", "min", "mmHg",
     "mmol", "mol", "ms", "ng", "pH")
)  # fmt: skip
"""Latin words that Chinese physicians and patients write."""
_SIDE = frozenset(("{side}",))


def phrase_faults() -> list[str]:
    """Return every fault of the words of the disease graph, each as `list.entry.field: what is wrong`."""
    found: list[str] = []
    for finding in finding_profiles().values():
        found += (f"findings.{finding.id}.{fault}" for fault in _finding(finding))
    for condition in condition_profiles().values():
        named = {"warning": condition.warning, "teaching": condition.teaching}
        named |= {f"procedures.{one.procedure}": one.outcome for one in condition.workup.procedures}
        for field, phrases in named.items():
            found += (f"conditions.{condition.id}.{field}: {fault}" for fault in _pairs(phrases, frozenset()))
    for study in study_profiles().values():
        texts = (
            *study.title,
            *study.normal_impression,
            *study.technique,
            *(one for ways in study.normal for one in ways),
        )
        found += (f"studies.{study.id}: {fault}" for text in texts for fault in english_faults(text, frozenset()))
    return found


def _finding(one: FindingProfile) -> Iterator[str]:
    for field in ("present", "absent", "abbreviated", "normal"):
        for text in getattr(one, field):
            yield from (f"{field}: {fault}" for fault in english_faults(text, _SIDE if one.sides else frozenset()))
            if text.endswith("."):
                yield f"{field}: `{text}` is part of a sentence and ends without a full stop"
    for field in ("report", "impression"):
        for text in getattr(one, field):
            yield from (f"{field}: {fault}" for fault in english_faults(text, _SIDE))
            if not text.endswith("."):
                yield f"{field}: `{text}` is a sentence and ends with a full stop"
    for field in ("region", "quality", "provocation", "palliation", "timing", "radiation"):
        yield from (f"{field}: {fault}" for fault in _pairs(getattr(one, field), frozenset()))
    if one.lay is not None:
        for field in ("say", "deny", "name"):
            yield from (f"lay.{field}: {fault}" for fault in _pairs(getattr(one.lay, field), speaker_places()))
            if len(getattr(one.lay, field).en) < 2:
                yield f"lay.{field}: give at least two ways"


def _pairs(phrases: Phrases, places: frozenset[str]) -> Iterator[str]:
    for text in phrases.en:
        yield from english_faults(text, places)
    for text in phrases.zh:
        yield from chinese_faults(text, places)


def chinese_faults(text: str, places: frozenset[str]) -> Iterator[str]:
    """Yield what is wrong with a Chinese phrase that may have these places."""
    yield from _blank(text, places)
    if not _HAN.search(text):
        yield f"`{text}` is not Chinese"
    words = [word for word in _LATIN.findall(_PLACE.sub("", text)) if word not in _ABBREVIATIONS]
    yield from (f"`{text}` holds the English `{word}`" for word in words)


def english_faults(text: str, places: frozenset[str]) -> Iterator[str]:
    """Yield what is wrong with an English phrase that may have these places."""
    yield from _blank(text, places)
    if _HAN.search(text):
        yield f"`{text}` is not English"


def _blank(text: str, places: frozenset[str]) -> Iterator[str]:
    if not text.strip() or text != text.strip() or "  " in text:
        yield f"`{text}` has blanks too many"
    yield from (f"`{text}`: `{place}` is no place" for place in _PLACE.findall(text) if place not in places)


@cache
def speaker_places() -> frozenset[str]:
    """Return the places of `voice.json` that a sentence of the patient may have, braces included."""
    source = resources.files("wardround.patients").joinpath("data", "voice.json").read_bytes()
    people = orjson.loads(source)["people"]
    return frozenset("{" + place + "}" for place in people["patient"])
