"""Reads what an answer says about the state of measurements; `trends` joins movements with numbers."""

from __future__ import annotations

from dataclasses import replace

from wardround.rubrics.limits import limits

from .annotate import State, implied_by
from .claims import Measured, StatusClaim
from .cues import words
from .document import Ann, Document, Sentence
from .measure import Binder, ids_of
from .named import named
from .panels import is_panel, stated_ids
from .scope import Scopes
from .sides import settled

STATUSES = frozenset(
    (
        "high",
        "low",
        "normal",
        "rising",
        "falling",
        "stable",
        "positive",
        "negative",
        "undetectable",
        "labile",
        "better_high",
        "worse_high",
        "off_target",
        "down_to",
        "up_to",
    )
)
FLAGS = {"H": "high", "HH": "high", "L": "low", "LL": "low"}
UNFINISHED = tuple(sorted(words("status.unfinished")))
OPPOSITES = {"high": "low", "low": "high"}
PREFIXES = {"high": frozenset(("hyper",)), "low": frozenset(("hypo",))}
DOSED_BY = words("status.dosed_by")
DENYING = words("because.denying")
ELIDING = words("status.eliding")
CHOICE = words("choice")
MOVES = frozenset(("rising", "falling", "stable"))
ATTRIBUTIVE_GAP = words("status.attributive_gap")
PERSONAL = words("status.personal")
PASSIVE = words("status.passive")
INDEFINITE = words("reading.indefinite")
SUPPOSING = words("status.supposing")
ALSO = words("status.also")


