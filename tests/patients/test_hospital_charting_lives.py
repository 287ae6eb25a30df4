"""Generated lives as charts: valid, complete, quick enough, and blind to everything that comes later."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from wardround.patients import Snapshot, is_hospital_stay, validate
from wardround.patients.hospital.charting import Charted, chart_record
from wardround.patients.hospital.charting_notes import section_ids
from wardround.patients.hospital.life import Culture, Life
from wardround.patients.hospital.living import make_life
from wardround.patients.hospital.making import HOUR
from wardround.patients.hospital.record import Record
from wardround.patients.hospital.writing import write_record
from wardround.patients.knowledge.bedside import organism_profiles
from wardround.patients.resource import instant_text
from wardround.patients.times import Instant

LIVES = [(11, index) for index in range(4)]


@cache
def record(seed: int, index: int) -> Record:
    return write_record(make_life(seed, index))


@cache
def charted(seed: int, index: int) -> Charted:
    return chart_record(record(seed, index))


@pytest.mark.parametrize(("seed", "index"), LIVES)
def test_every_fact_is_charted_and_every_resource_valid(seed: int, index: int) -> None:
    life, made = record(seed, index).life, charted(seed, index)
    resources = {f"{one['resourceType']}/{one['id']}": one for one, _ in made.builder.resources()}
    for key, one in resources.items():
        assert validate(one) == [], key
    ids = {key.partition("/")[2] for key in resources}
    facts = [
        *life.stays, *life.illnesses, *life.results, *life.cultures, *life.prescriptions, *life.doses, *life.allergies,
        *life.treated, *life.studies, *life.vaccines, *life.relatives, *life.plans,
    ]  # fmt: skip
    assert ids.issuperset(f"{life.patient_id}-{fact.id}" for fact in facts)
    sections = [name for note in record(seed, index).notes for name in section_ids(note)]
    assert ids.issuperset(f"{life.patient_id}-{name}" for name in sections)
    text = str(list(resources.values()))
    assert {part.partition("'")[0] for part in text.split("'reference': '")[1:]} <= set(resources)


@pytest.mark.parametrize(("seed", "index"), LIVES)
def test_nothing_is_known_before_what_it_rests_on(seed: int, index: int) -> None:
    """Whatever a resource is known, every fact of its trace was known by then (illnesses as causes apart)."""
    life, made = record(seed, index).life, charted(seed, index)
    known: dict[str, Instant] = {}
    for fact in (*life.results, *life.studies, *life.prescriptions, *life.allergies, *life.relatives):
        known[fact.id] = fact.known_at
    since = {f"{one['resourceType']}/{one['id']}": instant for one, instant in made.builder.resources()}
    for trace in made.provenance:
        for fact_id in trace.facts:
            assert known.get(fact_id, since[trace.key]) <= since[trace.key], (trace.key, fact_id)


def _cut(life: Life, cut: Instant) -> Life:
    """Return the life as it would be had nothing been known after `cut`: later facts gone, later ends otherwise."""

    def known(facts: tuple[Any, ...], at: str = "known_at") -> tuple[Any, ...]:
        return tuple(one for one in facts if getattr(one, at) <= cut)

    return replace(
        life,
        person=replace(life.person, died=None) if life.person.died and life.person.died > cut else life.person,
        illnesses=tuple(
            replace(one, resolved=None) if one.resolved and one.resolved > cut else one for one in known(life.illnesses)
        ),
        stays=tuple(
            replace(one, end=one.end + HOUR, disposition="elsewhere", diagnoses=()) if one.end > cut else one
            for one in (
                replace(one, start=one.start + HOUR, reason="changed", kind="clinic") if one.start > cut else one
                for one in life.stays
            )
        ),
        results=known(life.results),
        cultures=tuple(
            replace(
                one,
                stages=tuple(stage for stage in one.stages if stage.at <= cut),
                susceptibilities=one.susceptibilities if one.stages[-1].at <= cut else (),
                organism=one.organism if _named(one, cut) else None,
            )
            for one in life.cultures
            if one.stages and one.stages[0].at <= cut
        ),
        prescriptions=tuple(
            replace(one, stop=one.stop + HOUR, ended="completed", stop_reason=None)
            if one.stop and one.stop > cut
            else one
            for one in known(life.prescriptions)
        ),
        doses=known(life.doses, "at"),
        allergies=known(life.allergies),
        treated=tuple(
            replace(one, end=one.end + HOUR, outcome=None) if one.end and one.end > cut else one
            for one in known(life.treated, "at")
        ),
        studies=known(life.studies),
        vaccines=known(life.vaccines, "at"),
        relatives=known(life.relatives),
        plans=known(life.plans, "at"),
    )  # fmt: skip


def _named(culture: Culture, cut: Instant) -> bool:
    """Tell whether a stage up to `cut` names the organism, or all stages are known."""
    if culture.organism is None or culture.stages[-1].at <= cut:
        return culture.organism is not None
    name = organism_profiles()[culture.organism].name.en.casefold()
    return any(name in stage.text.casefold() for stage in culture.stages if stage.at <= cut)


def _anchors(life: Life) -> Iterator[Instant]:
    """Yield an hour inside each stay, one just before its end, and one after it."""
    for stay in life.stays:
        yield stay.start + (stay.end - stay.start) // 3
        yield stay.end - 1
        yield stay.end


def _visible(snapshot: Snapshot) -> dict[str, Any]:
    return {
        f"{kind}/{one['id']}": one
        for kind in sorted(snapshot.chart.index.spans)
        for one in snapshot.resources(kind)
    }  # fmt: skip


@pytest.mark.parametrize(("seed", "index"), LIVES[:3])
def test_what_comes_later_leaves_no_trace(seed: int, index: int) -> None:
    whole, chart = record(seed, index), charted(seed, index).chart()
    anchors = sorted(set(_anchors(whole.life)))
    for cut in anchors[:: max(len(anchors) // 5, 1)]:
        life = _cut(whole.life, cut)
        notes = tuple(note for note in whole.notes if note.stored <= cut)
        short = chart_record(replace(whole, life=life, notes=notes)).chart()
        mine, other = _visible(chart.at(cut)), _visible(short.at(cut))
        assert mine.keys() == other.keys(), instant_text(cut)
        for key, one in mine.items():
            assert one == other[key], f"{key} as of {instant_text(cut)}"


@pytest.mark.parametrize(("seed", "index"), LIVES)
def test_templates_pack_the_same_chart(seed: int, index: int) -> None:
    chart_record(record(seed, index), swift=True)
    swift = chart_record(record(seed, index), swift=True)
    assert swift.packed() == charted(seed, index).packed()
    assert sum(map(len, swift.sheaves)) > len(record(seed, index).life.results) // 2


def test_stays_within_stays_are_told_apart() -> None:
    for seed, index in LIVES:
        snapshot = charted(seed, index).chart().at(2**61)
        own = {f"{snapshot.patient_id}-{stay.id}" for stay in record(seed, index).life.stays
               if stay.part_of is None and stay.kind != "ed"}  # fmt: skip
        found = {one["id"] for one in snapshot.resources("Encounter") if is_hospital_stay(one)}
        assert found == own
