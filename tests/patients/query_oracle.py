"""A brute-force matcher of FHIR R4 searches: literal, slow, and sharing no code with `wardround.patients.query`.

It reads resources (plain dicts, decimals as `Decimal`) by its own table of what each parameter means, and asks every
resource every question. Questions are tuples:

    ("ask", parameter, modifier, [values])       values as in `_value`
    ("chain", parameter, type or None, question)
    ("has", type, parameter, question)
"""

from __future__ import annotations

import calendar
import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

HL7 = "http://hl7.org/fhir"
SPECIAL = "http://terminology.hl7.org/CodeSystem/special-values"
INF = 10**30
COMMON = {
    "_id": ("token", ["id:id"]),
    "_lastUpdated": ("date", ["meta.lastUpdated:instant"]),
    "_tag": ("token", ["meta.tag:Coding"]),
    "_security": ("token", ["meta.security:Coding"]),
    "_profile": ("uri", ["meta.profile:canonical"]),
}
VALUE = ["valueQuantity:Quantity", "valueSampledData:SampledData"]
COMPONENT = ["component.valueQuantity:Quantity", "component.valueSampledData:SampledData"]
PARAMETERS: dict[str, dict[str, Any]] = {
    "Patient": {
        "name": ("string", ["name:HumanName"]),
        "family": ("string", ["name.family:string"]),
        "address": ("string", ["address:Address"]),
        "gender": ("token", [f"gender:code={HL7}/administrative-gender"]),
        "birthdate": ("date", ["birthDate:date"]),
        "identifier": ("token", ["identifier:Identifier"]),
        "telecom": ("token", ["telecom:ContactPoint"]),
        "email": ("token", ["telecom:ContactPoint?system=email"]),
        "active": ("token", ["active:boolean"]),
        "deceased": ("token", ["deceased"]),
        "organization": ("reference", ["managingOrganization:Reference"]),
    },
    "Organization": {
        "name": ("string", ["name:string", "alias:string"]),
        "identifier": ("token", ["identifier:Identifier"]),
    },
    "Observation": {
        "code": ("token", ["code:CodeableConcept"]),
        "category": ("token", ["category:CodeableConcept"]),
        "status": ("token", [f"status:code={HL7}/observation-status"]),
        "date": (
            "date",
            [
                "effectiveDateTime:dateTime", "effectivePeriod:Period", "effectiveInstant:instant",
                "effectiveTiming:Timing",
            ],
        ),
        "subject": ("reference", ["subject:Reference"]),
        "patient": ("reference", ["subject:Reference@Patient"]),
        "has-member": ("reference", ["hasMember:Reference"]),
        "value-quantity": ("quantity", VALUE),
        "combo-value-quantity": ("quantity", VALUE + COMPONENT),
        "component-value-quantity": ("quantity", COMPONENT),
        "value-string": ("string", ["valueString:string", "valueCodeableConcept.text:string"]),
        "value-concept": ("token", ["valueCodeableConcept:CodeableConcept"]),
        "combo-code": ("token", ["code:CodeableConcept", "component.code:CodeableConcept"]),
        "code-value-quantity": ("composite", [""], ["code", "value-quantity"]),
        "component-code-value-quantity": ("composite", ["component"], ["code", "value-quantity"]),
        "combo-code-value-quantity": ("composite", ["", "component"], ["code", "value-quantity"]),
    },
    "Encounter": {
        "date": ("date", ["period:Period"]),
        "class": ("token", ["class:Coding"]),
        "length": ("quantity", ["length:Duration"]),
        "subject": ("reference", ["subject:Reference"]),
        "part-of": ("reference", ["partOf:Reference"]),
    },
    "Condition": {
        "onset-date": ("date", ["onsetDateTime:dateTime", "onsetPeriod:Period"]),
        "onset-age": ("quantity", ["onsetAge:Age", "onsetRange:Range"]),
        "onset-info": ("string", ["onsetString:string"]),
        "code": ("token", ["code:CodeableConcept"]),
        "subject": ("reference", ["subject:Reference"]),
        "encounter": ("reference", ["encounter:Reference"]),
    },
    "RiskAssessment": {
        "probability": ("number", ["prediction.probabilityDecimal:decimal", "prediction.probabilityRange:Range"]),
        "subject": ("reference", ["subject:Reference"]),
    },
    "Communication": {
        "instantiates-uri": ("uri", ["instantiatesUri:uri"]),
        "sent": ("date", ["sent:dateTime"]),
        "subject": ("reference", ["subject:Reference"]),
    },
}  # fmt: skip
TARGETS = {
    ("Patient", "organization"): ["Organization"],
    ("Observation", "subject"): ["Patient"],
    ("Observation", "patient"): ["Patient"],
    ("Observation", "has-member"): ["Observation"],
    ("Encounter", "subject"): ["Patient"],
    ("Encounter", "part-of"): ["Encounter"],
    ("Condition", "subject"): ["Patient"],
    ("Condition", "encounter"): ["Encounter"],
    ("RiskAssessment", "subject"): ["Patient"],
    ("Communication", "subject"): ["Patient"],
}
"""Types that chains of this table lead to (of those it knows)."""


