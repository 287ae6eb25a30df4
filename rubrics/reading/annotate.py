"""Finds concepts, states, quantities and cues in an answer and lays them over its sentences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

from pydantic import BaseModel, ConfigDict

from wardround.patients import knowledge

from .cues import load_json
from .document import Ann, Document, attach, cue_annotations
from .layout import lay_out
from .quantities import Quantity, read_quantities
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
LEVELS = {"cyanocobalamin": "vitamin_b12", "folic_acid": "folate"}
"""Drugs whose blood level has a name of its own."""


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


@lru_cache(maxsize=1)
def _implications() -> dict[str, State]:
    """Return the diagnoses and findings that say a measurement's state ("hypotension": blood pressure low)."""
    found: dict[str, State] = {}
    for entry in StateFile.model_validate(load_json("states.json")).entries:
        if not entry.concept or not entry.status:
            continue
        state = State(concept_id(entry.concept, MEASURES), entry.status, "", "")
        for pattern in entry.words:
            for phrase in expand(pattern):
                named_one = knowledge.lexicon().resolve(phrase, ("condition", "finding"))
                if named_one is not None:
                    found.setdefault(named_one.id, state)
    return found


def implied_by(ids: tuple[str, ...]) -> State | None:
    """Return the measurement's state that a diagnosis says, or None."""
    return _implications().get(ids[0])


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
    anns.extend(_paired(document, blocked))
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
    quantities = [_timed(quantity, anns) for quantity in quantities]
    for quantity in quantities:
        kind = "time" if quantity.time else "quantity"
        anns.append(Ann(quantity.start, quantity.end, "time" if quantity.time else "quantity", kind, quantity))
        for index in range(quantity.start, quantity.end):
            covered[index] = True
    anns = [ann for ann in anns if ann.layer in ("quantity", "time") or not covered[ann.start]]
    _as_levels(anns)
    cues = cue_annotations(tokens)
    sources = [cue for cue in cues if cue.layer == "source" and cue.kind == "chart"]
    for cue in cues:
        if cue.layer in ("act", "state", "link") and any(s.start <= cue.start and cue.end <= s.end for s in sources):
            continue
        if cue.layer == "modifier" and cue.kind == "hedge" and _no_doubt(document, cue, covered):
            continue
        inside = cue.layer not in ("event", "source") and blocked[cue.start] and _covered_by(anns, cue)
        if not inside:
            anns.append(cue)
    attach(document.sentences, anns)
    return document


@lru_cache(maxsize=1)
def _pair_trie() -> Trie:
    trie = Trie(folded=False)
    for entry in load_json("pairs.json")["pairs"]:
        for phrase in entry["words"]:
            trie.add(phrase.lower(), tuple(entry["concepts"]))
    return trie


def _paired(document: Document, blocked: list[bool]) -> list[Ann]:
    """Return the two concepts of writings such as "H/H 10.3/31", where they are no names already."""
    trie, tokens = _pair_trie(), document.tokens
    found: list[Ann] = []
    for at in range(len(tokens)):
        for end, concepts in trie.matches(tokens, at):
            if blocked[at] or not tokens[at].raw[0].isupper():
                continue
            found.append(Ann(at, at + 1, "concept", "concept", named((concepts[0],))))
            found.append(Ann(end - 1, end, "concept", "concept", named((concepts[1],))))
            blocked[at] = blocked[end - 1] = True
    return found


def _no_doubt(document: Document, cue: Ann, covered: list[bool]) -> bool:
    """Tell whether a word of doubt is part of a date ("3 May") or sets two numbers against each other ("vs 1.2")."""
    if all(covered[cue.start : cue.end]):
        return True
    return document.text(cue.start, cue.end).lower() in ("versus", "vs", "vs.") and any(covered[cue.end : cue.end + 1])


def _timed(quantity: Quantity, anns: list[Ann]) -> Quantity:
    """Read seconds and milliseconds as a measurement where one that is timed stands shortly before (QTc, aPTT)."""
    beats = quantity.time and quantity.unit is None and quantity.worded
    if not beats and not (quantity.time and quantity.unit in ("s", "ms")):
        return quantity
    labs = knowledge.labs()
    for ann in anns:
        near = ann.layer == "concept" and 0 <= quantity.start - ann.end <= 10
        if near and beats and any(one in labs and labs[one].unit == "/min" for one in ann.value.ids):
            return replace(quantity, time=False, unit="/min", dimension="rate")  # "心率一百二十六次"
        if beats:
            continue
        if near and any(one in labs and labs[one].unit in ("s", "ms") for one in ann.value.ids):
            return replace(quantity, time=False)
    return quantity


def _as_levels(anns: list[Ann]) -> None:
    """Read a drug or vitamin that its own concentration follows as the blood level ("B12 of 128 pg/mL")."""
    sizes = {ann.start: ann.value for ann in anns if ann.layer == "quantity" and ann.value.unit}
    labs = knowledge.labs()
    for ann in anns:
        if ann.layer != "concept" or not ann.value.drug:
            continue
        level = next((lab for one in ann.value.ids if (lab := LEVELS.get(one, f"{one}_level")) in labs), None)
        size = next((sizes[at] for at in range(ann.end, ann.end + 4) if at in sizes), None)
        if level is None or size is None or size.dimension in ("mass", "volume", "activity", "substance"):
            continue
        if knowledge.convert(Decimal(1), size.unit, labs[level].unit, level) is not None:
            ann.value = named((level,))


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
