"""Orders: do the arguments of a write mean what was asked for? Vocabulary in `data/`."""
