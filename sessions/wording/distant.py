"""A drug that was named further back than the turn before is called a drug: "it" would be what was spoken of last.

"How is it ordered?" right after a scan, which is ordered as well, becomes "How is that drug ordered?". Chinese
says "这个药" anyway.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Final

from wardround.sessions.session import Language

from .phrases import Shape

_SLOT: Final = re.compile(r"(?:the )?\{[Dd]rug\}")
_NOUNS: Final = r"(?:drug|med|medication|medicine|antibiotic|pill|one|dose)s?\b"
_PRONOUN: Final = re.compile(rf"\b(?:its|it|that(?! {_NOUNS}))\b", re.IGNORECASE)
_OF_IT: Final = re.compile(r"(?: of|for) it\b")


@lru_cache(maxsize=8192)
def by_noun(shape: Shape, language: Language) -> Shape:
    """Return a shape of type NA with a noun where its implicit form has a bare pronoun for the drug.

    Args:
        shape: One that leaves out the drug.
        language: Of the shape.

    Returns:
        The shape itself where it has a noun already, or no word at all for the drug, or where it cannot be told which
        pronoun stands for it.
    """
    if language == "zh":
        return shape
    pronouns = list(_PRONOUN.finditer(shape.implicit))
    slot = _SLOT.search(shape.explicit)
    found = next((one for one in pronouns if slot is not None and one.start() == slot.start()), None)
    own = len(_PRONOUN.findall(shape.explicit))
    if found is None and len(pronouns) <= own:
        return shape
    if found is None and own == 0 and len(pronouns) == 1:
        found = pronouns[0]
    if found is None and not _OF_IT.search(shape.explicit):
        found = next((one for one in pronouns if _OF_IT.match(shape.implicit, one.start() - 4)), None)
    if found is None:
        return shape
    noun = "that drug's" if found.group().lower() == "its" else "that drug"
    said = noun[0].upper() + noun[1:] if found.group()[0].isupper() else noun
    return replace(shape, implicit=shape.implicit[: found.start()] + said + shape.implicit[found.end() :])
