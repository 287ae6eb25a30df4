"""Cutting notes into sections: nothing lost, headers found as people write them, linear time."""

from __future__ import annotations

import time

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.patients.notes import MAX_SECTIONS, OTHER, PREAMBLE, numbered, split_sections

NOTE = """Name:  ___                     Unit No:   ___

Admission Date:  ___              Discharge Date:   ___

Service: MEDICINE

Allergies:
Penicillins

Attending: ___.

Chief Complaint:
Swollen ankles

History of Present Illness:
Ms. ___ gained four kilograms in a week.

ED COURSE:
Furosemide was given.

PAST MEDICAL HISTORY
1. Gout
2. Allergies

social history:
___
Discharge Day Physical Exam: ankles slim

Brief Hospital Course:
# Heart failure: diuresed.

ACTIVE ISSUES:
none

TRANSITIONAL ISSUES:
- weigh daily

Discharge Medications:
1. Furosemide 40 mg PO DAILY

Pets At Home:
Two cats

Discharge Instructions:
Dear Ms. ___, rest.

Followup Instructions:
___
""".replace("\n\n", "\n \n")  # a blank line of MIMIC-IV-Note holds a blank


def slugs(text: str, vocabulary: str = "discharge") -> list[str]:
    return [section.slug for section in split_sections(text, vocabulary)]


def whole(text: str, vocabulary: str = "discharge") -> str:
    return "".join(text[one.start : one.end] for one in split_sections(text, vocabulary))


def test_a_discharge_note() -> None:
    sections = split_sections(NOTE)
    assert [name for name, _ in numbered(sections)] == [
        "preamble", "service", "allergies", "attending", "chief-complaint", "history-of-present-illness",
        "past-medical-history", "social-history", "physical-exam", "hospital-course", "transitional-issues",
        "discharge-medications", "other", "discharge-instructions", "followup-instructions",
    ]  # fmt: skip
    named = dict(numbered(sections))
    assert named["preamble"].header is None
    assert named["past-medical-history"].header == "PAST MEDICAL HISTORY"
    assert named["past-medical-history"].title == "Past Medical History"
    assert named["physical-exam"].header == "Discharge Day Physical Exam"
    assert (named["other"].header, named["other"].title) == ("Pets At Home", "Pets At Home")
    course = named["hospital-course"]
    assert "ACTIVE ISSUES" in NOTE[course.body : course.end], "subheadings of a hospital course stay in it"
    assert NOTE[course.start : course.body] == "Brief Hospital Course:"
    assert [one.plan for one in sections if one.plan] == ["treatment", "followup", "discharge-planning", "followup"]
    assert whole(NOTE) == NOTE


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Chief Complaint: cough", ["chief-complaint"]),
        ("cHIEF cOMPLAINT : cough", ["chief-complaint"]),
        ("Chief Complaint\ncough", ["chief-complaint"]),
        ("  CHIEF  COMPLAINT:\r\ncough\r\n\r\nAllergies:\r\nnone", ["chief-complaint", "allergies"]),
        ("3) Chief Complaint: cough\n4. PMH: none", ["chief-complaint", "past-medical-history"]),
        ("# Chief Complaint\ncough\n\n# Social History\nlives alone", ["chief-complaint", "social-history"]),
        ("**Family History:** none", ["family-history"]),
        ("Seen. Past Medical History: gout", [PREAMBLE, "past-medical-history"]),
        ("Sex: F   Allergies: none  Chief Complaint: cough", [PREAMBLE, "allergies", "chief-complaint"]),
        ("主诉：咳嗽3天。现病史：发热。\n出院医嘱\n按时服药", ["chief-complaint", "history-of-present-illness", "discharge-instructions"]),  # noqa: E501
        ("【既往史】：高血压", ["past-medical-history"]),
    ],
)  # fmt: skip
def test_headers_as_people_write_them(text: str, found: list[str]) -> None:
    assert slugs(text) == found
    assert whole(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "She denied any\nallergies\nand went home.",
        "Past illnesses:\n1. Allergies\n2. Gout",
        "He read the discharge instructions: all of them.",
        "We spoke of her past medical history at length.",
        "Discussed with the\nService: they agree.",
        "Take one tablet: daily.",
        "Rest\nOther Words Here:\nno blank line before them",
        "Rest\n\nOther Words Here: with text after them",
        "Rest\n\nwritten small:\ntext",
    ],
)
def test_words_that_are_no_headers(text: str) -> None:
    assert slugs(text) == [PREAMBLE]


