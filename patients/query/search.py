"""The search itself: a query over a record, a page of matches and what comes along with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from urllib.parse import quote

from wardround.patients.chart import Entry, Snapshot
from wardround.patients.overlay import Overlay
from wardround.patients.times import NEVER, Instant, parse_period

from .bundling import bundle_of
from .definitions import compartment, searchable
from .errors import Issue, refusal, shown
from .paging import PARAMETER, check_token, make_token, read_token, state_of
from .pairs import pairs_of
from .parsing import Query, kinds_named, parse_query
from .pooling import Pool, included_across, page_across, page_of_one, scopes_of, version_of
from .restriction import Visibility
from .tables import Scope

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

    def __init__(
        self, scopes: tuple[Scope, ...], query: Query, path: str, found: tuple[int, list[tuple[Scope, Entry]]],
        place: tuple[int, int],
    ) -> None:  # fmt: skip
        self._scopes, self._query, self._path = scopes, query, path
        self._version, self.offset = place
        self.total, matches = found
        self.matches = tuple(entry for _, entry in matches)
        came, issues = included_across(matches, query.wanted.includes) if query.wanted.includes else ([], [])
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
        state, version = state_of(*self._scopes), self._version
        identity = f"{self._path}?{text}"
        mark = "&" if text else "?"

        def url(offset: int) -> str:
            return f"{plain}{mark}{PARAMETER}={make_token(state, version, offset, identity)}"

        own = url(self.offset) if self.offset else plain
        return (("self", own), *((relation, url(offset)) for relation, offset in sorted(pages)))

    def bundle(self) -> bytes:
        """Return the page as a searchset Bundle (JSON)."""
        entries = [("match", entry) for entry in self.matches] + [("include", entry) for entry in self.included]
        return bundle_of(
            self.total,
            self.links,
            entries,
            self.issues,
            self._query.wanted,
            self._scopes[0].base if self._scopes else "",
        )


def fhir_search(
    record: Snapshot | Overlay | Pool,
    kind: str | None,
    query: str | Sequence[tuple[str, str]] = "",
    *,
    base: str = "",
    strict: bool = False,
    cap: int = 1000,
    visible: Callable[[str], Visibility | None] | None = None,
) -> SearchResult:
    """Search a record, or several as one, as FHIR R4 has it (docs/search.md).

    Args:
        record: What is searched. Only what was known at its anchor can be found, asked for, or included.
        kind: A resource type; None for all (`_type` narrows them); `Patient/1/Condition` or `Patient/1/*` for the
            compartment of a patient, `Patient/1/$everything` for all that the record of this patient holds (`start`,
            `end` and `_since` narrow it).
        query: The query string (percent-encoded), or decoded names and values.
        base: Own base URL: makes `fullUrl` and links absolute and is stripped from references.
        strict: Whether an unknown parameter is an error (`Prefer: handling=strict`) instead of an issue.
        cap: Most matches a page may have.
        visible: Patient id → what the caller may see of that record (None: all of it).

    Raises:
        SearchError: The query cannot be answered; `status` and `outcome()` say why.
    """
    base = base.rstrip("/")
    pairs = pairs_of(query)
    token = next((value for name, value in pairs if name == PARAMETER), None)
    if token is not None:
        pairs = tuple(pair for pair in pairs if pair[0] != PARAMETER)
    version, offset = read_token(token) if token is not None else (None, 0)
    if version is not None and version > version_of(record):
        raise refusal("expired", f"{PARAMETER}: this page is of another record; search again", PARAMETER, status=410)
    scopes = scopes_of(record, base, version, visible)
    version = version_of(record) if version is None else version
    parsed, owner, dates = _asked(kind, pairs, base, cap, strict=strict)
    path = "/".join(part for part in (base, kind or "") if part) or "."
    if token is not None:
        check_token(token, scopes, offset, version, f"{path}?{_text(parsed.kept)}")

    def membership(kind: str) -> tuple[str, tuple[str, ...]] | None:
        return _membership(owner, kind)

    if len(scopes) == 1 and len(parsed.kinds) == 1 and dates is None:
        found = page_of_one(scopes[0], parsed, membership, offset)
    else:
        found = page_across(scopes, parsed, membership, offset, dates, _tick_of(record))
    return SearchResult(scopes, parsed, path, found, (version, offset))


def _tick_of(record: Snapshot | Overlay | Pool) -> Callable[[], None]:
    return (lambda: None) if isinstance(record, Snapshot | Overlay) else record.tick


Dates = tuple[Instant, Instant]


def _asked(
    kind: str | None, pairs: tuple[tuple[str, str], ...], base: str, cap: int, *, strict: bool
) -> tuple[Query, str | None, Dates | None]:
    """Return the parsed query, the owner of the compartment it asks (or None), and the dates of $everything."""
    everything = kind is not None and kind.endswith("/$everything")
    asked, dates = _everything(pairs) if everything else (pairs, None)
    owner, kinds, typed = _where(kind, asked)
    rest = tuple(pair for pair in asked if not (typed and pair[0] == "_type"))
    parsed = _parsed(kinds, rest, base, cap, strict)
    if typed or everything:
        parsed = _with_kept(parsed, pairs, ("_type", *_DATED) if everything else ("_type",))
    return parsed, owner, dates


_DATED = ("start", "end", "_since")
"""Parameters of $everything beside those of a search."""


def _everything(pairs: tuple[tuple[str, str], ...]) -> tuple[tuple[tuple[str, str], ...], Dates]:
    """Read `start`, `end` and `_since`; return the other parameters, and the span of dates."""
    spans: dict[str, Dates] = {}
    for name, value in pairs:
        if name in _DATED:
            try:
                spans[name] = parse_period(value.replace(" ", "+"))
            except ValueError as fault:
                raise refusal("value", f"{name}: {shown(value)} is not a date ({fault})", name) from fault
    rest = tuple(pair for pair in pairs if pair[0] not in _DATED)
    since = tuple(("_lastUpdated", f"ge{value.replace(' ', '+')}") for name, value in pairs if name == "_since")
    start, end = spans.get("start"), spans.get("end")
    return (*rest, *since), (start[0] if start else -NEVER, end[1] if end else NEVER)


def _where(kind: str | None, pairs: tuple[tuple[str, str], ...]) -> tuple[str | None, tuple[str, ...], bool]:
    """Return the owner of the compartment (or None), the types that are searched, and whether `_type` chose them."""
    owner = None
    if kind is not None and "/" in kind:
        steps = kind.split("/")
        if len(steps) != 3 or not all(steps) or not compartment(steps[0]):
            raise refusal("not-supported", f"{shown(kind)} is no compartment; write Patient/id/Type", status=404)
        owner, kind = ("/".join(steps[:2]), steps[2]) if steps[2] != "$everything" else (None, None)
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


def _with_kept(query: Query, pairs: tuple[tuple[str, str], ...], names: tuple[str, ...]) -> Query:
    """Put `_type` and the like back into what the self link says."""
    first = tuple(pair for pair in pairs if pair[0] in names and pair[1])
    rest = tuple(pair for pair in query.kept if pair[0] != "_lastUpdated" or "_since" not in names)
    return Query(query.kinds, query.questions, query.wanted, query.issues, (*first, *rest))


def _text(kept: tuple[tuple[str, str], ...]) -> str:
    return "&".join(f"{quote(name, safe=':._-*')}={quote(value, safe=':/,._-*')}" for name, value in kept)


def _membership(owner: str | None, kind: str) -> tuple[str, tuple[str, ...]] | None:
    if owner is None:
        return None
    return owner, compartment(owner.partition("/")[0]).get(kind, ())
