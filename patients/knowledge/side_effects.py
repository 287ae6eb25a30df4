"""What to do about symptoms that drugs cause (data/side_effects.json)."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from wardround.patients.datafile import load_data

from .loader import lexicon
from .models import Names


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SideEffectRule(_Frozen):
    """What is right where a patient on one of the drugs tells of one of the findings."""

    id: str
    drugs: tuple[str, ...] = Field(min_length=1)
    """Ids of drugs or classes."""
    but: tuple[str, ...] = ()
    """Ids of drugs or classes that it does not hold for."""
    findings: tuple[str, ...] = Field(min_length=1)
    lab: str | None = None
    """Laboratory test or vital sign whose value decides."""
    at_least: Decimal | None = None
    below: Decimal | None = None
    unit: str | None = None
    explained: bool = False
    """It also holds where an illness explains the finding."""
    act: Literal["continue", "hold", "stop", "reduce", "switch"]
    accept: tuple[Literal["hold", "stop", "reduce", "switch"], ...] = ()
    """Other acts that good physicians would choose."""
    also: tuple[tuple[str, ...], ...] = ()
    """What is checked or given beside the act, as `say` has it: of each group, one by any of these names."""
    say: Names
    """What to do, one sentence without full stop; {drug}."""
    why: Names
    """What it shows, after a comma; {drug}."""
    source: str | None = None
    assumption: bool = False

    def holds_for(self, drug: str) -> bool:
        """Tell whether it is about a drug."""
        is_a = lexicon().is_a
        return any(is_a(drug, one) for one in self.drugs) and not any(is_a(drug, one) for one in self.but)


class _File(_Frozen):
    format_version: Literal[1]
    about: str
    entries: tuple[SideEffectRule, ...]


@lru_cache(maxsize=1)
def side_effect_rules() -> tuple[SideEffectRule, ...]:
    """Return the rules, in the order of the file.

    Raises:
        DataError: The file is faulty; says field and fault.
    """
    return load_data("wardround.patients.knowledge", "data/side_effects.json", _File).entries


@lru_cache(maxsize=1024)
def side_effects_of(drug: str) -> tuple[SideEffectRule, ...]:
    """Return the rules that are about a drug."""
    return tuple(rule for rule in side_effect_rules() if rule.holds_for(drug))