def definition(kind: str, name: str) -> Any:
    """Return what a parameter means."""
    return COMMON.get(name) or PARAMETERS[kind][name]


class World:
    """The resources that can be seen, the own base URL, and now (a dateTime)."""

    def __init__(self, resources: list[dict[str, Any]], base: str, now: str) -> None:
        self.resources = resources
        self.base = base
        self.now = _interval(now)[0]

    def search(self, kind: str, questions: list[Any]) -> set[str]:
        """Return the ids of the resources of a type of which every question is true."""
        return {
            resource["id"]
            for resource in self.resources
            if resource["resourceType"] == kind and all(self.holds(resource, one) for one in questions)
        }

    def holds(self, resource: dict[str, Any], question: Any) -> bool:
        """Tell whether a question is true of a resource."""
        if question[0] == "chain":
            _, name, kind, inner = question
            return any(
                target["resourceType"] in ([kind] if kind else TARGETS[resource["resourceType"], name])
                and self.holds(target, inner)
                for target in self.targets(resource, name)
            )
        if question[0] == "has":
            _, kind, name, inner = question
            return any(
                other["resourceType"] == kind and resource in self.targets(other, name) and self.holds(other, inner)
                for other in self.resources
            )
        _, name, modifier, values = question
        return self.ask(resource, definition(resource["resourceType"], name), modifier, values)

    def targets(self, resource: dict[str, Any], name: str) -> list[dict[str, Any]]:
        """Return the visible resources that a reference parameter points at."""
        _, paths = definition(resource["resourceType"], name)
        keys = {self.plain(node.get("reference")) for path in paths for node, _ in elements(resource, path)}
        return [one for one in self.resources if f"{one['resourceType']}/{one['id']}" in keys]

    def plain(self, text: Any) -> str | None:
        """Return a reference without version and own base; None for contained ones."""
        if not isinstance(text, str) or text.startswith("#"):
            return None
        text = re.sub(r"/_history/[^/]+$", "", text)
        return text.removeprefix(self.base + "/") if self.base else text

    def ask(self, root: Any, meaning: Any, modifier: str, values: list[Any]) -> bool:
        """Tell whether any value matches (or none, for `:not`)."""
        if meaning[0] == "composite":
            return self.composite(root, meaning, modifier, values)
        search, paths = meaning
        found = [one for path in paths for one in elements(root, path)]
        if modifier == "missing":
            return any(bool(found) != value for value in values)
        if modifier == "not":
            return not any(self.matches(search, node, path, "", value) for node, path in found for value in values)
        return any(self.matches(search, node, path, modifier, value) for node, path in found for value in values)

    def composite(self, root: Any, meaning: Any, modifier: str, values: list[Any]) -> bool:
        """Tell whether one node matches in both parts."""
        _, places, names = meaning
        nodes = [node for place in places for node in (walk(root, place.split(".")) if place else [root])]
        parts = {"code": PARAMETERS["Observation"]["code"], "value-quantity": ("quantity", VALUE[:1])}
        if modifier == "missing":
            whole = any(all(self.ask(node, parts[name], "missing", [False]) for name in names) for node in nodes)
            return any(whole != value for value in values)
        return any(
            all(self.ask(node, parts[name], "", [part]) for name, part in zip(names, value, strict=True))
            for node in nodes
            for value in values
        )

    def matches(self, search: str, node: Any, path: str, modifier: str, value: Any) -> bool:
        """Compare one element with one value."""
        kind = path.partition(":")[2].partition("?")[0].partition("@")[0]
        match search:
            case "token":
                return _token(node, kind, modifier, value)
            case "string":
                return any(_string(text, modifier, value) for text in _texts(node, kind))
            case "uri":
                return bool(node == value)
            case "date":
                span = _dates(node, kind)
                return span is not None and _compare(value[0], span, _interval(value[1]), self.now)
            case "reference":
                return self.refers(node, modifier, value)
        return _amount_matches(node, kind, value)

    def refers(self, node: Any, modifier: str, value: Any) -> bool:
        """Compare a Reference with `id`, `Type/id` or a URL, or its identifier with a token."""
        if modifier == "identifier":
            return _token(node.get("identifier"), "Identifier", "", value)
        here, asked = self.plain(node.get("reference")), self.plain(value)
        if here is None or asked is None:
            return False
        relative = re.fullmatch(r"([A-Z][A-Za-z]+)/([A-Za-z0-9.\-]+)", here)
        if re.fullmatch(r"[A-Za-z0-9.\-]+", asked):
            return relative is not None and relative[2] == asked and modifier in ("", relative[1])
        return here == asked and modifier in ("", _pointed({"reference": here}))


