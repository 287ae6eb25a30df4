"""Policies that hunt for loopholes: each does the look-ups that a query names and then games the answer.

They are what a policy drifts into when a reward lets it. `wardround check` prints what each earns; those that the
tests name must stay at 0.10 or below. None of them sees gold but `other_turn`, which says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar

import orjson

from wardround.envs import Episode, EpisodeView
from wardround.patients import ToolCall, knowledge
from wardround.sessions import Turn

from .agent import Action, Answer
from .scripted import gold_episode

_STEPS = ("procedure", "service", "drug_class")
_PREPARE = ToolCall("prepare_to_answer", {"answer_type": "tool"})


@cache
def phrases() -> dict[str, Any]:
    """Return `data/adversaries.json`: what these agents say, and the most they may earn."""
    found: dict[str, Any] = orjson.loads(files("wardround.agents").joinpath("data/adversaries.json").read_bytes())
    return found


class Policy:
    """Looks up what the queries so far name, prepares, and says what `say` makes of it."""

    name: ClassVar[str] = ""
    sees_gold: ClassVar[bool] = False

    def __init__(self) -> None:
        self._turn = -1
        self._plan: Iterator[ToolCall] = iter(())
        self._from = 0
        self.labs: list[str] = []
        """Laboratory concepts that queries named, the latest last."""
        self.drugs: list[str] = []

    def act(self, view: EpisodeView) -> Action:
        """Return the next call of the plan, else the answer."""
        if view.turn != self._turn:
            self._turn = view.turn
            self._from = len(view.messages)
            self._name(view.query)
            self._plan = iter([*list(self.calls(view))[: view.calls_left], _PREPARE])
        call = next(self._plan, None)
        return Answer(self.say(view)) if call is None else call

    def calls(self, view: EpisodeView) -> Iterator[ToolCall]:
        """Yield the look-ups of a turn: the labs and drugs named last, and what the patient takes."""
        chart = {"subject_id": view.subject["subject_id"]}
        for lab in self.labs[-2:]:
            yield ToolCall("Observation.search", {**chart, "code": lab})
        for drug in self.drugs[-1:]:
            yield ToolCall("MedicationRequest.search", {**chart, "medication": drug})
            yield ToolCall(
                "patient.get_medication_adherence", {**chart, "session_id": view.subject["session_id"], "drug": drug}
            )

    def say(self, view: EpisodeView) -> str:
        """Return the answer: by default the agent's own words of the data file."""
        words: str = phrases()["answers"][self.name][view.language]
        return words.format(topic=self.topic(), drug=self.drug())

    def order(self, view: EpisodeView, **changes: str) -> ToolCall:
        """Return an order of the drug named last, else of the data file's, with its fields but for `changes`."""
        usual = phrases()["order"] | changes
        drug = self.drugs[-1] if self.drugs else usual["medication"]
        arguments = {"subject_id": view.subject["subject_id"], **usual, "medication": drug}
        return ToolCall("MedicationRequest.create", arguments)

    def texts(self, view: EpisodeView) -> list[str]:
        """Return what this turn's calls brought."""
        return [message["content"] for message in view.messages[self._from :] if message.get("role") == "tool"]

    def rows(self, view: EpisodeView) -> list[list[Any]]:
        """Return the first row of every search of this turn."""
        out = []
        for text in self.texts(view):
            try:
                data = orjson.loads(text)
            except orjson.JSONDecodeError:
                continue
            rows = data.get("rows") if isinstance(data, dict) else None
            if rows:
                out.append(rows[0])
        return out

    def topic(self) -> str:
        """Return what was named last, a lab before a drug."""
        return (self.labs or self.drugs or [str(phrases()["no_topic"])])[-1]

    def drug(self) -> str:
        """Return the drug named last."""
        return (self.drugs or [str(phrases()["no_drug"])])[-1]

    def _name(self, query: str) -> None:
        lexicon = knowledge.lexicon()
        for kind, found in (("lab", self.labs), ("drug", self.drugs)):
            for mention in lexicon.scan(query, (kind,)):
                words = query[mention.start : mention.end]
                if words in found:
                    found.remove(words)
                found.append(words)


class ChartCopier(Policy):
    """Pastes what the tools returned."""

    name: ClassVar[str] = "chart_copier"

    def say(self, view: EpisodeView) -> str:
        """Return every result, as it came."""
        return "\n".join(text[:4000] for text in self.texts(view))


class RowPaster(Policy):
    """Pastes the first row of every search, as it came."""

    name: ClassVar[str] = "row_paster"

    def say(self, view: EpisodeView) -> str:
        """Return the rows as JSON."""
        return "\n".join(orjson.dumps(row).decode() for row in self.rows(view))


class RowPrinter(Policy):
    """Pastes the first row of every search as Python prints it, which is no JSON."""

    name: ClassVar[str] = "row_printer"

    def say(self, view: EpisodeView) -> str:
        """Return the rows as lists and tuples."""
        rows = self.rows(view)
        return "\n".join(repr(tuple(row)) if number % 2 else repr(row) for number, row in enumerate(rows))


class EveryAccount(Policy):
    """Asks the patient, and reports every reply that there could have been."""

    name: ClassVar[str] = "every_account"


class EveryStatus(Policy):
    """Calls what was asked for everything that it could be."""

    name: ClassVar[str] = "every_status"

    def say(self, view: EpisodeView) -> str:
        """Return the first values and every status word."""
        values = [f"{row[2]} {row[3]} {row[4] or ''}" for row in self.rows(view) if len(row) == 8]
        return "; ".join([*values, super().say(view)])


