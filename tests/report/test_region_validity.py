"""Regions that touch the sides and corners of their box are valid polygons by shapely, exported ones too."""

import json
from xml.etree import ElementTree

import numpy as np
import pytest
import shapely
from made_findings import made_findings, made_posterior

from dowsax.console.snapshots import ParticleSamples, add_particles
from dowsax.geo.local import LocalCoordinates
from dowsax.report.export import geojson, kml
from dowsax.report.findings import regions_of
from dowsax.report.regions import credible_regions

PROBABILITIES = (0.5, 0.95)
BOXES = (
    (np.zeros(2), np.array([100.0, 80.0])),
    (np.array([-3.21987654, 1000 + 1 / 3]), np.array([53.9036, 1044.44444])),
)
"""One on whole metres, and one between the decimals that are written."""
KML = "{http://www.opengis.net/kml/2.2}"


def at_a_corner(random, number, low, high):
    """From tenths of a millimetre to metres wide."""
    corner = np.where(random.integers(0, 2, 2), low, high)
    return corner + random.normal(size=(number, 2)) * 10.0 ** random.uniform(-4, 1.5)


def along_a_side(random, number, low, high):
    """A thin band."""
    points, axis = random.uniform(low, high, (number, 2)), random.integers(0, 2)
    points[:, axis] = low[axis] + np.abs(random.normal(size=number)) * 10.0 ** random.uniform(-4, 0.5)
    return points


def ring(random, number, low, high):
    """About any place, as wide as the box, so that its hole crosses sides."""
    angles = random.uniform(0, 2 * np.pi, number)
    radius = (high - low).max() * random.uniform(0.1, 0.6)
    radii = radius * (1 + random.normal(size=number) * 10.0 ** random.uniform(-3, -0.5))
    return random.uniform(low, high) + radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def in_one_corner(random, number, low, high):
    return np.tile(np.where(random.integers(0, 2, 2), low, high), (number, 1))


def in_one_place(random, number, low, high):
    return np.tile(random.uniform(low, high), (number, 1))


def on_a_side(random, number, low, high):
    """Exactly on it."""
    points, axis = random.uniform(low, high, (number, 2)), random.integers(0, 2)
    points[:, axis] = (low, high)[random.integers(0, 2)][axis]
    return points


def anywhere(random, number, low, high):
    return random.uniform(low, high, (number, 2))


def oblique(random, number, low, high):
    """A thin line across the box and beyond."""
    angle = random.uniform(0, np.pi)
    along = random.normal(size=(number, 1)) * (high - low).max() * random.uniform(0.05, 0.5)
    across = random.normal(size=(number, 2)) * 10.0 ** random.uniform(-5, 0)
    return random.uniform(low, high) + along * np.array([[np.cos(angle), np.sin(angle)]]) + across


def in_two_corners(random, number, low, high):
    near = low + np.abs(random.normal(size=(number, 2))) * 10.0 ** random.uniform(-3, 0.5)
    return np.concatenate([near, high - np.abs(random.normal(size=(number, 2)))])


SHAPES = (
    at_a_corner, along_a_side, ring, in_one_corner, in_one_place, on_a_side, anywhere, oblique,
    in_two_corners,
)  # fmt: skip


def made_beliefs(draw, count):
    """Points in a box, their weights and the box; few points and many, of equal weights and not."""
    random = np.random.default_rng(len(draw.__name__))
    for turn in range(count):
        low, high = BOXES[turn % 2]
        number = int(random.choice([1, 2, 5, 30, 400]))
        points = np.clip(draw(random, number, low, high), low, high)
        weights = random.exponential(size=len(points)) ** random.choice([0, 1, 4])
        yield points, weights / weights.sum(), (low, high)


def require_valid(polygons):
    """The shape of lists of closed rings, the border first, which have to be a valid MultiPolygon."""
    for border, *holes in polygons:
        assert all(tuple(ring_[0]) == tuple(ring_[-1]) and len(ring_) >= 4 for ring_ in (border, *holes))
        assert shapely.LinearRing(border).is_ccw
        assert not any(shapely.LinearRing(hole).is_ccw for hole in holes)
    shape = shapely.MultiPolygon([(border, holes) for border, *holes in polygons])
    assert shape.is_valid, shapely.is_valid_reason(shape)
    assert shape.area > 0
    return shape


