"""Where the target of an act stands: after the word, before it, in a list, or a clause back."""

from __future__ import annotations

from dataclasses import dataclass

from wardround.patients import knowledge

from .claims import ActClaim, Flags
from .cues import words
from .document import Ann, Document, Sentence
from .named import Named, named
from .scope import Scopes

DRUG_ACTS = frozenset(("start", "stop", "hold", "continue", "reduce", "increase", "switch", "resume"))
GROUNDS = words("targets.grounds")
"""Findings that are grounds for an act, never what it is about."""
NO_DRUG = words("acts.no_drug")
DOSE_SIZES = words("measure.dose_dimensions")
REACH_AFTER = 7
REACH_BEFORE = 9
CJK_AFTER = 6
LIST_WORDS = words("acts.list_words")
LIST_BREAKS = words("acts.list_breaks")
PASSIVE = words("acts.passive")
THE_DRUG = tuple(sorted(words("acts.the_drug")))
BARE = words("acts.bare")
OBJECT_ENDS = words("acts.object_ends")
"""Words after which no object of an act follows ("stop it because of …")."""
OBJECT_PRONOUNS = words("acts.object_pronouns")
BACKWARD = words("acts.backward")
DOSING = tuple(sorted(words("acts.dosing")))
DOSES = words("acts.doses")
LEFT_OPEN = frozenset(("stop", "hold", "reduce", "increase"))
"""Acts of which a sentence may leave out the drug."""
URGED = dict.fromkeys(map(ord, "".join(sorted(words("acts.urging")))))
"""Characters of what may stand before such an act in Chinese."""


@dataclass(frozen=True, slots=True)
class Site:
    """An act cue with what the clause says around it."""

    ann: Ann
    chinese: bool
    text: str
    framed: bool = False
    """Read from a whole wording, which holds its own words of recommendation."""


