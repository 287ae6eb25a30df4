"""ICD-9 codes that a spreadsheet made into numbers: what a whole table of them tells, before any code is believed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from wardround.patients.errors import DataError

from ._lines import find_cells
from ._sources import SourceFile

SHORTEST = 3
"""Digits of the shortest ICD-9 code, of diagnoses as of procedures."""

MANY = 300
"""So many different codes of digits hold one that begins with 0 (5 % of the diagnoses do, 9 % of the procedures)."""

MAY_HAVE_LOST = "icd_code may have lost its leading zero, as other codes of the table have"
"""What the account says of such a row."""

_DICTIONARIES = {
    "diagnoses_icd": ("d_icd_diagnoses", 5),
    "diagnosis": ("d_icd_diagnoses", 5),
    "procedures_icd": ("d_icd_procedures", 4),
}
"""Table → its dictionary, and the digits of the longest ICD-9 code of this kind."""

_PCS = 7
"""Letters and digits of an ICD-10-PCS code."""


def numeric_codes(columns: tuple[str, ...]) -> str | None:
    """Return SQL that selects (version, code) of the codes that are digits only; None for a table without codes."""
    if not {"icd_code", "icd_version"} <= set(columns):
        return None
    version, code = (f"trim(c{columns.index(name)})" for name in ("icd_version", "icd_code"))
    where = f"regexp_full_match({code}, '[0-9]{{{{1,8}}}}')"
    return f"SELECT DISTINCT coalesce({version}, ''), {code} FROM {{}} WHERE {where}"  # noqa: S608 (columns are numbered)


def doubtful(table: str, codes: Mapping[str, set[str]]) -> set[str]:
    """Return the ICD-9 codes of a table that may be other codes without their leading zeros.

    Where a file lost them it lost them all, so a table that has one code with a leading zero is whole. One that has
    none, and a code that no ICD-9 code can be, or that its dictionary knows only with zeros before it, is not: then
    nobody can say whether its 340 was 340 or 0340.

    Args:
        table: The table.
        codes: Table → its different ICD-9 codes of digits, dictionaries included.
    """
    if table not in _DICTIONARIES:
        return set()
    name, longest = _DICTIONARIES[table]
    found, known = codes.get(table, set()), codes.get(name)
    if known is None:
        return {code for code in found if len(code) < longest} if _stripped(found) else set()
    padded = {code for code in found if f"0{code}" in known or f"00{code}" in known}
    return padded & known if _stripped(found) or (not _whole(found) and not padded <= known) else set()


def _whole(codes: set[str]) -> bool:
    return any(code.startswith("0") and len(code) >= SHORTEST for code in codes)


def _stripped(codes: set[str]) -> bool:
    if _whole(codes):
        return False
    return len(codes) >= MANY or any(len(code) < SHORTEST for code in codes)


def check_dictionary(files: Sequence[SourceFile], codes: Iterable[tuple[str, str]]) -> None:
    """Refuse a dictionary of codes that lost its leading zeros: it would name codes by the titles of others.

    Args:
        files: Its files.
        codes: Version, as it is written, and code of its codes of digits.

    Raises:
        DataError: It did.
    """
    found = {(version, code): version.partition(".")[0] for version, code in codes}
    remedy = (
        "A spreadsheet dropped the leading zeros of this file, and codes would be taken for others. Fetch it again "
        "from the release, whole."
    )
    short = {one for one, version in found.items() if len(one[1]) < {"9": SHORTEST, "10": _PCS}.get(version, 0)}
    for source in files:
        line = find_cells(source, ("icd_version", "icd_code"), {*short}) if short else None
        if line is not None:
            raise DataError(
                f"`{source.label}`, line {line}: `icd_code` is shorter than any code of its version. {remedy}"
            )
    nine = {code for (_, code), version in found.items() if version == "9"}
    if _stripped(nine):
        raise DataError(
            f"`{files[0].label}`, column `icd_code`: none of its {len(nine)} ICD-9 codes begins with 0. {remedy}"
        )
