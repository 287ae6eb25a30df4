"""Clinical knowledge as data: schema in `models.py`, files in `data/`, one loader, one lexicon."""

from __future__ import annotations

from .auditing import audit
from .bedside import drug_profiles
from .bedside_models import AdverseEffect, Contraindication, DoseRule, DrugProfile, Interaction, OrganRule
from .clinical_scores import compute, score_of, scores, sum_points
from .conversion import convert, unit
from .drug_amounts import DoseAmount, dose_amount, times_a_day
from .loader import conditions, drug_classes, drugs, findings, labs, lexicon, monitoring, units
from .models import Concept, Condition, Drug, DrugClass, Finding, Lab, Monitoring, MonitoringRule, Names, Range, Unit
from .score_models import Score, ScoreResult
from .terms import Lexicon, Mention

__all__ = [
    "AdverseEffect",
    "Concept",
    "Condition",
    "Contraindication",
    "DoseAmount",
    "DoseRule",
    "Drug",
    "DrugClass",
    "DrugProfile",
    "Finding",
    "Interaction",
    "Lab",
    "Lexicon",
    "Mention",
    "Monitoring",
    "MonitoringRule",
    "Names",
    "OrganRule",
    "Range",
    "Score",
    "ScoreResult",
    "Unit",
    "audit",
    "compute",
    "conditions",
    "convert",
    "dose_amount",
    "drug_classes",
    "drug_profiles",
    "drugs",
    "findings",
    "labs",
    "lexicon",
    "monitoring",
    "score_of",
    "scores",
    "sum_points",
    "times_a_day",
    "unit",
    "units",
]
