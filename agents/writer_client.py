"""The LLM writer's line to a model: litellm, retries, and every reply kept, so that a set can be made again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Any, Final, Protocol, TypeVar

import orjson

from wardround.patients import DataError, UsageError, WardroundError, check_output, write_whole
from wardround.rubrics import clean_text

from .judging import JudgePlan, LiteLLMClient, Reply
from .litellm_door import FORM_REFUSED, HOPELESS, wait_before

GONE: Final = 4
"""Requests without a reply, one after another, after which the model is taken to be gone."""
_REFUSES_ALL: Final = (401, 404)
"""Statuses of a wrong key, model or address."""
MOST: Final = 20_000
"""Characters kept of a reply."""
_START: Final = b'{"key":"'
_FIELDS: Final = {"key": str, "role": str, "model": str, "status": int, "text": str, "last": bool}


T = TypeVar("T")


class NoReplyError(WardroundError):
    """No reply could be had from the model, or none was recorded."""


class WriterGoneError(UsageError):
    """No reply can be had any more. The run ends: going on would leave every word to the rules."""


class WriterClient(Protocol):
    """Sends one chat and returns what came back; may raise, which counts as no reply."""

    async def ask(
        self, messages: list[dict[str, str]], *, structured: bool, form: dict[str, Any] | None = None
    ) -> Reply:
        """Ask; `form` is the name and JSON Schema of the reply, where `structured`."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


def request_key(role: str, messages: list[dict[str, str]]) -> str:
    """Return the key of a request: of its role and every word of its chat."""
    return sha256(orjson.dumps([role, messages])).hexdigest()


class RecordedWriter:
    """Answers from kept replies: a set is made again without a model, byte by byte.

    Args:
        kept: JSONL that a `LiveWriter` wrote; several replies to one request come in their order, and so do requests
            that got none.

    Raises:
        UsageError: There is no such file.
        DataError: A line is no reply, or the replies are of several models; names file and line. A last line that a
            kill has torn is left out.
    """

    def __init__(self, kept: str | Path) -> None:
        self.model = ""
        """The model that replied; "" where nothing is kept."""
        self.missing = 0
        """Requests of which nothing was kept."""
        self._waiting: dict[str, list[Reply]] = {}
        path = Path(kept)
        if not path.is_file():
            raise UsageError(f"`{path}` is not there: name the file that a run with a model kept its replies in")
        for line in _lines(path):
            if self.model and line["model"] != self.model:
                raise DataError(f"{path}: replies of `{self.model}` and of `{line['model']}`; one model words a set")
            self.model = line["model"]
            if line["last"]:
                self._waiting.setdefault(line["key"], []).append(Reply(line["status"], line["text"]))

    def next(self, key: str) -> Reply | None:
        """Return the next kept outcome of a request, None where no more is kept."""
        waiting = self._waiting.get(key)
        return waiting.pop(0) if waiting else None

    def complete(self, role: str, messages: list[dict[str, str]], schema: dict[str, Any]) -> str:
        """Return the next kept reply to a request.

        Raises:
            NoReplyError: None is kept, or the model gave none then.
        """
        reply = self.next(request_key(role, messages))
        if reply is None:
            self.missing += 1
            raise NoReplyError("no reply to this request is recorded")
        return _text_of(reply)

    def close(self) -> None:
        """Do nothing: nothing is open."""