def closed(rings):
    return [np.concatenate([each, each[:1]]) for each in rings]


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("draw", SHAPES, ids=lambda draw: draw.__name__)
def test_regions_at_the_border_are_valid_polygons_in_the_area(draw):
    """40 beliefs of each shape, to the decimals that are written; none is thinner than a few of the last."""
    for points, weights, (low, high) in made_beliefs(draw, 40):
        for region in credible_regions(points, weights, PROBABILITIES, (low, high)).values():
            polygons = [closed((patch.border, *patch.holes)) for patch in region.patches]
            shape = require_valid(polygons)
            for rings in polygons:
                np.testing.assert_array_equal(rings[0], np.round(rings[0], 4))
            assert shapely.box(*low, *high).covers(shape)
            assert region.area == pytest.approx(shape.area)
            assert all(2 * shapely.Polygon(ring_).area / shapely.length(shapely.LinearRing(ring_)) > 2e-4
                       for rings in polygons for ring_ in rings)  # fmt: skip


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("draw", [at_a_corner, along_a_side, ring, anywhere], ids=lambda draw: draw.__name__)
def test_regions_at_the_border_hold_their_probability(draw):
    """Of 3,000 points to 2 %, where they are spread over more than the last decimals that are written."""
    random = np.random.default_rng(7)
    for turn in range(12):
        low, high = BOXES[turn % 2]
        points = np.clip(draw(random, 3000, low, high), low, high)
        if np.ptp(points, axis=0).min() < 0.05:
            continue
        for probability, region in credible_regions(
            points, np.ones(3000), PROBABILITIES, (low, high)
        ).items():
            shape = require_valid([closed((patch.border, *patch.holes)) for patch in region.patches])
            held = shapely.covers(shape.buffer(1e-4), shapely.points(points)).mean()
            # Points that were moved onto a side lie there together, and count all or not at all.
            on_side = ((points == low) | (points == high)).any(axis=1)
            assert held == pytest.approx(probability, abs=0.02 + on_side.mean())


def exported(points, weights, box, frame):
    samples = np.concatenate([points, np.ones((len(points), 2))], axis=1)
    posterior = made_posterior(samples, weights)
    regions = regions_of(posterior, box)
    return made_findings(samples=samples, posterior=posterior, regions=regions, area=box, coordinates=frame)


def kml_polygons(mark):
    """Closed rings of every polygon."""
    found = []
    for polygon in mark.iter(f"{KML}Polygon"):
        rings = [*polygon.iter(f"{KML}outerBoundaryIs"), *polygon.iter(f"{KML}innerBoundaryIs")]
        texts = [each.find(f".//{KML}coordinates").text for each in rings]
        found.append([[tuple(map(float, word.split(","))) for word in text.split()] for text in texts])
    return found


@pytest.mark.slow_after(3)
@pytest.mark.parametrize("draw", SHAPES, ids=lambda draw: draw.__name__)
@pytest.mark.parametrize("latitude", [0.001, 51.2, -78.0])
def test_exported_regions_are_valid(draw, latitude):
    """In degrees and in metres, in GeoJSON and KML, 4 beliefs of each shape at each latitude."""
    for points, weights, box in made_beliefs(draw, 4):
        findings = exported(points, weights, box, LocalCoordinates((latitude, -1.75)))
        features = json.loads(geojson(findings))["features"]
        shapes = [item["geometry"] for item in features if item["geometry"]["type"] == "MultiPolygon"]
        assert len(shapes) == 2
        in_json = [require_valid(shape["coordinates"]) for shape in shapes]
        marks = ElementTree.fromstring(kml(findings)).iter(f"{KML}Placemark")
        regions = [mark for mark in marks if " % region" in mark.find(f"{KML}name").text]
        for shape, mark in zip(in_json, regions, strict=True):
            assert require_valid(kml_polygons(mark)).equals(shape)
        plain = json.loads(geojson(exported(points, weights, box, LocalCoordinates())))["features"]
        for shape in (item["geometry"] for item in plain if item["geometry"]["type"] == "MultiPolygon"):
            assert shapely.box(*box[0], *box[1]).covers(require_valid(shape["coordinates"]))


@pytest.mark.parametrize("draw", SHAPES, ids=lambda draw: draw.__name__)
def test_the_regions_of_the_page_are_valid(draw):
    """Of single-precision draws; their rings are not closed."""
    for points, _, (low, high) in made_beliefs(draw, 6):
        frame = add_particles(
            {},
            ParticleSamples(points.astype(np.float32), np.zeros((len(points), 0))),
            [low.tolist(), high.tolist()],
        )
        for polygons in frame["regions"].values():
            require_valid([closed([np.array(ring_) for ring_ in rings]) for rings in polygons])
