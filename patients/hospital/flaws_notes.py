"""Flaws of notes: left out, carried over though it changed, another dose, the other side, another patient."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

from wardround.patients.importers._templates import plain_number
from wardround.patients.resource import instant_text

from .flaws_draft import Draft, flaw_data
from .life import Prescription
from .making import HOUR
from .record import Note, NotePart

_OTHER = {"left": "right", "right": "left", "Left": "Right", "Right": "Left"}
_SIDED = re.compile(r"\b([Ll]eft|[Rr]ight) ([a-z]+ (?!quadrant)[a-z]+)")
"""A side and what is on it; a quadrant of the belly is where it hurts, not what a study shows."""


def leave_out(draft: Draft) -> None:
    """Leave out discharge summaries, and sections that a note must have."""
    needed = flaw_data()["needed"]
    kept: list[Note] = []
    for note in draft.notes:
        keys = tuple(draft.section(note, number) for number in range(len(note.parts)))
        if note.kind == "discharge" and draft.wants("missing", "note", draft.key("DocumentReference", note.id)):
            draft.add(
                "missing", "note", at=note.stored, encounter=note.encounter,
                facts=tuple(dict.fromkeys(fact for part in note.parts for fact in part.facts)),
                places=keys, charted="", right=f"{note.title} of {instant_text(note.at)[:10]}",
            )  # fmt: skip
            continue
        parts: list[NotePart] = []
        for part, key in zip(note.parts, keys, strict=True):
            one_of_a_kind = sum(other.slug == part.slug for other in note.parts) == 1
            wanted = part.slug in needed.get(note.kind, ()) and one_of_a_kind
            if not wanted or not draft.wants("missing", "section", key):
                parts.append(part)
                continue
            draft.add(
                "missing", "section", at=note.stored, encounter=note.encounter,
                facts=part.facts, places=(key,), charted="", right=part.text,
            )  # fmt: skip
        kept.append(replace(note, parts=tuple(parts)) if parts else note)
    draft.notes = kept


# ---- copy-forward ----


def copy_forward(draft: Draft) -> None:
    """Carry a section of a progress note over from the one before though something changed."""
    previous: dict[str, int] = {}
    for at, note in enumerate(draft.notes):
        if note.kind != "progress":
            continue
        before = previous.get(note.encounter)
        previous[note.encounter] = at
        if before is not None and not _copy_list(draft, draft.notes[before], at):
            _copy_values(draft, draft.notes[before], at)


def _copy_list(draft: Draft, old: Note, at: int) -> bool:
    """Copy a list that still names a drug which was stopped in between."""
    note = draft.notes[at]
    stopped = {
        one.id: one for one in draft.life.prescriptions if one.stop is not None and old.at < one.stop <= note.at - HOUR
    }
    running = {
        one.drug
        for one in draft.life.prescriptions
        if one.start <= note.at and (one.stop is None or one.stop > note.at)
    }
    for number, part in enumerate(note.parts):
        source = _part(old, part.slug) if part.slug in flaw_data()["copied"]["stopped_drug"] else None
        if source is None or source.text == part.text:
            continue
        for order in stopped.values():
            named = order.drug not in running and order.name.casefold() in source.text.casefold()
            if not named or order.name.casefold() in part.text.casefold():
                continue
            key = draft.section(note, number)
            if draft.wants("outdated_copy", "stopped_drug", key):
                draft.take(draft.key("MedicationRequest", order.id))  # it keeps its name
                draft.take(f"{key}#dose")  # copy and source stay alike
                draft.take(f"{draft.section(old, old.parts.index(source))}#dose")
                draft.set_part(at, number, replace(source, header=part.header))
                draft.add(
                    "outdated_copy", "stopped_drug", at=note.stored, encounter=note.encounter, facts=(order.id,),
                    places=(key,), charted=source.text, right=f"{order.name} was stopped; the list was: {part.text}",
                )  # fmt: skip
                return True
            break
    return False


def _copy_values(draft: Draft, old: Note, at: int) -> None:
    """Copy results or vital signs of the day before."""
    note = draft.notes[at]
    values = {one.id for one in draft.life.results}
    for number, part in enumerate(note.parts):
        source = _part(old, part.slug) if part.slug in flaw_data()["copied"]["old_values"] else None
        if source is None or source.text == part.text:
            continue
        rests = values.intersection(part.facts)
        if len(rests.difference(source.facts)) < 2:
            continue
        key = draft.section(note, number)
        if draft.wants("outdated_copy", f"old_{part.slug}", key):
            draft.set_part(at, number, replace(source, header=part.header))
            draft.add(
                "outdated_copy", f"old_{part.slug}", at=note.stored, encounter=note.encounter,
                facts=tuple(sorted(rests)), places=(key,), charted=source.text, right=part.text,
            )  # fmt: skip
            return


def _part(note: Note, slug: str) -> NotePart | None:
    return next((part for part in note.parts if part.slug == slug), None)


# ---- sentences ----


def mix_up_doses(draft: Draft) -> None:
    """Double a dose in a medication list; the order has the right one. A place is a list."""
    orders = {order.id: order for order in draft.life.prescriptions}
    for at, note in enumerate(draft.notes):
        for number, part in enumerate(note.parts):
            if part.slug not in ("medications", "discharge-medications"):
                continue
            wrong = {line: found for line in range(len(part.sentences)) if (found := _wrong_dose(part, line, orders))}
            key = draft.section(note, number)
            if not wrong or not draft.wants("contradiction", "med_list_vs_note", f"{key}#dose"):
                continue
            line = draft.stream("dose", key).choice(list(wrong))
            order, dose = wrong[line]
            draft.take(draft.key("MedicationRequest", order.id))  # it keeps its name
            text = part.sentences[line].text.replace(order.dose, dose)
            draft.set_sentence(at, number, line, text)
            draft.add(
                "contradiction", "med_list_vs_note", at=note.stored, encounter=note.encounter, facts=(order.id,),
                places=(key, draft.key("MedicationRequest", order.id)), charted=text,
                right=f"{order.name} {order.dose}",
            )  # fmt: skip


def _wrong_dose(part: NotePart, line: int, orders: dict[str, Prescription]) -> tuple[Prescription, str] | None:
    """Return the one order a line is about and the double of its dose, which no order of the drug has."""
    said = part.sentences[line]
    mine = [orders[fact] for fact in said.facts if fact in orders]
    if len(mine) != 1 or mine[0].name.casefold() not in said.text.casefold() or said.text.count(mine[0].dose) != 1:
        return None
    figure, _, unit = mine[0].dose.partition(" ")
    if not unit or not plain_number(figure):
        return None
    wrong = f"{_doubled(figure)} {unit}"
    same = any(one.dose == wrong for one in orders.values() if one.drug == mine[0].drug)
    return None if same else (mine[0], wrong)


def _doubled(figure: str) -> str:
    text = f"{Decimal(figure) * 2:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def mix_up_sides(draft: Draft) -> None:
    """Write the other side of an imaging finding; the report has the right one."""
    studies = {one.id: one.study for one in draft.life.signs if one.side is not None and one.study is not None}
    texts = {
        report.study: " ".join(said.text for said in (*report.findings, *report.impression)).casefold()
        for report in draft.record.reports
    }
    everything = " ".join(texts.values())
    for at, number, line in _sentences(draft):
        note = draft.notes[at]
        said = note.parts[number].sentences[line]
        shown = [texts.get(studies[fact] or "", "") for fact in said.facts if fact in studies]
        match = _SIDED.search(said.text)
        if match is None or not shown:
            continue
        side, thing = match[1], match[2]
        against = any(f"{side.casefold()} {thing}" in text for text in shown)
        if not against or f"{_OTHER[side].casefold()} {thing}" in everything:
            continue
        key = draft.section(note, number)
        if draft.wants("contradiction", "laterality", f"{key}#{line}"):
            text = said.text[: match.start(1)] + _OTHER[side] + said.text[match.end(1) :]
            draft.set_sentence(at, number, line, text)
            fact = next(fact for fact in said.facts if fact in studies)
            draft.add(
                "contradiction", "laterality", at=note.stored, encounter=note.encounter, facts=(fact,),
                places=(key, draft.key("DiagnosticReport", studies[fact] or "")), charted=text, right=said.text,
            )  # fmt: skip


def _sentences(draft: Draft) -> Iterator[tuple[int, int, int]]:
    """Yield note, section and line of every sentence."""
    for at, note in enumerate(draft.notes):
        for number, part in enumerate(note.parts):
            for line in range(len(part.sentences)):
                yield at, number, line


def stray_paragraph(draft: Draft) -> None:
    """Put a paragraph about somebody else into a note."""
    data = flaw_data()["strangers"]
    for at, note in enumerate(draft.notes):
        for number, part in enumerate(note.parts):
            key = draft.section(note, number)
            if part.slug not in data["sections"] or not draft.wants("wrong_patient", part.slug, key):
                continue
            text = _stranger(draft, f"{note.id}-{number}", int(instant_text(note.at)[:4]))
            gap = "\n\n" if not part.lines else ""
            # facts stay empty: the words rest on no fact of this patient
            said = (*part.sentences, replace(part.sentences[0], text=gap + text, facts=()))
            draft.set_part(at, number, replace(part, sentences=said))
            draft.add(
                "wrong_patient", part.slug, at=note.stored, encounter=note.encounter, facts=("person",), places=(key,),
                charted=text, right="this paragraph is about another patient",
            )  # fmt: skip


def _stranger(draft: Draft, place: str, year: int) -> str:
    data, stream = flaw_data()["strangers"], draft.stream("stranger", place)
    person = draft.life.person
    age = year - int(person.birth_date[:4])
    ages = [one for one in range(21, 95) if abs(one - age) >= 15]
    sex = stream.choice(("male", "female"))
    words = data["words"][sex]
    fits = [[one for one in data[kind] if data["only"].get(one, sex) == sex] for kind in ("illnesses", "complaints")]
    names = [name for name in data["names"] if name.casefold() not in person.name.casefold()]
    text: str = stream.choice(data["sentences"])
    return text.format(
        name=stream.choice(names), age=stream.choice(ages), illness=stream.choice(fits[0]),
        complaint=stream.choice(fits[1]), **words,
    )  # fmt: skip
