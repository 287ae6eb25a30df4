"""The page of a set in a browser: a sheet filled there is the sheet of `review`, and nothing hostile runs."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import report_agents
from chromium import FOUND, Chromium

from wardround.agents import write_session_page
from wardround.cli import main
from wardround.patients import ChartBuilder, ChartStore, StoreWriter, load_charts
from wardround.sessions import SessionSet, load_sessions, play_gold, read_sessions, save_sessions

pytestmark = pytest.mark.skipif(FOUND is None, reason="no chromium on this machine (apt-get install chromium)")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("set <i>&amp;")
    write_session_page("ward", out=out / "ward.html")
    return out


@pytest.fixture(scope="module")
def browser(folder: Path) -> Iterator[Chromium]:
    with Chromium() as made:
        (folder / "saved").mkdir()
        made.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder / "saved"))
        yield made


@pytest.fixture
def page(browser: Chromium, folder: Path) -> Chromium:
    _open(browser, folder / "ward.html")
    browser.run("forget(); refresh()")
    return browser


def _open(browser: Chromium, path: Path) -> None:
    browser.send("Page.navigate", url="about:blank")  # else a page with another hash would not be loaded anew
    browser.open(path.as_uri())
    browser.errors.clear()
    browser.requests.clear()


def _show(page: Chromium, identity: str) -> None:
    page.run(f"location.hash = address(BY_ID.get({orjson.dumps(identity).decode()}))")
    page.until(f"document.querySelector('#session h1')?.textContent.includes({orjson.dumps(identity[:20]).decode()})")


_FILL = """(place, name, value) => {
  const box = [...document.querySelectorAll('fieldset.asked')].find((one) => one.dataset.row === place);
  const label = [...box.querySelectorAll('label')].find((one) => one.textContent === name);
  const one = document.getElementById(label.htmlFor);
  one.value = value;
  for (const event of ['input', 'change']) one.dispatchEvent(new Event(event, { bubbles: true }));
}"""


def _judge(page: Chromium, row: tuple[int | None, str, str], **said: str) -> None:
    """Fill in the controls of one row as a person would: by events alone."""
    place = orjson.dumps(row).decode()
    for name, value in said.items():
        told = ", ".join(orjson.dumps(one).decode() for one in (place, name.capitalize(), value))
        page.run(f"({_FILL})({told})")


def _save(page: Chromium, folder: Path) -> Path:
    target = folder / "saved" / "ward-review.csv"
    target.unlink(missing_ok=True)
    page.run("document.getElementById('save').click()")
    page.until("document.getElementById('told').textContent.startsWith('Saved')")
    end = time.monotonic() + 20
    while not target.is_file():
        assert time.monotonic() < end, list((folder / "saved").iterdir())
        time.sleep(0.05)
    page.run("say('')")
    return target


def _load(page: Chromium, path: Path) -> str:
    page.run("say('')")
    found = page.send("Runtime.evaluate", expression="document.getElementById('load')")["result"]["objectId"]
    page.send("DOM.setFileInputFiles", files=[str(path)], objectId=found)
    page.until("document.getElementById('told').textContent")
    return str(page.run("document.getElementById('told').textContent"))


def _rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))


def test_an_open_sheet_is_the_one_of_review_export(page: Chromium, folder: Path) -> None:
    assert main(["review", "export", "ward", "--sample", "1", "--out", str(folder / "export.csv")]) == 0
    assert _save(page, folder).read_bytes() == (folder / "export.csv").read_bytes()
    assert page.errors == []


def _verdicts(ward: SessionSet) -> dict[str, Any]:
    """Choose what is judged: a rejected session, a rejected type, a revised item, right and revised arguments."""
    first, second, third = [one for one in ward if any(turn.implicitness for turn in one.turns)][1:4]
    turn = next(at for at, one in enumerate(second.turns) if one.implicitness)
    item = third.turns[0].rubric[0]
    call = third.turns[0].gold
    assert call is not None
    return {"first": first, "second": second, "third": third, "turn": turn, "item": item, "call": call.calls[0]}


def test_a_sheet_filled_here_is_imported(page: Chromium, folder: Path) -> None:
    chosen = _verdicts(load_sessions("ward"))
    first, second, third, item = chosen["first"], chosen["second"], chosen["third"], chosen["item"]
    _show(page, first.id)
    _judge(page, (None, "plausibility", ""), verdict="reject", comment='=nobody asks "so",\nnever')
    _show(page, second.id)
    _judge(page, (chosen["turn"], "implicitness", ""), verdict="revise", correction="none")
    _show(page, third.id)
    text = {"text": {"en": "Looked it up\u202e; \U0001f9ea", "zh": "查过。"}}
    _judge(page, (0, "item", item.id), verdict="revise")
    filled = page.run("[...document.querySelectorAll('fieldset.revise textarea')].map((one) => one.value)")
    check = item.check.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert {"check": check} in [orjson.loads(one) for one in filled if one]
    assert (
        page.run("document.querySelector('fieldset.revise .fault').textContent")
        == "not changed yet: this is what stands there"
    )
    _judge(page, (0, "item", item.id), correction=orjson.dumps(text).decode())
    assert page.run("document.querySelector('fieldset.revise .fault').textContent") == ""
    _judge(page, (0, "arguments", "0"), verdict="ok", comment="查得对")
    assert "judged 2 / " in page.run("document.querySelector('#session h1').textContent")

    sheet = _save(page, folder)
    judged = {(row["session"], row["turn"], row["what"], row["key"]): row for row in _rows(sheet) if row["verdict"]}
    assert len(judged) == 4
    assert judged[first.id, "", "plausibility", ""]["comment"] == '\'=nobody asks "so",\nnever'
    assert orjson.loads(judged[third.id, "0", "item", item.id]["correction"]) == text

    out = folder / "v2.jsonl"
    assert main(["review", "import", str(sheet), "--set", "ward", "--out", str(out)]) == 0
    new = {one.id: one for one in read_sessions(out.read_bytes(), "v2")}
    assert first.id not in new
    assert new[second.id].turns[chosen["turn"]].implicitness is None
    assert new[third.id].turns[0].rubric[0].text.model_dump() == text["text"]
    changes = [orjson.loads(line) for line in Path(f"{out}.changes.jsonl").read_bytes().splitlines()][1:]
    assert {one["comment"] for one in changes} == {'=nobody asks "so",\nnever', ""}
    assert page.errors == []
    assert [url for url in page.requests if not url.startswith(("file:", "blob:"))] == []


def test_verdicts_outlive_the_page_and_come_back_from_a_sheet(page: Chromium, folder: Path) -> None:
    chosen = _verdicts(load_sessions("ward"))
    third = chosen["third"]
    _show(page, third.id)
    _judge(page, (0, "item", chosen["item"].id), verdict="reject", comment="two\nlines, “quoted”")
    _judge(page, (0, "arguments", "0"), verdict="ok")
    sheet = _save(page, folder).rename(folder / "kept.csv")
    _open(page, folder / "ward.html")
    assert page.run("document.getElementById('progress').textContent").startswith("2 of ")
    page.run("document.getElementById('forget').click()")
    assert "Really forget 2 verdicts?" in page.run("document.getElementById('forget').textContent")
    page.run("document.getElementById('forget').click()")
    assert page.run("document.getElementById('progress').textContent").startswith("0 of ")
    _open(page, folder / "ward.html")
    assert page.run("document.getElementById('progress').textContent").startswith("0 of ")
    assert _load(page, sheet) == "2 verdicts and comments taken from kept.csv."
    assert _save(page, folder).read_bytes() == sheet.read_bytes()
    _show(page, third.id)
    assert page.run("document.querySelectorAll('fieldset.reject').length") == 1
    assert page.run("document.querySelectorAll('fieldset.ok').length") == 1
    page.run("location.hash = '#sessions'")
    page.until("document.getElementById('session').hidden")
    choose = "(value) => { const one = document.getElementById('f-state'); one.value = value;"
    choose += " one.dispatchEvent(new Event('change')); return document.querySelectorAll('#list tbody tr').length; }"
    assert page.run(f"({choose})('rejected')") == 1
    assert page.run(f"({choose})('begun')") == 1
    assert page.run(f"({choose})('open')") == len(load_sessions("ward")) - 1


def _strange(text: str) -> str:
    return text.replace("s-ward-session-a", "s-elsewhere").replace(",,,\r\n", ",ok,,\r\n", 1)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda text: text.replace("session,turn", "session,round", 1), "column turn is missing"),
        (lambda text: text.replace(",,,\r\n", ",fine,,\r\n", 1), "verdict fine is none of ok, revise, reject"),
        (lambda text: text + "x,y\r\n", "fewer cells than columns"),
        (lambda text: text + '"x', "a quote is not closed"),
        (_strange, "1 are about nothing"),
    ],
    ids=["header", "verdict", "cells", "quote", "strange"],
)  # fmt: skip
def test_a_sheet_that_cannot_be_taken_is_told(page: Chromium, folder: Path, change: Any, told: str) -> None:
    text = _save(page, folder).read_bytes().decode()
    (folder / "broken.csv").write_bytes(change(text).encode())
    assert told in _load(page, folder / "broken.csv")
    assert page.run("document.getElementById('progress').textContent").startswith("0 of ")
    assert page.errors == []


def test_without_storage_the_page_warns_and_works(folder: Path) -> None:
    with Chromium() as browser:
        gone = "Object.defineProperty(window, 'localStorage', {get() { throw new Error('no storage here'); }})"
        browser.send("Page.addScriptToEvaluateOnNewDocument", source=gone)
        browser.open((folder / "ward.html").as_uri())
        assert "keeps nothing for this page (no storage here)" in browser.run(
            "document.getElementById('keeping').innerText"
        )
        session = load_sessions("ward").sessions[0]
        _show(browser, session.id)
        _judge(browser, (None, "plausibility", ""), verdict="ok")
        assert browser.run("document.getElementById('progress').textContent").startswith("1 of ")
        assert browser.run("sheetText()").count(",ok,") == 1
        assert browser.errors == []


def test_a_session_is_read_and_judged_with_keys_alone(page: Chromium) -> None:
    page.run("document.querySelector('#list tbody a').focus()")
    page.press("Enter", 13)
    page.until("!document.getElementById('session').hidden")
    assert page.run("document.activeElement.tagName") == "H1"
    page.run("document.querySelector('fieldset.asked select').focus()")
    page.press("ArrowDown", 40)
    assert page.run("document.querySelector('fieldset.asked').className") == "asked ok"
    page.run("document.querySelector('#session nav a').focus()")
    page.press("Enter", 13)
    page.until("document.getElementById('session').hidden")
    assert page.run("document.activeElement === document.querySelector('#list tbody a')")
    assert page.errors == []


def test_numbers_keep_the_digits_they_were_charted_with(page: Chromium) -> None:
    with load_charts("ward") as store:  # a session in which a value charted as 3.10 is read
        session = next(
            one
            for one in load_sessions("ward")
            if any("3.10" in str(turn) for turn in play_gold(one, store.chart(one.chart.patient)))
        )
    _show(page, session.id)
    cells = page.run(
        "[...document.querySelectorAll('#session .result td, #session .call-in td')].map((one) => one.textContent)"
    )
    assert "3.10" in cells
    assert "3.1" not in cells
    nested = '{"a": [0.30, -1.0e5, "0.30 \\\\\\" 1.0"], "b": {"1.50": 100}}'
    assert page.run(f"verbatim({orjson.dumps(nested).decode()}).textContent.replace(/\\s+/g, '')") == nested.replace(
        " ", ""
    )


def test_filters_find_sessions(page: Chromium) -> None:
    ward = load_sessions("ward")
    choose = "(name, value) => { const one = document.getElementById('f-' + name); one.value = value; "
    choose += "one.dispatchEvent(new Event('change')); return document.querySelectorAll('#list tbody tr').length; }"
    scenario = ward.sessions[-1].scenario
    chosen = [one for one in ward if one.scenario == scenario]
    assert page.run(f"({choose})('scenario', '{scenario}')") == len(chosen)
    chosen = [one for one in chosen if any(turn.task == "WU" and turn.implicitness == "AE" for turn in one.turns)]
    page.run(f"({choose})('task', 'WU')")
    assert page.run(f"({choose})('type', 'AE')") == len(chosen)
    assert page.run(f"({choose})('language', 'zh')") == len([one for one in chosen if one.turns[0].query.zh])


# -- hostile words ----------------------------------------------------------------------------------------------------


def _hostile_chart(path: Path) -> ChartStore:
    chart = ChartBuilder("p-1", sex="female", birth_date="1950-01-01")
    chart.encounter("stay", "IMP", "2030-03-04T08:00:00Z", type=report_agents.SCRIPT, reason=report_agents.HANDLER)
    for day in (4, 5, 6):
        chart.lab(f"Potassium {report_agents.HANDLER}", "4.1", "mmol/L", at=f"2030-03-0{day}T06:00:00Z")
    chart.medication(report_agents.SCRIPT, dose="1 mg", route="oral", frequency="daily", start="2030-03-04T09:00:00Z")
    words = report_agents.ALL.replace("\x00", "").replace("\x1b", "") + report_agents.LINE  # no FHIR text has those
    chart.note("Progress note", {"Course": words}, at="2030-03-05T09:00:00Z")
    with StoreWriter(path, licence=report_agents.SCRIPT) as writer:
        writer.add("p-1", chart.resources())
    return ChartStore.open(path)


def _poisoned(session: dict[str, Any]) -> dict[str, Any]:
    """Put hostile words wherever a session has words."""
    words = report_agents.ALL
    session |= {"id": f"s{words}", "scenario": words, "tier": words, "licence": report_agents.SCRIPT}
    session["labels"] = {words: words}
    session["provenance"]["generator"] = words
    for fact in session["interview"]["facts"]:
        fact |= {"concept": words, "reason": words, "attributes": {report_agents.HANDLER: words}}
    for reply in session["interview"]["replies"]:
        reply["text"] = {"en": words, "zh": words}
    for turn in session["turns"]:
        turn |= {"topic": words, "task": words}
        turn["query"] = {"en": {"explicit": words + report_agents.LINE, "implicit": words}, "zh": None}
        turn["gold"]["answers"] = [{"en": words + report_agents.LINE, "zh": words}]
        turn["gold"]["calls"] = [
            {"tool": "DocumentReference.search", "arguments": {"subject_id": "p-1"}},
            {"tool": "Observation.search", "arguments": {"subject_id": "p-1", "category": "laboratory"}},
            {"tool": words, "arguments": {report_agents.HANDLER: words + report_agents.LINE}},
        ]
        for item in turn["rubric"]:
            item["text"] = {"en": words, "zh": words}
        turn["rubric"][0]["check"] = {"kind": "mention", "concept": words + report_agents.LINE}
    return session


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("hostile")
    ward = load_sessions("ward")
    session = next(one for one in ward if one.turns[1].implicitness == "PE" and one.interview.replies)
    with _hostile_chart(out / "charts.sqlite") as store:
        plain = _poisoned(session.model_dump(mode="json", by_alias=True))
        plain |= {"chart": {"patient": "p-1", "hash": store.chart("p-1").hash}, "encounter": "stay"}
        plain["anchor"] = "2030-03-06T12:00:00Z"
    made = read_sessions(orjson.dumps(plain), "hostile")
    save_sessions(out / "{{7*7}}<b>.jsonl", made)
    write_session_page(str(out / "{{7*7}}<b>.jsonl"), str(out / "charts.sqlite"), out=out / "page.html")
    return out / "page.html"


def test_hostile_words_are_inert_and_legible(browser: Chromium, hostile: Path) -> None:
    _open(browser, hostile)
    for said in (report_agents.SCRIPT, report_agents.HANDLER, report_agents.TEMPLATE, "[U+202E]", "[U+001B]"):
        assert said in browser.run("document.getElementById('list').textContent")
    assert "{{7*7}}<b>" in browser.run("document.querySelector('h1').textContent")
    browser.run("document.querySelector('#list tbody a').click()")
    browser.until("document.querySelector('#session .turn')")
    browser.run("document.querySelectorAll('#session details').forEach((one) => { one.open = true; })")
    browser.until("[...document.querySelectorAll('#session details')].every((one) => one.children.length > 1)")
    text = browser.run("document.getElementById('session').textContent")
    for said in (report_agents.SCRIPT, report_agents.HANDLER, report_agents.TEMPLATE, "[U+202E]", "[U+2067]"):
        assert said in text
    plots = browser.run("[...document.querySelectorAll('svg.series')].map((one) => one.getAttribute('aria-label'))")
    assert any(report_agents.HANDLER in one for one in plots)
    assert browser.run("window.hit === undefined")
    assert browser.run("document.querySelectorAll('#session :is(script, img, iframe, style)').length") == 0
    assert browser.run("[...document.querySelectorAll('*')].every((one) => ![...one.attributes]"
                       ".some((each) => each.name.startsWith('on')))")  # fmt: skip
    assert not set(text) & set("\u202e\u2067\x1b\x00")
    more = "[...document.querySelectorAll('#session button')].filter((one) => /show all/.test(one.textContent))"
    assert browser.run(f"{more}.length") >= 8
    browser.run(f"{more}.forEach((one) => one.click())")
    assert report_agents.LINE in browser.run("document.getElementById('session').textContent")
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    assert browser.errors == []


def test_hostile_words_go_out_and_come_back_as_they_are(browser: Chromium, hostile: Path, folder: Path) -> None:
    _open(browser, hostile)
    browser.run("forget(); refresh()")
    named = str(hostile.parent / "{{7*7}}<b>.jsonl")
    assert main(["review", "export", named, "--sample", "1", "--out", str(folder / "hostile.csv")]) == 0
    want = (folder / "hostile.csv").read_bytes().decode("utf-8")
    assert browser.run("sheetText()") == want
    (session,) = load_sessions(named)
    browser.run("location.hash = address(SESSIONS[0])")
    browser.until("document.querySelector('#session .turn')")
    _judge(browser, (None, "plausibility", ""), verdict="revise", comment=report_agents.ALL + report_agents.LINE)
    _judge(browser, (0, "item", session.turns[0].rubric[0].id), verdict="revise")
    shown = browser.run("[...document.querySelectorAll('fieldset.revise textarea')].map((one) => one.value).join('')")
    assert "\\u202e" in shown.replace(report_agents.ALL, "")
    told = browser.run("sheetText()")
    (folder / "back.csv").write_bytes(told.encode())
    browser.run("forget(); refresh()")
    assert "2 verdicts and comments taken" in _load(browser, folder / "back.csv")
    assert browser.run("sheetText()") == told
    assert browser.run("window.hit === undefined")


def test_the_policy_refuses_what_is_not_the_page_s_own(page: Chromium) -> None:
    tried = page.run("fetch('https://example.invalid/').then(() => 'sent', () => 'refused')")
    assert tried == "refused"
    with pytest.raises(RuntimeError, match="TrustedHTML"):
        page.run("document.body.innerHTML = '<b>x</b>'")
