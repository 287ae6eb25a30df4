"""What each kind of turn asks, and by which words (`data/kinds.json`)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wardround.patients import DataError
from wardround.sessions.session import Language


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Topic(_Frozen):
    """How a later turn names what an earlier one was about."""

    slot: str | None = None
    """The slot that holds it; None where the turn is about no single thing."""
    event: str | None = None
    """The predicate that stands for it where no wording spoke the slot."""
    context: bool = False
    """It was only named, and nothing of it was asked: no later answer can rest on it."""
    en: str
    zh: str

    def words(self, language: Language) -> str:
        """Return its template."""
        return self.zh if language == "zh" else self.en


class Kind(_Frozen):
    """One kind of turn."""

    needs: tuple[str, ...]
    """Slots without which its question would not say what is asked."""
    brings: tuple[str, ...] = ()
    """Keys of results that its answer brings up without their being named in slots."""
    asks: tuple[str, ...] = Field(min_length=1)
    topics: tuple[Topic, ...] = Field(min_length=1)


class Cues(_Frozen):
    """Words of both languages; English ones are whole words."""

    en: tuple[str, ...] = Field(min_length=1)
    zh: tuple[str, ...] = Field(min_length=1)

    def spoken(self, text: str, language: Language) -> bool:
        """Tell whether a text holds one of them."""
        if language == "zh":
            return any(cue in text for cue in self.zh)
        padded = _padded(text)
        return any(f" {cue.replace('-', ' ')} " in padded for cue in self.en)


class Kinds(_Frozen):
    """The whole file."""

    format_version: int
    about: str
    groups: dict[str, tuple[str, ...]]
    """Group → kinds of entities that one gap could mean."""
    confused: dict[str, tuple[str, ...]]
    """Group → other groups whose members the same words could mean."""
    follows: dict[str, tuple[str, ...]]
    """Predicate → predicates after which a fragment asks it of something else; others only after themselves."""
    lasting: tuple[str, ...]
    """Predicates that are the only ones asked of their things."""
    kinds: dict[str, Kind]
    cues: dict[str, Cues]
    """Predicate → words that say it."""
    selects: dict[str, Cues]
    """Group → words that only go with things of that group."""

    def continues(self, asks: Iterable[str], said: Iterable[str]) -> bool:
        """Tell whether a fragment that asks one thing is understood after a question that said another."""
        before = frozenset(said)
        return all(before.intersection(self.follows.get(one, (one,))) for one in asks)

    def stands(self, asks: Iterable[str]) -> bool:
        """Tell whether the things that are asked about go with one question only, whatever came between."""
        return frozenset(asks) <= frozenset(self.lasting)

    def group(self, entity_kind: str) -> str:
        """Return the group of an entity's kind; a kind of no group is its own."""
        return next((group for group, kinds in self.groups.items() if entity_kind in kinds), entity_kind)

    def rivals(self, entity_kind: str) -> frozenset[str]:
        """Return the groups whose members a gap for such an entity could mean: "that result" may be a report's too."""
        group = self.group(entity_kind)
        return frozenset({group, *self.confused.get(group, ())})


def _padded(text: str) -> str:
    """Return a text in lower case, its words between single spaces."""
    return f" {' '.join(_words(text))} "


def _words(text: str) -> Iterable[str]:
    kept = "".join(char if char.isalnum() else " " for char in text.casefold().replace("'s", " "))
    return kept.split()


@cache
def load_kinds() -> Kinds:
    """Return the kinds of turns.

    Raises:
        DataError: The file is faulty; says field and fault.
    """
    text = files("wardround.sessions.wording").joinpath("data", "kinds.json").read_bytes()
    try:
        kinds = Kinds.model_validate_json(text)
    except ValidationError as error:
        faults = (f"kinds.json: {'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise DataError("\n".join(faults)) from error
    for name, kind in kinds.kinds.items():
        spoken = {*kind.asks, *(topic.event for topic in kind.topics if topic.event is not None)}
        for unknown in sorted(spoken - set(kinds.cues)):
            raise DataError(f"kinds.json: kind `{name}`: predicate `{unknown}` has no cues; add them")
    return kinds
