"""The POMDP: contract in `episode.py`, the Gymnasium face in `ward.py`.

Names load on first use, so that `import wardround` can register its ids without importing the library.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .actions import ParsedAction, parse_action
    from .agreements import CREDENTIALED, UNKNOWN, refuse_without_agreement
    from .episode import Episode
    from .grading import grade_answer
    from .registration import make, register
    from .replay import judge_words, pending, replay
    from .settings import Settings
    from .spaces import Unicode
    from .trajectory import ENV_ID, TRAJECTORY_FORMAT, Trajectory
    from .view import EpisodeView
    from .ward import SPEAKERS, WardEnv

__all__ = [
    "CREDENTIALED",
    "ENV_ID",
    "SPEAKERS",
    "TRAJECTORY_FORMAT",
    "UNKNOWN",
    "Episode",
    "EpisodeView",
    "ParsedAction",
    "Settings",
    "Trajectory",
    "Unicode",
    "WardEnv",
    "grade_answer",
    "judge_words",
    "make",
    "parse_action",
    "pending",
    "refuse_without_agreement",
    "register",
    "replay",
]

_HOMES = {
    "CREDENTIALED": "agreements",
    "ENV_ID": "trajectory",
    "SPEAKERS": "ward",
    "TRAJECTORY_FORMAT": "trajectory",
    "Episode": "episode",
    "EpisodeView": "view",
    "ParsedAction": "actions",
    "Settings": "settings",
    "Trajectory": "trajectory",
    "UNKNOWN": "agreements",
    "Unicode": "spaces",
    "WardEnv": "ward",
    "grade_answer": "grading",
    "judge_words": "replay",
    "make": "registration",
    "parse_action": "actions",
    "pending": "replay",
    "refuse_without_agreement": "agreements",
    "register": "registration",
    "replay": "replay",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module `wardround.envs` has no attribute `{name}`")
    home = _HOMES[name]
    module = importlib.import_module(f"wardround.envs.{home}")
    for other in (one for one, where in _HOMES.items() if where == home):
        globals()[other] = getattr(module, other)  # all at once: `replay` is a function and the module it lives in
    return globals()[name]
