"""What a number is: measured, bound, target, reference, forecast, delta; and whether it is the latest."""

from __future__ import annotations

from .claims import Flags
from .cues import words
from .document import Ann, Document, Sentence
from .quantities import Quantity
from .scope import Scopes

FILLER = words("measure.filler")
AFTER = words("measure.after")
AFTER_GAP = words("measure.after_gap")
UNREACHED = words("roles.unreached")
"""Words of AFTER that may also govern what follows them."""
KEEPERS = words("measure.keepers")
KEEPER_STARTS = tuple(sorted(words("measure.keeper_starts")))
DELTA_VERBS = words("measure.delta_verbs")
DOWNWARD = words("measure.downward")
EITHER_WAY = words("measure.either_way")
RANGED = tuple(sorted(words("measure.ranged")))
INDEFINITE = words("reading.indefinite")
LISTED = (",", "，", "、", "→", "->", "=>")
AIMS = tuple(sorted(words("roles.aims")))
"""What may stand between 比, a bound and the word that compares with it."""
SETTING = words("roles.setting")
"""What stands between a criterion and its number, the concept aside."""
ATTAINED = words("roles.attained")
ATTAINED_ENDS = frozenset("才时者以即就便则方的")
MEETING = words("roles.meeting")
LESS, MORE = words("roles.less"), words("roles.more")


