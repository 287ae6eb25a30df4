"""Numbers that share: units along a list or series, concepts of "A and B are 1 and 2 respectively"."""

from __future__ import annotations

from collections.abc import Iterator

from .carried import DOSE_DIMENSIONS, Carried
from .cues import words
from .document import Ann

CONNECTORS = words("measure.connectors")
SHARED_NOT = DOSE_DIMENSIONS | {"score"}
UNSHARED = frozenset(("mass", "volume", "activity"))
"""Dimensions of doses, whose unit a number before them does not take over."""
FLAG_WORDS = frozenset(("hh", "ll"))
"""Flags of result lines: acronyms that name nothing."""


class Sharing(Carried):
    """Matches numbers with concepts in order, and gives numbers without a unit that of their neighbours."""

    def _pairs(self) -> dict[int, Ann]:
        """Match "A and B are 88 and 142 respectively", "Na/K 138/4.2" in order."""
        found: dict[int, Ann] = {}
        for run in self._runs(self.owners):
            if len(run) < 2:
                continue
            after = [ann for ann in self.quantities if ann.start >= run[-1].end]
            if len(after) < len(run):
                continue
            chain = next((r for r in self._runs(after) if r[0] is after[0]), [])
            if after[0].start - run[-1].end <= 4 and len(chain) == len(run):
                found.update({q.start: o for q, o in zip(chain, run, strict=True)})
        return found

    def _runs(self, anns: list[Ann]) -> Iterator[list[Ann]]:
        """Yield maximal runs of annotations that only connectors separate."""
        run: list[Ann] = []
        for ann in anns:
            if (
                run
                and all(self.document.tokens[i].key in CONNECTORS for i in range(run[-1].end, ann.start))
                and ann.start - run[-1].end <= 3
            ):
                run.append(ann)
            else:
                if run:
                    yield run
                run = [ann]
        if run:
            yield run

    def _shared_units(self) -> list[str | None]:
        """Give a number without a unit the unit of the next number it forms a list or series with."""
        units: list[str | None] = [ann.value.unit for ann in self.quantities]
        for index in range(len(units) - 2, -1, -1):
            if units[index] is None and units[index + 1] is not None:
                here, following = self.quantities[index], self.quantities[index + 1]
                blocked = self._named_between(here, following) or any(
                    ann.start >= here.end and ann.start < following.start for ann in (*self.owners, *self.drugs)
                )
                blocked = blocked or any(
                    a.kind in ("start", "order") for a in self.sentence.within(here.end, following.start, "act")
                )  # "血钾5.9，予10%葡萄糖酸钙"
                close = following.start - here.end <= 7 and not any(
                    self.document.tokens[i].raw in ")）;；。" for i in range(here.end, following.start)
                )
                if close and not blocked and following.value.dimension not in UNSHARED:
                    units[index] = units[index + 1]
        for index in range(1, len(units)):
            if units[index] is None and units[index - 1] is not None:
                here, before = self.quantities[index], self.quantities[index - 1]
                if here.start - before.end <= 2 and not any(
                    before.end <= ann.start < here.start for ann in (*self.owners, *self.drugs)
                ):
                    units[index] = units[index - 1] if before.value.dimension not in SHARED_NOT else None
        return units

    def _named_between(self, here: Ann, following: Ann) -> bool:
        """Tell whether an acronym that nothing here knows stands between two numbers ("2.9, ScvO2 74%")."""
        tokens = self.document.tokens
        return any(
            tokens[i].kind == "w" and sum(c.isupper() for c in tokens[i].raw) >= 2 and tokens[i].key not in FLAG_WORDS
            for i in range(here.end, following.start)
        )

    def _unscaled(self, ann: Ann, unit: str | None) -> str | None:
        """A shared 万/μL is not scaled twice ("6.8万/μL，在5万以上")."""
        scaled = any(self.document.tokens[i].raw == "万" for i in range(ann.start, ann.end))
        return "/uL" if scaled and unit == "10*4/uL" else unit
