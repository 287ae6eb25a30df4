"""Who acts: contract in `agent.py`; runs and their tables in `evaluate.py`."""

from __future__ import annotations

from .agent import Action, Agent, AgentFactory, Answer
from .checking import check_set
from .evaluate import EvaluationPlan, How, evaluate, tables
from .registry import AGENTS, AgentSpec, find_agent
from .rescore import rescore
from .results import RunFolder, clear_run, read_records, run_hash
from .rollout import Record, Setting, Task, Worker, advance, make_tasks, play

__all__ = [
    "AGENTS",
    "Action",
    "Agent",
    "AgentFactory",
    "AgentSpec",
    "Answer",
    "EvaluationPlan",
    "How",
    "Record",
    "RunFolder",
    "Setting",
    "Task",
    "Worker",
    "advance",
    "check_set",
    "clear_run",
    "evaluate",
    "find_agent",
    "make_tasks",
    "play",
    "read_records",
    "rescore",
    "run_hash",
    "tables",
]
