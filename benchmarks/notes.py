"""Full text over a patient with 3,000 notes of some 2 KB: index size, first and new searches, beside reading all."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from benchmarks.charts import ANCHOR
from benchmarks.timing import Row, once_us
from wardround.patients import (
    ChartBuilder,
    ChartStore,
    Search,
    Snapshot,
    StoreWriter,
    Stream,
    format_instant,
    parse_instant,
)
from wardround.patients.elements import document_text
from wardround.patients.fulltext import phrase

NOTES = 3000
_WORDS = (
    "the", "patient", "was", "admitted", "with", "and", "without", "evidence", "of", "acute", "chronic", "pain",
    "heart", "lung", "kidney", "left", "right", "daily", "blood", "pressure", "treated", "given", "stable",
    "improved", "follow", "up", "course", "noted", "imaging", "showed", "no", "effusion", "normal", "mild",
    "moderate", "severe", "furosemide", "warfarin", "lisinopril", "metoprolol", "pneumonia", "cellulitis",
    "creatinine", "potassium", "sodium", "oxygen", "saturation", "afebrile", "overnight",
)  # fmt: skip
_ROUNDS = 15


def noted() -> ChartBuilder:
    """Return a patient whose notes are random words; every three hundredth speaks of perindopril."""
    stream = Stream("bench-notes", NOTES)
    builder = ChartBuilder("bench", sex="male", birth_date="2085-01-01")
    first = parse_instant("2150-01-01T06:00:00Z")
    step = (parse_instant(ANCHOR) - first) // NOTES
    for number in range(NOTES):
        words = [_WORDS[stream.below(len(_WORDS))] + ("\n" if stream.below(14) == 0 else "") for _ in range(300)]
        if number % 300 == 7:
            words.insert(stream.below(300), "perindopril cough")
        builder.note("Progress note", {"Course": " ".join(words)}, at=format_instant(first + number * step))
    return builder


def _read_all(snapshot: Snapshot, keyword: str) -> int:
    wanted = phrase(keyword)
    assert wanted is not None
    entries = snapshot.search(Search("DocumentReference")).entries()
    return sum(wanted.within(document_text(entry.resource()) or "") for entry in entries)


def keyword_rows() -> list[Row]:
    """Time the first search of a stored chart, and new searches of an open one; nothing that is kept is timed."""
    packed = noted().packed()
    assert packed.texts is not None
    bodies = sum(map(len, packed.frames))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "notes.sqlite"
        with StoreWriter(path) as writer:
            writer.add_packed(packed)
        cold, warm, common, floor = [], [], [], []
        for number in range(_ROUNDS):
            with ChartStore.open(path) as store:
                snapshot = store.chart("bench").at(parse_instant(ANCHOR))
                snapshot.search(Search("DocumentReference"))
                rare = Search("DocumentReference", keyword="perindopril")
                cold.append(once_us(lambda: snapshot.search(rare)))  # noqa: B023 - called at once
                phrases = (f"perindopril cough {'*' * (number + 1)}", f"acute {'.' * (number + 1)} pain")
                store.chart("bench").texts().forget()
                warm.append(once_us(lambda: snapshot.search(Search("DocumentReference", keyword=phrases[0]))))  # noqa: B023
                common.append(once_us(lambda: snapshot.search(Search("DocumentReference", keyword=phrases[1]))))  # noqa: B023
                if number < 3:
                    floor.append(once_us(lambda: _read_all(snapshot, "perindopril")))  # noqa: B023
    base = statistics.median(floor)
    size = f"index {len(packed.texts) // 1024} KiB beside bodies of {bodies // 1024} KiB"
    return [
        Row(f"keyword, {NOTES:,} notes, {name}", median, base, median / base, f"reading every note; {size}")
        for name, median in (
            ("first search of a chart", statistics.median(cold)),
            ("a phrase in 10 notes, new", statistics.median(warm)),
            ("a common phrase, new", statistics.median(common)),
        )
    ]
