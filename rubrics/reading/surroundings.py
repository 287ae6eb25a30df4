"""What the words around a number tell of it: a machine's or a solution's, of a part of the body, of luggage."""

from __future__ import annotations

from .cues import words
from .document import Ann
from .quantities import Quantity
from .sharing import Sharing
from .unlisted import OWN

OXYGEN, SATURATION = words("measure.oxygen"), words("measure.saturation")
ON_OXYGEN = words("measure.on_oxygen")
BODILY = words("measure.bodily")
"""What a weight of the patient's body is of ("lost 5 kg of fluid")."""
GOODS = words("measure.goods")
ANATOMY = words("measure.anatomy")
LEFT_OVER = words("measure.left_over")
DRAINED = tuple(sorted(words("measure.drained")))
"""Words that say what has come out of a drain."""
HOURLY = tuple(sorted(words("measure.hourly")))
SHARES = tuple(sorted(words("measure.shares")))
VENTILATORS = words("measure.ventilators")
SOLUTIONS = words("measure.solutions")
OTHER_SIDE = {"left": "right", "right": "left", "左": "右", "右": "左"}


class Surroundings(Sharing):
    """Asks what a number of one sentence is of, besides a measurement that is named."""

    def _labelled(self, ann: Ann, owner_end: int) -> bool:
        """Tell whether a word of its own stands right before a number."""
        raise NotImplementedError

    def _hourly(self, ann: Ann) -> bool:
        """As in "每小时尿量只有15毫升", "15 mL of urine per hour"."""
        clause = self.document.clause
        near = range(max(self.sentence.start, ann.start - 10), min(self.sentence.end, ann.end + 6))
        text = " ".join(self.document.tokens[i].key for i in near if clause[i] == clause[ann.start])
        return any(word in text for word in HOURLY)

    def _inspired(self, ann: Ann) -> bool:
        """As in "94% on 40% oxygen": what the patient is given to breathe."""
        keys = [token.key for token in self.document.tokens[ann.end : min(ann.end + 2, self.sentence.end)]]
        return keys[:1] != [] and keys[0] in OXYGEN and not (len(keys) > 1 and keys[1] in SATURATION)

    def _dissolved(self, ann: Ann) -> bool:
        """As in "10%葡萄糖酸钙10mL", "50% dextrose": how strong a drug's solution is."""
        drug = next((d for d in self.drugs if d.start == ann.end), None)
        return drug is not None and not any(o.end == ann.start for o in self.owners)

    def _on_oxygen(self, ann: Ann) -> bool:
        """As in "holding 91% on two litres", "97% on air": a percentage on air or oxygen is a saturation."""
        tokens, at = self.document.tokens, ann.end
        if at >= self.sentence.end or tokens[at].key != "on":
            return False
        following = range(at + 1, min(at + 5, self.sentence.end))
        return any(tokens[i].key in ON_OXYGEN for i in following)

    def _of_goods(self, ann: Ann) -> bool:
        """As in "lost 5 kg of luggage", "提10公斤行李": the weight of things, not of the patient."""
        tokens, at = self.document.tokens, ann.end
        if at + 1 < self.sentence.end and tokens[at].key == "of":
            return tokens[at + 1].key not in BODILY
        return any(self.document.text(at, end) in GOODS for end in range(at + 1, min(at + 3, self.sentence.end) + 1))

    def _of_body(self, ann: Ann, quantity: Quantity) -> bool:
        """As in "left atrium 4.8 cm", "a 2.3 cm nodule", "residual 420 mL": the size of a part or of a lesion."""
        if quantity.dimension not in ("length", "volume"):
            return False
        clause = self.document.clause
        near = range(max(self.sentence.start, ann.start - 8), min(self.sentence.end, ann.end + 4))
        keys = {self.document.tokens[i].key for i in near if clause[i] == clause[ann.start]}
        if quantity.dimension == "volume" and any(
            word in self.document.text(near.start, ann.start).lower() for word in DRAINED
        ):
            return True
        return bool(keys & (ANATOMY if quantity.dimension == "length" else LEFT_OVER))

    def _share_of(self, ann: Ann) -> bool:
        """Tell whether a percentage is a share of a best, predicted or normal value."""
        tokens = self.document.tokens
        near = range(max(self.sentence.start, ann.start - 5), min(self.sentence.end, ann.end + 4))
        after = ann.end < self.sentence.end and tokens[ann.end].key == "of"
        text = "".join(tokens[i].key for i in near)
        return any(word in text for word in SHARES) and (after or "值的" in text or "的" in text)

    def _not_own(self, owner: Ann, ann: Ann, quantity: Quantity) -> bool:
        """Tell whether a number is not of a measurement known by name only: another unit, or the body's other side."""
        if owner.layer != "concept" or not owner.value.ids[0].startswith(OWN):
            return False
        tokens = self.document.tokens
        first = next((q.value for q in self.quantities if q.start >= owner.end), ann.value)
        if quantity.unit is not None and first.unit is not None and first.dimension != quantity.dimension:
            return True
        apart = self.document.clause[ann.start] != self.document.clause[owner.end - 1]
        if apart and quantity.unit is not None and self._labelled(ann, owner.end):
            return True  # "低通气指数34次/小时，压力6～14cmH2O"
        sides = {OTHER_SIDE[t.key] for t in tokens[owner.start : owner.end] if t.key in OTHER_SIDE}
        return any(tokens[i].key in sides for i in range(owner.end, ann.start))

    def _acronym(self, ann: Ann) -> bool:
        """Tell whether an acronym of no known meaning labels a number, other than a solution ("NS 0.9%")."""
        if ann.start == self.sentence.start:
            return False
        at = ann.start - 1
        if self.document.tokens[at].kind == "n" and self.document.tokens[at].glued and at > self.sentence.start:
            at -= 1  # "ScvO2"
        raw = self.document.tokens[at].raw
        known = any(a.start <= at < a.end for a in self.sentence.anns if a.layer in ("concept", "act"))
        return sum(c.isupper() for c in raw) >= 2 and raw not in SOLUTIONS and not known

    def _moves(self, act: Ann) -> bool:
        """As in "84 kg down to 79 kg": the words of an act say how something moved, where no drug is dosed."""
        dosed = any(d.end <= act.start for d in self.drugs) and self.document.clause[act.start] in {
            self.document.clause[d.start] for d in self.drugs
        }
        return not dosed and any(s.start == act.start for s in self.sentence.within(act.start, act.end, "state"))

    def _set_on_machine(self, ann: Ann) -> bool:
        """As in "无创呼吸机，压力6～14cmH2O": how a machine is set, no measurement."""
        return any(t.key in VENTILATORS for t in self.document.tokens[self.sentence.start : ann.start])
