"""Look-ups: what the record or the patient says, a line each."""

from __future__ import annotations

import re
from typing import Any

from wardround.patients import knowledge

from .query import WAYS, Branch, Request
from .replies import Account, account_of, denied, polarity_of
from .rows import Value, diagnoses, drug_rows, table
from .scoring import score_lines
from .speaking import amount, frequency_words, labelled, listed, name_of, route_words, say, within
from .turn import Steps, Turn
from .words import first_of, has, vocabulary

_SCORE = re.compile(r"\d{1,2}")
_HEADING = re.compile(r"[^\n]{0,80}:\s*")
_PAIN = "pain_score"
_LONG = 160
"""Characters of a report or note that are repeated at most."""


def look(turn: Turn, request: Request) -> Steps[list[str]]:
    """Answer every part of a question that only asks for facts."""
    lines: list[str] = []
    asks = request.asks
    trend = "trend" in asks
    labs = [lab for lab in request.wanted("lab", "vital") if lab != _PAIN]
    for number, lab in enumerate(labs):
        lines.append((yield from _trend(turn, lab) if trend and number == 0 else lab_line(turn, lab)))
    for ask in asks:
        if ask in {"adherence", "given", "order"}:
            for drug in request.wanted("drug", "drug_class"):
                lines.append((yield from _DRUG_LINES[ask](turn, drug)))
        elif ask in _LINES:
            lines.append((yield from _LINES[ask](turn, request)))
    lines.extend((yield from _of_the_patient(turn, request)))
    if not lines and not request.of("study", "score"):
        # a drug alone: how it is ordered
        for drug in request.wanted("drug"):
            lines.append((yield from _order_line(turn, drug)))
    for study in request.wanted("study"):
        lines.append((yield from study_line(turn, study)))
    return lines


def _of_the_patient(turn: Turn, request: Request) -> Steps[list[str]]:
    """Ask about the symptoms that a question names, and about pain."""
    lines: list[str] = []
    if not {"function", "social", "note"} & set(request.asks):
        for finding in request.wanted("finding"):
            if finding != "pain" and finding not in vocabulary(turn.language).not_symptoms:
                lines.append((yield from symptom_line(turn, finding)))
    if "pain" not in request.asks and (_PAIN in request.labs or "pain" in request.wanted("finding")):
        lines.append((yield from pain_line(turn, request)))
    return lines


def branch(turn: Turn, found: Branch, drugs: tuple[str, ...]) -> Steps[list[str]]:
    """Look at one value and go on as it says.

    Args:
        turn: The turn.
        found: The question's two ways.
        drugs: Drugs that the question names, for an arm that leaves its drug out.
    """
    if found.lab is None:
        return []
    series = yield from turn.series(found.lab)
    value = series[0] if series else None
    lines = [value_line(turn, found.lab, value)] if found.told else []
    met = way_holds(found.state, series)
    arm = found.then if met else found.otherwise
    if not arm.drugs and not arm.labs and drugs:
        arm = arm.with_given("drug", *drugs)
    if arm.drugs and not arm.asks:
        # a drug alone, beside a look at a value: is it taken
        lines.append((yield from adherence_line(turn, arm.drugs[0])))
        return lines
    return [*lines, *(yield from look(turn, arm))]


def way_holds(state: str, series: list[Value]) -> bool:
    """Tell whether a condition holds of a test's values, newest first; a way is meant against the value before."""
    if state not in WAYS:
        level = series[0].level if series else None
        return level in {"high", "low"} if state == "abnormal" else level == state
    numbers = [one.number for one in series[:2] if one.number is not None]
    if len(numbers) < 2:
        return False
    return numbers[0] > numbers[1] if state == "rising" else numbers[0] < numbers[1]


# -- tests and vital signs ---------------------------------------------------------------------------------------------


def lab_line(turn: Turn, lab: str) -> Steps[str]:
    """Return the newest value of a test with its reading."""
    found = yield from turn.series(lab, True)
    value = found[0] if found else None
    score = next((use.id for use in knowledge.score_uses().values() if lab in use.unless_charted), None)
    if value is None and score is not None:
        return "\n".join((yield from score_lines(turn, score)))
    return value_line(turn, lab, value)


def value_line(turn: Turn, lab: str, value: Value | None) -> str:
    """Return a value with its reading, as a line."""
    name = name_of(value.lab if value is not None else lab, turn.language)
    if value is None:
        return say(turn.language, "no_value", name=name)
    name = labelled(name, turn.language)
    if value.level is None:
        return say(turn.language, "bare_value", name=name, value=amount(value))
    return say(turn.language, "value", name=name, value=amount(value), level=say(turn.language, value.level))


