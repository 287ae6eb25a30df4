"""Labelled answers: our own rows, and the shared ones where they are at hand."""

from pathlib import Path

import orjson
import pytest

from wardround.patients.errors import DataError
from wardround.rubrics.grade import grade_row, grade_rows, read_rows

DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_own_rows(language: str) -> None:
    result = grade_rows(DATA / f"rows_{language}.jsonl")
    assert result["rows"] >= 100
    assert result["unreadable"] == 0
    assert result["wrong"] == []
    assert sum(cell["right"] for cell in result["cells"]) == result["right"]


@pytest.mark.parametrize(("name", "share"), [("dev.jsonl", 0.97), ("plain.jsonl", 0.98)])
def test_shared_rows(shared: Path, name: str, share: float) -> None:
    path = shared / "grading" / name
    if not path.is_file():
        pytest.skip(f"no {name} in shared/grading")
    result = grade_rows(path)
    assert result["right"] >= share * result["rows"], result["wrong"]
    for cell in result["cells"]:
        assert cell["rows"] - cell["right"] <= 1, cell


def test_a_wrong_expectation_is_counted_wrong(tmp_path: Path) -> None:
    row = read_rows(DATA / "rows_en.jsonl")[0]
    row["passes"] = not row["passes"]
    path = tmp_path / "rows.jsonl"
    path.write_bytes(orjson.dumps(row))
    assert grade_rows(path)["wrong"] == [row["id"]]


def test_bad_rows_name_file_line_and_field(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": "x", "language": "en"}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"rows\.jsonl:1: field `check`"):
        read_rows(path)
    with pytest.raises(DataError, match="field `check`"):
        grade_row({"id": "x", "language": "en", "check": {"kind": "nonsense"}, "passes": True})


@pytest.mark.parametrize(
    ("check", "words"),
    [
        ({"kind": "valeu"}, "kind `valeu` is unknown; did you mean `value`?"),
        ({"kind": "nonsense"}, "kind `nonsense` is unknown; give one of advice, all_of"),
        ({}, "has no `kind`; give one of"),
        ({"kind": "status", "concept": "INR", "status": "hihg"}, "kind `status`: `status`: Input should be"),
        ({"kind": "status", "status": "high"}, "kind `status`: `concept`: Field required"),
    ],
)
def test_a_bad_check_is_named_with_what_it_should_be(check: dict[str, str], words: str) -> None:
    with pytest.raises(DataError) as caught:
        grade_row({"id": "x", "language": "en", "check": check, "passes": True})
    assert words in str(caught.value)
    assert "discriminator" not in str(caught.value)
    assert "pydantic" not in str(caught.value)
