"""The loop of a person who is the assistant."""

from __future__ import annotations

from . import showing
from .commands import Line
from .game import Game, Leave
from .showing import visible

_FENCE = "```"


def play_person(game: Game) -> None:
    """Let a person play until the round is over or they leave.

    Raises:
        Leave: They left, or the input ended.
    """
    game.terminal.use_completion(game.completer.complete)
    interrupted = False
    while not game.episode.done:
        try:
            line = game.terminal.ask(_prompt(game))
            if line is None:
                raise Leave
            interrupted = False
            _do(game, line)
        except KeyboardInterrupt:
            if interrupted or not game.terminal.interactive:
                raise
            interrupted = True
            game.terminal.show("", game.words.interrupted)


def _prompt(game: Game) -> str:
    episode = game.episode
    turns = len(episode.session.turns)
    return game.words.prompt.format(turn=episode.turn + 1, turns=turns, left=episode.calls_left)


def _do(game: Game, text: str) -> None:
    if text.strip().startswith(_FENCE):
        _answer(game, _several(game, _FENCE, text.strip()[len(_FENCE) :]))
        return
    view = game.episode.view()
    line = game.grammar.read(text, view.answer_format)
    if line.problem:
        game.terminal.show(visible(line.problem))
    elif line.command == "answer":
        _answer(game, _several(game, "", ""))
    elif line.command:
        run_command(game, line)
    elif line.calls:
        _call(game, line)
    elif line.answer is not None and (line.at_once or _sure(game)):
        _answer(game, line.answer)


def _call(game: Game, line: Line) -> None:
    turn = game.episode.turn
    for number, call in enumerate(line.calls):
        if game.episode.done or game.episode.turn != turn:  # the turn was closed under it: the rest is never made
            return
        game.terminal.show(game.call_line(call.name, call.arguments))
        game.call(call.name, call.arguments, note="" if number else line.note)


def _sure(game: Game) -> bool:
    if not game.terminal.interactive:
        return True
    reply = game.terminal.ask(game.words.confirm)
    if reply is not None and reply.strip().casefold() in ("", "y", "yes", "是"):
        return True
    game.terminal.show(game.words.not_sent)
    return False


def _answer(game: Game, text: str | None) -> None:
    if text is None:
        game.terminal.show(game.words.unfinished)
    elif text.strip():
        game.answer(text)
    else:
        game.terminal.show(game.words.not_sent)


def _several(game: Game, end: str, first: str) -> str | None:
    """Return the lines up to the one that is `end`; None where the input ends before it."""
    lines = [first] if first.strip() else []
    while True:
        line = game.terminal.ask(game.words.more_answer)
        if line is None:
            return None
        if line.strip() == end:
            return "\n".join(lines)
        lines.append(line)


def run_command(game: Game, line: Line) -> None:
    """Do what a command of the terminal asks for.

    Raises:
        Leave: The player quits.
    """
    if line.command == "help":
        _help(game, line.rest.strip())
    elif line.command == "tools":
        game.terminal.page(showing.tool_list(game.grammar), game.words.page)
    elif line.command == "rules":
        game.terminal.page([visible(game.episode.system_prompt)], game.words.page)
    elif line.command == "question":
        game.show_question()
    elif line.command == "history":
        game.show_history()
    elif line.command == "writes":
        game.show_writes()
    elif line.command == "save":
        if line.rest:
            game.save_to(line.rest.strip())
        else:
            game.terminal.show(game.words.save_what)
    elif line.command == "quit":
        raise Leave(asking=True)


def _help(game: Game, word: str) -> None:
    tool, fixed = game.grammar.tool_of(word) if word else (None, {})
    if tool is not None:
        game.terminal.page(showing.tool_help(tool, fixed, game.grammar), game.words.page)
    elif word and word not in game.grammar.commands:
        game.terminal.show(game.words.no_topic.format(word=visible(word)))
    else:
        game.terminal.page(showing.help_text(game.words), game.words.page)