class StateReader:
    """Reads the states of one sentence."""

    def __init__(
        self, document: Document, number: int, sentence: Sentence, scopes: Scopes, carried: Ann | None
    ) -> None:
        self.document = document
        self.number = number
        self.sentence = sentence
        self.scopes = scopes
        self.carried = carried
        self.owners = [ann for ann in sentence.anns if Binder._owns(ann) or is_panel(ann)]
        self.values: list[Measured] = []
        self.named = [ann for ann in self.owners if ann.layer == "concept"]

    def read(self, values: list[Measured]) -> list[StatusClaim]:
        """Return the statuses the sentence states, in order; `values` are the sentence's numbers."""
        self.values = values
        claims = []
        for ann in self.sentence.anns:
            if ann.layer == "implied" and ann.value.concept and ann.value.status:
                claims.append(self._implied(ann, ann.value))
            elif ann.layer == "concept" and (state := implied_by(ann.value.ids)) is not None:
                claims.append(self._implied(ann, state))
            elif ann.layer == "state" and (self._dates_a_number(ann) or self._doses(ann) or self._in_name(ann)):
                continue
            elif ann.layer == "state" and ann.kind in STATUSES and (owner := self._owner(ann)) is not None:
                kinds = settled(ann, stated_ids(owner), values)
                if kinds and kinds[0] == ann.kind:
                    claims.extend(self._collective(ann, owner))
                claims.extend(self._claim(ann, owner, kind) for kind in kinds)
        claims.extend(self._flagged(values))
        claims.extend(self._elided(claims))
        claims = self._chosen(claims)
        return [*claims, *_between(claims)]

    def _elided(self, claims: list[StatusClaim]) -> list[StatusClaim]:
        """Read the first half of "hypo- or hyperkalemia" as the other side of the second."""
        tokens = self.document.tokens
        made = []
        for claim in claims:
            opposite = OPPOSITES.get(claim.status, "")
            if not claim.implied or not opposite:
                continue
            for at in range(max(self.sentence.start, claim.token - 4), claim.token):
                joined = all(tokens[i].key in ELIDING for i in range(at + 1, claim.token)) and claim.token - at >= 2
                if joined and tokens[at].key in PREFIXES[opposite]:
                    flags = self.scopes.flags(at, at + 1)
                    span = self.document.span(at, at + 1)
                    made.append(replace(claim, status=opposite, flags=flags, span=span, token=at))
        return made

    def _chosen(self, claims: list[StatusClaim]) -> list[StatusClaim]:
        """Doubt statuses of one concept that the sentence leaves the choice of ("high vs normal", "偏高或正常")."""
        tokens = self.document.tokens
        out = [self._open_ended(claim) for claim in claims]
        for one, left in enumerate(claims):
            for other, right in enumerate(claims):
                gap = range(left.token + 1, right.token)
                if left.concept != right.concept or not 0 < len(gap) <= 6 or left.status == right.status:
                    continue
                denied = left.flags.negated or right.flags.negated
                if not denied and any(tokens[i].key in CHOICE for i in gap) and clash(left.status, right.status):
                    for index in (one, other):
                        out[index] = replace(out[index], flags=replace(out[index].flags, hedged=True))
        return out

    def _open_ended(self, claim: StatusClaim) -> StatusClaim:
        """Doubt a status that a choice follows of which the other half names no measurement ("偏高或正常")."""
        for other in self.sentence.within(claim.token + 1, claim.token + 8, "state"):
            gap = range(claim.token + 1, other.start)
            if (
                gap
                and self.document.tokens[gap[-1]].key in CHOICE
                and (clash(claim.status, other.kind) or (other.kind == "none" and claim.status == "normal"))
                and not claim.flags.negated
            ):
                return replace(claim, flags=replace(claim.flags, hedged=True))
        return claim

    def _claim(self, ann: Ann, owner: Ann, kind: str) -> StatusClaim:
        flags = self.scopes.flags(ann.start, ann.end)
        if self._negated_word(ann):
            flags = replace(flags, negated=True)
        if kind == "negative" and self._unfinished():
            flags = replace(flags, hedged=True)
        if flags.past and flags.now and self._dated_back(ann):
            flags = replace(flags, now=False)
        if (kind in MOVES and self._aimed_at(ann)) or self._supposed(ann):
            flags = replace(flags, hypothetical=True)
        ids = stated_ids(owner)
        return StatusClaim(ids[0], ids, kind, flags, self.document.span(ann.start, ann.end), ann.start, self.number)

    def _doses(self, ann: Ann) -> bool:
        """As in "降低二甲双胍的剂量", "no change to levothyroxine": what to do with a drug, no state."""
        tokens, clause = self.document.tokens, self.document.clause
        following = list(self.sentence.within(ann.end, ann.end + 12, "concept"))
        if self._done_to_drug(ann):
            return True
        if tokens[ann.start].kind != "c":
            first = following[0] if following else None
            return (
                first is not None
                and first.value.drug
                and not first.value.measurable
                and first.start - ann.end <= 3
                and ann.end < first.start
                and tokens[ann.end].key in DOSED_BY
            )
        return any(
            c.value.drug and not c.value.measurable and c.start <= ann.end + 1 and clause[c.start] == clause[ann.start]
            for c in following
        )

    def _done_to_drug(self, ann: Ann) -> bool:
        """As in "since the diuretic was doubled": a movement in the passive, right after a drug, is of its dose."""
        tokens = self.document.tokens
        before = list(self.sentence.within(max(self.sentence.start, ann.start - 5), ann.start, "concept"))
        if ann.kind not in MOVES or not before or not before[-1].value.drug or before[-1].value.measurable:
            return False
        gap = [tokens[i].key for i in range(before[-1].end, ann.start)]
        return bool(gap) and set(gap) <= PASSIVE

    def _in_name(self, ann: Ann) -> bool:
        """Tell whether a state opens a wider word that says it by itself (the 高 of 高钙 is calcium's alone)."""
        return any(
            a.value.status == ann.kind and a.start == ann.start and a.end > ann.end for a in self.sentence.of("implied")
        )

    def _dates_a_number(self, ann: Ann) -> bool:
        """As in "1.2 at baseline": the words date the number before them."""
        numbers = [a for a in self.sentence.anns if a.layer == "quantity"]
        return (
            ann.kind == "stable"
            and len(numbers) > 1
            and any(a.end == ann.start for a in numbers)
            and "baseline" in self.document.text(ann.start, ann.end).lower()
        )

    def _dated_back(self, ann: Ann) -> bool:
        """As in "was normal last year and is 2.3 now": the word itself stands in the past tense."""
        tokens = self.document.tokens
        near = {tokens[i].key for i in range(max(self.sentence.start, ann.start - 2), ann.start)}
        return bool(near & {"was", "were"})

    def _aimed_at(self, ann: Ann) -> bool:
        """Tell whether a movement is a goal ("we need to bring the LDL down")."""
        clause = self.document.clause
        return any(
            m.kind == "target"
            and (m.start, -m.end) < (ann.start, -ann.end)
            and (clause[m.start] == clause[ann.start] or self._heads(m, ann))
            for m in self.scopes.mods
        )

    def _supposed(self, ann: Ann) -> bool:
        """As in "A positive troponin would change the plan": a result that is only imagined."""
        tokens, clause = self.document.tokens, self.document.clause
        if ann.start == self.sentence.start or tokens[ann.start - 1].key not in INDEFINITE:
            return False
        following = range(ann.end, min(self.sentence.end, ann.end + 6))
        return any(tokens[i].key in SUPPOSING for i in following if clause[i] == clause[ann.start])

    def _heads(self, goal: Ann, ann: Ann) -> bool:
        """As in "Our goal: LDL down to 70": a goal before a colon governs the clause after it."""
        colon = next(
            (i for i in range(goal.end, min(goal.end + 2, ann.start)) if self.document.tokens[i].raw in ":："), -1
        )
        return colon >= 0 and self.document.clause[ann.start] == self.document.clause[colon] + 1

    def _unfinished(self) -> bool:
        """Tell whether the sentence says that the result is not final yet."""
        text = self.document.text(self.sentence.start, self.sentence.end).lower()
        return any(word in text for word in UNFINISHED)

    def _flagged(self, values: list[Measured]) -> list[StatusClaim]:
        """Read the flag of a result line: "5.9 H", "3.1 (L)"."""
        tokens = self.document.tokens
        made = []
        for value in values:
            at = next((a.end for a in self.sentence.anns if a.layer == "quantity" and a.start == value.token), None)
            if at is None or value.role != "measured" or not value.concepts:
                continue
            if at < self.sentence.end and tokens[at].raw in "(（":
                at += 1
            if at < self.sentence.end and tokens[at].raw in FLAGS:
                span = self.document.span(at, at + 1)
                made.append(
                    StatusClaim(
                        value.concept, value.concepts, FLAGS[tokens[at].raw], value.flags, span, at, self.number
                    )
                )
        return made

    def _collective(self, ann: Ann, owner: Ann) -> list[StatusClaim]:
        """As in "K 4.2, sodium 139, both normal": the state is said of the measurements before as well."""
        tokens = self.document.tokens
        near = {tokens[i].key for i in range(max(self.sentence.start, ann.start - 2), ann.start + 1)}
        also = bool(near & ALSO) and self._listed_next(owner)
        if not also and not near & {"all", "both", "均", "皆", "都"}:
            return []
        others = [
            o for o in self.owners if o.end <= ann.start and o is not owner and o.layer == "concept" and not is_panel(o)
        ]
        if "both" in near or also:
            others = others[-1:]
        flags = self.scopes.flags(ann.start, ann.end)
        span = self.document.span(ann.start, ann.end)
        made = []
        for other in others:
            ids = ids_of(other)
            if not any(a.kind in STATUSES for a in self.sentence.within(other.end, owner.start, "state")):
                made.append(StatusClaim(ids[0], ids, ann.kind, flags, span, ann.start, self.number))
        return made

    def _listed_next(self, owner: Ann) -> bool:
        """As in "ANA 1:640，抗dsDNA也是阳性": the measurement before has a number and no more, in the clause before."""
        before = [o for o in self.owners if o.end <= owner.start]
        clause = self.document.clause
        if not before or clause[owner.start] - clause[before[-1].start] > 1:
            return False
        between = list(self.sentence.within(before[-1].end, owner.start))
        told = any(a.layer in ("act", "link", "modifier") for a in between)
        return not told and any(a.layer == "quantity" for a in between)

    def _implied(self, ann: Ann, state: State) -> StatusClaim:
        flags = self.scopes.flags(ann.start, ann.end)
        if self._supposed(ann):
            flags = replace(flags, hypothetical=True)
        span = self.document.span(ann.start, ann.end)
        return StatusClaim(
            state.concept, (state.concept,), state.status, flags, span, ann.start, self.number, implied=True
        )

    def _negated_word(self, ann: Ann) -> bool:
        """As in "not high", "不高": the word itself is denied; "均无菌生长" denies nothing that it does not mean."""
        if self.document.tokens[ann.start].raw in DENYING and ann.kind in ("negative", "undetectable"):
            return False
        return any(
            mod.kind == "neg" and (mod.start, -mod.end) < (ann.start, -ann.end) and ann.start < mod.end
            for mod in self.scopes.mods
        )

    def _owner(self, ann: Ann) -> Ann | None:
        """Return the measurement a state word belongs to."""
        clause = self.document.clause
        tokens = self.document.tokens
        before = [o for o in self.owners if o.end <= ann.start]
        after = [o for o in self.named if o.start >= ann.end]
        following = after[0] if after else None
        same = [o for o in before if clause[o.start] == clause[ann.start]]
        if following is not None and clause[following.start] == clause[ann.start]:
            gap = [tokens[i].key for i in range(ann.end, following.start)]
            attributive = len(gap) <= 2 and all(key in ATTRIBUTIVE_GAP for key in gap)
            if attributive and (not same or self._own_state(same[-1], ann)):
                return following
            counted = sum(q.end - q.start for q in self.sentence.within(ann.end, following.start, "quantity"))
            if not same and not before and len(gap) - counted <= 4 and self._opens(ann):
                return following  # "lost 18 mL/min of eGFR"
        if same:
            return same[-1]
        if self._personal(ann):
            return None
        if before:
            return before[-1] if self._continues(before[-1], ann) else self._just_measured(ann)
        if self.carried is not None and self._pronoun(ann):
            return self.carried
        return self._by_unit(ann)

    def _just_measured(self, ann: Ann) -> Ann | None:
        """As in "外院说血钾高，但标本溶血，复查4.3mmol/L，正常": what the number right before was of."""
        value = next((v for v in reversed(self.values) if v.token < ann.start and v.concepts), None)
        if value is None or self.document.clause[ann.start] - value.clause > 1:
            return None
        if any(True for _ in self.sentence.within(value.token, ann.start, "concept")):
            return None
        return Ann(value.token, value.token, "concept", "concept", named(value.concepts))

    def _by_unit(self, ann: Ann) -> Ann | None:
        """As in "Down to 2 L/min from 6 L/min": only the unit says what moved."""
        for value in self.values:
            if value.concepts and not self.owners and ann.start <= value.token <= ann.end + 4:
                return Ann(value.token, value.token, "concept", "concept", named(value.concepts))
        return None

    def _own_state(self, owner: Ann, ann: Ann) -> bool:
        """Tell whether a measurement before already has its value or state ("K 5.6 with low albumin")."""
        if owner.layer == "implied":
            return True  # "hypercalcaemic with a suppressed PTH"
        return any(a.layer in ("quantity", "state") for a in self.sentence.within(owner.end, ann.start))

    def _opens(self, ann: Ann) -> bool:
        return ann.kind in ("rising", "falling")

    def _personal(self, ann: Ann) -> bool:
        """Tell whether the clause is about the patient as a whole."""
        text = self.document.text(self.document.clause_start(self.sentence, ann.start), ann.start).lower()
        return any(word in text for word in PERSONAL)

    def _continues(self, owner: Ann, ann: Ann) -> bool:
        """Tell whether a later clause still speaks of `owner`: nothing else is named in between."""
        for other in self.sentence.within(owner.end, ann.start, "concept"):
            if other is not owner and not other.value.measurable:
                return False
        return True

    def _pronoun(self, ann: Ann) -> bool:
        words = {self.document.tokens[i].key for i in range(self.sentence.start, ann.start)}
        return bool(words & {"it", "this", "that", "its", "该", "其", "这"}) or ann.start - self.sentence.start <= 1


def _between(claims: list[StatusClaim]) -> list[StatusClaim]:
    """Read a concept of which one sentence denies both sides ("neither hypo- nor hyperkalaemic") as normal."""
    made: list[StatusClaim] = []
    denied = [c for c in claims if c.flags.negated and not c.flags.resolved]
    for low in denied:
        high = next((c for c in denied if c.status == "high" and c.concept == low.concept), None)
        if low.status == "low" and high is not None and not any(c.concept == low.concept for c in made):
            made.append(replace(low, status="normal", flags=replace(low.flags, negated=False)))
    return made


def clash(one: str, other: str) -> bool:
    """Tell whether both statuses cannot hold at once."""
    return limits().statuses_clash(one, other)
