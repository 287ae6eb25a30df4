"""What is asked: contract in `session.py`, sets in `dataset.py`."""

from __future__ import annotations

from .dataset import (
    CANARY,
    SessionSet,
    builtin_sets,
    load_sessions,
    read_sessions,
    save_sessions,
    session_hash,
    session_line,
)
from .session import (
    FORMAT,
    Antecedent,
    Budget,
    ChartRef,
    Gold,
    GoldCall,
    Provenance,
    Query,
    Session,
    Turn,
    ViewRule,
    Wording,
    session_schema,
)

__all__ = [
    "CANARY",
    "FORMAT",
    "Antecedent",
    "Budget",
    "ChartRef",
    "Gold",
    "GoldCall",
    "Provenance",
    "Query",
    "Session",
    "SessionSet",
    "Turn",
    "ViewRule",
    "Wording",
    "builtin_sets",
    "load_sessions",
    "read_sessions",
    "save_sessions",
    "session_hash",
    "session_line",
    "session_schema",
]
