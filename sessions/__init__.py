"""What is asked: contract in `session.py`, sets in `dataset.py`, made by `generate.py` and checked by `gates.py`."""

from __future__ import annotations

from .dataset import (
    CANARY,
    SessionSet,
    builtin_sets,
    charts_of,
    load_sessions,
    read_sessions,
    save_sessions,
    session_hash,
    session_line,
)
from .gate_plan import doubles
from .gates import Failure, check_session
from .generate import PER_PATIENT, generate
from .gold import opening_context
from .planning.explaining import explain
from .planning.making import GenerationResult
from .planning.scenarios import load_scenario, scenario_names
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
from .sheet import read_table, safe_cell
from .statistics import set_statistics

__all__ = [
    "CANARY",
    "FORMAT",
    "PER_PATIENT",
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
    "charts_of",
    "check_session",
    "doubles",
    "explain",
    "generate",
    "load_scenario",
    "load_sessions",
    "opening_context",
    "read_sessions",
    "read_table",
    "safe_cell",
    "save_sessions",
    "scenario_names",
    "session_hash",
    "session_line",
    "session_schema",
    "set_statistics",
]
