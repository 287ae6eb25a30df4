"""Building and validating FHIR R4 (4.0.1) resources.

A resource is valid when three layers find nothing: the official JSON schema (trimmed to our types), our own walk for
what a JSON schema cannot say (required bindings, reference targets, choices, real dates, empty elements; invariants.py
has the invariants), and, for every new shape and a seeded sample, the `fhir.resources.R4B` models. Nothing is ever
validated on reads.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from hashlib import blake2b
from importlib import import_module
from importlib.resources import files
from typing import Any, NamedTuple

import jsonschema_rs
import orjson

from .errors import DataError
from .invariants import check_invariants
from .narrow import narrow_schema
from .resource import (
    ALWAYS,
    DERIVED_STATUS,
    DERIVED_SYSTEM,
    KNOWN_AT,
    KNOWN_LATER,
    Resource,
    decimal,
    dump,
    end_of,
    instant_text,
    is_derived,
    known_at,
    known_later,
    known_value,
    load,
    period_of,
    rank_of,
    stamp,
    tag_derived,
    values_at,
    with_rank,
)  # fmt: skip

__all__ = [
    "ALWAYS", "DERIVED_STATUS", "DERIVED_SYSTEM", "KNOWN_AT", "KNOWN_LATER", "Resource", "Validator", "decimal",
    "definition", "dump", "end_of", "instant_text", "is_derived", "known_at", "known_later", "known_value", "load",
    "rank_of", "reference_types", "stamp", "tag_derived", "types", "validate", "with_rank",
]  # fmt: skip

MAX_PROBLEMS = 20

_CONCEPT_CODES: dict[str, dict[str, tuple[str, frozenset[str]]]] = {
    "Condition": {
        "clinicalStatus": (
            "http://terminology.hl7.org/CodeSystem/condition-clinical",
            frozenset({"active", "recurrence", "relapse", "inactive", "remission", "resolved"}),
        ),
        "verificationStatus": (
            "http://terminology.hl7.org/CodeSystem/condition-ver-status",
            frozenset({"unconfirmed", "provisional", "differential", "confirmed", "refuted", "entered-in-error"}),
        ),
    },
    "AllergyIntolerance": {
        "clinicalStatus": (
            "http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical",
            frozenset({"active", "inactive", "resolved"}),
        ),
        "verificationStatus": (
            "http://terminology.hl7.org/CodeSystem/allergyintolerance-verification",
            frozenset({"unconfirmed", "confirmed", "refuted", "entered-in-error"}),
        ),
    },
}
"""CodeableConcepts with a required binding: the schema does not look inside them."""

_REFERENCE = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9+.\-]*://[^\s]+/)?([A-Z][A-Za-z]+)/[A-Za-z0-9\-.]{1,64}(?:/_history/\S+)?"
)


@cache
def _data() -> dict[str, Any]:
    packed = files("wardround.patients").joinpath("data/r4.json.gz").read_bytes()
    data: dict[str, Any] = orjson.loads(gzip.decompress(packed))
    return data


def schema_tables() -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the definitions of the schema, and the tables of what it cannot say; both are shared: do not change."""
    return _data()["definitions"], _data()["tables"]


def types() -> tuple[str, ...]:
    """Return the resource types that can be validated and stored."""
    return tuple(_data()["types"])


def definition(name: str) -> Mapping[str, Any]:
    """Return the JSON schema of a type, or of an element of one (`Claim_Insurance`)."""
    found: dict[str, Any] = _data()["definitions"][name]
    return found


def reference_types(name: str) -> Mapping[str, frozenset[str]]:
    """Return which types the references of a type or element may lead to, where R4 restricts them."""
    return {key: step.references for key, step in _definition(name).steps.items() if step.references}


@cache
def _schema(resource_type: str) -> Any:
    schema = {
        "$schema": "http://json-schema.org/draft-06/schema#",
        "definitions": _data()["definitions"],
        "$ref": f"#/definitions/{resource_type}",
    }
    return jsonschema_rs.Draft6Validator(schema, pattern_options=jsonschema_rs.RegexOptions())


@cache
def _narrow_of(resource_type: str) -> Any:
    return narrow_schema(_data()["definitions"], _definition, resource_type)


def _narrow(resource_type: object) -> Any:
    """Return what accepts most valid resources of a type at once (narrow.py); None where there is no such type."""
    known = isinstance(resource_type, str) and resource_type in _types()
    return _narrow_of(resource_type) if known else None


@cache
def _types() -> frozenset[str]:
    return frozenset(_data()["types"])


_DATES = ("date", "dateTime", "instant")
_MONTHS = "0[1-9]|1[0-2]"
"""Found in the pattern of every date; the schema writes the pattern itself, not a reference, in choice elements."""


