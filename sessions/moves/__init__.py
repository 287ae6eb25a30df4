"""What one turn is about: a module a kind of source, all of them making `Move`s (docs/sessions.md)."""
