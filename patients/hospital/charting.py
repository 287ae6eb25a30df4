"""From a record to a chart: every fact as charted becomes valid R4 with the instant it became known, and its trace.

The id of a resource is `{patient_id}-{fact id}`; what one fact makes several resources of adds a suffix. The stages
stand in `charting_*.py`; each takes the `Desk` and leaves resources and traces there.
"""

from __future__ import annotations

from dataclasses import dataclass

from wardround.patients.chart import Chart, memory_chart
from wardround.patients.fhir import check
from wardround.patients.packing import Check, PackedChart, pack
from wardround.patients.slotted import Sheaf

from .charting_desk import LICENCE, Desk, HospitalBuilder
from .charting_drugs import chart_drugs
from .charting_illness import chart_illness
from .charting_measured import chart_cultures, chart_measured
from .charting_notes import chart_notes
from .charting_person import chart_background, chart_social
from .charting_stays import chart_stays
from .provenance import Trace
from .record import Record

__all__ = ["LICENCE", "Charted", "HospitalBuilder", "chart_record"]


@dataclass(frozen=True, slots=True)
class Charted:
    """A chart being written, and what every part of it rests on."""

    builder: HospitalBuilder
    provenance: tuple[Trace, ...]
    sheaves: tuple[Sheaf, ...] = ()
    """Results made from templates (`swift=True`): they are not among the builder's resources."""

    def packed(self, validator: Check = check) -> PackedChart:
        """Validate and pack the chart.

        Args:
            validator: Returns the problems of a resource; a `Validator` counts and samples.

        Raises:
            DataError: A resource is not valid R4; the problems are listed.
        """
        builder = self.builder
        return pack(builder.patient_id, builder.resources(), builder.licence, validator, self.sheaves, validator)

    def chart(self) -> Chart:
        """Return the chart, in memory."""
        return memory_chart(self.packed())


def chart_record(record: Record, *, swift: bool = False) -> Charted:
    """Return the chart of a record.

    Args:
        record: The life as charted, its notes and reports.
        swift: Results and doses come as sheaves of checked templates, for building many charts; the packed chart is
            the same, byte for byte.

    Raises:
        DataError: A study has no report, or a fact refers to one that is not there.
    """
    desk = Desk(record, swift=swift)
    chart_stays(desk)
    chart_illness(desk)
    chart_background(desk)
    chart_measured(desk)
    chart_cultures(desk)
    chart_drugs(desk)
    chart_social(desk)
    chart_notes(desk)
    return Charted(desk.builder, tuple(desk.traces), tuple(sheaf for sheaf in desk.sheaves if len(sheaf)))
