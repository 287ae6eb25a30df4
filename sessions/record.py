"""What the planner sees: the record as known at the anchor, as series, orders and monitored pairs.

Only what is unambiguous is offered: a latest value without a tie, a drug with exactly one active order, a lab with the
chart's own reference range. What is left out is counted by reason, never dropped in silence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from wardround.patients import Instant, Snapshot, knowledge
from wardround.patients.knowledge import Monitoring, MonitoringRule, Names

from .common import common
from .parsed import resources
from .record_labs import Level, Reading, casual, read_measured

__all__ = [
    "Level",
    "Order",
    "Pair",
    "Reading",
    "RecordView",
    "casual",
    "drug_of",
    "plain",
    "rule_for",
    "view_record",
]


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
    """Lab → values of this encounter and the stays that are part of it, oldest first, one an instant."""
    orders: dict[str, Order]
    pairs: tuple[Pair, ...]
    types: frozenset[str]
    """Resource types with something in them at the anchor."""
    left_out: Counter[str] = field(default_factory=Counter)
    vitals: dict[str, Reading] = field(default_factory=dict)
    """Vital sign → latest value; no ties, charted in this encounter; its level is None where the chart has no range."""
    begun: dict[str, int] = field(default_factory=dict)
    """Lab → place in its series of the first value of the stay itself, after those of its emergency department."""


def plain(value: Decimal) -> str:
    """Write a decimal without exponent and without trailing zeros."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


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
        short: Lab → what it is called on rounds in English, the usual name first; others keep their full name.
        flawed: Keys of results and orders known to be charted wrongly: labs and drugs with one of them are left out.
    """
    left_out: Counter[str] = Counter()
    measured = read_measured(snapshot, encounter, short, left_out, flawed)
    orders = _orders(snapshot, left_out, flawed)
    latest = _aimed(measured.latest, orders)
    present = frozenset(kind for kind in types if snapshot.count(kind))
    person = next(iter(resources(snapshot, "Patient")), {})
    return RecordView(
        patient=snapshot.patient_id,
        sex=str(person.get("gender", "unknown")),
        encounter=encounter,
        anchor=snapshot.anchor,
        latest=latest,
        series=measured.series,
        orders=orders,
        pairs=_pairs(latest, orders, left_out),
        types=present,
        left_out=left_out,
        vitals=measured.vitals,
        begun=measured.begun,
    )


# -- orders ------------------------------------------------------------------------------------------------------------


def _orders(snapshot: Snapshot, left_out: Counter[str], flawed: frozenset[str]) -> dict[str, Order]:
    active: dict[str, list[dict[str, Any]]] = {}
    for resource in resources(snapshot, "MedicationRequest"):
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


@lru_cache(maxsize=8192)
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
        name=casual(knowledge.drugs()[drug].name.en),
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


def _aimed(latest: dict[str, Reading], orders: dict[str, Order]) -> dict[str, Reading]:
    """Return the latest values, each with the range aimed at where an ordered drug is dosed by it."""
    found = dict(latest)
    for key, (low, high) in sorted(common().targets.items()):
        monitoring = knowledge.monitoring()[key]
        reading, unit = latest.get(monitoring.lab), monitoring.rules[0].unit
        if reading is None or next(_monitored(monitoring, orders), None) is None:
            continue
        own = [knowledge.convert(bound, unit, reading.unit, reading.lab) for bound in (low, high)]
        if own[0] is not None and own[1] is not None:
            found[reading.lab] = replace(reading, target=(own[0], own[1]))
    return found


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
