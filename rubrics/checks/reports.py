"""`reports`: the answer conveys it as what the patient said, with the patient's reason if asked."""

from __future__ import annotations

import re

from wardround.rubrics.reading import MentionClaim, Reading
from wardround.rubrics.reading.cues import longest_first, words
from wardround.rubrics.reading.document import CONTRAST, Ann, Sentence, turns
from wardround.rubrics.reading.named import DRUGS
from wardround.rubrics.rubric import ReportsCheck, Verdict

from .context import CheckContext
from .free import word_places
from .matching import alike, is_a, unread, verdict, words_of
from .phrases import Phrase, found, parse, words_found

Spans = list[tuple[int, int]]
GUESSES = tuple(sorted(words("reports.guesses")))
GENERAL_TAILS = tuple(sorted(words("reports.general_tails")))
REFUSALS = words("reports.refusals")
REFUSING = tuple(sorted(words("reports.refusing")))
CONCEDING = words("reports.conceding")
SAID = {"stop": ("stop", "lack"), "miss": ("miss", "lack"), "lack": ("lack",), "want": ("want",), "fear": ("fear",)}
"""Events of a check's phrase and those that say as much: who ran out of a drug missed it, and does not take it."""
DENIABLE = frozenset(("stop", "miss", "lack"))
MARKING = frozenset(("stop", "miss", "lack", "take"))
EVENTS = words("reports.event_findings")
"""Findings that are what an event tells ("stopped taking it")."""
NEVER = words("advice.never")
JOINTS = longest_first("reports.joints")
"""What stands between the two parts of a reason."""
ANAPHORS = words("reports.anaphors")
QUOTES = "\"'”“"
BREATH = 6
"""Tokens within which a statement and its denial cancel each other."""


def judge(check: ReportsCheck, reading: Reading, context: CheckContext) -> Verdict:
    """Pass where the patient's own words, as the answer gives them, hold the concept (and the reason)."""
    if (bad := unread(reading, context)) is not None:
        return bad
    regions = patient_regions(reading)
    if not regions:
        return verdict(context, False, "nothing is given as the patient's words")
    concept = parse(check.concept)
    reasons = [parse(part) for part in parts(check.reason)] if check.reason else []
    told: Spans = []
    for spans in regions:
        if not _told(concept, reading, spans, check.polarity) and not _in_words(check, concept, reading, spans):
            continue
        told = told or spans
        own = _without_guess(reading, spans)
        if all(_reason(concept, reason, reading, own) for reason in reasons):
            span = reading.document.span(spans[0][0], spans[-1][1])
            return verdict(context, True, f"`{check.concept}` is given as the patient's words", (span,))
    if told:
        span = reading.document.span(told[0][0], told[-1][1])
        return verdict(
            context, False, f"the patient's reason `{check.reason}` for `{check.concept}` is missing", (span,)
        )
    return verdict(context, False, f"`{check.concept}` is not given as the patient's words")


def _in_words(check: ReportsCheck, concept: Phrase, reading: Reading, spans: Spans) -> bool:
    """Tell whether the concept's own words stand in the patient's account though the name is put otherwise."""
    if concept.events or check.polarity == "absent" or len(words_of(check.concept)) < 2:
        return False
    return any(
        start <= first and last <= end and not reading.scopes[number].flags(first, last).negated
        for number, first, last in word_places(check.concept, reading)
        for start, end in spans
    )


def _without_guess(reading: Reading, spans: Spans) -> Spans:
    """Cut each span where the answer begins to guess ("估计是 …", "probably because …")."""
    document = reading.document
    cut = []
    for start, end in spans:
        text = document.text(start, end).lower()
        places = [at for word in GUESSES if (at := text.find(word)) >= 0]
        if places:
            offset = document.tokens[start].start + min(places)
            end = max(start + 1, min(end, document.token_at(offset)))
        cut.append((start, _before_general(reading, start, end)))
    return cut


def _before_general(reading: Reading, start: int, end: int) -> int:
    """As in "she stopped it; cough is a common reason": a clause that speaks in general ends the patient's account."""
    document = reading.document
    text = document.text(start, end).lower()
    places = [at for word in GENERAL_TAILS if (at := text.find(word)) >= 0]
    if not places:
        return end
    token = document.token_at(document.tokens[start].start + min(places))
    return max(start + 1, document.clause_start(document.sentence_of(token), token))


