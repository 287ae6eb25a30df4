"""What a scenario file says: anchor, eligibility, threads, moves; and the arcs and tiers that all scenarios share.

The files are data (`planning/data/<id>.json`, `planning/data/evidence.json`); this module only gives them types.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wardround.patients import DataError, UsageError, load_data
from wardround.patients.knowledge import Names
from wardround.sessions.moves.move import Task

from .case import AnchorName

Tier = Literal["sparse", "moderate", "rich"]
Arc = tuple[Task, Task, Task, Task]

TIERS: Final[tuple[Tier, ...]] = ("sparse", "moderate", "rich")
_LATER: Final[tuple[Task, ...]] = ("IL", "DG", "CR")
_LAST: Final[tuple[Task, ...]] = ("DG", "CR", "WU")
ARCS: Final[tuple[Arc, ...]] = tuple(("IL", *rest) for rest in product(_LATER, _LATER, _LAST))
"""The 27 arcs: turn 0 looks up, turns 1 and 2 look up, gather or reason, turn 3 gathers, reasons or writes."""

EvidenceName = Literal[
    "labs",
    "series",
    "monitored_pairs",
    "active_orders",
    "home_drugs",
    "diagnoses",
    "organ_systems",
    "imaging_studies",
    "infection_values",
    "antibiotics",
    "stay_hours",
    "discharge_summaries",
    "survived",
    "resource_types",
]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


M = TypeVar("M", bound=_Frozen)


class Requirement(_Frozen):
    """How much of something the record must hold."""

    evidence: EvidenceName
    least: int = Field(ge=1)


Alternatives = tuple[tuple[Requirement, ...], ...]
"""Any one of these, all of its requirements met."""


class Anchors(_Frozen):
    """When the round takes place."""

    dated: AnchorName
    """In charts whose facts are all dated, as those of the built-in hospital."""
    other: AnchorName
    """In all others: MIMIC-IV's diagnoses are known at discharge only."""


class Kinds(_Frozen):
    """Kinds of moves by task; those near the scenario's subject first."""

    IL: tuple[str, ...]
    DG: tuple[str, ...]
    CR: tuple[str, ...]
    WU: tuple[str, ...]

    def of(self, task: str) -> tuple[str, ...]:
        """Return the kinds of a task."""
        found: tuple[str, ...] = getattr(self, task)
        return found


class Scenario(_Frozen):
    """One scenario."""

    format_version: Literal[1]
    id: str
    title: Names
    anchor: Anchors
    eligibility: Alternatives
    resource_types: tuple[str, ...]
    """Types that its turns may read."""
    threads: tuple[str, ...]
    """Kinds of decisions that a session may be about, the most typical first."""
    decisions: tuple[str, ...]
    """Kinds that its other turns may ask about as well."""
    moves: Kinds


class Systems(_Frozen):
    """Organ systems by code."""

    icd10: dict[str, str]
    """Beginning of the code → system; the longest beginning counts."""
    icd9: tuple[tuple[int, int, str], ...]
    """First and last category of a chapter, and the system."""
    source: str


class Unheard(_Frozen):
    """Who is not asked on a round, by any of these."""

    conditions: tuple[str, ...]
    drugs: tuple[str, ...]
    """Ordered now: they put to sleep or paralyse."""
    done: tuple[str, ...]
    """Charted within the hours."""
    gcs_below: int
    hours: int = Field(ge=1)


class EvidenceRules(_Frozen):
    """How evidence is counted, and what each tier asks for."""

    format_version: Literal[1]
    infection_markers: tuple[str, ...]
    """Labs that follow an infection."""
    antibiotic_classes: tuple[str, ...]
    imaging: tuple[str, ...]
    """Categories of reports that are imaging."""
    home_categories: tuple[str, ...]
    """Categories of orders that run at home."""
    systems: Systems
    unheard: Unheard
    tiers: dict[Tier, Alternatives]


@lru_cache(maxsize=1)
def evidence_rules() -> EvidenceRules:
    """Return how evidence is counted.

    Raises:
        DataError: The file is faulty; says field and fault.
    """
    return load_data("wardround.sessions.planning", "data/evidence.json", EvidenceRules)


@lru_cache(maxsize=1)
def scenario_names() -> tuple[str, ...]:
    """Ids of the scenarios that come with the package, sorted."""
    entries = files("wardround.sessions.planning").joinpath("data").iterdir()
    names = (entry.name.removesuffix(".json") for entry in entries if entry.name.endswith(".json"))
    return tuple(sorted(name for name in names if name not in {"evidence", "sets"}))


def load_scenario(name: str) -> Scenario:
    """Return a scenario by id ("medication-safety"; underscores are as good as hyphens), or from a file of your own.

    Args:
        name: An id, or the path of a file whose name ends in `.json` (docs/write-a-scenario.md).

    Raises:
        UsageError: No such scenario.
        DataError: Its file is faulty; says file, field and fault.
    """
    return _read_scenario(Path(name)) if name.endswith(".json") else _shipped_scenario(name.replace("_", "-"))


@lru_cache(maxsize=16)
def _shipped_scenario(name: str) -> Scenario:
    if name not in scenario_names():
        known = ", ".join(f"`{one}`" for one in scenario_names())
        raise UsageError(f"no scenario `{name}`; there are: {known}, `all`, and a file of your own (`NAME.json`)")
    return load_data("wardround.sessions.planning", f"data/{name}.json", Scenario)


def _read_scenario(path: Path) -> Scenario:
    """Read a scenario of the user's own."""
    try:
        scenario = Scenario.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(f"`{path}` cannot be read: {error.strerror}") from error
    except ValidationError as error:
        faults = (f"{path.name}: {'.'.join(map(str, one['loc'])) or 'file'}: {one['msg']}" for one in error.errors())
        raise DataError("\n".join(faults)) from error
    if scenario.id in scenario_names():
        raise DataError(f"{path.name}: id: `{scenario.id}` is a scenario of the library; give yours a name of its own")
    if problems := _unknown_kinds(scenario):
        raise DataError("\n".join(f"{path.name}: {one}" for one in problems))
    return scenario


def _unknown_kinds(scenario: Scenario) -> list[str]:
    """Return what a scenario names that there is not; what is advised and written (CR, WU) follows from decisions."""
    from .registry import decision_kinds, move_kinds  # they import every kind; reading a scenario's data needs none

    known = ", ".join(sorted(decision_kinds()))
    found = [
        f"{field}: no kind of decision `{name}`; there are: {known}"
        for field, names in (("threads", scenario.threads), ("decisions", scenario.decisions))
        for name in names
        if name not in decision_kinds()
    ]
    for task in ("IL", "DG"):
        mine = sorted(name for name, kind in move_kinds().items() if kind.task == task)
        wrong = [name for name in scenario.moves.of(task) if name not in mine]
        found += (f"moves.{task}: no such kind of move `{name}`; there are: {', '.join(mine)}" for name in wrong)
    return found


def scenarios_of(name: str) -> tuple[Scenario, ...]:
    """Return the scenario of that id, or every one for "all".

    Raises:
        UsageError: No such scenario.
    """
    names = scenario_names() if name == "all" else (name,)
    return tuple(load_scenario(one) for one in names)


def arc_name(arc: Arc) -> str:
    """Return an arc as text, as in "IL-IL-DG-CR"."""
    return "-".join(arc)
