"""The belief of RAD-Search: against sums over all worlds of a grid, and in worlds drawn from its prior."""

import numpy as np
import pytest
from scipy import stats

from dowsax.evaluate.statistics import wilson_interval
from dowsax.leaderboards.rad_search import (
    MAX_WALLS,
    REACH,
    SIGNAL_TO_NOISE,
    Observation,
    Search,
    World,
    draw_world,
)
from dowsax.leaderboards.rad_search_belief import CELL, PLACES, Belief
from dowsax.leaderboards.rad_search_map import WallMap
from dowsax.leaderboards.rad_search_walls import MOVES, contains, is_hidden, ranges

NONE = np.zeros((0, 4))
START = np.array([400.0, 400.0])


def steps(walls, number, counts):
    """Return observations of a way to the upper right, with these counts."""
    places = START + np.arange(number)[:, None] * MOVES[3]
    return [
        Observation(place, int(count), ranges(walls, place, REACH))
        for place, count in zip(places, counts, strict=True)
    ]


def exact(observations, walls):
    """Return the posterior of the cells by a sum over fine intensities and all backgrounds, no chain."""
    intensities, backgrounds = np.linspace(1e6, 1e7, 60)[:, None], np.arange(10.0, 51.0)
    squares = ((PLACES - observations[0].place) ** 2).sum(axis=1)
    ratio = intensities / backgrounds / squares[:, None, None]
    prior = np.where(squares[:, None, None] > 1000.0**2, 1.0, 0.0) * np.ones_like(ratio)
    groups = [(ratio > low - 1) & (ratio <= high - 1) for low, high in SIGNAL_TO_NOISE.values()]
    prior *= sum(group / (prior * group).sum() for group in groups)
    log = np.log(np.maximum(prior, 1e-300))
    for seen in observations:
        squares = ((PLACES - seen.place) ** 2).sum(axis=1)[:, None, None]
        hidden = is_hidden(walls, seen.place, PLACES)[:, None, None]
        rates = np.where(hidden, 0.0, intensities / squares) + backgrounds
        log = log + stats.poisson.logpmf(seen.reading, rates)
    weights = np.exp(log - log.max()).sum(axis=(1, 2))
    return weights / weights.sum()


def on_grid(belief):
    """Return the weights of all cells."""
    cells = belief.cells()
    weights = np.zeros(len(PLACES))
    weights[np.floor((cells.places - PLACES[0]) / CELL + 0.5).astype(int) @ [40, 1]] = cells.weights
    return weights


def test_without_walls_it_is_the_sum_over_all_hypotheses():
    """By total variation: coarse steps of intensity and background leave about a tenth."""
    observations = steps(NONE, 8, [22, 25, 19, 24, 28, 25, 30, 27])
    belief = Belief(WallMap(np.random.default_rng(0), NONE))
    for seen in observations:
        belief.update(seen)
    assert 0.5 * np.abs(on_grid(belief) - exact(observations, NONE)).sum() < 0.15


def test_it_knows_what_a_known_wall_hides():
    walls = np.array([[900.0, 1100.0, 1300.0, 1400.0]])
    observations = steps(walls, 6, [14, 12, 13, 12, 14, 13])
    belief = Belief(WallMap(np.random.default_rng(0), walls))
    for seen in observations:
        belief.update(seen)
    expected = exact(observations, walls) * ~contains(walls, PLACES)
    # The prior of the source depends on how much the wall hides, so that only what is visible compares.
    shade = is_hidden(walls, START, PLACES)
    found = on_grid(belief)
    one, other = found[~shade] / found[~shade].sum(), expected[~shade] / expected[~shade].sum()
    assert 0.5 * np.abs(one - other).sum() < 0.15


def test_the_region_holds_the_source_as_often_as_it_says():
    """The 90 % region of 40 generated searches, each after 6 moves at random."""
    random = np.random.default_rng(5)
    held = 0
    for number in range(40):
        ratio = list(SIGNAL_TO_NOISE)[number % 3]
        world = draw_world(random, number % (MAX_WALLS + 1), ratio)
        search = Search(world, random)
        belief = Belief(WallMap(random))
        belief.update(search.observe())
        for move in random.integers(0, 8, 6):
            belief.update(search.step(int(move)))
        cells = belief.cells()
        order = np.argsort(-cells.weights)
        region = cells.places[order[: np.searchsorted(np.cumsum(cells.weights[order]), 0.9) + 1]]
        held += bool((np.abs(region - world.source).max(axis=1) <= CELL / 2).any())
    low, high = wilson_interval(held, 40, 0.999)
    assert low <= 0.9 <= high


def test_a_cell_where_the_search_was_not_solved_is_excluded():
    belief = Belief(WallMap(np.random.default_rng(0), NONE))
    world = World(np.array([2100.0, 2100.0]), START, 5e6, 20.0, NONE)
    search = Search(world, np.random.default_rng(0))
    belief.update(search.observe())
    for _ in range(14):
        belief.update(search.step(3))
    cells = belief.cells()
    near = np.linalg.norm(cells.places - search.place, axis=1) < REACH - CELL
    assert cells.weights[near].sum() < 1e-20


def test_draws_of_a_wall_agree_with_what_was_seen():
    wall = np.array([1000.0, 900.0, 1300.0, 1250.0])
    walls = WallMap(np.random.default_rng(0))
    for y in (800.0, 900.0, 1000.0, 1100.0, 1200.0, 1300.0):
        place = np.array([930.0, y])
        walls.update(Observation(place, 20, ranges(wall[None], place, REACH)))
    (found,) = walls.walls
    assert found.draws[:, 0] == pytest.approx(1000.0)
    for draw in found.draws:
        assert draw[1] == pytest.approx(900.0, abs=75)
        assert draw[3] == pytest.approx(1250.0, abs=75)
        assert 1200 <= draw[2] <= 1500
    assert walls.is_possible.mean() < 1


def test_nothing_met_leaves_walls_elsewhere():
    walls = WallMap(np.random.default_rng(0))
    place = np.array([1200.0, 1200.0])
    walls.update(Observation(place, 20, np.full(8, np.inf)))
    assert not walls.walls
    assert 0.5 < walls.is_possible.mean() < 1
    assert not contains(walls.unseen[walls.is_possible], place)
