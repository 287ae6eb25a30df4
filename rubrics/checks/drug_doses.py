"""Doses as values: "<drug> dose" is the amount per dose that the answer gives for a drug the patient takes."""

from __future__ import annotations

from collections.abc import Iterator

from wardround.rubrics.reading import Reading
from wardround.rubrics.reading.document import Ann, Sentence
from wardround.rubrics.rubric import ValueCheck, Verdict

from .amounts import same_number
from .context import CheckContext
from .matching import ids_for, verdict

_SUFFIXES = (" dose", " dosage", "剂量")
_DIMENSIONS = frozenset({"mass", "activity", "equivalents", "substance", "volume"})


def drugs_of(concept: str) -> tuple[str, ...]:
    """Return the drugs whose dose a concept is ("allopurinol dose", "别嘌醇剂量"); empty where it is something else."""
    for suffix in _SUFFIXES:
        if concept.endswith(suffix):
            return ids_for(concept.removesuffix(suffix).strip(), ("drug",))
    return ()


def judge_dose(check: ValueCheck, drugs: tuple[str, ...], reading: Reading, context: CheckContext) -> Verdict:
    """Pass where the drug is given with that dose and with no other."""
    found = [(ann, sentence) for sentence, ann in _amounts(drugs, reading)]
    if not found:
        return verdict(context, False, f"no `{check.concept}` is stated")
    spans = tuple(reading.document.span(ann.start, ann.end) for ann, _ in found)
    for (ann, _), span in zip(found, spans, strict=True):
        quantity = ann.value
        if not same_number(quantity.text, quantity.unit, str(check.value), check.unit, drugs[0]):
            reason = f"`{check.concept}` is given as {quantity.text} {quantity.unit}, not {check.value} {check.unit}"
            return verdict(context, False, reason, (span,))
    return verdict(context, True, f"`{check.concept}` is stated as {check.value} {check.unit}", spans[:1])


def _amounts(drugs: tuple[str, ...], reading: Reading) -> Iterator[tuple[Sentence, Ann]]:
    """Yield the amounts that stand with the drug: after it up to the next drug, else just before it."""
    wanted = set(drugs)
    for number, sentence in enumerate(reading.document.sentences):
        if sentence.question:
            continue
        named = [ann for ann in sentence.of("concept") if ann.value.drug]
        sizes = [ann for ann in sentence.of("quantity") if ann.value.dimension in _DIMENSIONS]
        for place, drug in enumerate(named):
            if not wanted.intersection(drug.value.ids):
                continue
            end = named[place + 1].start if place + 1 < len(named) else sentence.end
            after = [ann for ann in sizes if drug.end <= ann.start < end]
            start = named[place - 1].end if place else sentence.start
            before = [ann for ann in sizes if start <= ann.start and _joined(reading, ann.end, drug.start)]
            for ann in after[:1] or before[-1:]:
                flags = reading.scopes[number].flags(ann.start, ann.end)
                if not (flags.family or flags.other or flags.asked or flags.hypothetical or flags.negated):
                    yield sentence, ann


def _joined(reading: Reading, end: int, start: int) -> bool:
    """Tell whether an amount stands right before its drug ("300 mg allopurinol", "300 mg of allopurinol")."""
    between = reading.document.tokens[end:start]
    return end <= start and (not between or [token.key for token in between] == ["of"])
