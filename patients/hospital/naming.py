"""Names of concepts as they stand inside a sentence, in both languages."""

from __future__ import annotations

from wardround.patients.knowledge import conditions, drugs, findings


def inside(name: str) -> str:
    """Return an English name as it stands inside a sentence; HbA1c and Crohn's disease keep their capital."""
    first = name.split()[0]
    if first.startswith("Non-"):
        return name[0].lower() + name[1:]
    plain = first[1:2].isalpha() and first[1:].islower() and not first.endswith("'s")
    return name[0].lower() + name[1:] if plain else name


def name_of(concept: str) -> tuple[str, str]:
    """Return the names of a condition, finding or service inside a sentence, English and Chinese."""
    known = conditions().get(concept) or findings().get(concept)
    if known is None:
        return concept.replace("_", " "), concept
    return inside(known.name.en), known.name.zh or known.name.en


def drug_name(drug: str) -> tuple[str, str]:
    """Return the names of a drug inside a sentence."""
    name = drugs()[drug].name
    return inside(name.en), name.zh or name.en
