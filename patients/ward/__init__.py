"""The built-in ward: hand-authored synthetic patients; no real person."""
