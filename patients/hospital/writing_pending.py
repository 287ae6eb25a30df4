"""What a plan waits for: cultures that are not final, and the services that were asked."""

from __future__ import annotations

from collections.abc import Sequence

from wardround.patients.knowledge.bedside import condition_profiles
from wardround.patients.times import Instant

from .phrasing import Teller, capital, lowered, table
from .record import Sentence
from .writing_view import Known
from .writing_words import Scribe, service_name


def cultures_awaited(scribe: Scribe, teller: Teller) -> list[Sentence]:
    """Return which cultures are awaited: those that told nothing yet, and those of which more is to come."""
    names = table("specimen")
    silent: list[tuple[str, str]] = []
    said: list[Sentence] = []
    for one in scribe.known.cultures:
        stages = [stage for stage in one.stages if stage.at <= scribe.known.at]
        if any(stage.status == "final" for stage in stages):
            continue
        name = f"{names.get(one.specimen, one.specimen)} culture"
        if not stages:
            silent.append((name, one.id))
            continue
        text = lowered(stages[-1].text.rstrip(".")).removeprefix("Gram stain: ")
        key = "plan.culture.clean" if text in table("culture_clean") else "plan.culture.grows"
        said.append(teller.say(key, (one.id,), culture=name, Culture=capital(name), text=text))
    if silent:
        words = scribe.join([name for name, _ in silent])
        said.insert(0, teller.say("plan.culture", [identity for _, identity in silent], cultures=words))
    return said


def consults(scribe: Scribe, teller: Teller, since: Instant | None = None) -> list[Sentence]:
    """Return which services are involved; who was asked before `since` follows along."""
    said = []
    for event in scribe.known.happened("consulted"):
        service = consulted_service(scribe.known, event.facts)
        if service:
            name = service_name(service)
            key = "plan.consult" if since is None or event.at > since else "plan.consult.on"
            said.append(teller.say(key, (event.id,), service=lowered(name), Service=name))
    return said


def consulted_service(known: Known, facts: Sequence[str]) -> str | None:
    """Return the service that was asked about an illness."""
    for fact in facts:
        illness = known.outline.illnesses.get(fact)
        profile = condition_profiles().get(illness.condition) if illness is not None else None
        if profile is not None and profile.workup.consult is not None:
            return profile.workup.consult
    return None
