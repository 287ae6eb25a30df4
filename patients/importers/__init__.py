"""Ways in: importers from MIMIC-IV CSV and from FHIR R4 bundles and NDJSON."""

from __future__ import annotations

from .fhir import import_fhir
from .mimic import import_mimic
from .report import ImportReport, Refusal, TableReport

__all__ = ["ImportReport", "Refusal", "TableReport", "import_fhir", "import_mimic"]
