"""One answer graded against one turn of a session, explained item by item."""

from __future__ import annotations

from typing import Any, Literal

from wardround.patients import Chart, UsageError
from wardround.rubrics import Item, TurnScore, Verdict, score
from wardround.sessions import Session

from .episode import Episode

Calls = Literal["gold", "none"]
Language = Literal["en", "zh"]


def grade_answer(
    session: Session,
    chart: Chart,
    turn: int,
    answer: str,
    *,
    language: Language = "en",
    phrasing: str = "implicit",
    calls: Calls = "gold",
) -> dict[str, Any]:
    """Grade an answer as the answer of one turn; the turns before it are played from gold.

    Args:
        session: The session.
        chart: Its chart.
        turn: Number of the turn, from 0.
        answer: What the assistant said.
        language: "en" or "zh".
        phrasing: "implicit" or "explicit".
        calls: Whether this turn's gold calls are made before the answer ("gold"), so that items which require a
            look-up can pass, or none ("none").

    Returns:
        `session, turn` (from 1), `task, query, answer, language, phrasing, calls, reward, r_plain, reward_valid,
        explained, notes`, and `items`: `id, text, kind, guard, verdict` (pass, fail, unreadable, ungraded), `reason`,
        `words` (the parts of the answer it rests on) and `resources`.

    Raises:
        UsageError: The session has no such turn, or an earlier turn has no gold to play.
    """
    if not 0 <= turn < len(session.turns):
        raise UsageError(f"session `{session.id}` has turns 1 to {len(session.turns)}; there is no turn {turn + 1}")
    if calls not in ("gold", "none"):
        raise UsageError(f"`calls` must be gold or none, got `{calls}`")
    # the plan is the agent's business, not the answer's: no item for it here
    episode = Episode(session, chart, language=language, phrasing=phrasing, plan="off")
    for number in range(turn):
        _play_gold(episode, number)
        episode.answer(_gold(session, number).answers[0].get(language))
    if calls == "gold":
        _play_gold(episode, turn)
    query = episode.query
    played = session.turns[turn]
    # scored as it stands: an empty answer, which an episode would hand back, is worth 0 here
    result = score(played.spec(session.family), answer, episode.trace, plan="off")
    texts = {item.id: item for item in played.rubric}
    return {
        "session": session.id,
        "turn": turn + 1,
        "task": played.task,
        "query": query,
        "answer": answer,
        "language": language,
        "phrasing": phrasing,
        "calls": calls,
        "reward": result.reward,
        "r_plain": result.r_plain,
        "reward_valid": result.reward_valid,
        "explained": _sum(result),
        "notes": list(result.notes),
        "items": [_explained(verdict, texts.get(verdict.item), language) for verdict in result.verdicts],
    }


def _gold(session: Session, turn: int) -> Any:
    gold = session.turns[turn].gold
    if gold is None:
        raise UsageError(f"session `{session.id}` has no gold for turn {turn + 1}; it cannot be played up to there")
    return gold


def _play_gold(episode: Episode, turn: int) -> None:
    gold = _gold(episode.session, turn)
    for call in gold.calls:
        episode.call(call.tool, call.arguments)


def _explained(verdict: Verdict, item: Item | None, language: str) -> dict[str, Any]:
    word = "pass" if verdict.passed else "fail"
    if verdict.unreadable or verdict.ungraded:
        word = "ungraded" if verdict.ungraded else "unreadable"
    return {
        "id": verdict.item,
        "text": "" if item is None else item.text.get(language),
        "kind": None if item is None else item.check.kind,
        "guard": verdict.guard,
        "verdict": word,
        "score": verdict.score,
        "reason": verdict.reason,
        "words": [span.text for span in verdict.spans],
        "resources": list(verdict.resources),
    }


def _sum(turn: TurnScore) -> str:
    """Say in one line how the reward came about: (a + n·a/A) / (A + N), design §8."""
    if not turn.reward_valid:
        return f"no reward: {sum(one.ungraded for one in turn.verdicts)} items could not be graded"
    guards = [one for one in turn.verdicts if one.guard]
    others = [one for one in turn.verdicts if not one.guard]
    kept, stated = sum(one.passed for one in guards), sum(one.passed for one in others)
    return f"{stated} of {len(others)} items stated, {kept} of {len(guards)} guards kept (they count in proportion)"
