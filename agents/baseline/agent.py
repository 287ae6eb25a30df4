"""The baseline agent: one question at a time, by rules; with a memory of earlier questions or without."""

from __future__ import annotations

from collections.abc import Generator
from typing import ClassVar

from wardround.agents.agent import Action, Answer
from wardround.envs import EpisodeView
from wardround.patients import ToolCall

from .deciding import decide
from .looking import branch, look
from .memory import Memory
from .ordering import flag, prescribe, request_service
from .query import Request, read_query
from .scoring import score_lines
from .speaking import say
from .turn import Steps, Turn

_PREPARE = ToolCall("prepare_to_answer", {"answer_type": "chat"})


class Baseline:
    """Reads each question with what earlier questions named, looks up what it asks for and answers in its form."""

    name: ClassVar[str] = "baseline"
    sees_gold: ClassVar[bool] = False
    remembers: ClassVar[bool] = True
    """What a question leaves out is taken from the questions before it."""

    def __init__(self) -> None:
        self._turn = -1
        self._memory = Memory()
        self._plan: Generator[Action, str, None] | None = None

    def act(self, view: EpisodeView) -> Action:
        """Return the next action for the open turn."""
        if view.turn != self._turn or self._plan is None:
            self._turn = view.turn
            self._plan = self._play(view)
            return next(self._plan)
        try:
            return self._plan.send(str(view.messages[-1].get("content", "")))
        except StopIteration:
            # the answer was refused (a form that this agent does not know): say so in the plainest way
            return Answer(say(view.language, "no_answer"))

    def _play(self, view: EpisodeView) -> Generator[Action, str, None]:
        request = read_query(view.query, view.language)
        if self.remembers:
            request = self._memory.fill(request)
        turn = Turn.of(view)
        lines = yield from answer_lines(turn, request)
        self._memory.note(request)
        yield _PREPARE
        yield Answer(formed(lines, request, view.language))


class BaselineWithoutMemory(Baseline):
    """The same, each question read alone."""

    name: ClassVar[str] = "baseline-no-memory"
    remembers: ClassVar[bool] = False


def answer_lines(turn: Turn, request: Request) -> Steps[list[str]]:
    """Answer a question that has been read: look things up, ask, write, and return the sentences.

    Args:
        turn: The turn's calls.
        request: The question, with what it leaves out put in where that is known.
    """
    if request.intent == "nothing":
        return [say(turn.language, "nothing")]
    if request.intent == "flag":
        return (yield from flag(turn, request))
    if request.intent == "prescribe":
        return (yield from prescribe(turn, request))
    if request.intent == "request":
        return (yield from request_service(turn, request))
    if request.intent == "branch" and request.branch is not None:
        return (yield from branch(turn, request.branch, request.drugs))
    if request.intent == "decide":
        return (yield from decide(turn, request))
    lines: list[str] = []
    for score in request.wanted("score"):
        lines.extend((yield from score_lines(turn, score)))
    lines.extend((yield from look(turn, request)))
    return lines


def formed(lines: list[str], request: Request, language: str) -> str:
    """Return the answer in the form that the system prompt states: lines of facts, or sentences of advice."""
    if not lines:
        return say(language, "nothing")
    if request.intent == "decide":
        return ("" if language == "zh" else " ").join(lines)
    if len(lines) == 1:
        return lines[0]
    return "\n".join(say(language, "bullet") + line for line in lines)
