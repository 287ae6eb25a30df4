"""Ways in: importers from MIMIC-IV CSV and, later, FHIR bundles."""

from __future__ import annotations

from .mimic import import_mimic
from .report import ImportReport, Refusal, TableReport

__all__ = ["ImportReport", "Refusal", "TableReport", "import_mimic"]
