"""What the policy may do in a turn: three choices, each among a few templates, right ones and wrong ones.

The templates are the baseline's own skills, so nothing here reads gold. Which of them a question calls for, where what
it leaves out is to be taken from, and how to close the turn is for the policy to find out.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from wardround.agents.baseline import Memory, Request, Steps, Turn, answer_lines, formed, read_as
from wardround.envs import Episode
from wardround.patients import ToolCall, UsageError

SKILLS = ("refuse", "all_labs", "flag", "request", "prescribe", "branch", "decide", "look")
"""How the question is taken; `all_labs` lists the newest tests whatever was asked, `refuse` calls nothing."""
NAMES = ("first_turn", "alone", "recalled")
"""Where names that the question leaves out come from: the first question alone, nowhere, or all questions before it."""
CLOSE = ("add_advice", "skip_plan", "answer")
"""How the turn closes: with advice nobody asked for, without prepare_to_answer, or as it should."""
STEPS = (SKILLS, NAMES, CLOSE)


@dataclass
class Played:
    """The agent's side of an episode: what it may remember."""

    memory: Memory = field(default_factory=Memory)

    def fork(self) -> Played:
        """Return an independent copy, for a fork of the episode."""
        return Played(Memory(list(self.memory.past)))


def play_turn(episode: Episode, played: Played, choice: tuple[int, int, int]) -> float:
    """Play the open turn with chosen templates and return its reward.

    Args:
        episode: Stepped through its public calls only.
        played: The agent's memory; the question is added.
        choice: Index into each of `STEPS`.
    """
    skill, names, close = (step[one] for step, one in zip(STEPS, choice, strict=True))
    turn = Turn.of(episode.view())
    text, language = episode.query, episode.settings.language
    intent = "look" if skill in {"refuse", "all_labs"} else skill
    request = read_as(text, language, intent)
    if names == "recalled":
        request = played.memory.fill(request)
    elif names == "first_turn":
        request = Memory(played.memory.past[:1]).fill(request)
    lines = _run(episode, _lines(turn, request, skill))
    played.memory.note(request)
    if close != "skip_plan":
        episode.call("prepare_to_answer", {"answer_type": "chat"})
    answer = formed(lines, request, language) + (" Hold all medicines." if close == "add_advice" else "")
    score = episode.answer(answer)
    if score is None:
        raise UsageError(f"session `{episode.session.id}`: the episode was over before its turn was answered")
    return score.reward


def _lines(turn: Turn, request: Request, skill: str) -> Steps[list[str]]:
    if skill == "refuse":
        return ["I am sorry, I cannot help with that."]
    if skill == "all_labs":
        return [(yield from turn.call("Observation.search", category="laboratory"))]
    return (yield from answer_lines(turn, request))


def _run(episode: Episode, steps: Steps[list[str]]) -> list[str]:
    """Make the calls that a skill asks for."""
    try:
        call: ToolCall = next(steps)
        while True:
            call = steps.send(episode.call(call.name, call.arguments).text)
    except StopIteration as done:
        lines: list[str] = done.value
        return lines
