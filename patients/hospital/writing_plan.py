"""Plan: what is being done about each problem, as of the moment of writing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache

from wardround.patients.knowledge.bedside import condition_profiles
from wardround.patients.times import Instant

from .generation import rules
from .life import Illness, Prescription, Treated
from .phrasing import Teller, capital, limit, lowered, opened, plain_line, table, unique
from .record import Sentence
from .writing_assessment import expected, moved
from .writing_breathing import breathing_plan
from .writing_pending import cultures_awaited
from .writing_story import presentation, related
from .writing_view import Known, flag, number
from .writing_words import Scribe

_MOST_LABS = 3
_MOST_PROBLEMS = 9
_MOST_ORDERS = 9
_MOST_STOPPED = 3


def plan(
    scribe: Scribe, *, since: Instant | None = None, narrow: bool = False, department: bool = False
) -> list[Sentence]:
    """Return the plan by problem, in the author's form.

    Args:
        scribe: The author.
        since: What began after it is told as new; None: everything of this stay is.
        narrow: Whether only what the stay is about is told, as a consultant does.
        department: Whether the emergency department writes: what was given there has ended when it does.
    """
    teller = scribe.teller("plan")
    known = scribe.known
    begin = known.begin if since is None else since
    said: list[Sentence] = []
    loose = known.problems[:_MOST_PROBLEMS]
    if narrow:
        loose = tuple(one for one in loose if one.id == known.root.principal or known.new(one))
    quiet: list[Illness] = []
    number = 0
    open_question = [] if narrow or known.principal is not None else _open_question(scribe, teller, department)
    if open_question:
        number = 1
        said += open_question
    for illness in loose:
        actions = problem(scribe, teller, illness, begin, department=department)
        actions = actions or _followed(scribe, teller, illness)
        if not actions and not known.new(illness) and illness.id != known.root.principal:
            quiet.append(illness)
            continue
        number += 1
        actions = actions or [_nothing_now(scribe, teller, illness)]
        text = "; ".join(one.text for one in actions)
        ids = unique([illness.id, *(fact for one in actions for fact in one.facts)])
        title, mark = _title(scribe, illness, number)
        said.append(_entry(scribe, teller, title, Sentence(text, ids), mark))
    if narrow:
        return said or [teller.say("plan.none", (known.root.id,))]
    if known.root.kind == "clinic":
        said = _over(scribe, teller) + said
    told = {fact for one in said for fact in one.facts}
    said += _after_old(scribe, teller, told)
    told = {fact for one in said for fact in one.facts}
    said += _unplaced(scribe, teller, begin, told)
    if quiet:
        names = scribe.conditions(quiet)
        said.append(teller.say("plan.rest", [one.id for one in quiet], conditions=names))
    said = said or [teller.say("plan.none", (known.root.id,))]
    said += breathing_plan(scribe, teller)
    return said + _support(scribe, teller) + cultures_awaited(scribe, teller)


def _over(scribe: Scribe, teller: Teller) -> list[Sentence]:
    """Return the illness that a visit is about where it is over: told as such, with the value that it had moved."""
    known = scribe.known
    principal = known.principal
    if principal is None or not known.over(principal) or any(one.id == principal.id for one in known.problems):
        return []
    latest = known.latest()
    found = [latest[lab] for lab in expected(principal.condition) if lab in latest and not flag(latest[lab])][:1]
    value = "".join(f" ({scribe.lab(one)} {scribe.value(one, unit=True)})" for one in found)
    lasting = principal.condition in table("leaves_history")  # a stroke is not over as a pneumonia is
    name = _history_of(scribe, principal) if lasting else scribe.condition(principal)
    text = lowered(teller.words("plan.over.followed" if lasting or _followed_up(known) else "plan.over", value=value))
    mine = [one for one in known.active("home", "discharge") if problem_of(known, one) == principal.id]
    kept = _from_home(scribe, teller, [one for one in mine if not _supportive(one)])
    text = "; ".join([text, *(one.text for one in kept)])
    ids = unique([principal.id, *(one.id for one in found), *(fact for one in kept for fact in one.facts)])
    return [_entry(scribe, teller, name, Sentence(text, ids))]


def _followed_up(known: Known) -> bool:
    """Whether an appointment or a test is still to come."""
    return any(item.kind in ("appointment", "lab") for plan in known.plans for item in plan.items)


def _open_question(scribe: Scribe, teller: Teller, department: bool) -> list[Sentence]:
    """Return the complaint as the first problem while its cause is not known, with what was given for it."""
    known = scribe.known
    complaint, _, facts = presentation(scribe, teller)
    named = {one.id for one in known.problems[:_MOST_PROBLEMS]}
    found = given_here(known) if department else [one for one in known.active("inpatient") if one.start >= known.begin]
    found = [one for one in found if one.indication not in named and not _supportive(one)][:_MOST_ORDERS]
    actions = [Sentence(lowered(teller.words("plan.workup")), facts)]
    actions.append(_orders(scribe, teller, "plan.given" if department else "plan.start", found))
    text = "; ".join(one.text for one in actions if one.text)
    ids = unique(fact for one in actions for fact in one.facts)
    return [_entry(scribe, teller, complaint, Sentence(text, ids), "1. ")]


def problem_of(known: Known, one: Prescription) -> str | None:
    """Return the problem that an order is listed under: its own, or the chronic illness behind one that is over.

    A chronic illness stands in for one that is over where it is treated with that drug itself.
    """
    illness = known.outline.illnesses.get(one.indication or "")
    if illness is None:
        return one.indication
    profiles = condition_profiles()
    profile = profiles.get(illness.condition)
    if any(each.id == illness.id for each in known.problems):
        head = table("headed_under").get(one.line or "")  # a diabetic's statin is for the lipids, where both are listed
        if illness.acuity != "chronic" or (profile is not None and profile.system == "cardiovascular"):
            head = None
        return next((each.id for each in known.problems[:_MOST_PROBLEMS] if each.condition == head), one.indication)
    again = next((each.id for each in known.problems if each.condition == illness.condition), None)
    if again is not None:  # it is there once more: what went on after the last time is for this one
        return again
    chronic = [each for each in known.problems if each.acuity == "chronic" and each.condition in profiles]
    chronic = [each for each in chronic if one.drug in _drugs_of(each.condition)]
    for each in chronic:
        if profile is not None and each.condition in profile.episode_of:
            return each.id
    for each in chronic:
        same = profile is not None and profiles[each.condition].system == profile.system
        if same and (each.condition, illness.condition) in related():
            return each.id
    return one.indication


@cache
def _drugs_of(condition: str) -> frozenset[str]:
    """Return the drugs that a condition is treated with."""
    return frozenset(drug for line in condition_profiles()[condition].treatments for drug in line.any_of)


def given_here(known: Known) -> list[Prescription]:
    """Return what was given in the stay so far, ended or not."""
    return [one for one in known.started(known.begin, known.at) if known.given(one)]


def _nothing_now(scribe: Scribe, teller: Teller, illness: Illness) -> Sentence:
    """Return what stands where nothing is given any more, or never was: a course that is over, recovery, watching."""
    known = scribe.known
    running = {one.drug for one in known.active()}
    over = [one for one in given_here(known) if one.indication == illness.id and not _supportive(one)]
    over = [one for one in over if one.drug not in running and one.ended == "completed"][:2]
    if over:
        names = scribe.join([scribe.drug(one) for one in over])
        text = teller.words("plan.finished", drugs=names, Drugs=names)
        return _clause(text, names, [one.id for one in over])
    turned = [one for one in known.happened("improved") if illness.id in one.facts]
    if turned:
        return Sentence(teller.words("plan.recovering"), (illness.id, turned[-1].id))
    return Sentence(teller.words("plan.none"), (illness.id,))


def _unplaced(scribe: Scribe, teller: Teller, begin: Instant, told: Collection[str]) -> list[Sentence]:
    """Return what is given for what has no name yet or is not on the list: begun, and continued."""
    named = {one.id for one in scribe.known.problems[:_MOST_PROBLEMS]}
    loose = [one for one in scribe.known.active() if one.indication not in named and not _supportive(one)]
    loose = [one for one in loose if one.id not in told]
    fresh = [one for one in loose if one.kind == "inpatient" and one.start >= begin]
    said = [Sentence(capital(one.text), one.facts) for one in _adjusted(scribe, teller, fresh)]
    loose = [one for one in loose if not known_at_home(scribe.known, one) or one not in fresh]
    fresh = [one for one in fresh if one in loose]
    old = [one for one in loose if one not in fresh]
    again = [one for one in old if one.id in scribe.known.unused]
    said += [Sentence(capital(one.text), one.facts) for one in _from_home(scribe, teller, again)]
    for key, found in (("plan.start", fresh), ("plan.others", [one for one in old if one not in again])):
        orders = found[:_MOST_ORDERS]
        if orders:
            words = scribe.orders(orders)
            said.append(teller.say(key, [one.id for one in orders], orders=words, Orders=capital(words)))
    return said


def known_at_home(known: Known, one: Prescription) -> Prescription | None:
    """Return the home order of which a hospital order is the same drug in another dose; None where there is none."""
    same = [old for old in known.home() if old.drug == one.drug and old.route == one.route]
    same = [old for old in same if (old.dose, old.frequency) != (one.dose, one.frequency)]
    return same[-1] if same and one.kind == "inpatient" else None


def _adjusted(scribe: Scribe, teller: Teller, orders: Sequence[Prescription]) -> list[Sentence]:
    """Return the home drugs of which the dose was changed, with the dose of home."""
    said = []
    for one in orders:
        old = known_at_home(scribe.known, one)
        if old is not None:
            words, before = scribe.order(one), scribe.order(old, name=False)
            text = teller.words("plan.adjusted", order=words, Order=capital(words), before=before)
            said.append(_clause(text, words, [one.id, old.id]))
    return said


def _after_old(scribe: Scribe, teller: Teller, told: Collection[str]) -> list[Sentence]:
    """Return what goes on for illnesses that are over, under their names: the drugs after a stroke or a clot."""
    known = scribe.known
    by_illness: dict[str, list[Prescription]] = {}
    for one in known.active("home", "discharge"):
        illness = known.outline.illnesses.get(one.indication or "")
        if illness is not None and illness.known_at <= known.at and known.over(illness) and not _supportive(one):
            by_illness.setdefault(illness.id, []).append(one)
    said = []
    for name, orders in by_illness.items():
        kept = [one for one in orders if one.id not in told][:_MOST_ORDERS]
        if not kept:
            continue
        illness = known.outline.illnesses[name]
        actions = _from_home(scribe, teller, kept)
        done = Sentence(
            "; ".join(one.text for one in actions), unique([illness.id, *(f for one in actions for f in one.facts)])
        )
        said.append(_entry(scribe, teller, _history_of(scribe, illness), done))
    return said


def _supportive(one: Prescription) -> bool:
    """Whether an order belongs to the stay rather than to one illness: prophylaxis, comfort, replacement."""
    lines = rules()
    if one.line == "stress_ulcer" and one.kind == "inpatient":
        return True
    given = {each.line.id for each in lines.replacements if each.line is not None}
    return one.line in {each.id for each in lines.supportive} | given | {
        lines.cover.line.id,
        lines.sedation.id,
        lines.put_off.line.id,
    }


def _support(scribe: Scribe, teller: Teller) -> list[Sentence]:
    orders = [one for one in scribe.known.active("inpatient") if _supportive(one)][:_MOST_ORDERS]
    if not orders:
        return []
    text = teller.words("plan.support", orders=scribe.orders(orders))
    return [plain_line(scribe.style.point + text, [one.id for one in orders])]


def _title(scribe: Scribe, illness: Illness, number: int) -> tuple[str, str]:
    """Return what a problem is called in a plan, and its mark where the author numbers them."""
    name = scribe.condition(illness)
    if scribe.style.problems != "system":
        return name, f"{number}. "
    system = table("organ_system")[condition_profiles()[illness.condition].system]
    return f"{system} ({name})", ""


def _entry(scribe: Scribe, teller: Teller, name: str, done: Sentence, mark: str = "") -> Sentence:
    """Return a problem with what is done for it, in the author's form; a mark, where it is not the author's own."""
    if scribe.style.problems == "prose":
        return teller.say("course.chronic", done.facts, condition=name, Condition=capital(name), action=done.text)
    mark = scribe.style.point if scribe.style.problems == "hash" else mark
    return plain_line(f"{mark}{capital(name)}: {done.text}", done.facts)


def _history_of(scribe: Scribe, illness: Illness) -> str:
    return table("clauses")["history_of"].format(x=scribe.condition(illness))


def _clause(text: str, first: str, facts: Sequence[str]) -> Sentence:
    """Return a clause of a plan: without a capital, unless it begins with a name that has its own."""
    return Sentence(text if text.startswith(first) else lowered(text), tuple(facts))


def problem(
    scribe: Scribe, teller: Teller, illness: Illness, begin: Instant, *, department: bool = False
) -> list[Sentence]:
    """Return what is done for one problem: begun, continued, stopped, watched."""
    known = scribe.known
    mine = [one for one in known.active() if problem_of(known, one) == illness.id]
    mine = [one for one in mine if not _supportive(one)]
    visit = known.root.kind == "clinic"
    fresh = [one for one in mine if one.start >= begin and (visit or one.kind == "inpatient")]
    kept = [one for one in mine if one.start < begin and one.kind == "inpatient"]
    home = [one for one in mine if one.start < known.begin and one.kind != "inpatient"]
    adjusted = _adjusted(scribe, teller, fresh)
    fresh = [one for one in fresh if known_at_home(known, one) is None]
    said = [_orders(scribe, teller, "plan.start", fresh), *adjusted, _orders(scribe, teller, "plan.continue", kept)]
    if department:
        here = [one for one in given_here(known) if one.indication == illness.id and not _supportive(one)]
        here = [one for one in here if known.received(one)]
        leaving = [one for one in mine if one.start >= begin and one.kind == "discharge"]
        said = [_orders(scribe, teller, "plan.given", here), _orders(scribe, teller, "plan.leaving", leaving)]
    said += _from_home(scribe, teller, home)
    said += _stopped(scribe, teller, illness, begin)
    said += _procedures(scribe, teller, illness, begin)
    watched = [one for one in moved(known, illness, _MOST_LABS + 2) if one.lab not in table("drawn_once")][:_MOST_LABS]
    if watched and known.new(illness) and teller.chance(60):
        names = scribe.join([scribe.lab(one) for one in watched])
        text = teller.words("plan.labs", labs=names, Labs=capital(names))
        said.append(Sentence(lowered(text), tuple(one.id for one in watched)))
    return [one for one in said if one.text]


def _followed(scribe: Scribe, teller: Teller, illness: Illness) -> list[Sentence]:
    """Return the value by which a chronic illness is followed, where nothing else is done and it is out of range."""
    lab = table("followed").get(illness.condition)
    result = scribe.known.latest().get(lab) if lab is not None else None
    if result is None or not flag(result):
        return []
    low = lab == "hemoglobin" and (number(result.text) or 0) < limit("hemoglobin_transfused")
    value = f"{scribe.lab(result)} {scribe.value(result, unit=True)}"
    text = teller.words("plan.value.low" if low else "plan.value", value=value)
    return [_clause(text, value, [result.id])]


def _orders(scribe: Scribe, teller: Teller, key: str, orders: Sequence[Prescription]) -> Sentence:
    chosen = list(orders)[:_MOST_ORDERS]
    if not chosen:
        return Sentence("")
    words = scribe.orders(chosen, often=key != "plan.given")
    text = teller.words(key, orders=words, Orders=capital(words))
    return _clause(text, words, [one.id for one in chosen])


def _from_home(scribe: Scribe, teller: Teller, orders: Sequence[Prescription]) -> list[Sentence]:
    """Return home medicines as continued; those that were not taken, as taken up again, with why they were not."""
    unused = scribe.known.unused
    again = [one for one in orders if one.id in unused]
    kept = _orders(scribe, teller, "plan.home", [one for one in orders if one.id not in unused])
    resumed = _orders(scribe, teller, "plan.resume", again)
    reasons = {unused[one.id].reason for one in again}
    reason = next(iter(reasons)) if len(reasons) == 1 else None  # several reasons are told in the history
    why = opened(teller.words("plan.reason", why=lowered(reason.en.rstrip(".")))) if reason is not None else ""
    told = Sentence(resumed.text + why, (*resumed.facts, *(unused[one.id].id for one in again)))
    return [one for one in (kept, told) if one.text]


def _stopped(scribe: Scribe, teller: Teller, illness: Illness, begin: Instant) -> list[Sentence]:
    """Return what was stopped or held since the last note, with why, and which home drugs are still on hold."""
    known = scribe.known
    running = {one.drug for one in known.active()}
    found = [one for one in known.stopped(known.begin, known.at) if one.indication == illness.id]
    found = [one for one in found if one.drug not in running]
    groups: dict[tuple[bool, str], list[Prescription]] = {}
    waiting: list[Prescription] = []
    for one in found:
        held = one.kind != "inpatient" and known.root.kind != "clinic"  # whether it comes back is decided on leaving
        if one.stop is not None and one.stop >= begin:
            why = one.stop_reason.en if one.stop_reason is not None else ""
            groups.setdefault((held, why if held else one.id), []).append(one)
        elif held:
            waiting.append(one)
    said = []
    for (held, _), orders in groups.items():
        names = list(dict.fromkeys(scribe.drug(one) for one in orders))
        key = ("plan.hold" if len(names) == 1 else "plan.holds") if held else "plan.stop"
        words = scribe.join(names)
        text = teller.words(key, drug=words, Drug=words, reason=stop_reason(teller, orders[0]))
        said.append(_clause(text, words, [one.id for one in orders]))
    if waiting:
        words = scribe.join(list(dict.fromkeys(scribe.drug(one) for one in waiting)))
        said.append(_clause(teller.words("plan.waits", drug=words, Drug=words), words, [one.id for one in waiting]))
    return said[:_MOST_STOPPED]


def stop_reason(teller: Teller, one: Prescription) -> str:
    """Return why an order ended, ready to follow its name; "" where nothing is given."""
    if one.stop_reason is None:
        return ""
    return opened(teller.words("plan.reason", why=lowered(one.stop_reason.en.rstrip(".")).removeprefix("held ")))


def _procedures(scribe: Scribe, teller: Teller, illness: Illness, begin: Instant) -> list[Sentence]:
    known = scribe.known
    said = []
    for one in known.life.treated:
        if one.illness == illness.id and begin <= one.at and (one.end or one.at) <= known.at:
            what, went, care = done_words(teller, one, over=True)
            key = "course.care_done" if care else "plan.procedure"
            text = teller.words(key, procedure=what, Procedure=capital(what), date=scribe.date(one.at), outcome=went)
            text = lowered(text) if care else text
            said.append(Sentence(text, (one.id,)))
    return said[:2]


def done_words(teller: Teller, one: Treated, *, over: bool) -> tuple[str, str, bool]:
    """Return a procedure, how it went, ready to follow it, and whether its words are a clause ("oxygen was given").

    An outcome that names the procedure again stands in its place.
    """
    title = lowered(one.title)
    words = lowered(one.outcome.en.rstrip(".")) if one.outcome is not None and over else ""
    said = words.lower()
    if title.lower() in said or one.procedure.replace("_", " ") in said:
        return words, "", False
    care = table("care_words").get(one.procedure)
    if care is not None and words.partition(" ")[0] == care.rpartition(" ")[2]:
        return f"{care} {words.partition(' ')[2]}", "", True
    went = opened(teller.words("course.outcome", words=words)) if words else ""
    return care or title, went, care is not None
