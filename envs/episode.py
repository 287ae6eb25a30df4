"""The contract of the environment: one deterministic episode of a session on a chart (design §6).

Plain and synchronous: no threads, wall clock, network or global state. A model's mistakes come back as observations;
a caller's mistakes raise `UsageError`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal

import orjson

from wardround.patients import (
    ALL_TOOLS,
    TOOLS,
    Chart,
    ToolCall,
    ToolResult,
    UsageError,
    find_tool,
    run_tool,
)
from wardround.rubrics import (
    CallRecord,
    Evidence,
    JudgeVerdict,
    ReplyRecord,
    TurnScore,
    TurnTrace,
    WriteRecord,
    score,
    write_record,
)
from wardround.sessions import Session, Turn, opening_context

from . import prompts
from .actions import clean
from .budgets import answer_is_last, closes
from .reference import reference_of
from .settings import Settings, check_settings, without_interview
from .trajectory import trajectory_of
from .transcript import AnswerEvent, Event, MistakeEvent, QueryEvent, call_event, messages_of
from .view import EpisodeView

CONTROL = "prepare_to_answer"

_ALIAS = {name: spec.alias for name, spec in ALL_TOOLS.items()}


class Episode:
    """One session being played.

    Args:
        session: What is asked.
        chart: The patient's record; its hash must be the session's.
        language: "en" or "zh".
        phrasing: "explicit" or "implicit", or one of them per turn.
        view: What search tools return by default, "compact" rows or "fhir" Bundles.
        scoring: "wardround" (design §8) or "paper" (share of items).
        plan: What a turn without a final `prepare_to_answer` costs: one failed "item", "zero", or "off".
        history: "self", or "gold": after each answer the dialogue goes on from the gold calls and the gold answer.
        interview: False withdraws the tools that ask the patient.
        judged: Recorded verdicts of an LLM judge by request key; items that wait for one are ungraded.

    Raises:
        UsageError: The chart is not the session's, a setting is unknown, or gold history was asked of a session that
            has no gold or is for evaluation only.
    """

    __slots__ = (
        "_actions", "_aside", "_calls", "_calls_total", "_context", "_events", "_files", "_judged", "_last",
        "_opened", "_replies", "_retrieved", "_scores", "_start", "_truncated", "_turn", "_used", "_writes", "chart",
        "session", "settings",
    )  # fmt: skip

    def __init__(
        self,
        session: Session,
        chart: Chart,
        *,
        language: Literal["en", "zh"] = "en",
        phrasing: str | Sequence[str] = "implicit",
        view: Literal["compact", "fhir"] = "compact",
        scoring: Literal["wardround", "paper"] = "wardround",
        plan: Literal["item", "zero", "off"] = "item",
        history: Literal["self", "gold"] = "self",
        interview: bool = True,
        judged: Mapping[str, JudgeVerdict] | None = None,
    ) -> None:
        per_turn = (phrasing,) * len(session.turns) if isinstance(phrasing, str) else tuple(phrasing)
        self.session = session if interview else without_interview(session)
        self.chart = chart
        self.settings = Settings(language, per_turn, view, scoring, plan, history, interview)
        check_settings(session, chart, self.settings)
        self._context = opening_context(session, chart, language, view)
        self._judged = judged
        self._events: list[Event] = []  # what the conversation shows
        self._aside: tuple[Event, ...] = ()  # what the agent did in turns that the conversation shows as gold's
        self._opened = 0  # where in `_events` the turns begin that are shown as they were played
        self._retrieved: dict[str, None] = {}
        self._replies: tuple[ReplyRecord, ...] = ()
        self._scores: tuple[TurnScore, ...] = ()
        self._calls_total = 0
        self._used = 0
        self._truncated = False
        self._start: Episode | None = None
        self._turn = -1
        self._open_next()

    # -- what the agent may see ------------------------------------------------------------------------------------

    @property
    def system_prompt(self) -> str:
        """The rules of the round, the answer forms and the budget, in the episode's language."""
        return prompts.prompt_of(self.settings.language, self.session.budget)

    @property
    def subject(self) -> dict[str, str | None]:
        """The ids that calls need: subject_id, hadm_id, session_id."""
        session = self.session
        return {"subject_id": session.chart.patient, "hadm_id": session.encounter, "session_id": session.id}

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The dialogue so far as an OpenAI chat list; the caller's own copy."""
        return messages_of(self.system_prompt, self._events, _ALIAS)

    @property
    def query(self) -> str:
        """The physician's open question, "" once the episode is over."""
        if self.done:
            return ""
        return self.session.turns[self._turn].query.get(self.settings.language, self.settings.phrasing[self._turn])

    @property
    def asked(self) -> str:
        """The question asked last as the dialogue shows it: with its options, the first with who the patient is."""
        return next(event.text for event in reversed(self._events) if isinstance(event, QueryEvent))

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools offered, as OpenAI function schemas; the caller's own copy."""
        names = self.session.tools if self.session.tools is not None else tuple(TOOLS)
        return [ALL_TOOLS[name].openai() for name in names]

    @property
    def turn(self) -> int:
        """Index of the open turn; the number of turns once the episode is over."""
        return self._turn

    @property
    def done(self) -> bool:
        """True once the last turn is closed."""
        return self._turn >= len(self.session.turns)

    @property
    def truncated(self) -> bool:
        """True when the episode ended because its actions ran out, not by an answer."""
        return self._truncated

    @property
    def calls_left(self) -> int:
        """Calls that still count before the agent must answer."""
        return max(0, self.session.budget.n - self._used)

    # -- what the agent may do -------------------------------------------------------------------------------------

    def call(self, name: str, arguments: Mapping[str, Any] | str | None = None, *, note: str = "") -> ToolResult:
        """Call a tool. Never raises for the model's mistakes: they are results with `ok=False`.

        Args:
            name: Published name or its provider-safe alias.
            arguments: An object, or its JSON text.
            note: Prose the model wrote beside the call; kept in the transcript.
        """
        if self.done:
            return ToolResult(name, {}, False, self._notice("ended"), error="session_over")
        arguments = {} if arguments is None else arguments
        name = clean(name if isinstance(name, str) else str(name))  # a policy may send null or a number
        spec = find_tool(name)
        control = spec is not None and spec.name == CONTROL
        try:
            text = orjson.dumps(arguments, option=orjson.OPT_SERIALIZE_NUMPY).decode()
        except TypeError:
            text, arguments = '""', ""
        if not isinstance(arguments, Mapping | str):
            arguments = text  # a list or a number: the tools say what they want instead
        if not control and self.calls_left == 0:
            result = ToolResult(name, {}, False, self._notice("over_budget"), error="over_budget")
        else:
            result = run_tool(self._context, ToolCall(name, arguments), self.session.tools)
        if not control or self.session.budget.unit == "steps":
            self._used += 1
        self._record_call(name, text, clean(note), result)
        self._spend_action()
        return result

    def answer(self, text: str) -> TurnScore | None:
        """Answer the physician: closes the turn, scores it and opens the next.

        Returns:
            The turn's score, or None when the answer was empty: a mistake that costs one call and leaves the turn
            open (unless actions ran out).

        Raises:
            UsageError: The episode is over.
        """
        if self.done:
            raise UsageError("the episode is over; make a new one or fork an earlier one")
        text = clean(text)
        if not text.strip():
            self.mistake(text, self._notice("empty_answer"))
            return None
        return self._close(text, forced=False)

    def mistake(self, action: str, text: str) -> None:
        """Record an action that was neither call nor answer; it costs one call.

        Args:
            action: What the model sent.
            text: The observation that says what to do.
        """
        if self.done:
            return
        self._used += 1
        self._last = ""
        self._events.append(MistakeEvent(self._turn, clean(action), text))
        self._spend_action()

    # -- branches and results --------------------------------------------------------------------------------------

    def fork(self) -> Episode:
        """Return an independent copy that continues from here; cheap."""
        other = object.__new__(Episode)
        for name in Episode.__slots__:
            setattr(other, name, getattr(self, name))
        other._context = self._context.fork()
        other._events = self._events.copy()
        other._retrieved = self._retrieved.copy()
        return other

    def __copy__(self) -> Episode:
        return self.fork()

    def __deepcopy__(self, memo: dict[int, Any]) -> Episode:
        return self.fork()

    @property
    def scores(self) -> tuple[TurnScore, ...]:
        """Scores of the turns closed so far."""
        return self._scores

    @property
    def score(self) -> float:
        """The session's score: the mean of its turns' rewards, turns never reached counting 0."""
        return sum(turn.reward for turn in self._scores) / len(self.session.turns)

    @property
    def evidence(self) -> Evidence:
        """What the episode has truly learnt so far: chart resources shown and interview replies."""
        entries = ((key, self._context.record.snapshot.read(*key.split("/", 1))) for key in self._retrieved)
        return Evidence(
            resources={key: entry.body for key, entry in entries if entry is not None}, replies=self._replies
        )

    @property
    def trace(self) -> TurnTrace:
        """What scoring knows of the open turn so far: calls, writes, evidence, and what a judge is shown beside."""
        turn, language = self.session.turns[self._turn], self.settings.language
        return TurnTrace(
            language=language,
            calls=self._calls,
            writes=self._writes,
            files=self._files,
            evidence=self.evidence,
            planned=self._last == CONTROL,
            query=turn.query.get(language, "explicit"),
            reference=reference_of(turn, self.session.interview, self._context.record.snapshot),
        )

    @property
    def state_hash(self) -> str:
        """Hash of all that calls can change: the overlay, what the patient has told, the open turn."""
        parts = [
            self._context.record.state_hash,
            *sorted(self._context.dialogue.told),
            str(self._turn),
            str(self._used),
        ]
        return sha256("\x1f".join(parts).encode()).hexdigest()

    @property
    def write_log(self) -> list[dict[str, str]]:
        """What the episode wrote, as plain JSON; `Overlay.replay` makes the record's state from it again."""
        return self._context.record.log

    @property
    def trajectory(self) -> dict[str, Any]:
        """Everything that happened, JSON-able and enough to replay: settings, events, scores, hashes."""
        return trajectory_of(self, (*self._aside, *self._events[self._opened :]))

    @property
    def trajectory_hash(self) -> str:
        """SHA-256 of the trajectory as sorted JSON."""
        return sha256(orjson.dumps(self.trajectory, option=orjson.OPT_SORT_KEYS)).hexdigest()

    def view(self) -> EpisodeView:
        """Return what an agent may touch."""
        return EpisodeView(self)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _notice(self, key: str) -> str:
        return prompts.notice(self.settings.language, key)

    def _open_next(self) -> None:
        self._turn += 1
        self._calls: tuple[CallRecord, ...] = ()
        self._writes: tuple[WriteRecord, ...] = ()
        self._files: tuple[WriteRecord, ...] = ()
        self._last = ""
        self._actions = 0
        if self.session.budget.scope == "turn":
            self._used = 0
        if self.done:
            self._start = None
            return
        self._events.append(QueryEvent(self._turn, self._question()))
        self._start = self.fork() if self.settings.history == "gold" else None

    def _question(self) -> str:
        language, context = self.settings.language, self.session.context
        asked = prompts.question(language, self.query, self.session.turns[self._turn].options)
        if self._turn > 0:
            return asked
        told = context.get(language) if context else ""
        return f"{prompts.opening(language, self._context.record.snapshot, self.subject, told)}\n{asked}"

    def _record_call(self, name: str, arguments: str, note: str, result: ToolResult) -> None:
        self._calls_total += 1
        self._last = result.tool if result.ok else ""
        self._calls += (CallRecord(tool=result.tool, arguments=dict(result.arguments), ok=result.ok),)
        for key in result.resources:
            self._retrieved[key] = None
        written = write_record(result, self._context.record)
        if written is not None and written.kind == "file":
            self._files += (written,)
        elif written is not None:
            self._writes += (written,)
        if result.effect == "ask" and result.ok:
            self._replies += (ReplyRecord(tool=result.tool, facts=result.facts, text=result.text),)
        self._events.append(call_event(self._turn, self._calls_total, (name, arguments, note), result))

    def _spend_action(self) -> None:
        self._actions += 1
        closed = closes(self.session.budget, actions=self._actions, used=self._used)
        if closed is not None:
            self._truncated = closed == "episode"
            self._close("", forced=True)

    def _close(self, text: str, *, forced: bool) -> TurnScore:
        turn = self.session.turns[self._turn]
        result = score(
            turn.spec(self.session.family),
            text,
            self.trace,
            scoring=self.settings.scoring,
            plan=self.settings.plan,
            judged=self._judged,
        )
        self._scores += (result,)
        self._events.append(AnswerEvent(self._turn, text, forced))
        final = not forced and answer_is_last(self.session.budget, used=self._used)
        ends_here = self._truncated or self._turn + 1 == len(self.session.turns) or final
        if ends_here:
            self._truncated = self._truncated or forced
            self._turn = len(self.session.turns) - 1
        elif self.settings.history == "gold":
            self._continue_from_gold(turn)
        self._open_next()
        return result

    def _continue_from_gold(self, turn: Turn) -> None:
        """Put the episode where the gold calls and the gold answer would have left it; scores stay the agent's own."""
        start, gold = self._start, turn.gold
        assert start is not None and gold is not None  # checked when the episode was made
        replay = start.fork()
        replay._start = None
        for call in gold.calls:
            replay.call(call.tool, call.arguments)
        answer = gold.answers[0].get(self.settings.language)
        replay._events.append(AnswerEvent(self._turn, answer, False))
        self._aside += tuple(self._events[self._opened :])
        self._context, self._events = replay._context, replay._events
        self._opened = len(self._events)
        self._retrieved, self._replies, self._calls_total = replay._retrieved, replay._replies, replay._calls_total
