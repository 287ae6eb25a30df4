"""Sessions by rule, from any chart: pre-filter, plan, wording, gold, rubric, gates (the pipeline's driver).

The same charts and seed give the same bytes: patients are taken in order, every draw has its own named stream, and what
was made so far only steers the mix.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from wardround.patients import (
    NEVER,
    Chart,
    ChartStore,
    Instant,
    Interview,
    Persona,
    Snapshot,
    Stream,
    UsageError,
    is_hospital_stay,
    make_interview,
    parse_instant,
)

from .assembling import assemble
from .gates import Failure, check_session
from .implicit import word_session
from .planner import Plan, decide, interviewable, outranked, plans, usable
from .queries import name_labs, pronouns
from .record import Pair, RecordView, view_record
from .scenario import AnchorName, Phrases, Scenario, load_phrases, load_scenario
from .session import Session

RETRIES = 3
"""Plans tried after a first one failed a gate; then the next drug, then the next patient."""
GATES = ("gate1", "gate2", "gate3")
_SOUND = frozenset({"missing", "delayed_result", "med_list_vs_note"})
"""Kinds or details of planted flaws that leave right what results and orders say (a note's list may be wrong)."""


@dataclass(frozen=True)
class GenerationResult:
    """What a run made, and what the gates let through."""

    sessions: tuple[Session, ...]
    statistics: dict[str, Any]
    """JSON-able: patients, skipped [{patient, reason}], gates {gate: {tried, failed, reasons}}, left_out, mix."""


@dataclass
class _Run:
    """What one run keeps in mind."""

    scenario: Scenario
    phrases: Phrases
    seed: int
    sessions: list[Session] = field(default_factory=list)
    used: Counter[str] = field(default_factory=Counter)
    """How often each arc, recipe, pair, act and implicit type was used; steers the mix."""
    tried: Counter[str] = field(default_factory=Counter)
    failed: dict[str, Counter[str]] = field(default_factory=dict)
    skipped: list[dict[str, str]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


def generate(
    store: ChartStore,
    *,
    scenario: str = "medication-safety",
    seed: int = 0,
    limit: int | None = None,
    anchor: AnchorName | None = None,
) -> GenerationResult:
    """Make sessions from a store's charts.

    Args:
        store: Charts; authored interviews in it are used, others are made.
        scenario: Id of a scenario.
        seed: Names the random streams.
        limit: Most sessions to make.
        anchor: When the round takes place; by default mid-stay where the store states the hours, else the
            scenario's own rule.

    Returns:
        Sessions that passed every gate, ordered by patient, and what was refused and why.

    Raises:
        UsageError: Unknown scenario, or a limit below 1.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"`limit` must be 1 or more, got {limit}")
    rules = load_scenario(scenario)
    run = _Run(rules, load_phrases(rules.id), seed)
    patients = sorted(store.patients())
    for patient in patients:
        if limit is not None and len(run.sessions) >= limit:
            break
        room = (
            rules.sessions_per_patient if limit is None else min(rules.sessions_per_patient, limit - len(run.sessions))
        )
        made, reason = _of_patient(run, store, patient, room, anchor)
        if made == 0:
            run.skipped.append({"patient": patient, "reason": reason})
    return GenerationResult(tuple(run.sessions), _statistics(run, len(patients)))


def _of_patient(run: _Run, store: ChartStore, patient: str, room: int, anchor: AnchorName | None) -> tuple[int, str]:
    """Make up to `room` sessions of one patient; return how many, and why none."""
    chart = store.chart(patient)
    made = 0
    reasons: list[str] = []
    taken: set[tuple[str, str]] = set()
    flawed = _flawed(store, patient)
    for encounter, instant in _anchors(store, chart, run.scenario, anchor):
        snapshot = chart.at(instant)
        view = view_record(snapshot, encounter, run.scenario.resource_types, run.scenario.casual, flawed)
        run.left_out.update(view.left_out)
        if pronouns(view.sex) is None:
            reasons.append(f"sex is recorded as `{view.sex}`")
            continue
        pairs = _ordered_pairs(run, view, patient)
        if not pairs:
            reasons.append("no monitored drug that is ordered, taken by the patient and has its lab")
        for pair in pairs:
            if made >= room:
                return made, ""
            if (pair.order.drug, pair.reading.lab) in taken:
                continue
            session, reason = _of_pair(run, store, chart, snapshot, view, pair)
            if session is None:
                reasons.append(reason)
                continue
            run.sessions.append(session)
            taken.add((pair.order.drug, pair.reading.lab))
            made += 1
    return made, "; ".join(dict.fromkeys(reasons)) or "no encounter with an anchor"


# -- when --------------------------------------------------------------------------------------------------------------


def _anchors(
    store: ChartStore, chart: Chart, scenario: Scenario, wanted: AnchorName | None
) -> Iterator[tuple[str, Instant]]:
    """Yield the encounters of a chart with the round's instant in each, the latest encounter first."""
    stated = store.header.get("provenance", {}).get("anchors", {})
    rule = wanted or ("mid-stay" if chart.patient_id in stated else scenario.anchor.rule)
    if rule == "mid-stay" and chart.patient_id in stated:
        instant = parse_instant(stated[chart.patient_id])
        current = [(start, name) for name, start, end in _stays(chart) if start <= instant < end]
        yield from ((name, instant) for _, name in sorted(current, reverse=True)[:1])
        return
    for name, start, end in sorted(_stays(chart), key=lambda stay: (-stay[2], stay[0])):
        yield name, end if rule == "discharge" else _middle(start, end, scenario.anchor.mid_stay_hour)


def _stays(chart: Chart) -> list[tuple[str, Instant, Instant]]:
    """Return the closed hospital stays of a chart as (id, start, end), as known in the end."""
    stays = []
    for resource in chart.at(NEVER - 1).resources("Encounter"):
        period = resource.get("period", {})
        if is_hospital_stay(resource) and "start" in period and "end" in period:
            stays.append((str(resource["id"]), parse_instant(period["start"]), parse_instant(period["end"])))
    return stays


def _middle(start: Instant, end: Instant, hour: int) -> Instant:
    """Return that hour of the day in the middle of a stay, inside the stay."""
    day, first = 86_400_000_000, start - start % 86_400_000_000
    middle = first + (end - first) // (2 * day) * day + hour * 3_600_000_000
    return min(max(middle, start), end)


# -- what --------------------------------------------------------------------------------------------------------------


def _flawed(store: ChartStore, patient: str) -> frozenset[str]:
    """Return what a generated chart says wrongly, as its truth tells: an answer that rests on it would be no gold."""
    truth = store.truth(patient)
    flaws = () if truth is None else truth.flaws
    return frozenset(place for flaw in flaws if not _SOUND & {flaw.kind, flaw.detail} for place in flaw.places)


def _ordered_pairs(run: _Run, view: RecordView, patient: str) -> list[Pair]:
    """Return the pairs that a session may be about, those the set needs most first."""
    fitting = [
        pair
        for pair in view.pairs
        if usable(pair, run.scenario)
        and interviewable(pair.order, run.scenario)
        and decide(pair, None, run.scenario) is not None
        and not outranked(pair, view, run.scenario)
    ]
    mixed = Stream("pairs", run.seed, patient, view.encounter).shuffled(fitting)
    share = run.scenario.continue_percent
    middle = (share.low + share.high) * run.used["advice"] // 2
    short = "continue" if run.used["advice:continue"] * 100 < middle else "other"
    mixed.sort(
        key=lambda pair: (
            (pair.rule.act == "continue") != (short == "continue"),
            run.used[f"pair:{pair.monitoring}"],
            run.used[f"drug:{pair.order.drug}"],
        )
    )
    return mixed


def _of_pair(
    run: _Run, store: ChartStore, chart: Chart, snapshot: Snapshot, view: RecordView, pair: Pair
) -> tuple[Session | None, str]:
    """Make one session about a pair; None with the reason where every try failed."""
    reason = "the record or the interview holds too little for a plan"
    key = (run.seed, chart.patient_id, view.encounter, pair.monitoring, pair.order.drug)
    tries = 0
    for attempt in range(1 + RETRIES):
        stream = Stream("session", *key, attempt)
        interview = _interview(store, snapshot, view.encounter, pair, stream)
        for plan in plans(view, interview, pair, run.scenario, stream, run.used):
            if _too_many_continue(run, plan):
                reason = "one more recommendation to continue would be more than the set's share"
                continue
            session = _session_of(run, plan, chart, stream)
            if session is None:
                continue
            failures = check_session(session, chart)
            _count_gates(run, failures)
            if not failures:
                _note_use(run, plan, session)
                return session, ""
            reason = f"{failures[0].rule}: {failures[0].message}"
            tries += 1
            if tries > RETRIES:
                return None, reason
            break
    return None, reason


def _advised(plan: Plan) -> list[str]:
    """Return the acts that the plan's CR turns ask for."""
    return [move.decision.act for move in plan.moves if move.decision is not None]


def _too_many_continue(run: _Run, plan: Plan) -> bool:
    """Tell whether "no change" would be right too often: an agent that always says it must not do well."""
    acts = _advised(plan)
    going_on = run.used["advice:continue"] + acts.count("continue")
    # Small sets need room to begin with.
    return "continue" in acts and going_on * 100 > run.scenario.continue_percent.high * (
        run.used["advice"] + len(acts) + 2
    )


def _session_of(run: _Run, plan: Plan, chart: Chart, stream: Stream) -> Session | None:
    names = name_labs(plan, run.scenario, stream)
    worded = word_session(plan, names, run.scenario, run.phrases, stream, run.used)
    return None if worded is None else assemble(plan, worded, chart, run.scenario, run.seed)


def _interview(store: ChartStore, snapshot: Snapshot, encounter: str, pair: Pair, stream: Stream) -> Interview:
    """Return the authored interview, or one made for the record in which the patient's adherence is drawn.

    Where each encounter has its own, it is told as of that encounter's end, so none is used before, nor that of another
    encounter: it may tell what comes later.
    """
    told = store.interviews(snapshot.patient_id)
    authored = told.get(encounter) if _is_over(snapshot, encounter) else None
    if not told:
        authored = store.interview(snapshot.patient_id)
    if authored is not None:
        return authored
    levels: tuple[Literal["low", "medium", "high"], ...] = ("low", "medium", "high")
    # Where a level is too low, or nothing speaks against the drug, what is really taken is the question.
    poor = stream.chance(2, 3) if pair.rule.act in {"increase", "continue"} else stream.chance(1, 2)
    persona = Persona(
        literacy=stream.choice(levels),
        anxiety=stream.choice(levels),
        adherence="poor" if poor else "good",
        disclosure="critical_withheld" if poor and stream.chance(1, 2) else "open",
    )
    return make_interview(snapshot, stream.bits64() >> 1, persona=persona, withhold=pair.order.drug if poor else None)


def _is_over(snapshot: Snapshot, encounter: str) -> bool:
    """Tell whether an encounter has ended by the anchor."""
    entry = snapshot.read("Encounter", encounter)
    return entry is not None and "end" in entry.resource().get("period", {})


# -- counting ----------------------------------------------------------------------------------------------------------


def _count_gates(run: _Run, failures: list[Failure]) -> None:
    """Count a session's gates; a session that fails outside them is counted under the rule's own name."""
    for gate in dict.fromkeys((*GATES, *(failure.rule for failure in failures))):
        run.tried[gate] += 1
        reasons = [failure.message for failure in failures if failure.rule == gate]
        if reasons:
            run.failed.setdefault(gate, Counter())[_kind(reasons[0])] += 1


def _kind(message: str) -> str:
    """Return a failure's message without its turn, so that equal faults are counted together."""
    return message.partition(": ")[2][:160] or message[:160]


def _note_use(run: _Run, plan: Plan, session: Session) -> None:
    used = run.used
    used[plan.arc] += 1
    used[f"recipe:{plan.recipe}"] += 1
    used[f"pair:{plan.pair.monitoring}"] += 1
    used[f"drug:{plan.pair.order.drug}"] += 1
    for act in _advised(plan):
        used["advice"] += 1
        used[f"advice:{act}"] += 1
    used.update(turn.implicitness for turn in session.turns if turn.implicitness is not None)


def _statistics(run: _Run, patients: int) -> dict[str, Any]:
    gates = {
        gate: {
            "tried": run.tried[gate],
            "failed": sum(run.failed.get(gate, Counter()).values()),
            "reasons": dict(sorted(run.failed.get(gate, Counter()).items())),
        }
        for gate in sorted(run.tried)
    }
    return {
        "patients": patients,
        "patients_used": len({session.chart.patient for session in run.sessions}),
        "skipped": run.skipped,
        "gates": gates,
        "left_out": dict(sorted(run.left_out.items())),
        "mix": dict(sorted(run.used.items())),
    }
