"""`d_items`, the dictionary of what the ICU charts, for the mappers whose rows it names."""

from __future__ import annotations

from collections.abc import Iterator

from ._facts import content
from ._tables import Row, TableSpec
from ._values import clean
from .report import Tally

ITEMS = TableSpec(
    "d_items",
    ("itemid", "label", "linksto", "category"),
    frozenset({"itemid", "label"}),
    not_carried=("abbreviation", "unitname", "param_type", "lownormalvalue", "highnormalvalue"),
    keyed=False,
)


class FromItems:
    """For mappers that name their rows by `d_items`."""

    dictionaries: tuple[TableSpec, ...] = (ITEMS,)

    def __init__(self) -> None:
        self._labels: dict[str, tuple[str | None, str | None]] = {}
        """itemid → label and category."""

    def learn(self, table: str, rows: Iterator[Row], tally: Tally) -> None:
        """Read the names of items; of rows that repeat an item the one that sorts first is kept."""
        for number, _, item, label, _, group in sorted(rows, key=content):
            key = clean(item) or ""
            if key in self._labels:
                tally.refuse("itemid stands twice; the row that sorts first is kept", number)
            else:
                self._labels[key] = (clean(label), clean(group))

    def _named(self, item: str, tally: Tally) -> tuple[str, str | None]:
        """Return an item's name, its number where it has no label (noted), and its category."""
        label, group = self._labels.get(item, (None, None))
        if label is None:
            tally.note("itemid without a label in d_items")
        return label or f"Item {item}", group
