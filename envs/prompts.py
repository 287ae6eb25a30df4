"""What an agent is told: the versioned system prompt, the patient header and the environment's short notices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

import orjson

from wardround.patients import DAY, Instant, Snapshot, format_instant, parse_period
from wardround.sessions import Budget


@lru_cache(maxsize=1)
def _texts() -> dict[str, Any]:
    data: dict[str, Any] = orjson.loads(files("wardround.envs").joinpath("data/prompts.json").read_bytes())
    return data


def notice(language: str, key: str) -> str:
    """Return one of the environment's short sentences.

    Args:
        language: "en" or "zh".
        key: A key of data/prompts.json: over_budget, closed, ended, empty_answer, bad_reply, next, final,
            options.
    """
    return str(_texts()[language][key])


@lru_cache(maxsize=64)
def system_prompt(language: str, unit: str, scope: str, n: int) -> str:
    """Return the rules of the round and the answer form per kind of request."""
    words = _texts()[language]
    budget = words[f"budget_{unit}_{scope}"].format(n=n)
    return "\n".join(words["system"]).format(budget=budget)


@lru_cache(maxsize=64)
def action_guide(language: str, tools: str) -> str:
    """Return what to append to the prompt for policies that write text actions.

    Args:
        language: "en" or "zh".
        tools: The tools' schemas, one JSON object a line.
    """
    return "\n".join(_texts()[language]["actions"]).format(tools=tools)


def reply_guide(language: str) -> str:
    """Return what to append to the prompt for policies that answer through a tool of their own.

    Args:
        language: "en" or "zh".
    """
    return "\n".join(_texts()[language]["reply"])


def prompt_of(language: str, budget: Budget) -> str:
    """Return the system prompt for a session's budget."""
    return system_prompt(language, budget.unit, budget.scope, budget.n)


def prompt_hash(prompt: str) -> str:
    """Return the version and hash that a trajectory records for its prompt."""
    return f"{_texts()['version']}:{sha256(prompt.encode()).hexdigest()[:16]}"


def header(language: str, *, subject_id: str, hadm_id: str | None, session_id: str, now: Instant, patient: Any) -> str:
    """Return the line that says who the patient is.

    Args:
        language: "en" or "zh".
        subject_id: The id tools want.
        hadm_id: The encounter of the round, or None.
        session_id: The id the patient tools want.
        now: The episode's clock.
        patient: The Patient resource as known at `now` (a dict), or None.
    """
    words = _texts()[language]
    person = patient or {}
    return str(words["header"]).format(
        subject_id=subject_id,
        hadm_id=hadm_id or words["none"],
        session_id=session_id,
        now=format_instant(now),
        age=_age(words, person.get("birthDate"), now),
        sex=words["sex"].get(person.get("gender", "unknown"), words["sex"]["unknown"]),
    )


def opening(language: str, record: Snapshot, subject: Mapping[str, str | None], context: str) -> str:
    """Return what stands before the first question: who the patient is, now, and the session's own context.

    Args:
        language: "en" or "zh".
        record: The chart at the episode's clock.
        subject: subject_id, hadm_id, session_id.
        context: Words of the session; may be empty.
    """
    patient = next(iter(record.resources("Patient")), None)
    line = header(language, now=record.anchor, patient=patient, **subject)  # type: ignore[arg-type]  # ids are str
    return "\n".join(part for part in (line, context) if part)


def question(language: str, query: str, options: Sequence[str] | None) -> str:
    """Return the physician's question, with its options where there are some."""
    return f"{query}\n{notice(language, 'options').format(options=' / '.join(options))}" if options else query


def _age(words: dict[str, Any], birth_date: str | None, now: Instant) -> str:
    if not birth_date:
        return str(words["age_unknown"])
    today = format_instant(now)
    years = int(today[:4]) - int(birth_date[:4])
    if len(birth_date) == 10 and today[5:10] < birth_date[5:10]:
        years -= 1
    if years < 2 and len(birth_date) == 10:
        months = (now - parse_period(birth_date)[0]) * 12 // (DAY * 365 + DAY // 4)
        return str(words["age_months"]).format(months=max(0, months))
    return str(words["age"]).format(years=max(0, years))
