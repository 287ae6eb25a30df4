"""Reads what an answer advises: the act, its target, and whether it is really recommended."""

from __future__ import annotations

from dataclasses import replace

from wardround.patients import knowledge
from wardround.rubrics.limits import limits

from .claims import ActClaim, Flags
from .cues import words
from .document import Ann
from .framed import OPPOSITE
from .frames import Frame
from .meant import Meant
from .named import named
from .targets import DRUG_ACTS, Site

CHOICE = words("choice")
NOT_NEEDED = tuple(sorted(words("acts.not_needed")))
LEVEL = words("reading.level")
WHEN_NEEDED = tuple(sorted(words("acts.when_needed")))
THEN = tuple(sorted(words("acts.then")))
STOPPING = frozenset(("stop", "hold", "continue"))
LOOK_BACK = 9
"""Tokens before an act in its clause that say how it is meant."""
CHOICE_GAP = 14
"""Tokens between two acts of which one is to be chosen."""
WEIGHED = words("acts.weighed")
WEIGHED_HAN = tuple(sorted(word for word in WEIGHED if not word.isascii()))
OPTIONAL = tuple(sorted(words("acts.optional")))
"""Headings under which acts are choices."""
PAST_AUXILIARY = words("acts.past_auxiliary")
PAST_FORMS = words("acts.past_forms")
MODALS = words("acts.modals")
WEAK_VERBS = words("acts.weak_verbs")
PROPOSING = words("acts.proposing")
LISTING = tuple(sorted(words("acts.listing")))
REFUSING = words("acts.refusing")
DOSE_FORMS = words("acts.dose_forms")
COUNTED = words("acts.counted")
DESCRIBING = tuple(sorted(words("acts.describing")))


