"""Reads what an answer advises: the act, its target, and whether it is really recommended."""

from __future__ import annotations

from dataclasses import dataclass

from .annotate import Named
from .claims import ActClaim, Flags
from .cues import words
from .document import Ann, Document, Sentence
from .scope import Scopes

DRUG_ACTS = frozenset(("start", "stop", "hold", "continue", "reduce", "increase", "switch", "resume"))
OPPOSITE = {"start": "avoid", "order": "avoid", "refer": "avoid", "recheck": "avoid", "stop": "continue", "hold": "continue", "continue": "stop", "resume": "avoid", "switch": "continue"}  # fmt: skip
WEIGHED = words("acts.weighed")
PAST_AUXILIARY = words("acts.past_auxiliary")
PAST_FORMS = words("acts.past_forms")
MODALS = words("acts.modals")
WEAK_VERBS = words("acts.weak_verbs")
REACH_AFTER = 7
REACH_BEFORE = 9
CJK_AFTER = 6


@dataclass(frozen=True, slots=True)
class _Site:
    """An act cue with what the clause says around it."""

    ann: Ann
    chinese: bool
    text: str


class ActReader:
    """Reads the acts of one sentence; `carried` is the drug last named before it."""

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

    def read(self) -> list[ActClaim]:
        """Return the acts of the sentence."""
        claims: list[ActClaim] = []
        used: set[int] = set()
        for index, ann in enumerate(self.acts):
            text = self.document.text(ann.start, ann.end).lower()
            site = _Site(ann, self.document.tokens[ann.start].kind == "c", text)
            if ann.kind == "none" or (ann.kind == "avoid" and self._governs(index)):
                continue
            if not site.chinese and not self._is_verb(site):
                continue
            found = self._switch(site) if ann.kind == "switch" else self._plain(site)
            for claim in found:
                used.add(claim.token)
                claims.append(claim)
        claims.extend(self._orders(claims))
        return claims

    # -- the act word ---------------------------------------------------------------------------------------------

    def _is_verb(self, site: _Site) -> bool:
        """Tell whether an ambiguous English word stands where a verb does."""
        if site.text not in WEAK_VERBS:
            return True
        start = site.ann.start
        if start == self.sentence.start:
            return True
        previous = self.document.tokens[start - 1]
        if previous.kind in "pn" or previous.kind == "l":
            return previous.raw not in "/-"
        near = [self.document.tokens[i].key for i in range(max(self.sentence.start, start - 2), start)]
        return (
            bool(set(near) & MODALS)
            or self.document.clause[start - 1] != self.document.clause[start]
            or near[-1] in ("not", "n't", "don't", "never", "you", "i", "we", "wait")
        )

    def _governs(self, index: int) -> bool:
        """Tell whether a warning word governs the act word right after it ("切勿再加量", "avoid stopping")."""
        ann = self.acts[index]
        for other in self.acts[index + 1 :]:
            if other.start == ann.start:
                continue
            return (
                other.start - ann.end <= 2
                and self.document.clause[other.start] == self.document.clause[ann.start]
                and not any(ann.end <= t.start < other.start for t in self.targets)
            )
        return False

    def _warned(self, site: _Site) -> bool:
        """Tell whether a warning word governs this act."""
        for index, ann in enumerate(self.acts):
            if (
                ann.kind == "avoid"
                and ann.end <= site.ann.start
                and self._governs(index)
                and site.ann.start - ann.end <= 2
            ):
                return True
        return False

    def _status(self, site: _Site, start: int, end: int) -> tuple[bool, bool, Flags]:
        """Return (advised, negated, flags) of an act."""
        ann = site.ann
        flags = self.scopes.flags(ann.start, ann.end)
        negated = self._negated(site) or self._warned(site)
        tokens, clause = self.document.tokens, self.document.clause
        left = ann.start
        while left > self.sentence.start and clause[left - 1] == clause[ann.start] and ann.start - left < 9:
            left -= 1
        before = [tokens[i].key for i in range(left, ann.start)]
        joined = "".join(before[-4:])
        weighed = bool(set(before) & WEIGHED) or "考虑" in joined or "是否" in joined
        past = bool(set(before[-3:]) & PAST_AUXILIARY) and "be" not in before[-2:]
        if site.text in PAST_FORMS and "be" not in before[-3:] and "been" not in before:
            past = past or "should" not in before
        if (
            site.text.split()[:1]
            and site.text.split()[0].endswith("ing")
            and not site.chinese
            and not self._gerund_advised(before, ann.end)
        ):
            past = True
        if flags.past and not (set(before) & {"should", "must"}) and site.chinese and not self._recommended(ann.start):
            past = True
        heading = self.sentence.header
        weighed = weighed or any(word in heading for word in ("option", "alternatives", "选项", "可选"))
        outside = (flags.patient or flags.chart or flags.relative) and not self._recommended(ann.start)
        conditional = self._conditional(ann)
        advised = not (
            weighed
            or past
            or outside
            or conditional
            or flags.family
            or flags.other
            or flags.general
            or self.sentence.question
        )
        return advised, negated, flags

    def _conditional(self, ann: Ann) -> bool:
        """Tell whether the act hangs on a condition; one that follows belongs to the last act before it."""
        where = self.scopes.conditional(ann.start)
        if ann.kind == "resume" or not where:
            return False
        if where == "inside":
            return True
        conditions = [m for m in self.scopes.mods if m.kind == "cond"]
        following = [m for m in conditions if m.start >= ann.end]
        if following and not any(m.end <= ann.start for m in conditions):
            return not any(ann.end <= other.start < following[0].start for other in self.acts)
        return True

    def _gerund_advised(self, before: list[str], end: int) -> bool:
        words = {
            "recommend",
            "suggest",
            "advise",
            "favor",
            "favour",
            "propose",
            "keep",
            "by",
            "start",
            "requires",
            "needs",
            "warrants",
            "i'd",
        }
        if set(before[-4:]) & words:
            return True
        after = {self.document.tokens[i].key for i in range(end, min(self.sentence.end, end + 10))}
        return bool(
            after
            & {
                "recommended",
                "advised",
                "advisable",
                "warranted",
                "indicated",
                "sensible",
                "appropriate",
                "needed",
                "reasonable",
                "prudent",
            }
        )

    def _negated(self, site: _Site) -> bool:
        ann = site.ann
        for mod in self.scopes.mods:
            if mod.kind not in ("neg", "pseudo") or mod.end > ann.start:
                continue
            text = self.document.text(mod.start, mod.end).lower()
            if mod.kind == "pseudo" and text not in ("no reason to",):
                continue
            gap = ann.start - mod.end
            same = self.document.clause[mod.start] == self.document.clause[ann.start]
            if site.chinese:
                if same and gap <= 2:
                    return True
            elif (
                same
                and gap <= 4
                and not any(mod.end <= other.start < ann.start and other.kind not in (ann.kind, "none") for other in self.acts)
            ):
                return True
        if not site.chinese and ann.kind != "avoid":
            after = self.document.text(ann.end, min(ann.end + 8, self.sentence.end)).lower()
            return any(
                word in after
                for word in (
                    "is not needed",
                    "is not required",
                    "is not necessary",
                    "is unnecessary",
                    "isn't needed",
                    "not warranted",
                    "not indicated",
                    "not recommended",
                    "is not advised",
                )
            )
        return False

    def _recommended(self, at: int) -> bool:
        """Tell whether a word of recommendation stands between the last source and `at`."""
        sources = [s for s in self.scopes.sources if s.start < at]
        begin = sources[-1].end if sources else self.sentence.start
        text = self.document.text(begin, at).lower()
        return any(word in text for word in RECOMMENDING)

    # -- targets --------------------------------------------------------------------------------------------------

    def _fit(self, ann: Ann, act: str) -> bool:
        value: Named = ann.value
        if act in DRUG_ACTS:
            return value.drug or (
                bool(value.kinds & {"procedure", "finding", "service"}) and act in ("start", "stop", "hold", "continue")
            )
        if act == "refer":
            return "service" in value.kinds
        return True

    def _plain(self, site: _Site) -> list[ActClaim]:
        ann = site.ann
        if site.text in PROPOSING and self._acts_again(ann):
            return []
        targets = self._after(site) or (self._before(site) if site.text not in PROPOSING else [])
        if not targets and site.text in PROPOSING:
            return []
        if not targets and ann.kind in DRUG_ACTS:
            targets = self._anaphor(site)
        advised, negated, flags = self._status(site, ann.start, ann.end)
        act = ann.kind
        if act == "resume":
            act = "start"
        if negated:
            if act == "avoid":
                return []
            act = OPPOSITE.get(act, "")
            if not act:
                return []
        if not targets:
            return [self._make(site, act, None, advised, flags)] if ann.kind not in ("resume",) else []
        return [self._make(site, act, target, advised, flags) for target in targets]

    def _acts_again(self, ann: Ann) -> bool:
        """Tell whether another act follows in the clause: then "recommend" proposes that, not a drug."""
        clause = self.document.clause
        return any(a.start >= ann.end and clause[a.start] == clause[ann.start] and a.kind not in ("none", "start") for a in self.acts)

    def _next_act(self, ann: Ann) -> int:
        """Return where the next act word begins that may take its own target."""
        for other in self.acts:
            if other.start >= ann.end and other.kind not in (ann.kind, "none"):
                return other.start
        return self.sentence.end

    def _after(self, site: _Site) -> list[Ann]:
        ann = site.ann
        if site.text in BACKWARD:
            return []
        tokens, _clause = self.document.tokens, self.document.clause
        limit = self._next_act(ann)
        candidates = [t for t in self.targets if ann.start < t.start < max(limit, ann.end) and self._fit(t, ann.kind)]
        if not candidates:
            return []
        first = candidates[0]
        reach = CJK_AFTER if site.chinese else REACH_AFTER
        if first.start - ann.end > reach:
            return []
        gap = [tokens[i] for i in range(ann.end, first.start)]
        if any(t.raw in "，;；:。" or (t.raw == "," and not site.chinese) for t in gap) and site.text not in ("hold",):
            return []
        if site.chinese and any(a.layer == "quantity" for a in self.sentence.within(ann.end, first.start)):
            return []
        if (
            (
                not site.chinese
                and any(
                    t.key
                    in (
                        "while",
                        "when",
                        "because",
                        "for",
                        "since",
                        "as",
                        "if",
                        "until",
                        "after",
                        "before",
                        "in",
                        "on",
                        "with",
                        "by",
                        "at",
                    )
                    for t in gap
                )
                and ann.kind in DRUG_ACTS
            )
            and site.text not in ("off",)
            and gap[0].key not in ("him", "her", "them", "the")
        ):
            return []
        return self._listed(candidates, site)

    def _listed(self, candidates: list[Ann], site: _Site) -> list[Ann]:
        """Return the first target and those that a list adds to it."""
        tokens = self.document.tokens
        found = [candidates[0]]
        for following in candidates[1:]:
            between = [tokens[i] for i in range(found[-1].end, following.start)]
            words = [t for t in between if t.kind in "wc" and t.key not in LIST_WORDS]
            quantities = any(a.layer == "quantity" for a in self.sentence.within(found[-1].end, following.start))
            marks = any(t.key in LIST_WORDS for t in between)
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

    def _before(self, site: _Site) -> list[Ann]:
        ann = site.ann
        tokens, _clause = self.document.tokens, self.document.clause
        begin = self.sentence.start
        for other in self.acts:
            if (
                other.end <= ann.start
                and other.kind not in ("avoid", "none", ann.kind)
                and self.document.text(other.start, other.end).lower() not in BACKWARD
            ):
                begin = max(begin, other.end)
        candidates = [t for t in self.targets if t.end <= ann.start and t.start >= begin and self._fit(t, ann.kind)]
        if not candidates:
            return []
        last = candidates[-1]
        if ann.start - last.end > REACH_BEFORE:
            return []
        gap = [tokens[i].raw for i in range(last.end, ann.start)]
        label = last.start == self.sentence.start and len(gap) == 1 and gap[0] in ":："  # "Lisinopril: increase to 20 mg"
        if (any(raw in ";；。:" for raw in gap) and not label) or (any(raw in ",，" for raw in gap) and not site.chinese):
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
            if between and all(key in LIST_WORDS for key in between) and len(between) <= 2:
                found.insert(0, earlier)
            else:
                break
        return found

    def _anaphor(self, site: _Site) -> list[Ann]:
        """ "Stop it": the drug last named."""
        ann = site.ann
        words = {self.document.tokens[i].key for i in range(ann.start, min(ann.end + 3, self.sentence.end))}
        earlier = [d for d in self.drugs if d.end <= ann.start]
        if (
            site.chinese
            or words & {"it", "them", "this", "both", "that"}
            or "it" in {self.document.tokens[i].key for i in range(max(self.sentence.start, ann.start - 4), ann.start)}
        ):
            if earlier and not any(self.document.tokens[i].raw in ";；" for i in range(earlier[-1].end, ann.start)):
                return [earlier[-1]]
            if self.carried is not None and not site.chinese:
                return [self.carried]
        return []

    # -- switches and bare orders -----------------------------------------------------------------------------------

    def _switch(self, site: _Site) -> list[ActClaim]:
        ann = site.ann
        advised, negated, flags = self._status(site, ann.start, ann.end)
        after = [d for d in self.drugs if d.start >= ann.end]
        before = [d for d in self.drugs if d.end <= ann.start]
        old: Ann | None = None
        new: Ann | None = None
        if site.chinese:
            new = after[0] if after and after[0].start - ann.end <= 8 else None
            old = before[-1] if before else self.carried
            if new is None:
                return []
        else:
            tokens = self.document.tokens
            if len(after) >= 2 and any(
                tokens[i].key in ("to", "with", "for") for i in range(after[0].end, after[1].start)
            ):
                old, new = after[0], after[1]
            elif after and any(tokens[i].key in ("to", "with", "for") for i in range(ann.end, after[0].start)):
                new, old = after[0], (before[-1] if before else self.carried)
            elif after:
                old = after[0]
        if negated:
            return [self._make(site, "continue", old, advised, flags)] if old is not None else []
        claims = []
        if old is not None:
            claims.append(self._make(site, "switch", old, advised, flags, to=new))
            claims.append(self._make(site, "stop", old, advised, flags, implied=True))
        if new is not None and (old is None or set(old.value.ids) != set(new.value.ids)):
            claims.append(self._make(site, "start", new, advised, flags, implied=True))
        return claims

    def _orders(self, claims: list[ActClaim]) -> list[ActClaim]:
        """Read a drug with its dose and no verb as an order ("Lopressor 5 mg IV x1")."""
        taken = {claim.end for claim in claims} | {claim.token for claim in claims}
        found: list[ActClaim] = []
        for drug in self.drugs:
            if drug.start in taken or drug.value.measurable:
                continue
            opened = self._opens_item(drug)
            if not opened or not (self._dosed(drug) or found):
                continue
            flags = self.scopes.flags(drug.start, drug.end)
            if (
                flags.patient
                or flags.chart
                or flags.past
                or flags.negated
                or flags.elsewhere
                or flags.hedged
                or self._described(drug)
            ):
                continue
            site = _Site(Ann(drug.start, drug.start, "act", "start"), self.document.tokens[drug.start].kind == "c", "")
            found.append(self._make(site, "start", drug, True, flags))
        return found

    def _opens_item(self, drug: Ann) -> bool:
        """Tell whether a drug opens a sentence, a list item or a clause."""
        if drug.start == self.sentence.start:
            return True
        previous = self.document.tokens[drug.start - 1]
        if previous.raw in ",，:：;；-*|、(" or previous.key in ("and", "then", "plus", "加"):
            return True
        adjectives = {"oral", "iv", "po", "topical", "inhaled", "low", "dose", "high", "sublingual"}
        return previous.key in adjectives and (
            drug.start - 1 == self.sentence.start or self.document.tokens[drug.start - 2].raw in ",:;-*"
        )

    def _dosed(self, drug: Ann) -> bool:
        return any(
            a.layer == "quantity"
            and a.value.dimension
            in ("mass", "volume", "activity", "equivalents", "substance", "flow_hourly", "weight_dose")
            for a in self.sentence.within(drug.end, drug.end + 8)
        )

    def _described(self, drug: Ann) -> bool:
        """Tell whether the sentence lists what the patient takes, or says that a dose stays."""
        heads = " ".join(head for head, _, _ in self.sentence.row)
        text = f" {self.document.text(self.sentence.start, drug.start).lower()} {self.sentence.header} {heads} "
        return any(word in text for word in DESCRIBING)

    def _make(
        self,
        site: _Site,
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
        clause = self.document.clause
        left = site.ann.start
        while left > self.sentence.start and clause[left - 1] == clause[site.ann.start]:
            left -= 1
        right = site.ann.end
        while right < self.sentence.end and clause[right] <= clause[site.ann.start]:
            right += 1
        local = target is not None and self.sentence.start <= target.start < self.sentence.end
        if not local and target is not None:
            start, end = site.ann.start, max(site.ann.end, site.ann.start + 1)
        ids = target.value.ids if target is not None else ()
        return ActClaim(
            act=act, target=ids[0] if ids else "", targets=ids, to=to.value.ids if to is not None else (), advised=advised,
            span=self.document.span(start, end), token=site.ann.start, end=target.start if target is not None else site.ann.end, sentence=self.number,
            words=self.document.text(left, right).lower(), flags=flags, implied=implied,
        )  # fmt: skip


RECOMMENDING = tuple(sorted(words("acts.recommending")))
LIST_WORDS = words("acts.list_words")
PROPOSING = words("acts.proposing")
PASSIVE = words("acts.passive")
BACKWARD = words("acts.backward")
DESCRIBING = tuple(sorted(words("acts.describing")))
