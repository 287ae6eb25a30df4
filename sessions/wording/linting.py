"""Are the phrase files sound? What a reader would otherwise have to look for, entry by entry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from wardround.patients import knowledge
from wardround.sessions.moves.move import Task
from wardround.sessions.session import Language

from .discourse import asked, kind_of
from .filling import fill, pronouns
from .kinds import load_kinds
from .limits import faults
from .phrases import LANGUAGES, Shape, bare, cells, count_faults, load_phrases, shape_faults

TYPICAL: Final[dict[str, tuple[str, str]]] = {
    "lab": ("white count", "白细胞计数"),
    "lab2": ("potassium", "血钾"),
    "lab3": ("creatinine", "肌酐"),
    "vital": ("heart rate", "心率"),
    "drug": ("metoprolol", "美托洛尔"),
    "drug2": ("furosemide", "呋塞米"),
    "problem": ("pneumonia", "肺炎"),
    "study": ("chest X-ray", "胸片"),
    "culture": ("blood culture", "血培养"),
    "score": ("CURB-65", "CURB-65评分"),
    "symptom": ("dizziness", "头晕"),
    "step": ("potassium replacement", "补钾"),
    "service": ("physical therapy", "康复科"),
    "plan": ("cardiology follow-up", "心内科随访"),
    "note": ("discharge summary", "出院小结"),
    "act": ("hold", "暂停"),
    "test": ("low", "偏低"),
    "dose": ("25 mg", "25 mg"),
    "dose2": ("50 mg", "50 mg"),
    "route": ("by mouth", "口服"),
    "frequency": ("twice daily", "每日两次"),
    "bound": ("45", "45"),
    "priority": ("urgent", "加急"),
    "risk": ("fall risk", "跌倒风险"),
    "topics": ("the potassium and the CRP", "血钾和C反应蛋白"),
}
"""A name of usual length for every slot, in English and Chinese."""
_PRONOUN: Final[dict[Language, re.Pattern[str]]] = {
    "en": re.compile(r"\b(?:it|its|that|this|those|these|both|same)\b", re.IGNORECASE),
    "zh": re.compile(r"它|这|那|该|此"),
}
_CONTENT: Final[dict[Language, re.Pattern[str]]] = {
    "en": re.compile(r"\{[A-Za-z]+[0-9]?\}|[a-z]{4,}"),
    "zh": re.compile(r"\{[A-Za-z]+[0-9]?\}|(?=([\u4e00-\u9fff]{2}))"),
}
_INSTRUCTS: Final[dict[Language, re.Pattern[str]]] = {
    "en": re.compile(
        r"\b(?:ask|please|find out|check with|could you|would you(?=\?)|(?:have|get) \{(?:them|their)\})", re.IGNORECASE
    ),
    "zh": re.compile(r"问|请|麻烦|帮我|核实|过一遍|让(?=\{\w+\}(?:自己)?(?:给|打|评))"),
}
"""Whom to ask, and courtesy: no predicate that an ellipsis leaves out, so both forms say it or neither does."""
_FOREIGN: Final = re.compile(r"[A-Za-z]+")
_ABBREVIATIONS: Final = frozenset({"CT", "MRI", "ICU", "X", "B", "QT", "QTc", "ADL", "NRS"})


def typical(shape: Shape, language: Language) -> tuple[str, str]:
    """Return both forms of a shape with names of usual length."""
    values = {slot: names[language == "zh"] for slot, names in TYPICAL.items()} | dict(
        pronouns("female", language) or {}
    )
    return fill(shape.explicit, values, language), fill(shape.implicit, values, language)


def faults_of(shape: Shape, language: Language, task: Task) -> Iterator[str]:
    """Yield what is wrong with one shape.

    Args:
        shape: Of a phrase file.
        language: Of its file.
        task: Of its kind.
    """
    yield from shape_faults(shape)
    for words in dict.fromkeys(typical(shape, language)):
        for fault in faults(words, task=task, first=shape.type is None, language=language):
            yield f"{fault}: `{words}`"
    yield from _literal(shape, language)
    needs = set(kind_of(shape.kind).needs)
    if shape.type != "AE" and not needs <= shape.slots:
        yield f"does not say {', '.join(sorted(needs - shape.slots))}"
    if shape.type is None:
        if not asked(shape, language):
            yield f"no word says what is asked ({', '.join(kind_of(shape.kind).asks)}; kinds.json, `cues`)"
        return
    yield from _instructs(shape, language)
    if not _content(shape.explicit, language) & _content(shape.implicit, language):
        yield "the forms share no content word"
    yield from _before(shape, language)
    if shape.type == "AE" and task == "IL":
        yield "AE never stands on IL"


def _literal(shape: Shape, language: Language) -> Iterator[str]:
    """Yield names that stand in a template itself: every patient's query would hold them."""
    for form in dict.fromkeys((shape.explicit, shape.implicit)):
        words = bare(form)
        for mention in knowledge.lexicon().scan(words, kinds={"drug", "lab"}):
            yield f"names `{words[mention.start : mention.end]}` for every patient"
        if language == "zh":
            for word in sorted(set(_FOREIGN.findall(words)) - _ABBREVIATIONS):
                yield f"`{word}` is English"
        elif re.search(r"[\u3400-\u9fff]", words):
            yield "holds Chinese"


