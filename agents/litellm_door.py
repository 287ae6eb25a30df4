"""The one door to litellm, for judges, writers and agents: its import and guards, keys, waits, and who may be asked."""

from __future__ import annotations

import asyncio
import os
import warnings
import weakref
from collections.abc import Awaitable, Callable
from importlib import metadata
from typing import Any
from urllib.parse import urlsplit

from wardround.envs import CREDENTIALED, UNKNOWN, refuse_without_agreement
from wardround.patients import Stream, UsageError

__all__ = ["CREDENTIALED", "UNKNOWN", "refuse_without_agreement"]  # of the data, for those who ask a model

LITELLM = "litellm:"
"""What the name of a model begins with."""
_MALICIOUS = ("1.82.7", "1.82.8")
"""Releases of litellm that carried a credential stealer (BerriAI/litellm#24512)."""
HOPELESS = (301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 413, 422)
"""Statuses that the same request meets every time."""
FORM_REFUSED = (400, 415, 422, 501)
"""Statuses of servers that do not know `response_format`; asked once more without it."""
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 60.0

Sleep = Callable[[float], Awaitable[None]]

_last_loop: weakref.ref[asyncio.AbstractEventLoop] | None = None


def wait_before(key: str, attempt: int, retry_after: float | None = None) -> float:
    """Return the seconds to wait before the next attempt: doubling, spread by the key, never less than asked for.

    Args:
        key: The request's; many requests that fail together come back apart.
        attempt: Attempts made, from 1.
        retry_after: Seconds the server asked for.
    """
    longest = min(_LONGEST_WAIT, _FIRST_WAIT * (1 << min(attempt - 1, 16)))
    wait = longest * (500 + Stream("judge", key, attempt).below(501)) / 1000
    return min(_LONGEST_WAIT, max(wait, retry_after or 0.0))


def key_of(key_env: str | None, base: str | None) -> str | None:
    """Return the key in that variable.

    Args:
        key_env: Name of the environment variable; None leaves it to litellm, which knows the providers' variables.
        base: URL of an endpoint of one's own; None is the provider's.

    Raises:
        UsageError: The variable is not set, or holds what no header can carry.
    """
    if key_env:
        key = os.environ.get(key_env, "")
        if not key:
            raise UsageError(f"the environment variable `{key_env}` is not set; put the model's key in it")
        if not (key.isascii() and key.isprintable() and key == key.strip()):
            told = "holds a space, a line's end or a letter that no key can have"
            raise UsageError(f"the environment variable `{key_env}` {told}; put the key alone in it")
        return key
    return "none" if base else None  # an endpoint of one's own may want no key; the client library wants one


def scrub(text: str, key: str | None) -> str:
    """Take the key out of what an endpoint echoes."""
    return text.replace(key, "[key]") if key and len(key) > 7 else text


def check_base(base: str | None) -> None:
    """Refuse an address that can be none.

    Raises:
        UsageError: Not an http or https URL with a host.
    """
    try:
        parts = urlsplit(base or "http://provider")
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, half an address
        fits = False
    if not fits:
        raise UsageError("an endpoint's base is no http or https URL; give one such as http://127.0.0.1:8000/v1")


def without_address(text: str, base: str | None) -> str:
    """Take an endpoint's address out of what it or the library says, whole or its host alone."""
    if not base:
        return text
    text = text.replace(base, "[endpoint]")
    place = base.partition("://")[2].partition("/")[0]  # with user and password, where the URL has them
    for part in (
        place,
        place.rpartition("@")[2],
        place.rpartition("@")[0],
        place.rpartition("@")[2].rpartition(":")[0],
    ):
        if len(part) > 3:
            text = text.replace(part, "[endpoint]")
    return text


def scrub_error(text: str, key: str | None) -> str:
    """Take keys out of what an endpoint says went wrong, those in the providers' own variables too."""
    for name, value in os.environ.items():
        if name.endswith("_API_KEY"):
            text = scrub(text, value)
    return scrub(text, key)


def check_litellm() -> None:
    """Look whether litellm may be imported, without importing it.

    Raises:
        UsageError: It is missing, or a release to refuse.
    """
    try:
        version = metadata.version("litellm")
    except metadata.PackageNotFoundError as error:
        raise UsageError("a model is asked through litellm: pip install 'wardround[llm]'") from error
    if version in _MALICIOUS:
        raise UsageError(f"litellm {version} is a compromised release: uninstall it, rotate your keys, install another")


def import_litellm() -> Any:
    """Import litellm, which takes seconds, with what it would do on its own turned off.

    Raises:
        UsageError: It is missing, or a release to refuse.
    """
    check_litellm()
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else the import downloads a price list
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import litellm
    litellm.callbacks = []
    litellm.success_callback = []
    litellm.failure_callback = []
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.drop_params = False  # who asks says so, or wants to be told
    litellm.disable_aiohttp_transport = True
    return litellm


async def close_litellm(litellm: Any) -> None:
    """Close litellm's cached connections: they belong to an event loop that ends here."""
    await litellm.close_litellm_async_clients()
    litellm.in_memory_llm_clients_cache.flush_cache()
    session, litellm.aclient_session = litellm.aclient_session, None
    if session is not None:
        await session.aclose()


def forget_other_loops(litellm: Any) -> None:
    """Drop connections that litellm cached in another event loop than the running one.

    It caches them by the loop's id, which a later loop may get again; a connection of a closed loop fails.
    """
    global _last_loop
    loop = asyncio.get_running_loop()
    if _last_loop is None or _last_loop() is not loop:
        if _last_loop is not None:
            litellm.in_memory_llm_clients_cache.flush_cache()
        _last_loop = weakref.ref(loop)
        litellm.aclient_session = None
    if litellm.aclient_session is None:
        litellm.aclient_session = _session()


def _session() -> Any:
    """Return what OpenAI-compatible endpoints are asked through: what they are sent goes to no other address.

    litellm's own follows redirects, which would take patients' data to a place that nobody has named.
    """
    import httpx
    from litellm.llms.custom_httpx.http_handler import get_ssl_configuration

    limits = httpx.Limits(max_connections=None, max_keepalive_connections=100)
    return httpx.AsyncClient(verify=get_ssl_configuration(), follow_redirects=False, limits=limits)


def status_of(fault: Exception) -> int:
    """Return the HTTP status of an error of litellm; 0 where there was no reply.

    A client of OpenAI's that has no key asks nothing and litellm calls that 500; it is the 401 that other providers'
    get, for asking again does not help.
    """
    below: BaseException | None = fault
    while below is not None:
        if (type(below).__module__, type(below).__name__) == ("openai", "OpenAIError"):  # none of its subclasses
            return 401
        below = below.__cause__ or below.__context__
    status = getattr(fault, "status_code", 0)
    return status if isinstance(status, int) and status != 200 else 0


def retry_after(fault: Exception) -> float | None:
    """Return the seconds of a Retry-After header; a date in it is left out, for no clock is read here."""
    headers = getattr(getattr(fault, "response", None), "headers", None) or {}
    try:
        wait = float(str(headers.get("retry-after", "")))
    except ValueError:
        return None
    return wait if 0 <= wait < float("inf") else None
