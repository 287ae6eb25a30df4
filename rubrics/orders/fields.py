"""Does one field of an order mean the same? Every grading name has its way of being compared (`arguments.json`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal

from .arguments import Texts
from .doses import Amount, Doses, read_doses
from .durations import read_durations
from .frequencies import Frequency, read_frequency, same_frequency
from .meaning import same_service, same_text, whole_terms
from .medications import read_medication, same_medication
from .vocabulary import normal, table, terms

_IDENTITY_PREFIX = re.compile(r"^(?:urn:uuid:|[a-z]+/|mrn ?:? ?|id ?: ?)+")


@dataclass(frozen=True, slots=True)
class FieldVerdict:
    """Whether a field means the same, and why."""

    passed: bool
    reason: str
    unreadable: bool = False


Comparer = Callable[[str, str, Texts], FieldVerdict]


def judge_field(name: str, wanted: str, texts: Texts) -> FieldVerdict:
    """Judge one field of an order.

    Args:
        name: Grading name ("dose").
        wanted: What it must mean.
        texts: The write's arguments under their grading names (`read_arguments`).
    """
    comparers: Mapping[str, Comparer] = {
        "identity": _identity,
        "medication": _medication,
        "dose": _dose,
        "route": _route,
        "frequency": _frequency,
        "duration": _duration,
        "term": _term,
        "service": _text,
        "instant": _instant,
        "text": _text,
    }
    return comparers[table("arguments")["compare"].get(name, "text")](name, wanted, texts)


def _yes(name: str, got: str) -> FieldVerdict:
    return FieldVerdict(True, f"{name} is `{got}`")


def _no(name: str, wanted: str, got: str, why: str = "") -> FieldVerdict:
    return FieldVerdict(False, f"{name} is `{got}`, wanted `{wanted}`" + (f" ({why})" if why else ""))


def _missing(name: str, wanted: str) -> FieldVerdict:
    return FieldVerdict(False, f"{name} is missing, wanted `{wanted}`")


def sources(name: str, texts: Texts) -> list[str]:
    """Return the texts that may supply a field: its own argument, else those beside it, nearest first."""
    own = texts.get(name, ())
    if own:
        return list(own)
    return [text for other in table("arguments")["also_in"].get(name, ()) for text in texts.get(other, ())]


def _identity(name: str, wanted: str, texts: Texts) -> FieldVerdict:
    got = texts.get(name, ())
    if not got:
        return _missing(name, wanted)
    same = all(_bare_id(text) == _bare_id(wanted) for text in got)
    return _yes(name, got[0]) if same else _no(name, wanted, got[0])


def _bare_id(text: str) -> str:
    return _IDENTITY_PREFIX.sub("", normal(text))


def _medication(name: str, wanted: str, texts: Texts) -> FieldVerdict:
    asked = read_medication(wanted)
    for text in sources(name, texts):
        got = read_medication(text)
        if got.named:
            return _yes(name, text) if same_medication(asked, got) else _no(name, wanted, text)
    return _missing(name, wanted)


def _route(name: str, wanted: str, texts: Texts) -> FieldVerdict:
    own = bool(texts.get(name))
    asked = whole_terms("route", wanted)
    for text in sources(name, texts):
        got = whole_terms("route", text)
        if not own:
            got -= _doubtful(text)
        if got:
            same = bool(asked) and all(_within(route) & asked for route in got)
            return _yes(name, text) if same else _no(name, wanted, text)
        if own:
            same = normal(text) == normal(wanted)
            return _yes(name, text) if same else _no(name, wanted, text)
    return _missing(name, wanted)


def _doubtful(text: str) -> frozenset[str]:
    """Return the routes that only words too short to trust outside their own field name ("in", "pr")."""
    doubtful = set(table("terms")["route_only_in_its_field"])
    hits = terms("route").find(normal(text))
    sure = {hit.meaning for hit in hits if normal(text)[hit.start : hit.end] not in doubtful}
    return frozenset(hit.meaning for hit in hits) - sure


def _within(route: str) -> frozenset[str]:
    wider: Mapping[str, str] = table("terms")["within"]
    return frozenset({route, wider.get(route, route)})


def read_order_frequency(texts: Texts) -> Frequency | None:
    """Return how often the order is to be given, or None where it does not say."""
    frequency: Frequency | None = None
    for text in sources("frequency", texts):
        found = read_frequency(text)
        if found.stated:
            frequency = found
            break
        if found.prn and texts.get("frequency"):
            frequency = found
    if frequency and not frequency.prn and texts.get("prn"):
        frequency = replace(frequency, prn=True)
    if frequency and texts.get("frequency"):
        for text in (*texts.get("medication", ()), *texts.get("dose", ())):
            if any(amount.per == "day" for amount in read_doses(text).amounts):
                continue  # "1000 mg/day" is an amount, not how often
            other = read_frequency(text)
            if other.stated and (other.low, other.high, other.once) != (frequency.low, frequency.high, frequency.once):
                frequency = replace(frequency, conflict=True)  # two arguments say different things
    return frequency


def _frequency(name: str, wanted: str, texts: Texts) -> FieldVerdict:
    asked, got = read_frequency(wanted), read_order_frequency(texts)
    said = "; ".join(sources(name, texts))
    own = texts.get(name, ())
    if not asked.stated and not asked.prn:  # words the vocabulary lacks: only the same words mean the same
        same = any(normal(text) == normal(wanted) for text in own)
        return _yes(name, said) if same else _no(name, wanted, said)
    if got is None or not (got.stated or got.prn):
        return (
            FieldVerdict(False, f"{name} `{said}` cannot be read", unreadable=True) if own else _missing(name, wanted)
        )
    if asked.prn and not got.prn and any(read_frequency(text).prn for text in _remarks(texts)):
        got = replace(got, prn=True)
    if asked.anchors - got.anchors:
        more = frozenset(anchor for text in _remarks(texts) for anchor in read_frequency(text).anchors)
        got = replace(got, anchors=got.anchors | (more & asked.anchors))
    if same_frequency(asked, got):
        return _yes(name, said)
    return _no(name, wanted, said, "contradictory" if got.conflict else "")


def _remarks(texts: Texts) -> list[str]:
    return [text for name in ("medication", "dose", "sig", "detail", "note") for text in texts.get(name, ())]


def read_order_doses(texts: Texts) -> Doses | None:
    """Return the amounts of an order, with pieces multiplied by a strength that stands in the product's name."""
    named = [read_doses(text) for text in texts.get("medication", ())]
    strength = next((found for doses in named if (found := _strength(doses))), None)
    for text in sources("dose", texts):
        doses = read_doses(text)
        if not (doses.amounts or doses.bare):
            continue
        if strength and not _masses(doses):
            more = _applied(strength, doses)
            doses = replace(doses, amounts=doses.amounts + more)
        return doses
    return None


