"""Credible regions: they hold what they say, are as small as they can be, and are proper polygons."""

import numpy as np
import pytest

from dowsax.report.regions import credible_regions

NUM = 2000
PROBABILITIES = (0.5, 0.95)
BOX = (np.zeros(2), np.full(2, 100.0))


def gaussian(random, number):
    """Long, thin and oblique: 40 m by 2 m."""
    turn = np.array([[0.8, -0.6], [0.6, 0.8]])
    return random.normal(size=(number, 2)) * [40, 2] @ turn.T


def two_modes(random, number):
    """70 % about the origin, 30 % half as wide and 600 m away."""
    second = random.uniform(size=number) < 0.3
    narrow = 0.5 * random.normal(size=(number, 2)) + [500, 300]
    return np.where(second[:, None], narrow, random.normal(size=(number, 2)))


def ring(random, number):
    angle = random.uniform(0, 2 * np.pi, number)
    return (10 + 0.7 * random.normal(size=number))[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def uniform(random, number):
    return random.uniform(0, 100, (number, 2))


SHAPES = {"gaussian": (gaussian, None), "two modes": (two_modes, None), "ring": (ring, None)}
SHAPES["uniform"] = (uniform, BOX)


def crossing_parity(ring_, points):
    """Inside by counting the sides that a ray upwards meets, side by side in plain Python."""
    held = np.zeros(len(points), bool)
    for (x0, y0), (x1, y1) in zip(ring_, np.roll(ring_, -1, axis=0), strict=True):
        if x0 != x1:
            over = (points[:, 0] > min(x0, x1)) & (points[:, 0] <= max(x0, x1))
            held ^= over & (y0 + (points[:, 0] - x0) * (y1 - y0) / (x1 - x0) > points[:, 1])
    return held


def held_slowly(region, points):
    held = np.zeros(len(points), bool)
    for patch in region.patches:
        inside = crossing_parity(patch.border, points)
        for hole in patch.holes:
            inside &= ~crossing_parity(hole, points)
        held |= inside
    return held


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
def test_regions_hold_their_probability(name, weighted):
    """Of the positions, to 2 %; of fresh draws, to 5 standard errors and what noise in flat parts costs."""
    draw, within = SHAPES[name]
    random = np.random.default_rng(3)
    points = draw(random, NUM)
    weights = random.exponential(size=NUM) if weighted else np.ones(NUM)
    weights /= weights.sum()
    fresh = draw(random, 8000)
    for probability, region in credible_regions(points, weights, PROBABILITIES, within).items():
        held = np.sum(weights * held_slowly(region, points))
        assert held == pytest.approx(probability, abs=0.02)
        error = np.sqrt(probability * (1 - probability) * np.sum(weights**2))
        assert held_slowly(region, fresh).mean() == pytest.approx(probability, abs=5 * error + 0.03)
        np.testing.assert_array_equal(region.contains(fresh), held_slowly(region, fresh))


def test_regions_of_a_gaussian_have_the_least_area():
    """$2\\pi |\\Sigma|^{1/2} \\log 1/(1-p)$, within five standard errors of the mass held and 5 %."""
    points = gaussian(np.random.default_rng(0), NUM)
    for probability, region in credible_regions(points, np.ones(NUM), PROBABILITIES).items():
        unit = 2 * np.pi * 40 * 2
        exact = -unit * np.log(1 - probability)
        error = unit / (1 - probability) * np.sqrt(probability * (1 - probability) / NUM)
        assert region.area == pytest.approx(exact, abs=5 * error + 0.05 * exact)


def test_modes_far_apart_make_pieces_of_their_own():
    points = two_modes(np.random.default_rng(1), NUM)
    region = credible_regions(points, np.ones(NUM))[0.95]
    assert len(region.patches) == 2
    assert region.contains([[0, 0], [500, 300], [250, 150]]).tolist() == [True, True, False]
    # A disc of 97 % of a unit Gaussian, and one half as wide.
    assert region.area < 1.5 * 2 * np.pi * np.log(1 / 0.03) * 1.25


def test_a_ring_has_a_hole():
    region = credible_regions(ring(np.random.default_rng(2), NUM), np.ones(NUM))[0.95]
    assert len(region.patches) == 1
    assert len(region.patches[0].holes) == 1
    assert not region.contains([[0.0, 0.0]]).any()


def test_borders_go_round_leftwards_and_holes_rightwards():
    """The shoelace formula, and its sum over the pieces is the area."""

    def shoelace(ring_):
        x, y = ring_.T
        return 0.5 * (x @ np.roll(y, -1) - y @ np.roll(x, -1))

    region = credible_regions(ring(np.random.default_rng(2), NUM), np.ones(NUM))[0.95]
    total = 0.0
    for patch in region.patches:
        assert shoelace(patch.border) > 0
        assert all(shoelace(hole) < 0 for hole in patch.holes)
        total += shoelace(patch.border) + sum(map(shoelace, patch.holes))
    assert region.area == pytest.approx(total)


def test_small_regions_lie_in_large_ones():
    points = two_modes(np.random.default_rng(4), NUM)
    regions = credible_regions(points, np.ones(NUM))
    for patch in regions[0.5].patches:
        middle = patch.border + 1e-6 * (patch.border.mean(axis=0) - patch.border)
        assert regions[0.95].contains(middle).all()


def test_regions_end_at_the_sides_of_the_box():
    """Half a Gaussian against a side: the mirrored area of a whole one, none of it beyond."""
    points = np.abs(np.random.default_rng(5).normal(size=(NUM, 2)))
    region = credible_regions(points, np.ones(NUM), (0.95,), BOX)[0.95]
    assert min(patch.border.min() for patch in region.patches) >= 0
    exact = -0.5 * np.pi * np.log(0.05)
    error = 0.5 * np.pi / 0.05 * np.sqrt(0.95 * 0.05 / NUM)
    assert region.area == pytest.approx(exact, abs=5 * error + 0.05 * exact)
    assert region.contains([[0.01, 0.01]]).all()


def test_a_shift_shifts_the_region():
    points = gaussian(np.random.default_rng(6), 400)
    here, there = (credible_regions(points + shift, np.ones(400))[0.95] for shift in (0.0, 5e4))
    assert there.area == pytest.approx(here.area, rel=1e-3)


@pytest.mark.parametrize("number", [1, 2, 50])
def test_equal_positions_make_a_region_of_millimetres(number):
    regions = credible_regions(np.full((number, 2), 7.0), np.ones(number))
    assert 0 < regions[0.5].area < regions[0.95].area < 1e-3
    assert regions[0.95].contains([[7.0, 7.0]]).all()


def test_positions_without_weight_do_not_count():
    points = np.concatenate([gaussian(np.random.default_rng(7), 300), np.full((100, 2), 1e5)])
    weights = np.append(np.ones(300), np.zeros(100))
    assert (
        credible_regions(points, weights)[0.95].area
        == credible_regions(points[:300], weights[:300])[0.95].area
    )


@pytest.mark.parametrize(
    ("points", "weights", "probabilities", "reason"),
    [
        (np.zeros((3, 2)), np.ones(2), (0.5,), "Expected positions"),
        (np.zeros((3, 2)), np.ones(3), (1.0,), "between 0 and 1"),
        (np.zeros((3, 2)), np.zeros(3), (0.5,), "above zero"),
        (np.full((3, 2), np.nan), np.ones(3), (0.5,), "finite"),
    ],
)
def test_wrong_input_is_one_line(points, weights, probabilities, reason):
    with pytest.raises(ValueError, match=reason):
        credible_regions(points, weights, probabilities)
