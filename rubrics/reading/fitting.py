"""Which units measure a concept, and which of the ids a place names can be measured."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

from wardround.patients import knowledge

from .annotate import State
from .document import Ann
from .named import Named, named
from .quantities import find_unit
from .unlisted import OWN


@lru_cache(maxsize=4096)
def fits(concept: str, unit: str | None) -> bool:
    """Tell whether a unit measures a concept."""
    if unit is None:
        return True
    lab = knowledge.labs().get(concept)
    if lab is None:
        return concept.startswith(OWN)
    if unit == "{log_copies}/mL" and lab.unit == "{copies}/mL":
        return True
    if unit in lab.units or unit == "{score}":
        return unit in lab.units or not lab.unit
    if lab.unit.endswith("/24h") and unit in ("g", "mg"):
        return True
    if concept == "blood_pressure":
        return unit == "mm[Hg]"
    if knowledge.convert(Decimal(1), unit, lab.unit, concept) is not None:
        return True
    found = find_unit(unit)
    own = find_unit(lab.unit)
    return found is not None and own is not None and found.dimension == own.dimension


def home_unit(concept: str) -> str:
    """Return a concept's conventional unit, "" where it has none."""
    lab = knowledge.labs().get(concept)
    return lab.unit if lab is not None else ""


def level_of(drug: Ann, unit: str | None) -> Ann | None:
    """Return a drug's blood level as the owner of a concentration ("Lithium 1.6 mEq/L")."""
    if unit is None:
        return None
    for one in drug.value.ids:
        lab = f"{one}_level"
        if fits(lab, unit):
            return Ann(drug.start, drug.end, "concept", "concept", named((lab,)))
    return None


def ids_of(ann: Ann) -> tuple[str, ...]:
    """Return the measurable ids of an owner annotation."""
    if isinstance(ann.value, State):
        return (ann.value.concept,)
    value: Named = ann.value
    labs = knowledge.labs()
    return tuple(one for one in value.ids if one in labs or one.startswith(OWN))
