"""What each role does to a draft: its context, and the session that its reply makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from wardround.patients import TOOLS, Chart, ToolResult, Words, find_tool
from wardround.rubrics import AvoidsCheck, Item, JudgeCheck, RetrievedCheck, Text, check_answer
from wardround.sessions.gold import PREPARE, GoldTurn, play_gold
from wardround.sessions.interop.sentences import check_of
from wardround.sessions.session import GoldCall, Session, Turn, Wording

from .meaning import asks_more, differs, numbers

Made = tuple[Session, str]
"""A changed session and "", or the session as it was and why the reply is refused."""


@dataclass(frozen=True)
class Place:
    """A turn of a draft, and what its gold calls bring."""

    session: Session
    chart: Chart
    number: int

    @property
    def turn(self) -> Turn:
        """The turn."""
        return self.session.turns[self.number]

    def played(self) -> GoldTurn:
        """Return what the gold calls bring in English."""
        return list(play_gold(self.session, self.chart))[self.number]

    def round(self, phrasing: str = "explicit") -> list[str]:
        """Return the physician's queries so far."""
        return [turn.query.get("en", phrasing) for turn in self.session.turns[: self.number]]

    def with_turn(self, **changes: Any) -> Session:
        """Return the session with this turn changed."""
        turns = list(self.session.turns)
        turns[self.number] = self.turn.model_copy(update=changes)
        return self.session.model_copy(update={"turns": tuple(turns)})

    def with_wording(self, language: str, **changes: str) -> Session:
        """Return the session with this turn's query changed in one language."""
        query = self.turn.query
        wording = (query.en if language == "en" else query.zh) or Wording()
        return self.with_turn(query=query.model_copy(update={language: wording.model_copy(update=changes)}))


@dataclass(frozen=True)
class Stage:
    """One role at one turn."""

    role: str
    fits: Callable[[Place], bool]
    context: Callable[[Place], dict[str, Any]]
    apply: Callable[[Place, Mapping[str, Any]], Made]


def _is_implicit(place: Place) -> bool:
    return place.turn.implicitness is not None


def _asked(place: Place) -> dict[str, Any]:
    return {"wanted": place.turn.query.get("en", "explicit"), "task": place.turn.task, "round": place.round()}


def _query(place: Place, reply: Mapping[str, Any]) -> Made:
    said, wanted = str(reply["query"]).strip(), place.turn.query.get("en", "explicit")
    fault = differs(wanted, said) or asks_more(wanted, said)
    if fault:
        return place.session, fault
    same = {"explicit": said} if _is_implicit(place) else {"explicit": said, "implicit": said}
    return place.with_wording("en", **same), ""


def _shortened(place: Place) -> dict[str, Any]:
    return {
        "explicit": place.turn.query.get("en", "explicit"),
        "type": place.turn.implicitness,
        "leaves_out": [antecedent.entity for antecedent in place.turn.antecedents],
        "round": place.round("implicit"),
        "example": place.turn.query.get("en", "implicit"),
    }


def _implicit(place: Place, reply: Mapping[str, Any]) -> Made:
    said = str(reply["query"]).strip()
    drafted = place.turn.query.get("en", "implicit")
    fault = differs(drafted, said) or asks_more(drafted, said)
    if not fault and said == place.turn.query.get("en", "explicit"):
        fault = "nothing is left out"
    return (place.session, fault) if fault else (place.with_wording("en", implicit=said), "")


def _tools(place: Place) -> dict[str, Any]:
    names = place.session.tools or tuple(TOOLS)
    specs = [spec for name in names if (spec := find_tool(name)) is not None and spec.name != PREPARE]
    return {
        "query": place.turn.query.get("en", "explicit"),
        "task": place.turn.task,
        "round": place.round(),
        "ids": {
            "subject_id": place.session.chart.patient,
            "hadm_id": place.session.encounter,
            "session_id": place.session.id,
        },
        "tools": [{"name": spec.name, "arguments": spec.schema["properties"]} for spec in specs],
    }


def _calls(place: Place, reply: Mapping[str, Any]) -> Made:
    gold = place.turn.gold
    assert gold is not None
    if gold.branch is not None:
        return place.session, "an adaptive turn keeps the calls of its rule"
    calls = [GoldCall(tool=str(call["tool"]), arguments=call["arguments"]) for call in reply["calls"]]
    made = tuple(call for call in calls if call.tool != PREPARE)
    planned = place.with_turn(gold=gold.model_copy(update={"calls": (*made, gold.calls[-1])}))
    fault = _reads_otherwise(place, Place(planned, place.chart, place.number))
    return (place.session, fault) if fault else (planned, "")


def _found(result: ToolResult) -> set[str]:
    return {*result.resources, *(f"fact/{one}" for one in result.facts)}


def _reads_otherwise(before: Place, after: Place) -> str:
    """Return what is amiss with what other calls read in this turn itself, "" if nothing is.

    A gate cannot tell: it also counts what an earlier turn has read.
    """
    old = set().union(*(_found(one) for one in before.played().results))
    read = after.played().results
    new = set().union(*(_found(one) for one in read))
    for item in before.turn.rubric:
        wanted = set(item.check.any_of) if isinstance(item.check, RetrievedCheck) else set()
        if wanted & old and not wanted & new:
            return f"the calls do not find what `{item.id}` wants read"
    for one in read:
        if one.ok and one.effect in ("read", "ask") and not _found(one) & old:
            return f"{one.tool} finds nothing that the query needs"
    return ""


