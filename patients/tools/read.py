"""Tools that read the record: from checked arguments to a search, and from hits to text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wardround.patients.assembling import UNRANKED
from wardround.patients.chart import Entry
from wardround.patients.elements import document_text, tail
from wardround.patients.fulltext import TYPES, first_match, phrase, snippet
from wardround.patients.overlay import Overlay
from wardround.patients.packing import attributes
from wardround.patients.resource import load, period_of, rank_of
from wardround.patients.rows import LONGEST, LONGEST_ALONE, compact_row, is_cut
from wardround.patients.search import Hits, ListedHits, Search
from wardround.patients.stays import is_hospital_stay
from wardround.patients.strict_json import clip
from wardround.patients.times import format_instant

from . import arguments as args
from .elsewhere import elsewhere
from .fields import DEFAULT_COUNT, MAX_COUNT
from .matching import Chosen, choose, pick_service, pick_words, tool_words
from .mistakes import mistake
from .render import Page, render
from .spec import ToolContext, ToolResult

_KEYWORD_TYPES = frozenset(TYPES)
_LISTED = 10
"""Hospital stays named when a wrong one was asked for."""


def patient(context: ToolContext, arguments: args.PatientRead, given: dict[str, Any]) -> ToolResult:
    """Read the patient."""
    return _found(context, "Patient.read", Search("Patient"), given, None)


def encounters(context: ToolContext, arguments: args.EncounterSearch, given: dict[str, Any]) -> ToolResult:
    """Search stays."""
    return _search(context, "Encounter.search", arguments, given)


def conditions(context: ToolContext, arguments: args.ConditionSearch, given: dict[str, Any]) -> ToolResult:
    """Search coded diagnoses."""
    return _search(context, "Condition.search", arguments, given, text=arguments.code, status=arguments.clinical_status)


def observations(context: ToolContext, arguments: args.ObservationSearch, given: dict[str, Any]) -> ToolResult:
    """Search results and vital signs."""
    start = None if arguments.date_from is None else period_of(arguments.date_from)[0]
    end = None if arguments.date_to is None else period_of(arguments.date_to)[1]
    if start is not None and end is not None and start >= end:
        text = (
            f"Refused: Observation.search: argument `date_from` = `{arguments.date_from}` lies after `date_to` = "
            f"`{arguments.date_to}`. Call again with the earlier date in date_from."
        )
        return mistake("Observation.search", given, "bad_arguments", text)
    return _search(
        context,
        "Observation.search",
        arguments,
        given,
        text=arguments.code,
        category=arguments.category,
        start=start,
        end=end,
    )


def medication_requests(
    context: ToolContext, arguments: args.MedicationRequestSearch, given: dict[str, Any]
) -> ToolResult:
    """Search medication orders."""
    return _search(
        context, "MedicationRequest.search", arguments, given, text=arguments.medication, status=arguments.status
    )


def medication_administrations(
    context: ToolContext, arguments: args.MedicationAdministrationSearch, given: dict[str, Any]
) -> ToolResult:
    """Search doses given."""
    return _search(context, "MedicationAdministration.search", arguments, given, text=arguments.medication)


def diagnostic_reports(
    context: ToolContext, arguments: args.DiagnosticReportSearch, given: dict[str, Any]
) -> ToolResult:
    """Search imaging reports."""
    words = None if arguments.report_type is None else tool_words()["report_types"][arguments.report_type]
    return _search(context, "DiagnosticReport.search", arguments, given, words=words, keyword=arguments.keyword)


def document_references(
    context: ToolContext, arguments: args.DocumentReferenceSearch, given: dict[str, Any]
) -> ToolResult:
    """Search notes."""
    words = None if arguments.type_code is None else tool_words()["document_types"][arguments.type_code]
    return _search(context, "DocumentReference.search", arguments, given, words=words, keyword=arguments.keyword)


def care_plans(context: ToolContext, arguments: args.CarePlanSearch, given: dict[str, Any]) -> ToolResult:
    """Search plans."""
    return _search(context, "CarePlan.search", arguments, given, category=arguments.category, keyword=arguments.keyword)


def service_requests(context: ToolContext, arguments: args.ServiceRequestSearch, given: dict[str, Any]) -> ToolResult:
    """Search orders of tests, procedures and referrals."""
    return _search(context, "ServiceRequest.search", arguments, given, text=arguments.service, status=arguments.status)


def flags(context: ToolContext, arguments: args.FlagSearch, given: dict[str, Any]) -> ToolResult:
    """Search warnings."""
    return _search(context, "Flag.search", arguments, given, status=arguments.status)


def communications(context: ToolContext, arguments: args.CommunicationSearch, given: dict[str, Any]) -> ToolResult:
    """Search messages."""
    return _search(context, "Communication.search", arguments, given)


def appointments(context: ToolContext, arguments: args.AppointmentSearch, given: dict[str, Any]) -> ToolResult:
    """Search appointments."""
    return _found(context, "Appointment.search", Search("Appointment"), given, arguments.count)


def _search(
    context: ToolContext,
    tool: str,
    arguments: args.Search,
    given: dict[str, Any],
    *,
    text: str | None = None,
    words: list[str] | None = None,
    category: str | None = None,
    status: str | None = None,
    start: int | None = None,
    end: int | None = None,
    keyword: str | None = None,
) -> ToolResult:
    """Run one search: `text` is the model's own words for a concept, `words` those of a published type."""
    record = context.record
    kind = tool.partition(".")[0]
    stay = arguments.hadm_id
    if stay is not None and record.read("Encounter", stay) is None:
        return _unknown_stay(context, tool, stay, given)
    chosen = None
    if text is not None:
        chosen = pick_service(record, text) if kind == "ServiceRequest" else choose(record, kind, text, category)
    elif words is not None:
        chosen = pick_words(record, kind, words)
    if chosen is not None and not chosen.matched:
        return _nothing(context, tool, chosen, given, text, elsewhere(record, kind, words, stay))
    query = Search(
        kind,
        encounter=stay,
        category=category,
        status=status,
        names=chosen.names if chosen is not None else (),
        codes=chosen.codes if chosen is not None else (),
        date_from=start,
        date_to=end,
        keyword=keyword,
    )
    return _found(context, tool, query, given, arguments.count, chosen if text is not None else None, words)


