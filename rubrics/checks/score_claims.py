"""What an answer says a clinical score is: its totals and the points of its components.

A number belongs to what was named last before it: the score, a component, or a measurement. Numbers after a word such
as "total" are totals wherever they stand; cut-offs, addends, years and numbers in another unit never are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from wardround.patients import knowledge
from wardround.rubrics.reading import Reading
from wardround.rubrics.reading.document import Ann, Sentence
from wardround.rubrics.reading.named import MEASURES
from wardround.rubrics.reading.tokens import Token

from .amounts import equivalent
from .score_names import (
    Place,
    component_places,
    ends_with,
    only_words,
    score_places,
    score_words,
    starts_with,
)

_POINTS = "{score}"
_OPERATORS = frozenset("+-−×*=")


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of the answer."""

    start: int
    end: int
    text: str
    """Digits as stated."""
    unit: str | None
    sentence: int


@dataclass(frozen=True, slots=True)
class StatedTotal:
    """A total claimed for this patient."""

    figure: Figure
    old: bool
    """Said of the past, or the start of a course."""


@dataclass(slots=True)
class StatedScore:
    """All that an answer says about one score."""

    named: bool = False
    totals: list[StatedTotal] = field(default_factory=list)
    points: dict[str, list[Figure]] = field(default_factory=dict)


def read_score(reading: Reading, score_id: str) -> StatedScore:
    """Collect the totals and points that an answer states for a score."""
    found = StatedScore()
    tokens = reading.document.tokens
    places = score_places(tokens)
    wanted = [place for place in places if score_id in place.ids]
    found.named = bool(wanted)
    if not wanted:
        return found
    walker = _Walker(reading, score_id, places, found)
    for number, place in enumerate(places):
        if score_id in place.ids:
            walker.walk(place, places[number + 1] if number + 1 < len(places) else None)
    if wanted[0] == places[0]:
        walker.look_back(wanted[0])
    return found


@dataclass(slots=True)
class _Owner:
    """What the next number belongs to."""

    end: int
    """Token after its name."""
    component: str = ""
    free: bool = False
    """Nothing but the score itself was named yet."""
    first: bool = False
    """In the sentence that names the score."""
    settled: bool = False
    """The score has its number and nothing else was named since."""
    taken: bool = False
    """The component has its points."""


