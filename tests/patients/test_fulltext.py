"""Full-text search: the index against a scan of every text, under clock and view, in two languages."""

from __future__ import annotations

import sqlite3
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.patients import (
    Chart,
    ChartBuilder,
    ChartStore,
    DataError,
    Overlay,
    Search,
    StoreWriter,
    ViewFilter,
    parse_instant,
)
from wardround.patients.elements import document_text
from wardround.patients.fulltext import folded, phrase, snippet

KINDS = ("CarePlan", "DiagnosticReport", "DocumentReference")


# -- the truth: written apart from the index, character by character ---------------------------------------------------


def plain(text: str) -> str:
    out = []
    for char in text:
        letters = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", char).casefold())
        out.append("".join(one for one in letters if unicodedata.category(one) not in ("Mn", "Me", "Cf")))
    return "".join(out)


def chinese(char: str) -> bool:
    return char.isalnum() and char >= "\u2e80"


def words(text: str) -> list[str]:
    text = plain(text)
    found: list[str] = []
    open_run = False  # the word before is Chinese and only blanks came since
    place = 0
    while place < len(text):
        start = place
        if chinese(text[place]):
            while place < len(text) and chinese(text[place]):
                place += 1
            if open_run:
                found[-1] += text[start:place]
            else:
                found.append(text[start:place])
            open_run = True
        elif text[place].isalnum():
            while place < len(text) and (is_latin(text[place]) or is_point(text, place)):
                place += 1
            found.append(text[start:place])
            open_run = False
        else:
            open_run = open_run and text[place].isspace()
            place += 1
    return found


def is_latin(char: str) -> bool:
    return char.isalnum() and char < "\u2e80"


def is_point(text: str, place: int) -> bool:
    around = text[place - 1 : place] + text[place + 1 : place + 2]
    return text[place] in ".," and len(around) == 2 and around.isdecimal()


def stands(text: str, keyword: str) -> bool:
    """Tell whether a keyword stands in a text: word by word, the ends of Chinese runs open."""
    wanted, there = words(keyword), words(text)
    if not wanted:
        return False
    opening, closing = wanted[0][0] >= "\u2e80", wanted[-1][-1] >= "\u2e80" or keyword.rstrip().endswith("*")
    if len(wanted) == 1:
        one = wanted[0]
        if opening:
            return any(one in word for word in there)
        return any(word == one or (closing and word.startswith(one)) for word in there)
    for place in range(len(there) - len(wanted) + 1):
        run = there[place : place + len(wanted)]
        if (
            (run[0].endswith(wanted[0]) if opening else run[0] == wanted[0])
            and run[1:-1] == wanted[1:-1]
            and (run[-1].startswith(wanted[-1]) if closing else run[-1] == wanted[-1])
        ):
            return True
    return False


@pytest.mark.parametrize(
    ("text", "keyword", "there"),
    [
        ("She had chest-\npain, then left.", "Chest Pain", True),
        ("chest pains", "chest pain", False),
        ("chest pains", "chest pain*", True),
        ("Pneumonia", "pneumo*", True),
        ("Pneumonia", "pneumo", False),
        ("myopericarditis", "pericarditis", False),
        ("INR 12.5 today", "2.5", False),
        ("INR 12.5 today", "12.5", True),
        ("INR 12.5 today", "12", False),
        ("25,000 units", "25,000", True),
        ("Café, naïve Löwe", "cafe naive lowe", True),
        ("ＣＲＰ　高", "crp", True),
        ("straße", "STRASSE", True),
        ("war\u00adfarin", "warfarin", True),
        ("服用华法林治疗", "华法林", True),
        ("服用华\n法林治疗", "华法林", True),
        ("服用华，法林治疗", "华法林", False),
        ("华法林5mg口服", "5mg", True),
        ("华法林5mg口服", "法林5mg口", True),
        ("头痛、发热", "头痛 发热", False),
        ("anything", "...", False),
        ("anything", "*", False),
        ("", "a", False),
        ("a\x00b", "a b", True),
    ],
)
def test_what_matches(text: str, keyword: str, there: bool) -> None:
    wanted = phrase(keyword)
    assert (wanted is not None and wanted.within(text)) is there
    assert stands(text, keyword) is there, "the tests' own scan agrees"


