"""What is asked: contract in `session.py`, sets in `dataset.py`, made by `generate.py` and checked by `gates.py`."""

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
from .gate_plan import doubles
from .gates import Failure, check_session
from .generate import GenerationResult, generate
from .gold import opening_context
from .scenario import load_scenario, scenario_names
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
from .statistics import set_statistics

__all__ = [
    "CANARY",
    "FORMAT",
    "Antecedent",
    "Budget",
    "ChartRef",
    "Failure",
    "GenerationResult",
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
    "check_session",
    "doubles",
    "generate",
    "load_scenario",
    "load_sessions",
    "opening_context",
    "read_sessions",
    "save_sessions",
    "scenario_names",
    "session_hash",
    "session_line",
    "session_schema",
    "set_statistics",
]
