"""A FHIR R4 server onto charts or a live episode (docs/serve.md). Needs the extra `serve`; nothing else imports it."""

from __future__ import annotations

from .live import LiveEpisode
from .records import ChartRecords, Records
from .running import Listening, Running, serve_charts, serve_episodes
from .scopes import Access, access_of, parse_scopes, roles

__all__ = [
    "Access",
    "ChartRecords",
    "Listening",
    "LiveEpisode",
    "Records",
    "Running",
    "access_of",
    "parse_scopes",
    "roles",
    "serve_charts",
    "serve_episodes",
]
