"""`wardround play`: what a line means, how it is completed, shown and kept; nothing steers the terminal."""

from __future__ import annotations

import io
import re
import string
from pathlib import Path
from typing import Any

import orjson
import pytest

from wardround import load_charts
from wardround.agents.playing import PlayPlan, Terminal, play_round
from wardround.agents.playing.commands import Grammar
from wardround.agents.playing.completing import Completer
from wardround.agents.playing.showing import indented, result, visible
from wardround.agents.playing.words import play_words
from wardround.envs import Episode
from wardround.patients import ALL_TOOLS, ChartBuilder, ChartStore, DataError, StoreWriter, ToolResult, UsageError
from wardround.sessions import Session, SessionSet, opening_context, save_sessions

SESSION = "s-ward-session-a"
STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]")
"""What no line on a page without colours may hold."""


def _play(script: str, **plan: Any) -> tuple[dict[str, Any], str]:
    out = io.StringIO()
    report = play_round(PlayPlan(**{"session": SESSION, **plan}), Terminal(io.StringIO(script), out))
    return report, out.getvalue()


@pytest.fixture(scope="module")
def episode(ward: ChartStore, ward_sessions: SessionSet) -> Episode:
    session = ward_sessions.get(SESSION)
    return Episode(session, ward.chart(session.chart.patient), phrasing="explicit")


@pytest.fixture(scope="module")
def grammar(episode: Episode) -> Grammar:
    return Grammar(episode.tools, "en", episode.subject)


# -- words -----------------------------------------------------------------------------------------------------------


def _holes(value: object) -> list[str]:
    if isinstance(value, dict):
        return [*sorted(map(str, value)), *(hole for one in value.values() for hole in _holes(one))]
    if isinstance(value, tuple):
        return [f"{len(one)}" for one in value]
    return sorted(name for _, name, _, _ in string.Formatter().parse(str(value)) if name is not None)


def test_both_languages_say_the_same_with_the_same_holes() -> None:
    words = play_words()
    for name in type(words.en).model_fields:
        assert _holes(getattr(words.en, name)) == _holes(getattr(words.zh, name)), name


def test_words_name_tools_and_arguments_that_exist_and_none_twice() -> None:
    words = play_words()
    firsts = [name for names in words.commands.values() for name in names]
    firsts += [name for one in words.shortcuts for name in one.names]
    assert len(firsts) == len(set(firsts))
    for one in words.shortcuts:
        assert one.tool in ALL_TOOLS and one.fixed.keys() <= ALL_TOOLS[one.tool].schema["properties"].keys()
    for tool, argument in words.text.items():
        assert argument in ALL_TOOLS[tool].schema["properties"], tool


# -- lines -----------------------------------------------------------------------------------------------------------

LABS = {"subject_id": "ward-01", "category": "laboratory"}
DRUG = {"medication": "metformin", "dose": "250 mg", "route": "oral", "frequency": "once daily"}


