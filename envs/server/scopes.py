"""SMART scopes, v1 and v2, and what they let a token's holder see and do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

from pydantic import BaseModel, ConfigDict

from wardround.patients import SearchError, UsageError, Visibility, load_data, searchable

_SCOPE = re.compile(
    r"(?P<level>patient|user|system)/(?P<kind>\*|[A-Z][A-Za-z]{1,60})\."
    r"(?P<actions>read|write|\*|c?r?u?d?s?)(?:\?(?P<query>[^\s]{1,500}))?"
)
_V1 = {"read": "rs", "write": "cud", "*": "cruds"}
_ASIDE = frozenset({"openid", "fhirUser", "profile", "launch", "launch/patient", "launch/encounter", "online_access",
                    "offline_access"})  # fmt: skip
"""Scopes of SMART that say nothing about resources."""


class Grant(NamedTuple):
    """One scope."""

    level: str
    """`patient` (one patient's record), `user` or `system`."""
    kind: str
    """A resource type, or `*`."""
    actions: str
    """Letters of create, read, update, delete, search."""
    query: str = ""
    """A search that must find the resource; "" allows all of the type."""


def parse_scopes(text: str) -> tuple[Grant, ...]:
    """Read a list of scopes, parted by blanks.

    Raises:
        UsageError: One of them is no SMART scope, or its filter is no search of its type.

    Examples:
        >>> parse_scopes("user/Observation.read")[0].actions
        'rs'
        >>> parse_scopes("patient/Observation.rs?category=laboratory")[0].query
        'category=laboratory'
    """
    found = []
    for word in text.split():
        if word in _ASIDE:
            continue
        match = _SCOPE.fullmatch(word)
        if match is None or not match["actions"]:
            raise UsageError(f"scope `{word[:80]}` is none; write user/Observation.rs or patient/*.read")
        query = match["query"] or ""
        if query and match["kind"] == "*":
            raise UsageError(f"scope `{word[:80]}`: a filter needs a type, not `*`")
        grant = Grant(match["level"], match["kind"], _V1.get(match["actions"], match["actions"]), _plain(query))
        if query and grant.kind in searchable():
            try:
                Visibility({grant.kind: [grant.query]})
            except SearchError as fault:
                raise UsageError(f"scope `{word[:80]}`: {fault}; a filter is a search of its type") from fault
        found.append(grant)
    return tuple(found)


def _plain(query: str) -> str:
    return urlencode(parse_qsl(query, keep_blank_values=True))


@dataclass(slots=True)
class Access:
    """What the holder of a token may see and do.

    Args:
        role: Name of the role, for the audit log.
        grants: The scopes; they add up.
        patient: Whose record the scopes of level `patient` are about.
        mark: First characters of the token's hash, for the audit log.
    """

    role: str
    grants: tuple[Grant, ...]
    patient: str | None = None
    mark: str = ""
    _seen: dict[tuple[str, bool], Visibility] = field(default_factory=dict)

    def may(self, action: str, kind: str) -> bool:
        """Tell whether an action on a type is allowed to any resource at all.

        Args:
            action: One letter: c, r, u, d or s.
            kind: A resource type.
        """
        return any(action in grant.actions and grant.kind in ("*", kind) for grant in self.grants)

    def visibility(self, action: str, patient_id: str) -> Visibility:
        """Return on which resources of a patient's record an action is allowed."""
        own = patient_id == self.patient
        found = self._seen.get((action, own))
        if found is None:
            allowed: dict[str, list[str]] = {}
            for grant in self.grants:
                if action in grant.actions and (own or grant.level != "patient"):
                    for kind in searchable() if grant.kind == "*" else (grant.kind,):
                        allowed.setdefault(kind, []).append(grant.query)
            found = self._seen[action, own] = Visibility(allowed)
        return found

    @property
    def bound(self) -> bool:
        """Whether no scope reaches beyond the one patient's record."""
        return all(grant.level == "patient" for grant in self.grants)


def roles() -> Mapping[str, str]:
    """Return the roles that the library knows: name → scopes (`data/roles.json`)."""
    told = load_data("wardround.envs.server", "data/roles.json", _Roles)
    return {name: " ".join(one.scopes) for name, one in sorted(told.roles.items())}


class _Role(BaseModel):
    model_config = ConfigDict(extra="forbid")
    scopes: tuple[str, ...]


class _Roles(BaseModel):
    model_config = ConfigDict(extra="forbid")
    about: str
    roles: dict[str, _Role]


def access_of(role: str, scopes: str, patient: str | None, mark: str = "") -> Access:
    """Return what a token may do.

    Raises:
        UsageError: A scope cannot be read, or one of level `patient` has no patient.
    """
    grants = parse_scopes(scopes)
    if any(grant.level == "patient" for grant in grants) and patient is None:
        raise UsageError(f"role `{role}` is about one patient; name the patient: --role {role}=ID")
    return Access(role, grants, patient, mark)


OPEN = "user/*.crus"
"""Scopes of a server that asks for no token."""
