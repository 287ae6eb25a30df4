"""When a resource became known: the rule table of `data/fhir_import.json`, applied to one chart."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from wardround.patients.elements import tail
from wardround.patients.resource import (
    ALWAYS,
    KNOWN_AT,
    KNOWN_LATER,
    NEVER_KNOWN,
    Resource,
    end_of,
    known_at,
    known_value,
    values_at,
)
from wardround.patients.times import NEVER, Instant, parse_instant

from .fhir_rules import rules

Note = Callable[[str], None]


def is_own(resource: Resource) -> bool:
    """Tell whether a resource was written by this library: it carries when it became known, or that it never did."""
    marks = resource.get("meta", {}).get("extension", ()) if isinstance(resource.get("meta"), dict) else ()
    return any(isinstance(mark, dict) and mark.get("url") in (KNOWN_AT, NEVER_KNOWN) for mark in marks)


def own_known(resource: Resource) -> Instant:
    """Return what our own mark says, and take the mark of a resource that is never known away."""
    meta = resource["meta"]
    if any(mark.get("url") == NEVER_KNOWN for mark in meta["extension"]):
        meta["extension"] = [mark for mark in meta["extension"] if mark.get("url") != NEVER_KNOWN]
        if not meta["extension"]:
            del meta["extension"]
        if not meta:
            del resource["meta"]
        return NEVER
    found = known_at(resource)
    return NEVER if found is None else found


class Clock:
    """The clock of one chart.

    Args:
        resources: The chart's resources by `Type/id`.
    """

    def __init__(self, resources: Mapping[str, Resource]) -> None:
        self._resources = resources

    def known(self, resource: Resource, note: Note) -> Instant:
        """Return when a resource became known; `NEVER` where nothing says so (noted)."""
        kind = resource["resourceType"]
        table = rules()
        if kind in table["always"]:
            return ALWAYS
        found = self._known(resource, 0)
        if found is None:
            note("no date and no rule for when it was known; kept, never visible")
            return NEVER
        path, known = found
        if path == "encounter.end" or path.endswith(".encounter.end"):
            note("without a date of its own; known at the end of its encounter")
        elif path == "meta.lastUpdated":
            note("without a date of its own; known when its server last changed it")
        starts = [text for path in table["not_before"].get(kind, ()) for text in values_at(resource, path)]
        return max([known, *(parse_instant(text) for text in starts if isinstance(text, str))])

    def _known(self, resource: Resource, depth: int) -> tuple[str, Instant] | None:
        for path in _paths(resource):
            found = self._at(resource, path, depth)
            if found:
                return path, max(found)
        return None

    def _at(self, resource: Resource, path: str, depth: int) -> list[Instant]:
        if path == "members":
            return self._members(resource, depth)
        if path == "encounter.end":
            return self._encounter_end(resource)
        if path.endswith(".encounter.end"):
            others = self._others(resource, path.partition(".")[0])
            return [instant for other in others for instant in self._encounter_end(other)]
        return [end_of(text) for text in values_at(resource, path) if isinstance(text, str)]

    def _others(self, resource: Resource, path: str) -> list[Resource]:
        keys = [str(one.get("reference")) for one in values_at(resource, path) if isinstance(one, dict)]
        return [self._resources[key] for key in keys if key in self._resources]

    def _members(self, resource: Resource, depth: int) -> list[Instant]:
        if depth > 3:
            return []
        found = (self._known(other, depth + 1) for other in self._others(resource, "hasMember"))
        return [known for one in found if one is not None for known in (one[1],)]

    def _encounter_end(self, resource: Resource) -> list[Instant]:
        path = rules()["encounter"].get(resource["resourceType"], "encounter")
        node = next(iter(values_at(resource, path)), None)
        stay = self._resources.get(f"Encounter/{tail(node)}")
        return [end_of(text) for text in values_at(stay, "period.end") if isinstance(text, str)] if stay else []


def _paths(resource: Resource) -> list[str]:
    special = rules()["known_by_profile"]
    for profile in values_at(resource, "meta.profile"):
        if profile in special:
            return list(special[profile])
    return list(rules()["known"].get(resource["resourceType"], ()))


def date_superseded(documents: list[tuple[Resource, Instant]]) -> int:
    """Let superseded notes read as current until they were replaced: else their status would tell of later ones.

    A note is replaced when the note that names it in `relatesTo` became known, else when the patient's next note of
    any kind did.

    Returns:
        How many notes were given such a time.
    """
    replaced: dict[str, Instant] = {}
    for resource, known in documents:
        for relation in resource.get("relatesTo", ()):
            if isinstance(relation, dict) and relation.get("code") == "replaces":
                key = str(relation.get("target", {}).get("reference"))
                replaced[key] = min(known, replaced.get(key, known))
    times = sorted({known for _, known in documents if known < NEVER})
    count = 0
    for resource, known in documents:
        if resource.get("status") != "superseded" or known == NEVER or _has_marks(resource):
            continue
        later = replaced.get(
            f"DocumentReference/{resource['id']}", next((time for time in times if time > known), NEVER)
        )
        if known < later < NEVER:
            known_value(resource, "status", "current", known)
            known_value(resource, "status", "superseded", later)
            count += 1
    return count


def _has_marks(resource: Resource) -> bool:
    return any(mark.get("url") == KNOWN_LATER for mark in resource.get("meta", {}).get("extension", ()))
