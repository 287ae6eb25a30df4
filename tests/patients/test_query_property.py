"""The index against the brute-force oracle: random charts, odd shapes, anchors, overlays and queries."""

from __future__ import annotations

import importlib.util
import json
import random
import sys
from copy import deepcopy
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wardround.patients import Chart, Entry, Overlay, Snapshot, fhir_search, parse_instant
from wardround.patients.chart import memory_chart
from wardround.patients.packing import attributes, pack
from wardround.patients.resource import dump, instant_text
from wardround.patients.times import DAY
from wardround.patients.versions import Write


def _oracle() -> ModuleType:
    spec = importlib.util.spec_from_file_location("query_oracle", Path(__file__).with_name("query_oracle.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["query_oracle"] = module
    spec.loader.exec_module(module)
    return module


oracle = _oracle()
KINDS = tuple(oracle.PARAMETERS)
BASE = "http://own.example/fhir"
SYSTEMS = (None, "http://s/a", "http://s/a/", "http://s|b")
CODES = ("a", "A", "b", "a,b", "x|y", "c$d", "back\\slash", "ü")
TEXTS = (
    "Müller", "muller x", "MULLER", "a  b", "Straße", "strasse,1", "$5|6", "İzmir", "肺炎", "pain\\ful", " lead", "é",
)  # fmt: skip
DATES = (
    "1980", "1980-05", "1980-05-11", "1980-05-31", "1981", "2180-05-06T08:00:00Z", "2180-05-06T08:00:00.5Z",
    "2180-05-06T08:00:00.5000001Z", "2180-05-06T08:00:00.500000Z",
    "2180-05-06T10:00:00+02:00", "2180-05-06T08:00:00", "2180-05-06", "2180-05", "2190-01-01T00:00:00-05:00",
    "2000-02-29",
)  # fmt: skip
NUMBERS = (
    "5", "5.4", "5.40", "5.44", "5.45", "5.35", "100", "99.5", "1e2", "95", "-3", "0", "0.30", "105", "1.5e2",
    "4.9",
)  # fmt: skip
UNITS = (None, "mg", "mg/dL", "g")
REFERENCES = (
    "Patient/p", "Patient/q", "Group/p", "Patient/p/_history/2", f"{BASE}/Patient/p", "http://other/Patient/p",
    "urn:uuid:7d1a5b6e", "#m", "Observation/o1", "Observation/o2", "Encounter/e1", "Encounter/e2", "Organization/r1",
    f"{BASE}/Encounter/e1/_history/1", "not a reference",
)  # fmt: skip
ASKED = (*REFERENCES[:7], "p", "q", "o1", "e1", "e2", "r1", "Observation/o1", "Encounter/e1", "Organization/r1")
PREFIXES = ("", "eq", "ne", "gt", "lt", "ge", "le", "sa", "eb", "ap")
ODD: tuple[Any, ...] = (None, "", {}, [], 0, True, "text", [None], [[]], {"coding": 7}, {"value": "x"}, [{"start": 5}])


class Maker:
    """Makes random elements, resources and questions."""

    def __init__(self, rng: random.Random, odd: float) -> None:
        self.rng, self.odd = rng, odd

    def maybe(self, **parts: Any) -> dict[str, Any]:
        """Keep about two parts in three; None is absent."""
        return {key: value for key, value in parts.items() if value is not None and self.rng.random() < 0.7}

    def number(self) -> Any:
        return Decimal(self.rng.choice(NUMBERS[:8] + NUMBERS[10:14]))

    def coding(self) -> dict[str, Any]:
        pick = self.rng.choice
        return self.maybe(system=pick(SYSTEMS), code=pick(CODES), display=pick(TEXTS))

    def quantity(self) -> dict[str, Any]:
        pick = self.rng.choice
        comparator = pick((None, None, None, "<", "<=", ">", ">="))
        return self.maybe(
            value=self.number(), unit=pick(UNITS), system=pick(SYSTEMS), code=pick(UNITS), comparator=comparator
        )

    def element(self, kind: str) -> Any:
        """Make an element of a FHIR type."""
        name = kind.partition("=")[0].lower()
        return getattr(self, f"a_{name}")() if hasattr(self, f"a_{name}") else self.rng.choice(TEXTS)

    def a_codeableconcept(self) -> Any:
        codings = [self.coding() for _ in range(self.rng.randint(1, 3))]
        return self.maybe(coding=codings, text=self.rng.choice(TEXTS))

    def a_coding(self) -> Any:
        return self.coding()

    def a_identifier(self) -> Any:
        pick = self.rng.choice
        return self.maybe(system=pick(SYSTEMS), value=pick(CODES), type={"text": pick(TEXTS)})

    def a_contactpoint(self) -> Any:
        pick = self.rng.choice
        return self.maybe(system=pick(("email", "phone")), use=pick(("home", "work")), value=pick(CODES))

    def a_reference(self) -> Any:
        pick = self.rng.choice
        extra = self.maybe(identifier=self.a_identifier(), type=pick(("Patient", "Group")))
        return extra | self.maybe(reference=pick(REFERENCES), display=pick(TEXTS))

    def a_humanname(self) -> Any:
        pick = self.rng.choice
        return self.maybe(family=pick(TEXTS), given=[pick(TEXTS), pick(TEXTS)], text=pick(TEXTS))

    def a_address(self) -> Any:
        pick = self.rng.choice
        return self.maybe(city=pick(TEXTS), line=[pick(TEXTS)], postalCode=pick(TEXTS))

    def a_period(self) -> Any:
        return self.maybe(start=self.rng.choice(DATES), end=self.rng.choice(DATES))

    def a_timing(self) -> Any:
        events = [self.rng.choice(DATES) for _ in range(self.rng.randint(0, 2))]
        return self.maybe(event=events, repeat={"boundsPeriod": self.a_period()})

    def a_range(self) -> Any:
        return self.maybe(low=self.quantity(), high=self.quantity())

    def a_sampleddata(self) -> Any:
        data = self.rng.choice(("1 2 E L", "5", "U -3"))
        return self.maybe(origin=self.quantity(), factor=self.number(), lowerLimit=self.number(), data=data)

    def a_quantity(self) -> Any:
        return self.quantity()

    a_age = a_duration = a_quantity

    def a_decimal(self) -> Any:
        return self.number()

    def a_boolean(self) -> Any:
        return self.rng.random() < 0.5

    def a_datetime(self) -> Any:
        return self.rng.choice(DATES)

    a_date = a_instant = a_datetime

    def a_code(self) -> Any:
        return self.rng.choice(("final", "male", "a", "Final"))

    def a_uri(self) -> Any:
        return self.rng.choice(("http://u/1", "http://u/1/", "urn:x"))

    a_canonical = a_uri

    def resource(self, kind: str, identity: str) -> dict[str, Any]:
        """Make a resource with some of the elements that parameters read."""
        made: dict[str, Any] = {"resourceType": kind, "id": identity}
        for meaning in (*oracle.COMMON.values(), *oracle.PARAMETERS[kind].values()):
            if meaning[0] == "composite":
                continue
            for path in meaning[1]:
                keys, _, leaf = path.partition(":")
                if keys in ("id", "deceased") or self.rng.random() < 0.4:
                    continue
                leaf = leaf.partition("?")[0].partition("@")[0]
                self._put(made, keys.split("."), leaf)
        if kind == "Patient":
            made |= self.maybe(deceasedBoolean=self.rng.random() < 0.5, deceasedDateTime=self.rng.choice(DATES))
        return made

    def _put(self, node: dict[str, Any], keys: list[str], leaf: str) -> None:
        for key in keys[:-1]:
            many = key in ("component", "prediction")
            below = node.setdefault(key, [{}, {}] if many else {})
            if isinstance(below, list) and below:
                below = self.rng.choice(below)
            if not isinstance(below, dict):
                return
            node = below
        value = deepcopy(self.rng.choice(ODD)) if self.rng.random() < self.odd else self.element(leaf)
        if keys[-1] in ("profile", "tag", "security", "given", "telecom", "name", "hasMember", "category", "alias"):
            value = [value, self.element(leaf)] if self.rng.random() < 0.5 else [value]
        node[keys[-1]] = value

    # -- questions -----------------------------------------------------------------------------------------------

    def value(self, search: str, name: str = "") -> Any:
        """Make one alternative of a parameter."""
        pick = self.rng.choice
        match search:
            case "token":
                system = pick((None, None, *SYSTEMS, "", f"{oracle.HL7}/observation-status", oracle.SPECIAL))
                code = pick(_codes(name))
                return (system, None) if system and self.rng.random() < 0.2 else (system, code)
            case "string":
                text = pick(TEXTS)
                return text[self.rng.randint(0, 1) :][: self.rng.randint(1, 9)].strip() or text
            case "uri":
                return pick(("http://u/1", "http://u/1/", "urn:x"))
            case "date":
                return pick(PREFIXES), pick(DATES)
            case "reference":
                return pick(ASKED)
        prefix = pick(PREFIXES)
        unit = (None, None)
        if search == "quantity" and self.rng.random() < 0.5:
            unit = pick((("", "mg"), ("", "mg/dL"), ("http://s/a", "mg"), ("http://s/a", None)))
        return (prefix, pick(NUMBERS), *unit)

    def question(self, kind: str, depth: int = 0) -> Any:
        """Make a question to a type."""
        pick, roll = self.rng.choice, self.rng.random()
        chained = [name for source, name in oracle.TARGETS if source == kind]
        if depth < 3 and chained and roll < 0.15:
            name = pick(chained)
            target = pick(oracle.TARGETS[kind, name])
            return ("chain", name, pick((None, target)), self.question(target, depth + 1))
        backward = [(source, name) for (source, name), targets in oracle.TARGETS.items() if kind in targets]
        if depth < 3 and backward and roll < 0.3:
            source, name = pick(backward)
            return ("has", source, name, self.question(source, depth + 1))
        name = pick((*oracle.COMMON, *oracle.PARAMETERS[kind]))
        meaning = oracle.definition(kind, name)
        if roll < 0.4:
            return ("ask", name, "missing", [self.rng.random() < 0.5])
        count = self.rng.choice((1, 1, 1, 2, 3))
        if meaning[0] == "composite":
            return ("ask", name, "", [[self.value("token"), self.value("quantity")] for _ in range(count)])
        modifier = pick(
            {
                "token": ("", "", "not", "text"),
                "string": ("", "contains", "exact"),
                "reference": ("", "", "identifier", "Patient"),
            }.get(meaning[0], ("",))
        )
        if modifier == "Patient" and "Patient" not in oracle.TARGETS[kind, name]:
            modifier = ""
        search = {"text": "string", "identifier": "token"}.get(modifier, meaning[0])
        values = [self.value(search, name) for _ in range(count)]
        if modifier == "Patient":
            values = [value for value in values if "/" not in value or value.startswith("Patient/")] or ["p"]
        return ("ask", name, modifier, values)


def _codes(name: str) -> tuple[str, ...]:
    """Return codes that may be found through a parameter."""
    if name == "_id":
        return ("p", "q", "o1", "o2", "e1", "r1", "condition1", "riskassessment1", "communication2")
    if name in ("active", "deceased"):
        return ("true", "false")
    return ("final", "male", "a", "Final") if name in ("status", "gender") else CODES


def escaped(text: str) -> str:
    """Escape a text for a search value."""
    for char in "\\,|$":
        text = text.replace(char, "\\" + char)
    return text


def written(kind: str, question: Any) -> tuple[str, str]:
    """Write a question as name and value of a query."""
    if question[0] == "chain":
        name, value = written(question[2] or oracle.TARGETS[kind, question[1]][0], question[3])
        return f"{question[1]}{':' + question[2] if question[2] else ''}.{name}", value
    if question[0] == "has":
        name, value = written(question[1], question[3])
        return f"_has:{question[1]}:{question[2]}:{name}", value
    _, name, modifier, values = question
    search = {"text": "string", "identifier": "token"}.get(modifier, oracle.definition(kind, name)[0])
    if modifier == "missing":
        return f"{name}:missing", ",".join(str(value).lower() for value in values)
    return f"{name}:{modifier}" if modifier else name, ",".join(_value(search, value) for value in values)


def _value(search: str, value: Any) -> str:
    if search == "token":
        system, code = value
        return escaped(code) if system is None else f"{escaped(system)}|{escaped(code) if code else ''}"
    if search == "composite":
        return f"{_value('token', value[0])}${_value('quantity', value[1])}"
    if search == "date":
        return "".join(value)
    if search in ("quantity", "number"):
        prefix, number, system, code = value
        return f"{prefix}{number}" + ("" if system is None else f"|{escaped(system)}|{escaped(code or '')}")
    return escaped(value)


FOUND: list[int] = []
"""Totals of the queries tried in this process: a property over empty results would prove nothing."""


def own(kind: str, resource: dict[str, Any]) -> Write:
    """Return a write of any JSON, however odd: what no validation would let through."""
    bare = attributes({"resourceType": kind, "id": resource["id"]})
    return Write(Entry(kind, resource["id"], 0, body=dump(resource)), None, created=True, attributes=bare)


def check(record: Snapshot | Overlay, world: Any, maker: Maker, questions: int) -> None:
    """Compare the search with the oracle on random queries."""
    for _ in range(questions):
        kind = maker.rng.choice(KINDS)
        asked = [maker.question(kind) for _ in range(maker.rng.choice((1, 1, 2)))]
        pairs = [written(kind, question) for question in asked]
        text = "&".join(f"{quote(name)}={quote(value)}" for name, value in pairs)
        found = fhir_search(record, kind, text, base=BASE, strict=True)
        FOUND.append(found.total)
        assert {entry.id for entry in found.matches} == world.search(kind, asked), f"{kind}?{pairs}"
        assert found.total == len(found.matches)


IDS = {"Patient": "pq", "Observation": "o", "Encounter": "e", "Organization": "r"}


def _ids(kind: str, count: int) -> list[str]:
    return ["p", "q"] if kind == "Patient" else [f"{IDS.get(kind, kind.lower())}{n}" for n in range(1, count + 1)]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.randoms(use_true_random=True))
def test_odd_shapes(rng: random.Random) -> None:
    """Whatever JSON an element holds, index and oracle find the same."""
    maker = Maker(rng, odd=0.3)
    resources = [maker.resource(kind, identity) for kind in KINDS for identity in _ids(kind, 4)]
    empty = memory_chart(pack("p", [], "CC0-1.0"))
    writes = tuple(own(one["resourceType"], one) for one in resources)
    record = Overlay(empty.at(parse_instant("2180-05-07T00:00:00Z")), writes)
    world = oracle.World(resources, BASE, "2180-05-07T00:00:00Z")
    check(record, world, maker, 25)


def _chart(maker: Maker) -> Chart:
    known = [parse_instant("2180-05-01") + day * DAY for day in range(8)]
    resources = [
        (maker.resource(kind, identity), maker.rng.choice(known)) for kind in KINDS for identity in _ids(kind, 6)
    ]
    return memory_chart(pack("p", resources, "CC0-1.0"))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.randoms(use_true_random=True))