def test_sections_of_a_report() -> None:
    text = "EXAMINATION: CT HEAD W/O CONTRAST\n\nINDICATION: fall\n\nFINDINGS:\nNone.\n\nIMPRESSION: No bleed.\n"
    assert slugs(text, "radiology") == ["examination", "indication", "findings", "impression"]
    flowing = "EXAMINATION: Chest AP INDICATION: cough FINDINGS: clear. IMPRESSION: Normal."
    assert slugs(flowing, "radiology") == ["examination", "indication", "findings", "impression"]


def test_edges() -> None:
    assert split_sections("") == ()
    assert slugs("  \n ") == [PREAMBLE]
    assert slugs("\n\nChief Complaint: x") == ["chief-complaint"], "blank lines are no section of their own"
    assert split_sections("\n\nChief Complaint: x")[0].start == 0
    assert [name for name, _ in numbered(split_sections("PMH: a\nPMH: b\nPMH: c"))] == [
        "past-medical-history", "past-medical-history-2", "past-medical-history-3",
    ]  # fmt: skip


PIECES = st.sampled_from(
    ["Chief Complaint", "PMH", "Allergies", "IMPRESSION", "Pets At Home", ":", "：", "\n", "\r\n", "\r", " ", "  ",
     "1. ", "# ", "**", "cough", "主诉", "。", "\x00", "\u2028", "\ufeff", "é", "___", ". ", "\t"]
)  # fmt: skip


@given(st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=60).map("".join)))
@settings(max_examples=300, deadline=None)
def test_the_sections_are_the_note(text: str) -> None:
    for vocabulary in ("discharge", "radiology"):
        sections = split_sections(text, vocabulary)
        assert "".join(text[one.start : one.end] for one in sections) == text
        for one in sections:
            assert one.start <= one.body <= one.end
            assert (one.header is None) == (one.slug == PREAMBLE)
            assert one.header is None or one.header in text[one.start : one.body]
        names = [name for name, _ in numbered(sections)]
        assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "piece",
    ["a b c ", ":", "\x00", "\n", ":\n", "Chief Complaint:\n", "Odd Words Here:\n\n", " ", "Past Medical History ",
     "x. Past Medical History: ", "#", "A ", "主诉：", "1. "],
)  # fmt: skip
def test_hostile_notes_take_linear_time(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    began = time.perf_counter()
    sections = split_sections(text)
    taken = time.perf_counter() - began
    assert "".join(text[one.start : one.end] for one in sections) == text
    assert len(sections) <= MAX_SECTIONS
    assert taken < 5, "200 kB; quadratic time would take minutes"


def test_beyond_the_limit_the_rest_stays_in_the_last_section() -> None:
    text = "".join(f"Odd Words Number{'I' * (number % 7)}:\n\n" for number in range(MAX_SECTIONS + 50))
    sections = split_sections(text)
    assert len(sections) == MAX_SECTIONS
    assert {one.slug for one in sections} == {OTHER}
    assert sections[-1].end == len(text)


def test_the_vocabulary_is_sound() -> None:
    from importlib.resources import files

    data = orjson.loads(files("wardround.patients").joinpath("data/note_sections.json").read_bytes())
    for name, entries in data["sets"].items():
        assert len({entry["slug"] for entry in entries}) == len(entries)
        for entry in entries:
            assert entry["headers"][0] == entry["title"]
            assert len(entry["slug"]) <= 28, "ids are `note-<note_id>-<slug>-<n>`, at most 64 characters"
            for header in entry["headers"]:
                assert slugs(f"{header}: text", name) == [entry["slug"]], header
