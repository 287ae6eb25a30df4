"""Free text to what a chart holds: which of its own names and codes a model's words mean, and the nearest ones if none.

A concept that the knowledge base knows is matched by identity (code first, then name), never by letters: "Cr" is
creatinine and cannot find chromium. Words that it does not know must stand as whole words in the chart's own names.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any

import orjson

from wardround.patients import knowledge
from wardround.patients.chart import Snapshot
from wardround.patients.overlay import Overlay
from wardround.patients.packing import fold
from wardround.patients.search import matches_text

Label = tuple[str, Sequence[str], Sequence[str]]
"""A concept of a chart: name to show, folded names, codes (bare and `system|code`)."""
Matcher = Callable[[str], Callable[[Label], bool]]

_ICD = re.compile(r"[A-TV-Z]\d[0-9A-Z](?:\.?[0-9A-Z]{1,4})?|[A-TV-Z]\d|[EV]?\d{2,4}(?:\.\d{0,2})?|\d{5}", re.IGNORECASE)
_LIST = re.compile(r"\s*(?:[,;/、，；\n]|\band\b|和|与)\s*")
_CACHED = 128
_NEAREST = 8


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a free text means in one chart."""

    names: tuple[str, ...] = ()
    """Whole names to search, where the concept has no code."""
    codes: tuple[str, ...] = ()
    matched: tuple[str, ...] = ()
    """Names to show; empty when nothing in the chart is meant."""
    nearest: tuple[str, ...] = ()
    """When nothing matched: names the chart has, the likeliest first."""


def choose(record: Overlay, kind: str, text: str, category: str | None = None) -> Chosen:
    """Return which concepts of a record a free text means. Cached per snapshot; an episode's own writes are added.

    Args:
        record: The record as the episode sees it.
        kind: Observation, MedicationRequest, MedicationAdministration or Condition.
        text: The words of the model: a name, abbreviation, code or a list of them.
        category: Only concepts with resources of this category.
    """
    text = _bare_code(text)
    chosen = _of_snapshot(record.snapshot, kind, text, category)
    own = [write.attributes.concept for write in record.own(kind)]
    if not own:
        return chosen
    extra = _pick(kind, text, own)
    if not extra.matched:
        return chosen
    return Chosen(
        _merged(chosen.names, extra.names), _merged(chosen.codes, extra.codes), _merged(chosen.matched, extra.matched)
    )


@lru_cache(maxsize=4096)
def _bare_code(text: str) -> str:
    """Take the name of a code system off a code ("LOINC 2160-0", "ICD-10: I48.91")."""
    system, _, code = text.replace(":", " ").replace("#", " ").strip().rpartition(" ")
    known = system.strip().casefold() in tool_words()["code_systems"]
    return code if known and any(char.isdigit() for char in code) else text


_CHOSEN = "what words mean"


def _of_snapshot(snapshot: Snapshot, kind: str, text: str, category: str | None) -> Chosen:
    known: dict[tuple[str, str, str | None], Chosen] | None = snapshot.derived.get(_CHOSEN)
    if known is None:
        known = snapshot.derived[_CHOSEN] = {}
    key = (kind, text, category)
    found = known.get(key)
    if found is None:
        if len(known) >= _CACHED:
            known.clear()
        labels = snapshot.concepts(kind, category)
        found = _pick(kind, text, labels)
        if not found.matched:
            found = Chosen(nearest=_nearest(kind, text, labels))
        known[key] = found
    return found


def _pick(kind: str, text: str, labels: Sequence[Label]) -> Chosen:
    """Return the labels a text means, as a whole or, failing that, as a list of names."""
    kept = _meant(kind, text, labels)
    if not kept:
        parts = [part for part in _LIST.split(text) if part]
        if len(parts) > 1:
            found = {id(label) for part in parts for label in _meant(kind, part, labels)}
            kept = [label for label in labels if id(label) in found]
    return _chosen_from(kept, labels)


def _meant(kind: str, text: str, labels: Sequence[Label]) -> list[Label]:
    test = _MATCHERS[kind](text)
    kept = [label for label in labels if test(label)]
    if not kept and kind == "Observation":
        # Narrower tests answer only where the chart has no such test itself: glucose is not average glucose, but
        # "troponin" is whichever troponin was measured.
        test = _lab_matcher(text, narrower=True)
        kept = [label for label in labels if test(label)]
    return kept


