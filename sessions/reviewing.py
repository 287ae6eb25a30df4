"""From the verdicts of a review sheet to a new version of the set, with a changelog."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import orjson
from pydantic import ValidationError

from wardround.patients import ChartStore, DataError

from .dataset import SessionSet
from .gates import check_session
from .session import Session
from .sheet import ARGUMENTS, IMPLICITNESS, ITEM, PLAUSIBILITY, SheetRow

_TYPES: Mapping[str, str | None] = {"NA": "NA", "PE": "PE", "AE": "AE", "none": None}


@dataclass
class Review:
    """What a review said and what came of it."""

    sessions: tuple[Session, ...]
    """The new version, in the order of the set."""
    changes: list[dict[str, Any]] = field(default_factory=list)
    """{session, turn, what, key, verdict, before, after, comment} of every change made."""
    refused: list[dict[str, Any]] = field(default_factory=list)
    """{session, reason} of every session left as it was, because a correction would have made it unsound."""
    verdicts: dict[str, Counter[str]] = field(default_factory=dict)
    """what → verdict → rows; "open" where nobody judged."""

    def as_json(self) -> dict[str, Any]:
        """Return it as plain JSON, with the share of judged rows of each kind that were found right."""
        shares = {}
        for what, counts in sorted(self.verdicts.items()):
            judged = sum(counts.values()) - counts["open"]
            shares[what] = counts["ok"] / judged if judged else None
        return {
            "sessions": len(self.sessions),
            "verdicts": {what: dict(sorted(counts.items())) for what, counts in sorted(self.verdicts.items())},
            "right": shares,
            "changes": self.changes,
            "refused": self.refused,
        }


def merge_review(sessions: SessionSet, rows: Iterable[SheetRow], store: ChartStore, name: str = "sheet") -> Review:
    """Apply the verdicts of a sheet to its set.

    `reject` takes away: the session, the implicit form (the explicit one stays), the item, the call. `revise` puts
    `correction` in its place: a type (NA, PE, AE, none); JSON of an item's changed parts (`check`, `text`, `requires`);
    JSON of a call's arguments. A session that would no longer pass `check` stays as it was, and is told.

    Args:
        sessions: The set the sheet was exported from.
        rows: The sheet.
        store: The charts.
        name: What messages call the sheet.

    Raises:
        DataError: A row names what the set does not hold, or its correction cannot be read; says row and remedy.
    """
    review = Review(())
    by_session: dict[str, list[SheetRow]] = {}
    for row in rows:
        if row.session not in sessions:
            raise DataError(f"{name}: row {row.line}: no session `{row.session}` in `{sessions.name}`")
        review.verdicts.setdefault(row.what, Counter())[row.verdict or "open"] += 1
        if row.verdict not in ("", "ok"):
            by_session.setdefault(row.session, []).append(row)
    mark = sha256(orjson.dumps([[row.session, row.turn, row.what, row.key, row.verdict, row.correction]
                                for found in by_session.values() for row in found])).hexdigest()[:8]  # fmt: skip
    kept: list[Session] = []
    for session in sessions:
        found = by_session.get(session.id)
        kept.extend([session] if found is None else _revised(session, found, store, mark, review, name))
    review.sessions = tuple(kept)
    return review


def _revised(
    session: Session, rows: list[SheetRow], store: ChartStore, mark: str, review: Review, name: str
) -> Iterable[Session]:
    """Yield the session as its rows want it; nothing where it is rejected."""
    plain = session.model_dump(mode="json", by_alias=True)
    changes: list[dict[str, Any]] = []
    for row in sorted(rows, key=lambda row: (row.what == ARGUMENTS, -int(row.key) if row.key.isdecimal() else 0)):
        if row.what == PLAUSIBILITY:
            if row.verdict == "reject":
                review.changes.append(_change(row, session.id, None))
                return ()
            continue  # a wish in words: the comment is for the authors
        before, after = _apply(plain, row, name)
        changes.append(_change(row, before, after))
    if not changes:
        return (session,)
    version = f"{session.provenance.version}+review.{mark}"
    plain["provenance"]["version"] = version
    try:
        made = Session.model_validate(plain)
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        raise DataError(
            f"{name}: session `{session.id}`: a correction gives no session: {where}: {fault['msg']}"
        ) from error
    failures = check_session(made, store.chart(session.chart.patient))
    if failures:
        review.refused.append({"session": session.id, "reason": f"{failures[0].rule}: {failures[0].message}"})
        return (session,)
    review.changes.extend(changes)
    return (made,)


def _change(row: SheetRow, before: Any, after: Any) -> dict[str, Any]:
    return {
        "session": row.session, "turn": row.turn, "what": row.what, "key": row.key, "verdict": row.verdict,
        "before": before, "after": after, "comment": row.comment,
    }  # fmt: skip


def _apply(plain: dict[str, Any], row: SheetRow, name: str) -> tuple[Any, Any]:
    """Change a session's plain JSON as a row wants it; return what stood there and what stands there now."""
    if row.turn is None or row.turn >= len(plain["turns"]):
        raise DataError(f"{name}: row {row.line}: session `{row.session}` has no turn `{row.turn}`")
    turn = plain["turns"][row.turn]
    if row.what == IMPLICITNESS:
        return _implicitness(turn, row, name)
    if row.what == ITEM:
        return _item(turn, row, name)
    if row.what == ARGUMENTS:
        return _arguments(turn, row, name)
    raise DataError(f"{name}: row {row.line}: `{row.what}` is nothing that is reviewed; keep the column as exported")


