"""When a resource became known: the rule table of `data/fhir_import.json`, applied to one chart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

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

from .fhir_required import required_targets
from .fhir_rules import references, rules

Note = Callable[[str], None]

_DEEPEST = 3
"""Resources of resources that are asked when one became known."""

_REASONS = {
    "encounter.end": "at the end of its encounter",
    "end": "at the end of its encounter",
    "cited": "when the first resource that refers to it was",
    "meta.lastUpdated": "when its server last changed it",
}


def is_own(resource: Resource) -> bool:
    """Tell whether a resource was written by this library: it carries when it became known, or that it never did."""
    urls = values_at(resource, "meta.extension.url")
    return any(url in (KNOWN_AT, NEVER_KNOWN) for url in urls)


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
        self._citing: dict[str, list[str]] | None = None
        self._done: dict[str, Instant] = {}

    def known(self, resource: Resource, note: Note) -> Instant:
        """Return when a resource became known; `NEVER` where nothing says so (noted)."""
        found = self._known(resource, 0)
        if found is None:
            note("no date and no rule for when it was known; kept, never visible")
            return NEVER
        path, known = found
        reason = _REASONS.get(path.rpartition(".encounter.")[2] if path.endswith(".encounter.end") else path)
        if reason:
            note(f"without a date of its own; known {reason}")
        return self._whole(resource, known, frozenset())

    def _whole(self, resource: Resource, known: Instant, asked: frozenset[str]) -> Instant:
        """Return when a resource was known and had happened, and what R4 requires it to name was known too."""
        kind = resource["resourceType"]
        starts = [text for path in rules()["not_before"].get(kind, ()) for text in values_at(resource, path)]
        known = max([known, *(parse_instant(text) for text in starts if isinstance(text, str))])
        key = f"{kind}/{resource.get('id')}"
        needed = [
            instant
            for target in required_targets(resource)
            if target not in asked and (instant := self._target(target, asked | {key})) is not None
        ]
        return max([known, *needed])

    def _target(self, key: str, asked: frozenset[str]) -> Instant | None:
        other = self._resources.get(key)
        if other is None or key.startswith("Patient/"):
            return None
        if key not in self._done:
            if is_own(other):
                return NEVER if (own := known_at(other)) is None else own
            found = self._known(other, 0)
            self._done[key] = NEVER if found is None else self._whole(other, found[1], asked)
        return self._done[key]

    def _known(self, resource: Resource, depth: int) -> tuple[str, Instant] | None:
        if resource["resourceType"] in rules()["always"]:
            return "", ALWAYS
        for path in _paths(resource):
            found = self._at(resource, path, depth)
            if found:
                return path, max(found)
        return None

    def _at(self, resource: Resource, path: str, depth: int) -> list[Instant]:
        if path == "always":
            return [ALWAYS]
        if path == "members":
            return self._each(self._others(resource, "hasMember"), depth)
        if path == "cited":
            return self._cited(resource, depth)
        if path == "encounter.end":
            return self._encounter_end(resource)
        head, _, last = path.rpartition(".")
        if last == "known":
            return self._each(self._others(resource, head), depth)
        if path.endswith(".encounter.end"):
            others = self._others(resource, path.partition(".")[0])
            return [instant for other in others for instant in self._encounter_end(other)]
        return [end_of(text) for text in values_at(resource, path) if isinstance(text, str)]

    def _others(self, resource: Resource, path: str) -> list[Resource]:
        keys = [str(one.get("reference")) for one in values_at(resource, path) if isinstance(one, dict)]
        return [self._resources[key] for key in keys if key in self._resources]

    def _each(self, others: Iterable[Resource], depth: int) -> list[Instant]:
        if depth > _DEEPEST:
            return []
        found = (self._known(other, depth + 1) for other in others if not is_own(other))
        return [one[1] for one in found if one is not None]

    def _cited(self, resource: Resource, depth: int) -> list[Instant]:
        """Return when the first resource that refers to this one was known."""
        if self._citing is None:
            self._citing = {}
            for key, other in self._resources.items():
                for reference in references(other):
                    self._citing.setdefault(reference["reference"], []).append(key)
        keys = self._citing.get(f"{resource['resourceType']}/{resource.get('id')}", ())
        others = [self._resources[key] for key in keys if key.partition("/")[0] not in rules()["always"]]
        found = self._each([one for one in others if "cited" not in _paths(one)], depth)
        return [min(found)] if found else []

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
