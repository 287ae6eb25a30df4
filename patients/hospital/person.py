"""Who the patient is: sex, age, name, build, work, habits."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Literal

from wardround.patients.times import DAY, Instant, format_instant, parse_instant

from .generation import rules
from .generation_people import AgeBand, People, band_of, people
from .life import Pair, Person
from .making import YEAR, Making, age_at, between, normal, weighted

Sex = Literal["male", "female"]


def make_person(making: Making) -> tuple[AgeBand, Instant]:
    """Find the person of a life in the making and set it.

    Returns:
        The age band, and the day of the last encounter (its midnight).
    """
    data = people()
    stream = making.stream("person")
    band = weighted(stream, [(one, one.weight) for one in data.bands])
    years = rules().years
    first, last = parse_instant(f"{years[0]}-01-01"), parse_instant(f"{years[1]}-11-30")
    end = first + DAY * between(stream, 0, (last - first) // DAY)
    age = between(stream, *band.ages)
    if band.ages[1] > 80:  # few are very old: the younger of two draws
        age = min(age, between(stream, *band.ages))
    born = end - age * YEAR - DAY * between(stream, 10, 355)
    sex: Sex = "male" if stream.chance(1, 2) else "female"
    birth_date = format_instant(born)[:10]
    making.born = parse_instant(birth_date)
    now = age_at(birth_date, end)
    culture = weighted(making.stream("culture"), [(one, one.weight) for one in data.cultures])
    names = making.stream("name")
    given = culture.male if sex == "male" else culture.female
    height, weight = _build(making, data, sex, now)
    marital = _marital(making, data, now)
    smoking, pack_years, alcohol, drinks = _habits(making, data, sex, now)
    making.person = Person(
        sex=sex,
        birth_date=birth_date,
        name=f"{names.choice(given)} {names.choice(culture.family)}",
        race=culture.race,
        language=data.language,
        marital=marital,
        height_cm=height,
        weight_kg=weight,
        occupation=_work(making, data, now),
        smoking=smoking,
        pack_years=pack_years,
        alcohol=alcohol,
        drinks_per_week=drinks,
        living=_living(making, data, marital, now),
    )
    return band, end


def _build(making: Making, data: People, sex: Sex, age: int) -> tuple[int, Decimal]:
    stream = making.stream("build")
    if age >= 18:
        mean, sd = data.height[sex]
    else:
        grown = min(data.growth, key=lambda one: (abs(one.age - age), one.age))
        mean = grown.male if sex == "male" else grown.female
        sd = max(2, mean * 4 // 100)
    height = int(normal(stream, Decimal(mean), Decimal(sd)).to_integral_value(ROUND_HALF_UP))
    middle, spread = data.bmi[band_of(age)]
    low, high = data.bmi_bounds if age >= 18 else data.child_bmi_bounds
    bmi = min(max(normal(stream, middle, spread), low), high)
    weight = bmi * height * height / 10000
    return height, weight.quantize(Decimal("0.1"), ROUND_HALF_UP)


def _marital(making: Making, data: People, age: int) -> str:
    return weighted(making.stream("marital"), list(data.marital[band_of(age)].items()))


def _living(making: Making, data: People, marital: str, age: int) -> Literal["alone", "spouse", "family", "facility"]:
    stream = making.stream("living")
    if age < 18:
        return "family"
    if age >= data.facility_from and stream.chance(1, data.facility_one_in):
        return "facility"
    return weighted(stream, list(data.living[marital].items()))


def _habits(
    making: Making, data: People, sex: Sex, age: int
) -> tuple[Literal["never", "former", "current"], int, Literal["none", "social", "heavy"], int]:
    stream = making.stream("habits")
    if age < 18:
        return "never", 0, "none", 0
    smoking = weighted(stream, list(data.smoking[sex].items()))
    pack_years = 0
    if smoking != "never":
        most = max(1, age - 18) if smoking == "current" else max(1, (age - 18) * 2 // 3)
        pack_years = max(1, min(data.most_pack_years, most * between(stream, *data.tenths_of_packs_a_day) // 10))
    if smoking == "former" and age < data.former_smoker_from:
        smoking, pack_years = "never", 0
    alcohol = weighted(stream, list(data.alcohol[sex].items()))
    if age < data.drinks_from:
        alcohol = "none"
    drinks = {kind: between(stream, *bounds) for kind, bounds in data.drinks_per_week.items()}
    return smoking, pack_years, alcohol, drinks[alcohol]


def _work(making: Making, data: People, age: int) -> Pair:
    stream = making.stream("work")
    retired = age >= data.retired_from
    at = min(age, 55) if retired else age
    fitting = [(one, one.weight) for one in data.works if one.ages[0] <= at <= one.ages[1]]
    work = weighted(stream, fitting)
    if not retired:
        return Pair(work.en, work.zh)
    if stream.chance(1, 4):
        return Pair(data.retired.en, data.retired.zh)
    return data.former_work.pair(work=(work.en, work.zh))
