"""The knowledge files: complete, consistent, and faults named by file, line and path."""

from __future__ import annotations

import csv
from decimal import Decimal
from importlib import resources
from pathlib import Path

import pytest

from wardround.patients import knowledge
from wardround.patients.errors import DataError
from wardround.patients.knowledge.loader import CONCEPT_FILES, Faults, Source, read
from wardround.patients.knowledge.models import Lab, Monitoring

FILES = (*CONCEPT_FILES, "units.json", "monitoring.json", "ambiguous.json", "words.json")


def _bytes(name: str) -> bytes:
    return resources.files("wardround.patients.knowledge").joinpath("data", name).read_bytes()


def test_shipped_files_have_no_fault() -> None:
    assert knowledge.audit() == []


@pytest.mark.parametrize(
    ("table", "least"),
    [("labs", 160), ("drugs", 220), ("drug_classes", 60), ("conditions", 150), ("findings", 150), ("units", 60)],
)
def test_breadth(table: str, least: int) -> None:
    entries = getattr(knowledge, table)()
    assert len(entries) >= least
    assert all(getattr(entry, "id", key) in (key, None) for key, entry in entries.items())


@pytest.mark.parametrize("name", FILES)
def test_one_entry_a_line(name: str) -> None:
    lines = _bytes(name).decode().splitlines()
    assert lines[0].startswith('{"format_version": 1') and lines[0].endswith('"entries": [')
    assert lines[-1] == "]}"
    assert all(line.startswith('{"') and line.rstrip(",").endswith("}") for line in lines[1:-1])


def test_every_concept_has_a_chinese_name() -> None:
    missing = [one.id for one in knowledge.lexicon().concepts().values() if not one.name.zh]
    assert missing == []


def test_only_confirmed_rxnorm_numbers() -> None:
    numbers = {drug.id: drug.rxnorm for drug in knowledge.drugs().values() if drug.rxnorm}
    assert numbers == {
        "warfarin": "11289",
        "aspirin": "1191",
        "metformin": "6809",
        "furosemide": "4603",
        "morphine": "7052",
        "pantoprazole": "40790",
    }
    assert all(knowledge.drugs()[one].source for one in numbers)


def test_notice_travels_with_the_codes() -> None:
    notice = _bytes("NOTICE").decode()
    assert "copyright Regenstrief Institute, Inc. and the LOINC" in notice
    assert "LOINC 2.71" in notice
    assert "UCUM" in notice


def test_lab_codes_agree_with_the_public_maps(shared: Path) -> None:
    wanted: dict[str, set[int]] = {}
    with (shared / "data" / "mimic-loinc" / "d_labitems_to_loinc.csv").open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            wanted.setdefault(row["omop_concept_code"], set()).add(int(row["itemid (omop_source_code)"]))
    seen: set[int] = set()
    for lab in knowledge.labs().values():
        mapped = {item for code in lab.loinc for item in wanted.get(code, ())}
        assert set(lab.mimic_itemids) <= mapped, lab.id
        assert not seen.intersection(lab.mimic_itemids), lab.id
        seen.update(lab.mimic_itemids)


def test_most_frequent_labs_are_covered(shared: Path) -> None:
    codes = {code for lab in knowledge.labs().values() for code in lab.loinc}
    with (shared / "clinical" / "labs_candidates.tsv").open(encoding="utf-8", newline="") as rows:
        events = {row["loinc"]: int(row["n_events"]) for row in csv.DictReader(rows, delimiter="\t")}
    covered = sum(count for code, count in events.items() if code in codes)
    assert covered >= 0.9 * sum(events.values())


def test_rules_split_the_value_line() -> None:
    pairs = knowledge.monitoring()
    assert len(pairs) >= 25
    for pair in pairs.values():
        edges = {rule.below for rule in pair.rules if rule.below is not None}
        points = [Decimal(0), *edges, *(edge - Decimal("0.001") for edge in edges), Decimal(100_000)]
        for point in points:
            met = [
                rule.id
                for rule in pair.rules
                if (rule.at_least is None or point >= rule.at_least) and (rule.below is None or point < rule.below)
            ]
            assert len(met) == 1, (pair.id, point, met)


def test_every_act_is_said_in_both_languages() -> None:
    for pair in knowledge.monitoring().values():
        for rule in pair.rules:
            assert rule.finding.en and rule.finding.zh and rule.advice.en and rule.advice.zh, rule.id


