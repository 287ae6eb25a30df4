"""`because`: the answer gives that reason for that claim."""

from __future__ import annotations

from wardround.rubrics.reading import Reading
from wardround.rubrics.rubric import BecauseCheck, Verdict

from .context import CheckContext
from .links import links
from .matching import unread, verdict
from .phrases import found, parse


def judge(check: BecauseCheck, reading: Reading, context: CheckContext) -> Verdict:
    """Pass where one link joins the claim and the whole reason; side by side without a link, they are none."""
    if (bad := unread(reading, context)) is not None:
        return bad
    claim, reason = parse(check.claim), parse(check.reason)
    near: tuple[int, int] | None = None
    for link, claims, reasons in links(reading):
        if found(claim, reading, claims, loose=link.kind == "cause_of"):
            near = near or (link.start, link.end)
            if found(reason, reading, reasons, loose=True):
                whole = reasons + claims
                span = reading.document.span(min(s for s, _ in whole), max(e for _, e in whole))
                return verdict(context, True, f"gives `{check.reason}` as the reason for `{check.claim}`", (span,))
    if near is not None:
        return verdict(
            context,
            False,
            f"gives another reason than `{check.reason}` for `{check.claim}`",
            (reading.document.span(*near),),
        )
    return verdict(context, False, f"gives no reason for `{check.claim}`")