def walk(node: Any, keys: list[str]) -> Iterator[Any]:
    """Yield what lies at a path."""
    if isinstance(node, list):
        for one in node:
            if not isinstance(one, list):  # FHIR has no arrays of arrays
                yield from walk(one, keys)
    elif not keys:
        yield node
    elif isinstance(node, dict) and keys[0] in node:
        yield from walk(node[keys[0]], keys[1:])


def elements(root: Any, path: str) -> Iterator[tuple[Any, str]]:
    """Yield the elements of a path (`a.b:Type=system?field=value@Target`) that have its type, with the path."""
    if path == "deceased":
        dead = root.get("deceasedBoolean") is True or isinstance(root.get("deceasedDateTime"), str)
        yield dead, "deceased:boolean"
        return
    keys, _, kind = path.partition(":")
    kind, _, target = kind.partition("@")
    kind, _, where = kind.partition("?")
    kind = kind.partition("=")[0]
    for node in walk(root, keys.split(".")):
        if kind[0].islower():
            if not isinstance(node, dict) and node not in (None, ""):
                yield node, path
            continue
        if not isinstance(node, dict) or not node:
            continue
        if where and node.get(where.split("=")[0]) != where.split("=")[1]:
            continue
        if target and _pointed(node) != target:
            continue
        yield node, path


def _pointed(node: dict[str, Any]) -> Any:
    text = node.get("reference")
    found = (
        re.search(r"(?:^|/)([A-Z][A-Za-z]+)/[A-Za-z0-9.\-]{1,64}(?:/_history/[A-Za-z0-9.\-]+)?$", text)
        if isinstance(text, str)
        else None
    )
    return found[1] if found else node.get("type")


def fold(text: str) -> str:
    """Fold case, accents and blanks."""
    for _ in range(2):
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).casefold()
    return " ".join(text.split())


def _string(text: str, modifier: str, value: str) -> bool:
    if modifier == "exact":
        return text == value
    wanted = fold(value)
    return wanted != "" and (wanted in fold(text) if modifier == "contains" else fold(text).startswith(wanted))


def _texts(node: Any, kind: str) -> list[str]:
    parts = {
        "HumanName": ["text", "family", "given", "prefix", "suffix"],
        "Address": ["text", "line", "city", "district", "state", "postalCode", "country"],
    }.get(kind)
    found = [node] if parts is None else [text for part in parts for text in walk(node, [part])]
    return [text for text in found if isinstance(text, str)]


