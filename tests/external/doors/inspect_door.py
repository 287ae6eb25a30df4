"""inspect-ai evaluates the task with a scripted model; run where inspect-ai is installed: `inspect_door.py FOLDER`."""

from __future__ import annotations

import sys
from typing import Any

from door_actions import POLICIES, reference
from inspect_ai import eval as run
from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput, ModelUsage, get_model
from inspect_ai.tool import ToolChoice, ToolInfo

from wardround import load_sessions
from wardround.envs.adapters.inspect import ward_round

SESSIONS = load_sessions("ward").sessions[:2]
prompted: list[str] = []


def scripted(policy: str) -> Any:
    """Return a model that plays the policy in whichever session the dialogue is about."""
    scripts = {session.id: POLICIES[policy](session) for session in SESSIONS}

    def say(messages: list[ChatMessage], tools: list[ToolInfo], choice: ToolChoice, config: GenerateConfig) -> Any:
        assert len(tools) == 18
        prompted.append("".join(message.text for message in messages if message.role != "assistant"))
        (session_id,) = (name for name in scripts if f"session_id {name};" in messages[1].text)
        kind, name, arguments = scripts[session_id][sum(message.role == "assistant" for message in messages)]
        if kind == "call":
            output = ModelOutput.for_tool_call("mockllm", name, arguments, content="")
        else:
            output = ModelOutput.from_content("mockllm", name)
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    return get_model("mockllm/model", custom_outputs=say)


for policy, script in POLICIES.items():
    (log,) = run(ward_round(limit=2), model=scripted(policy), log_dir=sys.argv[1], display="none")
    assert log.status == "success", log.error
    episodes = {session.id: reference(session, script(session)) for session in SESSIONS}
    for sample in log.samples:
        score, episode = sample.scores["round_scorer"], episodes[sample.id]
        turns = {f"turn_{number}": one.reward for number, one in enumerate(episode.scores, 1)}
        assert score.value == {"mrs": episode.score, **turns}, score.value
        assert score.metadata["trajectory_hash"] == episode.trajectory_hash
    means = {score.name: score.metrics["mean"].value for score in log.results.scores}
    assert means["mrs"] == sum(episode.score for episode in episodes.values()) / 2, means
    assert set(means) == {"mrs", "turn_1", "turn_2", "turn_3", "turn_4"}
    hashes = [episode.trajectory_hash for episode in episodes.values()]
    assert not any(word in text for text in prompted for word in ("verdict", "rubric", *hashes))
    print(policy, means)
