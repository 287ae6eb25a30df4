"""A small language model that chooses among templates, trained with LoRA: `examples/train_lora.py` runs it."""
