"""Clinical knowledge as data: schema in `models.py`, files in `data/`, one loader, one lexicon."""

from __future__ import annotations

from .auditing import audit
from .clinical_scores import compute, score_of, scores, sum_points
from .conversion import convert, unit
from .loader import conditions, drug_classes, drugs, findings, labs, lexicon, monitoring, units
from .models import Concept, Condition, Drug, DrugClass, Finding, Lab, Monitoring, MonitoringRule, Range, Unit
from .score_models import Score, ScoreResult
from .terms import Lexicon, Mention

__all__ = [
    "Concept",
    "Condition",
    "Drug",
    "DrugClass",
    "Finding",
    "Lab",
    "Lexicon",
    "Mention",
    "Monitoring",
    "MonitoringRule",
    "Range",
    "Score",
    "ScoreResult",
    "Unit",
    "audit",
    "compute",
    "conditions",
    "convert",
    "drug_classes",
    "drugs",
    "findings",
    "labs",
    "lexicon",
    "monitoring",
    "score_of",
    "scores",
    "sum_points",
    "unit",
    "units",
]
