"""Names that what follows makes narrower: a drug's level, a cell's count, a CT with contrast, a bare "clearance"."""

from __future__ import annotations

from decimal import Decimal

from wardround.patients import knowledge

from .concepts import concepts
from .cues import words
from .document import Ann, Document
from .named import level_name, named

UNGIVEN = words("annotate.ungiven")
"""Words by which a CT is done without the contrast that is named beside it."""
RETURNED = words("narrowing.returned")
"""What stands between a drug and its level where no unit tells ("Digoxin came back 2.4")."""
CT_KINDS = frozenset(("ct_contrast", "ct_noncontrast"))
UNGIVEN_REACH = 4
CONTRAST_REACH = 6
LEVEL_REACH = 6
COUNT_REACH = 14
NOUN_REACH = 4


def as_levels(document: Document, anns: list[Ann]) -> None:
    """Read a drug or vitamin that its own concentration follows as the blood level ("B12 is low at 128 pg/mL")."""
    sizes = {ann.start: ann.value for ann in anns if ann.layer == "quantity"}
    starts = {ann.start for ann in anns if ann.layer == "concept"}
    labs = knowledge.labs()
    for ann in anns:
        if ann.layer != "concept" or not ann.value.drug:
            continue
        level = next((lab for one in ann.value.ids if (lab := level_name(one))), None)
        other = next((at for at in range(ann.end, ann.end + LEVEL_REACH) if at in starts), ann.end + LEVEL_REACH)
        found = next(((at, sizes[at]) for at in range(ann.end, other) if at in sizes), None)
        if level is None or found is None:
            continue
        at, size = found
        if size.unit is None:  # "Digoxin came back 2.4"
            if document.text(ann.end, at).lower() in RETURNED:
                ann.value = named((level,))
            continue
        if size.dimension in ("mass", "volume", "activity", "substance"):
            continue
        if knowledge.convert(Decimal(1), size.unit, labs[level].unit, level) is not None:
            ann.value = named((level,))


def contrasted(document: Document, anns: list[Ann]) -> None:
    """Read a CT for which the same clause gives contrast as one with contrast ("打造影剂扫CT", "CT, IV contrast")."""
    lexicon, tokens = knowledge.lexicon(), document.tokens
    given = [ann for ann in anns if ann.layer == "concept" and lexicon.is_a(ann.value.ids[0], "contrast_agent")]
    for ann in anns if given else ():
        if ann.layer != "concept" or not lexicon.is_a(ann.value.ids[0], "ct") or CT_KINDS & {*ann.value.ids}:
            continue
        for agent in given:
            first, last = sorted((ann, agent), key=lambda one: one.start)
            reach = range(max(0, first.start - UNGIVEN_REACH), last.end + 1 if last is agent else last.start)
            around = [i for i in reach if i < len(tokens) and document.clause[i] >= document.clause[first.start]]
            apart = document.clause[last.start] - document.clause[first.start]
            between = {tokens[i].raw for i in range(first.end, last.start)}
            near = apart <= 1 and last.start - first.end <= CONTRAST_REACH and not between & set(";；")
            if near and not any(tokens[i].key in UNGIVEN for i in around if not first.start <= i < first.end):
                ann.value = named((*ann.value.ids, "ct_contrast"))
                break


def as_counts(anns: list[Ann]) -> None:
    """Read a cell named without saying so as its count where a count follows ("中性粒细胞0.21×10⁹/L")."""
    sizes = {ann.start: ann.value for ann in anns if ann.layer == "quantity"}
    starts = {ann.start for ann in anns if ann.layer == "concept"}
    known = concepts()
    for ann in anns:
        count = known.counts.get(ann.value.ids[0]) if ann.layer == "concept" else None
        if count is None:
            continue
        end = next((i for i in range(ann.end, ann.end + COUNT_REACH) if i in starts), ann.end + COUNT_REACH)
        following = [sizes[at] for at in range(ann.end, end) if at in sizes]
        united = next((one for one in following if one.unit), None)
        small = known.bare_counts.get(ann.value.ids[0], 0)
        bare = united is None and bool(following) and all(one.values[0] < small for one in following)
        if bare or (united is not None and united.dimension == "count_concentration"):
            ann.value = named((count, *ann.value.ids))


def bare_nouns(document: Document, anns: list[Ann], blocked: list[bool]) -> list[Ann]:
    """Read a noun that alone names many things as the measurement that the number after it can be of.

    As in "clearance 28 mL/min", "sugar of 22.9 mmol/L", "the rate settled from 138": `bare_nouns` of
    `data/concepts.json` says of what, in which units (none where a link word stands between) and between which bounds.
    """
    sizes = {ann.start: ann.value for ann in anns if ann.layer == "quantity"}
    tokens, nouns = document.tokens, concepts().bare_nouns
    found = []
    for at, token in enumerate(tokens):
        noun = nouns.get(token.key)
        if noun is None or blocked[at] or (at and tokens[at - 1].key in noun.not_after):
            continue
        place = next((i for i in range(at + 1, at + 1 + NOUN_REACH) if i in sizes), None)
        if place is None:
            continue
        size = sizes[place]
        between = [tokens[i].key for i in range(at + 1, place)]
        if size.unit is None:
            fitting = noun.bare and size.shape == "one" and noun.least <= size.values[0] <= noun.most
            fitting = fitting and set(between) <= noun.links
        else:
            fitting = size.unit in noun.units
        if fitting:
            found.append(Ann(at, at + 1, "concept", "concept", named((noun.concept,))))
            blocked[at] = True
    return found
