"""The physician's words: phrases, discourse, implicit and explicit forms in both languages (docs/sessions.md)."""
