"""How thin the blood may be: beside an oral anticoagulant one antiplatelet drug at most."""

from __future__ import annotations

from wardround.patients.times import Instant

from .generation import rules
from .life import Prescription
from .making import Making
from .situating import is_a


def _anticoagulated(making: Making, at: Instant) -> bool:
    """Tell whether an oral anticoagulant runs, or is held and will go on."""
    oral = rules().thinning.oral
    running = any(is_a(one.drug, oral) for one in making.active(at))
    return running or any(is_a(making.orders[one].drug, oral) for one in (*making.paused, *making.waiting))


def too_thin(making: Making, drug: str, at: Instant) -> bool:
    """Tell whether a drug would be one antiplatelet too many beside an anticoagulant.

    Args:
        making: The life.
        drug: Drug id.
        at: When it would be ordered.
    """
    if not is_a(drug, rules().thinning.platelets) or not _anticoagulated(making, at):
        return False
    if is_a(drug, rules().thinning.stent):
        return drug != rules().thinning.beside
    return any(is_a(one.drug, rules().thinning.platelets) and one.drug != drug for one in making.active(at))


def to_end(making: Making, order: Prescription, at: Instant) -> list[Prescription]:
    """Return the antiplatelet orders that end because of a new order: beside an anticoagulant one stays.

    Args:
        making: The life.
        order: The new order.
        at: When it begins.
    """
    if not is_a(order.drug, (*rules().thinning.oral, *rules().thinning.platelets)) or not _anticoagulated(making, at):
        return []
    running = [one for one in making.active(at) if is_a(one.drug, rules().thinning.platelets)]
    kept = next((one for one in running if is_a(one.drug, rules().thinning.stent)), running[0] if running else None)
    return [one for one in running if kept is not None and one.drug != kept.drug]
