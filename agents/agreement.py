"""Do the LLM judge and the typed checks agree? A judge's verdict on labelled rows, or on the text items of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wardround.envs import judge_words
from wardround.patients import UsageError
from wardround.rubrics import (
    JudgeCheck,
    JudgeRequest,
    agreement,
    criterion_of,
    grade_row,
    judge_request,
    read_rows,
    row_check,
    row_trace,
    speaks_to_judge,
)

from .judge_run import ask_into, chart_licences, read_judgements
from .judging import Asked, JudgeClient, JudgePlan
from .litellm_door import Sleep
from .rescore import run_inputs
from .results import read_records

AGREEMENT = "agreement.jsonl"


@dataclass(frozen=True, slots=True)
class Case:
    """One answer and one check: what the check says, what a person said, and what the judge is asked."""

    id: str
    kind: str
    language: str
    check: bool | None
    """The check's verdict; None where it could not read or grade the answer."""
    label: bool | None
    """A person's verdict; None where there is none."""
    request: JudgeRequest | None
    """None where no words say what the check tests, or the answer speaks to the judge."""
    where: tuple[str, int, str] = ("", 0, "")
    """Session, turn, item."""


def rows_agreement(path: str | Path, plan: JudgePlan, judgements: str | Path | None, **how: Any) -> dict[str, Any]:
    """Compare judge, checks and labels on labelled rows.

    Args:
        path: JSONL in the grading format.
        plan: The judge.
        judgements: File that keeps every raw reply; None only with recorded verdicts.
        how: `client`, `sleep`, `progress` of `ask_into`.

    Returns:
        `cases, judged, ungraded, unworded, cells, disagree`: a cell a kind × language with `cases` and, as `n`, `agree`
        and `kappa`, `judge_checks`, `judge_labels` and `checks_labels`; `disagree` lists where judge and check differ.

    Raises:
        DataError: The file has a line that is no row.
        UsageError: Verdicts of a model are wanted and no file keeps them, or the recorded ones are not there.
    """
    return _report(_row_cases(path), plan, Path(judgements) if judgements is not None else None, **how)


def run_agreement(
    folder: str | Path, plan: JudgePlan, judgements: str | Path | None = None, **how: Any
) -> dict[str, Any]:
    """Compare judge and checks on every item of a stored run that words can say.

    Args:
        folder: A run folder.
        plan: The judge.
        judgements: File that keeps every raw reply; None is agreement.jsonl in the folder.
        how: `client`, `sleep`, `progress` of `ask_into`.

    Returns:
        As `rows_agreement`; there are no labels.

    Raises:
        UsageError: Not a run folder, or the judge may not be asked about these data.
    """
    path = Path(folder)
    if not (path / "trajectories.jsonl").is_file():
        raise UsageError(f"`{path}` has no trajectories.jsonl: give a folder that `wardround eval --out` wrote")
    records = list(read_records(path / "trajectories.jsonl"))
    sessions, store = run_inputs(path, None, None)
    played = [sessions.get(record["session"]) for record in records]
    plan.allow([*(one["licence"] for one in records), *(one.licence for one in played), *chart_licences(played, store)])
    return _report(run_cases(path, records), plan, Path(judgements or path / AGREEMENT), **how)


def _row_cases(path: str | Path) -> Iterator[Case]:
    for row in read_rows(path):
        check, language = row_check(row), row["language"]
        verdict = grade_row(row)
        answer = row.get("answer", "")
        words = None if speaks_to_judge(answer) else criterion_of(check)
        asked = None if words is None else judge_request(JudgeCheck(criterion=words), answer, language, row_trace(row))
        said = None if verdict.unreadable or verdict.ungraded else verdict.passed
        yield Case(row["id"], check.kind, language, said, row["passes"], asked, ("", 0, row["id"]))


def run_cases(path: Path, records: Iterable[dict[str, Any]]) -> Iterator[Case]:
    """Yield every item of a run's turns that words can say; `path` is the run's folder."""
    sessions, store = run_inputs(path, None, None)
    for record in records:
        session = sessions.get(record["session"])
        chart = store.chart(session.chart.patient)
        for turn, item, verdict, request in judge_words(session, chart, record["trajectory"]):
            said = None if verdict.unreadable or verdict.ungraded else verdict.passed
            name = f"{record['key']}/{turn}/{item.id}"
            where = (session.id, turn, item.id)
            yield Case(name, item.check.kind, record["language"], said, None, request, where)


def _report(
    found: Iterable[Case],
    plan: JudgePlan,
    judgements: Path | None,
    *,
    client: JudgeClient | None = None,
    sleep: Sleep = asyncio.sleep,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    cases = list(found)
    asked: dict[str, Asked] = {}
    for case in cases:
        if case.request is not None:
            asked.setdefault(case.request.key, Asked(case.request, *case.where))
    if plan.model is not None:
        if judgements is None:
            raise UsageError("say with --judgements FILE where every reply of the judge is kept")
        held = ask_into(judgements, asked, plan, client=client, sleep=sleep, progress=progress)
    else:
        file = Path(plan.recorded) if plan.recorded else judgements
        if file is None or not file.is_file():
            raise UsageError(f"`{file or 'recorded'}` is not there: ask a model first, or name recorded:FILE")
        held = {key: one.verdict for key, one in read_judgements(file).items()}
    ruled = {key: verdict.passed for key, verdict in held.items() if key in asked and verdict.passed is not None}
    judge = [None if case.request is None else ruled.get(case.request.key) for case in cases]
    cells: dict[tuple[str, str], list[tuple[Case, bool | None]]] = {}
    for case, said in zip(cases, judge, strict=True):
        cells.setdefault((case.kind, case.language), []).append((case, said))
    return {
        "cases": len(cases),
        "judged": sum(said is not None for said in judge),
        "ungraded": sum(said is None and case.request is not None for case, said in zip(cases, judge, strict=True)),
        "unworded": sum(case.request is None for case in cases),
        "judge": plan.describe(),
        "all": cell_of(list(zip(cases, judge, strict=True))),
        "cells": [
            {"kind": kind, "language": language, **cell_of(members)}
            for (kind, language), members in sorted(cells.items())
        ],
        "disagree": [
            case.id
            for case, said in zip(cases, judge, strict=True)
            if said is not None and case.check is not None and said != case.check
        ],
    }


def cell_of(members: list[tuple[Case, bool | None]]) -> dict[str, Any]:
    """Return how far judge, checks and people agree on some cases, each given with what the judge said."""
    return {
        "cases": len(members),
        "judge_checks": agreement(_both((said, case.check) for case, said in members)),
        "judge_labels": agreement(_both((said, case.label) for case, said in members)),
        "checks_labels": agreement(_both((case.check, case.label) for case, _ in members)),
    }


def _both(pairs: Iterable[tuple[bool | None, bool | None]]) -> Iterator[tuple[bool, bool]]:
    return ((one, other) for one, other in pairs if one is not None and other is not None)