def _strength(doses: Doses) -> Amount | None:
    """Return the amount in one piece that a product's name gives ("Zestril 10 mg tablet")."""
    if doses.strength:
        return doses.strength
    masses = _masses(doses)
    return replace(masses[0], per="piece") if len(masses) == 1 and not masses[0].per else None


def _masses(doses: Doses) -> list[Amount]:
    return [amount for amount in doses.amounts if amount.dimension in ("mass", "amount", "charge", "activity")]


def _applied(strength: Amount, doses: Doses) -> tuple[Amount, ...]:
    counted = doses.of("piece" if strength.per == "piece" else "volume")
    return tuple(replace(strength, per="").times(amount) for amount in counted)


def _dose(name: str, wanted: str, texts: Texts) -> FieldVerdict:
    asked = read_doses(wanted)
    said = "; ".join(sources(name, texts))
    got = read_order_doses(texts)
    if got is None:
        return (
            FieldVerdict(False, f"{name} `{said}` cannot be read", unreadable=True)
            if texts.get(name)
            else _missing(name, wanted)
        )
    if not asked.amounts:
        same = bool(asked.bare) and asked.bare == got.bare and not got.amounts
        return _yes(name, said) if same else _no(name, wanted, said)
    if not got.amounts:
        return _no(name, wanted, said, "no unit")
    drugs = " ".join(texts.get("medication", ()))
    target = asked.amounts[0]
    comparable = [same for amount in got.amounts for same in (convert(amount, target.dimension, drugs),) if same]
    comparable = [_per_dose(amount, texts) for amount in comparable]
    if len(set(comparable)) != 1:
        return _no(name, wanted, said, "more than one dose" if comparable else "another kind of unit")
    found = comparable[0]
    same = (found.low, found.high, found.per) == (target.low, target.high, target.per)
    if same and _contradicted(found, texts):
        return _no(name, wanted, "; ".join([*texts.get("medication", ()), said]), "contradictory")
    return _yes(name, said) if same else _no(name, wanted, said, "" if found.single else "a range is no single dose")


