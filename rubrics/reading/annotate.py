"""Finds concepts, states, quantities and cues in an answer and lays them over its sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from pydantic import BaseModel, ConfigDict

from wardround.patients import knowledge
from wardround.rubrics.datafile import load_model

from .cues import load_json, words
from .document import Ann, Document, attach, cue_annotations
from .elided import Filled, filled
from .formulas import formulas
from .layout import lay_out
from .named import MEASURES, named
from .narrowing import as_counts, as_levels, bare_nouns, contrasted
from .quantities import read_quantities
from .rates import flowing, minutely, timed
from .text import normalise
from .tokens import tokenise
from .trie import Trie, expand
from .unlisted import lay_over

CAPITALS = words("annotate.capitals")
"""Acronyms that are common words where they stand in small letters."""
ACCOUNT_VERBS = words("annotate.account_verbs")
"""Verbs of telling that the patient's record leaves without a subject ("reports two days of cough")."""
ACCOUNT_OPENERS = words("annotate.account_openers")


FROM_TO = 9
"""Tokens between the two ends of a movement."""


class StateEntry(BaseModel):
    """Words that say a state or a presence without naming the concept."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    words: tuple[str, ...]
    concept: str = ""
    status: str = ""
    mentions: str = ""
    polarity: str = ""


class StateFile(BaseModel):
    """`data/states.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format_version: int
    remarks: str = ""
    entries: tuple[StateEntry, ...]


@dataclass(frozen=True, slots=True)
class State:
    """A word that says a state (of `concept`) or a presence (of `mention`) by itself."""

    concept: str
    status: str
    mention: str
    polarity: str

    @property
    def ids(self) -> tuple[str, ...]:
        """What a bare act that follows ("Hyperkalemia. Recheck.") is about: the measurement whose state it is."""
        return (self.concept,) if self.concept else ()


@lru_cache(maxsize=4096)
def concept_id(name: str, kinds: tuple[str, ...] | None = None) -> str:
    """Return the knowledge id for a name, else the name folded."""
    found = knowledge.lexicon().resolve(name, kinds)
    return found.id if found is not None else " ".join(name.casefold().split())


@lru_cache(maxsize=1)
def _states() -> Trie:
    trie = Trie(folded=True)
    for entry in load_model("reading/data/states.json", StateFile).entries:
        state = State(
            concept_id(entry.concept, MEASURES) if entry.concept else "",
            entry.status,
            concept_id(entry.mentions) if entry.mentions else _diagnosis(entry),
            entry.polarity or ("present" if not entry.mentions else ""),
        )
        for phrase in _phrases(entry):
            trie.add(phrase.lower(), state)
    return trie


def _diagnosis(entry: StateEntry) -> str:
    """Return the diagnosis that one of an entry's words names: whoever is hypoglycemic has hypoglycemia."""
    if not entry.status:
        return ""
    return next(_diagnoses(entry), "")


def _diagnoses(entry: StateEntry) -> Iterator[str]:
    """Yield the conditions and findings that words of an entry name."""
    for phrase in _phrases(entry):
        found = knowledge.lexicon().resolve(phrase, ("condition", "finding"))
        if found is not None:
            yield found.id


def _phrases(entry: StateEntry) -> Iterator[str]:
    return (phrase for pattern in entry.words for phrase in expand(pattern))


@lru_cache(maxsize=1)
def _implications() -> dict[str, State]:
    """Return the diagnoses and findings that say a measurement's state ("hypotension": blood pressure low)."""
    found: dict[str, State] = {}
    for entry in load_model("reading/data/states.json", StateFile).entries:
        if not entry.concept or not entry.status:
            continue
        state = State(concept_id(entry.concept, MEASURES), entry.status, "", "")
        for diagnosis in _diagnoses(entry):
            found.setdefault(diagnosis, state)
    return found


def implied_by(ids: tuple[str, ...]) -> State | None:
    """Return the measurement's state that a diagnosis says, or None."""
    return _implications().get(ids[0])


def annotate(source: str, names: tuple[str, ...] = (), understood: Filled = ()) -> Document:
    """Take an answer apart. Every step looks places up by token, so that the work grows with the text only.

    Args:
        source: the answer.
        names: ids of measurements and drugs to look for that the knowledge base does not know (`unlisted`).
        understood: words that the answer leaves out (`elided`).
    """
    normal = filled(normalise(source), understood) if understood else normalise(source)
    tokens = tokenise(normal.text)
    document = Document(normal, tokens)
    lay_out(document)
    blocked = [False] * len(tokens)
    anns = _names(document, blocked)
    for own in names:
        anns = lay_over(document, anns, blocked, own, named((own,)))
    known = _by_token(anns)
    sizes = (timed(minutely(quantity, tokens), known) for quantity in read_quantities(tokens, blocked))
    quantities = [flowing(quantity, tokens) for quantity in sizes]
    covered = [False] * len(tokens)
    for quantity in quantities:
        for index in range(quantity.start, quantity.end):
            covered[index] = True
    anns = [ann for ann in anns if not covered[ann.start]]
    for quantity in quantities:
        kind = "time" if quantity.time else "quantity"
        anns.append(Ann(quantity.start, quantity.end, kind, kind, quantity))
    as_levels(document, anns)
    contrasted(document, anns)
    as_counts(anns)
    anns.extend(bare_nouns(document, anns, blocked))
    anns.extend(_cues(document, anns, covered, blocked))
    attach(document.sentences, anns)
    return document


def _by_token(anns: list[Ann]) -> dict[int, Ann]:
    """Return the concept at each token."""
    return {i: ann for ann in anns if ann.layer == "concept" for i in range(ann.start, ann.end)}


def _names(document: Document, blocked: list[bool]) -> list[Ann]:
    """Return concepts and words that imply one; of two that overlap wholly the wider stays."""
    lexicon = knowledge.lexicon()
    anns: list[Ann] = []
    for start, end in formulas(document):
        blocked[start:end] = [True] * (end - start)  # "CKD-EPI 2021" names a formula, no disease and no number
    for mention in lexicon.scan(document.normal.text):
        start = document.token_at(mention.start)
        end = document.token_at(mention.end - 1) + 1
        if blocked[start]:
            continue
        if document.text(start, end) in CAPITALS:
            continue  # "we got 2 L", "the gas shows": no GOT, no GAS
        ids = mention.concepts
        if _compares(document, end):  # "血色素低于": the side of a comparison, no name
            end -= 1
            shorter = lexicon.resolve(document.text(start, end)) if end > start else None
            if shorter is None:
                continue
            ids = (shorter.id,)
        anns.append(Ann(start, end, "concept", "concept", named(ids)))
        blocked[start:end] = [True] * (end - start)
    anns.extend(_paired(document, blocked))
    names = _by_token(anns)
    implied = [ann for ann in _state_anns(document) if not _inside(ann, names.get(ann.start))]
    known = {ann.start for ann in implied}
    for ann in anns:
        meant = implied_by(ann.value.ids)
        if ann.start not in known and meant is not None and meant.status in ("high", "low"):
            implied.append(Ann(ann.start, ann.end, "implied", "implied", meant))
    wide = {i: ann for ann in implied if ann.value.mention for i in range(ann.start, ann.end)}
    return [*(ann for ann in anns if not _inside(ann, wide.get(ann.start))), *implied]


def _inside(ann: Ann, other: Ann | None) -> bool:
    """Tell whether another annotation holds this one and is wider."""
    return (
        other is not None
        and other.start <= ann.start
        and ann.end <= other.end
        and other.end - other.start > ann.end - ann.start
    )


def _cues(document: Document, anns: list[Ann], covered: list[bool], blocked: list[bool]) -> list[Ann]:
    """Return the cues that are no part of a name, a date or what a chart is said to say."""
    names, tokens = _by_token(anns), document.tokens
    lasting = {ann.start for ann in anns if ann.layer == "time" and tokens[min(ann.end, len(tokens) - 1)].key != "of"}
    cues = cue_annotations(document.tokens)
    charts = {
        i: cue for cue in cues if cue.layer == "source" and cue.kind == "chart" for i in range(cue.start, cue.end)
    }
    found: list[Ann] = []
    for cue in cues:
        chart = charts.get(cue.start)
        if cue.layer in ("act", "state", "link") and chart is not None and cue.end <= chart.end:
            continue
        chinese = tokens[cue.start].kind == "c"
        if cue.layer in ("modifier", "state") and chinese and _straddles(cue, names):
            continue  # "抗原为" holds no "原为", "3日前列腺" no "日前"
        if cue.layer == "link" and cue.end in lasting and tokens[cue.start].key == "for":
            continue  # "hold it for 48 hours"; "fluids for two days of vomiting" is a reason
        if cue.layer == "link" and tokens[cue.start].key == "from" and _from_to(document, cue.end, covered):
            continue  # "dropped from 52 to 34"
        if cue.layer == "source" and cue.kind == "patient" and _by_others(document, cue):
            continue
        if cue.layer == "modifier" and cue.kind == "hedge" and _no_doubt(document, cue, covered):
            continue
        name = names.get(cue.start) if cue.layer not in ("event", "source") and blocked[cue.start] else None
        if not _inside(cue, name):  # "normal saline", "high blood pressure" as a diagnosis
            found.append(cue)
    return found


def _from_to(document: Document, at: int, covered: list[bool]) -> bool:
    """Tell whether a number stands at `at` and, soon after it, to what another one it went."""
    if at >= len(covered) or not covered[at]:
        return False
    tokens = document.tokens
    last = min(at + FROM_TO, len(tokens) - 1)
    return any(tokens[i].key in ("to", "→") and covered[i + 1] for i in range(at + 1, last))


def _by_others(document: Document, cue: Ann) -> bool:
    """As in "the letter states that she …": a bare verb whose subject is somebody other than the patient."""
    tokens, at = document.tokens, cue.start
    if tokens[at].key not in ACCOUNT_VERBS or at == 0 or document.clause[at - 1] != document.clause[at]:
        return False
    return tokens[at - 1].kind == "w" and tokens[at - 1].key not in ACCOUNT_OPENERS


def _straddles(cue: Ann, names: dict[int, Ann]) -> bool:
    """Tell whether a Chinese cue takes in a part of a name only."""
    first, last = names.get(cue.start), names.get(cue.end - 1)
    begins = first is not None and first.start < cue.start and first.end < cue.end
    ends = last is not None and last.end > cue.end and cue.start < last.start
    return begins or ends


def _compares(document: Document, end: int) -> bool:
    """Tell whether what ends at `end` takes in the first half of 高于 or 低于."""
    tokens = document.tokens
    return end < len(tokens) and tokens[end].raw == "于" and tokens[end - 1].raw in "高低"


@lru_cache(maxsize=1)
def _pair_trie() -> Trie:
    trie = Trie(folded=False)
    for entry in load_json("pairs.json")["pairs"]:
        for phrase in entry["words"]:
            trie.add(phrase.lower(), tuple(entry["concepts"]))
    return trie


def _paired(document: Document, blocked: list[bool]) -> list[Ann]:
    """Return the two concepts of writings such as "H/H 10.3/31", where they are no names already."""
    trie, tokens = _pair_trie(), document.tokens
    found: list[Ann] = []
    for at in range(len(tokens)):
        for end, (first, last) in trie.matches(tokens, at):
            if blocked[at] or not tokens[at].raw[0].isupper():
                continue
            found.append(Ann(at, at + 1, "concept", "concept", named((first,))))
            found.append(Ann(end - 1, end, "concept", "concept", named((last,))))
            blocked[at] = blocked[end - 1] = True
    return found


def _no_doubt(document: Document, cue: Ann, covered: list[bool]) -> bool:
    """Tell whether a word of doubt is part of a date ("3 May") or sets two numbers against each other ("vs 1.2")."""
    if all(covered[cue.start : cue.end]):
        return True
    return document.text(cue.start, cue.end).lower() in ("versus", "vs", "vs.") and any(covered[cue.end : cue.end + 1])


def _state_anns(document: Document) -> list[Ann]:
    trie, tokens = _states(), document.tokens
    found: list[Ann] = []
    at = 0
    while at < len(tokens):
        matches = list(trie.matches(tokens, at))
        end = max((match[0] for match in matches), default=at)
        if end == at or _compares(document, end):
            at += 1
            continue
        said = dict.fromkeys(state for stop, state in matches if stop == end)
        found.extend(Ann(at, end, "implied", "implied", state) for state in said)  # "两条腿又酸又没劲" says two things
        at = end
    return found
