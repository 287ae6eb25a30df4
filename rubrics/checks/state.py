"""`state`: a predicate over what the turn wrote. What the answer says plays no part, and neither does the chart."""

from __future__ import annotations

from wardround.rubrics.fhirpath import holds
from wardround.rubrics.predicates import PREDICATES
from wardround.rubrics.reading import Reading
from wardround.rubrics.records import WriteRecord
from wardround.rubrics.rubric import StateCheck, Verdict

from .context import CheckContext


def judge(check: StateCheck, reading: Reading, context: CheckContext) -> Verdict:
    """Judge the turn's writes of the check's type."""
    trace = context.trace
    files = check.predicate is not None and PREDICATES[check.predicate].about == "file"
    written = () if trace is None else trace.files if files else trace.writes
    asked = [write for write in written if check.type is None or write.type == check.type]
    what = check.type or "file"
    if not asked and check.count != "none":
        return _verdict(context, False, f"no {what} was written")
    if check.count == "one" and len(asked) > 1:
        return _verdict(context, False, f"{len(asked)} of {what} were written, one was asked for", asked)
    try:
        right = [write for write in asked if _satisfies(check, write)]
    except (ArithmeticError, TypeError, ValueError) as fault:
        return _verdict(context, False, f"cannot be evaluated on what was written: {fault}", asked)
    passed = {"none": not right, "any": bool(right), "one": bool(right), "all": len(right) == len(asked)}[check.count]
    shown = right if check.count in ("any", "one", "none") and right else asked
    held = "holds" if right else "does not hold"
    return _verdict(context, passed, f"`{check.expression or check.predicate}` {held} of what was written", shown)


def _satisfies(check: StateCheck, write: WriteRecord) -> bool:
    if check.predicate is not None:
        return PREDICATES[check.predicate].test(write, check.arguments)
    assert check.expression is not None  # one of the two is given: refused at load otherwise
    if not write.body:
        raise ValueError("the trace keeps no resource")
    return holds(check.expression, write.body.encode())


def _verdict(context: CheckContext, passed: bool, reason: str, writes: list[WriteRecord] | None = None) -> Verdict:
    return Verdict(
        item=context.item,
        passed=passed,
        score=float(passed),
        reason=reason,
        resources=tuple(write.resource for write in writes or ()),
    )
