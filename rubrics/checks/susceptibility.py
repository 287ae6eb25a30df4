"""`susceptibility`: the answer says how what grew answers to a drug.

Clause by clause each drug is tied to the word that stands for it: the one after it where the clause begins with drugs
("ceftriaxone: resistant"), else the one before it ("resistant to ceftriaxone"). A drug without a word in its clause
takes that of the list it goes on ("resistant to ampicillin, cefazolin") or the next one ("ampicillin, cefazolin 耐药");
a word without any drug in its sentence speaks of the drug in question.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from wardround.rubrics.datafile import load_model
from wardround.rubrics.reading import Reading
from wardround.rubrics.reading.document import Document, Sentence
from wardround.rubrics.reading.named import DRUGS, Named
from wardround.rubrics.rubric import Span, SusceptibilityCheck, Verdict

from .context import CheckContext
from .matching import ids_for, unread, verdict

Answer = Literal["S", "I", "R", "N"]
_AGREE: Final[dict[str, frozenset[str]]] = {
    "S": frozenset({"S"}),
    "I": frozenset({"I", "N"}),
    "R": frozenset({"R", "N"}),
}
_ANY: Final = ""
"""Stands for the drug in question where a sentence names none."""


class Words(BaseModel):
    """`data/susceptibility.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format_version: Literal[1]
    about: str
    words: dict[Answer, tuple[str, ...]]
    not_resistant: tuple[str, ...]
    letters: dict[str, Answer]
    contrast: tuple[str, ...]


class _Place(NamedTuple):
    """A drug or a word of a clause."""

    start: int
    """Token."""
    end: int
    drugs: tuple[str, ...]
    """Ids where it is a drug, else empty."""
    answer: Answer | None


def judge(check: SusceptibilityCheck, reading: Reading, context: CheckContext) -> Verdict:
    """Pass where the drug is given that reading and no other."""
    if (bad := unread(reading, context)) is not None:
        return bad
    wanted = set(ids_for(check.drug, DRUGS) or (check.drug,))
    found = [(answer, span) for drugs, answer, span in _claims(reading) if wanted & set(drugs)]
    if not found:
        found = [(answer, span) for drugs, answer, span in _claims(reading) if _ANY in drugs]
    mine = [span for answer, span in found if answer in _AGREE[check.reading]]
    others = [span for answer, span in found if answer not in _AGREE[check.reading]]
    if not mine:
        said = "read otherwise" if others else "not read"
        return verdict(context, False, f"susceptibility to `{check.drug}` is {said}", tuple(others))
    if others:
        return verdict(context, False, f"susceptibility to `{check.drug}` is read both ways", (mine[0], others[0]))
    return verdict(context, True, f"`{check.drug}` is read as {check.reading}", (mine[0],))


@lru_cache(maxsize=1)
def _words() -> Words:
    return load_model("data/susceptibility.json", Words)


@lru_cache(maxsize=1)
def _pattern() -> tuple[re.Pattern[str], dict[str, Answer]]:
    """Return one pattern of all words, the longest first, and what each says."""
    known = _words()
    says: dict[str, Answer] = {word: answer for answer, words in known.words.items() for word in words}
    says.update(dict.fromkeys(known.not_resistant, "S"))
    parts = [
        rf"\b{re.escape(word)}\b" if word[0].isascii() else re.escape(word)
        for word in sorted(says, key=lambda word: (-len(word), word))
    ]
    letters = "|".join(sorted(known.letters))
    return re.compile("|".join([*parts, rf"(?<=[:：(（=] )(?:{letters})\b|(?<=[:：(（=])(?:{letters})\b"])), says


def _claims(reading: Reading) -> list[tuple[tuple[str, ...], Answer, Span]]:
    """Return every (drugs, answer) of an answer with its place."""
    found: list[tuple[tuple[str, ...], Answer, Span]] = []
    document = reading.document
    for number, sentence in enumerate(document.sentences):
        if sentence.question:
            continue
        clauses = _clauses(document, sentence)
        tied = _tie(clauses)
        for drug, cue in tied:
            flags = reading.scopes[number].flags(cue.start, cue.end)
            if flags.claimed and cue.answer is not None:
                span = document.span(min(drug.start, cue.start), max(drug.end, cue.end))
                found.append((drug.drugs or (_ANY,), cue.answer, span))
    return found


def _clauses(document: Document, sentence: Sentence) -> list[list[_Place]]:
    """Return the drugs and words of a sentence by clause, in order."""
    places = [
        _Place(ann.start, ann.end, value.ids, None)
        for ann in sentence.of("concept")
        if isinstance(value := ann.value, Named) and value.drug
    ]
    pattern, says = _pattern()
    text = document.text(sentence.start, sentence.end).lower()
    begin = document.tokens[sentence.start].start if sentence.end > sentence.start else 0
    for match in pattern.finditer(text):
        start, end = document.token_at(begin + match.start()), document.token_at(begin + match.end() - 1) + 1
        said = match.group()
        places.append(_Place(start, end, (), says.get(said) or _words().letters[said]))
    places.sort(key=lambda place: (place.start, place.end))
    clauses: list[list[_Place]] = []
    last = None
    for place in places:
        # "ceftriaxone: resistant" is one clause, whatever stands between
        joined = last is not None and _joined(document, last, place)
        if last is not None and (joined or document.clause[place.start] == document.clause[last.start]):
            clauses[-1].append(place)
        else:
            clauses.append([place])
        last = place
    return clauses


def _joined(document: Document, before: _Place, after: _Place) -> bool:
    """Tell whether nothing but a colon, a bracket or small marks part two places."""
    between = document.text(before.end, after.start).strip()
    return between in {":", "：", "(", "（", "=", "-"}


def _tie(clauses: list[list[_Place]]) -> list[tuple[_Place, _Place]]:
    """Tie drugs to words; a word without drugs in the whole sentence is tied to itself."""
    if not any(place.drugs for clause in clauses for place in clause):
        return [(place, place) for clause in clauses for place in clause]
    tied: list[tuple[_Place, _Place]] = []
    waiting: list[_Place] = []
    carried: _Place | None = None
    for clause in clauses:
        cues = [place for place in clause if not place.drugs]
        drugs = [place for place in clause if place.drugs]
        if not cues:
            if carried is not None:
                tied.extend((drug, carried) for drug in drugs)
            else:
                waiting.extend(drugs)
            continue
        if not drugs:
            tied.extend((drug, cues[0]) for drug in waiting)
            waiting, carried = [], cues[-1]
            continue
        leads = bool(clause[0].drugs)
        for drug in drugs:
            before = [cue for cue in cues if cue.start < drug.start]
            after = [cue for cue in cues if cue.start > drug.start]
            cue = (after or before)[0] if leads and after else (before or after)[-1 if before else 0]
            tied.append((drug, cue))
        if leads:
            tied.extend((drug, cues[0]) for drug in waiting)
        waiting, carried = [], None if leads else cues[-1]
    return tied
