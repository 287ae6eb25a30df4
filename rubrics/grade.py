"""Grades rows of labelled answers: how often a verdict is the expected one."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

import orjson
from pydantic import TypeAdapter, ValidationError

from wardround.patients import DataError

from .evidence import TurnTrace
from .records import WriteRecord
from .rubric import Check, Verdict
from .scoring import check_answer

_CHECK: TypeAdapter[Check] = TypeAdapter(Check)


def read_rows(path: str | Path) -> list[dict[str, Any]]:
    """Return the rows of a JSONL file of labelled answers.

    Raises:
        DataError: a line is no row; names file, line and field.
    """
    rows = []
    for number, line in enumerate(Path(path).read_bytes().splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise DataError(f"{path}:{number}: not JSON: {error}; give one row a line") from error
        for field in ("id", "language", "check", "passes"):
            if not isinstance(row, dict) or field not in row:
                raise DataError(
                    f"{path}:{number}: field `{field}` is missing; "
                    "a row has `id`, `language`, `check`, `passes` and `answer` or `call`"
                )
        if fault := _fault(row):
            raise DataError(f"{path}:{number}: {fault}")
        rows.append(row)
    if not rows:
        raise DataError(f"{path}: no rows in it; give one JSON object a line")
    return rows


def _fault(row: dict[str, Any]) -> str | None:
    """Return what is wrong with the fields of a row, and how it should be."""
    if row["language"] not in ("en", "zh"):
        return f"field `language` is {row['language']!r}; give en or zh"
    if not isinstance(row["passes"], bool):
        return f"field `passes` is {row['passes']!r}; give true or false"
    if not isinstance(row.get("answer", ""), str):
        return "field `answer` is no text; give the answer as a string"
    call = row.get("call", {"tool": "", "arguments": {}})
    sound = isinstance(call, dict) and isinstance(call.get("tool"), str) and isinstance(call.get("arguments"), dict)
    return None if sound else 'field `call` is no call; give {"tool": "NAME", "arguments": {…}}'


def row_check(row: dict[str, Any]) -> Check:
    """Return the check of a row.

    Raises:
        DataError: It is not valid.
    """
    try:
        return _CHECK.validate_python(row["check"])
    except ValidationError as error:
        raise DataError(f"row `{row['id']}`: field `check`: {_check_fault(row['check'], error)}") from error


def _check_fault(check: Any, error: ValidationError) -> str:
    """Return what is wrong with a check and how it should be, without the library's own wording of unions."""
    kind = check.get("kind") if isinstance(check, dict) else None
    kinds = sorted(get_args(member.model_fields["kind"].annotation)[0] for member in get_args(get_args(Check)[0]))
    if kind not in kinds:
        near = get_close_matches(str(kind), kinds, n=1)
        said = "has no `kind`" if kind is None else f"kind `{kind}` is unknown"
        return f"{said}; " + (f"did you mean `{near[0]}`?" if near else f"give one of {', '.join(kinds)}")
    faults = []
    for one in error.errors():
        where = ".".join(str(part) for part in one["loc"] if part != kind)
        faults.append(f"`{where or kind}`: {one['msg']}")
    return f"kind `{kind}`: {'; '.join(faults)}"


def row_trace(row: dict[str, Any]) -> TurnTrace | None:
    """Return the trace of a row that carries a call: its one write; None for an answer."""
    if "call" not in row:
        return None
    call = row["call"]
    write = WriteRecord(tool=call["tool"], arguments=call["arguments"], resource="")
    return TurnTrace(language=row["language"], writes=(write,))


def grade_row(row: dict[str, Any]) -> Verdict:
    """Return the verdict of one row.

    Raises:
        DataError: the row's check is not valid.
    """
    return check_answer(row_check(row), row.get("answer", ""), language=row["language"], trace=row_trace(row))


def grade_rows(path: str | Path) -> dict[str, Any]:
    """Grade every row of a file.

    Returns:
        `rows`, `right`, `unreadable`, `cells` (per kind and language) and `wrong` (ids), as design §10 fixes them.
        An answer that cannot be read counts as wrong.
    """
    cells: dict[tuple[str, str], list[int]] = {}
    wrong: list[str] = []
    unreadable = 0
    rows = read_rows(path)
    for row in rows:
        verdict = grade_row(row)
        right = verdict.passed == row["passes"] and not verdict.unreadable
        unreadable += verdict.unreadable
        cell = cells.setdefault((row["check"]["kind"], row["language"]), [0, 0])
        cell[0] += 1
        cell[1] += right
        if not right:
            wrong.append(row["id"])
    listed = [
        {"kind": kind, "language": lang, "rows": n, "right": ok} for (kind, lang), (n, ok) in sorted(cells.items())
    ]
    return {
        "rows": len(rows),
        "right": len(rows) - len(wrong),
        "unreadable": unreadable,
        "cells": listed,
        "wrong": wrong,
    }
