"""`avoids`: the answer does not advise that act on that target."""

from __future__ import annotations

from wardround.rubrics.reading import Reading
from wardround.rubrics.rubric import AvoidsCheck, Verdict

from .advice import advised, knowing
from .context import CheckContext
from .matching import unread, verdict


def judge(check: AvoidsCheck, reading: Reading, context: CheckContext) -> Verdict:
    """Pass where nothing advises the act; silence and warnings pass."""
    if (bad := unread(reading, context)) is not None:
        return bad
    found = advised(check.act, check.target, knowing(check.target, reading))
    if found:
        return verdict(context, False, f"advises {check.act} `{check.target}`", (found[0].span,))
    return verdict(context, True, f"does not advise {check.act} `{check.target}`")
