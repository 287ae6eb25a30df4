"""Is an OpenAI-compatible endpoint there? One GET of its list of models, with a deadline; no key is ever shown."""

from __future__ import annotations

import os
import threading
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit, urlunsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

import orjson

from wardround.patients import UsageError

_MOST: Final = 1 << 20
"""Bytes of a reply that are read."""
_SHOWN: Final = 10


class _NoRedirects(HTTPRedirectHandler):
    """A key goes to the address that was named and to no other."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


def probe(url: str, *, key_env: str | None = None, deadline: float = 10.0) -> dict[str, Any]:
    """Ask an endpoint for its models.

    Args:
        url: Base of the endpoint, as a model's options take it (".../v1").
        key_env: Name of the environment variable that holds its key; None sends none.
        deadline: Seconds for the whole answer.

    Returns:
        `url` (without user, password and query), `reachable`, `status` (None without an answer), `models` (the first
        ten; None where the reply lists none), `count`, and `error` ("" where all is well).

    Raises:
        UsageError: Not an http or https URL, or the variable is not set.
    """
    plain = _plain(url)
    headers = {"accept": "application/json"}
    if key_env:
        key = os.environ.get(key_env, "")
        if not key:
            raise UsageError(f"the environment variable `{key_env}` is not set; put the endpoint's key in it")
        headers["authorization"] = f"Bearer {key}"
    request = Request(f"{plain}/models", headers=headers)  # noqa: S310  # http or https, seen above
    found: dict[str, Any] = {}
    # in a thread, for a server that sends a byte now and then passes every limit on a single read
    asking = threading.Thread(target=_ask, args=(build_opener(_NoRedirects), request, deadline, found), daemon=True)
    asking.start()
    asking.join(deadline)
    answer = {"reachable": False, "status": None, "models": None, "count": 0, "error": f"no answer in {deadline:g} s"}
    return {"url": plain, **answer, **dict(found)}


def _plain(url: str) -> str:
    """Return a URL without what may be secret in it: user, password, query."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:  # a port that is no number, half an address
        parts, host, port = urlsplit(""), "", None
    if parts.scheme not in ("http", "https") or not host:
        raise UsageError("`--endpoint` takes an http or https URL, such as http://127.0.0.1:8000/v1")
    place = f"[{host}]" if ":" in host else host
    return urlunsplit((parts.scheme, place if port is None else f"{place}:{port}", parts.path.rstrip("/"), "", ""))


def _ask(opener: OpenerDirector, request: Request, deadline: float, found: dict[str, Any]) -> None:
    try:
        with opener.open(request, timeout=deadline) as reply:
            body = reply.read(_MOST)
            answer = {"reachable": True, "status": reply.status, **_models(body)}
    except HTTPError as error:
        with error:
            answer = {"reachable": True, "status": error.code, "error": f"HTTP {error.code}{_hint(error.code)}"}
    except (OSError, HTTPException, ValueError) as error:  # URLError is an OSError
        reason = error.reason if isinstance(error, URLError) else error
        words = getattr(reason, "strerror", None) or type(reason).__name__
        answer = {"error": f"not reached: {words}"}
    found.update(answer)


def _hint(status: int) -> str:
    if status in (401, 403):
        return ": it wants a key; name its variable with --key-env"
    if status == 404:
        return ": no list of models at this path; does the URL end in /v1?"
    if 300 <= status < 400:
        return ": it sends elsewhere; name the address it sends to"
    return ""


def _models(body: bytes) -> dict[str, Any]:
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {"error": "the reply is no JSON: not an OpenAI-compatible endpoint?"}
    listed = data.get("data") if isinstance(data, dict) else None
    if not isinstance(listed, list):
        return {"error": "the reply lists no models: not an OpenAI-compatible endpoint?"}
    names = [str(one["id"])[:200] for one in listed if isinstance(one, dict) and "id" in one]
    return {"models": names[:_SHOWN], "count": len(names), "error": ""}