def _contradicted(found: Amount, texts: Texts) -> bool:
    """Tell whether the medication argument is a whole instruction of its own with another dose."""
    if not texts.get("dose"):
        return False
    for text in texts.get("medication", ()):
        if read_frequency(text).stated:
            masses = [amount for amount in read_doses(text).amounts if amount.dimension == found.dimension]
            if masses and all((amount.low, amount.high) != (found.low, found.high) for amount in masses):
                return True
    return False


def convert(amount: Amount, dimension: str, drugs: str) -> Amount | None:
    """Return the amount in another dimension's base unit where that is the same for these drugs, else None.

    mEq = mmol × valence of the ion, so it is equal for potassium and twice as much for magnesium.
    """
    if amount.dimension == dimension:
        return amount
    if {amount.dimension, dimension} != {"amount", "charge"}:
        return None
    folded = normal(drugs)
    valences = {size for word, size in table("doses")["valence"].items() if word in folded}
    if len(valences) != 1:
        return None
    valence = Decimal(valences.pop())
    factor = valence if dimension == "charge" else 1 / valence
    return replace(amount, dimension=dimension).times(factor)


def _per_dose(amount: Amount, texts: Texts) -> Amount:
    """Turn an amount per day into one per dose, where the order says how often."""
    if amount.per != "day":
        return amount
    frequency = read_order_frequency(texts)
    if frequency is None or frequency.low is None or frequency.low != frequency.high:
        return amount
    times = Decimal(frequency.low.numerator) / Decimal(frequency.low.denominator)
    return replace(amount, per="").times(1 / times)


def _duration(name: str, wanted: str, texts: Texts) -> FieldVerdict:
    asked = read_durations(wanted)
    for text in sources(name, texts):
        got = read_durations(text)
        if got:
            return _yes(name, text) if got == asked else _no(name, wanted, text)
    own = texts.get(name, ())
    if own:
        return _yes(name, own[0]) if normal(own[0]) == normal(wanted) else _no(name, wanted, own[0])
    return _missing(name, wanted)


def _term(name: str, wanted: str, texts: Texts) -> FieldVerdict:
    asked = whole_terms(name, wanted)
    own = texts.get(name, ())
    for text in sources(name, texts):
        got = whole_terms(name, text)
        if not got and not own:
            continue
        same = got == asked if asked else normal(text) == normal(wanted)
        return _yes(name, text) if same else _no(name, wanted, text)
    return _missing(name, wanted)


def _instant(name: str, wanted: str, texts: Texts) -> FieldVerdict:
    got = texts.get(name, ())
    if not got:
        return _missing(name, wanted)
    asked = _moment(wanted)
    same = all(normal(text) == normal(wanted) or (asked is not None and _moment(text) == asked) for text in got)
    return _yes(name, got[0]) if same else _no(name, wanted, got[0])


def _moment(text: str) -> datetime | None:
    """Read an instant; "Z" and "+00:00" are one, and a time without zone is taken as UTC (as charts write it)."""
    try:
        moment = datetime.fromisoformat(text.strip().replace(" ", "T"))
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _text(name: str, wanted: str, texts: Texts) -> FieldVerdict:
    own = texts.get(name, ())
    found = sources(name, texts)
    if not found:
        return _missing(name, wanted)
    same = same_service if name == "service" else _same_words
    for text in [*found, *(["; ".join(found)] if len(found) > 1 else [])]:
        if same(wanted, text):
            return _yes(name, text)
    return _no(name, wanted, "; ".join(own)) if own else _missing(name, wanted)


def _same_words(wanted: str, got: str) -> bool:
    """Compare free text; two amounts of one kind are compared as numbers ("1 h" = "60 min", "5 mL/h")."""
    asked, offered = read_durations(wanted), read_durations(got)
    if asked and normal(wanted)[0].isdecimal():
        return asked == offered
    doses, given = read_doses(wanted), read_doses(got)
    if doses.amounts and normal(wanted)[0].isdecimal():
        return doses.amounts == given.amounts
    return same_text(wanted, got)
