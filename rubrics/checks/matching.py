"""From the names a check uses to what an answer holds: ids of the knowledge base, or plain words."""

from __future__ import annotations

import re
from functools import lru_cache

from wardround.patients import knowledge
from wardround.rubrics.reading import Reading
from wardround.rubrics.reading.cues import longest_first, words
from wardround.rubrics.reading.named import DRUGS, MEASURES, level_name
from wardround.rubrics.reading.tokens import Token, stem, tokenise
from wardround.rubrics.reading.unlisted import own_id
from wardround.rubrics.rubric import Span, Verdict

from .context import CheckContext

SAME = {"天": "日", "晚": "夜"}
ARTICLE = re.compile(r"^(?:an?|the) ", re.IGNORECASE)
FORMS = longest_first("matching.forms")
ALIKE = tuple(frozenset(entry.split()) for entry in sorted(words("matching.alike")))
STOP_WORDS = words("matching.stop_words")


def verdict(
    context: CheckContext, passed: bool, reason: str, spans: tuple[Span, ...] = (), *, unreadable: bool = False
) -> Verdict:
    """Return a verdict of a text check."""
    return Verdict(
        item=context.item,
        passed=passed,
        score=1.0 if passed else 0.0,
        reason=reason,
        spans=spans,
        unreadable=unreadable,
    )


def unread(reading: Reading, context: CheckContext) -> Verdict | None:
    """Return the verdict for an answer that was too long to read, else None."""
    if not reading.too_long:
        return None
    return verdict(context, False, f"answer of {len(reading.text)} characters is too long to read", unreadable=True)


@lru_cache(maxsize=4096)
def ids_for(name: str, kinds: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """Return the knowledge ids that a check's name may mean, the likeliest first; () where it has none."""
    lexicon = knowledge.lexicon()
    name = ARTICLE.sub("", name.strip())
    if kinds is None and (alike := _alike(name)):
        return alike
    found = lexicon.resolve(name, kinds) or lexicon.resolve(name)
    if found is None:
        return _without_form(name)
    if kinds == MEASURES and found.kind == "drug":
        return (level_name(found.id) or found.id,)
    ids = [found.id]
    for mention in lexicon.scan(name):
        if mention.start == 0 and mention.end == len(name):
            ids.extend(
                one
                for one in mention.concepts
                if one not in ids and (kinds is None or lexicon.concept(one).kind in kinds)
            )
    return tuple(ids)


def measured(name: str, reading: Reading) -> tuple[tuple[str, ...], Reading]:
    """Return the ids of a measurement, and the answer read so that it knows it: by name where no id is known."""
    ids = ids_for(name, MEASURES)
    return (ids, reading) if ids else ((own_id(name),), reading.naming(name))


def alike(ids: tuple[str, ...]) -> tuple[str, ...]:
    """Return ids with those of findings that patients and doctors call by the same words."""
    group = next((group for group in ALIKE if group & set(ids)), frozenset())
    return (*ids, *sorted(group - set(ids)))


@lru_cache(maxsize=4096)
def _alike(name: str) -> tuple[str, ...]:
    """Return a finding's id with those that patients and doctors call by the same words (fatigue, weakness)."""
    found = knowledge.lexicon().resolve(name)
    group = next((ids for ids in ALIKE if found is not None and found.id in ids), ())
    return (found.id, *sorted(group - {found.id})) if found is not None and group else ()


def _without_form(name: str) -> tuple[str, ...]:
    """Return the ids of a drug named with its form ("fentanyl patch", "芬太尼透皮贴")."""
    for form in FORMS:
        if name.endswith(form) and (ids := ids_for(name.removesuffix(form), DRUGS)):
            return ids if knowledge.lexicon().concept(ids[0]).kind in DRUGS else ()
    return ()


@lru_cache(maxsize=4096)
def words_of(text: str) -> tuple[str, ...]:
    """Return the content words of a text: English stems, single Chinese characters."""
    found = []
    for token in tokenise(text):
        word = word_of(token)
        if word and word not in found:
            found.append(word)
    return tuple(found)


def word_of(token: Token) -> str:
    """Return a token's content word, "" for marks and small words."""
    if token.kind == "w":
        return "" if token.key in STOP_WORDS else stem(token.key)
    return SAME.get(token.raw, token.raw) if token.kind in "cn" else ""


def is_a(ids: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    """Tell whether any of `ids` is one of `wanted` or a case of it."""
    lexicon = knowledge.lexicon()
    return any(lexicon.is_a(one, other) or _salt(one, other) for one in ids for other in wanted)


@lru_cache(maxsize=8192)
def _salt(one: str, other: str) -> bool:
    """Tell whether a drug is a salt or form of another ("metoprolol succinate" of "metoprolol")."""
    drugs = knowledge.drugs()
    if one not in drugs or other not in drugs:
        return False
    return drugs[one].name.en.casefold().startswith(drugs[other].name.en.casefold() + " ")
