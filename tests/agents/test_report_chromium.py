"""The page in a browser: nothing is asked of any network, nothing hostile runs, and a keyboard is enough."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import report_agents
from chromium import FOUND, Chromium

from wardround.agents import EvaluationPlan, evaluate, read_records, run_hash, write_report

pytestmark = pytest.mark.skipif(FOUND is None, reason="no chromium on this machine (apt-get install chromium)")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run <i>&amp;")
    agents = ("baseline-no-memory", "report_agents:hostile")
    evaluate(EvaluationPlan("ward", agents=agents, phrasings=("explicit", "implicit"), limit=2), out)
    write_report(out)
    return out


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with Chromium() as made:
        yield made


@pytest.fixture
def page(browser: Chromium, run: Path) -> Chromium:
    browser.errors.clear()
    browser.requests.clear()
    browser.send("Page.navigate", url="about:blank")  # else a page with another hash would not be loaded anew
    browser.open((run / "report.html").as_uri())
    return browser


def _show(page: Chromium, key: str) -> None:
    page.run(f"location.hash = '#' + encodeURIComponent({key!r})")
    page.until(
        f"document.querySelector('#episode dl') && document.querySelector('#episode').textContent.includes({key!r})"
    )
    page.run("document.querySelectorAll('#episode details').forEach((one) => { one.open = true; })")
    page.until("[...document.querySelectorAll('#episode details')].every((one) => one.children.length > 1)")


def test_an_episode_is_read_with_keys_alone(page: Chromium, run: Path) -> None:
    assert page.run("document.querySelectorAll('#list tbody tr').length") == 8
    page.run("document.querySelector('#list tbody a').focus()")
    page.press("Enter", 13)
    page.until("!document.getElementById('episode').hidden")
    assert page.run("document.activeElement.tagName") == "H1"
    assert page.run("document.getElementById('overview').hidden")
    page.run("document.querySelector('#episode nav a').focus()")
    page.press("Enter", 13)
    page.until("document.getElementById('episode').hidden")
    assert page.run("document.activeElement === document.querySelector('#list tbody a')")
    assert page.errors == []
    assert page.requests == [(run / "report.html").as_uri()]


def test_filters_find_turns(page: Chromium, run: Path) -> None:
    choose = "(name, value) => { const one = document.getElementById('f-' + name); one.value = value; "
    choose += "one.dispatchEvent(new Event('change')); return document.querySelectorAll('#list tbody tr').length; }"
    wanted = [
        record["key"]
        for record in read_records(run / "trajectories.jsonl")
        if record["agent"] == "baseline-no-memory"
        and any(turn["reward"] < 0.6 for turn in record["trajectory"]["turns"])
    ]
    assert 0 < len(wanted) < 4
    assert page.run(f"({choose})('agent', 'baseline-no-memory')") == 4
    assert page.run(f"({choose})('result', 'failed')") == len(wanted)
    links = page.run(
        "[...document.querySelectorAll('#list tbody a')].map((one) => decodeURIComponent(one.hash.slice(1)))"
    )
    assert links == wanted
    assert page.run("document.getElementById('count').textContent") == f"{len(wanted)} of 8 episodes"


def test_a_verdict_shows_the_words_and_the_resource_it_rests_on(page: Chromium, run: Path) -> None:
    records = read_records(run / "trajectories.jsonl")
    record = next(one for one in records if one["agent"] == "baseline-no-memory")
    _show(page, record["key"])
    for number, turn in enumerate(record["trajectory"]["turns"]):
        place = f"document.querySelectorAll('.turn')[{number}]"
        for at, verdict in enumerate(turn["verdicts"], start=1):
            marks = (
                f"[...{place}.querySelectorAll('mark')].filter((one) => one.dataset.items.split(' ').includes('{at}'))"
            )
            shown = page.run(f"{marks}.map((one) => one.textContent).join('')")
            assert shown == "".join(span["text"] for span in verdict["spans"])
            row = page.run(
                f"[...{place}.querySelectorAll('tr')].filter((one) => one.firstChild.textContent === '{at}'"
                f" && one.textContent.includes({verdict['item']!r})).map((one) => one.textContent).join('|')"
            )
            assert verdict["reason"] in row
            assert all(key in row for key in verdict["resources"])
    buttons = page.run("[...document.querySelectorAll('.views')].map((one) => one.textContent)")
    assert any("FHIR resources" in one and "Table" in one for one in buttons)
    page.run(
        "[...document.querySelectorAll('.views button')].find((one) => one.textContent === 'FHIR resources').click()"
    )
    page.run("document.querySelectorAll('#episode details').forEach((one) => { one.open = true; })")
    page.until("document.querySelector('#episode .result pre')?.textContent.includes('resourceType')")
    # numbers keep their digits: 1.10 is not 1.1
    shown = page.run("[...document.querySelectorAll('#episode .result pre')].map((one) => one.textContent).join('')")
    assert re.search(r'"value": \d+\.\d*0,', shown)
    assert page.errors == []


def test_hostile_words_are_inert_and_legible(page: Chromium) -> None:
    key = page.run("EPISODES.find((one) => one.agent.endsWith('hostile')).key")
    _show(page, key)
    assert page.run("window.hit === undefined")
    assert page.run("document.querySelectorAll('#episode :is(script, img, svg, iframe, style)').length") == 0
    text = page.run("document.getElementById('episode').textContent")
    for said in (
        report_agents.SCRIPT,
        report_agents.HANDLER,
        report_agents.TEMPLATE,
        "[U+202E]",
        "[U+2067]",
        "[U+001B]",
    ):
        assert said in text
    assert not set(text) & set("\u202e\u2067\x1b\x00")
    assert page.run("document.querySelectorAll('#episode button').length") > 0
    more = "[...document.querySelectorAll('#episode button')].filter((one) => /show all/.test(one.textContent))"
    page.run(f"{more}.forEach((one) => one.click())")
    assert report_agents.LINE in page.run("document.getElementById('episode').textContent")
    assert page.run("document.documentElement.scrollWidth <= innerWidth")
    assert page.errors == []


def _poisoned(value: Any) -> Any:
    """Put hostile text wherever a run holds a name, a result of a tool, a reason or an error."""
    if isinstance(value, str):
        return value.replace("report_agents:hostile", report_agents.ALL)
    if isinstance(value, list):
        return [_poisoned(one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {_poisoned(name): _poisoned(inner) for name, inner in value.items()}
    for name in ("reason", "error", "first"):
        if isinstance(found.get(name), str):
            found[name] += report_agents.ALL
    if found.get("event") == "call":
        note = {
            "total": 1,
            "columns": [report_agents.HANDLER],
            "rows": [[report_agents.ALL + report_agents.LINE]],
            "more": 0,
        }
        found["text"] = orjson.dumps(note).decode()
    return found


def test_spans_behind_a_mark_of_two_units_are_in_place(page: Chromium, run: Path) -> None:
    records = [one for one in read_records(run / "trajectories.jsonl") if one["agent"] != "baseline-no-memory"]
    found = [
        (record["key"], number, span)
        for record in records
        for number, turn in enumerate(record["trajectory"]["turns"])
        for verdict in turn["verdicts"]
        for span in verdict["spans"]
        if span["text"] == "7"
    ]
    key, number, span = found[0]
    answers = [one["text"] for one in records[0]["trajectory"]["events"] if one["event"] == "answer"]
    assert "\U0001f9ea" in answers[number][: span["start"]]
    _show(page, key)
    shown = page.run(
        f"[...document.querySelectorAll('.turn')[{number}].querySelectorAll('mark')].map((one) => one.textContent)"
    )
    assert shown
    assert set(shown) == {"7"}


def test_hostile_notes_and_names_are_inert(browser: Chromium, run: Path, tmp_path: Path) -> None:
    for name in ("manifest.json", "inputs.json"):
        (tmp_path / name).write_bytes((run / name).read_bytes())
    records = [
        _poisoned(one) for one in read_records(run / "trajectories.jsonl") if one["agent"] != "baseline-no-memory"
    ]
    lines = b"".join(orjson.dumps(one) + b"\n" for one in records)
    (tmp_path / "trajectories.jsonl").write_bytes(lines)
    results = {**_poisoned(orjson.loads((run / "results.json").read_bytes())), "trajectory_hash": run_hash(records)}
    (tmp_path / "results.json").write_bytes(orjson.dumps(results))
    browser.errors.clear()
    browser.open(write_report(tmp_path).path.as_uri())
    for said in (report_agents.SCRIPT, report_agents.HANDLER, report_agents.TEMPLATE, "[U+202E]"):
        assert said in browser.run("document.getElementById('headline').textContent")
        assert said in browser.run("document.getElementById('list').textContent")
        assert said in browser.run("document.getElementById('f-agent').textContent")
    browser.run("document.querySelector('#list tbody a').click()")
    browser.until("document.querySelector('#episode .turn')")
    browser.run("document.querySelectorAll('#episode details').forEach((one) => { one.open = true; })")
    browser.until("document.querySelector('#episode .result table')")
    assert report_agents.HANDLER in browser.run("document.querySelector('#episode .result table').textContent")
    assert report_agents.TEMPLATE in browser.run("document.querySelector('#episode .result td').textContent")
    assert browser.run("window.hit === undefined")
    assert (
        browser.run(
            "document.querySelectorAll(':is(#overview, #episode, #list) :is(script, img, iframe, style)').length"
        )
        == 0
    )
    assert not set(browser.run("document.body.innerText")) & set("\u202e\u2067\x1b\x00")
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    assert browser.errors == []


def test_the_policy_refuses_what_is_not_the_page_s_own(page: Chromium) -> None:
    page.run(
        "document.body.append(Object.assign(document.createElement('img'), {src: 'https://example.invalid/x.png'}))"
    )
    page.until("true")
    tried = page.run("fetch('https://example.invalid/').then(() => 'sent', () => 'refused')")
    assert tried == "refused"
    with pytest.raises(RuntimeError, match="TrustedHTML"):
        page.run("document.body.innerHTML = '<b>x</b>'")
    assert any("Content Security Policy" in one for one in page.errors)
