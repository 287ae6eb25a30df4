"""Amounts of drug: "250 mg", "two 325 mg tablets", "0.5 g", "5-10 mg", "每片325毫克，两片"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache

from .vocabulary import Phrases, normal, table

_NUMBER = re.compile(
    r"(?P<fraction>[1-9]/[1-9](?![\d/]))|(?P<thousands>\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d))|(?P<plain>\d+(?:[.,]\d+)?|\.\d+)"
)
_ARTICLES = ("a", "an")
_WORD = re.compile(r"[^\W\d_]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount or a range of amounts in the base unit of its dimension (mg, mmol, mEq, unit, mL, piece …)."""

    low: Decimal
    high: Decimal
    dimension: str
    per: str = ""
    """"kg", "day", "h", "kg/min" …; "" for an amount per dose."""

    @property
    def single(self) -> bool:
        """A range is not a single dose."""
        return self.low == self.high

    def times(self, factor: Amount | Decimal) -> Amount:
        """Multiply by a count of pieces, which may itself be a range."""
        low, high = (factor.low, factor.high) if isinstance(factor, Amount) else (factor, factor)
        return replace(self, low=self.low * low, high=self.high * high)


@dataclass(frozen=True, slots=True)
class Doses:
    """What a text says about amounts."""

    amounts: tuple[Amount, ...] = ()
    """Distinct amounts per dose, "per kg" and the like; more than one of a dimension is no dose."""
    strength: Amount | None = None
    """Amount in one piece or one mL, where the text gives it."""
    ceiling: Amount | None = None
    """Stated maximum ("max 3 g/day")."""
    bare: tuple[Decimal, ...] = ()
    """Numbers without a unit."""

    def of(self, dimension: str) -> tuple[Amount, ...]:
        """Return the amounts of one dimension."""
        return tuple(amount for amount in self.amounts if amount.dimension == dimension)


@dataclass(slots=True)
class _Token:
    kind: str
    text: str = ""
    value: Decimal = Decimal(0)
    dimension: str = ""


@dataclass(slots=True)
class _Node:
    """A number, or a range, with or without its unit."""

    low: Decimal
    high: Decimal
    dimension: str
    first: int
    """Position of its first token."""
    last: int
    factor: Decimal = Decimal(1)
    per: str = ""

    def amount(self) -> Amount:
        return Amount(self.low, self.high, self.dimension, self.per)


@cache
def _words() -> Phrases[tuple[str, str, str]]:
    """Return a finder whose meanings are (kind, text, dimension)."""
    loaded = table("doses")
    entries: list[tuple[str, tuple[str, str, str]]] = []
    for dimension, units in loaded["units"].items():
        for unit in units.values():
            entries.extend((word, ("unit", unit["factor"], dimension)) for word in unit["words"])
    entries.extend((word, ("number", number, "")) for word, number in loaded["numbers"].items())
    for kind in ("ceiling", "range", "times", "each", "count_nouns"):
        entries.extend((word, (kind, word, "")) for word in loaded[kind])
    return Phrases(entries)


@cache
def _per() -> Phrases[str]:
    return Phrases((word, per) for per, words in table("doses")["per"].items() for word in words)


def read_doses(text: str) -> Doses:
    """Read the amounts of an argument.

    Args:
        text: One argument, as written.
    """
    tokens = list(_tokens(normal(text)))
    nodes = _nodes(tokens)
    return _combine(tokens, nodes)


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    while position < len(text):
        char = text[position]
        if char == " ":
            position += 1
            continue
        number = _NUMBER.match(text, position)
        if number:
            yield _Token("number", number.group(), _decimal(number))
            position = number.end()
            continue
        hit = _words().at(text, position)
        if hit:
            kind, value, dimension = hit.meaning
            amount = Decimal(value) if kind in ("unit", "number") else Decimal(0)
            yield _Token("word_number" if kind == "number" else kind, text[hit.start : hit.end], amount, dimension)
            position = hit.end
            continue
        word = _WORD.match(text, position)
        end = word.end() if word else position + 1
        if word and end < len(text) and text[end].isdecimal():  # the digits of K1 and B12 are part of the word
            number = _NUMBER.match(text, end)
            end = number.end() if number else end
        yield _Token("word" if word or char.isalnum() else "mark", text[position:end])
        position = end


