"""Which words link a claim with a reason, and the spans of both."""

from __future__ import annotations

from collections.abc import Iterator

from wardround.rubrics.reading import Reading
from wardround.rubrics.reading.cues import words
from wardround.rubrics.reading.document import Ann, Sentence

Spans = list[tuple[int, int]]
WRAPPED = words("because.wrapped")
NAMING = ("是", "为", "在于")
"""How Chinese links end that name the reason of the clause before ("元凶是")."""
CLOSING = words("because.closing")
"""Causing words that end a clause of which an opening word ("由") begins the cause."""
OPENING = words("because.opening")
WITH = words("because.with")
CONCERN = words("because.concern")
FRONTED = words("because.fronted")
TRAILING = words("because.trailing")
COPULAS = words("because.copulas")
TURN = words("because.turn")
ONLY_THEN = words("because.only_then")
NOT_BY = words("because.not_by")
DENYING = words("because.denying")
REJECTS = words("because.rejects")
SUBJECTS = words("because.subjects")
BACKWARD = words("because.backward")
"""Links that, at the end of a sentence, point to the sentence before."""
INSIDE = words("because.inside")
"""Links that may stand inside the claim."""
STATING = tuple(sorted(words("because.stating")))
"""How links end that state the reason of the sentence before ("The reason is")."""
REJECTING = words("because.rejecting")
"""Two words that open what a reason rejects."""
TURNED_DOWN = words("because.turned_down")
"""Two words that open, after a comma, what is not the reason."""
CORRECTING = words("because.correcting")
"""Two words that open the true cause after a rejected one."""


def links(reading: Reading) -> Iterator[tuple[Ann, Spans, Spans]]:
    """Yield each link with the token spans of what is claimed and of why."""
    document = reading.document
    for number, sentence in enumerate(document.sentences):
        scopes = reading.scopes[number]
        for ann in sentence.of("link"):
            correcting = ann.kind == "not" and document.tokens[ann.start].key in REJECTS
            if (ann.kind in ("not", "pseudo") and not correcting) or scopes.conditional(ann.start):
                continue
            if scopes.asks(ann.start):
                continue  # "您问布洛芬是否因肾病要停"
            if correcting or _denied(reading, sentence, ann):
                pair = _corrected(reading, sentence, ann)
            else:
                pair = _READERS[ann.kind](reading, number, sentence, ann)
            if pair is not None:
                claims, reasons = pair
                yield ann, claims, [_kept(reading, span) for span in reasons]
        if (pair := _after_colon(reading, number, sentence)) is not None:
            yield Ann(sentence.start, sentence.start + 1, "link", "because"), *pair
        if (pair := _opening_with(reading, sentence)) is not None:
            yield Ann(sentence.start, sentence.start + 1, "link", "because"), *pair


def _kept(reading: Reading, span: tuple[int, int]) -> tuple[int, int]:
    """Cut what a reason rejects ("due to heart failure rather than sertraline")."""
    start, end = span
    tokens = reading.document.tokens
    for at in range(start, end):
        two = f"{tokens[at].key} {tokens[at + 1].key}" if at + 1 < end else ""
        if two in REJECTING or (tokens[at].raw in ",，、" and at + 1 < end and tokens[at + 1].key == "not"):
            return start, at
        if tokens[at].raw in ",，、" and at + 2 < end and f"{tokens[at + 1].raw} {tokens[at + 2].raw}" in TURNED_DOWN:
            return start, at
    return start, end


def _corrected(reading: Reading, sentence: Sentence, ann: Ann) -> tuple[Spans, Spans] | None:
    """As in "not because of A; it is B", "不是A造成的，而是B": the cause that replaces a rejected one."""
    tokens = reading.document.tokens
    for at in range(min(ann.start, ann.end), sentence.end - 1):
        if f"{tokens[at].key} {tokens[at + 1].key}" in CORRECTING and at >= ann.start:
            begin = next(
                (i for i in range(sentence.start, ann.start) if tokens[i].key in DENYING and tokens[i].kind == "c"),
                ann.start,
            )
            return [(sentence.start, max(begin, sentence.start + 1))], [(at + 2, sentence.end)]
    return None


