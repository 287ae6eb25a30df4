"""Surface shapes of the physician's queries: one JSON file a group of kinds and language (docs/sessions.md)."""
