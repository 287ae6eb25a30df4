"""Opening charts by the name of a built-in set or by path."""

from __future__ import annotations

from pathlib import Path

from wardround.patients.hospital.releases import open_release, release_names

from .errors import UsageError
from .store import ChartStore

BUILT_IN = ("ward", *release_names())


def load_charts(name_or_path: str | Path, *, workers: int = 1) -> ChartStore:
    """Open charts.

    Args:
        name_or_path: "ward" for the built-in ward; a release of the hospital ("hospital-mini", "hospital-v1", or a
            split as "hospital-v1/train"), which is built on first use; or the path of a charts file.
        workers: Processes that build a release. A script that asks for more than one does so below
            `if __name__ == "__main__":`.

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
    if name_or_path in release_names():
        return open_release(str(name_or_path), workers=workers)
    if not Path(name_or_path).is_file():
        raise UsageError(
            f"`{name_or_path}` is neither a built-in set ({', '.join(BUILT_IN)}) nor a charts file; "
            "make one with `wardround import` or `wardround hospital`"
        )
    return ChartStore.open(name_or_path)
