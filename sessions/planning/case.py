"""From a store to cases: when the round takes place, and what record and patient hold at that instant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final, Literal

from wardround.patients import (
    NEVER,
    Chart,
    ChartStore,
    Instant,
    Interview,
    Persona,
    Snapshot,
    Stream,
    interview_at,
    is_hospital_stay,
    knowledge,
    make_interview,
    parse_instant,
)
from wardround.patients.knowledge import Names
from wardround.sessions.common import Common, common
from wardround.sessions.moves.move import Case
from wardround.sessions.parsed import resources
from wardround.sessions.record import view_record

AnchorName = Literal["discharge", "mid-stay"]

TYPES: Final = (
    "Observation",
    "MedicationRequest",
    "MedicationAdministration",
    "Condition",
    "Encounter",
    "Patient",
    "DiagnosticReport",
    "DocumentReference",
    "CarePlan",
)
"""Resource types that a search tool reads."""
MID_STAY_HOUR: Final = 10
_VISIT_HOURS: Final = 4
"""What is shorter is a visit."""
_BUILT_IN: Final = frozenset({"wardround hospital", "wardround ward"})
_SOUND: Final = frozenset({"missing", "delayed_result", "med_list_vs_note"})
"""Kinds or details of planted flaws that leave right what results and orders say (a note's list may be wrong)."""
_BY_SCENARIO: Final = ("planning.", "decisions.lab", "decisions.score", "moves.score")
"""Beginnings of what a case keeps in mind that depends on its scenario."""
_DAY: Final = 86_400_000_000
_HOUR: Final = 3_600_000_000


# -- when --------------------------------------------------------------------------------------------------------------


def dated(store: ChartStore) -> bool:
    """Tell whether the facts of a store's charts are dated well enough for a round in the middle of a stay."""
    provenance = store.header.get("provenance", {})
    return provenance.get("source") in _BUILT_IN or bool(provenance.get("anchors"))


def rounds(store: ChartStore, patient: str, anchor: AnchorName) -> tuple[tuple[str, Instant], ...]:
    """Return the encounters of a patient with the round's instant in each, the longest stay first.

    Args:
        store: Where a store states the hour of a patient's round, that is the only mid-stay one.
        patient: Id.
        anchor: `discharge`: the discharge instant, inclusive. `mid-stay`: 10:00 on the middle day of the stay.
    """
    stays = _stays(store.chart(patient))
    stated = store.header.get("provenance", {}).get("anchors", {})
    if anchor == "mid-stay" and patient in stated:
        instant = parse_instant(stated[patient])
        current = [(start, name) for name, start, end in stays if start <= instant < end]
        return tuple((name, instant) for _, name in sorted(current, reverse=True)[:1])
    ordered = sorted(stays, key=lambda stay: (stay[1] - stay[2], -stay[2], stay[0]))
    return tuple((name, end if anchor == "discharge" else _middle(start, end)) for name, start, end in ordered)


def _stays(chart: Chart) -> list[tuple[str, Instant, Instant]]:
    """Return the closed hospital stays of a chart as (id, start, end), as known in the end.

    Visits of less than four hours are none: nobody makes a ward round there.
    """
    stays = []
    for resource in resources(chart.at(NEVER - 1), "Encounter"):
        period = resource.get("period", {})
        if is_hospital_stay(resource) and "start" in period and "end" in period:
            start, end = parse_instant(period["start"]), parse_instant(period["end"])
            if end - start >= _VISIT_HOURS * _HOUR:
                stays.append((str(resource["id"]), start, end))
    return stays


def _middle(start: Instant, end: Instant) -> Instant:
    """Return the hour of the round on the middle day of a stay, inside the stay."""
    first = start - start % _DAY
    middle = first + (end - first) // (2 * _DAY) * _DAY + MID_STAY_HOUR * _HOUR
    return min(max(middle, start), end)


# -- what --------------------------------------------------------------------------------------------------------------


def make_case(store: ChartStore, patient: str, encounter: str, instant: Instant, scenario: str, stream: Stream) -> Case:
    """Return one patient at one anchor, as moves and decisions see it.

    Args:
        store: Charts; an authored interview that fits the instant is used, else one is made.
        patient: Id.
        encounter: The stay that the round is about.
        instant: The round's now.
        scenario: Id of the scenario.
        stream: Draws the persona of a made interview, and what the physician calls things.
    """
    snapshot = store.chart(patient).at(instant)
    shared = common()
    flawed = flawed_of(store, patient)
    short = {concept: tuple(name.en for name in names) for concept, names in shared.casual.items()}
    return Case(
        snapshot=snapshot,
        encounter=encounter,
        anchor=instant,
        view=view_record(snapshot, encounter, TYPES, short, flawed),
        interview=interview_of(store, snapshot, encounter, stream),
        common=shared,
        scenario=scenario,
        flawed=flawed,
        casual=casual_names(shared, stream),
    )


def for_scenario(case: Case, scenario: str) -> Case:
    """Return the same case for another scenario; what was worked out for one alone is not kept for the other."""
    if case.scenario == scenario:
        return case
    kept = {key: made for key, made in case._memo.items() if not key.startswith(_BY_SCENARIO)}
    return replace(case, scenario=scenario, _memo=kept)


def flawed_of(store: ChartStore, patient: str) -> frozenset[str]:
    """Return what a generated chart says wrongly, as its truth tells: an answer that rests on it would be no gold."""
    truth = store.truth(patient)
    flaws = () if truth is None else truth.flaws
    return frozenset(place for flaw in flaws if not _SOUND & {flaw.kind, flaw.detail} for place in flaw.places)


def interview_of(store: ChartStore, snapshot: Snapshot, encounter: str, stream: Stream) -> Interview:
    """Return the authored interview as of the instant, or one made for the record; how drugs are taken is drawn."""
    authored = interview_at(store, snapshot, encounter, snapshot.anchor)
    if authored is not None:
        return authored
    levels: tuple[Literal["low", "medium", "high"], ...] = ("low", "medium", "high")
    poor = stream.chance(3, 5)
    persona = Persona(
        literacy=stream.choice(levels),
        anxiety=stream.choice(levels),
        adherence="poor" if poor else "good",
        disclosure="critical_withheld" if poor and stream.chance(1, 2) else "open",
    )
    return make_interview(snapshot, stream.bits64() >> 1, persona=persona)


def casual_names(shared: Common, stream: Stream) -> Mapping[str, Names]:
    """Draw one name a concept, so that both wordings and all turns call it the same."""
    return {
        concept: stream.choice(_resolving(concept, names))
        for concept, names in sorted(shared.casual.items())
        if _resolving(concept, names)
    }


@lru_cache(maxsize=512)
def _resolving(concept: str, names: tuple[Names, ...]) -> tuple[Names, ...]:
    """Return the names that the lexicon understands as the concept, in both languages."""
    return tuple(one for one in names if _means(one.en, concept) and (not one.zh or _means(one.zh, concept)))


def _means(name: str, concept: str) -> bool:
    found = knowledge.lexicon().resolve(name)
    return found is not None and found.id == concept
