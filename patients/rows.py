"""Compact rows: the few columns of a resource that an agent reads first, as JSON bytes made when it is packed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import orjson

from .elements import (
    code_of,
    components_of,
    document_text,
    dose_of,
    flag_of,
    frequency_of,
    medication_of,
    notes_of,
    race_of,
    range_text,
    route_of,
    tail,
    text_of,
    value_of,
)  # fmt: skip
from .resource import Resource, dump, rank_of, values_at


@cache
def _plain_rows() -> dict[str, Mapping[str, str]]:
    """Return the rows that are only looked up: column → paths, by type (`data/rows.json`)."""
    table = orjson.loads(files("wardround.patients").joinpath("data/rows.json").read_bytes())
    found: dict[str, Mapping[str, str]] = table["types"]
    return found


COLUMNS: dict[str, tuple[str, ...]] = {
    "Patient": ("id", "name", "sex", "birth_date", "age", "deceased", "language", "marital_status", "race"),
    "Encounter": ("id", "class", "type", "service", "start", "end", "status", "reason", "disposition"),
    "Condition": ("id", "time", "code", "name", "status", "encounter", "rank"),
    "Observation": ("id", "time", "name", "value", "unit", "range", "flag", "encounter"),
    "MedicationRequest": (
        "id", "start", "medication", "dose", "route", "frequency", "end", "status", "encounter",
    ),
    "MedicationAdministration": ("id", "time", "medication", "dose", "route", "status", "reason", "encounter"),
    "MedicationStatement": ("id", "time", "medication", "dose", "status", "encounter"),
    "MedicationDispense": ("id", "time", "medication", "status", "encounter"),
    "ChargeItem": ("id", "time", "code", "name", "status", "encounter"),
    "ServiceRequest": ("id", "time", "service", "priority", "status", "due", "encounter"),
    "Flag": ("id", "start", "category", "flag", "status", "encounter"),
    "DiagnosticReport": ("id", "time", "type", "text", "status", "encounter"),
    "DocumentReference": ("id", "time", "type", "section", "text", "encounter"),
    "CarePlan": ("id", "time", "category", "title", "text", "status", "encounter"),
    "AllergyIntolerance": ("id", "time", "substance", "reaction", "criticality", "status"),
    "Procedure": ("id", "time", "code", "name", "status", "encounter"),
    "Immunization": ("id", "time", "vaccine", "status"),
    "FamilyMemberHistory": ("id", "time", "relationship", "conditions"),
    "Communication": ("id", "time", "topic", "text", "status"),
    "Appointment": ("id", "start", "end", "service", "description", "status"),
    "Specimen": ("id", "time", "type", "status"),
    "Medication": ("id", "name"),
    "Location": ("id", "name"),
    "Organization": ("id", "name"),
    "Practitioner": ("id", "name"),
    **{kind: ("id", *columns) for kind, columns in _plain_rows().items()},
}  # fmt: skip
"""Names of the columns of `compact_row`, by resource type."""


LONGEST = 2_000
"""Characters of a text in a row among others; twenty long notes must not fill a context."""
LONGEST_ALONE = 40_000
"""Characters of a text in a row that is shown alone."""
_CUT = "characters not shown]"


def compact_row(
    resource: Resource, time: str | None = None, age: int | None = None, *, longest: int = LONGEST, start: int = 0
) -> bytes:
    """Write the compact row of a resource as a JSON array. Long texts are cut, and say so.

    Args:
        resource: The resource as of some anchor.
        time: The text of the date that sorts it, as found by `attributes`.
        age: For a Patient, whole years at the anchor.
        longest: Characters kept of each text.
        start: Where the part of a longer text begins, in characters.
    """
    maker = _MAKERS.get(resource["resourceType"])
    if maker is None:
        columns = _plain_rows().get(resource["resourceType"], {"time": "@time"})
        values = [resource.get("id"), *(_look(resource, paths, time) for paths in columns.values())]
    else:
        values = maker(resource, time) if age is None else _patient(resource, age)
    return dump_row([cut(one, longest, start) if type(one) is str and len(one) > longest else one for one in values])


def cut(text: str, longest: int, start: int = 0) -> str:
    """Return at most `longest` characters of a text from `start` on, with how many stand before and after them."""
    start = max(0, min(start, len(text) - longest))
    after = len(text) - start - longest
    before = f"[{start} {_CUT} … " if start else ""
    return before + text[start : start + longest] + (f" … [{after} {_CUT}" if after > 0 else "")


def is_cut(row: bytes) -> bool:
    """Tell whether a row holds a text that was cut."""
    return len(row) > LONGEST and _CUT.encode() in row


def _look(resource: Resource, paths: str, time: str | None) -> Any:
    """Return the value of a column by its paths (data/rows.json says how they are written)."""
    if paths == "@time":
        return time
    if paths.startswith("#"):
        return tail(resource.get(paths[1:]))
    for path in paths.split("|"):
        found = [word for value in values_at(resource, path.rstrip("*")) if (word := _word(value)) not in (None, "")]
        if found:
            return "; ".join(dict.fromkeys(map(str, found))) if path.endswith("*") else found[0]
    return None


def _word(value: Any) -> Any:
    """Return a value as a row shows it: words of what is complex, anything else as it is."""
    return text_of(value) if isinstance(value, dict | list) else value


def dump_row(values: Sequence[Any]) -> bytes:
    """Write a row; decimals keep their digits."""
    body = dump({"r": values})
    return body[5:-1]


def _observation(resource: Resource, time: str | None) -> list[Any]:
    value, unit = value_of(resource)
    if value is None and resource.get("component"):
        value, unit = components_of(resource["component"])
    if value is None:
        value = text_of(resource.get("dataAbsentReason"))
    return [
        resource.get("id"), time, text_of(resource.get("code")), value, unit, range_text(resource),
        flag_of(resource), tail(resource.get("encounter")),
    ]  # fmt: skip


def _patient(resource: Resource, age: int | None) -> list[Any]:
    deceased = resource.get("deceasedDateTime", resource.get("deceasedBoolean"))
    languages = [text_of(entry.get("language")) for entry in resource.get("communication", ())]
    return [
        resource.get("id"), text_of(resource.get("name")), resource.get("gender"), resource.get("birthDate"), age,
        deceased, languages[0] if languages else None, text_of(resource.get("maritalStatus")), race_of(resource),
    ]  # fmt: skip


def _encounter(resource: Resource, _time: str | None) -> list[Any]:
    period = resource.get("period", {})
    stay = resource.get("hospitalization", {})
    return [
        resource.get("id"), text_of(resource.get("class")), text_of(resource.get("type")),
        text_of(resource.get("serviceType")), period.get("start"), period.get("end"), resource.get("status"),
        text_of(resource.get("reasonCode")), text_of(stay.get("dischargeDisposition")),
    ]  # fmt: skip


def _condition(resource: Resource, time: str | None) -> list[Any]:
    return [
        resource.get("id"), time, code_of(resource.get("code")), text_of(resource.get("code")),
        code_of(resource.get("clinicalStatus")), tail(resource.get("encounter")), rank_of(resource),
    ]  # fmt: skip


def _medication_request(resource: Resource, time: str | None) -> list[Any]:
    validity = resource.get("dispenseRequest", {}).get("validityPeriod", {})
    return [
        resource.get("id"), time, medication_of(resource), dose_of(resource), route_of(resource),
        frequency_of(resource), validity.get("end"), resource.get("status"), tail(resource.get("encounter")),
    ]  # fmt: skip


def _administration(resource: Resource, time: str | None) -> list[Any]:
    return [
        resource.get("id"), time, medication_of(resource), dose_of(resource), route_of(resource),
        resource.get("status"), text_of(resource.get("statusReason")), tail(resource.get("context")),
    ]  # fmt: skip


def _statement(resource: Resource, time: str | None) -> list[Any]:
    return [
        resource.get("id"), time, medication_of(resource), dose_of(resource), resource.get("status"),
        tail(resource.get("context")),
    ]  # fmt: skip


def _dispense(resource: Resource, time: str | None) -> list[Any]:
    return [
        resource.get("id"), time, medication_of(resource), resource.get("status"), tail(resource.get("context")),
    ]  # fmt: skip


def _charge(resource: Resource, time: str | None) -> list[Any]:
    return [
        resource.get("id"), time, code_of(resource.get("code")), text_of(resource.get("code")),
        resource.get("status"), tail(resource.get("context")),
    ]  # fmt: skip


def _service(resource: Resource, time: str | None) -> list[Any]:
    return [
        resource.get("id"), time, text_of(resource.get("code")), resource.get("priority"), resource.get("status"),
        resource.get("occurrenceDateTime"), tail(resource.get("encounter")),
    ]  # fmt: skip


def _flag(resource: Resource, time: str | None) -> list[Any]:
    return [
        resource.get("id"), time, text_of(resource.get("category")), text_of(resource.get("code")),
        resource.get("status"), tail(resource.get("encounter")),
    ]  # fmt: skip


def _report(resource: Resource, time: str | None) -> list[Any]:
    return [
        resource.get("id"), time, text_of(resource.get("code")), document_text(resource), resource.get("status"),
        tail(resource.get("encounter")),
    ]  # fmt: skip


def _document(resource: Resource, time: str | None) -> list[Any]:
    titles = [content.get("attachment", {}).get("title") for content in resource.get("content", ())]
    return [
        resource.get("id"), time, text_of(resource.get("type")), "; ".join(filter(None, titles)) or None,
        document_text(resource), tail(resource.get("context", {}).get("encounter")),
    ]  # fmt: skip


def _care_plan(resource: Resource, time: str | None) -> list[Any]:
    return [
        resource.get("id"), time, text_of(resource.get("category")), resource.get("title"),
        resource.get("description") or notes_of(resource), resource.get("status"), tail(resource.get("encounter")),
    ]  # fmt: skip


def _allergy(resource: Resource, time: str | None) -> list[Any]:
    reactions = [text_of(reaction.get("manifestation")) for reaction in resource.get("reaction", ())]
    return [
        resource.get("id"), time, text_of(resource.get("code")), "; ".join(filter(None, reactions)) or None,
        resource.get("criticality"), code_of(resource.get("clinicalStatus")),
    ]  # fmt: skip


def _procedure(resource: Resource, time: str | None) -> list[Any]:
    return [
        resource.get("id"), time, code_of(resource.get("code")), text_of(resource.get("code")),
        resource.get("status"), tail(resource.get("encounter")),
    ]  # fmt: skip


def _family(resource: Resource, time: str | None) -> list[Any]:
    names = [text_of(condition.get("code")) for condition in resource.get("condition", ())]
    return [resource.get("id"), time, text_of(resource.get("relationship")), "; ".join(filter(None, names)) or None]


def _communication(resource: Resource, time: str | None) -> list[Any]:
    words = [part["contentString"] for part in resource.get("payload", ()) if "contentString" in part]
    return [resource.get("id"), time, text_of(resource.get("topic")), "\n".join(words) or None, resource.get("status")]


def _appointment(resource: Resource, time: str | None) -> list[Any]:
    return [
        resource.get("id"), time, resource.get("end"), text_of(resource.get("serviceType")),
        resource.get("description"), resource.get("status"),
    ]  # fmt: skip


def _named(resource: Resource, _time: str | None) -> list[Any]:
    return [resource.get("id"), text_of(resource.get("code") or resource.get("name"))]


_MAKERS: dict[str, Callable[[Resource, str | None], list[Any]]] = {
    "Patient": lambda resource, _time: _patient(resource, None),
    "Encounter": _encounter,
    "Condition": _condition,
    "Observation": _observation,
    "MedicationRequest": _medication_request,
    "MedicationAdministration": _administration,
    "MedicationStatement": _statement,
    "MedicationDispense": _dispense,
    "ChargeItem": _charge,
    "ServiceRequest": _service,
    "Flag": _flag,
    "DiagnosticReport": _report,
    "DocumentReference": _document,
    "CarePlan": _care_plan,
    "AllergyIntolerance": _allergy,
    "Procedure": _procedure,
    "Immunization": lambda resource, time: [
        resource.get("id"), time, text_of(resource.get("vaccineCode")), resource.get("status"),
    ],
    "FamilyMemberHistory": _family,
    "Communication": _communication,
    "Appointment": _appointment,
    "Specimen": lambda resource, time: [
        resource.get("id"), time, text_of(resource.get("type")), resource.get("status"),
    ],
    "Medication": _named,
    "Location": _named,
    "Organization": _named,
    "Practitioner": _named,
}  # fmt: skip
