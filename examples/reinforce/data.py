"""The sessions to train on: a part of the train set's patients, made once in a folder; split by patient."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from wardround import load_charts, load_sessions
from wardround.patients import ChartStore, build_hospital
from wardround.sessions import Session, generate, save_sessions

# hospital-v1/train (docs/hospital.md): patients 300 to 1299 of this seed; a patient depends on seed and index alone
_SEED, _FIRST, _MANY = 20250, 300, 60


def part_of_train(folder: Path) -> tuple[tuple[Session, ...], ChartStore]:
    """Return sessions of the first patients of `hospital-v1/train`, made as the train set's are.

    Args:
        folder: Where charts and sessions are kept; what is there is used again.
    """
    folder.mkdir(parents=True, exist_ok=True)
    charts, sessions = folder / "charts.sqlite", folder / "sessions.jsonl"
    if not sessions.exists():
        print(f"making {_MANY} patients and their sessions in {folder} (once; some minutes)", file=sys.stderr)
        if not charts.exists():
            build_hospital(charts, _SEED, range(_FIRST, _FIRST + _MANY))
        with load_charts(str(charts)) as store:
            made = generate(store, seed=1, split="train", use="train", per_patient=5)
        save_sessions(sessions, made.sessions)
    return load_sessions(str(sessions)).sessions, load_charts(str(charts))


def split(sessions: Sequence[Session]) -> tuple[tuple[Session, ...], tuple[Session, ...]]:
    """Return the sessions to train on and those of every third patient, which are never trained on."""
    patients = sorted({session.chart.patient for session in sessions})
    kept = set(patients[::3])
    seen = tuple(one for one in sessions if one.chart.patient not in kept)
    return seen, tuple(one for one in sessions if one.chart.patient in kept)
