"""`because`: the answer gives that reason for that claim."""

from __future__ import annotations

from collections.abc import Iterator

from wardround.rubrics.reading import Reading
from wardround.rubrics.reading.cues import words
from wardround.rubrics.reading.document import Ann, Sentence
from wardround.rubrics.rubric import BecauseCheck, Verdict

from .context import CheckContext
from .matching import unread, verdict
from .phrases import found, parse

Spans = list[tuple[int, int]]
WRAPPED = words("because.wrapped")


def judge(check: BecauseCheck, reading: Reading, context: CheckContext) -> Verdict:
    """Pass where one link joins the claim and the whole reason."""
    if (bad := unread(reading, context)) is not None:
        return bad
    claim, reason = parse(check.claim), parse(check.reason)
    near: tuple[int, int] | None = None
    for link, claims, reasons in links(reading):
        if found(claim, reading, claims):
            near = near or (link.start, link.end)
            if found(reason, reading, reasons, loose=True):
                whole = reasons + claims
                span = reading.document.span(min(s for s, _ in whole), max(e for _, e in whole))
                return verdict(context, True, f"gives `{check.reason}` as the reason for `{check.claim}`", (span,))
    if near is not None:
        return verdict(
            context,
            False,
            f"gives another reason than `{check.reason}` for `{check.claim}`",
            (reading.document.span(*near),),
        )
    return verdict(context, False, f"gives no reason for `{check.claim}`")


def links(reading: Reading) -> Iterator[tuple[Ann, Spans, Spans]]:
    """Yield each link with the token spans of what is claimed and of why."""
    document = reading.document
    for number, sentence in enumerate(document.sentences):
        scopes = reading.scopes[number]
        for ann in sentence.of("link"):
            if ann.kind in ("not", "pseudo") or _denied(reading, sentence, ann) or scopes.conditional(ann.start):
                continue
            pair = (
                _because(reading, number, sentence, ann)
                if ann.kind == "because"
                else _so(reading, number, sentence, ann)
            )
            if pair is not None:
                yield ann, *pair


def _denied(reading: Reading, sentence: Sentence, ann: Ann) -> bool:
    tokens = reading.document.tokens
    before = [tokens[i].key for i in range(max(sentence.start, ann.start - 2), ann.start)]
    if any(key in ("not", "n't", "isn't", "不", "非", "无", "未") for key in before):
        return "而" not in before
    return any(other.kind == "not" and other.start <= ann.start < other.end for other in sentence.of("link"))


def _clause_start(reading: Reading, sentence: Sentence, at: int) -> int:
    clause = reading.document.clause
    while at > sentence.start and clause[at - 1] == clause[at]:
        at -= 1
    return at


def _clause_end(reading: Reading, sentence: Sentence, at: int) -> int:
    """Return the end of the clause and of what a list adds to it."""
    clause = reading.document.clause
    end = at
    while end < sentence.end and clause[end] == clause[at]:
        end += 1
    return end


def _previous(reading: Reading, number: int) -> Spans:
    if number == 0:
        return []
    before = reading.document.sentences[number - 1]
    return [(before.start, before.end)]


def _next_link(sentence: Sentence, ann: Ann) -> int:
    for other in sentence.of("link"):
        if other.start >= ann.end and other.kind in ("because", "so", "not"):
            return other.start
    return sentence.end


def _because(reading: Reading, number: int, sentence: Sentence, ann: Ann) -> tuple[Spans, Spans] | None:
    tokens = reading.document.tokens
    start = _clause_start(reading, sentence, ann.start)
    opening = ann.start == start or (
        ann.start - start <= 2 and tokens[ann.start].kind == "c" and start == sentence.start
    )
    if opening and tokens[ann.start].key not in ("for", "from", "为", "系"):
        end = _clause_end(reading, sentence, ann.start)
        turn = next((i for i in range(ann.end, end) if tokens[i].raw == "而" and tokens[i].kind == "c"), None)
        if turn is not None:
            return [(turn + 1, sentence.end)], [(ann.end, turn)]
        if end < sentence.end and not _follows_claim(reading, sentence, ann):
            return [(end, sentence.end)], [(ann.end, end)]
    reasons = (ann.end, _reason_end(reading, sentence, ann))
    turn = next((i for i in range(ann.end, reasons[1]) if tokens[i].raw == "而" and tokens[i].kind == "c"), None)
    if turn is not None and tokens[ann.start].raw in "因由":
        return [(turn + 1, sentence.end)], [(ann.end, turn)]
    after = [(reasons[1], sentence.end)] if tokens[ann.start].kind == "c" and tokens[ann.start].raw in "因由" else []
    if (
        after
        and ann.start - start <= 8
        and not any(a.layer == "act" for a in sentence.within(sentence.start, ann.start))
    ):
        return [(sentence.start, ann.start), (ann.end, sentence.end)], [(ann.end, sentence.end)]
    claims = [(_claim_start(sentence, ann), ann.start)]
    if ann.start == sentence.start:
        claims = _previous(reading, number)
    return claims, [reasons]


def _follows_claim(reading: Reading, sentence: Sentence, ann: Ann) -> bool:
    """As in "Avoid NSAIDs, as they …": the clause before is the claim."""
    return ann.start > sentence.start and any(
        a.layer in ("act", "concept") for a in sentence.within(sentence.start, ann.start)
    )


def _reason_end(reading: Reading, sentence: Sentence, ann: Ann) -> int:
    """The reason ends at the next link, or where a later clause advises something."""
    clause = reading.document.clause
    limit = _next_link(sentence, ann)
    for act in sentence.within(ann.end, limit, "act"):
        if clause[act.start] != clause[ann.end - 1] and act.kind != "none":
            start = _clause_start(reading, sentence, act.start)
            return max(start, ann.end + 1) if start > ann.end else limit
    return limit


def _claim_start(sentence: Sentence, ann: Ann) -> int:
    """The claim begins after the previous link of the sentence."""
    start = sentence.start
    for other in sentence.of("link"):
        if other.end <= ann.start and other.kind == "because":
            start = other.end
    return start


def _so(reading: Reading, number: int, sentence: Sentence, ann: Ann) -> tuple[Spans, Spans] | None:
    document = reading.document
    text = document.text(ann.start, ann.end)
    start = _clause_start(reading, sentence, ann.start)
    if any(word in text for word in WRAPPED):
        begin = next(
            (i for i in range(ann.start - 1, sentence.start, -1) if document.tokens[i].raw in "与和由因"), start
        )
        return [(sentence.start, begin), *_previous_if(reading, number, begin, sentence)], [(begin, ann.start)]
    claims = [(ann.end, sentence.end)]
    if start > sentence.start and document.tokens[ann.start].kind == "c" and ann.start > start:
        return [(start, ann.start), *claims], [(sentence.start, start), *_previous(reading, number)]
    reasons = [(sentence.start, ann.start)]
    if ann.start - sentence.start <= 1 or (document.tokens[ann.start].kind == "c" and start == sentence.start):
        reasons += _previous(reading, number)
        if ann.start > start:
            claims.append((start, ann.start))
    return claims, reasons


def _previous_if(reading: Reading, number: int, begin: int, sentence: Sentence) -> Spans:
    return _previous(reading, number) if begin - sentence.start <= 1 else []
