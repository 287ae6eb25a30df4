"""SkyRL-Gym: register the environment, write its rows, and play one as SkyRL's generator does."""

from __future__ import annotations

import orjson
import skyrl_gym

from wardround import dataset
from wardround.envs.adapters.skyrl import register

rows = dataset("ward", form="text")
print(rows.to_jsonl("skyrl_rows.jsonl", env_class="wardround"), "rows written")  # or to_parquet, with pyarrow

register()  # also in the trainer's entry point, before it starts its workers
row = next(iter(rows))
env = skyrl_gym.make("wardround", env_config={"sessions": "ward"}, extras={**row, "max_turns": 60})
messages, _ = env.init(row["prompt"])
print(messages[-1]["content"])
patient = messages[-1]["content"].split("subject_id ")[1].split(";")[0]

# what a model would write: a look-up in Hermes form, the closing call, an answer
look = {"name": "Observation_search", "arguments": {"subject_id": patient, "category": "laboratory", "_count": 2}}
plan = {"name": "prepare_to_answer", "arguments": {"answer_type": "tool"}}
said = [
    f"Let me look. <tool_call>{orjson.dumps(look).decode()}</tool_call>",
    f"<tool_call>{orjson.dumps(plan).decode()}</tool_call>",
    "I could not find it in the chart.",
]
done, step = False, 0
while not done:
    result = env.step(said[step % 3])
    done, step = result["done"], step + 1
    print(f"reward {result['reward']:.3f}", [message["content"][:80] for message in result["observations"]])
print(env.get_metrics())
env.close()
