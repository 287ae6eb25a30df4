"""Ways in: importers from MIMIC-IV CSV and, later, FHIR bundles."""
