"""A finding and, right after it, an act: the finding is the reason, though no word says so.

As in "K is 5.9. Hold spironolactone.", "血钾5.9。停螺内酯。". Only where the sentence before tells one finding and
nothing else: whoever lists all that was found has given none of it as the reason.
"""

from __future__ import annotations

from collections.abc import Iterator

from wardround.rubrics.reading import Reading
from wardround.rubrics.reading.annotate import implied_by
from wardround.rubrics.reading.document import Ann, Sentence

Spans = list[tuple[int, int]]
FOUND = frozenset(("lab", "vital", "finding", "condition"))
LINKS = frozenset(("because", "so", "swap", "cause_of", "not"))


def adjacent(reading: Reading) -> Iterator[tuple[Ann, Spans, Spans]]:
    """Yield each act that follows a lone finding, as `links` does: the place, the claim's spans, the reason's."""
    sentences = reading.document.sentences
    for number in range(1, len(sentences)):
        before, here = sentences[number - 1], sentences[number]
        linked = any(ann.kind in LINKS for one in (before, here) for ann in one.of("link"))
        if linked or not _acts(reading, number) or _acts(reading, number - 1) or not _lone(reading, number - 1):
            continue
        place = Ann(here.start, here.start + 1, "link", "so")
        yield place, [(here.start, here.end)], [(before.start, before.end)]


def _acts(reading: Reading, number: int) -> bool:
    """Tell whether a sentence advises something and is no question."""
    return any(act.sentence == number and act.advised and act.targets for act in reading.advice)


def _lone(reading: Reading, number: int) -> bool:
    """Tell whether a sentence states one finding of this patient, and only one."""
    sentence = reading.document.sentences[number]
    if sentence.question or sentence.row:
        return False
    named = _found(sentence)
    stated = {value.concept for value in reading.values if value.sentence == number and value.role == "measured"}
    stated |= {state.concept for state in reading.states if state.sentence == number and state.flags.claimed}
    stated |= {
        name.concept
        for name in reading.names
        if name.sentence == number and name.flags.claimed and name.concept in named
    }
    return len(named) == 1 and bool(stated)


def _found(sentence: Sentence) -> set[str]:
    """Return the findings that a sentence names; a diagnosis that is a state of a measurement is that measurement."""
    named = set()
    for ann in sentence.of("concept"):
        if ann.value.kinds & FOUND:
            meant = implied_by(ann.value.ids)
            named.add(meant.concept if meant is not None else ann.value.ids[0])
    return named
