"""What a place in an answer names: ids of the knowledge base with their kinds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from wardround.patients import knowledge

from .concepts import concepts
from .unlisted import own_kind

MEASURES = ("lab", "vital")
DRUGS = ("drug", "drug_class")


@dataclass(frozen=True, slots=True)
class Named:
    """What a place names: knowledge ids, the likeliest first, and their kinds."""

    ids: tuple[str, ...]
    kinds: frozenset[str]

    @property
    def measurable(self) -> bool:
        """Whether numbers may belong to it."""
        return not self.kinds.isdisjoint(MEASURES)

    @property
    def drug(self) -> bool:
        """Whether it is a drug or a class of drugs."""
        return not self.kinds.isdisjoint(DRUGS)


def level_name(drug: str) -> str:
    """Return the lab that is a drug's blood level, "" without one."""
    lab = concepts().levels.get(drug, f"{drug}_level")
    return lab if lab in knowledge.labs() else ""


@lru_cache(maxsize=16384)
def named(ids: tuple[str, ...]) -> Named:
    """Return ids with their kinds."""
    lexicon = knowledge.lexicon()
    return Named(ids, frozenset(own_kind(one) or lexicon.concept(one).kind for one in ids))
