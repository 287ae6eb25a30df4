"""What a folder is that is not MIMIC-IV 2.x or 3.x, in words that say what is missing and what to do."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

_READS = "This importer reads MIMIC-IV 2.x and 3.x."
_BESIDE = "Put it beside the `hosp/` of the release it belongs to, and name the folder that holds both."

_STRANGERS = (
    (
        "MIMIC-III",
        ("callout", "cptevents", "d_cpt", "inputevents_cv", "inputevents_mv", "noteevents", "procedureevents_mv"),
    ),
    ("eICU", ("admissiondx", "apacheapsvar", "infusiondrug", "lab", "nursecharting", "patient", "vitalperiodic")),
    ("MIMIC-II", ("demographicevents", "d_patients", "icustayevents", "poe_med")),
)
"""Whose a folder is by tables that MIMIC-IV has not."""

_MODULES = (
    ("MIMIC-IV-ED", ("edstays", "triage", "vitalsign", "medrecon", "pyxis")),
    ("MIMIC-IV-Note", ("discharge", "discharge_detail", "radiology", "radiology_detail")),
    ("the ICU module of MIMIC-IV", ("icustays", "chartevents", "inputevents", "outputevents", "d_items")),
    ("a part of the hospital module of MIMIC-IV", ("labevents", "prescriptions", "emar", "pharmacy", "diagnoses_icd")),
)
"""Parts of MIMIC-IV that cannot be read alone, by their tables; the first that fits best is named."""

_DEPTH = 4
"""Folders below the named one in which `hosp/` is looked for, as a recursive download nests them."""


def not_mimic(root: Path, missing: Sequence[str], tables: Collection[str]) -> str:
    """Say what a folder without the tables it needs is.

    Args:
        root: The folder.
        missing: The tables that it needs and has not.
        tables: The tables that it has.
    """
    wanted = ", ".join(f"`{name}.csv[.gz]`" for name in missing)
    text = f"`{root}` is not a MIMIC-IV folder: no {wanted} in it, in `hosp/` or in folders named by subject."
    return f"{text} {_what(root, missing, set(tables))}"


def _what(root: Path, missing: Sequence[str], tables: set[str]) -> str:
    old = [name for name in missing if _has(root / "core", name)]
    if old:
        return (
            f"It looks like MIMIC-IV 0.x or 1.0, which keeps {_listed(old)} in `core/`. {_READS} Get a later release: "
            "between them identifiers and columns changed, so moving the files is not enough."
        )
    for whose, names in _STRANGERS:
        found = sorted(tables & set(names))
        if found:
            return f"It looks like {whose}, for it has {_listed(found)}; that is not read here. {_READS}"
    deeper = _deeper(root)
    if deeper is not None:
        return f"Name the folder `{deeper}`, which holds `hosp/`."
    return _part(root, missing, tables)


def _part(root: Path, missing: Sequence[str], tables: set[str]) -> str:
    whole = _has_table(root.parent / "hosp", missing)
    if whole and tables:
        return f"It is one module of a release: name the folder above it, `{root.parent}`."
    whose, found = max(((name, sorted(tables & set(names))) for name, names in _MODULES), key=lambda one: len(one[1]))
    if found:
        return f"It holds {whose} alone ({_listed(found)}), without the patients it speaks of. {_BESIDE}"
    if any(root.glob("*.ndjson*")):
        return "It holds NDJSON: FHIR is imported by `wardround import fhir`."
    return "Name the folder that holds `hosp/`."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _has(folder: Path, table: str) -> bool:
    return any((folder / f"{table}{ending}").is_file() for ending in (".csv.gz", ".csv"))


def _has_table(folder: Path, missing: Sequence[str]) -> bool:
    return all(_has(folder, name) for name in missing)


def _deeper(root: Path) -> Path | None:
    """Return the first folder below that holds `hosp/`."""
    for depth in range(1, _DEPTH + 1):
        found = sorted(one.parent for one in root.glob("/".join("*" * depth) + "/hosp") if one.is_dir())
        if found:
            return found[0]
    return None
