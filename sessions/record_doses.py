"""What was really given of each drug: the last dose charted, given, held or refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from wardround.patients import Instant, Snapshot, parse_instant

from .common import Common
from .parsed import resources
from .record import drug_of, plain

Outcome = Literal["given", "held", "refused"]


@dataclass(frozen=True, slots=True)
class Dose:
    """One dose as charted by the nurse."""

    key: str
    drug: str
    """Concept id."""
    at: Instant
    outcome: Outcome
    amount: Decimal | None
    """None where none was charted."""
    unit: str

    @property
    def text(self) -> str:
        """Amount and unit, "" where none was charted."""
        return "" if self.amount is None else f"{plain(self.amount)} {self.unit}".strip()


def last_doses(snapshot: Snapshot, common: Common, flawed: frozenset[str] = frozenset()) -> Mapping[str, Dose]:
    """Return each drug's last charted dose; a drug whose last one is ambiguous or charted wrongly is left out.

    Args:
        snapshot: The chart at the anchor.
        common: Which words of a reason mean held, and which refused.
        flawed: Keys of resources known to be charted wrongly.
    """
    events: dict[str, list[tuple[Instant, dict[str, Any]]]] = {}
    for resource in resources(snapshot, "MedicationAdministration"):
        at = resource.get("effectiveDateTime") or resource.get("effectivePeriod", {}).get("start")
        drug = _drug(resource)
        if drug is not None and at is not None:
            events.setdefault(drug, []).append((parse_instant(str(at)), resource))
    found = {}
    for drug in sorted(events):
        latest = max(at for at, _ in events[drug])
        last = [resource for at, resource in events[drug] if at == latest]
        keys = {f"MedicationAdministration/{resource['id']}" for _, resource in events[drug]}
        dose = _dose(drug, latest, last[0], common) if len(last) == 1 and not keys & flawed else None
        if dose is not None:
            found[drug] = dose
    return found


def _drug(resource: Mapping[str, Any]) -> str | None:
    return drug_of(_words(resource.get("medicationCodeableConcept", {})))


def _words(concept: Mapping[str, Any]) -> str:
    shown = (str(coding["display"]) for coding in concept.get("coding", ()) if coding.get("display"))
    return str(concept["text"]) if concept.get("text") else next(shown, "")


def _dose(drug: str, at: Instant, resource: Mapping[str, Any], common: Common) -> Dose | None:
    outcome = _outcome(resource, common)
    if outcome is None:
        return None
    quantity = resource.get("dosage", {}).get("dose", {})
    value = quantity.get("value")
    return Dose(
        key=f"MedicationAdministration/{resource['id']}",
        drug=drug,
        at=at,
        outcome=outcome,
        amount=None if value is None else Decimal(str(value)),
        unit=str(quantity.get("unit") or quantity.get("code") or ""),
    )


def _outcome(resource: Mapping[str, Any], common: Common) -> Outcome | None:
    """Return what became of a dose; None where the chart does not say, or says what no check can tell."""
    if resource.get("status") == "completed":
        return "given"
    if resource.get("status") != "not-done":
        return None
    reason = " ".join(_words(one) for one in resource.get("statusReason", ())).casefold()
    outcomes: tuple[Outcome, ...] = ("held", "refused")
    meant = [one for one in outcomes if reason.startswith(common.outcomes[one].charted)]
    return meant[0] if len(meant) == 1 else None
