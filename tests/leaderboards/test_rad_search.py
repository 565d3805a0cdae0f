"""The rules of RAD-Search, against oracles of their own."""

import json
import math

import numpy as np
import pytest
import shapely

from dowsax.geo.ways import FreeSpace
from dowsax.leaderboards.rad_search import (
    MAX_READINGS,
    MIN_START_DISTANCE,
    REACH,
    SIGNAL_TO_NOISE,
    SIZE,
    Search,
    World,
    draw_world,
    least_readings,
    read_worlds,
)
from dowsax.leaderboards.rad_search_walls import MOVES, RAYS, Shadows, Ways, crossings, is_hidden, ranges

RIGHT, UP, LEFT = 4, 2, 0
WALL = np.array([[1000.0, 900.0, 1300.0, 1200.0]])


def world(walls, start=(800.0, 1000.0), source=(1800.0, 1000.0), background=20.0):
    return World(np.array(source), np.array(start), 5e6, background, np.asarray(walls, float).reshape(-1, 4))


def mean_count(problem, number=400):
    search = Search(problem, np.random.default_rng(0))
    return np.mean([search.observe().reading for _ in range(number)])


def test_a_wall_between_leaves_the_background():
    """Means of 400 Poisson counts, within five standard errors."""
    assert mean_count(world([])) == pytest.approx(25.0, abs=5 * math.sqrt(25 / 400))
    assert mean_count(world(WALL)) == pytest.approx(20.0, abs=5 * math.sqrt(20 / 400))


def test_a_wall_beside_the_line_hides_nothing():
    below = WALL - np.array([0, 400, 0, 200])
    assert mean_count(world(below)) == pytest.approx(25.0, abs=5 * math.sqrt(25 / 400))


def test_a_move_into_a_wall_is_not_made_but_counts():
    search = Search(world(WALL, start=(950.0, 1000.0)), np.random.default_rng(0))
    observation = search.step(RIGHT)
    assert observation.place.tolist() == [950.0, 1000.0]
    assert search.readings == 1
    assert search.step(LEFT).place.tolist() == [850.0, 1000.0]
    assert search.readings == 2


def test_the_world_ends_at_its_border():
    search = Search(world([], start=(50.0, 2660.0)), np.random.default_rng(0))
    assert search.step(LEFT).place.tolist() == [50.0, 2660.0]
    assert search.step(UP).place.tolist() == [50.0, 2660.0]
    assert SIZE == 2700.0


def test_eight_moves_of_a_hundred_or_diagonal():
    assert sorted(map(tuple, MOVES.tolist())) == sorted(
        [(100, 0), (-100, 0), (0, 100), (0, -100), (71, 71), (71, -71), (-71, 71), (-71, -71)]
    )


def test_a_search_ends_by_the_shortest_way_and_not_through_a_wall():
    # 300 cm wide: near in a straight line, far by way.
    thin = np.array([[1000.0, 900.0, 1050.0, 1200.0]])
    behind = Search(world(thin, start=(990.0, 1000.0), source=(1070.0, 1000.0)), np.random.default_rng(0))
    assert not behind.is_solved
    free = Search(world([], start=(990.0, 1000.0), source=(1070.0, 1000.0)), np.random.default_rng(0))
    assert free.is_solved
    assert free.is_over


