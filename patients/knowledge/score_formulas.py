"""Scores that are formulas: the arithmetic is here, every constant in `data/scores.json`.

Logarithms and powers are taken in Decimal with fifty digits; no float is involved anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from types import MappingProxyType

from .score_inputs import WIDE, Amount, Given

Parts = dict[str, Decimal]
Formula = Callable[[Mapping[str, Given], Mapping[str, Decimal]], tuple[Decimal, Parts]]
"""(inputs, constants) → (total before the last rounding, its additive parts where the score names any)."""


def _number(given: Mapping[str, Given], name: str) -> Decimal:
    found = given[name]
    if not isinstance(found, Amount):
        raise TypeError(f"`{name}` is no number")  # the schema gives every input one type
    return found.value


def _clamp(value: Decimal, low: Decimal, high: Decimal | None = None) -> Decimal:
    value = max(value, low)
    return value if high is None else min(value, high)


def _ln(value: Decimal) -> Decimal:
    return value.ln(WIDE)


def _power(base: Decimal, exponent: Decimal) -> Decimal:
    return WIDE.exp(WIDE.multiply(exponent, _ln(base)))


def _less(value: Decimal, other: Decimal) -> Decimal:
    return WIDE.subtract(value, other)


def _sum(*terms: Decimal) -> Decimal:
    total = Decimal(0)
    for term in terms:
        total = WIDE.add(total, term)
    return total


def _mul(*factors: Decimal) -> Decimal:
    product = Decimal(1)
    for factor in factors:
        product = WIDE.multiply(product, factor)
    return product


def _creatinine(given: Mapping[str, Given], k: Mapping[str, Decimal]) -> Decimal:
    if given["dialysis"] is True:
        return k["creatinine_cap"]
    return _clamp(_number(given, "creatinine"), k["lower_bound"], k["creatinine_cap"])


def _meld_sum(given: Mapping[str, Given], k: Mapping[str, Decimal]) -> Decimal:
    """Return the sum of logarithms, before it is multiplied by ten and rounded."""
    bilirubin = _clamp(_number(given, "bilirubin"), k["lower_bound"])
    inr = _clamp(_number(given, "inr"), k["lower_bound"])
    return _sum(
        _mul(k["ln_creatinine"], _ln(_creatinine(given, k))),
        _mul(k["ln_bilirubin"], _ln(bilirubin)),
        _mul(k["ln_inr"], _ln(inr)),
        k["constant"],
    )


def _meld(given: Mapping[str, Given], k: Mapping[str, Decimal]) -> tuple[Decimal, Parts]:
    return _clamp(_mul(_meld_sum(given, k), Decimal(10)), k["lowest"], k["highest"]), {}


def _meld_na(given: Mapping[str, Given], k: Mapping[str, Decimal]) -> tuple[Decimal, Parts]:
    """OPTN 2016 rounds the sum to the tenth, multiplies by ten, and only then looks at sodium."""
    tenth = _meld_sum(given, k).quantize(Decimal("0.1"), ROUND_HALF_UP, WIDE)
    # A first part above the cap cannot come out below it, so capping early changes no total and shows a valid MELD.
    first = _clamp(_mul(tenth, Decimal(10)), k["lowest"], k["highest"]).quantize(Decimal(1), ROUND_HALF_UP, WIDE)
    total = first
    if first > k["sodium_from_above"]:
        lack = _less(k["sodium_high"], _clamp(_number(given, "sodium"), k["sodium_low"], k["sodium_high"]))
        total = _less(_sum(first, _mul(k["per_sodium"], lack)), _mul(k["per_meld_sodium"], first, lack))
    total = _clamp(total, k["lowest"], k["highest"])
    rounded = total.quantize(Decimal(1), ROUND_HALF_UP, WIDE)
    return total, {"meld_i": first, "sodium": rounded - first}


def _meld_3(given: Mapping[str, Given], k: Mapping[str, Decimal]) -> tuple[Decimal, Parts]:
    bilirubin = _ln(_clamp(_number(given, "bilirubin"), k["lower_bound"]))
    inr = _ln(_clamp(_number(given, "inr"), k["lower_bound"]))
    creatinine = _ln(_creatinine(given, k))
    sodium = _less(k["sodium_high"], _clamp(_number(given, "sodium"), k["sodium_low"], k["sodium_high"]))
    albumin = _less(k["albumin_high"], _clamp(_number(given, "albumin"), k["albumin_low"], k["albumin_high"]))
    total = _sum(
        k["female"] if given["sex"] == "female" else Decimal(0),
        _mul(k["ln_bilirubin"], bilirubin),
        _mul(k["per_sodium"], sodium),
        _mul(k["per_sodium_ln_bilirubin"], sodium, bilirubin),
        _mul(k["ln_inr"], inr),
        _mul(k["ln_creatinine"], creatinine),
        _mul(k["per_albumin"], albumin),
        _mul(k["per_albumin_ln_creatinine"], albumin, creatinine),
        k["constant"],
    )
    return _clamp(total, k["lowest"], k["highest"]), {}


def _weight(given: Mapping[str, Given], k: Mapping[str, Decimal]) -> Decimal:
    """Return the weight that the rule picks: the weight given, the ideal or the adjusted one, or by body mass index."""
    actual = _number(given, "weight")
    rule = given["weight_rule"]
    if rule == "actual":
        return actual
    height = _number(given, "height")
    inches = WIDE.divide(height, k["cm_per_inch"])
    base = k["ideal_female"] if given["sex"] == "female" else k["ideal_male"]
    ideal = _sum(base, _mul(k["ideal_per_inch"], _less(inches, k["ideal_inches"])))
    adjusted = _sum(ideal, _mul(k["adjusted_share"], _less(actual, ideal)))
    if rule == "ideal":
        return ideal
    if rule == "adjusted":
        return adjusted
    index = WIDE.divide(_mul(actual, Decimal(10000)), _mul(height, height))
    if index < k["bmi_normal"]:
        return actual
    return min(actual, ideal) if index < k["bmi_over"] else adjusted


def _cockcroft_gault(given: Mapping[str, Given], k: Mapping[str, Decimal]) -> tuple[Decimal, Parts]:
    factor = k["female"] if given["sex"] == "female" else Decimal(1)
    above = _mul(_less(k["age_from"], _number(given, "age")), _weight(given, k), factor)
    return WIDE.divide(above, _mul(k["per_creatinine"], _number(given, "creatinine"))), {}


def _ckd_epi_2021(given: Mapping[str, Given], k: Mapping[str, Decimal]) -> tuple[Decimal, Parts]:
    sex = "female" if given["sex"] == "female" else "male"
    ratio = WIDE.divide(_number(given, "creatinine"), k[f"kappa_{sex}"])
    total = _mul(
        k["constant"],
        _power(min(ratio, Decimal(1)), k[f"alpha_{sex}"]),
        _power(max(ratio, Decimal(1)), k["beta"]),
        _power(k["per_year"], _number(given, "age")),
        k["female"] if sex == "female" else Decimal(1),
    )
    return total, {}


def _corrected_calcium(given: Mapping[str, Given], k: Mapping[str, Decimal]) -> tuple[Decimal, Parts]:
    calcium = _number(given, "calcium")
    correction = _mul(k["per_albumin"], _less(k["normal_albumin"], _number(given, "albumin")))
    return _sum(calcium, correction), {"calcium": calcium, "correction": correction}


def _anion_gap(given: Mapping[str, Given], k: Mapping[str, Decimal]) -> tuple[Decimal, Parts]:
    parts = {
        "sodium": _mul(k["sodium"], _number(given, "sodium")),
        "chloride": _mul(k["chloride"], _number(given, "chloride")),
        "bicarbonate": _mul(k["bicarbonate"], _number(given, "bicarbonate")),
    }
    return _sum(*parts.values()), parts


FORMULAS: Mapping[str, Formula] = MappingProxyType(
    {
        "meld": _meld,
        "meld_na": _meld_na,
        "meld_3": _meld_3,
        "cockcroft_gault": _cockcroft_gault,
        "ckd_epi_2021": _ckd_epi_2021,
        "corrected_calcium": _corrected_calcium,
        "anion_gap": _anion_gap,
    }
)


def lacking(formula: str, given: Mapping[str, Given], known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the inputs that the formula needs and does not have."""
    optional: tuple[str, ...] = ()
    if formula == "cockcroft_gault" and given.get("weight_rule") == "actual":
        optional = ("height",)  # only the ideal weight needs it
    return tuple(name for name in known if name not in given and name not in optional)
