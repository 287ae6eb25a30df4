"""A live episode behind the door: its record for FHIR requests, its tools for agents in any language.

Every action is in the journal before it is answered; a server started again with the same folder goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from wardround.envs.doors import record_of, take_in, unread
from wardround.envs.episode import Episode
from wardround.patients import DataError, Entry, Overlay, Resource, WardroundError
from wardround.rubrics import TurnScore

from .journal import Journal
from .messages import refused
from .records import MAX_WRITES, Pool, Tick

MAX_ACTIONS = 10_000
"""Calls and answers that one episode takes through the door."""


Check = Callable[[Overlay, Overlay], None]
"""Looks at the record before and after an action; raises what refuses it."""


class LiveEpisode:
    """One episode being played over HTTP (`Records`, and the tools).

    Args:
        episode: Fresh.
        journal: Where its actions are kept; those that it holds of this episode are done again.
        name: What the episode is called in the journal.
    """

    def __init__(self, episode: Episode, journal: Journal, name: str) -> None:
        self.episode = episode
        self.name = name
        self._journal = journal
        self._work: Overlay | None = None
        self._lines: list[dict[str, Any]] = []
        self._allocated = 0
        self._actions = 0
        for step in journal.steps():
            if step.get("session") == name:
                self._repeat(step)

    # -- the record ------------------------------------------------------------------------------------------------

    @property
    def patient(self) -> str:
        """The patient of the round."""
        return self.episode.chart.patient_id

    def patients(self) -> Sequence[str]:
        """Return the one patient."""
        return (self.patient,)

    def record(self, patient_id: str) -> Overlay | None:
        """Return the record as it stands."""
        if patient_id != self.patient:
            return None
        return self._work if self._work is not None else record_of(self.episode)

    def holders(self, kind: str, identity: str) -> Sequence[str]:
        """Return the one patient: the record says whether it holds the resource."""
        return (self.patient,)

    def pool(self, patients: Sequence[str] | None, tick: Tick) -> Pool:
        """Return the record, to be searched."""
        record = self.record(self.patient)
        assert record is not None
        shown = patients is None or self.patient in patients
        return Pool(record.version, lambda version: [record.as_of(version)] if shown else [], tick)

    def allocate(self, kind: str) -> str:
        """Return the id of the next new resource."""
        record = self.record(self.patient)
        assert record is not None
        self._allocated = max(self._allocated, record.version) + 1
        identity = f"new-{self._allocated}"
        while record.read(kind, identity) is not None:
            identity += "-1"
        return identity

    def create(self, patient_id: str | None, resource: Resource, identity: str | None) -> Entry:
        """Write a new resource into the episode."""
        if patient_id is None:
            raise refused(422, "business-rule", "a round has one patient; no other can be written into it")
        assert self._work is not None  # every write is within `together`
        identity = self.allocate(str(resource.get("resourceType"))) if identity is None else identity
        return self._took("create", self._work.create(resource, identity=identity))

    def replace(self, patient_id: str, key: str, resource: Resource) -> Entry:
        """Write the next version of a resource."""
        assert self._work is not None  # every write is within `together`
        return self._took("update", self._work.replace(key, resource))

    def _took(self, op: str, entry: Entry) -> Entry:
        self._lines.append({"op": op, "key": entry.key, "body": entry.body.decode()})
        if record_of(self.episode).version + len(self._lines) > MAX_WRITES:
            raise refused(503, "too-costly", f"an episode takes {MAX_WRITES} writes")
        return entry

    @contextmanager
    def together(self) -> Iterator[None]:
        """Keep all writes of the block, in the journal first, or none of them."""
        if self._work is not None:  # within another one
            yield
            return
        if self.episode.done:
            raise refused(409, "conflict", "the round is over; nothing can be written any more")
        self._work, self._lines, before = record_of(self.episode).fork(), [], self._allocated
        try:
            yield
            if self._lines:
                self._act({"door": {"resources": [], "writes": self._lines}})
        except BaseException:
            self._allocated = before
            raise
        finally:
            self._work, self._lines = None, []

    def seen(self, keys: Iterable[str]) -> None:
        """Take note of what a caller was shown: it counts as read."""
        if not self.episode.done and (new := unread(self.episode, keys)):
            self._act({"door": {"resources": new, "writes": []}})

    # -- the tools -------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return what an agent may see of the episode (nothing of scores or gold)."""
        view = self.episode.view()
        return {
            "subject": view.subject,
            "language": view.language,
            "turn": view.turn,
            "done": view.done,
            "query": view.query,
            "answer_format": view.answer_format,
            "options": list(view.options) if view.options is not None else None,
            "calls_left": view.calls_left,
            "system_prompt": view.system_prompt,
            "messages": view.messages,
            "tools": view.tools,
        }

    def call(self, tool: str, arguments: Mapping[str, Any] | str, check: Check | None = None) -> dict[str, Any]:
        """Call a tool; a model's mistake is a result that says so.

        Args:
            tool: Name or alias.
            arguments: As an agent gives them.
            check: Raises where the caller may not write what the tool wrote; then nothing was done.

        Returns:
            `tool`, `ok`, `text`, and where the episode stands.
        """
        result = self._act({"call": {"tool": tool, "arguments": arguments}}, check)
        return {"tool": result.tool, "ok": result.ok, "text": result.text, **self._stand()}

    def answer(self, text: str) -> dict[str, Any]:
        """Answer the physician; nothing about the score comes back.

        Returns:
            Where the episode stands: the next query, or that the round is over.
        """
        self._act({"answer": {"text": text}})
        return self._stand()

    def _stand(self) -> dict[str, Any]:
        view = self.episode.view()
        return {"turn": view.turn, "done": view.done, "query": view.query, "calls_left": view.calls_left}

    # -- the journal -----------------------------------------------------------------------------------------------

    def _act(self, step: dict[str, Any], check: Check | None = None) -> Any:
        """Do an action on a branch, keep it in the journal, and then make the branch the episode."""
        if self._actions >= MAX_ACTIONS:
            raise refused(503, "too-costly", f"an episode takes {MAX_ACTIONS} actions")
        if self.episode.done:
            raise refused(409, "conflict", "the round is over")
        branch = self.episode.fork()
        result = _do(branch, step)
        if check is not None:
            check(record_of(self.episode), record_of(branch))
        self._journal.write([{"session": self.name, **step}])
        self.episode = branch
        self._actions += 1
        return result

    def _repeat(self, step: Mapping[str, Any]) -> None:
        try:
            _do(self.episode, step)
            self._actions += 1
        except (KeyError, TypeError, WardroundError) as fault:
            text = f"{self._journal.path}: an action cannot be done again ({fault}); use another --out"
            raise DataError(text) from fault


def _do(episode: Episode, step: Mapping[str, Any]) -> Any:
    """Do one action of the journal."""
    if "door" in step:
        return take_in(episode, step["door"]["resources"], step["door"]["writes"])
    if "call" in step:
        return episode.call(step["call"]["tool"], step["call"]["arguments"])
    closed: TurnScore | None = episode.answer(step["answer"]["text"])
    return closed
