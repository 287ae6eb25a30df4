"""The search itself: a query over a record, a page of matches and what comes along with it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from urllib.parse import parse_qsl, quote

from wardround.patients.chart import Entry, Snapshot
from wardround.patients.overlay import Overlay

from .bundling import bundle_of
from .definitions import compartment, searchable
from .errors import Issue, refusal, shown
from .including import included
from .matching import select
from .ordering import entries_of, ordered, ordered_across
from .paging import PARAMETER, check_token, make_token, read_token, state_of, version_of
from .parsing import Query, kinds_named, parse_query
from .tables import Scope, Table

MAX_QUERY = 512 * 1024
"""Characters a query may have."""

MAX_PARAMETERS = 1000

MAX_NAME = 500
"""Characters the name of a parameter, with its chain, may have."""

_REMEMBERED = 4000
"""Queries up to so many characters are remembered parsed."""


class SearchResult:
    """A page of a search.

    Attributes:
        total: Matches over all pages; what is included is not counted.
        matches: The matches of this page, in order.
        included: What `_include` and `_revinclude` brought along.
        issues: What was ignored or cut, as issues of an OperationOutcome.
        offset: Number of matches before this page.
    """

    def __init__(self, scope: Scope, query: Query, path: str, found: tuple[int, list[Entry]], offset: int) -> None:
        self._scope, self._query, self._path = scope, query, path
        self.offset = offset
        self.total, matches = found
        self.matches = tuple(matches)
        came, issues = included(scope, matches, query.wanted.includes) if query.wanted.includes else ([], [])
        self.included = tuple(came)
        self.issues: tuple[Issue, ...] = (*query.issues, *issues)

    @cached_property
    def links(self) -> tuple[tuple[str, str], ...]:
        """Relation and URL: `self`; where there are several pages also `first`, `previous`, `next` and `last`."""
        text = _text(self._query.kept)
        plain = f"{self._path}?{text}" if text else self._path
        size = self._query.wanted.count
        if size == 0 or self.total <= size:
            return (("self", plain),)
        last = (self.total - 1) // size * size
        pages = [("first", 0), ("last", last)]
        if self.offset > 0:
            pages.append(("previous", max(0, self.offset - size)))
        if self.offset < last:
            pages.append(("next", self.offset + size))
        state, version = state_of(self._scope), self._scope.overlay.version
        identity = f"{self._path}?{text}"
        mark = "&" if text else "?"

        def url(offset: int) -> str:
            return f"{plain}{mark}{PARAMETER}={make_token(state, version, offset, identity)}"

        own = url(self.offset) if self.offset else plain
        return (("self", own), *((relation, url(offset)) for relation, offset in sorted(pages)))

    def bundle(self) -> bytes:
        """Return the page as a searchset Bundle (JSON)."""
        entries = [("match", entry) for entry in self.matches] + [("include", entry) for entry in self.included]
        return bundle_of(self.total, self.links, entries, self.issues, self._query.wanted, self._scope.base)


def fhir_search(
    record: Snapshot | Overlay,
    kind: str | None,
    query: str | Sequence[tuple[str, str]] = "",
    *,
    base: str = "",
    strict: bool = False,
    cap: int = 1000,
) -> SearchResult:
    """Search a record as FHIR R4 has it (docs/search.md).

    Args:
        record: What is searched. Only what was known at its anchor can be found, asked for, or included.
        kind: A resource type; None for all (`_type` narrows them); `Patient/1/Condition` or `Patient/1/*` for the
            compartment of a patient.
        query: The query string (percent-encoded), or decoded names and values.
        base: Own base URL: makes `fullUrl` and links absolute and is stripped from references.
        strict: Whether an unknown parameter is an error (`Prefer: handling=strict`) instead of an issue.
        cap: Most matches a page may have.

    Raises:
        SearchError: The query cannot be answered; `status` and `outcome()` say why.
    """
    base = base.rstrip("/")
    pairs = _pairs(query)
    token = None
    if any(name == PARAMETER for name, _ in pairs):
        token = next(value for name, value in pairs if name == PARAMETER)
        pairs = tuple(pair for pair in pairs if pair[0] != PARAMETER)
    version, offset = read_token(token) if token is not None else (None, 0)
    if version is not None and version > version_of(record):
        raise refusal("expired", f"{PARAMETER}: this page is of another record; search again", PARAMETER, status=410)
    scope = Scope(record, base, version)
    owner, kinds, typed = _where(kind, pairs)
    parsed = _parsed(kinds, tuple(pair for pair in pairs if not (typed and pair[0] == "_type")), base, cap, strict)
    if typed:
        parsed = _with_types(parsed, pairs)
    path = "/".join(part for part in (base, kind or "") if part) or "."
    if token is not None and version is not None:
        check_token(token, scope, offset, version, f"{path}?{_text(parsed.kept)}")
    found = _page(scope, parsed, owner, offset)
    return SearchResult(scope, parsed, path, found, offset)


def _pairs(query: str | Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return decoded names and values; bounds what a query may cost."""
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