def _instructs(shape: Shape, language: Language) -> Iterator[str]:
    """Yield what only one form tells to do: the penalty of the implicit one would be partly a missing instruction."""
    said = [
        {match.group().lower() for match in _INSTRUCTS[language].finditer(form)}
        for form in (shape.explicit, shape.implicit)
    ]
    for word in sorted(said[0] ^ said[1]):
        yield f"only one form says `{word}`: the forms must differ in the ellipsis only"


def _content(form: str, language: Language) -> set[str]:
    text = form if language == "zh" else re.sub(r"\{[A-Z]", lambda match: match.group().lower(), form)
    text = text if language == "zh" else text.lower()
    found = {
        match.group(1) if language == "zh" and match.group(1) else match.group()
        for match in _CONTENT[language].finditer(text)
    }
    return {one for one in found if one and one.strip("{}") not in {"they", "them", "their", "topics"}}


def _before(shape: Shape, language: Language) -> Iterator[str]:
    """Yield where a gap stands after another thing of its kind in the same sentence, which it would rather mean."""
    for slot in shape.left_out:
        kin = re.search(r"\{(" + slot.rstrip("23") + r"[0-9]?)\}", shape.implicit, re.IGNORECASE)
        pronoun = _PRONOUN[language].search(shape.implicit)
        if kin and pronoun and pronoun.start() > kin.start():
            yield f"`{pronoun.group()}` would mean the {{{kin.group(1)}}} just named"


def lint(kinds: dict[str, tuple[Task, bool]]) -> list[str]:
    """Return what is wrong with the phrase files.

    Args:
        kinds: Kind of turn → its task, and whether it may open a session.
    """
    found = []
    for kind, (task, opens) in kinds.items():
        if kind not in load_kinds().kinds:
            found.append(f"{kind}: kinds.json does not hold it")
            continue
        for language in LANGUAGES:
            phrases = load_phrases(language).get(kind)
            if phrases is None:
                found.append(f"{kind} ({language}): no phrases")
                continue
            found.extend(f"{kind} ({language}): {one}" for one in count_faults(kind, language, opens=opens))
            for shape in (*phrases.first, *phrases.later):
                found.extend(f"{shape.id}: {one}: {shape.implicit}" for one in faults_of(shape, language, task))
        differing = sorted(map(str, cells(kind, "en") ^ cells(kind, "zh")))
        if differing:
            found.append(f"{kind}: in one language only: {', '.join(differing)}")
    return found
