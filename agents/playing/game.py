"""A round played in the terminal: what is done to the episode, what is shown of it, and how it is kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from rich.console import RenderableType
from rich.text import Text

from wardround.envs import Episode
from wardround.patients import ToolResult, UsageError
from wardround.sessions import opening_context

from . import saving, showing
from .commands import Grammar
from .completing import Completer
from .showing import visible
from .terminal import Terminal
from .words import Words

PLAN = "prepare_to_answer"


class Leave(Exception):  # noqa: N818 - the player leaves; no error
    """The player leaves the round. `asking` is True where it may still be asked where to save."""

    def __init__(self, *, asking: bool = False) -> None:
        self.asking = asking


@dataclass
class Game:
    """One round in one terminal."""

    episode: Episode
    terminal: Terminal
    about: dict[str, Any]
    """Fields of a saved play that the episode does not know."""
    show_gold: bool
    path: Path | None = None
    """Where the play is kept; written after each action."""
    grammar: Grammar = field(init=False)
    completer: Completer = field(init=False)

    def __post_init__(self) -> None:
        episode = self.episode
        self.grammar = Grammar(episode.tools, episode.settings.language, episode.subject)
        record = opening_context(episode.session, episode.chart).record  # what the round begins with; names only
        self.completer = Completer(self.grammar, record.names, record.names("Encounter")[:0])

    @property
    def words(self) -> Words:
        """The sentences of the language."""
        return self.grammar.words

    @property
    def shows_rubric(self) -> bool:
        """Whether verdicts are shown: always, but for sessions that are for evaluation."""
        return self.show_gold or self.episode.session.use != "evaluation"

    # -- what is shown ---------------------------------------------------------------------------------------------

    def greet(self) -> None:
        """Show which session it is, and the open question."""
        session, settings = self.episode.session, self.episode.settings
        told = self.words.session.format(
            session=visible(session.id),
            scenario=visible(session.scenario.replace("_", " ")),
            tier=visible(session.tier),
            turns=len(session.turns),
            phrasing=settings.phrasing[0],
            use=session.use,
        )
        self.terminal.show(Text(told, style="dim"), self.words.welcome)
        self.show_question()

    def show_question(self) -> None:
        """Show the open question as the dialogue has it."""
        if self.episode.done:
            return
        turn, turns = self.episode.turn + 1, len(self.episode.session.turns)
        self.terminal.show(
            "",
            Text(self.words.question.format(turn=turn, turns=turns), style="bold underline"),
            showing.said(self.words.physician, self.episode.asked),
        )

    def show_history(self) -> None:
        """Show what was said and done so far; long results by their first line."""
        shown: list[RenderableType] = []
        for event in self.episode.trajectory["events"]:
            kind = event["event"]
            if kind == "query":
                shown += ["", showing.said(self.words.physician, event["text"])]
            elif kind == "answer":
                shown.append(showing.said(self.words.you, event["text"]))
            elif kind == "call":
                shown.append(self.call_line(event["tool"], event["arguments"]))
                shown.append(Text(f"  {visible(event['text'])[:200]}", style="dim", no_wrap=True, overflow="ellipsis"))
            elif kind == "mistake":
                shown += [Text(visible(event["action"])), showing.said(self.words.notice, event["text"])]
        self.terminal.page(shown, self.words.page)

    def show_writes(self) -> None:
        """Show what was written to the record in this round."""
        events = [one for one in self.episode.trajectory["events"] if one["event"] == "call"]
        wrote = [one for one in events if one.get("created") or one.get("updated") or one.get("file")]
        if not wrote:
            self.terminal.show(self.words.no_writes)
        for event in wrote:
            self.terminal.show(self.call_line(event["tool"], event["arguments"]), Text(f"  {visible(event['text'])}"))

    def call_line(self, tool: object, arguments: object) -> Text:
        """Return a call in one line: the tool and what was asked of it, without the ids that are filled in."""
        if isinstance(arguments, dict):
            filled = self.episode.subject
            kept = {key: value for key, value in arguments.items() if filled.get(key) != value or value is None}
            told = " ".join(f"{key}={_plain(value)}" for key, value in kept.items())
        else:
            told = _plain(arguments)
        return Text(f"→ {visible(str(tool))} {visible(told)}".rstrip(), style="cyan")

    def show_result(self, found: ToolResult) -> None:
        """Show what a tool said, and keep its ids for completion."""
        self.terminal.page(showing.result(found, self.words, self.terminal.width), self.words.page)
        for key in found.resources:
            name = key.partition("/")[2]
            if name == visible(name):
                self.completer.seen[name] = None

    # -- what is done ----------------------------------------------------------------------------------------------

    def call(self, name: str, arguments: Any, note: str = "") -> None:
        """Make one call and show what came of it."""
        after, turn = self.episode.fork(), self.episode.turn  # a Ctrl-C in between leaves the round as it was
        found = after.call(name, arguments, note=note)
        self.take(after, turn, found)

    def take(self, after: Episode, turn: int, found: ToolResult | None = None) -> None:
        """Go on from the episode after an action: keep it, show its result and, where the turn closed, its score."""
        self.episode = after
        self.keep()
        if found is not None:
            self.show_result(found)
        if after.done or after.turn != turn:
            self.show_closed(turn)

    def answer(self, text: str) -> None:
        """Answer the physician, with `prepare_to_answer` before it where it is missing."""
        turn = self.episode.turn
        if PLAN in self.grammar.tools and not self.episode.trace.planned:
            after = self.episode.fork()
            kind = "tool" if self.episode.trace.calls else "chat"
            after.call(PLAN, {"answer_type": kind})
            if after.turn == turn and not after.done:  # not where that very action would close the turn
                self.episode = after
                self.terminal.show(Text(f"→ {self.words.called}", style="dim"))
        after = self.episode.fork()
        after.answer(text)
        self.take(after, turn)

    def show_closed(self, turn: int) -> None:
        """Show what the turn just closed earned, and the next question."""
        episode = self.episode
        score, played = episode.scores[turn], episode.session.turns[turn]
        last = [one for one in episode.trajectory["events"] if one["event"] == "answer" and one["turn"] == turn]
        shown: list[RenderableType] = ["", Text(self.words.closed_by_budget)] if last and last[-1]["forced"] else [""]
        shown.append(showing.reward(score, turn + 1, self.words, rubric=self.shows_rubric))
        if self.shows_rubric:
            shown += showing.verdicts(score, played.rubric, episode.settings.language, self.words)
        if self.show_gold:
            shown += self._gold(turn)
        self.terminal.page(shown, self.words.page)
        self.show_question()

    def _gold(self, turn: int) -> list[RenderableType]:
        gold = self.episode.session.turns[turn].gold
        if gold is None:
            return [Text(self.words.no_gold)]
        shown: list[RenderableType] = [Text(self.words.gold_calls, style="bold")]
        shown += [self.call_line(call.tool, dict(call.arguments)) for call in gold.calls]
        answers = (getattr(one, self.episode.settings.language) or one.en or one.zh or "" for one in gold.answers)
        return [*shown, *(showing.said(self.words.gold_answer, one) for one in answers)]

    # -- how it is kept --------------------------------------------------------------------------------------------

    def keep(self) -> None:
        """Write the play where it is kept; what cannot be written is told and asked for again at the end."""
        if self.path is not None:
            saving.save(self.path, self.episode, self.about)

    def save_to(self, name: str) -> bool:
        """Keep the play in a file from now on; tells whether it worked."""
        path = Path(name).expanduser()
        if path.exists() and path != self.path:
            self.terminal.show(self.words.exists.format(path=visible(name)))
            return False
        try:
            saving.save(path, self.episode, self.about)
        except OSError as error:
            told = self.words.cannot_save.format(path=visible(name), error=error.strerror or error)
            self.terminal.show(told)
            return False
        self.path = path
        self.terminal.show(self.words.saved.format(path=visible(name)))
        return True

    def part(self, *, asking: bool) -> None:
        """Say where the play is kept; ask a person where to keep it where it is not yet."""
        if self.path is not None:
            self.terminal.show(self.words.saved.format(path=visible(str(self.path))))
            return
        if not asking or not self.terminal.interactive or not saving.actions_of(self.episode):
            return
        offered = f"play-{self.episode.session.id}.json"
        while True:
            name = self.terminal.ask(self.words.ask_save.format(path=visible(offered)))
            if name is None or name.strip().casefold() in ("n", "no"):
                self.terminal.show(self.words.not_saved)
                return
            if self.save_to(name.strip() or offered):
                return

    def finish(self) -> None:
        """Show the score and the hash."""
        episode, turns = self.episode, len(self.episode.session.turns)
        told = self.words.over if episode.done else self.words.not_over
        done = len(episode.scores)
        self.terminal.show("", Text(told.format(score=f"{episode.score:.3f}", turn=done, turns=turns), style="bold"))
        if self.about["gold_shown"]:
            self.terminal.show(self.words.shown)
        self.terminal.show(self.words.hash.format(hash=episode.trajectory_hash))


def _plain(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value, default=str).decode()


def refuse_to_replace(path: Path) -> None:
    """Refuse a new play over a file that is there.

    Raises:
        UsageError: The file exists.
    """
    if path.exists():
        raise UsageError(f"--save `{path}` exists: go on with it by --resume, or choose another name")
