"""Recommendations: the finding that decides, then one thing to do, by the knowledge base's rules."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from wardround.patients import knowledge
from wardround.patients.knowledge import DecisionBand, DecisionTable, MonitoringRule, SideEffectRule

from .looking import account_words, ask_about, ask_symptom, function_parts, plan_services
from .memory import monitored_by
from .query import Request, subjects_of
from .replies import Account
from .rows import Value, drugs_of
from .scoring import total_sentence
from .speaking import amount, capital, labelled, listed, name_of, say
from .turn import Steps, Turn

_RANK = {"stop": 3, "hold": 3, "switch": 3, "reduce": 2, "increase": 2, "recheck": 1, "continue": 0}
_ACTS = {"stop": "stop_drug"}
_UNTAKEN = frozenset({"stopped", "never_started", "missed_doses", "reduced"})


@dataclass(frozen=True)
class _Finding:
    """A value of a drug's test and the rule that it meets."""

    value: Value
    rule: MonitoringRule


def decide(turn: Turn, request: Request) -> Steps[list[str]]:
    """Answer a question for advice."""
    language = turn.language
    table = _table_of(request)
    if table is not None:
        return (yield from _decide_step(turn, table))
    if {"plan", "function"} & set(request.asks or request.topic_asks) and not request.drugs:
        return (yield from _decide_home(turn))
    if not request.drugs:
        return [say(language, "nothing")]
    findings = [one for one in request.findings if knowledge.side_effects_of(request.drugs[0])]
    # a symptom only told of before, beside a test that the drug is dosed by: the test decides
    told = all(one.kind != "finding" for one in request.names) and "finding" not in request.given
    if findings and not (told and set(request.labs) & set(monitored_by(request.drugs[0]))):
        return (yield from _decide_symptom(turn, request, request.drugs[0], findings[0]))
    return (yield from _decide_drug(turn, request, request.drugs[-1]))


# -- a drug and its tests ----------------------------------------------------------------------------------------------


def _decide_drug(turn: Turn, request: Request, drug: str) -> Steps[list[str]]:
    watched = monitored_by(drug)
    named = [lab for lab in request.labs if lab in watched] or list(request.labs)
    found = []
    for lab in named:
        value = yield from turn.latest(lab)
        if value is not None:
            found.append(_Finding(value, rule) if (rule := rule_of(drug, value)) else value)
    account = None
    if "adherence" in {*request.asks, *request.topic_asks} or request.asks_patient:
        account = yield from ask_about(turn, drug)
    ruled = [one for one in found if isinstance(one, _Finding)]
    if not ruled:
        return [say(turn.language, "no_rule", drug=name_of(drug, turn.language))]
    main = max(ruled, key=lambda one: (_RANK.get(one.rule.act, 0), one is ruled[-1]))
    other = yield from _other(turn, drug, main)
    return [(yield from _finding_sentence(turn, drug, main, other, account)), _advice(turn, drug, main, account)]


def rule_of(drug: str, value: Value) -> MonitoringRule | None:
    """Return the rule of the knowledge base that a drug's test meets."""
    lexicon = knowledge.lexicon()
    for one in knowledge.monitoring().values():
        if one.lab != value.lab or not any(lexicon.is_a(drug, about) for about in one.drugs):
            continue
        for rule in one.rules:
            number = _converted(value, rule.unit)
            if number is not None and _inside(number, rule.at_least, rule.below):
                return rule
    return None


def _converted(value: Value, unit: str) -> Decimal | None:
    if value.number is None:
        return None
    if not value.unit or not unit:
        return value.number
    return knowledge.convert(value.number, value.unit, unit, value.lab)


def _inside(number: Decimal, low: Decimal | None, high: Decimal | None) -> bool:
    return (low is None or number >= low) and (high is None or number < high)


def _other(turn: Turn, drug: str, main: _Finding) -> Steps[Value | None]:
    """Return another of the drug's tests that reads the other way, to be named beside the one that decides."""
    for lab in monitored_by(drug)[:3]:
        if lab == main.value.lab:
            continue
        value = yield from turn.latest(lab)
        if value is not None and value.level is not None and value.level != main.value.level:
            rule = rule_of(drug, value)
            if rule is None or _RANK.get(rule.act, 0) <= _RANK.get(main.rule.act, 0):
                return value
    return None


