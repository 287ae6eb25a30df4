"""Clients of other languages, and many at a time, against a server that really listens.

WARDROUND_NODE names a folder whose `node_modules` holds the clients of npm:

    mkdir FOLDER && cd FOLDER && npm init -y && npm install fhir-kit-client@2.0.3 fhirclient@2.6.3

WARDROUND_HAPI is a class path with HAPI's generic client for R4 (the wheel pathling==6.2.2 carries one, 6.6.1, in its
`library-api-6.2.2-all.jar`; it needs slf4j-api 1.7 beside it), for Java 17.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from served import ALL, Listening, listening

from wardround.envs import Episode
from wardround.envs.server import Running, serve_charts, serve_episodes
from wardround.patients import load_charts
from wardround.sessions import load_sessions

pytestmark = pytest.mark.external

KIT = """
import { Client } from "fhir-kit-client";
import assert from "node:assert";
const [base, token] = process.argv.slice(2);
const client = new Client({ baseUrl: base, bearerToken: token });
const told = await client.capabilityStatement();
assert.equal(told.fhirVersion, "4.0.1");
await client.smartAuthMetadata();
const patient = await client.read({ resourceType: "Patient", id: "ward-01" });
assert.equal(patient.id, "ward-01");
const searchParams = { patient: "ward-01", _count: "40" };
let page = await client.resourceSearch({ resourceType: "Observation", searchParams });
const total = page.total, found = new Set();
while (page) {
  for (const one of page.entry) found.add(one.resource.id);
  page = page.link.some((one) => one.relation === "next") ? await client.nextPage({ bundle: page }) : null;
}
assert.equal(found.size, total);
const dated = await client.resourceSearch({
  resourceType: "Observation", searchParams: { patient: "ward-01", date: ["ge2024-05-15", "lt2024-05-17"] } });
assert.ok(dated.total > 0 && dated.total < total);
const posted = await client.resourceSearch({
  resourceType: "Observation", searchParams: { patient: "ward-01" }, options: { postSearch: true } });
assert.equal(posted.total, total);
const inside = await client.compartmentSearch({
  resourceType: "Condition", compartment: { resourceType: "Patient", id: "ward-01" } });
assert.ok(inside.total > 0);
const system = await client.systemSearch({ searchParams: { _type: "Condition,Procedure", _count: "1" } });
assert.ok(system.total > inside.total);
const order = { resourceType: "MedicationRequest", status: "active", intent: "order",
  medicationCodeableConcept: { text: "aspirin" }, subject: { reference: "Patient/ward-01" },
  identifier: [{ system: "urn:kit", value: "1" }] };
const options = { headers: { "If-None-Exist": "identifier=urn:kit|1" } };
const made = await client.create({ resourceType: "MedicationRequest", body: order, options });
const again = await client.create({ resourceType: "MedicationRequest", body: order, options });
assert.equal(made.id, again.id);
const held = { ...made, status: "on-hold" };
const changed = await client.update({ resourceType: "MedicationRequest", id: made.id, body: held });
assert.equal(changed.meta.versionId, "2");
await client.patch({ resourceType: "MedicationRequest", id: made.id,
  jsonPatch: [{ op: "replace", path: "/status", value: "stopped" }] });
const first = await client.vread({ resourceType: "MedicationRequest", id: made.id, version: "1" });
assert.equal(first.status, "active");
const history = await client.resourceHistory({ resourceType: "MedicationRequest", id: made.id });
assert.equal(history.total, 3);
const entry = (resource) => ({ resource, request: { method: "POST", url: resource.resourceType } });
const batch = await client.batch({ body: { resourceType: "Bundle", type: "batch", entry: [entry(order)] } });
assert.equal(batch.entry[0].response.status, "201 Created");
const bundle = { resourceType: "Bundle", type: "transaction", entry: [entry(order), entry(order)] };
const both = await client.transaction({ body: bundle });
assert.equal(both.entry.length, 2);
const all = { name: "everything", resourceType: "Patient", id: "ward-01", method: "GET" };
const everything = await client.operation(all);
assert.ok(everything.total > total);
await assert.rejects(client.read({ resourceType: "Patient", id: "nobody" }), (fault) => fault.response.status === 404);
await assert.rejects(client.create({ resourceType: "MedicationRequest", body: { ...order, status: "x" } }),
  (fault) => fault.response.status === 422 || fault.response.data.resourceType === "OperationOutcome");
console.log("kit done");
"""

SMART = """
const smart = require("fhirclient");
const assert = require("node:assert");
const [base, token] = process.argv.slice(2);
const request = { headers: {}, url: "/", socket: {} }, response = {};
const storage = { get: async () => null, set: async () => null, unset: async () => true };
(async () => {
  const client = smart(request, response, storage).client({
    serverUrl: base, tokenResponse: { access_token: token, token_type: "bearer", patient: "ward-01" } });
  const patient = await client.patient.read();
  assert.equal(patient.id, "ward-01");
  const flat = await client.request("Observation?patient=ward-01&_count=50", { pageLimit: 0, flat: true });
  const one = await client.request("Observation?patient=ward-01&_count=1");
  assert.equal(flat.length, one.total);
  const resolved = await client.request("Observation/" + flat[0].id, { resolveReferences: ["subject"] });
  assert.equal(resolved.subject.id, "ward-01");
  const subject = { reference: "Patient/ward-01" };
  const made = await client.create({ resourceType: "Communication", status: "completed", subject });
  const changed = await client.update({ ...made, status: "stopped" });
  assert.equal(changed.meta.versionId, "2");
  const operation = { op: "replace", path: "/status", value: "completed" };
  const patched = await client.patch("Communication/" + made.id, [operation]);
  assert.equal(patched.status, "completed");
  await assert.rejects(client.request("Patient/nobody"), (fault) => fault.status === 404 || /404/.test(String(fault)));
  console.log("smart done");
})().catch((fault) => { console.error(fault); process.exit(1); });
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    plan = Listening(port=0, scopes=ALL, out=tmp_path_factory.mktemp("served"))
    with load_charts("ward") as store, listening(serve_charts(store, {}, plan)) as running:
        yield running


