"""The map of a survey: complete, to scale, with ticks where the degrees are, and drawn for every belief."""

import re

import numpy as np
import pytest
from made_findings import CENTRE, ORIGIN, SPREAD, made_findings, made_posterior
from matplotlib import colormaps
from matplotlib.backends.backend_agg import FigureCanvasAgg

from dowsax.geo.local import LocalCoordinates
from dowsax.site.obstacles import Obstacle
from dowsax.viz.maps import draw_compass
from dowsax.viz.style import INK, MUTED, READING_COLOURS, new_figure
from dowsax.viz.survey_map import survey_figure


def panel(figure, label):
    return next(axes for axes in figure.axes if axes.get_label() == label)


def key_of(figure):
    return {text.get_text() for legend in figure.legends for text in legend.get_texts()}


def test_the_map_has_every_part():
    figure = survey_figure(made_findings())
    parts = {"estimate ± std", "50 % region", "95 % region", "track, readings", "wind at readings"}
    parts |= {"next waypoint", "geofence", "no-go area", "area of the search"}
    assert key_of(figure) == parts
    assert panel(figure, "scale of the readings").get_ylabel() == "reading [ppm]"
    words = [text.get_text() for text in figure.texts]
    assert "Made survey & more" in words
    assert any("with 95 % probability" in each for each in words)


def test_obstacles_are_drawn_and_in_the_key():
    corners = np.array([[60.0, 40.0], [66.0, 40.0], [66.0, 46.0]])
    figure = survey_figure(made_findings(obstacles=(Obstacle(corners),)))
    assert "obstacle" in key_of(figure)
    drawn = [patch.get_xy()[:3].tolist() for axes in figure.axes for patch in axes.patches
             if hasattr(patch, "get_closed")]  # fmt: skip
    assert corners.tolist() in drawn


def test_what_is_not_there_is_not_in_the_key():
    findings = made_findings(
        coordinates=LocalCoordinates(),
        wind=None,
        geofence=(),
        no_go=(),
        area=None,
        waypoints=np.zeros((0, 2)),
        altitude=None,
    )
    figure = survey_figure(findings)
    assert key_of(figure) == {"estimate ± std", "50 % region", "95 % region", "track, readings"}
    axes = panel(figure, "map")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x, east [m]", "y, north [m]")


def test_the_map_is_to_scale():
    """A metre is as long to the east as to the north."""
    figure = survey_figure(made_findings())
    axes = panel(figure, "map")
    box = axes.get_position()
    wide, tall = figure.get_size_inches()
    across = np.diff(axes.get_xlim())[0] / (box.width * wide)
    along = np.diff(axes.get_ylim())[0] / (box.height * tall)
    assert across == pytest.approx(along, rel=1e-6)


def test_ticks_stand_where_their_degrees_are():
    """Against a degree of latitude at 51.2°, 111,252 m, and the sphere for longitude."""
    axes = panel(survey_figure(made_findings()), "map")
    ticks = list(zip(axes.get_yticks(), axes.get_yticklabels(), strict=True))
    assert len(ticks) >= 3
    for place, label in ticks:
        degrees = float(re.fullmatch(r"([\d.]+)° N", label.get_text())[1])
        assert place == pytest.approx(111_252 * (degrees - ORIGIN[0]), abs=0.05)
    for place, label in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True):
        degrees = -float(re.fullmatch(r"([\d.]+)° W", label.get_text())[1])
        across = 111_320 * np.cos(np.radians(ORIGIN[0])) * (degrees - ORIGIN[1])
        assert place == pytest.approx(across, rel=5e-3, abs=0.05)


def test_everything_lies_on_the_map():
    findings = made_findings()
    axes = panel(survey_figure(findings), "map")
    low, high = np.transpose([axes.get_xlim(), axes.get_ylim()])
    for points in (findings.positions, findings.geofence[0], findings.regions[0.95].patches[0].border):
        assert (points > low).all()
        assert (points < high).all()


def test_the_wind_points_where_the_air_goes():
    axes = new_figure(2.0, 2.0).add_axes((0, 0, 1, 1))
    draw_compass(axes, np.array([3.0, 0.0]), "measured")
    (arrow,) = [text for text in axes.texts if text.get_text() == ""]
    assert arrow.xy[0] > 0 > arrow.xyann[0]
    assert any("3.0 m/s from 270°" in text.get_text() for text in axes.texts)


def two_places():
    random = np.random.default_rng(0)
    return np.concatenate(
        [CENTRE + shift + SPREAD * random.normal(size=(300, 4)) for shift in (0, [60, 30, 0, 0])]
    )


