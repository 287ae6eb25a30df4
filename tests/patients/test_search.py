"""Searches: the index answers as a plain walk over the resources does."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.patients import COLUMNS, Chart, ChartBuilder, Search, ViewFilter, parse_instant
from wardround.patients.search import matches_text

NOW = parse_instant("2180-05-09T00:00:00Z")


@pytest.fixture(scope="module")
def chart() -> Chart:
    build = ChartBuilder("p", sex="female", birth_date="2100-06-01", name="Ann Lee")
    build.encounter("e1", "IMP", "2180-05-01 07:00", reason="fever")
    build.encounter("e2", "AMB", "2180-04-01 07:00", "2180-04-01 08:00")
    build.condition("Heart failure", code="I50.9", onset="2180-05-01", encounter="e1", rank=2, id="b")
    build.condition("Sepsis", code="A41.9", onset="2180-05-01", encounter="e1", rank=1, id="z")
    build.condition("Obesity", code="E66.9", onset="2180-05-01", encounter="e1", rank=3, id="a")
    for day in range(1, 8):
        build.lab(
            "Creatinine", f"{day}.0", "mg/dL", at=f"2180-05-0{day} 06:00", low="0.5", high="4.0", loinc="2160-0",
            encounter="e1", id=f"cr-{day}",
        )  # fmt: skip
    build.lab("Chromium", "<1", "ug/L", at="2180-05-02 06:00", flag="L", id="chr")
    build.lab("Sodium", "140", "mmol/L", at="2180-05-02 06:00", id="na", low="133", high="145")
    build.lab("Blood culture", "NEG", at="2180-05-02", id="bc")
    build.vital("Blood pressure", "128/81", "mmHg", at="2180-05-02 06:00", id="bp")
    build.medication("Warfarin 5 mg tablet", dose="5 mg", route="PO", frequency="daily", start="2180-05-02", id="w")
    build.medication("阿司匹林肠溶片", dose="100 mg", start="2180-05-02 10:00", id="asa")
    build.note("Progress note", {"Plan": "Hold warfarin.", "Course": "Better."}, at="2180-05-03 10:00", id="n")
    return build.chart()


def keys(chart: Chart, query: Search) -> list[str]:
    hits = chart.at(NOW).search(query)
    found = [entry.id for entry in hits.entries()]
    assert hits.total == len(found)
    return found


def test_newest_first_ties_by_id(chart: Chart) -> None:
    assert keys(chart, Search("Observation"))[:6] == ["cr-7", "cr-6", "cr-5", "cr-4", "cr-3", "bp"]
    day = Search("Observation", date_from=parse_instant("2180-05-02"), date_to=parse_instant("2180-05-03"))
    assert keys(chart, day) == ["bp", "chr", "cr-2", "na", "bc"]


def test_the_principal_diagnosis_comes_first(chart: Chart) -> None:
    assert keys(chart, Search("Condition")) == ["z", "b", "a"]
    assert keys(chart, Search("Condition", prefix="i50")) == ["b"]
    assert keys(chart, Search("Condition", prefix="A419")) == ["z"]
    assert keys(chart, Search("Condition", status="active", encounter="e1")) == ["z", "b", "a"]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (Search("Observation", text="creatinine", date_from=parse_instant("2180-05-06")), ["cr-7", "cr-6"]),
        (Search("Observation", text="cr"), []),
        (Search("Observation", text="CHROMIUM"), ["chr"]),
        (Search("Observation", text="2160-0", date_to=parse_instant("2180-05-02")), ["cr-1"]),
        (Search("Observation", names=("Sodium", "natrium")), ["na"]),
        (Search("Observation", names=("sodi",)), []),
        (Search("Observation", codes=("http://loinc.org|2160-0",), date_to=parse_instant("2180-05-02")), ["cr-1"]),
        (Search("Observation", codes=("2951-2", "85354-9")), []),
        (Search("Observation", names=("sodium",), text="chromium"), ["chr", "na"]),
        (Search("Observation", category="vital-signs"), ["bp"]),
        (Search("Observation", category="microbiology"), []),
        (Search("Observation", encounter="e9"), []),
        (Search("MedicationRequest", text="warfarin"), ["w"]),
        (Search("MedicationRequest", text="warf"), []),
        (Search("MedicationRequest", text="mg tablet"), ["w"]),
        (Search("MedicationRequest", text="阿司匹林"), ["asa"]),
        (Search("MedicationRequest", status="stopped"), []),
        (Search("MedicationRequest", text=""), []),
        (Search("Encounter", category="imp"), ["e1"]),
        (Search("Encounter", status="finished"), ["e2"]),
        (Search("Encounter", date_from=parse_instant("2180-05-05")), ["e1"]),
        (Search("DocumentReference", keyword="hold WARFARIN"), ["n"]),
        (Search("DocumentReference", keyword="worse"), []),
        (Search("Procedure"), []),
        (Search("NoSuchType"), []),
    ],
)
def test_what_a_query_finds(chart: Chart, query: Search, wanted: list[str]) -> None:
    assert keys(chart, query) == wanted


def test_names_and_counts(chart: Chart) -> None:
    snapshot = chart.at(NOW)
    assert snapshot.names("Observation", "laboratory") == ("Blood culture", "Chromium", "Creatinine", "Sodium")
    assert snapshot.names("Procedure") == ()
    assert snapshot.count("Observation") == 11
    assert chart.at(parse_instant("2180-05-02T07:00:00Z")).names("MedicationRequest") == ()


def test_pages(chart: Chart) -> None:
    hits = chart.at(NOW).search(Search("Observation"))
    assert [entry.id for entry in hits.entries(2, 3)] == ["cr-5", "cr-4", "cr-3"]
    assert hits.entries(11, 5) == [] and len(hits.rows(9, 5)) == 2


def test_compact_rows_keep_digits_and_flags(chart: Chart) -> None:
    rows = {row[0]: row for row in map(orjson.loads, chart.at(NOW).search(Search("Observation")).rows())}
    named = {key: dict(zip(COLUMNS["Observation"], row, strict=True)) for key, row in rows.items()}
    assert named["cr-7"]["flag"] == "H" and named["cr-3"]["flag"] is None
    assert (named["chr"]["value"], named["chr"]["flag"], named["chr"]["unit"]) == ("<1", "L", "ug/L")
    assert (named["bc"]["value"], named["bc"]["time"]) == ("NEG", "2180-05-02")
    assert (named["bp"]["value"], named["bp"]["unit"]) == ("128/81", "mmHg")
    assert named["na"]["range"] == "133-145"
    entry = chart.at(NOW).read("Observation", "cr-7")
    assert entry is not None and b'"7.0"' not in entry.row and b",7.0," in entry.row


def test_every_row_has_the_columns_of_its_type(chart: Chart) -> None:
    snapshot = chart.at(NOW)
    for kind in chart.index.spans:
        for row in snapshot.search(Search(kind)).rows():
            assert len(orjson.loads(row)) == len(COLUMNS[kind]), kind


@pytest.mark.parametrize(
    ("birth", "at", "age"),
    [
        ("2100-06-01", "2180-05-31", 79), ("2100-06-01", "2180-06-01", 80), ("2100", "2180-01-01", 80),
        ("2100-06", "2180-05-31", 79), ("2100-06", "2180-06-01", 80), ("2190", "2180-06-01", 0),
    ],
)  # fmt: skip
def test_age_is_that_at_the_anchor(birth: str, at: str, age: int) -> None:
    patient = ChartBuilder("p", birth_date=birth).chart().at(parse_instant(at)).read("Patient", "p")
    assert patient is not None
    assert orjson.loads(patient.row)[COLUMNS["Patient"].index("age")] == age


@given(st.text("ab cd中文", max_size=12), st.text("ab中", min_size=1, max_size=3))
def test_matching_is_by_whole_words(name: str, text: str) -> None:
    if all(char < "\u2e80" for char in name + text):
        padded = f" {name} "
        assert matches_text([name], text) == (f" {text} " in padded)
    elif matches_text([name], text):
        assert text in name


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 40), st.sampled_from([None, "e1", "e2"])), max_size=25),
    st.sampled_from([None, "e1", "e2"]),
    st.sampled_from([None, "lab 1", "lab 2"]),
    st.none() | st.integers(0, 40),
    st.none() | st.integers(0, 40),
)
def test_the_index_answers_as_a_walk_does(
    labs: list[tuple[int, int, str | None]], encounter: str | None, text: str | None, low: int | None, high: int | None
) -> None:
    start = parse_instant("2180-05-01")
    hour = 3_600_000_000
    build = ChartBuilder("p")
    build.encounter("e1", "IMP", "2180-01-01")
    build.encounter("e2", "IMP", "2180-01-01")
    for number, (name, at, stay) in enumerate(labs):
        build.lab(f"lab {name}", "1", at=start + at * hour, encounter=stay, id=f"x{number:02d}")
    since, until = (None if bound is None else start + bound * hour for bound in (low, high))
    query = Search("Observation", encounter=encounter, text=text, date_from=since, date_to=until)
    found = [entry.id for entry in build.chart().at(NOW).search(query).entries()]
    wanted = [
        (-at, f"x{number:02d}")
        for number, (name, at, stay) in enumerate(labs)
        if (encounter is None or stay == encounter)
        and (text is None or f"lab {name}" == text)
        and (low is None or at >= low)
        and (high is None or at < high)
    ]
    assert found == [identity for _, identity in sorted(wanted)]


@pytest.mark.parametrize(
    "kind", ["Patient", "Encounter", "Observation", "MedicationRequest", "DocumentReference", "Flag"]
)
def test_a_page_is_keys_and_rows_of_its_entries(chart: Chart, kind: str) -> None:
    for snapshot in (chart.at(NOW), chart.at(NOW, ViewFilter(sections=("plan",)))):
        hits = snapshot.search(Search(kind))
        for offset in range(hits.total + 1):
            for count in (0, 1, 3, 50):
                entries = hits.entries(offset, count)
                assert hits.page(offset, count) == ([one.key for one in entries], [one.row for one in entries])


def test_concepts_alone_find_what_they_find_beside_a_filter(chart: Chart) -> None:
    snapshot = chart.at(NOW)
    for query in (
        {"text": "creatinine"}, {"names": ("sodium", "chromium")}, {"codes": ("2160-0",)}, {"text": "nothing"},
        {"prefix": "2"},
    ):  # fmt: skip
        alone = snapshot.search(Search("Observation", **query)).entries()
        again = snapshot.search(Search("Observation", **query)).entries()
        beside = snapshot.search(Search("Observation", date_to=NOW, **query)).entries()
        assert [one.id for one in alone] == [one.id for one in again] == [one.id for one in beside]
