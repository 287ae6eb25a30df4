"""Clinical knowledge as data: schema in `models.py`, files in `data/`, one loader, one lexicon."""

from __future__ import annotations

from .auditing import audit
from .conversion import convert, unit
from .loader import conditions, drug_classes, drugs, findings, labs, lexicon, monitoring, units
from .models import Concept, Condition, Drug, DrugClass, Finding, Lab, Monitoring, MonitoringRule, Range, Unit
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
    "Unit",
    "audit",
    "conditions",
    "convert",
    "drug_classes",
    "drugs",
    "findings",
    "labs",
    "lexicon",
    "monitoring",
    "unit",
    "units",
]
