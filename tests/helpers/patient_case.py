"""A hand-made stay of somebody on home drugs, with an interview that tests may change."""

from __future__ import annotations

from collections.abc import Iterable

from wardround.patients import ChartBuilder, Fact, Interview, Reply, Words, parse_instant
from wardround.patients.knowledge import Names
from wardround.sessions.common import common
from wardround.sessions.decisions.decision import Decision, Hinge
from wardround.sessions.moves.move import Case, Focus
from wardround.sessions.record import view_record

STAY = "stay-1"
NOW = parse_instant("2030-03-06T10:00:00Z")
TYPES = ("Observation", "MedicationRequest", "CarePlan", "Encounter")
_TOOLS = {
    "symptom": "patient.get_symptom_history",
    "complaint": "patient.get_symptom_history",
    "adherence": "patient.get_medication_adherence",
    "function": "patient.get_functional_status",
    "social": "patient.get_social_history",
    "pain": "patient.get_pain_assessment",
}
FUNCTION = {
    "walking": "walks_independently",
    "care": "adl_independent",
    "falls": "no fall",
    "living": "lives_with_family",
}


def fact(identity: str, kind: str, concept: str, polarity: str = "present", **more: object) -> Fact:
    """Return a fact that no record knows, unless `source` is given."""
    return Fact(id=identity, kind=kind, concept=concept, polarity=polarity, **{"source": "simulated", **more})


def taking(drug: str, state: str = "taking") -> Fact:
    """Return that a drug is taken at home."""
    return fact(f"ad-{drug}", "adherence", drug, drug=drug, state=state)


def life(**changed: str) -> list[Fact]:
    """Return how somebody manages, by default well; "no fall" is a fall denied."""
    found = []
    for about, concept in (FUNCTION | changed).items():
        polarity = "absent" if concept.startswith("no ") else "present"
        kind = "social" if about == "living" else "function"
        found.append(fact(f"life-{about}", kind, concept.removeprefix("no "), polarity))
    return found


def case_of(
    facts: Iterable[Fact] = (), pressure: str = "132", rate: str = "72", text: str = "about that", **drugs: str
) -> Case:
    """Return a case; `drugs` maps a name to its dose, by default lisinopril 10 mg."""
    chart = ChartBuilder("p-1", sex="female", birth_date="1950-05-02")
    chart.encounter(STAY, "IMP", "2030-03-04T08:00:00Z", "2030-03-08T15:00:00Z")
    for name, dose in (drugs or {"Lisinopril": "10 mg"}).items():
        chart.medication(
            name, dose=dose, route="oral", frequency="once daily", start="2030-03-04T10:00:00Z", encounter=STAY
        )
    when = {"at": "2030-03-06T06:00:00Z", "encounter": STAY}
    chart.vital("Heart Rate", rate, "/min", low="60", high="100", **when)
    chart.vital("Systolic Blood Pressure", pressure, "mmHg", **when)
    chart.lab("Potassium", "4.4", "mmol/L", low="3.5", high="5.0", **when)
    snapshot = chart.chart().at(NOW)
    known = tuple(facts)
    interview = Interview(facts=known, replies=tuple(_replies(known, text)))
    view = view_record(snapshot, STAY, TYPES)
    return Case(snapshot, STAY, NOW, view, interview, common(), "medication_safety")


def _replies(facts: tuple[Fact, ...], text: str) -> list[Reply]:
    words = Words(en=f"Well, {text}.", zh=f"嗯，{text}。")
    found = [Reply(tool=_TOOLS[one.kind], fact=one.id, disclosed=(one.id,), text=words) for one in facts]
    for kind in ("function", "social", "pain"):
        mine = tuple(one.id for one in facts if one.kind == kind)
        if mine:
            found.append(Reply(tool=_TOOLS[kind], disclosed=mine, text=words))
    return found


def focus(*busy: str) -> Focus:
    """Return a focus on nothing in particular."""
    words = Names(en="none", zh="无")
    nothing = Decision("none", (), "", "continue", True, (), ("stop", "none"), words, words, Hinge("state", (), ""))
    return Focus(nothing, frozenset(busy))
