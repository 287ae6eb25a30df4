"""Reads what an answer says about the state and the movement of measurements."""

from __future__ import annotations

from dataclasses import replace

from wardround.rubrics.rubric import Span

from .annotate import State
from .claims import Measured, StatusClaim, TrendClaim
from .cues import words
from .document import Ann, Document, Sentence
from .measure import Binder, ids_of
from .scope import Scopes

STATUSES = frozenset(
    (
        "high",
        "low",
        "normal",
        "rising",
        "falling",
        "stable",
        "positive",
        "negative",
        "undetectable",
        "labile",
        "better_high",
        "worse_high",
    )
)
MOVES = frozenset(("rising", "falling", "stable"))
ATTRIBUTIVE_GAP = words("status.attributive_gap")
PERSONAL = words("status.personal")
FLAT = 3
"""Percent by which a series may move and still count as stable."""


class StateReader:
    """Reads the states of one sentence."""

    def __init__(
        self, document: Document, number: int, sentence: Sentence, scopes: Scopes, carried: Ann | None
    ) -> None:
        self.document = document
        self.number = number
        self.sentence = sentence
        self.scopes = scopes
        self.carried = carried
        self.owners = [ann for ann in sentence.anns if Binder._owns(ann)]
        self.named = [ann for ann in self.owners if ann.layer == "concept"]

    def read(self) -> list[StatusClaim]:
        """Return the statuses the sentence states, in order."""
        claims = []
        for ann in self.sentence.anns:
            if ann.layer == "implied" and ann.value.concept and ann.value.status:
                claims.append(self._implied(ann))
            elif ann.layer == "state" and ann.kind in STATUSES and (owner := self._owner(ann)) is not None:
                claims.extend(self._collective(ann, owner))
                flags = self.scopes.flags(ann.start, ann.end)
                if self._negated_word(ann):
                    flags = replace(flags, negated=True)
                ids = ids_of(owner)
                claims.append(
                    StatusClaim(
                        ids[0], ids, ann.kind, flags, self.document.span(ann.start, ann.end), ann.start, self.number
                    )
                )
        return claims

    def _collective(self, ann: Ann, owner: Ann) -> list[StatusClaim]:
        """As in "K 4.2, sodium 139, both normal": the state is said of the measurements before as well."""
        tokens = self.document.tokens
        near = {tokens[i].key for i in range(max(self.sentence.start, ann.start - 2), ann.start + 1)}
        if not near & {"all", "both", "均", "皆", "都"}:
            return []
        others = [o for o in self.owners if o.end <= ann.start and o is not owner and o.layer == "concept"]
        if "both" in near:
            others = others[-1:]
        flags = self.scopes.flags(ann.start, ann.end)
        span = self.document.span(ann.start, ann.end)
        made = []
        for other in others:
            ids = ids_of(other)
            if not any(a.kind in STATUSES for a in self.sentence.within(other.end, owner.start, "state")):
                made.append(StatusClaim(ids[0], ids, ann.kind, flags, span, ann.start, self.number))
        return made

    def _implied(self, ann: Ann) -> StatusClaim:
        state: State = ann.value
        flags = self.scopes.flags(ann.start, ann.end)
        span = self.document.span(ann.start, ann.end)
        return StatusClaim(
            state.concept, (state.concept,), state.status, flags, span, ann.start, self.number, implied=True
        )

    def _negated_word(self, ann: Ann) -> bool:
        """As in "not high", "不高": the word itself is denied."""
        return any(
            mod.kind == "neg" and (mod.start, -mod.end) < (ann.start, -ann.end) and ann.start < mod.end
            for mod in self.scopes.mods
        )

    def _owner(self, ann: Ann) -> Ann | None:
        """Return the measurement a state word belongs to."""
        clause = self.document.clause
        tokens = self.document.tokens
        before = [o for o in self.owners if o.end <= ann.start]
        after = [o for o in self.named if o.start >= ann.end]
        following = after[0] if after else None
        same = [o for o in before if clause[o.start] == clause[ann.start]]
        if following is not None and clause[following.start] == clause[ann.start]:
            gap = [tokens[i].key for i in range(ann.end, following.start)]
            attributive = len(gap) <= 2 and all(key in ATTRIBUTIVE_GAP for key in gap)
            if attributive and (not same or self._own_state(same[-1], ann)):
                return following
            if not same and not before and len(gap) <= 4 and self._opens(ann):
                return following
        if same:
            return same[-1]
        if self._personal(ann):
            return None
        if before:
            return before[-1] if self._continues(before[-1], ann) else None
        if self.carried is not None and self._pronoun(ann):
            return self.carried
        return None

    def _own_state(self, owner: Ann, ann: Ann) -> bool:
        """Tell whether a measurement before already has its value or state ("K 5.6 with low albumin")."""
        return any(a.layer in ("quantity", "state") for a in self.sentence.within(owner.end, ann.start))

    def _opens(self, ann: Ann) -> bool:
        return ann.kind in ("rising", "falling")

    def _personal(self, ann: Ann) -> bool:
        """Tell whether the clause is about the patient as a whole."""
        clause = self.document.clause
        start = ann.start
        while start > self.sentence.start and clause[start - 1] == clause[ann.start]:
            start -= 1
        text = self.document.text(start, ann.start).lower()
        return any(
            word in text for word in ("病情", "生命体征", "hemodynamically", "haemodynamically", "clinically", "vitals")
        )

    def _continues(self, owner: Ann, ann: Ann) -> bool:
        """Tell whether a later clause still speaks of `owner`: nothing else is named in between."""
        for other in self.sentence.within(owner.end, ann.start, "concept"):
            if other is not owner and not other.value.measurable:
                return False
        return True

    def _pronoun(self, ann: Ann) -> bool:
        words = {self.document.tokens[i].key for i in range(self.sentence.start, ann.start)}
        return bool(words & {"it", "this", "that", "its", "该", "其", "这"}) or ann.start - self.sentence.start <= 1


