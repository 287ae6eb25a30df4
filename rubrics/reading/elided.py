"""The drug that an answer leaves out because the question named it ("Given at 09:00", "患者说没有漏服").

A sentence that says something of a drug and names none is read with the drug's name at its head, and with "the
patient says" where only the patient can have told it and the turn asks for that. Offsets lead back to the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .claims import ActClaim
from .cues import words
from .document import Document, Sentence
from .named import DRUGS, named
from .text import Normal

if TYPE_CHECKING:
    from .reading import Reading

Filled = tuple[tuple[int, str], ...]
"""Normalised offsets with the words that are understood there."""
EVENTS = frozenset(("stop", "miss", "take", "lack", "never"))
ACTS = frozenset(("start", "stop", "hold", "continue", "reduce", "increase", "resume"))
"""Acts on a drug; a test or a service is named where it is meant."""
ASIDE = frozenset(("lab", "vital", "finding", "condition"))
"""What stands beside a drug act without being what is acted on ("hold it and check a CK")."""
DOSES = words("elided.doses")
"""Dimensions of an amount that is as a rule one of a drug."""
GIVEN = words("elided.given")
"""Words that say that a dose was given or not."""
MEDICINES = words("elided.medicines")
"""Words of a medicine that is called by what it is for."""
DONE = words("elided.done")
"""Chinese words of what is over, or of what the patient did unasked."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The one drug that a turn asks about."""

    ids: tuple[str, ...]
    en: str
    zh: str
    told: bool
    """The turn asks for what the patient said of it."""


def may_leave_out(reading: Reading) -> bool:
    """Tell, at little cost, whether a sentence that names no drug may say something of one."""
    own = {name.sentence for name in reading.names if name.kind in DRUGS}
    for number, sentence in enumerate(reading.document.sentences):
        if number not in own and next(_claims(reading, number, sentence), None) is not None:
            return True
    return False


def places(reading: Reading, subject: Subject) -> Filled:
    """Return where `subject` is understood, with the words; () where the answer names any other drug."""
    drugs = [name for name in reading.names if name.kind in DRUGS]
    if any(not set(name.concepts) & set(subject.ids) for name in drugs):
        return ()
    own = {name.sentence for name in drugs}
    found = []
    for number, sentence in enumerate(reading.document.sentences):
        if sentence.question or sentence.row or number in own:
            continue
        start = _start(reading, number, sentence)
        if start is not None:
            told = subject.told and _only_told(reading, number, sentence)
            found.append((reading.document.tokens[start].start, _words(reading.document, sentence, subject, told)))
    return tuple(found)


def filled(normal: Normal, understood: Filled) -> Normal:
    """Return the text with what is understood written out."""
    offsets = normal.offsets or tuple(range(len(normal.text) + 1))
    text: list[str] = []
    places: list[int] = []
    at = 0
    for place, said in understood:
        text += [normal.text[at:place], said]
        places += [*offsets[at:place], *([offsets[place]] * len(said))]
        at = place
    text.append(normal.text[at:])
    return Normal("".join(text), (*places, *offsets[at:]), normal.source)


def _start(reading: Reading, number: int, sentence: Sentence) -> int | None:
    """Return the token before which the drug is understood: the sentence's head, or a clause's beside a result."""
    claims = list(_claims(reading, number, sentence))
    if not claims:
        return None
    document = reading.document
    wanted = {act.end for act in reading.advice if act.sentence == number and act.act in ("order", "recheck")}
    measures = [ann for ann in sentence.of("concept") if ann.value.measurable and ann.start not in wanted]
    medicines = {document.clause[i] for i in range(sentence.start, sentence.end) if document.tokens[i].key in MEDICINES}
    results = {document.clause[ann.start] for ann in measures} - medicines  # "降胆固醇的药", "the cholesterol pill"
    if not results:
        return sentence.start
    free = [token for token in claims if document.clause[token] not in results]
    return document.clause_start(sentence, min(free)) if free else None


def _claims(reading: Reading, number: int, sentence: Sentence) -> Iterator[int]:
    """Yield the tokens of a sentence that say something of a drug left out."""
    tokens = reading.document.tokens
    aimed = {act.token for act in reading.advice if act.sentence == number and not named(act.targets).kinds <= ASIDE}
    yield from (ann.start for ann in sentence.of("event") if ann.kind in EVENTS)
    yield from (ann.start for ann in sentence.of("act") if ann.kind in ACTS and ann.start not in aimed)
    yield from (ann.start for ann in sentence.of("quantity") if ann.value.dimension in DOSES)
    for at in range(sentence.start, sentence.end):
        if tokens[at].key in GIVEN or reading.document.text(at, min(at + 2, sentence.end)) in GIVEN:
            yield at


def _only_told(reading: Reading, number: int, sentence: Sentence) -> bool:
    """Tell whether a sentence says how the drug is taken, as nobody's words, and advises nothing."""
    told = any(ann.kind in EVENTS for ann in sentence.of("event"))
    said = any(True for _ in sentence.of("source"))
    advised = any(act.sentence == number and act.advised and not _done(reading, act) for act in reading.advice)
    return told and not said and not advised


def _done(reading: Reading, act: ActClaim) -> bool:
    """Tell whether an act is one that is over ("药用完后已停药", "没再开"): its clause has a word that says so."""
    document = reading.document
    sentence = document.sentences[act.sentence]
    clause = range(document.clause_start(sentence, act.token), document.clause_end(sentence, act.token))
    return any(document.tokens[i].raw in DONE for i in clause)


def _words(document: Document, sentence: Sentence, subject: Subject, told: bool) -> str:
    chinese = any(document.tokens[i].kind == "c" for i in range(sentence.start, sentence.end))
    if chinese:
        return f"{subject.zh}患者说" if told else subject.zh
    return f"{subject.en}: the patient says " if told else f"{subject.en}: "
