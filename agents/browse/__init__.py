"""One HTML page of a session set, to read and to review (docs/browse.md)."""

from __future__ import annotations

from .page import SessionPageMade, write_session_page

__all__ = ["SessionPageMade", "write_session_page"]
