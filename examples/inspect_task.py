"""inspect-ai: `inspect eval examples/inspect_task.py --model PROVIDER/MODEL -T limit=9`; here with a mock model."""

from __future__ import annotations

from inspect_ai import eval as run
from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput, ModelUsage, get_model
from inspect_ai.tool import ToolChoice, ToolInfo

from wardround.envs.adapters.inspect import ward_round

__all__ = ["ward_round"]


def say(messages: list[ChatMessage], tools: list[ToolInfo], choice: ToolChoice, config: GenerateConfig) -> ModelOutput:
    """Stand in for a model: close the plan, then admit ignorance."""
    if messages[-1].role == "tool":
        output = ModelOutput.from_content("mockllm", "I could not find it in the chart.")
    else:
        output = ModelOutput.for_tool_call("mockllm", "prepare_to_answer", {"answer_type": "tool"}, content="")
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # else it looks for a tokenizer online
    return output


if __name__ == "__main__":
    model = get_model("mockllm/model", custom_outputs=say)
    (log,) = run(ward_round(sessions="ward", limit=3), model=model, log_dir="inspect-logs", display="none")
    print(log.status, len(log.samples or []), "samples")
    for score in log.results.scores if log.results else []:
        print(score.name, {name: round(metric.value, 3) for name, metric in score.metrics.items()})