def trends_of(document: Document, measured: list[Measured], statuses: list[StatusClaim]) -> list[TrendClaim]:
    """Return the movements: words, then series and then–now pairs of numbers."""
    trends: list[TrendClaim] = []
    used: set[tuple[int, str]] = set()
    for status in statuses:
        if status.status not in MOVES:
            continue
        ends = _ends(measured, status.concepts, status.sentence)
        start, end = ends if ends else (None, None)
        used.add((status.sentence, status.concept))
        trends.append(
            TrendClaim(
                status.concept,
                status.concepts,
                status.status,
                status.flags,
                start,
                end,
                _span(document, status, start, end),
                status.sentence,
            )
        )
    seen: set[tuple[int, str]] = set()
    for claim in measured:
        key = (claim.sentence, claim.concept)
        if key in seen or not claim.concepts:
            continue
        seen.add(key)
        ends = _ends(measured, claim.concepts, claim.sentence)
        if ends is None:
            continue
        moved = direction(*ends)
        words = {t.direction for t in trends if t.sentence == claim.sentence and t.concept == claim.concept}
        if moved and moved not in words:
            trends.append(
                TrendClaim(
                    claim.concept, claim.concepts, moved, ends[1].flags, *ends, _cover(document, *ends), claim.sentence
                )
            )
    return trends


def direction(start: Measured, end: Measured) -> str:
    """Return which way two values move."""
    first, last = start.values[0], end.values[0]
    if start.unit != end.unit:
        return ""
    if abs(last - first) * 100 <= abs(first) * FLAT:
        return "stable"
    return "rising" if last > first else "falling"


def _ends(measured: list[Measured], concepts: tuple[str, ...], sentence: int) -> tuple[Measured, Measured] | None:
    """Return (older, newer) where a sentence gives two values of a concept and says which is older."""
    values = [
        m
        for m in measured
        if m.sentence == sentence
        and set(m.concepts) & set(concepts)
        and m.role in ("measured", "negated")
        and m.shape == "one"
    ]
    if len(values) < 2:
        return None
    old = [m for m in values if m.old]
    new = [m for m in values if not m.old]
    if old and new:
        first = old[0] if old[0].token < new[-1].token else old[-1]
        return first, new[-1]
    return None


def _span(document: Document, status: StatusClaim, start: Measured | None, end: Measured | None) -> Span:
    if start is None or end is None:
        return status.span
    return _cover(document, start, end)


def _cover(document: Document, one: Measured, other: Measured) -> Span:
    start, end = min(one.span.start, other.span.start), max(one.span.end, other.span.end)
    return Span(start=start, end=end, text=document.normal.source[start:end])
