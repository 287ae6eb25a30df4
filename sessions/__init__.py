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
from .gold import GoldTurn, opening_context, play_gold, snapshot_of
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
from .sheet import SHEET_COLUMNS, VERDICTS, SheetRow, read_table, safe_cell, sample_sessions, sheet_rows
from .statistics import set_statistics

__all__ = [
    "CANARY",
    "FORMAT",
    "PER_PATIENT",
    "SHEET_COLUMNS",
    "VERDICTS",
    "Antecedent",
    "Budget",
    "ChartRef",
    "Failure",
    "GenerationResult",
    "Gold",
    "GoldCall",
    "GoldTurn",
    "Provenance",
    "Query",
    "Session",
    "SessionSet",
    "SheetRow",
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
    "play_gold",
    "read_sessions",
    "read_table",
    "safe_cell",
    "sample_sessions",
    "save_sessions",
    "scenario_names",
    "session_hash",
    "session_line",
    "session_schema",
    "set_statistics",
    "sheet_rows",
    "snapshot_of",
]
