"""What stands behind a chart in a store and no tool reads: the interviews of its encounters, and its truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson
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
    """Encounter id, digest, and interview as compressed JSON, in the order of the encounters.

    Where an earlier encounter has the same interview (an emergency visit that is part of a stay), the JSON is that
    encounter's id.
    """
    truth: bytes = b""
    """Compressed JSON; empty for none."""


def behind(patient_id: str, interviews: Mapping[str, Interview], truth: Truth | None) -> Behind:
    """Return interviews (by Encounter id, in order) and truth of a chart as the store keeps them."""
    compressor = zstandard.ZstdCompressor(level=LEVEL)
    visits = []
    first: dict[bytes, str] = {}
    for encounter, interview in interviews.items():
        text = interview.model_dump_json().encode()
        same = first.setdefault(text, encounter)
        body = compressor.compress(text if same == encounter else orjson.dumps(same))
        visits.append((encounter, frame_digest(body).hex(), body))
    return Behind(patient_id, tuple(visits), b"" if truth is None else compressor.compress(truth.as_json()))
