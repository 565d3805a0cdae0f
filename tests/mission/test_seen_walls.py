"""Walls that a range sensor sees: advice goes around what was seen, and may go where nothing was."""

import numpy as np
import pytest
import shapely
from made_missions import MODEL, TRUTH, hill_site, read

from dowsax.mission.advisor import Advisor
from dowsax.mission.messages import keys_of
from dowsax.mission.plan import Plan
from dowsax.mission.seen_walls import seen_walls
from dowsax.site import parse_site
from dowsax.site.schema import StepSetting
from dowsax.site.sensor import SensorSetting
from dowsax.survey.reading import Reading, Refused

DIRECTIONS, LIMIT_M = 16, 6.0
SENSOR = SensorSetting(range_directions=DIRECTIONS, range_limit=LIMIT_M)
WALL = shapely.box(9.0, 3.0, 9.5, 14.0)
"""Of which the site knows nothing."""


def ranges_at(position, walls: shapely.Geometry = WALL):
    """What the sensor measures, by shapely: along each ray the distance to the first wall."""
    found = []
    for angle in 2 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS:
        end = np.add(position, LIMIT_M * np.array([np.sin(angle), np.cos(angle)]))
        hit = shapely.LineString([position, end]).intersection(walls)
        found.append(None if hit.is_empty else shapely.Point(position).distance(hit))
    return found


def advisor(**changes):
    site = hill_site(sensor=SENSOR, no_go=(), step=StepSetting(length=2.0), **changes)
    return Advisor(site, "infotaxis", seed=4, model=MODEL, warm_up=False)


def walls_of(*positions, walls: shapely.Geometry = WALL):
    plan = Plan.of(hill_site(sensor=SENSOR), MODEL)
    readings = [Reading(place, 0.0, ranges=tuple(ranges_at(place, walls))) for place in positions]
    return [shapely.Polygon(wall) for wall in seen_walls(plan, readings)]


def test_pieces_of_wall_stand_where_rays_end():
    """Each touches the wall, none is nearer to the sensor than it, and rays that see nothing leave none."""
    here = (6.0, 8.0)
    pieces = walls_of(here)
    hits = [length for length in ranges_at(here) if length is not None and length < LIMIT_M]
    assert len(pieces) == len(hits) > 3
    distances = [piece.distance(shapely.Point(here)) for piece in pieces]
    np.testing.assert_allclose(sorted(distances), sorted(hits))
    for piece in pieces:
        assert piece.distance(WALL) < 1e-9
        assert piece.area == pytest.approx((0.1 * LIMIT_M) ** 2)
    assert walls_of((2.0, 8.0), walls=shapely.Point(50, 50)) == []


def test_the_same_wall_seen_again_is_not_counted_twice():
    """From a hundred places no more than 64 pieces remain, nearest to the last; each is at the wall."""
    random = np.random.default_rng(3)
    places = [tuple(place) for place in random.uniform((1.0, 1.0), (8.5, 19.0), (100, 2))]
    pieces = walls_of(*places)
    assert 10 < len(pieces) <= 64
    assert all(piece.distance(WALL) < 1e-9 for piece in pieces)
    assert len(walls_of(places[0], places[0])) == len(walls_of(places[0]))


def test_a_door_stays_open():
    """A room of 60 m with a door of 2 m, seen from 200 places: no piece stands in it, at the limit of 6 m."""
    room = shapely.box(0, 0, 60, 40).exterior
    door = shapely.box(29.0, 39.0, 31.0, 41.0)
    places = [tuple(place) for place in np.random.default_rng(0).uniform((1, 1), (59, 39), (200, 2))]
    pieces = walls_of(*places, (30.0, 37.0), walls=room.difference(door))
    assert len(pieces) == 64
    assert not any(piece.buffer(-0.31).intersects(door) for piece in pieces)
    assert max(piece.distance(shapely.Point(30.0, 37.0)) for piece in pieces) < 30


def test_walls_seen_from_below_do_not_stop_a_drone():
    plan = Plan.of(hill_site(sensor=SENSOR.model_copy(update={"height": 20.0})), MODEL)
    here = (6.0, 8.0)
    low, high = (Reading(here, 0.0, altitude=height, ranges=tuple(ranges_at(here))) for height in (1.0, 20.0))
    assert seen_walls(plan, [low]) == ()
    assert len(seen_walls(plan, [low, high])) == len(seen_walls(plan, [high])) > 3


