"""Rows for trainers: what they hold, and their files."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import orjson
import pytest

import wardround
from wardround.envs.adapters import Round, RoundConfig, dataset
from wardround.patients import UsageError
from wardround.sessions import load_sessions, save_sessions


def test_a_row_per_session_names_it_and_holds_what_it_starts_with() -> None:
    rows = wardround.dataset("ward", "public", seed=5)
    sessions = load_sessions("ward")
    listed = list(rows)
    assert len(rows) == len(listed) == len(sessions)
    assert [row["session_id"] for row in listed] == [session.id for session in sessions]
    for row in listed[:5]:
        assert set(row) == {"prompt", "session_id", "seed"}
        assert row["seed"] == 5
        assert row["prompt"] == Round(row["session_id"]).prompt("text")
        assert "MedicationRequest_search" in row["prompt"][0]["content"]
    assert list(rows) == listed


def test_rows_are_of_the_language_phrasing_and_form_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "two.jsonl"
    save_sessions(path, load_sessions("ward").sessions[1:3])  # the first has English only
    chinese = next(iter(dataset(str(path), charts="ward", language="zh", phrasing="explicit", form="tools")))
    assert not re.search("[a-z]{3,} [a-z]{3,}", chinese["prompt"][1]["content"].split("]")[1])
    played = Round(chinese["session_id"], config=RoundConfig(language="zh", phrasing="explicit"))
    assert chinese["prompt"] == played.prompt("tools")
    assert "患者" in chinese["prompt"][1]["content"]
    assert "MedicationRequest_search" not in chinese["prompt"][0]["content"]
    texts = {form: next(iter(dataset(form=form)))["prompt"][0]["content"] for form in ("text", "tools", "reply")}
    assert len(set(texts.values())) == 3


def test_what_cannot_be_played_is_said_before_the_first_row() -> None:
    with pytest.raises(UsageError, match="no split `train`"):
        dataset("ward", "train")
    with pytest.raises(UsageError, match="no wording in `zh`"):
        dataset(language="zh")
    with pytest.raises(UsageError, match="`phrasing` is `vague`"):
        dataset(phrasing="vague")
    with pytest.raises(UsageError, match="`form` is `chat`"):
        dataset(form="chat")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no session file"):
        dataset("wards", charts="ward")


def test_jsonl_has_the_rows_with_their_licence_and_is_the_same_every_time(tmp_path: Path) -> None:
    rows = dataset()
    path = tmp_path / "out" / "rows.jsonl"
    assert rows.to_jsonl(path, env_class="wardround") == len(rows)
    first = path.read_bytes()
    read = [orjson.loads(line) for line in first.splitlines()]
    assert [{key: one[key] for key in ("prompt", "session_id", "seed")} for one in read] == list(rows)
    assert {one["licence"] for one in read} == {"CC0-1.0"} == {rows.licence}
    assert {one["env_class"] for one in read} == {"wardround"}
    rows.to_jsonl(path, env_class="wardround")
    assert path.read_bytes() == first


def test_other_files_are_kept_and_columns_do_not_hide_each_other(tmp_path: Path) -> None:
    path = tmp_path / "thesis.txt"
    path.write_text("years of work")
    with pytest.raises(UsageError, match="it is kept"):
        dataset().to_jsonl(path)
    assert path.read_text() == "years of work"
    with pytest.raises(UsageError, match="column `seed`"):
        dataset().to_jsonl(tmp_path / "rows.jsonl", seed="1")
    assert not (tmp_path / "rows.jsonl").exists()


def test_parquet_without_pyarrow_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"needs the package `pyarrow`: pip install 'wardround\[parquet\]'"):
        dataset().to_parquet(tmp_path / "rows.parquet")


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [("skyrl", "skyrl-gym", "skyrl"), ("openenv", "openenv", "openenv"), ("inspect", "inspect-ai", "inspect")],
)
def test_a_door_without_its_trainer_names_the_extra(
    module: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for blocked in ("skyrl_gym", "openenv", "inspect_ai", "fastapi"):
        monkeypatch.setitem(sys.modules, blocked, None)
    monkeypatch.delitem(sys.modules, f"wardround.envs.adapters.{module}", raising=False)
    with pytest.raises(ImportError, match=rf"needs the package `{package}`: pip install 'wardround\[{extra}\]'"):
        __import__(f"wardround.envs.adapters.{module}")