class _Step(NamedTuple):
    """What the walk does with one property; what is empty needs no check."""

    child: str = ""
    """Definition of the value (complex ones only)."""
    dated: bool = False
    codes: frozenset[str] = frozenset()
    concept: tuple[str, frozenset[str]] | None = None
    references: frozenset[str] = frozenset()
    many: bool = False
    """Whether R4 repeats the element: the schema lets an array pass in place of one complex value."""


class _Definition(NamedTuple):
    """What the walk asks of one kind of element."""

    steps: Mapping[str, _Step]
    choices: tuple[tuple[str, bool, frozenset[str]], ...]
    required: tuple[str, ...]


@cache
def _definition(name: str) -> _Definition:
    properties = _data()["definitions"][name].get("properties", {})
    table = _data()["tables"].get(name, {"refs": {}, "codes": {}, "choices": {}, "required": []})
    concepts = _CONCEPT_CODES.get(name, {})
    steps = {}
    for key, prop in properties.items():
        target = (prop.get("$ref") or prop.get("items", {}).get("$ref") or "").rpartition("/")[2]
        kinds = frozenset(table["refs"].get(key, ()))
        step = _Step(
            target if target[:1].isupper() and target in _data()["definitions"] else "",
            target in _DATES or _MONTHS in str(prop),
            frozenset(table["codes"].get(key, ())),
            concepts.get(key),
            kinds if "Resource" not in kinds else frozenset(),
            prop.get("type") == "array",
        )
        if step._replace(many=False) != _Step():
            steps[key] = step
    choices = ((key, needed, names) for key, (needed, names) in sorted(table["choices"].items()))
    return _Definition(
        steps,
        tuple((key, needed, frozenset([*names, *(f"_{one}" for one in names)])) for key, needed, names in choices),
        tuple(table["required"]),
    )


def validate(resource: bytes | str | Mapping[str, Any]) -> list[str]:
    """Check a resource against FHIR R4: schema, bindings, references, dates, empty elements, invariants.

    Args:
        resource: JSON text, or a dict (which may hold `Decimal` and `orjson.Fragment`).

    Returns:
        Problems, each beginning with the path of the element; empty when it is valid. At most `MAX_PROBLEMS`.
    """
    try:
        plain = orjson.loads(resource if isinstance(resource, bytes | str) else dump(resource))
    except (orjson.JSONDecodeError, DataError) as fault:
        return [f"not JSON: {fault}"]
    return check(plain, strict=True)


def check(plain: Any, *, strict: bool = False) -> list[str]:
    """Check a resource that is parsed already (numbers as int, float or Decimal).

    `strict` adds con-3, a guideline of R4 that what we write ourselves keeps and a real record may not.
    """
    narrow = _narrow(plain.get("resourceType")) if isinstance(plain, dict) else None
    if narrow is None or not narrow.is_valid(plain):
        return _examine(plain, None, strict=strict)
    problems: list[str] = []
    check_invariants(plain, problems, strict=strict)
    return problems


def _examine(plain: Any, keys: list[str] | None, *, strict: bool = False) -> list[str]:
    """Return the problems of a resource, and collect its keys in the order of the walk: its shape."""
    if not isinstance(plain, dict) or not isinstance(plain.get("resourceType"), str):
        return ["resourceType: missing; every resource names its type"]
    kind = plain["resourceType"]
    if kind not in _types():
        return [f"resourceType: `{kind}` cannot be stored; one of {', '.join(types())}"]
    problems: list[str] = []
    schema = _schema(kind)
    if not schema.is_valid(plain):
        problems = [_told(fault) for fault, _ in zip(schema.iter_errors(plain), range(MAX_PROBLEMS), strict=False)]
    if keys is not None:
        keys.append(kind)
    _walk(plain, kind, kind, problems, keys)
    if not problems:
        check_invariants(plain, problems, strict=strict)
    return problems[:MAX_PROBLEMS]


def _told(fault: Any) -> str:
    path = ".".join(str(part) for part in fault.instance_path) or "resource"
    return f"{path}: {str(fault.message)[:200]}"


_Where = str | tuple[Any, str]
"""A path: the type, or the path of the element above with a key. Written out only where there is something to say."""


def _text(where: _Where) -> str:
    keys: list[str] = []
    while not isinstance(where, str):
        where, key = where
        keys.append(key)
    return ".".join([where, *reversed(keys)])


def _walk(node: dict[str, Any], name: str, where: _Where, problems: list[str], keys: list[str] | None) -> None:
    """Check one element and everything below it."""
    steps, choices, required = _definition(name)
    if keys is not None:
        keys.extend(node)
        keys.append(".")
    for key, value in node.items():
        if not value and (value is None or value in ({}, [], "")):
            problems.append(f"{_text(where)}.{key}: is empty; leave the element out")
        elif (step := steps.get(key)) is not None:
            _take_step(value, step, (where, key), problems, keys)
    for key in required:
        if key not in node and f"_{key}" not in node:
            problems.append(f"{_text(where)}.{key}: is required")
    for choice, needed, names in choices:
        if names.isdisjoint(node):
            if needed:
                problems.append(f"{_text(where)}.{choice}[x]: is required")
        elif len(found := [key for key in node if key in names]) > 1 and len({key.lstrip("_") for key in found}) > 1:
            problems.append(f"{_text(where)}.{choice}[x]: only one of {', '.join(sorted(found))} may be given")


