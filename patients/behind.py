"""What stands behind a chart in a store and no tool reads: the interviews of its encounters, and its truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import zstandard

from .assembling import LEVEL, frame_digest
from .interview import Interview

if TYPE_CHECKING:
    from wardround.patients.hospital.truth import Truth


@dataclass(frozen=True, slots=True)
class Behind:
    """Interviews and truth of one patient, ready to be written; it pickles."""

    patient_id: str
    visits: tuple[tuple[str, str, bytes], ...] = ()
    """Encounter id, digest, and interview as compressed JSON, in the order of the encounters."""
    truth: bytes = b""
    """Compressed JSON; empty for none."""


def behind(patient_id: str, interviews: Mapping[str, Interview], truth: Truth | None) -> Behind:
    """Return interviews (by Encounter id, in order) and truth of a chart as the store keeps them."""
    compressor = zstandard.ZstdCompressor(level=LEVEL)
    visits = []
    for encounter, interview in interviews.items():
        body = compressor.compress(interview.model_dump_json().encode())
        visits.append((encounter, frame_digest(body).hex(), body))
    return Behind(patient_id, tuple(visits), b"" if truth is None else compressor.compress(truth.as_json()))
