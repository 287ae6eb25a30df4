"""`mention`: the answer asserts or denies the concept for this patient."""

from __future__ import annotations

from wardround.rubrics.reading import MentionClaim, Reading
from wardround.rubrics.rubric import MentionCheck, Verdict

from .context import CheckContext
from .free import word_places
from .matching import ids_for, is_a, unread, verdict


def judge(check: MentionCheck, reading: Reading, context: CheckContext) -> Verdict:
    """Pass where the concept is asserted (or denied) and not also the opposite."""
    if (bad := unread(reading, context)) is not None:
        return bad
    claims = [c for c in namings(check.concept, reading) if c.polarity]
    own = [c for c in claims if not c.flags.chart] or claims
    mine = [c for c in own if c.polarity == check.polarity]
    others = [c for c in own if c.polarity != check.polarity]
    if not mine:
        said = "denied" if others and check.polarity == "present" else "asserted" if others else "not claimed"
        return verdict(context, False, f"`{check.concept}` is {said}", tuple(c.span for c in others))
    if others:
        return verdict(context, False, f"`{check.concept}` is both asserted and denied", (mine[0].span, others[0].span))
    return verdict(
        context,
        True,
        f"`{check.concept}` is {'asserted' if check.polarity == 'present' else 'denied'}",
        (mine[0].span,),
    )


def namings(name: str, reading: Reading) -> list[MentionClaim]:
    """Return every naming of a concept: by knowledge id (narrower ones assert it too), else by words."""
    ids = ids_for(name)
    if ids:
        named = [
            n
            for n in reading.names
            if set(n.concepts) & set(ids) or (n.polarity == "present" and is_a(n.concepts[:1], ids))
        ]
        # what denies the wider thing denies this one too, where nothing is said of it by name ("no pain")
        return named or [n for n in reading.names if n.polarity == "absent" and is_a(ids, n.concepts[:1])]
    found = []
    for number, start, end in word_places(name, reading):
        flags = reading.scopes[number].flags(start, end)
        polarity = ("absent" if flags.negated else "present") if flags.claimed else ""
        found.append(MentionClaim(name, (), "", polarity, flags, reading.document.span(start, end), start, end, number))
    return found
