"""Plans for QGroundControl, read back as its format is described."""

import json
from dataclasses import replace

import numpy as np
import pytest
from made_findings import FENCE, WOOD, made_findings
from made_lengths import CENTIMETRE, metres, shoelace

from dowsax.geo.local import LocalCoordinates
from dowsax.mission.advice import Leg
from dowsax.report.export import qgc_plan, take_off_warning
from dowsax.site.flight import FlightSetting
from dowsax.site.obstacles import Obstacle


@pytest.fixture(scope="module")
def findings():
    return made_findings()


def test_plan_flies_to_the_waypoints(findings):
    """Take-off, then MAV_CMD 16 at the waypoints in turn, 12 m above the place of take-off."""
    plan = json.loads(qgc_plan(findings, hold=8.0))
    assert (plan["fileType"], plan["version"], plan["mission"]["version"]) == ("Plan", 1, 2)
    items = plan["mission"]["items"]
    assert [item["command"] for item in items] == [22, 16, 16]
    assert [item["doJumpId"] for item in items] == [1, 2, 3]
    assert {item["frame"] for item in items} == {3}
    assert {item["AltitudeMode"] for item in items} == {1}
    assert all(len(item["params"]) == 7 for item in items)
    assert [item["params"][0] for item in items] == [0, 8, 8]
    assert {item["params"][6] for item in items} == {item["Altitude"] for item in items} == {12}
    places = [item["params"][5:3:-1] for item in items]
    way = [findings.positions[-1], *findings.waypoints]
    np.testing.assert_allclose(metres(places), way, atol=CENTIMETRE)
    assert items[0]["params"][4:6] == plan["mission"]["plannedHomePosition"][:2]
    required = {"firmwareType", "vehicleType", "globalPlanAltitudeMode", "cruiseSpeed", "hoverSpeed"}
    assert required <= set(plan["mission"])
    assert len(plan["mission"]["plannedHomePosition"]) == 3


SIMPLE_ITEM = {
    *("type", "AMSLAltAboveTerrain", "Altitude", "AltitudeMode", "autoContinue", "command", "doJumpId"),
    *("frame", "params"),
}


def test_plan_has_the_keys_of_the_format(findings):
    """All that the description of the format names, and nothing else."""
    plan = json.loads(qgc_plan(findings))
    assert plan.keys() == {"fileType", "geoFence", "groundStation", "mission", "rallyPoints", "version"}
    speeds = {"cruiseSpeed", "hoverSpeed", "globalPlanAltitudeMode"}
    others = {"firmwareType", "vehicleType", "items", "plannedHomePosition", "version"}
    assert plan["mission"].keys() == speeds | others
    assert all(
        item.keys() == SIMPLE_ITEM and item["type"] == "SimpleItem" for item in items_of(json.dumps(plan))
    )
    assert plan["geoFence"].keys() == {"circles", "polygons", "version"}
    assert all(fence.keys() == {"inclusion", "polygon", "version"} for fence in plan["geoFence"]["polygons"])
    assert plan["rallyPoints"] == {"points": [], "version": 2}


def items_of(text):
    return json.loads(text)["mission"]["items"]


def test_plan_altitudes_can_be_given_and_are_20_m_where_nobody_knows(findings):
    """Nor does a sensor in the hand say how high to fly; the site goes before the readings."""

    def altitudes(text):
        return {item["params"][6] for item in items_of(text)}

    by_hand, flight = np.full(len(findings.values), 2.0), FlightSetting(height=42.0)
    assert altitudes(qgc_plan(findings, altitude=35.0)) == {35}
    assert altitudes(qgc_plan(made_findings(altitude=None))) == {20}
    assert altitudes(qgc_plan(made_findings(altitude=by_hand))) == {20}
    assert altitudes(qgc_plan(made_findings(altitude=by_hand, flight=flight))) == {42}
    assert altitudes(qgc_plan(made_findings(flight=flight))) == {42}
    with pytest.raises(ValueError, match=r"taken 350 m up.*`height` in \[flight\]"):
        qgc_plan(made_findings(altitude=by_hand + 348))


def test_plan_holds_as_long_as_a_reading_counts(findings):
    """The newest one, unless the site says otherwise; where nothing is counted it flies on."""

    def holds(text):
        return {item["params"][0] for item in items_of(text)[1:]}

    dwell = np.linspace(1, 6, len(findings.values))
    assert holds(qgc_plan(findings)) == {0}
    assert holds(qgc_plan(made_findings(dwell=dwell))) == {6}
    assert holds(qgc_plan(made_findings(dwell=dwell, flight=FlightSetting(hold=9.0)))) == {9}
    flight = FlightSetting(speed=3.5)
    assert json.loads(qgc_plan(made_findings(flight=flight)))["mission"]["hoverSpeed"] == 3.5


NOWHERE = np.zeros((0, 2))


def test_plan_of_a_mission_that_has_found_flies_to_the_source():
    """Or as near as one may be: here the source is in a pond of 21 m, reached from the east."""
    found = made_findings(waypoints=NOWHERE, outcome="found", no_go=())
    _, item = items_of(qgc_plan(found))
    np.testing.assert_allclose(metres([item["params"][5:3:-1]])[0], found.estimate, atol=CENTIMETRE)
    east = found.estimate[0] + 10
    pond = np.array([[east - 21, 0.0], [east, 0.0], [east, 90.0], [east - 21, 90.0]])
    away = replace(found, no_go=(pond,), positions=found.positions[:, :] * [0, 1] + [east + 20, 0])
    _, item = items_of(qgc_plan(away))
    shore = metres([item["params"][5:3:-1]])[0]
    np.testing.assert_allclose(shore, [east, found.estimate[1]], atol=2 * CENTIMETRE)