def test_a_correction_keeps_the_ranges():
    """Of the value alone."""
    one, here = advisor(), (6.0, 8.0)
    one.observe(here, 0.5, id="a", ranges=ranges_at(here))
    keys = keys_of(one.readings[0], 0.0)
    assert one.plan.parse_reading(keys).ranges == tuple(ranges_at(here))


def test_there_is_no_wall_where_the_sensor_has_been():
    """Seen from 0.1 m before a thin wall, its piece would reach 0.5 m to the other side."""
    thin = shapely.box(9.0, 3.0, 9.02, 14.0)
    before, behind = (8.9, 8.0), (9.3, 8.0)
    assert any(piece.covers(shapely.Point(behind)) for piece in walls_of(before, walls=thin))
    assert not any(piece.covers(shapely.Point(behind)) for piece in walls_of(before, behind, walls=thin))


def test_advice_goes_around_what_was_seen():
    """In 25 readings no way that is advised crosses what was seen by then; the wall is not known else."""
    one, place, crossed = advisor(), (6.0, 8.0), 0
    for number in range(25):
        advice = one.observe(place, read(number, place, TRUTH), time=10.0 * number, ranges=ranges_at(place))
        if advice.next_position is None:
            break
        way = shapely.LineString([place, *advice.next_way, advice.next_position])
        seen = shapely.union_all([shapely.Polygon(wall) for wall in seen_walls(one.plan, one.readings)])
        assert not way.crosses(seen.buffer(-0.01))
        crossed += way.crosses(WALL)
        # A searcher that is sent through a gap between two rays turns back at the wall.
        place = place if way.crosses(WALL) else advice.next_position
    assert len(seen_walls(one.plan, one.readings)) > 3
    assert crossed < 8


def test_a_log_has_the_ranges(tmp_path):
    """The advice after a restart is that before."""
    site = hill_site(sensor=SENSOR, no_go=(), step=StepSetting(length=2.0))
    log = tmp_path / "mission.jsonl"
    one = Advisor(site, "infotaxis", seed=4, model=MODEL, log=log)
    here = (6.0, 8.0)
    first = one.observe(here, 0.5, ranges=ranges_at(here))
    one.close()
    again = Advisor(site, "infotaxis", seed=4, model=MODEL, log=log)
    assert again.latest == first
    assert again.readings == one.readings
    assert again.readings[0].ranges == tuple(ranges_at(here))
    again.close()


@pytest.mark.parametrize(
    ("ranges", "words"),
    [
        ([1.0, 2.0], "must be 16 lengths, clockwise from north; got 2"),
        ([-1.0] * 16, "lengths of 0 m and more; got -1"),
        (["far"] * 16, "`ranges` is not a number"),
        (7.0, "is a list of lengths"),
        ([float("nan")] * 16, "`ranges` is nan"),
    ],
)
def test_bad_ranges_are_refused(ranges, words):
    with pytest.raises(Refused, match=words):
        advisor().observe((6.0, 8.0), 0.5, ranges=ranges)


def test_ranges_need_a_sensor():
    one = Advisor(hill_site(), "infotaxis", seed=4, model=MODEL, warm_up=False)
    with pytest.raises(Refused, match="has no range sensor: leave `ranges` out"):
        one.observe((6.0, 8.0), 0.5, ranges=[1.0] * 16)
    keys = {"x": 6.0, "y": 8.0, "value": 0.5, "ranges": [1.0]}
    assert one.plan.parse_reading(keys).ranges is None
    assert one.plan.unused_keys(keys) == ("ranges",)


def test_a_limit_needs_directions():
    area = '[area]\nlow = [0.0, 0.0]\nhigh = [9.0, 9.0]\n[field]\nkind = "radiation"\n[sensor]\n'
    assert parse_site(area + "range_directions = 8\n").sensor.range_limit == 10.0
    with pytest.raises(ValueError, match="needs `range_directions`"):
        parse_site(area + "range_limit = 8.0\n")


def test_ranges_beyond_the_limit_are_warned_of_once():
    one = advisor()
    ranges = [25.0, LIMIT_M, *[None] * (DIRECTIONS - 2)]
    warned = [one.observe(place, 0.2, ranges=ranges).warnings for place in ((6.0, 8.0), (6.0, 9.0))]
    ((warning,), again) = warned
    assert warning.startswith("A range of 25 m is longer than the `range_limit` of the site, 6 m,")
    assert again == ()