ALPHABET = [
    "pain", "Pain", "chest", "päin", "pai", "12.5", "12", "5", "5mg", "华法林", "法林", "华", "痛", " ", " ", "-", "\n",
    ", ", "。", "，", ".", "\x00", "\u200b", "é", "e\u0301", "İ", "ß", "ﬁ", "*", "_", "か", "が", "ｃ",
]  # fmt: skip
TEXT = st.lists(st.sampled_from(ALPHABET), max_size=14).map("".join)
KEYWORD = st.lists(st.sampled_from(ALPHABET), min_size=1, max_size=4).map("".join)


@given(TEXT, KEYWORD)
@settings(max_examples=600, deadline=None)
def test_the_folded_search_is_the_scan(text: str, keyword: str) -> None:
    wanted = phrase(keyword)
    assert (wanted is not None and wanted.within(text)) == stands(text, keyword)
    if wanted is not None:
        found = snippet(text, wanted)
        assert (found is not None) == wanted.within(text)


@given(st.text(max_size=60), st.text(max_size=6))
@settings(max_examples=300, deadline=None)
def test_any_text_is_searchable(text: str, keyword: str) -> None:
    wanted = phrase(keyword)
    assert "\n" not in folded(text)
    if wanted is not None:
        assert wanted.within(f"before {keyword} after") or keyword.rstrip()[-1:] == "*"


def test_snippets_are_bounded_and_hold_the_match() -> None:
    for filler, word in (
        ("lorem ", "Pneumo-\nthorax"),
        ("早晚饭后", "气胸"),
        ("é " * 3, "Pneumo-\nthorax"),
        ("ß", " gout "),
    ):
        text = f"{filler * 2000} {word} {filler * 2000}"
        found = phrase(word)
        assert found is not None
        shown = snippet(text, found)
        assert shown is not None and len(shown) < 260
        assert shown.startswith("… ") and shown.endswith(" …")
        assert found.within(shown)
    wanted = phrase("gout")
    assert wanted is not None
    assert snippet("Has gout.", wanted) == "Has gout."
    assert snippet("Has none.", wanted) is None


# -- charts ------------------------------------------------------------------------------------------------------------

TITLES = ("Chief Complaint", "Hospital Course", "Discharge Instructions")
DAY = [f"2150-03-{day:02d}T08:00:00Z" for day in range(1, 9)]


def chart_of(notes: list[tuple[str, int, int, list[str]]]) -> Chart:
    """Build a chart of (kind, day written, days until stored, texts)."""
    builder = ChartBuilder("p")
    builder.encounter("s", "IMP", DAY[0], DAY[7])
    for number, (kind, day, later, texts) in enumerate(notes):
        at, stored = DAY[day], DAY[min(day + later, 7)]
        stay = "s" if number % 2 else None
        if kind == "DiagnosticReport":
            builder.report("CT", " ".join(texts) or " ", at=at, issued=stored, encounter=stay)
        elif kind == "CarePlan":
            builder.care_plan(TITLES[number % 3], "; ".join(texts) or "-", at=at, known_at=stored, encounter=stay)
        else:
            sections = dict(zip(TITLES, texts, strict=False)) or {"Chief Complaint": "-"}
            builder.note("Note", sections, at=at, stored=stored, encounter=stay)
    return builder.chart()


NOTES = st.lists(
    st.tuples(
        st.sampled_from(KINDS),
        st.integers(0, 7),
        st.integers(0, 3),
        st.lists(TEXT.map(lambda one: one or "-"), max_size=3),
    ),
    max_size=8,
)
VIEWS = st.sampled_from(
    [
        None,
        ViewFilter(sections=("hospital course",)),
        ViewFilter(sections=("Chief Complaint", "Discharge Instructions")),
        ViewFilter(types=("CarePlan",)),
        ViewFilter(encounters=("s",)),
    ]
)


def scanned(snapshot: Any, kind: str, keyword: str, stay: str | None) -> list[str]:
    """Search by reading every visible resource."""
    entries = snapshot.search(Search(kind, encounter=stay)).entries()
    return [entry.id for entry in entries if stands(document_text(entry.resource()) or "", keyword)]


