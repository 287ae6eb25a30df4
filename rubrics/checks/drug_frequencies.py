"""How often as a value: "<drug> frequency" is how often the answer says that the patient takes a drug."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wardround.patients import knowledge
from wardround.rubrics.orders.frequencies import Frequency, read_frequency, same_frequency
from wardround.rubrics.reading import Reading
from wardround.rubrics.reading.document import Ann, Sentence
from wardround.rubrics.rubric import Span, ValueCheck, Verdict

from .context import CheckContext
from .matching import ids_for, verdict

_SUFFIXES = (" frequency", "用药频次", "用药频率", "频次", "频率")
_OTHER_KINDS = frozenset({"lab", "vital", "procedure", "service"})
"""What may have a rate of its own ("…, potassium every week")."""
_LAST = re.compile("(?:最近|最后|上|末|前|这|那)一?次")
"""One dose of several ("最近一次") is no frequency."""
_OTHER_ACTS = frozenset({"recheck", "order", "refer"})


def frequency_drugs(concept: str) -> tuple[str, ...]:
    """Return the drugs whose frequency a concept is ("metformin frequency", "二甲双胍频次"), or none."""
    for suffix in _SUFFIXES:
        if concept.endswith(suffix):
            found = ids_for(concept.removesuffix(suffix).strip(), ("drug",))
            return found if set(found) <= knowledge.drugs().keys() else ()  # "呼吸频率" is a vital sign
    return ()


def judge_frequency(check: ValueCheck, drugs: tuple[str, ...], reading: Reading, context: CheckContext) -> Verdict:
    """Pass where the drug is given that often ("BID" is "twice daily" is "每日两次") and nowhere otherwise."""
    wanted = read_frequency(str(check.value))
    found = list(_stated(drugs, reading))
    if not found:
        return verdict(context, False, f"no `{check.concept}` is stated")
    for said, span in found:
        if not same_frequency(wanted, said):
            return verdict(context, False, f"`{check.concept}` is given otherwise than {check.value}", (span,))
    return verdict(context, True, f"`{check.concept}` is stated as {check.value}", (found[0][1],))


def readable_frequency(text: str) -> bool:
    """Tell whether a check's value is a frequency that can be compared."""
    wanted = read_frequency(text)
    return (wanted.stated or wanted.prn) and not wanted.conflict


def _stated(drugs: tuple[str, ...], reading: Reading) -> Iterator[tuple[Frequency, Span]]:
    """Yield how often each naming of the drug is said to be taken, with its words."""
    wanted, document = set(drugs), reading.document
    for number, sentence in enumerate(document.sentences):
        if sentence.question:
            continue
        named = [ann for ann in sentence.of("concept") if ann.value.drug]
        for place, drug in enumerate(named):
            if not wanted.intersection(drug.value.ids):
                continue
            flags = reading.scopes[number].flags(drug.start, drug.end)
            if flags.family or flags.other or flags.asked or flags.hypothetical or flags.negated:
                continue
            end = named[place + 1].start if place + 1 < len(named) else sentence.end
            after = (drug.end, _own_end(sentence, drug.end, end))
            # "twice daily metformin"; what stands behind an earlier drug is that drug's
            before = (document.clause_start(sentence, drug.start), drug.start)
            alone = not place or named[place - 1].start < before[0]
            for start, stop in (after, before) if alone else (after,):
                said = read_frequency(_LAST.sub("", document.text(start, stop))) if start < stop else Frequency()
                if said.stated or said.prn:
                    yield said, document.span(min(start, drug.start), max(stop, drug.end))
                    break


def _own_end(sentence: Sentence, start: int, end: int) -> int:
    """Return where a test, or an act that orders one, takes over from the drug."""
    others = [ann.start for ann in sentence.within(start, end) if _takes_over(ann)]
    return min([*others, end])


def _takes_over(ann: Ann) -> bool:
    if ann.layer == "concept":
        return not ann.value.drug and not _OTHER_KINDS.isdisjoint(ann.value.kinds)
    return ann.layer == "act" and ann.kind in _OTHER_ACTS
