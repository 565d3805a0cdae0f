"""Labels of maps: none is cut at an edge, none lies on another, wherever source, start and wind are."""

from dataclasses import replace

import numpy as np
import pytest
from made_findings import ORIGIN, made_findings, made_posterior

from dowsax.geo.local import LocalCoordinates
from dowsax.mission.advice import FOUND, INCONCLUSIVE
from dowsax.report.findings import regions_of
from dowsax.site import parse_site
from dowsax.viz import belief_figure
from dowsax.viz.rehearsal import rehearsal_figure
from dowsax.viz.search_figure import SearchFigure, Subject, Truth
from dowsax.viz.style import styled
from dowsax.viz.survey_map import survey_figure
from dowsax.world.motion import AREA_SIDE_M

from .labels import boxes, require_inside, require_readable
from .searches import contracting
from .test_belief import CENTRE, SPREAD, posterior_of
from .test_rehearsal_figure import ended, made, paths

CORNERS = [(x, y) for x in (0.0, 0.5, 1.0) for y in (0.0, 0.5, 1.0)]
SHAPES = [(160, 100), (30, 100), (1000, 20), (3e4, 2.5e4)]
LONG = "An old refinery in the north-east of the county, second survey of the spring, a"


def findings_of(shape, corner, wind, **changes):
    """A survey all over an area with its source in this corner, in a steady wind."""
    random, sides = np.random.default_rng(0), np.array(shape, np.float64)
    draws = np.append(corner * sides, [0.8, 1.9]) + 0.01 * sides.max() * random.normal(size=(400, 4))
    draws[:, :2] = np.clip(draws[:, :2], 0, sides)
    posterior, area = made_posterior(draws), (np.zeros(2), sides)
    parts = {
        "posterior": posterior,
        "regions": regions_of(posterior, area),
        "positions": random.uniform(0, 1, (60, 2)) * sides,
        "area": area,
        "geofence": (np.array([(0, 0), (1, 0), (1, 1), (0, 1)]) * sides,),
        "no_go": (),
        "waypoints": 0.5 * sides[None],
        "wind": np.tile(wind, (60, 1)),
    }
    return made_findings(**(parts | changes))


@pytest.mark.slow
@pytest.mark.parametrize("corner", CORNERS)
def test_labels_of_a_survey_map(corner):
    """The source at every edge, winds of eight directions, long names, metres and degrees."""
    for number, shape in enumerate(SHAPES):
        angle = 2 * np.pi * (CORNERS.index(corner) + number) / 8
        wind = 149.9 * np.array([np.cos(angle), np.sin(angle)])
        frame = LocalCoordinates(ORIGIN) if number % 2 == 0 else LocalCoordinates()
        require_readable(survey_figure(findings_of(shape, corner, wind, coordinates=frame, name=LONG)))


@pytest.mark.parametrize("scale", [1e-7, 1e6, -1e6])
def test_labels_of_readings_of_any_size(scale):
    findings = made_findings()
    require_readable(
        survey_figure(replace(findings, values=scale * findings.values, unit="counts per second"))
    )


def test_calm_air_comes_from_nowhere():
    said = [text for text, _ in boxes(survey_figure(made_findings(wind=np.zeros((60, 2)))))]
    assert "calm\n(measured, mean)" in said
    assert not any("from" in text for text in said if text.startswith(("wind ", "calm")))


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("corner", CORNERS)
def test_labels_of_a_belief(corner):
    """The start at every edge, and the source on the other side."""
    start, source = AREA_SIDE_M * np.array(corner), AREA_SIDE_M * (1 - np.array(corner))
    draws = CENTRE + SPREAD * np.random.default_rng(0).normal(size=(300, 7))
    draws[:, :2] = np.clip(draws[:, :2] - CENTRE[:2] + source, 0, AREA_SIDE_M)
    share = np.linspace(0, 1, 12)[:, None]
    posterior = posterior_of(draws, np.geomspace(0.001, 10, 12))
    posterior = replace(posterior, places=(1 - share) * start + share * source)
    figure = belief_figure(posterior, truth=source, title=LONG, unit="K")
    require_readable(figure)
    require_inside(figure, figure.axes[0], "start")


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("corner", CORNERS)
def test_labels_of_a_search(corner):
    """The truth at every edge."""
    with styled():
        frame = SearchFigure(Subject("A search", "K", contraction=None, credible=0.95), contracting(6))
        figure = frame.draw(6, Truth(AREA_SIDE_M * np.array(corner), "STOP"))
    require_readable(figure)
    require_inside(figure, frame.axes, "truth")


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("origin", ["", ", origin = [52.1, 5.1]"])
def test_labels_of_rehearsals(shape, origin):
    width, height = shape
    site = parse_site(
        f"area = {{low = [0, 0], high = [{width}, {height}]{origin}}}\n"
        'field = {kind = "level"}\nstart = {position = [1, 1]}\n'
    )
    missions = [
        ended(FOUND, (0.1 * width, 0.1 * height), 0.5),
        ended(FOUND, (0.9 * width, 0.9 * height), 2.1),
        ended(INCONCLUSIVE, (0.0, 0.9 * height), 9.0, readings=20),
    ]
    figure = rehearsal_figure(replace(made(*missions), name=LONG), site, paths(missions))
    require_readable(figure)
    assert any(" rehearsals by infotaxis" in text for text, _ in boxes(figure))
