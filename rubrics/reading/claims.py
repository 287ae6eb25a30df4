"""What an answer claims: the typed facts that checks and limits work on."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from wardround.rubrics.rubric import Span


@dataclass(frozen=True, slots=True)
class Flags:
    """How something is said: everything but a plain assertion about this patient, now."""

    negated: bool = False
    resolved: bool = False
    """Was so and is no longer."""
    hedged: bool = False
    asked: bool = False
    """To be asked, looked for, watched for, or a question itself."""
    hypothetical: bool = False
    general: bool = False
    family: bool = False
    other: bool = False
    """Another patient."""
    past: bool = False
    now: bool = False
    future: bool = False
    chart: bool = False
    """Said by chart, colleague or device."""
    patient: bool = False
    relative: bool = False
    """Said by a relative or carer."""

    @property
    def elsewhere(self) -> bool:
        """Not about this patient, or not claimed at all."""
        return self.asked or self.hypothetical or self.general or self.family or self.other

    @property
    def claimed(self) -> bool:
        """Plainly asserted or denied for this patient."""
        return not (self.elsewhere or self.hedged)


@dataclass(frozen=True, slots=True)
class Measured:
    """A number bound to a concept."""

    concept: str
    """Knowledge id, or the folded words before the number where the knowledge base has no name for it."""
    concepts: tuple[str, ...]
    """All ids the words may mean."""
    value: str
    unit: str
    """As UCUM; the concept's conventional unit where none was written."""
    time: str
    """"" for undated, "now", or the words that date it."""
    span: Span
    role: str
    """measured, bound (with `comparator`), target, reference, forecast, hypothetical, other, negated, delta, range."""
    comparator: str
    """above, below or ""."""
    values: tuple[Decimal, ...]
    shape: str
    old: bool
    """Older than the latest value: dated before, or the start of a series."""
    stated_unit: bool
    token: int
    clause: int
    sentence: int
    series: int = -1
    """Values of one series share a number; -1 outside any."""
    flags: Flags = field(default_factory=Flags)


@dataclass(frozen=True, slots=True)
class StatusClaim:
    """A reading of a concept: high, low, normal, rising, falling, stable, positive, negative, undetectable."""

    concept: str
    concepts: tuple[str, ...]
    status: str
    flags: Flags
    span: Span
    token: int
    sentence: int
    implied: bool = False
    """Read from a diagnosis ("hyperkalemia") or an adjective about the patient ("oliguric")."""


@dataclass(frozen=True, slots=True)
class TrendClaim:
    """A movement of a concept over time, with its end points where given."""

    concept: str
    concepts: tuple[str, ...]
    direction: str
    flags: Flags
    start: Measured | None
    end: Measured | None
    span: Span
    sentence: int
    slight: bool = False
    """Told by numbers alone that hardly differ: as good as stable."""


@dataclass(frozen=True, slots=True)
class MentionClaim:
    """A concept asserted ("present") or denied ("absent"), or named in some other way ("")."""

    concept: str
    concepts: tuple[str, ...]
    kind: str
    polarity: str
    flags: Flags
    span: Span
    token: int
    end: int
    sentence: int


@dataclass(frozen=True, slots=True)
class ActClaim:
    """Something advised, or advised against, for a target."""

    act: str
    target: str
    targets: tuple[str, ...]
    """All ids the target's words may mean."""
    to: tuple[str, ...]
    """The new drug of a switch."""
    advised: bool
    """Recommended directly; else weighed, quoted, past or conditional."""
    span: Span
    token: int
    end: int
    sentence: int
    words: str
    """Folded words of the target's clause, for targets that the knowledge base does not name."""
    flags: Flags = field(default_factory=Flags)
    implied: bool = False
