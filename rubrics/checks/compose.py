"""Checks made of checks: `any_of`, `all_of` and `not`."""

from __future__ import annotations

from collections.abc import Iterable

from wardround.rubrics.reading import Reading
from wardround.rubrics.rubric import AllOf, AnyOf, Not, Span, Verdict

from . import context as _context
from . import judge


def any_of(check: AnyOf, reading: Reading, context: _context.CheckContext) -> Verdict:
    """Pass where a member passes; the first that does gives reason and evidence."""
    verdicts = [judge(member, reading, context) for member in check.checks]
    best = max(verdicts, key=lambda verdict: (verdict.passed, verdict.score))  # max keeps the first of equals
    if best.passed:
        return best
    return Verdict(
        item=context.item,
        passed=False,
        score=best.score,
        reason="none holds: " + _reasons(verdicts),
        unreadable=any(verdict.unreadable for verdict in verdicts),
        ungraded=any(verdict.ungraded for verdict in verdicts),
    )


def all_of(check: AllOf, reading: Reading, context: _context.CheckContext) -> Verdict:
    """Pass where every member passes; a member that plainly failed outweighs one that could not be read."""
    verdicts = [judge(member, reading, context) for member in check.checks]
    failed = [verdict for verdict in verdicts if not verdict.passed]
    plainly = any(not verdict.unreadable and not verdict.ungraded for verdict in failed)
    return Verdict(
        item=context.item,
        passed=not failed,
        score=min(verdict.score for verdict in verdicts),
        reason=_reasons(failed or verdicts),
        spans=_spans(verdicts) if not failed else (),
        resources=tuple(dict.fromkeys(key for verdict in verdicts for key in verdict.resources)) if not failed else (),
        unreadable=not plainly and any(verdict.unreadable for verdict in failed),
        ungraded=not plainly and any(verdict.ungraded for verdict in failed),
    )


def not_(check: Not, reading: Reading, context: _context.CheckContext) -> Verdict:
    """Pass where the member does not; what could not be read or graded stays so and does not pass."""
    member = judge(check.check, reading, context)
    passed = not (member.passed or member.unreadable or member.ungraded)
    return Verdict(
        item=context.item,
        passed=passed,
        score=1.0 if passed else 0.0,
        reason=("holds, and must not: " if member.passed else "does not hold: ") + member.reason,
        spans=member.spans if member.passed else (),
        resources=member.resources if member.passed else (),
        unreadable=member.unreadable,
        ungraded=member.ungraded,
    )


def _reasons(verdicts: Iterable[Verdict]) -> str:
    return "; ".join(dict.fromkeys(verdict.reason for verdict in verdicts))


def _spans(verdicts: Iterable[Verdict]) -> tuple[Span, ...]:
    return tuple(dict.fromkeys(span for verdict in verdicts for span in verdict.spans))