BELIEFS = {
    "two places": two_places(),
    "all draws equal": np.repeat(CENTRE[None], 50, axis=0),
    "narrow": CENTRE + 1e-3 * SPREAD * np.random.default_rng(1).normal(size=(300, 4)),
    "position alone": (CENTRE + SPREAD * np.random.default_rng(2).normal(size=(300, 4)))[:, :2],
}


@pytest.mark.parametrize("name", BELIEFS)
def test_every_belief_is_drawn_without_a_warning(name, tmp_path):
    findings = made_findings(samples=BELIEFS[name], prior_interval=None)
    survey_figure(findings).savefig(tmp_path / "map.png")
    assert (tmp_path / "map.png").stat().st_size > 10_000


def test_one_reading_is_drawn(tmp_path):
    one = {
        name: getattr(made_findings(), name)[:1]
        for name in ("positions", "values", "lines", "time", "altitude", "wind")
    }
    survey_figure(made_findings(**one)).savefig(tmp_path / "map.png")


def test_the_estimate_does_not_hide_the_strongest_reading():
    """The picture has the colour of the reading where it lies, right under the estimate."""
    findings = made_findings(wind=None)
    strongest = int(np.argmax(findings.values))
    offset = np.append(findings.positions[strongest] - CENTRE[:2], [0, 0])
    for spread in (0.2, 1.0):
        draws = CENTRE + offset + spread * SPREAD * np.random.default_rng(0).normal(size=(500, 4))
        figure = survey_figure(made_findings(samples=draws, wind=None))
        figure.canvas = FigureCanvasAgg(figure)
        figure.canvas.draw()
        place = panel(figure, "map").transData.transform(findings.positions[strongest])
        pixels = np.asarray(figure.canvas.buffer_rgba())
        seen = pixels[len(pixels) - 1 - round(place[1]), round(place[0]), :3]
        np.testing.assert_allclose(seen, 255 * np.array(colormaps[READING_COLOURS](1.0)[:3]), atol=1)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"evidence": -2.0}, "guess: no source"),
        ({"posterior": made_posterior(made_findings().posterior.samples, fit=0.001)}, "guess: nothing fits"),
        ({"outcome": "inconclusive"}, "best guess, not sure"),
        ({"outcome": "searching"}, "best guess, not sure"),
        ({"caution": "The wind looks reversed."}, "best guess, not sure"),
        ({"outcome": "found"}, "estimate ± std"),
    ],
)
def test_a_guess_does_not_look_like_an_answer(changes, words):
    """It is a grey ring without bars, and the key says what it is."""
    figure = survey_figure(made_findings(wind=None, waypoints=np.zeros((0, 2)), **changes))
    assert words in key_of(figure)
    axes = panel(figure, "map")
    rings = [line for line in axes.lines if line.get_markerfacecolor() == "none"]
    sure = words.startswith("estimate")
    assert rings[-1].get_markeredgecolor() == (INK if sure else MUTED)
    assert bool(axes.containers) == sure


def test_a_region_within_the_ring_is_not_hidden():
    """Bars of half a metre on a map of 160 m would cover it; those of 5 m do not."""
    small = made_findings(
        samples=CENTRE + SPREAD * [0.1, 0.1, 1, 1] * np.random.default_rng(1).normal(size=(900, 4))
    )
    assert not panel(survey_figure(small), "map").containers
    assert panel(survey_figure(made_findings()), "map").containers


@pytest.mark.parametrize(
    "readings", [np.geomspace(183, 5952, 60), np.geomspace(0.01, 90, 60), np.linspace(3, 7, 60)]
)
def test_the_scale_of_the_readings_has_three_labels(readings):
    scale = panel(survey_figure(made_findings(values=readings)), "scale of the readings")
    low, high = scale.get_ylim()
    assert sum(low <= tick <= high for tick in scale.get_yticks()) >= 3


def test_what_is_magnified_hides_no_reading():
    """A survey all over the map has it beside the map, to scale; one that leaves a corner free, there."""
    narrow = CENTRE + 0.2 * SPREAD * np.random.default_rng(0).normal(size=(500, 4))
    figure = survey_figure(made_findings(samples=narrow))
    inset = panel(figure, "magnified")
    assert not inset.get_position().overlaps(panel(figure, "map").get_position())
    box, (wide, tall) = inset.get_position(), figure.get_size_inches()
    across, along = np.diff(inset.get_xlim())[0], np.diff(inset.get_ylim())[0]
    assert across / (box.width * wide) == pytest.approx(along / (box.height * tall), rel=1e-6)

    findings = made_findings(samples=narrow)
    aside = findings.positions * [0.4, 1.0]
    figure = survey_figure(made_findings(samples=narrow, positions=aside))
    assert "magnified" not in {axes.get_label() for axes in figure.axes}
    assert len(panel(figure, "map").child_axes) == 1
