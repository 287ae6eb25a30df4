"""Asking the LLM judge: any OpenAI-compatible endpoint through litellm, many at once, every raw reply kept.

A judge that fails is never a score. A bad reply, a refusal, a time-out or a dead server is tried again and then ends
as a judgement without a verdict: the item is ungraded, the turn has bounds instead of a reward, and the run goes on.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from wardround.patients import UsageError
from wardround.rubrics import (
    JudgeAttempt,
    Judgement,
    JudgeRequest,
    JudgeVerdict,
    ReplyError,
    clean_text,
    prompt_hash,
    read_reply,
    reply_schema,
)

from .litellm_door import (
    FORM_REFUSED,
    HOPELESS,
    LITELLM,
    Sleep,
    check_base,
    close_litellm,
    forget_other_loops,
    import_litellm,
    key_of,
    refuse_without_agreement,
    retry_after,
    scrub,
    scrub_error,
    status_of,
    wait_before,
    without_address,
)

RECORDED = "recorded"
_RAW = 20_000
"""Characters kept of a raw reply."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JudgePlan:
    """Who judges, and how it is asked.

    Raises:
        UsageError: The source or a number is not as described.
    """

    source: str
    """`litellm:MODEL`, `recorded` (the run folder's own judgements.jsonl) or `recorded:FILE`."""
    base: str | None = None
    """URL of an OpenAI-compatible endpoint; None is the provider's own."""
    key_env: str | None = None
    """Name of the environment variable that holds the key."""
    agreement: str | None = None
    """The agreement under which credentialed data may be sent to that endpoint, in the user's words."""
    attempts: int = 4
    concurrency: int = 8
    deadline: float = 120.0
    """Seconds one reply may take."""
    max_tokens: int = 1024

    def __post_init__(self) -> None:
        live = self.source.startswith(LITELLM) and len(self.source) > len(LITELLM)
        if not live and self.source != RECORDED and not self.source.startswith(RECORDED + ":"):
            raise UsageError(f"--judge is `{self.source}`; give litellm:MODEL, recorded or recorded:FILE")
        if self.attempts < 1 or self.concurrency < 1 or self.deadline <= 0:
            raise UsageError("a judge needs at least one attempt, one request at a time and time to reply")
        check_base(self.base)

    @property
    def model(self) -> str | None:
        """Name of the model as litellm wants it; None where verdicts are recorded ones."""
        return self.source[len(LITELLM) :] if self.source.startswith(LITELLM) else None

    @property
    def recorded(self) -> str | None:
        """File of the recorded verdicts; None for the run folder's own."""
        return self.source[len(RECORDED) + 1 :] or None if self.model is None else None

    @property
    def settings(self) -> dict[str, Any]:
        """What may move a reply, as manifests and judgements keep it; no address and no key."""
        return {
            "attempts": self.attempts,
            "deadline_s": self.deadline,
            "endpoint": "own" if self.base else "provider",
            "max_tokens": self.max_tokens,
            "temperature": 0,
        }

    def describe(self) -> dict[str, Any]:
        """Return what a manifest says about the judge."""
        if self.model is None:
            return {"source": RECORDED, "prompt": prompt_hash()}
        return {
            "source": "litellm",
            "model": self.model,
            "settings": self.settings,
            "prompt": prompt_hash(),
            "agreement": self.agreement,
        }

    def allow(self, licences: Iterable[str]) -> None:
        """Refuse to send data to a model without the agreement they need.

        Raises:
            UsageError: Some data are credentialed, or nobody has said what they are; a model is to be asked, and no
                agreement was named.
        """
        if self.model is not None:
            refuse_without_agreement(licences, self.agreement)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request and where it was first asked for."""

    request: JudgeRequest
    session: str = ""
    turn: int = 0
    item: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back from an endpoint."""

    status: int
    """HTTP status; 0 where no reply came."""
    text: str
    """The model's text, or the body of the error."""
    retry_after: float | None = None
    """Seconds the server asks to wait."""


