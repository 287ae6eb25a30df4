"""Understanding what the patient is asked: free text, in either language, to facts and drugs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from .interview import Fact
from .knowledge import lexicon
from .wording import general_words

_SPECIFIC_KINDS = ("finding", "condition", "drug", "drug_class", "lab", "vital", "procedure", "service")
_FINDING_KINDS = ("finding", "condition")
_WORD = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]+")
_MOST_TEXT = 400
"""Characters of a question that are read; tool arguments are shorter."""


class Questions:
    """Resolves questions against the facts of one patient."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        self._drug_ids = {fact.drug: _drug_id(fact.drug) for fact in facts if fact.drug is not None}
        self._known_drugs = tuple(dict.fromkeys(self._drug_ids.values()))
        self._concepts = {fact.concept: _concept_id(fact.concept) for fact in facts}
        self._plain = {name for name in self._concepts if lexicon().resolve(name) is None}
        """Concepts that the lexicon lacks: their own words are looked for in questions."""

    def drug_of(self, fact: Fact) -> str | None:
        """Return the drug a fact is about: a concept id, or folded words where the lexicon lacks the drug."""
        return self._drug_ids.get(fact.drug) if fact.drug is not None else None

    def drugs_named(self, text: str) -> tuple[str, ...]:
        """Return the drugs that `text` names, in order: name, synonym, brand, typing error, either language."""
        text = text[:_MOST_TEXT]
        words = lexicon()
        found = dict.fromkeys(mention.concept for mention in words.scan(text, kinds=("drug",)))
        folded = words.fold(text)
        found |= dict.fromkeys(drug for drug in self._known_drugs if drug not in found and _holds(folded, drug))
        if not found:
            found = dict.fromkeys(_suggested(text, ("drug",)))
        return tuple(found)

    def drugs_asked(self, text: str) -> tuple[str, ...]:
        """Return the drugs an adherence question is about; a class stands for the patient's drugs of that class."""
        named = self.drugs_named(text)
        if named:
            return named
        words = lexicon()
        classes = [m.concept for m in words.scan(text[:_MOST_TEXT], kinds=("drug_class",))]
        return tuple(drug for drug in self._known_drugs if any(words.is_a(drug, one) for one in classes))

    def facts_asked(self, text: str, facts: Sequence[Fact], drugs: Iterable[str]) -> list[Fact]:
        """Return the facts a question is about, in the order it names them; what a drug did comes before its use."""
        text = text[:_MOST_TEXT]
        found: dict[str, Fact] = {}
        for concept in self._asked_concepts(text):
            for fact in self._matching(concept, facts):
                found.setdefault(fact.id, fact)
        folded = lexicon().fold(text)
        for fact in facts:
            plain = fact.concept in self._plain and fact.kind != "adherence"
            if plain and fact.id not in found and _holds(folded, lexicon().fold(fact.concept)):
                found[fact.id] = fact
        about = [fact for drug in drugs for fact in facts if self.drug_of(fact) == drug]
        for fact in sorted(about, key=lambda one: one.kind == "adherence"):
            found.setdefault(fact.id, fact)
        return list(found.values())

    def specific(self, text: str, *, medicine: bool = False) -> bool:
        """Tell whether a question asks for something in particular, known to us or not.

        Args:
            text: The question.
            medicine: It is about medicines: only a name is particular, whatever else it says.
        """
        text = text[:_MOST_TEXT]
        words = lexicon()
        if words.scan(text, kinds=("drug", "drug_class") if medicine else _SPECIFIC_KINDS):
            return True
        return bool(_left_over(words.fold(text), general_words(medicine=medicine)))

    def _asked_concepts(self, text: str) -> list[str]:
        """Return the findings a question names; words that no finding covers are tried for typing errors."""
        mentions = lexicon().scan(text, kinds=_FINDING_KINDS)
        if not mentions:
            return _suggested(text, _FINDING_KINDS)
        found = [concept for mention in mentions for concept in mention.concepts]
        rest = list(text)
        for mention in mentions:
            rest[mention.start : mention.end] = " " * (mention.end - mention.start)
        if _left_over(lexicon().fold("".join(rest)), general_words()):
            # "abdomenal pain": the pair of words, one mistyped, means more than the one that was read.
            pairs = [" ".join(pair) for pair in pairwise(_WORD.findall(lexicon().fold(text)))]
            closer = [concept for pair in pairs for concept in _near(pair, _FINDING_KINDS)]
            return list(dict.fromkeys([*closer, *(() if closer else found)]))
        return list(dict.fromkeys(found))

    def _matching(self, concept: str, facts: Sequence[Fact]) -> list[Fact]:
        """Return facts of exactly this concept, else present narrower ones ("pain"), else absent narrower ones."""
        exact = [fact for fact in facts if self._concepts[fact.concept] == concept]
        if exact:
            return exact
        words = lexicon()
        narrower = [fact for fact in facts if words.is_a(self._concepts[fact.concept], concept)]
        present = [fact for fact in narrower if fact.polarity == "present"]
        if not present and concept == "pain":
            present = [fact for fact in facts if fact.kind == "pain"]
        return present or narrower


def _drug_id(name: str) -> str:
    found = lexicon().resolve(name, kinds=("drug",))
    return found.id if found is not None else lexicon().fold(name)


def _concept_id(name: str) -> str:
    found = lexicon().resolve(name)
    return found.id if found is not None else lexicon().fold(name)


def _suggested(text: str, kinds: tuple[str, ...]) -> list[str]:
    """Return concepts that the text names once typing errors are forgiven: the whole of it, else word by word."""
    words = lexicon()
    whole = words.suggest(text, kinds=kinds)
    if whole is not None:
        return [whole.id]
    found: dict[str, None] = {}
    tokens = _WORD.findall(words.fold(text))
    general = general_words()
    pairs = [f"{a} {b}" for a, b in pairwise(tokens)]
    for token in (*pairs, *(token for token in tokens if token not in general)):
        found |= dict.fromkeys(_near(token, kinds))
    return list(found)


def _near(wording: str, kinds: tuple[str, ...]) -> list[str]:
    concept = lexicon().suggest(wording, kinds=kinds)
    return [] if concept is None else [concept.id]


def _holds(folded: str, name: str) -> bool:
    """Tell whether folded text holds a name as whole words (Latin) or at all (Chinese)."""
    name = name.replace("_", " ")
    if len(name) < 2:
        return False
    at = folded.find(name)
    while at >= 0:
        end = at + len(name)
        before = at == 0 or not (folded[at - 1].isascii() and folded[at - 1].isalnum() and name[0].isascii())
        after = end == len(folded) or not (folded[end].isascii() and folded[end].isalnum() and name[-1].isascii())
        if before and after:
            return True
        at = folded.find(name, at + 1)
    return False


def _left_over(folded: str, general: frozenset[str]) -> list[str]:
    """Return the words of a question that are not general talk ("how are you feeling today")."""
    left = []
    for token in _WORD.findall(folded):
        if token.isascii():
            if token not in general:
                left.append(token)
        else:
            rest = _strip_han(token, general)
            if rest:
                left.append(rest)
    return left


def _strip_han(token: str, general: frozenset[str]) -> str:
    """Return what is left of Chinese text once general phrases are taken out, longest first."""
    out, at = [], 0
    while at < len(token):
        for length in range(min(6, len(token) - at), 0, -1):
            if token[at : at + length] in general:
                at += length
                break
        else:
            out.append(token[at])
            at += 1
    return "".join(out)