def _chosen_from(kept: Sequence[Label], labels: Sequence[Label]) -> Chosen:
    """Return the keys that find the kept labels and, where the chart lets it, no other."""
    wanted = {id(label) for label in kept}
    others = [label for label in labels if id(label) not in wanted]
    other_codes = {code for _, _, codes in others for code in codes}
    other_names = {name for _, names, _ in others for name in names}
    names: list[str] = []
    codes: list[str] = []
    for _, own_names, own_codes in kept:
        coded = [code for code in own_codes if "|" in code]
        code = next((code for code in coded if code not in other_codes), None)
        name = next((name for name in own_names if name not in other_names), None)
        if code is not None:
            codes.append(code)
        elif name is not None:
            names.append(name)
        else:
            codes += coded
            names += [] if coded else own_names
    return Chosen(_merged(names), _merged(codes), _merged(name for name, _, _ in kept))


def words_test(words: Iterable[str]) -> Callable[[Label], bool]:
    """Return a test that passes labels which hold one of the words (whole) or carry it as a code."""
    wanted = [fold(word) for word in words]
    return lambda label: any(matches_text(label[1], word) or word in label[2] for word in wanted)


def pick_service(record: Overlay, text: str) -> Chosen:
    """Return the services ordered in a record that a text names: as a phrase, else all its words in any order."""
    chosen = pick_words(record, "ServiceRequest", [text])
    if chosen.matched:
        return chosen
    labels = record.concepts("ServiceRequest")
    words = [word for word in re.findall(r"[^\W_]+", fold(text)) if word not in tool_words()["ignorable"]]
    kept = [label for label in labels if words and all(matches_text(label[1], word) for word in words)]
    chosen = _chosen_from(kept, labels)
    return chosen if chosen.matched else Chosen(nearest=_nearest("ServiceRequest", text, labels))


def pick_words(record: Overlay, kind: str, words: Iterable[str]) -> Chosen:
    """Return the concepts of a record whose names hold one of the words."""
    test = words_test(words)
    labels = record.concepts(kind)
    return _chosen_from([label for label in labels if test(label)], labels)


@cache
def tool_words() -> dict[str, Any]:
    """Return `data/tool_words.json`."""
    data: dict[str, Any] = orjson.loads(
        resources.files("wardround.patients").joinpath("data", "tool_words.json").read_bytes()
    )
    return data


# -- one matcher a kind ------------------------------------------------------------------------------------------------


def _lab_matcher(text: str, *, narrower: bool = False) -> Callable[[Label], bool]:
    folded = fold(text)
    wanted = _lab_meant(text)

    def test(label: Label) -> bool:
        if text in label[2]:
            return True
        concept = _lab_of(label)
        if wanted is not None:
            if concept is not None:
                return concept == wanted or (narrower and knowledge.lexicon().is_a(concept, wanted))
            return folded in label[1]
        return matches_text(label[1], folded)

    return test


@lru_cache(maxsize=4096)
def _lab_meant(text: str) -> str | None:
    """Return the lab a text names: as a whole, or once words like "latest" and "level" are put aside."""
    words = knowledge.lexicon()
    found = words.resolve(text, kinds=("lab", "vital"))
    if found is not None:
        return found.id
    mentions = words.scan(text, kinds=("lab", "vital"))
    if len(mentions) != 1:
        return None
    mention = mentions[0]
    rest = fold(text[: mention.start] + " " + text[mention.end :])
    for word in sorted(tool_words()["ignorable"], key=len, reverse=True):
        rest = rest.replace(word, " ") if not word.isascii() else re.sub(rf"\b{re.escape(word)}\b", " ", rest)
    return None if any(char.isalnum() for char in rest) else mention.concept


@cache
def _lab_codes() -> dict[str, str]:
    """Return code → lab id: LOINC as `http://loinc.org|code`, MIMIC items as `itemid`."""
    found: dict[str, str] = {}
    for lab in knowledge.labs().values():
        for loinc in lab.loinc:
            found.setdefault(f"http://loinc.org|{loinc}", lab.id)
        for item in lab.mimic_itemids:
            found.setdefault(f"item|{item}", lab.id)
    return found


def _lab_of(label: Label) -> str | None:
    return _lab_of_parts(label[0], tuple(label[1]), tuple(label[2]))


@lru_cache(maxsize=65536)
def _lab_of_parts(name: str, names: tuple[str, ...], codes: tuple[str, ...]) -> str | None:
    table = _lab_codes()
    for code in codes:
        system, bar, bare = code.partition("|")
        if bar and (found := table.get(f"item|{bare}" if "labitems" in system else code)) is not None:
            return found
    for one in (name, *names):
        concept = knowledge.lexicon().resolve(one, kinds=("lab", "vital"))
        if concept is not None:
            return concept.id
    return None


def _drug_matcher(text: str) -> Callable[[Label], bool]:
    folded = fold(text)
    words = knowledge.lexicon()
    wanted = _drugs_meant(text)

    def test(label: Label) -> bool:
        if text in label[2] or matches_text(label[1], folded):
            return True
        if wanted:
            return any(words.is_a(drug, one) for one in wanted for drug in _drugs_of(label[0]))
        return len(folded) >= 4 and any(word.startswith(folded) for name in label[1] for word in name.split())

    return test


