"""A draft made by rule, reworded stage by stage by a language model; every gate runs, and the draft is the fallback."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wardround.patients import Chart, UsageError, WardroundError
from wardround.rubrics import Item, JudgeCheck
from wardround.sessions.gate_plan import count_faults, is_made
from wardround.sessions.gates import check_session
from wardround.sessions.session import Session

from .roles import MalformedReplyError, Writer, messages_of, prompt_hash, read_reply, roles
from .stages import STAGES, Made, Place, Stage, for_judge, translated

RETRIES = 3
"""Replies asked for after a first one was refused; then what the rule wrote stays."""


@dataclass
class WriterReport:
    """What a writer did, by role."""

    kept: Counter[str] = field(default_factory=Counter)
    fallbacks: Counter[str] = field(default_factory=Counter)
    """Stages at which what the rule wrote stayed."""
    malformed: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    """Replies that a gate or the comparison with the draft refused."""
    failed: Counter[str] = field(default_factory=Counter)
    """Requests without a reply."""
    reasons: Counter[str] = field(default_factory=Counter)
    judge_items: int = 0
    """Rubric sentences that only a judge can decide, taken or not."""
    typed_items: int = 0
    """Rubric sentences that became items of a kind that a program decides."""
    no_room: int = 0
    """Items left out because a turn of its task holds as many as are right already."""

    def note_items(self, counts: Mapping[str, int]) -> None:
        """Add what became of the sentences of one rubric reply."""
        self.judge_items += counts["judge"]
        self.typed_items += counts["typed"]
        self.no_room += counts["no_room"]

    def as_json(self) -> dict[str, Any]:
        """Return the counts as plain JSON."""
        return {
            **{
                name: dict(sorted(getattr(self, name).items()))
                for name in ("kept", "fallbacks", "malformed", "refused", "failed", "reasons")
            },
            "judge_items": self.judge_items,
            "typed_items": self.typed_items,
            "no_room": self.no_room,
            "prompts": prompt_hash(),
        }


class _Asker:
    """Asks a writer for one role until a reply is good, at most `1 + retries` times."""

    def __init__(self, writer: Writer, report: WriterReport, retries: int) -> None:
        self._writer = writer
        self._retries = retries
        self.report = report

    def ask(self, role: str, context: Mapping[str, Any], use: Callable[[Mapping[str, Any]], Made]) -> Session | None:
        """Return the session that a reply made; None where no reply was good enough."""
        faults: list[str] = []
        for _ in range(1 + self._retries):
            reply = self.once(role, context, faults)
            if reply is None:
                continue
            made, fault = use(reply)
            if not fault:
                self.report.kept[role] += 1
                return made
            self.report.refused[role] += 1
            self.report.reasons[f"{role}: {fault}"[:120]] += 1
            faults.append(fault)
        self.report.fallbacks[role] += 1
        return None

    def once(self, role: str, context: Mapping[str, Any], faults: list[str]) -> Mapping[str, Any] | None:
        """Return one reply, None where there was none or it was malformed; both are counted."""
        try:
            text = self._writer.complete(role, messages_of(role, dict(context), faults), roles()[role].schema_)
            return read_reply(role, text)
        except MalformedReplyError as fault:
            self.report.malformed[role] += 1
            faults.append(str(fault))
        except UsageError:
            raise  # nothing more can be had: what is wrong is for the user to mend
        except WardroundError as fault:
            self.report.failed[role] += 1
            self.report.reasons[f"{role}: {fault}"[:120]] += 1
        return None


def choose(drafts: Sequence[Session], writer: Writer, report: WriterReport, retries: int = RETRIES) -> Session:
    """Let the session planner choose one of several drafts about one patient; the first where it chooses none."""
    if len(drafts) == 1:
        return drafts[0]
    shown = [
        {"draft": number, "queries": [turn.query.get("en", "explicit") for turn in draft.turns],
         "topics": [turn.topic for turn in draft.turns], "scenario": draft.scenario}
        for number, draft in enumerate(drafts)
    ]  # fmt: skip

    def use(reply: Mapping[str, Any]) -> Made:
        choice = int(reply["choice"])
        if 0 <= choice < len(drafts):
            return drafts[choice], ""
        return drafts[0], f"there is no draft {choice}; the last is {len(drafts) - 1}"

    return _Asker(writer, report, retries).ask("planner", {"drafts": shown}, use) or drafts[0]


def write_session(
    draft: Session,
    chart: Chart,
    writer: Writer,
    report: WriterReport,
    name: str,
    *,
    judge_items: bool = False,
    only: Collection[str] | None = None,
    retries: int = RETRIES,
) -> Session:
    """Reword a draft.

    Args:
        draft: A session made by rule that passes every gate.
        chart: Its chart.
        writer: Who writes.
        report: Takes the counts.
        name: Of the writer, for the session's labels.
        judge_items: Take rubric sentences into the rubric that only a judge can decide; else they are counted alone.
        only: Names of the roles that write; None for all.
        retries: Replies asked for after a first one was refused.

    Returns:
        A session that passes every gate; what no reply improved is as the rule wrote it. Its `labels` say who wrote and
        at how many stages the rule's words stayed.

    Raises:
        UsageError: The writer can no longer be asked.
    """
    asker, before = _Asker(writer, report, retries), report.fallbacks.total()
    session = draft
    for number in range(len(draft.turns)):
        for stage in STAGES:
            place = Place(session, chart, number)
            if (only is not None and stage.role not in only) or not stage.fits(place):
                continue

            counts = Counter[str]()

            def use(
                reply: Mapping[str, Any], place: Place = place, stage: Stage = stage, counts: Counter[str] = counts
            ) -> Made:
                made, fault = stage.apply(place, reply)
                if stage.role == "rubric" and not fault:
                    made = _with_items(made, place, for_judge(reply), counts, judge_items)
                return (made, fault) if fault else _gated(made, chart, place.session)

            made = asker.ask(stage.role, stage.context(place), use)
            if stage.role == "checker" and made is None:
                made = _with_answer_of(session, draft, number)  # what the checker refuses is not used
            if stage.role == "rubric" and made is not None:
                report.note_items(counts)
            session = made or session
        if only is None or "translator" in only:
            session = _translate(asker, session, chart, number)
    labels = {**session.labels, "writer": name, "writer_fallbacks": str(report.fallbacks.total() - before)}
    return session.model_copy(update={"labels": labels, "provenance": _provenance(session)})


def _provenance(session: Session) -> Any:
    version = f"{session.provenance.version}+writer.{prompt_hash()[:8]}"
    return session.provenance.model_copy(update={"version": version})


def _gated(made: Session, chart: Chart, before: Session) -> Made:
    failures = check_session(made, chart) if made is not before else []
    return (made, "") if not failures else (before, f"{failures[0].rule}: {failures[0].message}")


def _with_items(
    made: Session, place: Place, for_a_judge: tuple[Item, ...], counts: Counter[str], wanted: bool
) -> Session:
    """Return the session with as many of a reply's items as its task has room for, in their order; count all."""
    had = place.turn.rubric
    typed = made.turns[place.number].rubric[len(had) :]
    turn, bounded = place.turn, is_made(place.session)
    counts.clear()
    counts["judge"] = len(for_a_judge)
    for item in (*typed, *(for_a_judge if wanted else ())):
        more = turn.model_copy(update={"rubric": (*turn.rubric, item)})
        if bounded and any(count_faults(more)):
            counts["no_room"] += 1
            continue
        turn = more
        counts["typed"] += not isinstance(item.check, JudgeCheck)
    turns = list(place.session.turns)
    turns[place.number] = turn
    return place.session.model_copy(update={"turns": tuple(turns)})


