"""`judge`: a language model's recorded verdict on exactly this answer; pending where there is none.

Nothing is asked here. An answer that speaks to the judge instead of the physician is not shown to it: the item is
unreadable, which passes neither as it stands nor negated.
"""

from __future__ import annotations

from wardround.rubrics.judge_book import book
from wardround.rubrics.judge_request import judge_request
from wardround.rubrics.reading import Reading
from wardround.rubrics.rubric import JudgeCheck, Verdict

from .context import CheckContext


def judge(check: JudgeCheck, reading: Reading, context: CheckContext) -> Verdict:
    """Look the verdict up by the digest of all that the judge would be shown."""
    if context.addressed:
        said = f"the answer speaks to the judge (“{context.addressed}”), not to the physician"
        return _verdict(context, False, said, unreadable=True)
    if not reading.text.strip():
        return _verdict(context, check.guard, "nothing was said")
    request = judge_request(check, reading.text, context.language, context.trace, context.gold_answers)
    found = None if context.judged is None else context.judged.get(request.key)
    if found is None:
        return _verdict(context, False, f"waits for the judge (request {request.key[:12]})", ungraded=True)
    if found.passed is None:
        return _verdict(context, False, f"the judge gave no verdict: {found.error}", ungraded=True)
    return _verdict(context, found.passed, _short(found.reasoning))


def _short(reasoning: str) -> str:
    """Keep the head of a reasoning: verdicts travel with trajectories, the whole stands in judgements.jsonl."""
    limit = book().limits["reasoning"]
    return reasoning if len(reasoning) <= limit else reasoning[: limit - 1] + "…"


def _verdict(
    context: CheckContext, passed: bool, reason: str, *, unreadable: bool = False, ungraded: bool = False
) -> Verdict:
    return Verdict(
        item=context.item,
        passed=passed,
        score=float(passed),
        reason=reason,
        unreadable=unreadable,
        ungraded=ungraded,
    )
