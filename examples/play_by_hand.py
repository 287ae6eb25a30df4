"""Play one turn of a ward round by hand and print why it earned what it earned."""

from __future__ import annotations

from wardround import load_charts, load_sessions
from wardround.envs import Episode

sessions = load_sessions("ward")
charts = load_charts("ward")
session = sessions.sessions[0]
episode = Episode(session, charts.chart(session.chart.patient), phrasing="explicit")

print(episode.messages[-1]["content"])
subject = episode.subject["subject_id"]
result = episode.call("Observation.search", {"subject_id": subject, "category": "laboratory", "_count": 5})
print(result.text)
episode.call("prepare_to_answer", {"answer_type": "chat"})

branch = episode.fork()  # cheap: try two answers from the same state
for player, answer in ((episode, "Everything is fine."), (branch, "I could not find it in the chart.")):
    score = player.answer(answer)
    assert score is not None
    print(f"\n{answer!r} earns {score.reward:.2f}")
    for verdict in score.verdicts:
        print(f"  {'pass' if verdict.passed else 'fail'}  {verdict.item}: {verdict.reason}")
