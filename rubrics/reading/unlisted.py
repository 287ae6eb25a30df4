"""What a check names and the knowledge base does not know: measurements and drugs, found by their own words."""

from __future__ import annotations

from functools import lru_cache

from .cues import words
from .document import Ann, Document
from .tokens import Token, stem, tokenise

OWN = "own:"
"""What the id of such a measurement begins with; its name follows."""
OWN_DRUG = "own-drug:"
"""What the id of such a drug begins with."""
SMALL = words("unlisted.small")
"""Words that may stand between those of a name, or be left out of it."""
TAILS = words("unlisted.tails")
"""What a name may end in and an answer leave out ("aneurysm diameter" for "the aneurysm is 5.8 cm")."""
LONG, HALVED = 6, 4
"""Characters from which a Chinese name may lack its first or its last two."""
GAP = 2
"""Tokens that may stand between two words of a name."""
LEAST = 3
"""Letters that make an acronym."""


def own_id(name: str, mark: str = OWN) -> str:
    """Return the id of a measurement (or, by its mark, a drug) that only its name tells of."""
    return mark + " ".join(name.casefold().split())


def own_kind(one: str) -> str:
    """Return the kind of what an id of this module names, "" for an id of the knowledge base."""
    return "lab" if one.startswith(OWN) else "drug" if one.startswith(OWN_DRUG) else ""


@lru_cache(maxsize=1024)
def _forms(name: str) -> tuple[tuple[str, ...], ...]:
    """Return the wordings to look for, the fullest first: the name, the name without its tail or its first words."""
    full = tuple(key for token in tokenise(name) if (key := _key(token)) and key not in SMALL)
    forms = [full]
    short = full
    while len(short) > 1 and (tail := next((n for n in (2, 1) if "".join(short[-n:]) in TAILS), 0)):
        short = short[:-tail]
        if short:
            forms.append(short)
    if full and not _chinese(full):
        forms += [short[at:] for at in range(1, len(short) - 1)]
        forms += [full[-2:], (full[0], full[-1])] if len(full) > 2 else []
    else:
        forms += [short[2:]] if len(short) >= LONG else []
        forms += [short[:-2]] if len(short) >= HALVED else []
    return tuple(dict.fromkeys(form for form in forms if form))


def _chinese(keys: tuple[str, ...]) -> bool:
    return any("一" <= key[0] <= "鿿" for key in keys)


def _key(token: Token) -> str:
    return stem(token.key) if token.kind == "w" else token.raw if token.kind in "cn" else ""


@lru_cache(maxsize=1024)
def _acronym(name: str) -> str:
    """Return the initials of an English name ("NCV" of "nerve conduction velocity"), "" where they are too few."""
    found = "".join(part[0] for part in name.replace("-", " ").split() if part[0].isalpha() and part not in SMALL)
    return found.upper() if len(found) >= LEAST and found.isascii() else ""


def places(document: Document, own: str) -> list[tuple[int, int]]:
    """Return the token spans that name a measurement: in its fullest wording that the answer has, or by initials.

    A drug is found by its whole name only.
    """
    keys = [_key(token) for token in document.tokens]
    name = own.partition(":")[2]
    if own.startswith(OWN_DRUG):
        return _spans(document, keys, _forms(name)[0]) if _forms(name) else []
    acronym = _acronym(name)
    found = [(at, at + 1) for at, token in enumerate(document.tokens) if acronym and token.raw == acronym]
    for form in _forms(name):
        if spans := _spans(document, keys, form):
            return sorted({*found, *spans})
    return found


def _spans(document: Document, keys: list[str], form: tuple[str, ...]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    han = _chinese(form)
    gap = 1 if han else GAP
    for start, key in enumerate(keys):
        if key != form[0] or (spans and start < spans[-1][1]):
            continue
        at = start
        for wanted in form[1:]:
            following = range(at + 1, min(at + 2 + gap, len(keys)))
            at = next(
                (i for i in following if keys[i] == wanted and (not han or i == at + 1 or keys[i - 1] == "的")), -1
            )
            if at < 0 or not (han or all(document.tokens[i].kind == "w" for i in range(start + 1, at))):
                at = -1
                break
        if at >= 0:
            spans.append((start, at + 1))
    return spans


def lay_over(document: Document, anns: list[Ann], blocked: list[bool], own: str, value: object) -> list[Ann]:
    """Return the names with those of one more measurement or drug in place of what they cover.

    Args:
        document: the answer.
        anns: concepts and words that imply one.
        blocked: tokens that are part of a name; marked here.
        own: its id.
        value: what an annotation of it holds.
    """
    spans = places(document, own)
    covered = {i for start, end in spans for i in range(start, end)}
    kept = [ann for ann in anns if not (ann.start in covered or ann.end - 1 in covered)]
    for start, end in spans:
        blocked[start:end] = [True] * (end - start)
        kept.append(Ann(start, end, "concept", "concept", value))
    return kept
