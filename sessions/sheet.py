"""A review sheet: one CSV row for each thing that a person is asked about a set, to be opened in any spreadsheet.

Rows: whether a session is plausible; for each turn the type of its implicit form, for each rubric item and each gold
call whether it is right. Cells that a spreadsheet would run as a formula are written with an apostrophe before them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import orjson

from wardround.patients import DataError, Stream, UsageError

from .session import Session, Turn

SHEET_COLUMNS: Final = ("session", "turn", "what", "key", "shown", "value", "verdict", "correction", "comment")
"""Columns of a review sheet, in their order (docs/review.md)."""
VERDICTS: Final = ("ok", "revise", "reject")
"""What a reader may say of a row; an empty cell is a row nobody has judged."""
PLAUSIBILITY: Final = "plausibility"
IMPLICITNESS: Final = "implicitness"
ITEM: Final = "item"
ARGUMENTS: Final = "arguments"
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")
_MARK = b"\xef\xbb\xbf"
"""By which spreadsheets know UTF-8."""


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One thing to be judged, and the verdict on it."""

    session: str
    turn: int | None
    """None for the session as a whole."""
    what: str
    key: str
    """Item id, place of a gold call; "" elsewhere."""
    shown: str
    value: str
    """What stands there now: a type, JSON of a check, JSON of arguments."""
    verdict: str = ""
    """"" where nobody judged it."""
    correction: str = ""
    comment: str = ""
    line: int = 0
    """Of the sheet, from 1; the header is line 1."""


def sample_sessions(sessions: Iterable[Session], share: Fraction, seed: int) -> list[Session]:
    """Draw a share of every scenario × tier, rounded up, in the order of the set.

    Args:
        sessions: The set.
        share: In (0, 1].
        seed: Of the draw.

    Raises:
        UsageError: The share lies outside (0, 1].
    """
    if not 0 < share <= 1:
        raise UsageError(f"`sample` must be above 0 and at most 1, got {float(share):g}")
    every = list(sessions)
    cells: dict[tuple[str, str], list[str]] = {}
    for session in every:
        cells.setdefault((session.scenario, session.tier), []).append(session.id)
    drawn: set[str] = set()
    for cell, names in sorted(cells.items()):
        wanted = -(-len(names) * share.numerator // share.denominator)
        drawn.update(Stream("review", seed, *cell).shuffled(names)[:wanted])
    return [session for session in every if session.id in drawn]


def sheet_rows(session: Session) -> Iterator[SheetRow]:
    """Yield what is to be judged of one session."""
    talk = "\n".join(f"T{number} {_words(turn)}" for number, turn in enumerate(session.turns))
    yield SheetRow(session.id, None, PLAUSIBILITY, "", talk, f"{session.scenario}, {session.tier}")
    for number, turn in enumerate(session.turns):
        yield SheetRow(session.id, number, IMPLICITNESS, "", _forms(turn), turn.implicitness or "none")
        for item in turn.rubric:
            shown = "\n".join(text for text in (item.text.en, item.text.zh) if text)
            check = item.check.model_dump(mode="json", by_alias=True, exclude_none=True)  # `kind` is a default
            yield SheetRow(session.id, number, ITEM, item.id, shown, _json(check))
        for place, call in enumerate(turn.gold.calls if turn.gold is not None else ()):
            yield SheetRow(session.id, number, ARGUMENTS, str(place), call.tool, _json(call.arguments))


def _words(turn: Turn) -> str:
    answers = turn.gold.answers[0] if turn.gold is not None and turn.gold.answers else None
    told = [] if answers is None else [text for text in (answers.en, answers.zh) if text]
    return "\n".join((f"[{turn.task}] {_forms(turn)}", *(f"→ {text}" for text in told)))


def _forms(turn: Turn) -> str:
    found = []
    for wording in (turn.query.en, turn.query.zh):
        words = () if wording is None else (wording.implicit, wording.explicit)
        said = list(dict.fromkeys(text for text in words if text))
        if said:
            found.append(" ⇐ ".join(said))
    return "\n".join(found)


def _json(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def write_sheet(rows: Iterable[SheetRow]) -> bytes:
    """Return rows as CSV: UTF-8 with its mark, a header, one row a line of the sheet."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(SHEET_COLUMNS)
    for row in rows:
        turn = "" if row.turn is None else str(row.turn)
        cells = (row.session, turn, row.what, row.key, row.shown, row.value, row.verdict, row.correction, row.comment)
        writer.writerow([safe_cell(cell) for cell in cells])
    return _MARK + text.getvalue().encode()


def safe_cell(text: str) -> str:
    """Return a cell that no spreadsheet runs."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def plain_cell(text: str) -> str:
    """Return what `safe_cell` was given."""
    return text[1:] if text.startswith("'") and text[1:2] in _FORMULA else text


def read_table(text: bytes, name: str, columns: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a CSV sheet with their line numbers of the sheet; columns in any order, others left alone.

    Raises:
        DataError: No UTF-8, no header, a column is missing, or a row is broken; says line and remedy.
    """
    try:
        plain = text.removeprefix(_MARK).decode()
    except UnicodeDecodeError as error:
        raise DataError(f"{name}: not UTF-8 ({error}); save the sheet as CSV UTF-8") from error
    csv.field_size_limit(1 << 20)
    reader = csv.DictReader(io.StringIO(plain, newline=""), strict=True)
    try:
        missing = [column for column in columns if column not in (reader.fieldnames or ())]
        if missing:
            raise DataError(f"{name}:1: column `{missing[0]}` is missing; keep the header that export wrote")
        for number, row in enumerate(reader, 2):
            if any(row.get(column) is None for column in columns):
                raise DataError(f"{name}: row {number}: fewer cells than columns; keep the form of the sheet")
            yield number, {column: plain_cell(row[column]) for column in columns}
    except csv.Error as error:
        raise DataError(f"{name}: row {reader.line_num}: {error}; save the sheet as CSV") from error


def read_sheet(text: bytes, name: str) -> list[SheetRow]:
    """Read a sheet that came back.

    Raises:
        DataError: The sheet is no CSV of ours, or a verdict is none that is known; says row, column and remedy.
    """
    found = []
    for number, cells in read_table(text, name, SHEET_COLUMNS):
        verdict = cells["verdict"].strip().casefold()
        if verdict and verdict not in VERDICTS:
            known = ", ".join(VERDICTS)
            raise DataError(
                f"{name}: row {number}: verdict `{verdict[:40]}` is none of {known}; leave it empty if open"
            )
        turn = cells["turn"].strip()
        if turn and not turn.isdecimal():
            raise DataError(f"{name}: row {number}: turn `{turn[:20]}` is no number")
        found.append(
            SheetRow(
                cells["session"].strip(), int(turn) if turn else None, cells["what"].strip(), cells["key"].strip(),
                cells["shown"], cells["value"], verdict, cells["correction"].strip(), cells["comment"].strip(), number,
            )
        )  # fmt: skip
    return found
