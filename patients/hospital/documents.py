"""The hospital's data files: the form that their parts share, words in both languages, and how a file is read."""

from __future__ import annotations

from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from .life import Pair


class Frozen(BaseModel):
    """Part of a data file: never changed, and no key that nobody reads."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Words(Frozen):
    """Words in both languages."""

    en: str
    zh: str

    def pair(self, **places: tuple[str, str]) -> Pair:
        """Return the words with `{place}` filled, each language with its own."""
        return Pair(
            self.en.format_map({key: value[0] for key, value in places.items()}),
            self.zh.format_map({key: value[1] for key, value in places.items()}),
        )


def read_document(name: str) -> bytes:
    """Return the bytes of a file of `data`; callers keep what they make of it."""
    return files("wardround.patients.hospital").joinpath("data", name).read_bytes()
