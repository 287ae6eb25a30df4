"""Faults across the files of decisions on one value: subjects, units, bounds, targets, orders, inputs of scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import combinations

from .bedside import drug_profiles
from .clinical_scores import scores
from .conversion import convert
from .decision_models import DecisionBand, DecisionTable, Meaning, ScoreUse
from .decision_tables import decisions, score_uses
from .drug_amounts import dose_amount
from .loader import labs, lexicon

_POINTS = "{score}"


def decision_audit(
    tables: Mapping[str, DecisionTable] | None = None, uses: Mapping[str, ScoreUse] | None = None
) -> list[str]:
    """Return every fault as a sentence that names the entry; none: the files fit together.

    Args:
        tables: Decisions to look at in place of the packaged ones.
        uses: Uses of scores in place of the packaged ones.
    """
    found = [fault for table in (decisions() if tables is None else tables).values() for fault in _table(table)]
    return [*found, *(fault for use in (score_uses() if uses is None else uses).values() for fault in _use(use))]


def _table(table: DecisionTable) -> Iterator[str]:
    where = f"decisions.json: `{table.id}`"
    yield from (f"{where}: {fault}" for fault in (*_subject(table), *_bands(table), *_step(table)))
    for concept in table.concepts():
        if not _known(concept):
            yield f"{where}: `{concept}` is no concept"
    for limit in table.unless_values:
        if convert(Decimal(1), limit.unit, labs()[limit.of].unit, limit.of) is None:
            yield f"{where}: `{limit.unit}` is no unit of `{limit.of}`"


def _subject(table: DecisionTable) -> Iterator[str]:
    if table.kind == "score":
        score = scores().get(table.subject)
        if score is None:
            yield f"`{table.subject}` is no score"
        elif table.unit != (score.unit if score.unit != _POINTS else ""):
            yield f"`{table.unit}` is not the unit of `{table.subject}`"
        return
    known = labs().get(table.subject)
    if known is None or known.kind != table.kind:
        yield f"`{table.subject}` is no {table.kind}"
    elif convert(Decimal(1), table.unit, known.unit, known.id) is None:
        yield f"`{table.unit}` is no unit of `{table.subject}`"


def _bands(table: DecisionTable) -> Iterator[str]:
    if len({band.id for band in table.bands}) != len(table.bands):
        yield "two bands have one id"
    for one, other in combinations(table.bands, 2):
        sexes = {one.sex, other.sex}
        if (None in sexes or len(sexes) == 1) and _overlap(one, other):
            yield f"`{one.id}` and `{other.id}` overlap"


def _overlap(one: DecisionBand | Meaning, other: DecisionBand | Meaning) -> bool:
    low = max((bound for bound in (one.at_least, other.at_least) if bound is not None), default=None)
    high = min((bound for bound in (one.below, other.below) if bound is not None), default=None)
    return low is None or high is None or low < high


def _step(table: DecisionTable) -> Iterator[str]:
    step = table.step
    if lexicon().resolve(step.target) is None:
        yield f"step `{step.id}`: target `{step.target}` is no name of a concept"
    order = step.order
    if order is None or order.drug is None:
        return
    profile = drug_profiles().get(order.drug)
    if profile is None:
        yield f"step `{step.id}`: `{order.drug}` has no profile"
        return
    amount = dose_amount(order.dose)
    usual = {dose_amount(text) for rule in profile.doses for text in (rule.dose, *rule.others)}
    if amount is None or amount not in usual:
        yield f"step `{step.id}`: {order.dose} is no usual dose of `{order.drug}`"


def _known(concept: str) -> bool:
    return bool(_kinds(concept))


def _kinds(concept: str) -> Iterable[str]:
    try:
        return (lexicon().concept(concept).kind,)
    except KeyError:
        return ()


def _use(use: ScoreUse) -> Iterator[str]:
    where = f"score_uses.json: `{use.id}`"
    score = scores().get(use.id)
    if score is None:
        yield f"{where}: no such score"
        return
    inputs = {one.id: one for one in score.inputs}
    for name, source in use.inputs.items():
        if name not in inputs:
            yield f"{where}: the score has no input `{name}`"
        if source.kind in ("lab", "vital") and any(one not in labs() for one in source.of):
            yield f"{where}: input `{name}` names no {source.kind}"
        yield from (f"{where}: `{one}` is no concept" for one in (*source.of, *source.unclear) if not _known(one))
    for concept in (*use.needs, *use.needs_drugs, *use.unless):
        if not _known(concept):
            yield f"{where}: `{concept}` is no concept"
    for name in use.missing_words:
        if name not in score.by_component():
            yield f"{where}: the score has no component `{name}`"
    for one, other in combinations(use.meanings, 2):
        if _overlap(one, other):
            yield f"{where}: two meanings overlap"
