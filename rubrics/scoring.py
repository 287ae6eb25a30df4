"""From a turn's rubric, answer and trace to its score: pure, no network, no clock (design §8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import fsum
from typing import Literal

from wardround.patients import UsageError
from wardround.rubrics.checks import CheckContext, judge
from wardround.rubrics.reading import Reading, read

from .dumping import void_items
from .evidence import TurnTrace
from .judge import JudgeRequest, JudgeVerdict, judges_in
from .judge_book import speaks_to_judge
from .judge_request import actions_text, judge_request
from .limits import limits
from .lookalikes import plain_letters
from .pasted import blank_json
from .per_spec import per_spec
from .rubric import Check, Item, JudgeCheck, TurnScore, TurnSpec, Verdict
from .subject import by_its_words, in_context
from .validation import PLAN_ITEM, is_guard
from .writes import asks_for_writes, requested_tools, write_faults

Scoring = Literal["wardround", "paper"]
Plan = Literal["item", "zero", "off"]


def check_answer(
    check: Check,
    answer: str,
    *,
    language: str,
    trace: TurnTrace | None = None,
    judged: Mapping[str, JudgeVerdict] | None = None,
) -> Verdict:
    """Judge one check alone, without requirements and dumping limits (`grade --rows`).

    Args:
        check: Any check.
        answer: The answer's text; "" for an `order` row.
        language: "en" or "zh".
        trace: What was done before the answer; an `order` row carries its call as the one write.
        judged: Recorded verdicts of the LLM judge by request key.
    """
    addressed = speaks_to_judge(answer) if any(judges_in(check)) else ""
    context = CheckContext(item="", language=language, trace=trace, addressed=addressed, judged=judged)
    return _mark(judge(check, read(answer, language), context), is_guard(check))


def score(
    spec: TurnSpec,
    answer: str,
    trace: TurnTrace,
    *,
    scoring: Scoring = "wardround",
    plan: Plan = "item",
    judged: Mapping[str, JudgeVerdict] | None = None,
) -> TurnScore:
    """Score one turn.

    Args:
        spec: What the turn asked for.
        answer: The final answer, as the agent wrote it.
        trace: Calls and writes of the turn, evidence of the episode so far.
        scoring: "wardround" is the reward rule of design §8, "paper" the plain share of items.
        plan: What a missing `prepare_to_answer` costs: one failed guard, the whole turn, or nothing.
        judged: Recorded verdicts of the LLM judge by request key; an item that waits for one is ungraded.

    Returns:
        Verdicts in rubric order, the reward and the rules that fired beyond single items.

    Raises:
        UsageError: `scoring` or `plan` is none of the names above.
    """
    if scoring not in ("wardround", "paper"):
        raise UsageError(f"`scoring` must be wardround or paper, got `{scoring}`")
    if plan not in ("item", "zero", "off"):
        raise UsageError(f"`plan` must be item, zero or off, got `{plan}`")
    reading = read_answer(spec, answer, trace.language)
    addressed = _addressed(spec, answer, trace)
    verdicts = judge_items(spec, reading, trace, addressed=addressed, judged=judged)
    result = settle(spec, verdicts, reading, trace, scoring=scoring, plan=plan)
    if not addressed:
        return result
    note = f"the answer speaks to the judge (“{addressed}”): what a judge decides does not count"
    return result.model_copy(update={"notes": (*result.notes, note)})


def read_answer(spec: TurnSpec, answer: str, language: str) -> Reading:
    """Read an answer as the turn's form wants it read."""
    shown = plain_letters(answer)
    if spec.answer_format == "json":
        return read(shown, language)
    return in_context(spec, read(blank_json(shown), language))


