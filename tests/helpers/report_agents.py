"""Agents that write what a page must not obey."""

from __future__ import annotations

from typing import Any

from wardround.agents import Action, Answer, Invalid
from wardround.patients import ToolCall

SCRIPT = "</script><script>window.hit=1</script>"
HANDLER = '"><img src=x onerror="window.hit=2"><svg onload=window.hit=3>'
TEMPLATE = "{{7*7}} ${window.hit=4} <%= 1 %> <!-- ]]> --> &lt;b&gt; javascript:window.hit=5"
TURNED = "dose \u202e gm 05 \u202c and \u2067x\u2069\u200b\x00\x1b[31m \U0001f9ea"
LINE = "x" * 100_000
ALL = f"{SCRIPT}{HANDLER}{TEMPLATE}{TURNED}"


class Hostile:
    """Calls with hostile names and arguments, then what is no action, then a hostile answer."""

    name = "hostile"
    sees_gold = False

    def __init__(self) -> None:
        self.usage: dict[str, Any] = {f"tokens{SCRIPT}": 3, "note": HANDLER}
        self._done = 0

    def act(self, view: Any) -> Action:
        """Do the next thing."""
        self._done += 1
        subject = view.subject["subject_id"]
        steps: list[Action] = [
            ToolCall("Observation.search", {"subject_id": subject, "code": "potassium"}),
            ToolCall(SCRIPT, {SCRIPT: HANDLER}),
            ToolCall("Observation.search", {"subject_id": subject, "code": ALL + LINE}),
            Invalid(ALL, HANDLER),
        ]
        if self._done % 5:
            return steps[self._done % 5 - 1]
        return Answer(f"{TURNED} potassium {ALL} {LINE if view.turn == 1 else ''}")


def hostile(seed: int) -> Hostile:
    """Make one."""
    return Hostile()
