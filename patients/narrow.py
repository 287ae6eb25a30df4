"""The JSON schema of a type with our own rules written into it: one pass decides most of what is valid.

The schema of R4 says less than we ask, so that a walk in Python follows it (fhir.py). Nearly all that the walk asks can
be written as schema, which is read four times as fast. What cannot is refused here: 29 February, contained resources,
extensions of primitive values, absolute references. So what a narrow schema accepts has no problem, and what it
refuses is for the schema and the walk to judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import jsonschema_rs

Schema = dict[str, Any]

_DAY = "(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31"  # no 29 February
_TIME = r"T[0-2][0-9]:[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2})"
_REAL = f"^[0-9]{{4}}(?:-(?:0[1-9]|1[0-2]|(?:{_DAY})(?:{_TIME})?))?$"
"""Days that exist in every year, read together with the pattern of the schema, which bounds hours and zones."""

_FEW = 3
"""Names of a choice up to which every pair of them is excluded; above, one of all is asked for."""


class Step(Protocol):
    """What the walk asks of one property."""

    @property
    def child(self) -> str:
        """Definition of a complex value."""

    @property
    def dated(self) -> bool:
        """It is a date."""

    @property
    def codes(self) -> frozenset[str]:
        """The only values."""

    @property
    def concept(self) -> tuple[str, frozenset[str]] | None:
        """Code system and codes of which it needs one."""

    @property
    def references(self) -> frozenset[str]:
        """Types that it may refer to."""


class Asked(Protocol):
    """What the walk asks of one kind of element."""

    @property
    def steps(self) -> Mapping[str, Step]:
        """By property; one without a step is only never empty."""

    @property
    def choices(self) -> tuple[tuple[str, bool, frozenset[str]], ...]:
        """Name, whether one is needed, and the properties of which there may be one."""

    @property
    def required(self) -> tuple[str, ...]:
        """Properties that must be there."""


def narrow_schema(definitions: Mapping[str, Any], asked: Callable[[str], Asked], kind: str) -> Any:
    """Return a validator (`is_valid`) that accepts a resource only if schema and walk find nothing wrong with it.

    Args:
        definitions: Of the R4 schema.
        asked: What the walk asks of a definition.
        kind: A resource type.
    """
    narrowed: dict[str, Schema] = {}
    waiting = [kind]
    while waiting:
        name = waiting.pop()
        if name not in narrowed:
            narrowed[name] = _element(definitions, name, asked(name))
            waiting += [step.child for step in asked(name).steps.values() if step.child]
    schema = {"definitions": narrowed, "$ref": f"#/definitions/{kind}"}
    return jsonschema_rs.Draft6Validator(schema, pattern_options=jsonschema_rs.RegexOptions())


def _element(definitions: Mapping[str, Any], name: str, asked: Asked) -> Schema:
    """Return the schema of one kind of element: not empty, nothing required missing, one of each choice at most."""
    wide = definitions[name]
    properties = {
        key: _property(definitions, prop, asked.steps.get(key))
        for key, prop in wide["properties"].items()
        if not key.startswith("_")
    }
    found: Schema = {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "minProperties": 1,
        "required": sorted({*wide.get("required", ()), *asked.required}),
    }
    if name == "Extension":  # its value may be of fifty types: beside the url there is room for one
        return {**found, "maxProperties": 2, "required": ["url"]}
    rules = [rule for _, needed, names in asked.choices for rule in _choice(needed, sorted(names & properties.keys()))]
    return {**found, "allOf": rules} if rules else found


def _choice(needed: bool, names: list[str]) -> Iterable[Schema]:
    """Yield rules that let one of the names stand at most, and at least where one is needed."""
    one: list[Schema] = [{"required": [name]} for name in names]
    if needed:
        yield {"oneOf": one}
    elif len(names) <= _FEW:
        for place, name in enumerate(names):
            yield from ({"not": {"required": [name, other]}} for other in names[place + 1 :])
    else:
        yield {"oneOf": [*one, {"not": {"anyOf": one}}]}


def _property(definitions: Mapping[str, Any], prop: Mapping[str, Any], step: Step | None) -> Schema | bool:
    if step is not None and step.codes and not step.child and not step.dated:
        return {"enum": sorted(step.codes)}
    if "items" not in prop:
        return _value(definitions, prop, step)
    return {"type": "array", "minItems": 1, "items": _value(definitions, prop["items"], step)}


def _value(definitions: Mapping[str, Any], value: Mapping[str, Any], step: Step | None) -> Schema | bool:
    """Return the schema of one value of a property; False where only the walk can tell."""
    target = value.get("$ref", "").rpartition("/")[2]
    if step is not None and step.child:
        return _complex({"$ref": f"#/definitions/{step.child}"}, step)
    plain = definitions[target] if target else value
    if "enum" in plain or "const" in plain:
        return dict(plain)
    if plain.get("type") in ("number", "boolean"):
        return {"type": plain["type"]}
    if plain.get("type") != "string" and target != "xhtml":
        return False  # a contained resource
    text = {**plain, "type": "string", "minLength": 1}
    return {"allOf": [text, {"pattern": _REAL}]} if step is not None and step.dated else text


def _complex(value: Schema, step: Step) -> Schema:
    """Return the schema of a complex value that may refer to some types only, or needs one of some codes."""
    rules = [value]
    if step.references:
        kinds = "|".join(sorted(step.references))
        rules.append({"properties": {"reference": {"pattern": rf"^(?:{kinds})/[A-Za-z0-9\-.]{{1,64}}$"}}})
    if step.concept is not None:
        system, codes = step.concept
        coding = {"properties": {"system": {"const": system}, "code": {"enum": sorted(codes)}}}
        one = {"contains": {**coding, "required": ["system", "code"]}}
        rules.append({"properties": {"coding": one}, "required": ["coding"]})
    return {"allOf": rules} if len(rules) > 1 else value
