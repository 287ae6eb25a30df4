"""Kinds of rules for care that answers something: a clot, a failing kidney, a value off, a test before a scan."""

from __future__ import annotations

from decimal import Decimal

from pydantic import Field

from wardround.patients.knowledge.graph_models import ProcedureOrder

from .documents import Frozen, Words
from .generation_rules import Bound


class Lysis(Frozen):
    """An illness whose shock is treated by dissolving the clot, and what is done where that may not be."""

    condition: str
    line: str
    """Line of treatment; its dose is given once."""
    finding: str
    """Vital finding that tells of shock where no pressor runs yet."""
    instead: ProcedureOrder
    words: Words
    """Why it is not given, with `{why}`."""


class Falling(Frozen):
    """How a haemoglobin that falls while the blood is thinned is answered."""

    lab: str
    by: Decimal
    """So far below the highest value of the stay, in g/dL."""
    below: Decimal
    """A value that is answered wherever it came from."""
    drugs: tuple[str, ...]
    panel: str
    """Drawn again."""
    minutes: tuple[int, int]
    """After the value was known."""
    looked_at: str
    """The finding that is looked for."""
    prevents: tuple[str, ...]
    """Lines of treatment that prevent a clot: they are held."""
    reason: str
    days: tuple[int, int]
    """After discharge the count is booked."""


class Scanned(Frozen):
    """A study of the work-up that is always done for a finding on a drug."""

    study: str
    finding: str
    drugs: tuple[str, ...]


class NotTolerated(Frozen):
    """What becomes of a home drug that the patient is known to have stopped for what it did."""

    together: tuple[str, ...]
    """Classes of which no other drug is better."""
    kept: tuple[str, ...]
    """Drugs and classes that are taken up again all the same: to be without them is worse."""
    reason: str


class NoThinner(Frozen):
    """What is done for a clot where no anticoagulant may be given."""

    conditions: tuple[str, ...]
    filter: ProcedureOrder
    words: Words
    """Why there is no anticoagulant, with `{why}`."""
    later: Words
    """What goes on at home, with `{n}`, the days until it is looked at again."""
    days: tuple[int, int]


class Dialysed(Frozen):
    """How people on dialysis are looked after."""

    conditions: tuple[str, ...]
    """Whose kidneys do next to nothing, whatever the creatinine after a session says."""
    clearance: int
    """What a prescriber counts with then, mL/min."""
    procedure: str
    before: tuple[str, ...]
    """Labs and panels drawn before each session."""
    before_minutes: int
    after: tuple[str, ...]
    after_minutes: int


class PregnancyTest(Frozen):
    """Women who are tested for pregnancy before what might harm a child."""

    lab: str
    ages: tuple[int, int]
    minutes: int
    """After arrival."""
    modalities: tuple[str, ...]
    """Of studies before which it is done."""
    procedures: tuple[str, ...]
    without: tuple[str, ...]
    """Titles of operations after which there is no need."""


class Tap(Frozen):
    """Fluid that is tapped once a study shows it."""

    conditions: tuple[str, ...]
    finding: str
    order: ProcedureOrder
    """`hours` after the report, or admission if that is later."""


class Titration(Bound):
    """A value that, off at a visit, changes a dose by one step."""

    drugs: tuple[str, ...]
    """Drugs or classes, in the order in which they are changed."""
    up: bool
    """Whether the dose is raised; else it is lowered, and the last step ends the drug."""
    conditions: tuple[str, ...] = ()
    """Known illnesses of which one must be there; empty: none need be."""


class TakenUp(Bound):
    """A value from which on some drugs may be taken up again: better than just not forbidding them."""

    drugs: tuple[str, ...]


class Restarted(Frozen):
    """When home drugs that were held are taken up again."""

    reasons: tuple[str, ...]
    """Keys of the reasons for which they were held."""
    hours: int
    """They are held, or an operation is over, for so long at least."""
    at_home: tuple[str, ...]
    """Drugs or classes that begin again only on the way home."""
    from_: tuple[TakenUp, ...] = Field(alias="from")
    give_up_days: int
    """What is still unsafe at a visit so long afterwards is given up."""


class Lowered(Bound):
    """A sedative that is given less of from day to day, once a score is below a bound."""

    lines: tuple[str, ...]
    """Lines of treatment."""
    frequencies: tuple[str, ...]
    """From the most often to the rarest."""


class HoldRule(Frozen):
    """When a dose is held at the bedside."""

    drugs: tuple[str, ...]
    """Drug or class ids."""
    route: str | None = None
    """Of the order; None: any."""
    vital: str
    """Vital sign or lab."""
    below: Decimal | None = None
    above: Decimal | None = None
    hours: int = 9
    """Hours for which a value counts."""
    reason: Words

    def holds(self, value: Decimal | None) -> bool:
        """Tell whether a value forbids the dose; one that is not known does not."""
        if value is None:
            return False
        return (self.below is not None and value < self.below) or (self.above is not None and value > self.above)


class AtOnce(Frozen):
    """An illness that is treated in the first minutes, before the results are back."""

    treated: tuple[int, int]
    """Minutes after arrival, or after the value it waits for was known."""
    once_known: str | None = None
    """Lab or vital sign of which the first value is waited for."""
    studies: dict[str, tuple[int, int]]
    """Study → minutes after arrival."""
    read: tuple[int, int] | None = None
    """Minutes after which they are read; None: as always."""


class Eases(Frozen):
    """What a procedure takes away."""

    lab: str
    to: Decimal
    """As a factor."""
    lasts_hours: int


class Booked(Frozen):
    """Labs that are booked for who goes home on a drug."""

    drugs: tuple[str, ...]
    labs: tuple[str, ...]
    days: tuple[int, int]
    fresh: bool = False
    """Only where the drug, or its dose, is new."""


class Tapered(Frozen):
    """Drugs that are lowered step by step after a course longer than some days."""

    drugs: tuple[str, ...]
    days: int
    steps: tuple[str, ...]
    """Doses, each for so many days."""
    step_days: int
