"""Sets of sessions: round trips, hashes, splits, and messages that say line and field."""

from __future__ import annotations

import orjson
import pytest

from wardround.patients import DataError, UsageError
from wardround.rubrics import Item, Text
from wardround.rubrics.rubric import TrendCheck, ValueCheck
from wardround.sessions import (
    ChartRef,
    Provenance,
    Query,
    Session,
    SessionSet,
    Turn,
    Wording,
    load_sessions,
    read_sessions,
    save_sessions,
    session_hash,
    session_line,
)


def make(session_id: str, split: str = "public", **changes: object) -> Session:
    turn = Turn(
        task="IL",
        source="ehr",
        query=Query(en=Wording(explicit="What is the latest INR?", implicit="INR?")),
        rubric=(
            Item(id="value", text=Text(en="States 2.5"), check=ValueCheck(concept="inr", value=2.5, unit="")),
            Item(
                id="trend",
                text=Text(en="Rising"),
                check=TrendCheck.model_validate({"concept": "inr", "direction": "rising", "from": 1.0, "to": 2.5}),
            ),
        ),
    )
    return Session(
        id=session_id,
        scenario="medication-safety",
        tier="sparse",
        chart=ChartRef(patient="p1", hash="0" * 64),
        anchor="2180-05-06T22:23:00Z",
        licence="synthetic",
        split=split,
        provenance=Provenance(generator="hand", version="1", seed=0),
        turns=(turn,),
    ).model_copy(update=changes)


def test_round_trip_keeps_every_byte(tmp_path):
    sessions = [make("a"), make("b", "train")]
    saved = save_sessions(tmp_path / "set.jsonl", sessions)
    loaded = load_sessions(tmp_path / "set.jsonl")
    assert loaded.sessions == tuple(sessions)
    assert loaded.hash == saved.hash
    again = save_sessions(tmp_path / "again.jsonl", loaded)
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "set.jsonl").read_bytes()
    assert again.hash == saved.hash
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["again.jsonl", "set.jsonl"]


def test_trend_is_written_with_its_public_field_names():
    check = orjson.loads(session_line(make("a")))["turns"][0]["rubric"][1]["check"]
    assert check["from"] == 1.0
    assert check["to"] == 2.5


def test_hash_covers_content_and_not_order_or_spacing():
    first, second = make("a"), make("b")
    assert SessionSet([first, second]).hash == SessionSet([second, first]).hash
    assert SessionSet([first]).hash != SessionSet([make("a", tier="rich")]).hash
    shuffled = orjson.dumps(dict(reversed(list(orjson.loads(session_line(first)).items()))), option=orjson.OPT_INDENT_2)
    assert session_hash(read_sessions(shuffled.replace(b"\n", b" "), "spaced").sessions[0]) == session_hash(first)


def test_byte_order_mark_crlf_and_empty_lines_are_read():
    text = b"\xef\xbb\xbf" + session_line(make("a")) + b"\r\n\r\n" + session_line(make("b")) + b"\r\n"
    assert [session.id for session in read_sessions(text, "x")] == ["a", "b"]


def test_splits():
    made = SessionSet([make("a"), make("b", "train"), make("c")])
    assert made.splits == ("public", "train")
    assert [session.id for session in made.split("public")] == ["a", "c"]
    with pytest.raises(UsageError, match="it has: `public`, `train`"):
        made.split("test")


def test_get():
    made = SessionSet([make("a")], "mine")
    assert made.get("a").id == "a"
    assert "a" in made
    assert "z" not in made
    with pytest.raises(UsageError, match="no session `z` in `mine`"):
        made.get("z")


def test_use_and_licence_of_the_set():
    assert SessionSet([make("a")]).trainable
    mixed = SessionSet([make("a"), make("b", use="evaluation", licence="credentialed")])
    assert not mixed.trainable
    assert mixed.licence == "credentialed + synthetic"


def test_duplicate_ids_are_refused():
    with pytest.raises(DataError, match=r"session 2: id `a` is used twice"):
        SessionSet([make("a"), make("a")])


def test_faults_name_line_and_field():
    wrong = orjson.loads(session_line(make("a")))
    wrong["turns"][0]["rubric"][0]["check"]["kind"] = "valeu"
    del wrong["anchor"]
    text = session_line(make("ok")) + b"\n" + orjson.dumps(wrong) + b"\n{not json\n"
    with pytest.raises(DataError) as caught:
        read_sessions(text, "set.jsonl")
    message = str(caught.value)
    assert "set.jsonl:2: anchor" in message
    assert "set.jsonl:2: turns.0.rubric.0.check" in message
    assert "set.jsonl:3: not JSON" in message


def test_a_foreign_file_is_refused_without_flooding():
    with pytest.raises(DataError, match=r"… and 80 more"):
        read_sessions(b"x\n" * 100, "foreign")
    with pytest.raises(DataError, match="no sessions in it"):
        read_sessions(b"\n\n", "empty")


def test_missing_file_says_what_to_give(tmp_path):
    with pytest.raises(UsageError, match="built-in set"):
        load_sessions(tmp_path / "none.jsonl")