def judge_items(
    spec: TurnSpec,
    reading: Reading,
    trace: TurnTrace,
    *,
    addressed: str = "",
    judged: Mapping[str, JudgeVerdict] | None = None,
) -> dict[str, Verdict]:
    """Judge every item alone: no requirement, limit or rule over the whole turn has been applied yet.

    Args:
        spec: The turn.
        reading: The answer.
        trace: What was done.
        addressed: Words of the answer that speak to a judge.
        judged: Recorded verdicts of the LLM judge by request key.
    """
    requested = requested_tools(spec)
    verdicts = {}
    for item in spec.rubric:
        context = CheckContext(
            item=item.id,
            language=trace.language,
            trace=trace,
            requested=requested,
            addressed=addressed,
            gold_answers=spec.gold_answers,
            judged=judged,
        )
        words = reading.plain if by_its_words(item.check) else reading
        verdicts[item.id] = _mark(judge(item.check, words, context), is_guard(item.check))
    return verdicts


def judge_requests(
    spec: TurnSpec, answer: str, trace: TurnTrace, judged: Mapping[str, JudgeVerdict] | None = None
) -> tuple[tuple[str, JudgeRequest], ...]:
    """Return what a judge must still be asked about a turn: (item id, request), in rubric order.

    An item that its other checks decide without the judge asks nothing; neither does one whose verdicts are all in
    `judged`.
    """
    if not any(judges_in_spec(spec)):
        return ()
    reading = read_answer(spec, answer, trace.language)
    verdicts = judge_items(spec, reading, trace, addressed=_addressed(spec, answer, trace), judged=judged)
    found = (
        (item.id, judge_request(check, reading.text, trace.language, trace, spec.gold_answers))
        for item in spec.rubric
        if verdicts[item.id].ungraded
        for check in judges_in(item.check)
    )
    return tuple((item, request) for item, request in found if request.key not in (judged or {}))


def judges_in_spec(spec: TurnSpec) -> Iterator[JudgeCheck]:
    """Yield every judge check of a turn."""
    return (check for item in spec.rubric for check in judges_in(item.check))


@per_spec
def _is_judged(spec: TurnSpec) -> bool:
    return any(True for _ in judges_in_spec(spec))


def _addressed(spec: TurnSpec, answer: str, trace: TurnTrace) -> str:
    """Return words of the answer, or of the turn's calls, that speak to a judge, where there is one to speak to."""
    if not _is_judged(spec):
        return ""
    return speaks_to_judge(answer) or speaks_to_judge(actions_text(trace))


def settle(
    spec: TurnSpec,
    verdicts: Mapping[str, Verdict],
    reading: Reading,
    trace: TurnTrace,
    *,
    scoring: Scoring = "wardround",
    plan: Plan = "item",
) -> TurnScore:
    """Apply the rules over the whole turn to single verdicts; also used when a judge answers after the episode."""
    settled = dict(verdicts)
    notes: list[str] = []
    requested = requested_tools(spec)
    _fail_writes(spec, settled, trace, requested, notes)
    for item_id, reason in void_items(spec, reading, trace.evidence, notes).items():
        settled[item_id] = _failed(settled[item_id], reason)
    if plan != "off" and not trace.planned:
        notes.append("plan incomplete: `prepare_to_answer` was not called")
        if plan == "item":
            settled[PLAN_ITEM] = Verdict(
                item=PLAN_ITEM, passed=False, score=0.0, reason="`prepare_to_answer` was not called", guard=True
            )
    zero = plan == "zero" and not trace.planned
    if trace.writes and not requested:
        notes.append("a write in a turn that asked for none: the turn scores 0")
        zero = True
    silent = not reading.text.strip() and not trace.calls and not trace.writes
    if silent:
        notes.append("empty answer without calls: the turn scores 0")
    low = _require(spec.rubric, settled, hopeful=False)
    plain = 0.0 if silent else _plain(low)
    worth = _plain if scoring == "paper" else lambda found: _reward(spec, found)
    bounds = (0.0, 0.0)
    if not (zero or silent):
        bounds = (worth(low), worth(_require(spec.rubric, settled, hopeful=True)))
    valid = not any(verdict.ungraded for verdict in low.values()) or zero or silent
    return TurnScore(
        reward=bounds[0] if valid else 0.0,
        r_plain=plain,
        reward_valid=valid,
        bounds=bounds,
        verdicts=tuple(low.values()),
        notes=tuple(dict.fromkeys(notes)),
    )


