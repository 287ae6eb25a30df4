"""What the server says of itself: the CapabilityStatement and the SMART configuration, from the tables it runs on."""

from __future__ import annotations

from typing import Any

import orjson

from wardround.patients import parameters, searchable

from .scopes import roles

FHIR_VERSION = "4.0.1"

_INTERACTIONS = ("read", "vread", "update", "patch", "history-instance", "create", "search-type")


def capability(base: str, version: str, date: str) -> bytes:
    """Return the CapabilityStatement.

    Args:
        base: Base URL as the client knows it.
        version: Version of this library.
        date: When the server was started, a FHIR dateTime.
    """
    told = {
        "resourceType": "CapabilityStatement",
        "status": "active",
        "date": date,
        "kind": "instance",
        "software": {"name": "wardround", "version": version},
        "implementation": {"description": "Charts of a ward round, as they were known at an instant", "url": base},
        "fhirVersion": FHIR_VERSION,
        "format": ["application/fhir+json", "json"],
        "patchFormat": ["application/json-patch+json", "application/merge-patch+json"],
        "rest": [
            {
                "mode": "server",
                "security": {
                    "cors": False,
                    "service": [
                        {
                            "coding": [
                                {
                                    "system": "http://terminology.hl7.org/CodeSystem/restful-security-service",
                                    "code": "SMART-on-FHIR",
                                }
                            ]
                        }
                    ],
                    "description": "Bearer tokens made when the server starts; their scopes are SMART's, v1 and v2.",
                },
                "resource": [_resource(kind) for kind in searchable()],
                "interaction": [{"code": code} for code in ("transaction", "batch", "search-system")],
                "searchParam": _parameters_of_all(),
                "operation": [
                    {"name": "export", "definition": "http://hl7.org/fhir/uv/bulkdata/OperationDefinition/export"}
                ],
            }
        ],
    }
    return orjson.dumps(told)


def _resource(kind: str) -> dict[str, Any]:
    known = parameters(kind)
    includes = [f"{kind}:{name}" for name, one in known.items() if one.type == "reference"]
    found: dict[str, Any] = {
        "type": kind,
        "interaction": [{"code": code} for code in _INTERACTIONS],
        "versioning": "versioned-update",
        "readHistory": True,
        "updateCreate": False,
        "conditionalCreate": True,
        "conditionalRead": "not-match",
        "conditionalUpdate": True,
        "conditionalDelete": "not-supported",
        "referencePolicy": ["literal", "local"],
    }
    if includes:
        found["searchInclude"] = ["*", *includes]
    if revincludes := _pointing().get(kind):
        found["searchRevInclude"] = revincludes
    found["searchParam"] = [{"name": name, "type": one.type} for name, one in known.items()]
    validate = "http://hl7.org/fhir/OperationDefinition/Resource-validate"
    found["operation"] = [{"name": "validate", "definition": validate}]
    if kind == "Patient":
        everything = "http://hl7.org/fhir/OperationDefinition/Patient-everything"
        export = "http://hl7.org/fhir/uv/bulkdata/OperationDefinition/patient-export"
        found["operation"].append({"name": "everything", "definition": everything})
        found["operation"].append({"name": "export", "definition": export})
    return found


def _pointing() -> dict[str, list[str]]:
    """Return, for each type, the reference parameters that may point at it."""
    found: dict[str, list[str]] = {}
    for kind in searchable():
        for name, one in parameters(kind).items():
            if one.type == "reference":
                for target in one.targets:
                    found.setdefault(target, []).append(f"{kind}:{name}")
    return found


def _parameters_of_all() -> list[dict[str, str]]:
    names = set.intersection(*(set(parameters(kind)) for kind in searchable()))
    known = parameters(searchable()[0])
    return [{"name": name, "type": known[name].type} for name in sorted(names)]


def smart_configuration() -> bytes:
    """Return what SMART clients read first; there is no authorisation endpoint: tokens are made on the command line."""
    scopes = sorted({word for text in roles().values() for word in text.split()})
    told = {
        "token_endpoint_auth_methods_supported": [],
        "grant_types_supported": [],
        "scopes_supported": scopes,
        "response_types_supported": [],
        "code_challenge_methods_supported": ["S256"],
        "capabilities": ["permission-patient", "permission-user", "permission-v1", "permission-v2"],
    }
    return orjson.dumps(told)