@pytest.mark.parametrize(
    ("line", "tool", "arguments"),
    [
        ("labs", "Observation.search", LABS),
        ("labs HIV viral load count=3", "Observation.search", {**LABS, "code": "HIV viral load", "_count": 3}),
        ("化验 肌酐", "Observation.search", {**LABS, "code": "肌酐"}),
        ("observation_search code=INR", "Observation.search", {"subject_id": "ward-01", "code": "INR"}),
        ("labs subject_id=x-9 code=K", "Observation.search", {**LABS, "subject_id": "x-9", "code": "K"}),
        (
            "order metformin dose=250 mg route=oral frequency=once daily",
            "MedicationRequest.create",
            {"subject_id": "ward-01", **DRUG},
        ),
        (
            r'flag watch category=SAFETY detail="a=b \"c\" d= e"',
            "Flag.create",
            {"subject_id": "ward-01", "category": "safety", "code": "watch", "detail": 'a=b "c" d= e'},
        ),
        ("pain", "patient.get_pain_assessment", {"subject_id": "ward-01", "session_id": SESSION}),
        ('{"tool": "Patient.read", "arguments": {}}', "Patient.read", {}),
    ],
)
def test_a_line_that_is_a_call(grammar: Grammar, line: str, tool: str, arguments: dict[str, Any]) -> None:
    (call,) = grammar.read(line).calls
    assert (call.name, call.arguments) == (tool, arguments)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("labz creatinine", "Did you mean `labs`?"),
        ("Observation.serach code=K", "Did you mean `Observation.search`?"),
        ("Encounter.create x=1", "no command"),
        ("labs cod=K", "has no argument `cod`; it has hadm_id, _count, category, code"),
        ("labs count=many", "whole number"),
        ("labs code=a code=b", "twice"),
        ("labs code=", "still needs code"),
        ('labs "unclosed', "quotation mark"),
        ("patient now", "takes no words of its own"),
        ("order metformin dose=1 mg", "still needs route, frequency"),
        ("flag x category=none detail=y", "one of safety, allergy"),
        ("question again", "stands alone"),
        ('{"tool": "x", "answer": "y"}', "not both"),
        ('{"tool": ', "could not be read"),
    ],
)
def test_a_line_that_is_told_what_is_wrong_and_costs_nothing(grammar: Grammar, line: str, told: str) -> None:
    read = grammar.read(line)
    assert told in read.problem
    assert (read.calls, read.answer, read.command) == ((), None, "")


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("Labs show a creatinine of 1.68 mg/dL (high).", "Labs show a creatinine of 1.68 mg/dL (high)."),
        ("answer labs are fine", "labs are fine"),
        ("1.68 mg/dL", "1.68 mg/dL"),
        ("肌酐 1.68 mg/dL，偏高。", "肌酐 1.68 mg/dL，偏高。"),
        ("first line\nlabs second", "first line\nlabs second"),
        ('{"answer": "B"}', "B"),
        ("- Sodium 138 mEq/L: normal", "- Sodium 138 mEq/L: normal"),
    ],
)
def test_any_other_line_is_an_answer(grammar: Grammar, line: str, answer: str) -> None:
    assert grammar.read(line).answer == answer


# -- completion ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("lab", ["labs "]),
        ("meds st", ["status="]),
        ("meds status=act", ["active"]),
        ("meds metf", ["Metformin"]),
        ("labs hiv-1 v", ["Viral Load"]),
        ("help sym", ["symptoms"]),
        ("order metformin ro", ["route="]),
        ("Flag.create category=sa", ["safety"]),
        ("what is th", []),
        ("notes keyword=no", ["note-1"]),
    ],
)
def test_completion(grammar: Grammar, episode: Episode, line: str, found: list[str]) -> None:
    record = opening_context(episode.session, episode.chart).record
    begin = max(line.rfind(" "), line.rfind("=")) + 1
    assert Completer(grammar, record.names, ["note-1"]).complete(line, begin) == found


def test_completion_offers_nothing_that_is_known_later(episode: Episode, grammar: Grammar) -> None:
    session, chart = episode.session, episode.chart
    late = session.model_copy(update={"anchor": "2023-01-01T00:00:00Z"})
    now, before = (opening_context(one, chart).record for one in (session, late))
    assert Completer(grammar, now.names).complete("labs ", 5)
    assert not [one for one in Completer(grammar, before.names).complete("labs ", 5) if "=" not in one]


# -- what is shown ---------------------------------------------------------------------------------------------------


def test_results_keep_their_digits_and_flags_are_letters(tmp_path: Path) -> None:
    rows = [["a", "2150-01-01T08:00:00Z", "钾 potassium", 0.30, "H"], ["b", None, "x", 1, None]]
    text = orjson.dumps({"total": 9, "columns": ["id", "time", "name", "value", "flag"], "rows": rows}).decode()
    text = text.replace("0.3,", "0.30,")
    for width in (30, 100):
        out = io.StringIO()
        terminal = Terminal(io.StringIO(), out)
        terminal.show(*result(ToolResult("Observation.search", {}, True, text), play_words().en, width))
        assert "0.30" in out.getvalue() and "H ▲" in out.getvalue() and "2 of 9" in out.getvalue()
        assert "2150-01-01 08:00" in out.getvalue()


