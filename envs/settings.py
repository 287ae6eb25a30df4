"""How an episode is played, and which combinations make no sense."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wardround.patients import ALL_TOOLS, TOOLS, Chart, UsageError
from wardround.sessions import Session


@dataclass(frozen=True, slots=True)
class Settings:
    """How an episode is played; none of it depends on the agent."""

    language: Literal["en", "zh"] = "en"
    phrasing: tuple[str, ...] = ()
    """One of explicit, implicit per turn."""
    view: Literal["compact", "fhir"] = "compact"
    scoring: Literal["wardround", "paper"] = "wardround"
    plan: Literal["item", "zero", "off"] = "item"
    history: Literal["self", "gold"] = "self"
    interview: bool = True
    """Whether the tools that ask the patient are offered."""


def without_interview(session: Session) -> Session:
    """Return the session with every tool that asks the patient withdrawn; all else is the same."""
    names = session.tools if session.tools is not None else tuple(TOOLS)
    kept = tuple(name for name in names if name not in ALL_TOOLS or ALL_TOOLS[name].effect != "ask")
    return session.model_copy(update={"tools": kept})


def check_settings(session: Session, chart: Chart, settings: Settings) -> None:
    """Refuse settings that the session cannot be played with.

    Raises:
        UsageError: Names the setting, its value and what is accepted.
    """
    if session.chart.patient != chart.patient_id or session.chart.hash != chart.hash:
        raise UsageError(
            f"session `{session.id}` was made for chart `{session.chart.patient}` (hash {session.chart.hash[:12]}…), "
            f"got `{chart.patient_id}` with {chart.hash[:12]}…: open the store the session was made from"
        )
    unknown = [name for name in session.tools or () if name not in ALL_TOOLS]
    if unknown:
        raise UsageError(
            f"session `{session.id}` offers `{unknown[0]}`, which is no tool; name tools of {', '.join(ALL_TOOLS)}"
        )
    choices: tuple[tuple[str, str, tuple[str, ...]], ...] = (
        ("language", settings.language, ("en", "zh")),
        ("view", settings.view, ("compact", "fhir")),
        ("scoring", settings.scoring, ("wardround", "paper")),
        ("plan", settings.plan, ("item", "zero", "off")),
        ("history", settings.history, ("self", "gold")),
        *(("phrasing", word, ("explicit", "implicit")) for word in settings.phrasing),
    )
    for name, value, allowed in choices:
        if value not in allowed:
            raise UsageError(f"`{name}` is `{value}`; expected one of {', '.join(allowed)}")
    if len(settings.phrasing) != len(session.turns):
        raise UsageError(f"`phrasing` has {len(settings.phrasing)} entries for {len(session.turns)} turns")
    for number, turn in enumerate(session.turns):
        try:
            turn.query.get(settings.language, settings.phrasing[number])
        except KeyError as error:
            raise UsageError(
                f"session `{session.id}` turn {number}: {error.args[0]}; play it in a language it has"
            ) from None
        if settings.history == "gold" and (turn.gold is None or not turn.gold.answers):
            raise UsageError(f"session `{session.id}` turn {number} has no gold; gold history cannot be played")
    if settings.history == "gold" and not settings.interview:
        raise UsageError(
            "`history` is gold and `interview` is off: gold asks the patient; keep the interview or play history=self"
        )
    if settings.history == "gold" and session.use == "evaluation":
        raise UsageError(f"session `{session.id}` is for evaluation only; gold history would show its answers")
