"""One round as every trainer's door sees it: a session by id, played with text or calls, nothing of its gold shown.

A door is a view of a `Round` and adds nothing to the episode: the same actions give the reward and the trajectory hash
that `Episode` gives. Sets and stores are opened once a process and shared by all rounds.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, Final, Literal

import orjson

from wardround.envs import prompts
from wardround.envs.agreements import refuse_without_agreement
from wardround.envs.episode import Episode
from wardround.envs.playing import Played, Speaker, play_answer, play_call, play_mistake, play_text
from wardround.patients import ALL_TOOLS, TOOLS, ChartStore, Stream, UsageError, load_charts
from wardround.sessions import Session, SessionSet, charts_of, load_sessions

Form = Literal["text", "tools", "reply"]
"""One of `FORMS`."""
FORMS: Final = ("text", "tools", "reply")
"""How a policy acts: messages in the action grammar; a provider's native tool calls; calls alone (TRL)."""

Message = dict[str, str]

# Servers run doors in threads. Charts are shared and opened part by part, so one action is played at a time; a step
# holds the interpreter anyway.
_LOCK = threading.RLock()


def _new_lock() -> None:
    global _LOCK
    _LOCK = threading.RLock()


os.register_at_fork(after_in_child=_new_lock)  # another thread of the parent may have held it


@dataclass(frozen=True, slots=True)
class RoundConfig:
    """What all rounds of a door share; plain values, so that a trainer's YAML can hold them."""

    sessions: str = "ward"
    """Name of a built-in set, or path of a JSONL file."""
    charts: str | None = None
    """Name or path of the charts; None takes those of the built-in set."""
    split: str | None = None
    """Draw sessions of this split only, where no session is named."""
    language: Literal["en", "zh"] = "en"
    phrasing: str = "implicit"
    view: Literal["compact", "fhir"] = "compact"
    scoring: Literal["wardround", "paper"] = "wardround"
    plan: Literal["item", "zero", "off"] = "item"
    data_agreement: str | None = None
    """The agreement under which a policy may read credentialed data, in the user's words."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not (isinstance(value, str) or (value is None and field.default is None)):
                raise UsageError(f"setting `{field.name}` of a round is `{value!r}`: give text")

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> RoundConfig:
        """Return the configuration that a trainer's mapping holds.

        Raises:
            UsageError: A key is unknown.
        """
        known = [field.name for field in fields(cls)]
        for key in values:
            if key not in known:
                raise UsageError(f"unknown setting `{key}` of a round; expected some of {', '.join(known)}")
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Step:
    """What a policy sees after one action, and what it earned."""

    text: str
    speaker: Speaker
    reward: float
    """Of the turn that the action closed, over the number of turns; else 0. They add up to the session's score."""
    done: bool
    truncated: bool