def test_json_is_spread_and_loses_nothing() -> None:
    body = '{"a":[1.50,{"b":"x, {y}"}],"c":{}}'
    assert orjson.loads(indented(body)) == orjson.loads(body)
    assert "1.50" in indented(body) and indented(body).count("\n") >= 6


def test_what_steers_a_terminal_is_made_visible() -> None:
    hostile = "a\x1b]8;;http://x\x1b\\b\x1b[2J\x07\r\x9b31m\u202ec\u200bd\ue000\u2028e\tf\u00a0g"
    shown = visible(hostile)
    assert not STEERING.search(shown)
    assert "␛]8;;http://x" in shown and "⟨U+202E⟩" in shown and "⟨U+009B⟩" in shown and shown.endswith("    f g")
    assert visible("钾 5.9 µmol/L — ≥ é\nnext") == "钾 5.9 µmol/L — ≥ é\nnext"


def _hostile_set(folder: Path, licence: str = "CC0-1.0") -> tuple[str, str]:
    bad = "\u202etxet\u202c \x1b[31mred\x1b]0;t\x07 [bold]x[/bold] "
    builder = ChartBuilder("p-1", sex="female", birth_date="2085-06-01", licence=licence)
    builder.encounter("e-1", "IMP", "2150-03-01T09:00:00Z", "2150-03-09T12:00:00Z")
    builder.note("Progress note", f"\u202etxet {bad.replace(chr(27), chr(0x9B)).replace(chr(7), ' ')}" + "w" * 3000,
                 at="2150-03-02T08:00:00Z", encounter="e-1", id="n-1")  # fmt: skip
    builder.lab("Potas\u202esium\u200b", "4.2", "mmol/L", at="2150-03-02T06:00:00Z", encounter="e-1", id="k-1")
    store = str(folder / "c.sqlite")
    with StoreWriter(store, licence=licence, provenance={}) as writer:
        writer.add("p-1", builder.resources())
    with load_charts(store) as charts:
        chart = charts.chart("p-1")
        item = {
            "id": "k",
            "text": {"en": f"tells potassium {bad}"},
            "check": {"kind": "value", "concept": "potassium", "value": 4.2, "unit": "mmol/L"},
        }
        turn = {
            "task": "IL",
            "source": "ehr",
            "query": {"en": {"explicit": f"K? {bad}"}},
            "rubric": [item],
            "gold": None,
        }
        session = Session.model_validate(
            {
                "id": "s-1", "scenario": f"x{bad}", "tier": "sparse", "chart": {"patient": "p-1", "hash": chart.hash},
                "encounter": "e-1", "anchor": "2150-03-05T08:00:00Z", "licence": "CC0-1.0", "use": "evaluation",
                "provenance": {"generator": "hand", "version": "1", "seed": 0},
                "interview": {"facts": [], "replies": []},
                "turns": [turn],
            }
        )  # fmt: skip
    sessions = str(folder / "s.jsonl")
    save_sessions(sessions, [session])
    return sessions, store


def test_a_hostile_chart_session_and_answer_show_no_escape(tmp_path: Path) -> None:
    sessions, charts = _hostile_set(tmp_path)
    action = '{"tool": "\\u001b[2J", "arguments": {"\\u202e": "\\u0007"}}'
    script = f"notes\nlabs\nlabs zz\n{action}\nhistory\nK \x1b[1m4.2 \u202e\n"
    plan: dict[str, Any] = {"sessions": sessions, "charts": charts, "session": "s-1", "gold": True}
    report, page = _play(script, **plan)
    assert report["done"] and report["gold_shown"]
    assert not STEERING.search(page), STEERING.search(page)
    assert "⟨U+202E⟩txet" in page and "␛[31mred" in page and "[bold]x[/bold]" in page


