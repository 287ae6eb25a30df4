"""What the planner sees: the record as known at the anchor, as series, orders and monitored pairs.

Only what is unambiguous is offered: a latest value without a tie, a drug with exactly one active order, a lab with the
chart's own reference range. What is left out is counted by reason, never dropped in silence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Literal

from wardround.patients import Instant, Measurement, Snapshot, knowledge, measurements
from wardround.patients.knowledge import Monitoring, MonitoringRule, Names

Level = Literal["high", "low", "normal"]


@dataclass(frozen=True, slots=True)
class Reading:
    """One measured value at one instant."""

    lab: str
    """Concept id."""
    name: str
    """Plain English name, as in "creatinine", "INR"."""
    value: Decimal
    text: str
    """The value as the chart writes it."""
    unit: str
    at: Instant
    level: Level | None
    """Against the chart's own range; None where the chart gives none."""
    keys: tuple[str, ...]
    """Every resource that holds just this value at this instant."""
    zh: str = ""
    """Plain Chinese name."""

    @property
    def names(self) -> Names:
        """Its plain names in both languages."""
        return Names(en=self.name, zh=self.zh or None)

    @property
    def number(self) -> int | float:
        """The value as JSON writes it."""
        return int(self.value) if self.value == self.value.to_integral_value() else float(self.value)

    @property
    def quantity(self) -> str:
        """Value with unit, as an answer says it."""
        return f"{self.text} {self.unit}".strip()


@dataclass(frozen=True, slots=True)
class Order:
    """The one active order of a drug."""

    key: str
    drug: str
    """Concept id."""
    name: str
    """Plain English ingredient name."""
    amount: Decimal | None
    """Amount per dose; None where the order has no single one."""
    unit: str
    route: str
    """As ordered, folded; "" where the order does not say."""
    frequency: str
    """As ordered, "" where the order does not say."""
    as_needed: bool = False
    zh: str = ""
    """Plain Chinese ingredient name."""

    @property
    def names(self) -> Names:
        """Its plain names in both languages."""
        return Names(en=self.name, zh=self.zh or None)

    @property
    def dose(self) -> str:
        """Amount and unit, "" where there is no single amount."""
        return "" if self.amount is None else f"{plain(self.amount)} {self.unit}".strip()


@dataclass(frozen=True, slots=True)
class Pair:
    """A monitored drug that is ordered now, its lab's latest value, and what the rule says of it."""

    monitoring: str
    order: Order
    reading: Reading
    rule: MonitoringRule


@dataclass(frozen=True)
class RecordView:
    """The record of one encounter at one anchor."""

    patient: str
    sex: str
    encounter: str
    anchor: Instant
    latest: dict[str, Reading]
    """Lab → latest value; no ties, charted in this encounter, with a level."""
    series: dict[str, tuple[Reading, ...]]
    """Lab → values of this encounter, oldest first, one an instant."""
    orders: dict[str, Order]
    pairs: tuple[Pair, ...]
    types: frozenset[str]
    """Resource types with something in them at the anchor."""
    left_out: Counter[str] = field(default_factory=Counter)