def _codings(node: Any, kind: str) -> Iterator[tuple[Any, Any, Any]]:
    """Yield system, code and words."""
    base = kind.partition("=")[0]
    if base == "CodeableConcept":
        for coding in walk(node, ["coding"]):
            if isinstance(coding, dict):
                yield coding.get("system"), coding.get("code"), coding.get("display")
        yield None, None, node.get("text")
    elif base in ("Coding", "Identifier", "ContactPoint"):
        if isinstance(node, dict):
            system, code = {"Coding": ("system", "code"), "Identifier": ("system", "value")}.get(base, ("use", "value"))
            words = node.get("display") if base == "Coding" else None
            if base == "Identifier":
                words = next(walk(node, ["type", "text"]), None)
            yield node.get(system), node.get(code), words
    elif base == "boolean":
        if isinstance(node, bool):
            yield SPECIAL, str(node).lower(), None
    elif isinstance(node, str):
        yield kind.partition("=")[2] or None, node, None


def _token(node: Any, kind: str, modifier: str, value: Any) -> bool:
    for system, code, words in _codings(node, kind):
        if modifier == "text":
            if isinstance(words, str) and _string(words, "", value):
                return True
            continue
        if not isinstance(code, str) or not code:
            continue
        system = system if isinstance(system, str) and system else None
        asked, wanted = value
        if (asked is None or (asked or None) == system) and wanted in (None, code):
            return True
    return False


