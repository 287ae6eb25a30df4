"""Every kind of move and decision there is: the tables of all modules of `moves/` and `decisions/`, put together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType, ModuleType

from wardround.sessions import decisions, moves
from wardround.sessions.decisions.decision import DecisionKind
from wardround.sessions.moves.move import MoveKind


@lru_cache(maxsize=1)
def move_kinds() -> Mapping[str, MoveKind]:
    """Return every kind of move by name.

    Raises:
        ValueError: Two modules have a kind of the same name.
    """
    found: dict[str, MoveKind] = {}
    for module in _modules(moves):
        for one in getattr(module, "KINDS", ()):
            if one.kind in found:
                raise ValueError(f"{module.__name__}: kind `{one.kind}` is already another module's; rename one")
            found[one.kind] = one
    return MappingProxyType(found)


@lru_cache(maxsize=1)
def decision_kinds() -> Mapping[str, DecisionKind]:
    """Return every kind of decision by name.

    Raises:
        ValueError: Two modules have a kind of the same name.
    """
    found: dict[str, DecisionKind] = {}
    for module in _modules(decisions):
        one = getattr(module, "KIND", None)
        if one is not None:
            if one.kind in found:
                raise ValueError(f"{module.__name__}: kind `{one.kind}` is already another module's; rename one")
            found[one.kind] = one
    return MappingProxyType(found)


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    """Yield the modules of a package, in the order of their names."""
    for name in sorted(module.name for module in iter_modules(package.__path__)):
        yield import_module(f"{package.__name__}.{name}")
