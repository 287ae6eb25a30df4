"""What the patient is said to do with a drug: several accounts of it at once are none.

Whoever has asked the patient and then reports every possible reply ("takes it as prescribed, stopped it, takes less,
missed doses") has told the physician nothing. The accounts, and which contradict which, are data (`data/limits.json`);
each is looked for as a `reports` item of its own would be.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from wardround.rubrics.checks import CheckContext, judge
from wardround.rubrics.reading import Reading, read

from .limits import Account, limits
from .rubric import ReportsCheck, Text

_DRUGS = frozenset({"drug", "drug_class"})
_NEAR = 4
"""Tokens between an event and the word beside it ("takes less of her", "takes metformin but less")."""


def clashing_accounts(concept: str, reading: Reading, gold: Iterable[Text]) -> str | None:
    """Return why what an answer has the patient say of a drug does not count for a `reports` check, or None.

    Args:
        concept: The check's concept ("stopped metformin"); one without a drug clashes with nothing.
        reading: The answer.
        gold: The turn's gold answers; what one of them seems to contradict itself is no hedging.
    """
    drug = _drug_of(concept)
    if drug is None:
        return None
    clash = _clash(concept, drug, reading)
    if clash is None or any(
        _gold_clashes(concept, drug, text, language)
        for answer in gold
        for language, text in (("en", answer.en), ("zh", answer.zh))
        if text
    ):
        return None
    return clash


@lru_cache(maxsize=4096)
def _drug_of(concept: str) -> str | None:
    """Return the words of the drug that a concept is about, or None."""
    return next((name.span.text for name in read(concept).names if name.kind in _DRUGS), None)


@lru_cache(maxsize=4096)
def _gold_clashes(concept: str, drug: str, text: str, language: str) -> bool:
    return _clash(concept, drug, read(text, language)) is not None


def _clash(concept: str, drug: str, reading: Reading) -> str | None:
    rules = limits()
    told = [account.name for account in rules.accounts if _told(account, drug, reading)]
    if len(told) > rules.accounts_at_once:
        return f"hedging: the patient's account of `{drug}` is given as {', '.join(told)}"
    for account in rules.accounts:
        if concept not in (name.replace("{drug}", drug) for name in account.concepts):
            continue
        against = [name for name in told if name in account.contradicted_by]
        if against:
            return f"hedging: the patient's account of `{drug}` is given as {against[0]}"
    return None


def _told(account: Account, drug: str, reading: Reading) -> bool:
    """Tell whether the answer gives that account as the patient's, now and not denied."""
    if not _stands(account, reading):
        return False
    check = ReportsCheck(concept=account.concepts[0].replace("{drug}", drug))
    return judge(check, reading, CheckContext(item="", language="en")).passed


def _stands(account: Account, reading: Reading) -> bool:
    """Tell whether a word of the account's event is neither denied nor, for taking, a thing of the past."""
    tokens = reading.document.tokens
    for number, sentence in enumerate(reading.document.sentences):
        for ann in sentence.of("event"):
            if ann.kind != account.event:
                continue
            flags = reading.scopes[number].flags(ann.start, ann.end)
            if flags.negated or (account.event == "take" and flags.past):
                continue
            beside = tokens[max(sentence.start, ann.start - _NEAR) : min(sentence.end, ann.end + _NEAR)]
            if not account.near or any(token.key in account.near for token in beside):
                return True
    return False
