"""A query string as decoded names and values, within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qsl

from .errors import refusal, shown

MAX_QUERY = 512 * 1024
"""Characters a query may have."""

MAX_PARAMETERS = 1000

MAX_NAME = 500
"""Characters the name of a parameter, with its chain, may have."""


def pairs_of(query: str | Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return decoded names and values; bounds what a query may cost.

    Raises:
        SearchError: The query is too long, or is no text.
    """
    if isinstance(query, str):
        if len(query) > MAX_QUERY:
            raise refusal("too-long", f"the query has {len(query)} characters; at most {MAX_QUERY} are read")
        try:
            pairs = tuple(parse_qsl(query, keep_blank_values=True, max_num_fields=MAX_PARAMETERS))
        except ValueError as fault:
            raise refusal("too-costly", f"more than {MAX_PARAMETERS} parameters in one search") from fault
    else:
        pairs = tuple((name, value) for name, value in query)
        if len(pairs) > MAX_PARAMETERS or sum(len(name) + len(value) for name, value in pairs) > MAX_QUERY:
            raise refusal("too-costly", f"more than {MAX_PARAMETERS} parameters or {MAX_QUERY} characters")
    for name, value in pairs:
        if len(name) > MAX_NAME:
            raise refusal("too-long", f"{shown(name)}: the name of a parameter has at most {MAX_NAME} characters")
        try:
            f"{name}{value}".encode()
        except UnicodeEncodeError as fault:
            raise refusal("invalid", f"{shown(name)}: holds half a character (a lone surrogate)") from fault
    return pairs
