"""What is right to do and why: a module a kind of decision, all of them making `Decision`s (docs/sessions.md)."""
