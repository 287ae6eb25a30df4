"""Checks the words of the disease graph: every phrase in its language, every place of a sentence known, no slips."""

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
_ABBREVIATIONS = frozenset(("CT", "MRI", "INR", "pH", "mL", "kg", "B", "C", "D", "X", "T", "HIV", "DNA", "mmHg", "HPV"))
"""Latin words that Chinese physicians and patients write."""
_SIDE = frozenset(("{side}",))


def phrase_faults() -> list[str]:
    """Return every fault of the words, each as `list.entry.field: what is wrong`."""
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
        found += (f"studies.{study.id}: {fault}" for text in texts for fault in _english(text, frozenset()))
    return found


def _finding(one: FindingProfile) -> Iterator[str]:
    for field in ("present", "absent", "abbreviated", "normal"):
        for text in getattr(one, field):
            yield from (f"{field}: {fault}" for fault in _english(text, _SIDE if one.sides else frozenset()))
            if text.endswith("."):
                yield f"{field}: `{text}` is part of a sentence and ends without a full stop"
    for field in ("report", "impression"):
        for text in getattr(one, field):
            yield from (f"{field}: {fault}" for fault in _english(text, _SIDE))
            if not text.endswith("."):
                yield f"{field}: `{text}` is a sentence and ends with a full stop"
    for field in ("region", "quality", "provocation", "palliation", "timing", "radiation"):
        yield from (f"{field}: {fault}" for fault in _pairs(getattr(one, field), frozenset()))
    if one.lay is not None:
        for field in ("say", "deny", "name"):
            yield from (f"lay.{field}: {fault}" for fault in _pairs(getattr(one.lay, field), _places()))
            if len(getattr(one.lay, field).en) < 2:
                yield f"lay.{field}: give at least two ways"


def _pairs(phrases: Phrases, places: frozenset[str]) -> Iterator[str]:
    for text in phrases.en:
        yield from _english(text, places)
    for text in phrases.zh:
        yield from _blank(text, places)
        if not _HAN.search(text):
            yield f"`{text}` is not Chinese"
        words = [word for word in _LATIN.findall(_PLACE.sub("", text)) if word not in _ABBREVIATIONS]
        yield from (f"`{text}` holds the English `{word}`" for word in words)


def _english(text: str, places: frozenset[str]) -> Iterator[str]:
    yield from _blank(text, places)
    if _HAN.search(text):
        yield f"`{text}` is not English"


def _blank(text: str, places: frozenset[str]) -> Iterator[str]:
    if not text.strip() or text != text.strip() or "  " in text:
        yield f"`{text}` has blanks too many"
    yield from (f"`{text}`: `{place}` is no place" for place in _PLACE.findall(text) if place not in places)


@cache
def _places() -> frozenset[str]:
    source = resources.files("wardround.patients").joinpath("data", "voice.json").read_bytes()
    people = orjson.loads(source)["people"]
    return frozenset("{" + place + "}" for place in people["patient"])
