"""`only_write`: no write but the one asked for."""

from __future__ import annotations

from wardround.rubrics.reading import Reading
from wardround.rubrics.rubric import OnlyWriteCheck, Verdict

from .context import CheckContext


def judge(check: OnlyWriteCheck, reading: Reading, context: CheckContext) -> Verdict:
    """Pass where the turn wrote nothing that was not asked for, and nothing twice.

    Where no turn is known (`grade --rows`) one write of any kind counts as asked for.
    """
    writes = context.trace.writes if context.trace else ()
    seen: set[str] = set()
    for write in writes:
        unasked = context.requested is not None and write.tool not in context.requested
        second = write.tool in seen or (context.requested is None and bool(seen))
        if unasked or second:
            why = "was not asked for" if unasked else "is a second write"
            return Verdict(
                item=context.item,
                passed=False,
                score=0.0,
                reason=f"`{write.tool}` {why}",
                resources=(write.resource,),
            )
        seen.add(write.tool)
    return Verdict(item=context.item, passed=True, score=1.0, reason="no write but the one asked for")
