"""Opening charts by the name of a built-in set or by path."""

from __future__ import annotations

from pathlib import Path

from .errors import UsageError
from .store import ChartStore

BUILT_IN = ("ward",)


def load_charts(name_or_path: str | Path) -> ChartStore:
    """Open charts.

    Args:
        name_or_path: "ward" for the built-in ward, or the path of a charts file.

    Raises:
        UsageError: Neither a built-in set nor a file.
        DataError: The file is no charts file, or of another format version.

    Examples:
        >>> store = load_charts("ward")
        >>> store.patients()[0]
        'ward-01'
        >>> store.close()
    """
    if name_or_path == "ward":
        # Imported here: the ward's file form need not be read to open a file.
        from wardround.patients.ward.load import open_ward

        return open_ward()
    if not Path(name_or_path).is_file():
        raise UsageError(
            f"`{name_or_path}` is neither a built-in set ({', '.join(BUILT_IN)}) nor a charts file; "
            "make one with `wardround import`"
        )
    return ChartStore.open(name_or_path)
