"""Learning curves: what is drawn is what was measured, along both axes."""

import numpy as np
import pytest

from dowsax.viz.learning import LearningCurve, learning_figure
from dowsax.viz.style import save

NAMES = ("stop_rate", "path_length", "false_stops", "entropy")


def curve(number):
    steps = 1e4 * np.arange(1.0, number + 1)
    return LearningCurve(steps, 2.0 * steps, {name: 0.1 * at + steps / 1e7 for at, name in enumerate(NAMES)})


def test_both_rows_show_the_same_numbers():
    runs = {"one": curve(30), "two": curve(20)}
    figure = learning_figure(runs, "two runs")
    assert len(figure.axes) == 2 * len(NAMES)
    for at, name in enumerate(NAMES):
        over_steps, over_time = figure.axes[2 * at], figure.axes[2 * at + 1]
        for place, run in enumerate(runs.values()):
            for axes, along in ((over_steps, run.steps), (over_time, run.seconds / 3600)):
                x, y = axes.lines[place].get_data()
                np.testing.assert_allclose(x, along)
                np.testing.assert_allclose(y, run.measures[name])
        assert over_time.get_xlabel() == "time [h]"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["one", "two"]


@pytest.mark.parametrize("number", [1, 2])
def test_a_run_that_has_just_begun_can_be_drawn(number, tmp_path):
    path = save(learning_figure({"one": curve(number)}, "begun"), tmp_path / "curves.png")
    assert path.stat().st_size > 1000