def parts(reason: str) -> list[str]:
    """Split a two-part reason ("cost and nosebleeds")."""
    for joint in JOINTS:
        if joint in reason:
            return [part.strip() for part in reason.split(joint) if part.strip()]
    return [reason]


def patient_regions(reading: Reading) -> list[Spans]:
    """Return the token spans that the answer gives as the patient's own words, one list a statement."""
    document = reading.document
    regions: list[Spans] = []
    open_region: Spans | None = None
    quoted = False
    for number, sentence in enumerate(document.sentences):
        sources = list(sentence.of("source"))
        mine = [s for s in sources if s.kind == "patient"]
        if quoted and open_region is not None:
            open_region.append((sentence.start, sentence.end))
            quoted = not _odd_quotes(reading, sentence)
            continue
        if sentence.question and not (mine and _odd_quotes(reading, sentence)):
            open_region = None
            continue
        if mine:
            spans = _region(reading, sentence, sources, mine)
            if number and _only_attributes(reading, sentence, mine):
                before = document.sentences[number - 1]
                spans.insert(0, (before.start, before.end))
            regions.append(spans)
            open_region = spans
            quoted = _odd_quotes(reading, sentence)
            continue
        if open_region is not None and not sources and _goes_on(reading, number, sentence):
            open_region.append((sentence.start, sentence.end))
        else:
            open_region = None
    return regions


def _odd_quotes(reading: Reading, sentence: Sentence) -> bool:
    """Tell whether a sentence opens a quotation that it does not close, or closes one that it did not open."""
    marks = [t for t in reading.document.tokens[sentence.start : sentence.end] if t.raw == '"']
    return len(marks) % 2 == 1


def _only_attributes(reading: Reading, sentence: Sentence, mine: list[Ann]) -> bool:
    """Tell whether a sentence says no more than whose words the quotation before it is."""
    tokens = reading.document.tokens
    rest = [t for t in tokens[sentence.start : sentence.end] if t.kind in "wcn"]
    covered = sum(ann.end - ann.start for ann in mine)
    quoted = sentence.start > 0 and any(
        t.raw in QUOTES for t in tokens[max(0, sentence.start - 2) : sentence.start + 1]
    )
    return quoted and len(rest) - covered <= 4


def _region(reading: Reading, sentence: Sentence, sources: list[Ann], mine: list[Ann]) -> Spans:
    """From the attribution to the next other source or to the recommendation; back to the start where it trails."""
    first = mine[0]
    # what a doctor told the patient is still the patient's account
    others = [s for s in sources if s.kind not in ("patient", "adviser") and s.start >= first.end]
    end = min([s.start for s in others] + [sentence.end])
    clause = reading.document.clause
    for act in reading.advice:
        if act.advised and first.end <= act.token < end and clause[act.token] != clause[first.end - 1]:
            while act.token > sentence.start and clause[end - 1] >= clause[act.token] and end > first.end:
                end -= 1
            break
    earlier = [s for s in sources if s.kind != "patient" and s.end <= first.start]
    start = sentence.start if not earlier and not _conceded(reading, sentence, first) else first.start
    return [(start, end)]


def _conceded(reading: Reading, sentence: Sentence, source: Ann) -> bool:
    """As in "he must have missed some, although he swears he didn't": what stands before is not the patient's."""
    tokens = reading.document.tokens
    before = range(max(sentence.start, source.start - 2), source.start)
    return any(tokens[i].key in CONTRAST or tokens[i].raw in CONCEDING for i in before)


def _goes_on(reading: Reading, number: int, sentence: Sentence) -> bool:
    """Tell whether a sentence without a source continues the patient's words."""
    tokens = reading.document.tokens
    first = tokens[sentence.start]
    if any(a.sentence == number and a.advised for a in reading.advice):
        return False
    return first.key in ("he", "she", "they") or first.raw in "\"'"


def _keeps(concept: Phrase, reading: Reading, spans: Spans) -> bool:
    """As in "I don't skip the atorvastatin", "no problem with the sertraline, I take it": what is said of taking."""
    wanted = tuple(one for ids in concept.names for one in ids)
    tokens = reading.document.tokens
    for start, end in spans:
        for ann in reading.document.sentence_of(start).within(start, end, "event", "take"):
            it = ann.end < end and tokens[ann.end].key in ANAPHORS and not _denied(reading, ann)
            if it and wanted and is_a(_governed(reading, ann, start, end), wanted):
                return True
        for ann in reading.document.sentence_of(start).within(start, end, "event", "miss"):
            if _denied(reading, ann) and wanted and is_a(_governed(reading, ann, start, end), wanted):
                return True
    return False


