"""Stays and visits → Encounter."""

from __future__ import annotations

from wardround.patients.stays import ENCOUNTER_KIND

from .charting_desk import Desk, chart_words
from .life import Stay


def chart_stays(desk: Desk) -> None:
    """Add the Encounters: known at their start, end and disposition at their end."""
    for stay in desk.life.stays:
        _stay(desk, stay)


def _stay(desk: Desk, stay: Stay) -> None:
    words = chart_words()["stays"][stay.kind]
    identity = desk.name(stay.id)
    desk.builder.encounter(
        identity, words["class"], stay.start, stay.end, type=words["type"], reason=stay.reason,
        disposition=stay.disposition,
    )  # fmt: skip
    encounter = desk.builder.last
    if "kind" in words:
        coding = {"system": ENCOUNTER_KIND, "code": words["kind"], "display": words["type"]}
        encounter["type"] = [{"coding": [coding], "text": words["type"]}]
    encounter["serviceType"] = {"text": stay.service.replace("_", " ").capitalize()}
    if stay.part_of is not None:
        encounter["partOf"] = {"reference": f"Encounter/{desk.stay(stay.part_of)}"}
    desk.trace("Encounter", identity, (stay.id,))
