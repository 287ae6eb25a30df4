"""Reads a row of a table: the first cell names the concept, column heads say what the others are."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from wardround.patients import knowledge

from .claims import Measured, StatusClaim
from .cues import load_json
from .document import Ann, Document, Sentence
from .measure import Binder, fits, ids_of
from .quantities import find_unit
from .scope import Scopes
from .status import STATUSES
from .vertical import column_owner, labelled


def read_row(
    document: Document, number: int, sentence: Sentence, scopes: Scopes, carried: Ann | None = None
) -> tuple[list[Measured], list[StatusClaim]]:
    """Return the numbers and the states of one table row; `carried` is the measurement named before the table."""
    owner = next((ann for ann in sentence.anns if Binder._owns(ann)), None)
    binder = Binder(document, number, sentence, scopes)
    values = []
    for plain in binder.quantities:
        head = _head(sentence, plain)
        column = column_owner(plain, head, carried) if owner is None else None
        ann = _with_unit(plain, head, sentence, owner or column)
        if column is not None:
            down = binder._claim(ann, ann.value, column)
            if down is not None:
                values.append(labelled(document, sentence, down))
            continue
        first = ann.start < sentence.row[0][2] if sentence.row else False
        claim = (
            binder._claim(ann, ann.value, owner)
            if owner is None or not any(o is not owner and o.end <= ann.start for o in binder.owners)
            else binder._claim(ann, ann.value, binder.owners[-1])
        )
        if claim is None:
            continue
        kind = _column(head)
        if kind in ("reference", "criterion"):
            claim = replace(claim, role="reference" if kind == "reference" else "bound")
        elif claim.shape == "range" and kind != "value":
            claim = replace(claim, role="reference")
        elif first and claim.role == "measured":
            claim = replace(claim, role="bound")
        values.append(claim)
    measured = [index for index, claim in enumerate(values) if claim.role == "measured"]
    if len(measured) > 1 and owner is not None:  # columns are dates
        for index in measured[:-1]:
            values[index] = replace(values[index], old=True, series=values[measured[0]].token)
        values[measured[-1]] = replace(values[measured[-1]], series=values[measured[0]].token)
    return values, _states(document, number, sentence, scopes, owner)


def _states(
    document: Document, number: int, sentence: Sentence, scopes: Scopes, owner: Ann | None
) -> list[StatusClaim]:
    """Return the states that a row's cells call its concept."""
    states: list[StatusClaim] = []
    if owner is not None:
        ids = ids_of(owner)
        for ann in sentence.anns:
            if (
                ann.layer == "state"
                and ann.kind in STATUSES
                and ann.start >= owner.end
                and _column(_head(sentence, ann)) not in ("reference", "criterion")
            ):
                states.append(
                    StatusClaim(
                        ids[0],
                        ids,
                        ann.kind,
                        scopes.flags(ann.start, ann.end),
                        document.span(ann.start, ann.end),
                        ann.start,
                        number,
                    )
                )
    return states


def _with_unit(ann: Ann, head: str, sentence: Sentence, owner: Ann | None) -> Ann:
    """Give a bare number the unit of its column head, or of the first one ("| Test (mg/dL) | Result |")."""
    if ann.value.unit is not None or owner is None:
        return ann
    for text in (head, sentence.row[0][0] if sentence.row else ""):
        unit = head_unit(text)
        if unit is not None and any(fits(one, unit.ucum) for one in ids_of(owner)):
            return replace(ann, value=replace(ann.value, unit=unit.ucum, dimension=unit.dimension))
    return ann


@lru_cache(maxsize=1024)
def head_unit(head: str) -> knowledge.Unit | None:
    """Return the unit that a column head gives in brackets or after a comma, or None."""
    for opening, closing in (("(", ")"), ("（", "）"), ("[", "]"), (",", ""), ("，", "")):
        if opening in head:
            inner = head.split(opening, 1)[1]
            inner = (inner.split(closing, 1)[0] if closing and closing in inner else inner).strip()
            if inner and (found := find_unit(inner)) is not None:
                return found  # type: ignore[no-any-return]
    return None


def _head(sentence: Sentence, ann: Ann) -> str:
    return next((head for head, start, end in sentence.row if start <= ann.start < end), "")


def _column(head: str) -> str:
    """Return what a column holds: value, reference, criterion, flag, verdict or ""."""
    for kind, words in load_columns().items():
        if any(word in head for word in words):
            return kind
    return ""


def load_columns() -> dict[str, tuple[str, ...]]:
    """Return the column words of `data/columns.json`."""
    global _columns
    if _columns is None:
        content = load_json("columns.json")
        _columns = {kind: tuple(words) for kind, words in content["columns"].items()}
    return _columns


_columns: dict[str, tuple[str, ...]] | None = None
