"""Finds concepts, states, quantities and cues in an answer and lays them over its sentences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from pydantic import BaseModel, ConfigDict

from wardround.patients import knowledge

from .cues import load_json
from .document import Ann, Document, attach, cue_annotations
from .layout import lay_out
from .quantities import read_quantities
from .text import normalise
from .tokens import tokenise
from .trie import Trie, expand


class StateEntry(BaseModel):
    """Words that say a state or a presence without naming the concept."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    words: tuple[str, ...]
    concept: str = ""
    status: str = ""
    mentions: str = ""
    polarity: str = ""


class StateFile(BaseModel):
    """`data/states.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format_version: int
    remarks: str = ""
    entries: tuple[StateEntry, ...]


@dataclass(frozen=True, slots=True)
class Named:
    """What a place names: knowledge ids, the likeliest first, and their kinds."""

    ids: tuple[str, ...]
    kinds: frozenset[str]

    @property
    def measurable(self) -> bool:
        """Whether numbers may belong to it."""
        return "lab" in self.kinds or "vital" in self.kinds

    @property
    def drug(self) -> bool:
        """Whether it is a drug or a class of drugs."""
        return "drug" in self.kinds or "drug_class" in self.kinds


@dataclass(frozen=True, slots=True)
class State:
    """A word that says a state (of `concept`) or a presence (of `mention`) by itself."""

    concept: str
    status: str
    mention: str
    polarity: str


@lru_cache(maxsize=4096)
def concept_id(name: str, kinds: tuple[str, ...] | None = None) -> str:
    """Return the knowledge id for a name, else the name folded."""
    found = knowledge.lexicon().resolve(name, kinds)
    return found.id if found is not None else " ".join(name.casefold().split())


MEASURES = ("lab", "vital")


@lru_cache(maxsize=1)
def _states() -> Trie:
    trie = Trie(folded=True)
    for entry in StateFile.model_validate(load_json("states.json")).entries:
        state = State(
            concept_id(entry.concept, MEASURES) if entry.concept else "",
            entry.status,
            concept_id(entry.mentions) if entry.mentions else "",
            entry.polarity,
        )
        for pattern in entry.words:
            for phrase in expand(pattern):
                trie.add(phrase.lower(), state)
    return trie


@lru_cache(maxsize=16384)
def named(ids: tuple[str, ...]) -> Named:
    """Return ids with their kinds."""
    lexicon = knowledge.lexicon()
    return Named(ids, frozenset(lexicon.concept(one).kind for one in ids))


def annotate(source: str) -> Document:
    """Take an answer apart."""
    normal = normalise(source)
    tokens = tokenise(normal.text)
    document = Document(normal, tokens)
    lay_out(document)
    blocked = [False] * len(tokens)
    anns: list[Ann] = []
    for mention in knowledge.lexicon().scan(normal.text):
        start = document.token_at(mention.start)
        end = document.token_at(mention.end - 1) + 1
        anns.append(Ann(start, end, "concept", "concept", named(mention.concepts)))
        for index in range(start, end):
            blocked[index] = True
    anns.extend(_state_anns(document))
    wide = [ann for ann in anns if ann.layer == "implied" and ann.value.mention]
    anns = [
        ann
        for ann in anns
        if ann.layer != "concept"
        or not any(w.start <= ann.start and ann.end <= w.end and w.end - w.start > ann.end - ann.start for w in wide)
    ]
    quantities = read_quantities(tokens, blocked)
    covered = [False] * len(tokens)
    for quantity in quantities:
        kind = "time" if quantity.time else "quantity"
        anns.append(Ann(quantity.start, quantity.end, "time" if quantity.time else "quantity", kind, quantity))
        for index in range(quantity.start, quantity.end):
            covered[index] = True
    anns = [ann for ann in anns if ann.layer in ("quantity", "time") or not covered[ann.start]]
    cues = cue_annotations(tokens)
    sources = [cue for cue in cues if cue.layer == "source" and cue.kind == "chart"]
    for cue in cues:
        if cue.layer in ("act", "state", "link") and any(s.start <= cue.start and cue.end <= s.end for s in sources):
            continue
        inside = cue.layer not in ("event", "source") and blocked[cue.start] and _covered_by(anns, cue)
        if not inside:
            anns.append(cue)
    attach(document.sentences, anns)
    return document


def _covered_by(anns: list[Ann], cue: Ann) -> bool:
    """Tell whether a state word is part of a name ("normal saline", "high blood pressure" as a diagnosis)."""
    return any(
        a.layer == "concept" and a.start <= cue.start and cue.end <= a.end and (a.start, a.end) != (cue.start, cue.end)
        for a in anns
    )


def _state_anns(document: Document) -> list[Ann]:
    trie, tokens = _states(), document.tokens
    found: list[Ann] = []
    at = 0
    while at < len(tokens):
        best = max(trie.matches(tokens, at), key=lambda match: match[0], default=None)
        if best is None:
            at += 1
            continue
        found.append(Ann(at, best[0], "implied", "implied", best[1]))
        at = best[0]
    return found
