"""What the reports of a stay conclude: concepts that our own reader finds asserted there, and nothing else.

Left out and counted: a study made twice in a stay (which one is meant?), a report with a sentence that says something
the reader does not know, one that hedges, one that is known to be wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from wardround.patients import Instant, Snapshot, knowledge, parse_instant
from wardround.patients.knowledge import Names
from wardround.rubrics.reading import MentionClaim, read
from wardround.sessions.moves.move import Case

from .parsed import resources
from .sources import studies

MOST = 3
"""Most findings of a report that is asked for."""
_KINDS = frozenset({"condition", "finding"})
_PROPER = frozenset({"Graves", "Guillain-Barré", "Lyme", "Clostridioides", "Helicobacter", "Wernicke", "Takotsubo"})
"""First words of names that keep their capital."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a report says is there, or is not."""

    concept: str
    names: Names
    present: bool


@dataclass(frozen=True, slots=True)
class Study:
    """A study of this stay with its report."""

    key: str
    id: str
    names: Names
    """What it is called on rounds."""
    type: str | None
    """`report_type` that finds it."""
    at: Instant
    findings: tuple[Finding, ...]
    """One to three; a normal study is the one finding `acute_abnormality`, not present."""
    normal: bool


@dataclass(frozen=True)
class StudyView:
    """The studies of a stay that can be asked for."""

    studies: dict[str, Study]
    left_out: Counter[str] = field(default_factory=Counter)


def study_view(case: Case) -> StudyView:
    """Return the studies of the case's stay."""
    return case.memo("record_studies.study_view", _view)


def _view(case: Case) -> StudyView:
    left_out: Counter[str] = Counter()
    found: dict[str, list[dict[str, Any]]] = {}
    for resource in in_stay(case.snapshot, case.encounter, "DiagnosticReport"):
        identity = study_of(str(resource.get("code", {}).get("text", "")))
        if identity is None:
            left_out["report of a study that is not known"] += 1
            continue
        found.setdefault(identity, []).append(resource)
    kept: dict[str, Study] = {}
    for identity in sorted(found):
        if len(found[identity]) > 1:
            left_out["study made more than once in this stay"] += 1
            continue
        study = _study(identity, found[identity][0], case.flawed, left_out)
        if study is not None:
            kept[identity] = study
    return StudyView(kept, left_out)


def in_stay(snapshot: Snapshot, encounter: str, kind: str, holding: bytes = b"") -> Iterator[dict[str, Any]]:
    """Yield the resources of a type that a search by the stay finds; only those in whose JSON some bytes stand."""
    mine = set(snapshot.encounters_of(encounter))
    for resource in resources(snapshot, kind, holding):
        context: dict[str, Any] = resource.get("encounter") or next(
            iter(resource.get("context", {}).get("encounter", ())), {}
        )
        if str(context.get("reference", "")).rpartition("/")[2] in mine:
            yield resource


@lru_cache(maxsize=1)
def _titles() -> dict[str, str]:
    found = {
        title.casefold(): identity
        for identity, profile in knowledge.study_profiles().items()
        if identity in studies().studies
        for title in profile.title
    }
    for identity, words in studies().studies.items():
        found.update(dict.fromkeys((title.casefold() for title in (*words.titles, words.name.en)), identity))
    return found


def study_of(title: str) -> str | None:
    """Return the id of the study that a title names, None for one that is not known."""
    known = _titles().get(" ".join(title.casefold().split()))
    if known is not None:
        return known
    mentions = knowledge.lexicon().scan(title, kinds={"procedure"})
    named = {one for mention in mentions for one in mention.concepts if one in studies().studies}
    return next(iter(named)) if len(named) == 1 else None


def _study(identity: str, resource: dict[str, Any], flawed: frozenset[str], left_out: Counter[str]) -> Study | None:
    key = f"DiagnosticReport/{resource['id']}"
    words = studies().studies[identity]
    conclusion = str(resource.get("conclusion", ""))
    if key in flawed or resource.get("status") not in {"final", "amended", "corrected"} or not conclusion:
        left_out["report that is wrong, unfinished or without a conclusion"] += 1
        return None
    findings = findings_of(identity, conclusion)
    if findings is None:
        left_out["report that says something unknown, unsure or too much"] += 1
        return None
    at = parse_instant(str(resource.get("effectiveDateTime")))
    normal = not any(one.present for one in findings) and findings[0].concept in studies().ordinary
    return Study(key, identity, words.name, words.type, at, findings, normal)


@lru_cache(maxsize=4096)
def findings_of(study: str, conclusion: str) -> tuple[Finding, ...] | None:
    """Return what a conclusion says for certain; None where part of it is not understood, hedged or too much.

    What only closes the report ("no other acute abnormality") is no finding where another one stands, nor is what the
    study does not show and the report denies ("no fracture").

    Args:
        study: Id of the study.
        conclusion: Of its report.
    """
    reading = read(conclusion)
    ordinary, silent = set(studies().ordinary), set(studies().silent)
    shows = {*studies().studies[study].findings, *ordinary}
    found: dict[str, Finding] = {}
    for number in range(len(reading.document.sentences)):
        claims = [one for one in reading.names if one.sentence == number and one.kind in _KINDS]
        sentence = reading.document.sentences[number]
        words = reading.document.text(sentence.start, sentence.end).casefold().strip()
        if not words or words.startswith(studies().filler) or words.rstrip(".").endswith("otherwise"):
            continue
        if not claims or not _clear(claims, silent):
            return None
        for claim in claims:
            if claim.concept not in shows:
                if claim.polarity == "present":
                    return None
                continue
            known = _finding(claim)
            if known is None or found.get(claim.concept, known).present != known.present:
                return None
            found[claim.concept] = known
    real = tuple(one for one in found.values() if one.concept not in ordinary)
    if not real:
        return (_nothing(),) if found else None
    shown = sorted(real, key=lambda one: not one.present)
    return tuple(shown) if len(shown) <= MOST else None


def _clear(claims: list[MentionClaim], silent: set[str]) -> bool:
    return all(one.polarity and one.concept not in silent and not one.flags.past for one in claims)


def _finding(claim: MentionClaim) -> Finding | None:
    concept = knowledge.lexicon().concept(claim.concept)
    if concept.name.zh is None:
        return None
    return Finding(claim.concept, in_text(concept.name), claim.polarity == "present")


def _nothing() -> Finding:
    return Finding("acute_abnormality", in_text(knowledge.lexicon().concept("acute_abnormality").name), present=False)


def in_text(names: Names) -> Names:
    """Return a concept's name as it stands inside a sentence ("left atrial dilation", "T-wave changes", "STEMI")."""
    first, _, rest = names.en.partition(" ")
    proper = first in _PROPER or first.endswith("'s") or first[1:2] == "-" or any(one.isupper() for one in first[1:])
    return Names(en=f"{first if proper else first.lower()} {rest}".rstrip(), zh=names.zh)