# -- a round ---------------------------------------------------------------------------------------------------------

WHOLE = (
    "labs HIV viral load\nThe HIV viral load is 0.0 log10 copies/mL, undetectable.\n"
    "labs potassium\nhistory\nPotassium 4.6 mEq/L, normal.\n"
    "patient\nanswer\nfirst\nsecond\n\n"
    "```\nthree\n\nfour\n```\n"
)


def test_a_round_by_script_and_its_rubric() -> None:
    report, page = _play(WHOLE, phrasing="explicit")
    assert report["done"] and not report["stopped"] and report["saved"] is None
    first = report["turns"][0]
    assert first["reward"] == 1.0 and all(one["passed"] for one in first["verdicts"])
    spans = [span["text"] for one in first["verdicts"] for span in one["spans"]]
    assert spans
    for words in ("pass  ", "FAIL  ", "why: ", report["trajectory_hash"], *(f"rests on: “{span}”" for span in spans)):
        assert words in page
    assert "Gold answer" not in page
    assert _play(WHOLE, phrasing="explicit")[0] == report
    assert "Gold answer" in _play(WHOLE, phrasing="explicit", gold=True)[1]


def test_the_same_actions_by_an_agents_door_give_the_same_hash(ward: ChartStore, ward_sessions: SessionSet) -> None:
    report, _ = _play(WHOLE, phrasing="explicit")
    session = ward_sessions.get(SESSION)
    episode = Episode(session, ward.chart(session.chart.patient), phrasing="explicit")
    talk = {"subject_id": "ward-01"}
    labs = {**talk, "category": "laboratory"}
    for call, answer in (
        (
            ("Observation.search", {**labs, "code": "HIV viral load"}),
            "The HIV viral load is 0.0 log10 copies/mL, undetectable.",
        ),
        (("Observation.search", {**labs, "code": "potassium"}), "Potassium 4.6 mEq/L, normal."),
        (("Patient.read", talk), "first\nsecond"),
        (None, "three\n\nfour"),
    ):
        if call is not None:
            episode.call(*call)
        episode.call("prepare_to_answer", {"answer_type": "tool" if call else "chat"})
        episode.answer(answer)
    assert episode.trajectory_hash == report["trajectory_hash"]


def test_a_play_that_was_broken_off_goes_on_to_the_same_hash(tmp_path: Path) -> None:
    whole, _ = _play(WHOLE, phrasing="explicit")
    lines = WHOLE.splitlines(keepends=True)
    kept = tmp_path / "play.json"
    first, page = _play("".join(lines[:8]), phrasing="explicit", save=kept)  # within an answer: it is not sent
    assert "not sent" in page and first["saved"] == str(kept) and not first["done"]
    second, _ = _play("".join(lines[6:10]), session=None, resume=kept)
    third, page = _play("".join(lines[10:]), session=None, resume=kept)
    assert (second["done"], third["done"]) == (False, True), page
    assert third["trajectory_hash"] == whole["trajectory_hash"]
    assert orjson.loads(kept.read_bytes())["actions"][0] == {
        "call": "Observation.search",
        "arguments": {"subject_id": "ward-01", "category": "laboratory", "code": "HIV viral load"},
    }


