"""Recorded results of a published set: replayed to agents, and kept as the chart behind them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from wardround.patients import (
    Fact,
    FactKind,
    Instant,
    Recording,
    StoreWriter,
    Words,
    find_tool,
    parse_instant,
    validate,
)
from wardround.sessions.session import ChartRef, Session

from .entries import Step
from .report import ImportReport

Resource = dict[str, Any]


@dataclass
class Recorded:
    """Resources seen in recorded results, by patient and key, with the instant from which they are known."""

    found: dict[str, dict[str, tuple[Resource, Instant]]] = field(default_factory=dict)

    def keep(self, patient: str, resource: Resource, at: Instant) -> None:
        """Keep a resource; of two versions the first stands, known from the earlier round on."""
        mine = self.found.setdefault(patient, {})
        key = f"{resource['resourceType']}/{resource['id']}"
        first, since = mine.get(key, (resource, at))
        mine[key] = (first, min(since, at))


def plain_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call's arguments as our tools take them: without nulls, ids as text."""
    given = {name: value for name, value in arguments.items() if value is not None}
    return {name: str(value) if name.endswith("_id") else value for name, value in given.items()}


def recording_of(
    step: Step, chinese: Step | None, place: str, patient: str, at: Instant, recorded: Recorded, report: ImportReport
) -> Recording | None:
    """Return the recording of one call, and keep what it shows; None for a call that cannot be replayed (counted).

    Args:
        step: The call and what it brought.
        chinese: The same call in the Chinese dialogue, where there is one.
        place: Names the fact that a reply of the patient tells.
        patient: Whom the session is about.
        at: The session's anchor.
        recorded: Takes the resources.
        report: Takes the counts.
    """
    spec = find_tool(step.action.name)
    if spec is None:
        report.left_out[f"recorded call of `{step.action.name[:40]}`, which is no tool here"] += 1
        return None
    if spec.effect not in ("read", "ask"):
        return None
    arguments = plain_arguments(step.action.arguments)
    try:
        checked = spec.model.model_validate(arguments)
        arguments = checked.model_dump(by_alias=True, exclude_none=True)
    except ValidationError:
        report.left_out["recorded call whose arguments no call here can repeat"] += 1
        return None
    if spec.effect == "ask":
        reply = _reply(step)
        if reply is None:
            report.left_out["interview call without the patient's words"] += 1
            return None
        words = Words(en=reply, zh=_reply(chinese) if chinese is not None else None)
        return Recording(tool=spec.name, arguments=arguments, text=words, facts=(place,))
    seen = step.observation
    keys = []
    for resource in _resources(seen):
        fault = _refused(resource, patient)
        if fault:
            report.left_out[fault] += 1
            continue
        recorded.keep(patient, resource, at)
        keys.append(f"{resource['resourceType']}/{resource['id']}")
    total = seen.get("total") if isinstance(seen, dict) else None
    return Recording(
        tool=spec.name,
        arguments=arguments,
        text=Words(en=orjson.dumps(seen).decode()),
        resources=tuple(keys),
        total=total if isinstance(total, int) else len(keys),
    )


def _reply(step: Step) -> str | None:
    seen = step.observation
    reply = seen.get("patient_response") if isinstance(seen, dict) else seen
    return reply if isinstance(reply, str) and reply.strip() else None


_KINDS: Mapping[str, FactKind] = {
    "patient.get_symptom_history": "symptom",
    "patient.get_medication_adherence": "adherence",
    "patient.get_social_history": "social",
    "patient.get_functional_status": "function",
    "patient.get_pain_assessment": "pain",
}


def facts_of(recordings: Iterable[Recording]) -> tuple[Fact, ...]:
    """Return what stands for the recorded replies in the interview: who was asked what, not what they mean."""
    facts = []
    for one in recordings:
        drug = one.arguments.get("drug")
        about = str(drug or one.arguments.get("query") or "what the patient said")
        for name in one.facts:
            kind = _KINDS[one.tool]
            facts.append(Fact(id=name, kind=kind, concept=about, drug=drug, source="simulated"))
    return tuple(facts)


def _resources(seen: Any) -> Iterable[Resource]:
    """Yield the resources of a recorded result: a Bundle's, a list's, or the one it is."""
    if isinstance(seen, list):
        for one in seen:
            yield from _resources(one)
    elif isinstance(seen, dict) and seen.get("resourceType") == "Bundle":
        for entry in seen.get("entry") or ():
            yield from _resources(entry.get("resource") if isinstance(entry, dict) else None)
    elif isinstance(seen, dict) and isinstance(seen.get("resourceType"), str):
        yield seen


def _refused(resource: Resource, patient: str) -> str:
    """Return why a recorded resource cannot stand in a chart, "" where it can."""
    if not isinstance(resource.get("id"), str):
        return "recorded resource without an id"
    named = (
        str(resource.get("subject", {}).get("reference", f"Patient/{patient}"))
        if isinstance(resource.get("subject", {}), dict)
        else ""
    )
    if (resource["resourceType"] == "Patient" and resource["id"] != patient) or named != f"Patient/{patient}":
        return "recorded resource of another patient"
    return "recorded resource that is not valid R4" if validate(resource) else ""


def write_charts(
    sessions: list[Session], recorded: Recorded, path: Path, licence: str, report: ImportReport
) -> list[Session]:
    """Write one chart a patient from the recorded resources and tie the sessions to them."""
    hashes: dict[str, str] = {}
    with StoreWriter(path, licence=licence, provenance={"source": "recorded results of PhysAssistBench"}) as writer:
        for patient in sorted({session.chart.patient for session in sessions}):
            mine = recorded.found.get(patient, {})
            theirs = [session for session in sessions if session.chart.patient == patient]
            begin = min(parse_instant(session.anchor) for session in theirs)
            stays = {session.encounter for session in theirs if session.encounter}
            for resource in (_person(patient), *(_stay(patient, stay) for stay in sorted(stays))):
                mine.setdefault(f"{resource['resourceType']}/{resource['id']}", (resource, begin))
            hashes[patient] = writer.add(patient, [mine[key] for key in sorted(mine)])
    report.charts = str(path)
    charts = {patient: ChartRef(patient=patient, hash=digest) for patient, digest in hashes.items()}
    return [session.model_copy(update={"chart": charts[session.chart.patient]}) for session in sessions]


def _person(patient: str) -> Resource:
    return {"resourceType": "Patient", "id": patient}


def _stay(patient: str, stay: str) -> Resource:
    act = "http://terminology.hl7.org/CodeSystem/v3-ActCode"
    return {
        "resourceType": "Encounter",
        "id": stay,
        "status": "finished",
        "class": {"system": act, "code": "IMP", "display": "inpatient encounter"},
        "subject": {"reference": f"Patient/{patient}"},
    }