def _finding_sentence(
    turn: Turn, drug: str, main: _Finding, other: Value | None, account: Account | None
) -> Steps[str]:
    language = turn.language
    text = finding_words(language, main.value, main.rule.at_least, main.rule.below, main.rule.unit)
    if other is not None and other.level is not None:
        name = labelled(name_of(other.lab, language), language)
        text += say(language, "although", name=name, value=amount(other), level=say(language, other.level))
    if account is not None and account.state != "unknown":
        if account.state in _UNTAKEN:
            text += say(language, "still_ordered", drug=name_of(drug, language))
        they = yield from turn.they()
        said = say(language, "also_says", they=they, account=account_words(turn, drug, account, they))
        text += say(language, "with", reply=said)
    return capital(text) + say(language, "stop")


def finding_words(language: str, value: Value, low: Decimal | None, high: Decimal | None, unit: str) -> str:
    """Return a value, its reading, and the limits that it is judged by, as the start of a sentence."""
    name = labelled(name_of(value.lab, language), language)
    if value.level is not None:
        text = say(language, "is_level", name=name, value=amount(value), level=say(language, value.level))
    else:
        text = say(language, "is_value", name=name, value=amount(value))
    sides = []
    if low is not None and value.level != "low":
        sides.append(("above", low))
    if high is not None and value.level != "high":
        sides.append(("below", high))
    for side, bound in sides[:1] if value.level is not None else sides:
        shown = _bound(value, bound, unit)
        if shown is not None:
            text += say(language, side, bound=shown)
    return text


def _bound(value: Value, bound: Decimal, unit: str) -> str | None:
    """Return a limit in the unit that the chart shows."""
    own = bound if not value.unit or not unit else knowledge.convert(bound, unit, value.unit, value.lab)
    if own is None:
        return None
    text = format(own.normalize(), "f")
    return f"{text}{value.unit}" if value.unit[:1] in {"/", "%"} else f"{text} {value.unit}".strip()


def _advice(turn: Turn, drug: str, main: _Finding, account: Account | None) -> str:
    """Return the act of the rule as a sentence, turned by what the patient says of taking the drug."""
    language, act = turn.language, main.rule.act
    state = account.state if account is not None else "taking"
    lab, name = name_of(main.value.lab, language), name_of(drug, language)
    if state in _UNTAKEN and act == "increase":
        return say(language, "since_missed", advice=say(language, "resume", drug=name, lab=lab))
    if state in {"stopped", "never_started", "missed_doses"} and act == "continue":
        if account is not None and account.finding is not None:
            return say(language, "since_intolerance", advice=say(language, "switch", drug=name, lab=lab))
        if state != "missed_doses":
            return say(language, "since_fine", lab=lab, advice=say(language, "resume", drug=name, lab=lab))
    advice = say(language, _ACTS.get(act, act), drug=name, lab=lab)
    level = main.value.level
    if act == "continue" or level in {None, "normal"}:
        return say(language, "since_fine", lab=lab, advice=advice)
    assert level is not None
    return say(language, "since_level", lab=lab, level=say(language, level), advice=advice)


# -- a step that one value calls for -----------------------------------------------------------------------------------


def _table_of(request: Request) -> DecisionTable | None:
    """Return the table a question is about: of the value it names, else the only one its step is in."""
    tables = [knowledge.decisions()[one] for one in request.steps]
    about = {*request.labs, *request.scores}
    if not about:
        return tables[0] if len(tables) == 1 else None
    return next((one for one in tables if about & subjects_of(one.subject)), None)


