"""Build `patients/data/search_parameters.json`: the search parameters of our types, compiled to plain JSON paths.

Sources: the SearchParameters and the Patient compartment of FHIR 4.0.1 (CC0), the trimmed schema `r4.json.gz` (which
element has which type), the element metadata of `fhir.resources.R4B` (what a summary holds), and
`scripts/search_code_systems.json` (the system that a `code` element implies).

An expression this script cannot read, an element the schema does not know, or a type that a search cannot use stops
it: at run time nothing is parsed and nothing can fail.

    python scripts/build_search_parameters.py PATH/search-parameters.json.gz PATH/compartmentdefinition-patient.json
"""

from __future__ import annotations

import gzip
import importlib
import re
import sys
from pathlib import Path
from typing import Any

import orjson

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "patients" / "data" / "search_parameters.json"
LEAVES: dict[str, frozenset[str]] = {
    "token": frozenset({
        "CodeableConcept", "Coding", "Identifier", "ContactPoint", "code", "boolean", "string", "id", "uri",
    }),
    "string": frozenset({"string", "HumanName", "Address", "markdown"}),
    "date": frozenset({"date", "dateTime", "instant", "Period", "Timing"}),
    "quantity": frozenset({"Quantity", "Age", "Range", "SampledData", "Money", "Duration"}),
    "number": frozenset({"decimal", "positiveInt", "integer", "unsignedInt", "Range"}),
    "uri": frozenset({"uri", "url", "canonical"}),
    "reference": frozenset({"Reference", "canonical", "uri"}),
}  # fmt: skip
"""Types of elements that each kind of search can read."""

FIELDLESS = {
    "Location.near": "a special parameter",
    "DomainResource._text": "no expression",
    "Resource._content": "no expression",
    "Resource._query": "names a server's own query",
}
"""What is left out, with the reason; anything else that cannot be compiled stops the script."""

_STEP = re.compile(r"([a-zA-Z]+)|(?:as|ofType)\((\w+)\)|where\(resolve\(\) is (\w+)\)|where\((\w+)='([^']+)'\)")
_CAST = re.compile(r"\(?([A-Za-z.]+) as (\w+)\)?((?:\.\w+)*)")
_TRUTH = re.compile(r"([A-Za-z.]+)\.exists\(\) and \1 != false")


class Schema:
    """The trimmed R4 schema: elements of types, and the choices they stand for."""

    def __init__(self) -> None:
        packed = (ROOT / "patients" / "data" / "r4.json.gz").read_bytes()
        data = orjson.loads(gzip.decompress(packed))
        self.types: list[str] = sorted(data["types"])
        self.definitions: dict[str, Any] = data["definitions"]
        self.tables: dict[str, Any] = data["tables"]
        self._primitives = {name for name, body in self.definitions.items() if "properties" not in body}

    def children(self, owner: str, name: str) -> list[tuple[str, str]]:
        """Return `(JSON key, type)` of an element; several for a choice, none where there is no such element."""
        properties = self.definitions[owner].get("properties", {})
        if name in properties:
            return [(name, self._type(properties[name]))]
        choice = self.tables.get(owner, {}).get("choices", {}).get(name, (False, ()))[1]
        return [(key, self.named(key[len(name) :])) for key in choice if key in properties]

    def named(self, suffix: str) -> str:
        """Return the type that a choice's suffix or a cast names (`DateTime` and `dateTime` are one)."""
        lower = suffix[0].lower() + suffix[1:]
        return lower if lower in self._primitives else suffix

    @staticmethod
    def _type(prop: dict[str, Any]) -> str:
        inner = prop.get("items", prop)
        if "enum" in inner:
            return "code"
        return str(inner["$ref"]).rpartition("/")[2]

    def summary(self, kind: str) -> list[str]:
        """Return the JSON keys of a type's summary elements."""
        module = importlib.import_module(f"fhir.resources.R4B.{kind.lower()}")
        properties = self.definitions[kind]["properties"]
        return sorted(set(getattr(module, kind).summary_elements_sequence()) & set(properties) | {"id", "meta"})

    def mandatory(self, kind: str) -> list[str]:
        """Return the JSON keys of a type's required elements, choices spelt out."""
        table = self.tables[kind]
        keys = set(self.definitions[kind].get("required", ())) | set(table["required"])
        for needed, names in table["choices"].values():
            keys |= set(names) if needed else set()
        return sorted(keys - {"resourceType"})