@pytest.mark.parametrize(("name", "script", "last"), [("kit.mjs", KIT, "kit done"), ("smart.cjs", SMART, "smart done")])
def test_clients_of_npm(server: Running, name: str, script: str, last: str) -> None:
    folder = os.environ.get("WARDROUND_NODE")
    if folder is None:
        pytest.skip("WARDROUND_NODE names no folder with fhir-kit-client and fhirclient")
    path = Path(folder) / name
    path.write_text(script)
    done = subprocess.run(
        ["node", str(path), server.base, server.tokens[0].token],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, last), done.stderr[-3000:]


def test_hapis_java_client(server: Running) -> None:
    classes = os.environ.get("WARDROUND_HAPI")
    if classes is None:
        pytest.skip("WARDROUND_HAPI names no class path with HAPI's client")
    script = Path(__file__).with_name("Hapi.java")
    command = ["java", "-cp", classes, str(script), server.base, server.tokens[0].token]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "hapi done"), done.stderr[-3000:]


def test_eight_clients_for_a_minute_and_two_rounds_that_stay_apart(tmp_path: Path) -> None:
    """No error, nobody sees the other round's patient or writes, and the journal holds every acknowledged write."""
    seconds = float(os.environ.get("WARDROUND_LOAD_SECONDS", "60"))
    with load_charts("ward") as store:
        sessions = []
        for session in load_sessions("ward"):
            if all(session.chart.patient != other.chart.patient for other in sessions):
                sessions.append(session)
        sessions = sessions[:2]
        episodes = [Episode(one, store.chart(one.chart.patient)) for one in sessions]
        faults: list[str] = []
        made: list[list[str]] = [[] for _ in range(8)]
        asked = [0] * 8
        with listening(serve_episodes(episodes, Listening(port=0, roles=["agent"], out=tmp_path))) as server:
            stop = time.monotonic() + seconds

            def work(number: int) -> None:
                session = sessions[number % 2]
                bearer = {"Authorization": f"Bearer {server.tokens[0].token}"}
                base = f"{server.root}/sessions/{session.id}/fhir"
                with httpx.Client(base_url=base, headers=bearer, timeout=30) as client:
                    while time.monotonic() < stop and not faults:
                        before = len(made[number])
                        fault = _one_round(client, session.chart.patient, number, made[number])
                        asked[number] += 4 if len(made[number]) > before else 2
                        faults.extend([fault] if fault else [])

            threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(seconds + 60)
            assert faults == [] and min(asked) > 0
            print(f"{sum(asked)} requests in {seconds:.0f} s")
    lines = [json.loads(line) for line in (tmp_path / "journal.ndjson").read_text().splitlines()[1:]]
    kept: dict[str, list[str]] = {one.id: [] for one in sessions}
    for line in lines:
        kept[line["session"]] += [step["key"] for step in line.get("door", {}).get("writes", ())]
    for place, session in enumerate(sessions):
        wanted = [key for number in range(place, 8, 2) for key in made[number]]
        assert sorted(kept[session.id]) == sorted(wanted) and len(set(wanted)) == len(wanted)


def _one_round(client: httpx.Client, patient: str, number: int, made: list[str]) -> str:
    """Search, read, write and read again; return what was wrong, "" for nothing."""
    found = client.get("/Patient")
    if found.status_code != 200 or [one["resource"]["id"] for one in found.json()["entry"]] != [patient]:
        return f"{number}: {found.status_code} {found.text[:300]}"
    labs = client.get("/Observation", params={"patient": patient, "_count": 5, "_sort": "-date"})
    subjects = {one["resource"]["subject"]["reference"] for one in labs.json().get("entry", ())}
    if labs.status_code != 200 or subjects != {f"Patient/{patient}"}:
        return f"{number}: {labs.status_code} {subjects}"
    if len(made) >= 200:  # each client writes so much and no more
        return ""
    flag: dict[str, Any] = {
        "resourceType": "Flag", "status": "active", "code": {"text": f"by {number}"},
        "subject": {"reference": f"Patient/{patient}"},
    }  # fmt: skip
    written = client.post("/Flag", json=flag)
    if written.status_code != 201:
        return f"{number}: {written.status_code} {written.text[:300]}"
    made.append(f"Flag/{written.json()['id']}")
    again = client.get(f"/{made[-1]}")
    return (
        ""
        if again.status_code == 200 and again.json()["code"]["text"] == f"by {number}"
        else f"{number}: {again.text[:300]}"
    )
