"""The physician's words: what may be left out (`discourse.py`), in which words (`phrases.py`, `worded.py`)."""

from __future__ import annotations

from .limits import faults
from .worded import EVEN, EXPLICIT, PAPER, TYPES, Worded, word_session

__all__ = ["EVEN", "EXPLICIT", "PAPER", "TYPES", "Worded", "faults", "word_session"]