class _Walker:
    """Reads what stands around each name of one score."""

    def __init__(self, reading: Reading, score_id: str, places: list[Place], found: StatedScore) -> None:
        self.reading = reading
        self.tokens: Sequence[Token] = reading.document.tokens
        self.score = knowledge.score_of(score_id)
        self.places = places
        self.found = found
        self.parts = self.score.by_component()
        self.components = {place.start: place for place in component_places(score_id, self.tokens)}
        self.figures = {figure.start: figure for figure in figures(reading, places)}
        self.taken: set[int] = set()
        self.owners = dict(self._owner_ends())

    def _owner_ends(self) -> Iterator[tuple[int, int]]:
        """Yield (start, end) of measurements named in the text that are no names of scores."""
        named = {index for place in self.places for index in range(place.start, place.end)}
        for sentence in self.reading.document.sentences:
            for ann in sentence.of("concept"):
                measured = not ann.value.kinds.isdisjoint(MEASURES) and self.score.concept not in ann.value.ids
                if measured and not named.intersection(range(ann.start, ann.end)):
                    yield ann.start, ann.end

    def walk(self, place: Place, following: Place | None) -> None:
        """Read the region of one name: up to the next name; beyond its sentence only what says "total"."""
        sentence = self.reading.document.sentence_of(place.start)
        stop = following.start if following is not None else len(self.tokens)
        other = stop if following is not None and self.score.id not in following.ids else len(self.tokens)
        before = len(self.found.totals)
        self._region(place.end, min(stop, sentence.end), other, first=True)
        if len(self.found.totals) == before:
            self._before(place, sentence)
        more = len(self.found.totals) == before
        self._region(sentence.end, stop, other, first=False, totals=more)

    def look_back(self, place: Place) -> None:
        """Read points that stand before the first name of any score (a table whose last row is the total)."""
        ahead, self.found = self.found, StatedScore()
        self._region(0, place.start, place.start, first=False, totals=False)
        for component, points in self.found.points.items():
            ahead.points.setdefault(component, points)
        self.found = ahead

    def _region(self, start: int, end: int, limit: int, *, first: bool, totals: bool = True) -> None:
        """Walk tokens [start, end); `first`: a number that nothing else owns is the score's total."""
        owner = _Owner(end=start, free=first, first=first)
        at = start
        while at < end:
            figure = self.figures.get(at)
            if at in self.components:
                place = self.components[at]
                owner = _Owner(end=place.end, component=place.ids[0], first=first)
                at = max(place.end, self.owners.get(at, 0))
            elif figure is not None:
                at = self._figure(figure, owner, end, limit, totals=totals)
            else:
                if at in self.owners:
                    owner = _Owner(end=self.owners[at], first=first)
                at = max(at + 1, self.owners.get(at, 0))

    def _figure(self, figure: Figure, owner: _Owner, end: int, limit: int, *, totals: bool) -> int:
        """Give one number to what owns it; return where to go on."""
        given_to = self._given_to(figure, owner, end)
        if given_to is not None:
            self._add_points(given_to, figure)
        elif totals and self._is_total(figure, owner, limit):
            negated = self.reading.scopes[figure.sentence].flags(figure.start, figure.end).negated
            owner.free, owner.settled = negated, True
            return self._add_total(figure, end)
        elif owner.component and not (owner.taken and figure.unit is None):
            owner.taken = self._add_points(owner.component, figure) or owner.taken
        return figure.end

    def _is_total(self, figure: Figure, owner: _Owner, limit: int) -> bool:
        if figure.start in self.taken or not self._fits(figure) or self._addend(figure):
            return False
        if ends_with("bound", self.tokens, figure.start) < figure.start or self._handed_on(figure, limit):
            return False
        copula = self._skip(figure.start)
        if owner.end <= ends_with("total", self.tokens, copula) < copula or owner.free:
            return True
        joined = copula < figure.start and self.tokens[copula].key not in (":", "of")
        if copula < figure.start and self.tokens[copula].key == ":" and self.tokens[copula - 1].raw == ")":
            joined = True  # "MELD-Na (bilirubin 2.0, INR 1.2): 17"
        if owner.settled:  # "was 6 yesterday and is 10 today"
            return joined
        return owner.first and joined and owner.end < copula and not self.found.totals

    def _skip(self, at: int) -> int:
        """Step back over a copula, so that "the total is 10" shows its cue."""
        return ends_with("copula", self.tokens, at)

    def _fits(self, figure: Figure) -> bool:
        """Tell whether the unit can be the score's; points may go without one."""
        if figure.unit is None:
            if starts_with("not_points", self.tokens, figure.end) > figure.end:
                return False
            return not (len(figure.text) == 4 and figure.text[:2] in ("19", "20"))
        return figure.unit == self.score.unit or (
            self.score.unit != _POINTS and equivalent(figure.unit, self.score.unit, self.score.concept or "")
        )

    def _addend(self, figure: Figure) -> bool:
        """Tell whether the number is an operand of a sum that is written out ("2 + 1 = 3")."""
        operator = self.tokens[figure.end].raw if figure.end + 1 < len(self.tokens) else ""
        operand = operator in _OPERATORS and self.tokens[figure.end + 1].kind == "n"
        return operand or self.tokens[figure.start - 1].raw == "+"

    def _handed_on(self, figure: Figure, limit: int) -> bool:
        """Tell whether the number belongs to the other score after it ("3 on HAS-BLED")."""
        return limit < len(self.tokens) and only_words(("onto", "filler"), self.tokens, figure.end, limit)

    def _given_to(self, figure: Figure, owner: _Owner, end: int) -> str | None:
        """Return the component after "2 points for", or None."""
        if figure.unit not in (None, _POINTS):
            return None
        for at in range(figure.end, min(figure.end + 4, end)):
            if at in self.components:
                joined = only_words(("gives_to", "filler"), self.tokens, figure.end, at)
                aside = self.tokens[at - 1].raw == "(" and (owner.free or owner.component)
                return self.components[at].ids[0] if joined and not aside else None
        return None

    def _add_points(self, component: str, figure: Figure) -> bool:
        if figure.unit not in (None, _POINTS) or Decimal(figure.text) not in self.parts[component].values():
            return False
        if self._claimed(figure) is not None and figure.start not in self.taken:
            self.taken.add(figure.start)
            self.found.points.setdefault(component, []).append(figure)
        return True

    def _add_total(self, figure: Figure, end: int) -> int:
        """Add a total, and the end of a course that starts with it; return where to go on."""
        chain = [figure]
        while (following := self._moves_to(chain[-1], end)) is not None:
            chain.append(following)
        last = len(chain) - 1
        other = self._next(chain[-1], end)
        if last == 0 and other is not None and only_words(("alternative",), self.tokens, figure.end, other.start):
            chain.append(other)  # both stand, and so contradict each other
        for number, one in enumerate(chain):
            self.taken.add(one.start)
            past = self._claimed(one)
            if past is not None:
                self.found.totals.append(StatedTotal(one, old=past or number < last))
        return chain[-1].end

    def _moves_to(self, figure: Figure, end: int) -> Figure | None:
        """Return the number that a course goes on to, or None."""
        following = self._next(figure, end)
        if following is None:
            return None
        between = (self.tokens, figure.end, following.start)
        origin = ends_with("origin", self.tokens, figure.start) < figure.start
        moved = only_words(("moves", "to"), *between) or (origin and only_words(("to", "moves"), *between))
        return following if moved else None

    def _next(self, figure: Figure, end: int) -> Figure | None:
        for at in range(figure.end + 1, min(figure.end + 6, end)):
            following = self.figures.get(at)
            if following is not None:
                return following if self._fits(following) else None
        return None

    def _before(self, place: Place, sentence: Sentence) -> None:
        """Bind a number that stands right before the name: "a score of 17 on MELD-Na", "2 SIRS criteria"."""
        for at in range(place.start - 1, max(sentence.start, place.start - 8) - 1, -1):
            figure = self.figures.get(at)
            if figure is None:
                continue
            joined = only_words(("onto", "filler"), self.tokens, figure.end, place.start)
            if not joined and self._counted(place):
                joined = figure.end == place.start or only_words(("filler",), self.tokens, figure.end, place.start)
                whole = self.figures.get(at - 2)
                if whole is not None and self.tokens[at - 1].key in ("of", "/"):
                    figure = whole  # "2 of 4 SIRS criteria"
            bound = ends_with("bound", self.tokens, figure.start) < figure.start
            if joined and not bound and figure.start not in self.taken and self._fits(figure):
                self._add_total(figure, figure.end)
            return

    def _counted(self, place: Place) -> bool:
        after = starts_with("counted", self.tokens, place.end) > place.end
        return after or ends_with("counted", self.tokens, place.end) < place.end

    def _claimed(self, figure: Figure) -> bool | None:
        """Return None where the number is not claimed for this patient, else whether it is said of the past."""
        flags = self.reading.scopes[figure.sentence].flags(figure.start, figure.end)
        if not flags.claimed or flags.negated or flags.future:
            return None
        was = ends_with("was", self.tokens, figure.start) < figure.start
        return flags.past and (was or not flags.now)


