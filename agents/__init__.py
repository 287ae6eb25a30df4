"""Who acts: contract in `agent.py`; runs and their tables in `evaluate.py`."""

from __future__ import annotations

from .ablation import VARIATIONS, ablate
from .agent import Action, Agent, AgentFactory, Answer, AsyncAgent, EndpointFault, Invalid
from .agreement import rows_agreement, run_agreement
from .baseline import Baseline, BaselineWithoutMemory
from .browse import SessionPageMade, write_session_page
from .checking import check_set
from .evaluate import EvaluationPlan, How, evaluate
from .export import ExportPlan, export
from .failures import CATEGORIES, failures_of
from .judge_run import is_judged, read_judgements, resolve
from .judging import Asked, JudgeClient, JudgePlan, LiteLLMClient, Reply, judge_all
from .llm import ChatClient, ChatReply, ChatRequest, LlmAgent, ModelPlan
from .registry import AGENTS, AgentSpec, find_agent, is_model
from .report import PageMade, write_report
from .rescore import rescore
from .results import RunFolder, clear_run, read_records, run_hash
from .reviewing import answer_sheet, human_agreement
from .rollout import Record, Worker, advance, play
from .tables import tables, turn_results
from .tasks import Setting, Task, make_tasks

__all__ = [
    "AGENTS",
    "CATEGORIES",
    "VARIATIONS",
    "Action",
    "Agent",
    "AgentFactory",
    "AgentSpec",
    "Answer",
    "Asked",
    "AsyncAgent",
    "Baseline",
    "BaselineWithoutMemory",
    "ChatClient",
    "ChatReply",
    "ChatRequest",
    "EndpointFault",
    "EvaluationPlan",
    "ExportPlan",
    "How",
    "Invalid",
    "JudgeClient",
    "JudgePlan",
    "LiteLLMClient",
    "LlmAgent",
    "ModelPlan",
    "PageMade",
    "Record",
    "Reply",
    "RunFolder",
    "SessionPageMade",
    "Setting",
    "Task",
    "Worker",
    "ablate",
    "advance",
    "answer_sheet",
    "check_set",
    "clear_run",
    "evaluate",
    "export",
    "failures_of",
    "find_agent",
    "human_agreement",
    "is_judged",
    "is_model",
    "judge_all",
    "make_tasks",
    "play",
    "read_judgements",
    "read_records",
    "rescore",
    "resolve",
    "rows_agreement",
    "run_agreement",
    "run_hash",
    "tables",
    "turn_results",
    "write_report",
    "write_session_page",
]
