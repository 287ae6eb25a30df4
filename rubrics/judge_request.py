"""What the judge is shown of an episode: bounded, and saying so where something was left out."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from .evidence import FACT, Evidence, TurnTrace
from .judge import JudgeRequest, clean_text
from .judge_book import book
from .rubric import JudgeCheck, Text

_UNREAD = ("meta", "text", "resourceType", "id")
"""Top-level elements that say nothing about the patient: provenance, generated narrative, what the key says already."""


def judge_request(
    check: JudgeCheck, answer: str, language: str, trace: TurnTrace | None, gold_answers: tuple[Text, ...] = ()
) -> JudgeRequest:
    """Make the request of one judge check.

    Args:
        check: The check.
        answer: The answer as it is judged.
        language: "en" or "zh".
        trace: What was done and read; None where an answer is judged without an episode.
        gold_answers: Accepted answers, shown as reference.
    """
    trace = trace or TurnTrace(language=language)
    gold = [f"{key}: {trace.reference.get(key, '?')}" for key in check.evidence]
    gold.extend(found for one in gold_answers if (found := one.get(language)))
    return JudgeRequest(
        language=language,
        criterion=clean_text(check.criterion.get(language)),
        query=_cut(trace.query, "query", language),
        answer=_cut(answer, "answer", language),
        actions=_bounded(_actions(trace), "actions", language),
        retrieved=_bounded(_retrieved(trace.evidence, check.evidence), "retrieved", language),
        gold=_bounded([_cut(one, "resource", language) for one in gold], "gold", language),
    )


def actions_text(trace: TurnTrace) -> str:
    """Return what was done in a turn, one call a line: the agent's words too, as much as its answer."""
    return "\n".join(_actions(trace))


def resource_text(body: bytes) -> str:
    """Return a resource as a judge reads it: its JSON without provenance, attached texts decoded."""
    return orjson.dumps(_readable({k: v for k, v in orjson.loads(body).items() if k not in _UNREAD})).decode()


def _readable(value: Any) -> Any:
    if isinstance(value, list):
        return [_readable(one) for one in value]
    if not isinstance(value, dict):
        return value
    data = value.get("data")
    if isinstance(data, str) and str(value.get("contentType", "")).startswith("text/"):
        try:
            text = base64.b64decode(data, validate=True).decode("utf-8", "replace")
        except (binascii.Error, ValueError):
            text = data
        return {**{k: v for k, v in value.items() if k != "data"}, "text": text}
    return {key: _readable(one) for key, one in value.items()}


def _actions(trace: TurnTrace) -> list[str]:
    lines = [f"{call.tool} {_json(call.arguments)}" + ("" if call.ok else " [refused]") for call in trace.calls]
    if not trace.calls:  # a labelled row knows the write alone
        lines.extend(f"{write.tool} {_json(write.said)}" for write in trace.writes)
    return lines


def _retrieved(evidence: Evidence, first: Sequence[str]) -> list[str]:
    """Replies, then the resources that the check names, then the others, what was read last before what was read first.

    Of what does not fit, the earliest reads that nobody asked about are left out.
    """
    lines = [f"{reply.tool}: {reply.text}" for reply in evidence.replies]
    bodies: Mapping[str, bytes] = evidence.resources
    named = [key for key in first if not key.startswith(FACT) and key in bodies]
    rest = [key for key in reversed(tuple(bodies)) if key not in named]
    return [*lines, *(f"{key}: {resource_text(bodies[key])}" for key in (*named, *rest))]


def _json(arguments: Mapping[str, Any]) -> str:
    return orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS).decode()


def _bounded(lines: Iterable[str], part: str, language: str) -> str:
    """Join lines up to the part's limit; whole lines are left out, and counted."""
    limit, used, kept, left = book().limits[part], 0, [], 0
    for line in lines:
        shown = _cut(line, "resource", language)
        if left or used + len(shown) > limit:
            left += 1
            continue
        used += len(shown)
        kept.append(shown)
    if left:
        kept.append(book().labels[language]["left_out"].format(n=left))
    return "\n".join(kept)


def _cut(text: str, part: str, language: str) -> str:
    limit = book().limits[part]
    text = clean_text(text)
    if len(text) <= limit:
        return text
    note = book().labels[language]["cut"].format(shown=limit, total=len(text))
    return f"{text[:limit]}\n{note}"
