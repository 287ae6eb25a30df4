"""`wardround play`: a person is the assistant in a terminal, or watches an agent step by step (docs/play.md).

`round.py` opens what is played and runs it; `commands.py` reads typed lines, `completing.py` completes them,
`showing.py` shows results and rubrics, `saving.py` keeps plays, `game.py` ties them to an episode; `person.py` and
`watching.py` are the two loops. What the terminal says is data: `data/play.json`.
"""

from __future__ import annotations

from .round import PlayPlan, play_round
from .terminal import Terminal

__all__ = ["PlayPlan", "Terminal", "play_round"]