def _results(place: Place) -> dict[str, Any]:
    gold = place.turn.gold
    assert gold is not None
    return {
        "query": place.turn.query.get("en", "explicit"),
        "task": place.turn.task,
        "results": [{"tool": one.tool, "text": one.text[:4000]} for one in place.played().results],
        "recommendation": [item.text.en for item in place.turn.rubric if item.check.kind in ("advice", "any_of")],
    }


def _answer(place: Place, reply: Mapping[str, Any]) -> Made:
    gold = place.turn.gold
    assert gold is not None
    answers = (Text(en=str(reply["answer"]).strip(), zh=gold.answers[0].zh), *gold.answers[1:])
    return place.with_turn(gold=gold.model_copy(update={"answers": answers})), ""


def _answered(place: Place) -> dict[str, Any]:
    gold = place.turn.gold
    assert gold is not None
    return _results(place) | {"answer": gold.answers[0].get("en")}


def _approved(place: Place, reply: Mapping[str, Any]) -> Made:
    return place.session, "" if reply["ok"] else f"the checker objects: {reply['reason']}"[:200]


def _items(place: Place, reply: Mapping[str, Any]) -> Made:
    """Add the typed items that say something new and that the gold answer meets."""
    gold = place.turn.gold
    assert gold is not None
    have = [item.check for item in place.turn.rubric]
    answer, trace = gold.answers[0].get("en"), place.played().trace
    added = []
    for number, sentence in enumerate(reply["items"], 1):
        check = check_of(Text(en=str(sentence)))
        if isinstance(check, JudgeCheck) or check in have:
            continue
        if not check_answer(check, answer, language="en", trace=trace).passed:
            continue
        text = Text(en=str(sentence))
        added.append(Item(id=f"w{number}", text=text, check=check, safety=isinstance(check, AvoidsCheck)))
        have.append(check)
    return place.with_turn(rubric=(*place.turn.rubric, *added)), ""


def for_judge(reply: Mapping[str, Any]) -> tuple[Item, ...]:
    """Return the items of a rubric reply that only a judge can decide."""
    found = ((number, Text(en=str(one))) for number, one in enumerate(reply["items"], 1))
    checked = ((number, text, check_of(text)) for number, text in found)
    return tuple(
        Item(id=f"j{number}", text=text, check=check)
        for number, text, check in checked
        if isinstance(check, JudgeCheck)
    )


def _reply_of(place: Place) -> int | None:
    """Return the place of the recorded reply that the turn's interview call gets; None where it gets none."""
    told = [one for one in place.played().results if one.effect == "ask" and one.ok]
    if not told:
        return None
    texts = [reply.text.en for reply in place.session.interview.replies]
    return texts.index(told[-1].text) if told[-1].text in texts else None


def _is_asked(place: Place) -> bool:
    return place.turn.source in ("patient", "mixed") and _reply_of(place) is not None


def _meant(place: Place) -> dict[str, Any]:
    index = _reply_of(place)
    assert index is not None
    persona = place.session.persona
    return {
        "meant": place.session.interview.replies[index].text.en,
        "persona": {"literacy": persona.literacy, "anxiety": persona.anxiety, "informant": persona.informant},
        "language": "English",
    }


def _said(place: Place, reply: Mapping[str, Any]) -> Made:
    index = _reply_of(place)
    assert index is not None
    interview = place.session.interview
    old, new = interview.replies[index].text, str(reply["reply"]).strip()
    fault = differs(old.en or "", new)
    if not fault and len(new) > 3 * len(old.en or "") + 200:
        fault = "far longer than what was meant"
    if fault:
        return place.session, fault
    replies = list(interview.replies)
    replies[index] = replies[index].model_copy(update={"text": Words(en=new, zh=old.zh)})
    changed = interview.model_copy(update={"replies": tuple(replies)})
    return place.session.model_copy(update={"interview": changed}), ""


STAGES: tuple[Stage, ...] = (
    Stage("user", lambda place: True, _asked, _query),
    Stage("user_implicit", _is_implicit, _shortened, _implicit),
    Stage("turn_planner", lambda place: True, _tools, _calls),
    Stage("patient", _is_asked, _meant, _said),
    Stage("answer", lambda place: True, _results, _answer),
    Stage("checker", lambda place: True, _answered, _approved),
    Stage("rubric", lambda place: place.turn.task != "WU", _results, _items),
)


def translated(place: Place, phrasing: str, text: str, back: str) -> Made:
    """Put a Chinese query in place if its back-translation means the English one.

    Args:
        place: The turn.
        phrasing: Which query.
        text: The Chinese one.
        back: Its translation into English.
    """
    english = place.turn.query.get("en", phrasing)
    fault = differs(english, back) or differs(english, text)
    if not fault and numbers(english) != numbers(text):
        fault = "numbers changed"
    if fault:
        return place.session, fault
    same = {"explicit": text, "implicit": text} if place.turn.implicitness is None else {phrasing: text}
    return place.with_wording("zh", **same), ""
