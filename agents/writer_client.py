"""The LLM writer's line to a model: litellm, retries, and every reply kept, so that a set can be made again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from wardround.patients import DataError, WardroundError

from .judging import JudgePlan, LiteLLMClient, Reply, run_async, wait_before


class NoReplyError(WardroundError):
    """No reply could be had from the model, or none was recorded."""


def request_key(role: str, messages: list[dict[str, str]]) -> str:
    """Return the key of a request: of its role and every word of its chat."""
    return sha256(orjson.dumps([role, messages])).hexdigest()


class LiveWriter:
    """Asks a model and keeps every reply.

    Args:
        plan: Model, endpoint, key, attempts; as for a judge.
        kept: JSONL that replies are appended to.
        client: Whom to ask; None makes one for the plan's model.
        sleep: Waits between attempts, in seconds.

    Raises:
        UsageError: litellm is missing or a release to refuse, or the key's variable is not set.
    """

    def __init__(
        self,
        plan: JudgePlan,
        kept: str | Path,
        *,
        client: Any | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._plan = plan
        self._client = client
        self._sleep = sleep
        self._kept = Path(kept)
        self._kept.parent.mkdir(parents=True, exist_ok=True)

    def complete(self, role: str, messages: list[dict[str, str]], schema: dict[str, Any]) -> str:
        """Return the reply's text; every attempt is kept.

        Raises:
            NoReplyError: No attempt brought a reply; says what the last one brought.
        """
        key, reply, structured = request_key(role, messages), Reply(0, "not asked"), True
        for attempt in range(1, self._plan.attempts + 1):
            reply = self._once(messages, schema if structured else None, role)
            line = {"key": key, "role": role, "model": self._plan.model, "status": reply.status, "text": reply.text}
            with self._kept.open("ab") as file:
                file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
            if reply.status == 200:
                return reply.text
            if structured and reply.status in (400, 415, 422, 501):
                structured = False  # a server that does not know the form is asked without it
            elif attempt < self._plan.attempts:
                self._sleep(wait_before(key, attempt, reply.retry_after))
        what = f"status {reply.status}" if reply.status else "no reply"
        raise NoReplyError(f"{what}: {reply.text[:80]}")

    def _once(self, messages: list[dict[str, str]], schema: dict[str, Any] | None, role: str) -> Reply:
        form = None if schema is None else {"name": role, "strict": True, "schema": schema}

        async def work() -> list[Reply]:
            client = self._client or LiteLLMClient(self._plan)
            try:
                return [await client.ask(messages, structured=form is not None, form=form)]
            except Exception as fault:  # noqa: BLE001  # whatever a client's library raises is a failed attempt, kept
                return [Reply(0, f"{type(fault).__name__}: {fault}")]
            finally:
                await client.close()

        (reply,) = run_async(work)
        return reply


class RecordedWriter:
    """Answers from kept replies: a set is made again without a model, byte by byte.

    Args:
        kept: JSONL that a `LiveWriter` wrote; several replies to one request come in their order.

    Raises:
        DataError: A line is no reply; names file and line.
    """

    def __init__(self, kept: str | Path) -> None:
        self._replies: dict[str, list[str]] = {}
        path = Path(kept)
        for number, line in enumerate(path.read_bytes().splitlines(), 1):
            try:
                found = orjson.loads(line)
                key, status, text = found["key"], found["status"], found["text"]
            except (orjson.JSONDecodeError, KeyError, TypeError) as error:
                raise DataError(f"{path}:{number}: no reply of a writer ({error}); delete the line") from error
            if status == 200:
                self._replies.setdefault(key, []).append(text)

    def complete(self, role: str, messages: list[dict[str, str]], schema: dict[str, Any]) -> str:
        """Return the next kept reply to a request.

        Raises:
            NoReplyError: None is kept.
        """
        waiting = self._replies.get(request_key(role, messages))
        if not waiting:
            raise NoReplyError("no reply to this request is recorded")
        return waiting.pop(0)


def allow(plan: JudgePlan, licences: Iterable[str]) -> None:
    """Refuse to send charts to a model without the agreement they need (as `JudgePlan.allow`).

    Raises:
        UsageError: Some data are credentialed or of unknown licence, and no agreement was named.
    """
    plan.allow(licences)
