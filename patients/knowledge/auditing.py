"""Checks the knowledge files against each other and reports every fault at once, for authors and tests.

The loader checks each entry alone; what only shows across files (an unknown class, two concepts with one name, a gap
between decision rules) is checked here.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from .loader import CONCEPT_FILES, Faults, Source, index_by, read
from .models import Ambiguity, Concept, Drug, Lab, Monitoring, Unit, WordRules
from .terms import Lexicon

_FILES = (*CONCEPT_FILES, "units.json", "monitoring.json", "ambiguous.json", "words.json")


def audit(replaced: Mapping[str, bytes] | None = None) -> list[str]:
    """Return every fault of the knowledge files, each as `file:line: path: what is wrong`; empty for good data.

    Args:
        replaced: file name → bytes to read in place of the packaged file.
    """
    given = replaced or {}
    sources = {name: Source(name, given[name]) if name in given else Source.packaged(name) for name in _FILES}
    faults = Faults()
    places = _concepts(sources, faults)
    concepts = {concept_id: concept for concept_id, (_, _, concept) in places.items()}
    units = index_by(sources["units.json"], read(sources["units.json"], Unit, faults), faults, "ucum")
    for source, index, concept in places.values():
        _links(source, index, concept, concepts, faults)
        if isinstance(concept, Lab):
            _lab_units(source, index, concept, units, faults)
    _monitoring(sources["monitoring.json"], concepts, units, faults)
    _wordings(sources, places, faults)
    return faults.found


_Places = dict[str, tuple[Source, int, Concept]]


def _concepts(sources: Mapping[str, Source], faults: Faults) -> _Places:
    found: _Places = {}
    for name, model in CONCEPT_FILES.items():
        source = sources[name]
        for index, concept in read(source, model, faults):
            if concept.id in found:
                other, line, _ = found[concept.id]
                where = f"{other.name}:{other.line(line)}"
                faults.add(source, index, f"{concept.id}: `id` appears twice, first at {where}; ids are unique")
            else:
                found[concept.id] = (source, index, concept)
    return found


def _links(source: Source, index: int, concept: Concept, known: Mapping[str, Concept], faults: Faults) -> None:
    for wider in concept.broader:
        if wider not in known:
            faults.add(source, index, f"{concept.id}.broader: `{wider}` is no concept")
    if isinstance(concept, Drug):
        for group in concept.classes:
            if group not in known or known[group].kind != "drug_class":
                faults.add(source, index, f"{concept.id}.classes: `{group}` is not in drug_classes.json")


def _lab_units(source: Source, index: int, lab: Lab, units: Mapping[str, Unit], faults: Faults) -> None:
    for where, code in (("unit", lab.unit), *(("units", code) for code in lab.units)):
        if code not in units:
            faults.add(source, index, f"{lab.id}.{where}: `{code}` is not in units.json")
    for code, factor in lab.factors.items():
        if code not in units:
            faults.add(source, index, f"{lab.id}.factors.{code}: not in units.json")
        elif factor <= 0:
            faults.add(source, index, f"{lab.id}.factors.{code}: {factor} is not a positive factor")
    for code in lab.offsets:
        if code not in lab.factors:
            faults.add(source, index, f"{lab.id}.offsets.{code}: give the factor of that unit too")
    for number, bounds in enumerate(lab.ranges):
        path = f"{lab.id}.ranges.{number}"
        if not _joined(lab, bounds.unit, units):
            faults.add(source, index, f"{path}.unit: `{bounds.unit}` does not convert to `{lab.unit}` for this lab")
        if bounds.low is not None and bounds.high is not None and bounds.low > bounds.high:
            faults.add(source, index, f"{path}: low {bounds.low} lies above high {bounds.high}")


def _joined(lab: Lab, code: str, units: Mapping[str, Unit]) -> bool:
    unit = units.get(code)
    known = (units[other] for other in (lab.unit, *lab.factors) if other in units)
    return unit is not None and any(unit.dimension == other.dimension for other in known)


def _monitoring(source: Source, concepts: Mapping[str, Concept], units: Mapping[str, Unit], faults: Faults) -> None:
    entries = read(source, Monitoring, faults)
    index_by(source, entries, faults)
    for index, pair in entries:
        for drug in pair.drugs:
            if drug not in concepts or concepts[drug].kind not in ("drug", "drug_class"):
                faults.add(source, index, f"{pair.id}.drugs: `{drug}` is no drug or class")
        lab = concepts.get(pair.lab)
        if not isinstance(lab, Lab):
            faults.add(source, index, f"{pair.id}.lab: `{pair.lab}` is not in labs.json")
        else:
            for rule in pair.rules:
                if not _joined(lab, rule.unit, units):
                    faults.add(source, index, f"{pair.id}.{rule.id}.unit: `{rule.unit}` is no unit of `{lab.id}`")
        for problem in partition_problems(pair):
            faults.add(source, index, f"{pair.id}.rules: {problem}")


def partition_problems(pair: Monitoring) -> list[str]:
    """Return what keeps the rules of a pair from covering every value exactly once; empty for good rules."""
    if not pair.rules:
        return ["give at least one rule"]
    problems = []
    if pair.rules[0].at_least is not None or pair.rules[-1].below is not None:
        problems.append("the first rule must be open below and the last one open above")
    if len({rule.unit for rule in pair.rules}) > 1:
        problems.append("all rules of a pair use one unit")
    for first, second in pairwise(pair.rules):
        if first.below is None or first.below != second.at_least:
            problems.append(f"`{first.id}` ends at {first.below} but `{second.id}` starts at {second.at_least}")
    for rule in pair.rules:
        if rule.at_least is not None and rule.below is not None and rule.at_least >= rule.below:
            problems.append(f"`{rule.id}` is empty: {rule.at_least} is not below {rule.below}")
    return problems


def _wordings(sources: Mapping[str, Source], places: _Places, faults: Faults) -> None:
    settled = read(sources["ambiguous.json"], Ambiguity, faults)
    for index, entry in settled:
        for concept_id in (*entry.concepts, *entry.cues):
            if concept_id not in places:
                faults.add(sources["ambiguous.json"], index, f"{entry.term}: `{concept_id}` is no concept")
    rules = [entry for _, entry in read(sources["words.json"], WordRules, faults)]
    if len(rules) != 1:
        faults.add(sources["words.json"], None, "expected exactly one entry")
        return
    lexicon = Lexicon((concept for _, _, concept in places.values()), (entry for _, entry in settled), rules[0])
    for clash in lexicon.clashes():
        source, index, _ = places[clash.concepts[-1]]
        others = ", ".join(f"`{one}`" for one in clash.concepts)
        faults.add(
            source,
            index,
            f"{clash.concepts[-1]}: `{clash.term}` names {others}; drop one or settle it in ambiguous.json",
        )
    for term in lexicon.unused_ambiguities():
        faults.add(sources["ambiguous.json"], None, f"{term}: the concepts listed are not those that claim the term")
