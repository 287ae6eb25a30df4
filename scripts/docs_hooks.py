"""Hooks of mkdocs (mkdocs.yml): what pages say of each other in plain text becomes a link in the site.

The texts name each other as `docs/agents.md`, which is right where they are read as files; in the site the same words
link.
"""

from __future__ import annotations

import re
from typing import Any

_NAMED = re.compile(r"(?<![\w/\[`(])(`?)docs/([\w/-]+\.md)\1(?![\w`])")
_FENCE = re.compile(r"^ *(```|~~~)")


def on_page_markdown(markdown: str, *, page: Any, files: Any, **_: Any) -> str:
    """Link the pages that a page names, outside its code.

    Args:
        markdown: The page's text.
        page: The page.
        files: All files of the site; a page that is none of them stays as it is written.
    """
    up = "../" * page.file.src_uri.count("/")

    def link(found: re.Match[str]) -> str:
        target = found[2]
        return found[0] if files.get_file_from_path(target) is None else f"[{target[:-3]}]({up}{target})"

    lines, fenced = [], False
    for line in markdown.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        lines.append(line if fenced or line.startswith("    ") else _NAMED.sub(link, line))
    return "\n".join(lines)