def figures(reading: Reading, places: list[Place]) -> Iterator[Figure]:
    """Yield the single numbers of an answer that are part of no score's name, of no date and of no range."""
    named = {index for place in places for index in range(place.start, place.end)}
    tokens = reading.document.tokens
    for number, sentence in enumerate(reading.document.sentences):
        covered: set[int] = set()
        for ann in sentence.of("quantity"):
            covered.update(range(ann.start, ann.end))
            figure = _of_quantity(ann, number)
            if figure is not None and ann.start not in named:
                yield figure
        for at in range(sentence.start, sentence.end):
            if at not in covered and at not in named:
                plain = _plain(tokens, at, number)
                if plain is not None:
                    yield plain


def _of_quantity(ann: Ann, sentence: int) -> Figure | None:
    quantity = ann.value
    if quantity.shape != "one" or quantity.time:
        return None
    return Figure(ann.start, ann.end, quantity.texts[0], quantity.unit, sentence)


def _plain(tokens: Sequence[Token], at: int, sentence: int) -> Figure | None:
    """Return a number that is no quantity to the reader: "age 1" (it takes that for an age), "three points"."""
    token = tokens[at]
    after = at + 1
    if token.kind == "n" and "," not in token.raw:
        return Figure(at, after, token.raw, None, sentence)
    value = score_words().numbers.get(token.key)
    if value is None:
        return None
    stop = starts_with("number_after", tokens, after)
    if stop == after and after < len(tokens):
        return None
    points = after < len(tokens) and tokens[after].key in ("points", "point", "分")
    return Figure(at, stop if points else after, str(value), _POINTS if points else None, sentence)
