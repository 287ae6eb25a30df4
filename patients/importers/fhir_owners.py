"""Whose a resource is: its patient, the patient of what it is about, or nobody (`data/fhir_import.json`, `owner`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .fhir_refs import Resolver
from .fhir_rules import rules
from .fhir_spill import Spill
from .report import Tally

_ROUNDS = 6
"""A Provenance of a Task about an order of a patient takes three rounds."""


class _Waiting(NamedTuple):
    """A resource that names no patient itself."""

    seq: int
    kind: str
    keys: tuple[str, ...]
    """What it names in place of one, as far as it was read."""
    unread: bool
    """Whether it names something that was not read."""


def assign(spill: Spill, tally: Callable[[str], Tally]) -> None:
    """Give every resource to the chart of its patient, leave it to all charts, or refuse it.

    The result does not depend on the order of reading: what is found in one round counts from the next.
    """
    resolver = Resolver(spill)
    patients = {identity for _, identity in spill.ids("Patient")}
    for seq, identity in spill.ids("Patient"):
        spill.own(identity, seq)
    waiting: list[_Waiting] = []
    named: set[int] = set()
    for seq, kind, names in list(spill.wanted()):
        named.add(seq)
        keys = [resolver.key(name) for name in names]
        found = [key.partition("/")[2] for key in keys if key is not None and key.startswith("Patient/")]
        mine = [patient for patient in dict.fromkeys(found) if patient in patients]
        if mine:
            _give(spill, seq, kind, mine)
        else:
            others = tuple(key for key in keys if key is not None and not key.startswith(("Patient/", "Group/")))
            waiting.append(_Waiting(seq, kind, others, None in keys or bool(found)))
    for one in _through_others(spill, tally, waiting):
        if one.kind in rules()["shared"] and (one.kind in rules()["every"] or not one.unread):
            continue
        tally(one.kind).refuse("its patient is not in the input" if one.unread else "it names no patient", one.seq)
        spill.drop(one.seq)
    for kind in rules()["owner"]:
        for seq, _ in spill.ids(kind) if kind not in rules()["shared"] else ():
            if seq not in named:
                tally(kind).refuse("it names no patient", seq)
                spill.drop(seq)
    spill.index_owners()


def _give(spill: Spill, seq: int, kind: str, patients: list[str]) -> None:
    for patient in patients if kind in rules()["every"] else patients[:1]:
        spill.own(patient, seq)


def _through_others(spill: Spill, tally: Callable[[str], Tally], waiting: list[_Waiting]) -> list[_Waiting]:
    """Place resources with what they are about; return those that stay without a patient."""
    for _ in range(_ROUNDS):
        found = []
        left = []
        for one in waiting:
            owners = next((owners for key in one.keys if (owners := spill.owners(key))), [])
            if owners:
                found.append((one, owners))
            else:
                left.append(one)
        for one, owners in found:
            _give(spill, one.seq, one.kind, owners)
            tally(one.kind).note("names no patient; in the chart of what it is about")
        waiting = left
        if not found:
            break
    return waiting
