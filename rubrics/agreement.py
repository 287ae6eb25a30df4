"""How far two judges agree beyond chance (Cohen's κ), and what a typed check says in words, for a model to judge.

κ = (p_o - p_e) / (1 - p_e): p_o the share of cases on which both say the same, p_e the share expected of two judges who
say yes as often as these do, but at random (Cohen 1960, Educational and Psychological Measurement 20:37-46).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from .judge_book import book
from .rubric import (
    AllOf,
    AnyOf,
    Check,
    ClinicalScoreCheck,
    GroundedCheck,
    GroundedMentionsCheck,
    JudgeCheck,
    Not,
    OnlyCheck,
    OrderCheck,
    ReportsCheck,
    Text,
    TrendCheck,
    ValueCheck,
)


def kappa(pairs: Iterable[tuple[bool, bool]]) -> Fraction | None:
    """Return Cohen's κ of two judges' yes and no on the same cases, exactly.

    Args:
        pairs: What the first and the second judge said of each case.

    Returns:
        κ; None without a case, or where both always say the same one thing: then chance alone explains everything.

    Examples:
        >>> kappa([(True, True)] * 20 + [(True, False)] * 5 + [(False, True)] * 10 + [(False, False)] * 15)
        Fraction(2, 5)
    """
    said = list(pairs)
    if not said:
        return None
    n = len(said)
    same = Fraction(sum(one == other for one, other in said), n)
    first, second = Fraction(sum(one for one, _ in said), n), Fraction(sum(other for _, other in said), n)
    chance = first * second + (1 - first) * (1 - second)
    return None if chance == 1 else (same - chance) / (1 - chance)


def agreement(pairs: Iterable[tuple[bool, bool]]) -> dict[str, Any]:
    """Return `n`, `agree` (cases on which both say the same) and `kappa` (None where undefined)."""
    said = list(pairs)
    found = kappa(said)
    return {
        "n": len(said),
        "agree": sum(one == other for one, other in said),
        "kappa": None if found is None else float(found),
    }


def criterion_of(check: Check) -> Text | None:
    """Return the criterion that says in words what a check tests; None for kinds that no answer's words decide.

    Args:
        check: Any check; composed ones are worded from their members, and not at all if one of them is not.
    """
    en, zh = _worded(check, "en"), _worded(check, "zh")
    return Text(en=en, zh=zh) if en is not None and zh is not None else None


def _worded(check: Check, language: str) -> str | None:
    if isinstance(check, JudgeCheck):
        return check.criterion.get(language)
    if isinstance(check, AnyOf | AllOf | Not):
        members = check.checks if not isinstance(check, Not) else (check.check,)
        parts = [_worded(member, language) for member in members]
        told = [part for part in parts if part is not None]
        if len(told) < len(parts):
            return None
        listed = " ".join(f"({number}) {part}" for number, part in enumerate(told, start=1))
        return f"{book().criteria[check.kind][language]} {listed}"
    kind, values = _values(check, language)
    words: Mapping[str, str] = book().criteria.get(kind, {})
    return words[language].format(**values) if words else None


def _values(check: Check, language: str) -> tuple[str, dict[str, Any]]:
    """Return the key of the wording of a plain check and what fills it."""
    values: dict[str, Any] = dict(check.model_dump())
    comma = "；" if language == "zh" else "; "
    kind: str = check.kind
    if isinstance(check, ValueCheck):
        kind = "value.latest" if check.when == "latest" else kind
    elif isinstance(check, ReportsCheck):
        kind = "reports.reason" if check.reason is not None else kind
    elif isinstance(check, GroundedCheck):
        if check.known is None:
            return "", {}  # known is what the episode read; the request shows that, a criterion cannot
        values["known"] = comma.join(f"{one.concept} {one.value} {one.unit}".strip() for one in check.known) or "-"
    elif isinstance(check, OnlyCheck):
        values["concepts"] = comma.join(check.concepts) or "-"
    elif isinstance(check, GroundedMentionsCheck):
        known = check.known
        values["known"] = comma.join((*known.drugs, *known.conditions, *known.symptoms)) or "-"
    elif isinstance(check, TrendCheck):
        ends = [f"{end} {check.unit or ''}".strip() for end in (check.start, check.end) if end is not None]
        values["ends"] = f" ({' → '.join(ends)})" if ends else ""
    elif isinstance(check, ClinicalScoreCheck):
        parts = comma.join(f"{name} {points}" for name, points in check.components.items())
        values["ends"] = f" ({parts})" if parts else ""
    elif isinstance(check, OrderCheck):
        values["fields"] = comma.join(f"{name} = {text}" for name, text in check.fields.items()) or "-"
        forbid = check.forbid.model_dump(exclude_none=True) if check.forbid is not None else {}
        values["forbid"] = comma.join(f"{name} {text}" for name, text in forbid.items()) or "-"
    return kind, values