class Compiler:
    """Compiles expressions to lists of `[path, type, extras]`."""

    def __init__(self, schema: Schema, systems: dict[str, str]) -> None:
        self.schema = schema
        self.systems = systems
        self.systems_used: set[str] = set()

    def paths(self, expression: str, owner: str, search: str, prefix: str = "") -> list[list[Any]]:
        """Compile the alternatives of an expression that begin at `owner` (or lie below it, for composites)."""
        found: list[list[Any]] = []
        for alternative in expression.split("|"):
            found += self._alternative(alternative.strip(), owner, search, prefix)
        return found

    def _alternative(self, text: str, owner: str, search: str, prefix: str) -> list[list[Any]]:
        truth = _TRUTH.fullmatch(text)
        if truth:
            if truth[1] != f"{owner}.deceased":
                raise SystemExit(f"cannot read `{text}`")
            return [["deceased", "truth", {}]]
        cast = _CAST.fullmatch(text)
        if cast:
            text = f"{cast[1]}.as({cast[2]}){cast[3]}"
        steps = _split(text)
        root = owner.partition("_")[0]
        if not prefix:
            if steps[0] not in (owner, "Resource", "DomainResource"):
                return []
            steps = steps[1:]
        nodes: list[tuple[str, str, str, dict[str, Any]]] = [("", owner, root, {})]
        for step in steps:
            nodes = self._step(step, nodes, text)
        return [entry for key, kind, place, extra in nodes if (entry := self._leaf(key, kind, place, extra, search))]

    def _step(
        self, step: str, nodes: list[tuple[str, str, str, dict[str, Any]]], text: str
    ) -> list[tuple[str, str, str, dict[str, Any]]]:
        match = _STEP.fullmatch(step)
        if match is None:
            raise SystemExit(f"cannot read `{step}` in `{text}`")
        name, cast, target, field, value = match.groups()
        if name:
            found = []
            for path, owner, place, extra in nodes:
                if extra:
                    raise SystemExit(f"a filter before `{name}` in `{text}`; filters are read at the end only")
                for key, kind in self.schema.children(owner, name):
                    found.append((f"{path}.{key}".strip("."), kind, f"{place}.{name}", extra))
            if not found:
                raise SystemExit(f"no element `{name}` in `{text}`")
            return found
        if cast:
            wanted = self.schema.named(cast)
            return [node for node in nodes if node[1] == wanted]
        more = {"resolve": target} if target else {"where": [field, value]}
        return [(path, owner, place, extra | more) for path, owner, place, extra in nodes]

    def _leaf(self, key: str, kind: str, place: str, extra: dict[str, Any], search: str) -> list[Any] | None:
        if kind not in LEAVES[search]:
            # A choice element has variants that this kind of search does not read (occurrence[x] as Timing is a date,
            # onset[x] as string is not): FHIR says they never match.
            if key.rpartition(".")[2] != place.rpartition(".")[2]:
                return None
            raise SystemExit(f"{place}: a {search} parameter cannot read a {kind}")
        if kind == "code":
            system = self.systems.get(place)
            if system is None:
                raise SystemExit(f"{place}: name its code system in search_code_systems.json (null if it has none)")
            self.systems_used.add(place)
            extra = {**extra, "system": system} if system else extra
        return [key, kind, extra]


def _split(text: str) -> list[str]:
    """Split at dots outside parentheses."""
    steps, depth = [""], 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if char == "." and depth == 0:
            steps.append("")
        else:
            steps[-1] += char
    return steps


def targets_of(parameter: dict[str, Any], paths: list[list[Any]], schema: Schema, kind: str) -> list[str]:
    """Return the types of ours that a reference parameter may point at."""
    told = set(parameter.get("target", ()))
    resolved = {extra["resolve"] for _, _, extra in paths if "resolve" in extra}
    return sorted((resolved or told or set(schema.types)) & set(schema.types))


def compile_parameter(
    parameter: dict[str, Any], kind: str, compiler: Compiler, by_url: dict[str, Any]
) -> dict[str, Any]:
    """Compile one parameter for one type."""
    search = parameter["type"]
    if search == "composite":
        return _composite(parameter, kind, compiler, by_url)
    owner = "Patient" if kind == "Resource" else kind  # every type has what `Resource` has
    paths = compiler.paths(parameter["expression"], owner, search)
    if not paths:
        raise SystemExit(f"{kind}.{parameter['code']}: nothing in `{parameter['expression']}` is about it")
    compiled = {"type": search, "paths": paths}
    if search == "reference":
        compiled["targets"] = targets_of(parameter, paths, compiler.schema, kind)
    return compiled


