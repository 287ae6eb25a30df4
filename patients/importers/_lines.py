"""Reading source files line by line: to prove that they are whole, to name a fault, to show a row again."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, TextIO, cast

from wardround.patients.errors import DataError

from ._sources import SourceFile


@contextmanager
def opened(source: SourceFile) -> Iterator[BinaryIO]:
    with gzip.open(source.path, "rb") if source.gz else source.path.open("rb") as stream:
        yield cast(BinaryIO, stream)


_CONTROLS = bytes({*range(0x20), 0x7F} - {0x09, 0x0A, 0x0D})
_LATER_CONTROLS = re.compile(rb"\xc2[\x80-\x9f]")
"""U+0080 to U+009F in UTF-8."""


def check_whole(source: SourceFile) -> bool:
    """Read a file to its end: DuckDB notices a cut file but not a wrong checksum, and takes control characters as text.

    Returns:
        Whether it holds control characters other than tab, line feed and carriage return.

    Raises:
        DataError: The file is cut or damaged.
    """
    held, last = False, b""
    try:
        with opened(source) as stream:
            while piece := stream.read(1 << 20):
                if not held:
                    few = len(piece.translate(None, _CONTROLS)) < len(piece)
                    held = few or _LATER_CONTROLS.search(last + piece) is not None
                    last = piece[-1:]
    except (OSError, EOFError, zlib.error) as fault:
        raise damaged(source, fault) from fault
    return held


def damaged(source: SourceFile, fault: Exception) -> DataError:
    return DataError(
        f"`{source.label}` cannot be read to its end ({fault}). The file is cut or damaged: fetch it again and compare "
        "it with SHA256SUMS.txt of the release."
    )


LINE = 2 << 20
"""Bytes that a row may have."""

LONG_LINE = 64 << 20
"""Bytes that a row of a table of notes may have."""


def diagnose(source: SourceFile, longest: int) -> DataError | None:
    """Read a file line by line and name its first fault; None if it has none of those known here.

    Args:
        source: The file.
        longest: Bytes that a row may have.
    """
    not_utf8 = _first_bad_line(source)
    if not_utf8 is not None:
        return DataError(
            f"`{source.label}`, line {not_utf8}: not UTF-8. Save the file as UTF-8 CSV, as MIMIC-IV is published."
        )
    with _text(source) as stream:
        reader = csv.reader(stream, strict=True)
        width = len(next(reader, []))
        line = reader.line_num + 1
        try:
            for record in reader:
                if record and len(record) != width:
                    return DataError(
                        f"`{source.label}`, line {line}: {len(record)} fields where the header has {width}. "
                        "Repair or fetch the file again."
                    )
                if sum(len(cell.encode()) for cell in record) + len(record) > longest:
                    return _too_long(source, line, longest)
                line = reader.line_num + 1
        except csv.Error as fault:
            if "field limit" in str(fault):
                return _too_long(source, line, longest)
            return DataError(
                f"`{source.label}`, line {line}: a quoted field does not end as it should. "
                "Repair or fetch the file again."
            )
    return None


def _too_long(source: SourceFile, line: int, longest: int) -> DataError:
    return DataError(
        f"`{source.label}`, line {line}: a row of more than {longest >> 20} MiB. A quoted field that does not "
        "end as it should? Repair or fetch the file again; a text that is so long cannot be imported: take it out."
    )


def _first_bad_line(source: SourceFile) -> int | None:
    with opened(source) as stream:
        for line, data in enumerate(stream, 1):
            try:
                data.decode("utf-8")
            except UnicodeDecodeError:
                return line
    return None


@contextmanager
def _text(source: SourceFile) -> Iterator[TextIO]:
    before = csv.field_size_limit(LONG_LINE)  # its own limit is below the length of a long note
    try:
        with opened(source) as stream, io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
            yield text
    finally:
        csv.field_size_limit(before)


def locate_in(source: SourceFile, row: int, wanted: set[int], found: dict[int, dict[str, str | int]]) -> int:
    with _text(source) as stream:
        reader = csv.reader(stream, strict=True)
        next(reader, None)
        line = reader.line_num + 1
        for record in reader:
            if record:
                row += 1
                if row in wanted:
                    text = ",".join(f'"{cell}"' if "," in cell or "\n" in cell else cell for cell in record)
                    found[row] = {"file": source.label, "line": line, "text": text[:500]}
            line = reader.line_num + 1
    return row


def find_cells(source: SourceFile, columns: tuple[str, ...], wanted: set[tuple[str, ...]]) -> int | None:
    """Return the first line where columns hold one of these groups of texts, blanks aside; None where none does."""
    with _text(source) as stream:
        reader = csv.reader(stream, strict=True)
        header = [name.strip().lower() for name in next(reader, [])]
        places = [header.index(name) for name in columns]
        line = reader.line_num + 1
        for record in reader:
            if record and tuple(record[place].strip() for place in places) in wanted:
                return line
            line = reader.line_num + 1
    return None


def find_header(source: SourceFile) -> int | None:
    """Return the line on which the header of a file stands once more; None where it does not."""
    with _text(source) as stream:
        reader = csv.reader(stream, strict=True)
        header = [name.strip().lower() for name in next(reader, [])]
        line = reader.line_num + 1
        for record in reader:
            if [name.strip().lower() for name in record] == header:
                return line
            line = reader.line_num + 1
    return None