def _decimal(number: re.Match[str]) -> Decimal:
    text = number.group()
    if number.group("fraction"):
        top, bottom = text.split("/")
        return Decimal(top) / Decimal(bottom)
    return Decimal(text.replace(",", "" if number.group("thousands") else "."))


def _nodes(tokens: list[_Token]) -> list[_Node]:
    """Join numbers with their units and with the other end of a range."""
    nodes: list[_Node] = []
    at = 0
    while at < len(tokens):
        node = _node(tokens, at)
        if node is None:
            at += 1
            continue
        at = node.last + 1
        if at + 1 < len(tokens) and tokens[at].kind == "range":
            other = _node(tokens, at + 1)
            joined = _range(node, other) if other else None
            if joined:
                node, at = joined, joined.last + 1
        nodes.append(node)
    return nodes


def _node(tokens: list[_Token], at: int) -> _Node | None:
    token = tokens[at]
    if token.kind not in ("number", "word_number"):
        return None
    last, value = at, token.value
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    if token.text in _ARTICLES and not (following and following.kind == "unit"):
        return None  # "half of a 10 mg tablet": an article counts only what follows at once
    if following and following.text == "-" and at + 2 < len(tokens) and tokens[at + 2].kind == "unit":
        following, last = tokens[at + 2], at + 1  # "325-mg"
    if following and following.kind == "unit":
        base = value * following.value
        return _per_unit(tokens, _Node(base, base, following.dimension, at, last + 1, following.value))
    return _Node(value, value, "", at, at)


def _per_unit(tokens: list[_Token], node: _Node) -> _Node:
    """Read "/kg", "per tablet", "/kg/min", "每片" after an amount."""
    while node.last + 2 < len(tokens) and tokens[node.last + 1].text in ("/", "per", "每"):
        following = tokens[node.last + 2]
        per = "piece" if following.dimension == "piece" else "mL" if following.dimension == "volume" else None
        per = per or _per().exact(following.text)
        if per is None or (per == "day" and tokens[node.last + 1].text == "每"):
            break  # "250毫克 每日两次" is 250 mg per dose
        if per != "dose":
            node.per = f"{node.per}/{per}" if node.per else per
        node.last += 2
    return node


def _range(node: _Node, other: _Node) -> _Node | None:
    """Join "5-10 mg" and "5 mg to 10 mg"; None where the numbers do not belong together."""
    if not other.dimension or (node.dimension and node.dimension != other.dimension):
        return None
    start = node.low if node.dimension else node.low * other.factor  # "5-10 mg": the unit stands once, for both
    low, high = min(start, other.low), max(start, other.high)
    return _Node(low, high, other.dimension, node.first, other.last, other.factor, other.per)


def _combine(tokens: list[_Token], nodes: list[_Node]) -> Doses:
    """Multiply counts with strengths, set ceilings apart, and keep what is left."""
    ceiling = next((node.amount() for node in nodes if _capped(tokens, node)), None)
    nodes = [node for node in nodes if not _capped(tokens, node)]
    strength: Amount | None = None
    amounts: list[Amount] = []
    pieces: list[_Node] = []
    bare: list[Decimal] = []
    for index, node in enumerate(nodes):
        before = nodes[index - 1] if index else None
        after = nodes[index + 1] if index + 1 < len(nodes) else None
        if node.per in ("piece", "mL"):
            strength = replace(node.amount(), per=node.per)
        elif node.dimension == "piece":
            pieces.append(node)
        elif not node.dimension:
            if not (after and _counts(tokens, node, after)) and not (before and _multiplies(tokens, before, node)):
                bare.append(node.low)
        else:
            amount = node.amount()
            if before and _counts(tokens, before, node):
                amount = amount.times(before.low)
            elif after and not after.dimension and _multiplies(tokens, node, after):
                amount = amount.times(after.low)
            elif before and before.dimension == "piece" and _each(tokens, before, node):
                strength = replace(amount, per="piece")
                continue
            amounts.append(amount)
    return _settle(tokens, nodes, amounts, pieces, strength, ceiling, tuple(bare))


