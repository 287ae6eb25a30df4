"""Role × type × operation, whole: every way to a resource, for every role and type, beside somebody who sees all.

What a role sees is taken from its scopes, which test_server_roles.py holds against a table written by hand. Of the
links between types (includes, chains) all are walked that lead to anything in this record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from bodies import BODIES, SUBJECT
from served import Asking

from wardround.envs.server import ChartRecords, access_of, roles
from wardround.envs.server.journal import Journal
from wardround.patients import ChartStore, parameters, searchable

PATIENTS = ("ward-01", "ward-02")
OTHER = "ward-02"
"""Not the patient of the role `patient`."""


class Link(NamedTuple):
    """One type's reference to another that leads to something."""

    source: str
    parameter: str
    target: str


class _Two:
    """The ward's store with two of its patients."""

    def __init__(self, store: ChartStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def patients(self) -> tuple[str, ...]:
        return PATIENTS

    def __contains__(self, patient: str) -> bool:
        return patient in PATIENTS


class Stage:
    """Records with something of each type that any role writes, and what is in them."""

    def __init__(self, store: ChartStore) -> None:
        self.all = Asking(ChartRecords(_Two(store), {}, Journal(None)))  # type: ignore[arg-type]
        report = {**BODIES["report"], "result": [], "basedOn": []}
        for name, body in BODIES.items():
            made = self.all.post(body["resourceType"], body).json
            if name in ("vital sign", "lab"):
                report["result"].append({"reference": f"Observation/{made['id']}"})
            if name == "request":
                report["basedOn"].append({"reference": f"ServiceRequest/{made['id']}"})
        assert self.all.post("DiagnosticReport", report).status == 201
        everything = self.all.get("?_count=1000")
        assert everything.json["total"] == len(everything.ids)
        self.keys = {kind: {key for key in everything.ids if key.startswith(f"{kind}/")} for kind in searchable()}
        self.kinds = [kind for kind, keys in self.keys.items() if keys]
        self.mine, self.others = ({*self.all.get(f"Patient/{one}/$everything?_count=1000").ids} for one in PATIENTS)
        self.links = [
            Link(kind, name, target)
            for kind in self.kinds
            for name, one in parameters(kind).items()
            if one.type == "reference"
            for target in one.targets
            if self.keys.get(target) and self.all.get(chain(Link(kind, name, target))).json["total"]
        ]


def chain(link: Link) -> str:
    return f"{link.source}?{link.parameter}:{link.target}._id:missing=false&_count=1000"


def has(link: Link) -> str:
    return f"{link.target}?_has:{link.source}:{link.parameter}:_id:missing=false&_count=1000"


def include(link: Link) -> str:
    return f"{link.source}?_include={link.source}:{link.parameter}:{link.target}&_count=1000"


def revinclude(link: Link) -> str:
    return f"{link.target}?_revinclude={link.source}:{link.parameter}:{link.target}&_count=1000"


@pytest.fixture(scope="module")
def stage(store: ChartStore) -> Stage:
    return Stage(store)


@pytest.fixture(params=sorted(roles()))
def role(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def seen(stage: Stage, role: str) -> dict[str, set[str]]:
    """What a role may see, by type: its scopes' filters asked as plain searches by somebody who sees all."""
    found: dict[str, set[str]] = {}
    for grant in access_of(role, roles()[role], "ward-01").grants:
        for kind in stage.keys if grant.kind == "*" else (grant.kind,):
            if kind in stage.keys and "s" in grant.actions and "r" in grant.actions:
                hits = {*stage.all.get(f"{kind}?{grant.query}&_count=1000").ids}
                found.setdefault(kind, set()).update(hits & stage.mine if grant.level == "patient" else hits)
    return found


def test_the_stage_leaves_nothing_out(stage: Stage):
    assert len(stage.kinds) > 20 and len(stage.links) > 40 and len(stage.others) > 50
    assert {body["resourceType"] for body in BODIES.values()} <= {*stage.kinds}
    shown = {kind for link in stage.links for kind in (link.source, link.target)}
    assert {"Observation", "Encounter", "Patient", "DocumentReference", "DiagnosticReport", "Specimen"} <= shown


def test_reads_and_searches_of_each_type(stage: Stage, role: str, seen: dict[str, set[str]]):
    asked = stage.all.as_role(role, "ward-01")
    for kind in searchable():
        wanted, hidden = seen.get(kind, set()), kind not in seen
        post = asked.post(f"{kind}/_search", b"_count=1000", content_type="application/x-www-form-urlencoded")
        for answer in (asked.get(f"{kind}?_count=1000"), post, asked.get(f"?_type={kind}&_count=1000")):
            assert answer.status == (403 if hidden else 200), kind
            if not hidden:
                assert {*answer.ids} == wanted and answer.json["total"] == len(wanted), kind
        within = asked.get(f"Patient/{OTHER}/{kind}?_count=1000")
        if within.status != 404:  # the type is in a patient's compartment
            assert within.status == (403 if hidden else 200), kind
            assert hidden or {*within.ids} == wanted & stage.others, kind
        everything = asked.get(f"Patient/ward-01/$everything?_type={kind}&_count=1000")
        assert everything.status == (200 if "Patient" in seen else 403), kind
        assert everything.status == 403 or {*everything.ids} == wanted & stage.mine, kind
        for key in sorted(stage.keys[kind])[:2] + sorted(stage.keys[kind])[-2:]:
            for path in (key, f"{key}/_history", f"{key}/_history/1"):
                assert asked.get(path).status == (403 if hidden else 200 if key in wanted else 404), path


def test_links_between_types(stage: Stage, role: str, seen: dict[str, set[str]]):
    asked, all_ = stage.all.as_role(role, "ward-01"), stage.all
    visible = set().union(*seen.values())
    for link in stage.links:
        for ask, kind in ((chain, link.source), (include, link.source), (has, link.target), (revinclude, link.target)):
            answer = asked.get(ask(link))
            assert answer.status == (200 if kind in seen else 403), ask(link)
            if kind not in seen:
                continue
            found, whole = {*answer.ids}, {*all_.get(ask(link)).ids}
            assert found <= visible, ask(link)
            if whole <= visible and stage.keys[link.source] | stage.keys[link.target] <= visible:
                assert found == whole, ask(link)
            if ask in (chain, has) and not seen.get(link.target if ask is chain else link.source):
                assert answer.json["total"] == 0, ask(link)


def test_pages_and_exports(stage: Stage, role: str, seen: dict[str, set[str]]):
    asked = stage.all.as_role(role, "ward-01")
    whole = asked.access.visibility("s", OTHER).total
    for kind in stage.kinds:
        theirs = stage.all.get(f"{kind}?_count=1").link("next")
        if theirs is not None:
            assert asked.get(theirs).status == (403 if kind not in seen else 200 if whole else 410), kind
        if kind in seen and (mine := asked.get(f"{kind}?_count=1").link("next")) is not None:
            assert asked.get(mine).status == 200
            assert stage.all.get(mine).status == (200 if whole else 410), kind
        begun = asked.get(f"$export?_type={kind}", prefer="respond-async")
        assert begun.status == (202 if kind in seen else 403), kind
        if begun.status == 202:
            files = asked.get(begun.headers["Content-Location"]).json["output"]
            assert {one["type"] for one in files} <= {kind}
            lines = [line for one in files for line in asked.get(one["url"]).text.splitlines()]
            assert len(lines) == len(seen[kind]) == sum(one["count"] for one in files), kind
            assert files == [] or stage.all.get(files[0]["url"]).status == 404  # somebody else's


@pytest.fixture
def fresh(store: ChartStore) -> Iterator[Asking]:
    yield Asking(ChartRecords(_Two(store), {}, Journal(None)))  # type: ignore[arg-type]


def test_each_kind_of_write(fresh: Asking, role: str):
    """What POST and PATCH of each sort allow (test_server_roles.py) every other way of writing allows, and no more."""
    made = {name: fresh.post(body["resourceType"], {**body, "id": "x"}).json for name, body in BODIES.items()}
    asked = fresh.as_role(role, "ward-01")

    def version() -> int:
        return fresh.records.pool(None, lambda: None).version

    for name, body in BODIES.items():
        for what, allowed, answer in _writes(asked, body, made[name]):
            before = version()
            status = answer()
            assert (status in (200, 201)) == allowed, (name, what, status)
            assert version() == before + allowed, (name, what)
            assert allowed or status in (400, 403, 404, 405), (name, what, status)


def _writes(asked: Asking, body: Any, made: Any) -> list[tuple[str, bool, Callable[[], int]]]:
    """Return each way of writing a resource, whether it is to be allowed, and what does it."""
    kind = body["resourceType"]
    key, where = f"{kind}/{made['id']}", f"{kind}?_id={made['id']}"
    create = asked.post(kind, body).status == 201
    change = asked("PATCH", key, {"language": "en"}).status == 200
    search = asked.access.may("s", kind)
    found = search and key in asked.get(where).ids

    def bundled(sort: str, method: str, url: str, resource: Any) -> int:
        entry = {"resource": resource, "request": {"method": method, "url": url}}
        answer = asked.post("", {"resourceType": "Bundle", "type": sort, "entry": [entry]})
        return int(answer.json["entry"][0]["response"]["status"][:3]) if sort == "batch" else answer.status

    return [
        ("create where", create and search, lambda: asked.post(kind, body, if_none_exist=f"{kind}?_id=no").status),
        ("put", change, lambda: asked("PUT", key, made).status),
        ("put where", change and found, lambda: asked("PUT", where, made).status),
        ("patch where", change and found, lambda: asked("PATCH", where, {"language": "de"}).status),
        ("transaction", create, lambda: bundled("transaction", "POST", kind, body)),
        ("transaction put", change, lambda: bundled("transaction", "PUT", key, made)),
        ("batch", create, lambda: bundled("batch", "POST", kind, body)),
        ("batch put", change, lambda: bundled("batch", "PUT", key, made)),
        ("delete", False, lambda: asked("DELETE", key).status),
        ("delete where", False, lambda: asked("DELETE", where).status),
    ]


def test_a_patient_of_a_round_is_bound_as_of_charts(fresh: Asking):
    """A token of one patient is of use for no other, whatever it names."""
    asked = fresh.as_role("patient", OTHER)
    assert asked.get("Patient").ids == [f"Patient/{OTHER}"]
    assert asked.post("Communication", {**BODIES["message"], "subject": SUBJECT}).status == 403
