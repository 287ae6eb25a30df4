"""Check kinds, one small module each."""