def _found(
    context: ToolContext,
    tool: str,
    query: Search,
    given: dict[str, Any],
    count: int | None,
    chosen: Chosen | None = None,
    words: Sequence[str] | None = None,
) -> ToolResult:
    record = context.record
    hits, offset, total, query = _hits(record, query)
    limit = min(DEFAULT_COUNT if count is None else min(count, MAX_COUNT), total)
    entries: list[Entry] = []
    rows: list[bytes] = []
    if context.view == "fhir":
        entries = hits.entries(offset, limit)
        keys = [entry.key for entry in entries]
    else:
        keys, rows = hits.page(offset, limit)
    note = None
    if not total:
        note = _why_empty(context, query, words)
    elif 0 < limit < total:
        note = f"{total - limit} more not shown: narrow the search, or raise _count (at most {MAX_COUNT})."
    if rows and max(map(len, rows)) > LONGEST and any(map(is_cut, rows)):
        rows, note = _long_texts(hits, offset, rows, query, note)
    matched = chosen.matched if chosen is not None else None
    found = () if query.keyword is None else _snippets(hits, limit, query.keyword)
    page = Page(query.type, total, given, rows, entries, note, matched, (), found)
    if record.own(query.type):  # what the episode wrote, a chart resource in a newer version too, is no evidence
        keys = [key for key in keys if not record.wrote(key)]
    return ToolResult(tool, given, True, render(page, context.view), "read", tuple(keys), None, (), total)


def _hits(record: Overlay, query: Search) -> tuple[Hits, int, int, Search]:
    """Return hits, the place of the first to show, how many answer, and what was asked.

    A keyword that is the id of a resource asks for that one, and for no words.
    """
    if query.keyword is not None:
        key = f"{query.type}/{query.keyword.removeprefix(f'{query.type}/')}"
        if record.read(*key.split("/", 1)) is not None:
            plain = query._replace(keyword=None)
            hits = record.search(plain)
            keys, _ = hits.page(0, hits.total)
            if key in keys:
                return hits, keys.index(key), 1, plain
    hits = record.search(query)
    if query.type == "Condition" and query.encounter is not None:
        hits = _principal_first(hits)
    return hits, 0, hits.total, query


def _principal_first(hits: Hits) -> Hits:
    """Return the diagnoses of a stay by rank, those of equal rank and those without one as they stood."""
    entries = hits.entries()
    ranks = [rank_of(entry.resource()) or UNRANKED for entry in entries]
    if ranks == sorted(ranks):
        return hits
    return ListedHits(hits, [entries[place] for place in sorted(range(len(entries)), key=ranks.__getitem__)])


