"""The picture of stops shows every policy on every field, with bands and labelled axes."""

import numpy as np
import pytest

from dowsax.viz.stop_calibration import Band, StopCurve, StopPanels, stop_figure
from dowsax.viz.style import save


def panels(height: float) -> StopPanels:
    places = np.array([0.5, 0.8, 0.95])
    value = np.full(3, height)
    band = Band(places, value, value - 0.1, value + 0.1)
    spearman = Band(np.array([10.0, 20.0, 40.0]), np.array([0.2, 0.5, np.nan]), *np.full((2, 3), np.nan))
    signals = {
        "credible-0.95": ((0.5, 0.4, 0.6), (0.9, 0.8, 1.0)),
        "silent": ((0.0, 0.0, 0.1), (np.nan,) * 3),
    }
    return StopPanels(spearman, StopCurve(band, value / 2), StopCurve(band, value / 2), signals)


def test_a_row_a_field_and_a_colour_a_policy(tmp_path):
    row = {"infotaxis": panels(0.3), "greedy": panels(0.2)}
    figure = stop_figure({"temperature, id": row, "gas, id": row}, "Stops")
    assert len(figure.axes) == 8
    assert all(axes.get_xlabel() and axes.get_ylabel() and axes.get_title(loc="left") for axes in figure.axes)
    assert "[m]" in figure.axes[1].get_xlabel()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.texts] == ["infotaxis", "greedy", "credible-0.95", "silent"]
    colours = {line.get_color() for line in figure.axes[0].lines[:2]}
    assert len(colours) == 2
    assert save(figure, tmp_path / "stops.png").read_bytes().startswith(b"\x89PNG")


def test_the_credible_panel_is_over_what_a_level_allows():
    """A level of 0.95 allows 0.05, where the dotted line is 0.05 high."""
    axes = stop_figure({"": {"random": panels(0.2)}}, "Stops").axes[2]
    measured, expected, promise = axes.lines
    assert measured.get_xdata() == pytest.approx([0.5, 0.2, 0.05])
    assert expected.get_ydata() == pytest.approx([0.1] * 3)
    np.testing.assert_array_equal(promise.get_xdata(), promise.get_ydata())
    assert [text.get_text() for text in axes.get_xticklabels()][3] == "0.95"
    assert axes.get_xticks()[3] == pytest.approx(0.05)


@pytest.mark.parametrize(("number", "bands"), [(3, True), (12, False)])
def test_many_policies_stay_apart(number, bands):
    """By colour and the inside of their marks; bands would hide each other."""
    figure = stop_figure({"": {f"policy {at}": panels(0.3) for at in range(number)}}, "Stops")
    (legend,) = figure.legends
    looks = {(line.get_color(), line.get_markerfacecolor()) for line in legend.get_lines()[:number]}
    assert len(looks) == number
    kinds = {type(drawn).__name__ for drawn in figure.axes[1].collections}
    assert any("Fill" in kind or "Poly" in kind for kind in kinds) == bands
