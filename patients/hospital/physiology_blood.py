"""White cells of one draw: shares that sum to 100 and follow the white count."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .physiology_core import MICRO

CLASSES = ("neutrophils_pct", "lymphocytes_pct", "monocytes_pct", "eosinophils_pct", "basophils_pct")
IMMATURE = (
    "bands", "metamyelocytes", "myelocytes", "promyelocytes", "blasts", "atypical_lymphocytes", "immature_granulocytes",
)  # fmt: skip
"""Counted by hand now and then; where they are, they count towards the 100."""
_TENTHS = 1000
_FLOOR = 30_000
"""Least weight of a class: three hundredths of a percent."""


def differential(
    latent: Callable[[str], int],
    calm: Callable[[str], int],
    own: Callable[[str], int],
    counted: Mapping[str, int] | None = None,
) -> dict[str, int]:
    """Return the share of each class in millionths of a percent; in tenths of a percent they sum to 100.

    More cells than usual are mostly neutrophils, missing ones mostly too; a class that an illness moves by itself
    keeps its share and the others make room.

    Args:
        latent: True values in millionths.
        calm: Values without illness.
        own: How far shifts of the value itself move it.
        counted: Reported shares of the classes of `IMMATURE` that are counted too.
    """
    ratio = latent("wbc") * 100 // max(calm("wbc") // 100, 1) * 100  # white count by its calm value, in millionths
    weights = {lab: max(calm(lab), _FLOOR) for lab in CLASSES}
    more = (ratio - MICRO) * 100
    if more > 0:
        weights["neutrophils_pct"] += more * 92 // 100
        weights["monocytes_pct"] += more * 6 // 100
    else:
        weights["neutrophils_pct"] = max(
            weights["neutrophils_pct"] + more * 70 // 100, weights["neutrophils_pct"] // 12
        )
        weights["lymphocytes_pct"] = max(weights["lymphocytes_pct"] + more * 22 // 100, weights["lymphocytes_pct"] // 5)
    total = sum(weights.values())
    shares = {lab: weight * 100 * MICRO // total for lab, weight in weights.items()}
    _moved(shares, latent, calm, own)
    fixed = {lab: value // 100_000 for lab, value in (counted or {}).items()}
    return {lab: tenths * 100_000 for lab, tenths in _tenths(shares, fixed).items()}


def _moved(
    shares: dict[str, int], latent: Callable[[str], int], calm: Callable[[str], int], own: Callable[[str], int]
) -> None:
    """Put classes with shifts of their own where these take them, at least; the others share the rest."""
    held: dict[str, int] = {}
    for lab in CLASSES:
        way = own(lab)
        if way:
            there = latent(lab)
            held[lab] = max(there, shares[lab]) if way > 0 else min(there, shares[lab])
    if not held:
        return
    taken = sum(held.values())
    if taken > 97 * MICRO:
        held = {lab: value * 97 * MICRO // taken for lab, value in held.items()}
        taken = sum(held.values())
    others = [lab for lab in CLASSES if lab not in held]
    left = sum(shares[lab] for lab in others)
    for lab in others:
        shares[lab] = shares[lab] * (100 * MICRO - taken) // max(left, 1)
    shares.update(held)


def _tenths(shares: dict[str, int], fixed: dict[str, int]) -> dict[str, int]:
    """Round shares to tenths of a percent that sum to 1000 with `fixed`: the largest remainders get what is left."""
    room = max(_TENTHS - sum(fixed.values()), 0)
    total = max(sum(shares.values()), 1)
    parts = {lab: divmod(value * room, total) for lab, value in shares.items()}
    out = {lab: whole for lab, (whole, _) in parts.items()}
    short = room - sum(out.values())
    for lab in sorted(parts, key=lambda one: (-parts[one][1], one))[:short]:
        out[lab] += 1
    return out | fixed
