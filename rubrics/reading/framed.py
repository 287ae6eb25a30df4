"""Acts read from whole wordings (frames), and which cue readings they replace."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

from .claims import ActClaim, Flags
from .cues import words
from .document import Ann
from .frames import ARTICLES, Frame, FrameReader
from .targets import LIST_WORDS, Site, Targets

OPPOSITE = {
    "start": "avoid",
    "order": "avoid",
    "refer": "avoid",
    "recheck": "avoid",
    "stop": "continue",
    "hold": "continue",
    "continue": "stop",
    "resume": "avoid",
    "switch": "continue",
}
"""What denying an act amounts to; which acts exclude each other stands in `rubrics/data/limits.json`."""
ASKING = words("acts.asking")
REFUSED = words("acts.refused")
"""Words that open a wording of holding a drug which is one of not giving it as well."""
TESTS = frozenset(("lab", "vital", "procedure"))


def _resolved(act: str, target: Ann) -> str:
    """Return what "give" means for a target: a drug is started, a service referred to, anything else ordered."""
    if act == "endorse":
        return "start"
    if act != "give":
        return act
    if target.value.drug:
        return "start"
    return "refer" if "service" in target.value.kinds else "order"


class Framed(Targets, ABC):
    """The framed acts of one sentence."""

    @abstractmethod
    def _status(self, site: Site, start: int, end: int) -> tuple[bool, bool, Flags]:
        """Return (advised, negated, flags) of an act."""

    def _framed(self) -> list[Frame]:
        frames = FrameReader(self.document, self.sentence, self._fits_frame).read()
        return [frame for frame in frames if not (frame.act == "give" and self._acts_within(frame))]

    def _acts_within(self, frame: Frame) -> bool:
        """Tell whether a gap of a frame that gives something holds another act ("处理：暂停二甲双胍")."""
        return any(
            a.kind in ("stop", "hold", "continue", "reduce", "increase", "avoid")
            and frame.start < a.start
            and a.end <= frame.x.start
            and self.document.text(a.start, a.end) != "留"  # "先留尿培养" takes it, keeps nothing
            for a in self.acts
        )

    def _fits_frame(self, ann: Ann, act: str) -> bool:
        kinds = ann.value.kinds
        if act == "none":
            return True
        if act in ("change", "replace"):
            return bool(ann.value.drug)
        if act == "endorse":
            return bool(ann.value.drug and not ann.value.measurable)
        if act in ("give", "order", "recheck", "avoid"):
            return bool(ann.value.drug or kinds & TESTS or "service" in kinds) and (
                act != "recheck" or not ann.value.drug
            )
        return self._fit(ann, act)

    def _kept(self, claim: ActClaim, framed: list[Frame]) -> ActClaim | None:
        """Return a cue's claim where no frame says more of it; what is only asked about is kept as not advised."""
        frame = self._replaced(claim, framed)
        if frame is None:
            return claim
        asked = frame.act == "none" and claim.targets and self.document.tokens[frame.start].key in ASKING
        return replace(claim, advised=False) if asked else None

    def _replaced(self, claim: ActClaim, framed: list[Frame]) -> Frame | None:
        """Return the frame that reads the same words or says more of the same target."""
        for frame in framed:
            slots = {frame.x.start} | ({frame.y.start} if frame.y is not None else set())
            if frame.act == "none" and claim.token < frame.end:
                slots |= {target.start for target in self._also(frame)}  # "长期口服卡维地洛和螺内酯"
            inside = frame.start <= claim.token < frame.end
            if inside and (claim.end in slots or not claim.targets or frame.start <= claim.end < frame.end):
                return frame
            same = self.document.clause[claim.token] == self.document.clause[frame.start]
            if claim.end in slots and same and frame.act == "none":
                return frame
        return None

    def _of_frame(self, frame: Frame) -> list[ActClaim]:
        if frame.act == "none":
            return []
        site = Site(
            Ann(frame.start, frame.end, "act", frame.act),
            self.document.tokens[frame.start].kind == "c",
            self.document.text(frame.start, frame.end).lower(),
            framed=True,
        )
        advised, negated, flags = self._status(site, frame.start, frame.end)
        if frame.act == "switch" and frame.y is not None:
            return self._of_switch(site, frame.x, frame.y, advised=advised, negated=negated, flags=flags)
        if frame.act == "replace":
            earlier = [d for d in self.drugs if d.end <= frame.x.start and d is not frame.x]
            old = earlier[-1] if earlier else self.carried
            if old is None or set(old.value.ids) == set(frame.x.value.ids):
                return [self._make(site, "start", frame.x, advised, flags)]
            return self._of_switch(site, old, frame.x, advised=advised, negated=negated, flags=flags)
        made = []
        for target in self._also(frame):
            if frame.act == "change" and flags.past:
                continue  # "25 → 50 mg last week"
            act = self._by_numbers(frame) if frame.act == "change" else _resolved(frame.act, target)
            if act in ("order", "recheck") and self._stated(frame, target):
                continue
            if negated:
                act = OPPOSITE.get(act, "")
            if act:
                made.append(self._make(site, act, target, advised, flags))
            if act == "hold" and not negated and self.document.tokens[frame.start].key in REFUSED:
                made.append(self._make(site, "avoid", target, advised, flags))  # "no spironolactone today"
        return made

    def _by_numbers(self, frame: Frame) -> str:
        """Return which way a change goes: "Lantus from 20 to 26 units" is an increase."""
        sizes = [a.value for a in self.sentence.within(frame.start, frame.end, "quantity")]
        if len(sizes) < 2 or sizes[-2].values[0] == sizes[-1].values[0]:
            return ""
        backward = self.document.tokens[sizes[-1].start - 1].key in (
            "from",
            "than",
            "not",
            "of",
        )  # "to 20 mg from 10 mg"
        return "increase" if (sizes[-1].values[0] > sizes[-2].values[0]) != backward else "reduce"

    def _stated(self, frame: Frame, target: Ann) -> bool:
        """Tell whether a measurement is reported, not asked for ("potassium now 4.2")."""
        return bool(target.value.measurable) and any(
            a.value.unit is not None or a.start <= max(frame.end, target.end) + 1
            for a in self.sentence.within(target.end, max(frame.end, target.end) + 4, "quantity")
        )

    def _of_switch(
        self, site: Site, old: Ann, new: Ann, *, advised: bool, negated: bool, flags: Flags
    ) -> list[ActClaim]:
        if negated:
            return [self._make(site, "continue", old, advised, flags)]
        return [
            self._make(site, "switch", old, advised, flags, to=new),
            self._make(site, "stop", old, advised, flags, implied=True),
            self._make(site, "start", new, advised, flags, implied=True),
        ]

    def _also(self, frame: Frame) -> list[Ann]:
        """Return the frame's target with those that a list adds to it, after its end or before its start."""
        tokens = self.document.tokens
        found = [frame.x]
        for target in self.targets:
            if target.start < found[-1].end or not self._fits_frame(target, frame.act):
                continue
            between = tokens[found[-1].end : target.start]
            if frame.x.end < frame.end and target.start < frame.end:
                continue
            begin = max(frame.end, found[-1].end)
            joints = [t.key for t in tokens[begin : target.start]]
            quiet = all(k in LIST_WORDS or k in ARTICLES for k in joints)
            if not (between and joints and set(joints) & LIST_WORDS and quiet) or self._owned_elsewhere(
                target, found[-1]
            ):
                break
            found.append(target)
        if frame.start == frame.x.start or tokens[frame.start].key in ARTICLES:
            for target in reversed([t for t in self.targets if t.end <= frame.start]):
                joints = [t.key for t in tokens[target.end : found[0].start]]
                if not (
                    joints and len(joints) <= 4 and set(joints) & LIST_WORDS and self._joints(target.end, found[0])
                ):
                    break
                found.insert(0, target)
        return found

    def _joints(self, begin: int, following: Ann) -> bool:
        """Tell whether only list words, articles and amounts stand between two targets."""
        amounts = [a for a in self.sentence.within(begin, following.start) if a.layer in ("quantity", "time")]
        return all(
            self.document.tokens[i].key in LIST_WORDS
            or self.document.tokens[i].key in ARTICLES
            or any(a.start <= i < a.end for a in amounts)
            for i in range(begin, following.start)
        )
