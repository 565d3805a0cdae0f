"""Benchmarks of others, by their rules."""
