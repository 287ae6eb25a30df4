"""Values that are computed from other values, as laboratories do: each formula reads what is reported beside it.

A formula gets `read`, which gives the value of another lab in millionths of its unit: the reported one for a result,
the true one for `Body.value`; and its subject's `latent`, which gives what the body itself does before anything is
measured or rounded. It returns millionths, or None where nothing is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from .documents import Frozen, read_document
from .life import Person
from .physiology_blood import CLASSES, differential
from .physiology_core import CONTEXT, MICRO, decimal, micro, raised

Read = Callable[[str], int]


class _Document(Frozen):
    """The content of `data/physiology.json`."""

    format_version: int
    assumption: bool
    note: str
    oxygen_curve: tuple[tuple[int, int], ...]
    """Saturation in percent and pO2 in mmHg, rising to 100 percent."""


@cache
def oxygen_curve() -> tuple[tuple[int, int], ...]:
    """Return the dissociation curve of `data/physiology.json`."""
    return _Document.model_validate_json(read_document("physiology.json")).oxygen_curve


class Subject(NamedTuple):
    """Who a formula is about, at the instant of the draw."""

    person: Person
    age: int
    latent: Read
    calm: Read
    own: Read
    """As in `Moment`: what the value would be in health, and how far its own shifts move it."""
    extras: tuple[str, ...] = ()
    """Further classes of white cells that are counted in this draw."""


class Formula(NamedTuple):
    """A formula and the labs that it reads."""

    compute: Callable[[Subject, Read], int | None]
    reads: tuple[str, ...]


def egfr_of(creatinine: Decimal, sex: str, age: int) -> Decimal:
    """Return the glomerular filtration rate by CKD-EPI 2021 in mL/min/1.73 m2, for a creatinine in mg/dL.

    Examples:
        >>> round(egfr_of(Decimal("1.0"), "female", 60))
        64
    """
    kappa, alpha = (Decimal("0.7"), Decimal("-0.241")) if sex == "female" else (Decimal("0.9"), Decimal("-0.302"))
    ratio = CONTEXT.divide(creatinine, kappa)
    power = raised(ratio, alpha if ratio < 1 else Decimal("-1.200"))
    value = CONTEXT.multiply(CONTEXT.multiply(Decimal(142), power), raised(Decimal("0.9938"), Decimal(age)))
    return CONTEXT.multiply(value, Decimal("1.012")) if sex == "female" else value


def ph_of(bicarbonate: Decimal, pco2: Decimal) -> Decimal:
    """Return the pH by Henderson and Hasselbalch for meq/L and mmHg.

    Examples:
        >>> round(ph_of(Decimal(24), Decimal(40)), 2)
        Decimal('7.39')
    """
    ratio = CONTEXT.divide(bicarbonate, CONTEXT.multiply(Decimal("0.0307"), pco2))
    return CONTEXT.add(Decimal("6.1"), CONTEXT.log10(ratio))


def _egfr(subject: Subject, read: Read) -> int | None:
    creatinine = read("creatinine")
    if subject.age < 18 or creatinine <= 0:
        return None
    return micro(egfr_of(decimal(creatinine), subject.person.sex, subject.age))


def _clearance(subject: Subject, read: Read) -> int | None:
    creatinine = read("creatinine")
    if subject.age < 18 or creatinine <= 0:
        return None
    top = (140 - min(subject.age, 139)) * read("weight")
    value = top * MICRO // (72 * creatinine)
    return value * 85 // 100 if subject.person.sex == "female" else value


def _ph(subject: Subject, read: Read) -> int | None:
    return micro(ph_of(decimal(max(read("bicarbonate"), MICRO)), decimal(max(read("pco2"), MICRO))))


def _base_excess(subject: Subject, read: Read) -> int | None:
    """Siggaard-Andersen's, for the bicarbonate and the pH beside it."""
    acidity = _ph(subject, read)
    assert acidity is not None
    away = read("bicarbonate") - 24_400_000 + (acidity - 7_400_000) * 148 // 10
    return away * 93 // 100


def _anion_gap(subject: Subject, read: Read) -> int | None:
    """Without potassium."""
    return read("sodium") - read("chloride") - read("bicarbonate")


def _osmolality(subject: Subject, read: Read) -> int | None:
    """The measured one: what is dissolved, ethanol with it, and a person's own rest."""
    known = 2 * read("sodium") + read("glucose") * 10 // 180 + read("urea_nitrogen") * 10 // 28
    return known + read("ethanol_level") * 10 // 37 + subject.latent("osmolality") - 284 * MICRO


def _corrected_calcium(subject: Subject, read: Read) -> int | None:
    return read("calcium") + (4 * MICRO - read("albumin")) * 8 // 10


def _rbc(subject: Subject, read: Read) -> int | None:
    return read("hematocrit") * 10 * MICRO // max(subject.latent("mcv"), MICRO)


