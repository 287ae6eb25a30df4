"""The names in a question: which concepts it names and where, and its words with the names masked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from wardround.patients import knowledge

from .words import vocabulary

_MARKS = {"drug": "@", "drug_class": "@", "lab": "#", "vital": "#", "study": "%", "service": "~"}
_KINDS = frozenset({"drug", "drug_class", "lab", "vital", "procedure", "service", "finding", "condition"})


@dataclass(frozen=True)
class Name:
    """A place in a question that names something."""

    start: int
    end: int
    concept: str
    kind: str


@lru_cache(maxsize=1)
def _score_names() -> tuple[tuple[str, str], ...]:
    """Return (wording in lower case, score), the longest first; a test that the chart reports is no score."""
    found: dict[str, str] = {}
    labs = knowledge.lexicon()
    for use in knowledge.score_uses().values():
        score = knowledge.score_of(use.id)
        wordings = [score.name.en, score.name.zh, *score.synonyms.en, *score.synonyms.zh]
        if use.names is not None:
            wordings += [use.names.en, use.names.zh]
        for wording in wordings:
            concept = labs.resolve(wording, kinds={"lab", "vital"}) if wording else None
            if wording and (concept is None or concept.id not in use.unless_charted):
                found.setdefault(wording.lower(), use.id)
    return tuple(sorted(found.items(), key=lambda one: (-len(one[0]), one[0])))


def find_names(text: str) -> tuple[Name, ...]:
    """Return the names in a text, in their order; what a score's name takes names nothing else."""
    low, names, taken = text.lower(), [], [False] * (len(text) + 1)
    for wording, score in _score_names():
        at = low.find(wording)
        while at >= 0:
            end = at + len(wording)
            whole = not (wording[0].isascii() and at and low[at - 1].isalnum() and low[at - 1].isascii())
            whole = whole and not (wording[-1].isascii() and low[end : end + 1].isalnum() and low[end].isascii())
            if whole and not any(taken[at:end]):
                names.append(Name(at, end, score, "score"))
                taken[at:end] = [True] * (end - at)
            at = low.find(wording, end)
    lexicon = knowledge.lexicon()
    for mention in lexicon.scan(text, kinds=_KINDS):
        if not any(taken[mention.start : mention.end]):
            kind: str = lexicon.concept(mention.concept).kind
            if kind == "finding" and mention.concept in _no_symptoms():
                continue
            if kind == "procedure" and mention.concept in knowledge.study_profiles():
                kind = "study"
            names.append(Name(mention.start, mention.end, mention.concept, kind))
    return tuple(sorted(names, key=lambda one: one.start))


@lru_cache(maxsize=1)
def _no_symptoms() -> frozenset[str]:
    return frozenset({*vocabulary("en").not_symptoms, *vocabulary("zh").not_symptoms})


def masked(text: str, names: tuple[Name, ...]) -> str:
    """Return the text in lower case, every name of a thing replaced by its mark, at the same length."""
    low = list(text.lower())
    for name in names:
        mark = "$" if name.kind == "score" else _MARKS.get(name.kind)
        if mark is not None:
            low[name.start : name.end] = [mark] + ["\x00"] * (name.end - name.start - 1)
    return "".join(low)


def squeezed(marked: str) -> str:
    """Return a masked text with every name as its mark alone."""
    return marked.replace("\x00", "")