@given(NOTES, st.integers(0, 7), VIEWS, st.lists(KEYWORD, min_size=1, max_size=4), st.sampled_from([None, "s"]))
@settings(max_examples=60, deadline=None)
def test_the_index_is_the_scan(
    notes: list[tuple[str, int, int, list[str]]],
    day: int,
    view: ViewFilter | None,
    keywords: list[str],
    stay: str | None,
) -> None:
    chart = chart_of(notes)
    for when in (day, 7):
        snapshot = chart.at(parse_instant(DAY[when]), view)
        overlay = Overlay(snapshot)
        overlay.create(
            {
                "resourceType": "CarePlan", "status": "active", "intent": "plan", "description": "pain 华法林 12.5",
                "subject": {"reference": "Patient/p"},
            }
        )  # fmt: skip
        for keyword in keywords:
            for kind in KINDS:
                found = [entry.id for entry in snapshot.search(Search(kind, encounter=stay, keyword=keyword)).entries()]
                assert found == scanned(snapshot, kind, keyword, stay)
                merged = overlay.search(Search(kind, encounter=stay, keyword=keyword))
                assert [entry.id for entry in merged.entries()] == scanned(overlay, kind, keyword, stay)
                assert merged.total == len(merged.entries())


def test_hidden_sections_never_match() -> None:
    chart = chart_of(
        [("DocumentReference", 0, 0, ["cough", "furosemide given"]), ("CarePlan", 0, 0, ["furosemide daily"])]
    )
    at = parse_instant(DAY[7])
    assert chart.at(at).search(Search("DocumentReference", keyword="furosemide")).total == 1
    hidden = chart.at(at, ViewFilter(sections=("Hospital Course",)))
    assert hidden.search(Search("DocumentReference", keyword="furosemide")).total == 0
    assert hidden.search(Search("DocumentReference", keyword="cough")).total == 1
    assert hidden.search(Search("CarePlan", keyword="furosemide")).total == 0, "the plan carries the section's title"


def test_a_later_note_is_not_found_before_it_is_known() -> None:
    chart = chart_of([("DocumentReference", 1, 2, ["gout"]), ("DocumentReference", 1, 0, ["gout"])])
    totals = [chart.at(parse_instant(at)).search(Search("DocumentReference", keyword="gout")).total for at in DAY[:5]]
    assert totals == [0, 1, 1, 2, 2]


def builder_of_one() -> ChartBuilder:
    builder = ChartBuilder("p")
    builder.note("Note", "Gout of the left foot.", at=DAY[0])
    return builder


def test_the_index_is_stored_and_does_not_touch_the_hash(tmp_path: Path) -> None:
    packed = builder_of_one().packed()
    assert packed.texts
    path = tmp_path / "c.sqlite"
    with StoreWriter(path) as writer:
        writer.add_packed(packed)
    with ChartStore.open(path) as store:
        assert store.texts("p") == packed.texts
        chart = store.chart("p")
        assert chart.hash == packed.hash
        assert chart.at(parse_instant(DAY[1])).search(Search("DocumentReference", keyword="left foot")).total == 1
    database = sqlite3.connect(path)
    database.execute("UPDATE texts SET body = ?", (b"rubbish",))
    database.commit()
    with ChartStore.open(path) as store, pytest.raises(DataError, match="text index of p is damaged"):
        store.chart("p").at(parse_instant(DAY[1])).search(Search("DocumentReference", keyword="foot"))
    database.execute("DROP TABLE texts")
    database.commit()
    database.close()
    with ChartStore.open(path) as store:  # an older store has no index: it is made from the bodies
        chart = store.chart("p")
        assert chart.at(parse_instant(DAY[1])).search(Search("DocumentReference", keyword="left foot")).total == 1


def test_a_chart_without_texts_has_none() -> None:
    builder = ChartBuilder("p")
    builder.lab("Potassium", "4.1", "mmol/L", at=DAY[0])
    chart = builder.chart()
    snapshot = chart.at(parse_instant(DAY[1]))
    for kind in (*KINDS, "Observation"):
        assert snapshot.search(Search(kind, keyword="potassium")).total == 0