class ActReader(Meant):
    """Reads the acts of one sentence."""

    measure: Ann | None = None
    """The measurement named last before the sentence."""

    def read(self) -> list[ActClaim]:
        """Return the acts of the sentence."""
        framed = self._framed()
        claims: list[ActClaim] = []
        for index, ann in enumerate(self.acts):
            text = self.document.text(ann.start, ann.end).lower()
            site = Site(ann, self.document.tokens[ann.start].kind == "c", text)
            if ann.kind in ("order", "recheck") and self._resulted(ann):
                continue
            if ann.kind == "none" or (ann.kind == "avoid" and self._governed(index) is not None):
                continue
            if not site.chinese and not self._is_verb(site):
                continue
            claims.extend(self._switch(site) if ann.kind == "switch" else self._plain(site))
        claims = [kept for claim in claims if (kept := self._kept(claim, framed)) is not None]
        for frame in framed:
            claims.extend(self._of_frame(frame))
        claims.extend(self._orders(claims, framed))
        return self._chosen(self._of_drugs(claims))

    def _of_drugs(self, claims: list[ActClaim]) -> list[ActClaim]:
        """Drop a finding as the target of an act that has its drug too ("因血管性水肿停用依那普利")."""
        drugs = {one for ann in self.drugs for one in ann.value.ids}
        findings = {one for ann in self.targets if ann.value.kinds <= {"finding", "condition"} for one in ann.value.ids}
        cues = [ann.kind for ann in self.acts]
        dosed = {c.act for c in claims if c.target in drugs and cues.count(c.act) == 1}
        claims = [self._drug_instead(c, findings - drugs) for c in claims]
        return [c for c in claims if not (c.act in dosed & STOPPING and c.target in findings)]

    def _chosen(self, claims: list[ActClaim]) -> list[ActClaim]:
        """Take back acts that the sentence leaves the choice of ("continue vs hold", "hold (or continue it)")."""
        tokens = self.document.tokens
        open_ones: set[int] = set()
        for one, left in enumerate(claims):
            for other, right in enumerate(claims):
                gap = right.token - left.token
                if not 0 < gap <= CHOICE_GAP or not limits().acts_clash(left.act, right.act):
                    continue
                shared = not left.targets or not right.targets or set(left.targets) & set(right.targets)
                before = range(max(left.token + 1, right.token - 2), right.token)
                if shared and any(tokens[i].key in CHOICE for i in before):
                    open_ones |= {one, other}
        return [replace(claim, advised=False) if i in open_ones else claim for i, claim in enumerate(claims)]

    def _resulted(self, ann: Ann) -> bool:
        """As in "复查4.3mmol/L": a number right after a test's word is its result."""
        return self.document.tokens[ann.start].kind == "c" and any(
            a.start == ann.end for a in self.sentence.within(ann.end, ann.end + 6, "quantity")
        )

    # -- the act word ---------------------------------------------------------------------------------------------

    def _is_verb(self, site: Site) -> bool:
        """Tell whether an ambiguous English word stands where a verb does."""
        if site.text not in WEAK_VERBS:
            return True
        start = site.ann.start
        if start == self.sentence.start or any(link.end == start for link in self.sentence.of("link", "so")):
            return True  # "For that reason hold …"
        previous = self.document.tokens[start - 1]
        if previous.key in CHOICE:
            return True
        if previous.kind in "pn" or previous.kind == "l":
            return previous.raw not in "/-"
        near = [self.document.tokens[i].key for i in range(max(self.sentence.start, start - 2), start)]
        return (
            bool(set(near) & MODALS)
            or self.document.clause[start - 1] != self.document.clause[start]
            or near[-1] in ("not", "n't", "don't", "never", "you", "i", "we", "wait")
        )

    def _governed(self, index: int) -> Ann | None:
        """Return the act word right after a warning word, which it governs ("切勿再加量", "avoid stopping")."""
        ann = self.acts[index]
        other = next((a for a in self.acts[index + 1 :] if a.start != ann.start), None)
        if other is None or other.start - ann.end > 2:
            return None
        same = self.document.clause[other.start] == self.document.clause[ann.start]
        return other if same and not any(ann.end <= t.start < other.start for t in self.targets) else None

    def _warned(self, site: Site) -> bool:
        """Tell whether a warning word governs this act, not another before it ("不必停，照常服")."""
        governed = (self._governed(i) for i, a in enumerate(self.acts) if a.kind == "avoid")
        return any(other is not None and other.start == site.ann.start for other in governed)

    def _status(self, site: Site, start: int, end: int) -> tuple[bool, bool, Flags]:
        """Return (advised, negated, flags) of an act."""
        ann = site.ann
        at = ann.end if site.framed else ann.start
        flags = self.scopes.flags(ann.start, ann.end)
        negated = self._negated(site) or self._warned(site)
        tokens = self.document.tokens
        left = max(self.document.clause_start(self.sentence, ann.start), ann.start - LOOK_BACK)
        before = [tokens[i].key for i in range(left, ann.start)]
        joined = "".join(before[-4:])
        weighed = bool(set(before) & WEIGHED) or any(word in joined for word in WEIGHED_HAN)
        weighed = weighed or (site.chinese and self._wished(ann))
        past = bool(set(before[-3:]) & PAST_AUXILIARY) and "be" not in before[-2:]
        if site.text in PAST_FORMS and "be" not in before[-3:] and "been" not in before:
            past = past or "should" not in before
        if (
            site.text.split()[:1]
            and site.text.split()[0].endswith("ing")
            and not site.chinese
            and site.text.split()[0] != "bring"
            and not self._gerund_advised(before, ann.end)
        ):
            past = True
        if flags.past and not (set(before) & {"should", "must"}) and site.chinese and not self._recommended(at):
            past = True
        heading = self.sentence.header + self._lead_in()
        weighed = weighed or any(word in heading for word in OPTIONAL)
        outside = (flags.patient or flags.chart or flags.relative) and not self._recommended(at)
        outside = outside and not (flags.chart and self._turned_to_patient(ann))
        conditional = self._conditional(ann)
        advised = not (
            weighed
            or past
            or outside
            or conditional
            or self._not_meant(ann, at, quoted=flags.chart)
            or (flags.family and (self._beside_family(ann) or not self._recommended(at)))
            or flags.other
            or flags.general
            or self.sentence.question
        )
        return advised, negated, flags

    def _wished(self, ann: Ann) -> bool:
        """As in "患者嫌麻烦想停药": a wish right before the act is somebody else's, unless it is the answer's own."""
        return any(
            wish.end == ann.start and self.document.tokens[wish.start - 1].raw not in "我们"
            for wish in self.sentence.of("event", "want")
            if wish.start > self.sentence.start
        )

    def _negated(self, site: Site) -> bool:
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
                and not any(
                    mod.end <= other.start < ann.start and other.kind not in (ann.kind, "none") for other in self.acts
                )
            ):
                return True
        if not site.chinese and ann.kind != "avoid":
            after = self.document.text(ann.end, min(ann.end + 8, self.sentence.end)).lower()
            return any(word in after for word in NOT_NEEDED)
        return False

    def _lead_in(self) -> str:
        """Return the words before a colon that opens the sentence ("Options: hold, continue, reduce"), "" without."""
        tokens, start = self.document.tokens, self.sentence.start
        colon = next((i for i in range(start, min(start + 4, self.sentence.end)) if tokens[i].raw in ":："), start)
        return self.document.text(start, colon).lower()

    def _plain(self, site: Site) -> list[ActClaim]:
        ann = site.ann
        if site.text in PROPOSING and self._acts_again(ann):
            return []
        targets = self._after(site) or (self._before(site) if site.text not in PROPOSING else [])
        if not targets and site.text in PROPOSING:
            return []
        if not targets and (ann.kind in DRUG_ACTS or (ann.kind == "avoid" and self._pronoun_after(ann))):
            targets = self._anaphor(site)
        if ann.kind == "recheck" and all(target.value.drug for target in targets):
            targets = self._same_again(ann) or targets
        if not targets and ann.kind == "recheck" and self.measure is not None and self._only_treated(ann):
            targets = [self.measure]  # "Hemoglobin 7.8. Repeat in six hours.", "K 2.9. Give KCl and recheck it."
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

    def _pronoun_after(self, ann: Ann) -> bool:
        """As in "I would stay clear of it"."""
        return ann.end < self.sentence.end and self.document.tokens[ann.end].key in ("it", "them")

    def _same_again(self, ann: Ann) -> list[Ann]:
        """As in "Give 2 g magnesium sulfate and get another level": what was given is what is measured."""
        near = {self.document.tokens[i].key for i in range(ann.start, min(ann.end + 3, self.sentence.end))}
        earlier = [t for t in self.targets if t.end <= ann.start]
        if not near & LEVEL or not earlier:
            return []
        labs = knowledge.labs()
        for one in earlier[-1].value.ids:
            lab = next((lab for lab in (one, f"{one}_level", one.split("_")[0]) if lab in labs), None)
            if lab is not None:
                return [Ann(earlier[-1].start, earlier[-1].end, "concept", "concept", named((lab,)))]
        return [self.measure] if self.measure is not None and self._only_treated(ann) else []

    def _only_treated(self, ann: Ann) -> bool:
        """Tell whether all that the sentence names are drugs before the act: none of them is what one rechecks."""
        return all(target.value.drug and target.end <= ann.start for target in self.targets)

    def _acts_again(self, ann: Ann) -> bool:
        """Tell whether another act follows in the clause: then "recommend" proposes that, not a drug."""
        clause = self.document.clause
        return any(
            a.start >= ann.end and clause[a.start] == clause[ann.start] and a.kind not in ("none", "start")
            for a in self.acts
        )

    # -- switches and bare orders -----------------------------------------------------------------------------------

    def _switch(self, site: Site) -> list[ActClaim]:
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

    def _orders(self, claims: list[ActClaim], framed: list[Frame]) -> list[ActClaim]:
        """Read a drug with its dose and no verb as an order ("Lopressor 5 mg IV x1")."""
        later = {
            c.end
            for c in claims
            if c.token > c.end and (c.act == "recheck" or (c.act in ("increase", "reduce") and not c.advised))
        }
        taken = ({claim.end for claim in claims} | {claim.token for claim in claims}) - later  # "…, increasing weekly"
        taken |= {frame.x.start for frame in framed} | {frame.y.start for frame in framed if frame.y is not None}
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
                or self._refused(drug)
                or self._described(drug)
            ):
                continue
            site = Site(Ann(drug.start, drug.start, "act", "start"), self.document.tokens[drug.start].kind == "c", "")
            found.append(self._make(site, "start", drug, True, flags))
        return found

    def _opens_item(self, drug: Ann) -> bool:
        """Tell whether a drug opens a sentence, a list item or a clause."""
        if drug.start == self.sentence.start:
            return True
        previous = self.document.tokens[drug.start - 1]
        if self._at_need(drug) or self._for_need(drug):
            return True
        if previous.raw in ",，:：;；-*|、(" or previous.key in ("and", "then", "plus", "加"):
            return True
        if any(link.end == drug.start for link in self.sentence.of("link", "so")):
            return True  # "new AF, hence apixaban 5 mg"
        adjectives = {"oral", "iv", "po", "topical", "inhaled", "low", "dose", "high", "sublingual"}
        return previous.key in adjectives and (
            drug.start - 1 == self.sentence.start or self.document.tokens[drug.start - 2].raw in ",:;-*"
        )

    def _at_need(self, drug: Ann) -> bool:
        """As in "发作时舒马曲坦50mg", "睡前唑吡坦5mg": a clause that opens on when to take the drug."""
        tokens = self.document.tokens
        start = self.document.clause_start(self.sentence, drug.start)
        text = "".join(tokens[i].raw for i in range(start, drug.start))
        return 2 <= len(text) <= 6 and text.endswith(WHEN_NEEDED) and not text.endswith(THEN)

    def _for_need(self, drug: Ann) -> bool:
        """As in "and for breakthrough pain a little codeine": a clause that opens on what the drug is for."""
        tokens = self.document.tokens
        start = self.document.clause_start(self.sentence, drug.start)
        keys = [tokens[i].key for i in range(start, drug.start) if tokens[i].kind != "p"]
        opened = keys[1:] if keys[:1] == ["and"] else keys
        named = any(self.sentence.within(start, drug.start, "concept"))
        acted = any(self.sentence.within(start, drug.start, "act"))
        return 1 < len(opened) <= 7 and opened[0] == "for" and named and not acted

    def _dosed(self, drug: Ann) -> bool:
        tokens = self.document.tokens
        near = range(drug.end, min(drug.end + 6, self.sentence.end - 1))
        if any(tokens[i + 1].key in DOSE_FORMS and (tokens[i].kind == "n" or tokens[i].key in COUNTED) for i in near):
            return True  # "Latanoprost one drop at night"
        return any(
            a.layer == "quantity"
            and a.value.dimension
            in ("mass", "volume", "activity", "equivalents", "substance", "flow_hourly", "weight_dose")
            for a in self.sentence.within(drug.end, drug.end + 8)
        )

    def _refused(self, drug: Ann) -> bool:
        """Tell whether another cell of a table row turns a drug down ("| Sumatriptan 6 mg | ✗ |")."""
        cells = [(start, end) for _, start, end in self.sentence.row if start > drug.start]
        return any(
            self.document.tokens[i].key in REFUSING for start, end in cells for i in range(start, min(start + 2, end))
        )

    def _described(self, drug: Ann) -> bool:
        """Tell whether the sentence lists what the patient takes, or says that a dose stays."""
        heads = " ".join(head for head, _, _ in self.sentence.row)
        text = f" {self.document.text(self.sentence.start, drug.start).lower()} {heads} "
        header = f" {self.sentence.header} "
        return any(word in text for word in DESCRIBING) or any(word in header for word in LISTING)
