"""The rules of FHIR R4 search, one by one, with their edge cases."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from wardround.patients import ChartBuilder, Overlay, SearchError, Snapshot, ViewFilter, fhir_search, parse_instant

LOINC = "http://loinc.org"
NOW = "2180-05-07T00:00:00Z"


def record(*resources: dict[str, Any], known: str = "2180-05-01", now: str = NOW) -> Snapshot:
    """Return a chart of resources (unchecked: the rules are about the shape) as of an anchor."""
    builder = ChartBuilder("p")
    for number, resource in enumerate(resources):
        builder.add({"id": f"r{number}", **resource}, known)
    from wardround.patients.chart import memory_chart
    from wardround.patients.packing import pack

    return memory_chart(pack("p", builder.resources(), "CC0-1.0")).at(parse_instant(now))


def found(snapshot: Snapshot | Overlay, kind: str, base: str = "", **asked: Any) -> list[str]:
    """Return the ids that a strict search finds, in alphabetical order; `__` in a name stands for a colon."""
    pairs = [
        (name.replace("__", ":").replace("_at_", "."), value)
        for name, values in asked.items()
        for value in (values if isinstance(values, list) else [values])
    ]
    pairs = [(name.replace("~", "-"), value) for name, value in pairs]
    return sorted(entry.id for entry in fhir_search(snapshot, kind, pairs, base=base, strict=True).matches)


def ask(snapshot: Snapshot | Overlay, query: str, base: str = "") -> list[str]:
    """Return the ids that `Type?query` finds, in alphabetical order."""
    kind, _, text = query.partition("?")
    return sorted(entry.id for entry in fhir_search(snapshot, kind, text, base=base, strict=True).matches)


def observation(identity: str, **more: Any) -> dict[str, Any]:
    return {"resourceType": "Observation", "id": identity, **more}


def coded(*pairs: tuple[str | None, str], text: str | None = None) -> dict[str, Any]:
    coding = [{"code": code, **({"system": system} if system else {})} for system, code in pairs]
    return {"coding": coding, **({"text": text} if text else {})}


# --- tokens -----------------------------------------------------------------------------------------------------


def test_tokens_compare_literally_over_all_codings() -> None:
    chart = record(
        observation("two", code=coded(("http://local", "50912"), (LOINC, "2160-0"))),
        observation("bare", code=coded((None, "2160-0"))),
        observation("slash", code=coded((LOINC + "/", "2160-0"))),
        observation("secure", code=coded(("https://loinc.org", "2160-0"))),
        observation("text", code={"text": "2160-0"}),
    )
    assert ask(chart, "Observation?code=2160-0") == ["bare", "secure", "slash", "two"]
    assert ask(chart, f"Observation?code={LOINC}|2160-0") == ["two"]
    assert ask(chart, "Observation?code=|2160-0") == ["bare"]
    assert ask(chart, f"Observation?code={LOINC}|") == ["two"]
    assert ask(chart, "Observation?code=2160-0,50912") == ["bare", "secure", "slash", "two"]
    assert ask(chart, f"Observation?code={quote(LOINC + '|2160-0', safe='')}") == ["two"]


def test_code_elements_are_exact_and_imply_their_system() -> None:
    chart = record(observation("final", status="final"), {"resourceType": "Patient", "id": "f", "gender": "female"})
    assert ask(chart, "Observation?status=final") == ["final"]
    assert ask(chart, "Observation?status=http://hl7.org/fhir/observation-status|final") == ["final"]
    assert ask(chart, "Observation?status=http://other|final") == []
    assert ask(chart, "Observation?status=|final") == []
    assert ask(chart, "Patient?gender=female") == ["f"]
    assert ask(chart, "Patient?gender=Female") == []


def test_booleans_and_contact_points_are_tokens() -> None:
    phone = {"system": "phone", "use": "home", "value": "555-1"}
    chart = record(
        {"resourceType": "Patient", "id": "a", "active": True, "telecom": [phone]},
        {"resourceType": "Patient", "id": "b", "active": False, "deceasedDateTime": "2180-01"},
        {"resourceType": "Patient", "id": "c", "deceasedBoolean": False},
    )
    assert ask(chart, "Patient?active=true") == ["a"]
    assert ask(chart, "Patient?active=http://terminology.hl7.org/CodeSystem/special-values|false") == ["b"]
    assert ask(chart, "Patient?phone=555-1") == ["a"] == ask(chart, "Patient?telecom=home|555-1")
    assert ask(chart, "Patient?email=555-1") == []
    assert ask(chart, "Patient?deceased=true") == ["b"]
    assert ask(chart, "Patient?deceased=false") == ["a", "c", "p"]
    assert ask(chart, "Patient?deceased:missing=true") == []


def test_not_includes_resources_without_the_element() -> None:
    chart = record(
        observation("both", category=[coded((None, "a")), coded((None, "b"))]),
        observation("c", category=[coded((None, "c"))]),
        observation("none"),
    )
    assert ask(chart, "Observation?category:not=a") == ["c", "none"]
    assert ask(chart, "Observation?category:not=a,c") == ["none"]


def test_text_searches_the_words_and_never_the_code() -> None:
    display = {"coding": [{"code": "creat", "display": "Creatinine [Mass/volume]"}], "text": "Kreatinin"}
    typed = {"type": {"text": "Medical record number"}, "value": "1"}
    chart = record(observation("o", code=display), {"resourceType": "Patient", "id": "m", "identifier": [typed]})
    assert ask(chart, "Observation?code:text=creatinine") == ["o"] == ask(chart, "Observation?code:text=KREAT")
    assert ask(chart, "Observation?code:text=mass") == []
    assert ask(chart, "Observation?code:text=creat") == ["o"]
    assert ask(chart, "Patient?identifier:text=medical") == ["m"]
    only_code = record(observation("o", code=coded((None, "creat"))))
    assert ask(only_code, "Observation?code:text=creat") == []


def test_missing_is_decided_after_extraction() -> None:
    absent = {"extension": [{"url": "http://hl7.org/fhir/StructureDefinition/data-absent-reason"}]}
    chart = record(
        observation("string", valueString="high"),
        observation("quantity", valueQuantity={"value": 5}),
        {"resourceType": "Patient", "id": "absent", "_birthDate": absent},
        {"resourceType": "Patient", "id": "born", "birthDate": "1980"},
    )
    assert ask(chart, "Observation?value-quantity:missing=true") == ["string"]
    assert ask(chart, "Observation?value-quantity:missing=false") == ["quantity"]
    assert ask(chart, "Patient?birthdate:missing=true") == ["absent", "p"]
    assert ask(chart, "Patient?birthdate:missing=true,false") == ["absent", "born", "p"]


def test_in_knows_the_shipped_value_sets_only() -> None:
    chart = record(observation("final", status="final"), observation("odd", status="weird"), observation("none"))
    url = "http://hl7.org/fhir/ValueSet/observation-status"
    assert ask(chart, f"Observation?status:in={url}") == ["final"]
    assert ask(chart, f"Observation?status:not-in={url}") == ["none", "odd"]
    with pytest.raises(SearchError, match="is not at hand"):
        ask(chart, "Observation?code:in=http://my.org/ValueSet/x")


@pytest.mark.parametrize(
    "name", ["code:below", "code:exact", "status:contains", "date:not", "_id:above", "subject:Observation"]
)
def test_an_unknown_modifier_is_an_error_even_when_lenient(name: str) -> None:
    with pytest.raises(SearchError) as refused:
        fhir_search(record(), "Observation", [(name, "x")])
    assert refused.value.status == 400
    assert refused.value.issues[0].code == "not-supported"


# --- strings ------------------------------------------------------------------------------------------------------


def test_strings_begin_so_whatever_case_and_accents() -> None:
    chart = record(
        {
            "resourceType": "Patient",
            "id": "m",
            "name": [{"family": "Müller", "given": ["José", "Karl"], "prefix": ["Dr."]}],
        },
        {
            "resourceType": "Patient",
            "id": "s",
            "name": [{"text": "Smith, John"}],
            "address": [{"city": "São Paulo", "line": ["12 Rua"]}],
        },
    )
    assert ask(chart, "Patient?name=mull") == ["m"] == ask(chart, "Patient?name=M%C3%9CL")
    assert ask(chart, "Patient?name=jose") == ["m"] == ask(chart, "Patient?given=karl")
    assert ask(chart, "Patient?name=dr.") == ["m"]
    assert ask(chart, "Patient?name=uller") == []
    assert ask(chart, "Patient?name:contains=ULLE") == ["m"]
    assert ask(chart, "Patient?name:exact=Müller") == ["m"]
    assert ask(chart, "Patient?name:exact=müller") == [] == ask(chart, "Patient?name:exact=Muller")
    assert ask(chart, "Patient?name:exact=smith") == []
    assert ask(chart, "Patient?address=sao") == ["s"] == ask(chart, "Patient?address-city=S%C3%A3o")
    assert ask(chart, "Patient?address=12 rua") == ["s"]
    assert ask(chart, "Patient?name=%CC%81") == [] == ask(chart, "Patient?name:contains=%20")


# --- dates ----------------------------------------------------------------------------------------------------------


def test_partial_dates_are_intervals() -> None:
    chart = record({"resourceType": "Patient", "id": "m", "birthDate": "1980-05"})
    for query, hit in {
        "1980-05": True, "1980": True, "1980-05-11": False, "ge1980-05-11": True, "le1980-05-11": True,
        "gt1980-05-11": True, "lt1980-05-11": True, "sa1980-04": True, "sa1980-05-11": False, "eb1980-06": True,
        "eb1980-05-31": False, "ne1980-05-11": True, "ne1980": False, "gt1980-05": False, "lt1980-05": False,
    }.items():  # fmt: skip
        assert (ask(chart, f"Patient?birthdate={query}") == ["m"]) is hit, query


def test_spans_that_only_touch() -> None:
    chart = record(
        {"resourceType": "Patient", "id": "y79", "birthDate": "1979"},
        {"resourceType": "Patient", "id": "y80", "birthDate": "1980"},
        {"resourceType": "Patient", "id": "y81", "birthDate": "1981"},
    )
    for query, hits in {
        "le1980": ["y79", "y80"], "lt1980": ["y79"], "ge1980": ["y80", "y81"], "gt1980": ["y81"], "sa1980": ["y81"],
        "eb1980": ["y79"], "1980": ["y80"], "ne1980": ["y79", "y81"],
    }.items():  # fmt: skip
        assert ask(chart, f"Patient?birthdate={query}") == hits, query


def test_periods_may_be_open() -> None:
    chart = record(
        {"resourceType": "Encounter", "id": "open", "period": {"start": "2180-05-06T10:00:00Z"}},
        {"resourceType": "Encounter", "id": "span", "period": {"start": "2180-05-05", "end": "2180-05-08"}},
        {"resourceType": "Encounter", "id": "undated"}, now="2180-06-01",
    )  # fmt: skip
    assert ask(chart, "Encounter?date=ge2190") == ["open"]
    assert ask(chart, "Encounter?date=eb2300") == ["span"]
    assert ask(chart, "Encounter?date=ge2180-05-06&date=lt2180-05-07") == ["open", "span"]
    assert ask(chart, "Encounter?date=ne2180") == ["open"]
    assert ask(chart, "Encounter?date=2180") == ["span"]


def test_timings_reach_from_first_to_last_event() -> None:
    timing = {"event": ["2180-05-02", "2180-05-04T08:00:00Z"]}
    bounds = {"repeat": {"boundsPeriod": {"start": "2180-05-01"}}}
    chart = record(
        observation("events", effectiveTiming=timing),
        observation("bounds", effectiveTiming=bounds),
        observation("code", effectiveTiming={"code": {"text": "BID"}}),
    )
    assert ask(chart, "Observation?date=ge2180-05-03") == ["bounds", "events"]
    assert ask(chart, "Observation?date=eb2180-05-05") == ["events"]
    assert ask(chart, "Observation?date=ne2180-05-01") == ["bounds", "events"]
    assert ask(chart, "Observation?date:missing=true") == []


def test_zones_seconds_and_a_plus_that_became_a_blank() -> None:
    chart = record(
        observation("z", effectiveDateTime="2180-05-06T08:00:00Z"),
        observation("plus", effectiveDateTime="2180-05-06T10:00:00+02:00"),
        observation("none", effectiveDateTime="2180-05-06T08:00:00"),
        observation("tick", effectiveDateTime="2180-05-06T08:00:00.5Z"),
    )
    every = ["none", "plus", "tick", "z"]
    assert ask(chart, "Observation?date=2180-05-06T08:00:00Z") == every
    assert ask(chart, "Observation?date=2180-05-06T08:00") == every
    assert ask(chart, "Observation?date=2180-05-06T10:00:00+02:00") == every
    assert ask(chart, "Observation?date=2180-05-06T10:00:00%2B02:00") == every
    assert ask(chart, "Observation?date=2180-05-06T08:00:00.5Z") == ["tick"]
    assert ask(chart, "Observation?date=gt2180-05-06T08:00:00Z") == []
    assert ask(chart, "Observation?date=ge2180-05-06T08:00:00.4Z") == every


def test_ap_is_a_tenth_of_the_way_from_the_episodes_now() -> None:
    chart = record(
        observation("near", effectiveDateTime="2180-04-27"),
        observation("far", effectiveDateTime="2180-04-20"), now="2180-05-07", known="2180-04-28",
    )  # fmt: skip
    assert ask(chart, "Observation?date=ap2180-04-28") == ["near"]
    assert ask(chart, "Observation?date=ap2179-05-07") == []
    assert ask(chart, "Observation?date=ap2180-02-01") == []
    assert ask(chart, "Observation?date=ap2180-04-22") == ["far"]
    year = record(
        observation("before", effectiveDateTime="2179-12-10"), observation("on", effectiveDateTime="2179-12-25")
    )
    assert ask(year, "Observation?date=ap2180") == ["on"]  # 127 days from its start to now: 12 to either side
    later = chart.chart.at(parse_instant("2181-05-07"))
    assert ask(later, "Observation?date=ap2180-04-28") == ["far", "near"]


def test_the_last_year_that_can_be_written() -> None:
    chart = record({"resourceType": "Patient", "id": "m", "birthDate": "1980"})
    assert ask(chart, "Patient?birthdate=le9999") == ["m"] == ask(chart, "Patient?birthdate=lt9999-12")
    assert ask(chart, "Patient?birthdate=ge9999-12-31") == []


# --- numbers and quantities -----------------------------------------------------------------------------------------


def quantities(*values: Any) -> Snapshot:
    from decimal import Decimal

    made = []
    for value in values:
        comparator = value.rstrip("0123456789.-")
        quantity: dict[str, Any] = {"value": Decimal(value.removeprefix(comparator)), "unit": "mg"}
        made.append(
            observation(
                value.replace("<", "lt").replace(">", "gt").replace("=", "e"),
                valueQuantity=quantity | ({"comparator": comparator} if comparator else {}),
            )
        )
    return record(*made)


def test_implicit_precision() -> None:
    chart = quantities("5.44", "5.45", "5.35", "5.4", "100.4", "99.5", "95", "104.9", "105")
    assert ask(chart, "Observation?value-quantity=5.4") == ["5.35", "5.4", "5.44"]
    assert ask(chart, "Observation?value-quantity=5.40") == ["5.4"]
    assert ask(chart, "Observation?value-quantity=100") == ["100.4", "99.5"]
    assert ask(chart, "Observation?value-quantity=1e2") == ["100.4", "104.9", "95", "99.5"]
    assert ask(chart, "Observation?value-quantity=ne5.4&value-quantity=lt6") == ["5.45"]


def test_other_prefixes_take_the_exact_value() -> None:
    chart = quantities("5.39", "5.4", "5.41", "-3", "0.1")
    assert ask(chart, "Observation?value-quantity=gt5.4") == ["5.41"] == ask(chart, "Observation?value-quantity=sa5.4")
    assert ask(chart, "Observation?value-quantity=ge5.4") == ["5.4", "5.41"]
    assert ask(chart, "Observation?value-quantity=lt5.4&value-quantity=gt5") == ["5.39"]
    assert ask(chart, "Observation?value-quantity=eb5.40&value-quantity=gt5") == ["5.39"]
    assert ask(chart, "Observation?value-quantity=le-3") == ["-3"]
    assert ask(chart, "Observation?value-quantity=ap5") == ["5.39", "5.4", "5.41"]
    assert ask(chart, "Observation?value-quantity=0.1") == ["0.1"]
    assert ask(chart, "Observation?value-quantity=ap-3.2") == ["-3"]


def test_values_with_a_comparator_are_open_ranges() -> None:
    chart = quantities("<0.3", ">1000", "<=7", ">=9")
    assert ask(chart, "Observation?value-quantity=lt0.3") == ["lt0.3", "lte7"]
    assert ask(chart, "Observation?value-quantity=le0.1") == ["lt0.3", "lte7"]
    assert ask(chart, "Observation?value-quantity=0.3") == []
    assert ask(chart, "Observation?value-quantity=gt2000") == ["gt1000", "gte9"]
    assert ask(chart, "Observation?value-quantity=ge7&value-quantity=lt8") == ["lte7"]
    assert ask(chart, "Observation?value-quantity=gt7&value-quantity=lt9") == []
    assert ask(chart, "Observation?value-quantity=eb0.3") == ["lt0.3"]
    assert ask(chart, "Observation?value-quantity=sa1000") == ["gt1000"]
    assert ask(chart, "Observation?value-quantity=le1000&value-quantity=gt999") == ["gte9"]


def test_units() -> None:
    ucum = "http://unitsofmeasure.org"
    chart = record(
        observation("unit", valueQuantity={"value": 5, "unit": "mg/dl"}),
        observation("code", valueQuantity={"value": 5, "unit": "milligram", "system": ucum, "code": "mg/dL"}),
        observation("free", valueQuantity={"value": 5}),
    )
    assert ask(chart, "Observation?value-quantity=5") == ["code", "free", "unit"]
    assert ask(chart, "Observation?value-quantity=5||mg/dL") == ["code"]
    assert ask(chart, "Observation?value-quantity=5||mg/dl") == ["unit"]
    assert ask(chart, "Observation?value-quantity=5||milligram") == ["code"]
    assert ask(chart, f"Observation?value-quantity=5|{ucum}|mg/dL") == ["code"]
    assert ask(chart, f"Observation?value-quantity=gt4|{ucum}|mg") == []


def test_sampled_data_ages_ranges_and_numbers() -> None:
    sampled = {"origin": {"value": 10, "unit": "mV"}, "factor": 2, "data": "1 E 5 L", "lowerLimit": 3, "dimensions": 1}
    chart = record(
        observation("wave", valueSampledData=sampled),
        {"resourceType": "Condition", "id": "age", "onsetAge": {"value": 52, "unit": "a"}},
        {"resourceType": "Condition", "id": "range", "onsetRange": {"low": {"value": 40}, "high": {"value": 50}}},
        {"resourceType": "RiskAssessment", "id": "risk", "prediction": [{"probabilityDecimal": 0.25}]},
        {"resourceType": "ChargeItem", "id": "fee", "priceOverride": {"value": 40, "currency": "EUR"}},
    )
    assert ask(chart, "Observation?value-quantity=ge20") == ["wave"] == ask(chart, "Observation?value-quantity=lt3.5")
    assert ask(chart, "Observation?value-quantity=gt20") == []
    assert ask(chart, "Condition?onset-age=gt50") == ["age"]
    assert ask(chart, "Condition?onset-age=ge45") == ["age", "range"]
    assert ask(chart, "RiskAssessment?probability=gt0.2") == ["risk"] == ask(chart, "RiskAssessment?probability=0.25")
    assert ask(chart, "ChargeItem?price-override=40|urn:iso:std:iso:4217|EUR") == ["fee"]


def test_composites_match_within_one_node() -> None:
    def pressure(identity: str, systolic: int, diastolic: int) -> dict[str, Any]:
        parts = [(("8480-6"), systolic), ("8462-4", diastolic)]
        component = [{"code": coded((LOINC, code)), "valueQuantity": {"value": value}} for code, value in parts]
        return observation(identity, code=coded((LOINC, "85354-9")), component=component)

    chart = record(pressure("high", 150, 80), pressure("low", 120, 145))
    name = "component-code-value-quantity"
    assert ask(chart, f"Observation?{name}={LOINC}|8480-6$gt140") == ["high"]
    assert ask(chart, f"Observation?{name}=8462-4$gt140") == ["low"]
    assert ask(chart, "Observation?combo-code-value-quantity=8480-6$lt130,8462-4$lt90") == ["high", "low"]
    assert ask(chart, "Observation?code-value-quantity=85354-9$gt1") == []


# --- references and chains --------------------------------------------------------------------------------------------


def test_references() -> None:
    base = "http://own.example/fhir"
    chart = record(
        observation("patient", subject={"reference": "Patient/1"}),
        observation("group", subject={"reference": "Group/1"}),
        observation("versioned", subject={"reference": "Patient/1/_history/3"}),
        observation("absolute", subject={"reference": f"{base}/Patient/1"}),
        observation("foreign", subject={"reference": "http://other/Patient/1"}),
        observation("urn", subject={"reference": "urn:uuid:0b7c"}),
        observation("contained", subject={"reference": "#1"}),
        observation("logical", subject={"identifier": {"system": "http://mrn", "value": "77"}}),
    )
    local = ["absolute", "patient", "versioned"]
    assert ask(chart, "Observation?subject=1", base) == sorted([*local, "group"])
    assert ask(chart, "Observation?subject=Patient/1", base) == local
    assert ask(chart, "Observation?patient=Patient/1", base) == local == ask(chart, "Observation?patient=1", base)
    assert ask(chart, "Observation?subject:Patient=1", base) == local
    assert ask(chart, "Observation?subject:Patient=Patient/1", base) == local
    assert ask(chart, "Observation?subject:Patient=Group/1", base) == []
    assert ask(chart, "Observation?subject:Group=Group/1", base) == ["group"]
    assert ask(chart, f"Observation?subject={base}/Patient/1", base) == local
    assert ask(chart, "Observation?subject=Patient/1/_history/9", base) == local
    assert ask(chart, "Observation?subject=http://other/Patient/1", base) == ["foreign"]
    assert ask(chart, "Observation?subject=urn:uuid:0b7c", base) == ["urn"]
    assert ask(chart, "Observation?subject=%231", base) == []
    assert ask(chart, "Observation?subject:identifier=http://mrn|77", base) == ["logical"]
    assert ask(chart, "Observation?subject:missing=true", base) == []
    assert ask(chart, "Observation?subject=Patient/1") == ["patient", "versioned"]


def test_canonicals_and_uris() -> None:
    chart = record(
        {"resourceType": "CarePlan", "id": "v", "instantiatesCanonical": ["http://plan|1.0"]},
        {"resourceType": "CarePlan", "id": "u", "instantiatesUri": ["http://plan/1"]},
    )
    assert ask(chart, r"CarePlan?instantiates-canonical=http://plan\|1.0") == ["v"]
    assert ask(chart, "CarePlan?instantiates-canonical=http://plan") == ["v"]
    assert ask(chart, "CarePlan?instantiates-uri=http://plan/1") == ["u"]
    assert ask(chart, "CarePlan?instantiates-uri=http://plan") == []


def to(key: str) -> dict[str, Any]:
    return {"reference": key}


def chained() -> Snapshot:
    mine, theirs = ([{"system": "mrn", "value": value}] for value in "78")
    order = {"resourceType": "MedicationRequest", "subject": to("Patient/1")}
    return record(
        {"resourceType": "Patient", "id": "1", "name": [{"family": "Lind"}], "identifier": mine},
        {"resourceType": "Group", "id": "1", "name": "Lind cohort", "identifier": theirs},
        {"resourceType": "Medication", "id": "w", "code": coded(("rx", "11289"))},
        {**order, "id": "order", "medicationReference": to("Medication/w")},
        {"resourceType": "MedicationRequest", "id": "direct", "medicationCodeableConcept": coded(("rx", "11289"))},
        observation("p1", subject=to("Patient/1"), code=coded((LOINC, "2160-0")), hasMember=[to("Observation/m")]),
        observation("g1", subject=to("Group/1")),
        observation("m", subject=to("Patient/1"), valueQuantity={"value": 3}),
        {"resourceType": "Provenance", "id": "prov", "target": [to("Observation/m")]},
    )


def test_chains() -> None:
    chart = chained()
    assert ask(chart, "Observation?subject:Patient.name=lind") == ["m", "p1"]
    assert ask(chart, "Observation?patient.identifier=mrn|7") == ["m", "p1"]
    assert ask(chart, "Observation?subject.identifier=mrn|8") == ["g1"]
    assert ask(chart, "Observation?subject.identifier=7,8") == ["g1", "m", "p1"]
    assert ask(chart, "MedicationRequest?medication.code=rx|11289") == ["order"]
    assert ask(chart, "Observation?has-member.value-quantity=3") == ["p1"]
    assert ask(chart, "Provenance?target:Observation.subject:Patient.name=lind") == ["prov"]
    assert ask(chart, "Observation?patient.identifier=7&patient.identifier=8") == []
    assert ask(chart, "Observation?subject:Patient.name:contains=IND") == ["m", "p1"]


def test_two_chains_are_independent() -> None:
    chart = record(
        observation("a", valueString="x"), observation("b", valueString="y"),
        observation("panel", hasMember=[{"reference": "Observation/a"}, {"reference": "Observation/b"}]),
    )  # fmt: skip
    assert ask(chart, "Observation?has-member.value-string=x&has-member.value-string=y") == ["panel"]


def test_has() -> None:
    chart = chained()
    assert ask(chart, "Patient?_has:Observation:patient:code=2160-0") == ["1"]
    assert ask(chart, "Patient?_has:Observation:patient:code=9999-9") == []
    assert ask(chart, "Patient?_has:Observation:patient:_has:Provenance:target:_id=prov") == ["1"]
    assert ask(chart, "MedicationRequest?patient._has:Observation:patient:code=2160-0") == ["order"]
    assert ask(chart, "Observation?_has:Observation:has-member:patient:Patient.name=lind") == ["m"]


# --- and, or, escapes, common parameters ------------------------------------------------------------------------------


def test_and_or_and_escapes() -> None:
    chart = record(
        observation("comma", code=coded((None, "a,b")), status="final"),
        observation("bar", code=coded(("s|t", "c|d"))),
        observation("slash", code=coded((None, "e\\f"))),
        observation("dollar", code=coded((None, "x$y")), valueQuantity={"value": 5}),
        observation("a", code=coded((None, "a")), status="amended"),
    )
    assert ask(chart, r"Observation?code=a\,b") == ["comma"]
    assert ask(chart, "Observation?code=a,b") == ["a"]
    assert ask(chart, r"Observation?code=s\|t|c\|d") == ["bar"]
    assert ask(chart, r"Observation?code=e\\f") == ["slash"]
    assert ask(chart, r"Observation?code-value-quantity=x\$y$5") == ["dollar"]
    assert ask(chart, "Observation?status=final,amended&status=amended") == ["a"]


def test_common_parameters() -> None:
    meta = {
        "tag": [{"system": "t", "code": "x"}], "security": [{"code": "R"}], "lastUpdated": "2180-05-02T00:00:00Z",
        "profile": ["http://profile/a"], "source": "http://source",
    }  # fmt: skip
    chart = record(observation("marked", meta=meta), observation("plain"))
    for query in (
        "_id=marked", "_tag=t|x", "_security=R", "_profile=http://profile/a", "_lastUpdated=ge2180-05-02",
        "_source=http://source",
    ):  # fmt: skip
        assert ask(chart, f"Observation?{query}") == ["marked"], query
    assert ask(chart, "Observation?_profile=http://profile") == []
    assert ask(chart, "Observation?_id=nobody") == []


# --- definition traps -------------------------------------------------------------------------------------------------


def test_definition_traps() -> None:
    dosed = [{"timing": {"event": ["2180-05-03"]}}]
    context = {"period": {"start": "2180-01", "end": "2180-02"}}
    part = {"code": coded((None, "c")), "valueQuantity": {"value": 5}}
    given = {"resourceType": "MedicationAdministration", "effectiveDateTime": "2180-05-02"}
    chart = record(
        {"resourceType": "MedicationRequest", "id": "mr", "authoredOn": "2180-05-02", "dosageInstruction": dosed},
        {"resourceType": "DocumentReference", "id": "doc", "date": "2180-05-02T00:00:00Z", "context": context},
        {"resourceType": "Flag", "id": "flag", "period": {"start": "2180-05-02"}, "status": "active"},
        {"resourceType": "CarePlan", "id": "plan", "period": {"start": "2180-05-02"}},
        {"resourceType": "ServiceRequest", "id": "sr", "authoredOn": "2180-05-02"},
        {**given, "id": "ma", "context": to("Encounter/1")},
        observation("concept", valueCodeableConcept={"text": "Positive"}, component=[part]),
    )  # fmt: skip
    assert (
        ask(chart, "MedicationRequest?date=2180-05-03")
        == ["mr"]
        == ask(chart, "MedicationRequest?authoredon=2180-05-02")
    )
    assert (
        ask(chart, "DocumentReference?date=2180-05-02") == ["doc"] == ask(chart, "DocumentReference?period=lt2180-03")
    )
    assert ask(chart, "DocumentReference?date=lt2180-03") == []
    assert ask(chart, "Flag?date=ge2180-05-02") == ["flag"] == ask(chart, "Flag?date=le2180-05-03")
    assert ask(chart, "CarePlan?date=ge2180-05-02") == ["plan"]
    assert ask(chart, "ServiceRequest?authored=2180-05-02") == ["sr"]
    assert ask(chart, "MedicationAdministration?effective-time=2180-05-02&context=Encounter/1") == ["ma"]
    assert ask(chart, "Observation?value-string=posit") == ["concept"]
    assert ask(chart, "Observation?combo-value-quantity=5&combo-code=c") == ["concept"]
    assert ask(chart, "Observation?value-quantity=5") == []
    for wrong in ("Flag?status=active", "Flag?code=x", "Flag?category=x", "MedicationAdministration?encounter=1"):
        with pytest.raises(SearchError, match="has no search parameter"):
            ask(chart, wrong)


# --- clock, view, overlay ---------------------------------------------------------------------------------------------


def test_nothing_later_leaks_through_chains_has_or_includes() -> None:
    builder = ChartBuilder("p")
    builder.add({"resourceType": "Organization", "id": "late", "name": "Hospice"}, "2180-05-10")
    builder.add(
        {"resourceType": "Encounter", "id": "e", "serviceProvider": {"reference": "Organization/late"}}, "2180-05-01"
    )
    builder.add(observation("o", encounter={"reference": "Encounter/e"}), "2180-05-10")
    from wardround.patients.chart import memory_chart
    from wardround.patients.packing import pack

    chart = memory_chart(pack("p", builder.resources(), "CC0-1.0"))
    for now, seen in (("2180-05-05", False), ("2180-05-12", True)):
        at = chart.at(parse_instant(now))
        assert (ask(at, "Encounter?service-provider.name=hospice") == ["e"]) is seen
        assert (ask(at, "Encounter?service-provider=late") == ["e"]) is seen
        assert (ask(at, "Encounter?_has:Observation:encounter:_id=o") == ["e"]) is seen
        assert bool(fhir_search(at, "Encounter", "_include=Encounter:service-provider").included) is seen
        assert bool(fhir_search(at, "Encounter", "_revinclude=Observation:encounter").included) is seen
        assert fhir_search(at, "Observation").total == int(seen)


def test_an_order_matches_as_it_was_known() -> None:
    builder = ChartBuilder("p")
    builder.medication("Warfarin", dose="5 mg", start="2180-05-01T00:00:00Z", stop="2180-05-04T00:00:00Z", id="w")
    chart = builder.chart()
    early, late = (chart.at(parse_instant(now)) for now in ("2180-05-02", "2180-05-06"))
    assert ask(early, "MedicationRequest?status=active") == ["w"] == ask(late, "MedicationRequest?status:not=active")
    assert ask(late, "MedicationRequest?status=active") == []


def test_hidden_types_and_sections_are_not_found() -> None:
    parts = [
        {"attachment": {"title": "History", "url": "http://h"}},
        {"attachment": {"title": "Plan", "url": "http://p"}},
    ]
    doc = {"resourceType": "DocumentReference", "id": "note", "content": parts}
    chart = record(doc, observation("o")).chart
    plain = chart.at(parse_instant(NOW))
    cut = chart.at(parse_instant(NOW), ViewFilter(types=("Observation",), sections=("plan",)))
    assert ask(plain, "DocumentReference?location=http://p") == ["note"]
    assert ask(cut, "DocumentReference?location=http://p") == []
    assert ask(cut, "DocumentReference?location=http://h") == ["note"]
    assert ask(cut, "Observation?") == [] and ask(plain, "Observation?") == ["o"]
    assert b"http://p" not in fhir_search(cut, "DocumentReference").bundle()
    assert [entry.id for entry in fhir_search(cut, "DocumentReference", "_sort=location").matches] == ["note"]


def test_chains_see_the_newest_version_only() -> None:
    overlay = Overlay(chained())
    overlay.update("Patient/1", {"name": [{"family": "Berg"}]})
    assert ask(overlay, "Observation?subject:Patient.name=lind") == []
    assert ask(overlay, "Observation?subject:Patient.name=berg") == ["m", "p1"]
    moved = {"subject": to("Patient/other"), "hasMember": None}
    overlay.update("Observation/p1", moved, valid=True)
    assert ask(overlay, "Patient?_has:Observation:patient:code=2160-0") == []
    assert ask(overlay, "Observation?_has:Observation:has-member:code=2160-0") == []


def test_writes_are_found_at_once_and_new_versions_hide_old_ones() -> None:
    builder = ChartBuilder("p")
    builder.medication("Warfarin", dose="5 mg", start="2180-05-01T00:00:00Z", id="w")
    overlay = Overlay(builder.chart().at(parse_instant(NOW)))
    assert ask(overlay, "MedicationRequest?status=active") == ["w"]
    overlay.update("MedicationRequest/w", {"status": "on-hold"})
    assert ask(overlay, "MedicationRequest?status=active") == []
    assert ask(overlay, "MedicationRequest?status=on-hold") == ["w"]
    assert fhir_search(overlay, "MedicationRequest").total == 1
    overlay.create(
        {
            "resourceType": "Flag",
            "status": "active",
            "code": {"text": "Fall risk"},
            "subject": {"reference": "Patient/p"},
        }
    )
    assert ask(overlay, "Patient?_has:Flag:patient:_id=new-2") == ["p"]
    assert ask(overlay, "Flag?_lastUpdated=2180-05-07") == ["new-2"]
    assert ask(overlay.snapshot, "Flag?") == []
    order = [entry.id for entry in fhir_search(overlay, "MedicationRequest").matches]
    from wardround.patients import Search

    assert order == [entry.id for entry in overlay.search(Search("MedicationRequest")).entries()]