def _long_texts(
    hits: Hits, offset: int, rows: list[bytes], query: Search, note: str | None
) -> tuple[list[bytes], str | None]:
    """Return the only row with its text whole, or several as they are with how to read one whole."""
    if len(rows) == 1:
        resource = load(hits.entries(offset, 1)[0].body)
        text, wanted = document_text(resource) or "", phrase(query.keyword or "")
        match = first_match(text, wanted) if wanted is not None and len(text) > LONGEST_ALONE else None
        start = 0 if match is None else max(match[0] - LONGEST_ALONE // 2, 0)
        rows = [compact_row(resource, attributes(resource).time, longest=LONGEST_ALONE, start=start)]
        if not is_cut(rows[0]):
            return rows, note
        how = f"A text of more than {LONGEST_ALONE} characters is cut: a keyword moves the part that is shown."
    elif query.type in _KEYWORD_TYPES:
        how = (
            f"Texts of more than {LONGEST} characters are cut where several rows are shown: call again with the id of "
            "a row as keyword to read it whole."
        )
    else:
        how = f"Texts of more than {LONGEST} characters are cut where several rows are shown: narrow the search to one."
    return rows, how if note is None else f"{note} {how}"


def _snippets(hits: Hits, count: int, keyword: str) -> list[str | None]:
    """Return the surroundings of the keyword in each of the first hits; nothing where it has no words."""
    wanted = phrase(keyword)
    if wanted is None:
        return []
    return [snippet(document_text(entry.resource()) or "", wanted) for entry in hits.entries(0, count)]


def _nothing(
    context: ToolContext, tool: str, chosen: Chosen, given: dict[str, Any], text: str | None, hint: str | None
) -> ToolResult:
    kind = tool.partition(".")[0]
    if not context.record.imported(kind):
        note = _not_imported(kind)
    elif text is None:
        note = "Nothing of that type in this chart."
    elif chosen.nearest:
        note = f"Nothing in this chart is called `{clip(text, 60)}`. Nearest names it has are in `nearest`."
    else:
        note = f"Nothing in this chart is called `{clip(text, 60)}`, and it has no {kind} of that category at all."
    page = Page(kind, 0, given, note=_with(note, hint), matched=(), nearest=chosen.nearest)
    return ToolResult(tool, given, True, render(page, context.view), "read", total=0)


def _with(note: str, hint: str | None) -> str:
    return note if hint is None else f"{note} {hint}"


def _why_empty(context: ToolContext, query: Search, words: Sequence[str] | None) -> str:
    """Say why a search found nothing, so that an empty result is never taken for an answer it is not."""
    record = context.record
    hint = elsewhere(record, query.type, words, query.encounter) or _whole_stay(record, query.encounter)
    if not record.imported(query.type):
        return _with(_not_imported(query.type), hint)
    without = Search(query.type, names=query.names, codes=query.codes)
    there = record.search(without)
    if query != without and there.total:
        newest = there.entries(0, 1)[0]
        when = f", the newest at {format_instant(newest.first)}" if query.date_from or query.date_to else ""
        return _with(f"None with these filters; {there.total} without them{when}.", hint)
    return _with(f"This chart holds no such {query.type} known by now.", hint)


def _whole_stay(record: Overlay, stay: str | None) -> str | None:
    """Say which hospital stay an ICU or ED stay is part of: what the ICU charts hangs on the hospital stay."""
    entry = None if stay is None else record.read("Encounter", stay)
    whole = None if entry is None else tail(entry.resource().get("partOf"))
    return None if whole is None else f"`{stay}` is part of the hospital stay `{whole}`: search that one."


def _not_imported(kind: str) -> str:
    return f"No {kind} was imported with this chart: it cannot tell whether there are any."


def _unknown_stay(context: ToolContext, tool: str, stay: str, given: dict[str, Any]) -> ToolResult:
    entries = context.record.search(Search("Encounter")).entries()
    stays = [entry.id for entry in entries if is_hospital_stay(entry.resource())]
    known = ", ".join(f"`{name}`" for name in stays[:_LISTED])
    more = f" and {len(stays) - _LISTED} more" if len(stays) > _LISTED else ""
    text = (
        f"Refused: {tool}: argument `hadm_id` = `{clip(stay, 40)}` is no stay of this patient. "
        f"Known stays, newest first: {known or 'none'}{more}."
    )
    return mistake(tool, given, "unknown_encounter", text)
