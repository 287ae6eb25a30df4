"""MIMIC-IV-Note `discharge`, `discharge_detail` → DocumentReference (one a section) and CarePlan."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from wardround.patients.notes import Section, numbered, split_sections
from wardround.patients.resource import NOTE_SECTION, SITE, Resource, instant_text, known_later, tag_derived
from wardround.patients.times import NEVER, Instant

from . import _vocabulary as words
from ._facts import Cells, NoDictionary, cells_of, known_at, sound
from ._mapper import Mapped, PatientContext, Rows, Stay, Tallies
from ._tables import Row, TableSpec
from ._values import MASKED, Moment, end_of_day, moment, whole
from .report import Tally

COLUMNS = ("note_id", "subject_id", "hadm_id", "note_type", "note_seq", "charttime", "storetime", "text")
DETAIL_COLUMNS = ("note_id", "subject_id", "field_name", "field_value", "field_ordinal")
DISCHARGE = TableSpec("discharge", COLUMNS, frozenset({"note_id", "subject_id", "charttime", "text"}))
DETAIL = TableSpec(
    "discharge_detail", DETAIL_COLUMNS, frozenset({"note_id", "subject_id", "field_name", "field_value"})
)

ADDENDUM = "AD"
_ADDENDA = (ADDENDUM, "AR")
_ID = re.compile(r"[A-Za-z0-9-]{1,24}", re.ASCII)
_CATEGORY = "http://hl7.org/fhir/us/core/CodeSystem/us-core-documentreference-category"
_SUMMARY = words.coding(words.LOINC, "18842-5", "Discharge summary")


class DischargeNotes(NoDictionary):
    """Discharge summaries and their addenda, section by section; their plans as CarePlans."""

    tables: tuple[TableSpec, ...] = (DISCHARGE, DETAIL)
    types: tuple[str, ...] = ("DocumentReference", "CarePlan")

    def map(self, patient: PatientContext, rows: Rows, tallies: Tallies) -> Iterator[Mapped]:
        """Yield the sections of each note in order, each followed by its plan."""
        tally = tallies["discharge"]
        notes = sound_notes(DISCHARGE, rows.get("discharge", []), tally)
        details = details_of(DETAIL, rows.get("discharge_detail", []), set(notes), tallies)
        made = {one: Note(patient, one, cells, details.get(one, {}), tally) for one, cells in notes.items()}
        for note in made.values():
            parent = parent_of(note, made, details)
            for order, (name, section) in enumerate(numbered(split_sections(note.text)), 1):
                document = _document(note, name, section, order, parent)
                yield Mapped("discharge", note.row, document, note.known)
                if section.plan is not None and (plan := _plan(note, name, section)) is not None:
                    yield Mapped("discharge", note.row, plan, note.known)


class Note:
    """One row of a note table, with what its details say."""

    def __init__(
        self, patient: PatientContext, note_id: str, cells: Cells, details: dict[str, list[str]], tally: Tally
    ) -> None:
        self.patient, self.id, self.details, self.tally = patient, note_id, details, tally
        self.row = cells.number
        self.text = cells.raw("text")
        self.kind = cells["note_type"]
        self.number = whole(cells["note_seq"])
        self.charted = _charted(cells)
        self.stored = cells.time("storetime")
        known = known_at(self.stored, self.charted, tally)
        # a note is not read before the day it is about
        self.known: Instant = known if self.charted is None else max(known, self.charted.start)
        self.encounter = patient.encounter(cells["hadm_id"], tally)
        self.stay: Stay | None = patient.stays.get(cells["hadm_id"] or "")

    @property
    def filed(self) -> str | None:
        """When the note was filed: its store time, else the end of its chart day."""
        if self.stored is not None:
            return instant_text(self.stored.known)
        return None if self.charted is None else instant_text(end_of_day(self.charted.start))

    @property
    def authors(self) -> list[Resource]:
        """Who wrote it; masked names are left out."""
        return [{"display": name} for name in self.details.get("author", ()) if name != MASKED]


def _charted(cells: Cells) -> Moment | None:
    """Read the chart time; midnight means that only the day is known."""
    at = cells.time("charttime")
    return moment(at.text[:10]) if at is not None and at.text.endswith("T00:00:00Z") else at


def sound_notes(spec: TableSpec, rows: list[Row], tally: Tally) -> dict[str, Cells]:
    """Return the notes that can be placed, by note_id and in its order; refuse the others."""

    def key(cells: Cells) -> tuple[str, ...] | None:
        found = cells["note_id"]
        return None if found is None or _ID.fullmatch(found) is None else tuple(found.split("-"))

    placed = sound(
        spec,
        rows,
        tally,
        times=("charttime", "storetime"),
        key=key,
        wrong_key="note_id is not letters, digits and hyphens, at most 24",
    )
    found = {}
    for parts, cells in placed:
        if not cells.raw("text").strip():
            tally.refuse("text is empty", cells.number)
        else:
            found["-".join(parts)] = cells
    return found


def details_of(spec: TableSpec, rows: list[Row], notes: set[str], tallies: Tallies) -> dict[str, dict[str, list[str]]]:
    """Return note_id → field_name → values in the order of `field_ordinal`; CPT codes are left out and counted."""
    found: dict[str, dict[str, list[tuple[int, str]]]] = {}
    fields = words.radiology()["fields"]
    for cells in cells_of(spec, rows):
        tally = tallies[spec.name]
        note, name, value = cells["note_id"], cells["field_name"], cells["field_value"]
        if note not in notes or note is None:
            tally.refuse("no row of the notes for the note_id", cells.number)
        elif name is None or value is None:
            tally.refuse("field_name or field_value is empty", cells.number)
        elif name == fields["cpt"]:
            tally.note("CPT code; left out (licence)")
        elif name not in fields.values():
            tally.note("field_name without a place in the chart")
        else:
            if value == MASKED:
                tally.note(f"{name} is masked; left out")
            found.setdefault(note, {}).setdefault(name, []).append((whole(cells["field_ordinal"]) or 0, value))
    return {
        note: {name: [value for _, value in sorted(values)] for name, values in group.items()}
        for note, group in found.items()
    }


def parent_of(note: Note, notes: dict[str, Note], details: dict[str, dict[str, list[str]]]) -> str | None:
    """Return the note that an addendum adds to, by its own details or by the parent's; None for other notes.

    A note that became known later than its addendum is not named: it would tell of what is to come.
    """
    if note.kind not in _ADDENDA:
        return None
    fields = words.radiology()["fields"]
    named = note.details.get(fields["parent"], [])
    named = named or sorted(one for one, group in details.items() if note.id in group.get(fields["addendum"], ()))
    found = next((one for one in named if one in notes and one != note.id), None)
    if found is None:
        note.tally.note("an addendum whose note is not named, or not among the patient's notes")
    elif notes[found].known > note.known:
        note.tally.note("an addendum known before its note; not linked")
        return None
    return found


def attached(text: str, title: str | None = None) -> Resource:
    """Build a plain-text Attachment."""
    data = base64.b64encode(text.encode()).decode("ascii")
    out = {"contentType": "text/plain; charset=utf-8", "data": data}
    return out | {"title": title} if title else out


_UNWRITABLE = re.compile(r"[^\S \r\n\t]|[\x00-\x08\x0e-\x1f\x7f]")


def plain(text: str) -> str:
    """Return text as a FHIR string may hold it: control characters and odd spaces become blanks."""
    return _UNWRITABLE.sub(" ", text).strip()


def _document(note: Note, name: str, section: Section, order: int, parent: str | None) -> Resource:
    kind = "Discharge summary addendum" if note.kind == ADDENDUM else "Discharge summary"
    out: Resource = {
        "resourceType": "DocumentReference",
        "id": f"note-{note.id}-{name}",
        "extension": [_section_mark(note, section, order)],
        "identifier": [{"system": words.system("note"), "value": note.id}],
        "status": "current",
        "type": words.concept(kind, _SUMMARY),
        "category": [words.concept("Clinical note", words.coding(_CATEGORY, "clinical-note", "Clinical Note"))],
        "subject": note.patient.subject,
    }
    if note.filed is not None:
        out["date"] = note.filed
    if note.authors:
        out["author"] = note.authors
    if parent is not None:
        target = {"identifier": {"system": words.system("note"), "value": parent}}
        out["relatesTo"] = [{"code": "appends", "target": target}]
    out["content"] = [{"attachment": attached(note.text[section.start : section.end], plain(section.title))}]
    context: Resource = {}
    if note.encounter is not None:
        context["encounter"] = [note.encounter]
    if note.charted is not None:
        context["period"] = {"start": note.charted.text, "end": note.charted.text}
    if context:
        out["context"] = context
    if note.charted is not None and note.known < min(NEVER, note.charted.known):
        known_later(out, "context.period.end", note.known)  # the day it is about says nothing of what comes after
    return out


def _section_mark(note: Note, section: Section, order: int) -> Resource:
    parts: list[Resource] = [{"url": "note", "valueString": note.id}]
    if note.kind is not None:
        parts.append({"url": "noteType", "valueString": note.kind})
    if note.number is not None and note.number > 0:
        parts.append({"url": "noteNumber", "valuePositiveInt": note.number})
    if note.charted is not None:
        parts.append({"url": "chartDate", "valueDate": note.charted.text[:10]})
    parts.append({"url": "section", "valueCode": section.slug})
    parts.append({"url": "order", "valuePositiveInt": order})
    if section.header is not None:
        parts.append({"url": "header", "valueString": plain(section.header)})
    parts.append({"url": "start", "valueUnsignedInt": section.start})
    parts.append({"url": "end", "valueUnsignedInt": section.end})
    return {"url": NOTE_SECTION, "extension": parts}


def _plan(note: Note, name: str, section: Section) -> Resource | None:
    """Build the CarePlan of a section; None, and a note, where the section says nothing.

    A treatment plan is over when its stay was, and known as such with the note; without that end its status is
    unknown. Plans for discharge and follow-up are active from the discharge on. Both statuses are derived.
    """
    text = plain(note.text[section.body : section.end])
    if not text.replace("_", "").strip(" .\n\t\r"):
        note.tally.note("a plan's section is empty or masked; no CarePlan")
        return None
    assert section.plan is not None
    out: Resource = {
        "resourceType": "CarePlan",
        "id": f"plan-{note.id}-{name}",
        "identifier": [{"system": words.system("note"), "value": note.id}],
        "status": "active",
        "intent": "plan",
        "category": [words.concept(section.plan, words.coding(f"{SITE}/CodeSystem/care-plan-category", section.plan))],
        "title": plain(section.title),
        "description": text,
        "subject": note.patient.subject,
    }
    if note.encounter is not None:
        out["encounter"] = note.encounter
    stay = note.stay
    discharged = stay.discharged if stay is not None else None
    if section.plan == "treatment":
        over = stay is not None and discharged is not None and stay.admitted.start <= discharged.start
        out["status"] = "completed" if over else "unknown"
        if over and stay is not None and discharged is not None:
            out["period"] = {"start": stay.admitted.text, "end": discharged.text}
    elif discharged is not None and discharged.known <= note.known:
        out["period"] = {"start": discharged.text}
    if out["status"] != "unknown":
        tag_derived(out)
    if note.charted is not None:
        out.setdefault("period", {"start": note.charted.text})
        out["created"] = note.charted.text
    if note.authors:
        out["author"] = note.authors[0]
    out["supportingInfo"] = [{"reference": f"DocumentReference/note-{note.id}-{name}"}]
    return out
