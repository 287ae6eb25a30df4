"""What is written down of a life: the facts as charted and the notes, before they become FHIR.

A clean record charts the facts as they are. Planted flaws (`flaws.py`) change the record, never the life, and each
leaves a `Flaw` that says what was done and what is right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wardround.patients.times import Instant

from .life import Life

NoteKind = Literal["admission", "progress", "ed", "consult", "discharge", "clinic"]
Slug = Literal[
    "demographics", "chief-complaint", "history-of-present-illness", "past-medical-history", "past-surgical-history",
    "medications", "allergies", "family-history", "social-history", "review-of-systems", "vitals", "physical-exam",
    "labs", "imaging", "pathology", "other-studies", "assessment", "plan", "hospital-course", "discharge-medications",
    "discharge-instructions", "followup",
]  # fmt: skip
FlawKind = Literal[
    "missing", "outdated_copy", "contradiction", "wrong_patient", "unit_slip", "undocumented_nonadherence",
    "duplicate_order", "delayed_result", "ambiguous_drug_name",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence (or list line) of a note and the facts it rests on."""

    text: str
    facts: tuple[str, ...] = ()
    """Ids of facts of the life; "person" for the person; empty only for words that state nothing."""


@dataclass(frozen=True, slots=True)
class NotePart:
    """A section: the header as written and its sentences."""

    slug: Slug
    header: str
    sentences: tuple[Sentence, ...]
    lines: bool = False
    """One sentence a line (lists, tables) rather than running text."""

    @property
    def text(self) -> str:
        """The section's text without its header."""
        return ("\n" if self.lines else " ").join(sentence.text for sentence in self.sentences)

    @property
    def facts(self) -> tuple[str, ...]:
        """What the section rests on, each fact once."""
        return tuple(dict.fromkeys(fact for sentence in self.sentences for fact in sentence.facts))


@dataclass(frozen=True, slots=True)
class Note:
    """A note: known once it is filed (`stored`)."""

    id: str
    kind: NoteKind
    title: str
    at: Instant
    stored: Instant
    encounter: str
    parts: tuple[NotePart, ...]


@dataclass(frozen=True, slots=True)
class StudyReport:
    """The text of an imaging study."""

    study: str
    """`Study.id`."""
    findings: tuple[Sentence, ...]
    impression: tuple[Sentence, ...]
    technique: str = ""
    comparison: str = ""


@dataclass(frozen=True, slots=True)
class Flaw:
    """A planted fault of the record, and what is right."""

    id: str
    kind: FlawKind
    detail: str
    """Which form of its kind ("med_list_vs_note", "allergy_vs_order", "weight_in_lb" …)."""
    at: Instant
    encounter: str | None
    facts: tuple[str, ...]
    """Facts it bears on."""
    places: tuple[str, ...]
    """Where it shows: resource keys ("Observation/…") and note sections ("DocumentReference/…#medications")."""
    charted: str
    """What the record says ("" for what it leaves out)."""
    right: str
    """What is true."""


@dataclass(frozen=True, slots=True)
class Record:
    """A life as charted."""

    life: Life
    """Facts as they are charted: flaws may have taken some out or changed them."""
    notes: tuple[Note, ...]
    reports: tuple[StudyReport, ...]
    flaws: tuple[Flaw, ...] = ()