def _decide_step(turn: Turn, table: DecisionTable) -> Steps[list[str]]:
    language = turn.language
    if table.kind == "score":
        sentence, total = yield from total_sentence(turn, table.subject)
        if total is None:
            return [sentence]
        band = yield from _band(turn, table, total, closed=True)
        return [sentence, (yield from _step_sentence(turn, table, band))]
    value = yield from turn.latest(table.subject)
    number = _converted(value, table.unit) if value is not None else None
    if value is None or number is None:
        return [say(language, "no_step", name=name_of(table.subject, language))]
    band = yield from _band(turn, table, number, closed=False)
    low, high = (band.at_least, band.below) if band is not None else (None, None)
    text = capital(finding_words(language, value, low, high, table.unit)) + say(language, "stop")
    return [text, (yield from _step_sentence(turn, table, band))]


def _band(turn: Turn, table: DecisionTable, number: Decimal, *, closed: bool) -> Steps[DecisionBand | None]:
    """Return the band a value lies in; None between the bands, where nothing is plainly indicated."""
    sex = None
    if any(band.sex is not None for band in table.bands):
        sex = (yield from turn.person()).get("sex")
    for band in table.bands:
        if band.sex in {None, sex} and band.holds(number, closed=closed):
            return band
    return None


def _step_sentence(turn: Turn, table: DecisionTable, band: DecisionBand | None) -> Steps[str]:
    step = table.step
    words = step.do if band is not None and band.indicated else step.leave
    if band is not None and band.indicated and step.carry_on is not None:
        rows = yield from turn.all_orders()
        lexicon = knowledge.lexicon()
        target = lexicon.resolve(step.target, kinds={"drug", "drug_class"})
        wanted = {target.id} if target is not None else set()
        if any(lexicon.is_a(drug, one) for drug in drugs_of(rows) for one in wanted):
            words = step.carry_on
    text = words.zh if turn.language == "zh" and words.zh else words.en
    return capital(text) + say(turn.language, "stop")


# -- a symptom that a drug may cause -----------------------------------------------------------------------------------


def _decide_symptom(turn: Turn, request: Request, drug: str, finding: str) -> Steps[list[str]]:
    language = turn.language
    lexicon = knowledge.lexicon()
    rules = [
        one for one in knowledge.side_effects_of(drug) if any(lexicon.is_a(finding, about) for about in one.findings)
    ]
    value = None
    labs = list(dict.fromkeys(one.lab for one in rules if one.lab is not None))
    if labs:
        value = yield from turn.latest(labs[0])
    yield from turn.orders(drug)
    state = yield from ask_symptom(turn, finding)
    reply = say(language, f"also_{state}", name=name_of(finding, language))
    rule = next((one for one in rules if _rule_holds(one, value)), None)
    name = name_of(drug, language)
    if value is not None:
        low, high = (rule.at_least, rule.below) if rule is not None else (None, None)
        unit = rule.unit or "" if rule is not None else ""
        start = finding_words(language, value, low, high, unit) + say(language, "with", reply=reply)
    else:
        start = say(language, "on_drug", drug=name, reply=reply)
    if state != "present" or rule is None:
        return [say(language, "not_cause", reply=capital(start), drug=name)]
    why = (rule.why.zh if language == "zh" and rule.why.zh else rule.why.en).format(drug=name)
    do = (rule.say.zh if language == "zh" and rule.say.zh else rule.say.en).format(drug=name)
    stop = say(language, "stop")
    return [capital(start) + say(language, "why", why=why) + stop, capital(do) + stop]


def _rule_holds(rule: SideEffectRule, value: Value | None) -> bool:
    if rule.lab is None:
        return value is None
    if value is None or value.lab != rule.lab:
        return False
    number = _converted(value, rule.unit or "")
    return number is not None and _inside(number, rule.at_least, rule.below)


# -- what is needed at home --------------------------------------------------------------------------------------------


def _decide_home(turn: Turn) -> Steps[list[str]]:
    language = turn.language
    services = yield from plan_services(turn)
    parts = yield from function_parts(turn)
    they = yield from turn.they()
    key = "refer_pt" if "falls" in parts else "refer_home" if "help" in parts else "no_refer"
    telling = {"refer_home": "help", "refer_pt": "falls"}.get(key)
    told = [telling] if telling in parts else parts
    sentence = say(
        language,
        "plan_and_home",
        services=listed((name_of(one, language) for one in services), language),
        they=they,
        parts=listed((say(language, one) for one in told), language),
    )
    return [sentence, say(language, key)]
