"""TRL: what GRPOTrainer does with `WardEnvironment`, by hand; `--train MODEL` trains where trl is installed."""

from __future__ import annotations

import inspect
import sys

from wardround import dataset
from wardround.envs.adapters.trl import SESSION_END, WardEnvironment


def by_hand() -> None:
    """Play one row as the trainer does: reset, tool calls, the reward."""
    row = next(iter(dataset("ward", form="reply")))
    environment = WardEnvironment()  # its own zero-argument factory; its public methods are the tools
    names = [name for name, _ in inspect.getmembers(WardEnvironment, inspect.isfunction) if not name.startswith("_")]
    print(len(names) - 2, "tools, among them", names[:3])

    environment.reset(**row)
    print(row["prompt"][-1]["content"])
    me = {"subject_id": row["prompt"][-1]["content"].split("subject_id ")[1].split(";")[0]}
    print(environment.Observation_search(**me, category="laboratory", _count=2))  # type: ignore[attr-defined]
    shown = ""
    while shown != SESSION_END:
        environment.prepare_to_answer(answer_type="tool")  # type: ignore[attr-defined]
        shown = environment.reply_to_physician(message="I could not find it in the chart.")  # type: ignore[attr-defined]
        print("->", shown)
    print("reward", environment.get_reward())


def train(model: str) -> None:
    """Train; for other sets than the ward give the trainer `ward_environment(sessions=…)` and rows of that set."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    trainer = GRPOTrainer(
        model=model,  # one whose chat template has tools, such as Qwen 3
        args=GRPOConfig(output_dir="ward-grpo", num_generations=4, max_completion_length=8192),
        train_dataset=Dataset.from_list(list(dataset("ward", form="reply"))),
        environment_factory=WardEnvironment,
    )
    trainer.train()


if sys.argv[1:2] == ["--train"]:
    train(sys.argv[2])
else:
    by_hand()