@lru_cache(maxsize=4096)
def _drugs_meant(text: str) -> tuple[str, ...]:
    words = knowledge.lexicon()
    found = words.resolve(text, kinds=("drug", "drug_class"))
    if found is not None:
        return (found.id,)
    mentions = words.scan(text, kinds=("drug", "drug_class"))
    return (mentions[0].concept,) if len({mention.concept for mention in mentions}) == 1 else ()


@lru_cache(maxsize=65536)
def _drugs_of(name: str) -> tuple[str, ...]:
    return tuple(mention.concept for mention in knowledge.lexicon().scan(name, kinds=("drug",)))


def _condition_matcher(text: str) -> Callable[[Label], bool]:
    folded = fold(text)
    prefix = text.replace(".", "").upper() if _ICD.fullmatch(text) else None
    words = knowledge.lexicon()
    wanted = words.resolve(text, kinds=("condition",))

    def test(label: Label) -> bool:
        bare = [code for code in label[2] if "|" not in code]
        if prefix is not None and any(code.replace(".", "").upper().startswith(prefix) for code in bare):
            return True
        if matches_text(label[1], folded):
            return True
        return wanted is not None and any(words.is_a(one, wanted.id) for one in conditions_of(label))

    return test


def conditions_of(label: Label) -> tuple[str, ...]:
    """Return the conditions of the knowledge base that a coded diagnosis is: by the longest ICD prefix, or by name."""
    return _conditions_of_parts(label[0], tuple(label[2]))


@lru_cache(maxsize=65536)
def _conditions_of_parts(name: str, codes: tuple[str, ...]) -> tuple[str, ...]:
    best: dict[str, None] = {}
    longest = 0
    for code in codes:
        system, bar, bare = code.partition("|")
        if not bar:
            continue
        ten = "icd-10" in system or "icd10" in system
        plain = bare.replace(".", "").upper()
        for length, found in _icd_prefixes(ten, plain):
            if length > longest:
                longest, best = length, {found: None}
            elif length == longest:
                best[found] = None
    if best:
        return tuple(best)
    resolved = knowledge.lexicon().resolve(name, kinds=("condition",))
    return () if resolved is None else (resolved.id,)


@cache
def _icd_table(ten: bool) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for condition in knowledge.conditions().values():
        for prefix in condition.icd10cm if ten else condition.icd9cm:
            found.setdefault(prefix.upper(), []).append(condition.id)
    return {prefix: tuple(ids) for prefix, ids in found.items()}


def _icd_prefixes(ten: bool, code: str) -> list[tuple[int, str]]:
    table = _icd_table(ten)
    return [(n, one) for n in range(2, len(code) + 1) for one in table.get(code[:n], ())]


_MATCHERS: dict[str, Matcher] = {
    "Observation": _lab_matcher,
    "MedicationRequest": _drug_matcher,
    "MedicationAdministration": _drug_matcher,
    "Condition": _condition_matcher,
}
_KINDS = {
    "Observation": ("lab", "vital"),
    "MedicationRequest": ("drug", "drug_class"),
    "MedicationAdministration": ("drug", "drug_class"),
    "Condition": ("condition",),
}


# -- nearest names -----------------------------------------------------------------------------------------------------


def _nearest(kind: str, text: str, labels: Sequence[Label]) -> tuple[str, ...]:
    """Return names the chart has, the likeliest meant first: a typing error forgiven, shared words, similar letters."""
    words = knowledge.lexicon()
    suggested = words.suggest(text, kinds=_KINDS[kind]) if kind in _KINDS else None
    test = _MATCHERS[kind](suggested.name.en) if suggested is not None else None
    asked = [fold(text), *([fold(suggested.name.en)] if suggested is not None else [])]
    tokens = {token for wording in asked for token in wording.split() if len(token) > 2}
    scored: dict[str, tuple[int, int, float]] = {}
    for label in labels:
        if not label[0]:
            continue
        shared = len(tokens.intersection(word for name in label[1] for word in re.split(r"[^\w]+", name)))
        ratio = max((_likeness(wording, name) for name in label[1] for wording in asked), default=0.0)
        score = (int(test is not None and test(label)), shared, ratio)
        scored[label[0]] = max(score, scored.get(label[0], score))
    ranked = sorted(scored, key=lambda name: (*(-part for part in scored[name]), name.casefold(), name))
    return tuple(ranked[:_NEAREST])


def _likeness(left: str, right: str) -> float:
    return round(difflib.SequenceMatcher(None, left[:60], right[:60], autojunk=False).ratio(), 6)


def _merged(*groups: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for group in groups for item in group))
