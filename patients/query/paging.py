"""Page tokens: which page of which search, over which state of the record.

A token names how many writes the record had when the first page was read, so that every page is cut from the same
list whatever is written in between; its digest ties it to the record and the query.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from hashlib import blake2b

from .errors import refusal, shown
from .tables import Scope

PARAMETER = "_page"
"""The parameter that carries a token."""

_DIGEST = 13
"""Bytes of digest; with version and offset they make base64 without padding."""


def state_of(*scopes: Scope) -> bytes:
    """Return what tells the records of a search from any others: chart, instant, view, what is shown, the writes."""
    state = blake2b(digest_size=16)
    for scope in scopes:
        snapshot = scope.snapshot
        state.update(f"{snapshot.chart.hash} {snapshot.anchor} {snapshot.view!r}".encode())
        state.update(scope.mark)
        for entry in scope.overlay.writes:
            state.update(len(entry.body).to_bytes(8, "little") + entry.body)
    return state.digest()


def make_token(state: bytes, version: int, offset: int, query: str) -> str:
    """Return the token of a page."""
    place = version.to_bytes(4, "big") + offset.to_bytes(4, "big")
    digest = blake2b(state + place + query.encode(), digest_size=_DIGEST).digest()
    return base64.urlsafe_b64encode(place + digest).decode()


def read_token(token: str) -> tuple[int, int]:
    """Return version and offset of a token; whether it is of this search is yet to be checked.

    Raises:
        SearchError: It is no token.
    """
    try:
        raw = base64.b64decode(token.encode("ascii"), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError, ValueError):
        raw = b""
    if len(raw) != 8 + _DIGEST:
        raise refusal("value", f"{PARAMETER}: {shown(token)} is no page; follow the links of a Bundle", PARAMETER)
    return int.from_bytes(raw[:4], "big"), int.from_bytes(raw[4:8], "big")


def check_token(token: str, scopes: Sequence[Scope], offset: int, version: int, query: str) -> None:
    """Check that a token is of this search over these records.

    Raises:
        SearchError: It is of another (410: its page is gone).
    """
    if make_token(state_of(*scopes), version, offset, query) != token:
        text = f"{PARAMETER}: this page is of another search or another state of the record; search again"
        raise refusal("expired", text, PARAMETER, status=410)