def _rdw_sd(subject: Subject, read: Read) -> int | None:
    """Width at a fifth of the height: about 3.7 standard deviations."""
    return read("rdw") * read("mcv") // MICRO * 37 // 1000


def _over(top: int, bottom: int) -> int | None:
    return None if bottom <= 0 else top * MICRO // bottom


def _hematocrit(subject: Subject, read: Read) -> int | None:
    """From haemoglobin and how densely the cells are filled; three times it, within nine tenths."""
    hemoglobin = read("hemoglobin")
    value = hemoglobin * 100 * MICRO // max(subject.latent("mchc"), MICRO)
    return max(3 * hemoglobin - 900_000, min(3 * hemoglobin + 900_000, value))


def _pt(subject: Subject, read: Read) -> int | None:
    return subject.latent("inr") * 11


def _inr(subject: Subject, read: Read) -> int | None:
    return read("pt") // 11


def _pta(subject: Subject, read: Read) -> int | None:
    """Prothrombin activity falls with one over the INR."""
    part = _over(100 * MICRO, read("inr"))
    return None if part is None else min(part, 120 * MICRO)


def _bilirubin_indirect(subject: Subject, read: Read) -> int | None:
    return max(0, read("bilirubin_total") - read("bilirubin_direct"))


def _bilirubin_direct(subject: Subject, read: Read) -> int | None:
    return min(max(0, subject.latent("bilirubin_direct")), read("bilirubin_total") * 9 // 10)


def _cholesterol(subject: Subject, read: Read) -> int | None:
    return subject.latent("ldl") + read("hdl") + read("triglycerides") // 5


def _ldl(subject: Subject, read: Read) -> int | None:
    """Friedewald's; not reported from 400 mg/dL of triglycerides."""
    triglycerides = read("triglycerides")
    if triglycerides >= 400 * MICRO:
        return None
    return read("cholesterol_total") - read("hdl") - triglycerides // 5


def _total_protein(subject: Subject, read: Read) -> int | None:
    return read("albumin") + read("globulin")


def _transferrin(subject: Subject, read: Read) -> int | None:
    return read("tibc") * 10 // 13


def _average_glucose(subject: Subject, read: Read) -> int | None:
    return read("hba1c") * 287 // 10 - 46_700_000


def _map(subject: Subject, read: Read) -> int | None:
    return (read("systolic_bp") + 2 * read("diastolic_bp")) // 3


def _bmi(subject: Subject, read: Read) -> int | None:
    height = read("height")
    return None if height <= 0 else read("weight") * 10_000 * MICRO // (height * height // MICRO)


def _po2(subject: Subject, read: Read) -> int | None:
    """The dissociation curve backwards; beyond 21 % of oxygen the top is open."""
    saturation = min(subject.latent("spo2"), 100 * MICRO)
    (low, low_po2), (high, high_po2) = next(
        part for part in pairwise(oxygen_curve()) if saturation <= part[1][0] * MICRO
    )
    value = low_po2 * MICRO + (saturation - low * MICRO) * (high_po2 - low_po2) // (high - low)
    rich = read("fio2") - 21 * MICRO
    if rich > 0 and saturation > 95 * MICRO:
        value += rich * 2 * (saturation - 95 * MICRO) // (5 * MICRO)
    return value


def _gcs_eye(subject: Subject, read: Read) -> int | None:
    return _part(read("gcs"), 4, 15)


def _gcs_verbal(subject: Subject, read: Read) -> int | None:
    return read("gcs") - read("gcs_eye") - read("gcs_motor")


def _gcs_motor(subject: Subject, read: Read) -> int | None:
    """What is left when the eyes and then the words are given their part; speech lies between 1 and 5."""
    left = read("gcs") - read("gcs_eye")
    best = _part(read("gcs"), 6, 15)
    return max(min(best, left - MICRO), left - 5 * MICRO)


def _part(total: int, most: int, of: int) -> int:
    """Return the share of a score above its least, rounded half up."""
    above = (total - 3 * MICRO) * (most - 1)
    whole = (above + (of - 3) * MICRO // 2) // ((of - 3) * MICRO)
    return (1 + whole) * MICRO


def _venous_pco2(subject: Subject, read: Read) -> int | None:
    return read("pco2") + 6 * MICRO


def _venous_ph(subject: Subject, read: Read) -> int | None:
    return micro(ph_of(decimal(max(read("bicarbonate"), MICRO)), decimal(max(read("venous_pco2"), MICRO))))


def _etco2(subject: Subject, read: Read) -> int | None:
    return max(read("pco2") - 4 * MICRO, 0)


def _fev1(subject: Subject, read: Read) -> int | None:
    """The person's share of the vital capacity, and what an illness takes from it."""
    capacity = read("fvc")
    value = capacity * subject.latent("fev1_fvc") // (100 * MICRO) + subject.own("fev1")
    return max(capacity // 5, min(value, capacity * 95 // 100))


def _urine_albumin(subject: Subject, read: Read) -> int | None:
    return subject.latent("uacr") * read("urine_creatinine") // (1000 * MICRO)


def _nitrite(subject: Subject, read: Read) -> int | None:
    return min(subject.latent("urine_nitrite"), read("urine_bacteria"))


def _share(lab: str) -> Callable[[Subject, Read], int | None]:
    def compute(subject: Subject, read: Read) -> int | None:
        counted = {one: read(one) for one in subject.extras}
        return differential(subject.latent, subject.calm, subject.own, counted)[lab]

    return compute


def _same(lab: str) -> Formula:
    """The value of another lab under a name of its own."""
    return Formula(lambda _, read: read(lab), (lab,))


def _ratio(top: str, bottom: str, times: int = 1) -> Formula:
    """One value over another; not reported where the lower one is nothing."""
    return Formula(lambda _, read: _over(read(top) * times, read(bottom)), (top, bottom))


def _white(lab: str) -> Formula:
    """An absolute count from the white count and a share of it."""
    return Formula(lambda _, read: read("wbc") * read(lab) // (100 * MICRO), ("wbc", lab))


FORMULAS: Mapping[str, Formula] = MappingProxyType(
    {
        "egfr": Formula(_egfr, ("creatinine",)),
        "clearance": Formula(_clearance, ("creatinine", "weight")),
        "ph": Formula(_ph, ("bicarbonate", "pco2")),
        "base_excess": Formula(_base_excess, ("bicarbonate", "pco2")),
        "anion_gap": Formula(_anion_gap, ("sodium", "chloride", "bicarbonate")),
        "osmolality": Formula(_osmolality, ("sodium", "glucose", "urea_nitrogen", "ethanol_level")),
        "corrected_calcium": Formula(_corrected_calcium, ("calcium", "albumin")),
        "hematocrit": Formula(_hematocrit, ("hemoglobin",)),
        "rbc": Formula(_rbc, ("hematocrit",)),
        "mcv": _ratio("hematocrit", "rbc", 10),
        "mch": _ratio("hemoglobin", "rbc", 10),
        "mchc": _ratio("hemoglobin", "hematocrit", 100),
        "rdw_sd": Formula(_rdw_sd, ("rdw", "mcv")),
        "pt": Formula(_pt, ()),
        "inr": Formula(_inr, ("pt",)),
        "pta": Formula(_pta, ("inr",)),
        "bilirubin_direct": Formula(_bilirubin_direct, ("bilirubin_total",)),
        "bilirubin_indirect": Formula(_bilirubin_indirect, ("bilirubin_total", "bilirubin_direct")),
        "cholesterol": Formula(_cholesterol, ("hdl", "triglycerides")),
        "ldl": Formula(_ldl, ("cholesterol_total", "hdl", "triglycerides")),
        "cholesterol_ratio": _ratio("cholesterol_total", "hdl"),
        "total_protein": Formula(_total_protein, ("albumin", "globulin")),
        "tsat": _ratio("iron", "tibc", 100),
        "transferrin": Formula(_transferrin, ("tibc",)),
        "average_glucose": Formula(_average_glucose, ("hba1c",)),
        "map": Formula(_map, ("systolic_bp", "diastolic_bp")),
        "bmi": Formula(_bmi, ("weight", "height")),
        "shock_index": _ratio("heart_rate", "systolic_bp"),
        "saturation_gas": _same("spo2"),
        "po2": Formula(_po2, ("spo2", "fio2")),
        "pf_ratio": _ratio("po2", "fio2", 100),
        "fev1_fvc": _ratio("fev1", "fvc", 100),
        "gcs_eye": Formula(_gcs_eye, ("gcs",)),
        "gcs_verbal": Formula(_gcs_verbal, ("gcs", "gcs_eye", "gcs_motor")),
        "gcs_motor": Formula(_gcs_motor, ("gcs", "gcs_eye")),
        "venous_pco2": Formula(_venous_pco2, ("pco2",)),
        "venous_ph": Formula(_venous_ph, ("bicarbonate", "venous_pco2")),
        "etco2": Formula(_etco2, ("pco2",)),
        "fev1": Formula(_fev1, ("fvc",)),
        "urine_albumin": Formula(_urine_albumin, ("urine_creatinine",)),
        "uacr": _ratio("urine_albumin", "urine_creatinine", 1000),
        "fasting_glucose": _same("glucose"),
        "nitrite": Formula(_nitrite, ("urine_bacteria",)),
        **{f"share:{lab}": Formula(_share(lab), ("wbc",)) for lab in CLASSES},
        "anc": _white("neutrophils_pct"),
        "alc": _white("lymphocytes_pct"),
        "amc": _white("monocytes_pct"),
        "aec": _white("eosinophils_pct"),
        "abc_count": _white("basophils_pct"),
    }
)
"""By the name that a profile's `formula` gives."""
