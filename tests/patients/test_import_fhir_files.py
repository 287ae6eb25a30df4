"""FHIR files: every form that is read, and every damage and every other version that is refused with its reason."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from wardround.patients import DataError, UsageError, import_fhir
from wardround.patients.fhir import _data
from wardround.patients.importers import fhir_read
from wardround.patients.importers.fhir_rules import rules
from wardround.patients.importers.fhir_version import other_version

Import = Callable[..., Any]

PATIENT = {"resourceType": "Patient", "id": "p1", "gender": "male"}
LAB = {
    "resourceType": "Observation",
    "id": "o1",
    "status": "final",
    "code": {"text": "Sodium"},
    "subject": {"reference": "Patient/p1"},
    "effectiveDateTime": "2020-05-02T06:00:00Z",
}


def text(*resources: dict[str, Any]) -> str:
    return "\n".join(orjson.dumps(one).decode() for one in resources)


def bundle(*resources: dict[str, Any]) -> dict[str, Any]:
    return {"resourceType": "Bundle", "type": "searchset", "entry": [{"resource": one} for one in resources]}


BUNDLES = ("batch", "batch-response", "collection", "document", "history", "message", "transaction")
PRETTY = orjson.dumps(bundle(PATIENT, LAB), option=orjson.OPT_INDENT_2).decode()
FORMS: dict[str, dict[str, str | bytes]] = {
    "NDJSON": {"all.ndjson": text(PATIENT, LAB) + "\n\n"},
    "CRLF": {"all.ndjson": text(PATIENT, LAB).replace("\n", "\r\n")},
    "byte order mark": {"all.ndjson": b"\xef\xbb\xbf" + text(PATIENT, LAB).encode()},
    "gz": {"all.ndjson.gz": gzip.compress(text(PATIENT, LAB).encode())},
    "gz under a plain name": {"all.ndjson": gzip.compress(text(PATIENT, LAB).encode())},
    "jsonl, mixed files": {"a.jsonl": text(LAB), "sub/b.json": text(PATIENT)},
    "NDJSON called json": {"all.json": text(PATIENT, LAB)},
    "a bundle, written over lines": {"all.json": PRETTY},
    "a bundle as gz": {"all.json.gz": gzip.compress(PRETTY.encode())},
    "a bundle in a line": {"all.ndjson": text(bundle(PATIENT), bundle(LAB))},
    "a bundle in a bundle": {"all.json": text(bundle(bundle(PATIENT, LAB)))},
    **{f"a {kind}": {"all.json": text(bundle(PATIENT, LAB) | {"type": kind})} for kind in BUNDLES},
    "a bulk export's manifest": {
        "all.ndjson": text(PATIENT, LAB),
        "manifest.json": '{"transactionTime":"x","output":[]}',
    },
}


def put(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / "in ['*?]" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder / "in ['*?]"


@pytest.mark.parametrize("name", sorted(FORMS))
def test_every_form_gives_the_same_store(tmp_path: Path, name: str) -> None:
    source = put(tmp_path, FORMS[name])
    plain = put(tmp_path / "plain", FORMS["NDJSON"])
    report = import_fhir(source, tmp_path / "a.sqlite")
    assert report.store_hash == import_fhir(plain, tmp_path / "b.sqlite").store_hash
    assert report.resources == {"Observation": 1, "Patient": 1}


def test_a_single_file_may_be_named_and_other_files_are_told(tmp_path: Path) -> None:
    folder = put(tmp_path, {"one.json": PRETTY, "LICENSE": "x", ".hidden.json": "{"})
    assert import_fhir(folder / "one.json", tmp_path / "a.sqlite").patients == 1
    assert import_fhir(folder, tmp_path / "a.sqlite").unread_tables == ("LICENSE",)


def test_bundle_entries_without_a_resource_are_counted(tmp_path: Path) -> None:
    whole = bundle(PATIENT, LAB)
    whole["entry"] += [{"request": {"method": "DELETE", "url": "Patient/x"}}]
    whole["entry"] += [{"resource": LAB | {"id": "o2"}, "request": {"method": "DELETE", "url": "Observation/o2"}}]
    report = import_fhir(put(tmp_path, {"a.json": text(whole)}), tmp_path / "a.sqlite")
    refused = {table.table: [one.reason for one in table.refused] for table in report.tables if table.refused}
    assert refused == {
        "Bundle entries": ["a bundle entry without a resource"],
        "Observation": ["deleted by its bundle"],
    }
    example = next(table for table in report.tables if table.table == "Observation").refused[0].example_row
    assert example == {"file": "a.json", "line": 1, "entry": 4, "text": "Observation/"}


def test_a_history_that_ends_with_deleting_leaves_nothing(tmp_path: Path) -> None:
    """Newest first: o1 was deleted, o2 was deleted and written again."""

    def put_(identity: str) -> dict[str, Any]:
        return {"resource": LAB | {"id": identity}, "request": {"method": "PUT", "url": f"Observation/{identity}"}}

    def delete(identity: str) -> dict[str, Any]:
        return {"request": {"method": "DELETE", "url": f"Observation/{identity}"}}

    entries = [{"resource": PATIENT}, put_("o2"), delete("o1"), put_("o1"), delete("o2"), put_("o2")]
    whole = {"resourceType": "Bundle", "type": "history", "entry": entries}
    report = import_fhir(put(tmp_path, {"a.json": text(whole)}), tmp_path / "a.sqlite")
    assert report.resources == {"Observation": 1, "Patient": 1}
    labs = next(table for table in report.tables if table.table == "Observation")
    assert {one.reason: one.count for one in labs.refused} == {
        "a copy of a resource that is kept": 1,
        "deleted by its bundle": 1,
    }


DAMAGE: dict[str, tuple[dict[str, str | bytes], str]] = {
    "a line that is cut": ({"a.ndjson": text(PATIENT, LAB)[:-9]}, r"`a.ndjson`, line 2: is not JSON"),
    "a bundle that is cut": ({"a.json": PRETTY[:-30]}, r"`a.json`, line \d+: is not JSON .*fetch it again"),
    "gz that is cut": ({"a.ndjson.gz": gzip.compress(text(PATIENT, LAB).encode() * 99)[:-20]}, "`a.ndjson.gz`"),
    "not gz": ({"a.json.gz": b"\x1f\x8bxxxx"}, "cannot be decompressed"),
    "not UTF-8": ({"a.ndjson": b'{"resourceType":"Patient","id":"\xff"}'}, "`a.ndjson`, line 1: not UTF-8"),
    "not UTF-8, json": ({"a.json": b'{"resourceType":"Patient","id":"\xff"}'}, "not UTF-8 at byte 33"),
    "XML": ({"a.json": '<Patient xmlns="http://hl7.org/fhir"/>'}, "only the JSON form"),
    "no resourceType": ({"a.json": '{"name": "x"}'}, "is not a FHIR resource"),
    "an array": ({"a.json": "[1]"}, "is not a FHIR resource"),
    "a key twice": ({"a.ndjson": '{"resourceType":"Patient","id":"a","id":"b"}'}, "a key stands twice"),
    "NaN": ({"a.ndjson": '{"resourceType":"Patient","id":"a","x":NaN}'}, "not a JSON number"),
    "nested too deeply": (
        {"a.ndjson": '{"resourceType":"Patient","x":' + "[" * 90_000 + "]" * 90_000 + "}"},
        "too deeply",
    ),
    "entry is no array": ({"a.json": '{"resourceType":"Bundle","entry":{}}'}, "`entry` of the Bundle"),
    "an entry is null": ({"a.json": '{"resourceType":"Bundle","entry":[null]}'}, "`entry` of the Bundle"),
    "R5": (
        {"a.ndjson": text(PATIENT, {"resourceType": "Encounter", "class": [{}]})},
        r"line 2: .*FHIR R5: Encounter.cl",
    ),
    "R5 order": (
        {"a.json": text({"resourceType": "MedicationRequest", "medication": {}})},
        "R5: MedicationRequest.med",
    ),
    "STU3": ({"a.json": text({"resourceType": "Condition", "clinicalStatus": "active"})}, "STU3: Condition.clinical"),
    "STU3 type": ({"a.json": text({"resourceType": "ProcedureRequest"})}, "STU3: the type ProcedureRequest"),
    "DSTU2": ({"a.json": text({"resourceType": "MedicationOrder"})}, "DSTU2: the type MedicationOrder"),
    "a stated version": (
        {"a.json": text({"resourceType": "CapabilityStatement", "fhirVersion": "5.0.0"})},
        "it states fhirVersion 5.0.0",
    ),
    "another version inside a bundle": (
        {"a.json": text(bundle(PATIENT, {"resourceType": "MedicationOrder"}))},
        "entry 2",
    ),
}


@pytest.mark.parametrize("name", sorted(DAMAGE))
def test_damage_stops_the_import_with_its_place_and_leaves_the_old_store(tmp_path: Path, name: str) -> None:
    files, message = DAMAGE[name]
    out = tmp_path / "out.sqlite"
    import_fhir(put(tmp_path / "good", FORMS["NDJSON"]), out)
    before = out.read_bytes()
    with pytest.raises(DataError, match=message):
        import_fhir(put(tmp_path, files), out)
    assert out.read_bytes() == before
    assert not [one for one in tmp_path.iterdir() if one.name.startswith(".")]


def test_what_cannot_be_written_is_refused(invented_fhir: Import) -> None:
    huge = text(LAB)[:-1] + ',"valueInteger":99999999999999999999}'
    lone = text(LAB | {"id": "o2"}).replace("Sodium", "\\ud800")
    result = invented_fhir(files={"a.ndjson": "\n".join((text(PATIENT), huge, lone))})
    (reason,) = result.refused("Observation")
    assert reason.startswith("holds a lone surrogate") and result.refused("Observation")[reason] == 2


def test_a_folder_without_fhir_says_what_it_holds(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="for MIMIC-IV tables use `import mimic`"):
        import_fhir(put(tmp_path, {"labevents.csv": "a,b"}), tmp_path / "out.sqlite")


def test_marks_of_other_versions_are_not_r4() -> None:
    definitions, table = _data()["definitions"], rules()
    for version, elements in table["versions"]["elements"].items():
        for kind, names in elements.items():
            for name in names:
                assert name not in definitions[kind]["properties"], f"{version}: {kind}.{name} is R4"
    for names in table["versions"]["types"].values():
        assert not set(names) & set(_data()["types"])


def told(resource: dict[str, Any]) -> str:
    return str(other_version(resource))


def test_every_mark_of_another_version_is_told() -> None:
    table = rules()["versions"]
    for version, names in table["types"].items():
        for kind in names:
            assert told({"resourceType": kind}) == f"FHIR {version}: the type {kind}"
    for version, elements in table["elements"].items():
        for kind, names in elements.items():
            for name in names:
                assert told({"resourceType": kind, name: {}}) == f"FHIR {version}: {kind}.{name}"
    for shape in table["shapes"]:
        value: Any = {"array": [{}], "string": "x", "object": {}}[shape["is"]]
        found = told({"resourceType": shape["type"], shape["element"]: value})
        assert found.startswith(f"FHIR {shape['version']}: {shape['type']}.{shape['element']} is of type")


@pytest.mark.parametrize(
    ("resource", "why"),
    [
        (
            {"resourceType": "Patient", "meta": {"profile": ["http://hl7.org/fhir/5.0/StructureDefinition/Patient"]}},
            "FHIR R5: the profile http://hl7.org/fhir/5.0/StructureDefinition/Patient",
        ),
        (
            {"resourceType": "Patient", "meta": {"profile": ["http://hl7.org/fhir/3.0/StructureDefinition/Patient"]}},
            "FHIR STU3: the profile",
        ),
        (
            {"resourceType": "Patient", "meta": {"profile": ["http://fhir.org/guides/argonaut/StructureDefinition/x"]}},
            "FHIR DSTU2: the profile",
        ),
        ({"resourceType": "CapabilityStatement", "fhirVersion": "3.0.2"}, "it states fhirVersion 3.0.2"),
        (
            {"resourceType": "CapabilityStatement", "fhirVersion": "6.0.0-ballot2"},
            "it states fhirVersion 6.0.0-ballot2",
        ),
        ({"resourceType": "CapabilityStatement", "fhirVersion": "4.0.1"}, "None"),
        ({"resourceType": "CapabilityStatement", "fhirVersion": "4.3.0"}, "None"),  # R4B: the same types
        (
            {
                "resourceType": "Patient",
                "meta": {"profile": ["http://hl7.org/fhir/us/core/StructureDefinition/us-core-x"]},
            },
            "None",
        ),
        ({"resourceType": "Patient", "meta": {"profile": "no array"}}, "None"),
    ],
)
def test_versions_are_told_by_what_is_stated(resource: dict[str, Any], why: str) -> None:
    assert told(resource).startswith(why)


def test_the_rules_name_elements_of_r4_and_cover_every_type() -> None:
    definitions, table = _data()["definitions"], rules()
    stored = set(_data()["types"])
    nobody = set(table["always"])
    assert stored == set(table["known"]) | nobody == set(table["owner"]) | nobody
    assert nobody - {"Patient"} <= set(table["shared"])
    assert set(table["every"]) <= set(table["owner"]) and set(table["not_before"]) <= stored
    elsewhere = {"encounter.end", "cited", "always"}  # answered by the chart, not by the resource
    for part in ("owner", "known", "not_before"):
        for kind, paths in table[part].items():
            for path in set(paths) - elsewhere:
                assert path.split(".")[0] in definitions[kind]["properties"], f"{kind}.{path}"


@pytest.mark.parametrize("ending", [".json", ".json.gz", ".ndjson", ".ndjson.gz"])
def test_a_piece_that_memory_might_not_hold_is_refused(
    invented_fhir: Import, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ending: str
) -> None:
    monkeypatch.setattr(fhir_read, "LARGEST", 1 << 20)
    pack: Callable[[bytes], bytes] = gzip.compress if ending.endswith(".gz") else bytes
    patient = orjson.dumps(PATIENT)
    bomb = tmp_path / f"bomb{ending}"
    bomb.write_bytes(pack(patient + b" " * (1 << 20)))
    with pytest.raises(DataError, match="more than 1 MiB in one piece"):
        import_fhir(bomb, tmp_path / "out.sqlite")
    fits = patient + b" " * ((1 << 20) - len(patient))
    assert invented_fhir(files={f"fits{ending}": pack(fits)}).store.patients() == ("p1",)
