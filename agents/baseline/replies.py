"""What a patient's reply says: whether a drug is taken and why not, and whether a symptom is there."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wardround.patients import knowledge

from .words import has, pattern, vocabulary

_SENTENCE = re.compile(r"[^.!?。！？]+[.!?。！？]?")


@dataclass(frozen=True)
class Account:
    """What the patient does with a drug."""

    state: str
    """taking, stopped, never_started, missed_doses, reduced, doubled or unknown."""
    reason: str = ""
    """A reason of data/words.json."""
    finding: str | None = None
    """A symptom given as the reason."""


def account_of(reply: str, language: str) -> Account:
    """Read a reply about taking a drug."""
    words, low = vocabulary(language), reply.lower()
    plain = pattern(words.not_missed, language).sub(" ", low)
    state = "taking"
    for one, cues in words.accounts.items():
        if has(plain, cues, language):
            state = one
            break
    if state == "taking":
        return Account("unknown" if has(low, words.unsure, language) else "taking")
    reason = next((one for one, cues in words.reasons.items() if has(plain, cues, language)), "")
    findings = [
        mention.concept
        for mention in knowledge.lexicon().scan(reply, kinds={"finding"})
        if not denied(low, mention.start, language)
    ]
    told = [one for one in findings if one not in words.not_symptoms]
    if reason and reason != "fear of side effects":
        told = []
    return Account(state, reason, told[0] if told else None)


def polarity_of(finding: str, reply: str, language: str) -> str:
    """Read a reply about a symptom: present, absent or unknown.

    What began, got worse or woke the patient is there; else the symptom's own name decides, else how the reply begins.
    """
    low, words = reply.lower(), vocabulary(language)
    first = _SENTENCE.match(low)
    head = first.group().strip() if first is not None else ""
    if has(head, words.unsure, language):
        return "unknown"
    refuses = pattern(words.denies, language).match(head) is not None
    named = [one for one in knowledge.lexicon().scan(reply, kinds={"finding"}) if finding in one.concepts]
    if named and not refuses:
        return "absent" if all(denied(low, one.start, language) for one in named) else "present"
    if not named and has(low, words.onset, language):
        return "present"
    return "absent" if refuses or has(low, words.absent, language) else "present"


def denied(low: str, at: int, language: str) -> bool:
    """Tell whether a negation stands before a place in its clause."""
    start = max((low.rfind(mark, 0, at) for mark in ".!?;,。！？；，"), default=-1) + 1
    return has(low[start:at], vocabulary(language).denies, language)
