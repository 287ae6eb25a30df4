"""Trainer doors: each a thin view of one `Round`.

`round.py` and `rows.py` need nothing but this library. A door's module is imported by name and needs its trainer:
`skyrl`, `openenv`, `inspect`; `trl` needs none, for TRL takes the class as it is. verifiers has an example project of
its own (`examples/verifiers_project`), for its releases do not go together with OpenEnv's.
"""

from __future__ import annotations

from .round import FORMS, Form, Round, RoundConfig, Step
from .rows import Row, Rows, dataset

__all__ = ["FORMS", "Form", "Round", "RoundConfig", "Row", "Rows", "Step", "dataset"]