def _opening_with(reading: Reading, sentence: Sentence) -> tuple[Spans, Spans] | None:
    """As in "With trimethoprim on board, the hyperkalemia …", "Between A and B, the CT has to wait"."""
    if reading.document.tokens[sentence.start].key not in ("with", "between") or sentence.question:
        return None
    end = reading.document.clause_end(sentence, sentence.start)
    if end >= sentence.end:  # "With a haemoglobin of 6.4 I would transfuse."
        opening = Ann(sentence.start, sentence.start + 1, "link", "because")
        end = _advice_start(reading, sentence, opening) or _bare_act(reading, sentence) or end
    return ([(end, sentence.end)], [(sentence.start + 1, end)]) if end < sentence.end else None


def _after_colon(reading: Reading, number: int, sentence: Sentence) -> tuple[Spans, Spans] | None:
    """As in "Continue aspirin: the stent is three weeks old": what follows advice after a colon, no advice itself."""
    tokens = reading.document.tokens
    colon = next((i for i in range(sentence.start, sentence.end) if tokens[i].raw in ":："), None)
    if colon is None or sentence.question:
        return None
    acts = [a for a in reading.advice if a.sentence == number and a.advised and not a.implied]
    if not any(a.targets and max(a.token, a.end) < colon for a in acts) or any(a.token > colon for a in acts):
        return None
    end = next((i for i in range(colon, sentence.end) if tokens[i].raw in ";；"), sentence.end)
    doubted = any(m.kind in ("ask", "missing", "cond") for m in sentence.within(colon, end, "modifier"))
    linked = any(other.kind in ("because", "so") for other in sentence.within(colon, end, "link"))
    acting = any(a.kind in ("recheck", "order", "refer") for a in sentence.within(colon, end, "act"))
    return None if doubted or linked or acting else ([(sentence.start, colon)], [(colon + 1, end)])


def _accused(reading: Reading, number: int, sentence: Sentence, ann: Ann) -> tuple[Spans, Spans]:
    """As in "Stop ibuprofen: it has given him …": what "it" did is the reason for the act before."""
    return [(sentence.start, ann.start)], [(ann.end, sentence.end)]


def _effect_of(reading: Reading, number: int, sentence: Sentence, ann: Ann) -> tuple[Spans, Spans] | None:
    """As in "水肿是氨氯地平的副作用"."""
    tokens = reading.document.tokens
    turn = next((i for i in range(ann.start - 1, sentence.start, -1) if tokens[i].raw in COPULAS), None)
    return None if turn is None else ([(sentence.start, turn)], [(turn + 1, ann.start)])


def _induced(reading: Reading, number: int, sentence: Sentence, ann: Ann) -> tuple[Spans, Spans] | None:
    """As in "heparin-induced thrombocytopenia", "the thrombocytopenia is heparin-induced"."""
    document = reading.document
    end = document.clause_end(sentence, ann.start)
    if any(True for _ in sentence.within(ann.end, end, "concept")):
        return [(ann.end, sentence.end)], [(document.clause_start(sentence, ann.start), ann.start)]
    turn = next((i for i in range(ann.start - 1, sentence.start, -1) if document.tokens[i].key in COPULAS), None)
    return None if turn is None else ([(sentence.start, turn)], [(turn + 1, ann.start)])


def _swap(reading: Reading, number: int, sentence: Sentence, ann: Ann) -> tuple[Spans, Spans] | None:
    """As in "I blame sertraline for the hyponatremia": the reason first, the claim after "for"."""
    tokens = reading.document.tokens
    turn = next((i for i in range(ann.end, sentence.end) if tokens[i].key == "for"), None)
    if turn is None and number and ann.start == sentence.start:
        return _previous(reading, number), [(ann.end, sentence.end)]  # "His tremor? Blame the salbutamol."
    return None if turn is None else ([(turn + 1, sentence.end)], [(ann.end, turn)])


