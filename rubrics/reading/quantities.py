"""Numbers with their units; times and counts that are no measurement are told apart here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import Any

from wardround.patients import knowledge

from .cues import load_json
from .numbers import Number, read_number
from .tokens import Token, tokenise
from .trie import Trie

TIMES_SIGNS = frozenset("x×*·✕")
MULTIPLIERS = {"万": 4, "亿": 8}
TENTHS = 10
"""两 of a 斤."""
LAST_DAY = 31
FLAGS = ("H", "HH")
"""Flags of a result line: no hours."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, a pair, a range or a titre with its unit over tokens [start, end)."""

    start: int
    end: int
    values: tuple[Decimal, ...]
    texts: tuple[str, ...]
    """Digits of each value as stated."""
    shape: str
    """one, pair (148/92), range (3.5-5.0) or titre (1:8)."""
    unit: str | None
    """UCUM; None where none was written."""
    dimension: str
    """Of the unit; "" without one."""
    worded: bool = False
    time: bool = False
    """A date, a duration, an age, a stage, a count."""

    @property
    def text(self) -> str:
        """The value as text: "148/92", "1:8", "3.1-4.9", "5.6"."""
        return {"pair": "/", "titre": ":", "range": "-"}.get(self.shape, "").join(self.texts)


@lru_cache(maxsize=1)
def _unit_trie() -> Trie:
    trie = Trie(folded=False)
    for entry in knowledge.units().values():
        for text in (entry.ucum, entry.display, *entry.variants):
            if text and not text[0].isdigit():
                trie.add(text.replace("µ", "μ").lower(), text)
    for phrase in _phrases():
        trie.add(phrase, phrase)
    return trie


@lru_cache(maxsize=1)
def _phrases() -> dict[str, str]:
    """Return wordings of units in running text ("times a minute") with their UCUM codes."""
    return dict(load_json("times.json")["unit_phrases"])


@lru_cache(maxsize=1)
def _times() -> dict[str, frozenset[str]]:
    return {key: frozenset(value) for key, value in load_json("times.json").items() if isinstance(value, list)}


@lru_cache(maxsize=1)
def _scaled() -> dict[str, tuple[str, Decimal]]:
    """Return units that the knowledge base has no code for, as a multiple of one it has (斤: half a kilogram)."""
    return {name: (unit, Decimal(factor)) for name, (unit, factor) in load_json("times.json")["scaled_units"].items()}


@lru_cache(maxsize=4096)
def find_unit(text: str) -> Any:
    """Return the knowledge base's unit for a writing, or None."""
    return knowledge.unit(_phrases().get(text.lower(), text))


def read_quantities(tokens: list[Token], blocked: list[bool]) -> list[Quantity]:
    """Return the quantities in order; numbers inside `blocked` tokens (names such as T4) are no quantities."""
    found: list[Quantity] = []
    at = 0
    while at < len(tokens):
        part = at > 0 and tokens[at].glued and tokens[at - 1].kind == "w" and not blocked[at - 1]  # "x1", "q12", "T2"
        part = part or (at > 1 and tokens[at - 1].raw == "×" and tokens[at - 2].kind == "c")  # "血培养×2"
        quantity = None if blocked[at] or part else _read(tokens, at, blocked)
        if quantity is None:
            at += 1
            continue
        found.append(quantity)
        at = quantity.end
    return found


def _read(tokens: list[Token], at: int, blocked: list[bool]) -> Quantity | None:
    number = read_number(tokens, at)
    if number is None or (number.worded and number.end < len(tokens) and tokens[number.end].raw == "几"):
        return None  # "四十几"
    number = _degrees(tokens, number)
    token = tokens[at]
    if token.kind == "n" and (date := _half_day(tokens, at) or _date_end(tokens, at)):
        return Quantity(at, date, (number.value,), (number.text,), "one", None, "", time=True)
    negative = at > 0 and tokens[at - 1].raw in "-−" and token.glued and not _operand(tokens, at - 1)
    values, texts, shape, end = _extend(tokens, number)
    if negative and shape == "one":
        values, texts = (-values[0],), ("-" + texts[0],)
    unit, dimension, end, power = _unit_after(tokens, end, number)
    if shape == "one" and unit is not None and (upper := _upper(tokens, end, unit)) is not None:
        values, texts, shape, end = (values[0], upper[0].value), (texts[0], upper[0].text), "range", upper[1]
    scaled = _scaled().get(tokens[end].raw) if unit is None and end < len(tokens) else None
    if scaled is not None:
        unit, dimension, end = scaled[0], "mass", end + 1
        values = tuple(value * scaled[1] for value in values)
        if tokens[end - 1].raw == "斤" and (tenths := _tenths(tokens, end)) is not None:
            values, end = (*values[:-1], values[-1] + tenths[0]), tenths[1]
        texts = tuple(format(value.normalize(), "f") for value in values)
    if power:
        values = tuple(value.scaleb(power) for value in values)
        texts = tuple(format(value.normalize(), "f") for value in values)
    named = at > 0 and tokens[at - 1].raw.isupper() and len(tokens[at - 1].raw) > 2  # "GCS fifteen"
    if unit is None and number.worded and not named and not _worded_counts(tokens, number):
        times = number.end - number.start >= 2 and end < len(tokens) and tokens[end].raw == "次"
        return Quantity(at, end, values, texts, shape, None, "", worded=True, time=True) if times else None
    time = _is_time(tokens, at, end, unit, dimension)
    return Quantity(at, end, values, texts, shape, unit, dimension, number.worded, time)


