"""`clinical_score`: the answer states this total for this score, and these points for its components."""

from __future__ import annotations

from decimal import Decimal

from wardround.patients import knowledge
from wardround.rubrics.reading import Reading
from wardround.rubrics.rubric import ClinicalScoreCheck, Verdict

from .amounts import rounds_to, same_number
from .context import CheckContext
from .matching import unread, verdict
from .score_claims import Figure, StatedScore, read_score


def judge(check: ClinicalScoreCheck, reading: Reading, context: CheckContext) -> Verdict:
    """Pass where the score's total is the one asked for, nothing contradicts it, and each component's points agree.

    Raises:
        UsageError: the check names a score that does not exist (`validate_spec` refuses it before).
    """
    score = knowledge.score_of(check.score)
    if (bad := unread(reading, context)) is not None:
        return bad
    stated = read_score(reading, check.score)
    name = score.name.en
    if not stated.totals:
        said = "without a total" if stated.named else "nowhere"
        return verdict(context, False, f"{name} is named {said}")
    unit = check.unit if check.unit is not None else score.unit
    hits = [one for one in stated.totals if _same(one.figure, str(check.total), unit, score)]
    spans = tuple(reading.document.span(one.figure.start, one.figure.end) for one in stated.totals)
    if not hits:
        given = ", ".join(one.figure.text for one in stated.totals)
        return verdict(context, False, f"{name} is given as {given}, not {check.total}", spans)
    rivals = [one for one in stated.totals if not one.old and one not in hits]
    if rivals or (all(one.old for one in hits) and len(hits) < len(stated.totals)):
        given = rivals[0].figure.text if rivals else "another value later"
        return verdict(context, False, f"{name} is also given as {given}", spans)
    reason = _components(check, stated)
    if reason is not None:
        return verdict(context, False, f"{name}: {reason}", spans)
    first = reading.document.span(hits[0].figure.start, hits[0].figure.end)
    return verdict(context, True, f"{name} is stated as {hits[0].figure.text}", (first,))


def _same(figure: Figure, total: str, unit: str, score: knowledge.Score) -> bool:
    if score.unit == "{score}":
        return rounds_to(Decimal(figure.text), Decimal(total))
    return same_number(figure.text, figure.unit, total, unit, score.concept or "")


def _components(check: ClinicalScoreCheck, stated: StatedScore) -> str | None:
    """Return what is wrong with the points of the components, or None."""
    for name, points in check.components.items():
        figures = stated.points.get(name, [])
        worded = [one for one in figures if one.unit is not None]
        said = {Decimal(one.text) for one in worded or figures}
        if not said:
            return f"no points are stated for `{name}`"
        if said != {Decimal(str(points))}:
            return f"`{name}` is given {', '.join(str(one) for one in sorted(said))} points, not {points}"
    return None