def test_a_search_ends_after_120_readings():
    search = Search(world([]), np.random.default_rng(0))
    for _ in range(MAX_READINGS // 2):
        assert not search.is_over
        search.step(LEFT)
        search.step(RIGHT)
    assert search.is_over
    assert not search.is_solved


def test_ranges_are_those_of_shapely():
    random = np.random.default_rng(1)
    for _ in range(100):
        walls = draw_world(random, 5).walls
        place = random.uniform(200, 2200, 2)
        if any(shapely.box(*wall).contains(shapely.Point(place)) for wall in walls):
            continue
        found = ranges(walls, place, REACH)
        boxes = shapely.union_all(shapely.box(*walls.T))
        for ray, length in zip(RAYS, found, strict=True):
            met = shapely.LineString([place, place + REACH * ray]).intersection(boxes)
            expected = math.inf if met.length < 1e-3 else met.distance(shapely.Point(place))
            assert length == pytest.approx(expected, abs=1e-5)


def test_what_is_hidden_is_what_shapely_says():
    random = np.random.default_rng(2)
    walls = draw_world(random, 7).walls
    start = np.array([750.0, 30.0])
    xs, ys = np.linspace(210, 2190, 23), np.linspace(203, 2187, 19)
    cast = Shadows(xs, ys).cast(walls, start).any(axis=0)
    boxes = shapely.box(*walls.T)
    places = np.stack(np.meshgrid(xs, ys, indexing="ij"), axis=-1)
    lines = np.asarray(shapely.linestrings(np.stack(np.broadcast_arrays(start, places), axis=2)))
    inside = shapely.length(shapely.intersection(lines[..., None], boxes))
    assert (cast == (inside > 1e-2).any(axis=-1)).all()
    assert (is_hidden(walls, start, places) == cast).all()


def test_crossings_are_where_the_line_enters_and_leaves():
    enters, leaves, meets = crossings(WALL, np.array([800.0, 1000.0]), np.array([1800.0, 1000.0]))
    assert meets.all()
    assert enters[0] == pytest.approx(0.2)
    assert leaves[0] == pytest.approx(0.5)


def test_the_shortest_way_is_that_of_the_visibility_graph():
    random = np.random.default_rng(3)
    for num_walls in (1, 4, 7):
        problem = draw_world(random, num_walls)
        corners = problem.walls[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 4, 2)
        space = FreeSpace([], list(corners))
        places = np.concatenate([problem.source[None], random.uniform(200, 2200, (20, 2))])
        inside = (space.part(places) < 0) | np.array(
            [
                any(shapely.box(*wall).intersects(shapely.Point(place)) for wall in problem.walls)
                for place in places
            ]
        )
        found = Ways(problem.walls).lengths(problem.start[None], places)[0]
        expected = space.lengths(problem.start, places)
        assert found[~inside] == pytest.approx(expected[~inside], abs=0.1)


def test_the_least_number_of_readings_counts_moves_of_100_cm():
    assert least_readings(world([])) == math.ceil((1000 - 110) / 100)
    assert least_readings(world(WALL)) > least_readings(world([]))


@pytest.mark.parametrize("ratio", SIGNAL_TO_NOISE)
def test_worlds_are_drawn_by_their_rules(ratio):
    random = np.random.default_rng(4)
    low, high = SIGNAL_TO_NOISE[ratio]
    for num_walls in (0, 1, 7):
        drawn = draw_world(random, num_walls, ratio)
        boxes = shapely.box(*drawn.walls.T)
        assert shapely.area(shapely.union_all(boxes)) == pytest.approx(shapely.area(boxes).sum())
        distance = np.linalg.norm(drawn.source - drawn.start)
        assert distance >= MIN_START_DISTANCE
        assert low <= 1 + drawn.intensity / distance**2 / drawn.background <= high
        assert 10 <= drawn.background <= 50


def entry(**changes):
    values = {"source": [300, 300], "start": [1800, 1800], "intensity": 2e6, "background": 20, "walls": []}
    return values | changes


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("no json", "JSON"),
        ("[]", "at least one world"),
        (json.dumps([entry(source=[1])]), "world 0: a place"),
        (json.dumps([entry(start=[1, 5000])]), "world 0: a place"),
        (json.dumps([{"source": [1, 2]}]), "no 'start'"),
        (json.dumps([7]), "world 0"),
        (json.dumps([entry(intensity=0)]), "> 0"),
        (json.dumps([entry(background=float("nan"))]), "finite"),
        (json.dumps([entry(walls=[[[0, 0], [1, 0], [1, 1]]])]), "four corners"),
        (json.dumps([entry(walls=[[[0, 0], [9, 1], [9, 9], [0, 9]]])]), "along the axes"),
        (json.dumps([entry(walls=[[[0, 0], [0, 900], [900, 900], [900, 0]]])]), "outside the walls"),
    ],
)
def test_bad_files_are_refused_in_one_line(tmp_path, content, words):
    path = tmp_path / "walls0_low.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=words) as caught:
        read_worlds(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "walls1_low.json"
    ring = [[1000, 900], [1000, 1200], [1300, 1200], [1300, 900]]
    path.write_text(json.dumps([entry(walls=[ring])]))
    (found,) = read_worlds(path)
    assert (found.walls == WALL).all()
    assert found.intensity == 2e6
