"""Plays an interview: from a question to recorded words, with what the patient holds back held back (design §4).

Nothing is made up: an answer is a recorded reply, or fixed words around a fact on the patient's card, or "not sure".
A dialogue's only state is `told`, the withheld facts already told, so the same question in the same state gets the
same words.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

from .interview import Fact, Interview, Reply
from .questions import Questions
from .wording import fallback, join, tell

_IDENTITY = frozenset({"subject_id", "session_id"})
_KINDS: dict[str, tuple[str, ...]] = {
    "patient.get_symptom_history": ("complaint", "symptom"),
    "patient.get_medication_adherence": ("adherence",),
    "patient.get_social_history": ("social",),
    "patient.get_functional_status": ("function",),
    "patient.get_pain_assessment": ("pain",),
}
INTERVIEW_TOOLS = tuple(_KINDS)
_MOST_FACTS = 3
"""Facts told in one reply; replies stay within a few sentences."""
_SCRIPTS = 256
_MEMO = 512


class Said(NamedTuple):
    """What the patient said."""

    text: str
    facts: tuple[str, ...]
    """Ids of the facts these words give away."""


class Dialogue:
    """One conversation with one patient.

    Args:
        interview: What the patient knows and the words recorded for it.
        told: Ids of withheld facts that were told before.
    """

    __slots__ = ("_script", "told")

    def __init__(self, interview: Interview, told: frozenset[str] = frozenset()) -> None:
        self._script = _script(interview)
        self.told = told

    @property
    def interview(self) -> Interview:
        """The interview being played; never for an agent's eyes."""
        return self._script.interview

    def ask(self, tool: str, arguments: Mapping[str, Any], language: str = "en") -> Said:
        """Ask one question.

        Args:
            tool: Published name of an interview tool.
            arguments: Its arguments; every text but the ids may name a drug and so unlock what is withheld about it.
            language: Language of the words, `en` or `zh`; a question may come in either.

        Returns:
            The words and the facts in them.

        Raises:
            KeyError: `tool` is no interview tool.
        """
        said, self.told = self._script.answer(tool, arguments, language, self.told)
        return said

    def fork(self) -> Dialogue:
        """Return an independent dialogue that goes on from here."""
        twin = object.__new__(Dialogue)
        twin._script = self._script
        twin.told = self.told
        return twin

    def __reduce__(self) -> tuple[type[Dialogue], tuple[Interview, frozenset[str]]]:
        return Dialogue, (self._script.interview, self.told)


