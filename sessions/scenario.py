"""What a scenario file says: anchor rule, eligibility, acts, adherence rules and the physician's phrases.

The files are data (`scenarios/data/<name>.json` and `<name>.<language>.json`); this module only gives them types.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wardround.patients import DataError, UsageError

AnchorName = Literal["discharge", "mid-stay"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AnchorRule(_Frozen):
    """When the round takes place."""

    rule: AnchorName
    """`discharge`: the discharge instant, inclusive. `mid-stay`: `mid_stay_hour` on the middle day of the stay."""
    mid_stay_hour: int = Field(ge=0, le=23)


class ActRule(_Frozen):
    """How one decision is judged and said."""

    accepted: tuple[str, ...] = Field(min_length=1)
    """Acts that count as this decision."""
    avoid: str
    """The act that would be dangerous instead."""
    priority: Literal["routine", "urgent"]
    """Of a repeat lab ordered on this decision."""
    target: Literal["drug", "lab"] = "drug"
    say: str


class AdherenceRule(_Frozen):
    """Where what the patient takes changes what the lab alone would say."""

    id: str
    states: tuple[str, ...]
    rule_acts: tuple[str, ...]
    reasons: tuple[str, ...] | None = None
    """The patient's reasons it is for; None for any."""
    act: str
    finding: str
    source: str | None = None
    assumption: bool = False


class StateWords(_Frozen):
    """How an adherence state is checked and said."""

    concept: str
    polarity: Literal["present", "absent"]
    say: str


class NoPair(_Frozen):
    """Labs that measure the drug itself."""

    note: str
    labs: tuple[str, ...]


class Share(_Frozen):
    """A share that a set keeps to, in percent."""

    low: int
    high: int


class LeftOut(_Frozen):
    """What no session is about."""

    note: str
    pairs: tuple[str, ...]
    drugs: tuple[str, ...]


class Routes(_Frozen):
    """What a route means."""

    interviewable: tuple[str, ...]
    """Routes by which patients take a drug themselves, folded."""
    local: dict[str, tuple[str, ...]]
    """Drug ("*": any) → folded routes by which it works where it is put, so that no lab speaks for or against it."""


class Scenario(_Frozen):
    """One scenario, without its phrases."""

    format_version: Literal[1]
    id: str
    title: str
    anchor: AnchorRule
    sessions_per_patient: int = Field(ge=1)
    resource_types: tuple[str, ...]
    """Types that turns may read."""
    series_limit: int = Field(ge=2)
    """Longer series are not asked for as trends: one page of a search must hold them."""
    trend_percent: int = Field(ge=1)
    """A change above this share of the first value is a rise or a fall."""
    stable_percent: int
    """No value of a stable series is further from the first; between the two shares the trend is left open."""
    rich_types: int
    continue_percent: Share
    """How many of the recommendations asked for are "no change"."""
    routes: Routes
    route_words: dict[str, str]
    route_values: dict[str, str]
    dose_units: tuple[str, ...]
    """Folded units in which a dose is a single amount of drug; tablets and puffs say nothing of it."""
    frequency_words: dict[str, str]
    """Folded charted frequency → how the physician says it; others are never ordered anew."""
    companions: dict[str, tuple[str, ...]]
    casual: dict[str, tuple[str, ...]]
    never_pair: NoPair
    acts: dict[str, ActRule]
    adherence_rules: tuple[AdherenceRule, ...]
    states: dict[str, StateWords]
    left_out: LeftOut
    severity: dict[str, int]
    """Rule act → rank; a decision stands only where no other lab of the drug asks for a graver one. Others rank 0."""
    reason_verbs: tuple[str, ...]
    """First words of reasons that are clauses ("thought it harmed") beside those in -s and -ed."""
    halve: tuple[str, ...]
    recipes: tuple[tuple[str, str, str, str], ...]
    """Moves of the four turns; `write` stands for the write that the decision asks for."""
    tasks: dict[str, str]
    sources: dict[str, Literal["patient", "mixed", "write"]]
    """Where a move's answer comes from; the record where nothing is said."""
    cues: dict[str, tuple[str, ...]]
    """Words by which a query names something that is no concept of the knowledge base."""
    topic_words: dict[str, str]


class Shape(_Frozen):
    """One surface shape of a query: both wordings and what the implicit one leaves out."""

    type: Literal["NA", "PE", "AE"]
    explicit: str
    implicit: str
    drops: Literal["drug", "lab", "latest", "advice", "topics"]


class Phrases(_Frozen):
    """The physician's words of one scenario in one language."""

    first: dict[str, tuple[str, ...]]
    """Opening queries by move; they have one wording."""
    shapes: dict[str, tuple[Shape, ...]]
    """Later queries by move."""


def _read(name: str) -> bytes:
    return files("wardround.sessions.scenarios").joinpath("data", name).read_bytes()


def scenario_names() -> tuple[str, ...]:
    """Ids of the scenarios that come with the package, sorted."""
    entries = files("wardround.sessions.scenarios").joinpath("data").iterdir()
    stems = (entry.name.removesuffix(".json") for entry in entries if entry.name.endswith(".json"))
    return tuple(sorted(stem.replace("_", "-") for stem in stems if "." not in stem))


@lru_cache(maxsize=16)
def load_scenario(name: str) -> Scenario:
    """Return a scenario by id ("medication-safety"; underscores are as good as hyphens).

    Raises:
        UsageError: No such scenario.
        DataError: Its file is faulty; says file, field and fault.
    """
    name = name.replace("_", "-")
    if name not in scenario_names():
        known = ", ".join(f"`{one}`" for one in scenario_names())
        raise UsageError(f"no scenario `{name}`; there are: {known}")
    file = f"{name.replace('-', '_')}.json"
    try:
        return Scenario.model_validate_json(_read(file))
    except ValidationError as error:
        raise DataError(_faults(file, error)) from error


@lru_cache(maxsize=16)
def load_phrases(name: str, language: str = "en") -> Phrases:
    """Return the physician's phrases of a scenario.

    Raises:
        UsageError: The scenario has no phrases in that language.
        DataError: The file is faulty; says file, field and fault.
    """
    file = f"{name.replace('-', '_')}.{language}.json"
    try:
        document = orjson.loads(_read(file))
    except FileNotFoundError:
        raise UsageError(f"scenario `{name}` has no phrases in `{language}` ({file} is missing)") from None
    first: dict[str, list[str]] = {}
    shapes: dict[str, list[dict[str, str]]] = {}
    for move, entries in document.items():
        if move in {"format_version", "note"}:
            continue
        if all(isinstance(entry, str) for entry in entries):
            first[move] = entries
        else:
            shapes[move] = [
                dict(zip(("type", "explicit", "implicit", "drops"), entry, strict=True)) for entry in entries
            ]
    try:
        return Phrases.model_validate({"first": first, "shapes": shapes})
    except ValidationError as error:
        raise DataError(_faults(file, error)) from error


def _faults(file: str, error: ValidationError) -> str:
    return "\n".join(
        f"{file}: {'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}" for fault in error.errors()
    )