def test_charts_anchors_and_overlays(rng: random.Random) -> None:
    """What was known at the anchor and what the episode wrote is found, nothing else, through chains and `_has` too."""
    maker = Maker(rng, odd=0.0)
    chart = _chart(maker)
    for _ in range(2):
        anchor = parse_instant("2180-05-01") + rng.randint(-1, 8) * DAY
        record = Overlay(chart.at(anchor))
        for number in range(rng.randint(0, 3)):
            kind = rng.choice(KINDS)
            new = maker.resource(kind, "")
            new.pop("id")
            known = [entry.id for entry in fhir_search(record, kind).matches]
            if number and known:
                record.replace(f"{kind}/{rng.choice(known)}", new, valid=True)
            else:
                record.create(new, valid=True)
        seen = [one for kind in KINDS for one in record.resources(kind)]
        world = oracle.World(seen, BASE, instant_text(anchor))
        check(record, world, maker, 15)
        check(
            record.snapshot,
            oracle.World(
                [one for kind in KINDS for one in record.snapshot.resources(kind)], BASE, instant_text(anchor)
            ),
            maker,
            5,
        )


def test_the_properties_are_about_something() -> None:
    """A fair share of the random queries finds some, not all, of the resources."""
    maker = Maker(random.Random(1), odd=0.0)
    FOUND.clear()
    for _ in range(10):
        record = Overlay(_chart(maker).at(parse_instant("2180-06-01")))
        seen = [one for kind in KINDS for one in record.resources(kind)]
        check(record, oracle.World(seen, BASE, "2180-06-01T00:00:00Z"), maker, 30)
    assert sum(0 < total < 6 for total in FOUND) > len(FOUND) / 8


