"""The header of a table: matched by name, in any case and order; other schemas are refused by name."""

from __future__ import annotations

import csv
import io
import re
import zlib
from dataclasses import dataclass

from wardround.patients.errors import DataError

from ._lines import damaged, opened
from ._sources import SourceFile
from ._tables_spec import TableSpec

_HEADER_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Header:
    """The first record of a file, matched by name."""

    columns: tuple[str, ...]
    messages: tuple[str, ...]


def read_header(source: SourceFile, spec: TableSpec) -> Header:
    """Read and check the header of a file; names match in any case and any order.

    Raises:
        DataError: The file is empty, damaged, not UTF-8, or lacks a required column.
    """
    try:
        with opened(source) as stream:
            head = stream.read(_HEADER_BYTES)
    except (OSError, EOFError, zlib.error) as fault:
        raise damaged(source, fault) from fault
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"`{source.label}`, line 1: UTF-16. Save the file as UTF-8 CSV, as MIMIC-IV is published.")
    text = io.StringIO(head.decode("utf-8-sig", "replace"), newline="")
    first = next(csv.reader(text), None)
    if not first:
        raise DataError(f"`{source.label}`, line 1: the file is empty. Fetch the table again from PhysioNet.")
    columns = tuple(name.strip().lower() for name in first)
    _check_columns(source, spec, columns)
    messages = []
    if columns != tuple(first):
        messages.append(f"`{source.label}`: column names are not in lower case; matched by name.")
    carried = [name for name in columns if name in spec.columns]
    if carried != [name for name in spec.columns if name in columns]:
        messages.append(f"`{source.label}`: columns stand in another order than MIMIC-IV's; matched by name.")
    absent = [name for name in spec.columns if name not in columns]
    if absent:
        messages.append(f"`{source.label}`: no column {', '.join(f'`{name}`' for name in absent)}; read as empty.")
    unknown = [name for name in columns if name not in spec.columns and name not in spec.not_carried]
    if unknown:
        named = ", ".join(f"`{name}`" if name else "without a name" for name in unknown)
        messages.append(f"`{source.label}`: unknown column {named}; not read.")
    return Header(columns, tuple(messages))


def _check_columns(source: SourceFile, spec: TableSpec, columns: tuple[str, ...]) -> None:
    missing = sorted(spec.required - set(columns))
    lacks = f"no column {', '.join(f'`{name}`' for name in missing)}" if missing else "another schema"
    for name, whose in _STRANGERS.items():
        if name in columns:
            raise DataError(
                f"`{source.label}`, line 1: {lacks}. It has `{name}`, so it looks like {whose}; this importer reads "
                "MIMIC-IV 2.x and 3.x."
            )
    if missing:
        raise DataError(f"`{source.label}`, line 1: {lacks}. {_schema_hint(columns)}")
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise DataError(f"`{source.label}`, line 1: column `{twice[0]}` stands twice. Keep one of them.")


_STRANGERS = {
    "row_id": "MIMIC-III",
    "icustay_id": "MIMIC-II or MIMIC-III",
    "icd9_code": "MIMIC-III",
    "mimic_id": "MIMIC-II",
    "patientunitstayid": "eICU",
    "patienthealthsystemstayid": "eICU",
}
"""Columns that MIMIC-IV has in no table, and whose they are."""


def _schema_hint(columns: tuple[str, ...]) -> str:
    if len(columns) == 1:
        return "The line holds one field only; MIMIC-IV is comma-separated."
    if any(re.search(r"\d", name) for name in columns):
        return "The first line must be the header; it looks like a row of data."
    return f"Found: {', '.join(columns)[:200]}. This importer reads MIMIC-IV 2.x and 3.x."
