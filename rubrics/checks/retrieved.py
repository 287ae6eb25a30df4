"""`retrieved`: at least one of these was really read in this episode."""

from __future__ import annotations

from wardround.rubrics.reading import Reading
from wardround.rubrics.rubric import RetrievedCheck, Verdict

from .context import CheckContext


def judge(check: RetrievedCheck, reading: Reading, context: CheckContext) -> Verdict:
    """Pass where the episode's evidence holds one of the keys; anything read earlier counts, own writes never do."""
    found = tuple(key for key in check.any_of if context.trace and context.trace.evidence.holds(key))
    if found:
        return Verdict(item=context.item, passed=True, score=1.0, reason="was read", resources=found)
    return Verdict(item=context.item, passed=False, score=0.0, reason="never read: " + ", ".join(check.any_of))
