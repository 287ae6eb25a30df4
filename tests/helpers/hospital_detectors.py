"""Rules that find planted flaws in a chart by what it says, never by the labels.

Each detector takes a `View` (the chart as it is in the end) and yields the resource keys it objects to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import cache, cached_property
from typing import Any

from wardround.patients import Interview, knowledge
from wardround.patients.chart import Chart
from wardround.patients.elements import attachment_text, dose_of, medication_of, text_of
from wardround.patients.hospital.making import HOUR
from wardround.patients.knowledge.bedside import drug_profiles, lab_profiles, panels
from wardround.patients.resource import NOTE_SECTION, known_at
from wardround.patients.times import DAY, NEVER, SECOND, parse_instant


class View:
    """A chart in its last form, with what the detectors ask for."""

    def __init__(self, chart: Chart, interviews: dict[str, Interview] | None = None) -> None:
        self.snapshot = chart.at(NEVER - 1)
        self.interviews = interviews or {}

    def all(self, kind: str) -> list[dict[str, Any]]:
        return list(self.snapshot.resources(kind)) if kind in self.snapshot.chart.index.spans else []

    @cached_property
    def patient(self) -> dict[str, Any]:
        return self.all("Patient")[0]

    @cached_property
    def observations(self) -> list[dict[str, Any]]:
        return self.all("Observation")

    @cached_property
    def orders(self) -> list[dict[str, Any]]:
        return self.all("MedicationRequest")

    @cached_property
    def encounters(self) -> dict[str, dict[str, Any]]:
        return {one["id"]: one for one in self.all("Encounter")}

    @cached_property
    def sections(self) -> list[dict[str, Any]]:
        """Every section: key, note, kind, slug, text, encounter, at, stored; in the order of the notes."""
        found = []
        for one in self.all("DocumentReference"):
            mark = next(mark for mark in one["extension"] if mark["url"] == NOTE_SECTION)
            parts = {part["url"]: next(v for k, v in part.items() if k != "url") for part in mark["extension"]}
            text = attachment_text(one["content"][0]["attachment"]) or ""
            found.append({
                "key": f"DocumentReference/{one['id']}", "note": parts["note"], "kind": parts["noteType"],
                "slug": parts["section"], "order": (parts["noteNumber"], parts["order"]),
                "text": text[len(parts["header"]) + 2 :] if "header" in parts else text,
                "encounter": one["context"]["encounter"][0]["reference"].partition("/")[2],
                "at": parse_instant(one["context"]["period"]["start"]), "stored": parse_instant(one["date"]),
            })  # fmt: skip
        return sorted(found, key=lambda one: one["order"])


def _lab(one: dict[str, Any]) -> str | None:
    codes = tuple(coding.get("code") for coding in one["code"].get("coding", ()))
    return _lab_of(text_of(one["code"]) or "", codes)


@cache
def _lab_of(name: str, codes: tuple[str | None, ...]) -> str | None:
    for code in codes:
        for lab in knowledge.labs().values():
            if code in lab.loinc[:1]:
                return lab.id
    for lab, profile in lab_profiles().items():
        if name in profile.charted:
            return lab
    concept = knowledge.lexicon().resolve(name, kinds=("lab", "vital"))
    return None if concept is None else concept.id


def _value(one: dict[str, Any]) -> Decimal | None:
    quantity = one.get("valueQuantity", {})
    return Decimal(str(quantity["value"])) if "value" in quantity and "comparator" not in quantity else None


def _at(one: dict[str, Any]) -> int:
    return parse_instant(one["effectiveDateTime"])


def _key(one: dict[str, Any]) -> str:
    return f"{one['resourceType']}/{one['id']}"


def _category(one: dict[str, Any]) -> str:
    return str(one["category"][0]["coding"][0]["code"])


# ---- missing ----


def missing_results(view: View) -> Iterator[tuple[str, str]]:
    """Yield (time, lab) where a panel was drawn without one of its tests."""
    drawn: dict[str, set[str]] = {}
    for one in view.observations:
        if len(one["category"]) == 1 and (lab := _lab(one)) is not None:
            drawn.setdefault(one["effectiveDateTime"], set()).add(lab)
    ever = set().union(*drawn.values()) if drawn else set()
    wide = [frozenset(panel.labs) & ever for panel in panels().values()]
    for time, labs in drawn.items():
        whole = {lab for panel in wide if panel <= labs for lab in panel}
        for panel in wide:
            lacks = panel - labs
            if len(panel) > 3 and 0 < len(lacks) <= 2 and len((panel & labs) - whole) >= 3:
                for lab in lacks:
                    yield time, lab


def missing_notes(view: View) -> Iterator[str]:
    """Yield the hospital stays that ended without a discharge summary."""
    have = {one["encounter"] for one in view.sections if one["kind"] == "discharge"}
    for name, stay in view.encounters.items():
        if stay["class"]["code"] == "IMP" and name not in have:
            yield name


def _disposition(stay: dict[str, Any]) -> str:
    return text_of(stay.get("hospitalization", {}).get("dischargeDisposition")) or ""


def missing_sections(view: View) -> Iterator[tuple[str, str]]:
    """Yield (note, section) where an admission or discharge note lacks what it must have."""
    notes: dict[str, tuple[str, set[str]]] = {}
    for one in view.sections:
        notes.setdefault(one["note"], (one["kind"], set()))[1].add(one["slug"])
    dead = {name for name, stay in view.encounters.items() if _disposition(stay) == "died"}
    ends = {one["note"] for one in view.sections if one["encounter"] in dead and one["kind"] == "discharge"}
    for note, (kind, slugs) in notes.items():
        if note in ends:
            continue  # the dead take no drugs home
        for slug in {"admission": ("medications", "allergies"), "discharge": ("discharge-medications",)}.get(kind, ()):
            if slug not in slugs:
                yield note, slug


# ---- outdated copies ----


def outdated_copies(view: View) -> Iterator[str]:
    """Yield sections of progress notes that repeat the note before though the record has moved on."""
    before: dict[tuple[str, str], dict[str, Any]] = {}
    for one in view.sections:
        if one["kind"] != "progress":
            continue
        place = (one["encounter"], one["slug"])
        last, before[place] = before.get(place), one
        if last is None or last["text"] != one["text"]:
            continue
        if _stopped_between(view, last, one) or (
            one["slug"] in ("labs", "vitals") and _measured_between(view, last["at"], one["at"], one["encounter"])
        ):
            yield one["key"]


def _stopped_between(view: View, last: dict[str, Any], one: dict[str, Any]) -> bool:
    for order in view.orders:
        end = order["dispenseRequest"]["validityPeriod"].get("end")
        name = (medication_of(order) or "").casefold()
        if end and last["at"] < parse_instant(end) < one["at"] and name in one["text"].casefold():
            same = [other for other in view.orders if (medication_of(other) or "").casefold() == name]
            ends = [other["dispenseRequest"]["validityPeriod"].get("end") for other in same]
            starts = [other["dispenseRequest"]["validityPeriod"]["start"] for other in same]
            if all(
                parse_instant(start) > one["at"] or (stop and parse_instant(stop) <= one["at"])
                for start, stop in zip(starts, ends, strict=True)
            ):
                return True
    return False


def _measured_between(view: View, start: int, end: int, encounter: str) -> bool:
    return any(start < _at(one) <= end for one in view.observations if _value(one) is not None)


# ---- contradictions ----


def doses_unlike_orders(view: View) -> Iterator[str]:
    """Yield medication lists with a dose that no order of the drug has."""
    doses: dict[str, set[str]] = {}
    for order in view.orders:
        doses.setdefault((medication_of(order) or "").casefold(), set()).add(dose_of(order) or "")
    for one in view.sections:
        if one["slug"] not in ("medications", "discharge-medications"):
            continue
        for line in re.split(r"\n|(?<=[a-z)])\. ", one["text"]):
            found = [name for name in doses if name in line.casefold()]
            named = [name for name in found if not any(name != other and name in other for other in found)]
            if len(named) != 1:
                continue
            units = {dose.partition(" ")[2] for dose in doses[named[0]]}
            for figure, unit in re.findall(r"(?<![\d.])(\d+(?:\.\d+)?) ([a-zA-Z/]+)", line):
                if unit in units and f"{figure} {unit}" not in doses[named[0]]:
                    yield one["key"]


_CROSS = frozenset({"penicillin_class", "sulfonamide_antibiotic"})
"""Classes of which an allergy to one drug is an allergy to all."""


def orders_against_allergies(view: View) -> Iterator[str]:
    """Yield orders of what the patient was known to be allergic to."""
    words = knowledge.lexicon()
    for allergy in view.all("AllergyIntolerance"):
        meant = words.resolve(text_of(allergy["code"]) or "", kinds=("drug", "drug_class"))
        for order in view.orders:
            drug = words.resolve(medication_of(order) or "", kinds=("drug",))
            if meant is None or drug is None or (known_at(order) or 0) < parse_instant(allergy["recordedDate"]):
                continue
            profile = drug_profiles().get(drug.id)
            groups = profile.allergy_groups if profile else ()
            substance = drug_profiles().get(meant.id)
            shared = set(groups) & {meant.id, *(substance.allergy_groups if substance else ())}
            class_of = _CROSS.intersection(getattr(meant, "classes", ()))
            if words.is_a(drug.id, meant.id) or shared or any(words.is_a(drug.id, one) for one in class_of):
                yield _key(order)


def weights_in_pounds(view: View) -> Iterator[str]:
    """Yield weights that are 2.2 times another weight of about that time."""
    weights = [(_at(one), value, _key(one)) for one in view.observations
               if _lab(one) == "weight" and (value := _value(one)) is not None]  # fmt: skip
    for at, value, key in weights:
        near = [other for when, other, name in weights if name != key and abs(when - at) <= 100 * DAY]
        if any(Decimal("1.8") < value / other < Decimal("2.7") for other in near):
            yield key


_SIDE = re.compile(r"\b(left|right) ([a-z]+ (?!quadrant)[a-z]+)", re.IGNORECASE)


def sides_unlike_reports(view: View) -> Iterator[str]:
    """Yield notes that put a finding on the other side than every report."""
    reports = " ".join(
        (attachment_text(form) or "").casefold()
        for one in view.all("DiagnosticReport")
        for form in one["presentedForm"]
    )
    for one in view.sections:
        if one["slug"] == "physical-exam":
            continue  # both sides are examined, whatever a study shows
        for side, thing in _SIDE.findall(one["text"]):
            mine, other = f"{side.casefold()} {thing}", f"{'right' if side.casefold() == 'left' else 'left'} {thing}"
            if other in reports and mine not in reports:
                yield one["key"]


# ---- the others ----

_PERSON = re.compile(r"\b(\d{1,3})-year-old (man|woman)\b")


def strangers(view: View) -> Iterator[str]:
    """Yield sections that speak of a person of another age, sex or name."""
    born, sex = int(view.patient["birthDate"][:4]), view.patient["gender"]
    name = view.patient["name"][0]["text"].casefold()
    for one in view.sections:
        year = 1970 + one["at"] // (DAY * 146_097 // 400)
        wrong = any(
            abs(year - born - int(age)) > 2 or (word == "man") != (sex == "male")
            for age, word in _PERSON.findall(one["text"])
        )
        named = re.findall(r"\bM[rs]s?\. ([A-Z][\w'-]+)", one["text"])
        if wrong or any(word.casefold() not in name for word in named):
            yield one["key"]


_PLAUSIBLE = {
    "creatinine": (Decimal("0.1"), Decimal(25)), "temperature": (Decimal(28), Decimal(45)),
}  # fmt: skip


def units_slipped(view: View) -> Iterator[str]:
    """Yield values that cannot be in their unit; glucose in mg/dL is reported in whole numbers."""
    for one in view.observations:
        value, lab = _value(one), _lab(one)
        if value is None:
            continue
        low, high = _PLAUSIBLE.get(lab or "", (value, value))
        # glucose is reported in whole mg/dL, creatinine with decimals
        digits = {"glucose": "." in str(value), "creatinine": "." not in str(value)}.get(lab or "", False)
        if digits or not low <= value <= high:
            yield _key(one)


_TAKING = re.compile(r"(?:as prescribed|[Cc]ompliant with|without missing doses|good adherence)")


def taking_what_is_not_taken(view: View) -> Iterator[str]:
    """Yield medication lists that say a drug is taken of which the patient says otherwise."""
    words = knowledge.lexicon()
    for one in view.sections:
        part = view.encounters[one["encounter"]].get("partOf", {}).get("reference", "").partition("/")[2]
        interview = view.interviews.get(one["encounter"]) or view.interviews.get(part)
        if one["slug"] != "medications" or interview is None:
            continue
        untrue = {
            fact.drug for fact in interview.facts if fact.kind == "adherence" and fact.state not in (None, "taking")
        }
        for sentence in re.split(r"\n|(?<=\.) ", one["text"]):
            named = {mention.concept for mention in words.scan(sentence, kinds=("drug",))}
            if _TAKING.search(sentence) and any(words.is_a(drug, name) for drug in untrue if drug for name in named):
                yield one["key"]


def ordered_twice(view: View) -> Iterator[str]:
    """Yield orders of a drug that another order of the same kind has running."""
    words = knowledge.lexicon()
    spans = []
    for order in view.orders:
        name = medication_of(order) or ""
        drug = words.resolve(name, kinds=("drug",))
        scanned = words.scan(name, kinds=("drug",))
        period = order["dispenseRequest"]["validityPeriod"]
        start, end = parse_instant(period["start"]), parse_instant(period["end"]) if "end" in period else NEVER
        kind = order["category"][0]["coding"][0]["code"]
        concept = drug.id if drug else scanned[0].concept if scanned else None
        spans.append((concept, kind, max(start, known_at(order) or 0), end, _key(order)))
    for drug, kind, start, end, key in spans:
        for other, other_kind, begin, stop, name in spans:
            related = drug is not None and other is not None and (words.is_a(drug, other) or words.is_a(other, drug))
            if related and name != key and kind == other_kind and begin < start < stop and start < end:
                yield key


def filed_late(view: View) -> Iterator[str]:
    """Yield laboratory results (not cultures) that were filed a day later than the test takes."""
    for one in view.observations:
        profile = lab_profiles().get(_lab(one) or "")
        usual = (profile.minutes[1] if profile else 0) * 60 * SECOND
        late = parse_instant(one["issued"]) - _at(one) > usual + 20 * HOUR if "issued" in one else False
        if late and _category(one) == "laboratory" and len(one["category"]) == 1:
            yield _key(one)


_LOOSE = frozenset({"insulin", "metoprolol", "ms", "magnesium", "potassium", "calcium"})


def loosely_named(view: View) -> Iterator[str]:
    """Yield orders whose name leaves open which drug is meant."""
    for order in view.orders:
        if (medication_of(order) or "").casefold() in _LOOSE:
            yield _key(order)


DETECTORS: dict[tuple[str, str], Callable[[View], Iterator[Any]]] = {
    ("missing", "result"): missing_results,
    ("missing", "note"): missing_notes,
    ("missing", "section"): missing_sections,
    ("outdated_copy", ""): outdated_copies,
    ("contradiction", "med_list_vs_note"): doses_unlike_orders,
    ("contradiction", "allergy_vs_order"): orders_against_allergies,
    ("contradiction", "weight_in_lb"): weights_in_pounds,
    ("contradiction", "laterality"): sides_unlike_reports,
    ("wrong_patient", ""): strangers,
    ("unit_slip", ""): units_slipped,
    ("undocumented_nonadherence", ""): taking_what_is_not_taken,
    ("duplicate_order", ""): ordered_twice,
    ("delayed_result", ""): filed_late,
    ("ambiguous_drug_name", ""): loosely_named,
}
"""(kind, detail or "" for all its details) → rule."""


def finds(view: View, flaw: Any, drawn: dict[str, tuple[str, str]]) -> bool:
    """Tell whether the rule of its kind finds a flaw where it was planted.

    Args:
        view: The chart.
        flaw: The label.
        drawn: Fact → (time, lab) of the results as they were, for those that were left out.
    """
    rule = DETECTORS.get((flaw.kind, flaw.detail)) or DETECTORS[flaw.kind, ""]
    found = set(rule(view))
    if (flaw.kind, flaw.detail) == ("missing", "result"):
        return drawn[flaw.facts[0]] in found
    if (flaw.kind, flaw.detail) == ("missing", "note"):
        return flaw.encounter in found
    if flaw.kind == "missing":
        return any(flaw.places[0] == f"DocumentReference/{note}-{slug}" for note, slug in found)
    return any(place in found for place in flaw.places)
