"""MIMIC-IV-Note `radiology`, `radiology_detail` → DiagnosticReport: the whole text, its impression, its modality."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from wardround.patients.notes import Section, split_sections
from wardround.patients.packing import fold
from wardround.patients.resource import SITE, Resource
from wardround.patients.search import matches_text

from . import _vocabulary as words
from ._facts import NoDictionary
from ._mapper import Mapped, PatientContext, Rows, Tallies
from ._tables import TableSpec
from ._values import MASKED
from .notes import COLUMNS, DETAIL_COLUMNS, Note, attached, details_of, parent_of, plain, sound_notes

RADIOLOGY = TableSpec("radiology", COLUMNS, frozenset({"note_id", "subject_id", "charttime", "text"}))
DETAIL = TableSpec(
    "radiology_detail", DETAIL_COLUMNS, frozenset({"note_id", "subject_id", "field_name", "field_value"})
)

ADDENDUM_OF = f"{SITE}/StructureDefinition/addendum-of"
"""Extension of a DiagnosticReport: the report it adds to."""
_SECTION = "http://terminology.hl7.org/CodeSystem/v2-0074"
_IMAGING = words.coding(words.LOINC, "18748-4", "Diagnostic imaging study")
_NAME = 200
"""Longest name of an examination taken from the text."""


class RadiologyReports(NoDictionary):
    """Radiology reports and their addenda, each known at its own time."""

    tables: tuple[TableSpec, ...] = (RADIOLOGY, DETAIL)
    types: tuple[str, ...] = ("DiagnosticReport",)

    def map(self, patient: PatientContext, rows: Rows, tallies: Tallies) -> Iterator[Mapped]:
        """Yield the reports by note_id."""
        tally = tallies["radiology"]
        notes = sound_notes(RADIOLOGY, rows.get("radiology", []), tally)
        details = details_of(DETAIL, rows.get("radiology_detail", []), set(notes), tallies)
        made = {one: Note(patient, one, cells, details.get(one, {}), tally) for one, cells in notes.items()}
        for note in made.values():
            yield Mapped("radiology", note.row, _report(note, parent_of(note, made, details)), note.known)


def _report(note: Note, parent: str | None) -> Resource:
    sections = split_sections(note.text, "radiology")
    names = _exam_names(note, sections)
    out: Resource = {
        "resourceType": "DiagnosticReport",
        "id": f"rad-{note.id}",
        "identifier": [{"system": words.system("note"), "value": note.id}],
        "status": "final",
        "category": _categories(note, names),
        "code": _code(note, names),
        "subject": note.patient.subject,
    }
    if parent is not None:
        reference = {"reference": f"DiagnosticReport/rad-{parent}"}
        out["extension"] = [{"url": ADDENDUM_OF, "valueReference": reference}]
    if note.encounter is not None:
        out["encounter"] = note.encounter
    if note.charted is not None:
        out["effectiveDateTime"] = note.charted.text
    if note.stored is not None and note.filed is not None:
        out["issued"] = note.filed
    if note.authors:
        out["resultsInterpreter"] = note.authors
    impression = plain("\n\n".join(_bodies(note, sections, "impression")))
    if impression:
        out["conclusion"] = impression
    else:
        note.tally.note("no impression in the text; no conclusion")
    out["presentedForm"] = [attached(note.text)]
    return out


def _bodies(note: Note, sections: tuple[Section, ...], slug: str) -> list[str]:
    return [note.text[one.body : one.end].strip() for one in sections if one.slug == slug]


def _exam_names(note: Note, sections: tuple[Section, ...]) -> list[str]:
    """Return the examination's names: of the details, else the first line under EXAMINATION in the text."""
    named = [name for name in note.details.get(words.radiology()["fields"]["exam"], ()) if name != MASKED]
    if named:
        return [plain(name) for name in dict.fromkeys(named)]
    lines = [body.splitlines()[0][:_NAME] for body in _bodies(note, sections, "examination") if body]
    found = [name for name in map(plain, lines[:1]) if name.strip("_ ")]
    note.tally.note("no exam_name; " + ("named by the text" if found else "a report without a name"))
    return found


def _code(note: Note, names: list[str]) -> Resource:
    codes = [code for code in note.details.get(words.radiology()["fields"]["code"], ()) if code != MASKED]
    system = words.radiology()["exam_system"]
    paired = len(codes) == len(names)
    codings = [
        words.coding(system, words.local_code(code), names[place] if paired else None)
        for place, code in enumerate(codes)
    ]
    text = "; ".join(names) or ("Radiology report addendum" if note.kind == "AR" else "Radiology report")
    return words.concept(text, *codings, _IMAGING)


def _categories(note: Note, names: list[str]) -> list[Resource]:
    out = [words.concept("Radiology", words.coding(_SECTION, "RAD", "Radiology"))]
    found = list(dict.fromkeys(kind for name in names if (kind := modality(name)) is not None))
    for code in found:
        entry = _modalities()[code]
        coding = words.coding(words.radiology()["modality_system"], code, entry.get("display"))
        out.append(words.concept(entry["text"], coding))
    if not found:
        note.tally.note("no modality in the examination's name")
    return out


@cache
def _modalities() -> dict[str, dict[str, Any]]:
    return {entry["code"]: entry for entry in words.radiology()["modalities"]}


@cache
def modality(name: str) -> str | None:
    """Return the DICOM modality that an examination's name means, by `data/mimic_radiology.json`.

    Examples:
        >>> modality("CT HEAD W/O CONTRAST"), modality("CHEST (PORTABLE AP)"), modality("PICC LINE")
        ('CT', 'DX', None)
    """
    folded = fold(name)
    for code, entry in _modalities().items():
        if any(matches_text((folded,), word) for word in entry["words"]):
            return code
    return None
