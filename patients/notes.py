"""Clinical notes cut into their sections, by the headers of `data/note_sections.json`.

The sections of a note, end to end, are the note: nothing is dropped, moved or re-written. A header is a line of its
own or the beginning of one ("Chief Complaint:", "PMH: asthma", "FAMILY HISTORY"), in any case, with a list number or
`#` before it, with or without its colon; within a line it needs its capitals and its colon. A header that the
vocabulary does not know opens a section of its own (slug `other`) where it stands alone on its line, with a colon,
after a blank line, and no section is open that holds subheadings (a hospital course has many).

Time grows with the length of the text, whatever stands in it: every pattern looks at a bounded number of characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import orjson

MAX_SECTIONS = 200
"""Most sections of one note; what comes after stays in the last one."""

OTHER = "other"
"""Slug of sections whose header is not in the vocabulary."""
PREAMBLE = "preamble"
"""Slug of the text before the first header."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a note; `text[start:end]` is all of it, header included."""

    slug: str
    """Name of the kind of section, stable: `chief-complaint`."""
    title: str
    """Its usual header; for unknown headers the header as written, without runs of spaces."""
    header: str | None
    """The header as written, without colon and list number; None before the first header."""
    start: int
    """Characters from the beginning of the note."""
    body: int
    """Where the text after the header begins."""
    end: int
    """Exclusive."""
    plan: str | None = None
    """Category of the CarePlan that such a section makes."""


@dataclass(frozen=True, slots=True)
class _Kind:
    slug: str
    title: str
    weak: bool = False
    holds: bool = False
    plan: str | None = None


class _Vocabulary(NamedTuple):
    kinds: dict[str, _Kind]
    """By folded header."""
    inline: re.Pattern[str]


class _Mark(NamedTuple):
    """A header that was found: the section begins at `start`."""

    start: int
    body: int
    header: str
    kind: _Kind


@dataclass(slots=True)
class _State:
    """What the lines so far say about whether a header may stand here."""

    blank: bool = True
    """The line before is blank, a header, or there is none."""
    marks: list[_Mark] = field(default_factory=list)

    @property
    def holding(self) -> bool:
        return bool(self.marks) and self.marks[-1].kind.holds


def split_sections(text: str, vocabulary: str = "discharge") -> tuple[Section, ...]:
    r"""Cut a note into sections.

    Args:
        text: The note, exactly as stored.
        vocabulary: `discharge` or `radiology`, a set of `data/note_sections.json`.

    Returns:
        Sections in order; the first begins at 0, each begins where the one before ends, the last ends with the text.
        An empty text has none.

    Examples:
        >>> [(one.slug, one.header) for one in split_sections("Seen today.\nPMH: asthma\nALLERGIES\nNone")]
        [('preamble', None), ('past-medical-history', 'PMH'), ('allergies', 'ALLERGIES')]
        >>> [one.slug for one in split_sections("Chief Complaint: cough\n\nAllergies:\nNone")]
        ['chief-complaint', 'allergies']
    """
    if not text:
        return ()
    marks = _marks(text, _vocabulary(vocabulary))
    if not marks:
        return (Section(PREAMBLE, "Preamble", None, 0, 0, len(text)),)
    sections = []
    first = marks[0].start
    if first and text[:first].strip():
        sections.append(Section(PREAMBLE, "Preamble", None, 0, 0, first))
    elif first:  # only blanks: they open the first section
        marks[0] = marks[0]._replace(start=0)
    ends = [mark.start for mark in marks[1:]] + [len(text)]
    for mark, end in zip(marks, ends, strict=True):
        kind = mark.kind
        sections.append(Section(kind.slug, kind.title, mark.header, mark.start, mark.body, end, kind.plan))
    return tuple(sections)


# -- the vocabulary ----------------------------------------------------------------------------------------------------

_SEPARATORS = re.compile(r"[\W_]+")


def _key(header: str) -> str:
    return _SEPARATORS.sub(" ", header.casefold()).strip()


@cache
def _vocabulary(name: str) -> _Vocabulary:
    sets: Mapping[str, Any] = orjson.loads(
        files("wardround.patients").joinpath("data/note_sections.json").read_bytes()
    )["sets"]
    kinds: dict[str, _Kind] = {}
    inline: list[str] = []
    for entry in sets[name]:
        kind = _Kind(
            entry["slug"], entry["title"], entry.get("weak", False), entry.get("holds", False), entry.get("plan")
        )
        for header in entry["headers"]:
            if kinds.setdefault(_key(header), kind) != kind:
                raise ValueError(f"note_sections.json: `{header}` is a header of two sections of `{name}`")
            if entry.get("inline", True):
                inline += [header, header.upper()]
    words = ["[ \t]{1,3}".join(map(re.escape, header.split())) for header in sorted(set(inline), key=_longest)]
    return _Vocabulary(kinds, re.compile(rf"(?<![^\W_\u2e80-\U0010ffff])(?:{'|'.join(words)})[ \t]{{0,3}}[:：]"))


def _longest(header: str) -> tuple[int, str]:
    return -len(header), header


# -- finding headers ---------------------------------------------------------------------------------------------------

