"""The built-in set on the ward's patients: the hand-written Session A and the sessions made by rule.

`python -m wardround.sessions.ward` writes `data/ward.jsonl` anew; a test compares the file with what is made.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Final

import orjson

from wardround.patients import ChartStore, DataError, load_charts

from .dataset import CANARY, save_sessions
from .generate import generate
from .session import ChartRef, Provenance, Session

SEED: Final = 7
PER_PATIENT: Final = 4
_HAND: Final = "session_a.json"


def session_a(store: ChartStore) -> Session:
    """Return the hand-written session for the ward's charts: its shape is that of PhysAssistBench's figure F1.

    Args:
        store: The ward's charts; the file holds neither chart hash nor interview, which are the store's.

    Raises:
        DataError: The ward has no interview for its patient.
    """
    document = orjson.loads(files("wardround.sessions").joinpath("data", _HAND).read_bytes())
    patient = document.pop("patient")
    chart, interview = store.chart(patient), store.interview(patient)
    if interview is None:
        raise DataError(f"{_HAND}: patient `{patient}` has no authored interview in the ward")
    document["labels"] = {"canary": CANARY, **document["labels"]}
    document |= {
        "chart": ChartRef(patient=patient, hash=chart.hash),
        "licence": chart.licence,
        "persona": interview.persona,
        "interview": interview,
        "provenance": Provenance(generator="by hand", version="1", seed=0),
    }
    return Session.model_validate(document)


def ward_sessions() -> tuple[Session, ...]:
    """Return the built-in set: Session A first, then the sessions made by rule."""
    with load_charts("ward") as store:
        made = generate(store, seed=SEED, per_patient=PER_PATIENT).sessions
        return (session_a(store), *sorted(made, key=lambda one: (one.chart.patient, one.id)))


def main() -> None:
    """Write `data/ward.jsonl` into this checkout."""
    made = save_sessions(Path(__file__).parent / "data" / "ward.jsonl", ward_sessions())
    print(f"{len(made)} sessions, {made.hash}")


if __name__ == "__main__":
    main()