def _cause_of(reading: Reading, number: int, sentence: Sentence, ann: Ann) -> tuple[Spans, Spans] | None:
    """As in "the culprit for A is B", "B is the cause of A"; "B是A的原因"."""
    tokens = reading.document.tokens
    if tokens[ann.start].kind == "c":
        if ann.end < sentence.end and (tokens[ann.end].raw in COPULAS or tokens[ann.end].raw in "：:"):
            return [(sentence.start, ann.start)], [(ann.end + 1, sentence.end)]
        turn = next((i for i in range(ann.start - 1, sentence.start, -1) if tokens[i].raw in COPULAS), None)
        return None if turn is None else ([(turn + 1, ann.start)], [(sentence.start, turn)])
    before = [tokens[i].key for i in range(max(sentence.start, ann.start - 5), ann.start)]
    if set(before) & COPULAS:
        return [(ann.end, sentence.end)], [(sentence.start, ann.start)]
    turn = next(
        (i for i in range(ann.end, sentence.end) if tokens[i].key in COPULAS - {"as"} or tokens[i].raw == ":"), None
    )
    return None if turn is None else ([(ann.end, turn)], [(turn + 1, sentence.end)])


def _denied(reading: Reading, sentence: Sentence, ann: Ann) -> bool:
    tokens = reading.document.tokens
    before = [tokens[i].key for i in range(max(sentence.start, ann.start - 2), ann.start)]
    wrapped = any(word in reading.document.text(ann.start, ann.end) for word in WRAPPED)
    if wrapped and any(
        f"{tokens[i].key} {tokens[i + 1].key}" in NOT_BY
        for i in range(max(sentence.start, ann.start - 10), ann.start - 1)
    ):
        return True
    if tokens[ann.start].raw in ONLY_THEN:  # "不是因为A才停B"
        return any(
            f"{tokens[i].raw} {tokens[i + 1].raw}" in TURNED_DOWN
            for i in range(sentence.start, max(sentence.start, ann.start - 1))
        )
    if any(key in DENYING for key in before):
        return not TURN & set(before)
    return any(other.kind == "not" and other.start <= ann.start < other.end for other in sentence.of("link"))


def _previous(reading: Reading, number: int) -> Spans:
    if number == 0:
        return []
    before = reading.document.sentences[number - 1]
    return [(before.start, before.end)]


def _because(reading: Reading, number: int, sentence: Sentence, ann: Ann) -> tuple[Spans, Spans] | None:
    tokens = reading.document.tokens
    start = reading.document.clause_start(sentence, ann.start)
    if tokens[ann.start].raw in FRONTED and any(
        reading.document.text(other.start, other.end) in CLOSING and _closes(reading, sentence, other, start)
        for other in sentence.within(ann.end, reading.document.clause_end(sentence, ann.start), "link")
    ):
        return None  # "由呕吐引起": the causing word at the end reads both
    if ann.start == sentence.start and reading.document.text(ann.start, ann.end).lower().endswith(STATING):
        # "The reason is X, which …"
        return _previous(reading, number), [(ann.end, _reason_end(reading, sentence, ann))]
    opening = ann.start == start or (
        ann.start - start <= 2 and tokens[ann.start].kind == "c" and start == sentence.start
    )
    if opening and reading.document.text(ann.start, ann.end).lower() not in TRAILING:
        end = reading.document.clause_end(sentence, ann.start)
        turn = next((i for i in range(ann.end, end) if tokens[i].raw in TURN), None)
        if turn is not None:
            return [(turn + 1, sentence.end)], [(ann.end, turn)]
        if not _follows_claim(reading, sentence, ann):
            turn = _advice_start(reading, sentence, ann)
            if turn is not None and (turn > end or end >= sentence.end or tokens[ann.start].kind == "c"):
                return [(turn, sentence.end)], [(ann.end, turn)]
            if end < sentence.end:
                return [(end, sentence.end)], [(ann.end, end)]
    reasons = (ann.end, _reason_end(reading, sentence, ann))
    turn = next((i for i in range(ann.end, reasons[1]) if tokens[i].raw in TURN), None)
    if turn is not None and tokens[ann.start].raw in FRONTED:
        return [(turn + 1, sentence.end)], [(ann.end, turn)]
    after = [(reasons[1], sentence.end)] if tokens[ann.start].raw in FRONTED else []
    if (
        after
        and ann.start - start <= 8
        and not any(a.layer == "act" for a in sentence.within(sentence.start, ann.start))
    ):
        return [(sentence.start, ann.start), (ann.end, sentence.end)], [(ann.end, sentence.end)]
    claims = [(_claim_start(reading, sentence, ann), ann.start)]
    if ann.start == sentence.start:
        claims = _previous(reading, number)
    return claims, [reasons]