def _with_answer_of(session: Session, draft: Session, number: int) -> Session:
    gold = session.turns[number].gold
    kept = draft.turns[number].gold
    assert gold is not None and kept is not None
    turns = list(session.turns)
    turns[number] = turns[number].model_copy(update={"gold": gold.model_copy(update={"answers": kept.answers})})
    return session.model_copy(update={"turns": tuple(turns)})


def _translate(asker: _Asker, session: Session, chart: Chart, number: int) -> Session:
    """Put the Chinese of a reworded turn anew, each query with a back-translation; else the rule's Chinese stays."""
    place = Place(session, chart, number)
    if place.turn.query.zh is None:
        return session
    phrasings = ("explicit",) if place.turn.implicitness is None else ("explicit", "implicit")
    for phrasing in phrasings:
        here = Place(session, chart, number)
        english = here.turn.query.get("en", phrasing)

        def use(reply: Mapping[str, Any], here: Place = here, phrasing: str = phrasing) -> Made:
            text = str(reply["text"]).strip()
            back = asker.once("translator", {"from": "Chinese", "to": "English", "text": text}, [])
            if back is None:
                return here.session, "no back-translation"
            made, fault = translated(here, phrasing, text, str(back["text"]))
            return (made, fault) if fault else _gated(made, chart, here.session)

        made = asker.ask("translator", {"from": "English", "to": "Chinese", "text": english}, use)
        session = made or session
    return session
