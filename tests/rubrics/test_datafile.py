"""Data files are held to their schema, and a fault in one says which, where and what to do."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ConfigDict

from wardround.patients import DataError
from wardround.rubrics.datafile import load_model
from wardround.rubrics.limits import Limits


class Other(BaseModel):
    """A schema that no file follows."""

    model_config = ConfigDict(extra="forbid")

    missing_field: int


def test_a_file_comes_back_as_its_model() -> None:
    assert "default" in load_model("data/limits.json", Limits).families


def test_a_file_against_another_schema_names_file_field_and_remedy() -> None:
    with pytest.raises(DataError) as fault:
        load_model("data/limits.json", Other)
    for word in ("rubrics/data/limits.json", "missing_field", "Other", "restore the file"):
        assert word in str(fault.value)


def test_a_file_that_is_no_json_is_told() -> None:
    with pytest.raises(DataError, match=r"rubrics/datafile\.py: .*restore the file"):
        load_model("datafile.py", Other)
