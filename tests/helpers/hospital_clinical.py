"""What a physician would fault in a life, as a library: `faults(life)` names treatment that cannot be right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from hospital_coherence import situation_at

from wardround.patients import Stream
from wardround.patients.hospital.life import Life, Stay
from wardround.patients.hospital.making import HOUR
from wardround.patients.hospital.prescribing import choose
from wardround.patients.knowledge import lexicon
from wardround.patients.knowledge.bedside import condition_profiles
from wardround.patients.knowledge.graph_models import Treatment
from wardround.patients.times import DAY, NEVER


def faults(life: Life) -> list[str]:
    """Return what is wrong with how a patient is treated; empty for a life treated as it should be."""
    return [*_treated(life), *_reads(life), *_held_up(life), *_thinned(life), *_left(life),
            *_bled(life), *_unwatched(life)]  # fmt: skip


def _within(life: Life, stay: Stay) -> set[str]:
    return {stay.id, *(one.id for one in life.stays if one.part_of == stay.id)}


def _treated(life: Life) -> Iterator[str]:
    """A hospital stay has something that works against what it is for, or nothing of it is safe or exists."""
    for stay in life.stays:
        if stay.kind != "ward":
            continue
        illness = next(one for one in life.illnesses if one.id == stay.principal)
        lines = [
            line
            for line in condition_profiles()[illness.condition].treatments
            if line.works and not line.targeted and not line.needs and not line.unless and line.percent == 100
            and {"ed", "inpatient"} & set(line.phase) and (not line.severity or illness.severity in line.severity)
        ]  # fmt: skip
        able = {drug for line in lines for drug in line.any_of}
        since = stay.start - DAY
        had = {one.drug for one in life.prescriptions if one.start < stay.end and (one.stop or NEVER) > since}
        operated = any(one.illness == illness.id for one in life.treated)
        if len(able) > 1 and not able & had and not operated and _safe(life, stay, lines):
            yield f"{stay.id}: {illness.condition} ({illness.severity}) without any of {sorted(able)}"


def _safe(life: Life, stay: Stay, lines: Sequence[Treatment]) -> bool:
    """Whether some drug of the lines could be given in the first hours, by what was known of the patient then."""
    at = stay.start + 2 * HOUR
    any_order = replace(life.prescriptions[0], id="", drug="", kind="inpatient", start=at)
    patient = situation_at(life, any_order, at)
    return any(
        choose(line.any_of, patient, Stream("check"), dose_for=line.dose_for, prn=line.prn) is not None
        for line in lines
    )


_WIDER = (
    ("ampicillin", "ampicillin_sulbactam"), ("ampicillin_sulbactam", "piperacillin_tazobactam"),
    ("penicillin", "ceftriaxone"), ("cefazolin", "ceftriaxone"), ("ceftriaxone", "cefepime"), ("cefepime", "meropenem"),
    ("ciprofloxacin", "levofloxacin"),
)  # fmt: skip
"""Antibiotics: what the first does, the second does too."""


def _reads(life: Life) -> Iterator[str]:
    """Susceptibilities hang together, and nobody goes home on what the organism resists."""
    for one in life.cultures:
        reads = dict(one.susceptibilities)
        for narrow, wide in _WIDER:
            if reads.get(narrow) == "S" and reads.get(wide) == "R":
                yield f"{one.id}: {one.organism} susceptible to {narrow} and resistant to {wide}"
        for order in life.prescriptions:
            known = order.indication == one.illness and order.start >= one.stages[-1].at
            if order.kind == "discharge" and known and reads.get(order.drug) == "R":
                yield f"{order.id}: home on {order.drug}, to which {one.id} is resistant"


def _held_up(life: Life) -> Iterator[str]:
    """Pressors are given in low pressure, and nobody goes home the next day."""
    ends = {one: stay.end for stay in life.stays if stay.kind == "ward" for one in _within(life, stay)}
    died = {one for stay in life.stays if stay.disposition == "died" for one in _within(life, stay)}
    for order in life.prescriptions:
        if order.drug not in ("norepinephrine", "vasopressin", "phenylephrine"):
            continue
        low = [
            int(one.text.split("/")[0])
            for one in life.results
            if one.lab == "blood_pressure" and order.start - 9 * HOUR <= one.at <= order.start
        ]
        if not low or min(low) >= 100:
            yield f"{order.id}: {order.drug} without low pressure ({low})"
        end = ends.get(order.encounter or "")
        if order.encounter not in died and end is not None and end - (order.stop or end) < DAY:
            yield f"{order.id}: home within a day of {order.drug}"


def _thinned(life: Life) -> Iterator[str]:
    """Who is anticoagulated for a clot in hospital is so without a gap, and at home."""
    thinners = [one for one in life.prescriptions if lexicon().is_a(one.drug, "anticoagulant")]
    for stay in life.stays:
        illness = next(one for one in life.illnesses if one.id == stay.principal)
        if stay.kind != "ward" or illness.condition not in ("pulmonary_embolism", "deep_vein_thrombosis"):
            continue
        mine = [one for one in thinners if one.indication == illness.id and one.start < stay.end]
        if not mine or stay.disposition == "died":
            continue
        at = mine[0].start
        while at < stay.end + DAY:
            if not any(one.start <= at < (one.stop or NEVER) for one in thinners):
                yield f"{stay.id}: {illness.condition} without anticoagulant at {at}"
                break
            at += 6 * HOUR


def _left(life: Life) -> Iterator[str]:
    """Nobody leaves the ward with high fever."""
    for stay in life.stays:
        if stay.kind == "ward" and stay.disposition != "died":
            inside = _within(life, stay)
            for one in life.results:
                late = one.encounter in inside and one.at > stay.end - 12 * HOUR
                if one.lab == "temperature" and late and Decimal(one.text) >= Decimal("38.3"):
                    yield f"{one.id}: {one.text} on the day of discharge"


def _bled(life: Life) -> Iterator[str]:
    """Nobody leaves the ward with hemoglobin below 7, and red cells take hours."""
    for stay in life.stays:
        if stay.kind != "ward" or stay.disposition == "died":
            continue
        inside = _within(life, stay)
        read = [one for one in life.results if one.lab == "hemoglobin" and one.encounter in inside]
        if read and Decimal(read[-1].text) < 7:
            yield f"{read[-1].id}: home with hemoglobin {read[-1].text}"
        for one in life.treated:
            if one.procedure == "transfusion" and one.encounter in inside and one.end and one.end - one.at < 2 * HOUR:
                yield f"{one.id}: red cells in less than two hours"


def _unwatched(life: Life) -> Iterator[str]:
    """Vital signs are taken at least every twelve hours of a hospital stay."""
    for stay in life.stays:
        if stay.kind != "ward":
            continue
        inside = _within(life, stay)
        at = stay.start
        times = [one.at for one in life.results if one.lab == "heart_rate" and one.encounter in inside]
        for then in [*sorted(times), stay.end]:
            if then - at > 12 * HOUR:
                yield f"{stay.id}: no vital signs for {(then - at) // HOUR} hours"
                break
            at = max(at, then)