class Targets:
    """The acts and the possible targets of one sentence; `carried` is the drug last named before it."""

    def __init__(
        self, document: Document, number: int, sentence: Sentence, scopes: Scopes, carried: Ann | None
    ) -> None:
        self.document = document
        self.number = number
        self.sentence = sentence
        self.scopes = scopes
        self.carried = carried
        self.acts = list(sentence.of("act"))
        self.targets = [ann for ann in sentence.anns if ann.layer == "concept"]
        self.drugs = [ann for ann in self.targets if ann.value.drug]

    def _fit(self, ann: Ann, act: str, *, plain: bool = False) -> bool:
        """Tell whether a concept may be the target of an act; `plain`: the act's word orders no drugs ("抽", "做")."""
        value: Named = ann.value
        if act in DRUG_ACTS:
            return (
                value.drug
                or (bool(value.kinds & {"procedure", "service"}) and act in ("start", "stop", "hold", "continue"))
                or ("finding" in value.kinds and act in ("stop", "hold", "continue") and value.ids[0] not in GROUNDS)
            )
        if act == "refer":
            return "service" in value.kinds
        return not (act == "order" and plain and value.drug and not value.measurable)

    def _next_act(self, ann: Ann) -> int:
        """Return where the next act word begins that may take its own target."""
        for other in self.acts:
            if other.start >= ann.end and other.kind not in (ann.kind, "none"):
                return other.start
        return self.sentence.end

    def _after(self, site: Site) -> list[Ann]:
        ann = site.ann
        if site.text in BACKWARD:
            return []
        limit = self._next_act(ann)
        plain = site.text in NO_DRUG
        candidates = [
            t
            for t in self.targets
            if ann.start < t.start < max(limit, ann.end)
            and self._fit(t, ann.kind, plain=plain)
            and not (t.end <= ann.end and t.value.kinds <= {"finding"})  # "time she came off it"
        ]
        if not candidates:
            return []
        first = candidates[0]
        reach = CJK_AFTER if site.chinese else REACH_AFTER
        if first.start - ann.end > reach:
            return []
        return [] if self._cut_off(site, first) else self._listed(candidates, site)

    def _cut_off(self, site: Site, first: Ann) -> bool:
        """Tell whether what stands between an act and the next concept makes that no object of the act."""
        ann, gap = site.ann, self.document.tokens[site.ann.end : first.start]
        if any(t.raw in "，;；:。" or (t.raw == "," and not site.chinese) for t in gap) and site.text != "hold":
            return True
        if site.chinese:
            denied = any(m.kind == "neg" and ann.end <= m.start < first.start for m in self.scopes.mods)
            return denied or any(self.sentence.within(ann.end, first.start, "quantity"))  # "复查未见血栓"
        turned = any(t.key in OBJECT_ENDS for t in gap) and ann.kind in DRUG_ACTS
        return turned and site.text != "off" and gap[0].key not in OBJECT_PRONOUNS

    def _listed(self, candidates: list[Ann], site: Site) -> list[Ann]:
        """Return the first target and those that a list adds to it."""
        tokens = self.document.tokens
        found = [candidates[0]]
        for following in candidates[1:]:
            between = [tokens[i] for i in range(found[-1].end, following.start)]
            words = [t for t in between if t.kind in "wc" and t.key not in LIST_WORDS]
            quantities = any(a.layer == "quantity" for a in self.sentence.within(found[-1].end, following.start))
            marks = any(t.key in LIST_WORDS for t in between)
            if any(t.key in LIST_BREAKS for t in between):
                break  # "stop aspirin, not warfarin"
            if self._owned_elsewhere(following, found[-1]):
                break
            if not between or (
                marks
                and len(words) <= (5 if quantities else 1)
                and len(between) <= 12
                and "for" not in [t.key for t in between]
            ):
                found.append(following)
            else:
                break
        return found

    def _owned_elsewhere(self, target: Ann, previous: Ann) -> bool:
        """Tell whether a later clause has its own act for a target ("stop A, keep B")."""
        clause = self.document.clause
        if clause[target.start] == clause[previous.start]:
            return False
        return any(
            clause[a.start] == clause[target.start] and a.kind != "none" and a.start >= target.start for a in self.acts
        )

    def _before(self, site: Site) -> list[Ann]:
        ann = site.ann
        tokens = self.document.tokens
        begin = self.sentence.start
        for other in self.acts:
            if (
                other.end <= ann.start
                and other.kind not in ("avoid", "none", ann.kind)
                and self.document.text(other.start, other.end).lower() not in BACKWARD
            ):
                begin = max(begin, other.end)
        plain = site.text in NO_DRUG
        candidates = [
            t for t in self.targets if t.end <= ann.start and t.start >= begin and self._fit(t, ann.kind, plain=plain)
        ]
        if not candidates:
            return []
        last = candidates[-1]
        if ann.start - last.end > REACH_BEFORE:
            return []
        if (
            site.chinese
            and self._own_object(site)
            and self.document.clause[last.start] != self.document.clause[ann.start]
        ):
            return []
        gap = [tokens[i].raw for i in range(last.end, ann.start)]
        label = (
            last.start == self.sentence.start and len(gap) == 1 and gap[0] in ":："
        )  # "Lisinopril: increase to 20 mg"
        if (any(raw in ";；。:" for raw in gap) and not label) or (
            any(raw in ",，" for raw in gap) and not site.chinese
        ):
            return []
        if (
            not site.chinese
            and ann.kind in ("start", "order", "recheck", "refer", "continue")
            and not (set(gap) & PASSIVE or site.text in BACKWARD)
        ):
            return []
        found = [last]
        for earlier in reversed(candidates[:-1]):
            between = [tokens[i].key for i in range(earlier.end, found[0].start)]
            if self._owned_before(earlier, found[0]):
                break
            if between and all(key in LIST_WORDS for key in between) and len(between) <= 2:
                found.insert(0, earlier)
            else:
                break
        return found

    def _owned_before(self, earlier: Ann, found: Ann) -> bool:
        """Tell whether the clause of an earlier target has its own act ("拟行白内障手术，阿司匹林不必停")."""
        clause = self.document.clause
        if clause[earlier.start] == clause[found.start]:
            return False
        return any(clause[a.start] == clause[earlier.start] and a.kind != "none" for a in self.acts)

    def _own_object(self, site: Site) -> bool:
        """Tell whether unknown words follow an act in its clause: its object ("…，先上酚苄明")."""
        ann, tokens = site.ann, self.document.tokens
        if ann.kind not in ("start", "order", "refer"):
            return False
        end = self._clause_end(ann)
        known = {i for a in self.sentence.within(ann.end, end) for i in range(a.start, a.end)}
        return sum(tokens[i].kind in "cw" and i not in known for i in range(ann.end, end)) >= 2

    def _anaphor(self, site: Site) -> list[Ann]:
        """As in "Stop it": the drug last named."""
        ann = site.ann
        words = {self.document.tokens[i].key for i in range(ann.start, min(ann.end + 3, self.sentence.end))}
        earlier = [d for d in self.drugs if d.end <= ann.start]
        if earlier and not site.chinese and (self._bare(ann) or self._dose_follows(site)):
            return [earlier[-1]]
        if self.carried is not None and (self._of_dose(site) or (not site.chinese and self._opens_bare(site))):
            return [self.carried]
        if (
            site.chinese
            or words & {"it", "them", "this", "both", "that"}
            or site.text.startswith(THE_DRUG)
            or self._said_before(ann).endswith(THE_DRUG)
            or "it" in {self.document.tokens[i].key for i in range(max(self.sentence.start, ann.start - 4), ann.start)}
        ):
            apart = (
                any(self.document.tokens[i].raw in ";；" for i in range(earlier[-1].end, ann.start))
                if earlier
                else True
            )
            if earlier and (not apart or not site.chinese):
                return [earlier[-1]]
            if self.carried is not None and not site.chinese:
                return [self.carried]
            if not earlier and not site.chinese:
                return self._of_level()
        return self._of_level() if not earlier and self._dosing(site) else []

    def _said_before(self, ann: Ann) -> str:
        """Return the words of an act's clause before it ("the drug" of "the drug has to go")."""
        start = self.document.clause_start(self.sentence, ann.start)
        return self.document.text(start, ann.start).lower().strip()

    def _of_dose(self, site: Site) -> bool:
        """As in "… takes 20 mg a day. Double the dose until …", "…20mg。建议减半。": of the drug named before."""
        if self.drugs or site.ann.kind not in LEFT_OPEN:
            return False
        tokens, at, end = self.document.tokens, site.ann.end, self.sentence.end
        if not site.chinese:
            near = next((i for i in range(at, min(at + 3, end)) if tokens[i].key in DOSES), None)
            return near is not None and not (near + 1 < end and tokens[near + 1].key == "of")
        before = self.document.text(self.document.clause_start(self.sentence, site.ann.start), site.ann.start)
        alone = (
            at >= end
            or tokens[at].raw in "，,。；;至到"
            or any(a.start == at for a in self.sentence.within(at, end) if a.layer in ("quantity", "time"))
        )
        return alone and not before.strip("*-# ").translate(URGED)

    def _dosing(self, site: Site) -> bool:
        """As in "Tacrolimus trough 16.8: bring the dose down", "剂量降到3mg": of the drug measured."""
        begin = self.document.clause_start(self.sentence, site.ann.start)
        said = self.document.text(begin, site.ann.end).lower()
        return site.ann.kind in ("reduce", "increase") and any(word in said for word in DOSING)

    def _of_level(self) -> list[Ann]:
        """As in "Lithium level is 2.1, so it has to stop": the drug whose level is named."""
        drugs = knowledge.drugs()
        for ann in self.sentence.of("concept"):
            one = ann.value.ids[0]
            if one.endswith("_level") and one.removesuffix("_level") in drugs:
                return [Ann(ann.start, ann.end, "concept", "concept", named((one.removesuffix("_level"),)))]
        return []

    def _dose_follows(self, site: Site) -> bool:
        """As in "… on carvedilol 6.25 mg, so uptitrate to 12.5 mg BID": the new dose of the drug named before."""
        at = site.ann.end
        if site.text not in BARE or at >= self.sentence.end:
            return False
        if not site.text.endswith(" to"):
            if self.document.tokens[at].key not in ("to", "by"):
                return False
            at += 1
        sizes = self.sentence.within(at, at + 4, "quantity")
        return any(a.start == at and a.value.dimension in DOSE_SIZES for a in sizes)

    def _opens_bare(self, site: Site) -> bool:
        """As in "… on losartan 50 mg. Increase to 100 mg.": the act opens a sentence that names nothing else."""
        if site.ann.start != self.sentence.start or self.targets or site.text not in BARE:
            return False
        following = list(self.sentence.within(site.ann.end, site.ann.end + 6))
        at = site.ann.end
        if at < self.sentence.end and self.document.tokens[at].key in ("to", "by", "at"):
            return any(a.layer == "quantity" and a.start <= at + 1 for a in following)
        if site.text.endswith(" to"):
            return any(a.layer == "quantity" and a.start == at and a.value.dimension in DOSE_SIZES for a in following)
        return (
            at >= self.sentence.end
            or self.document.tokens[at].raw in ".,;"
            or any(a.layer in ("time", "modifier") and a.start == at for a in following)
        )

    def _bare(self, ann: Ann) -> bool:
        """Tell whether a clause holds an act and no more ("Levothyroxine is at the right dose, carry on.")."""
        opens = self.document.clause_start(self.sentence, ann.start) == ann.start > self.sentence.start
        return opens and self._clause_end(ann) - ann.end <= 2

    def _clause_end(self, ann: Ann) -> int:
        """Return where the clause of an act ends, not before the act itself does."""
        return max(ann.end, self.document.clause_end(self.sentence, ann.start))

    def _make(
        self,
        site: Site,
        act: str,
        target: Ann | None,
        advised: bool,
        flags: Flags,
        *,
        to: Ann | None = None,
        implied: bool = False,
    ) -> ActClaim:
        start, end = site.ann.start, max(site.ann.end, site.ann.start + 1)
        if target is not None:
            start, end = min(start, target.start), max(end, target.end)
        if to is not None:
            end = max(end, to.end)
        left, right = self.document.clause_start(self.sentence, site.ann.start), self._clause_end(site.ann)
        local = target is not None and self.sentence.start <= target.start < self.sentence.end
        if not local and target is not None:
            start, end = site.ann.start, max(site.ann.end, site.ann.start + 1)
        ids = target.value.ids if target is not None else ()
        return ActClaim(
            act=act,
            target=ids[0] if ids else "",
            targets=ids,
            to=to.value.ids if to is not None else (),
            advised=advised,
            span=self.document.span(start, end),
            token=site.ann.start,
            end=target.start if target is not None else site.ann.end,
            sentence=self.number,
            words=self.document.text(left, right).lower(),
            flags=flags,
            implied=implied,
        )
