"""The ICD dictionaries: titles by version and code, and what their codes tell of a damaged table."""

from __future__ import annotations

from collections.abc import Iterator

from ._tables import Row
from ._values import clean
from .report import Tally

_LOST = "icd_code has lost its leading zero"
_TWO_TITLES = "icd_version and icd_code stand twice with different titles; the code is named by none"
_DOT = "icd_code has its dot in the wrong place (a lost zero?)"


class TitleBook:
    """Titles of one ICD dictionary. Codes are text: leading zeros count."""

    def __init__(self) -> None:
        self._titles: dict[tuple[str, str], str] = {}

    def learn(self, rows: Iterator[Row], tally: Tally) -> None:
        """Read (number, subject, code, version, title) rows.

        A code that stands twice is refused; under two titles it has none, for nobody can say which is right.
        """
        first: dict[tuple[str, str], int] = {}
        unclear: set[tuple[str, str]] = set()
        for number, _, code, version, title in rows:
            key, text = (clean(version) or "", clean(code) or ""), clean(title) or ""
            if key not in first:
                first[key] = number
                self._titles[key] = text
            elif self._titles[key] == text and key not in unclear:
                tally.refuse("icd_version and icd_code stand twice; the first row is kept", number)
            else:
                tally.refuse(_TWO_TITLES, number)
                if key not in unclear:
                    tally.refuse(_TWO_TITLES, first[key])
                unclear.add(key)
        for key in unclear:
            self._titles[key] = ""

    def title(self, version: str, code: str) -> str | None:
        """Return the title, or None where the dictionary lacks the code."""
        return self._titles.get((version, code))

    def fault(self, version: str, code: str, written: str, dotted: str) -> str | None:
        """Say why a code cannot be believed: a spreadsheet drops leading zeros, and what is left may name another.

        What only the table as a whole can tell is told by `_icd.doubtful`.

        Args:
            version: "9" or "10".
            code: The code without a dot.
            written: The cell.
            dotted: The code with its dot where it belongs.
        """
        if "." in written and written.strip().upper() != dotted:
            return _DOT
        padded = any((version, "0" * zeros + code) in self._titles for zeros in (1, 2))
        return _LOST if padded and (version, code) not in self._titles else None


class Titled:
    """For mappers whose one dictionary is a book of ICD titles."""

    def __init__(self) -> None:
        self._titles = TitleBook()

    def learn(self, table: str, rows: Iterator[Row], tally: Tally) -> None:
        """Read the titles of codes."""
        self._titles.learn(rows, tally)
