"""The rank plot shows every parameter of every filter, with its band."""

import numpy as np

from dowsax.viz.calibration import RankCurve, rank_figure
from dowsax.viz.style import ORANGE, save


def curve(bend: float) -> RankCurve:
    points = np.linspace(0.01, 0.99, 99)
    width = 0.2 * np.sqrt(points * (1 - points))
    return RankCurve(points, points + bend * points * (1 - points), points - width, points + width, "p = 0.5")


def test_a_row_a_filter_and_a_panel_a_parameter(tmp_path):
    names = ["x", "y", "q"]
    figure = rank_figure({"default": [curve(0.1)] * 3, "paper": [curve(0.9)] * 3}, names, "Calibration")
    assert len(figure.axes) == 6
    assert [axes.get_title(loc="left").split()[0] for axes in figure.axes] == names * 2
    assert "share" in figure.axes[0].get_ylabel()
    assert save(figure, tmp_path / "ranks.png").read_bytes().startswith(b"\x89PNG")


def test_only_what_leaves_the_band_is_marked():
    figure = rank_figure({"both": [curve(0.1), curve(0.9)]}, ["in", "out"], "Calibration")
    inside, outside = figure.axes
    assert not np.isfinite(inside.lines[-1].get_ydata()).any()
    assert np.isfinite(outside.lines[-1].get_ydata()).any()
    assert outside.lines[-1].get_color() == ORANGE
