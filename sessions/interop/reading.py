"""From PhysAssistBench's JSONL to sessions, with the recorded results or the user's own record behind them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import ValidationError

from wardround.patients import (
    SECOND,
    ChartStore,
    DataError,
    Instant,
    Interview,
    Persona,
    Recording,
    UsageError,
    find_tool,
    format_instant,
    parse_period,
)
from wardround.rubrics import Item, JudgeCheck, Text, TurnSpec, validate_spec
from wardround.sessions.dataset import CANARY
from wardround.sessions.session import ChartRef, Gold, GoldCall, Provenance, Query, Session, Turn, Wording

from .entries import PREPARE, SCENARIOS, TASKS, Entry, Step, answer_of, answers_zh
from .recorded import Recorded, facts_of, plain_arguments, recording_of, write_charts
from .report import ImportReport
from .sentences import check_of

FAMILY = "physassistbench"
GENERATOR = "PhysAssistBench"
_PERSONA = {"health_literacy": "literacy", "anxiety_level": "anxiety"}
_LEVELS = ("low", "medium", "high")
_ADHERENCE: Mapping[str, Literal["good", "uncertain", "poor"]] = {
    "good": "good", "poor": "poor", "uncertain": "uncertain", "mixed": "uncertain", "unknown": "uncertain",
}  # fmt: skip


def read_entries(text: bytes, name: str, report: ImportReport) -> Iterable[tuple[int, Entry]]:
    """Yield the entries of a JSONL text with their line numbers; what is no entry is refused and reported."""
    for number, line in enumerate(text.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            yield number, Entry.model_validate(orjson.loads(line))
        except orjson.JSONDecodeError as error:
            report.refused.append({"line": number, "reason": f"not JSON ({error})"})
        except ValidationError as error:
            fault = error.errors()[0]
            where = ".".join(map(str, fault["loc"])) or "entry"
            report.refused.append({"line": number, "reason": f"{name}:{number}: {where}: {fault['msg']}"})


def import_physassistbench(
    path: str | Path,
    *,
    store: ChartStore | None = None,
    charts: str | Path | None = None,
    licence: str = "credentialed",
) -> tuple[tuple[Session, ...], ImportReport]:
    """Read a published file into sessions for evaluation.

    Args:
        path: JSONL in PhysAssistBench's shape.
        store: The user's own record of the same patients (MIMIC-IV): tools run on it.
        charts: Without `store`: where to write the store of the recorded resources; tools then replay the recordings.
        licence: Tag of what is read; the published set comes from MIMIC-IV.

    Returns:
        Sessions (`use` "evaluation", family "physassistbench") and what was refused or left out.

    Raises:
        UsageError: Neither or both of `store` and `charts` are given, or there is no such file.
        DataError: No entry of the file could be read; names the first fault.
    """
    if (store is None) == (charts is None):
        raise UsageError("give either `store` (your own record) or `charts` (where the recorded results are kept)")
    file = Path(path)
    if not file.is_file():
        raise UsageError(f"no file `{file}`; give a JSONL file in PhysAssistBench's shape")
    report, recorded = ImportReport(), Recorded()
    made: list[tuple[int, Session]] = []
    ids: set[str] = set()
    for line, entry in read_entries(file.read_bytes(), file.name, report):
        try:
            session = session_of(entry, report, recorded, licence)
            if session.id in ids:
                raise DataError(f"id `{session.id}` is used twice")
            made.append((line, _on_store(session, store) if store is not None else session))
            ids.add(session.id)
        except DataError as error:
            report.refused.append({"line": line, "reason": str(error)})
    if not made:
        first = report.refused[0]["reason"] if report.refused else "the file is empty"
        raise DataError(f"{file.name}: no entry became a session; first fault: {first}")
    sessions = [session for _, session in made]
    if charts is not None:
        sessions = write_charts(sessions, recorded, Path(charts), licence, report)
    report.sessions = len(sessions)
    return tuple(sessions), report


def session_of(entry: Entry, report: ImportReport, recorded: Recorded, licence: str) -> Session:
    """Return the session of an entry; its chart's hash is still open.

    Raises:
        DataError: The entry cannot be played; says which turn and why.
    """
    patient = str(entry.subject_id)
    encounter = None if entry.hadm_id is None else str(entry.hadm_id)
    anchor = _anchor(entry.current_date)
    name = entry.session_id or str(entry.id)
    chinese = answers_zh(entry)
    turns = tuple(_turn(entry, number, chinese[number], report) for number in range(len(entry.tasks)))
    recordings = _recordings(entry, patient, anchor, recorded, report)
    persona = _persona(entry.persona_config, report)
    return Session(
        id=name,
        family=FAMILY,
        scenario=SCENARIOS.get(entry.clinical_scenario, entry.clinical_scenario or "unknown"),
        tier=entry.difficulty_level or "unknown",
        chart=ChartRef(patient=patient, hash=""),
        encounter=encounter,
        anchor=format_instant(anchor),
        persona=persona,
        licence=licence,
        use="evaluation",
        split="published",
        provenance=Provenance(generator=GENERATOR, version="published", seed=0),
        interview=Interview(facts=facts_of(recordings), persona=persona),
        recordings=recordings,
        turns=turns,
        labels={"canary": CANARY, "entry": str(entry.id), "arc": "-".join(turn.task for turn in turns)},
    )


def _recordings(
    entry: Entry, patient: str, anchor: Instant, recorded: Recorded, report: ImportReport
) -> tuple[Recording, ...]:
    found = []
    for number, steps in enumerate(entry.answer_list):
        chinese = entry.answer_list_zh[number] if entry.answer_list_zh is not None else []
        for place, step in enumerate(steps):
            other = chinese[place] if place < len(chinese) and chinese[place].action.name == step.action.name else None
            one = recording_of(step, other, f"reply-{number}-{place}", patient, anchor, recorded, report)
            if one is not None:
                found.append(one)
    report.recordings += len(found)
    return tuple(found)


def _anchor(date: str) -> Instant:
    """Return the last instant of the day or moment that an entry is told as of."""
    try:
        return parse_period(date)[1] - SECOND
    except (DataError, ValueError) as error:
        raise DataError(f"`current_date` is `{date[:40]}`: {error}") from error


def _persona(config: Mapping[str, Any], report: ImportReport) -> Persona:
    found: dict[str, Any] = {}
    for theirs, ours in _PERSONA.items():
        value = str(config.get(theirs, "")).casefold()
        if value in _LEVELS:
            found[ours] = value
        elif value:
            report.left_out[f"persona: {theirs} `{value[:20]}`"] += 1
    adherence = str(config.get("medication_adherence", config.get("overall_adherence", ""))).casefold()
    if adherence in _ADHERENCE:
        found["adherence"] = _ADHERENCE[adherence]
    if str(config.get("info_completeness", "")).casefold() == "critical_withheld":
        found["disclosure"] = "critical_withheld"
    return Persona(**found)


# -- turns -------------------------------------------------------------------------------------------------------------


def _turn(entry: Entry, number: int, chinese: str, report: ImportReport) -> Turn:
    task = TASKS.get(entry.task_types[number].strip().casefold(), entry.task_types[number])
    steps = entry.answer_list[number]
    subtype = entry.turn_subtypes[number] if number < len(entry.turn_subtypes) else None
    known = subtype in ("NA", "PE", "AE")
    if subtype and not known:
        report.left_out[f"subtype `{subtype[:20]}`"] += 1
    gold = Gold(calls=_calls(steps), answers=(Text(en=answer_of(steps) or None, zh=chinese or None),))
    rubric = _rubric(entry, number, gold, report)
    spec = TurnSpec(task=task, rubric=rubric, gold_answers=gold.answers, family=FAMILY)
    faults = validate_spec(spec)
    if faults:
        raise DataError(f"turn {number}: {faults[0]}")
    for item in rubric:
        report.items[item.check.kind] += 1
    return Turn(
        task=task,
        source=_source(entry, number, gold),
        implicitness=subtype if known else None,  # type: ignore[arg-type]  # one of the three
        query=Query(
            en=Wording(implicit=entry.tasks[number], explicit=_at(entry.tasks_explicit, number)),
            zh=_chinese(entry, number),
        ),
        gold=gold,
        rubric=rubric,
    )


def _at(texts: list[str] | None, number: int) -> str | None:
    return texts[number] if texts is not None else None


def _chinese(entry: Entry, number: int) -> Wording | None:
    implicit, explicit = _at(entry.tasks_zh, number), _at(entry.tasks_zh_explicit, number)
    return None if implicit is None and explicit is None else Wording(implicit=implicit, explicit=explicit)


def _calls(steps: list[Step]) -> tuple[GoldCall, ...]:
    actions = [step.action for step in steps if step.action.name != PREPARE]
    calls = [GoldCall(tool=action.name, arguments=plain_arguments(action.arguments)) for action in actions]
    return (*calls, GoldCall(tool=PREPARE, arguments={"answer_type": "tool" if calls else "chat"}))


def _source(entry: Entry, number: int, gold: Gold) -> Literal["ehr", "patient", "mixed", "write"]:
    effects = [spec.effect for call in gold.calls if (spec := find_tool(call.tool)) is not None]
    if "write" in effects:
        return "write"
    if "ask" in effects:
        return "mixed" if "read" in effects else "patient"
    stated = (entry.tool_sources[number] or "").casefold() if number < len(entry.tool_sources) else ""
    return "patient" if stated == "patient" else "mixed" if stated == "mixed" else "ehr"


def _rubric(entry: Entry, number: int, gold: Gold, report: ImportReport) -> tuple[Item, ...]:
    writes = [call for call in gold.calls if (spec := find_tool(call.tool)) is not None and spec.effect == "write"]
    write = (writes[0].tool, writes[0].arguments) if len(writes) == 1 else None
    chinese = entry.rubrics_zh[number] if entry.rubrics_zh is not None else [None] * len(entry.rubrics[number])
    items = []
    for place, (en, zh) in enumerate(zip(entry.rubrics[number], chinese, strict=True), 1):
        sentence = Text(en=en, zh=zh)
        items.append(Item(id=f"r{place}", text=sentence, check=check_of(sentence, write)))
    return tuple(_playable(items, report))


def _playable(items: list[Item], report: ImportReport) -> Iterable[Item]:
    """Yield the items; one that our rules for rubrics refuse goes to the judge instead."""
    for item in items:
        if isinstance(item.check, JudgeCheck):
            yield item
            continue
        helper = Item(id="judge", text=item.text, check=JudgeCheck(criterion=item.text))
        if validate_spec(TurnSpec(task="IL", rubric=(item, helper), family=FAMILY)):
            report.left_out["typed check that our rules refuse; judged instead"] += 1
            item = item.model_copy(update={"check": JudgeCheck(criterion=item.text)})
        yield item


def _on_store(session: Session, store: ChartStore) -> Session:
    patient = session.chart.patient
    if patient not in store.patients():
        raise DataError(f"no chart of patient `{patient}` in the store")
    # the record answers for itself; what the patient says is nowhere but in the recordings
    said = tuple(one for one in session.recordings or () if one.facts)
    chart = ChartRef(patient=patient, hash=store.chart(patient).hash)
    return session.model_copy(update={"chart": chart, "recordings": said})
