"""What `wardround play` understands and says, in both languages: data/play.json, read through the schema below."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Literal

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from wardround.patients import DataError


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Words(_Frozen):
    """The sentences of one language; {…} in them are filled in with `str.format`."""

    help: tuple[tuple[str, ...], ...]
    """A paragraph each, or what is typed and what it does."""
    welcome: str
    watching: str
    not_a_watch_command: str
    session: str
    question: str
    physician: str
    patient: str
    you: str
    prompt: str
    more_answer: str
    page: str
    confirm: str
    not_sent: str
    unfinished: str
    called: str
    rows: str
    hidden: str
    nothing: str
    refused: str
    notice: str
    columns_narrow: str
    closed_by_budget: str
    passed: str
    failed: str
    ungraded: str
    unreadable: str
    why: str
    rests_on: str
    reward: str
    reward_only: str
    reward_open: str
    gold_calls: str
    gold_answer: str
    no_gold: str
    shown: str
    over: str
    not_over: str
    hash: str
    saved: str
    not_saved: str
    ask_save: str
    save_what: str
    exists: str
    cannot_save: str
    interrupted: str
    stopped: str
    resumed: str
    no_writes: str
    short: str
    tool: str
    what: str
    arguments: str
    filled: str
    main: str
    no_topic: str
    no_command: str
    did_you_mean: str
    takes_nothing: str
    no_argument: str
    no_text: str
    needs: str
    twice: str
    no_number: str
    no_choice: str
    no_quote: str
    agent_failed: str
    effects: dict[str, str]
    """By `ToolSpec.effect`."""


class Shortcut(_Frozen):
    """A word that stands for a tool."""

    names: tuple[str, ...]
    """English first, then Chinese; both are understood in either language."""
    tool: str
    """Published name."""
    fixed: dict[str, str] = {}
    """Arguments that the word says."""


class PlayWords(_Frozen):
    """The schema of data/play.json."""

    format: Literal["wardround.play-words/1"]
    about: str
    commands: dict[str, tuple[str, ...]]
    """What the terminal itself does → the words for it."""
    shortcuts: tuple[Shortcut, ...]
    text: dict[str, str]
    """Published name of a tool → the argument that words without a name go to."""
    chart_names: dict[str, str]
    """Argument → the resource type whose names complete it; "" is the type that the tool reads."""
    en: Words
    zh: Words

    def of(self, language: str) -> Words:
        """Return the sentences of a language."""
        return self.zh if language == "zh" else self.en


@lru_cache(maxsize=1)
def play_words() -> PlayWords:
    """Return what data/play.json holds.

    Raises:
        DataError: It is not as its schema says.
    """
    try:
        return PlayWords.model_validate(
            orjson.loads(files("wardround.agents.playing").joinpath("data/play.json").read_bytes())
        )
    except (ValidationError, orjson.JSONDecodeError) as error:
        raise DataError(f"agents/playing/data/play.json: {error}; restore the file or mend the field named") from error