class Roles:
    """Asks the words around a number of one sentence."""

    document: Document
    sentence: Sentence
    scopes: Scopes
    owners: list[Ann]
    quantities: list[Ann]

    def _comparator(self, ann: Ann) -> str:
        """Return above or below where such a word stands just before the number (or 以上, 以内 just after)."""
        tokens = self.document.tokens
        if ann.start > self.sentence.start and tokens[ann.start - 1].raw == "比" and ann.end < self.sentence.end:
            after = self.document.text(ann.end, min(ann.end + 4, self.sentence.end))
            aim = next((word for word in AIMS if after.startswith(word)), "")
            compares = after[len(aim) : len(aim) + 1]
            if compares in LESS or compares in MORE:
                return "below" if compares in LESS else "above"  # "比30低", "比130的目标高"
        for cue in self.sentence.within(max(self.sentence.start, ann.start - 10), ann.start, "state"):
            if ann.start - cue.start > 7 and tokens[cue.start].kind != "c":
                continue
            if cue.kind not in ("above", "below") and not self._limited(cue):
                continue
            gap = [tokens[i].key for i in range(cue.end, ann.start)]
            filler = all(
                k in FILLER or self._target_word(i) or self._procedure(i)
                for i, k in zip(range(cue.end, ann.start), gap, strict=True)
            )
            named = self._named_bound(cue, ann, gap)
            if (filler or named) and self._text_of(cue).lower() in MEETING and self._criterion_near(cue):
                return ""  # "meets the transfusion trigger of 7": on which side the patient's number tells
            if filler or named:
                return "" if self._attained(cue, ann) else self._side(cue, ann)
        for cue in self.sentence.within(ann.end, ann.end + 6, "state"):
            if (
                cue.kind in ("above", "below")
                and all(tokens[i].raw in AFTER_GAP for i in range(ann.end, cue.start))  # "5万这条线以上"
                and tokens[cue.start].kind == "c"
                and self.document.text(cue.start, cue.end) in AFTER
                and not (self.document.text(cue.start, cue.end) in UNREACHED and self._goes_on(cue))
            ):
                return cue.kind
        return ""

    def _attained(self, cue: Ann, ann: Ann) -> bool:
        """As in "血钾已达6.2mmol/L": what a measurement has come to; no criterion, no other current number is named."""
        if self._text_of(cue) not in ATTAINED or ann.value.unit is None or self._criterion_near(ann):
            return False
        tokens, clause = self.document.tokens, self.document.clause
        if ann.end < self.sentence.end and tokens[ann.end].raw in ATTAINED_ENDS:
            return False  # "达257μmol/L才需光疗"
        earlier = [q for q in self.quantities if q.end <= cue.start and q.value.dimension == ann.value.dimension]
        dated = {clause[a.start] for a in self.sentence.anns if a.layer == "time"}
        dated |= {clause[m.start] for m in self.scopes.mods if m.kind == "past"}
        return all(clause[q.start] in dated for q in earlier)

    def _criterion_near(self, ann: Ann) -> bool:
        """Tell whether a criterion, goal or what is to be done follows a number in its clause."""
        end = self.document.clause_end(self.sentence, ann.start)
        return any(
            m.kind in ("target", "criterion", "reference") and ann.end <= m.start < end for m in self.scopes.mods
        )

    def _text_of(self, ann: Ann) -> str:
        return self.document.text(ann.start, ann.end)

    def _goes_on(self, cue: Ann) -> bool:
        """As in "95g/L未达到110的目标": what was not reached follows, the number before is the patient's."""
        tokens, at = self.document.tokens, cue.end
        while at < self.sentence.end and tokens[at].raw in "了的呢":
            at += 1
        return at < self.sentence.end and tokens[at].kind != "p"

    def _named_bound(self, cue: Ann, ann: Ann, gap: list[str]) -> bool:
        """As in "低于ICD植入的35%标准", "超出检查床120kg的限重": words say what a bound is for, none date it."""
        tokens = self.document.tokens
        chinese = tokens[cue.start].kind == "c" and all(tokens[i].kind in "cw" for i in range(cue.end, ann.start))
        dated = any(
            a.layer == "time" or (a.layer == "modifier" and a.kind == "past")
            for a in self.sentence.within(cue.end, ann.start)
        )
        if not gap or not chinese or dated:
            return False
        goal = any(m.kind in ("target", "criterion") and m.end == ann.start for m in self.scopes.mods)
        return gap[-1] == "的" or goal or self._criterion_after(ann)  # "高于宽松目标110"

    def _criterion_after(self, ann: Ann) -> bool:
        return any(m.kind == "criterion" and 0 <= m.start - ann.end <= 2 for m in self.scopes.mods)

    def _limited(self, cue: Ann) -> bool:
        """As in "over the upper limit" is a state, and a comparison where the limit follows."""
        tokens = self.document.tokens
        opening = tokens[cue.start].key in ("over", "above", "exceeds", "below", "under", "高", "低", "超")
        return cue.kind in ("high", "low") and opening and cue.end - cue.start >= 2

    def _procedure(self, index: int) -> bool:
        """As in "不到腰穿要求的50", "低于HFrEF的40%": the bound is named by what it is needed for."""
        return any(
            a.start <= index < a.end and a.value.kinds <= {"procedure", "condition", "service"}
            for a in self.sentence.anns
            if a.layer == "concept"
        )

    def _target_word(self, index: int) -> bool:
        return any(
            m.start <= index < m.end and m.kind in ("target", "criterion", "reference", "approx")
            for m in self.scopes.mods
        )

    def _side(self, cue: Ann, ann: Ann) -> str:
        """Return the side a comparison names: "not above" is below, "fallen past" too."""
        tokens = self.document.tokens
        text = self.document.text(cue.start, cue.end).lower()
        if text in EITHER_WAY:
            own = [q.value for q in self.quantities if q.end <= cue.start and q.value.shape == ann.value.shape == "one"]
            own = [one for one in own if one.dimension in ("", ann.value.dimension) or not ann.value.dimension]
            if own and own[-1].values[0] != ann.value.values[0]:
                return "above" if own[-1].values[0] > ann.value.values[0] else "below"
            around = {tokens[i].key for i in range(max(self.sentence.start, cue.start - 6), ann.start)}
            return "below" if around & DOWNWARD else "above"
        if text in ("within", "up to", "以内"):
            return ""
        before = [tokens[i].key for i in range(max(self.sentence.start, cue.start - 2), cue.start)]
        flipped = any(key in ("not", "n't", "never", "isn't", "不", "未", "非", "没") for key in before)
        above = (cue.kind in ("above", "high")) != flipped
        return "above" if above else "below"

    def _role(self, ann: Ann, quantity: Quantity, flags: Flags, comparator: str, owner: Ann | None) -> str:
        if flags.family or flags.other:
            return "other"
        if self._reference(ann, quantity, owner):
            return "reference"
        if self._targeted(ann):
            return "bound" if comparator else "target"
        if comparator:
            return "bound"
        if flags.hypothetical or flags.asked or flags.general or self._imagined(ann):
            return "hypothetical"
        if self._delta(ann):
            return "delta"
        if flags.future and not flags.now:
            return "forecast"
        if flags.hedged:
            return "hypothetical"
        if flags.negated:
            return "negated"
        if quantity.shape == "range" or self._ranging(ann):
            return "range"
        return "measured"

    def _imagined(self, ann: Ann) -> bool:
        """As in "A level of 10% or a fasting sugar of 300 would mean insulin": a result that is only thought of."""
        tokens = self.document.tokens
        if tokens[self.sentence.start].key not in INDEFINITE:
            return False
        return any(tokens[i].key in ("would", "should") for i in range(ann.end, min(self.sentence.end, ann.end + 9)))

    def _ranging(self, ann: Ann) -> bool:
        """As in "ranged from 3.1 to 4.9": both ends of a range, neither the value now."""
        clause = self.document.clause
        return any(
            m.kind == "ranging" and m.end <= ann.start and clause[m.start] == clause[ann.start]
            for m in self.scopes.mods
        )

    def _reference(self, ann: Ann, quantity: Quantity, owner: Ann | None) -> bool:
        tokens = self.document.tokens
        before = tokens[ann.start - 1].raw if ann.start > self.sentence.start else ""
        if quantity.shape == "range" and before in "([（":
            return True
        near = "".join(tokens[i].key for i in range(max(self.sentence.start, ann.start - 3), ann.start))
        if quantity.shape == "range" and near.endswith(RANGED):
            return True  # "（正常4~10）"
        clause = self.document.clause
        for mod in self.scopes.mods:
            if mod.kind != "reference" or clause[mod.start] != clause[ann.start]:
                continue
            text = self.document.text(mod.start, mod.end).lower()
            if text == "normal" and quantity.shape != "range":
                continue
            if text in ("上限", "下限", "upper limit", "lower limit") and mod.start > ann.start:
                continue
            if any(
                (c.kind in ("above", "below") or self._limited(c)) and c.start <= mod.start
                for c in self.sentence.within(self.sentence.start, ann.start, "state")
                if clause[c.start] == clause[mod.start]
            ):
                continue
            return mod.end <= ann.start
        return False

    def _set_at(self, criterion: Ann, ann: Ann) -> bool:
        """As in "the cut-off of 30", "the cut-off is an eGFR of 30"."""
        gap = range(criterion.end, ann.start)
        named = {i for o in self.owners for i in range(o.start, o.end)}
        plain = all(i in named or self.document.tokens[i].key in SETTING for i in gap)
        return criterion.end <= ann.start and (len(gap) <= 2 or (len(gap) <= 8 and plain))

    def _targeted(self, ann: Ann) -> bool:
        tokens, clause = self.document.tokens, self.document.clause
        for mod in self.scopes.mods:
            before = mod.kind == "target" and mod.end <= ann.start and clause[mod.start] == clause[ann.start]
            text = self.document.text(mod.start, mod.end).lower()
            if text == "即可" and ann.value.unit == "L/min":
                continue  # "2L/min即可维持95%": what is enough, no goal
            keeper = text in KEEPERS or text.startswith(KEEPER_STARTS)
            if before and (keeper or not any(mod.end <= o.start < ann.start for o in self.owners)):
                return True
            if mod.kind == "criterion" and clause[mod.start] == clause[ann.start] and self._set_at(mod, ann):
                return True
            if (
                mod.kind in ("target", "criterion")
                and ann.end <= mod.start <= ann.end + 2
                and clause[mod.start] == clause[ann.start]
            ):
                gap = [tokens[i].key for i in range(ann.end, mod.start)]
                if all(k in ("的", "diagnostic", "treatment") for k in gap):
                    return True
        return False

    def _delta(self, ann: Ann) -> bool:
        tokens = self.document.tokens
        following = [q for q in self.quantities if q.start >= ann.end][:2]
        between = range(ann.end, following[1].start) if len(following) == 2 else range(0)
        if 0 < len(between) <= 5 and all(tokens[i].raw in LISTED or tokens[i].kind == "n" for i in between):
            return False  # "climbed 2.4, 3.1, 4.0"
        if ann.start > self.sentence.start and self.document.text(ann.start - 1, ann.start).lower() in DELTA_VERBS:
            return True
        if ann.start - 2 >= self.sentence.start and self.document.text(ann.start - 2, ann.start) in DELTA_VERBS:
            return True
        return any(
            mod.kind == "delta"
            and 0 <= ann.start - mod.end <= 1
            and all(
                tokens[i].key not in ("to", "at", "至", "到", "from", "从", "由", ":")
                for i in range(mod.end, ann.start)
            )
            for mod in self.scopes.mods
        )

    def _time(self, ann: Ann, flags: Flags) -> str:
        clause = self.document.clause
        for time in self.sentence.of("time"):
            if clause[time.start] == clause[ann.start]:
                return self.document.text(time.start, time.end).lower()
        for time in self.sentence.within(ann.end, ann.end + 8, "time"):
            gap = [self.document.tokens[i].raw for i in range(ann.end, time.start)]
            if gap and gap[-1] in "(（[" and len(gap) <= 2:
                return self.document.text(time.start, time.end).lower()  # "8.1 g/dL (14 May)"
        if flags.now:
            return "now"
        return ""

    def _old(self, ann: Ann, flags: Flags) -> bool:
        """Tell whether words near the number date it before now."""
        tokens = self.document.tokens
        previous = [q for q in self.quantities if q.end <= ann.start]
        following = [q for q in self.quantities if q.start >= ann.end]
        left = previous[-1].end if previous else self.sentence.start
        right = following[0].start if following else self.sentence.end
        clause = self.document.clause
        near = [
            m
            for m in self.scopes.mods
            if m.kind in ("past", "now") and (left <= m.start < right) and abs(clause[m.start] - clause[ann.start]) <= 1
        ]
        strong = [m for m in near if self.document.text(m.start, m.end).lower() not in ("was", "were")]
        after = [
            m for m in strong if m.start >= ann.end and clause[m.start] == clause[ann.start] and m.start - ann.end <= 4
        ]
        before = [m for m in near if m.end <= ann.start]
        nearest = before[-1:]
        if after and (not before or before[-1] not in strong or after[0].start - ann.end < ann.start - before[-1].end):
            nearest = after[:1]
        if nearest and nearest[0].kind == "past":
            text = self.document.text(nearest[0].start, nearest[0].end).lower()
            if text in ("was", "were"):
                inside = ann.start > self.sentence.start and any(
                    tokens[i].raw in "(（" for i in range(max(self.sentence.start, ann.start - 4), ann.start)
                )
                return inside or any(mod.kind == "past" and mod is not nearest[0] for mod in near)
            return True
        return False