def _told(concept: Phrase, reading: Reading, spans: Spans, polarity: str) -> bool:
    if concept.events == {"take"} and polarity == "present" and _keeps(concept, reading, spans):
        return True
    if not _core(concept, reading, spans, polarity):
        return False
    for event in sorted(concept.events & set(SAID)):
        if not _event(event, concept, reading, spans, denied=polarity == "absent"):
            return False
    if "take" in concept.events and not concept.events & {"stop", "miss", "lack"}:
        if any(
            ann.kind == "never"
            for start, end in spans
            for ann in reading.document.sentence_of(start).within(start, end, "event")
        ):
            return polarity == "absent"  # "was told to take aspirin but never bought any"
        return polarity == "absent" or not _stopped_only(concept, reading, spans)
    return True


def _core(concept: Phrase, reading: Reading, spans: Spans, polarity: str) -> bool:
    """The names and words of the concept, with the asked polarity."""
    for ids in concept.names:
        if ids[0] in EVENTS and concept.events & DENIABLE and len(concept.names) > 1:
            continue  # "自行停用泼尼松": the event says it in any wording
        wanted = alike(ids)
        hits = [
            n
            for n in reading.names
            if any(s <= n.token < e for s, e in spans) and (is_a(n.concepts, wanted) or is_a(wanted, n.concepts))
        ]
        if polarity == "absent" and not concept.events & DENIABLE:
            refused = _refused(reading, spans)
            hits = [n for n in hits if n.flags.negated or n.polarity == "absent" or refused]
        elif not concept.negated and not concept.events & {"stop", "miss", "lack"}:
            hits = [n for n in hits if n.polarity == "present" or not (n.flags.negated or n.polarity == "absent")]
        if not hits and not (concept.events & DENIABLE and is_a(_meant(reading, spans), ids)):
            return False
    if not concept.names and not concept.words and not concept.events:
        return False
    return words_found(concept.words, reading, spans)


def _refused(reading: Reading, spans: Spans) -> bool:
    """Tell whether the patient's answer is a bare no ("Asked about chest pain, he said no")."""
    for start, end in spans:
        sources = [s for s in reading.document.sentence_of(start).within(start, end, "source") if s.kind == "patient"]
        for source in sources:
            text = reading.document.text(source.end, end).lower().strip(" .。,，:：\"'")
            first = re.split(r"[,，;；。.]", text, maxsplit=1)[0].strip()
            if first in REFUSALS or first.startswith(REFUSING):
                return True
    return False


def _event(event: str, concept: Phrase, reading: Reading, spans: Spans, *, denied: bool) -> bool:
    """Tell whether the event's words stand in the spans, about the concept's drug, and denied or not as asked."""
    document = reading.document
    kinds = SAID[event]
    wanted = tuple(one for ids in concept.names for one in ids)
    for start, end in spans:
        sentence = document.sentence_of(start)
        told = [ann for ann in sentence.within(start, end, "event") if ann.kind in kinds]
        if event == "stop":
            told += sentence.within(start, end, "act", "stop")
        for ann in told:
            if event in DENIABLE and _denied(reading, ann) != denied:
                continue
            if any(m.end <= ann.start and _same_clause(reading, m, ann) for m in sentence.of("modifier", "family")):
                continue  # "she says her sister stopped it"
            drugs = _governed(reading, ann, start, end)
            if not drugs or not wanted or is_a(drugs, wanted) or is_a(wanted, drugs):
                return not (event == "stop" and _taken_back(reading, told, ann, drugs or wanted))
    return False


def _same_clause(reading: Reading, one: Ann, other: Ann) -> bool:
    return reading.document.clause[one.start] == reading.document.clause[other.start]


def _taken_back(reading: Reading, told: list[Ann], event: Ann, drugs: tuple[str, ...]) -> bool:
    """As in "takes, stopped, never stopped metformin": said and denied in one breath, which says neither."""
    tokens = reading.document.tokens
    for other in told:
        first, last = sorted((event, other), key=lambda ann: ann.start)
        gap = range(first.end, last.start)
        if other is event or len(gap) > BREATH or any(turns(reading.document, i) for i in gap):
            continue
        apart = any(not set(name.concepts) & set(drugs) for name in _drugs_in(reading, first.end, last.start))
        if apart or any(tokens[i].key in ("then", "until", "later") for i in gap):
            continue
        if _denied(reading, other) != _denied(reading, event):
            return True
    return False


