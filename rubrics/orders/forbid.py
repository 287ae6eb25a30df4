"""What must not be true of an order: doses, classes, priorities and words that make it unsafe."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from wardround.rubrics.rubric import Forbid

from .arguments import Texts
from .doses import Amount, read_doses
from .fields import FieldVerdict, convert, read_order_doses, read_order_frequency
from .frequencies import Frequency
from .meaning import read_meaning, same_text, whole_terms
from .medications import drug_ids, is_of_class
from .vocabulary import normal

CLEAR = FieldVerdict(True, "nothing forbidden is true of it")


def judge_forbid(forbid: Forbid, texts: Texts) -> FieldVerdict:
    """Pass where no key that is given holds; a dose that cannot be compared with its limit is unreadable."""
    found = [
        _dose(forbid.dose_at_least, texts, daily=False) if forbid.dose_at_least is not None else CLEAR,
        _dose(forbid.daily_dose_at_least, texts, daily=True) if forbid.daily_dose_at_least is not None else CLEAR,
        _class(forbid.medication_class, texts) if forbid.medication_class is not None else CLEAR,
        _priority(forbid.priority, texts) if forbid.priority is not None else CLEAR,
        _mentions(forbid.text_mentions, texts) if forbid.text_mentions is not None else CLEAR,
    ]
    failed = [verdict for verdict in found if not verdict.passed]
    plain = [verdict for verdict in failed if not verdict.unreadable]
    return (plain or failed or [CLEAR])[0]


def _dose(limit_text: str, texts: Texts, *, daily: bool) -> FieldVerdict:
    """Judge "per dose" or "per day" against a limit; reaching it counts."""
    limit = _limit(limit_text)
    doses = read_order_doses(texts)
    said = "; ".join(texts.get("dose", ()) or texts.get("medication", ()))
    if doses is None:
        if texts.get("dose"):
            return FieldVerdict(False, f"dose `{said}` cannot be read, so it may reach {limit_text}", unreadable=True)
        return CLEAR
    if limit is None:
        return FieldVerdict(False, f"limit `{limit_text}` cannot be read", unreadable=True)
    drugs = " ".join(texts.get("medication", ()))
    highest = [
        found.high
        for amount in doses.amounts
        if (found := convert(amount, limit.dimension, drugs)) and found.per in ("", "day")
    ]
    if not highest:
        return FieldVerdict(False, f"dose `{said}` cannot be compared with {limit_text}", unreadable=True)
    per_dose = max(highest)
    if not daily:
        reached = per_dose >= limit.low
        return FieldVerdict(False, f"dose `{said}` reaches {limit_text}") if reached else CLEAR
    if per_dose >= limit.low:
        return FieldVerdict(False, f"one dose of `{said}` reaches {limit_text} a day")
    stated_daily = any(amount.per == "day" for amount in doses.amounts)
    times = Fraction(1) if stated_daily else _times_a_day(read_order_frequency(texts))
    if times is None:
        return FieldVerdict(False, f"how often is not said, so a day may reach {limit_text}", unreadable=True)
    total = per_dose * times.numerator / times.denominator
    ceiling = _ceiling(texts, limit.dimension)
    if ceiling is not None:
        total = min(total, ceiling)
    return FieldVerdict(False, f"`{said}` reaches {limit_text} a day") if total >= limit.low else CLEAR


def _limit(text: str) -> Amount | None:
    amounts = read_doses(text).amounts
    return amounts[0] if len(amounts) == 1 else None


def _times_a_day(frequency: Frequency | None) -> Fraction | None:
    """Return the most doses of one day; as-needed doses count at their maximum rate."""
    if frequency is None or frequency.conflict or frequency.continuous:
        return None
    if frequency.once:
        return Fraction(1)
    if frequency.high is None:
        return None
    return max(frequency.high, Fraction(1))  # a weekly dose still is one whole dose on its day


def _ceiling(texts: Texts, dimension: str) -> Decimal | None:
    """Return the daily maximum that the order itself states."""
    for name in ("dose", "frequency", "sig", "detail", "note"):
        for text in texts.get(name, ()):
            ceiling = read_doses(text).ceiling
            if ceiling is not None and ceiling.dimension == dimension:
                return ceiling.high
    return None


def _class(name: str, texts: Texts) -> FieldVerdict:
    """Judge what is ordered, not what a note warns of."""
    drugs = frozenset(drug for text in texts.get("medication", ()) for drug in drug_ids(text))
    member = is_of_class(drugs, name)
    said = "; ".join(texts.get("medication", ()))
    if member is None:
        return FieldVerdict(False, f"class `{name}` is not in the knowledge base", unreadable=True)
    return FieldVerdict(False, f"`{said}` belongs to {name}") if member else CLEAR


def _priority(priority: str, texts: Texts) -> FieldVerdict:
    asked = whole_terms("priority", priority) or frozenset({normal(priority)})
    for text in texts.get("priority", ()):
        if (whole_terms("priority", text) or frozenset({normal(text)})) & asked:
            return FieldVerdict(False, f"priority is `{text}`")
    return CLEAR


def _mentions(phrase: str, texts: Texts) -> FieldVerdict:
    """Judge every text of the order; a mention counts even where it is denied."""
    wanted = read_meaning(normal(phrase))
    for name, said in texts.items():
        for text in said:
            got = read_meaning(normal(text))
            everything = got.tokens | got.denied
            known = bool(wanted.tokens) and all(any(tokens <= everything for tokens in need) for need in wanted.needs)
            if normal(phrase) in normal(text) or (known and not wanted.stems) or same_text(phrase, text):
                return FieldVerdict(False, f"{name} mentions {phrase}")
    return CLEAR