def plain(value: Decimal) -> str:
    """Write a decimal without exponent and without trailing zeros."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def casual(name: str) -> str:
    """Lower-case a name but for its words in capitals or with digits ("INR", "eGFR", "free T4")."""
    kept = (
        word if any(char.isupper() or char.isdigit() for char in word[1:]) else word.lower() for word in name.split(" ")
    )
    return " ".join(kept)


def view_record(
    snapshot: Snapshot,
    encounter: str,
    types: tuple[str, ...],
    short: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    flawed: frozenset[str] = frozenset(),
) -> RecordView:
    """Read what the planner may use of one encounter.

    Args:
        snapshot: The chart at the anchor.
        encounter: Id of the encounter of the round.
        types: Resource types whose presence counts towards the tier.
        short: Lab → what it is called on rounds, the usual name first; others keep their full name.
        flawed: Keys of results and orders known to be charted wrongly: labs and drugs with one of them are left out.
    """
    left_out: Counter[str] = Counter()
    latest, series = _labs(snapshot, encounter, short, left_out, flawed)
    orders = _orders(snapshot, left_out, flawed)
    present = frozenset(kind for kind in types if next(iter(snapshot.resources(kind)), None) is not None)
    person = next(iter(snapshot.resources("Patient")), {})
    return RecordView(
        patient=snapshot.patient_id,
        sex=str(person.get("gender", "unknown")),
        encounter=encounter,
        anchor=snapshot.anchor,
        latest=latest,
        series=series,
        orders=orders,
        pairs=_pairs(latest, orders, left_out),
        types=present,
        left_out=left_out,
    )


# -- labs --------------------------------------------------------------------------------------------------------------


def _labs(
    snapshot: Snapshot,
    encounter: str,
    short: Mapping[str, tuple[str, ...]],
    left_out: Counter[str],
    flawed: frozenset[str],
) -> tuple[dict[str, Reading], dict[str, tuple[Reading, ...]]]:
    found: dict[str, list[tuple[Measurement, bool]]] = {}
    for resource in snapshot.resources("Observation"):
        here = _reference(resource, "encounter") == encounter
        for measured in measurements(resource):
            found.setdefault(measured.concept, []).append((measured, here))
    latest: dict[str, Reading] = {}
    series: dict[str, tuple[Reading, ...]] = {}
    for concept in sorted(found):
        known = knowledge.labs().get(concept)
        if known is None or known.kind != "lab":
            left_out["measurement that is no lab of the knowledge base"] += len(found[concept])
            continue
        name = short[concept][0] if short.get(concept) else casual(known.name.en)
        readings, clash = _timeline(concept, name, [one for one, _ in found[concept]])
        mine = {one.key for one, here in found[concept] if here}
        if not readings:
            left_out["lab without a numeric value"] += 1
        elif any(one.key in flawed for one, here in found[concept] if here or one.key in readings[-1].keys):
            left_out["lab with a value that is charted wrongly"] += 1
        elif max(clash, default=readings[0].at - 1) >= readings[-1].at:
            left_out["latest value is a tie"] += 1
        elif not mine.issuperset(readings[-1].keys):
            left_out["latest value is of another encounter"] += 1
        elif readings[-1].level is None:
            left_out["latest value without a reference range"] += 1
        else:
            latest[concept] = readings[-1]
            own = tuple(one for one in readings if mine.issuperset(one.keys))
            if not any(one.at in clash for one in own) and len({one.unit for one in own}) == 1:
                series[concept] = own
    return latest, series


def _timeline(concept: str, name: str, measured: list[Measurement]) -> tuple[list[Reading], set[Instant]]:
    """Return one reading an instant, oldest first, and the instants that hold different values."""
    grouped: dict[Instant, list[Measurement]] = {}
    clash: set[Instant] = set()
    for one in measured:
        if one.instant is None:
            continue
        if one.value is None:
            # A worded or bounded result ("<0.5", "hemolyzed") at the end of the line would be the true latest.
            clash.add(one.instant)
        grouped.setdefault(one.instant, []).append(one)
    readings = []
    for at in sorted(grouped):
        group = sorted(grouped[at], key=lambda one: one.key)
        if len({(one.value, one.unit) for one in group}) > 1:
            clash.add(at)
        numeric = [one for one in group if one.value is not None]
        if not numeric:
            continue
        first = numeric[0]
        assert first.value is not None
        keys = tuple(one.key for one in numeric)
        zh = knowledge.labs()[concept].name.zh or ""
        readings.append(Reading(concept, name, first.value, first.text, first.unit or "", at, _level(first), keys, zh))
    return readings, clash


def _level(measured: Measurement) -> Level | None:
    low, high, value = measured.low, measured.high, measured.value
    if value is None or (low is None and high is None):
        return None
    if low is not None and value < low:
        return "low"
    if high is not None and value > high:
        return "high"
    return "normal"


# -- orders ------------------------------------------------------------------------------------------------------------


def _orders(snapshot: Snapshot, left_out: Counter[str], flawed: frozenset[str]) -> dict[str, Order]:
    active: dict[str, list[dict[str, Any]]] = {}
    for resource in snapshot.resources("MedicationRequest"):
        if resource.get("status") != "active":
            continue
        drug = drug_of(_medication(resource))
        if drug is None:
            left_out["order of a drug that is not in the knowledge base, or of several"] += 1
            continue
        active.setdefault(drug, []).append(resource)
    orders = {}
    for drug in sorted(active):
        if len(active[drug]) > 1:
            left_out["drug with several active orders"] += 1
            continue
        if f"MedicationRequest/{active[drug][0]['id']}" in flawed:
            left_out["drug whose order is charted wrongly"] += 1
            continue
        orders[drug] = _order(drug, active[drug][0])
    return orders


def drug_of(text: str) -> str | None:
    """Return the id of the one drug a text names, or None."""
    lexicon = knowledge.lexicon()
    found = lexicon.resolve(text, kinds={"drug"})
    if found is not None:
        return found.id
    named = {concept for mention in lexicon.scan(text, kinds={"drug"}) for concept in mention.concepts}
    return next(iter(named)) if len(named) == 1 else None


def _order(drug: str, resource: dict[str, Any]) -> Order:
    dosage: dict[str, Any] = next(iter(resource.get("dosageInstruction", ())), {})
    rate: dict[str, Any] = next(iter(dosage.get("doseAndRate", ())), {})
    quantity = rate.get("doseQuantity", {})
    value = quantity.get("value")
    timing = dosage.get("timing", {}).get("code", {})
    return Order(
        key=f"MedicationRequest/{resource['id']}",
        drug=drug,
        name=knowledge.drugs()[drug].name.en.lower(),
        amount=None if value is None else Decimal(str(value)),
        unit=str(quantity.get("unit") or quantity.get("code") or ""),
        route=_words(dosage.get("route", {})).casefold(),
        frequency=_words(timing),
        as_needed=bool(dosage.get("asNeededBoolean", False)),
        zh=knowledge.drugs()[drug].name.zh or "",
    )


def _medication(resource: dict[str, Any]) -> str:
    return _words(resource.get("medicationCodeableConcept", {}))


def _words(concept: dict[str, Any]) -> str:
    text = concept.get("text")
    if text:
        return str(text)
    return next((str(coding["display"]) for coding in concept.get("coding", ()) if coding.get("display")), "")


def _reference(resource: dict[str, Any], name: str) -> str | None:
    reference = resource.get(name, {}).get("reference")
    return None if reference is None else str(reference).rpartition("/")[2]


# -- pairs -------------------------------------------------------------------------------------------------------------


def _pairs(latest: dict[str, Reading], orders: dict[str, Order], left_out: Counter[str]) -> tuple[Pair, ...]:
    """Return every ordered, monitored drug with the rule that its lab's latest value meets, in a fixed order."""
    pairs = []
    table = knowledge.monitoring()
    for key in sorted(table):
        monitoring = table[key]
        reading = latest.get(monitoring.lab)
        for order in _monitored(monitoring, orders):
            if reading is None:
                left_out["monitored drug without its lab"] += 1
                continue
            rule = rule_for(monitoring, reading)
            if rule is None:
                left_out["lab on a rule's bound, or in a unit that does not convert"] += 1
                continue
            pairs.append(Pair(key, order, reading, rule))
    return tuple(pairs)


def _monitored(monitoring: Monitoring, orders: dict[str, Order]) -> Iterator[Order]:
    wanted = set(monitoring.drugs)
    for drug in sorted(orders):
        if drug in wanted or wanted.intersection(knowledge.drugs()[drug].classes):
            yield orders[drug]


def rule_for(monitoring: Monitoring, reading: Reading) -> MonitoringRule | None:
    """Return the rule that a value meets; None where it lies on a bound (either side could be argued) or in no rule."""
    for rule in monitoring.rules:
        value = knowledge.convert(reading.value, reading.unit, rule.unit, monitoring.lab)
        if value is None or value in {rule.at_least, rule.below}:
            return None
        if (rule.at_least is None or value > rule.at_least) and (rule.below is None or value < rule.below):
            return rule
    return None
