"""What all our pages are made with: one file that asks nothing of any network, its law, and packed blocks."""

from __future__ import annotations

import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from typing import Any

import orjson

from .figures import text

_LEVEL = 9


def document(
    title: str, body: Sequence[str], *, styles: Sequence[str], programs: Sequence[str], index: Any,
    blocks: Mapping[str, Sequence[str]],
) -> str:  # fmt: skip
    """Return a page.

    Args:
        title: Text.
        body: HTML, already escaped.
        styles: The text of its style sheets.
        programs: The text of its programs; they run as one, after everything else is there.
        index: JSON that the programs read first.
        blocks: Packed data (`squeezed`) by the letter their ids begin with.
    """
    style, program = "".join(styles), "".join(programs)
    parts = [
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, program)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">',
        f'<link rel="icon" href="data:,"><title>{text(title)}</title><style>{style}</style></head><body>',
        *body,
        f'<script type="application/json" id="index">{_json(index)}</script>',
        *(
            f'<script type="application/octet-stream" id="{kind}{at}">{block}</script>'
            for kind, packed in blocks.items() for at, block in enumerate(packed)
        ),
        f"<script>{program}</script></body></html>\n",
    ]  # fmt: skip
    return "\n".join(parts)


def data_file(package: str, name: str) -> str:
    """Return a style sheet or a program that lies in a package's data."""
    return files(package).joinpath(f"data/{name}").read_text(encoding="utf-8")


def squeezed(value: Any) -> str:
    """Return JSON as base64 of a raw deflate stream, which browsers unpack by themselves."""
    squeezer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return b64encode(squeezer.compress(orjson.dumps(value)) + squeezer.flush()).decode("ascii")


def _policy(style: str, program: str) -> str:
    """Return the page's own law: nothing is fetched, and no script runs but this one."""
    digests = [b64encode(sha256(source.encode()).digest()).decode() for source in (style, program)]
    return (
        f"default-src 'none'; style-src 'sha256-{digests[0]}'; script-src 'sha256-{digests[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _json(value: Any) -> str:
    """Return JSON that cannot end a script element or begin a comment."""
    told = orjson.dumps(value).decode()
    for mark in "<>&\u2028\u2029":
        told = told.replace(mark, f"\\u{ord(mark):04x}")
    return told
