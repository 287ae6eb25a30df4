"""Clinical text → typed claims, English and Chinese: `read(text) -> Reading`."""

from __future__ import annotations

from .claims import ActClaim, Flags, Measured, MentionClaim, StatusClaim, TrendClaim
from .reading import MAX_CHARACTERS, Reading, read

__all__ = [
    "MAX_CHARACTERS",
    "ActClaim",
    "Flags",
    "Measured",
    "MentionClaim",
    "Reading",
    "StatusClaim",
    "TrendClaim",
    "read",
]
