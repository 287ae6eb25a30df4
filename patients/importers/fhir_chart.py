"""Making one chart of FHIR resources: what belongs to a patient, resolved, repaired, named and dated."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from wardround.patients.clock import forms
from wardround.patients.elements import device_name, text_of
from wardround.patients.errors import DataError
from wardround.patients.fhir import check, check_model
from wardround.patients.resource import ALWAYS, Resource, dump, load

from ._mapper import Mapped
from .fhir_known import Clock, date_superseded, is_own, own_known
from .fhir_medication import Medications, say_medication
from .fhir_mend import mend
from .fhir_mimic import finish, formulary_names, is_mimic, restore
from .fhir_refs import Resolver
from .fhir_repair import attachments, repair, repair_text
from .fhir_rules import references, rules
from .fhir_spill import Spill, Stored
from .report import Tally

TallyOf = Callable[[str], Tally]


class ChartMaker:
    """Makes charts from what waits in a spill.

    Args:
        spill: Holds everything that was read.
        tally: Returns the account of a type.
    """

    def __init__(self, spill: Spill, tally: TallyOf) -> None:
        self._spill = spill
        self._tally = tally
        self._resolver = Resolver(spill)
        self._names = formulary_names(spill)
        self._shared = lru_cache(maxsize=1 << 14)(self._make_shared)
        self._medications = Medications(self._shared)
        self._noted: set[int] = set()
        self.used: set[int] = set()
        """seq of the shared resources that some chart holds or names."""
        self.refused: set[int] = set()
        """seq of the resources that were refused while charts were made."""
        self.invalid = 0

    def chart(self, patient: str) -> list[Mapped]:
        """Return the resources of a patient with when they became known; empty where the Patient was refused."""
        mine: dict[str, tuple[Stored, Resource]] = {}
        for stored in self._spill.chart(patient):
            resource = self._prepare(stored)
            if resource is not None:
                mine[f"{stored.type}/{stored.id}"] = (stored, resource)
        if f"Patient/{patient}" not in mine:
            for stored, _ in mine.values():
                self._refuse(stored, "the patient's own resource was refused")
            return []
        resources = {key: resource for key, (_, resource) in mine.items()}
        made = self._date(mine, resources)
        made.extend(self._shared_by(resources.values()))
        return made

    def _prepare(self, stored: Stored) -> Resource | None:
        """Resolve, repair and validate one resource; None where it was refused."""
        resource = load(stored.body)
        notes = self._notes(stored)
        self._resolver.resolve(resource, notes)
        if is_own(resource):
            return resource if self._valid(stored, resource, notes) and self._readable(stored, resource) else None
        repair(resource, notes)
        if not self._valid(stored, resource, notes):
            return None
        self._inline_binaries(resource)
        problem = repair_text(resource, notes)
        if problem is not None:
            self._refuse(stored, problem)
            return None
        product = say_medication(resource, self._medications)
        if product is not None:
            self.used.update((product.seq, *product.parts))
        if is_mimic(resource):
            restore(resource, self._names, notes)
        self._show_names(resource)
        return resource if self._valid(stored, resource, notes) else None

    def _readable(self, stored: Stored, resource: Resource) -> bool:
        """Tell whether our own marks can be read; somebody may have changed an export."""
        try:
            own_known(load(dump(resource)))
            forms(resource, ALWAYS)
        except (AttributeError, DataError, KeyError, TypeError, ValueError):
            self._refuse(stored, "its marks of this library are damaged")
            return False
        return True

    def _notes(self, stored: Stored) -> Callable[[str], None]:
        """Return where to note what was repaired; one resource in several charts is noted once."""
        if stored.seq in self._noted:
            return lambda text: None
        if stored.type in rules()["shared"] or stored.type in rules()["every"]:
            self._noted.add(stored.seq)
        return self._tally(stored.type).note

    def _valid(self, stored: Stored, resource: Resource, notes: Callable[[str], None]) -> bool:
        problems = _problems(resource, notes)
        if problems:
            self.refuse_invalid(stored.seq, stored.type, problems[0].split(":", 1)[0])
        return not problems

    def refuse_invalid(self, seq: int, kind: str, path: str) -> None:
        """Refuse a resource that is not valid R4."""
        if seq not in self.refused:
            self.refused.add(seq)
            self.invalid += 1
            self._tally(kind).refuse(f"not valid FHIR R4: {path}", seq)

    def _refuse(self, stored: Stored, reason: str) -> None:
        if stored.seq not in self.refused:
            self.refused.add(stored.seq)
            self._tally(stored.type).refuse(reason, stored.seq)

    def _inline_binaries(self, resource: Resource) -> None:
        """Put the data of Binary resources into the attachments that only name them."""
        for attachment in attachments(resource):
            url = attachment.get("url")
            if "data" in attachment or not isinstance(url, str):
                continue
            key = self._resolver.key(url)
            stored = self._spill.get("Binary", key.partition("/")[2]) if key and key.startswith("Binary/") else None
            if stored is not None and isinstance(data := load(stored.body).get("data"), str):
                attachment["data"] = data
                del attachment["url"]
                self.used.add(stored.seq)

    def _show_names(self, resource: Resource) -> None:
        """Give references to places and people the name of what they lead to, where they have none."""
        for reference in references(resource):
            kind, _, identity = reference["reference"].partition("/")
            if kind in ("Device", "Location", "Organization", "Practitioner") and "display" not in reference:
                name = self._name_of(kind, identity)
                if name is not None:
                    reference["display"] = name

    def _name_of(self, kind: str, identity: str) -> str | None:
        if kind == "Device":  # its patient's own: only the name is looked at, wherever it belongs
            stored = self._spill.get(kind, identity)
            return None if stored is None else device_name(load(stored.body))
        body = self._shared(kind, identity)
        return text_of(load(body[1]).get("name")) if body is not None else None

    def _make_shared(self, kind: str, identity: str) -> tuple[int, bytes] | None:
        stored = self._spill.get(kind, identity)
        if stored is None or stored.seq in self.refused or self._spill.is_owned(stored.seq):
            return None
        resource = load(stored.body)
        notes = self._notes(stored)
        self._resolver.resolve(resource, notes)
        if not is_own(resource):
            repair(resource, notes)
        problems = _problems(resource, notes) or check_model(resource)
        if problems:
            self.refuse_invalid(stored.seq, kind, problems[0].split(":", 1)[0])
            return None
        if is_own(resource) and not self._readable(stored, resource):
            return None
        return stored.seq, dump(resource)

    def _shared_by(self, resources: Iterable[Resource]) -> list[Mapped]:
        """Return copies of the shared resources that a chart refers to, directly or through others."""
        out: dict[str, Mapped] = {}
        waiting = [reference["reference"] for resource in resources for reference in references(resource)]
        while waiting:
            key = waiting.pop()
            kind, _, identity = key.partition("/")
            if key in out or kind not in rules()["shared"]:
                continue
            found = self._shared(kind, identity)
            if found is None:
                continue
            self.used.add(found[0])
            resource = load(found[1])
            known = own_known(resource) if is_own(resource) else ALWAYS
            out[key] = Mapped(kind, found[0], resource, known)
            waiting.extend(reference["reference"] for reference in references(resource))
        return [out[key] for key in sorted(out)]

    def _date(self, mine: dict[str, tuple[Stored, Resource]], resources: dict[str, Resource]) -> list[Mapped]:
        clock = Clock(resources)
        made: list[Mapped] = []
        for stored, resource in mine.values():
            if is_own(resource):
                made.append(Mapped(stored.type, stored.seq, resource, own_known(resource)))
                continue
            notes = self._notes(stored)
            if is_mimic(resource):
                finish(resource, resources, notes)
            made.append(Mapped(stored.type, stored.seq, resource, clock.known(resource, notes)))
        documents = [
            (one.resource, one.known)
            for one in made
            if one.table == "DocumentReference" and isinstance(one.resource, dict)
        ]
        changed = date_superseded(documents)
        if changed:
            self._tally("DocumentReference").note("superseded; reads as current until the next note was known", changed)
        return made


def _problems(resource: Resource, notes: Callable[[str], None]) -> list[str]:
    """Return why a resource is not valid R4; one whose form alone is wrong is mended first."""
    problems = check(load(dump(resource)))
    if problems and not is_own(resource) and mend(resource, notes):
        problems = check(load(dump(resource)))
    return problems


def storable(resource: Resource) -> bytes | None:
    """Return a resource's JSON, or None where it cannot be written (a lone surrogate, a number beyond 64 bits)."""
    try:
        return dump(resource)
    except DataError:
        return None
