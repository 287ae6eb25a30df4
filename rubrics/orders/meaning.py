"""Whether two short texts of an order mean the same: services, reasons, indications, details, in either language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from wardround.patients import knowledge

from .vocabulary import Phrases, normal, table, terms

_GROUPS = ("contrast", "modality", "body", "side", "mode", "specialty", "finding", "act")
_WORD = re.compile(r"[^\W_]+")
_MARKS = re.compile(r"[.;,。；，、]")
_REACH = 12
"""Characters before a term in which a negation denies it."""


Alternatives = tuple[frozenset[str], ...]
"""Any one of these sets of tokens says the thing."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a short text says."""

    needs: tuple[Alternatives, ...]
    """What another text must say to mean the same."""
    tokens: frozenset[str]
    """Concept ids of the knowledge base and tokens of our own groups that it asserts."""
    denied: frozenset[str]
    """Tokens that only stand under a negation."""
    parts: frozenset[str]
    """The tokens that tell services apart, each thing named once."""
    stems: frozenset[str]
    """Stems of the words that no token covers."""
    script: str
    """"latin" or "han"."""


def same_text(wanted: str, got: str) -> bool:
    """Tell whether `got` says at least what `wanted` says; more detail is welcome."""
    one, other = normal(wanted), normal(got)
    if one == other:
        return True
    return says(read_meaning(one), read_meaning(other))


def same_service(wanted: str, got: str) -> bool:
    """Tell whether `got` asks for the service `wanted`: as `same_text`, and nothing that makes it another service."""
    one, other = normal(wanted), _before_reason(normal(got))
    if one == other:
        return True
    asked, offered = read_meaning(_before_reason(one)), read_meaning(other)
    if not says(asked, offered):
        return False
    added = _distinguishing(offered.parts) - _distinguishing(asked.parts) - asked.tokens
    return not added - frozenset(table("terms")["may_be_added"])


def says(wanted: Meaning, got: Meaning) -> bool:
    """Tell whether everything `wanted` needs is in `got`, and, in one script, enough of its other words."""
    for need in wanted.needs:
        if not any(all(_holds(token, got.tokens) for token in tokens) for tokens in need):
            return False
    if wanted.denied - got.denied:
        return False
    known = bool(wanted.needs or wanted.denied)
    if known and wanted.script != got.script:
        return True  # words that no lexicon knows cannot be compared across scripts
    if not wanted.stems:
        return known
    shared = sum(any(_same_stem(stem, other) for other in got.stems) for stem in wanted.stems)
    return 2 * shared >= len(wanted.stems) if known else 3 * shared >= 2 * len(wanted.stems)


@lru_cache(maxsize=4096)
def read_meaning(text: str) -> Meaning:
    """Read a short text that is already normal."""
    own = _finder().find(text)
    mentions = [
        found
        for found in knowledge.lexicon().scan(text)
        if not any(
            hit.start <= found.start and found.end <= hit.end and hit.end - hit.start > found.end - found.start
            for hit in own
        )
    ]  # a longer phrase of ours says more than the word inside it: "with and without contrast"
    covered = bytearray(len(text))
    for start, end in [*((hit.start, hit.end) for hit in own), *((found.start, found.end) for found in mentions)]:
        covered[start:end] = b"\x01" * (end - start)
    needs: list[Alternatives] = []
    said: set[str] = set()
    denied: set[str] = set()
    parts: set[str] = set()
    inside: set[int] = set()
    for mention in mentions:
        within = [at for at, hit in enumerate(own) if mention.start <= hit.start and hit.end <= mention.end]
        pieces = frozenset(token for at in within for token in own[at].meaning)
        gaps = _uncovered(text, mention.start, mention.end, [(own[at].start, own[at].end) for at in within])
        whole = bool(pieces) and not gaps
        inside.update(within)
        group = set(mention.concepts) | pieces
        if _negated(text, mention.start, mention.end):
            denied |= group
            continue
        said |= group
        parts |= pieces if whole else {mention.concepts[0]}
        sharp = pieces & _sharp()  # a concept may be wider than its words: "CT head without contrast"
        needs.append((*(frozenset({concept}) | sharp for concept in mention.concepts), *((pieces,) if whole else ())))
    for at, hit in enumerate(own):
        tokens = frozenset(hit.meaning)
        if at in inside:
            continue
        if _negated(text, hit.start, hit.end):
            denied |= tokens
            continue
        said |= tokens
        parts |= tokens
        needs.append((tokens,))
    for mention in mentions:
        hidden = _drug_within(text[mention.start : mention.end])
        if hidden:  # a longer name of another kind must not hide a drug: "penicillin allergy" names penicillin
            (denied if _negated(text, mention.start, mention.end) else said).add(hidden)
    return Meaning(
        tuple(needs), frozenset(said), frozenset(denied - said), frozenset(parts), _stems(text, covered), _script(text)
    )