@pytest.mark.parametrize(
    ("pair", "value", "act"),
    [
        ("warfarin_inr", "2.5", "continue"),
        ("warfarin_inr", "3.0", "continue"),
        ("warfarin_inr", "6.8", "hold"),
        ("metformin_egfr", "29", "stop"),
        ("metformin_egfr", "60", "continue"),
        ("mra_potassium", "6.2", "stop"),
        ("lithium_level", "1.6", "hold"),
        ("clozapine_anc", "0.8", "hold"),
        ("levothyroxine_tsh", "0.02", "reduce"),
        ("loop_diuretic_potassium", "4.0", "continue"),
        ("vancomycin_trough", "20", "continue"),
    ],
)
def test_decisions(pair: str, value: str, act: str) -> None:
    rules = knowledge.monitoring()[pair].rules
    number = Decimal(value)
    (met,) = [
        rule
        for rule in rules
        if (rule.at_least is None or number >= rule.at_least) and (rule.below is None or number < rule.below)
    ]
    assert met.act == act


# -- broken files: each fault is found and named ----------------------------------------------------------------------


def _broken(name: str, old: str, new: str) -> list[str]:
    text = _bytes(name).decode()
    assert old in text
    return knowledge.audit({name: text.replace(old, new, 1).encode()})


def _line(name: str, start: str) -> int:
    return next(n for n, line in enumerate(_bytes(name).decode().splitlines(), 1) if line.startswith(start))


@pytest.mark.parametrize(
    ("name", "entry", "old", "new", "message"),
    [
        ("labs.json", "creatinine", '"umol/L": "88.4"', '"umol/L": "many"', "creatinine.factors.umol/L: "),
        ("labs.json", "creatinine", '"umol/L": "88.4"', '"umol/L": "-88.4"', "is not a positive factor"),
        (
            "labs.json",
            "creatinine",
            '"umol/L": "88.4"',
            '"furlong": "88.4"',
            "creatinine.factors.furlong: not in units",
        ),
        ("labs.json", "potassium", '"id": "potassium"', '"id": "creatinine"', "creatinine: `id` appears twice"),
        (
            "drugs.json",
            "warfarin",
            '["vitamin_k_antagonist"]',
            '["rodenticide"]',
            "`rodenticide` is not in drug_classes",
        ),
        ("drugs.json", "warfarin", '"assumption": true', '"assumed": true', "warfarin.assumed: Extra inputs"),
        ("conditions.json", "stemi", '"broader": ["myocardial_infarction"]', '"broader": ["x"]', "`x` is no concept"),
        ("conditions.json", "gout", '"assumption": true', '"assumption": false', "give `source` or `assumption: true`"),
        ("monitoring.json", "warfarin_inr", '"below": "2",', '"below": "1.9",', "ends at 1.9 but"),
        ("monitoring.json", "warfarin_inr", '"lab": "inr"', '"lab": "inrr"', "`inrr` is not in labs.json"),
        (
            "monitoring.json",
            "digoxin_potassium",
            '"drugs": ["digoxin"]',
            '"drugs": ["foxglove"]',
            "`foxglove` is no drug",
        ),
    ],
)
def test_a_fault_is_named_by_file_line_and_path(name: str, entry: str, old: str, new: str, message: str) -> None:
    text = _bytes(name).decode()
    line = _line(name, f'{{"id": "{entry}"')
    lines = text.splitlines()
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new, 1)
    faults = knowledge.audit({name: "\n".join(lines).encode()})
    assert any(fault.startswith(f"{name}:{line}: ") and message in fault for fault in faults), faults


def test_all_faults_are_reported_at_once() -> None:
    text = _bytes("labs.json").decode().replace('"88.4"', '"many"').replace('"0.2495"', '"few"')
    faults = knowledge.audit({"labs.json": text.encode()})
    for lab in ("creatinine", "urine_creatinine", "calcium", "corrected_calcium"):
        assert any(f": {lab}.factors." in fault for fault in faults), lab


def test_an_unsettled_wording_is_reported() -> None:
    faults = _broken("drugs.json", '"brands": ["Coumadin"', '"brands": ["Lasix", "Coumadin"')
    assert any("`lasix` names" in fault and "ambiguous.json" in fault for fault in faults)


def test_a_stale_settlement_is_reported() -> None:
    faults = _broken("ambiguous.json", '"term": "MS"', '"term": "MSX"')
    assert any(fault.startswith("ambiguous.json: MSX: ") for fault in faults)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"format_version": 1, "entries": [\n{"id" "x"}\n]}', "line 2, column 7: not JSON"),
        (b"[]", "expected `{"),
        (b'{"format_version": 2, "entries": []}', "`format_version` is 2; this version reads 1"),
    ],
)
def test_a_file_that_is_no_knowledge_file(data: bytes, message: str) -> None:
    faults = Faults()
    assert read(Source("labs.json", data), Lab, faults) == []
    with pytest.raises(DataError, match=r"labs\.json") as caught:
        faults.check()
    assert message in str(caught.value)


def test_partition_of_no_rules() -> None:
    from wardround.patients.knowledge.auditing import partition_problems

    assert partition_problems(Monitoring(id="x", drugs=("a",), lab="b")) == ["give at least one rule"]


def test_tables_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        knowledge.labs()["x"] = knowledge.labs()["creatinine"]  # type: ignore[index]
