"""The tools of the ward round: contract in `spec.py`, one module per effect."""
