"""The small hand-made life of `hospital_fixture_life` and its record, with nothing wrong in it."""

from __future__ import annotations

from hospital_fixture_life import PATIENT, make_life, when

from wardround.patients.hospital.record import Note, NotePart, Record, Sentence, Slug, StudyReport

__all__ = ["PATIENT", "make_life", "make_record", "when"]


def _part(slug: Slug, header: str, *sentences: tuple[str, tuple[str, ...]], lines: bool = False) -> NotePart:
    return NotePart(slug, header, tuple(Sentence(text, facts) for text, facts in sentences), lines)


def _progress(identity: str, day: str, rx2: bool, heat: str, facts: tuple[str, ...]) -> Note:
    listed = [("azithromycin 500 mg oral once daily", ("rx3",))]
    if rx2:
        listed.insert(0, ("ceftriaxone 1 g IV every 24 hours", ("rx2",)))
    return Note(
        identity,
        "progress",
        "Progress note",
        when(f"06-{day} 09:00"),
        when(f"06-{day} 10:00"),
        "e2",
        (
            _part("vitals", "Vitals", (f"T {heat}, weight 70.0 kg.", facts)),
            _part("medications", "Current Medications", *listed, lines=True),
            _part(
                "assessment",
                "Assessment",
                (f"Pneumonia, day {int(day) - 1}, with left lower lobe consolidation.", ("d2", "s2")),
            ),
        ),
    )


_ADMISSION = Note(
    "n1",
    "admission",
    "Admission note",
    when("06-02 08:30"),
    when("06-02 09:30"),
    "e2",
    (
        _part("chief-complaint", "Chief Complaint", ("Fever and cough.", ("s1",))),
        _part(
            "history-of-present-illness",
            "HPI",
            (
                "Mr. Lindqvist is a 62-year-old man with heart failure who presents with cough.",
                ("person", "d1", "s1"),
            ),
            ("He denies chest pain.", ("s3",)),
        ),
        _part("medications", "Home Medications", ("metoprolol succinate 50 mg oral once daily", ("rx1",)), lines=True),
        _part("allergies", "Allergies", ("Penicillin (hives).", ("al1",))),
        _part("imaging", "Imaging", ("CXR: left lower lobe consolidation.", ("im1", "s2"))),
    ),
)
_DISCHARGE = Note(
    "n4",
    "discharge",
    "Discharge summary",
    when("06-05 12:00"),
    when("06-05 13:30"),
    "e2",
    (
        _part(
            "hospital-course",
            "Hospital Course",
            (
                "He was treated with ceftriaxone and azithromycin for left lower lobe pneumonia.",
                ("d2", "rx2", "rx3"),
            ),
        ),
        _part(
            "discharge-medications",
            "Discharge Medications",
            ("metoprolol succinate 50 mg oral once daily", ("rx1",)),
            ("doxycycline 100 mg oral BID", ("rx5",)),
            lines=True,
        ),
    ),
)
_REPORT = StudyReport(
    "im1",
    (Sentence("Left lower lobe consolidation.", ("s2",)), Sentence("The heart is enlarged.", ("d1",))),
    (Sentence("Left lower lobe pneumonia.", ("s2",)),),
)


def make_record() -> Record:
    """Return the clean record."""
    notes = (
        _ADMISSION,
        _progress("n2", "03", True, "38.4", ("l17", "l18")),
        _progress("n3", "04", False, "37.6", ("l26", "l27")),
        _DISCHARGE,
    )
    return Record(make_life(), notes, (_REPORT,))