def _advice_start(reading: Reading, sentence: Sentence, ann: Ann) -> int | None:
    """Return where the advice after an opening reason begins, its subject included ("… I would stop")."""
    document = reading.document
    number = document.number_of(sentence.start)
    acts = [a for a in reading.advice if a.sentence == number and a.token >= ann.end and a.targets and a.advised]
    if not acts:
        return None
    clause = document.clause
    verbs = {cue.start for cue in sentence.of("act")}
    starts = [a.token if a.token in verbs or clause[a.end] != clause[a.token] else a.end for a in acts]
    at = min(
        min(start, a.end) if clause[a.end] == clause[start] else start for start, a in zip(starts, acts, strict=True)
    )
    start = reading.document.clause_start(sentence, at)
    if start > ann.end:
        return start
    while at > ann.end + 1 and document.tokens[at - 1].key in SUBJECTS:
        at -= 1
    return at


def _bare_act(reading: Reading, sentence: Sentence) -> int | None:
    """Return where advice without a named target begins ("I would transfuse"), its subject included."""
    tokens = reading.document.tokens
    act = next((a for a in sentence.of("act") if a.kind != "none" and a.start > sentence.start + 2), None)
    if act is None:
        return None
    at = act.start
    while at > sentence.start + 2 and tokens[at - 1].key in SUBJECTS:
        at -= 1
    return at if at < act.start else None


def _follows_claim(reading: Reading, sentence: Sentence, ann: Ann) -> bool:
    """As in "Avoid NSAIDs, as they …": the clause before is the claim."""
    tokens = reading.document.tokens
    begin = next((i + 1 for i in range(ann.start - 1, sentence.start, -1) if tokens[i].raw in ";；"), sentence.start)
    text = reading.document.text(ann.start, ann.end)
    if ann.start > begin and (tokens[ann.start].raw == "是" or (len(text) > 2 and text.endswith(NAMING))):
        return True  # "之所以让她禁食，是因为 …", whatever words the claim has
    return ann.start > begin and any(a.layer in ("act", "concept") for a in sentence.within(begin, ann.start))


def _reason_end(reading: Reading, sentence: Sentence, ann: Ann) -> int:
    """The reason ends at the next link, or where a later clause advises something."""
    clause = reading.document.clause
    limit = sentence.end
    for other in sentence.of("link"):
        new = other.kind != "so" or clause[other.start - 1] != clause[other.start]
        if other.start >= ann.end and other.kind in ("because", "so", "not") and new:
            limit = other.start
            break
    tokens = reading.document.tokens
    limit = next((i for i in range(ann.end, limit) if tokens[i].raw in ";；"), limit)
    for other in sentence.within(ann.end, limit, "link"):
        start = reading.document.clause_start(sentence, other.start)
        named = any(True for a in sentence.within(start, other.start, "concept") if a.start == start)
        if start > ann.end and named and reading.document.text(other.start, other.end) in WRAPPED:
            return start  # "为了粒缺，发热是输血引起的": another matter with its own cause
    for act in sentence.within(ann.end, limit, "act"):
        if clause[act.start] != clause[ann.end - 1] and act.kind != "none":
            start = reading.document.clause_start(sentence, act.start)
            return max(start, ann.end + 1) if start > ann.end else limit
    return limit


def _claim_start(reading: Reading, sentence: Sentence, ann: Ann) -> int:
    """The claim begins after the previous link of the sentence, or after the colon between two acts of advice."""
    tokens = reading.document.tokens
    colon = next((i for i in range(sentence.start, ann.start) if tokens[i].raw in ":："), sentence.start)
    acts = [a.start for a in sentence.of("act") if a.kind != "none" and a.start < ann.start]
    start = colon + 1 if acts and acts[0] < colon < acts[-1] else sentence.start
    for other in sentence.of("link"):
        if other.end <= ann.start and other.kind == "because":
            start = other.end
    return start


