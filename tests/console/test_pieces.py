"""A belief in two places says both, with their shares, and never a place between them."""

import numpy as np
import pytest

from dowsax.console.pieces import describe_pieces, find_pieces
from dowsax.geo.local import LocalCoordinates
from dowsax.mission.decision import describe_disc
from dowsax.report.regions import credible_regions

HERE, THERE = np.array([5.0, 5.0]), np.array([15.0, 12.0])
SPREAD = 0.4


def belief(shares):
    """Normal clouds about the two places."""
    random = np.random.default_rng(8)
    counts = [round(1000 * share) for share in shares]
    clouds = [
        place + SPREAD * random.normal(size=(count, 2))
        for place, count in zip((HERE, THERE), counts, strict=True)
    ]
    return np.concatenate(clouds)


def pieces_of(positions):
    weights = np.ones(len(positions))
    region = credible_regions(positions, weights, (0.95,), (np.zeros(2), np.full(2, 20.0)))[0.95]
    return find_pieces(region, positions, weights)


def test_each_piece_has_its_share_its_middle_and_its_radius():
    """The radius of a normal cloud that holds 95 % is 2.45 standard deviations; the region cuts its rim."""
    found = pieces_of(belief((0.6, 0.4)))
    assert [piece["probability"] for piece in found] == pytest.approx([0.57, 0.38], abs=0.02)
    for piece, place in zip(found, (HERE, THERE), strict=True):
        assert piece["centre"] == pytest.approx(place, abs=0.1)
        assert 1.9 * SPREAD < piece["radius"] < 2.6 * SPREAD


def test_a_whole_belief_has_no_pieces():
    assert pieces_of(belief((1.0, 0.0))) == []


@pytest.mark.parametrize("origin", [None, (52.0, 5.0)])
def test_the_reason_says_the_pieces_in_place_of_the_disc_about_their_mean(origin):
    coordinates = LocalCoordinates(origin)
    positions = belief((0.6, 0.4))
    mean = positions.mean(axis=0).tolist()
    disc = describe_disc(coordinates, [tuple(mean)], 6.5)
    why = f"Not sure yet: {disc}, where 1 m is wanted. Go on."
    snapshot = {"why": why, "pieces": pieces_of(positions), "estimate": {"mean": [*mean, 3.0]}, "radius": 6.5}
    words = describe_pieces(snapshot, coordinates)
    assert words.startswith("Not sure yet: the source is in one of 2 places: near ")
    assert words.endswith(", where 1 m is wanted. Go on.")
    assert "95 % probability" not in words
    for piece in snapshot["pieces"]:
        assert f"({100 * piece['probability']:.0f} %, within {piece['radius']:.2g} m)" in words
    assert describe_pieces(snapshot | {"pieces": []}, coordinates) == why
    other = snapshot | {"why": "Found: here."}
    assert describe_pieces(other, coordinates) == "Found: here."


def test_the_disc_is_described_as_an_advice_does(client, begin):
    """So that it is found there: the text of a real advice is that of `describe_disc`."""
    mission = begin()["id"]
    client.post(f"/api/missions/{mission}/readings", json={"position": [5.0, 5.0], "value": 0.4})
    snapshot = client.get(f"/api/missions/{mission}/snapshots").json()[0]
    mean, radius = snapshot["estimate"]["mean"][:2], snapshot["radius"]
    assert describe_disc(LocalCoordinates(), [tuple(mean)], radius) in snapshot["why"]
