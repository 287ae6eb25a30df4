"""What the headers of a request ask for: form of the reply, type of the body, conditions."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl

from .messages import FHIR_JSON, Request, refused

_JSON = frozenset({
    FHIR_JSON, "application/json", "text/json", "application/json+fhir", "json", "application/x-json",
    "application/fhir+ndjson", "application/ndjson", "application/*", "*/*", "text/*", "*",
})  # fmt: skip
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
FORM = "application/x-www-form-urlencoded"
_BODIES = frozenset({"", FHIR_JSON, "application/json", "text/json", "application/json+fhir"})
_ZERO = re.compile(r"0(?:\.0{0,3})?")


def check_accept(request: Request) -> None:
    """Refuse a request whose `_format` or `Accept` excludes JSON.

    Raises:
        Refused: 406.
    """
    wanted = [value for name, value in parse_qsl(request.query, keep_blank_values=True) if name == "_format"]
    if wanted:
        plain = wanted[0].partition(";")[0].strip().replace(" ", "+").lower()  # a plus in a URL arrives as a blank
        if plain not in _JSON:
            raise refused(406, "not-supported", "_format: this server speaks JSON only; ask for application/fhir+json")
        return
    accept = request.header("accept")
    if not accept.strip():
        return
    for part in accept.split(","):
        kind, *parameters = (one.strip().lower() for one in part.split(";"))
        weights = [one[2:] for one in parameters if one.startswith("q=")]
        if kind in _JSON and not (weights and _ZERO.fullmatch(weights[0])):
            return
    raise refused(406, "not-supported", "Accept: this server speaks JSON only; accept application/fhir+json")


def body_type(request: Request) -> str:
    """Return the type of the body, without its parameters, in lower case."""
    return request.header("content-type").partition(";")[0].strip().lower()


def check_body_type(request: Request) -> None:
    """Refuse a resource that does not come as JSON.

    Raises:
        Refused: 415.
    """
    if (kind := body_type(request)) not in _BODIES:
        text = f"Content-Type is `{kind[:60]}`: send JSON as application/fhir+json or application/json"
        raise refused(415, "not-supported", text)


def preferences(request: Request) -> dict[str, str]:
    """Return what the Prefer header asks for: `return`, `handling`, `respond-async`."""
    found: dict[str, str] = {}
    for part in re.split(r"[;,]", request.header("prefer")[:1000]):
        name, _, value = part.strip().partition("=")
        if name:
            found.setdefault(name.strip().lower(), value.strip().strip('"'))
    return found


def names_version(text: str, version: str) -> bool:
    """Tell whether an If-Match or If-None-Match header names a version; `*` names any."""
    return not {version, "*"}.isdisjoint(versions_named(text))


def versions_named(text: str) -> tuple[str, ...]:
    """Return the versions of an If-Match or If-None-Match header: W/"1", "1" and 1 are the same.

    Examples:
        >>> versions_named('W/"1", "2"')
        ('1', '2')
    """
    found = []
    for part in text[:1000].split(","):
        bare = part.strip().removeprefix("W/").strip().strip('"')
        if bare:
            found.append(bare)
    return tuple(found)
