"""The tables that are imported, in the order in which a patient's resources are made.

A table of MIMIC-IV is added by writing a mapper (`_mapper.TableMapper`) and naming its class here.
"""

from __future__ import annotations

from collections.abc import Callable

from ._mapper import TableMapper
from .chartevents import Charted
from .demographics import Demographics
from .diagnoses import Diagnoses
from .drg import DrgCodes
from .edfacts import EdDiagnoses, Pyxis
from .edmeds import Medrecon
from .emar import Emar
from .inputs import Ingredients, Inputs
from .labs import Labs
from .microbiology import Microbiology
from .notes import DischargeNotes
from .outputs import Datetimes, Outputs
from .poe import Orders
from .prescriptions import Prescriptions
from .procedures import CodedProcedures, IcuProcedures
from .radiology import RadiologyReports
from .vitals import EdVitals, Omr

MAPPERS: tuple[Callable[[], TableMapper], ...] = (
    Demographics, Diagnoses, DrgCodes, Prescriptions, Orders, Labs, Microbiology, Emar, CodedProcedures, IcuProcedures,
    Outputs, Datetimes, EdVitals, EdDiagnoses, Pyxis, Omr, Medrecon, Charted, Inputs, Ingredients,
    DischargeNotes, RadiologyReports,
)  # fmt: skip
"""`Demographics` comes first: the others need the admissions it reads."""

LEFT_OUT = {
    "d_hcpcs": "its texts are CPT's, whose licence does not let them be carried",
    "hcpcsevents": "its texts are CPT's, whose licence does not let them be carried",
}
"""Tables that stay out for a reason; the report names table and reason."""

REQUIRED = ("patients", "admissions")
"""Tables without which nothing can be placed; the others are named and skipped where they are missing."""
