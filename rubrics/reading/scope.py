"""How far negation, doubt, conditions and other people reach: the flags of a place in a sentence."""

from __future__ import annotations

from bisect import bisect_right

from .claims import Flags
from .cues import words
from .document import CONTRAST, Ann, Document, Sentence, turns

SHORT_NEGATIONS = words("scope.short_negations")
NEAR = 4
"""Tokens that a bare Chinese negation may stand before what it negates."""
FAR = 12
BACK = 7
REACH = 14
"""Tokens over which a retraction ("but that was an error") reaches back."""
LIST_MARKS = words("scope.list_marks")
PREDICATES = words("scope.predicates")
UNTIL = words("scope.until")
BECAUSE = words("scope.because")
"""Words that end what an "until" is about ("delay it until June since the stent is new")."""
VERSUS = frozenset(("versus", "vs", "vs."))
AFFIRMED = tuple(sorted(words("scope.affirmed")))
STRONG_CONDITIONS = words("scope.strong_conditions")
NOT_THE_CAUSE = words("scope.not_the_cause")
DENIED_CAUSE = words("scope.denied_cause")
CAUSING = words("scope.causing")
PLACING = words("scope.placing")


class Scopes:
    """The modifiers of one sentence, asked for one place at a time."""

    def __init__(self, document: Document, sentence: Sentence) -> None:
        self.document = document
        self.sentence = sentence
        self.mods = list(sentence.of("modifier"))
        self.sources = list(sentence.of("source"))
        self.concepts = [ann for ann in sentence.anns if ann.layer == "concept"]
        self.plain = not self.mods and not self.sources and not sentence.question
        self._items: dict[int, bool] = {}  # every cue of a long denial asks for the same commas

    def flags(self, start: int, end: int) -> Flags:
        """Return the flags of tokens [start, end)."""
        if self.plain:
            return Flags()
        negated, resolved = self._negated(start, end)
        return Flags(
            negated=negated,
            resolved=resolved,
            hedged=self._doubted(start, end),
            asked=self._asked(start, end)
            or self.sentence.question
            or any(
                m.kind == "noun_back"
                and 0 <= m.start - end <= 1
                and (m.start == end or self.document.tokens[end].key not in PLACING)  # "620 pg/mL at clinic"
                and self.document.clause[m.start] == self.document.clause[end - 1]
                for m in self.mods
            ),  # "delirium precautions"
            hypothetical=self.conditional(start) == "inside",
            general=self._general(start),
            family=self._person(start, "family")
            or any(m.kind == "family_back" and 0 <= m.start - end <= 3 for m in self.mods),
            other=self._other(start),
            past=self._timed(start, "past"),
            now=self._timed(start, "now"),
            future=self._before_in_clause(start, "future"),
            chart=self._source(start) in ("chart", "adviser"),
            patient=self._source(start) == "patient",
            relative=self._source(start) == "family",
        )

    # -- negation and doubt -------------------------------------------------------------------------------------

    def _negated(self, start: int, end: int) -> tuple[bool, bool]:
        forward = backward = False
        resolved = False
        for mod in self.mods:
            if mod.kind == "neg" and mod.end <= start and self._attributive(mod):
                continue
            if mod.kind == "neg" and mod.end <= start and not self._points_back(mod) and self._reaches(mod, start):
                forward = forward or not self._of_cause(mod, start, end)
            elif (
                mod.kind == "neg_back" and mod.start >= end and self._reached_back(mod, end) and self._points_back(mod)
            ):
                backward = True
                resolved = resolved or self._text(mod) in RESOLVED
        return forward or backward, resolved

    def _attributive(self, mod: Ann) -> bool:
        """As in "血糖不高的酮症酸中毒": a denied state that only describes what follows."""
        follows = mod.end < self.sentence.end and self.document.tokens[mod.end].raw == "的"
        return follows and any(a.start == mod.start and a.end == mod.end for a in self.sentence.of("state"))

    def _of_cause(self, mod: Ann, start: int, end: int) -> bool:
        """As in "not due to anaemia", "并非贫血所致": denied as the cause; whether it is there stays open."""
        clause = self.document.clause
        for link in self.sentence.of("link"):
            if link.kind == "not" and link.start <= mod.start < link.end <= start and self._text(link) in NOT_THE_CAUSE:
                return True
            if self._text(mod) in DENIED_CAUSE and self._text(link) in CAUSING:
                return mod.end <= start and end <= link.start and clause[link.start] == clause[mod.start]
        return False

    def denied_next_to(self, start: int) -> bool:
        """Tell whether a negation stands right before `start`, no list in between."""
        return any(mod.kind == "neg" and 0 <= start - mod.end <= 1 for mod in self.mods)

    def _points_back(self, mod: Ann) -> bool:
        """A cue that works in both directions points back where no concept follows it in its clause."""
        both = [m for m in self.mods if m.start == mod.start and m.end == mod.end]
        kinds = {m.kind for m in both}
        if not {"neg", "neg_back"} <= kinds and not {"hedge", "hedge_back"} <= kinds:
            return mod.kind.endswith("_back")
        clause = self.document.clause
        if any(ann.start - mod.end <= 1 for ann in self.sentence.within(mod.end, mod.end + 6, "state")):
            return False  # "肌酐可能升高"
        if mod.end < self.sentence.end and self.document.tokens[mod.end].key == "by":
            return True  # "DVT excluded by ultrasound"
        near = [ann for ann in self.concepts if clause[ann.start] == clause[mod.end - 1]]
        if not near:  # "没有血栓形成": words without a name follow, none stand before
            return self.document.clause_end(self.sentence, mod.end - 1) - mod.end <= 2
        return not any(ann.start >= mod.end and ann.start - mod.end < BACK for ann in near)

    def _reaches(self, mod: Ann, start: int) -> bool:
        """Tell whether a forward cue reaches `start`."""
        tokens = self.document.tokens
        text = self._text(mod)
        if text in SHORT_NEGATIONS:
            near = start - mod.end <= NEAR and self.document.clause[start] == self.document.clause[mod.start]
            return near or self._in_list(mod, start)
        through = text.endswith(" that")
        distance = 0
        position = mod.end
        while position < start:
            token = tokens[position]
            key = token.key
            if key in CONTRAST or key in ";；:：。|" or (key in PREDICATES and position > mod.end and not through):
                return False
            if key == "，" and (not self._bare_item(position + 1) or self._turns(position + 1)):
                return False
            if key == "," and not self._list_item(position + 1):
                return False
            distance = 0 if key in LIST_MARKS else distance + 1
            if distance > FAR:
                return False
            position += 1
        return True

    def _in_list(self, mod: Ann, start: int) -> bool:
        """Tell whether a list that begins within a short negation's reach goes on to `start` ("没在吃A、B")."""
        first = next((a for a in self.concepts if 0 <= a.start - mod.end <= NEAR), None)
        return first is not None and all(
            self.document.tokens[i].key in LIST_MARKS - {"，", ","} or any(a.start <= i < a.end for a in self.concepts)
            for i in range(first.start, start)
        )

    def _turns(self, position: int) -> bool:
        """Tell whether a clause states the opposite of a denial before it ("不是心衰，是肺炎")."""
        return position < self.sentence.end and self.document.tokens[position].raw in "是而系实考"

    def _bare_item(self, position: int) -> bool:
        """Tell whether the clause from `position` holds a concept and next to nothing else."""
        clause = self.document.clause
        if position >= len(clause):
            return False
        covered = sum(ann.end - ann.start for ann in self.concepts if clause[ann.start] == clause[position])
        length = self.document.clause_end(self.sentence, position) - position
        return covered > 0 and length - covered <= 2

    def _list_item(self, position: int) -> bool:
        """Tell whether the clause from `position` may continue a list: no verb, number, act or new negation in it."""
        found = self._items.get(position)
        if found is None:
            found = self._items[position] = self._continues(position)
        return found

    def _continues(self, position: int) -> bool:
        if position >= self.sentence.end:
            return False
        end = self.document.clause_end(self.sentence, position)
        if any(token.key in PREDICATES for token in self.document.tokens[position:end]):
            return False
        acts = (a for a in self.sentence.within(position, end, "act") if not self._used(a, end))
        return not any(acts) and not any(self.sentence.within(position, end, "quantity"))

    def _used(self, act: Ann, end: int) -> bool:
        """Tell whether "use" ends a clause: the noun ("no tobacco or illicit drug use")."""
        rest = range(act.end, end)
        return self.document.tokens[act.start].key == "use" and all(self.document.tokens[i].kind == "p" for i in rest)

    def _reached_back(self, mod: Ann, end: int) -> bool:
        """Tell whether a backward cue reaches what ends at `end`."""
        tokens = self.document.tokens
        distance = 0
        for position in range(end, mod.start):
            key = tokens[position].key
            if key in CONTRAST or key in "，;；。|(":
                return False
            if key == "," and not self._list_item(position + 1):
                return False
            distance = 0 if key in LIST_MARKS else distance + 1
            if distance > BACK:
                return False
        between = [a for a in self.concepts if a.start >= end and a.end <= mod.start]
        return not between or all(
            tokens[p].key in LIST_MARKS or any(a.start <= p < a.end for a in between)
            for p in range(end, between[-1].end)
        )

    def _doubted(self, start: int, end: int) -> bool:
        clause = self.document.clause
        for mod in self.mods:
            if mod.kind == "hedge" and mod.end <= start and not self._points_back(mod) and self._reaches(mod, start):
                return True
            if mod.kind == "neg" and self._of_cause(mod, start, end) and self._reaches(mod, start):
                return True
            if mod.kind == "hedge" and 0 <= mod.start - end <= 2 and self._text(mod) in VERSUS:
                return True  # "cellulitis versus stasis dermatitis"
            if mod.kind == "retract" and mod.start >= end and mod.start - end <= REACH:
                return True
            backward = mod.kind == "hedge_back" and mod.start >= end and self._points_back(mod)
            if backward and (self._reached_back(mod, end) or clause[mod.start] == clause[start]):
                return True
        return False

    def asks(self, start: int) -> bool:
        """Tell whether a place is only asked about, or what the answer says it was asked."""
        return self.sentence.question or self._asked(start, start)

    def _asked(self, start: int, end: int) -> bool:
        return any(mod.kind == "ask" and mod.end <= start and self._ask_reaches(mod, start) for mod in self.mods)

    def _ask_reaches(self, mod: Ann, start: int) -> bool:
        tokens = self.document.tokens
        if any(source.kind == "patient" and mod.end <= source.start < start for source in self.sources):
            return False  # "asked about bleeding, he says …": the answer to it
        if any(other.kind == "neg" and mod.end <= other.start and other.end <= start for other in self.mods):
            return False  # "心电监测未捕捉到房颤": what was found, not what to look for
        for position in range(mod.end, start):
            key = tokens[position].key
            if (
                key in ";；。"
                or key in CONTRAST
                or (key in ",，" and not (self._list_item(position + 1) or self._bare_item(position + 1)))
            ):
                return False
        return True

    # -- conditions -----------------------------------------------------------------------------------------------

    def conditional(self, at: int) -> str:
        """Return "inside" a condition, "after" for what it decides, or ""."""
        tokens, clause = self.document.tokens, self.document.clause
        result = ""
        for mod in self.mods:
            if mod.kind != "cond":
                continue
            text = self._text(mod)
            stop = mod.end
            ends = BECAUSE if text in UNTIL else ("but",)
            while stop < self.sentence.end and tokens[stop].key not in ",，;；:)" and tokens[stop].key not in ends:
                stop += 1
            begin = mod.start
            if text in ("时再", "的话", "前提下", "的前提下"):
                begin = next(
                    i
                    for i in range(mod.start, -1, -1)
                    if i == self.sentence.start or clause[i - 1] != clause[mod.start]
                )
                stop = mod.end
            if self._affirmed(stop):
                continue  # "once it tops 6, and it does"
            if begin <= at < stop:
                return "inside"
            strong = text in STRONG_CONDITIONS or text.startswith(("should", "had ", "were "))
            first = (
                mod.start == self.sentence.start
                or clause[mod.start - 1] != clause[mod.start]
                or tokens[mod.start].kind == "c"
            )
            if strong and ((at >= stop and first) or (at < mod.start and self._same_main(at, mod.start))):
                result = "after"
        return result

    def _affirmed(self, at: int) -> bool:
        """Tell whether what follows a condition says that it holds."""
        text = self.document.text(at, min(at + 6, self.sentence.end)).lower().lstrip(" ,，;；")
        return text.startswith(AFFIRMED)

    def _same_main(self, at: int, cue: int) -> bool:
        """Tell whether a condition that follows belongs to what stands at `at`: no full clause between them."""
        tokens = self.document.tokens
        return (
            not any(tokens[i].key in ";；" or tokens[i].key in CONTRAST for i in range(at, cue))
            and self._clause_distance(at, cue) <= 1
        )

    def _clause_distance(self, one: int, other: int) -> int:
        return abs(self.document.clause[one] - self.document.clause[other])

    # -- people and time ----------------------------------------------------------------------------------------

    def _person(self, start: int, kind: str) -> bool:
        """From the relative to the end of the sentence or to the patient, whichever comes first."""
        last = None
        for mod in self.mods:
            if mod.start > start:
                break
            if mod.kind in (kind, f"{kind}_back") and not any(
                s.kind == "family" and s.start <= mod.start < s.end for s in self.sources
            ):
                last = mod
            elif mod.kind == "self":
                last = None
        if last is None:
            return False
        text = self.document.text(last.end, self.sentence.end)
        return (
            not text.lower().strip().startswith(("reports", "says"))
            and " so does " not in text
            and " so has " not in text
        )

    def _other(self, start: int) -> bool:
        people = [mod for mod in self.mods if mod.kind in ("other", "self")]
        others = [mod for mod in people if mod.kind == "other"]
        if not others:
            return False
        after = [mod for mod in people if mod.start >= others[-1].end and mod.kind == "self"]
        before = [mod for mod in people if mod.end <= others[0].start and mod.kind == "self" and mod.end <= start]
        return not (after and start >= after[0].start) and not before

    def _timed(self, start: int, kind: str) -> bool:
        return self._in_clause(start, kind, weak=False)

    def _in_clause(self, start: int, kind: str, *, weak: bool = True) -> bool:
        clause = self.document.clause
        return any(
            mod.kind == kind and clause[mod.start] == clause[start] and (weak or self._text(mod) not in WEAK_PAST)
            for mod in self.mods
        )

    def _general(self, start: int) -> bool:
        """Tell whether the clause speaks in general; what it gives as a reason does not make the advice general."""
        clause = self.document.clause
        links = [ann for ann in self.sentence.of("link") if ann.kind == "because"]
        return any(
            mod.kind == "general"
            and clause[mod.start] == clause[start]
            and not any(start < link.start <= mod.start for link in links)
            for mod in self.mods
        )

    def _before_in_clause(self, start: int, kind: str) -> bool:
        clause = self.document.clause
        return any(mod.kind == kind and clause[mod.start] == clause[start] and mod.start <= start for mod in self.mods)

    def _source(self, start: int) -> str:
        """Who says it: the last source named before, or a source in the same clause."""
        if not self.sources:
            return ""
        starts = [ann.start for ann in self.sources]
        index = bisect_right(starts, start) - 1
        source = self.sources[max(index, 0)]
        if index < 0 and any(self.document.tokens[i].raw in ";；" for i in range(start, source.start)):
            return ""  # a source in a later part of the sentence speaks for that part
        if source.kind == "own":
            return ""
        if source.kind in ("chart", "adviser") and any(turns(self.document, i) for i in range(source.end, start)):
            return ""  # "the note says …, but …": the answer speaks again
        return source.kind

    def _text(self, ann: Ann) -> str:
        return self.document.text(ann.start, ann.end).lower()


WEAK_PAST = words("scope.weak_past")
RESOLVED = words("scope.resolved")
