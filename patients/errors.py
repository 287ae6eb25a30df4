"""Errors of data and of callers. A model's mistakes are never exceptions: they are observations.

WardroundError
├── DataError    a file, chart or session is wrong; its author must act
└── UsageError   a call or a command is wrong; the caller must act
    └── BusyError    another process is at it; waiting helps
"""

from __future__ import annotations


class WardroundError(Exception):
    """Base of every error this library raises on purpose."""


class DataError(WardroundError):
    """Bad data: the message names file, line, field and remedy."""


class UsageError(WardroundError):
    """Bad call: the message names the argument, its value and the remedy."""


class BusyError(UsageError):
    """Another process is making that file just now: who waits finds it made."""