def _implicitness(turn: dict[str, Any], row: SheetRow, name: str) -> tuple[Any, Any]:
    before = turn["implicitness"]
    if row.verdict == "revise" and row.correction not in _TYPES:
        raise DataError(f"{name}: row {row.line}: correction `{row.correction[:20]}` is none of {', '.join(_TYPES)}")
    kind = None if row.verdict == "reject" else _TYPES[row.correction]
    turn["implicitness"] = kind
    if kind is None:
        turn["antecedents"] = []
        for wording in turn["query"].values():
            if wording is not None and wording["explicit"] is not None:
                wording["implicit"] = wording["explicit"]
    return before, kind


def _item(turn: dict[str, Any], row: SheetRow, name: str) -> tuple[Any, Any]:
    found = [item for item in turn["rubric"] if item["id"] == row.key]
    if not found:
        raise DataError(f"{name}: row {row.line}: turn {row.turn} has no item `{row.key}`")
    before = dict(found[0])
    if row.verdict == "reject":
        turn["rubric"] = [
            {**item, "requires": [one for one in item["requires"] if one != row.key]}
            for item in turn["rubric"]
            if item["id"] != row.key
        ]
        return before, None
    changed = _object(row, name)
    unknown = sorted(set(changed) - {"check", "text", "requires", "safety"})
    if unknown:
        raise DataError(
            f"{name}: row {row.line}: correction has `{unknown[0]}`; an item has check, text, requires, safety"
        )
    found[0].update(changed)
    return before, dict(found[0])


def _arguments(turn: dict[str, Any], row: SheetRow, name: str) -> tuple[Any, Any]:
    calls = turn["gold"]["calls"] if turn["gold"] is not None else []
    if not row.key.isdecimal() or int(row.key) >= len(calls):
        raise DataError(f"{name}: row {row.line}: turn {row.turn} has no gold call `{row.key}`")
    call = calls[int(row.key)]
    before = dict(call["arguments"])
    if row.verdict == "reject":
        del calls[int(row.key)]
        return {"tool": call["tool"], "arguments": before}, None
    call["arguments"] = _object(row, name)
    return before, call["arguments"]


def _object(row: SheetRow, name: str) -> dict[str, Any]:
    try:
        found = orjson.loads(row.correction)
    except orjson.JSONDecodeError as error:
        raise DataError(
            f"{name}: row {row.line}: correction is not JSON ({error}); `revise` needs a JSON object"
        ) from error
    if not isinstance(found, dict):
        raise DataError(f"{name}: row {row.line}: correction is no JSON object; `revise` needs one")
    return found


def changelog(review: Review, before: str, after: str) -> bytes:
    """Return the changelog of a new version as JSONL: a header with both set hashes, then every change."""
    head = {"format": "wardround.review/1", "from": before, "to": after, **review.as_json()}
    changes = head.pop("changes")
    return b"".join(orjson.dumps(line) + b"\n" for line in (head, *changes))