def _fail_writes(
    spec: TurnSpec, settled: dict[str, Verdict], trace: TurnTrace, requested: frozenset[str], notes: list[str]
) -> None:
    """A second or an unrequested write fails every order item, whatever its own fields say."""
    family = limits().of(spec.family)
    faults = write_faults(trace, requested, family.argument_characters, family.long_arguments)
    if not faults:
        return
    notes.extend(faults)
    for item in spec.rubric:
        if asks_for_writes(item.check):
            settled[item.id] = _failed(settled[item.id], faults[0])


def _require(items: tuple[Item, ...], verdicts: Mapping[str, Verdict], *, hopeful: bool) -> dict[str, Verdict]:
    """Fail the items whose requirements failed, however long the chain.

    Args:
        items: The rubric.
        verdicts: One for every item, and the plan item where there is one.
        hopeful: Count ungraded items as passed (the upper bound) instead of failed.
    """
    settled = {key: _hoped(verdict) if hopeful and verdict.ungraded else verdict for key, verdict in verdicts.items()}
    changed = True
    while changed:  # each round fails at least one more item, so it ends after at most one round an item
        changed = False
        for item in items:
            verdict = settled[item.id]
            if not (verdict.passed or verdict.ungraded):
                continue
            missing = [need for need in item.requires if need not in settled or not settled[need].passed]
            if not missing:
                continue
            if all(need in settled and settled[need].ungraded for need in missing):
                if verdict.passed:
                    settled[item.id] = verdict.model_copy(
                        update={
                            "passed": False,
                            "score": 0.0,
                            "ungraded": True,
                            "reason": f"requires `{missing[0]}`, which is ungraded",
                        }
                    )
                    changed = True
                continue
            failed = next(need for need in missing if need not in settled or not settled[need].ungraded)
            settled[item.id] = _failed(verdict, f"requires `{failed}`, which failed")
            changed = True
    return settled


def _reward(spec: TurnSpec, verdicts: Mapping[str, Verdict]) -> float:
    """Return (a + n·a/A) / (A + N): guards earn only in proportion to what was said and done."""
    said = [verdict for verdict in verdicts.values() if not verdict.guard]
    guards = [verdict for verdict in verdicts.values() if verdict.guard]
    if not said:
        return 0.0
    if spec.aggregate == "all":
        return 1.0 if all(verdict.passed for verdict in verdicts.values()) else 0.0
    worth = _scores if spec.aggregate == "mean" else _passes
    a, n = worth(said), worth(guards)
    return min(1.0, (a * (len(said) + n)) / (len(said) * (len(said) + len(guards))))


def _plain(verdicts: Mapping[str, Verdict]) -> float:
    """Return the paper's share of items passed."""
    return sum(verdict.passed for verdict in verdicts.values()) / len(verdicts) if verdicts else 0.0


def _passes(verdicts: list[Verdict]) -> float:
    return float(sum(verdict.passed for verdict in verdicts))


def _scores(verdicts: list[Verdict]) -> float:
    return fsum(verdict.score for verdict in verdicts if not verdict.ungraded)


def _mark(verdict: Verdict, guard: bool) -> Verdict:
    return verdict if verdict.guard == guard else verdict.model_copy(update={"guard": guard})


def _failed(verdict: Verdict, reason: str) -> Verdict:
    """Return the verdict failed by a rule; a verdict that had failed by itself keeps its own reason first."""
    said = reason if verdict.passed else f"{verdict.reason}; {reason}"
    return verdict.model_copy(
        update={"passed": False, "score": 0.0, "ungraded": False, "reason": said, "spans": verdict.spans}
    )


def _hoped(verdict: Verdict) -> Verdict:
    return verdict.model_copy(update={"passed": True, "score": 1.0, "ungraded": False})
