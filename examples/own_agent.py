"""An agent of your own: answer every question with the newest matching lab, and see what that earns."""

from __future__ import annotations

from typing import ClassVar

import orjson

from wardround import load_charts, load_sessions
from wardround.agents import Action, Answer, play
from wardround.envs import Episode, EpisodeView
from wardround.patients import ToolCall


class NewestLab:
    """Search once, prepare, answer with the first row."""

    name: ClassVar[str] = "newest-lab"
    sees_gold: ClassVar[bool] = False

    def act(self, view: EpisodeView) -> Action:
        """Return the next action for the open turn."""
        last = view.messages[-1]
        if last["role"] == "user":
            word = view.query.rstrip("?.! ").split()[-1]
            return ToolCall("Observation.search", {**_ids(view), "code": word, "_count": 1})
        if last["name"] != "prepare_to_answer":
            self.rows = orjson.loads(last["content"]).get("rows", []) if last["content"].startswith("{") else []
            return ToolCall("prepare_to_answer", {"answer_type": "chat"})
        return Answer(" ".join(str(cell) for cell in self.rows[0][2:5]) if self.rows else "Not in the chart.")


def _ids(view: EpisodeView) -> dict[str, str | None]:
    return {"subject_id": view.subject["subject_id"]}


charts = load_charts("ward")
total = 0.0
sessions = load_sessions("ward").sessions[:5]
for session in sessions:
    episode = play(Episode(session, charts.chart(session.chart.patient)), NewestLab())
    total += episode.score
    print(session.id, f"{episode.score:.2f}")
print(f"mean {total / len(sessions):.2f}")
