"""Reads what an answer asserts, denies or only names."""

from __future__ import annotations

import itertools
from dataclasses import replace

from .annotate import State
from .claims import MentionClaim
from .cues import words
from .document import Document, Sentence
from .named import Named
from .scope import Scopes

FELT = words("mentions.felt")
QUOTES = frozenset("'\"‘’“”")
DENIED = frozenset((verb, "not") for verb in ("is", "are", "was", "were"))


def read_mentions(document: Document, number: int, sentence: Sentence, scopes: Scopes) -> list[MentionClaim]:
    """Return every naming of a concept in a sentence with its polarity ("" where it is no claim)."""
    claims: list[MentionClaim] = []
    for ann in sentence.anns:
        if ann.layer == "concept":
            value: Named = ann.value
            ids, kind, said = value.ids, _kind(value), "present"
        elif ann.layer == "implied" and isinstance(ann.value, State) and ann.value.mention:
            ids, kind, said = (ann.value.mention,), "finding", ann.value.polarity
            keys = [token.key for token in document.tokens[ann.start : ann.end]]
            if said == "present" and any(pair in DENIED for pair in itertools.pairwise(keys)):
                said = "absent"  # "legs are not swollen", the denial in the gap of the wording
            if said == "present" and any(one in "不没" and two in FELT for one, two in itertools.pairwise(keys)):
                said = "absent"  # "胸口不痛"
        else:
            continue
        flags = scopes.flags(ann.start, ann.end)
        if said == "absent" and flags.negated and not scopes.denied_next_to(ann.start):
            flags = replace(flags, negated=False)  # "no fever, neck supple, no photophobia"
        polarity = ""
        if flags.claimed:
            polarity = ("absent" if said == "present" else "present") if flags.negated else said
        if polarity == "present" and any(token.raw in QUOTES for token in document.tokens[ann.start : ann.end]):
            polarity = ""  # "the penicillin 'allergy' on the banner": a word that the answer does not make its own
        span = document.span(ann.start, ann.end)
        claims.append(MentionClaim(ids[0], ids, kind, polarity, flags, span, ann.start, ann.end, number))
    return claims


def _kind(value: Named) -> str:
    for kind in ("drug", "drug_class", "condition", "finding", "procedure", "service", "lab", "vital"):
        if kind in value.kinds:
            return kind
    return ""
