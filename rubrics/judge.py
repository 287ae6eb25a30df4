"""The LLM judge's contract: what it is shown, what it may reply, and what a reply is worth. Pure; no network.

A check of kind `judge` is decided by a language model after the episode. Everything the model is shown makes one
`JudgeRequest`, whose key is a digest of it: a verdict recorded under a key is the verdict on exactly that text, and a
changed answer never meets an old verdict. Asking is `wardround.agents.judging`; here only the words are made and read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any

import orjson
from pydantic import Field

from .judge_book import book, prompt_hash
from .rubric import AllOf, AnyOf, Check, Frozen, JudgeCheck, Not

_THOUGHT_ENDS = "</think>"
_COPIED = 12
"""Characters from which words of the prompt in a reasoning are no accident."""
_TRIES = 64
"""Opening braces tried in one reply: prose with more of them is no reply."""


class JudgeRequest(Frozen):
    """All that the judge is shown about one check."""

    language: str
    criterion: str
    query: str
    answer: str
    actions: str
    """Calls and writes of the turn, one a line."""
    retrieved: str
    """What the episode has read or been told, bounded."""
    gold: str
    """Gold evidence and gold answers, which the assistant did not see."""

    @property
    def key(self) -> str:
        """Digest of every word shown and of the prompt: 64 hexadecimal digits."""
        return sha256(orjson.dumps([prompt_hash(), *self.model_dump().items()])).hexdigest()

    @property
    def mark(self) -> str:
        """The word on the fences: a digest of what is fenced, so that nothing fenced can contain it."""
        return sha256(b"fence" + self.key.encode()).hexdigest()[:16]

    def messages(self) -> list[dict[str, str]]:
        """Return the chat messages: the rules, then the fenced material."""
        words, mark = book(), self.mark
        labels = words.labels[self.language]
        parts = (
            ("criterion", self.criterion),
            ("query", self.query),
            ("actions", self.actions),
            ("retrieved", self.retrieved),
            ("gold", self.gold),
            ("answer", self.answer),
        )
        blocks = [
            f"{labels[name]}\n<<< {name} {mark}\n{text or labels['none']}\n>>> {name} {mark}" for name, text in parts
        ]
        blocks.append(labels["ends"].format(mark=mark))
        system = "\n".join(words.system[self.language]).format(mark=mark)
        return [{"role": "system", "content": system}, {"role": "user", "content": "\n\n".join(blocks)}]


class JudgeVerdict(Frozen):
    """What a judge decided about one request, or why there is no decision."""

    passed: bool | None = None
    """None: no verdict could be had, which is never 0 and never 1."""
    reasoning: str = ""
    error: str = ""
    """Why there is no verdict."""


class JudgeAttempt(Frozen):
    """One try at one request, kept as it came."""

    status: int
    """HTTP status; 0 where no reply came."""
    raw: str
    """The model's text, or the body of the error."""
    error: str = ""
    """Why it is no verdict; "" where it is one."""


class Judgement(Frozen):
    """A request's whole story: every attempt and what came of it. One line of judgements.jsonl."""

    format: str = "wardround.judgement/1"
    key: str
    session: str = ""
    """Where it was first asked for: session, turn (from 0) and item; the same words may serve several episodes."""
    turn: int = 0
    item: str = ""
    model: str = ""
    settings: dict[str, Any] = Field(default_factory=dict)
    prompt: str = ""
    """Hash of the prompt."""
    attempts: tuple[JudgeAttempt, ...] = ()
    verdict: JudgeVerdict


class ReplyError(ValueError):
    """A reply that is no verdict."""


def judges_in(check: Check) -> Iterator[JudgeCheck]:
    """Yield the judge checks of a check, composed ones and negated ones included."""
    stack: list[Check] = [check]
    while stack:
        one = stack.pop()
        if isinstance(one, JudgeCheck):
            yield one
        elif isinstance(one, AnyOf | AllOf):
            stack.extend(reversed(one.checks))
        elif isinstance(one, Not):
            stack.append(one.check)


