"""Tool output pasted into an answer is no answer: JSON, and lists as Python prints them, are blanked before reading.

The physician asked for a sentence; a row of the record repeated as it came says nothing that the tool did not say.
Where a turn asks for JSON the answer is left as it is.
"""

from __future__ import annotations

import re

_OPENING = re.compile(
    r"""
    [\[{]\s{0,8}"                                                                     # JSON's own
    | [\[{]\s{0,8}(?:'[^'\n]{0,200}'|[“”„][^“”\n]{0,200}[“”]|`[^`\n]{0,200}`)\s{0,8}[,:]   # other quotes
    | \((?:\s{0,8}(?:'[^'\n]{0,99}'|"[^"\n]{0,99}"|None|[-\d.]{1,20})\s{0,8},){3}       # a tuple
    """,
    re.VERBOSE,
)
"""JSON's own opening; a list whose first member stands in other quotes; a tuple of three literals and more."""
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
"""A string (a cut one runs to the end) or a bracket; possessive, so linear."""
_PYTHON_TOKEN = re.compile(r""""(?:[^"\\]|\\.)*+"?|'(?:[^'\\]|\\.)*+'?|[\[\]{}()]""", re.DOTALL)


def blank_json(text: str) -> str:
    """Return the text with every list or object of JSON or Python replaced by blanks; offsets stay what they are.

    Examples:
        >>> blank_json('K is 4.6. ["lab-1", 4.6]')
        'K is 4.6.               '
        >>> blank_json("K is 4.6. ['lab-1', 4.6]")
        'K is 4.6.               '
        >>> blank_json("K [3.5-5.0] is normal")
        'K [3.5-5.0] is normal'
    """
    out: list[str] = []
    done = 0
    while (opening := _OPENING.search(text, done)) is not None:
        end = _end(text, opening.start())
        out.append(text[done : opening.start()])
        out.append(" " * (end - opening.start()))
        done = end
    return "".join((*out, text[done:])) if out else text


def _end(text: str, start: int) -> int:
    """Return where the array or object that begins at `start` ends; a cut one runs to the end of the text."""
    depth = 0
    json = text[start] != "(" and text[start + 1 :].lstrip()[:1] == '"'
    for token in (_JSON_TOKEN if json else _PYTHON_TOKEN).finditer(text, start):
        mark = token[0]
        if mark in "[{(":
            depth += 1
        elif mark in "]})":
            depth -= 1
            if depth == 0:
                return token.end()
    return len(text)
