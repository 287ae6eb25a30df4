"""Notes → DocumentReference, one a section; studies → DiagnosticReport; plans → CarePlan.

Each sentence's place in the decoded text goes into the provenance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wardround.patients.building import LOINC, attachment, concept, time_text
from wardround.patients.errors import DataError
from wardround.patients.resource import NOTE_SECTION, SITE, Resource, instant_text

from .charting_desk import Desk, chart_words
from .life import Plan, Study
from .provenance import Trace
from .record import Note, Sentence, StudyReport

_CATEGORY = "http://hl7.org/fhir/us/core/CodeSystem/us-core-documentreference-category"
_SECTION = "http://terminology.hl7.org/CodeSystem/v2-0074"
_DICOM = "http://dicom.nema.org/resources/ontology/DCM"
_PLAN = f"{SITE}/CodeSystem/care-plan-category"
_NOTE = f"{SITE}/identifier/note"


def chart_notes(desk: Desk) -> None:
    """Add reports, notes and plans."""
    reports = {report.study: report for report in desk.record.reports}
    for study in desk.life.studies:
        if study.id not in reports:
            raise DataError(
                f"{desk.life.patient_id}: study {study.id} has no report; write one, or leave the study out"
            )
        _report(desk, study, reports[study.id])
    filed = sorted(desk.record.notes, key=lambda note: (note.stored, note.at, note.id))
    for number, note in enumerate(filed, 1):  # numbers tell nothing of notes to come
        _note(desk, note, number)
    for plan in desk.life.plans:
        _plan(desk, plan)


def section_ids(note: Note) -> list[str]:
    """Return the name of each section of a note within its chart: slug, and a number from the second of a kind on."""
    seen: dict[str, int] = {}
    names = []
    for part in note.parts:
        seen[part.slug] = count = seen.get(part.slug, 0) + 1
        names.append(f"{note.id}-{part.slug}" if count == 1 else f"{note.id}-{part.slug}-{count}")
    return names


def _note(desk: Desk, note: Note, number: int) -> None:
    words = chart_words()["notes"][note.kind]
    title = note.title or words["type"]
    offset = 0
    for order, (section, part) in enumerate(zip(section_ids(note), note.parts, strict=True), 1):
        name = desk.name(section)
        head = f"{part.header}:\n" if part.header else ""
        text = head + part.text
        start, offset = offset, offset + len(text) + 2  # sections stand apart by a blank line
        marks: list[Resource] = [
            {"url": "note", "valueString": desk.name(note.id)},
            {"url": "noteType", "valueString": note.kind},
            {"url": "noteNumber", "valuePositiveInt": number},
            {"url": "chartDate", "valueDate": instant_text(note.at)[:10]},
            {"url": "section", "valueCode": part.slug},
            {"url": "order", "valuePositiveInt": order},
            *([{"url": "header", "valueString": part.header}] if part.header else []),
            {"url": "start", "valueUnsignedInt": start},
            {"url": "end", "valueUnsignedInt": start + len(text)},
        ]
        document: Resource = {
            "resourceType": "DocumentReference",
            "id": name,
            "extension": [{"url": NOTE_SECTION, "extension": marks}],
            "identifier": [{"system": _NOTE, "value": desk.name(note.id)}],
            "status": "current",
            "type": concept(words["type"], LOINC, words["code"]),
            "category": [{"coding": [{"system": _CATEGORY, "code": "clinical-note", "display": "Clinical Note"}]}],
            "subject": {"reference": f"Patient/{desk.life.patient_id}"},
            "date": instant_text(note.stored),
            "description": title,
            "content": [{"attachment": attachment(text, chart_words()["sections"][part.slug])}],
            "context": {
                "encounter": [{"reference": f"Encounter/{desk.stay(note.encounter)}"}],
                "period": {"start": time_text(note.at), "end": time_text(note.at)},
            },
        }
        desk.builder.add(document, note.stored)
        key = f"DocumentReference/{name}"
        desk.traces.append(Trace(key, part.facts))
        desk.traces.extend(_sentences(key, part.sentences, len(head)))


def _sentences(key: str, sentences: Iterable[Sentence], start: int) -> Iterable[Trace]:
    """Yield the trace of each sentence of a text that begins at `start`."""
    for sentence in sentences:
        yield Trace(key, sentence.facts, start, start + len(sentence.text))
        start += len(sentence.text) + 1  # a line break or a blank, as `NotePart.text` and `_joined` have it


def _report(desk: Desk, study: Study, report: StudyReport) -> None:
    words = chart_words()["modalities"][study.modality]
    name = desk.name(study.id)
    key = f"DiagnosticReport/{name}"
    text = f"EXAMINATION: {study.title}\n\nINDICATION: {study.indication}"
    for head, said in (("TECHNIQUE", report.technique), ("COMPARISON", report.comparison)):
        text += f"\n\n{head}: {said}" if said else ""
    traces: list[Trace] = []
    for head, sentences in (("FINDINGS", report.findings), ("IMPRESSION", report.impression)):
        text += f"\n\n{head}:\n"
        traces.extend(_sentences(key, sentences, len(text)))
        text += _joined(sentences)
    resource: Resource = {
        "resourceType": "DiagnosticReport",
        "id": name,
        "status": "final",
        "category": [{"coding": [{"system": _SECTION, "code": words["section"]}]}],
        "code": {"text": study.title},
        "subject": {"reference": f"Patient/{desk.life.patient_id}"},
        "encounter": {"reference": f"Encounter/{desk.stay(study.encounter)}"},
        "effectiveDateTime": time_text(study.at),
        "issued": instant_text(study.known_at),
        "conclusion": _joined(report.impression),
        "presentedForm": [attachment(text)],
    }
    kind: Resource = {"text": words["text"]}
    if words["dicom"]:
        kind["coding"] = [{"system": _DICOM, "code": words["dicom"], "display": words["display"]}]
    resource["category"].append(kind)
    desk.builder.add(resource, study.known_at)
    desk.traces.append(Trace(key, (study.id, *study.shown)))
    desk.traces.extend(traces)


def _joined(sentences: Sequence[Sentence]) -> str:
    return " ".join(sentence.text for sentence in sentences)


def _plan(desk: Desk, plan: Plan) -> None:
    name = desk.name(plan.id)
    lines = [f"- {item.text.en}" for item in plan.items]
    title = chart_words()["plans"][plan.category]
    desk.builder.care_plan(
        title, "\n".join(lines), at=plan.at, category=plan.category, encounter=desk.stay(plan.encounter), id=name
    )
    desk.builder.last["category"][0]["coding"][0]["system"] = _PLAN
    desk.trace("CarePlan", name, (plan.id,))
    start = 2
    for item in plan.items:
        desk.traces.append(Trace(f"CarePlan/{name}", (plan.id, *item.facts), start, start + len(item.text.en)))
        start += len(item.text.en) + 3
