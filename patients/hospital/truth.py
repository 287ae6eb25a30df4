"""The truth behind a generated chart: what is so, what was said, what was charted, and what every part rests on.

It stands in a table of the store that no tool reads (`ChartStore.truth`). Instants are microseconds UTC; facts are
ids of the life, places are resource keys.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Literal

import orjson
from pydantic import BaseModel, ConfigDict

from wardround.patients.times import Instant

from .interviews_facts import knowns
from .life import Adherence, Life, Pair, Sign
from .provenance import Provenance, Trace
from .record import Record


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Both(_Frozen):
    """The same words in both languages."""

    en: str
    zh: str


class TrueDiagnosis(_Frozen):
    """An illness the patient really has or had."""

    fact: str
    condition: str
    code: str
    title: str
    acuity: str
    severity: str
    onset: Instant
    first_known: Instant
    """When it was diagnosed."""
    resolved: Instant | None
    encounter: str | None
    """Encounter id where it was diagnosed."""
    problem_list: bool
    cause: str | None


class TrueFinding(_Frozen):
    """A finding that is there or was looked for."""

    fact: str
    finding: str
    type: str
    present: bool
    relevance: str
    owners: tuple[tuple[str, str], ...]
    """(illness fact, edge)."""
    encounter: str
    onset: Instant
    known: Instant
    side: str | None
    charted: bool
    """Whether the chart has it; what is only said in the interview is not charted."""


class TrueMedication(_Frozen):
    """A home drug and how it is really taken, as of one encounter."""

    fact: str
    drug: str
    prescription: str
    encounter: str
    state: str
    since: Both | None
    reason: Both | None
    reason_concept: str | None
    charted: bool
    """Whether the notes know."""


class TrueAllergy(_Frozen):
    """An allergy or intolerance."""

    fact: str
    substance: str
    name: str
    reaction: Both
    severity: str
    known: Instant


class Unsaid(_Frozen):
    """Something that is said in the interview and that the chart does not know, or knows otherwise."""

    kind: Literal["adherence", "finding"]
    fact: str
    encounter: str
    charted: str
    """What the chart says ("" where it is silent)."""
    truth: str


class TrueFlaw(_Frozen):
    """A planted fault of the record, and what is right (`record.Flaw`)."""

    id: str
    kind: str
    detail: str
    at: Instant
    encounter: str | None
    facts: tuple[str, ...]
    places: tuple[str, ...]
    charted: str
    right: str


class Truth(_Frozen):
    """Everything that is true of one generated patient."""

    format: Literal["wardround.truth/1"] = "wardround.truth/1"
    patient: str
    seed: int
    index: int
    died: Instant | None
    caregiver: str
    diagnoses: tuple[TrueDiagnosis, ...]
    findings: tuple[TrueFinding, ...]
    medications: tuple[TrueMedication, ...]
    allergies: tuple[TrueAllergy, ...]
    said: tuple[Unsaid, ...]
    flaws: tuple[TrueFlaw, ...]
    eligible: dict[str, int]
    """Kind of flaw → places of this record where one could have been planted; empty for a clean record."""
    traces: tuple[tuple[str, tuple[str, ...], int | None, int | None], ...]
    """Key, facts, and for a sentence its place in the text; `provenance` makes them askable."""

    @property
    def provenance(self) -> Provenance:
        """The table of what rests on what."""
        return Provenance(Trace(key, facts, start, end) for key, facts, start, end in self.traces)

    def as_json(self) -> bytes:
        """Return the truth as JSON, the same bytes for the same truth."""
        return orjson.dumps(self.model_dump(mode="json"))


def make_truth(
    life: Life, record: Record, traces: tuple[Trace, ...], eligible: dict[str, int] | None = None
) -> Truth:  # fmt: skip
    """Return the truth behind a chart.

    Args:
        life: The life as it was, before any flaw.
        record: What was charted of it, flaws included.
        traces: Of the chart (`Charted.provenance`).
        eligible: Places per kind of flaw (`flaws.Planted.eligible`).
    """
    patient = life.patient_id
    return Truth(
        patient=patient, seed=life.seed, index=life.index, died=life.person.died, caregiver=life.caregiver,
        diagnoses=tuple(
            TrueDiagnosis(
                fact=one.id, condition=one.condition, code=one.code, title=one.title, acuity=one.acuity,
                severity=one.severity, onset=one.onset, first_known=one.known_at, resolved=one.resolved,
                encounter=_stay(patient, one.encounter), problem_list=one.problem_list, cause=one.cause,
            )
            for one in life.illnesses
        ),
        findings=tuple(_finding(patient, sign) for sign in life.signs),
        medications=tuple(_medication(patient, one) for one in life.adherence),
        allergies=tuple(
            TrueAllergy(
                fact=one.id, substance=one.substance, name=one.name,
                reaction=_both(one.reaction), severity=one.severity, known=one.known_at,
            )
            for one in life.allergies
        ),
        said=tuple(_said(life)),
        flaws=tuple(TrueFlaw(**asdict(one)) for one in record.flaws),
        eligible=dict(sorted((eligible or {}).items())),
        traces=tuple((one.key, one.facts, one.start, one.end) for one in traces),
    )  # fmt: skip


def _both(words: Pair) -> Both:
    return Both(en=words.en, zh=words.zh)


def _stay(patient: str, encounter: str | None) -> str | None:
    return None if encounter is None else f"{patient}-{encounter}"


def _finding(patient: str, sign: Sign) -> TrueFinding:
    return TrueFinding(
        fact=sign.id, finding=sign.finding, type=sign.type, present=sign.present, relevance=sign.relevance,
        owners=tuple((illness, str(edge)) for illness, edge in sign.owners), encounter=f"{patient}-{sign.encounter}",
        onset=sign.onset, known=sign.known_at, side=sign.side, charted=sign.told,
    )  # fmt: skip


def _medication(patient: str, one: Adherence) -> TrueMedication:
    return TrueMedication(
        fact=one.id, drug=one.drug, prescription=f"{patient}-{one.prescription}",
        encounter=f"{patient}-{one.encounter}", state=one.state,
        since=None if one.since is None else _both(one.since),
        reason=None if one.reason is None else _both(one.reason), reason_concept=one.reason_concept,
        charted=one.charted,
    )  # fmt: skip


def _said(life: Life) -> list[Unsaid]:
    """Return what the patient says and the chart does not know."""
    found = [
        Unsaid(
            kind="adherence", fact=one.id, encounter=f"{life.patient_id}-{one.encounter}", charted="taking",
            truth=one.state,
        )
        for one in life.adherence
        if not one.charted and one.state != "taking"
    ]  # fmt: skip
    found += [
        Unsaid(
            kind="finding", fact=sign.id, encounter=f"{life.patient_id}-{sign.encounter}", charted="",
            truth=f"{sign.finding}: {'present' if sign.present else 'absent'}",
        )
        for sign in life.signs
        if not sign.told
    ]  # fmt: skip
    found += [
        Unsaid(
            kind="finding", fact=f"{known.root.id}-{one.id}", encounter=f"{life.patient_id}-{known.root.id}",
            charted="", truth=f"{one.finding}: {'present' if one.present else 'absent'}",
        )
        for known, _ in knowns(life)
        for one in known.effects
    ]  # fmt: skip
    return found
