"""The gates a session must pass, and the checks `wardround check` makes of any session.

Gate 1 (plan): each task's calls have the shape the task asks for and fit the tools. Gate 2 (observation): every gold
call finds something. Gate 3 (answer): the gold answer scores 1.0 with the evidence the gold calls bring, states nothing
that is not in that evidence, and silence, echo and refusal score 0.0 in both phrasings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from wardround.patients import ALL_TOOLS, Chart, find_tool, knowledge, parse_instant
from wardround.rubrics import (
    Check,
    ClinicalScoreCheck,
    GroundedCheck,
    Known,
    TurnSpec,
    TurnTrace,
    check_answer,
    score,
    validate_spec,
    write_record,
)

from .gate_plan import branch_faults, conflict_faults, count_faults, is_made
from .gate_words import leaks, word_faults
from .gold import PREPARE, GoldTurn, play_gold, snapshot_of
from .resolving import unresolved
from .session import FORMAT, Session, Turn, Wording

FAMILY: Final = "physassist"
REFUSAL: Final = {
    "en": "I'm sorry, but I can't help with that request.",
    "zh": "抱歉，我无法协助处理这个请求。",
}
_WRITES: Final = 1

Language = Literal["en", "zh"]


class Failure(NamedTuple):
    """One thing that is wrong with a session."""

    rule: str
    message: str


def check_session(session: Session, chart: Chart) -> list[Failure]:
    """Check one session against its chart.

    Args:
        session: Any family; rules of the physassist family apply to that family only.
        chart: The chart it names.

    Returns:
        Every failure; empty if the session is sound.
    """
    found = list(_identity(session, chart))
    if found:
        return found
    for number, turn in enumerate(session.turns):
        found.extend(Failure("rubric", f"turn {number}: {one}") for one in validate_spec(turn.spec(session.family)))
        found.extend(_wordings(number, turn))
    found.extend(Failure("resolves", one) for one in unresolved(session, snapshot_of(session, chart)))
    if session.family == FAMILY:
        found.extend(_family(session))
    for place, language in enumerate(_languages(session)):
        for number, played in enumerate(play_gold(session, chart, language)):
            found.extend(_gates(session, number, played, language))
            if place == 0:
                found.extend(
                    Failure("branch", f"turn {number}: {one}") for one in branch_faults(session, chart, played)
                )
    return found


def _identity(session: Session, chart: Chart) -> Iterator[Failure]:
    if session.format != FORMAT:
        yield Failure("schema", f"format is `{session.format}`, expected `{FORMAT}`")
    if session.chart.patient != chart.patient_id:
        yield Failure("chart", f"session is about `{session.chart.patient}`, the chart about `{chart.patient_id}`")
    if session.chart.hash != chart.hash:
        yield Failure("chart_hash", f"chart hash is {chart.hash}, session says {session.chart.hash}; make it anew")
    for name in session.tools or ():
        if name not in ALL_TOOLS:
            yield Failure("tools", f"`{name}` is no tool; name tools of {', '.join(ALL_TOOLS)}")
    try:
        parse_instant(session.anchor)
    except ValueError as error:
        yield Failure("schema", f"anchor: {error}")


def _languages(session: Session) -> list[Language]:
    languages: list[Language] = []
    if all(turn.query.en is not None for turn in session.turns):
        languages.append("en")
    if all(turn.query.zh is not None for turn in session.turns):
        languages.append("zh")
    return languages


# -- wording -----------------------------------------------------------------------------------------------------------


def _wordings(number: int, turn: Turn) -> Iterator[Failure]:
    if turn.query.en is None and turn.query.zh is None:
        yield Failure("query", f"turn {number}: no words in any language")
    for antecedent in turn.antecedents:
        if antecedent.turn >= number:
            yield Failure(
                "antecedents", f"turn {number}: antecedent `{antecedent.entity}` is in turn {antecedent.turn}"
            )
    for earlier in turn.depends_on:
        if not 0 <= earlier < number:
            yield Failure("depends_on", f"turn {number} depends on turn {earlier}, which is not before it")


def _family(session: Session) -> Iterator[Failure]:
    if session.turns[0].task != "IL":
        yield Failure("arc", f"turn 0 is {session.turns[0].task}, must be IL")
    if session.turns[0].implicitness is not None:
        yield Failure("implicitness", "turn 0 is the opening and has nothing to leave out")
    if not any(turn.source in {"patient", "mixed"} for turn in session.turns):
        yield Failure("interview", "no turn asks the patient")
    yield from (Failure(rule, message) for rule, message in word_faults(session))
    if is_made(session):
        yield from (Failure("conflict", one) for one in conflict_faults(session))
        for number, turn in enumerate(session.turns):
            yield from (Failure("items", f"turn {number}: {one}") for one in count_faults(turn))


# -- gates -------------------------------------------------------------------------------------------------------------


def _gates(session: Session, number: int, played: GoldTurn, language: Language) -> Iterator[Failure]:
    if played.turn.gold is None:
        return
    yield from _gate_plan(session, number, played)
    yield from _gate_observation(number, played)
    yield from _gate_answer(session, number, played, language)
    if session.family == FAMILY:
        earlier = session.turns[:number]
        for one in leaks(played.turn, earlier, played.trace, language):
            yield Failure("leak", f"turn {number} ({language}): {one}")


def _gate_plan(session: Session, number: int, played: GoldTurn) -> Iterator[Failure]:
    """Gate 1: the shape of a turn's gold calls."""
    assert played.turn.gold is not None
    where = f"turn {number}"
    for result in played.results:
        if not result.ok:
            yield Failure("gate1", f"{where}: gold call {result.tool} is refused: {result.text}")
    calls = [call for call in played.turn.gold.calls if call.tool != PREPARE]
    for call in played.turn.gold.calls:
        spec = find_tool(call.tool)
        if spec is None:
            yield Failure("gate1", f"{where}: no tool `{call.tool}`")
        elif spec.effect != "control" and call.arguments.get("subject_id") != session.chart.patient:
            yield Failure("gate1", f"{where}: {call.tool} does not name the patient")
    if session.family != FAMILY:
        return
    if not played.trace.planned:
        yield Failure("gate1", f"{where}: the calls do not end with {PREPARE}")
    yield from (Failure("gate1", f"{where}: {fault}") for fault in _shape(played.turn, [call.tool for call in calls]))


