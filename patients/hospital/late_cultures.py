"""Cultures that are final only when the patient is at home: what does not treat them is changed by a call."""

from __future__ import annotations

from wardround.patients.knowledge.bedside import condition_profiles, organism_profiles
from wardround.patients.times import DAY, Instant

from .generation import rules
from .keeping import reads_of
from .life import Culture, Illness, Pair, Plan, PlanItem, Prescription
from .making import HOUR, Making
from .medicating import Desk
from .naming import drug_name
from .planning import dose_words, how_often
from .prescribing import Choice, choose
from .situating import is_a, situation

_ANTIBIOTIC = ("antibiotic",)
_LEAST_DAYS = 3


def call_about_cultures(making: Making, desk: Desk, until: Instant) -> None:
    """Act on cultures that were final after the patient had left, in order of time.

    Args:
        making: The life.
        desk: Writes the orders.
        until: What is final later waits.
    """
    for grown in sorted(making.cultures, key=lambda one: (one.stages[-1].at, int(one.id[1:]))):
        back = grown.stages[-1].at + 2 * HOUR
        stay = making.stays.get(grown.encounter)
        if grown.id in making.called or stay is None or back >= until:
            continue
        making.called.add(grown.id)
        root = making.stays.get(stay.part_of or stay.id, stay)
        if grown.organism is not None and grown.stages[-1].at > root.end:
            _change(making, desk, grown, back, root.id)


def _change(making: Making, desk: Desk, grown: Culture, at: Instant, encounter: str) -> None:
    """End what the organism resists and begin what it does not, or have the patient come in."""
    illness = making.illnesses[grown.illness]
    home = [one for one in making.active(at) if one.indication == illness.id and is_a(one.drug, _ANTIBIOTIC)]
    reads = reads_of(making, illness.id, at)
    if not home or any(reads.get(one.drug, "S") == "S" for one in home):
        return
    at = desk.now(at)
    old = home[0]
    organism = organism_profiles()[grown.organism or ""].name
    places = {"organism": (organism.en, organism.zh or organism.en), "old": drug_name(old.drug)}
    choice = _other(making, illness, reads, home, at)
    if choice is None:
        words = rules().plans["culture_return"][0].pair(**places)
        _tell(making, at, encounter, words, (grown.id, old.id))
        return
    for one in home:
        desk.end(one, at, rules().reasons["narrowed"].pair())
    left = _LEAST_DAYS * DAY if old.stop is None else max(_LEAST_DAYS * DAY, (old.stop - at) // DAY * DAY)
    new = desk.write(choice, at, "home", None, illness.id, stop=at + left, line=old.line)
    use = rules().use_words.get(new.route, rules().use_words["other"])
    n = str(left // DAY)
    words = rules().plans["culture_change"][0].pair(
        **places, use=(use.en.lower(), use.zh), drug=drug_name(new.drug), dose=dose_words(new.dose),
        frequency=how_often(new), n=(n, n),
    )  # fmt: skip
    _tell(making, at, encounter, words, (grown.id, old.id, new.id))


def _other(
    making: Making, illness: Illness, reads: dict[str, str], home: list[Prescription], at: Instant
) -> Choice | None:
    """Return an antibiotic by mouth for home that the organism was tested against and does not resist."""
    around = situation(making, at, "home", [one.id for one in home])
    for line in condition_profiles()[illness.condition].treatments:
        drugs = [drug for drug in line.any_of if reads.get(drug) == "S" and is_a(drug, _ANTIBIOTIC)]
        if not drugs or (line.severity and illness.severity not in line.severity):
            continue
        stream = making.stream("culture change", illness.id, line.id)
        choices = (choose([drug], around, stream, dose_for=line.dose_for) for drug in drugs)
        found = next((one for one in choices if one is not None and one.route == "oral"), None)
        if found is not None:
            return found
    return None


def _tell(making: Making, at: Instant, encounter: str, words: Pair, facts: tuple[str, ...]) -> None:
    making.plans.append(Plan(making.new("pl"), "followup", at, encounter, (PlanItem("drug_change", words, facts),)))
