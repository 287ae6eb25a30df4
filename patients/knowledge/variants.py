"""Wordings that follow from a wording by rule: plurals, British spelling, joined hyphens, a space between scripts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

_HAN = re.compile("[\u3007\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003134f]")
_SEAM = re.compile("(?<=[A-Za-z0-9])(?=[\u3400-\u9fff])|(?<=[\u3400-\u9fff])(?=[A-Za-z0-9])")
_PLAIN_WORD = re.compile(r"[A-Za-z]*[a-z]{3}")
_CAPITALS = re.compile(r"[A-Z][A-Za-z]*[A-Z]")


def has_han(text: str) -> bool:
    """Tell whether a Chinese character stands in `text`."""
    return _HAN.search(text) is not None


def needs_case(wording: str, capitals: Collection[str]) -> bool:
    """Tell whether a wording needs its capitals: at most two letters, or in `capitals`."""
    return wording in capitals or (len(wording) <= 2 and not has_han(wording))


def surfaces(wording: str, spellings: Sequence[tuple[str, str]], *, strict: bool) -> Iterator[str]:
    """Yield `wording` and what follows from it by rule.

    Args:
        wording: a name or synonym as the data file writes it.
        spellings: American → British parts of words.
        strict: the wording needs its capitals, so nothing is derived but the plural of an abbreviation.
    """
    yield wording
    if has_han(wording):
        spaced = _SEAM.sub(" ", wording)
        if spaced != wording:
            yield spaced
        return
    if strict:
        return
    for spelt in _spelt(wording, spellings):
        if spelt != wording:
            yield spelt
        yield from _plurals(spelt)
    if "-" in wording:
        yield wording.replace("-", "")


def _spelt(wording: str, spellings: Sequence[tuple[str, str]]) -> list[str]:
    forms = [wording]
    lowered = wording.lower()
    british = lowered
    for american, other in spellings:
        british = british.replace(american, other)
    if british != lowered:
        forms.append(british)
    return forms


def _plurals(wording: str) -> Iterator[str]:
    last = re.split("[ -]", wording)[-1]
    if _CAPITALS.fullmatch(last) and len(last) >= 2:
        yield wording + "s"
    elif _PLAIN_WORD.fullmatch(last) and not last.endswith("s"):
        if last.endswith("y") and last[-2] not in "aeiou":
            yield wording[:-1] + "ies"
        elif last.endswith(("x", "ch", "sh")):
            yield wording + "es"
        else:
            yield wording + "s"
