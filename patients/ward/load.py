"""Reading the ward's files, and the store made from them on first use and kept in the user's cache folder."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from wardround.patients.caching import cached_store, fingerprint
from wardround.patients.dialogue import interview_problems
from wardround.patients.errors import DataError
from wardround.patients.store import ChartStore
from wardround.patients.store_writer import StoreWriter
from wardround.patients.times import Instant, parse_instant
from wardround.patients.ward.build import LICENCE, build_patient
from wardround.patients.ward.record import Catalog, WardPatient

Form = TypeVar("Form", bound=BaseModel)


def ward_patients() -> tuple[WardPatient, ...]:
    """Return the ward's patients as authored, sorted by id.

    Raises:
        DataError: A file is not a ward file; every fault is named with its file and path.
    """
    return tuple(_read(file, WardPatient) for file in _data() if file.name.startswith("ward-"))


def ward_catalog() -> Catalog:
    """Return the names, codes, units and ranges of the ward's labs and vital signs."""
    return _read(next(file for file in _data() if file.name == "catalog.json"), Catalog)


@cache
def ward_anchors() -> dict[str, Instant]:
    """Return, for each patient of the ward, the instant of the round inside the current stay."""
    return {patient.id: parse_instant(patient.anchor) for patient in ward_patients()}


def open_ward() -> ChartStore:
    """Open the ward's charts, building them first where this version has not yet done so.

    The file lies in the cache folder under a name that changes with the data and with the code that packs it, so an
    old or a foreign file is never used. Where no cache folder can be written, it lies in a folder of this process.

    Raises:
        DataError: A ward file is faulty.
    """
    part = files("wardround.patients")
    mark = fingerprint((part / "ward" / "data", part, part / "data", part / "ward"))
    return cached_store(f"ward-{mark}.sqlite", build_ward)


def build_ward(path: Path) -> str:
    """Write the ward's charts and interviews as a store at `path` (atomically) and return its hash.

    Raises:
        DataError: A ward file is faulty.
    """
    catalog, patients = ward_catalog(), ward_patients()
    anchors = {patient.id: patient.anchor for patient in patients}
    writer = StoreWriter(path, licence=LICENCE, provenance={"source": "wardround ward", "anchors": anchors})
    with writer:
        for patient in patients:
            problems = interview_problems(patient.interview)
            if problems:
                raise DataError(f"{patient.id}.json: interview: " + "; ".join(problems))
            builder = build_patient(patient, catalog)
            writer.add(patient.id, builder.resources(), patient.interview)
        return writer.close()


def _read(file: Traversable, form: type[Form]) -> Form:
    try:
        return form.model_validate(orjson.loads(file.read_bytes()))
    except orjson.JSONDecodeError as fault:
        raise DataError(f"{file.name}: not JSON ({fault}); mend the file or install the package again") from fault
    except ValidationError as fault:
        faults = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in fault.errors())
        raise DataError(f"{file.name}: {faults}; mend the file or install the package again") from fault


def _data() -> list[Traversable]:
    folder = files("wardround.patients.ward") / "data"
    return sorted((file for file in folder.iterdir() if file.name.endswith(".json")), key=lambda file: file.name)