def _denied(reading: Reading, event: Ann) -> bool:
    """Tell whether an event is denied, be it inside a name ("never misses")."""
    scopes = reading.scopes[reading.document.number_of(event.start)]
    if scopes.flags(event.start, event.end).negated or scopes.denied_next_to(event.start):
        return True
    around = [a for a in scopes.concepts if a.start <= event.start < a.end]
    return any(scopes.document.tokens[a.start].key in NEVER for a in around if a.start < event.start)


def _drugs_in(reading: Reading, start: int, end: int) -> list[MentionClaim]:
    return [n for n in reading.names if n.kind in DRUGS and start <= n.token < end]


def _governed(reading: Reading, event: Ann, start: int, end: int) -> tuple[str, ...]:
    """Return the drugs an event is about: those that follow it up to the next event, else the last before it."""
    document = reading.document
    sentence = document.sentence_of(event.start)
    events = [a for a in sentence.within(start, end, "event") if a.kind in MARKING]
    chinese = document.tokens[event.start].kind == "c"
    limit = min([a.start for a in events if a.start >= event.end] + [end])
    after = _drugs_in(reading, event.end, limit)
    if after and after[0].token - event.end <= (3 if chinese else 6):
        gap = range(event.end, after[0].token)
        if not any(document.tokens[i].raw in ",，;；" for i in gap):
            return tuple(one for name in after for one in name.concepts)
    begin = max([a.end for a in events if a.end <= event.start] + [start])
    before = _drugs_in(reading, begin, event.start) or _drugs_in(reading, start, event.start)[-1:]
    return tuple(one for name in before for one in name.concepts)


def _meant(reading: Reading, spans: Spans) -> tuple[str, ...]:
    """Return the drug that "it" means in spans that name none: the only one of the last sentence that names any."""
    document = reading.document
    if any(_drugs_in(reading, start, end) for start, end in spans):
        return ()
    keys = {document.tokens[i].key for start, end in spans for i in range(start, end)}
    if not keys & ANAPHORS:
        return ()
    before = [n for n in reading.names if n.kind in DRUGS and n.token < spans[0][0]]
    if not before:
        return ()
    last = [n for n in before if n.sentence == before[-1].sentence]
    return last[0].concepts if len({n.concept for n in last}) == 1 else ()


def _stopped_only(concept: Phrase, reading: Reading, spans: Spans) -> bool:
    for ids in concept.names:
        hits = [n for n in reading.names if any(s <= n.token < e for s, e in spans) and is_a(n.concepts, ids)]
        if hits and all(n.flags.negated for n in hits):
            return True
    return False


def _linked(reading: Reading, spans: Spans) -> Spans:
    """Cut each span at the semicolon after a word of reason ("stopped it because of the cost; her legs swell")."""
    tokens = reading.document.tokens
    cut = []
    for start, end in spans:
        sentence = reading.document.sentence_of(start)
        link = next((a for a in sentence.within(start, end, "link") if a.kind == "because"), None)
        stop = next((i for i in range(link.end, end) if tokens[i].raw in ";；"), end) if link is not None else end
        cut.append((start, stop))
    return cut


def _reason(concept: Phrase, reason: Phrase, reading: Reading, spans: Spans) -> bool:
    """Tell whether the reason stands with this concept: up to the next other drug, or back to the last one."""
    wanted = {one for ids in concept.names for one in ids}
    drugs = [n for n in reading.names if n.kind in DRUGS and any(s <= n.token < e for s, e in spans)]
    mine = [n for n in drugs if set(n.concepts) & wanted or is_a(n.concepts, tuple(wanted))]
    others = [n for n in drugs if n not in mine]
    if not mine or not others:
        return found(reason, reading, _linked(reading, spans), loose=True)
    start = mine[0].token
    limit = min([n.token for n in others if n.token > start] + [spans[-1][1]])
    sentence = reading.document.sentence_of(start)
    if any(link.kind in ("because", "so") for link in sentence.within(start, limit, "link")):
        return found(reason, reading, [(start, limit)], loose=True)
    begin = max([n.end for n in others if n.end <= start] + [spans[0][0]])
    return found(reason, reading, [(begin, limit)], loose=True)