def read_reply(text: str) -> JudgeVerdict:
    """Read a judge's reply; prose and code fences around the one JSON object are allowed, nothing else is.

    Args:
        text: What the model said.

    Returns:
        A verdict with `passed` True or False.

    Raises:
        ReplyError: There is no verdict in it, more than one, or one that its schema or its own reasoning contradicts.
    """
    limit = book().limits["reply"]
    if len(text) > limit:
        raise ReplyError(f"the reply is longer than {limit} characters")
    if not text.strip():
        raise ReplyError("the reply is empty")
    _, thought, spoken = text.rpartition(_THOUGHT_ENDS)
    found = list(_objects(spoken if thought else text))
    if not found:
        raise ReplyError("no whole JSON object in the reply")
    if any(one != found[0] for one in found):
        raise ReplyError(f"{len(found)} different JSON objects in the reply")
    return _verdict_of(found[0])


def _objects(text: str) -> Iterator[list[tuple[str, Any]]]:
    """Yield the outermost JSON objects of a text, as pairs in the order written, repeated keys kept."""
    decoder = json.JSONDecoder(object_pairs_hook=list)
    at = -1
    for _ in range(_TRIES):
        at = text.find("{", at + 1)
        if at < 0:
            return
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        yield value
        at = end - 1


def _verdict_of(pairs: list[tuple[str, Any]]) -> JudgeVerdict:
    names = [name for name, _ in pairs]
    if names == ["verdict", "reasoning"]:
        raise ReplyError("the verdict stands before its reasoning")
    if names != ["reasoning", "verdict"]:
        raise ReplyError(f"the object has the keys {', '.join(names[:6]) or 'none'}; wanted: reasoning, verdict")
    reasoning, verdict = pairs[0][1], pairs[1][1]
    if not isinstance(verdict, bool):
        raise ReplyError(f"`verdict` is {type(verdict).__name__}, not true or false")
    if not isinstance(reasoning, str) or not any(map(str.isalnum, reasoning)):
        raise ReplyError("`reasoning` is missing or empty")
    reasoning = clean_text(reasoning.strip())
    if _repeats(reasoning):
        raise ReplyError("the reasoning only repeats the instructions")
    says = _conclusion(reasoning)
    if says is not None and says != verdict:
        raise ReplyError(f"the reasoning says the criterion is {'met' if says else 'not met'}, the verdict does not")
    return JudgeVerdict(passed=verdict, reasoning=reasoning)


def _repeats(reasoning: str) -> bool:
    """Tell whether a reasoning is a piece of the prompt: small models fill the form in with its own words."""
    said = reasoning.strip("<>. ")
    return len(said) >= _COPIED and any(said in line for lines in book().system.values() for line in lines)


def _conclusion(reasoning: str) -> bool | None:
    """Return what the reasoning itself concludes, where it says so outright; the last such words count."""
    text = reasoning.casefold()
    conclusions = book().conclusions
    against = _last(text, conclusions.not_met)
    # "does not meet …" holds "meet …" in Chinese: words for it count only where no words against it end there too
    favour = _last(text, conclusions.met, besides=conclusions.not_met)
    if favour == against:
        return None
    return favour > against


def _last(text: str, phrases: Iterable[str], besides: Iterable[str] = ()) -> int:
    """Return where the last of the phrases ends, -1 without one; what ends a phrase of `besides` is none of them."""
    taken = {at + len(other) for other in besides for at in _places(text, other)}
    ends = (at + len(phrase) for phrase in phrases for at in _places(text, phrase))
    return max((end for end in ends if end not in taken), default=-1)


def _places(text: str, phrase: str) -> Iterator[int]:
    at = text.find(phrase)
    while at >= 0:
        yield at
        at = text.find(phrase, at + 1)


def clean_text(text: str) -> str:
    """Return text that every encoder takes: lone surrogates replaced."""
    return text.encode("utf-8", "replace").decode()
