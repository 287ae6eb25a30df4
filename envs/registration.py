"""Gymnasium ids. Registering imports no part of the library; any change that can move a score bumps `-v`."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

IDS = {"wardround/PhysAssist-v0": "wardround.envs.ward:WardEnv"}
"""Id → entry point."""


def register() -> None:
    """Register every id with Gymnasium; calling it again does nothing."""
    for name, entry_point in IDS.items():
        if name not in gym.registry:
            gym.register(id=name, entry_point=entry_point)


def make(id: str = "wardround/PhysAssist-v0", **kwargs: Any) -> gym.Env[Any, Any]:
    """Make an environment by id; keyword arguments go to `WardEnv`.

    Examples:
        >>> import wardround
        >>> env = wardround.make()
        >>> observation, info = env.reset(seed=0)
        >>> "subject_id" in observation["text"]
        True
    """
    register()
    return gym.make(id, **kwargs)
