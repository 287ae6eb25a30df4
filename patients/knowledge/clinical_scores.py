"""Clinical scores: `scores()`, `compute()` and `sum_points()`, exact in Decimal, rounded half up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from types import MappingProxyType

from wardround.patients.errors import UsageError

from .loader import Faults, Source, index_by, read
from .score_formulas import FORMULAS, lacking
from .score_inputs import WIDE, Amount, Given, InputValue, parse_inputs
from .score_models import Band, Component, Condition, Interpretation, MissingPolicy, Score, ScoreResult

_PLACES = Decimal("0.000000000001")


@cache
def scores() -> Mapping[str, Score]:
    """Return the clinical scores by id.

    Raises:
        DataError: the file is not as its schema says; every fault is named with its line.
    """
    source, faults = Source.packaged("scores.json"), Faults()
    found = index_by(source, read(source, Score, faults), faults)
    faults.check()
    return MappingProxyType(found)


def score_of(score_id: str) -> Score:
    """Return one score.

    Raises:
        UsageError: there is none of that id.
    """
    found = scores().get(score_id)
    if found is None:
        raise UsageError(f"unknown score `{score_id}`; known are {', '.join(sorted(scores()))}")
    return found


def compute(score_id: str, inputs: Mapping[str, InputValue], *, missing: MissingPolicy = "zero") -> ScoreResult:
    """Compute a score.

    Args:
        score_id: An id of `scores()`.
        inputs: By input id: True/False, one of the choices, a number in the input's own unit, or (number, unit).
            Numbers are int, Decimal or digits in a string; a float is refused, because it is not what was measured.
        missing: What a component counts that the inputs do not settle. "zero": its least points, as if normal;
            "none": nothing, and the total is None. A formula has no total without all its inputs under either.

    Raises:
        UsageError: the score, an input, its unit or the policy is unknown, or a value is impossible.
    """
    score = score_of(score_id)
    if missing not in ("zero", "none"):
        raise UsageError(f"`missing` must be zero or none, got `{missing}`")
    given, defaulted = parse_inputs(score, inputs)
    if score.formula is not None:
        return _by_formula(score, score.formula, given, defaulted)
    points: dict[str, Decimal | None] = {}
    unsettled, absent = [], list(defaulted)
    for component in score.components:
        found, unknown = _points(component, given)
        absent.extend(name for name in unknown if name not in absent)
        if found is None:
            unsettled.append(component.id)
            found = component.least if missing == "zero" else None
        points[component.id] = found
    return _result(score, points, tuple(unsettled), tuple(absent))


def sum_points(score_id: str, points: Mapping[str, InputValue], *, missing: MissingPolicy = "zero") -> ScoreResult:
    """Add up the components of a point score that somebody else has judged.

    Args:
        score_id: A score with components.
        points: Component id → its points; one left out is missing.
        missing: As in `compute`.

    Raises:
        UsageError: the score has no components, or a component or its points do not exist.
    """
    score = score_of(score_id)
    parts = score.by_component()
    if not parts:
        raise UsageError(f"score `{score_id}` is a formula and has no points to add; use `compute`")
    unknown = sorted(name for name in points if name not in parts)
    if unknown:
        raise UsageError(f"score `{score_id}`: unknown component `{unknown[0]}`; it has {', '.join(parts)}")
    found: dict[str, Decimal | None] = {}
    for name, component in parts.items():
        value = points.get(name)
        if value is None:
            found[name] = component.least if missing == "zero" else None
            continue
        if isinstance(value, bool) or not isinstance(value, int | Decimal) or value not in component.values():
            allowed = ", ".join(str(one) for one in component.values())
            raise UsageError(f"score `{score_id}`, component `{name}`: {value!r} is none of {allowed}")
        found[name] = Decimal(value)
    return _result(score, found, tuple(name for name in parts if points.get(name) is None), ())


def _by_formula(score: Score, name: str, given: Mapping[str, Given], defaulted: tuple[str, ...]) -> ScoreResult:
    lacks = lacking(name, given, tuple(entry.id for entry in score.inputs))
    if lacks:
        return ScoreResult(None, MappingProxyType({}), lacks, (), score.version, absent=defaulted)
    total, parts = FORMULAS[name](given, score.constants)
    rounded = total.quantize(Decimal(1).scaleb(-score.places), ROUND_HALF_UP, WIDE)
    return ScoreResult(
        total=rounded,
        components=MappingProxyType(dict(parts)),
        missing=(),
        interpretation=tuple(_bands(score, rounded, {})),
        version=score.version,
        absent=defaulted,
        unrounded=total.quantize(_PLACES, ROUND_HALF_UP, WIDE),
    )


def _result(
    score: Score, points: Mapping[str, Decimal | None], missing: tuple[str, ...], absent: tuple[str, ...]
) -> ScoreResult:
    counted = [value for value in points.values() if value is not None]
    total = sum(counted, Decimal(0)) if len(counted) == len(points) else None
    return ScoreResult(
        total=total,
        components=MappingProxyType(dict(points)),
        missing=missing,
        interpretation=() if total is None else tuple(_bands(score, total, points)),
        version=score.version,
        absent=absent,
    )


def _bands(score: Score, total: Decimal, points: Mapping[str, Decimal | None]) -> Iterator[Interpretation]:
    for reading in score.readings:
        for band in reading.bands:
            if _inside(band, total, points):
                yield Interpretation(reading.id, band.id, band.name)
                break


def _inside(band: Band, total: Decimal, points: Mapping[str, Decimal | None]) -> bool:
    if band.at_least is not None and total < band.at_least:
        return False
    if band.above is not None and total <= band.above:
        return False
    most = band.component_at
    return most is None or any(value is not None and value >= most for value in points.values())


def _points(component: Component, given: Mapping[str, Given]) -> tuple[Decimal | None, list[str]]:
    """Return the points (None where the inputs do not settle them) and the absent inputs that could raise them.

    A condition on an absent input is unknown: it neither holds nor fails.
    """
    unknown: list[str] = []
    for rule in component.rules:
        for group in rule.any:
            truths = [_holds(condition, given) for condition in group]
            if all(truths):
                return rule.points, unknown
            if False not in truths:
                unknown.extend(one.input for one in group if one.input not in given and one.input not in unknown)
    needs = component.needs or (tuple(dict.fromkeys(one.input for one in component.conditions())),)
    settled = any(all(name in given for name in group) for group in needs)
    return (component.least if settled else None), unknown


def _holds(condition: Condition, given: Mapping[str, Given]) -> bool | None:
    found = given.get(condition.input)
    if found is None:
        return None
    if not isinstance(found, Amount):
        return found == condition.choice if condition.choice is not None else found is True
    bound, value = condition.value, found.value
    if found.reported_unit in condition.in_unit:
        bound, value = condition.in_unit[found.reported_unit], found.reported
    if bound is None:
        return None
    if condition.op in ("<", "<="):
        return value < bound or (condition.op == "<=" and value == bound)
    return value > bound or (condition.op == ">=" and value == bound)
