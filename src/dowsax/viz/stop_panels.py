"""From the calibration of stops to what is drawn of it."""

from collections.abc import Iterable

import numpy as np

from dowsax.evaluate.metrics import Estimate
from dowsax.evaluate.stop_calibration import CurvePoint, StopCalibration
from dowsax.viz.stop_calibration import Band, StopCurve, StopPanels


def summarise_stops(report: "StopCalibration") -> "StopPanels":
    """The panels of one policy on one field."""
    signals = {
        str(rule): (_numbers(signal.recall), _numbers(signal.precision))
        for rule, signal in report.signals.items()
    }
    return StopPanels(
        spearman=_band(report.spearman_at, report.spearman_at.values()),
        contraction=_curve(report.curves["contraction"]),
        credible=_curve(report.curves["credible"]),
        signals=signals,
    )


def _curve(points: "list[CurvePoint]") -> "StopCurve":

    band = _band((point.threshold for point in points), (point.false_stops for point in points))
    return StopCurve(band, np.array([_number(point.expected) for point in points]))


def _band(places: Iterable[float | int], estimates: "Iterable[Estimate]") -> "Band":

    numbers = np.array([_numbers(estimate) for estimate in estimates]).reshape(-1, 3)
    return Band(np.array(list(places), np.float64), *numbers.T)


def _numbers(estimate: "Estimate") -> tuple[float, float, float]:
    value, low, high, _ = estimate
    return _number(value), _number(low), _number(high)


def _number(value: float | None) -> float:
    return float("nan") if value is None else value
