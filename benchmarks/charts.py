"""An invented patient with as many laboratory results as asked for."""

from __future__ import annotations

from wardround.patients import Chart, ChartBuilder, Stream, format_instant, parse_instant

_LABS = (
    ("Creatinine", "mg/dL", "2160-0", "0.5", "1.2"),
    ("Potassium", "mmol/L", "2823-3", "3.5", "5.1"),
    ("Sodium", "mmol/L", "2951-2", "135", "145"),
    ("Hemoglobin", "g/dL", "718-7", "12", "16"),
    ("Platelet Count", "10*3/uL", "777-3", "150", "400"),
    ("Glucose", "mg/dL", "2345-7", "70", "100"),
    ("Urea Nitrogen", "mg/dL", "3094-0", "7", "20"),
    ("INR(PT)", "", "6301-6", "0.9", "1.1"),
)
ANCHOR = "2150-12-30T08:00:00Z"


def builder_of(observations: int) -> ChartBuilder:
    """Return a patient with `observations` labs over a year and a handful of orders; most lie before `ANCHOR`."""
    builder = ChartBuilder("bench", sex="male", birth_date="2085-01-01")
    builder.encounter("stay", "IMP", "2150-01-01T00:00:00Z", "2151-01-01T00:00:00Z")
    stream = Stream("bench-chart", observations)
    first = parse_instant("2150-01-01T06:00:00Z")
    step = (parse_instant("2151-01-01T00:00:00Z") - first) // observations
    for number in range(observations):
        name, unit, loinc, low, high = _LABS[number % len(_LABS)]
        at = format_instant(first + number * step)
        value = f"{1 + stream.below(90) / 10:.1f}"
        builder.lab(name, value, unit or None, at=at, low=low, high=high, loinc=loinc, encounter="stay")
    for drug in ("Warfarin", "Metformin", "Lisinopril", "Furosemide"):
        builder.medication(drug, dose="5 mg", route="oral", frequency="daily", start="2150-01-02T00:00:00Z")
    return builder


def chart_of(observations: int) -> Chart:
    """Return the patient's chart, in memory."""
    return builder_of(observations).chart()