class JudgeClient(Protocol):
    """Sends one chat and returns what came back; may raise, which counts as no reply."""

    async def ask(self, messages: list[dict[str, str]], *, structured: bool) -> Reply:
        """Ask.

        Args:
            messages: The chat.
            structured: Ask the endpoint to hold the reply to the JSON schema.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


def judge_all(
    asked: Iterable[Asked],
    plan: JudgePlan,
    *,
    client: JudgeClient | None = None,
    sleep: Sleep = asyncio.sleep,
    done: Callable[[Judgement], None] | None = None,
) -> list[Judgement]:
    """Ask the judge about every request, at most `plan.concurrency` at a time.

    Args:
        asked: Requests; one key is asked once.
        plan: Who and how.
        client: Whom to ask; None makes one for the plan's model.
        sleep: Waits between attempts.
        done: Called with each judgement as it comes.

    Returns:
        One judgement a key, sorted by key: the order of asking and the number at a time play no part.

    Raises:
        UsageError: litellm is missing or a release to refuse, or the key's variable is not set.
    """
    unique = {one.request.key: one for one in reversed(list(asked))}  # the first place asked wins
    if not unique:
        return []
    whom = client or LiteLLMClient(plan)

    async def work() -> list[Judgement]:
        found: list[Judgement] = []
        queue = iter([unique[key] for key in sorted(unique)])

        async def worker() -> None:
            for one in queue:
                judgement = await _judge(one, plan, whom, sleep)
                found.append(judgement)
                if done is not None:
                    done(judgement)

        try:
            await asyncio.gather(*(worker() for _ in range(min(plan.concurrency, len(unique)))))
        finally:
            await whom.close()
        return sorted(found, key=lambda one: one.key)

    return run_async(work)


def run_async(work: Callable[[], Coroutine[Any, Any, list[T]]]) -> list[T]:
    """Run to the end; beside a running event loop (a notebook) in a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return list(asyncio.run(work()))
    with ThreadPoolExecutor(1) as pool:
        return list(pool.submit(lambda: asyncio.run(work())).result())


async def _judge(one: Asked, plan: JudgePlan, client: JudgeClient, sleep: Sleep) -> Judgement:
    key, messages = one.request.key, one.request.messages()
    attempts: list[JudgeAttempt] = []
    verdict, structured = JudgeVerdict(error="not asked"), True
    while len(attempts) < plan.attempts:
        reply = await _ask(client, messages, structured, plan.deadline)
        verdict = _verdict(reply)
        attempts.append(JudgeAttempt(status=reply.status, raw=clean_text(reply.text[:_RAW]), error=verdict.error))
        if verdict.passed is not None:
            break
        if structured and reply.status in FORM_REFUSED:
            structured = False
            continue
        if reply.status in HOPELESS:
            break
        if len(attempts) < plan.attempts:
            await sleep(wait_before(key, len(attempts), reply.retry_after))
    return Judgement(
        key=key,
        session=one.session,
        turn=one.turn,
        item=one.item,
        model=plan.model or "",
        settings=plan.settings,
        prompt=prompt_hash(),
        attempts=tuple(attempts),
        verdict=verdict,
    )


async def _ask(client: JudgeClient, messages: list[dict[str, str]], structured: bool, deadline: float) -> Reply:
    try:
        return await asyncio.wait_for(client.ask(messages, structured=structured), deadline)
    except TimeoutError:
        return Reply(0, f"no reply within {deadline:g} s")
    except Exception as fault:  # noqa: BLE001  # whatever a client's library raises is a failed attempt, kept and counted
        return Reply(0, f"{type(fault).__name__}: {fault}")


def _verdict(reply: Reply) -> JudgeVerdict:
    if reply.status != 200:
        what = f"status {reply.status}" if reply.status else "no reply"
        first = next(iter(clean_text(reply.text[:200]).splitlines()), "")
        return JudgeVerdict(error=f"{what}: {first}")
    try:
        return read_reply(reply.text)
    except ReplyError as fault:
        return JudgeVerdict(error=str(fault))


class LiteLLMClient:
    """Asks through litellm, with its own retries, fallbacks and callbacks off.

    Args:
        plan: Model, endpoint and key.

    Raises:
        UsageError: litellm is missing or a release to refuse, or the key's variable is not set.
    """

    def __init__(self, plan: JudgePlan) -> None:
        self._plan = plan
        self._key = key_of(plan.key_env, plan.base)
        self._litellm = import_litellm()

    async def ask(
        self, messages: list[dict[str, str]], *, structured: bool, form: dict[str, Any] | None = None
    ) -> Reply:
        """Ask once; `form` is the name and schema of a reply other than a judgement."""
        plan = self._plan
        forget_other_loops(self._litellm)
        wanted: dict[str, Any] = {}
        if structured:
            schema = form or {"name": "judgement", "strict": True, "schema": reply_schema()}
            wanted = {"response_format": {"type": "json_schema", "json_schema": schema}}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # pydantic warns of fields that endpoints leave out
                response = await self._litellm.acompletion(
                    model=plan.model,
                    messages=messages,
                    api_base=plan.base,
                    api_key=self._key,
                    temperature=0,
                    max_tokens=plan.max_tokens,
                    timeout=plan.deadline,
                    max_retries=0,
                    num_retries=0,
                    drop_params=True,
                    **wanted,
                )
        except Exception as fault:  # noqa: BLE001  # litellm's errors have no common base beside Exception
            told = without_address(scrub_error(str(fault), self._key), plan.base)
            return Reply(status_of(fault), told, retry_after(fault))
        choices = getattr(response, "choices", None) or []
        if not choices:
            return Reply(200, "")
        return Reply(200, scrub(choices[0].message.content or "", self._key))

    async def close(self) -> None:
        """Close litellm's cached connections: they belong to an event loop that ends here."""
        await close_litellm(self._litellm)
