"""Do two wordings mean the same? Same things named, same numbers, same yes or no: what a rewording must keep."""

from __future__ import annotations

import re
import unicodedata

from wardround.patients import knowledge

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_KINDS = frozenset({"lab", "vital", "drug", "drug_class", "condition", "finding", "service"})
_QUESTION = re.compile(r"\?+")
_NOT = re.compile(r"\b(?:not|no|never|without|n't|stop|hold)\b|n't|[不没未无停]")


def things_named(text: str) -> frozenset[tuple[str, ...]]:
    """Return what a text names of the knowledge base; an ambiguous name is all it may mean."""
    plain = unicodedata.normalize("NFKC", text)
    return frozenset(tuple(sorted(mention.concepts)) for mention in knowledge.lexicon().scan(plain, kinds=set(_KINDS)))


def numbers(text: str) -> tuple[str, ...]:
    """Return the numbers of a text outside the names of things, in order of size as text."""
    plain = unicodedata.normalize("NFKC", text)
    for mention in reversed(knowledge.lexicon().scan(plain, kinds=set(_KINDS))):
        plain = plain[: mention.start] + " " + plain[mention.end :]
    return tuple(sorted(_NUMBER.findall(plain)))


def differs(one: str, other: str) -> str:
    """Return how the second text means something else than the first, "" where nothing shows that it does."""
    first, second = things_named(one), things_named(other)
    for group in first:
        if not any(set(group) & set(found) for found in second):
            return f"does not name {' or '.join(group)}"
    for group in second:
        if not any(set(group) & set(found) for found in first):
            return f"names {' or '.join(group)}, which was not asked for"
    if numbers(one) != numbers(other):
        return f"numbers are {', '.join(numbers(other)) or 'none'}, not {', '.join(numbers(one)) or 'none'}"
    if bool(_NOT.search(one.casefold())) != bool(_NOT.search(other.casefold())):
        return "one says no where the other does not"
    return ""


def asks_more(one: str, other: str) -> str:
    """Return how the second text asks more often than the first, "" where it does not; one question is always right.

    What `differs` cannot see: a second question about what is named already ("Was it given? Was she taking it?").
    """
    wanted, said = (len(_QUESTION.findall(unicodedata.normalize("NFKC", text))) for text in (one, other))
    return f"asks {said} questions, not {wanted}" if said > max(1, wanted) else ""