def _composite(parameter: dict[str, Any], kind: str, compiler: Compiler, by_url: dict[str, Any]) -> dict[str, Any]:
    nodes = []
    searches: list[str] = []
    for place in parameter["expression"].split("|"):
        steps = place.strip().split(".")
        if steps[0] != kind:
            continue
        key, owner = ".".join(steps[1:]), kind
        for step in steps[1:]:
            ((_, owner),) = compiler.schema.children(owner, step)
        parts = []
        searches = []
        for component in parameter["component"]:
            search, paths = _component(component, owner, place.strip(), compiler, by_url)
            searches.append(search)
            parts.append(paths)
        nodes.append([key, parts])
    return {"type": "composite", "parts": searches, "nodes": nodes}


def _component(
    component: dict[str, Any], owner: str, place: str, compiler: Compiler, by_url: dict[str, Any]
) -> tuple[str, list[list[Any]]]:
    """Compile a part of a composite. R4 names the two parts of DocumentReference.relationship the wrong way round."""
    search = by_url[component["definition"]]["type"]
    if place == "DocumentReference.relatesTo":
        search = {"code": "token", "target": "reference"}[component["expression"]]
    kind = owner
    steps = component["expression"]
    paths = []
    for alternative in steps.split("|"):
        part = alternative.strip()
        if part.startswith("("):
            part = part.strip("()").replace(" as ", ".as(") + ")"
        nodes = [("", kind, place, {})]
        for step in _split(part):
            nodes = compiler._step(step, nodes, steps)
        paths += [entry for node in nodes if (entry := compiler._leaf(*node, search))]
    return search, paths


def value_sets(schema: Schema, told: dict[str, Any]) -> dict[str, Any]:
    """Return the value sets that `:in` knows: URL → {system: codes}; a place stands for the codes bound to it."""
    found: dict[str, dict[str, list[str]]] = {}
    for url, content in told["value_sets"].items():
        if isinstance(content, dict):
            found[url] = {system: sorted(codes) for system, codes in content.items()}
            continue
        owner, _, name = content.rpartition(".")
        prop = schema.definitions[owner]["properties"][name]
        codes = schema.tables[owner]["codes"].get(name) or prop.get("items", prop).get("enum")
        if not codes:
            raise SystemExit(f"{content}: the schema binds no codes to it")
        found[url] = {told["systems"][content]: sorted(codes)}
    return found


def main(parameters_path: str, compartment_path: str) -> None:
    """Write the file."""
    schema = Schema()
    told = orjson.loads((ROOT / "scripts" / "search_code_systems.json").read_bytes())
    systems = told["systems"]
    bundle = orjson.loads(gzip.decompress(Path(parameters_path).read_bytes()))
    parameters = [entry["resource"] for entry in bundle["entry"]]
    by_url = {parameter["url"]: parameter for parameter in parameters}
    compiler = Compiler(schema, systems)
    out: dict[str, dict[str, Any]] = {}
    for parameter in parameters:
        for kind in parameter["base"]:
            if kind not in schema.types and kind not in ("Resource", "DomainResource"):
                continue
            if f"{kind}.{parameter['code']}" in FIELDLESS:
                continue
            compiled = compile_parameter(parameter, kind, compiler, by_url)
            out.setdefault(kind, {})[parameter["code"]] = compiled
    unused = set(systems) - compiler.systems_used
    if unused:
        raise SystemExit(f"search_code_systems.json: no parameter reads {', '.join(sorted(unused))}")
    compartment = orjson.loads(Path(compartment_path).read_bytes())
    members = {
        entry["code"]: sorted(entry["param"])
        for entry in compartment["resource"]
        if entry["code"] in schema.types and entry.get("param")
    }
    for kind, names in members.items():
        if missing := set(names) - set(out[kind]):
            raise SystemExit(f"compartment: {kind} has no parameter {', '.join(sorted(missing))}")
    result = {
        "format_version": 1,
        "fhirVersion": "4.0.1",
        "left_out": FIELDLESS,
        "parameters": out,
        "elements": {
            kind: {
                "mandatory": schema.mandatory(kind),
                "summary": schema.summary(kind),
                "choices": {name: keys for name, (_, keys) in sorted(schema.tables[kind]["choices"].items())},
            }
            for kind in schema.types
        },
        "compartments": {"Patient": members},
        "value_sets": value_sets(schema, told),
    }
    text = orjson.dumps(result, option=orjson.OPT_SORT_KEYS).replace(b'"},"', b'"},\n"').replace(b']},"', b']},\n"')
    OUT.write_bytes(text + b"\n")
    print(f"{sum(map(len, out.values()))} parameters of {len(schema.types)} types, {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
