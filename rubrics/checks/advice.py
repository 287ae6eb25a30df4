"""`advice`: the answer recommends this act on that target, directly."""

from __future__ import annotations

from wardround.patients import knowledge
from wardround.rubrics.reading import ActClaim, Reading
from wardround.rubrics.reading.cues import longest_first, words
from wardround.rubrics.reading.document import Ann, Document
from wardround.rubrics.reading.unlisted import OWN_DRUG, own_id
from wardround.rubrics.rubric import AdviceCheck, Verdict

from .context import CheckContext
from .matching import ids_for, is_a, unread, verdict, words_of

CLOSE = {
    "recheck": ("recheck", "order"),
    "order": ("order", "recheck", "start"),
    "start": ("start", "order"),
    "stop": ("stop",),
}
"""Acts that carry out the asked one."""
NEVER = words("advice.never")
JOINTS = longest_first("advice.switch_joints")
"""What stands between the old and the new drug of a switch in a check."""


def judge(check: AdviceCheck, reading: Reading, context: CheckContext) -> Verdict:
    """Pass where the act is advised on the target."""
    if (bad := unread(reading, context)) is not None:
        return bad
    reading = knowing(check.target, reading)
    found = advised(check.act, check.target, reading)
    if found:
        return verdict(context, True, f"advises {check.act} `{check.target}`", (found[0].span,))
    near = [a for a in reading.advice if a.target and matches(a, check.target)]
    said = ", ".join(dict.fromkeys(f"{a.act}{'' if a.advised else ' (not advised)'}" for a in near))
    reason = (
        f"for `{check.target}` the answer says {said}, not {check.act}"
        if said
        else f"the answer advises nothing about `{check.target}`, and so not {check.act}"
    )
    return verdict(context, False, reason, tuple(a.span for a in near))


def knowing(target: str, reading: Reading) -> Reading:
    """Return the answer read so that it knows the drugs of a check's target that the knowledge base does not."""
    unknown = [part for part in _parts(target) if not ids_for(part)]
    return reading.naming(*unknown, mark=OWN_DRUG) if unknown else reading


def _parts(target: str) -> tuple[str, ...]:
    """Return the old and the new drug of a switch's target, else the target itself."""
    joint = next((joint for joint in JOINTS if joint in target), None)
    return (target,) if joint is None else tuple(part.strip() for part in target.split(joint, 1))


def _ids(name: str) -> tuple[str, ...]:
    """Return what a target may be called in the answer: ids of the knowledge base, else its own."""
    return ids_for(name) or (own_id(name, OWN_DRUG),)


def advised(act: str, target: str, reading: Reading) -> list[ActClaim]:
    """Return the acts of the answer that recommend `act` on `target`."""
    if act == "switch":
        return _switches(target, reading)
    found = [a for a in reading.advice if a.advised and a.act in CLOSE.get(act, (act,)) and matches(a, target)]
    if act == "stop":
        found = [a for a in found if not _pause(a, reading)]
    elif act == "hold":
        found += [
            a for a in reading.advice if a.advised and a.act == "stop" and matches(a, target) and _pause(a, reading)
        ]
    return found


def matches(claim: ActClaim, target: str) -> bool:
    """Tell whether an act's target is the asked one: itself, a member of the asked class, or the same words."""
    ids = _ids(target)
    if claim.targets and is_a(claim.targets, ids):
        return True
    if ids_for(target):
        return claim.act == "avoid" and bool(claim.targets) and is_a(ids, claim.targets)
    if any(one in knowledge.drugs() for one in claim.targets):
        return False  # the act is about another drug, whatever else its clause names
    wanted = set(words_of(target))
    return bool(wanted) and wanted <= set(words_of(claim.words))


def _switches(target: str, reading: Reading) -> list[ActClaim]:
    parts = _parts(target)
    if len(parts) > 1:
        old, new = (_ids(part) for part in parts)
        return [
            a for a in reading.advice if a.advised and a.act == "switch" and is_a(a.targets, old) and is_a(a.to, new)
        ] or _replaced(old, new, reading)
    return [a for a in reading.advice if a.advised and a.act == "switch" and matches(a, target)]


def _replaced(old: tuple[str, ...], new: tuple[str, ...], reading: Reading) -> list[ActClaim]:
    """Read "Stop warfarin and begin apixaban" in one sentence as a switch: one stopped, then the other started."""
    advised = [a for a in reading.advice if a.advised and not a.implied]
    return [
        a
        for a in advised
        if a.act == "stop"
        and is_a(a.targets, old)
        and any(b.act == "start" and b.sentence == a.sentence and is_a(b.targets, new) for b in advised)
    ]


def _never(document: Document, resume: Ann) -> bool:
    """Tell whether a word of resuming is denied ("别再用", "no plan to restart")."""
    near = {document.tokens[i].key for i in range(max(0, resume.start - 3), resume.start)}
    return bool(near & NEVER)


def _pause(claim: ActClaim, reading: Reading) -> bool:
    """Tell whether a stop is a pause: the answer plans to resume the drug."""
    document = reading.document
    for other in document.sentences[claim.sentence].of("act", "resume"):
        if other.start > claim.token and not _never(document, other):
            return True
    following = claim.sentence + 1
    if following < len(document.sentences):
        for other in document.sentences[following].of("act", "resume"):
            sentence = document.sentences[following]
            names = [a for a in sentence.anns if a.layer == "concept" and a.value.drug]
            return not names or (any(set(a.value.ids) & set(claim.targets) for a in names) and other is not None)
    return False
