"""House styles: how one author writes, drawn once per patient and author."""

from __future__ import annotations

from dataclasses import dataclass

from wardround.patients.rng import Stream

from .phrasing import table
from .record import Slug

REGISTERS = ("full", "full", "terse", "abbrev", "terse")
_HEADERS = ("header_a", "header_b", "header_c", "header_short")


@dataclass(frozen=True, slots=True)
class Style:
    """How an author writes."""

    author: str
    register: str
    """full (whole sentences), terse (telegraphic), abbrev (abbreviations)."""
    headers: str
    """Table of headers."""
    upper: bool
    dates: str
    """long (14 Mar 2024), iso, us (03/14/2024), words (March 14, 2024)."""
    oxford: bool
    bullets: str
    """dash, star, number, none: before the lines of a list."""
    orders: str
    """long ("by mouth twice daily"), short ("PO BID"), charted."""
    labs: str
    """groups ("Na 131 | K 4.2"), table (a test a line), prose."""
    vitals: str
    """short, long, prose."""
    exam: str
    """lines or prose."""
    problems: str
    """hash, number, prose, system."""
    order: int
    """Which order of sections."""
    since: int
    """Which way of dating past illnesses."""
    copies: bool
    """Whether examinations are copied forward from day to day."""
    title: str
    """Before the family name: "Mr. Lee", or "" for "the patient"."""

    def header(self, slug: Slug, words: str | None = None) -> str:
        """Return a header as this author writes it, without a colon."""
        text = words or table(self.headers)[slug]
        return text.upper() if self.upper else text

    @property
    def point(self) -> str:
        """What stands before a line of the plan that is no problem."""
        return {"hash": "# ", "number": "- "}.get(self.problems, "")

    def mark(self, number: int) -> str:
        """Return what stands before line `number` (from 1) of a list."""
        marks = {"dash": "- ", "star": "* ", "none": ""}
        return marks.get(self.bullets, f"{number}. ")


def draw_style(seed: int, index: int, author: str) -> Style:
    """Return the style of an author of one patient's notes; the same whenever it is asked for."""
    stream = Stream("hospital", seed, index, "notes", "author", author)
    register = stream.choice(REGISTERS)
    short = register == "abbrev" or (register == "terse" and stream.chance(1, 3))
    return Style(
        author=author,
        register=register,
        headers="header_short" if short else stream.choice(_HEADERS[:3]),
        upper=stream.chance(2, 5),
        dates=stream.choice(("long", "iso", "us", "words")),
        oxford=stream.chance(1, 2),
        bullets=stream.choice(("dash", "number", "none", "star", "number")),
        orders=stream.choice(("short", "charted") if register != "full" else ("long", "charted", "short")),
        labs=stream.choice(("groups", "groups", "table", "prose")),
        vitals=stream.choice(("short", "long", "prose") if register == "full" else ("short", "short", "long")),
        exam=stream.choice(("lines", "prose") if register == "full" else ("lines", "lines", "prose")),
        problems=stream.choice(("hash", "number", "prose", "system") if register == "full" else ("hash", "number")),
        order=stream.below(3),
        since=stream.below(5),
        copies=stream.chance(3, 5),
        title=stream.choice(("name", "patient", "both")) if register == "full" else "patient",
    )
