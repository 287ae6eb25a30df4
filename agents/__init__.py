"""Who acts: contract in `agent.py`."""
