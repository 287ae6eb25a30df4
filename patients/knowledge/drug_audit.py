"""Checks the drug profiles against themselves, the other knowledge files and the treatment lines of the disease graph.

The loader checks each entry alone; what only shows across entries and files is checked here, every fault at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from .bedside import condition_profiles
from .bedside_models import DoseRule, DrugProfile, OrganRule
from .drug_amounts import DoseAmount, dose_amount, times_a_day
from .graph_models import Phrases
from .lab_audit import effect_faults
from .loader import Faults, Source, conditions, drug_classes, drugs, findings, index_by, labs, lexicon, monitoring, read
from .models import Names
from .phrase_audit import chinese_faults, english_faults, speaker_places

UNTIMED = frozenset({"continuous", "as needed"})
"""Frequencies that mean no number of times a day."""


def drug_audit(replaced: Mapping[str, bytes] | None = None) -> list[str]:
    """Return every fault of the drug profiles, each as `file:line: path: what is wrong`; empty for good data.

    Args:
        replaced: file name → bytes to read in place of the packaged file; only `drug_profiles.json` counts.
    """
    given = (replaced or {}).get("drug_profiles.json")
    source = Source.packaged("drug_profiles.json") if given is None else Source("drug_profiles.json", given)
    faults = Faults()
    entries = read(source, DrugProfile, faults)
    profiles = index_by(source, entries, faults)
    for number, profile in entries:
        for fault in _profile_faults(profile, profiles):
            faults.add(source, number, f"{profile.id}.{fault}")
    for fault in _twice_told(profiles):
        faults.add(source, None, fault)
    for fault in _uncovered_lines(profiles):
        faults.add(source, None, fault)
    return faults.found


def _profile_faults(profile: DrugProfile, profiles: Mapping[str, DrugProfile]) -> Iterator[str]:
    yield from _links(profile, profiles)
    yield from _rules_and_bounds(profile)
    yield from _wordings(profile)
    for number, rule in enumerate(profile.doses):
        for fault in _dose_faults(rule):
            yield f"doses.{number}: {fault}"
    for name, rules in (("renal", profile.renal), ("hepatic", profile.hepatic)):
        for number, organ in enumerate(rules):
            for fault in _organ_faults(organ, profile, renal=name == "renal"):
                yield f"{name}.{number}: {fault}"


def _links(profile: DrugProfile, profiles: Mapping[str, DrugProfile]) -> Iterator[str]:
    """Yield ids that name nothing."""
    signs = {**conditions(), **findings()}
    agents = {**drugs(), **drug_classes()}
    if profile.id not in drugs():
        yield "id: not in drugs.json"
    named = [
        *((f"adverse.{one.finding}", one.finding, signs, "condition or finding") for one in profile.adverse),
        *(("doses.prn_for", one.prn_for, findings(), "finding") for one in profile.doses if one.prn_for),
        *(("contraindications.condition", one.condition, signs, "condition or finding")
          for one in profile.contraindications if one.condition),
        *(("contraindications.lab", one.lab, labs(), "lab") for one in profile.contraindications if one.lab),
        *(("interactions.other", one.other, agents, "drug or class") for one in profile.interactions),
        *(("allergy_groups", one, drug_classes(), "drug class") for one in profile.allergy_groups),
        *(("contains", one, drugs(), "drug") for one in profile.contains),
        *(("monitors", one, labs(), "lab") for one in profile.monitors),
        *(("effects.lab", one.lab, labs(), "lab") for one in profile.effects),
    ]  # fmt: skip
    for path, key, known, kind in named:
        if key not in known:
            yield f"{path}: `{key}` is no {kind}"
    for name in (*profile.charted, *(name for rule in profile.doses for name in rule.charted)):
        if not any(mention.concept == profile.id for mention in lexicon().scan(name)):
            yield f"charted: the lexicon does not read `{name}` as this drug"
    if profile.id in profile.contains:
        yield "contains: a drug is no ingredient of itself"
    if profile.high_risk and not profile.monitors:
        yield "monitors: a high-risk drug needs labs"
    watched = {pair.lab for pair in monitoring().values() if profile.id in pair.drugs}
    if profile.high_risk and watched and not watched & set(profile.monitors):
        yield f"monitors: monitoring.json watches {sorted(watched)}, this entry none of them"


def _rules_and_bounds(profile: DrugProfile) -> Iterator[str]:
    for number, entry in enumerate(profile.contraindications):
        path = f"contraindications.{number}"
        ages = (entry.age_below, entry.age_from)
        if entry.condition is None and entry.lab is None and not entry.pregnancy and ages == (None, None):
            yield f"{path}: names nothing that it depends on"
        if (entry.lab is None) != (entry.below is None and entry.at_least is None):
            yield f"{path}: `lab` and its bounds go together"
        if entry.below is not None and entry.at_least is not None and entry.at_least >= entry.below:
            yield f"{path}: {entry.at_least} is not below {entry.below}"
    for effect in profile.effects:
        yield from (f"effects.{effect.lab}{fault}" for fault in effect_faults(effect))


def _dose_faults(rule: DoseRule) -> Iterator[str]:
    usual = dose_amount(rule.dose)
    if usual is None:
        yield f"dose: `{rule.dose}` is not one amount with a unit"
        return
    for text in (*rule.others, *filter(None, (rule.most, rule.daily_most))):
        amount = dose_amount(text)
        if amount is None or amount.unit != usual.unit:
            yield f"`{text}` is not an amount in {usual.unit}, as `{rule.dose}` is"
    for frequency in rule.frequency:
        if times_a_day(frequency) is None and frequency not in UNTIMED:
            yield f"frequency: `{frequency}` is not known"
    if not rule.from_age < rule.below_age:
        yield f"from_age {rule.from_age} is not below below_age {rule.below_age}"
    yield from _limit_faults(rule, usual)


def _limit_faults(rule: DoseRule, usual: DoseAmount) -> Iterator[str]:
    most = dose_amount(rule.most) if rule.most else None
    if rule.per_kg:
        return
    for text in (rule.dose, *rule.others):
        amount = dose_amount(text)
        if amount is not None and most is not None and amount.value > most.value:
            yield f"`{text}` is above the greatest single dose {rule.most}"
    daily = dose_amount(rule.daily_most) if rule.daily_most else None
    for frequency in rule.frequency:
        times = times_a_day(frequency)
        if daily is not None and times is not None and Fraction(usual.value) * times > Fraction(daily.value):
            yield f"{rule.dose} {frequency} is above the greatest daily amount {rule.daily_most}"


def _organ_faults(organ: OrganRule, profile: DrugProfile, *, renal: bool) -> Iterator[str]:
    bounds = (organ.below, organ.at_least)
    if renal and (bounds == (None, None) or organ.child_pugh):
        yield "a renal rule has bounds of the creatinine clearance, and only these"
    if not renal and (bounds != (None, None) or not organ.child_pugh):
        yield "a hepatic rule has Child-Pugh classes, and only these"
    if organ.below is not None and organ.at_least is not None and organ.at_least >= organ.below:
        yield f"{organ.at_least} is not below {organ.below}"
    if (organ.act == "avoid") != (organ.dose is None and organ.frequency is None):
        yield f"`{organ.act}` with dose {organ.dose} and frequency {organ.frequency}"
    if organ.frequency is not None and times_a_day(organ.frequency) is None:
        yield f"frequency: `{organ.frequency}` is not known"
    meant = [
        rule
        for rule in profile.doses
        if (organ.route is None or organ.route == rule.route) and (not organ.keys or rule.key in organ.keys)
    ]
    if not meant:
        yield "no dose has this route and key"
    if organ.dose is None:
        return
    amount = dose_amount(organ.dose)
    units = {given.unit for rule in meant if (given := dose_amount(rule.dose)) is not None}
    if amount is None or amount.unit not in units:
        yield f"dose: `{organ.dose}` is not an amount in {' or '.join(sorted(units))}"


def _wordings(profile: DrugProfile) -> Iterator[str]:
    names: list[tuple[str, Names]] = [
        *(("contraindications.why", one.why) for one in profile.contraindications),
        *(("interactions.effect", one.effect) for one in profile.interactions),
        *(("renal.why", one.why) for one in profile.renal),
        *(("hepatic.why", one.why) for one in profile.hepatic),
    ]
    for path, name in names:
        yield from (f"{path}: {fault}" for fault in _both(name.en, name.zh or "", frozenset()))
    said: list[tuple[str, Phrases]] = [("lay", profile.lay), ("look", profile.look)]
    said.extend((f"adverse.{one.finding}", one.say) for one in profile.adverse)
    for path, phrases in said:
        if len(phrases.en) < (2 if path.startswith("adverse") else 1):
            yield f"{path}: needs more wordings"
        places = speaker_places() | {"{drug}"} if path.startswith("adverse") else frozenset()
        for en, zh in zip(phrases.en, phrases.zh, strict=True):
            yield from (f"{path}: {fault}" for fault in _both(en, zh, places))
            if path.startswith("adverse") and not ("{drug}" in en and "{drug}" in zh):
                yield f"{path}: `{en}` or `{zh}` has no place for {{drug}}"


def _both(en: str, zh: str, places: frozenset[str]) -> Iterator[str]:
    yield from english_faults(en, places)
    yield from chinese_faults(zh, places)


def _twice_told(profiles: Mapping[str, DrugProfile]) -> Iterator[str]:
    """Yield pairs of drugs whose interaction both tell, with unlike severity."""
    told = {(one.id, entry.other): entry.severity for one in profiles.values() for entry in one.interactions}
    for (one, other), severity in told.items():
        back = told.get((other, one))
        if one < other and back is not None and back != severity:
            yield f"{one} and {other}: told as {severity} and as {back}; tell it once"


def _uncovered_lines(profiles: Mapping[str, DrugProfile]) -> Iterator[str]:
    """Yield drugs of treatment lines that have no dose for their purpose in a phase of the line."""
    for entry in condition_profiles().values():
        for line in entry.treatments:
            for drug in line.any_of:
                doses = profiles[drug].doses if drug in profiles else ()
                covered = {phase for rule in doses if rule.key == (line.dose_for or "usual") for phase in rule.phases}
                missing = [phase for phase in line.phase if phase not in covered]
                if missing:
                    wanted = f"`{line.dose_for}`" if line.dose_for else "usual"
                    yield f"{drug}: no {wanted} dose in {', '.join(missing)}, which {entry.id}.{line.id} asks for"
