"""The picture of a belief: complete, labelled with units, and drawn for every belief without a warning."""

import numpy as np
import pytest
from matplotlib.image import imread

from dowsax.inference.posterior import Posterior, Trace
from dowsax.viz import belief_figure, save
from dowsax.viz.reading_norm import reading_norm
from dowsax.world import PARAMETERS

SPREAD = np.array([0.3, 0.5, 300.0, 1.0, 1.0, 0.5, 0.5])
CENTRE = np.array([12.0, 9.0, 900.0, 0.5, -0.5, 3.0, 2.0])


def posterior_of(samples, readings, parameters=PARAMETERS):
    """A posterior made by hand, with a trace that contracts."""
    num_readings, dimensions = len(readings), samples.shape[1]
    fall = np.linspace(4, 0.3, num_readings)
    trace = Trace(
        mean=np.zeros((num_readings, dimensions)),
        std=np.repeat(fall[:, None], dimensions, axis=1),
        credible_radius=2.4 * fall,
        ess=fall,
        stages=fall,
        acceptance_rate=fall,
        evaluations=fall,
    )
    number = len(samples)
    positions = np.stack([np.arange(num_readings) + 0.5, np.full(num_readings, 3.0)], axis=1)
    return Posterior(
        parameters,
        samples,
        np.full(number, 1 / number),
        positions,
        readings,
        np.array(-3.0),
        np.array(0.4),
        trace,
    )


def gaussian(num_readings=12, spread=1.0):
    samples = CENTRE + spread * SPREAD * np.random.default_rng(0).normal(size=(300, 7))
    return posterior_of(samples, np.geomspace(0.001, 10, num_readings))


def labels(figure):
    return [axes.get_xlabel() for axes in figure.axes if axes.axison]


def test_figure_is_complete_and_labelled_with_units():
    """A map, five marginals with a key, and the spread; every axis says its unit."""
    figure = belief_figure(gaussian(), truth=CENTRE, title="A survey", unit="K")
    assert labels(figure) == [
        "x, east [m]", "q [–]", "ux [m/s]", "uy [m/s]", "α [m²/s]", "λ [m]", "reading number"
    ]  # fmt: skip
    assert figure.axes[0].get_ylabel() == "y, north [m]"
    assert figure.axes[-1].get_ylabel() == "spread [m]"
    assert figure.axes[0].get_aspect() == 1
    bars = [child.get_ylabel() for child in figure.axes[0].child_axes]
    assert "reading [K]" in bars
    key = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert {"mean", "true position", "50 % region", "95 % region"} <= set(key)


def test_the_truth_is_shown_only_if_given():
    figure = belief_figure(gaussian())
    key = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert "true position" not in key


def test_the_map_shows_the_whole_area_or_more():
    """The benchmark's square where it holds everything, else a square about everything."""
    low, high = belief_figure(gaussian()).axes[0].get_xlim()
    assert low < 0
    assert 25 < high < 27
    low, high = belief_figure(gaussian(), truth=np.array([100.0, 9.0])).axes[0].get_xlim()
    assert high > 100


@pytest.mark.parametrize("ending", ["png", "pdf", "svg"])
def test_saves_a_picture(tmp_path, ending):
    path = save(belief_figure(gaussian()), tmp_path / f"map.{ending}")
    assert path.stat().st_size > 10_000
    if ending == "png":
        height, width, _ = imread(path).shape
        assert (width, height) == (1800, 1020)


@pytest.mark.parametrize("name", ["map", "map.xyz"])
def test_unknown_formats_are_refused(tmp_path, name):
    with pytest.raises(ValueError, match=r"end the name in \.png, \.pdf, \.svg"):
        save(belief_figure(gaussian()), tmp_path / name)


DEGENERATE = {
    "all samples equal": posterior_of(np.repeat(CENTRE[None], 20, axis=0), np.arange(5.0)),
    "a single reading": gaussian(num_readings=1),
    "equal readings": posterior_of(gaussian().samples, np.zeros(4)),
    "negative readings": posterior_of(gaussian().samples, np.array([-20.0, -19.5, -30.0])),
    "one axis known": posterior_of(gaussian().samples * [1, 0, 1, 1, 1, 1, 1], np.arange(4.0)),
    "tiny spread": gaussian(spread=1e-7),
    "position alone": posterior_of(gaussian().samples[:, :2], np.arange(4.0), PARAMETERS[:2]),
    "three parameters": posterior_of(gaussian().samples[:, :3], np.arange(4.0), PARAMETERS[:3]),
}


@pytest.mark.slow_after(3)
@pytest.mark.parametrize("posterior", DEGENERATE.values(), ids=DEGENERATE)
def test_degenerate_beliefs_draw_without_a_warning(posterior, tmp_path):
    """Warnings are errors in tests."""
    assert save(belief_figure(posterior, truth=CENTRE[:2]), tmp_path / "map.png").exists()


def test_readings_over_decades_are_coloured_logarithmically():
    """A factor takes equal steps on the scale; a linear one where readings are alike."""
    wide = reading_norm(np.array([0.0, 0.1, 1.0, 10.0, 100.0]))
    steps = np.diff(wide([1.0, 10.0, 100.0]))
    assert steps[0] == pytest.approx(steps[1], rel=0.05)
    narrow = reading_norm(np.array([40.0, 50.0, 60.0]))
    assert narrow(50.0) == pytest.approx(0.5)


def test_wrong_input_is_one_line():
    posterior = gaussian()
    batch = Posterior(
        PARAMETERS, posterior.samples[None], posterior.weights[None], posterior.places[None],
        posterior.readings[None], posterior.log_evidence[None], posterior.fit[None], posterior.trace,
    )  # fmt: skip
    with pytest.raises(ValueError, match="one survey"):
        belief_figure(batch)
    with pytest.raises(ValueError, match="`truth` must be a position"):
        belief_figure(posterior, truth=np.ones(3))