def _upper(tokens: list[Token], at: int, unit: str) -> tuple[Number, int] | None:
    """Return the upper end of a range that gives its unit twice ("88%~92%"), and where it ends."""
    if at + 1 >= len(tokens) or tokens[at].raw not in "-~～" or not (tokens[at].glued and tokens[at + 1].glued):
        return None
    number = read_number(tokens, at + 1)
    if number is None:
        return None
    again, _, end, power = _unit_after(tokens, number.end, number)
    return (number, end) if again == unit and not power else None


def _tenths(tokens: list[Token], at: int) -> tuple[Decimal, int] | None:
    """Read the 两 after a number of 斤 ("7斤2两"): kilograms, and where they end."""
    number = read_number(tokens, at) if at < len(tokens) else None
    if number is None or number.end >= len(tokens) or tokens[number.end].raw != "两" or number.value >= TENTHS:
        return None
    return number.value * Decimal("0.05"), number.end + 1


def _degrees(tokens: list[Token], number: Number) -> Number:
    """Read "38度4" as 38.4 with its unit left to follow."""
    after = tokens[number.end : number.end + 2]
    if len(after) < 2 or after[0].raw != "度" or not (after[1].raw.isdigit() and len(after[1].raw) == 1):
        return number
    if not after[1].glued or not 34 <= number.value <= 43 or "." in number.text:
        return number
    text = f"{number.text}.{after[1].raw}"
    return replace(number, value=Decimal(text), text=text, end=number.end + 2)


def _operand(tokens: list[Token], index: int) -> bool:
    """A dash after a number, a word or a bracket joins; elsewhere it is a minus sign."""
    return index > 0 and tokens[index].glued and tokens[index - 1].kind in "nw"


def _worded_counts(tokens: list[Token], number: Number) -> bool:
    """Number words without a unit count where they carry more than one token or stand after a name."""
    if number.percent:
        return True
    return number.end - number.start >= 2 and not (
        number.end < len(tokens) and tokens[number.end].raw in _times()["durations_zh"]
    )


def _extend(tokens: list[Token], number: Number) -> tuple[tuple[Decimal, ...], tuple[str, ...], str, int]:
    """Join a pair, a range or a titre that starts with `number`."""
    end = number.end
    if end + 1 < len(tokens):
        mark = tokens[end]
        following = read_number(tokens, end + 1)
        if following is not None:
            both = ((number.value, following.value), (number.text, following.text))
            if mark.raw == ":" and mark.glued and tokens[end + 1].glued and number.text == "1":
                return *both, "titre", following.end
            if _is_pair(tokens, end, number, following):
                return *both, "pair", following.end
            if mark.raw in "-~～" or (mark.key in ("to", "至", "到") and number.end - number.start == 1):
                joined = mark.raw in "-~～" or not (
                    _from_before(tokens, number.start) or _day_then_value(tokens, number, following)
                )
                if joined and not (mark.raw == "-" and following.text.startswith("0") and "." not in following.text):
                    return *both, "range", following.end
    return (number.value,), (number.text,), "one", end


def _day_then_value(tokens: list[Token], number: Number, following: Number) -> bool:
    """As in "from 212 on day 1 to 88": the first number counts a day, the second is a value of its own."""
    at = number.start
    if at == 0 or tokens[at - 1].key not in ("day", "week", "month", "hour", "year") or tokens[at].kind != "n":
        return False
    earlier = range(max(0, at - 9), at - 1)
    led = any(tokens[i].key == "from" and tokens[i + 1].kind == "n" for i in earlier)
    unit = _longest(tokens, following.end)
    measured = unit is not None and find_unit(_slice(tokens, following.end, unit)) is not None
    return led or measured or "." in following.text or following.value > LAST_DAY


