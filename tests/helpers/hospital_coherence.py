"""What must hold of every life that the hospital makes, as a library: `incoherences(life)` names all that does not."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal, InvalidOperation

from wardround.patients.hospital.life import Life, Prescription, Result
from wardround.patients.hospital.making import HOUR
from wardround.patients.hospital.prescribing import Situation, problems
from wardround.patients.hospital.prescribing_rules import interactions_of
from wardround.patients.knowledge import lexicon
from wardround.patients.knowledge.bedside import condition_profiles, drug_profiles, finding_profiles, relations
from wardround.patients.times import DAY, NEVER, Instant, parse_instant

_LATER = 400 * DAY


def incoherences(life: Life) -> list[str]:
    """Return everything that does not hang together in a life; empty for a coherent one."""
    return [
        *_ids(life), *_references(life), *_times(life), *_sex_and_age(life), *_labs(life), *_orders(life),
        *_monitored(life), *_cultures(life), *_antibiograms(life), *_specimens(life), *_illnesses(life),
        *_signs(life), *_denied(life), *_stays(life), *_taken(life),
    ]  # fmt: skip


def _facts(life: Life) -> Iterator[tuple[str, object]]:
    for name in (
        "illnesses", "stays", "signs", "results", "cultures", "prescriptions", "doses", "adherence", "allergies",
        "treated", "studies", "vaccines", "relatives", "functions", "events", "plans",
    ):  # fmt: skip
        for fact in getattr(life, name):
            yield name, fact


def _ids(life: Life) -> Iterator[str]:
    seen = Counter(fact.id for _, fact in _facts(life))
    yield from (f"{one}: told {times} times" for one, times in seen.items() if times > 1)


_ONE = ("encounter", "principal", "part_of", "illness", "prescription", "continues", "cause")
_MANY = ("diagnoses", "causes", "shown", "facts")


def _references(life: Life) -> Iterator[str]:
    known = {fact.id for _, fact in _facts(life)}
    for kind, fact in _facts(life):
        named = [getattr(fact, name, None) for name in _ONE]
        named.append(getattr(fact, "study", None) if kind == "signs" else None)
        named.append(getattr(fact, "indication", None) if kind == "prescriptions" else None)
        for name in _MANY:
            named.extend(getattr(fact, name, ()))
        named.extend(owner for owner, _ in getattr(fact, "owners", ()))
        named.extend(one for item in getattr(fact, "items", ()) for one in item.facts)
        yield from (f"{fact.id}: `{one}` is no fact" for one in named if one is not None and one not in known)


def _times(life: Life) -> Iterator[str]:
    yield from _lifetime(life)
    for result in life.results:
        if result.known_at < result.at:
            yield f"{result.id}: known before it was drawn"
    for study in life.studies:
        if study.known_at < study.at:
            yield f"{study.id}: read before it was done"
    for illness in life.illnesses:
        if illness.known_at < illness.onset:
            yield f"{illness.id}: diagnosed before it began"
    stays = {stay.id: stay for stay in life.stays}
    for name in ("results", "doses", "studies", "events"):
        for fact in getattr(life, name):
            stay = stays.get(fact.encounter)
            if stay is not None and not stay.start - HOUR <= fact.at <= stay.end:
                yield f"{fact.id}: outside its encounter {stay.id}"
    for order in life.prescriptions:
        if order.stop is not None and order.stop < order.start:
            yield f"{order.id}: stops before it starts"


def _lifetime(life: Life) -> Iterator[str]:
    """Nothing before birth, nothing after death; what was drawn before it may come back two hours later."""
    born = parse_instant(life.person.birth_date)
    end = life.person.died if life.person.died is not None else NEVER
    for name, fact in _facts(life):
        for field in ("at", "start", "known_at", "stop", "end", "onset"):
            value = getattr(fact, field, None)
            if value is None:
                continue
            if value < born:
                yield f"{fact.id}: {field} before birth"
            if value > end + (2 * HOUR if field == "known_at" else 0) and name != "cultures":
                yield f"{fact.id}: {field} after death"


def _sex_and_age(life: Life) -> Iterator[str]:
    for illness in life.illnesses:
        profile = condition_profiles()[illness.condition]
        if profile.sex not in (None, life.person.sex):
            yield f"{illness.id}: {illness.condition} in a {life.person.sex}"
        age = _age(life, illness.known_at)
        if not profile.youngest - 1 <= age <= profile.oldest + 1:
            yield f"{illness.id}: {illness.condition} at {age}"
    for sign in life.signs:
        profile = finding_profiles()[sign.finding]
        if profile.sex not in (None, life.person.sex):
            yield f"{sign.id}: {sign.finding} in a {life.person.sex}"


def _age(life: Life, at: Instant) -> int:
    return max(0, (at - parse_instant(life.person.birth_date)) * 100 // (DAY * 36525))


def _number(text: str | None) -> Decimal | None:
    try:
        return Decimal(text) if text is not None else None
    except InvalidOperation:
        return None


def _draws(life: Life) -> Iterator[dict[str, Result]]:
    by_time: dict[Instant, dict[str, Result]] = {}
    for result in life.results:
        by_time.setdefault(result.at, {})[result.lab] = result
    yield from by_time.values()


def _labs(life: Life) -> Iterator[str]:
    for draw in _draws(life):
        value = {lab: number for lab, result in draw.items() if (number := _number(result.text)) is not None}
        where = next(iter(draw.values()))
        if {"creatinine", "egfr"} <= set(value):
            expected = _egfr(value["creatinine"], _age(life, where.at), life.person.sex)
            if abs(expected - value["egfr"]) > 3:
                yield f"{where.id}: eGFR {value['egfr']} with creatinine {value['creatinine']} (expected {expected})"
        if {"hemoglobin", "hematocrit"} <= set(value):
            ratio = value["hematocrit"] / value["hemoglobin"]
            if not Decimal("2.6") <= ratio <= Decimal("3.5"):
                yield f"{where.id}: hematocrit {value['hematocrit']} with hemoglobin {value['hemoglobin']}"
        if {"sodium", "chloride", "bicarbonate", "anion_gap"} <= set(value):
            gap = value["sodium"] - value["chloride"] - value["bicarbonate"]
            if (
                abs(gap - value["anion_gap"]) > 1
                and abs(gap + value.get("potassium", Decimal(0)) - value["anion_gap"]) > 1
            ):
                yield f"{where.id}: anion gap {value['anion_gap']}, computed {gap}"
        if value.get("glucose", Decimal(0)) > 600 and value.get("sodium", Decimal(0)) > 158:
            yield f"{where.id}: sodium {value['sodium']} with glucose {value['glucose']}"
        ph, pco2, hco3 = (next((value[n] for n in names if n in value), None) for names in _GASES)
        if ph is not None and pco2 and hco3:
            expected = Decimal("6.1") + (hco3 / (Decimal("0.0307") * pco2)).log10()
            if abs(expected - ph) > Decimal("0.06"):
                yield f"{where.id}: pH {ph} with pCO2 {pco2} and bicarbonate {hco3} (expected {expected:.2f})"


_GASES = (("ph", "arterial_ph", "ph_arterial"), ("pco2", "paco2"), ("blood_gas_bicarbonate", "hco3", "bicarbonate_gas"))


def _egfr(creatinine: Decimal, age: int, sex: str) -> int:
    kappa, alpha = (Decimal("0.7"), Decimal("-0.241")) if sex == "female" else (Decimal("0.9"), Decimal("-0.302"))
    ratio = creatinine / kappa
    value = 142 * min(ratio, Decimal(1)) ** alpha * max(ratio, Decimal(1)) ** Decimal("-1.2") * Decimal("0.9938") ** age
    if sex == "female":
        value *= Decimal("1.012")
    return int(value.to_integral_value())


def _running(life: Life, at: Instant) -> list[Prescription]:
    return [one for one in life.prescriptions if one.start <= at and (one.stop is None or one.stop > at)]


def situation_at(life: Life, order: Prescription, at: Instant) -> Situation:
    """Return the patient at the start of an order, from the facts alone."""
    labs: dict[str, Decimal] = {}
    last: dict[str, Instant] = {}
    for result in life.results:
        if at - _LATER <= result.known_at <= at:
            pair = (
                zip(("systolic_bp", "diastolic_bp"), result.text.split("/"), strict=True)
                if "/" in result.text
                else [(result.lab, result.text.lstrip("<>"))]
            )
            for lab, text in pair:
                number = _number(text)
                if number is not None and result.known_at >= last.get(lab, 0):
                    labs[lab], last[lab] = number, result.known_at
    ill = frozenset(
        one.condition for one in life.illnesses if one.known_at <= at and (one.resolved is None or one.resolved > at)
    )
    age = _age(life, at)
    crcl = None
    if labs.get("creatinine") and age >= 18:
        crcl = ((140 - age) * life.person.weight_kg / (72 * labs["creatinine"])).quantize(Decimal(1))
        if life.person.sex == "female":
            crcl = ((140 - age) * life.person.weight_kg * 85 / (72 * labs["creatinine"] * 100)).quantize(Decimal(1))
    phase = {"home": "home", "inpatient": "inpatient", "discharge": "discharge"}[order.kind]
    return Situation(
        age=age, sex=life.person.sex, weight_kg=life.person.weight_kg, crcl=crcl, conditions=ill,
        allergies=frozenset(one.substance for one in life.allergies if one.known_at <= at),
        drugs=tuple({one.drug for one in _running(life, at) if one.id != order.id and one.drug != order.drug}),
        labs=labs, phase=phase,  # type: ignore[arg-type]
    )  # fmt: skip


def _orders(life: Life) -> Iterator[str]:
    for order in life.prescriptions:
        for problem in problems(
            order.drug, order.dose, order.route, order.frequency, situation_at(life, order, order.start)
        ):
            words = f"{order.drug} {order.dose} {order.route} {order.frequency} ({order.kind})"
            yield f"{order.id}: {words}: {problem.kind}: {problem.why.en}"
    changes = sorted({order.start for order in life.prescriptions})
    for at in changes:
        many = Counter(one.drug for one in _running(life, at))
        yield from (f"{drug}: {number} active orders at {at}" for drug, number in many.items() if number > 1)
    for first in life.prescriptions:
        for second in life.prescriptions:
            if first.id < second.id and first.start < (second.stop or NEVER) and second.start < (first.stop or NEVER):
                yield from _together(first, second)


def _together(first: Prescription, second: Prescription) -> Iterator[str]:
    if first.drug != second.drug:
        for problem in interactions_of(drug_profiles()[first.drug], [second.drug], "major"):
            yield f"{first.id} {first.drug} with {second.id} {second.drug}: {problem.why.en}"


def _monitored(life: Life) -> Iterator[str]:
    """Every drug that is monitored and runs through a day or more of a hospital stay has its labs there."""
    whole = [stay for stay in life.stays if stay.kind == "ward"]
    for stay in whole:
        parts = {stay.id, *(one.id for one in life.stays if one.part_of == stay.id)}
        there = {result.lab for result in life.results if result.encounter in parts}
        for order in life.prescriptions:
            begin, end = max(order.start, stay.start), min(order.stop or NEVER, stay.end)
            if end - begin < 26 * HOUR:
                continue
            for lab in drug_profiles()[order.drug].monitors_by(order.route):
                if lab not in there and not (lab == "egfr" and _age(life, stay.start) < 18):
                    yield f"{order.id}: {order.drug} without {lab} in {stay.id}"


def _cultures(life: Life) -> Iterator[str]:
    lines = {(c.id, line.id): line for c in condition_profiles().values() for line in c.treatments}
    condition = {one.id: one.condition for one in life.illnesses}
    for order in life.prescriptions:
        line = lines.get((condition.get(order.indication or "", ""), order.line or ""))
        if line is None or not line.targeted:
            continue
        before = [one for one in life.cultures if one.illness == order.indication and one.stages[-1].at <= order.start]
        if not before:
            yield f"{order.id}: {order.drug} is targeted and no culture is back"
        elif not any((order.drug, "S") in one.susceptibilities for one in before):
            yield f"{order.id}: {order.drug} is targeted and not read as susceptible"
    for one in life.cultures:
        times = [stage.at for stage in one.stages]
        if times != sorted(times) or times[0] <= one.at:
            yield f"{one.id}: stages out of order"


_NO_MORE_THAN = (
    ("ampicillin", "ampicillin_sulbactam"), ("ampicillin", "piperacillin_tazobactam"), ("penicillin", "ampicillin"),
    ("ampicillin_sulbactam", "piperacillin_tazobactam"), ("ampicillin", "amoxicillin_clavulanate"),
    ("cefazolin", "ceftriaxone"), ("ceftriaxone", "cefepime"), ("cefepime", "meropenem"), ("ceftriaxone", "ertapenem"),
    ("ertapenem", "meropenem"), ("piperacillin_tazobactam", "meropenem"), ("ciprofloxacin", "levofloxacin"),
    ("levofloxacin", "ciprofloxacin"), ("oxacillin", "cefazolin"), ("fluconazole", "voriconazole"),
    ("micafungin", "caspofungin"), ("caspofungin", "micafungin"),
)  # fmt: skip
"""What kills no more than what: an organism that the first one kills does not resist the second."""


def _antibiograms(life: Life) -> Iterator[str]:
    for one in life.cultures:
        reads = dict(one.susceptibilities)
        for less, more in _NO_MORE_THAN:
            if reads.get(less) == "S" and reads.get(more) == "R":
                yield f"{one.id}: {one.organism} is susceptible to {less} and resists {more}"


_YIELDS = {
    "lumbar_puncture": ("csf", "csf_wbc", "csf_protein", "csf_glucose", "csf_opening_pressure"),
    "paracentesis": ("ascites", "ascitic_neutrophils", "saag"),
    "arthrocentesis": ("joint",),
}


def _specimens(life: Life) -> Iterator[str]:
    """What only a procedure yields is taken during or soon after one, in the same encounter."""
    of = {what: procedure for procedure, many in _YIELDS.items() for what in many}
    taken = [(one.id, one.lab, one.at, one.encounter) for one in life.results]
    taken += [(one.id, one.specimen, one.at, one.encounter) for one in life.cultures]
    for identity, what, at, encounter in taken:
        if what in of and not any(
            one.procedure == of[what] and one.encounter == encounter and one.at <= at <= one.at + 2 * HOUR
            for one in life.treated
        ):
            yield f"{identity}: {what} without {of[what]}"


def _illnesses(life: Life) -> Iterator[str]:
    excludes = {(one.one, one.other) for one in relations() if one.kind == "excludes"}
    for first in life.illnesses:
        for second in life.illnesses:
            if first.id == second.id or (first.condition, second.condition) not in excludes:
                continue
            if first.onset < (second.resolved or NEVER) and second.onset < (first.resolved or NEVER):
                yield f"{first.id} {first.condition} and {second.id} {second.condition} exclude each other"
    for one in life.illnesses:
        for other in life.illnesses:
            if (
                one.id < other.id
                and one.condition == other.condition
                and one.onset < (other.resolved or NEVER)
                and other.onset < (one.resolved or NEVER)
            ):
                yield f"{one.id} and {other.id}: {one.condition} twice at a time"


def _signs(life: Life) -> Iterator[str]:
    for stay in life.stays:
        present = [one for one in life.signs if one.encounter == stay.id and one.present]
        absent = [one for one in life.signs if one.encounter == stay.id and not one.present]
        for one in absent:
            for other in present:
                if one.finding == other.finding or lexicon().is_a(other.finding, one.finding):
                    yield f"{stay.id}: {other.finding} is there ({other.id}) and {one.finding} is not ({one.id})"
        many = Counter((one.finding, one.study) for one in present)
        yield from (f"{stay.id}: {name} told {n} times" for (name, _), n in many.items() if n > 1)


_NEVER_DENIED_SEVERE = ("fatigue", "poor_appetite", "malaise", "weakness")


def _denied(life: Life) -> Iterator[str]:
    """Fever is told and denied as the first thermometer has it; nobody severely ill has energy and appetite."""
    illnesses = {one.id: one for one in life.illnesses}
    for stay in life.stays:
        if stay.kind == "icu":
            continue
        first = next((one for one in life.results if one.encounter == stay.id and one.lab == "temperature"), None)
        value = _number(first.text) if first is not None else None
        principal = illnesses[stay.principal]
        for sign in life.signs:
            if sign.encounter != stay.id or sign.present or sign.known_at > stay.start + 6 * HOUR:
                continue
            if sign.finding == "fever" and value is not None and value >= Decimal("38.3"):
                yield f"{sign.id}: fever is denied at {value}"
            grave = principal.acuity != "chronic" and principal.severity == "severe" and stay.kind != "clinic"
            if sign.finding in _NEVER_DENIED_SEVERE and grave and principal.onset > stay.start - 30 * DAY:
                yield f"{sign.id}: {sign.finding} is denied in severe {principal.condition}"


def _stays(life: Life) -> Iterator[str]:
    whole = sorted((one for one in life.stays if one.part_of is None), key=lambda one: one.start)
    for first, second in itertools.pairwise(whole):
        if second.start < first.end:
            yield f"{second.id} begins before {first.id} ends"
    if not 2 <= len(whole) <= 8 and life.person.died is None:
        yield f"{len(whole)} encounters"
    for stay in life.stays:
        if stay.end <= stay.start:
            yield f"{stay.id}: ends before it begins"
        if stay.diagnoses[0] != stay.principal:
            yield f"{stay.id}: the principal diagnosis is not first"
        for one in stay.diagnoses:
            illness = next(other for other in life.illnesses if other.id == one)
            if illness.known_at > stay.end and stay.part_of is None:
                yield f"{stay.id}: coded with {one}, diagnosed later"


def _taken(life: Life) -> Iterator[str]:
    orders = {one.id: one for one in life.prescriptions}
    stays = {one.id: one for one in life.stays}
    for one in life.adherence:
        order, stay = orders[one.prescription], stays[one.encounter]
        if order.drug != one.drug:
            yield f"{one.id}: {one.drug} is not the drug of {order.id}"
        if order.start > stay.start or order.kind == "inpatient":
            yield f"{one.id}: {order.id} was no home drug at {stay.id}"
    for dose in life.doses:
        order = orders[dose.prescription]
        if dose.at < order.start or (order.stop is not None and dose.at >= order.stop):
            yield f"{dose.id}: outside its order {order.id}"


def kinds(found: Iterable[str]) -> Counter[str]:
    """Return how often each kind of incoherence was found, for a script."""
    return Counter(
        " ".join(word for word in one.split(" ") if not any(char.isdigit() for char in word))[:110] for one in found
    )