def test_a_saved_play_of_something_else_is_refused(tmp_path: Path) -> None:
    kept = tmp_path / "play.json"
    _play("labs potassium\n", save=kept)
    data = orjson.loads(kept.read_bytes())
    with pytest.raises(UsageError, match=r"--save .*exists"):
        _play("", save=kept)
    with pytest.raises(UsageError, match="--language says `zh`"):
        _play("", session=None, resume=kept, language="zh")
    with pytest.raises(UsageError, match="no --watch"):
        _play("", session=None, resume=kept, watch="baseline")
    more = [*data["actions"], *[{"answer": "x"}] * 5]
    for change, told in (
        ({"set_hash": "0" * 64}, "`set_hash`.*--sessions"),
        ({"chart_hash": "0" * 64}, "`chart_hash`.*--charts"),
        ({"actions": []}, "`trajectory_hash`"),
        ({"actions": more}, "go on after the round is over"),
        ({"actions": [{"call": 3}]}, "`actions.0"),
        ({"format": "wardround.play/2"}, "`format`"),
        ({"view": None}, "`view`"),
    ):
        kept.write_bytes(orjson.dumps({**data, **change}))
        with pytest.raises(DataError, match=told):
            _play("", session=None, resume=kept)
    kept.write_bytes(b"{")
    with pytest.raises(DataError, match="the file"):
        _play("", session=None, resume=kept)


def test_a_budget_that_runs_out_closes_the_turn_and_says_so(tmp_path: Path) -> None:
    kept = tmp_path / "play.json"
    report, page = _play("labs potassium\n" * 20, save=kept)
    assert "too many actions" in page and len(report["turns"]) == 1
    again, _ = _play("", session=None, resume=kept)
    assert again["trajectory_hash"] == report["trajectory_hash"]


def test_an_evaluation_session_shows_its_rubric_only_when_asked(tmp_path: Path) -> None:
    sessions, charts = _hostile_set(tmp_path)
    plan: dict[str, Any] = {"sessions": sessions, "charts": charts, "session": "s-1"}
    kept = tmp_path / "play.json"
    report, page = _play("K 4.2 mmol/L\n", **plan, save=kept)
    assert "--gold only" in page and "tells potassium" not in page and "verdicts" not in report["turns"][0]
    assert not orjson.loads(kept.read_bytes())["gold_shown"]
    seen = tmp_path / "seen.json"
    report, page = _play("K 4.2 mmol/L\n", **plan, save=seen, gold=True)
    assert "no measure of anyone" in page and "verdicts" in report["turns"][0]
    report, _ = _play("", session=None, resume=seen)
    assert report["gold_shown"], "what was once seen stays so"


def test_no_model_watches_a_chart_that_needs_an_agreement(tmp_path: Path) -> None:
    sessions, charts = _hostile_set(tmp_path, licence="credentialed")  # the session itself says CC0-1.0
    with pytest.raises(UsageError, match="--data-agreement"):
        _play("", sessions=sessions, charts=charts, session="s-1", watch="litellm:openai/none")


def test_both_languages_and_the_fhir_view() -> None:
    script = "化验 钾\n帮助\n工具\n钾 4.6 mEq/L，正常。\n退出\n"
    report, page = _play(script, session=None, language="zh", view="fhir")
    assert report["language"] == "zh" and "您是助手" in page and '"resourceType": "Bundle"' in page
    assert len(report["turns"]) == 1 and "通过" in page


def test_a_watched_agent_plays_as_in_a_run(ward: ChartStore, ward_sessions: SessionSet, tmp_path: Path) -> None:
    from wardround.agents import Baseline, play

    session = ward_sessions.get(SESSION)
    alone = play(Episode(session, ward.chart(session.chart.patient)), Baseline())
    kept = tmp_path / "watched.json"
    report, page = _play("", watch="baseline", save=kept)
    assert report["trajectory_hash"] == alone.trajectory_hash
    assert report["player"] == "baseline" and "→ Observation.search" in page
    again, _ = _play("", session=None, resume=kept)
    assert again["trajectory_hash"] == alone.trajectory_hash


def test_a_hostile_agent_steers_nothing_and_a_failing_one_is_told() -> None:
    report, page = _play("", watch="report_agents:hostile")
    assert report["done"] and not STEERING.search(page)
    report, page = _play("", watch="play_agents:failing")
    assert report["failed"] and "ValueError: no" in page
    report, page = _play("", watch="play_agents:waiting")
    assert report["done"] and page.count("→ Observation.search") == len(report["turns"])
