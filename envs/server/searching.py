"""Searching over HTTP: what `fhir_search` finds, within what the caller may see."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qsl, unquote

from wardround.patients import SearchResult, fhir_search, parameters, searchable

from .messages import Reply, refused
from .negotiation import FORM, body_type, preferences
from .reading import Call, find, missing

CAP = 1000
"""Most matches a page may have."""

Pairs = tuple[tuple[str, str], ...]


def pairs_of(text: str) -> Pairs:
    """Return decoded names and values of a query string.

    Raises:
        Refused: 400 where it has more than a thousand.
    """
    try:
        return tuple(parse_qsl(text, keep_blank_values=True, max_num_fields=1000))
    except ValueError as fault:
        raise refused(400, "too-costly", "more than 1000 parameters in one search") from fault


def asked(call: Call) -> Pairs:
    """Return the parameters of a search: those of the URL, then those of a form.

    Raises:
        Refused: The body is no form.
    """
    found = pairs_of(call.request.query)
    if call.request.method != "POST" or not call.request.body:
        return found
    if body_type(call.request) != FORM:
        raise refused(415, "not-supported", f"Content-Type: a search by POST is a form ({FORM})")
    try:
        text = call.request.body.decode("ascii")
    except UnicodeDecodeError as fault:
        raise refused(400, "invalid", "the form is not percent-encoded ASCII") from fault
    return (*found, *pairs_of(text))


def search(call: Call, kind: str | None) -> Reply:
    """Answer a search.

    Args:
        call: The request.
        kind: A type, None for all, or a compartment (`Patient/1/Condition`).
    """
    pairs = asked(call)
    result = found(call, kind, pairs, strict=preferences(call.request).get("handling") == "strict")
    whole = not any(name == "_elements" or (name == "_summary" and value in ("true", "text")) for name, value in pairs)
    call.show(*(entry.key for entry in (*result.matches, *result.included)), whole=whole)
    return Reply(200, result.bundle())


def found(call: Call, kind: str | None, pairs: Pairs, *, strict: bool) -> SearchResult:
    """Return what a search finds of what the caller may see.

    Raises:
        Refused: No scope allows to search any of the types.
        SearchError: The query cannot be answered.
    """
    types = _types(kind, pairs)
    for one in types:
        if one not in searchable():
            raise refused(404, "not-supported", f"`{one[:60]}` is not a resource type that is stored here")
    if types and not any(call.access.may("s", one) for one in types):
        call.need("s", types[0])
    patients = _patients(call, kind, pairs)
    return fhir_search(
        call.records.pool(patients, call.tick),
        kind,
        pairs,
        base=call.base,
        strict=strict,
        cap=CAP,
        visible=lambda patient: call.access.visibility("s", patient),
    )


def everything(call: Call, identity: str) -> Reply:
    """Answer Patient/$everything: all that the patient's record holds and the caller may see."""
    call.need("s", "Patient")
    if find(call, "Patient", identity, "s") is None:
        raise missing("Patient", identity)
    return search(call, f"Patient/{identity}/$everything")


def _types(kind: str | None, pairs: Pairs) -> Sequence[str]:
    if kind is None or kind.endswith("/*"):
        named = [one for name, value in pairs if name == "_type" for one in value.split(",") if one]
        return named if kind is None else ()
    last = kind.rpartition("/")[2]
    return () if last == "$everything" else (last,)


def _patients(call: Call, kind: str | None, pairs: Pairs) -> Sequence[str] | None:
    """Return the patients whose records can hold what is searched; None for all."""
    named: list[set[str]] = []
    if call.access.bound and call.access.patient is not None:
        named.append({call.access.patient})
    if kind is not None and "/" in kind:
        named.append({kind.split("/")[1]})
    elif kind is not None:
        named += [chosen for name, value in pairs if (chosen := _named(call, kind, name, value)) is not None]
    if not named:
        return None
    wanted = set.intersection(*named)
    return [one for one in call.records.patients() if one in wanted]


def _named(call: Call, kind: str, name: str, value: str) -> set[str] | None:
    """Return the patients that one parameter names; None where it does not say."""
    label, _, modifier = name.partition(":")
    parameter = parameters(kind).get(label)
    if parameter is None or not value or "\\" in value:
        return None
    values = [one for one in value.split(",") if one]
    if kind == "Patient" and label == "_id" and not modifier:
        return {one for one in values if "|" not in one} if not any("|" in one for one in values) else None
    if label not in ("patient", "subject") or parameter.type != "reference" or modifier not in ("", "Patient"):
        return None
    sure = modifier == "Patient" or parameter.targets == ("Patient",)
    chosen = set()
    for one in values:
        bare = one.removeprefix(f"{call.base}/")
        if bare.startswith("Patient/"):
            bare = bare.removeprefix("Patient/").partition("/")[0]
        elif not sure or "/" in bare or ":" in bare:
            return None  # it may be a Group, or something on another server
        chosen.add(bare)
    return chosen


def matching(call: Call, kind: str, condition: str) -> SearchResult:
    """Return what a condition finds (If-None-Exist, a conditional update or reference).

    Args:
        call: The request.
        kind: The type.
        condition: A query string, or a URL with one.

    Raises:
        Refused: It is empty, or about another type.
        SearchError: A parameter is unknown: it would match too much.
    """
    path, mark, query = condition.partition("?")
    if not mark:
        path, query = "", condition
    if path and unquote(path).rstrip("/").rpartition("/")[2] != kind:
        raise refused(400, "invalid", f"the condition is not about {kind}; write {kind}?identifier=…")
    aside = ("_format", "_pretty", "_count", "_page", "_summary", "_elements", "_total")
    pairs = tuple(pair for pair in pairs_of(query) if pair[0] not in aside)
    if not any(value for _, value in pairs):
        raise refused(400, "invalid", "the condition is empty; name an identifier")
    call.need("s", kind)
    return found(call, kind, (*pairs, ("_count", "2")), strict=True)