def _where(kind: str | None, pairs: tuple[tuple[str, str], ...]) -> tuple[str | None, tuple[str, ...], bool]:
    """Return the owner of the compartment (or None), the types that are searched, and whether `_type` chose them."""
    owner = None
    if kind is not None and "/" in kind:
        steps = kind.split("/")
        if len(steps) != 3 or not all(steps) or not compartment(steps[0]):
            raise refusal("not-supported", f"{shown(kind)} is no compartment; write Patient/id/Type", status=404)
        owner, kind = "/".join(steps[:2]), steps[2]
    if kind is not None and kind != "*":
        if kind not in searchable():
            raise refusal("not-supported", f"{shown(kind)} is not a resource type that is stored here", status=404)
        if owner is not None and kind != owner.partition("/")[0] and kind not in compartment("Patient"):
            raise refusal("not-supported", f"{kind} is not in the compartment of a patient", status=404)
        return owner, (kind,), False
    kinds = searchable()
    if owner is not None:
        kinds = tuple(one for one in kinds if one in compartment("Patient") or one == owner.partition("/")[0])
    named = [value for name, value in pairs if name == "_type" and value]
    for number, text in enumerate(named):
        chosen = kinds_named(text)
        kinds = tuple(one for one in chosen if one in kinds) if number or owner else chosen
    if not kinds:
        raise refusal("value", "_type: names no type that can be here", "_type")
    return owner, kinds, any(name == "_type" for name, _ in pairs)


def _parsed(kinds: tuple[str, ...], pairs: tuple[tuple[str, str], ...], base: str, cap: int, strict: bool) -> Query:
    if sum(len(name) + len(value) for name, value in pairs) > _REMEMBERED:
        return parse_query.__wrapped__(kinds, pairs, base, cap, strict)
    return parse_query(kinds, pairs, base, cap, strict)


def _with_types(query: Query, pairs: tuple[tuple[str, str], ...]) -> Query:
    """Put `_type` back into what the self link says."""
    types = tuple(pair for pair in pairs if pair[0] == "_type" and pair[1])
    return Query(query.kinds, query.questions, query.wanted, query.issues, (*types, *query.kept))


def _text(kept: tuple[tuple[str, str], ...]) -> str:
    return "&".join(f"{quote(name, safe=':._-*')}={quote(value, safe=':/,._-*')}" for name, value in kept)


def _page(scope: Scope, query: Query, owner: str | None, offset: int) -> tuple[int, list[Entry]]:
    """Return the total and the matches of one page."""
    wanted = query.wanted
    stop = offset + wanted.count
    if len(query.kinds) == 1:
        kind = query.kinds[0]
        rows = select(scope, query, kind, _membership(owner, kind))
        table = scope.table(kind)
        if wanted.sort and wanted.count:
            rows = ordered(table, rows, wanted.sort)
        return len(rows), entries_of(table, rows[offset:stop])
    found: list[tuple[Table, int]] = []
    for kind in query.kinds:
        table = scope.table(kind)
        found += ((table, row) for row in select(scope, query, kind, _membership(owner, kind)).tolist())
    if wanted.sort and wanted.count:
        found = ordered_across(scope, found, wanted.sort)
    return len(found), [table.entry(row) for table, row in found[offset:stop]]


def _membership(owner: str | None, kind: str) -> tuple[str, tuple[str, ...]] | None:
    if owner is None:
        return None
    return owner, compartment(owner.partition("/")[0]).get(kind, ())
