"""The calibration of stops as a figure: spread against error, false stops, precision and recall."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from dowsax.evaluate.metrics import Estimate
from dowsax.evaluate.stop_calibration import CurvePoint, StopCalibration
from dowsax.viz.style import INK, MUTED, PALETTE, add_panel, new_figure, styled

_MARKERS = ("o", "s", "^", "D", "v")
# The layout, in inches.
_PANEL, _HEIGHT, _GAP, _ROW_GAP = 2.55, 2.1, 0.68, 1.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 0.85, 0.2, 1.1, 0.95
_LEGEND_COLUMNS = 8
_LEVELS = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99)
_MAX_FILLED_BANDS = 3


def _style(number: int) -> dict[str, Any]:
    """Return the colours of a policy: when they run out, further policies have white marks."""
    colour = PALETTE[number % len(PALETTE)]
    return {"color": colour, "markerfacecolor": colour if number < len(PALETTE) else "white"}


class Band(NamedTuple):
    """Values with their intervals along an axis; NaN where there is none."""

    places: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray


class StopCurve(NamedTuple):
    """False stops over the thresholds of a rule."""

    false_stops: Band
    expected: np.ndarray
    """The share of false stops that the beliefs expect."""


class StopPanels(NamedTuple):
    """The contents of the panels of one policy on one field."""

    spearman: Band
    """Of spread and error, over the number of the reading."""
    contraction: StopCurve
    credible: StopCurve
    signals: Mapping[str, tuple[Sequence[float], Sequence[float]]]
    """By rule: its recall and its precision, each as value, low and high."""


def summarise_stops(report: StopCalibration) -> StopPanels:
    """Return the panels of one policy on one field."""
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


def _curve(points: list[CurvePoint]) -> StopCurve:
    band = _band((point.threshold for point in points), (point.false_stops for point in points))
    return StopCurve(band, np.array([_number(point.expected) for point in points]))


def _band(places: Iterable[float | int], estimates: Iterable[Estimate]) -> Band:
    numbers = np.array([_numbers(estimate) for estimate in estimates]).reshape(-1, 3)
    return Band(np.array(list(places), np.float64), *numbers.T)


def _numbers(estimate: Estimate) -> tuple[float, float, float]:
    value, low, high, _ = estimate
    return _number(value), _number(low), _number(high)


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def stop_figure(rows: Mapping[str, Mapping[str, StopPanels]], title: str) -> Figure:
    """Draw one row of four panels per field, one colour per policy."""
    policies = list(dict.fromkeys(policy for panels in rows.values() for policy in panels))
    rules = list(dict.fromkeys(rule for row in rows.values() for one in row.values() for rule in one.signals))
    legend_lines = 1 + (len(policies) + len(rules) - 1) // _LEGEND_COLUMNS
    top = _TOP + 0.2 * (legend_lines - 1)
    width = _LEFT + 4 * (_PANEL + _GAP) - _GAP + _RIGHT
    height = top + len(rows) * (_HEIGHT + _ROW_GAP) - _ROW_GAP + _BOTTOM
    with styled():
        figure = new_figure(width, height)
        for number, (label, row) in enumerate(rows.items()):
            bottom = _BOTTOM + (len(rows) - 1 - number) * (_HEIGHT + _ROW_GAP)
            axes = [
                add_panel(figure, _LEFT + at * (_PANEL + _GAP), bottom, _PANEL, _HEIGHT) for at in range(4)
            ]
            styles = {policy: _style(policies.index(policy)) for policy in row}
            _draw_spearman(axes[0], row, styles)
            _draw_curves(axes[1], {policy: one.contraction for policy, one in row.items()}, styles)
            _finish_contraction(axes[1])
            _draw_curves(axes[2], {policy: _allowed(one.credible) for policy, one in row.items()}, styles)
            _finish_credible(axes[2])
            _draw_signals(axes[3], row, styles, rules)
            place = axes[0].get_position()
            figure.text(place.x0, place.y1 + 0.31 / height, label, fontweight="bold")
        _annotate(figure, title, policies, rules)
    return figure


def _draw_spearman(axes: Axes, row: Mapping[str, StopPanels], styles: Mapping[str, dict[str, Any]]) -> None:
    """Draw the rank correlation at some readings, side by side, so that intervals do not overlap."""
    readings = list(dict.fromkeys(at for one in row.values() for at in one.spearman.places.tolist()))
    for number, (policy, one) in enumerate(row.items()):
        band = one.spearman
        shift = min(0.08, 0.7 / len(row)) * (number - (len(row) - 1) / 2)
        places = [readings.index(at) + shift for at in band.places.tolist()]
        axes.vlines(places, band.low, band.high, color=styles[policy]["color"], linewidth=1.2, alpha=0.6)
        axes.plot(places, band.value, marker="o", markersize=3.5, linewidth=1.2, **styles[policy])
    axes.axhline(0.0, color=MUTED, linewidth=0.8)
    axes.set_xticks(range(len(readings)), [f"{at:g}" for at in readings])
    axes.set(xlim=(-0.5, len(readings) - 0.5), ylim=(-1.0, 1.0), xlabel="reading")
    axes.set(title="Spread follows error: positive is good", ylabel="Spearman of spread and error")


def _draw_curves(axes: Axes, curves: Mapping[str, StopCurve], styles: Mapping[str, dict[str, Any]]) -> None:
    """Draw the share of false stops with its band, and the share that the beliefs expect."""
    for policy, (band, expected) in curves.items():
        colour, band_limits = styles[policy]["color"], (band.places, band.low, band.high)
        if len(curves) <= _MAX_FILLED_BANDS:
            axes.fill_between(*band_limits, color=colour, alpha=0.15, linewidth=0)
        else:
            axes.vlines(*band_limits, color=colour, linewidth=0.6, alpha=0.35)
        axes.plot(band.places, band.value, marker="o", markersize=3, **styles[policy])
        axes.plot(band.places, expected, color=colour, linewidth=1.2, linestyle=(0, (4, 2)))
    axes.set_ylim(0.0, None)
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    axes.set_ylabel("false stops, share of stops")


def _finish_contraction(axes: Axes) -> None:
    places = np.linspace(0.05, 2.05, 200)
    axes.plot(places, np.exp(-0.5 / places**2), color=MUTED, linewidth=1.0, linestyle=":")
    title = "Contraction: stop when max(σx, σy) < ζ"
    axes.set(xlim=(0.0, 2.05), ylim=(0.0, 1.0), title=title, xlabel="ζ [m]")


def _allowed(curve: StopCurve) -> StopCurve:
    """Place the curve over the share of false stops that a level allows."""
    return curve._replace(false_stops=curve.false_stops._replace(places=1 - curve.false_stops.places))


def _finish_credible(axes: Axes) -> None:
    # A logarithmic axis of the allowed share, labelled with the levels: stricter is to the right.
    allowed = 1 - np.array(_LEVELS)
    places = np.geomspace(0.55, 0.0045, 100)
    limit = axes.get_ylim()[1]
    axes.plot(places, places, color=MUTED, linewidth=1.0, linestyle=":")
    axes.set_xscale("log")
    axes.set_xlim(0.55, 0.0045)
    axes.set_ylim(0.0, max(limit, 0.55))
    axes.set_xticks(allowed, [f"{level:g}" for level in _LEVELS])
    axes.set_xticks([], minor=True)
    axes.set(title="Credible: stop when P(within 1 m) ≥ level", xlabel="level")


def _draw_signals(
    axes: Axes, row: Mapping[str, StopPanels], styles: Mapping[str, dict[str, Any]], rules: Sequence[str]
) -> None:
    """Draw precision and recall of each rule as a classifier of errors below 1 m."""
    for policy, one in row.items():
        for rule, (recall, precision) in one.signals.items():
            if not np.isfinite([recall[0], precision[0]]).all():
                continue
            line = {"color": styles[policy]["color"], "linewidth": 1.0, "alpha": 0.6}
            axes.hlines(precision[0], recall[1], recall[2], **line)
            axes.vlines(recall[0], precision[1], precision[2], **line)
            marker = _MARKERS[rules.index(rule) % len(_MARKERS)]
            axes.plot(recall[0], precision[0], marker=marker, markersize=5, zorder=3, **styles[policy])
    axes.set_xlim(0.0, 1.02)
    axes.set_ylim(min(0.8, axes.get_ylim()[0]), 1.01)
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.grid()
    axes.set_axisbelow(True)
    axes.set_title("The stop as a signal of error < 1 m")
    axes.set_xlabel("recall: signals, of readings below 1 m")
    axes.set_ylabel("precision: below 1 m, of signals")


def _annotate(figure: Figure, title: str, policies: Sequence[str], rules: Sequence[str]) -> None:
    width, height = figure.get_size_inches()
    figure.text(_LEFT / width, 1 - 0.12 / height, title, fontsize=11, va="top")
    lines = [
        Line2D([], [], marker="o", markersize=3.5, label=policy, **_style(number))
        for number, policy in enumerate(policies)
    ]
    marks = [
        Line2D([], [], color=INK, linestyle="", marker=_MARKERS[at % len(_MARKERS)], markersize=5, label=rule)
        for at, rule in enumerate(rules)
    ]
    figure.legend(
        handles=lines + marks,
        loc="upper left",
        bbox_to_anchor=(_LEFT / width, 1 - 0.38 / height),
        borderaxespad=0,
        borderpad=0,
        ncols=_LEGEND_COLUMNS,
    )
    kinds = (
        "Solid: what happened, with 95 % intervals. Dashed: what the beliefs expected at the same stops; "
        "both agree for right beliefs.\n"
        "Dotted: what a level allows; the false stops of a Gaussian belief with σx = σy = ζ. "
        "Thresholds too strict for the records are left out."
    )
    figure.text(_LEFT / width, 0.1 / height, kinds, fontsize=8, color=MUTED, linespacing=1.4)