def _take_step(value: Any, step: _Step, where: _Where, problems: list[str], keys: list[str] | None) -> None:
    child, dated, codes, concept, references, many = step
    if child:
        if isinstance(value, list) and not many:
            problems.append(f"{_text(where)}: is an array; R4 has one value here")
        for item in value if isinstance(value, list) else (value,):
            if item and isinstance(item, dict):
                _walk(item, child, where, problems, keys)
            elif item is None or item == {}:
                if item is not None or child != "Element":
                    problems.append(f"{_text(where)}: holds an empty element; leave it out")
            else:
                problems.append(f"{_text(where)}: is {type(item).__name__}; R4 has an object here")
        if references:
            _check_references(value, references, where, problems)
        if concept:
            _check_concept(value, concept, where, problems)
    elif dated:
        _check_dates(value, where, problems)
    elif codes and not (isinstance(value, str) and value in codes):
        problems.append(f"{_text(where)}: `{value}` is not one of {', '.join(sorted(codes))}")


def _check_dates(value: Any, where: _Where, problems: list[str]) -> None:
    for text in value if isinstance(value, list) else (value,):
        if isinstance(text, str):
            try:
                period_of(text)
            except ValueError as fault:
                problems.append(f"{_text(where)}: `{text}` is not a real date ({fault})")


def _check_references(value: Any, kinds: frozenset[str], where: _Where, problems: list[str]) -> None:
    for item in value if isinstance(value, list) else (value,):
        text = item.get("reference") if isinstance(item, dict) else None
        if not isinstance(text, str) or text.startswith(("#", "urn:")):
            continue
        kind = _referred(text)
        if kind is None:
            problems.append(f"{_text(where)}: `{text}` is not `Type/id`")
        elif kind not in kinds:
            problems.append(f"{_text(where)}: refers to a {kind}; allowed are {', '.join(sorted(kinds))}")


@lru_cache(maxsize=4096)
def _referred(text: str) -> str | None:
    """Return the type a reference points to; None where it is no reference. A chart's point to few resources."""
    match = _REFERENCE.fullmatch(text)
    return None if match is None else match[1]


def _check_concept(value: Any, wanted: tuple[str, frozenset[str]], where: _Where, problems: list[str]) -> None:
    system, codes = wanted
    codings = [coding for coding in values_at(value, "coding") if isinstance(coding, dict)]
    if any(coding.get("system") == system and str(coding.get("code")) in codes for coding in codings):
        return
    found = ", ".join(f"{coding.get('system')}|{coding.get('code')}" for coding in codings) or "no coding"
    problems.append(f"{_text(where)}: needs a code of {system} ({', '.join(sorted(codes))}), found {found}")


SAMPLE = 512
"""One resource in so many, by a hash of its key, is also read by the R4B models."""


class Validator:
    """Validation of a whole store: every form by schema and walk, new shapes and a sample by the R4B models.

    `statistics` counts `checked`, `by_models`, and `by_template`: what was made from a template that was checked.
    """

    def __init__(self, sample: int = SAMPLE) -> None:
        self._shapes: set[int] = set()
        self._sample = sample
        self.statistics = {"checked": 0, "by_models": 0, "by_template": 0}

    def __call__(self, plain: Resource) -> list[str]:
        """Return the problems of a parsed resource."""
        self.statistics["checked"] += 1
        keys: list[str] = []
        problems = _examine(plain, keys)
        if not problems and self._wants_model(plain, keys):
            self.statistics["by_models"] += 1
            problems = check_model(plain)
        return problems

    def _wants_model(self, plain: Resource, keys: list[str]) -> bool:
        shape = hash(tuple(keys))
        if shape not in self._shapes:
            self._shapes.add(shape)
            return True
        key = f"{plain['resourceType']}/{plain.get('id')}".encode()
        return int.from_bytes(blake2b(key, digest_size=8).digest(), "big") % self._sample == 0


def check_model(plain: Resource) -> list[str]:
    """Check a resource by its `fhir.resources.R4B` model (slow: a quarter of a millisecond and more)."""
    kind = plain["resourceType"]
    model = getattr(import_module(f"fhir.resources.R4B.{kind.lower()}"), kind)
    try:
        model.model_validate_json(dump(plain))
    except ValueError as fault:
        faults = fault.errors() if hasattr(fault, "errors") else [{"loc": (), "msg": str(fault)}]
        return [f"{'.'.join(map(str, one['loc']))}: {one['msg']} (R4B model)" for one in faults[:MAX_PROBLEMS]]
    return []