def _from_before(tokens: list[Token], at: int) -> bool:
    """Tell whether "from", "由" … stands shortly before: then "to" leads to an end point, not to a range."""
    return any(tokens[i].key in ("from", "由", "从", "自") for i in range(max(0, at - 3), at))


def _is_pair(tokens: list[Token], mark: int, first: Number, second: Number) -> bool:
    if tokens[mark].key == "over" or tokens[mark].raw == "/" or (tokens[mark].raw == "比" and first.worded):
        return 50 <= first.value <= 300 and 20 <= second.value <= 200 and second.value < first.value
    return False


def _unit_after(tokens: list[Token], end: int, number: Number) -> tuple[str | None, str, int, int]:
    """Return (UCUM or None, dimension, end, power of ten to multiply with) for what follows a number."""
    if number.percent:
        return "%", "fraction", end, 0
    at, power = end, 0
    if at < len(tokens) and tokens[at].key in TIMES_SIGNS and (found := _power(tokens, at + 1)):
        at, power = found
    elif at < len(tokens) and tokens[at].raw in MULTIPLIERS:
        at, power = at + 1, MULTIPLIERS[tokens[at].raw]
    match = _longest(tokens, at)
    if power:
        if match is not None:
            joined = find_unit(f"10*{power}" + _slice(tokens, at, match))
            if joined is not None:
                return joined.ucum, joined.dimension, match, 0
        elif at < len(tokens) and tokens[at].raw == "/" and at + 1 < len(tokens):
            joined = find_unit(f"10*{power}/" + tokens[at + 1].raw)
            if joined is not None:
                return joined.ucum, joined.dimension, at + 2, 0
        if match is None:
            return None, "", at, power
    if match is None:
        return _out_of(tokens, end)
    unit = find_unit(_slice(tokens, at, match))
    if unit is None:
        return None, "", match, power
    return unit.ucum, unit.dimension, match, power


def _numbered(tokens: list[Token], at: int) -> bool:
    """Tell whether a number follows, a colon or "of" aside: then the K before it is potassium."""
    if at < len(tokens) and tokens[at].key in (":", "of", "=", "is", "+", "was"):
        at += 1
    return at < len(tokens) and tokens[at].kind == "n"


def _out_of(tokens: list[Token], end: int) -> tuple[str | None, str, int, int]:
    """As in "7/10", "seven out of ten", "64 K" (platelets)."""
    if end < len(tokens) and tokens[end].raw in ("K", "k") and not _numbered(tokens, end + 1):
        return "10*3/uL", "count_concentration", end + 1, 0
    if end + 1 < len(tokens) and tokens[end].raw == "/" and tokens[end + 1].raw == "10":
        return "/10", "score", end + 2, 0
    if [t.key for t in tokens[end : end + 2]] == ["out", "of"] and end + 2 < len(tokens):
        total = read_number(tokens, end + 2)
        if total is not None and total.value == 10:
            return "/10", "score", total.end, 0
    return None, "", end, 0


def _power(tokens: list[Token], at: int) -> tuple[int, int] | None:
    """Read "10^9", "10*9", "10e9": (end, exponent)."""
    if at >= len(tokens) or tokens[at].raw != "10":
        return None
    at += 1
    while at < len(tokens) and tokens[at].key in ("^", "*", "e", "(", "**"):
        at += 1
    if at < len(tokens) and tokens[at].kind == "n" and tokens[at].raw.isdigit() and len(tokens[at].raw) <= 2:
        exponent = int(tokens[at].raw)
        at += 1
        if at < len(tokens) and tokens[at].raw == ")":
            at += 1
        return at, exponent
    return None


def _longest(tokens: list[Token], at: int) -> int | None:
    """Return the end of the longest unit that starts at `at`."""
    if at >= len(tokens):
        return None
    trie = _unit_trie()
    ends = [end for end, _ in trie.matches(tokens, at)]
    while ends:
        end = max(ends)
        last, following = tokens[end - 1], tokens[end] if end < len(tokens) else None
        cut = last.raw == "升" and following is not None and following.raw in "至到高了为"
        cut = cut or (last.kind == "w" and following is not None and following.glued and following.kind == "w")
        if not cut and (
            tokens[at].key not in ("a", "in", "s", "h", "d", "m", "y", "l", "k", "at", "t", "min")
            or tokens[at].glued
            or end - at > 1
            or _alone(tokens, at)
        ):
            if tokens[at].raw in FLAGS and not tokens[at].glued and end - at == 1:
                return None  # the flag of a result line, no hours
            return end
        ends.remove(end)
    return None


