"""Benchmarks: every figure beside its floor, as ratios of one run (`make bench`)."""
