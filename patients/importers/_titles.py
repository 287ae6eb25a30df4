"""The ICD dictionaries: titles by version and code, and what their codes tell of a damaged one."""

from __future__ import annotations

from collections.abc import Iterator

from ._tables import Row
from ._values import clean
from .report import Tally


class TitleBook:
    """Titles of one ICD dictionary. Codes are text: leading zeros count."""

    def __init__(self) -> None:
        self._titles: dict[tuple[str, str], str] = {}

    def learn(self, rows: Iterator[Row], tally: Tally) -> None:
        """Read (number, subject, code, version, title) rows; a code that stands twice is refused."""
        for number, _, code, version, title in rows:
            key = (clean(version) or "", clean(code) or "")
            if key in self._titles:
                tally.refuse("icd_version and icd_code stand twice; the first row is kept", number)
            else:
                self._titles[key] = clean(title) or ""

    def title(self, version: str, code: str) -> str | None:
        """Return the title, or None where the dictionary lacks the code."""
        return self._titles.get((version, code))

    def lost_zero(self, version: str, code: str) -> bool:
        """Tell whether the code is unknown while the same code with a zero before it is known.

        Spreadsheets drop leading zeros; the row is then coded as something else and must not be kept.
        """
        return (version, code) not in self._titles and (version, f"0{code}") in self._titles
