"""How long: "7 days" = "1 week" = "x7d" = "连服7天"; also infusion times ("60 min" = "1 h")."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache

from .vocabulary import normal, table


@cache
def _pattern() -> re.Pattern[str]:
    """Compile "number unit" for every unit of time; bounded repeats only."""
    numbers = "|".join(sorted(map(re.escape, table("durations")["numbers"]), key=len, reverse=True))
    units = "|".join(
        sorted(
            (re.escape(word) for words in table("durations")["units"].values() for word in words), key=len, reverse=True
        )
    )
    number = rf"(?<![\d.])(?:\d{{1,4}}(?:\.\d{{1,3}})?|(?<![a-z])(?:{numbers}))"
    return re.compile(
        rf"(?P<low>{number})(?: ?(?:-|–|~|to|至) ?(?P<high>{number}))?[ -]?个?"
        rf"(?P<unit>{units})(?![a-z])(?! ?[\d一二两三四五六]次)"
    )


@cache
def _before() -> re.Pattern[str]:
    """Match words that make a time something else than a duration: "every 7 days", "in 3 days"."""
    words = "|".join(sorted(map(re.escape, table("durations")["not_after"]), key=len, reverse=True))
    return re.compile(rf"(?:^|[^a-z])(?:{words}) ?$")


def read_durations(text: str) -> tuple[tuple[Decimal, Decimal], ...]:
    """Return the distinct durations in an argument as (shortest, longest) minutes."""
    folded = normal(text)
    minutes = {word: Decimal(size) for size, words in table("durations")["units"].items() for word in words}
    found = []
    for match in _pattern().finditer(folded):
        if _before().search(folded[max(0, match.start() - 16) : match.start()]):
            continue
        size = minutes[match.group("unit")]
        low = _number(match.group("low"))
        high = _number(match.group("high")) if match.group("high") else low
        found.append((low * size, high * size))
    return tuple(dict.fromkeys(found))


def _number(text: str) -> Decimal:
    words: dict[str, str] = table("durations")["numbers"]
    return Decimal(words.get(text, text))
