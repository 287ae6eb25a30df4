"""The POMDP: contract in `episode.py`."""
