"""REINFORCE on the ward round with numpy alone: `examples/train_reinforce.py` runs it."""