def _trend(turn: Turn, lab: str) -> Steps[str]:
    found = yield from turn.series(lab, _count=100, **turn.stay())
    if len(found) < 2 or found[0].number is None or found[-1].number is None:
        return value_line(turn, lab, found[0] if found else None)
    first, last = found[-1], found[0]
    assert first.number is not None and last.number is not None
    moved = abs(last.number - first.number) * 10 >= abs(first.number)
    direction = "stable" if not moved else "rising" if last.number > first.number else "falling"
    if last.level is None:
        return value_line(turn, lab, last)
    return say(
        turn.language,
        "trend",
        name=labelled(name_of(lab, turn.language), turn.language),
        first=first.text,
        last=amount(last),
        direction=say(turn.language, direction),
        level=say(turn.language, last.level),
    )


# -- drugs -------------------------------------------------------------------------------------------------------------


def _order_line(turn: Turn, drug: str) -> Steps[str]:
    rows = yield from turn.orders(drug)
    name = name_of(drug, turn.language)
    if not rows:
        return say(turn.language, "no_order", name=name)
    row = rows[0]
    return say(
        turn.language,
        "order",
        name=labelled(name, turn.language),
        dose=str(row.get("dose") or ""),
        route=route_words(str(row["route"]), turn.language) if row.get("route") else "",
        frequency=frequency_words(str(row["frequency"]), turn.language) if row.get("frequency") else "",
    )


def _given_line(turn: Turn, drug: str) -> Steps[str]:
    text = yield from turn.call("MedicationAdministration.search", medication=name_of(drug, "en"))
    rows, name = drug_rows(drug, text), name_of(drug, turn.language)
    if not rows:
        return say(turn.language, "no_given", name=name)
    row = rows[0]
    day, _, hour = str(row.get("time") or "").partition("T")
    reason = f"{row.get('status') or ''} {row.get('reason') or ''}".lower()
    key = "given"
    if str(row.get("status")) not in {"completed", "in-progress"}:
        key = "refused" if "refus" in reason or "declin" in reason else "held" if "h" in reason else "not_given"
    return say(turn.language, key, name=name, dose=str(row.get("dose") or ""), day=day, hour=hour[:5])


def adherence_line(turn: Turn, drug: str) -> Steps[str]:
    """Return what the patient says of taking a drug."""
    account = yield from ask_about(turn, drug)
    they = yield from turn.they()
    if account.state == "unknown":
        return say(turn.language, "unknown_account", drug=name_of(drug, turn.language), they=they)
    return say(turn.language, "says", they=they, account=account_words(turn, drug, account, they))


def ask_about(turn: Turn, drug: str) -> Steps[Account]:
    """Ask the patient about taking a drug."""
    reply = yield from turn.call("patient.get_medication_adherence", drug=name_of(drug, "en"))
    return account_of(reply, turn.language)


def account_words(turn: Turn, drug: str, account: Account, they: str) -> str:
    """Return what the patient does with a drug, and why, as a clause behind their pronoun."""
    language = turn.language
    takes = "take" if they == "they" else "takes"
    words = say(language, account.state, drug=name_of(drug, language), takes=takes)
    reason = ""
    if account.finding is not None:
        key = "fear_of" if account.reason else "of"
        reason = say(language, key, name=name_of(account.finding, language))
    elif account.reason:
        reason = say(language, account.reason, they=they)
    return words + (say(language, "because", reason=reason) if reason else "")


_DRUG_LINES = {"order": _order_line, "given": _given_line, "adherence": adherence_line}


# -- the patient -------------------------------------------------------------------------------------------------------


def symptom_line(turn: Turn, finding: str) -> Steps[str]:
    """Return whether the patient tells of a symptom."""
    state = yield from ask_symptom(turn, finding)
    return say(turn.language, state, name=name_of(finding, turn.language))


def ask_symptom(turn: Turn, finding: str) -> Steps[str]:
    """Ask the patient about a symptom: present, absent or unknown."""
    reply = yield from turn.call("patient.get_symptom_history", query=name_of(finding, "en"))
    return polarity_of(finding, reply, turn.language)


def pain_line(turn: Turn, request: Request) -> Steps[str]:
    """Return the patient's pain score."""
    reply = yield from turn.call("patient.get_pain_assessment")
    found = _SCORE.search(reply)
    words = vocabulary(turn.language)
    spelled = first_of(reply.lower(), words.numbers, turn.language)
    score = found.group() if found else spelled
    if score is None and has(reply.lower(), words.denies, turn.language):
        score = "0"
    return say(turn.language, "pain", score=score) if score else say(turn.language, "no_pain_score")


def _home_line(turn: Turn, request: Request) -> Steps[str]:
    parts = yield from function_parts(turn)
    they = yield from turn.they()
    return say(
        turn.language, "home", they=they, parts=listed((say(turn.language, one) for one in parts), turn.language)
    )


def function_parts(turn: Turn) -> Steps[list[str]]:
    """Ask how the patient gets on: walking, daily activities, falls."""
    reply = yield from turn.call("patient.get_functional_status")
    return _told(turn, reply, ("walking", "care", "fall"))


def _social_line(turn: Turn, request: Request) -> Steps[str]:
    reply = yield from turn.call("patient.get_social_history")
    parts, they = _told(turn, reply, ("living", "alcohol", "tobacco")), (yield from turn.they())
    return say(
        turn.language, "home", they=they, parts=listed((say(turn.language, one) for one in parts), turn.language)
    )


