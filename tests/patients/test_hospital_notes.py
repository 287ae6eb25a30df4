"""Notes and reports composed from lives: grounded, known in time, well worded, and not alike."""

from __future__ import annotations

from dataclasses import replace

import hospital_notes_lint as lint
import pytest

from wardround.patients.hospital.life import Life
from wardround.patients.hospital.living import make_life
from wardround.patients.hospital.record import Note, NotePart, Record
from wardround.patients.hospital.writing import write_record
from wardround.patients.hospital.writing_view import moment
from wardround.patients.knowledge.bedside import study_profiles
from wardround.patients.notes import split_sections

LIVES = 60
MOST_ALIKE = 0.25
"""Mean overlap of distinct word 5-grams, |A∩B| / min(|A|, |B|), of notes of one kind and principal condition."""
EIGHTEEN = {
    "demographics", "chief-complaint", "history-of-present-illness", "past-medical-history", "past-surgical-history",
    "medications", "allergies", "family-history", "social-history", "review-of-systems", "vitals", "physical-exam",
    "labs", "imaging", "pathology", "other-studies", "assessment", "plan",
}  # fmt: skip


@pytest.fixture(scope="module")
def written() -> list[tuple[Life, Record]]:
    """Return lives with their records."""
    lives = [make_life(11, index) for index in range(LIVES)]
    return [(life, write_record(life)) for life in lives]


def _parts(note: Note, slug: str) -> list[NotePart]:
    return [part for part in note.parts if part.slug == slug]


def test_the_same_life_gives_the_same_record_whoever_was_written_before(written: list[tuple[Life, Record]]) -> None:
    for life, record in (written[7], written[3], written[7]):
        assert write_record(make_life(life.seed, life.index)) == record


def test_every_sentence_rests_on_facts_known_when_it_was_written(written: list[tuple[Life, Record]]) -> None:
    faults = [fault for life, record in written for fault in lint.grounding_faults(life, record)]
    assert faults == []


def test_wording_has_no_slips(written: list[tuple[Life, Record]]) -> None:
    faults = [fault for life, record in written for fault in lint.wording_faults(life, record)]
    assert faults == []


def test_notes_of_one_condition_do_not_read_alike(written: list[tuple[Life, Record]]) -> None:
    likeness = lint.likeness(written)
    assert set(likeness) >= {"admission", "progress", "ed", "discharge", "clinic"}
    assert {kind: mean for kind, (mean, _) in likeness.items() if mean > MOST_ALIKE} == {}


def test_the_measure_of_likeness_sees_likeness() -> None:
    one = lint.grams("the patient was admitted with fever and cough for three days")
    other = lint.grams("The patient was admitted with fever; and vomiting.")
    assert lint.overlap(one, one) == 1
    assert lint.overlap(one, other) == pytest.approx(3 / 4)
    assert lint.overlap(one, lint.grams("too short")) == 0


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("A acute illness.", "a before a vowel"),
        ("An painful knee.", "an before a consonant"),
        ("Fever for 1 days.", "1 with a plural"),
        ("Fever for 3 day.", "a number with a singular"),
        ("Fever  and cough.", "two blanks"),
        ("Fever..", "two stops"),
        ("No fever , no cough.", "a blank before a stop"),
        ("{He} has fever.", "a brace"),
        ("fever.", "a small letter first"),
        ("Seen today. fever.", "a small letter after a stop"),
        ("Fever with.", "an open end"),
        ("The the patient.", "a word twice"),
        ("Held None because.", "None"),
    ],
)
def test_the_linter_finds_each_fault(text: str, fault: str) -> None:
    assert fault in list(lint.sentence_faults(text)) or (fault == "a word twice" and "the the" in text.lower())


def test_every_stay_has_its_notes(written: list[tuple[Life, Record]]) -> None:
    for life, record in written:
        roots = [stay for stay in life.stays if stay.part_of is None]
        parts = {stay.id: stay.part_of or stay.id for stay in life.stays}
        for root in roots:
            kinds = [note.kind for note in record.notes if parts[note.encounter] == root.id]
            if root.kind in ("clinic", "ed"):
                assert kinds == [root.kind]
                continue
            assert kinds.count("admission") == kinds.count("discharge") == 1
            assert kinds[-1] == "discharge"
            assert kinds.count("progress") <= 6
            assert kinds.count("ed") == sum(stay.part_of == root.id and stay.kind == "ed" for stay in life.stays)
        assert [note.at for note in record.notes] == sorted(note.at for note in record.notes)
        assert len({note.id for note in record.notes}) == len(record.notes)


def test_all_section_types_are_written(written: list[tuple[Life, Record]]) -> None:
    slugs = {part.slug for _, record in written for note in record.notes for part in note.parts}
    assert slugs >= EIGHTEEN | {"hospital-course", "discharge-medications", "discharge-instructions", "followup"}