@pytest.mark.parametrize("seed", range(3))
def test_order_and_pages(seed: int) -> None:
    """Pages of a sorted search are the whole list, in order: by the parameter, ties by id, missing last."""
    rng = random.Random(seed)
    maker = Maker(rng, odd=0.0)
    record = Overlay(_chart(maker).at(parse_instant("2180-06-01")))
    for _ in range(3):
        new = maker.resource("Observation", "")
        record.create({key: value for key, value in new.items() if key != "id"}, valid=True)
    for sort in ("date", "-date", "code", "-value-quantity", "-subject,date", "status,-_lastUpdated"):
        whole = [entry.id for entry in fhir_search(record, "Observation", f"_sort={sort}").matches]
        assert sorted(whole) == sorted(entry.id for entry in fhir_search(record, "Observation").matches)
        pages: list[str] = []
        query = f"_sort={sort}&_count=2"
        while query:
            page = fhir_search(record, "Observation", query)
            pages += [entry.id for entry in page.matches]
            query = dict(page.links).get("next", "?").partition("?")[2]
        assert pages == whole


def test_the_oracle_knows_a_few_answers() -> None:
    """The oracle itself, on answers worked out by hand (R4, fhir.md)."""
    assert oracle.precision("5.4") * 20 == 1 and oracle.precision("100") * 2 == 1 and oracle.precision("1e2") == 5
    assert oracle.fold("Müller  İ") == "muller i"
    body = {"resourceType": "Patient", "id": "p", "birthDate": "1980-05", "name": [{"family": "Müller"}]}
    world = oracle.World([json.loads(json.dumps(body))], "", "2180-01-01")
    for asked, expected in (
        (("ask", "birthdate", "", [("eq", "1980-05-11")]), set()),
        (("ask", "birthdate", "", [("ge", "1980-05-11")]), {"p"}),
        (("ask", "name", "", ["mull"]), {"p"}),
        (("ask", "name", "", ["ull"]), set()),
        (("ask", "gender", "not", [(None, "male")]), {"p"}),
    ):
        assert world.search("Patient", [asked]) == expected
