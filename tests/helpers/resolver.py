"""An independent reader of dialogues: from the earlier queries and an implicit one it says what was left out.

It knows nothing of how queries are worded here: only the lexicon, and its own few words of ward talk
(`resolver.json`). It reads what a physician in the room would hear, so what it cannot recover nobody could.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from wardround.patients import knowledge
from wardround.sessions import Antecedent

MOST_MEANT = 3
"""Things of one turn that a gap may point to together; more are no antecedent."""


@dataclass(frozen=True)
class Recovered:
    """What an implicit query leaves out, as far as the dialogue tells."""

    things: frozenset[str] = frozenset()
    """Concept ids, or names in lower case where the lexicon has no concept."""
    questions: frozenset[str] = frozenset()
    """Kinds of question that it takes over from an earlier turn, and what they were asked of: "latest of inr"."""


@cache
def _words() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(__file__).with_name("resolver.json").read_text(encoding="utf-8"))
    return found


@cache
def _plain(text: str) -> str:
    spaced = re.sub(r"[^a-z0-9]+", " ", text.casefold())
    return f" {' '.join(spaced.split())} "


def _has(text: str, cues: Iterable[str], language: str) -> bool:
    if language == "zh":
        return any(cue in text for cue in cues)
    return any(f" {cue} " in _plain(text) for cue in cues)


def _spelt(name: str, text: str) -> bool:
    """Tell whether a text holds a name, not as part of a longer Latin word."""
    return re.search(rf"(?<![a-z0-9]){re.escape(name.casefold())}(?![a-z0-9])", text.casefold()) is not None


@cache
def things_in(text: str, language: str) -> dict[str, frozenset[str]]:
    """Return group → ids of what a text names."""
    found: dict[str, set[str]] = {}
    lexicon = knowledge.lexicon()
    for mention in lexicon.scan(text):
        kind = lexicon.concept(mention.concept).kind
        group = "report" if mention.concept.endswith("culture") else _words()["groups"].get(kind)
        if group:
            found.setdefault(group, set()).add(mention.concept)
    for group, names in _words()["things"].items():
        for name, forms in names.items():
            if _has(text, forms[language], language):
                found.setdefault(group, set()).add(name)
    for score in knowledge.scores().values():
        names = [score.name.en, score.name.zh or "", *score.synonyms.en, *score.synonyms.zh]
        # a score that goes by a lab's name ("eGFR") is that lab
        if any(name and _spelt(name, text) and lexicon.resolve(name) is None for name in names):
            found.setdefault("measured", set()).add(score.id)
    return {group: frozenset(ids) for group, ids in found.items()}


def resolve(earlier: Sequence[str], query: str, language: str) -> Recovered:
    """Return what a query leaves out of a dialogue.

    Args:
        earlier: The physician's earlier queries, oldest first.
        query: The implicit one.
        language: Of both.
    """
    if _has(query, _words()["picture"][language], language):
        named = (ids for text in earlier for ids in things_in(text, language).values())
        asked = (one for text in earlier for one in _asked_of(text, language))
        return Recovered(frozenset(thing for ids in named for thing in ids), frozenset(asked))
    things = (thing for group in _gaps(query, language) for thing in _nearest(earlier, group, language))
    followed = _followed(earlier, query, language)
    return Recovered(frozenset(things), frozenset(() if followed is None else _asked_of(followed, language)))


def _followed(earlier: Sequence[str], query: str, language: str) -> str | None:
    """Return the query that a fragment goes on from: a look-up, one before; a write, advice; else the last."""
    named, questions = set(things_in(query, language)), _words()["questions"]
    results, orders = _cues(("latest", "result"), language), _cues(("order", "given"), language)
    advises = _has(query, questions["advice"][language], language)
    # what hangs on a condition is a second thought: the fragment is what comes before it
    first = re.split(r"\bif\b|如果|要是|的话", query, maxsplit=1)[0]
    wants = named & {"measured", "report"} and not _has(first, orders, language)
    if not advises and (wants or _has(query, orders, language)):
        every = [*results, *orders, *_cues(("score", "trend"), language)]
        whole = [
            text for text in earlier if not _fragment(text, language) or (not wants and _has(text, orders, language))
        ]
        for cues in (results, every) if wants else (every,):
            for texts in (whole, earlier):
                for text in reversed(texts):
                    if _has(text, cues, language) and _plain_look_up(text, () if cues is results else orders, language):
                        return text
    if _has(query, _words()["writes"][language], language) and "?" not in query and "？" not in query:
        for text in reversed(earlier):
            if _has(text, questions["advice"][language], language):
                return text
    return earlier[-1] if earlier else None


def _fragment(text: str, language: str) -> bool:
    """Tell whether a query is itself a fragment: an English one begins as one ("Okay, and the …")."""
    begins = " ".join(text.split()[:2]) if language == "en" else text
    return _has(begins, _words()["fragments"][language], language)


def _cues(names: Iterable[str], language: str) -> list[str]:
    return [cue for name in names for cue in _words()["questions"][name][language]]


def _plain_look_up(text: str, orders: Iterable[str], language: str) -> bool:
    """Tell whether a query looks something up in the chart, with no condition and no advice to it."""
    if _has(text, _cues(("advice", "branch"), language), language) and not _has(
        _plain(text), ["if i remember"], language
    ):
        return False
    named = set(things_in(text, language)) & {"measured", "report"}
    return bool(named) or _has(text, orders, language)


def _gaps(query: str, language: str) -> Iterator[str]:
    """Yield the groups of things that a query speaks of and does not name, or points to."""
    named = things_in(query, language)
    points = _has(query, _words()["points"][language], language)
    for group, cues in _words()["wants"].items():
        if (points or group not in named) and _has(query, cues[language], language):
            yield group
    if points:
        yield "any"


def _nearest(earlier: Sequence[str], group: str, language: str) -> frozenset[str]:
    """Return what of a group was in mind last, if it was one thing then."""
    for text in reversed(earlier):
        named = things_in(text, language)
        found = frozenset().union(*named.values()) if group == "any" else named.get(group, frozenset())
        if found:
            return found if len(found) <= (MOST_MEANT if group in {"step", "any"} else 1) else frozenset()
    return frozenset()


def _asked_of(text: str, language: str) -> Iterator[str]:
    """Yield every kind of question of a text with every thing it was asked of; `any` stands for all kinds."""
    named = [thing for ids in things_in(text, language).values() for thing in ids] or ["the patient"]
    yield from (f"any of {thing}" for thing in named)
    for question, cues in _words()["questions"].items():
        if _has(text, cues[language], language):
            yield from (f"{question} of {thing}" for thing in named)


# -- against what is said to be left out -------------------------------------------------------------------------------


def recovers(
    antecedents: Sequence[Antecedent], gold: Sequence[str], earlier: Sequence[str], query: str, language: str
) -> bool:
    """Tell whether everything that a query leaves out is recovered.

    Args:
        antecedents: What it is said to leave out.
        gold: The earlier queries of its own session.
        earlier: The earlier queries that are read, its own or another session's.
        query: The implicit query.
        language: Of all.
    """
    found = resolve(earlier, query, language)
    return all(_recovered(one, gold, found, language) for one in antecedents)


def _recovered(antecedent: Antecedent, gold: Sequence[str], found: Recovered, language: str) -> bool:
    if antecedent.names is not None:
        called = antecedent.names.get(language)
        return bool(_ids(called, language) & found.things) or _parts(called, language) <= found.things
    _, _, asks = antecedent.entity.partition(":")
    kinds = {kind for ask in asks.split("+") for kind in _words()["asks"][ask]}
    wanted = {one for one in _asked_of(gold[antecedent.turn], language) if one.split(" of ")[0] in kinds}
    return bool(wanted & found.questions)


def _ids(called: str, language: str) -> frozenset[str]:
    found = knowledge.lexicon().resolve(called)
    return frozenset({found.id} if found is not None else {called.casefold()})


def _parts(called: str, language: str) -> frozenset[str]:
    """Return the things that a name of several words holds; something that is never found where it holds none."""
    ids = frozenset(thing for group in things_in(called, language).values() for thing in group)
    return ids or frozenset({f"nothing called {called}"})