class LiveWriter:
    """Asks a model and keeps every reply. Close it, or use it with `with`.

    Replies kept by an earlier run of the same model are taken first, so that a run that was stopped goes on where it
    was; requests that got no reply then are asked again.

    Args:
        plan: Model, endpoint, key, attempts; as for a judge.
        kept: JSONL that replies are appended to.
        client: Whom to ask; None makes one for the plan's model.
        sleep: Waits between attempts, in seconds.

    Raises:
        UsageError: litellm is missing or a release to refuse, the key's variable is not set, or `kept` holds something
            else or replies of another model.
    """

    def __init__(
        self,
        plan: JudgePlan,
        kept: str | Path,
        *,
        client: WriterClient | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._plan = plan
        self.model = plan.model or ""
        """The model that replies."""
        self._client = client or LiteLLMClient(plan)
        self._sleep = sleep
        self._kept = Path(kept)
        self._earlier = _earlier(self._kept, self.model)
        self._kept.parent.mkdir(parents=True, exist_ok=True)
        self._knows_forms = True
        self._silent, self._last_silent = 0, ""
        # the client's connections live in one event loop, in a thread of its own: the caller may have a loop running
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def __enter__(self) -> LiveWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of connections and of the thread; a second time it does nothing."""
        if self._loop.is_closed():
            return
        try:
            self._run(self._client.close())
        finally:
            self._run(_end_tasks())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def complete(self, role: str, messages: list[dict[str, str]], schema: dict[str, Any]) -> str:
        """Return the reply's text; every attempt is kept.

        Raises:
            NoReplyError: No attempt brought a reply; says what the last one brought.
            WriterGoneError: The endpoint refuses every request, or several in a row got no reply.
        """
        key = request_key(role, messages)
        found = None if self._earlier is None else self._earlier.next(key)
        if found is not None:
            return _text_of(found)
        reply = self._asked(key, role, messages, schema)
        self._look_whether_gone(key, reply)
        return _text_of(reply)

    def _look_whether_gone(self, key: str, reply: Reply) -> None:
        if reply.status == 200:
            self._silent, self._last_silent = 0, ""
            return
        if reply.status in _REFUSES_ALL:
            raise WriterGoneError(f"the model refuses every request: {_fault(reply)}; check its name, address and key")
        if reply.status not in HOPELESS or key != self._last_silent:  # one bad request asked again is still one
            self._silent, self._last_silent = self._silent + 1, key
        if self._silent >= GONE:
            raise WriterGoneError(
                f"{GONE} requests in a row got no reply, the last: {_fault(reply)}; what was replied is kept in "
                f"`{self._kept}`, and the same command goes on from there"
            )

    def _asked(self, key: str, role: str, messages: list[dict[str, str]], schema: dict[str, Any]) -> Reply:
        """Ask until there is a reply, attempts are used up, or more of them are hopeless."""
        attempt = 1
        while True:
            form = {"name": role, "strict": True, "schema": schema} if self._knows_forms else None
            reply = self._run(self._once(messages, form))
            formless = form is not None and reply.status in FORM_REFUSED
            spent = not formless and (attempt >= self._plan.attempts or reply.status in HOPELESS)
            last = reply.status == 200 or spent
            self._keep(key, role, reply, last)
            if last:
                return reply
            if formless:
                self._knows_forms = False  # asked at once without a form, and so are all that follow
            else:
                self._sleep(wait_before(key, attempt, reply.retry_after))
                attempt += 1

    def _keep(self, key: str, role: str, reply: Reply, last: bool) -> None:
        line = {"key": key, "role": role, "model": self._plan.model, "status": reply.status, "text": reply.text}
        with self._kept.open("ab") as file:
            file.write(orjson.dumps(line | {"last": last}, option=orjson.OPT_APPEND_NEWLINE))

    async def _once(self, messages: list[dict[str, str]], form: dict[str, Any] | None) -> Reply:
        try:
            asking = self._client.ask(messages, structured=form is not None, form=form)
            reply = await asyncio.wait_for(asking, self._plan.deadline)
            return replace(reply, text=clean_text(reply.text[:MOST]))
        except TimeoutError:
            return Reply(0, f"no reply within {self._plan.deadline:g} s")
        except Exception as fault:  # noqa: BLE001  # whatever a client's library raises is a failed attempt, kept
            return Reply(0, clean_text(f"{type(fault).__name__}: {fault}"[:MOST]))

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # stopped by its user: nobody waits for the reply any more
            raise


async def _end_tasks() -> None:
    """End what a client's library left running in this loop, as the end of `asyncio.run` does."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()


def _text_of(reply: Reply) -> str:
    if reply.status != 200:
        raise NoReplyError(_fault(reply))
    return reply.text


def _fault(reply: Reply) -> str:
    what = f"status {reply.status}" if reply.status else "no reply"
    return f"{what}: {reply.text[:80]}"


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a file of replies, without a last one that a kill has torn."""
    whole, _, torn = path.read_bytes().rpartition(b"\n")
    lines = whole.split(b"\n") if whole else []
    if torn and not torn.startswith(_START[: len(torn)]):
        lines.append(torn)  # no beginning of a reply: it is looked at below
    for number, line in enumerate(lines, 1):
        try:
            found = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise DataError(f"{path}:{number}: no reply of a writer ({error}); delete the line") from error
        if not isinstance(found, dict) or any(type(found.get(name)) is not kind for name, kind in _FIELDS.items()):
            raise DataError(f"{path}:{number}: no reply of a writer (wants {', '.join(_FIELDS)}); delete the line")
        yield found


def _earlier(path: Path, model: str) -> RecordedWriter | None:
    """Return what an earlier run kept, and leave the file such that a run may be appended to it.

    What got no reply is asked again, so its lines no longer say what came of the request.
    """
    check_output(path, _START, "a file of a writer's replies")
    if not path.exists() or not path.stat().st_size:
        return None
    lines = [line | {"last": line["last"] and line["status"] == 200} for line in _lines(path)]
    write_whole(path, b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines))
    earlier = RecordedWriter(path)
    if earlier.model not in ("", model):
        raise UsageError(f"`{path}` holds replies of `{earlier.model}`: choose another --out, or delete it first")
    return earlier
