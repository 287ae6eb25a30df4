"""People on answers: a sheet of a run's items for human verdicts, and how far checks and judge agree with them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from wardround.patients import DataError, Stream, UsageError
from wardround.sessions import read_table, safe_cell

from .agreement import AGREEMENT, Case, cell_of, run_cases
from .judge_run import read_judgements
from .rescore import run_inputs
from .results import read_records

COLUMNS: Final = ("id", "kind", "language", "query", "answer", "criterion", "human", "comment")
_SAYS: Final = {"yes": True, "y": True, "1": True, "pass": True, "no": False, "n": False, "0": False, "fail": False}


def answer_sheet(folder: str | Path, share: Fraction, seed: int) -> bytes:
    """Return a sheet of a share of a run's episodes: each item of each answer, to be judged by a person.

    The sheet shows neither what the check nor what the judge said.

    Raises:
        UsageError: Not a run folder, or a share outside (0, 1].
    """
    if not 0 < share <= 1:
        raise UsageError(f"`sample` must be above 0 and at most 1, got {float(share):g}")
    path = Path(folder)
    records = _records(path)
    wanted = -(-len(records) * share.numerator // share.denominator)
    drawn = set(Stream("answers", seed).shuffled(sorted(record["key"] for record in records))[:wanted])
    sessions, _ = run_inputs(path, None, None)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    chosen = [record for record in records if record["key"] in drawn]
    said = {(record["key"], turn): words for record in chosen for turn, words in _answers(record)}
    phrasing = {record["key"]: record["phrasing"] for record in chosen}
    for case in run_cases(path, chosen):
        if case.kind == "retrieved":
            continue  # which calls were made cannot be told from an answer
        key = case.id.rsplit("/", 2)[0]
        session_id, turn, name = case.where
        asked = sessions.get(session_id).turns[turn]
        (item,) = (one for one in asked.rubric if one.id == name)
        query = asked.query.get(case.language, phrasing[key])
        row = (
            case.id,
            case.kind,
            case.language,
            query,
            said.get((key, turn), ""),
            item.text.get(case.language),
            "",
            "",
        )
        writer.writerow([safe_cell(cell) for cell in row])
    return b"\xef\xbb\xbf" + text.getvalue().encode()


def _records(path: Path) -> list[dict[str, Any]]:
    if not (path / "trajectories.jsonl").is_file():
        raise UsageError(f"`{path}` has no trajectories.jsonl: give a folder that `wardround eval --out` wrote")
    return list(read_records(path / "trajectories.jsonl"))


def _answers(record: dict[str, Any]) -> Iterator[tuple[int, str]]:
    for event in record["trajectory"]["events"]:
        if event["event"] == "answer":
            yield event["turn"], event["text"]


def read_human(text: bytes, name: str) -> dict[str, bool]:
    """Return the human verdicts of a sheet by id; open ones are left out.

    Raises:
        DataError: The sheet is none of ours, a verdict is neither yes nor no, or an id stands twice with two verdicts.
    """
    found: dict[str, bool] = {}
    for number, cells in read_table(text, name, COLUMNS):
        said = cells["human"].strip().casefold()
        if not said:
            continue
        if said not in _SAYS:
            raise DataError(f"{name}: row {number}: human `{said[:20]}` is neither yes nor no; leave it empty if open")
        if found.setdefault(cells["id"], _SAYS[said]) != _SAYS[said]:
            raise DataError(f"{name}: row {number}: `{cells['id']}` was judged before, and otherwise; keep one row")
    return found


def human_agreement(folder: str | Path, sheet: str | Path, judgements: str | Path | None = None) -> dict[str, Any]:
    """Compare people, checks and (where its replies are kept) the judge, item by item of a run.

    Args:
        folder: The run folder.
        sheet: The answer sheet that came back.
        judgements: Replies of a judge; None takes agreement.jsonl of the folder if it is there.

    Returns:
        `rows, unknown, all, cells`: a cell a kind × language with `judge_checks`, `judge_labels`, `checks_labels`
        (`n`, `agree`, `kappa`; labels are the people's), and `differ`: ids where a check and a person do.

    Raises:
        UsageError: No run folder, or a file is not there.
        DataError: The sheet cannot be read, or none of its rows is of this run.
    """
    path, file = Path(folder), Path(sheet)
    if not file.is_file():
        raise UsageError(f"no sheet `{file}`; make one with `wardround review export SET --run DIR`")
    human = read_human(file.read_bytes(), file.name)
    held = Path(judgements) if judgements is not None else path / AGREEMENT
    if judgements is not None and not held.is_file():
        raise UsageError(f"no judgements `{held}`; ask a judge first (`wardround grade --run DIR --judge …`)")
    ruled = {key: one.verdict.passed for key, one in read_judgements(held).items()} if held.is_file() else {}
    cells: dict[tuple[str, str], list[tuple[Case, bool | None]]] = {}
    seen, differ = set(), []
    for case in run_cases(path, _records(path)):
        if case.id not in human:
            continue
        seen.add(case.id)
        told = Case(case.id, case.kind, case.language, case.check, human[case.id], case.request, case.where)
        judge = None if case.request is None else ruled.get(case.request.key)
        cells.setdefault((case.kind, case.language), []).append((told, judge))
        if case.check is not None and case.check != human[case.id]:
            differ.append(case.id)
    if not seen:
        raise DataError(f"{file.name}: no row is about an item of `{path}`; export the sheet from this run")
    return {
        "rows": len(seen),
        "unknown": len(human) - len(seen),
        "all": cell_of([member for members in cells.values() for member in members]),
        "cells": [
            {"kind": kind, "language": language, **cell_of(members)}
            for (kind, language), members in sorted(cells.items())
        ],
        "differ": sorted(differ),
    }
