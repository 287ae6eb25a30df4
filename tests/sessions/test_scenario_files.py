"""A scenario from a file of the user's own: the form of the library's, and every fault named."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from wardround.patients import DataError, UsageError
from wardround.sessions import load_scenario

SHIPPED = json.loads(files("wardround.sessions.planning").joinpath("data/medication-safety.json").read_bytes())


def _written(folder: Path, **changes: Any) -> str:
    path = folder / "own.json"
    path.write_text(json.dumps({**SHIPPED, "id": "own-round", **changes}), encoding="utf-8")
    return str(path)


def test_a_file_is_read_as_the_librarys_are(tmp_path: Path) -> None:
    own, shipped = load_scenario(_written(tmp_path)), load_scenario("medication-safety")
    assert own.id == "own-round"
    assert own.model_copy(update={"id": shipped.id}) == shipped


def test_a_changed_file_is_read_anew(tmp_path: Path) -> None:
    load_scenario(_written(tmp_path))
    assert load_scenario(_written(tmp_path, threads=["lab"])).threads == ("lab",)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"id": "medication-safety"}, r"own\.json: id: .* is a scenario of the library"),
        ({"threads": ["drug_labs"]}, r"own\.json: threads: no kind of decision `drug_labs`; there are: .*drug_lab"),
        ({"moves": {**SHIPPED["moves"], "IL": ["trend"]}}, r"moves\.IL: no such kind of move `trend`"),
        ({"anchor": {"dated": "noon", "other": "discharge"}}, r"own\.json: anchor\.dated: "),
        ({"extra": 1}, r"own\.json: extra: "),
    ],
)
def test_a_fault_is_named(tmp_path: Path, changes: dict[str, Any], told: str) -> None:
    with pytest.raises(DataError, match=told):
        load_scenario(_written(tmp_path, **changes))


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_scenario(str(tmp_path / "absent.json"))
    (tmp_path / "cut.json").write_text("{", encoding="utf-8")
    with pytest.raises(DataError, match=r"cut\.json: file: "):
        load_scenario(str(tmp_path / "cut.json"))
