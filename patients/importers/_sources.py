"""Finding the tables of a MIMIC-IV folder, whatever its layout, and saying so when it is something else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from wardround.patients.errors import DataError, UsageError

from ._releases import not_mimic

MODULES = ("hosp", "icu", "ed", "note")
_ENDINGS = (".csv.gz", ".csv")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of one table."""

    path: Path
    label: str
    """Path below the folder that was named, for messages."""
    gz: bool


@dataclass(frozen=True, slots=True)
class Folder:
    """The tables of one MIMIC-IV folder."""

    root: Path
    tables: dict[str, tuple[SourceFile, ...]]
    """Table name → its files: one, or one per subject; sorted by label."""

    def unread(self, known: Iterable[str]) -> tuple[str, ...]:
        """Return the names of tables that are here and not among `known`."""
        return tuple(sorted(set(self.tables) - set(known)))


def find_tables(root: Path, required: Iterable[str]) -> Folder:
    """Find every table below `root`.

    Accepted: `hosp/labevents.csv.gz`, `labevents.csv`, `<subject_id>/hosp_labevents.csv.gz` and mixtures of these, in
    any case of letters.

    Args:
        root: The folder; its name is taken literally, whatever characters it holds.
        required: Tables without which the folder is not MIMIC-IV.

    Raises:
        UsageError: `root` is no folder.
        DataError: A required table is missing, or a table is there twice.
    """
    if not root.is_dir():
        raise UsageError(f"`{root}` is not a folder. Name the folder that holds `hosp/` (or the CSV files themselves).")
    whole: dict[str, list[SourceFile]] = {}
    shares: dict[str, list[SourceFile]] = {}
    for folder in [root, *sorted(entry for entry in root.iterdir() if entry.is_dir())]:
        by_subject = folder is not root and folder.name.isascii() and folder.name.isdigit()
        if folder is not root and not by_subject and folder.name.lower() not in MODULES:
            continue
        for path in sorted(folder.iterdir()):
            table = _table_of(path)
            if table is not None and path.is_file():
                source = SourceFile(path, path.relative_to(root).as_posix(), path.name.lower().endswith(".gz"))
                (shares if by_subject else whole).setdefault(table, []).append(source)
    _refuse_doubles(whole, shares)
    tables = {name: tuple(files) for name, files in sorted((shares | whole).items())}
    missing = [name for name in required if name not in tables]
    if missing:
        raise DataError(not_mimic(root, missing, tables))
    return Folder(root, tables)


def _table_of(path: Path) -> str | None:
    name = path.name.lower()
    for ending in _ENDINGS:
        if name.endswith(ending):
            stem = name[: -len(ending)]
            for module in MODULES:
                if stem.startswith(f"{module}_"):
                    return stem[len(module) + 1 :]
            return stem
    return None


def _refuse_doubles(whole: dict[str, list[SourceFile]], shares: dict[str, list[SourceFile]]) -> None:
    for table, files in sorted(whole.items()):
        if len(files) > 1 and not _modules_differ(files):
            labels = " and ".join(f"`{one.label}`" for one in files)
            raise DataError(f"Table `{table}` is there twice: {labels}. Keep one of them.")
        if table in shares:
            raise DataError(
                f"Table `{table}` is there as a whole (`{files[0].label}`) and per subject "
                f"(`{shares[table][0].label}`). Keep one of them."
            )
    for table, files in sorted(shares.items()):
        seen: dict[str, str] = {}
        for one in files:
            folder = one.label.rpartition("/")[0]
            if folder in seen:
                raise DataError(
                    f"Table `{table}` is there twice: `{seen[folder]}` and `{one.label}`. Keep one of them."
                )
            seen[folder] = one.label


def _modules_differ(files: list[SourceFile]) -> bool:
    """Return whether equal names stand in different modules (`ed/diagnosis` is not `hosp/diagnosis`)."""
    folders = [one.label.rpartition("/")[0].lower() for one in files]
    return "" not in folders and len(set(folders)) == len(folders)
