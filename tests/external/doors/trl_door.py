"""TRL's own GRPOTrainer plays one session twice through `WardEnvironment` and takes a step; run where trl is installed.

The model is a tiny random one and its tokens are scripted, so that what is tested is the trainer's loop: it finds the
tools and writes their schemas, parses the calls from tokens, runs them, masks their results and asks for the reward.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import torch
from datasets import Dataset
from door_actions import Action, mistaken, oracle, reference
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from transformers.utils import get_json_schema
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen3_chat_template

from wardround import dataset, load_sessions
from wardround.envs.adapters.trl import WardEnvironment, round_of
from wardround.patients import TOOLS

SESSION = load_sessions("ward").sessions[1]
SCRIPTS = {"oracle": oracle(SESSION), "mistaken": mistaken(SESSION)}


def written(policy: str, number: int) -> str:
    """Return the message of a policy's action, marked so that the next can be found from the dialogue."""
    kind, name, arguments = SCRIPTS[policy][number]
    call = {"name": name, "arguments": arguments} if kind == "call" else reply(name)
    return f"@{policy}:{number}@\n<tool_call>\n{json.dumps(call, ensure_ascii=False)}\n</tool_call><|im_end|>"


def reply(text: str) -> dict[str, Any]:
    """Return an answer as the call that TRL needs."""
    return {"name": "reply_to_physician", "arguments": {"message": text}}


class Scripted(GRPOTrainer):
    """The trainer with a model that says what the scripts say."""

    def _generate_single_turn(self, prompt_ids: list[list[int]], *args: Any, **kwargs: Any) -> Any:
        out = []
        for place, ids in enumerate(prompt_ids):
            marks = re.findall(r"@(\w+):(\d+)@", self.processing_class.decode(ids))
            policy, number = (marks[-1][0], int(marks[-1][1]) + 1) if marks else (list(SCRIPTS)[place % 2], 0)
            text = written(policy, number) if number < len(SCRIPTS[policy]) else "Goodbye.<|im_end|>"
            out.append(self.processing_class.encode(text))
        return out, None


def tokenizer(rows: Dataset) -> PreTrainedTokenizerFast:
    """Return a byte-level tokenizer learnt from the rows, with the chat template of Qwen 3."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    marks = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    learn = trainers.BpeTrainer(vocab_size=2000, special_tokens=marks, initial_alphabet=alphabet, show_progress=False)
    made.train_from_iterator([message["content"] for row in rows for message in row["prompt"]] * 2, learn)
    fast = PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    fast.chat_template = qwen3_chat_template
    return fast


def check_schemas(processing: PreTrainedTokenizerFast) -> None:
    """Compare the schemas that transformers reads from the methods with the registry's own."""
    for spec in TOOLS.values():
        found = get_json_schema(getattr(WardEnvironment(), spec.alias))["function"]
        assert found["name"] == spec.alias
        assert found["description"] == spec.description
        properties = found["parameters"]["properties"]
        for name, argument in spec.schema["properties"].items():
            assert properties[name]["type"] == argument["type"], (spec.alias, name, properties[name])
            assert properties[name]["description"] == argument["description"], properties[name]
            assert properties[name].get("enum") == argument.get("enum")
        assert found["parameters"].get("required", []) == spec.schema["required"]
    assert get_json_schema(WardEnvironment().reply_to_physician)["function"]["parameters"]["required"] == ["message"]


def episode_of(actions: list[Action]) -> Any:
    """Return the episode, with answers as they are and calls as TRL passes them on."""
    return reference(SESSION, actions)


def main() -> None:
    """Train one step on a group of two and compare."""
    (row,) = (row for row in dataset("ward", form="reply", seed=3) if row["session_id"] == SESSION.id)
    rows = Dataset.from_list([row] * 4)
    processing = tokenizer(rows)
    check_schemas(processing)
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=len(processing), hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=2, head_dim=16, max_position_embeddings=65536,
    )  # fmt: skip
    arguments = GRPOConfig(
        output_dir=sys.argv[1], per_device_train_batch_size=2, num_generations=2, max_steps=1, logging_steps=1,
        max_completion_length=40000, report_to=[], use_cpu=True, save_strategy="no", bf16=False, beta=0.0,
        gradient_checkpointing=False, disable_tqdm=True,
    )  # fmt: skip
    trainer = Scripted(
        model=Qwen3ForCausalLM(config),
        args=arguments,
        train_dataset=rows,
        processing_class=processing,
        environment_factory=WardEnvironment,
    )
    assert {tool.__name__ for tool in trainer.tools} == {"reply_to_physician", *(spec.alias for spec in TOOLS.values())}
    trainer.train()
    played = [round_of(environment) for environment in trainer.environments]
    expected = [episode_of(SCRIPTS[policy]) for policy in SCRIPTS]
    assert [one.reward for one in played] == [one.score for one in expected], [one.reward for one in played]
    assert [one.trajectory_hash for one in played] == [one.trajectory_hash for one in expected]
    logged = trainer.state.log_history[0]
    mean = sum(one.score for one in expected) / 2
    assert abs(logged["rewards/WardEnvironment/mean"] - mean) < 1e-6, logged
    calls = sum(len(script) for script in SCRIPTS.values()) / 2
    assert logged["tools/call_frequency"] == calls, logged
    print("rewards", [one.reward for one in played], "calls", calls, "failures", logged["tools/failure_frequency"])


if __name__ == "__main__":
    main()