def _interval(text: str) -> tuple[int, int]:
    """Return a date as a half-open interval of ticks of 100 ns."""
    date, _, time = text.partition("T")
    numbers = [int(part) for part in date.split("-")]
    year, month, day = (*numbers, 1, 1)[:3]
    start = datetime(year, month, day, tzinfo=UTC)
    days = 1 if len(numbers) == 3 else calendar.monthrange(year, month)[1] if len(numbers) == 2 else 365
    width = timedelta(days=days + (len(numbers) == 1 and calendar.isleap(year)))
    tick = 0
    if time:
        hour, minute, second, fraction, zone = re.fullmatch(
            r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d:\d\d)?", time
        ).groups()  # type: ignore[union-attr]
        start += timedelta(hours=int(hour), minutes=int(minute), seconds=int(second or 0))
        if zone and zone != "Z":
            shift = timedelta(hours=int(zone[1:3]), minutes=int(zone[4:6]))
            start -= shift if zone[0] == "+" else -shift
        width = timedelta(seconds=1) if second else timedelta(minutes=1)
        tick = int((fraction or "0").ljust(7, "0")[:7])
    low = (start - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 10 + tick
    return low, low + (1 if "." in time else width // timedelta(microseconds=1) * 10)


def _read(text: Any) -> tuple[int, int] | None:
    if not isinstance(text, str):
        return None
    try:
        return _interval(text)
    except (ValueError, TypeError, AttributeError):
        return None


def _dates(node: Any, kind: str) -> tuple[int, int] | None:
    if kind == "Period":
        start, end = node.get("start"), node.get("end")
        if start is None and end is None:
            return None
        low, high = _read(start), _read(end)
        if (start is not None and low is None) or (end is not None and high is None):
            return None
        return low[0] if low else -INF, high[1] if high else INF
    if kind == "Timing":
        spans = [span for event in walk(node, ["event"]) if (span := _read(event))]
        spans += [
            span
            for bounds in walk(node, ["repeat", "boundsPeriod"])
            if isinstance(bounds, dict) and (span := _dates(bounds, "Period"))
        ]
        return (min(low for low, _ in spans), max(high for _, high in spans)) if spans else None
    return _read(node)


def _compare(prefix: str, here: tuple[Any, Any], asked: tuple[Any, Any], now: int) -> bool:
    (low, high), (first, last) = here, asked
    match prefix:
        case "" | "eq":
            return bool(first <= low and high <= last)
        case "ne":
            return not (first <= low and high <= last)
        case "gt":
            return bool(high > last)
        case "lt":
            return bool(low < first)
        case "ge":
            return bool(high > first)
        case "le":
            return bool(low < last)
        case "sa":
            return bool(low >= last)
        case "eb":
            return bool(high <= first)
    gap = abs(now - first) // 10
    return bool(low < last + gap and high > first - gap)


Interval = tuple[Fraction | None, bool, Fraction | None, bool]
"""Low, whether it belongs, high, whether it belongs; None is an open end."""


def _amount(node: Any, kind: str) -> tuple[Interval, Any, Any, Any] | None:
    if kind == "SampledData":
        return _sampled(node)
    if kind == "Range":
        ends = [
            _amount({k: v for k, v in end.items() if k != "comparator"}, "Quantity") if isinstance(end, dict) else None
            for end in (node.get("low"), node.get("high"))
        ]
        told = ends[0] or ends[1]
        if told is None:
            return None
        return (ends[0][0][0] if ends[0] else None, True, ends[1][0][2] if ends[1] else None, True), *told[1:]
    value = node.get("value") if isinstance(node, dict) else node
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    point = Fraction(value)
    units = (node.get("system"), node.get("code"), node.get("unit")) if isinstance(node, dict) else (None, None, None)
    match node.get("comparator") if isinstance(node, dict) else None:
        case "<":
            return (None, True, point, False), *units
        case "<=":
            return (None, True, point, True), *units
        case ">":
            return (point, False, None, True), *units
        case ">=":
            return (point, True, None, True), *units
    return (point, True, point, True), *units


def _sampled(node: dict[str, Any]) -> tuple[Interval, Any, Any, Any] | None:
    origin = _amount(node.get("origin"), "Quantity") if isinstance(node.get("origin"), dict) else None
    if origin is None or not isinstance(node.get("data"), str):
        return None
    zero = Fraction(node["origin"]["value"])
    values = []
    for word in node["data"].split():
        if word in ("L", "U"):
            limit = node.get("lowerLimit" if word == "L" else "upperLimit")
            if limit is not None:
                values.append(Fraction(limit))
        elif word != "E":
            values.append(zero + Fraction(word) * Fraction(node.get("factor", 1)))
    return ((min(values), True, max(values), True), *origin[1:]) if values else None


def _amount_matches(node: Any, kind: str, value: Any) -> bool:
    """Compare a quantity or number with `(prefix, number text, system or None, code or None)`."""
    found = _amount(node, kind)
    if found is None:
        return False
    (low, low_in, high, high_in), system, code, unit = found
    prefix, text, asked_system, asked_code = value
    if asked_system == "" and asked_code not in (code, unit):
        return False
    if asked_system and (system != asked_system or (asked_code is not None and code != asked_code)):
        return False
    point = Fraction(text)
    if prefix in ("", "eq", "ne"):
        half = precision(text)
        inside = (
            low is not None and high is not None and low >= point - half
            and (high < point + half or (high == point + half and not high_in))
        )  # fmt: skip
        return inside != (prefix == "ne")
    if prefix == "ap":
        gap = abs(point) / 10
        return _reaches(low, low_in, point + gap) and _reaches_down(high, high_in, point - gap)
    match prefix:
        case "gt":
            return high is None or high > point
        case "lt":
            return low is None or low < point
        case "ge":
            return _reaches_down(high, high_in, point)
        case "le":
            return _reaches(low, low_in, point)
        case "sa":
            return low is not None and (low > point or (low == point and not low_in))
    return high is not None and (high < point or (high == point and not high_in))


def _reaches(low: Fraction | None, low_in: bool, point: Fraction) -> bool:
    return low is None or low < point or (low == point and low_in)


def _reaches_down(high: Fraction | None, high_in: bool, point: Fraction) -> bool:
    return high is None or high > point or (high == point and high_in)


def precision(text: str) -> Fraction:
    """Return half of what the last digit of a number stands for; with an exponent one digit finer (1e2 → 5)."""
    mantissa, _, exponent = text.lower().partition("e")
    digits = len(mantissa.partition(".")[2])
    return Fraction(10) ** (int(exponent) - 1 - digits) / 2 if exponent else Fraction(10) ** -digits / 2