def test_plan_of_a_source_behind_a_no_go_area():
    """It flies by the corners, where it does not stay; without a way it says that people have to plan one."""
    found = made_findings(waypoints=NOWHERE, outcome="found")
    middle = (found.positions[-1] + found.estimate) / 2
    wall = middle + np.array([[-3.0, -3.0], [3.0, -3.0], [3.0, 3.0], [-3.0, 3.0]])
    around = replace(found, no_go=(wall,))
    _, *bends, last = items_of(qgc_plan(around, hold=5.0))
    assert len(bends) >= 1
    assert [item["params"][0] for item in (*bends, last)] == [0.0] * len(bends) + [5.0]
    corners = metres([item["params"][5:3:-1] for item in bends])
    assert all(np.linalg.norm(wall - corner, axis=1).min() < CENTIMETRE for corner in corners)
    ring = wall - middle + found.estimate
    walls = tuple(np.stack([a, b, (b + c) / 2, (a + c) / 2]) for a, b, c in sides_of(ring, found.estimate))
    with pytest.raises(ValueError, match=r"no way within the geofence from the last reading .* 51\.\d{6}° N"):
        qgc_plan(replace(found, no_go=walls))


def sides_of(ring, centre):
    """Each side of a ring, with its centre."""
    return [(a, b, centre) for a, b in zip(ring, np.roll(ring, -1, axis=0), strict=True)]


def test_plan_flies_around_obstacles_as_high_as_it_flies(findings):
    """By the way of the advice; what is lower than 12 m is neither a fence nor in the way."""
    high, low = Obstacle(WOOD - 5.0, "tower", height=30.0), Obstacle(WOOD - 9.0, "shed", height=3.0)
    way = np.array([[80.0, 61.0], [75.0, 62.0]])
    text = qgc_plan(replace(findings, obstacles=(high, low), next_way=way), hold=8.0)
    _, _, tower = json.loads(text)["geoFence"]["polygons"]
    assert abs(shoelace(metres(np.array(tower["polygon"])[:, ::-1]))) == pytest.approx(
        abs(shoelace(WOOD)), rel=1e-3
    )
    items = items_of(text)
    assert [item["params"][0] for item in items] == [0, 0, 0, 8, 8]
    np.testing.assert_allclose(metres([item["params"][5:3:-1] for item in items[1:3]]), way, atol=CENTIMETRE)


def test_plan_climbs_and_descends_to_the_height_of_each_place(findings):
    """Up where a leg begins, level at the higher of its two heights, and down where it ends."""
    altitude = np.full(len(findings.values), 2.0)
    corner, last = (65.0, 52.0), (58.0, 41.0)
    later = (Leg((60.0, 50.0), 14.0, height=20.0), Leg(last, 9.0, (corner,), 5.0))
    places = np.array([[70.0, 60.0], [60.0, 50.0], last])
    wall = Obstacle(WOOD - 5.0, "wall", height=15.0)
    changes = {"altitude": altitude, "next_height": 10.0, "later": later, "waypoints": places}
    text = qgc_plan(replace(findings, **changes, obstacles=(wall,)), hold=8.0)
    items = items_of(text)
    flown = [(item["params"][0], item["params"][6]) for item in items]
    climbs = [(0, 10.0), (8, 10.0), (0, 20.0), (8, 20.0), (0, 20.0), (0, 20.0), (8, 5.0)]
    assert flown == climbs
    expected = [findings.positions[-1], places[0], places[0], places[1], corner, last, last]
    np.testing.assert_allclose(metres([item["params"][5:3:-1] for item in items]), expected, atol=CENTIMETRE)
    # The highest leg goes over the wall.
    assert len(json.loads(text)["geoFence"]["polygons"]) == 2


def test_plan_keeps_in_the_geofence_and_out_of_the_wood(findings):
    """Rightward round and not closed, as QGroundControl writes them."""
    fence, wood = json.loads(qgc_plan(findings))["geoFence"]["polygons"]
    assert (fence["inclusion"], wood["inclusion"]) == (True, False)
    for polygon, corners in ((fence, FENCE), (wood, WOOD)):
        places = metres(np.array(polygon["polygon"])[:, ::-1])
        assert len(places) == len(corners)
        assert shoelace(places) < 0
        assert abs(shoelace(places)) == pytest.approx(abs(shoelace(corners)), rel=1e-3)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"coordinates": LocalCoordinates()}, "latitude and longitude"),
        ({"waypoints": NOWHERE}, "no next waypoint"),
        (
            {"waypoints": NOWHERE, "outcome": "inconclusive", "notes": ("Spent.",)},
            r"at least one \(Spent\.\)",
        ),
    ],
)
def test_plans_that_cannot_be(changes, reason):
    with pytest.raises(ValueError, match=reason):
        qgc_plan(made_findings(**changes))


def test_a_take_off_in_an_obstacle_is_warned_of(findings):
    """However low it is."""
    x, y = findings.positions[-1]
    around = np.array([[x - 2, y - 2], [x + 2, y - 2], [x + 2, y + 2], [x - 2, y + 2]])
    beside = Obstacle(around + 10.0, "shed")
    assert take_off_warning(replace(findings, obstacles=(beside,))) is None
    warning = take_off_warning(replace(findings, obstacles=(beside, Obstacle(around, "hall", height=1.0))))
    assert "takes off where the last reading was taken, in the obstacle 'hall'" in warning