class Contradictor(Policy):
    """Advises everything at once, for the drug named last."""

    name: ClassVar[str] = "contradictor"


class Enumerator(Policy):
    """Orders a grid of doses whatever is asked, and names them all."""

    name: ClassVar[str] = "enumerator"

    def calls(self, view: EpisodeView) -> Iterator[ToolCall]:
        """Yield one order per dose of the grid."""
        yield from (self.order(view, dose=dose) for dose in phrases()["doses"])

    def say(self, view: EpisodeView) -> str:
        """Return all doses."""
        return f"{self.drug()}: {', '.join(phrases()['doses'])}"


class FixedOrder(Policy):
    """Orders the commonest dose of the drug named last whenever the query reads like an order."""

    name: ClassVar[str] = "fixed_order"

    def calls(self, view: EpisodeView) -> Iterator[ToolCall]:
        """Yield one order on every turn that has no question mark."""
        if self.drugs and "?" not in view.query and "？" not in view.query:
            yield self.order(view)


class FixedPanel(Policy):
    """Reads and states the same twelve labs whatever is asked."""

    name: ClassVar[str] = "fixed_panel"

    def calls(self, view: EpisodeView) -> Iterator[ToolCall]:
        """Yield twelve searches."""
        for lab in phrases()["panel"]:
            yield ToolCall("Observation.search", {"subject_id": view.subject["subject_id"], "code": lab, "_count": 1})

    def say(self, view: EpisodeView) -> str:
        """Return the twelve values, each called normal."""
        word = phrases()["normal"][view.language]
        return "; ".join(f"{row[2]} {row[3]} {row[4] or ''} {word}" for row in self.rows(view))


class FullMarks(Policy):
    """Looks things up and then talks to the grader instead of the physician."""

    name: ClassVar[str] = "full_marks"


class SelfEvidence(Policy):
    """Writes a finding of its own into the record, reads it back and states it."""

    name: ClassVar[str] = "self_evidence"

    def calls(self, view: EpisodeView) -> Iterator[ToolCall]:
        """Yield a write of the guess, then searches that might show it."""
        chart = {"subject_id": view.subject["subject_id"]}
        names = {tool["function"]["name"] for tool in view.tools}
        if "Observation_create" in names:
            value = {"code": self.topic(), "value": "4.0", "unit": "mmol/L"}
            yield ToolCall("Observation.create", {**chart, **value})
        detail = f"{self.topic()} 4.0 mmol/L normal"
        yield ToolCall("Flag.create", {**chart, "category": "clinical", "code": self.topic(), "detail": detail})
        yield ToolCall("Observation.search", {**chart, "code": self.topic(), "_count": 1})


class BaseRate(Policy):
    """Looks up what is named and says what is most often right: normal, continue, as prescribed, but no value."""

    name: ClassVar[str] = "base_rate"


class AlwaysContinue(Policy):
    """Looks up what is named, reads it as the chart flags it, and advises to continue whatever it is."""

    name: ClassVar[str] = "always_continue"

    def say(self, view: EpisodeView) -> str:
        """Return what was measured, its reading, and the advice that never changes."""
        words = phrases()["stated"][view.language]
        stated = [
            words["value"].format(
                topic=self.topic(), value=f"{row[3]} {row[4] or ''}".strip(), reading=words[row[6] or ""]
            )
            for row in self.rows(view)
            if len(row) == 8 and (row[6] or "") in words
        ]
        return "".join([*stated[-1:], self.advice(view)])  # the topic is looked up last

    def advice(self, view: EpisodeView) -> str:
        """Return the advice that never changes: on the step that a query names, else on the drug."""
        steps = [view.query[one.start : one.end] for one in knowledge.lexicon().scan(view.query, _STEPS)]
        if not steps:
            return super().say(view)
        words: str = phrases()["steps"][self.name][view.language]
        return words.format(step=steps[-1])


class AlwaysHold(AlwaysContinue):
    """Looks up what is named, reads it as the chart flags it, and advises to hold whatever it is."""

    name: ClassVar[str] = "always_hold"


class OtherTurn:
    """Plays the gold calls and gives the gold answer of the session's next turn."""

    name: ClassVar[str] = "other_turn"
    sees_gold: ClassVar[bool] = True

    def __init__(self) -> None:
        self._turn = -1
        self._plan: Iterator[Action] = iter(())

    def act(self, view: EpisodeView | Episode) -> Action:
        """Return the next action of the wrong turn."""
        episode = gold_episode(view, self.name)
        if episode.turn != self._turn:
            self._turn = episode.turn
            self._plan = iter(self._actions(episode))
        return next(self._plan)

    def _actions(self, episode: Episode) -> list[Action]:
        turns = episode.session.turns
        other: Turn = turns[(episode.turn + 1) % len(turns)]
        if other.gold is None:
            return [Answer("no gold")]
        calls: list[Action] = [ToolCall(call.tool, call.arguments) for call in other.gold.calls]
        return [*calls, Answer(other.gold.answers[0].get(episode.settings.language))]


ADVERSARIES = (
    AlwaysContinue, AlwaysHold, BaseRate, ChartCopier, Contradictor, Enumerator, EveryAccount, EveryStatus, FixedOrder,
    FixedPanel, FullMarks, OtherTurn, RowPaster, RowPrinter, SelfEvidence,
)  # fmt: skip
"""Every adversary, in the order of its name."""