def _alone(tokens: list[Token], at: int) -> bool:
    """A one-letter unit after a space counts for hours, days, litres and grams of liquids only."""
    return tokens[at].key in ("h", "d", "l", "s", "min")


def _slice(tokens: list[Token], start: int, end: int) -> str:
    parts = []
    for index in range(start, end):
        if index > start and not tokens[index].glued:
            parts.append(" ")
        parts.append(tokens[index].raw)
    return "".join(parts)


def _date_end(tokens: list[Token], at: int) -> int | None:
    """Return the end of a date or clock time that starts with the number at `at`."""
    raw = tokens[at].raw
    keys = [token.key for token in tokens[at : at + 6]]
    months = _times()["months"]
    if _day_of_month(tokens, at):
        return at + (5 if len(keys) > 4 and keys[3] == "/" and keys[4].isdigit() else 3)
    if len(raw) == 4 and raw.isdigit() and "1900" <= raw <= "2199":
        if len(keys) >= 5 and keys[1] in "-/." and keys[3] == keys[1]:
            return at + 5
        if len(keys) > 1 and keys[1] == "年":
            return at + 2
        if at and tokens[at - 1].key in ("in", "since", "of", "from", *months) and _longest(tokens, at + 1) is None:
            return at + 1
    if len(keys) > 1 and keys[1] in months and (keys[1] != "may" or tokens[at + 1].raw == "May"):
        return at + (3 if len(keys) > 2 and len(keys[2]) == 4 and keys[2].isdigit() else 2)
    if at and tokens[at - 1].key in months and (tokens[at - 1].raw[0].isupper()) and raw.isdigit() and len(raw) <= 2:
        return at + 1
    if raw.isdigit() and len(raw) == 2 and len(keys) > 2 and keys[1] == ":" and len(keys[2]) == 2 and keys[2].isdigit():
        return at + 3
    if (
        raw.isdigit()
        and len(raw) == 4
        and at
        and tokens[at - 1].key in ("at", "by")
        and raw[2:] < "60"
        and raw < "2400"
        and _longest(tokens, at + 1) is None
    ):
        return at + 1
    if len(keys) >= 2 and keys[1] == "月" and not (len(keys) >= 3 and keys[2].isdigit() and int(keys[2]) <= 31):
        return at + 2  # "1月52": the month, then a number of its own
    if len(keys) >= 3 and keys[1] == "月":
        return at + (4 if len(keys) > 3 and keys[3] in "日号" else 3)
    return None


def _half_day(tokens: list[Token], at: int) -> int | None:
    """Return the end of a clock time such as "2 a.m.", None for anything else."""
    keys = [token.key for token in tokens[at : at + 4]]
    marked = len(keys) > 3 and keys[1] in ("a", "p") and keys[2:] == [".", "m"]
    return at + 4 if marked and keys[0].isdigit() and len(keys[0]) <= 2 else None


def _day_of_month(tokens: list[Token], at: int) -> bool:
    """Tell whether "6/3", "12/28" stands at `at`: a day and a month, a grade or a share, never a measurement."""
    if at + 2 >= len(tokens) or tokens[at + 1].raw != "/" or not (tokens[at + 1].glued and tokens[at + 2].glued):
        return False
    first, second = tokens[at].raw, tokens[at + 2].raw
    if not (first.isdigit() and second.isdigit() and len(first) <= 2 and len(second) <= 2) or second == "10":
        return False
    if at >= 2 and tokens[at - 2].raw in "/&" and tokens[at - 1].raw[:1].isupper():
        return False  # "BUN/Cr 12/2"
    if at + 3 < len(tokens) and tokens[at + 3].raw == "/" and at + 4 < len(tokens) and not tokens[at + 4].raw.isdigit():
        return False
    return 1 <= int(first) <= 12 and 1 <= int(second) <= 31


def _is_time(tokens: list[Token], start: int, end: int, unit: str | None, dimension: str) -> bool:
    """Durations, ages, stages, counts of things."""
    if dimension == "time":
        return True
    if unit is not None:
        return False
    times = _times()
    if end < len(tokens):
        key = tokens[end].key
        if tokens[end].kind == "c":
            if key in times["durations_zh"] or "".join(t.raw for t in tokens[end : end + 2]) in times["durations_zh"]:
                return True
        elif key in times["durations"] and tokens[end].raw not in FLAGS:
            return True
    return start > 0 and tokens[start - 1].key in times["time_words_before"] and "." not in tokens[start].raw


def parse_quantity(text: str) -> Quantity | None:
    """Read one quantity from a short text such as "148/92 mmHg"."""
    tokens = tokenise(text)
    found = read_quantities(tokens, [False] * len(tokens))
    return found[0] if len(found) == 1 else None
