"""`grounded_mentions`: drugs taken, conditions had and symptoms shown, as the answer asserts them, are all known."""

from __future__ import annotations

from functools import lru_cache

from wardround.rubrics.reading import MentionClaim, Reading, read
from wardround.rubrics.reading.cues import words
from wardround.rubrics.rubric import GroundedMentionsCheck, KnownMentions, Verdict

from .context import CheckContext
from .matching import ids_for, is_a, unread, verdict

TAKING = frozenset(("stop", "hold", "continue", "reduce", "increase", "switch"))
PROPOSED = frozenset(("start", "avoid", "order", "recheck", "refer"))
TAKES = words("grounded.assumed")
ABOUT = tuple(sorted(words("grounded.about")))
BEGUN = tuple(sorted(words("grounded.begun")))
STRONG = tuple(sorted(words("grounded.takes")))
ALLERGIES = words("mentions.allergies")
NOT_STATES = words("grounded.not_states")
UNDER = tuple(sorted(words("grounded.under")))
NOT_EATEN = tuple(sorted(words("grounded.not_eaten")))
TAKEN_AFTER = tuple(sorted(words("grounded.taken_after")))
NOT_TAKING = words("grounded.not_taking")


def judge(check: GroundedMentionsCheck, reading: Reading, context: CheckContext) -> Verdict:
    """Pass where every assertion is known."""
    if (bad := unread(reading, context)) is not None:
        return bad
    drugs, states = known_ids(check.known)
    for name in reading.names:
        if name.kind in ("drug", "drug_class"):
            if taken(name, reading) and not _known(name, drugs):
                return verdict(context, False, f"`{name.span.text}` is said to be taken and is not known", (name.span,))
        elif name.kind in ("condition", "finding") and name.polarity == "present" and not _shown(name, states):
            return verdict(context, False, f"`{name.span.text}` is asserted and is not known", (name.span,))
    return verdict(context, True, "every drug, condition and symptom asserted is known")


@lru_cache(maxsize=1024)
def known_ids(known: KnownMentions) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the ids of the known drugs, and of the known conditions and symptoms together."""
    drugs = tuple(one for name in known.drugs for one in ids_for(name) or _read_ids(name))
    states = tuple(one for name in (*known.conditions, *known.symptoms) for one in (*ids_for(name), *_read_ids(name)))
    return drugs, states


def _read_ids(name: str) -> tuple[str, ...]:
    return tuple(one for found in read(name).names for one in found.concepts)


def _known(name: MentionClaim, known: tuple[str, ...]) -> bool:
    return is_a(name.concepts, known) or is_a(known, name.concepts)


def _shown(name: MentionClaim, known: tuple[str, ...]) -> bool:
    """Tell whether a condition or symptom is known; an allergy is neither, and a bare "pain" is any known one."""
    allergy = name.span.text.lower() in ALLERGIES
    if allergy or set(name.concepts) & NOT_STATES or _known(name, known):
        return True
    return name.concept == "pain" and any(one.endswith("_pain") for one in known)


def taken(name: MentionClaim, reading: Reading) -> bool:
    """Tell whether the answer says or implies that the patient takes a drug."""
    document = reading.document
    if name.flags.elsewhere or name.flags.negated:
        return False
    acts = [
        a
        for a in reading.advice
        if a.sentence == name.sentence
        and set(a.targets) & set(name.concepts)
        and (a.end == name.token or a.act == "switch")
    ]
    if any(a.act in TAKING for a in acts):
        return True
    sentence = document.sentences[name.sentence]
    said = document.text(_left(name, reading), name.token).lower() + " "
    if said.rstrip().endswith(ABOUT):
        return False  # "has read about apixaban"
    if document.text(name.end, min(name.end + 3, sentence.end)).lower().startswith(BEGUN):
        return True
    strong = max((said.rfind(word) + len(word) for word in STRONG if word in said), default=-1)
    if _taken_after(name, reading):
        return True
    proposed = [a for a in acts if a.act in PROPOSED]
    begin = document.tokens[_left(name, reading)].start
    if strong >= 0 and not any(document.tokens[a.token].start - begin >= strong for a in proposed):
        return not any(word in f" {said}" for word in NOT_TAKING)
    if proposed:
        return False
    if any(set(a.to) & set(name.concepts) for a in reading.advice if a.sentence == name.sentence):
        return False
    heads = " ".join(head for head, _, _ in sentence.row)
    text = f" {sentence.header} {heads} {document.text(_left(name, reading), name.token).lower()} "
    after = document.text(name.end, min(name.end + 3, sentence.end))
    if after.startswith(UNDER) or _eaten(said):
        return True
    around = f" {document.text(sentence.start, sentence.end).lower()} "
    if any(word in around for word in NOT_TAKING):
        return False
    return any(word in text for word in TAKES)


def _taken_after(name: MentionClaim, reading: Reading) -> bool:
    """Tell whether words after a list of drugs say that they are taken ("美沙拉秦、硫唑嘌呤都在吃")."""
    document = reading.document
    end = document.sentences[name.sentence].end
    stop = next((i for i in range(name.end, end) if document.tokens[i].raw in "，,;；。"), end)
    said = document.text(name.end, stop)
    at = next((at for word in TAKEN_AFTER if (at := said.find(word)) >= 0), -1)
    return at >= 0 and not any(word in said[:at] for word in NOT_EATEN)


def _eaten(said: str) -> bool:
    """Tell whether the words before a drug say that it is eaten ("吃格华止和亚莫利"), not that it should or was not."""
    at = said.rfind("吃")
    return at >= 0 and not any(word in said[max(0, at - 3) : at] for word in NOT_EATEN)


def _left(name: MentionClaim, reading: Reading) -> int:
    """Return the start of the list that a drug stands in: back over clauses that name drugs only."""
    document = reading.document
    sentence = document.sentences[name.sentence]
    start = name.token
    while start > sentence.start:
        previous = document.tokens[start - 1]
        if previous.raw in ";；。，":
            break
        start -= 1
    return start