def _settle(
    tokens: list[_Token],
    nodes: list[_Node],
    amounts: list[Amount],
    pieces: list[_Node],
    strength: Amount | None,
    ceiling: Amount | None,
    bare: tuple[Decimal, ...],
) -> Doses:
    """Bring pieces, volumes and strengths together."""
    masses = [amount for amount in amounts if amount.dimension in ("mass", "amount", "charge", "activity")]
    if pieces and not strength and len(masses) == 1 and not _in_brackets(tokens, nodes):
        strength = replace(masses[0], per="piece")  # "500 mg tablet, take 2 tablets"
        amounts.remove(masses[0])
        masses = []
    if strength and not masses:
        counted = pieces if strength.per == "piece" else [node for node in nodes if node.dimension == "volume"]
        amounts.extend(replace(strength, per="").times(node.amount()) for node in counted)
    amounts.extend(node.amount() for node in pieces)
    return Doses(tuple(dict.fromkeys(amounts)), strength, ceiling, bare)


def _between(tokens: list[_Token], one: _Node, other: _Node) -> list[_Token]:
    return tokens[one.last + 1 : other.first]


def _counts(tokens: list[_Token], count: _Node, amount: _Node) -> bool:
    """Tell whether a bare number counts the amount after it: "2 x 325 mg", "two 325 mg tablets"."""
    if count.dimension or not amount.dimension or amount.dimension == "piece":
        return False
    gap = _between(tokens, count, amount)
    if len(gap) == 1 and gap[0].kind == "times":
        return True
    following = tokens[amount.last + 1] if amount.last + 1 < len(tokens) else None
    linked = all(token.text == "of" or token.text in _ARTICLES for token in gap)
    return linked and following is not None and following.dimension == "piece"


def _multiplies(tokens: list[_Token], amount: _Node, count: _Node) -> bool:
    """Tell whether a bare number multiplies the amount before it: "325 mg x 2", but not "x 2 doses"."""
    gap = _between(tokens, amount, count)
    following = tokens[count.last + 1] if count.last + 1 < len(tokens) else None
    counted = following is not None and (following.kind == "count_nouns" or following.text in ("daily", "weekly", "/"))
    return bool(amount.dimension) and len(gap) == 1 and gap[0].kind == "times" and not counted


def _each(tokens: list[_Token], piece: _Node, amount: _Node) -> bool:
    """Tell whether the amount after pieces is that of each: "2 tabs of 325 mg", "2 tabs (325 mg each)", "每片325mg"."""
    gap = _between(tokens, piece, amount)
    after = tokens[amount.last + 1 : amount.last + 2]
    if any(token.kind == "each" for token in [*gap, *after]):
        return True
    return not gap and piece.high > 1


def _in_brackets(tokens: list[_Token], nodes: list[_Node]) -> bool:
    """Tell whether amount or pieces stand in brackets beside the other, as one amount said twice: "650 mg (2 tabs)"."""
    opened = [at for at, token in enumerate(tokens) if token.text in ("(", "=", "[")]
    return any(opened and node.first - 1 in opened for node in nodes)


def _capped(tokens: list[_Token], node: _Node) -> bool:
    """Tell whether the number is a stated maximum."""
    before = tokens[max(0, node.first - 3) : node.first]
    return any(token.kind == "ceiling" for token in before)
