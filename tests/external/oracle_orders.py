"""Rows of orders, ours and theirs: ours by pharmacy_id, as theirs are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from oracle_pairing import Row
from oracle_sides import Json, Ours, Theirs, code, mark, number, quantity, tail, wall

# ---- orders ----


def orders_ours(side: Ours) -> Iterator[Row]:
    """Yield the rows of prescriptions by pharmacy_id: MAIN, BASE and ADDITIVE are one order of theirs."""
    for order, rows in grouped(side).items():
        first = rows[0]
        drugs = {
            code(one["medicationCodeableConcept"], "formulary-drug-cd") or one["medicationCodeableConcept"]["text"]
            for one in rows
        }
        yield {
            "patient": tail(first["subject"]),
            "admission": side.admission(first),
            "order": order,
            "authored": wall(first.get("authoredOn")),
            "drugs": " ".join(sorted(drugs)),
            "start": _times(rows, "start"),
            "stop": _times(rows, "end"),
            "status": first["status"],
            "dose": " | ".join(sorted({dose for one in rows if (dose := _dose(one))})) or None,
            "route": " | ".join(sorted({route for one in rows if (route := code(_dosage(one).get("route")))})) or None,
        }


def grouped(side: Ours) -> dict[str, list[Json]]:
    """Return our orders by pharmacy_id."""
    groups: dict[str, list[Json]] = defaultdict(list)
    for one in side.all("MedicationRequest", "rx-"):
        groups[one["groupIdentifier"]["value"]].append(one)
    return groups


def _dosage(one: Json) -> Json:
    found: Json = (one.get("dosageInstruction") or [{}])[0]
    return found


def _dose(one: Json) -> str | None:
    rate = (_dosage(one).get("doseAndRate") or [{}])[0]
    if "doseRange" in rate:
        return f"{number(rate['doseRange']['low']['value'])}-{quantity(rate['doseRange']['high'])}"
    return quantity(rate.get("doseQuantity"))


def _times(rows: list[Json], end: str) -> str | None:
    periods = [one.get("dispenseRequest", {}).get("validityPeriod", {}) for one in rows]
    return " ".join(sorted({time for one in periods if (time := wall(one.get(end)))})) or None


def orders_theirs(side: Theirs) -> Iterator[Row]:
    for one in side.all("MedicationRequest"):
        if "medicationReference" in one:
            yield {
                "patient": side.patient(one),
                "admission": side.admission(one),
                "order": mark(one, "medication-request-phid"),
                "authored": wall(one.get("authoredOn")),
                "drugs": " ".join(sorted(set(side.drugs(str(tail(one["medicationReference"])))))),
                "start": _times([one], "start"),
                "stop": _times([one], "end"),
                "status": one["status"],
                "dose": _dose(one),
                "route": code(_dosage(one).get("route")),
            }


def poe_orders_theirs(side: Theirs) -> Iterator[Row]:
    for one in side.all("MedicationRequest"):
        if "medicationReference" not in one:
            yield {"patient": side.patient(one), "order": mark(one, "medication-request-poe")}


def frequencies_ours(side: Ours) -> Iterator[Row]:
    """Yield how often each order is given."""
    for order, rows in grouped(side).items():
        words = {_dosage(one).get("timing", {}).get("code", {}).get("text") for one in rows}
        yield {
            "patient": tail(rows[0]["subject"]),
            "admission": side.admission(rows[0]),
            "order": order,
            "frequency": " | ".join(sorted(word for word in words if word)) or None,
        }


def frequencies_theirs(side: Theirs) -> Iterator[Row]:
    for one in side.all("MedicationDispense"):
        timing = _dosage(one).get("timing", {}).get("code")
        yield {
            "patient": side.patient(one),
            "admission": side.admission(one),
            "order": mark(one, "medication-dispense"),
            "frequency": code(timing),
        }