def _told(turn: Turn, reply: str, about: tuple[str, ...]) -> list[str]:
    """Return what a reply says of some topics, by the first cue of each that it holds."""
    words, low = vocabulary(turn.language), reply.lower()
    found = []
    for topic in about:
        for key, cues in words.told[topic].items():
            if has(low, cues, turn.language):
                found.append(key)
                break
    return found


# -- the stay, notes, reports ------------------------------------------------------------------------------------------


def _problem_line(turn: Turn, request: Request) -> Steps[str]:
    text = yield from turn.call("Condition.search", **turn.stay())
    rows = [row for row in table(text) if row.get("rank") == 1]
    if not rows:
        return say(turn.language, "no_problem")
    known = [condition for condition, row in diagnoses(text) if row.get("rank") == 1]
    name = name_of(known[0], turn.language) if known else str(rows[0].get("name"))
    return say(turn.language, "problem", name=name)


def _stay_line(turn: Turn, request: Request) -> Steps[str]:
    text = yield from turn.call("Encounter.search", **turn.stay())
    rows = table(text)
    if not rows or not rows[0].get("reason"):
        return say(turn.language, "no_stay")
    row = rows[0]
    reason = _translated(str(row["reason"]), turn.language)
    service = row.get("service") or _service_in(text)
    if not service:
        return say(turn.language, "stay", reason=within(reason))
    return say(turn.language, "stay_service", reason=within(reason), service=_translated(str(service), turn.language))


def _service_in(text: str) -> str:
    found = knowledge.lexicon().scan(text, kinds={"service"})
    return name_of(found[0].concept, "en") if found else ""


def _translated(text: str, language: str) -> str:
    """Return a text of the chart, in Chinese by the names that it holds where there are any."""
    if language == "en":
        return text
    low, found = text.lower(), []
    for one in knowledge.lexicon().scan(text, kinds={"finding", "condition", "service"}):
        name = name_of(one.concept, language)
        found.append(say(language, "none", name=name) if denied(low, one.start, "en") else name)
    return "、".join(dict.fromkeys(found)) or text


def _note_line(turn: Turn, request: Request) -> Steps[str]:
    words = vocabulary(turn.language)
    section = first_of(request.text.lower(), words.sections, turn.language) or "Chief Complaint"
    text = yield from turn.call("DocumentReference.search", keyword=section, **turn.stay())
    rows = [row for row in table(text) if str(row.get("section") or "").lower() == section.lower()]
    rows.sort(key=lambda row: "admission" not in str(row.get("type") or "").lower())
    if not rows:
        return say(turn.language, "no_note")
    lines = [one.strip("- ") for one in str(rows[0].get("text") or "").splitlines()]
    kept = [one for one in lines if one and not (_HEADING.fullmatch(one) or one.isupper())]
    told = _translated("; ".join(kept)[:_LONG], turn.language)
    title = words.sections[section][0] if turn.language == "zh" else section.capitalize()
    return say(turn.language, "note", section=title, text=told if turn.language == "zh" else within(told))


def _plan_line(turn: Turn, request: Request) -> Steps[str]:
    services = yield from plan_services(turn)
    if not services:
        return say(turn.language, "no_plan")
    return say(turn.language, "plan", services=listed((name_of(one, turn.language) for one in services), turn.language))


def plan_services(turn: Turn) -> Steps[list[str]]:
    """Return the services that the stay's follow-up plan names."""
    text = yield from turn.call("CarePlan.search", category="followup", **turn.stay())
    words = " ".join(f"{row.get('title') or ''}. {row.get('text') or ''}" for row in table(text))
    found = [one.concept for one in knowledge.lexicon().scan(words, kinds={"service"})]
    return [one for one in dict.fromkeys(found) if one != "followup"]


def study_line(turn: Turn, study: str) -> Steps[str]:
    """Return what the newest report of a study concludes."""
    row = yield from _report(turn, study)
    name = name_of(study, turn.language)
    if row is None:
        return say(turn.language, "no_study", name=name)
    report = str(row.get("text") or "")
    _, found, conclusion = report.rpartition("IMPRESSION:")
    told = " ".join((conclusion if found else report).split()).rstrip(".")[:_LONG]
    return say(turn.language, "study", name=name, text=within(_translated(told, turn.language)))


def _report(turn: Turn, study: str) -> Steps[dict[str, Any] | None]:
    lexicon = knowledge.lexicon()
    for stay in (turn.stay(), {}):
        text = yield from turn.call("DiagnosticReport.search", **stay)
        for row in table(text):
            found = lexicon.scan(str(row.get("type") or ""), kinds={"procedure"})
            if any(lexicon.is_a(one, study) for mention in found for one in mention.concepts):
                return row
    return None


_LINES = {
    "pain": pain_line,
    "function": _home_line,
    "social": _social_line,
    "problem": _problem_line,
    "stay": _stay_line,
    "note": _note_line,
    "plan": _plan_line,
}