def test_nothing_later_moves_a_note(written: list[tuple[Life, Record]]) -> None:
    """A note written from what is known then alone is the same note."""
    tried = 0
    for life, record in written[:20]:
        for note in record.notes[len(record.notes) // 2 :: 3]:
            again = write_record(_until(life, note.at))
            found = [one for one in again.notes if (one.kind, one.at) == (note.kind, note.at)]
            assert [one.parts for one in found] == [note.parts], note.id
            tried += 1
    assert tried > 50


def _until(life: Life, at: int) -> Life:
    """Return a life as it is known at an instant; what is open then is open."""
    return replace(
        life,
        illnesses=tuple(
            replace(one, resolved=None if one.resolved is None or one.resolved > at else one.resolved)
            for one in life.illnesses
            if one.known_at <= at
        ),
        signs=tuple(one for one in life.signs if one.known_at <= at),
        results=tuple(one for one in life.results if one.known_at <= at),
        cultures=tuple(
            replace(
                one,
                stages=tuple(stage for stage in one.stages if stage.at <= at),
                susceptibilities=one.susceptibilities if one.stages[-1].at <= at else (),
            )
            for one in life.cultures
            if one.at <= at
        ),
        prescriptions=tuple(
            one if one.stop is None or one.stop <= at else replace(one, stop=None, ended=None, stop_reason=None)
            for one in life.prescriptions
            if one.known_at <= at
        ),
        treated=tuple(one for one in life.treated if one.at <= at),
        studies=tuple(one for one in life.studies if one.known_at <= at),
        events=tuple(one for one in life.events if one.at <= at),
        plans=tuple(one for one in life.plans if one.at <= at),
    )


def test_medication_lists_are_the_orders_active_then(written: list[tuple[Life, Record]]) -> None:
    seen = 0
    for life, record in written:
        for note in record.notes:
            if note.kind not in ("progress", "consult"):
                continue
            active = {
                (one.name, one.dose, one.frequency)
                for one in life.prescriptions
                if one.start <= note.at and one.known_at <= note.at and (one.stop is None or one.stop > note.at)
            }
            orders = {one.id: one for one in life.prescriptions}
            for part in _parts(note, "medications"):
                told = [orders[fact] for line in part.sentences for fact in line.facts if fact in orders]
                assert {(one.name, one.dose, one.frequency) for one in told} == active
                seen += len(told)
    assert seen > 300


def test_values_stand_as_charted_with_the_right_letter(written: list[tuple[Life, Record]]) -> None:
    seen = 0
    for life, record in written:
        results = {one.id: one for one in life.results}
        for note in record.notes:
            for part in _parts(note, "labs"):
                for sentence in part.sentences:
                    told = [results[fact] for fact in sentence.facts if fact in results]
                    for one in told:
                        if one.text not in sentence.text:  # named only as being in range
                            assert not _flagged(one.text, one.low, one.high), sentence.text
                        seen += one.text in sentence.text
                    if len(told) == 1 and told[0].text in sentence.text:
                        letter = _flagged(told[0].text, told[0].low, told[0].high)
                        assert (f"({letter})" in sentence.text) == bool(letter), sentence.text
    assert seen > 2000


def _flagged(text: str, low: str | None, high: str | None) -> str:
    try:
        value = float(text.lstrip("<>"))
    except ValueError:
        return ""
    if low is not None and (value < float(low) or text == f"<{low}"):
        return "L"
    return "H" if high is not None and (value > float(high) or text == f">{high}") else ""


def test_reports_tell_what_is_shown_and_nothing_normal_of_that_structure(written: list[tuple[Life, Record]]) -> None:
    seen = 0
    for life, record in written:
        signs = {one.id: one for one in life.signs}
        studies = {one.id: one for one in life.studies}
        assert [report.study for report in record.reports] == [study.id for study in life.studies]
        for report in record.reports:
            study, told = studies[report.study], {fact for one in report.findings for fact in one.facts}
            assert set(study.shown) <= told
            assert report.findings and report.impression
            profile = study_profiles()[study.study]
            texts = {one.text.rstrip(".") for one in report.findings}
            for shown in study.shown:
                place = profile.replaces.get(signs[shown].finding)
                if place is not None:
                    assert not texts & {way.rstrip(".") for way in profile.normal[place]}
                    seen += 1
            if not study.shown:  # all normal, unless another study is known to show something there
                normal = report.impression[0].text.rstrip(".") in {one.rstrip(".") for one in profile.normal_impression}
                assert normal == all(one.facts == (study.id,) for one in report.findings)
    assert seen > 50


def test_a_childs_notes_name_who_gives_the_history(written: list[tuple[Life, Record]]) -> None:
    seen = 0
    for life, record in written:
        if life.caregiver not in ("mother", "father"):
            continue
        for note in record.notes:
            if note.kind == "admission" and moment(note.at).year - int(life.person.birth_date[:4]) < 18:
                seen += 1
                text = " ".join(part.text for part in _parts(note, "history-of-present-illness"))
                assert life.caregiver in text
    assert seen


def test_headers_are_those_that_the_reader_of_notes_knows(written: list[tuple[Life, Record]]) -> None:
    """Where the vocabulary of notes has a kind of section, its headers are found again in the text."""
    known = {"history-of-present-illness", "past-medical-history", "past-surgical-history", "social-history",
             "family-history", "hospital-course", "discharge-medications", "discharge-instructions"}  # fmt: skip
    seen = 0
    for _, record in written[:20]:
        for note in record.notes:
            if note.kind != "discharge":
                continue
            found = {section.slug for section in split_sections(lint.note_text(note))}
            mine = {part.slug for part in note.parts} & known
            assert mine <= found, (mine - found, note.id)
            seen += len(mine)
    assert seen > 50


def test_the_dead_are_not_sent_home(written: list[tuple[Life, Record]]) -> None:
    dead = [record for life, record in written if life.person.died is not None]
    if not dead:
        died = (life for index in range(400) if (life := make_life(2026, index)).person.died is not None)
        dead = [write_record(next(died))]
    for record in dead:
        last = record.notes[-1]
        assert last.kind == "discharge"
        assert not {"discharge-instructions", "followup", "discharge-medications"} & {part.slug for part in last.parts}


@pytest.mark.external
def test_three_hundred_lives_hold_all_of_it() -> None:
    """The measures above over many more lives: wording, grounding, likeness."""
    written = []
    for index in range(320):
        life = make_life(23, index)
        record = write_record(life)
        assert lint.wording_faults(life, record) + lint.grounding_faults(life, record) == []
        written.append((life, record))
    assert max(mean for mean, _ in lint.likeness(written).values()) <= MOST_ALIKE
