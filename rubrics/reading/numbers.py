"""Numbers as they are written: digits, words, Chinese numerals, percentages in words."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from .tokens import Token

UNITS = {w: n for n, w in enumerate("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split())}  # fmt: skip  # noqa: SIM905, E501
TENS = {w: 10 * n for n, w in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}  # noqa: SIM905
HAN = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
HAN_SCALE = {"十": 10, "百": 100, "千": 1000}
HAN_ALL = frozenset(HAN) | frozenset(HAN_SCALE) | {"点", "万"}


@dataclass(frozen=True, slots=True)
class Number:
    """A number over tokens [start, end)."""

    start: int
    end: int
    value: Decimal
    text: str
    """Digits as stated, for precision."""
    worded: bool = False
    percent: bool = False


def read_number(tokens: list[Token], at: int) -> Number | None:
    """Return the number that starts at token `at`, or None."""
    token = tokens[at]
    if token.kind == "n":
        return _digits(tokens, at)
    if token.kind == "c" and (token.raw in HAN_ALL):
        return _han(tokens, at)
    if token.kind == "w" and (token.key in UNITS or token.key in TENS or token.key.split("-")[0] in TENS):
        return _words(tokens, at)
    return None


def _digits(tokens: list[Token], at: int) -> Number:
    raw = tokens[at].raw
    if "," in raw:
        tail = raw.rsplit(",", 1)[1]
        thousands = len(tail.split(".")[0]) == 3 and not raw.startswith("0")
        raw = raw.replace(",", "") if thousands else raw.replace(",", ".")
    if len(raw) > 24:
        raw = raw[:24]
    return Number(at, at + 1, Decimal(raw), raw)


def _words(tokens: list[Token], at: int) -> Number | None:
    key = tokens[at].key
    if key in TENS:
        value = TENS[key]
        end = at + 1
        if end < len(tokens) and tokens[end].key in UNITS and 0 < UNITS[tokens[end].key] < 10:
            value += UNITS[tokens[end].key]
            end += 1
    else:
        value = UNITS[key]
        end = at + 1
        if end < len(tokens) and tokens[end].key == "hundred":
            value *= 100
            end += 1
            if end + 1 < len(tokens) and tokens[end].key == "and":
                rest = _words(tokens, end + 1) if tokens[end + 1].key in UNITS or tokens[end + 1].key in TENS else None
                if rest is not None:
                    value += int(rest.value)
                    end = rest.end
    if end + 1 < len(tokens) and tokens[end].key == "point" and tokens[end + 1].key in UNITS:
        text = f"{value}.{UNITS[tokens[end + 1].key]}"
        return Number(at, end + 2, Decimal(text), text, worded=True)
    return Number(at, end, Decimal(value), str(value), worded=True)


def _han(tokens: list[Token], at: int) -> Number | None:
    percent = False
    start = at
    if tokens[at].raw == "百" and "".join(t.raw for t in tokens[at : at + 3]) == "百分之":
        percent, at = True, at + 3
    end = at
    while end < len(tokens) and tokens[end].kind == "c" and tokens[end].raw in HAN_ALL and end - at < 12:
        end += 1
    chars = "".join(token.raw for token in tokens[at:end])
    while chars and chars[-1] in "点万":
        chars, end = chars[:-1], end - 1
    whole, _, fraction = chars.partition("点")
    value = _han_integer(whole)
    if value is None or any(c not in HAN for c in fraction):
        return None
    text = str(value)
    degree = "".join(t.raw for t in tokens[end : end + 1])
    if degree == "度" and end + 1 < len(tokens) and tokens[end + 1].raw in HAN and not fraction:
        fraction, end = tokens[end + 1].raw, end + 2
        text += "." + str(HAN[fraction])
    elif fraction:
        text += "." + "".join(str(HAN[c]) for c in fraction)
    return Number(start, end, Decimal(text), text, worded=True, percent=percent)


def _han_myriads(head: str, tail: str) -> int | None:
    """Return the value of "两万八千", "两万八": a bare digit after 万 counts thousands."""
    first, rest = _han_integer(head), _han_integer(tail)
    if first is None or rest is None:
        return None
    return first * 10_000 + (rest * 1000 if len(tail) == 1 and rest < len(HAN) else rest)


def _han_integer(chars: str) -> int | None:
    """Return the value of a Chinese whole number; digits read one by one where no scale is given."""
    if not chars:
        return None
    if "万" in chars:
        return _han_myriads(*chars.split("万", 1))
    if not any(c in HAN_SCALE for c in chars):
        return int("".join(str(HAN[c]) for c in chars)) if all(c in HAN for c in chars) else None
    total, digit = 0, 0
    last_scale = 1
    for c in chars:
        if c in HAN_SCALE:
            total += (digit or 1) * HAN_SCALE[c]
            last_scale, digit = HAN_SCALE[c], 0
        elif c in HAN:
            if HAN[c] == 0:
                last_scale = 10
            digit = HAN[c]
        else:
            return None
    return total + digit * (last_scale // 10 if last_scale > 10 and digit else 1)
