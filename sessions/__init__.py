"""What is asked: contract in `session.py`."""

from __future__ import annotations

from .session import FORMAT, Session, Turn, session_schema

__all__ = ["FORMAT", "Session", "Turn", "session_schema"]
