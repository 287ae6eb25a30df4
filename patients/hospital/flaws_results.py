"""Flaws of results: dropped, in another unit, weighed in pounds, filed days late."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import Any

from wardround.patients.importers._templates import plain_number
from wardround.patients.knowledge import labs
from wardround.patients.knowledge.bedside import lab_profiles, panels
from wardround.patients.times import DAY, Instant

from .flaws_draft import Draft, flaw_data
from .life import Result
from .making import HOUR, MINUTE
from .record import FlawKind


@cache
def _panels() -> tuple[frozenset[str], ...]:
    return tuple(frozenset(panel.labs) for panel in panels().values())


def drop_results(draft: Draft) -> None:
    """Leave out one result of a panel that was drawn; a place is a draw."""
    draws: dict[Instant, list[Result]] = {}
    often = Counter(result.lab for result in draft.results)
    for result in draft.results:
        profile = lab_profiles().get(result.lab)
        if profile is not None and profile.category == "laboratory":
            draws.setdefault(result.at, []).append(result)
    wholes = [panel & often.keys() for panel in _panels()]  # a child's panel has no eGFR
    gone: set[str] = set()
    for at, drawn in sorted(draws.items()):
        labs_of = {one.lab for one in drawn}
        missed = [one for one in drawn if often[one.lab] > 1 and _missed(one.lab, labs_of, wholes)]
        if not missed or not draft.wants("missing", "result", f"draw/{at}"):
            continue
        left = draft.stream("drop", at).choice(missed)
        gone.add(left.id)
        place = draft.key("Observation", left.id)
        draft.take(place)
        draft.add(
            "missing", "result", at=left.known_at, encounter=left.encounter, facts=(left.id,), places=(place,),
            charted="", right=f"{left.name} {left.text}",
        )  # fmt: skip
    draft.results = [one for one in draft.results if one.id not in gone]


def _missed(lab: str, drawn: set[str], wholes: Sequence[frozenset[str]]) -> bool:
    """Tell whether it shows that a lab is not there: its panel is, and no smaller whole panel explains the rest."""
    left, mates = drawn - {lab}, flaw_data()["panel_mates"]
    for panel in wholes:
        if lab not in panel or len(panel) <= mates or not panel <= drawn:
            continue
        explained = {one for whole in wholes if whole <= left for one in whole}
        if len((panel - {lab}) - explained) >= mates:
            return True
    return False


def slip_units(draft: Draft) -> None:
    """Write results in another unit under the usual one."""
    slips = {(slip["lab"], slip["unit"]): slip for slip in flaw_data()["slips"]}
    for number, result in enumerate(draft.results):
        concept = labs().get(result.lab)
        slip = slips.get((result.lab, concept.unit if concept else ""))
        if slip is None or not plain_number(result.text):
            continue
        detail = f"{slip['lab']}_in_{slip['written']}"
        if draft.wants("unit_slip", detail, draft.key("Observation", result.id)):
            _rewrite(draft, number, ("unit_slip", detail), _converted(result.text, slip))


def _converted(text: str, slip: Mapping[str, Any]) -> str:
    value = Decimal(text) * Decimal(slip["factor"]) + Decimal(slip["offset"])
    return str(value.quantize(Decimal(1).scaleb(-slip["digits"])))


def _rewrite(draft: Draft, number: int, flaw: tuple[FlawKind, str], text: str) -> None:
    result = draft.results[number]
    draft.results[number] = replace(result, text=text)
    kind, detail = flaw
    draft.add(
        kind, detail, at=result.known_at, encounter=result.encounter, facts=(result.id,),
        places=(draft.key("Observation", result.id),), charted=text, right=result.text,
    )  # fmt: skip


def weigh_in_pounds(draft: Draft) -> None:
    """Write weights in pounds as kilograms, where another weight of about that time stands against it."""
    data = flaw_data()["pounds"]
    within = data["witness_days"] * DAY
    weights = [
        (number, one) for number, one in enumerate(draft.results) if one.lab == "weight" and plain_number(one.text)
    ]
    changed: set[int] = set()
    for number, result in weights:
        near = [(abs(one.at - result.at), other) for other, one in weights if other != number and other not in changed]
        distance, witness = min(near, default=(within + 1, 0))
        if distance > within:
            continue
        if draft.wants("contradiction", "weight_in_lb", draft.key("Observation", result.id)):
            changed.add(number)
            draft.take(draft.key("Observation", draft.results[witness].id))  # what stands against it stays
            pounds = (Decimal(result.text) * Decimal(data["factor"])).quantize(Decimal("0.1"))
            _rewrite(draft, number, ("contradiction", "weight_in_lb"), str(pounds))


def delay(draft: Draft) -> None:
    """File results days late, some after discharge; none that a note already tells."""
    data = flaw_data()["late"]
    told: dict[str, Instant] = {}
    for note in draft.notes:
        for fact in (fact for part in note.parts for fact in part.facts):
            told[fact] = min(told.get(fact, note.stored), note.stored)
    for number, result in _quick(draft, data["usual_hours"] * HOUR):
        key = draft.key("Observation", result.id)
        hours = data["least_hours"] + draft.stream("delay", result.id).below(data["spread_hours"])
        late = result.at + hours * HOUR
        if told.get(result.id, late) < late or not draft.wants("delayed_result", "late", key):
            continue
        stay = draft.stays[result.encounter or ""]
        detail = "after_discharge" if late > stay.end else "late"
        draft.results[number] = replace(result, known_at=late)
        draft.add(
            "delayed_result", detail, at=late, encounter=result.encounter, facts=(result.id,), places=(key,),
            charted=f"filed {(late - result.at) // HOUR} hours after it was taken",
            right=f"{result.name} {result.text} was ready {(result.known_at - result.at) // MINUTE} minutes after",
        )  # fmt: skip


def _quick(draft: Draft, usual: Instant) -> Iterator[tuple[int, Result]]:
    """Yield place and result of the laboratory tests of hospital stays that take no longer than usual."""
    for number, result in enumerate(draft.results):
        profile = lab_profiles().get(result.lab)
        stay = draft.stays.get(result.encounter or "")
        quick = profile is not None and profile.minutes[1] * MINUTE <= usual
        if stay is not None and stay.kind in ("ward", "icu") and profile and profile.category == "laboratory" and quick:
            yield number, result
