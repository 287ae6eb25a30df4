"""Reading a report as a browser would, without one."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any


@dataclass
class Page(HTMLParser):
    """Its elements, the figures with their places, its scripts."""

    html: str
    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    figures: list[tuple[str, str, str]] = field(default_factory=list)
    """(JSON pointer, kind, text)."""
    scripts: dict[str, str] = field(default_factory=dict)
    text: str = ""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: tuple[str, str] | None = None
        self._script: str | None = None
        self.feed(self.html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        held = dict(attrs)
        self.tags.append((tag, held))
        if "data-of" in held:
            self._open = (str(held["data-of"]), str(held["data-kind"]))
        if tag in ("script", "style"):
            self._script = str(held.get("id") or tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._script = None
        self._open = None

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            self.scripts[self._script] = self.scripts.get(self._script, "") + data
            return
        self.text += data
        if self._open is not None:
            self.figures.append((*self._open, data))

    @property
    def index(self) -> dict[str, Any]:
        """The index of episodes."""
        found: dict[str, Any] = json.loads(self.scripts["index"])
        return found

    def rows(self) -> list[dict[str, Any]]:
        """The index as objects."""
        return [dict(zip(self.index["columns"], row, strict=True)) for row in self.index["rows"]]

    def block(self, name: str) -> Any:
        """Unpack a block."""
        return json.loads(zlib.decompress(base64.b64decode(self.scripts[name]), -zlib.MAX_WBITS))


def at(pointer: str, value: Any) -> Any:
    """Return what a JSON pointer names (RFC 6901)."""
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value
