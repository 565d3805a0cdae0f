"""Evaluation: simulated surveys, calibration of the belief, and the statistics they need."""
