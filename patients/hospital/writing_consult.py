"""What a consultant answers: what was looked at, what was done, what is advised; never what is not known then."""

from __future__ import annotations

from collections.abc import Sequence

from wardround.patients.knowledge.bedside import condition_profiles

from .life import Illness, Study, Treated
from .phrasing import Teller, capital, lowered, table
from .record import Sentence
from .writing_plan import done_words
from .writing_results import shown
from .writing_words import Scribe

_MOST_STUDIES = 2


def opinion(scribe: Scribe) -> list[Sentence]:
    """Return the answer to the question of a consult, a line each; nothing where the question has no name yet."""
    known = scribe.known
    principal = known.principal
    if principal is None:
        return []
    teller = scribe.teller("opinion")
    said = _reviewed(scribe, teller, principal)
    done = _done(scribe, principal)
    said += _watched(scribe, teller, principal, done)
    key = f"opinion.{principal.condition}"
    seen = any(one.study == table("consult_watched").get(principal.condition) for one in scribe.known.studies)
    said.append(teller.say(f"{key}.after" if done or seen else key, (principal.id, *(one.id for one in done))))
    return said


def _done(scribe: Scribe, principal: Illness) -> list[Treated]:
    """Return the last time that what the question turns on was done in this stay: an angiography, an operation."""
    known = scribe.known
    watched = table("consult_watched").get(principal.condition)
    done = [one for one in known.life.treated if one.procedure == watched and known.begin <= one.at <= known.at]
    return done[-1:]


def takes_drugs(service: str) -> bool:
    """Return whether a service speaks of drugs in its plan."""
    return service not in table("consult_no_drugs")


def _reviewed(scribe: Scribe, teller: Teller, principal: Illness) -> list[Sentence]:
    """Return the studies of the question that are reported, each with what it shows."""
    known = scribe.known
    asked = [one.study for one in condition_profiles()[principal.condition].workup.studies]
    found: list[Study] = [one for one in known.studies if one.study in asked and one.illness == principal.id]
    said = []
    for study in sorted(found, key=lambda one: (asked.index(one.study), one.at))[:_MOST_STUDIES]:
        name, seen, facts = shown(scribe, teller, study)
        words = seen or teller.words("consult.nothing")
        said.append(teller.say("consult.reviewed", facts, study=name, shown=words))
    return said


def _watched(scribe: Scribe, teller: Teller, principal: Illness, done: Sequence[Treated]) -> list[Sentence]:
    """Return whether what the question turns on has been done."""
    known = scribe.known
    watched = table("consult_watched").get(principal.condition)
    if watched is None:
        return []
    if done:
        over = (done[-1].end or done[-1].at) <= known.at
        what, went, _ = done_words(teller, done[-1], over=over)
        return [
            teller.say(
                "consult.done",
                (done[-1].id,),
                procedure=what,
                Procedure=capital(what),
                date=scribe.date(done[-1].at),
                outcome=went,
            )
        ]
    if any(one.study == watched for one in known.studies):
        return []
    name = table("consult_watched_name")[principal.condition]
    return [teller.say("consult.undone", (principal.id,), procedure=lowered(name), Procedure=capital(name))]
