"""Which product: brand and generic, inert and other salts, release form, either language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from wardround.patients import knowledge

from .doses import read_doses
from .frequencies import read_frequency
from .vocabulary import Phrases, normal, table, terms

_TOKEN = re.compile(r"[a-z][a-z0-9]*|[\u3400-\u9fff]+")
_KINDS = ("drug",)


@dataclass(frozen=True, slots=True)
class Medication:
    """The product an argument names."""

    drugs: frozenset[str] = frozenset()
    """Ids of the knowledge base, salts set apart."""
    salts: frozenset[str] = frozenset()
    """Salts that make it another product."""
    extended: bool = False
    words: frozenset[str] = frozenset()
    """What is left of the name where the knowledge base has no such drug."""

    @property
    def named(self) -> bool:
        """Whether it names anything."""
        return bool(self.drugs or self.words)


def same_medication(wanted: Medication, got: Medication) -> bool:
    """Tell whether `got` is the product `wanted`: the same drugs, no other salt, the same release."""
    if not wanted.named or wanted.drugs != got.drugs:
        return False
    if not wanted.drugs and wanted.words != got.words:
        return False
    if wanted.salts and wanted.salts != got.salts:
        return False
    if wanted.extended == got.extended:
        return True
    return _release_is_usual(wanted) and _release_is_usual(got)


@lru_cache(maxsize=4096)
def read_medication(text: str) -> Medication:
    """Read the product from an argument, as written; doses, routes and times beside the name are passed over."""
    folded = normal(text)
    found: set[str] = set()
    salts: set[str] = set()
    for mention in knowledge.lexicon().scan(text, kinds=_KINDS):
        base, salt = _split(mention.concept)
        found.add(base)
        if salt:
            salts.add(salt)
    implied = {hit.meaning for hit in _brands().find(folded)}
    marks = {mark for marks in implied for mark in marks}
    products: Mapping[str, Mapping[str, list[str]]] = table("medications")["products"]
    for drug, kinds in products.items():
        if not any(base == drug or base.startswith(f"{drug}_") for base in found) and drug not in folded:
            continue
        salts.update(
            salt for salt, words in kinds.items() if salt in marks or any(_has(folded, word) for word in words)
        )
    words = frozenset() if found else frozenset(_name_words(folded))
    extended = "extended" in marks or bool(_releases().find(folded))
    plain: Mapping[str, list[str]] = table("medications")["plain_salts"]
    salts.difference_update(salt for base in found for salt in plain.get(base, ()))
    return Medication(frozenset(found), frozenset(salts), extended, words)


def is_of_class(drug_ids: frozenset[str], class_name: str) -> bool | None:
    """Tell whether one of the drugs belongs to a class; None where the class is not known."""
    lexicon = knowledge.lexicon()
    wanted = lexicon.resolve(class_name, kinds=("drug_class",)) or lexicon.resolve(class_name, kinds=_KINDS)
    if wanted is None:
        return None
    return any(lexicon.is_a(drug, wanted.id) for drug in drug_ids)


def drug_ids(text: str) -> frozenset[str]:
    """Return the ids of the knowledge base that a text names, salts included."""
    return frozenset(mention.concept for mention in knowledge.lexicon().scan(text, kinds=_KINDS))


def _split(drug: str) -> tuple[str, str | None]:
    """Split an id that carries its salt ("metoprolol_succinate") where the salt makes another product."""
    products: Mapping[str, Mapping[str, list[str]]] = table("medications")["products"]
    for base, kinds in products.items():
        for salt in kinds:
            if drug == f"{base}_{salt.replace(' ', '_')}":
                return base, salt
    return drug, None


def _release_is_usual(medication: Medication) -> bool:
    usual: list[str] = table("medications")["release_is_usual"]
    names = {
        name
        for base in medication.drugs
        for name in (base.replace("_", " "), *(f"{base} {salt}" for salt in medication.salts))
    }
    return any(name in usual for name in names)


def _has(text: str, word: str) -> bool:
    folded = normal(word)
    return any(hit.meaning == folded for hit in _salt_words().find(text))


@cache
def _salt_words() -> Phrases[str]:
    products: Mapping[str, Mapping[str, list[str]]] = table("medications")["products"]
    return Phrases((word, normal(word)) for kinds in products.values() for words in kinds.values() for word in words)


@cache
def _brands() -> Phrases[tuple[str, ...]]:
    brands: Mapping[str, list[str]] = table("medications")["brands"]
    return Phrases((brand, tuple(marks)) for brand, marks in brands.items())


@cache
def _releases() -> Phrases[str]:
    release: Mapping[str, list[str]] = table("medications")["release"]
    return Phrases((word, kind) for kind, words in release.items() for word in words)


@cache
def _noise() -> frozenset[str]:
    loaded = table("medications")
    words = [*loaded["salts"], *loaded["noise"]]
    units = [word for units in table("doses")["units"].values() for unit in units.values() for word in unit["words"]]
    return frozenset(normal(word) for word in [*words, *units, *table("doses")["numbers"]])


def _name_words(text: str) -> list[str]:
    """Return the words of an unknown name: without amounts, salts, forms, routes and times."""
    for finder in (terms("route"), _releases()):
        for hit in reversed(finder.find(text)):
            text = f"{text[: hit.start]} {text[hit.end :]}"
    words = [word for word in _TOKEN.findall(text) if word not in _noise()]
    return [word for word in words if not read_frequency(word).stated and not read_doses(word).amounts]
