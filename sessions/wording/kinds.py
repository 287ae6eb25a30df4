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


class Again(_Frozen):
    """A shorter way to name a topic."""

    en: str
    zh: str


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
    again: Again | None = None
    """How it is named after another topic about the same thing."""

    def words(self, language: Language, *, again: bool = False) -> str:
        """Return its template; `again`: another topic has named its thing."""
        said = self.again if again and self.again is not None else self
        return said.zh if language == "zh" else said.en


class Kind(_Frozen):
    """One kind of turn."""

    needs: tuple[str, ...]
    """Slots without which its question would not say what is asked."""
    brings: tuple[str, ...] = ()
    """Keys of results that its answer brings up without their being named in slots."""
    asks: tuple[str, ...] = Field(min_length=1)
    tests: bool = False
    """Asks under a condition: no fragment goes on from it."""
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
    classes: dict[str, tuple[str, ...]]
    """Class → predicates after any of which a fragment asks another of them of something else."""
    lasting: tuple[str, ...]
    """Look-ups that are the only ones asked of their things."""
    close: tuple[str, ...]
    """Look-ups that only a fragment right after another look-up asks."""
    whole: dict[str, Cues]
    """Predicate → words that say it in full."""
    anaphors: Cues
    """Words that point back to an earlier turn."""
    kinds: dict[str, Kind]
    cues: dict[str, Cues]
    """Predicate → words that say it."""
    selects: dict[str, Cues]
    """Group → words that only go with things of that group."""

    def shared(self, ask: str) -> frozenset[str]:
        """Return the predicates that a fragment which asks `ask` may continue; of no class, only itself."""
        return next((frozenset(one) for one in self.classes.values() if ask in one), frozenset({ask}))

    def looks_up(self, ask: str) -> bool:
        """Tell whether a predicate looks something up in the record."""
        return ask in self.classes["look_up"]

    def asks_patient(self, ask: str) -> bool:
        """Tell whether a predicate is a question to the patient."""
        return ask in self.classes["interview"]

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
