"""Binds numbers to concepts and says what each number is: measured, bound, target, reference, forecast …."""

from __future__ import annotations

from dataclasses import replace

from .carried import DOSE_DIMENSIONS
from .claims import Measured
from .concepts import concepts
from .cues import words
from .document import Ann, Document, Sentence
from .fitting import fits, home_unit, ids_of, level_of
from .named import named
from .quantities import Quantity
from .roles import FILLER
from .scope import Scopes
from .series import ordered
from .sharing import CONNECTORS
from .surroundings import Surroundings

OPEN_DIMENSIONS = words("measure.open_dimensions")
"""Dimensions that only measurements have: such a number is a measurement even of a concept without a name here."""
FOLLOWING = words("measure.following")
ARROWS = words("measure.arrows")
WEAK_ACTS = words("measure.weak_acts")
NOUN_VERBS = words("measure.noun_verbs")
"""What follows a word of asking that is a noun ("PEEP needs are coming down")."""
AFTER_TIME = words("measure.after_time")
LABELS = words("measure.labels")
UNLABELLED = words("measure.unlabelled")
FROM = words("measure.from")
REACH = 14
"""Tokens between a concept and a number without a unit."""


class Binder(Surroundings):
    """Reads the numbers of one sentence."""

    def __init__(self, document: Document, number: int, sentence: Sentence, scopes: Scopes) -> None:
        self.document = document
        self.number = number
        self.sentence = sentence
        self.scopes = scopes
        self.owners = [ann for ann in sentence.anns if self._owns(ann)]
        self.quantities = [one for ann in sentence.anns if ann.layer == "quantity" for one in self._unpair(ann)]
        self.drugs = [
            ann for ann in sentence.anns if ann.layer == "concept" and ann.value.drug and not ann.value.measurable
        ]

    def _unpair(self, ann: Ann) -> list[Ann]:
        """As in "ALT/AST 212/180": two numbers, not a blood pressure."""
        quantity: Quantity = ann.value
        before = [o for o in self.owners if o.end <= ann.start][-2:]
        if (
            quantity.shape != "pair"
            or len(before) < 2
            or before[1].start - before[0].end > 1
            or ann.start - before[1].end > 3
        ):
            return [ann]
        if any("blood_pressure" in ids_of(one) or "systolic_bp" in ids_of(one) for one in before):
            return [ann]
        halves = (ann.start, ann.start + 2)
        return [
            Ann(
                at,
                at + 1 if i == 0 else ann.end,
                "quantity",
                "quantity",
                replace(
                    quantity,
                    shape="one",
                    values=quantity.values[i : i + 1],
                    texts=quantity.texts[i : i + 1],
                    start=at,
                    end=at + 1 if i == 0 else ann.end,
                ),
            )
            for i, at in enumerate(halves)
        ]

    @staticmethod
    def _owns(ann: Ann) -> bool:
        if ann.layer == "concept":
            return bool(ann.value.measurable)
        return ann.layer == "implied" and bool(ann.value.concept)

    def read(self, carried: Ann | None = None, *, line: bool = False) -> list[Measured]:
        """Return the sentence's numbers as claims, in order.

        Args:
            carried: the measurement named last before the sentence.
            line: the sentence is a dated line of a list under `carried`.
        """
        if not self.quantities:
            return []
        paired = self._pairs()
        units = self._shared_units()
        claims: list[Measured] = []
        for index, ann in enumerate(self.quantities):
            quantity: Quantity = ann.value
            if quantity.unit is None:
                quantity = replace(quantity, unit=self._unscaled(ann, units[index]))
            elif quantity.unit == "mL" and self._hourly(ann):
                quantity = replace(quantity, unit="mL/h", dimension="flow_hourly")
            if index and quantity.unit == "%" and self.owners and self._share_of(ann):
                continue  # "210 L/min, about 45% of his best"
            if quantity.unit == "%" and (self._inspired(ann) or self._dissolved(ann)):
                continue
            owner = (
                paired.get(ann.start)
                or self._counted(ann, quantity)
                or self._owner(ann, quantity, index)
                or self._carry(carried, ann, quantity, index)
            )
            owner = owner or self._moved(ann, quantity, index)
            owner = owner or (carried if line and not self.owners else self._pointed(carried, ann, quantity))
            claim = self._claim(ann, quantity, owner)
            if claim is not None:
                claims.append(_like_the_last(claim, claims))
        return ordered(self.document, self.sentence, self._sided(claims))

    def _sided(self, claims: list[Measured]) -> list[Measured]:
        """Give a bare criterion the side on which the patient's own number lies ("SBP 82 (cut-off 90)")."""
        out = list(claims)
        for index, claim in enumerate(claims):
            if claim.role != "target" or claim.shape != "one" or not self._criterion(claim.token):
                continue
            own = [c for c in claims if c.role == "measured" and c.shape == "one" and c.concept == claim.concept]
            if own and own[-1].values[0] != claim.values[0] and own[-1].token < claim.token:
                side = "above" if own[-1].values[0] > claim.values[0] else "below"
                out[index] = replace(claim, role="bound", comparator=side)
        return out

    # -- whose number -------------------------------------------------------------------------------------------

    def _counted(self, ann: Ann, quantity: Quantity) -> Ann | None:
        """As in "taking 32 breaths a minute": what is counted says what the rate is of."""
        if quantity.unit != "/min":
            return None
        nouns = concepts().unit_nouns
        found = next((nouns[t.key] for t in self.document.tokens[ann.start : ann.end] if t.key in nouns), None)
        return None if found is None else Ann(ann.start, ann.start, "concept", "concept", named((found,)))

    def _owner(self, ann: Ann, quantity: Quantity, index: int) -> Ann | None:
        before = [o for o in self.owners if o.end <= ann.start and not self._not_own(o, ann, quantity)]
        after = [o for o in self.owners if o.start >= ann.end]
        drug = next((d for d in reversed(self.drugs) if d.end <= ann.start), None)
        if (
            drug is not None
            and (not before or drug.start > before[-1].start)
            and (level := level_of(drug, quantity.unit)) is not None
        ):
            return level
        following = after[0] if after else None
        if not before and following is not None and self._dated_before(ann, following, quantity):
            return following
        if following is not None and self._follows(ann, following, quantity):
            clause = self.document.clause
            if not before or clause[before[-1].start] != clause[ann.start] or not self._free(before[-1], ann, quantity):
                return following
        for owner in reversed(before):
            if (
                drug is not None
                and drug.start > owner.start
                and (quantity.unit is None or quantity.dimension in DOSE_DIMENSIONS)
                and not self._moved_past(owner, drug, ann)
            ):
                return None
            if not any(fits(one, quantity.unit) for one in ids_of(owner)):
                loose = quantity.dimension in DOSE_DIMENSIONS or quantity.dimension in ("fraction", "flow")
                if loose or self._of_body(ann, quantity):
                    return None
                if owner is before[-1] and self.document.clause[owner.start] == self.document.clause[ann.start]:
                    return owner
                continue
            if quantity.unit is None and not self._near(owner, ann, index):
                return None
            if quantity.dimension in DOSE_DIMENSIONS and self._act_between(owner, ann):
                return None
            return owner
        return None

    def _moved_past(self, owner: Ann, drug: Ann, ann: Ann) -> bool:
        """As in "Platelets dropped on heparin, from 240 to 96", "…, 240 to 96": a clause after the drug gives both."""
        tokens, clause = self.document.tokens, self.document.clause
        if clause[ann.start] == clause[drug.start] or ann.value.unit is not None or ann.end >= len(tokens):
            return False
        moved = any(s.kind in ("rising", "falling") for s in self.sentence.within(owner.end, drug.start, "state"))
        first = next(
            i for i in range(drug.end, ann.start + 1) if clause[i] == clause[ann.start] and tokens[i].kind != "p"
        )
        told = tokens[first].key in FROM or (tokens[first].kind == "n" and tokens[ann.start - 1].key in ARROWS)
        told = told or (first == ann.start and (len(ann.value.values) == 2 or tokens[ann.end].key in ARROWS))
        return moved and told and not self._act_between(owner, ann)

    def _dated_before(self, ann: Ann, owner: Ann, quantity: Quantity) -> bool:
        """As in "出院时78kg，今天体重83kg": an old value whose concept is named with the new one."""
        if quantity.unit is None or not any(fits(one, quantity.unit) for one in ids_of(owner)):
            return False
        clause = self.document.clause
        past = any(m.kind == "past" and clause[m.start] == clause[ann.start] for m in self.scopes.mods)
        return past and clause[owner.start] == clause[ann.start] + 1 and len(self.quantities) > 1

    def _free(self, owner: Ann, ann: Ann, quantity: Quantity) -> bool:
        """Tell whether a concept before has no number of its own yet and could own this one."""
        taken = any(owner.end <= q.start < ann.start for q in self.quantities)
        return not taken and any(fits(one, quantity.unit) for one in ids_of(owner))

    def _follows(self, ann: Ann, owner: Ann, quantity: Quantity) -> bool:
        """As in "4.1 mmol/L of lactate", "4.1mmol/L这个乳酸", "98% SpO2"."""
        gap = [self.document.tokens[i].key for i in range(ann.end, owner.start)]
        if len(gap) > 3 or any(key in "，,;；。(" for key in gap):
            return False
        joined = all(key in FOLLOWING for key in gap)
        taken = any(q.start >= owner.end and q.start - owner.end <= 3 for q in self.quantities)
        return joined and any(fits(one, quantity.unit) for one in ids_of(owner)) and (bool(gap) or not taken)

    def _near(self, owner: Ann, ann: Ann, index: int) -> bool:
        previous = self.quantities[index - 1] if index else None
        begin = max(owner.end, previous.end if previous is not None else 0)
        if self._theirs(ann):
            return True
        if ann.start - begin > REACH:
            return False
        if previous is not None and previous.start >= owner.end and self._labelled(ann, owner.end):
            return False
        return not self._act_between(owner, ann, begin)

    def _labelled(self, ann: Ann, owner_end: int) -> bool:
        """Tell whether a word of its own stands right before a number: the label of something unknown here."""
        at = ann.start - 1
        token = self.document.tokens[at]
        if token.key == "of" and at > owner_end and self.document.tokens[at - 1].key in LABELS:
            return True  # "92% on 2 L with a rate of 22"
        if token.key in AFTER_TIME:
            return False  # "three hours later 96", "三小时后13"
        if token.kind not in "wc" or token.key in CONNECTORS or token.key in ARROWS or token.key in FILLER:
            return False
        covered = any(
            a.start <= at < a.end
            for a in self.sentence.anns
            if a.layer in ("modifier", "state", "time", "measure", "act")
            or (a.layer == "concept" and a.value.ids[0] in ("admission", "discharge"))
        )
        return not covered and token.key not in UNLABELLED

    def _act_between(self, owner: Ann, ann: Ann, begin: int | None = None) -> bool:
        start = owner.end if begin is None else begin
        return any(
            a.kind in ("recheck", "order", "start", "refer", "hold", "continue", "increase", "reduce")
            and self.document.tokens[a.start].key not in WEAK_ACTS
            and not (a.start == owner.end and self.document.tokens[a.end].key in NOUN_VERBS)  # "PEEP needs are …"
            and not any(s.start <= a.start < s.end for s in self.sentence.within(a.start - 2, a.end + 4, "state"))
            for a in self.sentence.within(start, ann.start, "act")
        )

    # -- what the number is ---------------------------------------------------------------------------------------

    def _told_by_unit(self, ann: Ann, quantity: Quantity) -> tuple[str, ...] | None:
        """Return what a number is of by its unit alone, () for something unknown; None where it is no measurement."""
        if quantity.shape == "pair":
            return ("blood_pressure",)
        if quantity.unit in concepts().unit_owners:
            if self._of_goods(ann) or any(
                a.kind in ("start", "increase", "reduce") and not self._moves(a)
                for a in self.sentence.within(self.sentence.start, ann.start, "act")
            ):
                return None
            return (concepts().unit_owners[quantity.unit],)
        if quantity.unit == "%" and self._on_oxygen(ann):
            return ("spo2",)
        if (quantity.unit == "%" or quantity.dimension == "length") and self._acronym(ann):
            return ()  # "ScvO2 74%": a measurement that the knowledge base does not know
        if quantity.dimension not in OPEN_DIMENSIONS and not self._of_body(ann, quantity):
            return None
        return None if quantity.unit == "cm[H2O]" and self._set_on_machine(ann) else ()

    def _claim(self, ann: Ann, quantity: Quantity, owner: Ann | None) -> Measured | None:
        ids = ids_of(owner) if owner is not None else self._told_by_unit(ann, quantity)
        if ids is None:
            return None
        if quantity.shape == "pair" and ids and not set(ids) & {"blood_pressure", "systolic_bp", "diastolic_bp"}:
            if quantity.unit not in (None, "mm[Hg]"):
                return None
            ids = ("blood_pressure",)
        flags = self.scopes.flags(ann.start, ann.end)
        comparator = self._comparator(ann)
        role = self._role(ann, quantity, flags, comparator, owner)
        if role == "bound" and flags.negated:
            flags = replace(flags, negated=False)  # "not above 5.0" is the side it names, not a denial
        concept = ids[0] if ids else self._words(ann)
        fitting = next((one for one in ids if fits(one, quantity.unit)), None)
        concept = fitting or concept
        if home_unit(concept).endswith("/24h") and quantity.unit in ("g", "mg"):
            quantity = replace(quantity, unit=f"{quantity.unit}/24h")  # "24小时尿蛋白4.2克"
        return Measured(
            concept=concept,
            concepts=ids,
            value=quantity.text,
            unit=quantity.unit if quantity.unit is not None else home_unit(concept),
            time=self._time(ann, flags),
            span=self.document.span(
                owner.start if owner and owner.start < ann.start and ann.start - owner.end < 12 else ann.start, ann.end
            ),
            role=role,
            comparator=comparator if role in ("bound", "other", "target") else "",
            values=quantity.values,
            shape=quantity.shape,
            old=self._old(ann, flags),
            stated_unit=quantity.unit is not None,
            token=ann.start,
            clause=self.document.clause[ann.start],
            sentence=self.number,
            flags=flags,
        )

    def _words(self, ann: Ann) -> str:
        """Name an unknown concept by the words before its number."""
        words: list[str] = []
        for index in range(ann.start - 1, max(self.sentence.start - 1, ann.start - 7), -1):
            token = self.document.tokens[index]
            if token.kind not in "wc":
                if words:
                    break
                continue
            words.append(token.fold)
        return " ".join(reversed(words)) or "?"


def _like_the_last(claim: Measured, claims: list[Measured]) -> Measured:
    """Give a number without a unit the unit of the number before it, where both are of one concept."""
    before = claims[-1] if claims else None
    if before is None or not before.stated_unit or not claim.concepts:
        return claim
    if claim.unit == "mL" and before.unit == "mL/h" and claim.concept == before.concept:
        return replace(claim, unit="mL/h")  # "由每小时10ml增加到80ml"
    if claim.stated_unit:
        return claim
    if claim.concept != before.concept and before.concept in claim.concepts:
        claim = replace(claim, concept=before.concept)
    same = claim.concept == before.concept and claim.shape == before.shape
    if not same or not fits(claim.concept, before.unit) or before.unit == "10*4/uL":
        return claim
    return replace(claim, unit=before.unit, stated_unit=True)


__all__ = ["Binder", "fits", "home_unit", "ids_of", "named"]
