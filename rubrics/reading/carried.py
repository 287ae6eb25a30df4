"""Numbers whose concept is not named beside them: it stood a sentence before, or a finding implies it."""

from __future__ import annotations

from .annotate import implied_by
from .cues import words
from .document import Ann
from .fitting import fits, ids_of
from .named import named
from .quantities import Quantity
from .roles import Roles

DOSE_DIMENSIONS = words("measure.dose_dimensions")
IT = words("measure.it")
THEIRS = words("measure.theirs")
REACHED = words("measure.reached")
POINTING = words("measure.pointing")


class Carried(Roles):
    """Finds the concept of a number that names none."""

    drugs: list[Ann]

    def _carry(self, carried: Ann | None, ann: Ann, quantity: Quantity, index: int) -> Ann | None:
        """A sentence that opens with the number of the concept named just before ("Today 5.6 mmol/L.")."""
        if carried is None or self.owners:
            return None
        if (
            self._pronoun_at(ann)
            and not self._drug_meant(ann)
            and any(fits(one, quantity.unit) for one in ids_of(carried))
        ):
            return carried  # "After two litres it is 92."
        if index:
            return None
        if quantity.unit is None and not self._pronoun_before(self.quantities[0]):
            return None
        return (
            carried
            if any(fits(one, quantity.unit) for one in ids_of(carried)) and quantity.dimension not in DOSE_DIMENSIONS
            else None
        )

    def _pointed(self, carried: Ann | None, ann: Ann, quantity: Quantity) -> Ann | None:
        """As in "Since that's below our cut-off of 30, her eGFR …": a bound whose concept is named after or before."""
        if quantity.shape != "one" or not self._comparator(ann):
            return None
        criterion = self._criterion(ann.start) or any(
            m.kind == "criterion" and 0 <= m.start - ann.end <= 1 for m in self.scopes.mods
        )
        applied = any(link.kind == "so" and link.start >= ann.end for link in self.sentence.of("link"))
        applied = applied and self.document.tokens[self.sentence.start].key == "we"
        applied = not self.owners and (applied or self._ruling(ann, quantity))
        if not criterion and not applied and not self._pronoun_before(ann):
            return None  # "We prone below 150, so let's turn him."
        after = {o.value.ids for o in self.owners if o.layer == "concept" and o.start >= ann.end}
        if any(o.end <= ann.start for o in self.owners) or len(after) > 1:
            return None
        owner = next((o for o in self.owners if o.start >= ann.end), carried)
        return owner if owner is not None and any(fits(one, quantity.unit) for one in ids_of(owner)) else None

    def _ruling(self, ann: Ann, quantity: Quantity) -> bool:
        """As in "eGFR is 26. Below 30 metformin is stopped", "… is not for anyone below 30, so …": a drug's rule."""
        if not self.drugs or quantity.dimension in DOSE_DIMENSIONS:
            return False
        first = ann.start - self.sentence.start <= 2 and self.drugs[0].start >= ann.end
        return first or any(link.kind == "so" and link.start >= ann.end for link in self.sentence.of("link"))

    def _moved(self, ann: Ann, quantity: Quantity, index: int) -> Ann | None:
        """As in "胖了4公斤，从68到72", "gained weight: 68 kg to 72 kg": the ends of a movement that a finding names."""
        found = [
            (a, state)
            for a in self.sentence.within(self.sentence.start, ann.start, "concept")
            if (state := implied_by(a.value.ids)) is not None and state.status in ("rising", "falling")
        ]
        if not found or self.owners:
            return None
        finding, state = found[-1]
        later = [q for q in self.quantities if q.start >= finding.end]
        fitting = quantity.unit if quantity.unit is not None else later[-1].value.unit or later[0].value.unit
        reached = self.document.tokens[ann.start - 1].key in REACHED  # "体重增加至72kg"
        if (len(later) < 2 and not reached) or fitting is None or not fits(state.concept, fitting):
            return None
        if len(later) == 3 and ann is later[0]:
            return None  # by how much
        return Ann(finding.start, finding.end, "concept", "concept", named((state.concept,)))

    def _drug_meant(self, ann: Ann) -> bool:
        """Tell whether a pronoun before a number may mean a drug: one named before it other than as what was given."""
        tokens = self.document.tokens
        given = [
            any(tokens[i].key in ("of", "after", "with", "on") for i in range(max(0, d.start - 3), d.start))
            for d in self.drugs
            if d.start < ann.start
        ]
        return not all(given)

    def _pronoun_at(self, ann: Ann) -> bool:
        """Tell whether a pronoun and its verb stand right before a number ("it is 92", "这次是92")."""
        near = range(max(self.sentence.start, ann.start - 3), ann.start)
        if any(self.document.tokens[i].key in IT for i in near):
            return True
        moved = next(
            (s for s in self.sentence.of("state") if s.end == ann.start and s.kind in ("up_to", "down_to")), None
        )
        return moved is not None and moved.start >= near.start and self.document.tokens[moved.start - 1].key in IT

    def _theirs(self, ann: Ann) -> bool:
        """As in "We like platelets over 50 for this, and hers are 31"."""
        tokens, at = self.document.tokens, ann.start
        verb = at - 2 >= self.sentence.start and tokens[at - 1].key in ("is", "are", "was", "were")
        return verb and tokens[at - 2].key in THEIRS

    def _pronoun_before(self, ann: Ann) -> bool:
        """Tell whether the sentence opens on what the one before was about ("This clears the 50 …")."""
        first = range(self.sentence.start, min(self.sentence.start + 3, ann.start))
        return any(self.document.tokens[i].key in POINTING for i in first)

    def _criterion(self, token: int) -> bool:
        return any(m.kind == "criterion" and 0 <= token - m.end <= 2 for m in self.scopes.mods)