class Round:
    """One session being played through a trainer's door.

    Args:
        session_id: Id of the session; None draws one from `seed`.
        seed: Names the repetition; nothing in an episode is drawn from it, so equal ids start equal.
        config: What to open and how to play.
        played: False: a file of rows wants the first messages, and no policy reads them yet.

    Raises:
        UsageError: No such session, it is for evaluation only, or its data need an agreement.

    Examples:
        >>> round = Round(seed=3)
        >>> [message["role"] for message in round.prompt("text")]
        ['system', 'user']
        >>> round.send("I do not know.").speaker
        'physician'
    """

    __slots__ = ("_episode", "_first", "config", "seed")

    def __init__(
        self, session_id: str | None = None, *, seed: int = 0, config: RoundConfig | None = None, played: bool = True
    ) -> None:
        self.config = config if config is not None else RoundConfig()
        self.seed = seed
        with _LOCK:
            sessions, store = opened(self.config.sessions, self.config.charts)
            session = drawn(sessions, seed, self.config) if session_id is None else sessions.get(str(session_id))
            refuse_evaluation(session)
            chart = store.chart(session.chart.patient)
            if played:
                refuse_without_agreement((session.licence, chart.licence), self.config.data_agreement)
            self._episode = Episode(
                session,
                chart,
                language=self.config.language,
                phrasing=self.config.phrasing,
                view=self.config.view,
                scoring=self.config.scoring,
                plan=self.config.plan,
            )
            self._first = self._episode.asked

    # -- what a policy may see -------------------------------------------------------------------------------------

    @property
    def session_id(self) -> str:
        """Id of the session."""
        return self._episode.session.id

    @property
    def first(self) -> str:
        """The first message: who the patient is, and the first question."""
        return self._first

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools offered, as OpenAI function schemas; the caller's own copy."""
        return self._episode.tools

    def prompt(self, form: Form) -> list[Message]:
        """Return the messages that an episode starts with: the rules, and the first question.

        Args:
            form: "text" adds the action grammar and the tools' schemas; "tools" is for native tool calls; "reply"
                says that answers are given by calling `reply_to_physician`.

        Raises:
            UsageError: An unknown form.
        """
        if form not in FORMS:
            raise UsageError(f"`form` is `{form}`; expected one of {', '.join(FORMS)}")
        session, language = self._episode.session, self._episode.settings.language
        return [
            {"role": "system", "content": _rules(form, language, self._episode.system_prompt, session.tools)},
            {"role": "user", "content": self._first},
        ]

    def opening(self, prompt: Sequence[Mapping[str, Any]] | None, form: Form) -> list[dict[str, Any]]:
        """Return the messages to start from, where a trainer's row brings some of its own.

        Args:
            prompt: The row's messages: those of `dataset`, or others, to which the first question is appended.
            form: As of `prompt`, where the row brings none.

        Raises:
            UsageError: The row's prompt is of the same session played otherwise (another language or phrasing).
        """
        if not prompt:
            return list(self.prompt(form))
        first = [] if self.asks(prompt) else [{"role": "user", "content": self._first}]
        return [*map(dict, prompt), *first]

    def asks(self, prompt: Sequence[Mapping[str, Any]]) -> bool:
        """Tell whether a row's messages hold the first question already.

        Raises:
            UsageError: They hold that of the same session played otherwise.
        """
        texts = [str(message.get("content")) for message in prompt if message.get("role") == "user"]
        if any(self._first in text for text in texts):
            return True
        if any(f"session_id {self.session_id}" in text for text in texts):
            raise UsageError(
                f"the row's prompt asks session `{self.session_id}` in other words than this door does: make the rows "
                f"with language `{self.config.language}` and phrasing `{self.config.phrasing}`, or set the door's"
            )
        return False

    @property
    def turn(self) -> int:
        """Index of the open turn; the number of turns once the round is over."""
        return self._episode.turn

    @property
    def calls_left(self) -> int:
        """Calls that still count before the policy must answer."""
        return self._episode.calls_left

    @property
    def closed_notice(self) -> str:
        """What a door says of calls that came after their question was closed, and were not run."""
        return prompts.notice(self.config.language, "closed")

    @property
    def done(self) -> bool:
        """True once the last turn is closed."""
        return self._episode.done

    @property
    def truncated(self) -> bool:
        """True when the round ended because its actions ran out."""
        return self._episode.truncated

    # -- what a policy may do --------------------------------------------------------------------------------------

    def send(self, text: str) -> Step:
        """Play one message in the action grammar: tool calls, an answer, or a mistake."""
        return self._play(lambda episode: play_text(episode, text))

    def call(self, name: str, arguments: Mapping[str, Any] | str | None = None, *, note: str = "") -> Step:
        """Play one tool call, as a provider's native call carries it.

        Args:
            name: Published name or alias.
            arguments: An object, or its JSON text.
            note: Prose that the policy wrote beside the call.
        """
        return self._play(lambda episode: play_call(episode, name, arguments, note))

    def answer(self, text: str) -> Step:
        """Answer the physician."""
        return self._play(lambda episode: play_answer(episode, text))

    def misread(self, action: str) -> Step:
        """Play a call of `reply_to_physician` that was none: it costs one call and says what to send."""
        notice = prompts.notice(self.config.language, "bad_reply")
        return self._play(lambda episode: play_mistake(episode, action, notice))

    # -- for trainers and logs, never for prompts ------------------------------------------------------------------

    @property
    def reward(self) -> float:
        """The session's score so far in [0, 1]; turns not closed count 0."""
        return self._episode.score

    @property
    def turn_rewards(self) -> list[float]:
        """Rewards in [0, 1] of the turns closed so far."""
        return [score.reward for score in self._episode.scores]

    @property
    def turns(self) -> int:
        """How many turns the session has."""
        return len(self._episode.session.turns)

    @property
    def reward_valid(self) -> bool:
        """False where a turn waits for a judge: the trainer is to mask the sample."""
        return all(score.reward_valid for score in self._episode.scores)

    @property
    def trajectory_hash(self) -> str:
        """Hash of what happened so far: that of an `Episode` played with the same actions."""
        return self._episode.trajectory_hash

    # -- inside ----------------------------------------------------------------------------------------------------

    def _play(self, action: Callable[[Episode], Played]) -> Step:
        episode = self._episode
        with _LOCK:
            if episode.done:
                return Step(prompts.notice(self.config.language, "ended"), "environment", 0.0, True, episode.truncated)
            played = action(episode)
            reward = played.closed.reward / len(episode.session.turns) if played.closed is not None else 0.0
            return Step(played.text, played.speaker, reward, episode.done, episode.truncated)


