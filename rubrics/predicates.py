"""Named predicates of `state` checks: what FHIRPath cannot say of a write, by a name that a rubric may use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import orjson

from wardround.patients import knowledge

from .records import WriteRecord
from .writes import strings


@dataclass(frozen=True, slots=True)
class Predicate:
    """A yes or no about one write."""

    name: str
    arguments: tuple[str, ...]
    """Names of its arguments, all required."""
    about: str
    """`resource` or `file`."""
    test: Callable[[WriteRecord, Mapping[str, str]], bool]
    meaning: str


def _mentions(write: WriteRecord, given: Mapping[str, str]) -> bool:
    return any(_names(text, given["concept"]) for text in _texts(write))


def _texts(write: WriteRecord) -> list[str]:
    if write.kind == "file":
        return [write.body]
    body = orjson.loads(write.body) if write.body else {}
    return [text for name, text in strings(body) if name not in ("resourceType", "id", "meta")]


def _names(text: str, concept: str) -> bool:
    lexicon = knowledge.lexicon()
    wanted = lexicon.resolve(concept)
    if wanted is None:
        return lexicon.fold(concept) in lexicon.fold(text)
    return any(wanted.id in mention.concepts for mention in lexicon.scan(text))


def _is_path(write: WriteRecord, given: Mapping[str, str]) -> bool:
    return write.resource == given["path"] and bool(write.body)


def _file_mentions(write: WriteRecord, given: Mapping[str, str]) -> bool:
    return _is_path(write, given) and _names(write.body, given["concept"])


def _version(write: WriteRecord, given: Mapping[str, str]) -> bool:
    body = orjson.loads(write.body) if write.body else {}
    return str(body.get("meta", {}).get("versionId")) == given["version"]


PREDICATES = {
    one.name: one
    for one in (
        Predicate("mentions", ("concept",), "resource", _mentions, "some text of the resource names the concept"),
        Predicate("version", ("version",), "resource", _version, "the resource stands at that version"),
        Predicate("file_written", ("path",), "file", _is_path, "a workspace file of that path was written"),
        Predicate("file_mentions", ("path", "concept"), "file", _file_mentions, "that file names the concept"),
    )
}
"""Every predicate by name."""


def predicate_problems(name: str, given: Mapping[str, str]) -> list[str]:
    """Return what is wrong with the use of a predicate; empty if it may be used."""
    found = PREDICATES.get(name)
    if found is None:
        return [f"no predicate `{name}`; there are {', '.join(sorted(PREDICATES))}"]
    wrong = sorted(set(given) ^ set(found.arguments))
    if wrong:
        return [
            f"predicate `{name}` takes {', '.join(found.arguments)}; check {', '.join(f'`{one}`' for one in wrong)}"
        ]
    return []