_LINE = re.compile(r"[^\r\n]+")
_BREAKS = ("\n", "\r\n", "\r")
_HEAD = 120
"""Characters of a line within which its header must end."""
_LEAD = re.compile(
    r"[ \t\u3000]{0,40}(?:#{1,6}[ \t]{1,4}|\*{1,2}|[【\[]|"
    r"((?:\d{1,2}|[A-Za-z]|[一二三四五六七八九十]{1,2})[.)、][ \t]{0,4}))?"
)
_COLON = re.compile(r"[ \t]{0,8}(?:\*{1,2}|[】\]])?[ \t]{0,8}[:：]\*{0,2}")
_TAIL = " \t\u3000*】]."
_UNKNOWN = re.compile(r"[A-Z][A-Za-z0-9/&(),'’ \t-]{2,59}")
_SMALL_WORD = 3
"""Letters up to which a word of an unknown header may be in lower case ("of", "the")."""
_BREAK = re.compile(r"(?:[.;,)。；，、]\s?|[ \t\u3000]{2})\Z")


def _marks(text: str, vocabulary: _Vocabulary) -> list[_Mark]:
    state = _State()
    before = 0
    for line in _LINE.finditer(text):
        start, end = line.span()
        if start - before > len("\r\n") or text[before:start] not in _BREAKS:
            state.blank = True
        before = end
        found = _line_mark(text, start, end, vocabulary.kinds, state)
        if found is not None:
            state.marks.append(found)
        after = start if found is None else found.body
        if text.find(":", after, end) >= 0 or text.find("：", after, end) >= 0:
            for match in vocabulary.inline.finditer(text, after, end):
                if mark := _inline_mark(text, start, match, vocabulary.kinds, state):
                    state.marks.append(mark)
                    found = mark
        if len(state.marks) >= MAX_SECTIONS:
            return state.marks[:MAX_SECTIONS]
        state.blank = found is not None or not text[start:end].strip()
    return state.marks


def _line_mark(text: str, start: int, end: int, kinds: Mapping[str, _Kind], state: _State) -> _Mark | None:
    """Return the header with which a line begins."""
    head = text[start : min(end, start + _HEAD)]
    lead = _LEAD.match(head)
    assert lead is not None
    at, numbered = lead.end(), lead[1] is not None
    if at == len(head):
        return None
    first = head.find(":", at)
    wide = head.find("：", at)
    if first >= 0 or wide >= 0:
        first = min(first, wide) if min(first, wide) >= 0 else max(first, wide)
        words = head[at:first].rstrip(_TAIL)
        colon = _COLON.match(head, at + len(words))
        kind = kinds.get(_key(words))
        if kind is not None and colon is not None and (state.blank or not kind.weak):
            return _Mark(start, start + colon.end(), words, kind)
        return None if kind is not None or numbered else _unknown_mark(start, head, at, first, end, state)
    if not state.blank or numbered or end - start > _HEAD:
        return None
    words = head[at:].rstrip(_TAIL)
    kind = kinds.get(_key(words))
    if kind is None or (" " not in words and words[0].islower()):
        return None
    return _Mark(start, end, words, kind)


def _unknown_mark(start: int, head: str, at: int, colon: int, end: int, state: _State) -> _Mark | None:
    """Return a header that no vocabulary knows: alone on its line, in capitals, after a blank line."""
    words = head[at:colon].rstrip()
    if not state.blank or state.holding or head[colon + 1 :].strip() or end - start > _HEAD or head[:at].strip():
        return None
    if _UNKNOWN.fullmatch(words) is None or any(
        word[0].islower() and len(word) > _SMALL_WORD for word in re.split(r"[\s/(),&-]+", words) if word
    ):
        return None
    return _Mark(start, start + colon + 1, words, _Kind(OTHER, " ".join(words.split())))


def _inline_mark(text: str, line: int, match: re.Match[str], kinds: Mapping[str, _Kind], state: _State) -> _Mark | None:
    """Return the header at a match within a line, if what stands before it on the line lets it be one."""
    header = match[0][:-1].rstrip()
    kind = kinds[_key(header)]
    at = match.start()
    before = text[max(line, at - _HEAD) : at]
    if not before.strip():
        return None  # it opens the line: the line's own rules have spoken
    if at - line < _HEAD and _qualifies(before):
        # "Discharge Day Physical Exam": the words before belong to the header
        if kind.weak and not state.blank:
            return None
        lead = len(before) - len(before.lstrip())
        return _Mark(line, match.end(), before[lead:] + header, kind)
    single = " " not in header and "\t" not in header and header.isascii()
    if single and not header.isupper() and _BREAK.search(before) is None:
        return None
    if not (before[-1].isspace() or _BREAK.search(before)):
        return None
    return _Mark(at, match.end(), header, kind)


def _qualifies(before: str) -> bool:
    words = before.split()
    return len(words) <= _SMALL_WORD and all(word.isalpha() and word[0].isupper() for word in words)


def numbered(sections: tuple[Section, ...]) -> Iterator[tuple[str, Section]]:
    """Yield sections with names that are unique in their note: `other`, then `other-2`."""
    seen: dict[str, int] = {}
    for section in sections:
        count = seen[section.slug] = seen.get(section.slug, 0) + 1
        yield section.slug if count == 1 else f"{section.slug}-{count}", section