def _attributive(reading: Reading, sentence: Sentence, ann: Ann) -> bool:
    """As in "舍曲林相关的低钠血症": the claim follows in the same clause."""
    document = reading.document
    joined = ann.end < sentence.end and document.tokens[ann.end].raw == "的"
    joined = joined or document.text(ann.start, ann.end).endswith("的")
    joined = joined and ann.end < sentence.end and document.tokens[ann.end].kind != "p"
    return joined and ann.end + 1 < sentence.end and document.clause[ann.end] == document.clause[ann.start]


def _so(reading: Reading, number: int, sentence: Sentence, ann: Ann) -> tuple[Spans, Spans] | None:
    document = reading.document
    text = document.text(ann.start, ann.end)
    if text.lower() in BACKWARD and ann.start > sentence.start + 1 and _ends(reading, sentence, ann):
        return [(sentence.start, ann.start)], _previous(reading, number)  # "Stop metformin for that reason."
    start = reading.document.clause_start(sentence, ann.start)
    if text[0] in WITH and text[-1] in CONCERN and ann.end - ann.start > 3:
        return [(sentence.start, ann.start)], [(ann.start + 1, ann.end - 2)]
    if any(word in text for word in WRAPPED) or (text in CLOSING and _closes(reading, sentence, ann, start)):
        if _attributive(reading, sentence, ann):
            return [(ann.end, sentence.end)], [(sentence.start, ann.start)]
        begin = next((i for i in range(ann.start - 1, sentence.start, -1) if document.tokens[i].raw in OPENING), start)
        return [(sentence.start, begin), *_previous_if(reading, number, begin, sentence)], [(begin, ann.start)]
    claims = [(ann.end, _claim_end(reading, sentence, ann))]
    if text.lower() in INSIDE and ann.start > start and document.tokens[ann.start - 1].kind == "w":
        before = [(sentence.start, start)] if start > sentence.start else _previous(reading, number)
        if before and document.tokens[ann.start - 1].key != "and":
            return [(start, ann.start), *claims], before  # "Amlodipine should therefore be stopped."
    if start > sentence.start and document.tokens[ann.start].kind == "c" and ann.start > start:
        return [(start, ann.start), *claims], [(sentence.start, start), *_previous(reading, number)]
    reasons = [(sentence.start, ann.start)]
    if ann.start - sentence.start <= 1 or (document.tokens[ann.start].kind == "c" and start == sentence.start):
        reasons += _previous(reading, number)
        if ann.start > start:
            claims.append((start, ann.start))
    return claims, reasons


def _claim_end(reading: Reading, sentence: Sentence, ann: Ann) -> int:
    """A claim ends at a semicolon where what follows has a reason of its own ("A，所以B；C则是因为D")."""
    tokens = reading.document.tokens
    stop = next((i for i in range(ann.end, sentence.end) if tokens[i].raw in ";；"), sentence.end)
    own = any(True for other in sentence.within(stop, sentence.end, "link") if other.kind in ("because", "so"))
    return stop if own else sentence.end


def _ends(reading: Reading, sentence: Sentence, ann: Ann) -> bool:
    """Tell whether nothing but marks follows a link in its sentence."""
    return all(reading.document.tokens[i].kind == "p" for i in range(ann.end, sentence.end))


def _closes(reading: Reading, sentence: Sentence, ann: Ann, start: int) -> bool:
    """Tell whether a causing word ends its clause after a word that opens the cause ("谵妄由尿潴留引起")."""
    tokens = reading.document.tokens
    end = max(ann.end, reading.document.clause_end(sentence, ann.start))
    ends = all(tokens[i].kind == "p" or tokens[i].raw in "的了" for i in range(ann.end, end))
    return ends and any(tokens[i].raw in OPENING for i in range(start, ann.start))


def _put_down(reading: Reading, number: int, sentence: Sentence, ann: Ann) -> tuple[Spans, Spans]:
    """As in "I put the falls down to hyponatremia": the claim stands inside the words."""
    return [(ann.start, ann.end)], [(ann.end, sentence.end)]


def _previous_if(reading: Reading, number: int, begin: int, sentence: Sentence) -> Spans:
    return _previous(reading, number) if begin - sentence.start <= 1 else []


_READERS = {
    "because": _because,
    "so": _so,
    "swap": _swap,
    "effect_of": _effect_of,
    "accused": _accused,
    "cause_of": _cause_of,
    "put_down": _put_down,
    "induced": _induced,
}