@lru_cache(maxsize=2048)
def _drug_within(words: str) -> str | None:
    """Return the drug whose name begins a longer name, or None."""
    lexicon = knowledge.lexicon()
    for end in range(len(words) - 1, 1, -1):
        found = lexicon.resolve(words[:end], kinds=("drug",))
        if found is not None:
            return found.id
    return None


def _uncovered(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> str:
    """Return the word characters of text[start:end] outside `spans`, weak words left out."""
    covered = bytearray(len(text))
    for first, last in spans:
        covered[first:last] = b"\x01" * (last - first)
    left = "".join(" " if covered[at] else text[at] for at in range(start, end))
    return "".join(word for word in _WORD.findall(left) if word not in _weak())


def _stems(text: str, covered: bytearray) -> frozenset[str]:
    left = "".join(" " if covered[at] else char for at, char in enumerate(text))
    return frozenset(_stem(word) for word in _WORD.findall(left) if word not in _weak() and not word.isdecimal())


@cache
def _weak() -> frozenset[str]:
    return frozenset(table("terms")["weak"])


@cache
def _finder() -> Phrases[tuple[str, ...]]:
    loaded: Mapping[str, Mapping[str, list[str]]] = table("terms")
    entries = [(word, (token,)) for group in _GROUPS for token, words in loaded[group].items() for word in words]
    shorthand: Mapping[str, list[str]] = table("terms")["shorthand"]
    return Phrases([*((word, tuple(tokens)) for word, tokens in shorthand.items()), *entries])


@cache
def _distinguishing_tokens() -> frozenset[str]:
    loaded = table("terms")
    return frozenset(token for group in loaded["distinguishing"] for token in loaded[group])


@cache
def _sharp() -> frozenset[str]:
    loaded = table("terms")
    return frozenset(token for group in loaded["sharp"] for token in loaded[group])


def _distinguishing(tokens: frozenset[str]) -> frozenset[str]:
    """Return the tokens that tell services apart, tests and procedures of the knowledge base included."""
    lexicon = knowledge.lexicon()
    told = {token for token in tokens if token in _distinguishing_tokens()}
    for token in tokens - told:
        concept = lexicon.resolve(token)
        if concept is not None and concept.id == token and concept.kind in ("lab", "procedure", "service"):
            told.add(token)
    return frozenset(told)


def _holds(token: str, tokens: frozenset[str]) -> bool:
    """Tell whether a token, or a narrower condition or finding, is among `tokens`; drugs must be the same."""
    if token in tokens:
        return True
    lexicon = knowledge.lexicon()
    concept = lexicon.resolve(token)
    if concept is None or concept.id != token or concept.kind in ("drug", "drug_class"):
        return False
    return any(lexicon.is_a(other, token) for other in tokens)


def _negated(text: str, start: int, end: int) -> bool:
    """Tell whether a negation stands just before, or what rules it out right after, with no clause end between."""
    before = _MARKS.split(text[max(0, start - _REACH) : start])[-1]
    after = _MARKS.split(text[end : end + _REACH])[0].strip()
    return bool(_negations().find(before)) or after.startswith(tuple(table("terms")["negation_after"]))


@cache
def _negations() -> Phrases[str]:
    return Phrases((word, word) for word in table("terms")["negation"])


def _before_reason(text: str) -> str:
    """Cut a service at the words that say why it is wanted."""
    cuts = [at for cue in table("terms")["reason_cues"] if (at := text.find(cue.casefold())) > 0]
    return text[: min(cuts)] if cuts else text


def _script(text: str) -> str:
    return "han" if any("\u3400" <= char <= "\u9fff" for char in text) else "latin"


def _stem(word: str) -> str:
    """Cut the commonest English endings; enough to bring "worsening" and "worsened" together."""
    for ending in ("ing", "ed", "es", "s", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def _same_stem(one: str, other: str) -> bool:
    return one == other or (min(len(one), len(other)) >= 5 and (one.startswith(other) or other.startswith(one)))


def whole_terms(group: str, text: str) -> frozenset[str]:
    """Return the tokens of one group (priority, status, category) that a text names."""
    folded = normal(text)
    exact = terms(group).exact(folded)
    if exact is not None:
        return frozenset({exact})
    return frozenset(hit.meaning for hit in terms(group).find(folded))
