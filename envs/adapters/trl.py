"""The door for TRL's `GRPOTrainer(environment_factory=…)`, experimental there. Imports neither trl nor torch.

TRL makes every public method of the class a tool, ends an episode with the first message that calls none, and cannot
put in a user's turn. So the physician is answered by calling `reply_to_physician`, which returns the next question, or
`SESSION_END`; what else a class of Gymnasium has in public would be tools too, so this one has none of it. Rewards of
single turns have no place in TRL: `get_reward` is the session's score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any, Final

import orjson

from wardround.patients import TOOLS, ToolSpec, UsageError, find_tool

from .round import Round, RoundConfig, opened

SESSION_END: Final = "SESSION_END"
"""What every tool returns once the round is over."""

_TYPES: Final[Mapping[str, type]] = {"string": str, "integer": int, "number": float, "boolean": bool}
_REPLY = "reply_to_physician"
_SENT: Final = 2_000
"""Characters kept of a call that is no JSON."""
_REPLY_DOC = """Answer the physician's question. It closes the question.

        Args:
            message: Your answer.

        Returns:
            The physician's next question, or SESSION_END.
        """


class _Environment:
    """What every environment class has beside its tools; nothing of it is public but what TRL asks for."""

    _config = RoundConfig()

    def __init__(self) -> None:
        self._round: Round | None = None

    def reset(
        self,
        session_id: str | None = None,
        seed: int = 0,
        prompt: Sequence[Mapping[str, Any]] | None = None,
        **columns: Any,
    ) -> str | None:
        """Start a round; TRL passes a row of the data set, and an instance plays one round after another.

        Args:
            session_id: The session; None draws one from `seed`.
            seed: Names the repetition.
            prompt: The row's messages.
            columns: Other columns of the row, not used.

        Returns:
            None where the row's prompt asks the first question already, as those of `dataset(form="reply")` do; else
            the question, which TRL appends to the last user message.

        Raises:
            UsageError: No such session, it is for evaluation only, or the prompt is of other settings.
        """
        self._round = None  # a round that cannot be opened leaves none of the one before to be played or rewarded
        self._round = Round(session_id, seed=int(seed or 0), config=self._config)
        return None if prompt and self._round.asks(prompt) else self._round.first

    def get_reward(self) -> float | None:
        """Return the session's score so far, however often it is asked; None, which TRL masks, where it has none.

        Raises:
            UsageError: `reset` was not called.
        """
        played = round_of(self)
        return played.reward if played.reward_valid else None

    def _act(self, name: str, arguments: dict[str, Any]) -> str:
        played = round_of(self)
        if played.done:
            return SESSION_END
        if name != _REPLY:
            step = played.call(name, arguments)
            return f"{step.text}\n{SESSION_END}" if step.done else step.text
        message = arguments.get("message")
        if set(arguments) != {"message"} or not isinstance(message, str):
            step = played.misread(_as_sent({"tool": name, "arguments": arguments}))
        else:
            step = played.answer(message)
        return SESSION_END if step.done else step.text


def ward_environment(name: str = "WardEnvironment", **config: Any) -> type[_Environment]:
    """Return an environment class for other settings than the built-in set's; it is its own zero-argument factory.

    Its tools are those that sessions of the set offer. One that a session does not offer answers so there.

    Args:
        name: Of the class; TRL logs its reward under it.
        config: As of `RoundConfig`: sessions, charts, split, language, phrasing, view, scoring, plan, data_agreement.

    Raises:
        UsageError: An unknown setting, or no such set or charts.
    """
    settings = RoundConfig.of(config)
    offered: dict[str, ToolSpec] = {}
    for session in opened(settings.sessions, settings.charts)[0]:
        for tool in session.tools if session.tools is not None else TOOLS:
            spec = find_tool(tool)
            if spec is None:
                raise UsageError(f"session `{session.id}` offers `{tool}`, which is no tool")
            offered[spec.alias] = spec
    return _environment(name, settings, offered.values())


def round_of(environment: Any) -> Round:
    """Return the round an environment plays, for logs and tests.

    Args:
        environment: Of a class of this module.

    Raises:
        UsageError: `reset` was not called.
    """
    played = environment._round
    if not isinstance(played, Round):
        raise UsageError("the environment plays no round yet: call reset() first")
    return played


def _as_sent(call: dict[str, Any]) -> str:
    """Return a call as JSON; what no JSON holds (half a character, an endless number) as Python writes it."""
    try:
        return orjson.dumps(call, default=str).decode()
    except TypeError:
        pass
    try:
        return ascii(call)[:_SENT]
    except RecursionError:
        return str(call["tool"])


def _environment(name: str, config: RoundConfig, tools: Iterable[ToolSpec]) -> type[_Environment]:
    methods = {spec.alias: _tool_method(spec) for spec in tools}
    reply = {"properties": {"message": {"type": "string"}}, "required": ["message"]}
    methods[_REPLY] = _method(_REPLY, reply, _REPLY_DOC)
    doc = "A ward round for TRL: its public methods but `reset` and `get_reward` are the policy's tools."
    return type(name, (_Environment,), {"__doc__": doc, "__module__": __name__, "_config": config, **methods})


def _tool_method(spec: ToolSpec) -> Callable[..., str]:
    schema = spec.schema
    lines = [f"{spec.description}\n", "        Args:"]
    for name, argument in schema["properties"].items():
        choices = f" (choices: {orjson.dumps(argument['enum']).decode()})" if "enum" in argument else ""
        lines.append(f"            {name}: {argument['description']}{choices}")
    lines += ["", "        Returns:", "            What the tool found, or what to do instead.", "        "]
    return _method(spec.alias, schema, "\n".join(lines))


def _method(name: str, schema: Mapping[str, Any], doc: str) -> Callable[..., str]:
    """Return a method that takes whatever the policy sends and shows the schema's arguments as its signature."""

    def method(self: _Environment, /, **arguments: Any) -> str:
        return self._act(name, arguments)

    parameters = [Parameter("self", Parameter.POSITIONAL_ONLY)]
    hints: dict[str, Any] = {}
    for argument, field in schema["properties"].items():
        kind: Any = _TYPES[field["type"]]
        needed = argument in schema["required"]
        hints[argument] = kind if needed else kind | None
        default = Parameter.empty if needed else None
        parameters.append(Parameter(argument, Parameter.KEYWORD_ONLY, default=default, annotation=hints[argument]))
    method.__name__, method.__qualname__, method.__doc__ = name, f"WardEnvironment.{name}", doc
    method.__signature__ = Signature(parameters, return_annotation=str)  # type: ignore[attr-defined]
    method.__annotations__ = {**hints, "return": str}
    return method


WardEnvironment = _environment("WardEnvironment", RoundConfig(), TOOLS.values())
"""The environment of the built-in ward."""
