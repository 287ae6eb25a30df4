"""Refusals: what a rubric must not be, whoever wrote it (design §8)."""

from __future__ import annotations

from decimal import Decimal

from wardround.patients import knowledge
from wardround.rubrics.checks import CheckContext, judge
from wardround.rubrics.orders import order_problems
from wardround.rubrics.reading import read

from .evidence import TurnTrace
from .fhirpath import lint
from .judge import judges_in
from .naming import name_problems
from .predicates import PREDICATES, predicate_problems
from .rubric import GUARD_KINDS, AllOf, AnyOf, Check, ClinicalScoreCheck, Item, JudgeCheck, Not, StateCheck, TurnSpec
from .writes import orders_in, requested_tools

PLAN_ITEM = "plan_completed"
"""Id of the guard that exists only where `prepare_to_answer` was left out."""


def is_guard(check: Check) -> bool:
    """Tell whether a check is a guard (rewarded only in proportion) or affirmative.

    `all_of` is affirmative if any member is, `any_of` only if all are; `judge` says it itself; the kind decides else.
    """
    if isinstance(check, AllOf):
        return all(is_guard(member) for member in check.checks)
    if isinstance(check, AnyOf):
        return any(is_guard(member) for member in check.checks)
    if isinstance(check, JudgeCheck):
        return check.guard
    return check.kind in GUARD_KINDS


def validate_spec(spec: TurnSpec) -> list[str]:
    """Return every reason to refuse the rubric of a turn, each naming the item and the remedy; empty if sound."""
    problems = _ids(spec.rubric) + _requires(spec.rubric)
    if not any(not is_guard(item.check) for item in spec.rubric):
        problems.append("rubric: no affirmative item, so nothing can be earned; add one that states, advises or orders")
    problems.extend(_orders(spec))
    problems.extend(_criteria(spec))
    problems.extend(f"item `{item.id}`: {problem}" for item in spec.rubric for problem in name_problems(item.check))
    problems.extend(unknown := [*_scores(spec), *_states(spec)])
    if not unknown:  # a check of a score or state that does not exist cannot be judged at all
        problems.extend(_silence(spec))
    return problems


def _ids(items: tuple[Item, ...]) -> list[str]:
    seen: set[str] = set()
    problems = []
    for item in items:
        if item.id in seen:
            problems.append(f"item `{item.id}`: the id is used twice; give each item its own")
        if item.id == PLAN_ITEM:
            problems.append(f"item `{item.id}`: the id is kept for a missing `prepare_to_answer`; choose another")
        seen.add(item.id)
    return problems


def _requires(items: tuple[Item, ...]) -> list[str]:
    needs = {item.id: item.requires for item in items}
    problems = [
        f"item `{item.id}`: requires `{need}`, which is no item of this turn; name one of {', '.join(sorted(needs))}"
        for item in items
        for need in item.requires
        if need not in needs
    ]
    done: set[str] = set()
    for start in needs:  # in rubric order, so that the message is the same every time
        path: list[str] = []
        problems.extend(_cycle(start, needs, done, path))
    return problems


def _cycle(start: str, needs: dict[str, tuple[str, ...]], done: set[str], path: list[str]) -> list[str]:
    """Walk the requirements depth first without recursion, so that a long chain cannot exhaust the stack."""
    stack: list[tuple[str, int]] = [(start, 0)]
    path.append(start)
    while stack:
        node, at = stack.pop()
        following = [need for need in needs.get(node, ()) if need in needs]
        if at == len(following) or node in done:
            done.add(node)
            path.pop()
            continue
        stack.append((node, at + 1))
        need = following[at]
        if need in path:
            loop = [*path[path.index(need) :], need]
            done.update(path)
            return [f"item `{need}`: requires itself ({' → '.join(loop)}); break the circle"]
        if need not in done:
            path.append(need)
            stack.append((need, 0))
    return []


def _orders(spec: TurnSpec) -> list[str]:
    return [
        f"item `{item.id}`: {problem}"
        for item in spec.rubric
        for order in orders_in(item.check)
        for problem in order_problems(order)
    ]


def _scores(spec: TurnSpec) -> list[str]:
    return [f"item `{item.id}`: {problem}" for item in spec.rubric for problem in _score_problems(item.check)]


def _score_problems(check: Check) -> list[str]:
    """Return why a clinical score in a check, composed ones included, cannot be judged."""
    if isinstance(check, AnyOf | AllOf):
        return [problem for member in check.checks for problem in _score_problems(member)]
    if isinstance(check, Not):
        return _score_problems(check.check)
    if not isinstance(check, ClinicalScoreCheck):
        return []
    score = knowledge.scores().get(check.score)
    if score is None:
        return [f"there is no score `{check.score}`; name one of {', '.join(sorted(knowledge.scores()))}"]
    parts = score.by_component()
    problems = [
        f"score `{score.id}` has no component `{name}`; it has {', '.join(parts) or 'none'}"
        for name in check.components
        if name not in parts
    ]
    problems.extend(
        f"score `{score.id}`: `{name}` cannot have {points} points; it has {', '.join(map(str, parts[name].values()))}"
        for name, points in check.components.items()
        if name in parts and Decimal(str(points)) not in parts[name].values()
    )
    unit = check.unit
    if (
        unit is not None
        and unit != score.unit
        and knowledge.convert(Decimal(1), unit, score.unit, score.concept) is None
    ):
        problems.append(f"score `{score.id}` is not measured in `{unit}`; leave `unit` out or give `{score.unit}`")
    return problems


def _criteria(spec: TurnSpec) -> list[str]:
    """A judge asked nothing would decide about nothing."""
    return [
        f"item `{item.id}`: the judge's criterion is empty; say in `criterion` what the answer must do"
        for item in spec.rubric
        for check in judges_in(item.check)
        if not any((words or "").strip() for words in (check.criterion.en, check.criterion.zh))
    ]


def _states(spec: TurnSpec) -> list[str]:
    return [f"item `{item.id}`: {problem}" for item in spec.rubric for problem in _state_problems(item.check)]


def _state_problems(check: Check) -> list[str]:
    """Return why a state check, composed ones included, cannot be judged."""
    if isinstance(check, AnyOf | AllOf):
        return [problem for member in check.checks for problem in _state_problems(member)]
    if isinstance(check, Not):
        return _state_problems(check.check)
    if not isinstance(check, StateCheck):
        return []
    if (check.expression is None) == (check.predicate is None):
        return ["a state has either an `expression` or a `predicate`; give one"]
    if check.predicate is not None:
        problems = predicate_problems(check.predicate, check.arguments)
        if not problems and (PREDICATES[check.predicate].about == "resource") != (check.type is not None):
            problems = [f"predicate `{check.predicate}` is about a {PREDICATES[check.predicate].about}; mend `type`"]
        return problems
    if check.type is None:
        return ["an `expression` is about resources of a type; give `type`"]
    return [f"expression {problem}" for problem in lint(check.expression or "", check.type)]


def _silence(spec: TurnSpec) -> list[str]:
    """An affirmative item that silence passes would pay for nothing."""
    requested = requested_tools(spec)
    problems = []
    for item in spec.rubric:
        if is_guard(item.check):
            continue
        context = CheckContext(item=item.id, language="en", trace=TurnTrace(), requested=requested)
        if judge(item.check, read("", "en"), context).passed:
            problems.append(f"item `{item.id}`: an empty answer passes it and it is no guard; ask for something said")
    return problems
