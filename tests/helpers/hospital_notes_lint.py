"""What is wrong with the wording of notes, and how alike two notes are: a library for tests and for reading over."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import combinations

from wardround.patients.hospital.life import Life
from wardround.patients.hospital.record import Note, Record

# -- wording -----------------------------------------------------------------------------------------------------------

_FAULTS = (
    (r"[{}]", "a brace"),
    (r"\[|\]", "a bracket"),
    (r"\bNone\b(?! (?:known|on|reported|recorded|at|this|sent|available|scheduled|prescribed|obtained|made|taken|named"
     r"|drawn|noted|ordered|to|in))(?=[a-z ,]*[a-z,])", "None"),
    (r"  ", "two blanks"),
    (r"\.\.(?!\.)(?<!\.\.\.)", "two stops"),
    (r" [,.;:!?)]", "a blank before a stop"),
    (r"[,;:] ?[,;:.]", "stop after stop"),
    (r"\( | \)|\(\)", "an empty or wide parenthesis"),
    (r"[a-z0-9)]\([a-zA-Z0-9]", "no blank before a parenthesis"),
    (r"\b1 (?:days|weeks|months|years|hours|drinks|falls|units of)\b", "1 with a plural"),
    (r"\b(?:[02-9]|\d{2,}) (?:day|week|month|year|hour|drink|fall)\b(?!-)", "a number with a singular"),
    (r"\b[Aa] (?:[aeiAEI]|8|11\b|18\b|u(?!ni|s|ri|re|te))", "a before a vowel"),
    (r"\b[Aa]n (?:[bcdfgjklmpqrtvwyz]|[BCDGJKPQTVWYZ])", "an before a consonant"),
    (r"\b(\w+) \1\b", "a word twice"),
    (r"_", "an id"),
    (r"[\u4e00-\u9fff]", "Chinese"),
    (r"\band (?:and|or)\b|\bor (?:and|or)\b|, and,|\bthe the\b|\bof of\b", "joined twice"),
    (r"\b(?:and|or|with|the|a|an)[.;]$", "an open end"),
)  # fmt: skip
_PATTERNS = tuple((re.compile(pattern), name) for pattern, name in _FAULTS)
_TWICE_RIGHT = frozenset(("had had", "that that", "irreg irreg"))
_DOTTED = re.compile(r"[a-z]{3,}\. [a-z]")
_HIS = {"male": re.compile(r"\b(?:she|her|hers|herself|She|Her|woman|girl|Ms)\b"),
        "female": re.compile(r"\b(?:he|him|his|himself|He|Him|His|man|boy|Mr)\b")}  # fmt: skip
_OTHERS = frozenset(("family-history",))


def wording_faults(life: Life, record: Record) -> list[str]:
    """Return every slip of wording: "n3 plan: two blanks: …"."""
    found = []
    for note in record.notes:
        for part in note.parts:
            if not part.sentences:
                found.append(f"{note.id} {part.slug}: an empty section")
            for sentence in part.sentences:
                where = f"{note.id} {note.kind} {part.slug}"
                found += [f"{where}: {fault}: {sentence.text}" for fault in sentence_faults(sentence.text)]
                if part.slug not in _OTHERS and _HIS[life.person.sex].search(sentence.text):
                    found.append(f"{where}: the other sex: {sentence.text}")
    for report in record.reports:
        for sentence in (*report.findings, *report.impression):
            found += [f"{report.study}: {fault}: {sentence.text}" for fault in sentence_faults(sentence.text)]
    return found


def sentence_faults(text: str) -> Iterator[str]:
    """Yield the names of the faults of one sentence."""
    if not text.strip() or text != text.strip():
        yield "empty, or blanks around"
        return
    for pattern, name in _PATTERNS:
        match = pattern.search(text)
        if match and match[0] not in _TWICE_RIGHT and not (name == "a word twice" and match[1].isdigit()):
            yield name
    first = re.sub(r"^(?:- |\* |# |\d+\. )", "", text).split(" ")[0]
    if first[:1].islower() and first.islower():
        yield "a small letter first"
    if _DOTTED.search(text) and not re.search(r"\b(?:ophth|vs|approx|assoc|cont|diff|resp)\. ", text):
        yield "a small letter after a stop"


# -- likeness ----------------------------------------------------------------------------------------------------------


def grams(text: str, size: int = 5) -> frozenset[tuple[str, ...]]:
    """Return the distinct runs of `size` words: words are runs of letters, digits and % in lower case."""
    words = re.findall(r"[a-z0-9%]+", text.lower())
    return frozenset(tuple(words[at : at + size]) for at in range(len(words) - size + 1))


def overlap(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    """Return |A∩B| / min(|A|, |B|) of two sets of distinct 5-grams; 0 where one is empty."""
    least = min(len(one), len(other))
    return len(one & other) / least if least else 0.0


def note_text(note: Note) -> str:
    """Return a note as it is read."""
    return "\n\n".join(f"{part.header}:\n{part.text}" for part in note.parts)


def likeness(lives: Iterable[tuple[Life, Record]]) -> dict[str, tuple[float, int]]:
    """Return, by kind of note, the mean overlap of pairs of notes of one kind and principal condition, and their count.

    Only notes of different patients are paired.
    """
    groups: dict[tuple[str, str], list[tuple[str, frozenset[tuple[str, ...]]]]] = {}
    for life, record in lives:
        stays = {stay.id: stay for stay in life.stays}
        conditions = {illness.id: illness.condition for illness in life.illnesses}
        for note in record.notes:
            condition = conditions[stays[note.encounter].principal]
            groups.setdefault((note.kind, condition), []).append((life.patient_id, grams(note_text(note))))
    sums: dict[str, tuple[float, int]] = {}
    for (kind, _), notes in groups.items():
        for (mine, one), (theirs, other) in combinations(notes, 2):
            if mine != theirs:
                total, count = sums.get(kind, (0.0, 0))
                sums[kind] = total + overlap(one, other), count + 1
    return {kind: (total / count, count) for kind, (total, count) in sorted(sums.items())}


# -- grounding ---------------------------------------------------------------------------------------------------------


def fact_times(life: Life) -> dict[str, int]:
    """Return when each fact of a life may first be told."""
    times: dict[str, int] = {"person": life.stays[0].start if life.stays else 0}
    for fact in (*life.illnesses, *life.signs, *life.results, *life.prescriptions, *life.allergies, *life.studies,
                 *life.relatives):  # fmt: skip
        times[fact.id] = fact.known_at
    for event in (*life.cultures, *life.treated, *life.events, *life.plans, *life.doses):
        times[event.id] = event.at
    for stay in life.stays:
        times[stay.id] = stay.start
    starts = {stay.id: stay.start for stay in life.stays}
    for told in (*life.adherence, *life.functions):
        times[told.id] = starts[told.encounter]
    for vaccine in life.vaccines:
        times[vaccine.id] = vaccine.at
    return times


def grounding_faults(life: Life, record: Record) -> list[str]:
    """Return sentences that rest on nothing, on what does not exist, on what is not known yet or not charted."""
    times, found = fact_times(life), []
    hidden = {one.id for one in life.signs if not one.told} | {one.id for one in life.adherence if not one.charted}
    died = life.person.died
    for note in record.notes:
        if note.stored < note.at or (died is not None and note.stored > died):
            found.append(f"{note.id}: stored {note.stored}, at {note.at}, died {died}")
        for part in note.parts:
            for sentence in part.sentences:
                for fact in sentence.facts:
                    if fact not in times:
                        found.append(f"{note.id} {part.slug}: no fact {fact}: {sentence.text}")
                    elif times[fact] > note.at:
                        found.append(f"{note.id} {part.slug}: {fact} is not known yet: {sentence.text}")
                    elif fact in hidden:
                        found.append(f"{note.id} {part.slug}: {fact} is not for notes: {sentence.text}")
                if not sentence.facts and re.search(r"\d", sentence.text):
                    found.append(f"{note.id} {part.slug}: a figure without a fact: {sentence.text}")
    return found
