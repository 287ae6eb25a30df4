"""FHIR R4 search over a record: exact, complete, and blind to what came later than the anchor (docs/search.md)."""

from __future__ import annotations

from .definitions import Parameter, compartment, parameters, searchable
from .errors import Issue, SearchError
from .pooling import Pool
from .restriction import Visibility
from .search import SearchResult, fhir_search

__all__ = [
    "Issue",
    "Parameter",
    "Pool",
    "SearchError",
    "SearchResult",
    "Visibility",
    "compartment",
    "fhir_search",
    "parameters",
    "searchable",
]
