"""A played run and its judge: what must be asked, what was recorded, and the records as the verdicts leave them.

Judging comes after the episodes. Records whose turns wait for a judge are replayed to make the requests, the judge is
asked once for each key, and the records are replayed again with the verdicts: scores, hashes and outcomes are those
that an episode with the verdicts at hand would have had.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from wardround.envs import pending, replay
from wardround.patients import ChartStore, DataError, UsageError, write_whole
from wardround.rubrics import Judgement, JudgeVerdict, judges_in
from wardround.sessions import Session, SessionSet

from .judging import Asked, JudgeClient, JudgePlan, judge_all
from .litellm_door import Sleep
from .rollout import Record, outcome_of

JUDGEMENTS = "judgements.jsonl"
FORMAT = "wardround.judgement/1"
_LINE = orjson.OPT_APPEND_NEWLINE | orjson.OPT_SORT_KEYS

Judged = Mapping[str, JudgeVerdict]


def read_judgements(path: Path) -> dict[str, Judgement]:
    """Read judgements by key; a line torn by a kill is left out, a later line of a key replaces an earlier one.

    Raises:
        DataError: A line is no judgement; names file and line.
    """
    found: dict[str, Judgement] = {}
    with path.open("rb") as handle:
        for number, line in enumerate(handle, start=1):
            if not line.endswith(b"\n"):
                break
            try:
                one = Judgement.model_validate_json(line)
            except ValidationError as error:
                raise DataError(f"{path}:{number}: no judgement ({error}): delete the line or the file") from error
            if one.format != FORMAT:
                raise DataError(f"{path}:{number}: `format` is `{one.format}`, not {FORMAT}")
            found[one.key] = one
    return found


def write_judgements(path: Path, found: Iterable[Judgement]) -> None:
    """Write judgements sorted by key."""
    lines = sorted(found, key=lambda one: one.key)
    write_whole(path, b"".join(orjson.dumps(one.model_dump(mode="json"), option=_LINE) for one in lines))


def is_judged(session: Session) -> bool:
    """Tell whether any item of a session asks a judge."""
    return any(any(judges_in(item.check)) for turn in session.turns for item in turn.rubric)


def chart_licences(sessions: Iterable[Session], store: ChartStore) -> set[str]:
    """Return the licence tags of the charts behind sessions: a session may say less of its data than its chart does."""
    return {store.chart(patient).licence for patient in {session.chart.patient for session in sessions}}


def held_verdicts(folder: Path, plan: JudgePlan | None) -> Judged | None:
    """Return the recorded verdicts of a plan, and where there is none those that the run folder holds itself.

    Raises:
        UsageError: The file named is not there.
    """
    if plan is not None and plan.model is not None:
        return None
    named = plan.recorded if plan is not None else None
    path = Path(named) if named else folder / JUDGEMENTS
    if not path.is_file():
        if plan is None:
            return None
        raise UsageError(f"`{path}` is not there: judge the run with litellm:MODEL first, or name recorded:FILE")
    return {key: one.verdict for key, one in read_judgements(path).items()}


def resolve(
    records: Sequence[Record],
    sessions: SessionSet,
    store: ChartStore,
    folder: Path,
    plan: JudgePlan | None,
    *,
    client: JudgeClient | None = None,
    sleep: Sleep = asyncio.sleep,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[list[Record], dict[str, Any] | None]:
    """Judge the records of a run.

    Args:
        records: As played; only those of sessions with judge items change.
        sessions: The set they were played on.
        store: Its charts.
        folder: The run folder; holds judgements.jsonl.
        plan: The judge; None takes what the folder holds recorded.
        client: Whom to ask instead of the plan's model.
        sleep: Waits between attempts.
        progress: Called with (judged, in all).

    Returns:
        The records with the verdicts in, and a summary: `source`, `model`, `asked`, `verdicts`, `ungraded` (requests
        without a verdict) and `faults` (why, counted); None where nothing is judged.

    Raises:
        UsageError: Recorded verdicts are not there, or the judge cannot be asked (licence, library, key).
    """
    mine = [record for record in records if is_judged(sessions.get(record["session"]))]
    if not mine:
        return list(records), None
    held = held_verdicts(folder, plan)
    if held is None and plan is None:
        return list(records), None
    if held is None:
        assert plan is not None  # no plan without a model gets here
        played = [sessions.get(record["session"]) for record in mine]
        plan.allow([sessions.licence, *(record["licence"] for record in mine), *chart_licences(played, store)])
        held = _ask(mine, sessions, store, folder, plan, client=client, sleep=sleep, progress=progress)
    used: dict[str, JudgeVerdict] = {}
    out: list[Record] = []
    waiting: set[str] = set()
    for record in records:
        session = sessions.get(record["session"])
        if not is_judged(session):
            out.append(record)
            continue
        for _, _, request in pending(session, store.chart(session.chart.patient), record["trajectory"]):
            if request.key in held:
                used[request.key] = held[request.key]
            else:
                waiting.add(request.key)
        out.append(settled(record, session, store, held))
    return out, _summary(plan, used, waiting)


def settled(record: Record, session: Session, store: ChartStore, judged: Judged | None) -> Record:
    """Return a record replayed with verdicts at hand."""
    episode = replay(session, store.chart(session.chart.patient), record["trajectory"], judged=judged)
    return {
        **record,
        "outcome": record["outcome"] if record["error"] else outcome_of(episode, ""),
        "score": episode.score,
        "trajectory_hash": episode.trajectory_hash,
        "trajectory": episode.trajectory,
    }


def _ask(
    records: Sequence[Record],
    sessions: SessionSet,
    store: ChartStore,
    folder: Path,
    plan: JudgePlan,
    *,
    client: JudgeClient | None,
    sleep: Sleep,
    progress: Callable[[int, int], None] | None,
) -> Judged:
    """Make the requests of the records, each key once, and ask."""
    asked: dict[str, Asked] = {}
    for record in sorted(records, key=lambda one: str(one["key"])):
        session = sessions.get(record["session"])
        chart = store.chart(session.chart.patient)
        for turn, item, request in pending(session, chart, record["trajectory"]):
            asked.setdefault(request.key, Asked(request, session.id, turn, item))
    return ask_into(folder / JUDGEMENTS, asked, plan, client=client, sleep=sleep, progress=progress)


def ask_into(
    path: Path,
    asked: Mapping[str, Asked],
    plan: JudgePlan,
    *,
    client: JudgeClient | None = None,
    sleep: Sleep = asyncio.sleep,
    progress: Callable[[int, int], None] | None = None,
) -> Judged:
    """Ask for what a file of judgements holds no verdict on; every judgement is on disk as it comes.

    Args:
        path: The file; made where it is not there, sorted by key at the end.
        asked: What a verdict is wanted on, by key.
        plan: A judge with a model.
        client: Whom to ask instead of the plan's model.
        sleep: Waits between attempts.
        progress: Called with (judged, in all).

    Returns:
        Every verdict the file now holds.

    Raises:
        UsageError: The file holds verdicts of another model.
    """
    kept = read_judgements(path) if path.is_file() else {}
    others = sorted({one.model for one in kept.values()} - {plan.model})
    if others:
        raise UsageError(f"`{path}` holds verdicts of `{others[0]}`: move it away to ask `{plan.model}`")
    left = [one for key, one in asked.items() if key not in kept or kept[key].verdict.passed is None]
    write_judgements(path, kept.values())  # a torn tail is gone
    count = 0
    with path.open("ab") as handle:

        def done(one: Judgement) -> None:
            nonlocal count
            if one.key in kept:  # asked before without a verdict: those replies are kept too
                one = one.model_copy(update={"attempts": (*kept[one.key].attempts, *one.attempts)})
            kept[one.key] = one
            handle.write(orjson.dumps(one.model_dump(mode="json"), option=_LINE))
            handle.flush()
            count += 1
            if progress is not None:
                progress(count, len(left))

        judge_all(left, plan, client=client, sleep=sleep, done=done)
    write_judgements(path, kept.values())
    return {key: one.verdict for key, one in kept.items()}


def _summary(plan: JudgePlan | None, used: Judged, waiting: set[str]) -> dict[str, Any]:
    faults = Counter(one.error for one in used.values() if one.passed is None)
    if waiting:
        faults["no verdict recorded"] = len(waiting)
    given = sum(one.passed is not None for one in used.values())
    return {
        "source": "litellm" if plan is not None and plan.model is not None else "recorded",
        "model": plan.model if plan is not None else None,
        "asked": len(used) + len(waiting),
        "verdicts": given,
        "ungraded": len(used) + len(waiting) - given,
        "faults": [{"reason": reason, "count": n} for reason, n in sorted(faults.items(), key=lambda f: (-f[1], f[0]))],
    }