def _shape(turn: Turn, tools: list[str]) -> Iterator[str]:
    effects = [ALL_TOOLS[tool].effect for tool in tools if tool in ALL_TOOLS]
    asks, writes = effects.count("ask"), effects.count("write")
    if turn.task == "IL" and len(tools) != 1:
        yield f"IL is one call, not {len(tools)}"
    if turn.task == "DG" and len(tools) < 2:
        yield f"DG is two calls or more, not {len(tools)}"
    if writes != (_WRITES if turn.task == "WU" else 0):
        yield f"{turn.task} with {writes} writes"
    if turn.source == "mixed" and not 0 < asks < len(tools):
        yield "mixed needs the record and the patient"
    if turn.source == "patient" and asks != len(tools):
        yield "source is the patient, but a call reads the record"
    if turn.source in {"ehr", "write"} and asks:
        yield f"source is {turn.source}, but a call asks the patient"


def _gate_observation(number: int, played: GoldTurn) -> Iterator[Failure]:
    """Gate 2: every gold call found something."""
    for result in played.results:
        empty = {
            "read": result.total == 0 or not result.resources,
            "ask": not result.facts,
            "write": write_record(result) is None,
        }.get(result.effect, False)
        if result.ok and empty:
            yield Failure("gate2", f"turn {number}: gold call {result.tool} {dict(result.arguments)} finds nothing")


def _worked_out(check: Check) -> tuple[Known, ...]:
    """Return the totals of clinical scores that an item names."""
    if isinstance(check, ClinicalScoreCheck):
        table = knowledge.scores()[check.score]
        unit = "" if table.unit == "{score}" else table.unit
        return (Known(concept=table.name.en, value=check.total, unit=check.unit or unit),)
    return check.also if isinstance(check, GroundedCheck) else ()


def _gate_answer(session: Session, number: int, played: GoldTurn, language: Language) -> Iterator[Failure]:
    """Gate 3: the gold answer earns everything, nothing earns nothing."""
    assert played.turn.gold is not None
    where = f"turn {number} ({language})"
    spec = played.turn.spec(session.family)
    answers = [answer.get(language) for answer in played.turn.gold.answers]
    if not answers:
        yield Failure("gate3", f"{where}: no gold answer")
    for answer in answers:
        result = score(spec, answer, played.trace)
        for verdict in result.verdicts:
            if not verdict.passed and not verdict.ungraded:
                yield Failure("gate3", f"{where}: gold answer fails `{verdict.item}`: {verdict.reason}")
        # what waits for a judge is taken as met: only a model can tell, and none is asked here
        if (result.reward if result.reward_valid else result.bounds[1]) != 1.0:
            yield Failure("gate3", f"{where}: gold answer scores {result.reward:.3f}: {'; '.join(result.notes)}")
        # a score that the turn has worked out is in no record
        made = tuple(one for item in spec.rubric for one in _worked_out(item.check))
        grounded = check_answer(GroundedCheck(also=made), answer, language=language, trace=played.trace)
        if not grounded.passed:
            yield Failure("gate3", f"{where}: gold answer states what the record does not: {grounded.reason}")
    yield from _nothing(spec, played.turn, where, language)


def _nothing(spec: TurnSpec, turn: Turn, where: str, language: Language) -> Iterator[Failure]:
    """Silence, an echo of either phrasing and a refusal, all without a call, must earn nothing."""
    wording = turn.query.en if language == "en" else turn.query.zh
    lazy = {"silence": "", "refusal": REFUSAL[language]}
    if wording is not None:
        lazy |= {f"echo of the {name} query": words for name, words in _phrasings(wording)}
    rewards = {answer: score(spec, answer, TurnTrace(language=language)).reward for answer in lazy.values()}
    for name, answer in lazy.items():
        reward = rewards[answer]
        if reward != 0.0:
            yield Failure("gate3", f"{where}: {name} scores {reward:.3f}")


def _phrasings(wording: Wording) -> Iterator[tuple[str, str]]:
    if wording.explicit is not None:
        yield "explicit", wording.explicit
    if wording.implicit is not None:
        yield "implicit", wording.implicit
