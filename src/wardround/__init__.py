"""wardround: a POMDP in which a language model assists a physician on a ward round.

Importing this package registers its Gymnasium ids and loads nothing else: the parts load on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from wardround.envs.registration import make, register

if TYPE_CHECKING:
    from wardround.envs.adapters import dataset
    from wardround.patients import load_charts
    from wardround.sessions import load_sessions

__version__ = "0.1.0"

__all__ = ["__version__", "dataset", "load_charts", "load_sessions", "make", "register"]

_HOMES = {
    "dataset": "wardround.envs.adapters",
    "load_charts": "wardround.patients",
    "load_sessions": "wardround.sessions",
}


def __getattr__(name: str) -> Any:
    """Load a public name from its part on first use (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module `wardround` has no attribute `{name}`")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names without loading them."""
    return sorted(__all__)


register()
