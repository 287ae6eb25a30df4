"""Shared knowledge of the sources beside labs and drugs (data/studies.json, cultures.json, notes.json)."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from wardround.patients import load_data
from wardround.patients.knowledge import Names

Result = Literal["S", "I", "R"]
_Model = TypeVar("_Model", bound=BaseModel)


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StudyWords(_Frozen):
    """A kind of study."""

    name: Names
    type: str | None = None
    """`report_type` of DiagnosticReport.search that finds it."""
    titles: tuple[str, ...] = ()
    findings: tuple[str, ...]
    """Concepts that it can show."""


class Studies(_Frozen):
    """`data/studies.json`."""

    format_version: Literal[1]
    about: str
    assumption: Literal[True]
    studies: dict[str, StudyWords]
    ordinary: tuple[str, ...]
    """Concepts that say that nothing was found."""
    silent: tuple[str, ...]
    """Concepts that a report is never asked for: their name says more or less than its words."""
    filler: tuple[str, ...]
    """Beginnings, in lower case, of sentences that say nothing new."""


class Resistance(_Frozen):
    """Where one resistance speaks for others."""

    organisms: tuple[str, ...]
    marker: str
    only: tuple[str, ...]
    """What is changed to where the marker is resistant."""


class Cultures(_Frozen):
    """`data/cultures.json`."""

    format_version: Literal[1]
    about: str
    assumption: Literal[True]
    cultures: dict[str, Names]
    nothing: tuple[str, ...]
    """Results, in lower case and without marks, that say that nothing grew."""
    contaminants: tuple[str, ...]
    """Organisms that nobody decides by alone."""
    contested: dict[str, tuple[str, ...]]
    """Organism → drugs that are susceptible in the test, but on whose use good physicians differ."""
    broad: tuple[str, ...]
    narrow: tuple[str, ...]
    esbl: Resistance
    urinary: tuple[str, ...]
    """Antibiotics that work in urine alone."""
    oral_only: tuple[str, ...]
    rules: dict[Literal["fits", "misfit"], str]
    advice: dict[Literal["fits", "misfit"], Names]
    """{drug}, {other}."""
    finding: Names
    """{culture}, {grew}, {say}, {drug}."""
    prefer: tuple[str, ...]
    """What to change to, in this order."""
    marker: str
    """Lab that is followed under an antibiotic."""
    kidney: KidneyBound
    """Doses that the kidney bears on are ordered anew only at this value or above."""
    say: dict[Result, Names]


class KidneyBound(_Frozen):
    """A value of a lab of kidney function, in the lab's own unit."""

    lab: str
    at_least: Decimal


class Course(_Frozen):
    """`data/infection.json`: when an infection answers to treatment."""

    format_version: Literal[1]
    about: str
    assumption: Literal[True]
    antibiotics: tuple[str, ...]
    """Given for an infection by vein or mouth; not those given against ulcers, worms or before operations."""
    marker: str
    """Lab that is followed."""
    hours: int = Field(ge=24)
    """Least time under the antibiotic."""
    most_hours: int
    """After so long the course may be over, and going on is no longer plainly right."""
    percent: int
    """Least change of the marker."""
    calm: str
    """No fever below this temperature in degrees Celsius."""
    confounders: tuple[str, ...]
    """Drugs and classes that raise the marker by themselves."""
    confounding: tuple[str, ...]
    """Conditions in which the marker says nothing of the infection."""
    cultures: Names
    """What is repeated where it does not answer."""
    acts: dict[Literal["answers", "worse"], CourseAct]


class CourseAct(_Frozen):
    """What is right, by course."""

    rule: str
    act: str
    finding: Names
    advice: Names
    """{drug}."""


class NoteSection(_Frozen):
    """A section of a note that can be asked for."""

    name: Names
    titles: tuple[str, ...] = Field(min_length=1)
    """Of the chart, in lower case."""
    keyword: str
    kinds: tuple[str, ...]
    """Kinds of concepts that its words are asked for."""


class Notes(_Frozen):
    """`data/notes.json`."""

    format_version: Literal[1]
    about: str
    assumption: Literal[True]
    vague: tuple[str, ...]
    """Concepts that say too little to be an answer."""
    types: tuple[str, ...]
    """Types of notes, in lower case, whose sections are asked for."""
    wards: tuple[str, ...]
    """Services of the stay itself, to which no follow-up goes."""
    sections: dict[str, NoteSection]


@lru_cache(maxsize=1)
def studies() -> Studies:
    """Return the knowledge of studies.

    Raises:
        DataError: The file is faulty; says field and fault.
    """
    return load_data("wardround.sessions", "data/studies.json", Studies)


@lru_cache(maxsize=1)
def cultures() -> Cultures:
    """Return the knowledge of cultures.

    Raises:
        DataError: The file is faulty; says field and fault.
    """
    return load_data("wardround.sessions", "data/cultures.json", Cultures)


@lru_cache(maxsize=1)
def infection() -> Course:
    """Return what the course of an infection asks for.

    Raises:
        DataError: The file is faulty; says field and fault.
    """
    return load_data("wardround.sessions", "data/infection.json", Course)


@lru_cache(maxsize=1)
def notes() -> Notes:
    """Return the sections of notes that can be asked for.

    Raises:
        DataError: The file is faulty; says field and fault.
    """
    return load_data("wardround.sessions", "data/notes.json", Notes)


Course.model_rebuild()
Cultures.model_rebuild()
