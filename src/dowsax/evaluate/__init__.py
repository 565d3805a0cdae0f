"""Evaluation: searches and surveys in bulk, calibration of beliefs and stops, and their statistics."""

from dowsax.evaluate.episodes import run_episodes
from dowsax.evaluate.metrics import Summary, summarise
from dowsax.evaluate.stops import LADDER, TraceRule
from dowsax.evaluate.trace import Episode, Row

__all__ = ["LADDER", "Episode", "Row", "Summary", "TraceRule", "run_episodes", "summarise"]