@lru_cache(maxsize=8)
def opened(sessions: str, charts: str | None) -> tuple[SessionSet, ChartStore]:
    """Return a set and its store, opened once a process.

    Raises:
        UsageError: The charts of a set of one's own were not named.
    """
    source = charts if charts is not None else charts_of(sessions)
    if source is None:
        raise UsageError(f"`charts` is not given: name the charts file that `{sessions}` was made from")
    return load_sessions(sessions), load_charts(source)


def drawn(sessions: SessionSet, seed: int, config: RoundConfig) -> Session:
    """Return the session that a seed draws, among those of the split that may be trained on in the language.

    Raises:
        UsageError: There is none.
    """
    chosen = [one for one in (sessions.split(config.split) if config.split else sessions) if one.use != "evaluation"]
    if not chosen:
        raise UsageError(f"every session of `{sessions.name}` is for evaluation only: trainer doors play none of them")
    pool = [one for one in chosen if speaks(one, config.language)]
    if not pool:
        raise UsageError(f"no session of `{sessions.name}` has a wording in `{config.language}`: play one it has")
    return pool[Stream("round", seed).below(len(pool))]


def speaks(session: Session, language: str) -> bool:
    """Tell whether every question of a session is worded in a language."""
    return all((turn.query.en if language == "en" else turn.query.zh) is not None for turn in session.turns)


def refuse_evaluation(session: Session) -> None:
    """Refuse a session that nothing may be trained on.

    Raises:
        UsageError: It is for evaluation only.
    """
    if session.use == "evaluation":
        raise UsageError(
            f"session `{session.id}` is for evaluation only: doors play none such; use a split made for training"
        )


@lru_cache(maxsize=64)
def _rules(form: Form, language: str, prompt: str, tools: tuple[str, ...] | None) -> str:
    if form == "tools":
        return prompt
    if form == "reply":
        return prompt + "\n" + prompts.reply_guide(language)
    names = tools if tools is not None else tuple(TOOLS)
    lines = "\n".join(orjson.dumps(ALL_TOOLS[name].openai()["function"]).decode() for name in names)
    return prompt + "\n" + prompts.action_guide(language, lines)