class _Script:
    """An interview indexed for play. Shared by every dialogue of that interview; knows nothing of their state."""

    def __init__(self, interview: Interview) -> None:
        self.interview = interview
        self.facts = {fact.id: fact for fact in interview.facts}
        self.withheld = frozenset(fact.id for fact in interview.facts if fact.withheld)
        self.replies: dict[tuple[str, str | None], list[Reply]] = {}
        for reply in interview.replies:
            self.replies.setdefault((reply.tool, reply.fact), []).append(reply)
        self.questions = Questions(interview.facts)
        self._memo: OrderedDict[tuple[Any, ...], tuple[Said, frozenset[str]]] = OrderedDict()

    def answer(
        self, tool: str, arguments: Mapping[str, Any], language: str, told: frozenset[str]
    ) -> tuple[Said, frozenset[str]]:
        """Return the words for a question asked when `told` was told, and what is told afterwards."""
        texts = tuple((k, v) for k, v in arguments.items() if k not in _IDENTITY and isinstance(v, str))
        key = (tool, texts, language, told)
        known = self._memo.get(key)
        if known is not None:
            return known
        if tool == "patient.get_medication_adherence":
            result = self._adherence(" ".join(text for _, text in texts), language, told)
        else:
            result = self._ask(tool, [text for _, text in texts], language, told)
        self._memo[key] = result
        if len(self._memo) > _MEMO:
            self._memo.popitem(last=False)
        return result

    def _adherence(self, text: str, language: str, told: frozenset[str]) -> tuple[Said, frozenset[str]]:
        drugs = self.questions.drugs_asked(text)
        if len(drugs) != 1:
            reply = self._recorded("patient.get_medication_adherence", None, told) if not drugs else None
            key = "unknown_drug" if not drugs and self.questions.specific(text, medicine=True) else "which_medicine"
            if reply is None or key == "unknown_drug":
                return Said(fallback(key, self.interview.persona, language), ()), told
            return Said(reply.text.get(language), reply.disclosed), told
        hidden = self._unlocked(drugs) - told
        if hidden and not self.questions.drugs_named(text):
            # A class ("the blood thinner") finds the drug but does not name it: what is held back stays so.
            return Said(fallback("which_medicine", self.interview.persona, language), ()), told
        told |= hidden
        facts = [f for f in self._known(told) if f.kind == "adherence" and self.questions.drug_of(f) in drugs]
        if not facts:
            return Said(fallback("unknown_drug", self.interview.persona, language), ()), told
        return self._tell("patient.get_medication_adherence", facts, language, told), told

    def _ask(self, tool: str, texts: list[str], language: str, told: frozenset[str]) -> tuple[Said, frozenset[str]]:
        query = " ".join(texts)
        kinds = _KINDS[tool]
        drugs = self.questions.drugs_named(query) if query else ()
        told |= self._unlocked(drugs)
        known = self._known(told)
        if not query:
            return self._general(tool, kinds, known, language, told), told
        facts = self.questions.facts_asked(query, known, drugs)
        if facts:
            return self._tell(tool, facts[:_MOST_FACTS], language, told), told
        if self.questions.specific(query):
            return Said(fallback("not_sure", self.interview.persona, language), ()), told
        return self._general(tool, kinds, known, language, told), told

    def _general(
        self, tool: str, kinds: tuple[str, ...], known: list[Fact], language: str, told: frozenset[str]
    ) -> Said:
        reply = self._recorded(tool, None, told)
        if reply is not None:
            return Said(reply.text.get(language), reply.disclosed)
        facts = [fact for kind in kinds for fact in known if fact.kind == kind and fact.polarity == "present"]
        if not facts:
            return Said(fallback("not_sure", self.interview.persona, language), ())
        return self._tell(tool, facts[:_MOST_FACTS], language, told)

    def _tell(self, tool: str, facts: list[Fact], language: str, told: frozenset[str]) -> Said:
        """Return the words for these facts: recorded ones, else fixed ones; no fact twice."""
        texts: list[str] = []
        given: dict[str, None] = {}
        for fact in facts:
            if fact.id in given:
                continue
            reply = self._recorded(tool, fact.id, told) or self._elsewhere(fact.id, told)
            texts.append(tell(fact, self.interview.persona, language) if reply is None else reply.text.get(language))
            given |= dict.fromkeys((fact.id,) if reply is None else reply.disclosed or (fact.id,))
        return Said(join(texts, language), tuple(given))

    def _recorded(self, tool: str, fact: str | None, told: frozenset[str]) -> Reply | None:
        """Return the recorded reply that fits what is told, the one that presumes most of it; never one that leaks."""
        best: Reply | None = None
        for reply in self.replies.get((tool, fact), ()):
            fits = told.issuperset(reply.after) and told.issuperset(self.withheld.intersection(reply.disclosed))
            if fits and (best is None or len(reply.after) > len(best.after)):
                best = reply
        return best

    def _elsewhere(self, fact: str, told: frozenset[str]) -> Reply | None:
        """Return words recorded for the fact under another tool, else a general reply that tells it."""
        for tool in INTERVIEW_TOOLS:
            reply = self._recorded(tool, fact, told)
            if reply is not None:
                return reply
        for tool in INTERVIEW_TOOLS:
            reply = self._recorded(tool, None, told)
            if reply is not None and fact in reply.disclosed:
                return reply
        return None

    def _unlocked(self, drugs: tuple[str, ...]) -> frozenset[str]:
        if not self.withheld or not drugs:
            return frozenset()
        return frozenset(one for one in self.withheld if self.questions.drug_of(self.facts[one]) in drugs)

    def _known(self, told: frozenset[str]) -> list[Fact]:
        return [fact for fact in self.interview.facts if not fact.withheld or fact.id in told]


_scripts: OrderedDict[int, _Script] = OrderedDict()


def _script(interview: Interview) -> _Script:
    """Return the index of an interview, kept while it is in use: thousands of episodes share a few interviews."""
    # An entry holds its interview, so an id in the table cannot belong to another object.
    script = _scripts.get(id(interview))
    if script is None or script.interview is not interview:
        script = _scripts[id(interview)] = _Script(interview)
        if len(_scripts) > _SCRIPTS:
            _scripts.popitem(last=False)
    return script


def interview_problems(interview: Interview) -> list[str]:
    """Return what is wrong with an interview, empty for a sound one.

    Checks that ids are distinct and resolve, that a withheld fact has a drug that can be named, and that no reply gives
    away a withheld fact unless it is about that fact or presumes it told.
    """
    problems: list[str] = []
    facts: dict[str, Fact] = {}
    for fact in interview.facts:
        if fact.id in facts:
            problems.append(f"facts: id `{fact.id}` stands twice; give every fact its own")
        facts[fact.id] = fact
        if fact.withheld and fact.drug is None:
            problems.append(f"facts.{fact.id}: withheld without `drug`, so it can never be told; name the drug")
        if fact.kind == "adherence" and fact.drug is None:
            problems.append(f"facts.{fact.id}: an adherence fact needs `drug`")
    for number, reply in enumerate(interview.replies):
        where = f"replies[{number}] ({reply.tool}, fact {reply.fact})"
        names = (*reply.disclosed, *reply.after, *((reply.fact,) if reply.fact else ()))
        problems += [f"{where}: there is no fact `{name}`" for name in names if name not in facts]
        allowed = {reply.fact, *reply.after}
        problems += [
            f"{where}: gives away the withheld fact `{name}`; list it in `after` or make the reply its own"
            for name in reply.disclosed
            if name in facts and facts[name].withheld and name not in allowed
        ]
        if reply.text.en is None and reply.text.zh is None:
            problems.append(f"{where}: no words in any language")
    return problems
